"""Edges of mentions by rules that no guideline disputes: ``neutral@1``; other rules are another
version.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from fascicle.core.lexicon import small_words
from fascicle.core.mention import Span
from fascicle.runtime.decoding.brackets import CLOSING, OTHER_HALF, balance, unpaired

_CHEMICAL: Final = "Chemical"
_SPECIES: Final = "Species"
_CELL_LINE: Final = "CellLine"
_NEAR: Final = 20  # characters in which a word before a name is sought
_FAR: Final = 100  # characters in which the first half of a word is sought

# Any name
# nothing at the edges, no brackets: by far the most
_PLAIN: Final = re.compile(r"[^\W_](?:[^()\[\]{}]*[^\W_])?")
_WORD: Final = re.compile(r"the|of|in|and|or|with|to|by|from|for|a|an|on|at|is|was|were")
_GLUED_BEFORE: Final = re.compile(r"[^\s()\[\]{}]+\Z")
_GLUED_BEHIND: Final = re.compile(r"[^\s()\[\]{}]+")
_GROWING: Final = frozenset("(+-,./")  # characters behind a name that may go on with it
_CONTINUED: Final = frozenset("-, .)]")  # characters before a name that may begin it
_LIST_NUMBER: Final = re.compile(r"\d{1,2}[.)]\s+")
_DANGLING: Final = re.compile(r"(?:\s+(?:of|in|and|or|the|with|to|by|from|for))+\Z")
_SECOND: Final = re.compile(  # halves of words, with which no name begins: insulin-dependent
    r"(?:dependent|induced|related|associated|resistant|mediated|derived|linked|deficient|converting|sensitive|onset|positive"
    r"|negative|like|type)\b"
)
_NUMERAL: Final = re.compile(r"[IVX]+")  # ELITE-II
_STRAIN: Final = re.compile(r"-\d{1,2}(?![\w%])")  # HIV-1
_SUBSTRAIN: Final = re.compile(r"/c(?!\w)")  # BALB/c
_INDEX: Final = re.compile(r"\((?:\d{1,2}[A-Z]?|[a-rt-z])\)(?!\w)")  # Lp(a), vitamin D(3); not (s)
_DECIMALS: Final = re.compile(r"(?<=\d)\.\d+(?!\w)")
_LAST_LETTERS: Final = re.compile(r"[A-Za-z]*\Z")
_TYPE: Final = re.compile(r"\b[Tt]ype\s\Z")  # type 2 diabetes

# Genes and cell lines
_GENE_KINDS: Final = re.compile(  # words that name no gene
    r"(?:receptor|transporter|antigen|antibody|ligand|channel|hormone|peptide|isoform|subunit|enzyme|protein|gene"
    r"|synthetase|synthase|kinase|phosphatase|protease|reductase|dehydrogenase|transferase)s?"
)
_LINE_NUMBER: Final = re.compile(r"(?<![\w.-])\d{3,4}(?![.,]?\d)")  # 293 cells

# Chemicals
_ELEMENTS: Final = frozenset("BCFHIKNOPSUVWY")  # symbols of one letter
_ION: Final = re.compile(r"[A-Z][a-z]?\d?")
_CHARGE: Final = re.compile(r"\(\d?[+-]\)|(?<=[A-Za-z\d])\+(?!\w)")  # Ca(2+), Na+
_CHARGED: Final = re.compile(r"[A-Za-z\d)\]]\++|[A-Z][a-z]?\d?-+")  # as the end of a name
_BRACKETED: Final = re.compile(  # tributyl(vinyl)tin
    r"(?:[(\[][^\s()\[\]]{1,20}[)\]])+[a-z][^\s()\[\],;]*"
)
_LOCANT: Final = r"(?<![A-Za-z])(?:\d{1,2}|[A-Za-z])'?"
_LOCANTS: Final = re.compile(rf",(?:{_LOCANT},)*{_LOCANT}-")  # ,3- of 1,3-
_LOCANT_BEFORE: Final = re.compile(rf"{_LOCANT},\Z")
_ISOTOPE: Final = re.compile(r"(?:\(\d{1,3}\)|\[\d{1,3}\])\Z")  # (14)C-
_LABELLED: Final = re.compile(r"[A-Z][a-z]?[-\]]")

# Species
_INITIAL: Final = re.compile(r"\b[A-Z]\.\s\Z")  # E. coli
_AFTER_INITIAL: Final = re.compile(r"\.\s?[a-z]")
_GENUS: Final = re.compile(r"\b[A-Z](?:\.\s?|[a-z]+\s|\s)\Z")
_WHOLE_GENUS: Final = re.compile(r"\b[A-Z][a-z]{4,}\s\Z")
_EPITHET: Final = re.compile(
    r"(?!\w*virus|(?:fung(?:i|us)|humans|chickens|kittens|rhesus)\b)[a-z]{3,}(?:i|us|is|um|ae|ans|ens|(?:an|in|at|os|ic|er)a)\b"
)
# as pylori, which is taken for part of a disease or a drug, too
_OF_BACTERIA: Final = re.compile(r"[a-z]{4,}i\b")
_EPITHET_BEHIND: Final = re.compile(r"(?<=[a-z]{4})\s[a-z]{4,}i\b")
_RANK_AT_END: Final = re.compile(r"(?:\bspp?|\bs?ssp|\bsubsp|\bvar|\bcv|\bpv|\bnov)\.\Z")
_RANK_BEHIND: Final = re.compile(
    r"(?:(?<=\bsp)|(?<=\bspp)|(?<=\bnov)|(?<=\bpv))\.|(?<=[a-z]{3})(?:\s(?:spp?|gen|f\.\s?sp|nov)\.)+"
)


def neutral_span(text: str, span: Span, *, kind: str) -> Span | None:
    """Returns a range with its edges in order.

    Signs and blanks at its edges go. A bracket without its other half is closed if the other half
    follows without a blank, as in ``alpha(1)`` and ``[3H]GABA``; otherwise what stands beyond it
    goes. A charge stays with its ion, an index with its name, as in ``Lp(a)``, and a number with
    the name in capitals that it follows, as in ``HIV-1``. A name of a chemical does not end or
    begin within its locants (``-1,3-``), a species not behind its genus, and no name with the
    second half of a word such as ``insulin-dependent``. No rule puts an edge between two letters.

    Args:
        text: of the document, with plain characters (see `fascicle.text.characters`).
        span: a range of it.
        kind: type of the mention; ions and signs that end names are those of some types.

    Returns:
        ``None`` if no letter is left, or a single character that is no symbol of a chemical
        element, or the number of a name such as ``ELITE-II``. A cell line may be a number, as in
        ``293 cells``.
    """
    if not _PLAIN.fullmatch(text, *span):
        span = _trim(text, balance(text, _trim(text, span, kind)), kind)
    if text[span[1] : span[1] + 1] in _GROWING:
        span = _trim(text, _extend_right(text, span, kind), kind)
    span = _extend_left(text, _without_lists(text, span), kind)
    span = _with_rank(text, _with_epithet(text, span), kind)
    return span if _is_name(text, span, kind) else None


def _trim(text: str, span: Span, kind: str) -> Span:
    """Removes signs and white space at the edges of a range, except paired brackets and signs
    that end a name.
    """
    start, end = span
    alone = unpaired(text, span)
    while start < end and not (
        _in_words(text[start]) or (text[start] in OTHER_HALF and start not in alone)
    ):
        start += 1
    while start < end and not (_in_words(text[end - 1]) or _ends(text, (start, end), alone, kind)):
        end -= 1
    return start, end


def _in_words(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character)[0] == "M"


def _ends(text: str, span: Span, alone: frozenset[int], kind: str) -> bool:
    """True if the last character of a range belongs to its name."""
    start, end = span
    last = text[end - 1]
    if last in CLOSING:
        return end - 1 not in alone
    if kind == _SPECIES and last == ".":
        return _RANK_AT_END.search(text, start, end) is not None
    if kind != _CHEMICAL or last not in "+-" or text[end : end + 1].isalnum():
        return False
    signs = len(text[start:end]) - len(text[start:end].rstrip("+-"))
    whole = _CHARGED.fullmatch(text, start, end) is not None
    return whole or (
        last == "+" and _CHARGED.fullmatch(text, max(start, end - signs - 1), end) is not None
    )


def _extend_right(text: str, span: Span, kind: str) -> Span:
    """Extends a range by the charge of an ion, or by the number of a name in capitals."""
    start, end = span
    if start == end:
        return span
    match text[end]:
        case ",":
            is_inside = kind == _CHEMICAL and _within_locants(text, end)
            more = _GLUED_BEHIND.match(text, end) if is_inside else None
        case ".":
            more = _DECIMALS.match(text, end)
        case _:
            more = _bracketed(text, span, kind) or _number_behind(text, span)
    return (start, more.end()) if more else span


def _bracketed(text: str, span: Span, kind: str) -> re.Match[str] | None:
    """Matches what belongs to a name behind it: a part in brackets, an index, a substrain, or a
    charge.
    """
    start, end = span
    is_chemical = kind == _CHEMICAL
    more = _BRACKETED.match(text, end) if is_chemical else None
    more = more or _INDEX.match(text, end) or _SUBSTRAIN.match(text, end)
    if more or not is_chemical or not _ION.fullmatch(text, start, end):
        return more
    return _CHARGE.match(text, end)


def _number_behind(text: str, span: Span) -> re.Match[str] | None:
    """Matches the number behind a name in capitals, as in ``HIV-1``."""
    letters = _LAST_LETTERS.search(text[slice(*span)])
    has_number = letters and (
        letters[0].casefold() == "omega" or sum(map(str.isupper, letters[0])) > 1
    )
    return _STRAIN.match(text, span[1]) if has_number else None


def _within_locants(text: str, at: int) -> bool:
    """True if a comma stands between two locants: numbers or letters that locate a part of a
    chemical.
    """
    before = _LOCANT_BEFORE.search(text, max(0, at - _NEAR), at + 1)
    return before is not None and _LOCANTS.match(text, at) is not None


def _without_lists(text: str, span: Span) -> Span:
    """Removes the number of a list before a name, and small words behind it."""
    start, end = span
    numbered = _LIST_NUMBER.match(text, start, end)
    dangling = _DANGLING.search(text, start, end)
    return numbered.end() if numbered else start, dangling.start() if dangling else end


def _extend_left(text: str, span: Span, kind: str) -> Span:
    """Extends a range to the left by preceding text that its name cannot do without."""
    start, end = span
    before = text[start - 1 : start]
    if start == end or not (before in _CONTINUED or text[start] in OTHER_HALF):
        return span
    if _continues_word(text, span, kind):
        first = _GLUED_BEFORE.search(text, max(0, start - _FAR), start)
        return _trim(text, (first.start(), end), kind) if first else span
    is_glued = before in ("-", ",") or (text[start] in OTHER_HALF and before.isalnum())
    first = None if is_glued else _words_before(text, span, kind)
    return (first.start(), end) if first else span


def _continues_word(text: str, span: Span, kind: str) -> bool:
    """True if a range is the rest of a word: its second half, or what follows a locant."""
    start, end = span
    before = text[start - 1 : start]
    if before == "-":
        half = _SECOND.match(text, start, end)
        return half is not None and half.end() < end
    if before == ",":
        return kind == _CHEMICAL and _within_locants(text, start - 1)
    return text[start] in OTHER_HALF and before.isalnum()


def _words_before(text: str, span: Span, kind: str) -> re.Match[str] | None:
    """Matches an isotope, the initial or the name of a genus, or the word "type" before a range."""
    start, end = span
    floor = max(0, start - _NEAR)
    if text[start - 1 : start] in CLOSING:
        return _ISOTOPE.search(text, floor, start) if _LABELLED.match(text, start) else None
    if text[start].islower() and (initial := _INITIAL.search(text, max(0, start - 4), start)):
        return initial
    if text[start].isdigit():
        return _TYPE.search(text, floor, start)
    name, genus = (_EPITHET, _GENUS) if kind == _SPECIES else (_OF_BACTERIA, _WHOLE_GENUS)
    first = genus.search(text, floor, start) if name.match(text, start, end) else None
    word = first[0].strip().lower() if first else ""
    return None if len(word) > 1 and word in small_words() else first  # A may be a genus


def _with_epithet(text: str, span: Span) -> Span:
    """Extends a species found by its first word alone by the second, such as in ``Helicobacter
    pylori``.
    """
    behind = _EPITHET_BEHIND.match(text, span[1]) if text[span[0] : span[0] + 1].isupper() else None
    return (span[0], behind.end()) if behind and " " not in text[slice(*span)] else span


def _with_rank(text: str, span: Span, kind: str) -> Span:
    """Extends a species by the abbreviated rank behind it, such as ``sp. nov.``, or by the dot
    of that rank.
    """
    rank = _RANK_BEHIND.match(text, span[1]) if kind == _SPECIES else None
    return (span[0], rank.end()) if rank and text[span[0] : span[0] + 1].isupper() else span


def _is_name(text: str, span: Span, kind: str) -> bool:
    """True unless a range has no letters, is a common word, or is a part of a longer name alone."""
    name = text[slice(*span)]
    if kind == _CELL_LINE:
        number = _LINE_NUMBER.match(text, span[0])
        if number and number.end() == span[1]:
            return True
    if not any(map(str.isalpha, name)):
        return False
    if _WORD.fullmatch(name) or (kind == "Gene" and _GENE_KINDS.fullmatch(name)):
        return False
    if _follows_hyphen(text, span):
        return False
    is_element = kind == _CHEMICAL and name in _ELEMENTS
    return len(name) > 1 or (is_element and not _AFTER_INITIAL.match(text, span[1]))


def _follows_hyphen(text: str, span: Span) -> bool:
    """True if a range is the number or the second half of the name before a hyphen."""
    name = text[slice(*span)]
    return text[span[0] - 1 : span[0]] == "-" and bool(
        _NUMERAL.fullmatch(name) or _SECOND.fullmatch(name)
    )

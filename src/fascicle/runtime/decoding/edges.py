"""Edges of mentions by rules that no guideline disputes: ``neutral@1``; other rules are another
version.

What some guidelines count to a name and others do not, and names without it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from fascicle.core.lexicon import either, lexicon
from fascicle.core.mention import Span

_CHEMICAL: Final = "Chemical"
_SPECIES: Final = "Species"
_CELL_LINE: Final = "CellLine"
_PAIRS: Final = {"(": ")", "[": "]", "{": "}"}
_OPENED: Final = {close: begin for begin, close in _PAIRS.items()}
_GLUED: Final = 20  # characters in which the other bracket of a name is sought
_FAR: Final = 100  # characters in which the first half of a word is sought
_SYMBOLS: Final = frozenset("BCFHIKNOPSUVWY")  # of chemical elements, with one letter
_CHARGE: Final = re.compile(r"\(\d?[+-]\)|(?<=[A-Za-z\d])\+(?!\w)")
# as the end of a name, or as all of it
_CHARGED: Final = re.compile(r"[A-Za-z\d)\]]\++|[A-Z][a-z]?\d?-+")
_STRAIN: Final = re.compile(r"-\d{1,2}(?![\w%])")
# nothing at the edges, no brackets: by far the most
_PLAIN: Final = re.compile(r"[^\W_](?:[^()\[\]{}]*[^\W_])?")
_GROWING: Final = frozenset("(+-,./")
_SUBSTRAIN: Final = re.compile(r"/c(?!\w)")  # of BALB/c
_LOCANT: Final = r"(?<![A-Za-z])(?:\d{1,2}|[A-Za-z])'?"
_LOCANTS: Final = re.compile(rf",(?:{_LOCANT},)*{_LOCANT}-")
_LOCANT_BEFORE: Final = re.compile(rf"{_LOCANT},\Z")
_ISOTOPE: Final = re.compile(r"(?:\(\d{1,3}\)|\[\d{1,3}\])\Z")
_LABELLED: Final = re.compile(r"[A-Z][a-z]?[-\]]")
_NUMBERED: Final = re.compile(r"\d{1,2}[.)]\s+")
_DANGLING: Final = re.compile(r"(?:\s+(?:of|in|and|or|the|with|to|by|from|for))+\Z")
_NUMBER_OF_LINE: Final = re.compile(r"(?<![\w.-])\d{3,4}(?![.,]?\d)")  # as in 293 cells
_WORD: Final = re.compile(r"the|of|in|and|or|with|to|by|from|for|a|an|on|at|is|was|were")
_KINDS: Final = re.compile(  # of genes: words that name none
    r"(?:receptor|transporter|antigen|antibody|ligand|channel|hormone|peptide|isoform|subunit|enzyme|protein|gene"
    r"|synthetase|synthase|kinase|phosphatase|protease|reductase|dehydrogenase|transferase)s?"
)
_INITIAL_OF: Final = re.compile(r"\.\s?[a-z]")
_TYPE: Final = re.compile(r"\b[Tt]ype\s\Z")
_SPECIES_BEHIND: Final = re.compile(r"(?<=[a-z]{4})\s[a-z]{4,}i\b")
_NUMERAL: Final = re.compile(r"[IVX]+")
# as of Lp(a) and vitamin D(3); (s) is a plural
_INDEX: Final = re.compile(r"\((?:\d{1,2}[A-Z]?|[a-rt-z])\)(?!\w)")
_GLUED_ON: Final = re.compile(r"[^\s()\[\]{}]+")
_GLUED_TO: Final = re.compile(r"[^\s()\[\]{}]+\Z")
_SECOND: Final = re.compile(  # what no name begins with
    r"(?:dependent|induced|related|associated|resistant|mediated|derived|linked|deficient|converting|sensitive|onset|positive"
    r"|negative|like|type)\b"
)
_INITIAL: Final = re.compile(r"\b[A-Z]\.\s\Z")
_WHOLE_GENUS: Final = re.compile(r"\b[A-Z][a-z]{4,}\s\Z")
_GENUS: Final = re.compile(r"\b[A-Z](?:\.\s?|[a-z]+\s|\s)\Z")
_BEGINNING: Final = frozenset("-, .)]")
_DECIMALS: Final = re.compile(r"(?<=\d)\.\d+(?!\w)")
_EPITHET: Final = re.compile(
    r"(?!virus|fungi\b)[a-z]{3,}(?:i|us|is|um|ae|ans|ens|(?:an|in|at|os|ic|er)a)\b"
)
# as pylori, which is taken for part of a disease or a drug, too
_OF_BACTERIA: Final = re.compile(r"[a-z]{4,}i\b")
_LETTERS: Final = re.compile(r"[A-Za-z]*\Z")
_ABBREVIATED: Final = re.compile(r"(?:\bspp?|\bs?ssp|\bsubsp|\bvar|\bcv|\bpv|\bnov)\.\Z")
_RANK: Final = re.compile(
    r"(?:(?<=\bsp)|(?<=\bspp)|(?<=\bnov)|(?<=\bpv))\.|(?<=[a-z]{3})(?:\s(?:spp?|gen|f\.\s?sp|nov)\.)+"
)
# vinyl of tributyl(vinyl)tin
_BRACKETED: Final = re.compile(r"(?:[(\[][^\s()\[\]]{1,20}[)\]])+[a-z][^\s()\[\],;]*")


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
        span = _trim(text, _balance(text, _trim(text, span, kind)), kind)
    if text[span[1] : span[1] + 1] in _GROWING:
        span = _trim(text, _extend_right(text, span, kind), kind)
    span = _extend_left(text, _without_lists(text, span), kind)
    span = _with_rank(text, _with_epithet(text, span), kind)
    return span if _is_name(text, span, kind) else None


def _is_name(text: str, span: Span, kind: str) -> bool:
    """True unless a range has no letters, is a common word, or is a part of a longer name alone."""
    name = text[slice(*span)]
    if kind == _CELL_LINE:
        number = _NUMBER_OF_LINE.match(text, span[0])
        if number and number.end() == span[1]:
            return True
    if not any(map(str.isalpha, name)):
        return False
    if _WORD.fullmatch(name) or (kind == "Gene" and _KINDS.fullmatch(name)):
        return False
    if len(name) == 1:
        is_symbol = kind == _CHEMICAL and name in _SYMBOLS
        return (
            is_symbol and not _follows_hyphen(text, span) and not _INITIAL_OF.match(text, span[1])
        )
    return not _follows_hyphen(text, span)


def _follows_hyphen(text: str, span: Span) -> bool:
    """True if a range is the number or the second half of the name before a hyphen."""
    name = text[slice(*span)]
    return text[span[0] - 1 : span[0]] == "-" and bool(
        _NUMERAL.fullmatch(name) or _SECOND.fullmatch(name)
    )


def _trim(text: str, span: Span, kind: str) -> Span:
    """Removes signs and white space at the edges of a range, except paired brackets and signs
    that end a name.
    """
    start, end = span
    alone = _unpaired(text, span)
    while start < end and not (
        _in_words(text[start]) or (text[start] in _PAIRS and start not in alone)
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
    if last in _OPENED:
        return end - 1 not in alone
    if kind == _SPECIES and last == ".":
        return _ABBREVIATED.search(text, start, end) is not None
    if kind != _CHEMICAL or last not in "+-" or text[end : end + 1].isalnum():
        return False
    signs = len(text[start:end]) - len(text[start:end].rstrip("+-"))
    whole = _CHARGED.fullmatch(text, start, end) is not None
    return whole or (
        last == "+" and _CHARGED.fullmatch(text, max(start, end - signs - 1), end) is not None
    )


def _unpaired(text: str, span: Span) -> frozenset[int]:
    """Places of the brackets of a range that lack their other half."""
    waiting: dict[str, list[int]] = {close: [] for close in _OPENED}
    closing: list[int] = []
    for at in range(*span):
        character = text[at]
        if character in _PAIRS:
            waiting[_PAIRS[character]].append(at)
        elif character in _OPENED:
            if waiting[character]:
                waiting[character].pop()
            else:
                closing.append(at)
    return frozenset(closing).union(*waiting.values())


def _balance(text: str, span: Span) -> Span:
    """Returns a range with each unpaired bracket closed or cut."""
    while alone := _unpaired(text, span):
        at = min(alone)
        span = _close(text, span, at) or _cut(text, span, at)
    return span


def _close(text: str, span: Span, at: int) -> Span | None:
    """Extends a range to the other half of a bracket, if that directly follows and no other
    bracket is between.
    """
    start, end = span
    if text[at] in _PAIRS:
        half = _next_bracket(text[end : end + _GLUED], _PAIRS[text[at]])
        is_glued = at == start or not text[at - 1].isspace()
        return (start, end + half + 1) if is_glued and half is not None else None
    half = _next_bracket(text[max(0, start - _GLUED) : start][::-1], _OPENED[text[at]])
    return None if half is None else (start - half - 1, end)


def _next_bracket(text: str, bracket: str) -> int | None:
    """Returns the place of a bracket if neither a blank nor another bracket is before it."""
    for place, character in enumerate(text):
        if character.isspace() or character in _PAIRS or character in _OPENED:
            return place if character == bracket else None
    return None


def _cut(text: str, span: Span, at: int) -> Span:
    """Returns the side of a bracket that has more letters; the first of two with as many."""
    sides = (span[0], at), (at + 1, span[1])
    return max(sides, key=lambda side: sum(map(str.isalpha, text[slice(*side)])))


def _extend_right(text: str, span: Span, kind: str) -> Span:
    """Extends a range by the charge of an ion, or by the number of a name in capitals."""
    start, end = span
    if start == end:
        return span
    match text[end]:
        case ",":
            is_inside = kind == _CHEMICAL and _within_locants(text, end)
            more = _GLUED_ON.match(text, end) if is_inside else None
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
    if more or not is_chemical or not re.fullmatch(r"[A-Z][a-z]?\d?", text[start:end]):
        return more
    return _CHARGE.match(text, end)


def _number_behind(text: str, span: Span) -> re.Match[str] | None:
    """Matches the number behind a name in capitals, as in ``HIV-1``."""
    letters = _LETTERS.search(text[slice(*span)])
    has_number = letters and (
        letters[0].casefold() == "omega" or sum(map(str.isupper, letters[0])) > 1
    )
    return _STRAIN.match(text, span[1]) if has_number else None


def _extend_left(text: str, span: Span, kind: str) -> Span:
    """Extends a range to the left by preceding text that its name cannot do without."""
    start, end = span
    before = text[start - 1 : start]
    if start == end or not (before in _BEGINNING or text[start] in _PAIRS):
        return span
    if _continues_word(text, span, kind):
        first = _GLUED_TO.search(text, max(0, start - _FAR), start)
        return _trim(text, (first.start(), end), kind) if first else span
    is_glued = before in ("-", ",") or (text[start] in _PAIRS and before.isalnum())
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
    return text[start] in _PAIRS and before.isalnum()


def _words_before(text: str, span: Span, kind: str) -> re.Match[str] | None:
    """Matches an isotope, the initial or the name of a genus, or the word "type" before a range."""
    start, end = span
    floor = max(0, start - _GLUED)
    if text[start - 1 : start] in _OPENED:
        return _ISOTOPE.search(text, floor, start) if _LABELLED.match(text, start) else None
    if text[start].islower() and (initial := _INITIAL.search(text, max(0, start - 4), start)):
        return initial
    if text[start].isdigit():
        return _TYPE.search(text, floor, start)
    name, genus = (_EPITHET, _GENUS) if kind == _SPECIES else (_OF_BACTERIA, _WHOLE_GENUS)
    return genus.search(text, floor, start) if name.match(text, start, end) else None


def _with_epithet(text: str, span: Span) -> Span:
    """Extends a species found by its first word alone by the second, such as in ``Helicobacter
    pylori``.
    """
    behind = _SPECIES_BEHIND.match(text, span[1]) if text[span[0] : span[0] + 1].isupper() else None
    return (span[0], behind.end()) if behind and " " not in text[slice(*span)] else span


def _with_rank(text: str, span: Span, kind: str) -> Span:
    """Extends a species by the abbreviated rank behind it, such as ``sp. nov.``, or by the dot
    of that rank.
    """
    rank = _RANK.match(text, span[1]) if kind == _SPECIES else None
    return (span[0], rank.end()) if rank and text[span[0] : span[0] + 1].isupper() else span


def _within_locants(text: str, at: int) -> bool:
    """True if a comma stands between two locants: numbers or letters that locate a part of a
    chemical.
    """
    before = _LOCANT_BEFORE.search(text, max(0, at - _GLUED), at + 1)
    return before is not None and _LOCANTS.match(text, at) is not None


def _without_lists(text: str, span: Span) -> Span:
    """Removes the number of a list before a name, and small words behind it."""
    start, end = span
    numbered = _NUMBERED.match(text, start, end)
    dangling = _DANGLING.search(text, start, end)
    return numbered.end() if numbered else start, dangling.start() if dangling else end


_PRODUCTS: Final = (
    r"\s+(?:genes?|proteins?|m?RNAs?|cDNAs?|transcripts?|polypeptides?|oncogenes?|proto-oncogenes?)"
)
_AFTER: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "Gene": re.compile(rf"(?:{_PRODUCTS})+\Z", re.IGNORECASE),
        "CellLine": re.compile(r"\s+cells?(?:\s+lines?)?\Z|\s+lines?\Z", re.IGNORECASE),
    }
)


@cache
def _species_before() -> re.Pattern[str]:
    """Returns the pattern of a species before the name of a gene."""
    return re.compile(rf"(?:{either(lexicon('species')['genes']['apart'])})\s+", re.IGNORECASE)


def bare_span(text: str, span: Span, *, kind: str) -> Span:
    """Returns a mention without the words that only some guidelines count to its name.

    Args:
        text: of the document.
        span: of the mention.
        kind: its type; only genes and cell lines have such words.

    Returns:
        The same span if nothing is to be cut, or if no letter would be left.
    """
    start, end = span
    if after := _AFTER.get(kind):
        words = after.search(text[start:end])
        end = start + words.start() if words else end
    if kind == "Gene":
        words = _species_before().match(text, start, end)
        start = words.end() if words else start
    return (start, end) if any(map(str.isalpha, text[start:end])) else span

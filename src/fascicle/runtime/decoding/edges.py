"""Edges of mentions by rules that no guideline disputes: ``neutral@1``; other rules are another
version.

What some guidelines count to a name and others do not, and names without it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

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
    found = (
        span
        if _PLAIN.fullmatch(text, *span)
        else _trimmed(text, _balanced(text, _trimmed(text, span, kind)), kind)
    )
    found = (
        _trimmed(text, _grown(text, found, kind), kind)
        if text[found[1] : found[1] + 1] in _GROWING
        else found
    )
    found = _begun(text, _without_lists(text, found), kind)
    found = _with_rank(text, _with_epithet(text, found), kind)
    said = text[slice(*found)]
    if (
        kind == _CELL_LINE
        and (number := _NUMBER_OF_LINE.match(text, found[0]))
        and number.end() == found[1]
    ):
        return found
    if not any(map(str.isalpha, said)) or (
        len(said) == 1 and not (kind == _CHEMICAL and said in _SYMBOLS)
    ):
        return None
    if _WORD.fullmatch(said) or (kind == "Gene" and _KINDS.fullmatch(said)):
        return None
    if len(said) == 1 and _INITIAL_OF.match(text, found[1]):
        return None
    if text[found[0] - 1 : found[0]] == "-" and (
        _NUMERAL.fullmatch(said) or _SECOND.fullmatch(said)
    ):
        return None
    return found


def _trimmed(text: str, span: Span, kind: str) -> Span:
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


def _balanced(text: str, span: Span) -> Span:
    """Returns a range with each unpaired bracket closed or cut."""
    while alone := _unpaired(text, span):
        at = min(alone)
        span = _closed(text, span, at) or _cut(text, span, at)
    return span


def _closed(text: str, span: Span, at: int) -> Span | None:
    """Extends a range to the other half of a bracket, if that directly follows and no other
    bracket is between.
    """
    start, end = span
    if text[at] in _PAIRS:
        beyond = text[end : end + _GLUED]
        place = next(
            (i for i, one in enumerate(beyond) if one.isspace() or one in _PAIRS or one in _OPENED),
            None,
        )
        glued = at == start or not text[at - 1].isspace()
        return (
            (start, end + place + 1)
            if glued and place is not None and beyond[place] == _PAIRS[text[at]]
            else None
        )
    before = text[max(0, start - _GLUED) : start][::-1]
    place = next(
        (i for i, one in enumerate(before) if one.isspace() or one in _PAIRS or one in _OPENED),
        None,
    )
    return (
        (start - place - 1, end)
        if place is not None and before[place] == _OPENED[text[at]]
        else None
    )


def _cut(text: str, span: Span, at: int) -> Span:
    """Returns the side of a bracket that has more letters; the first of two with as many."""
    sides = (span[0], at), (at + 1, span[1])
    return max(sides, key=lambda side: sum(map(str.isalpha, text[slice(*side)])))


def _grown(text: str, span: Span, kind: str) -> Span:
    """Extends a range by the charge of an ion, or by the number of a name in capitals."""
    start, end = span
    if start == end:
        return span
    if text[end] == ",":
        more = (
            _GLUED_ON.match(text, end) if kind == _CHEMICAL and _within_locants(text, end) else None
        )
        return (start, more.end()) if more else span
    if text[end] == ".":
        more = _DECIMALS.match(text, end)
        return (start, more.end()) if more else span
    if kind == _CHEMICAL and (more := _BRACKETED.match(text, end)):
        return start, more.end()
    if index := _INDEX.match(text, end) or _SUBSTRAIN.match(text, end):
        return start, index.end()
    if kind == _CHEMICAL:
        charge = _CHARGE.match(text, end)
        if charge and re.fullmatch(r"[A-Z][a-z]?\d?", text[start:end]):
            return start, charge.end()
    letters = _LETTERS.search(text[start:end])
    number = _STRAIN.match(text, end)
    has_number = letters and (
        letters[0].casefold() == "omega" or sum(map(str.isupper, letters[0])) > 1
    )
    return (start, number.end()) if number and has_number else span


def _begun(text: str, span: Span, kind: str) -> Span:
    """Extends a range to the left by preceding text that its name cannot do without."""
    start, end = span
    before = text[start - 1 : start]
    if start == end or not (before in _BEGINNING or text[start] in _PAIRS):
        return span
    first = None
    if before == "-":
        half = _SECOND.match(text, start, end)
        first = (
            _GLUED_TO.search(text, max(0, start - _FAR), start)
            if half and half.end() < end
            else None
        )
    elif before == ",":
        is_half = kind == _CHEMICAL and _within_locants(text, start - 1)
        first = _GLUED_TO.search(text, max(0, start - _FAR), start) if is_half else None
    elif text[start] in _PAIRS and before.isalnum():
        first = _GLUED_TO.search(text, max(0, start - _FAR), start)
    elif before in _OPENED:
        label = (
            _ISOTOPE.search(text, max(0, start - _GLUED), start)
            if _LABELLED.match(text, start)
            else None
        )
        return (label.start(), end) if label else span
    elif text[start].islower() and (initial := _INITIAL.search(text, max(0, start - 4), start)):
        return initial.start(), end
    elif text[start].isdigit():
        found = _TYPE.search(text, max(0, start - _GLUED), start)
        return (found.start(), end) if found else span
    else:
        name, genus = (_EPITHET, _GENUS) if kind == _SPECIES else (_OF_BACTERIA, _WHOLE_GENUS)
        found = (
            genus.search(text, max(0, start - _GLUED), start)
            if name.match(text, start, end)
            else None
        )
        return (found.start(), end) if found else span
    return _trimmed(text, (first.start(), end), kind) if first else span


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


_ANIMALS: Final = r"(?:human|mouse|murine|rat|bovine|porcine|rabbit|chicken|zebrafish|yeast)\s+"
_PRODUCTS: Final = (
    r"\s+(?:genes?|proteins?|m?RNAs?|cDNAs?|transcripts?|polypeptides?|oncogenes?|proto-oncogenes?)"
)
_BEFORE: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {"Gene": re.compile(_ANIMALS, re.IGNORECASE)}
)
_AFTER: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "Gene": re.compile(rf"(?:{_PRODUCTS})+\Z", re.IGNORECASE),
        "CellLine": re.compile(r"\s+cells?(?:\s+lines?)?\Z|\s+lines?\Z", re.IGNORECASE),
    }
)


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
        found = after.search(text[start:end])
        end = start + found.start() if found else end
    if before := _BEFORE.get(kind):
        found = before.match(text, start, end)
        start = found.end() if found else start
    return (start, end) if any(map(str.isalpha, text[start:end])) else span

"""Units in which files count offsets, and their conversion to code points of the text.

Programs count UTF-16 units (JavaScript, Java), bytes of UTF-8, CRLF as one character, or a byte
order mark. What fits the mentions decides: the texts that the file gives beside the offsets, or
else how many mentions begin and end at words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import accumulate, product
from types import MappingProxyType
from typing import Final, NamedTuple

from fascicle.core.mention import Span

Conversion = Callable[[int], int]
CODE_POINTS: Final = "code-points"
UTF16: Final = "utf-16"
BYTES: Final = "bytes"
AUTO: Final = "auto"
BY_WORDS: Final = "words"
UNIT_NAMES: Final = MappingProxyType(
    {CODE_POINTS: "code points", BYTES: "bytes", UTF16: "UTF-16 units"}
)
_ENOUGH: Final = 3  # mentions that words must place, before bytes or line ends are believed
_CRLF: Final = re.compile("\r\n")
_MARK: Final = "\ufeff"
_FIRST_OF_TWO_UNITS: Final = "\U00010000"


class StatedMention(NamedTuple):
    """Offsets of a mention as a file has them, in any order, and the text beside them, if there
    is any.
    """

    spans: Sequence[Span]
    text: str | None = None


class OffsetFit(NamedTuple):
    """Counting that fits the mentions of a document.

    Attributes:
        how: what the offsets count; empty if they are code points.
        convert: function from such an offset to code points, which returns -1 for an offset between
            two code points or outside the text.
        is_sure: false if two ways to count fit equally well, and code points were chosen.
    """

    how: str = ""
    convert: Conversion = int
    is_sure: bool = True


AS_STATED: Final = OffsetFit()


def conversion(
    text: str, unit: str, *, has_bom: bool = False, joined_ends: bool = False
) -> Conversion:
    """Returns the function that converts offsets to code points; see `OffsetFit.convert`.

    Args:
        text: of the document.
        unit: of `UNIT_NAMES`.
        has_bom: whether a byte order mark before the text counts.
        joined_ends: whether CRLF counts as one character.
    """
    sizes = [_size(character, unit) for character in text]
    for end in _CRLF.finditer(text) if joined_ends else ():
        sizes[end.start()] = 0
    places: dict[int, int] = {}
    for place, offset in enumerate(accumulate(sizes, initial=_size(_MARK, unit) * has_bom)):
        places.setdefault(offset, place)
    return lambda offset: places.get(offset, -1)


def _size(character: str, unit: str) -> int:
    if unit == BYTES:
        return len(character.encode(errors="surrogatepass"))
    return 2 if unit == UTF16 and character >= _FIRST_OF_TWO_UNITS else 1


def convert_spans(spans: Sequence[Span], convert: Conversion) -> tuple[Span, ...]:
    """Returns spans in code points; see `OffsetFit.convert`."""
    return tuple((convert(start), convert(end)) for start, end in spans)


def fit_offsets(
    text: str,
    mentions: Sequence[StatedMention],
    *,
    agrees: Callable[[str, Sequence[Span]], bool],
    has_bom: bool = False,
    votes: Counter[str] | None = None,
) -> OffsetFit:
    """Returns the counting that fits the mentions of a document best; code points if no other fits
    more of them.

    Args:
        text: of the document.
        mentions: as the file states them; if some have a text, only these decide.
        agrees: true if the text beside a mention is the text at these spans, which lie inside the
            document.
        has_bom: whether the text has a byte order mark in its file.
        votes: of earlier documents of the file, which decide if the mentions fit two units equally
            well.
    """
    if text.isascii() and "\r\n" not in text and not has_bom:
        return AS_STATED
    with_text = [mention for mention in mentions if mention.text is not None]
    score = partial(_count_fitting, text, with_text or mentions, agrees if with_text else None)
    as_stated = score(int)
    ways = _ways(text, has_bom=has_bom) if as_stated < len(with_text or mentions) else iter(())
    if not with_text:
        return _by_words(
            text, mentions, score, list(ways), votes=Counter() if votes is None else votes
        )
    best = max(
        (OffsetFit(how, convert) for how, convert in ways),
        key=lambda way: score(way.convert),
        default=AS_STATED,
    )
    return best if score(best.convert) > as_stated else AS_STATED


def _count_fitting(
    text: str,
    mentions: Sequence[StatedMention],
    agrees: Callable[[str, Sequence[Span]], bool] | None,
    convert: Conversion,
) -> int:
    """Returns the number of mentions that fit a text if their offsets are converted.

    Args:
        text: of the document.
        mentions: as the file states them.
        agrees: see `fit_offsets`; ``None`` if mentions have to begin and end at words.
        convert: from the offsets to code points.
    """
    inside: list[tuple[str, Sequence[Span]]] = []
    for mention in mentions:
        spans = mention.spans if convert is int else convert_spans(mention.spans, convert)
        if _is_inside(spans, text):
            inside.append((mention.text or "", spans))
    if agrees is not None:
        return sum(agrees(beside, spans) for beside, spans in inside)

    ranges = [span for _, spans in inside for span in spans]
    # where one mention follows another inside a word
    borders = {start for start, _ in ranges} & {end for _, end in ranges}
    return sum(_on_words(spans, text, borders) for _, spans in inside)


def _by_words(
    text: str,
    mentions: Sequence[StatedMention],
    score: Callable[[Conversion], int],
    ways: Sequence[tuple[str, Conversion]],
    *,
    votes: Counter[str],
) -> OffsetFit:
    """Returns the counting by which mentions begin and end at words; only UTF-16 may be wrong
    for some of them.
    """
    as_stated = score(int)
    if max(text) >= _FIRST_OF_TWO_UNITS:
        pairs = OffsetFit(UNIT_NAMES[UTF16], conversion(text, UTF16))
        if _count_changed(mentions, pairs.convert):
            gain = score(pairs.convert) - as_stated
            votes[UTF16] += (gain > 0) - (gain < 0)
            if gain > 0 or (gain == 0 and votes[UTF16] > 0):
                return pairs
            if gain == 0 and votes[UTF16] == 0:
                return OffsetFit(is_sure=False)
    if 2 * as_stated < len(mentions):
        for how, convert in ways:
            changed = _count_changed(mentions, convert)
            if changed >= _ENOUGH and score(convert) == len(mentions):
                return OffsetFit(how, convert)
    return AS_STATED


def _count_changed(mentions: Sequence[StatedMention], convert: Conversion) -> int:
    """Returns the number of mentions with an offset that a conversion changes."""
    return sum(
        any(convert(offset) != offset for span in mention.spans for offset in span)
        for mention in mentions
    )


def _ways(text: str, *, has_bom: bool) -> Iterator[tuple[str, Conversion]]:
    """Yields the ways to count that differ for a text, each with its name, without that of this
    package.
    """
    units = (CODE_POINTS,) if text.isascii() and not has_bom else tuple(UNIT_NAMES)
    for unit, mark, ends in product(
        units, (False, True)[: 1 + has_bom], (False, True)[: 1 + ("\r\n" in text)]
    ):
        names = {
            UNIT_NAMES[unit]: unit != CODE_POINTS,
            "the byte order mark": mark,
            "CRLF as one": ends,
        }
        how = " and ".join(name for name, counts in names.items() if counts)
        if how:
            yield how, conversion(text, unit, has_bom=mark, joined_ends=ends)


def _is_inside(spans: Sequence[Span], text: str) -> bool:
    return all(0 <= start < end <= len(text) for start, end in spans)


def _on_words(spans: Sequence[Span], text: str, borders: Collection[int]) -> bool:
    """True if spans begin and end with a character of a word, and not inside a word."""
    edges = [
        edge for span in spans for edge in span if 0 < edge < len(text) and edge not in borders
    ]
    return not any(
        text[start].isspace() or text[end - 1].isspace() for start, end in spans
    ) and not any(text[edge - 1].isalnum() and text[edge].isalnum() for edge in edges)

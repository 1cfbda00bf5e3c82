"""Offsets of BioC: what they count, and where the texts of passages stand in a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from fascicle.core.document import Event
from fascicle.core.effects import make_event
from fascicle.core.mention import Span
from fascicle.formats.bioc_records import (
    STEP,
    BiocAnnotation,
    HolderPath,
    Location,
    Sentence,
    from_start,
    with_controls,
)
from fascicle.formats.offset_units import CODE_POINTS, UNIT_NAMES, Conversion, conversion

BLANKS: Final = "blanks-before"
_MOST_BLANKS: Final = 10_000  # between passages, beside as many as the text has characters


class BiocText:
    """Text of a passage or a sentence, with its offset in the file and its offset in the
    document.
    """

    def __init__(self, part: Sentence, infons: Mapping[str, Any]) -> None:
        self.text, self.infons = with_controls(part.text or "", infons), infons
        self.offset = self.start = part.offset
        self._conversions: dict[str, Conversion] = {}

    def place(self, location: Location, unit: str) -> Span | None:
        """Converts a location to code points of this text; ``None`` if an end is outside the text
        or inside a character.
        """
        start = location.offset - self.offset
        end = start + location.length
        if unit != CODE_POINTS:
            if unit not in self._conversions:
                self._conversions[unit] = conversion(self.text, unit)
            start, end = map(self._conversions[unit], (start, end))
        length = len(self.text)
        return (start, end) if 0 <= start <= length and 0 <= end <= length else None


class BiocCandidate(NamedTuple):
    """Annotation, its holder, the texts that it may be in, the offsets of its passage and its
    sentence, and whether it is as stated (`is_as_stated`).
    """

    annotation: BiocAnnotation
    holder: HolderPath
    near: list[BiocText]
    offsets: Mapping[str, int]
    as_stated: bool


class BiocCounting(NamedTuple):
    """How offsets are counted: from the start of each holder, ``"passage"`` or ``"sentence"``, or
    of the document if that is empty; in which unit; and whether all texts of annotations with one
    location fit.
    """

    holder: str
    unit: str
    fits: bool = False


class BiocLayout(NamedTuple):
    """Where texts stand: at their offsets, or one blank apart; and those with a blank before them
    that their offsets do not have.
    """

    is_exact: bool
    parted: frozenset[int]

    @property
    def is_moved(self) -> bool:
        """Whether offsets are no longer those of the file."""
        return not self.is_exact or bool(self.parted)


def is_as_stated(annotation: BiocAnnotation, near: Iterable[BiocText]) -> bool:
    """True if an annotation has one location, and its text is there by code points from the start
    of the document: nearly all have, so this makes no further call.
    """
    expected, locations = annotation.text, annotation.locations
    if not expected or len(locations) != 1:
        return False
    (location,) = locations
    length = location.length
    for piece in near:
        start = location.offset - piece.offset
        if start >= 0 and start + length <= len(piece.text):  # the text is not empty
            return length == len(expected) and piece.text.startswith(expected, start)
    return False


def detect_counting(candidates: Sequence[BiocCandidate]) -> BiocCounting:
    """Detects the origin and the unit of the offsets by comparing the texts of the annotations.

    The default is code points from the start of the document (no holder); another way must fit more
    annotations.
    """
    comparable = [
        candidate
        for candidate in candidates
        if candidate.annotation.text and len(candidate.annotation.locations) == 1
    ]
    if all(candidate.as_stated for candidate in comparable):
        return BiocCounting("", CODE_POINTS, fits=True)

    is_ascii = all(piece.text.isascii() for candidate in comparable for piece in candidate.near)
    units = [CODE_POINTS] if is_ascii else [*UNIT_NAMES]
    ways = [BiocCounting(holder, unit) for holder in ("", "passage", "sentence") for unit in units]
    return max(ways, key=lambda way: sum(_fits(candidate, way) for candidate in comparable))


def _fits(candidate: BiocCandidate, counting: BiocCounting) -> bool:
    annotation = candidate.annotation
    if counting.holder:
        annotation = from_start(annotation, candidate.offsets, counting.holder)
    match = _within(annotation.locations[0], candidate.near, counting.unit)
    return match is not None and match[0].text[match[1] : match[2]] == annotation.text


def _within(
    location: Location, near: Iterable[BiocText], unit: str
) -> tuple[BiocText, int, int] | None:
    """Finds the text that contains a range; returns it with start and end in that text, or
    ``None``.
    """
    for piece in near:
        if span := piece.place(location, unit):
            return piece, *span
    return None


def _is_exact(pieces: Sequence[BiocText]) -> bool:
    """True if each text can be placed at its offset without too many blanks between the texts."""
    gaps = _stated_gaps(pieces)
    return all(gap >= 0 for gap in gaps) and sum(gaps) <= _MOST_BLANKS + sum(
        len(piece.text) for piece in pieces
    )


def _touching(pieces: Sequence[BiocText], ranges: Iterable[range]) -> frozenset[int]:
    """Returns the numbers of texts that begin a passage where the passage before ends."""
    texts = [[at for at in own if pieces[at].text] for own in ranges]
    borders = ((before[-1], after[0]) for before, after in pairwise(filter(None, texts)))
    return frozenset(
        after
        for before, after in borders
        if pieces[after].infons.get(BLANKS) != ""
        and touch(
            pieces[before].offset, pieces[before].text, pieces[after].offset, pieces[after].text
        )
    )


def _in_one_piece(candidate: BiocCandidate) -> bool:
    """True if each range of an annotation is within one text of its passage."""
    locations = candidate.annotation.locations
    return all(_within(location, candidate.near, CODE_POINTS) for location in locations)


def _gaps(pieces: Sequence[BiocText], layout: BiocLayout) -> list[int]:
    """Returns the number of blanks before each text."""
    if not layout.is_exact:
        return [int(at > 0) for at in range(len(pieces))]
    return [gap + (at in layout.parted) for at, gap in enumerate(_stated_gaps(pieces))]


def _stated_gaps(pieces: Sequence[BiocText]) -> list[int]:
    """Returns the number of characters before each text, by the offsets."""
    ends = [0, *(piece.offset + len(piece.text) for piece in pieces)]
    return [piece.offset - end for piece, end in zip(pieces, ends, strict=False)]


def touch(offset: int, text: str, next_offset: int, next_text: str) -> bool:
    """True if two texts stand side by side without a blank at their border."""
    return offset + len(text) == next_offset and not (
        text[-1:].isspace() or next_text[:1].isspace()
    )


def join_texts(pieces: Sequence[BiocText], layout: BiocLayout) -> str:
    """Returns the text of the document, and notes in each of its texts where it starts."""
    parts: list[str] = []
    length = 0
    for piece, gap in zip(pieces, _gaps(pieces, layout), strict=True):
        blanks = piece.infons.get(BLANKS)
        is_stated = isinstance(blanks, str) and len(blanks) == gap and not blanks.strip()
        parts += [str(blanks) if is_stated else " " * gap, piece.text]
        piece.start = length + gap
        length = piece.start + len(piece.text)
    return "".join(parts)


def find_layout(
    pieces: Sequence[BiocText],
    ranges: Iterable[range],
    candidates: Iterable[BiocCandidate],
    counting: BiocCounting,
) -> BiocLayout:
    """Returns where the texts of a document stand.

    Args:
        pieces: its texts.
        ranges: those of each passage.
        candidates: its annotations.
        counting: of their offsets.
    """
    is_exact = counting.unit == CODE_POINTS and _is_exact(pieces)
    odd = (candidate for candidate in candidates if not candidate.as_stated)
    if is_exact and not counting.holder and all(map(_in_one_piece, odd)):
        return BiocLayout(is_exact, _touching(pieces, ranges))
    return BiocLayout(is_exact, frozenset())


def counting_events(counting: BiocCounting, layout: BiocLayout) -> Iterator[Event]:
    """Yields what was done to the offsets."""
    if counting.holder:
        message = (
            f"offsets of annotations begin anew in each {counting.holder}; its offset was added "
            "to them"
        )
        yield make_event("offsets-of-passages", step=STEP, message=message)
    if layout.parted:
        message = "a blank was put between passages that touch, and offsets were moved by it"
        yield make_event("offsets-moved", step=STEP, message=message)
    elif layout.is_moved:
        message = (
            f"offsets were converted: they count {UNIT_NAMES[counting.unit]}, and passages now "
            "stand one after the other"
        )
        yield make_event("offsets-moved", step=STEP, message=message)


def convert_location(location: Location, near: list[BiocText], unit: str) -> Span:
    """Returns a range of the document; an empty one for a location in none of the texts."""
    match = _within(location, near, unit)
    return (0, 0) if match is None else (match[0].start + match[1], match[0].start + match[2])

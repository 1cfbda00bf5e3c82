"""Conversion of gold mentions to training targets of a head, with counts of the mentions that it
cannot represent.

The functions find the position of a mention among the units of a document: its units, its segment,
its window.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from fascicle.core.arrays import Bools, Ints, int_array
from fascicle.core.document import Mention
from fascicle.core.mention import Span
from fascicle.text.pieces import Pieces
from fascicle.text.windows import Window, last_pieces, scores_span


def find_units(
    mention: Mention, pieces: Pieces, segment_of: Ints, *, breakers: str = ""
) -> tuple[tuple[int, int] | None, str]:
    """Returns the units that a mention covers.

    Args:
        mention: a mention of the document.
        pieces: pieces of the document.
        segment_of: see `segment_firsts`.
        breakers: characters; no mention may have a unit that begins with one, see `begins_with`.

    Returns:
        First unit and one past the last, ``None`` if there is no such range; and the reason why the
        mention is not exactly this range of one segment: ``"discontinuous"``, ``"unread"``,
        ``"crosses-segment"``, ``"inside-word"``, ``"breaker"``, or an empty text.
    """
    if len(mention.spans) > 1:
        return None, "discontinuous"
    start = int(np.searchsorted(pieces.units[:, 1], mention.start, side="right"))
    end = int(np.searchsorted(pieces.units[:, 0], mention.end, side="left"))
    if start >= end or segment_of[start] < 0 or segment_of[end - 1] < 0:
        return None, "unread"
    if segment_of[start] != segment_of[end - 1]:
        return None, "crosses-segment"
    exact = pieces.units[start, 0] == mention.start and pieces.units[end - 1, 1] == mention.end
    if exact and begins_with(pieces.text, pieces.units[start:end], breakers).any():
        return (start, end), "breaker"
    return (start, end), "" if exact else "inside-word"


def begins_with(text: str, units: Ints, characters: str) -> Bools:
    """Returns the mask of units that begin with one of some characters.

    Args:
        text: text of the document.
        units: character range of each unit, ``[u, 2]``.
        characters: the characters.

    Returns:
        ``[u]``.
    """
    if not characters:
        return np.zeros(len(units), dtype=bool)
    return np.array([text[start] in characters for start in units[:, 0].tolist()], dtype=bool)


def segment_firsts(windows: Sequence[Window], units: int) -> Ints:
    """Returns the first unit of the segment of each unit, -1 for units that are not read,
    ``[units]``.
    """
    segment_of = np.full(units, -1, dtype=np.int64)
    for window in windows:
        segment_of[slice(*window.segment)] = window.segment[0]
    return segment_of


def _keepers(windows: Sequence[Window], units: int) -> Ints:
    """Returns the index of the window that keeps each unit, -1 for none, ``[units]``."""
    window_of = np.full(units, -1, dtype=np.int64)
    for number, window in enumerate(windows):
        window_of[slice(*window.keep)] = number
    return window_of


REASONS = {
    "discontinuous": "several fragments, but a head marks one range",
    "unread": "no piece of the text under it is read (outside every sentence, or removed by the "
    "tokenizer)",
    "inside-word": "a boundary inside a word or piece: the whole units around it are taught "
    "instead",
    "crosses-segment": "reaches over the end of a sentence or packed window",
    "crosses-window": "reaches over the end of the window that answers for it",
    "overlapped": "overlaps a longer mention, and a flat head returns one of the two",
    "same-span": "has the range of another mention: one type is taught",
    "too-wide": "has more words or pieces than the width of the head",
    "breaker": "has a word or piece that begins with a breaker, at which mentions are cut",
    "touching": "touches a mention of its own type, which IO tags cannot keep apart",
}

UNKNOWN: Final = -1  # in place of a type: labels that overlap this range are unknown
NONE_UNKNOWN: Final[Ints] = np.zeros((0, 2), dtype=np.int64)  # for a text with human annotation


class HeadLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Mentions that a head can represent.

    Attributes:
        nested: true if mentions may be nested or cross each other.
        separates: true if mentions of one type that touch stay separate.
        width: most units of a mention, which must then lie in one window; ``None`` for any length.
        continues: true if the target of a unit shows whether the mention before it continues, as a
            tag does.
        pieces: most pieces of a mention, which must then lie in one window; ``None`` for any
            length.
        pairs: true if each pair of a range and a type is scored independently, in every window that
            contains the range: a range may have several types, and all gold mentions are targets,
            also those that cannot be returned.
        across_types: true if types do not compete: ``nested`` then concerns mentions of one type,
            and those of different types may be nested, cross each other, or have the same range.
        breakers: characters; no mention may have a unit that begins with one.
    """

    nested: bool = False
    separates: bool = True
    width: int | None = None
    continues: bool = False
    pieces: int | None = None
    pairs: bool = False
    across_types: bool = False
    breakers: str = ""

    @property
    def of_spans(self) -> bool:
        """True if spans are scored, each in the window that keeps its middle, and not units."""
        return self.width is not None or self.pieces is not None


class AlignedGold(msgspec.Struct, frozen=True, kw_only=True):
    """Gold mentions of one document in units.

    Attributes:
        spans: ``(start, end, type index)`` of the targets, ``[m, 3]``, in order; no range twice,
            or, if a range may have several types, no pair of range and type twice.
        lost: number of mentions that cannot be predicted exactly, by reason (keys of ``REASONS``).
    """

    spans: Ints
    lost: Counter[str]


def _check_type(mention: Mention, types: Sequence[str]) -> None:
    if mention.type not in types:
        raise ValueError(
            f"a mention has the type {mention.type!r}, not among the types {', '.join(types)}"
        )


def align(
    mentions: Sequence[Mention],
    pieces: Pieces,
    windows: Sequence[Window],
    *,
    types: Sequence[str],
    limits: HeadLimits,
) -> AlignedGold:
    """Maps mentions to units.

    Of two overlapping mentions (of one type, if types do not compete) a flat tagger learns the
    longer one. A flat span head learns both, since the shorter one is a mention and no negative
    example, but it can return only one of them. A head that scores pairs learns mentions that it
    cannot return for the same reason.

    Args:
        mentions: gold mentions of the document.
        pieces: pieces of the document.
        windows: windows of the document.
        types: entity types; a mention of another type raises ``ValueError``.
        limits: limits of the head.

    Returns:
        Target spans, and counts of lost mentions.
    """
    index = {name: i for i, name in enumerate(types)}
    losses: Counter[str] = Counter()
    segment_of = segment_firsts(windows, len(pieces.units))
    reach = Reach(pieces, windows, limits)
    targets = _TargetSpans(len(pieces.units), len(types), limits)
    for mention in sorted(mentions, key=lambda m: (m.start - m.end, m.start, m.type)):
        _check_type(mention, types)
        span, reason = find_units(mention, pieces, segment_of, breakers=limits.breakers)
        if span is not None:
            row, outside = (*span, index[mention.type]), reach.outside(span)
            refused = targets.refuses(row) or outside
            if not refused or (limits.of_spans and targets.may_teach(row, outside)):
                targets.add(row, exact=not (refused or reason), overlaps=not outside)
            reason = refused or reason
        if reason:
            losses[reason] += 1
    table = int_array(sorted(targets.rows)).reshape(-1, 4)
    spans, exact = table[:, :3], table[:, 3] > 0
    if not limits.separates:
        losses["touching"] += int((_touching(spans, segment_of) & exact).sum())
    return AlignedGold(spans=spans, lost=+losses)


def unknown_units(ranges: Sequence[Span], pieces: Pieces, *, limits: HeadLimits) -> Ints:
    """Maps ranges without known labels (weak labels, see ``labelling.distant``) to units.

    Args:
        ranges: in characters, sorted and disjoint.
        pieces: pieces of the document.
        limits: limits of the head; if the label of a unit shows whether the mention before it
            continues, the unit after a range is unknown too, if it is in the same sentence (Shang
            et al. 2018 leave out the same gaps).

    Returns:
        First unit and one past the last, ``[r, 2]``, sorted; a range over no unit is left out.
    """
    if not ranges:
        return NONE_UNKNOWN
    borders = int_array(ranges)
    start = np.searchsorted(pieces.units[:, 1], borders[:, 0], side="right")
    end = np.searchsorted(pieces.units[:, 0], borders[:, 1], side="left")
    units = np.stack([start, end], axis=1)[start < end].astype(np.int64)
    if limits.continues:
        sentence_of = np.searchsorted(pieces.sentences[:, 1], pieces.first, side="right")
        following = np.append(sentence_of, -1)  # no unit follows the last one
        units[:, 1] += sentence_of[units[:, 1] - 1] == following[units[:, 1]]
    return units


def spans_in_window(spans: Ints, window: Window) -> Ints:
    """Returns the spans in a window, and the parts of unknown ranges in it, relative to its first
    unit.

    Args:
        spans: first unit, end and type, `UNKNOWN` or less for a range with unknown labels, ``[n,
            3]``.
        window: a window of the same document.
    """
    start, end = window.units
    inside = (spans[:, 0] >= start) & (spans[:, 1] <= end)
    touched = (spans[:, 2] <= UNKNOWN) & (spans[:, 0] < end) & (spans[:, 1] > start)
    selected: Ints = spans[inside | touched].copy()
    selected[:, :2] = selected[:, :2].clip(start, end) - start
    return selected


def covered_mask(ranges: Ints, units: int) -> Bools:
    """Returns the mask of units that lie in at least one range.

    Args:
        ranges: first unit and one past the last, in the first two columns, ``[r, 2 or more]``.
        units: number of units.

    Returns:
        Mask of the units, ``[units]``.
    """
    steps = np.zeros(units + 1, dtype=np.int64)
    np.add.at(steps, ranges[:, 0], 1)
    np.add.at(steps, ranges[:, 1], -1)
    inside: Bools = np.cumsum(steps[:-1]) > 0
    return inside


class _TargetSpans:
    """Target spans so far, the longest first."""

    def __init__(self, units: int, types: int, limits: HeadLimits) -> None:
        self.rows: list[tuple[int, int, int, bool]] = []
        self._limits = limits
        self._keys: set[tuple[int, ...]] = set()
        self._covered = np.zeros((types if limits.across_types else 1, units), dtype=bool)

    def refuses(self, row: tuple[int, int, int]) -> str:
        """Returns the reason why a span cannot be added to the others; empty if it can."""
        if not self._limits.nested:
            return "overlapped" if self._under(row).any() else ""
        return "same-span" if self._key(row) in self._keys else ""

    def may_teach(self, row: tuple[int, int, int], outside: str) -> bool:
        """True if a span that cannot be returned can still be a training target beside the
        others.
        """
        if self._key(row) in self._keys:
            return False
        return self._limits.pairs or (not self._limits.nested and not outside)

    def add(self, row: tuple[int, int, int], *, exact: bool, overlaps: bool) -> None:
        """Adds a span with its type.

        Args:
            row: start, end and type of the span.
            exact: true if the mention is exactly this span.
            overlaps: true if no competing span that overlaps it can be returned with it.
        """
        self.rows.append((*row, exact))
        self._keys.add(self._key(row))
        self._under(row)[:] |= overlaps

    def _key(self, row: tuple[int, int, int]) -> tuple[int, ...]:
        return row if self._limits.pairs or self._limits.across_types else row[:2]

    def _under(self, row: tuple[int, int, int]) -> Bools:
        """Returns a view of the mask of covered units of a span; only competing spans count."""
        start, end, kind = row
        return self._covered[kind if self._limits.across_types else 0, start:end]


class Reach:
    """Check whether the window that keeps the middle of a span scores the span."""

    def __init__(self, pieces: Pieces, windows: Sequence[Window], limits: HeadLimits) -> None:
        """Prepares the check for one document.

        Args:
            pieces: pieces of the document.
            windows: windows of the document.
            limits: limits of the head.
        """
        self._limits = limits
        self._windows = windows
        self._window_of = _keepers(windows, len(pieces.units))
        self._first, self._last = pieces.first, last_pieces(pieces)

    def outside(self, span: tuple[int, int]) -> str:
        """Returns the reason why a span is not scored; empty if it is, or if units are scored
        and not spans.
        """
        if not self._limits.of_spans:
            return ""
        start, end = span
        pieces = int(self._last[end - 1] - self._first[start]) + 1
        for size, most in ((end - start, self._limits.width), (pieces, self._limits.pieces)):
            if most is not None and size > most:
                return "too-wide"
        middle = self._windows[self._window_of[(start + end - 1) // 2]]
        return "" if scores_span(middle, start, end) else "crosses-window"


def _touching(spans: Ints, segment_of: Ints) -> Bools:
    """Returns the mask of spans that touch a neighbour of their type in their segment: decoding
    merges them.
    """
    order = np.lexsort((spans[:, 0], spans[:, 2]))
    before, after = spans[order[:-1]], spans[order[1:]]
    joint = (before[:, 1] == after[:, 0]) & (before[:, 2] == after[:, 2])
    joint &= segment_of[before[:, 1] - 1] == segment_of[after[:, 0]]
    merged = np.zeros(len(spans), dtype=bool)
    merged[order[:-1]] |= joint
    merged[order[1:]] |= joint
    return merged

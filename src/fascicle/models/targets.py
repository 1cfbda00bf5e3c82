"""Gold mentions -> what a head can learn, and an honest count of what it cannot represent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fascicle.core.document import Mention
from fascicle.core.tags import TagScheme
from fascicle.text.pieces import Ints, Pieces
from fascicle.text.windows import Window

REASONS = {
    "discontinuous": "several fragments, but a tagger marks one range",
    "unread": "no piece of the text under it is read (outside every sentence, or removed by the tokenizer)",
    "inside-word": "a boundary inside a word or piece: the whole units around it are taught instead",
    "crosses-segment": "reaches over the end of a sentence or packed window",
    "overlapped": "overlaps a longer mention: the outermost is kept",
    "touching": "touches a mention of its own type, which IO tags cannot keep apart",
}


@dataclass(frozen=True, kw_only=True)
class Aligned:
    """Gold mentions of one document in units.

    Attributes:
        spans: ``(start, end, type index)`` of what is taught, disjoint, ``[m, 3]``.
        lost: mentions that cannot be predicted exactly, by reason (keys of ``REASONS``).
    """

    spans: Ints
    lost: Counter[str]


def align(
    mentions: Sequence[Mention], pieces: Pieces, windows: Sequence[Window], *, types: Sequence[str], scheme: TagScheme
) -> Aligned:
    """Maps mentions onto units, flat: where two overlap, the longer one is taught (*comparing-and-combining* §4.1).

    Args:
        mentions: gold of the document.
        pieces: the document as the network sees it.
        windows: of the document.
        types: entity types; a mention of another type raises ``ValueError``.
        scheme: tags of the head.

    Returns:
        Spans to teach, and what is lost.
    """
    index = {name: i for i, name in enumerate(types)}
    lost: Counter[str] = Counter()
    segment_of = _segment_of(windows, len(pieces.units))
    taken = np.zeros(len(pieces.units), dtype=bool)
    chosen: list[tuple[int, int, int, bool]] = []
    for mention in sorted(mentions, key=lambda m: (m.start - m.end, m.start, m.type)):
        if mention.type not in index:
            raise ValueError(f"a mention has the type {mention.type!r}, not among the types {', '.join(types)}")
        span, reason = _in_units(mention, pieces, segment_of)
        if span is not None and taken[span[0] : span[1]].any():
            span, reason = None, "overlapped"
        if reason:
            lost[reason] += 1
        if span is not None:
            taken[span[0] : span[1]] = True
            chosen.append((*span, index[mention.type], not reason))
    table = np.array(sorted(chosen), dtype=np.int64).reshape(-1, 4)
    spans, exact = table[:, :3], table[:, 3] > 0
    if scheme.width == 1:
        lost["touching"] += int((_touching(spans, segment_of) & exact).sum())
    return Aligned(spans=spans, lost=+lost)


def _in_units(mention: Mention, pieces: Pieces, segment_of: Ints) -> tuple[tuple[int, int] | None, str]:
    """Units that a mention covers, and why it is not exactly representable (empty if it is)."""
    if len(mention.spans) > 1:
        return None, "discontinuous"
    start = int(np.searchsorted(pieces.units[:, 1], mention.start, side="right"))
    end = int(np.searchsorted(pieces.units[:, 0], mention.end, side="left"))
    if start >= end:
        return None, "unread"
    if segment_of[start] != segment_of[end - 1]:
        return None, "crosses-segment"
    exact = pieces.units[start, 0] == mention.start and pieces.units[end - 1, 1] == mention.end
    return (start, end), "" if exact else "inside-word"


def _segment_of(windows: Sequence[Window], units: int) -> Ints:
    segment_of = np.full(units, -1, dtype=np.int64)
    for window in windows:
        segment_of[slice(*window.segment)] = window.segment[0]
    return segment_of


def _touching(spans: Ints, segment_of: Ints) -> NDArray[np.bool_]:
    """Which spans touch a neighbour of their type in their segment: read back, they are one."""
    before, after = spans[:-1], spans[1:]
    joint = (before[:, 1] == after[:, 0]) & (before[:, 2] == after[:, 2])
    joint &= segment_of[before[:, 1] - 1] == segment_of[after[:, 0]]
    merged = np.zeros(len(spans), dtype=bool)
    merged[:-1] |= joint
    merged[1:] |= joint
    return merged

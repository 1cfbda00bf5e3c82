"""Windows: how documents of any length are cut for a network that reads a bounded number of pieces.

A *segment* is what is decoded as one chain: a sentence, or consecutive sentences packed together. A segment that is too
long is read through overlapping windows; each unit is *kept* from exactly one of them, the one where it stands farther
from the edge, so that stitched scores cover every unit once (``stitch``).

A sentence may be read with text of its document around it (*comparing-and-combining* §3: 100 characters on each side of
a LivingNER sentence). Then the sentence is the *centre* of its window: the pieces of the window reach beyond it, its
units do not, so that context is never trained on, predicted in or scored.

Windows -> the padded arrays that a network takes, the same for torch and for ONNX.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Literal, TypeVar

import numpy as np

from fascicle.core.arrays import Bools, Floats32, Ints
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.inputs import UnitInputs
from fascicle.text.pieces import Pieces, PieceTokenizer


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """A range of pieces of one document, the units that are scored in it, and those whose scores are kept.

    Attributes:
        document: index of the document among those that are read together.
        pieces: half-open range of pieces, context included.
        units: half-open range of units whose first piece is inside, those of the context left out.
        keep: half-open range of units that this window answers for.
        segment: half-open range of units of the segment that the window belongs to.
    """

    document: int
    pieces: tuple[int, int]
    units: tuple[int, int]
    keep: tuple[int, int]
    segment: tuple[int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """How much text is read on each side of a sentence: so many characters, or so many sentences, or nothing.

    Attributes:
        characters: on each side, rounded inward to whole pieces and whole units; where units are pieces, context may
            begin or end inside a word.
        sentences: neighbours on each side; those without a piece do not count.
    """

    characters: int = 0
    sentences: int = 0

    @classmethod
    def of(cls, reading: ReadingSettings) -> Context:
        """What a recipe or a model asks for."""
        return cls(characters=reading.context_characters, sentences=reading.context_sentences)


NO_CONTEXT = Context()


def windows_of(
    pieces: Pieces,
    *,
    document: int,
    unit: Literal["sentence", "packed"],
    capacity: int,
    overlap: int,
    context: Context = NO_CONTEXT,
) -> list[Window]:
    """Cuts one document into windows.

    Args:
        pieces: the document.
        document: its index, copied into the windows.
        unit: whether a segment is a sentence, or as many consecutive sentences as fit.
        capacity: most pieces in a window, special tokens not counted.
        overlap: pieces that neighbouring windows of a long segment share, at least where units allow.
        context: read around each sentence that fits into one window. It ends between units; pieces of no unit are kept
            within its limits. Where centre and context exceed the capacity, the context is shortened on both sides
            alike, except that one side may have what the other does not use.

    Returns:
        Windows in reading order; their ``keep`` ranges partition the units of the document.

    Raises:
        ValueError: context for packed sentences, or both kinds of it.
    """
    if context != NO_CONTEXT and (unit == "packed" or (context.characters and context.sentences)):
        raise ValueError(f"{context} needs unit = 'sentence', here {unit!r}, and one of its two numbers to be 0")
    segments = list(_segments(pieces.sentences, unit=unit, capacity=capacity))
    result: list[Window] = []
    for segment in segments:
        result.extend(_cut(pieces, segment, document=document, capacity=capacity, overlap=overlap))
    return result if context == NO_CONTEXT else _widened(pieces, result, segments, context=context, capacity=capacity)


def answered(window: Window, spans: Ints) -> Bools:
    """Which spans a window answers for: those whose middle it keeps, if it reads all of them.

    At most one window answers for a span, and one does wherever the span is no longer than what windows share.

    Args:
        window: of a document.
        spans: start and end (exclusive) in units of the document, in the first two columns, ``[m, 2 or more]``.

    Returns:
        ``[m]``.
    """
    start, end = spans[:, 0], spans[:, 1]
    middle = (start + end - 1) // 2
    inside = (window.units[0] <= start) & (end <= window.units[1])
    found: Bools = inside & (window.keep[0] <= middle) & (middle < window.keep[1])
    return found


def answers_for(window: Window, start: int, end: int) -> bool:
    """``answered`` for one span."""
    return bool(answered(window, np.array([[start, end]]))[0])


def cut_short(pieces: Pieces, *, capacity: int) -> Ints:
    """Units whose pieces reach over more than a window holds: only those among the first ``capacity`` are read."""
    return np.flatnonzero(last_pieces(pieces) - pieces.first >= capacity).astype(np.int64)


def segment_starts(sentences: Ints, *, unit: Literal["sentence", "packed"], capacity: int) -> list[int]:
    """The first piece of each segment of a document.

    Args:
        sentences: piece range of each sentence, ``[s, 2]``.
        unit: as for `windows_of`.
        capacity: as for `windows_of`.
    """
    return [start for start, _ in _segments(sentences, unit=unit, capacity=capacity)]


def stitch(scores: Sequence[Floats32], windows: Sequence[Window], *, units: int) -> Floats32:
    """Joins the scores of the windows of one document.

    Args:
        scores: per window, one row for each of its units, ``[units, C]``.
        windows: of one document.
        units: number of units of the document.

    Returns:
        ``[units, C]``.
    """
    width = scores[0].shape[1] if scores else 0
    joined = np.zeros((units, width), dtype=np.float32)
    for rows, window in zip(scores, windows, strict=True):
        start, end = window.keep
        joined[start:end] = rows[start - window.units[0] : end - window.units[0]]
    return joined


def last_pieces(pieces: Pieces) -> Ints:
    """Index of the last piece of each unit."""
    members = np.flatnonzero(pieces.unit_of >= 0)
    last = pieces.first.copy()
    last[pieces.unit_of[members]] = members  # the last one of each unit remains
    return last


def _segments(sentences: Ints, *, unit: str, capacity: int) -> Iterator[tuple[int, int]]:
    """Piece ranges that are read as one text."""
    start = end = -1
    for a, b in sentences.tolist():
        if a == b:
            continue
        if start >= 0 and unit == "packed" and b - start <= capacity:
            end = b
            continue
        if start >= 0:
            yield start, end
        start, end = a, b
    if start >= 0:
        yield start, end


def _cut(pieces: Pieces, segment: tuple[int, int], *, document: int, capacity: int, overlap: int) -> list[Window]:
    """Windows over one segment, cut between units only."""
    low, high = (int(i) for i in np.searchsorted(pieces.first, segment))
    if high == low:
        return []
    if segment[1] - segment[0] <= capacity:
        everything = (low, high)
        return [Window(document=document, pieces=segment, units=everything, keep=everything, segment=everything)]
    # Pieces before the first unit are dropped, those after a unit go with it: borders[i] is where unit low + i starts.
    borders = np.append(pieces.first[low:high], segment[1])
    ranges = list(_unit_windows(borders, capacity=capacity, overlap=overlap))
    cuts = [0, *((b_next + e) // 2 for (_, e), (b_next, _) in pairwise(ranges)), high - low]
    return [
        Window(
            document=document,
            pieces=(int(borders[a]), int(min(borders[b], borders[a] + capacity))),
            units=(low + a, low + b),
            keep=(low + cuts[i], low + cuts[i + 1]),
            segment=(low, high),
        )
        for i, (a, b) in enumerate(ranges)
    ]


def _unit_windows(borders: Ints, *, capacity: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Ranges of units that fit, each reaching further than the one before and overlapping it by at most ``overlap``."""
    count = len(borders) - 1
    start = 0
    while True:
        end = max(start + 1, int(np.searchsorted(borders, borders[start] + capacity, side="right")) - 1)
        end = min(end, count)
        yield start, end
        if end == count:
            return
        back = np.searchsorted(borders, borders[end] - overlap, side="left")
        fits = np.searchsorted(borders, borders[end + 1] - capacity, side="left")  # always beyond start
        start = min(int(max(back, fits)), end)


def _widened(
    pieces: Pieces, windows: list[Window], segments: Sequence[tuple[int, int]], *, context: Context, capacity: int
) -> list[Window]:
    """The same windows with context around those that hold a whole sentence."""
    number_of = {segment: i for i, segment in enumerate(segments)}
    inward = _inward(pieces)
    result = []
    for window in windows:
        number = number_of.get(window.pieces)  # none for a part of a long sentence
        if number is None:
            result.append(window)
            continue
        limits = 0, len(pieces.ids)
        if context.sentences:
            first, last = max(0, number - context.sentences), min(len(segments) - 1, number + context.sentences)
            limits = segments[first][0], segments[last][1]
        room = capacity - (window.pieces[1] - window.pieces[0])
        available = _available(pieces, window.pieces, limits=limits, characters=context.characters, room=room)
        result.append(replace(window, pieces=_share(window.pieces, available, room=room, inward=inward)))
    return result


def _inward(pieces: Pieces) -> tuple[Ints, Ints]:
    """For each border between pieces the nearest that cuts no unit: not before it, and not after it; ``[n + 1]``."""
    borders = np.arange(len(pieces.ids) + 1)
    # Borders are compared with the farthest piece of all units that begin before them.
    reach = np.append(-1, np.maximum.accumulate(last_pieces(pieces)))
    whole = reach[np.searchsorted(pieces.first, borders, side="left")] < borders
    following = np.minimum.accumulate(np.where(whole, borders, len(pieces.ids))[::-1])[::-1]
    return following, np.maximum.accumulate(np.where(whole, borders, 0))


def _available(
    pieces: Pieces, centre: tuple[int, int], *, limits: tuple[int, int], characters: int, room: int
) -> tuple[int, int]:
    """Pieces before and after the centre that lie within the limits and, if given, so many characters away."""
    start, end = centre
    low, high = max(limits[0], start - room), min(limits[1], end + room)
    if not characters:
        return start - low, high - end
    inside = pieces.spans[start:end]
    before = pieces.spans[low:start, 0][::-1] >= inside[:, 0].min() - characters
    after = pieces.spans[end:high, 1] <= inside[:, 1].max() + characters
    return _leading(before), _leading(after)


def _leading(allowed: Bools) -> int:
    """How many are true before the first that is not."""
    return int(np.argmin(np.append(allowed, False)))


def _share(
    centre: tuple[int, int], available: tuple[int, int], *, room: int, inward: tuple[Ints, Ints]
) -> tuple[int, int]:
    """The centre with whole units of context on both sides, in equal parts unless one side leaves room to the other."""
    start, end = centre
    following, previous = inward

    def before(count: int) -> int:
        return start - min(int(following[start - count]), start)

    def after(count: int) -> int:
        return max(int(previous[end + count]), end) - end

    most_before, most_after = before(available[0]), after(available[1])
    left = before(min(most_before, max(room // 2, room - most_after)))
    right = after(min(most_after, room - left))
    left = before(min(most_before, room - right))  # what the right side lost by rounding
    return start - left, end + right


Batch = dict[str, Ints]


def collate(windows: Sequence[Window], documents: Sequence[Pieces], tokenizer: PieceTokenizer) -> Batch:
    """Pads windows into one batch.

    Args:
        windows: at least one.
        documents: what ``Window.document`` counts in.
        tokenizer: for the special tokens and the padding id.

    Returns:
        ``input_ids`` and ``attention_mask`` ``[B, T]``; ``first_piece`` and ``last_piece`` ``[B, U]``, the positions of
        each unit's first piece and of the last one inside the window, 0 beyond ``unit_count`` ``[B]``;
        ``unit_of_piece`` ``[B, T]``, counted from the window's first unit, -1 for special tokens, padding and pieces of
        no unit; where something was looked up about the documents, also ``features`` ``[B, U, F]``, what is known of
        each unit, 0 beyond the units.
    """
    ahead, extra = len(tokenizer.prefix), len(tokenizer.prefix) + len(tokenizer.suffix)
    length = max(w.pieces[1] - w.pieces[0] for w in windows) + extra
    widest = max(w.units[1] - w.units[0] for w in windows)
    size = len(windows)
    ids = np.full((size, length), tokenizer.pad, dtype=np.int64)
    mask = np.zeros((size, length), dtype=np.int64)
    first = np.zeros((size, widest), dtype=np.int64)
    last = np.zeros((size, widest), dtype=np.int64)
    unit_of = np.full((size, length), -1, dtype=np.int64)
    for row, window in enumerate(windows):
        a, b = window.pieces
        u, v = window.units
        source = documents[window.document]
        end = ahead + b - a
        ids[row, :ahead] = tokenizer.prefix
        ids[row, ahead:end] = source.ids[a:b]
        ids[row, end : end + len(tokenizer.suffix)] = tokenizer.suffix
        mask[row, : end + len(tokenizer.suffix)] = 1
        first[row, : v - u] = source.first[u:v] - a + ahead
        numbers = source.unit_of[a:b]
        unit_of[row, ahead:end] = np.where((numbers >= u) & (numbers < v), numbers - u, -1)
        members = np.flatnonzero(unit_of[row] >= 0)
        last[row, unit_of[row, members]] = members  # the last one of each unit remains
    counts = np.array([w.units[1] - w.units[0] for w in windows], dtype=np.int64)
    known = [documents[w.document].inputs for w in windows]
    looked_up = {FEATURES: _features(windows, [one for one in known if one is not None], widest)} if known[0] else {}
    return {
        "input_ids": ids,
        "attention_mask": mask,
        "first_piece": first,
        "last_piece": last,
        "unit_of_piece": unit_of,
        "unit_count": counts,
        **looked_up,
    }


def _features(windows: Sequence[Window], known: Sequence[UnitInputs], widest: int) -> Ints:
    """What is known of the units of each window; documents that are read together are looked up together."""
    found = np.zeros((len(windows), widest, known[0].rows.shape[1]), dtype=np.int64)
    for row, (window, inputs) in enumerate(zip(windows, known, strict=True)):
        u, v = window.units
        found[row, : v - u] = inputs.rows[u:v]
    return found


T = TypeVar("T")
FEATURES: Final = "features"
TYPE_VECTORS: Final = "type_vectors"  # what a text is compared with, where that is no part of the network
_OF_UNITS: Final = ("first_piece", "last_piece", "unit_of_piece", "unit_count", FEATURES)


def with_level(batch: Batch, other: Batch, level: str) -> Batch:
    """A batch with the units of another level beside its own, for the same windows.

    Args:
        batch: of ``collate``.
        other: the same windows, cut into other units.
        level: what these are.
    """
    return {**batch, **{f"{level}/{name}": other[name] for name in _OF_UNITS if name in other}}


def of_level(batch: Mapping[str, T], level: str) -> Mapping[str, T]:
    """The batch as a head of a level sees it: with its own units, if the batch has several."""
    own = {name: batch[f"{level}/{name}"] for name in _OF_UNITS if f"{level}/{name}" in batch}
    return {**batch, **own} if own else batch

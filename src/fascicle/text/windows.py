"""Windows: the division of documents of any length for a network that reads a bounded number of
pieces.

A *segment* is decoded as one chain: a sentence, or consecutive sentences packed together. A segment
that is too long is read in overlapping windows; the scores of each unit are *kept* from exactly one
of them, the one in which it is farther from the edge, so that joined scores cover every unit once
(``stitch``).

A sentence may be read with text of its document around it (*comparing-and-combining* §3: 100
characters on each side of a LivingNER sentence). Then the sentence is the *centre* of its window:
the pieces of the window extend beyond it, its units do not, so that context is never used for
training targets, predictions or scores.

`collate` pads windows into the arrays that a network takes, the same for torch and for ONNX.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, Literal, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from fascicle.core.arrays import Bools, Floats32, Ints, int_array
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.inputs import UnitInputs
from fascicle.text.pieces import Pieces, PieceTokenizer


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """Range of pieces of one document, the units scored in it, and the units whose scores are kept
    from it.

    Attributes:
        document: index of the document among those read together.
        pieces: half-open range of pieces, context included.
        units: half-open range of units whose first piece is inside, without those of the context.
        keep: half-open range of units whose scores are kept from this window.
        segment: half-open range of units of the segment that the window belongs to.
    """

    document: int
    pieces: tuple[int, int]
    units: tuple[int, int]
    keep: tuple[int, int]
    segment: tuple[int, int]


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """Amount of text read on each side of a sentence: a number of characters or of sentences, or
    none.

    Attributes:
        characters: number of characters on each side, rounded down to whole pieces and whole units;
            if units are pieces, context may begin or end inside a word.
        sentences: number of sentences on each side; those without a piece do not count.
    """

    characters: int = 0
    sentences: int = 0

    @classmethod
    def of(cls, reading: ReadingSettings) -> Context:
        """Returns the context of the settings of a recipe or a model."""
        return cls(characters=reading.context_characters, sentences=reading.context_sentences)


NO_CONTEXT = Context()


def make_windows(
    pieces: Pieces,
    *,
    document: int,
    unit: Literal["sentence", "packed"],
    capacity: int,
    overlap: int,
    context: Context = NO_CONTEXT,
) -> list[Window]:
    """Divides one document into windows.

    Args:
        pieces: pieces of the document.
        document: index of the document, copied into the windows.
        unit: a segment is a sentence, or as many consecutive sentences as fit.
        capacity: most pieces in a window, without special tokens.
        overlap: pieces that neighbouring windows of a long segment share, as far as units allow.
        context: text read around each sentence that fits into one window. It ends between units;
            pieces of no unit are kept within its limits. If centre and context exceed the capacity,
            the context is shortened equally on both sides, except that one side may use the room
            that the other does not need.

    Returns:
        Windows in reading order; their ``keep`` ranges partition the units of the document.

    Raises:
        ValueError: context for packed sentences, or in characters and sentences at once.
    """
    if context != NO_CONTEXT and (unit == "packed" or (context.characters and context.sentences)):
        raise ValueError(
            f"{context} needs unit = 'sentence', here {unit!r}, and one of its two numbers to be 0"
        )
    segments = list(_segments(pieces.sentences, unit=unit, capacity=capacity))
    reach = np.maximum.accumulate(last_pieces(pieces)) + 1
    result: list[Window] = []
    borders = np.searchsorted(pieces.first, int_array(segments).reshape(-1, 2)).tolist()
    for segment, (low, high) in zip(segments, borders, strict=True):
        if low < high:
            result += _cut(
                pieces,
                segment,
                (low, high),
                reach,
                document=document,
                capacity=capacity,
                overlap=overlap,
            )
    return (
        result
        if context == NO_CONTEXT
        else _widened(pieces, result, segments, context=context, capacity=capacity)
    )


def scored_mask(window: Window, spans: Ints) -> Bools:
    """Returns the mask of spans that are scored by a window: it keeps their middle and contains all
    their units.

    Scores of a span are kept from at most one window, and from exactly one if the span is no longer
    than the overlap of windows.

    Args:
        window: a window of the document.
        spans: start and end (exclusive) in units of the document, in the first two columns, ``[m, 2
            or more]``.

    Returns:
        Mask of the spans, ``[m]``.
    """
    start, end = spans[:, 0], spans[:, 1]
    middle = (start + end - 1) // 2
    inside = (window.units[0] <= start) & (end <= window.units[1])
    scored: Bools = inside & (window.keep[0] <= middle) & (middle < window.keep[1])
    return scored


def scores_span(window: Window, start: int, end: int) -> bool:
    """Applies ``scored_mask`` to one span."""
    return bool(scored_mask(window, np.array([[start, end]]))[0])


def truncated_units(pieces: Pieces, *, capacity: int) -> Ints:
    """Returns the units with more pieces than a window holds: only their first ``capacity``
    pieces are read.
    """
    return np.flatnonzero(last_pieces(pieces) - pieces.first >= capacity).astype(np.int64)


def segment_starts(
    sentences: Ints, *, unit: Literal["sentence", "packed"], capacity: int
) -> list[int]:
    """Returns the index of the first piece of each segment of a document.

    Args:
        sentences: piece range of each sentence, ``[s, 2]``.
        unit: see `make_windows`.
        capacity: see `make_windows`.
    """
    return [start for start, _ in _segments(sentences, unit=unit, capacity=capacity)]


def stitch(scores: Sequence[Floats32], windows: Sequence[Window], *, units: int) -> Floats32:
    """Joins the scores of the windows of one document.

    Args:
        scores: for each window, one row for each of its units, ``[units, C]``.
        windows: windows of one document.
        units: number of units of the document.

    Returns:
        ``[units, C]``.
    """
    width = scores[0].shape[1] if scores else 0
    stitched = np.zeros((units, width), dtype=np.float32)
    for rows, window in zip(scores, windows, strict=True):
        start, end = window.keep
        stitched[start:end] = rows[start - window.units[0] : end - window.units[0]]
    return stitched


def last_pieces(pieces: Pieces) -> Ints:
    """Returns the index of the last piece of each unit."""
    members = np.flatnonzero(pieces.unit_of >= 0)
    last = pieces.first.copy()
    last[pieces.unit_of[members]] = members  # the last one of each unit remains
    return last


def _segments(sentences: Ints, *, unit: str, capacity: int) -> Iterator[tuple[int, int]]:
    """Yields the piece ranges of the segments."""
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


def _cut(
    pieces: Pieces,
    segment: tuple[int, int],
    units: tuple[int, int],
    reach: Ints,
    *,
    document: int,
    capacity: int,
    overlap: int,
) -> list[Window]:
    """Divides one segment into windows, only between units; ``reach`` has the piece after the
    last one of each unit.
    """
    if segment[1] - segment[0] <= capacity:
        return [Window(document=document, pieces=segment, units=units, keep=units, segment=units)]
    low, high = units
    # Pieces before the first unit are dropped. Those of no unit after a unit go with it as far as
    # there is room.
    borders = np.append(pieces.first[low:high], segment[1])
    ranges = list(_unit_windows(borders[:-1], reach[low:high], capacity=capacity, overlap=overlap))
    return [
        Window(
            document=document,
            pieces=(int(borders[start]), int(min(borders[end], borders[start] + capacity))),
            units=(low + start, low + end),
            keep=(low + keep[0], low + keep[1]),
            segment=units,
        )
        for (start, end), keep in zip(ranges, _without_overlaps(ranges, high - low), strict=True)
    ]


def _without_overlaps(ranges: Sequence[tuple[int, int]], count: int) -> Iterator[tuple[int, int]]:
    """Divides what neighbouring ranges of all units share in its middle."""
    middles = [(start + end) // 2 for (_, end), (start, _) in pairwise(ranges)]
    return pairwise([0, *middles, count])


def _unit_windows(
    starts: Ints, ends: Ints, *, capacity: int, overlap: int
) -> Iterator[tuple[int, int]]:
    """Yields ranges of units that fit, each ending after the previous and overlapping it by
    ``overlap`` at most.

    Args:
        starts: first piece of each unit, ``[n]``.
        ends: piece after the last one of each unit, never falling, ``[n]``.
        capacity: most pieces from the first one of a range to the last one.
        overlap: most pieces that two neighbouring ranges share.
    """
    start = 0
    while True:
        end = max(start + 1, int(np.searchsorted(ends, starts[start] + capacity, side="right")))
        yield start, end
        if end == len(starts):
            return
        back = np.searchsorted(starts, starts[end] - overlap, side="left")
        fits = np.searchsorted(starts, ends[end] - capacity, side="left")  # always beyond start
        start = min(int(max(back, fits)), end)


def _widened(
    pieces: Pieces,
    windows: list[Window],
    segments: Sequence[tuple[int, int]],
    *,
    context: Context,
    capacity: int,
) -> list[Window]:
    """Returns the windows with context around those that contain a whole sentence."""
    number_of = {segment: i for i, segment in enumerate(segments)}
    inward = _inward(pieces)
    result = []
    for window in windows:
        number = number_of.get(window.pieces)  # None for a part of a long sentence
        if number is None:
            result.append(window)
            continue
        limits = 0, len(pieces.ids)
        if context.sentences:
            first, last = (
                max(0, number - context.sentences),
                min(len(segments) - 1, number + context.sentences),
            )
            limits = segments[first][0], segments[last][1]
        room = capacity - (window.pieces[1] - window.pieces[0])
        available = _available(
            pieces, window.pieces, limits=limits, characters=context.characters, room=room
        )
        result.append(
            replace(window, pieces=_share(window.pieces, available, room=room, inward=inward))
        )
    return result


def _inward(pieces: Pieces) -> tuple[Ints, Ints]:
    """Returns for each piece border the nearest borders between units, after and before it (or
    itself); ``[n + 1]``.
    """
    borders = np.arange(len(pieces.ids) + 1)
    # Borders are compared with the farthest piece of all units that begin before them.
    reach = np.append(-1, np.maximum.accumulate(last_pieces(pieces)))
    whole = reach[np.searchsorted(pieces.first, borders, side="left")] < borders
    following = np.minimum.accumulate(np.where(whole, borders, len(pieces.ids))[::-1])[::-1]
    return following, np.maximum.accumulate(np.where(whole, borders, 0))


def _available(
    pieces: Pieces, centre: tuple[int, int], *, limits: tuple[int, int], characters: int, room: int
) -> tuple[int, int]:
    """Counts the pieces before and after the centre within the limits and, if given, a number of
    characters.
    """
    start, end = centre
    low, high = max(limits[0], start - room), min(limits[1], end + room)
    if not characters:
        return start - low, high - end
    inside = pieces.spans[start:end]
    before = pieces.spans[low:start, 0][::-1] >= inside[:, 0].min() - characters
    after = pieces.spans[end:high, 1] <= inside[:, 1].max() + characters
    return _leading(before), _leading(after)


def _leading(allowed: Bools) -> int:
    """Counts the true values before the first false one."""
    return int(np.argmin(np.append(allowed, False)))


def _share(
    centre: tuple[int, int], available: tuple[int, int], *, room: int, inward: tuple[Ints, Ints]
) -> tuple[int, int]:
    """Adds whole units of context on both sides, in equal parts unless one side needs less."""
    start, end = centre
    following, previous = inward

    def before(count: int) -> int:
        return start - min(int(following[start - count]), start)

    def after(count: int) -> int:
        return max(int(previous[end + count]), end) - end

    most_before, most_after = before(available[0]), after(available[1])
    earlier = before(min(most_before, max(room // 2, room - most_after)))
    later = after(min(most_after, room - earlier))
    # room that the right side lost by rounding
    earlier = before(min(most_before, room - later))
    return start - earlier, end + later


Batch = dict[str, Ints]


def _empty_batch(counts: Ints, length: int, *, pad: int) -> Batch:
    """Returns a batch of padding alone; see `collate`.

    Args:
        counts: number of units of each window, ``[B]``.
        length: of the longest window, in pieces.
        pad: id of the padding.
    """
    shape, units_shape = (len(counts), length), (len(counts), int(counts.max()))
    return {
        "input_ids": np.full(shape, pad, dtype=np.int64),
        "attention_mask": np.zeros(shape, dtype=np.int64),
        "first_piece": np.zeros(units_shape, dtype=np.int64),
        "last_piece": np.zeros(units_shape, dtype=np.int64),
        "unit_of_piece": np.full(shape, -1, dtype=np.int64),
        "unit_count": counts,
    }


def _fill_pieces(row: Batch, ids: Ints, tokenizer: PieceTokenizer) -> None:
    """Writes the pieces of a window, with the special tokens around them."""
    prefix, suffix = tokenizer.prefix, tokenizer.suffix
    size = len(prefix) + len(ids)
    row["input_ids"][: len(prefix)] = prefix
    row["input_ids"][len(prefix) : size] = ids
    row["input_ids"][size : size + len(suffix)] = suffix
    row["attention_mask"][: size + len(suffix)] = 1


def collate(
    windows: Sequence[Window], documents: Sequence[Pieces], tokenizer: PieceTokenizer
) -> Batch:
    """Pads windows into one batch.

    Args:
        windows: at least one.
        documents: documents that ``Window.document`` indexes.
        tokenizer: tokenizer with the special tokens and the padding id.

    Returns:
        ``input_ids`` and ``attention_mask`` ``[B, T]``; ``first_piece`` and ``last_piece`` ``[B,
        U]``, the positions of each unit's first piece and of the last one inside the window, 0
        beyond ``unit_count`` ``[B]``; ``unit_of_piece`` ``[B, T]``, counted from the window's first
        unit, -1 for special tokens, padding and pieces of no unit; if the documents have inputs of
        units, also ``features`` ``[B, U, F]``, the features of each unit, 0 beyond the units.
    """
    prefix, suffix = tokenizer.prefix, tokenizer.suffix
    length = max(w.pieces[1] - w.pieces[0] for w in windows) + len(prefix) + len(suffix)
    counts = int_array([w.units[1] - w.units[0] for w in windows])
    batch = _empty_batch(counts, length, pad=tokenizer.pad)
    for row, window in enumerate(windows):
        pieces = documents[window.document]
        arrays = {name: values[row] for name, values in batch.items()}
        _fill_pieces(arrays, pieces.ids[slice(*window.pieces)], tokenizer)
        _fill_units(arrays, window, pieces, prefix)
    inputs = [documents[window.document].inputs for window in windows]
    if inputs[0]:
        batch[FEATURES] = _features(windows, [own for own in inputs if own is not None])
    return batch


def _fill_units(
    row: Mapping[str, Ints], window: Window, pieces: Pieces, prefix: Sequence[int]
) -> None:
    """Fills in the pieces of each unit, and the unit of each piece, in the row of a window."""
    (start, end), (first, after), ahead = window.pieces, window.units, len(prefix)
    row["first_piece"][: after - first] = pieces.first[first:after] - start + ahead
    numbers = pieces.unit_of[start:end]
    is_inside = (numbers >= first) & (numbers < after)
    row["unit_of_piece"][ahead : ahead + end - start] = np.where(is_inside, numbers - first, -1)
    members = np.flatnonzero(row["unit_of_piece"] >= 0)
    # the last one of each unit remains
    row["last_piece"][row["unit_of_piece"][members]] = members


def _features(windows: Sequence[Window], inputs: Sequence[UnitInputs]) -> Ints:
    """Returns the features of the units of each window."""
    widest = max(window.units[1] - window.units[0] for window in windows)
    features = np.zeros((len(windows), widest, inputs[0].rows.shape[1]), dtype=np.int64)
    for row, (window, own) in enumerate(zip(windows, inputs, strict=True)):
        first, after = window.units
        features[row, : after - first] = own.rows[first:after]
    return features


_T = TypeVar("_T")
FEATURES: Final = "features"
TYPE_VECTORS: Final = "type_vectors"  # vectors of the types, if they are an input of the network
_OF_UNITS: Final = ("first_piece", "last_piece", "unit_of_piece", "unit_count", FEATURES)


def add_level(batch: Batch, other: Batch, level: str) -> Batch:
    """Adds the units of another level to a batch, for the same windows.

    Args:
        batch: a batch of ``collate``.
        other: a batch of the same windows with other units.
        level: level of these units.
    """
    return {**batch, **{f"{level}/{name}": other[name] for name in _OF_UNITS if name in other}}


def at_level(batch: Mapping[str, _T], level: str) -> Mapping[str, _T]:
    """Returns the batch with the units of one level as its own, if the batch has several levels."""
    own = {name: batch[f"{level}/{name}"] for name in _OF_UNITS if f"{level}/{name}" in batch}
    return {**batch, **own} if own else batch

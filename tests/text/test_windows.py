"""Windows: whatever their size, stitched scores are those of the whole text."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.support.reading import pieces_of

from fascicle.core.arrays import Ints
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.pieces import Pieces
from fascicle.text.windows import (
    NO_CONTEXT,
    Context,
    Window,
    make_windows,
    scores_span,
    stitch,
    truncated_units,
)

UNITS: tuple[Literal["sentence", "packed"], ...] = ("sentence", "packed")


WORD_LEVEL = st.lists(st.lists(st.integers(0, 6) | st.just(1), max_size=25), max_size=6)
PIECE_LEVEL = st.lists(st.lists(st.sampled_from([1, 1, 1, 0]), max_size=40), max_size=6)
DOCUMENTS = (WORD_LEVEL | PIECE_LEVEL).map(pieces_of)
CAPACITY = st.integers(1, 30)
OVERLAP = st.integers(0, 15)


def position_wise(pieces: Pieces, positions: Ints) -> np.ndarray:
    """A network without context: the scores of a unit hang on its first piece and where that
    stands.
    """
    return np.stack([pieces.ids[positions], positions], axis=1).astype(np.float32)


@given(pieces=DOCUMENTS, unit=st.sampled_from(UNITS), capacity=CAPACITY, overlap=OVERLAP)
def test_stitched_scores_are_those_of_the_whole_text(
    pieces: Pieces, unit: Literal["sentence", "packed"], capacity: int, overlap: int
) -> None:
    windows = make_windows(pieces, document=3, unit=unit, capacity=capacity, overlap=overlap)
    scores = [position_wise(pieces, pieces.first[slice(*w.units)]) for w in windows]
    whole = position_wise(pieces, pieces.first)
    assert np.array_equal(
        stitch(scores, windows, units=len(pieces.first)).reshape(whole.shape), whole
    )
    check_windows(pieces, windows, capacity=capacity)


def check_windows(pieces: Pieces, windows: list[Window], *, capacity: int) -> None:
    kept = [i for w in windows for i in range(*w.keep)]
    assert kept == list(range(len(pieces.first)))
    too_long = set(truncated_units(pieces, capacity=capacity).tolist())
    for window in windows:
        (a, b), (u, v) = window.pieces, window.units
        assert window.document == 3
        assert 0 < b - a <= capacity
        assert np.searchsorted(pieces.first, [a, b]).tolist() == [u, v]
        assert window.segment[0] <= u <= window.keep[0] <= window.keep[1] <= v <= window.segment[1]
        for word in range(u, v):
            members = np.flatnonzero(pieces.unit_of == word)
            assert members[-1] < b or (word in too_long and v - u == 1)


@pytest.mark.parametrize("unit", UNITS)
def test_each_unit_of_a_text_of_any_length_is_kept_once(
    unit: Literal["sentence", "packed"],
) -> None:
    longest = pieces_of([[1] * 2_000])
    columns = ("ids", "spans", "units", "first", "unit_of")
    for length in range(1, 2_001):
        cut = {name: getattr(longest, name)[:length] for name in columns}
        pieces = Pieces(**cut, sentences=np.array([[0, length]]))
        windows = make_windows(pieces, document=0, unit=unit, capacity=126, overlap=16)
        kept = np.concatenate([np.arange(*window.keep) for window in windows])
        assert np.array_equal(kept, np.arange(length))


@given(pieces=DOCUMENTS, unit=st.sampled_from(UNITS), capacity=CAPACITY, overlap=OVERLAP)
def test_every_window_goes_further(
    pieces: Pieces, unit: Literal["sentence", "packed"], capacity: int, overlap: int
) -> None:
    windows = make_windows(pieces, document=0, unit=unit, capacity=capacity, overlap=overlap)
    ends = [w.units[1] for w in windows]
    assert ends == sorted(set(ends))


@given(
    pieces=PIECE_LEVEL.map(pieces_of), unit=st.sampled_from(UNITS), overlap=OVERLAP, data=st.data()
)
def test_short_spans_lie_in_some_window(
    pieces: Pieces, unit: Literal["sentence", "packed"], overlap: int, data: st.DataObject
) -> None:
    capacity = data.draw(st.integers(max(1, 2 * overlap), 30))
    windows = make_windows(pieces, document=0, unit=unit, capacity=capacity, overlap=overlap)
    for low, high in sorted({w.segment for w in windows}):
        for start in range(low, high):
            # The longest range of units from here that covers at most overlap + 1 pieces.
            end = int(
                np.searchsorted(pieces.first[:high], pieces.first[start] + overlap, side="right")
            )
            assert any(w.units[0] <= start and end <= w.units[1] for w in windows)


def test_pieces_of_no_unit_at_a_cut_separate_no_neighbours() -> None:
    pieces = pieces_of([[1, 1, 1, 1, 0, 0, 1, 1]])
    windows = make_windows(pieces, document=0, unit="sentence", capacity=3, overlap=1)
    assert [w.units for w in windows] == [(0, 3), (2, 4), (4, 6)]


@given(pieces=DOCUMENTS, capacity=CAPACITY, overlap=OVERLAP)
def test_sentences_are_packed_as_long_as_they_fit(
    pieces: Pieces, capacity: int, overlap: int
) -> None:
    single = make_windows(pieces, document=0, unit="sentence", capacity=capacity, overlap=overlap)
    packed = make_windows(pieces, document=0, unit="packed", capacity=capacity, overlap=overlap)
    borders = {w.segment[0] for w in single}
    assert {w.segment[0] for w in packed} <= borders
    assert len(packed) <= len(single)


def test_packing_by_hand() -> None:
    pieces = pieces_of([[1, 1], [2], [], [1, 1, 1], [1], [5, 5], [1]])
    windows = make_windows(pieces, document=0, unit="packed", capacity=7, overlap=2)
    assert [w.segment for w in windows] == [(0, 6), (6, 7), (7, 9), (7, 9), (9, 10)]
    assert [w.pieces for w in windows] == [(0, 7), (7, 8), (8, 13), (13, 18), (18, 19)]


def test_a_long_sentence_by_hand() -> None:
    windows = make_windows(
        pieces_of([[1] * 10]), document=0, unit="sentence", capacity=6, overlap=2
    )
    assert [(w.units, w.keep) for w in windows] == [((0, 6), (0, 5)), ((4, 10), (5, 10))]


def test_the_window_that_keeps_the_middle_unit_answers_for_a_span() -> None:
    """Of a span with two middle units it is the one that keeps the first of them."""
    windows = make_windows(
        pieces_of([[1] * 10]), document=0, unit="sentence", capacity=6, overlap=2
    )
    for units in (range(start, end) for start in range(10) for end in range(start + 1, 11)):
        middle = units[(len(units) - 1) // 2]
        for window in windows:
            reads = window.units[0] <= units[0] and units[-1] < window.units[1]
            keeps = window.keep[0] <= middle < window.keep[1]
            assert scores_span(window, units.start, units.stop) == (reads and keeps)


@pytest.mark.parametrize("size", [7, 8, 1000])
def test_a_word_longer_than_a_window_is_reported(size: int) -> None:
    pieces = pieces_of([[1, 1, 1, size, 1]])
    windows = make_windows(pieces, document=0, unit="sentence", capacity=6, overlap=3)
    assert [w.pieces[1] - w.pieces[0] for w in windows] == [3, 6, 1]
    assert truncated_units(pieces, capacity=6).tolist() == [3]
    assert not len(truncated_units(pieces, capacity=size))


def test_a_blank_inside_a_word_that_is_cut_is_reported() -> None:
    unit_of = np.array([0, 0, -1, 0, 0], dtype=np.int64)
    whole = pieces_of([[1, 1, 1, 1, 1]])
    pieces = Pieces(
        ids=whole.ids,
        spans=whole.spans,
        units=whole.units[:1],
        first=whole.first[:1],
        unit_of=unit_of,
        sentences=whole.sentences,
    )
    (window,) = make_windows(pieces, document=0, unit="sentence", capacity=4, overlap=0)
    assert window.pieces == (0, 4)
    assert truncated_units(pieces, capacity=4).tolist() == [0]


@pytest.mark.parametrize("unit", UNITS)
def test_a_long_document_is_covered_to_its_end(unit: Literal["sentence", "packed"]) -> None:
    pieces = pieces_of([[1, 2, 1] * 12_500])  # some 200,000 characters of text in one sentence
    windows = make_windows(pieces, document=0, unit=unit, capacity=254, overlap=32)
    assert windows[-1].keep[1] == len(pieces.first) == 37_500
    assert len(windows) < 50_000 / (254 - 32 - 2) + 2


# Context


@st.composite
def spread(draw: st.DrawFn) -> Pieces:
    """Pieces of 0 to 4 characters with blanks between them; a word may reach over the end of its
    sentence.
    """
    pieces = draw(DOCUMENTS)
    n = len(pieces.ids)
    sizes = np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), dtype=np.int64)
    blanks = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), dtype=np.int64)
    ends = np.cumsum(sizes + blanks, dtype=np.int64)
    inner = pieces.sentences[:-1, 1]
    shifts = np.array(
        draw(st.lists(st.integers(-1, 1), min_size=len(inner), max_size=len(inner))), dtype=np.int64
    )
    borders = (
        np.concatenate([[0], np.clip(inner + shifts, 0, n), [n]])
        if len(pieces.sentences)
        else np.array([0])
    )
    borders = np.maximum.accumulate(borders).astype(np.int64)
    sentences = np.stack([borders[:-1], borders[1:]], axis=1)
    return replace(pieces, spans=np.stack([ends - sizes, ends], axis=1), sentences=sentences)


CONTEXT = st.builds(Context, characters=st.integers(0, 40)) | st.builds(
    Context, sentences=st.integers(0, 3)
)


def cuts_a_word(pieces: Pieces, border: int) -> bool:
    before, after = set(pieces.unit_of[:border].tolist()), set(pieces.unit_of[border:].tolist())
    return bool(before & after - {-1})


def reachable(
    pieces: Pieces, centre: tuple[int, int], context: Context
) -> tuple[list[int], list[int]]:
    """Numbers of pieces that could stand before and after a centre, if there were room; piece by
    piece.
    """
    start, end = centre
    here = pieces.spans[start:end].tolist()
    low, high = min(a for a, _ in here), max(b for _, b in here)
    numbered = [(a, b) for a, b in pieces.sentences.tolist() if a < b]
    number = numbered.index(centre)
    near = {
        i
        for a, b in numbered[max(0, number - context.sentences) : number + context.sentences + 1]
        for i in range(a, b)
    }

    def allowed(i: int) -> bool:
        a, b = pieces.spans[i].tolist()
        return (
            low - context.characters <= a and b <= high + context.characters
            if context.characters
            else i in near
        )

    before, after = [0], [0]
    for count in range(1, start + 1):
        if not allowed(start - count):
            break
        before += [] if cuts_a_word(pieces, start - count) else [count]
    for count in range(1, len(pieces.ids) - end + 1):
        if not allowed(end + count - 1):
            break
        after += [] if cuts_a_word(pieces, end + count) else [count]
    return before, after


@given(pieces=spread(), context=CONTEXT, capacity=CAPACITY, overlap=OVERLAP)
def test_context_is_what_a_loop_over_pieces_finds(
    pieces: Pieces, context: Context, capacity: int, overlap: int
) -> None:
    plain = make_windows(pieces, document=0, unit="sentence", capacity=capacity, overlap=overlap)
    wide = make_windows(
        pieces, document=0, unit="sentence", capacity=capacity, overlap=overlap, context=context
    )
    # Whatever the context, the same units are scored, each kept once.
    assert [replace(w, pieces=(0, 0)) for w in wide] == [replace(w, pieces=(0, 0)) for w in plain]
    assert [i for w in wide for i in range(*w.keep)] == list(range(len(pieces.first)))
    whole = {(a, b) for a, b in pieces.sentences.tolist() if b - a <= capacity}
    for centre, window in zip([w.pieces for w in plain], wide, strict=True):
        if centre not in whole:
            assert window.pieces == centre
            continue
        left, right = centre[0] - window.pieces[0], window.pieces[1] - centre[1]
        before, after = reachable(pieces, centre, context)
        room = capacity - (centre[1] - centre[0])
        assert left in before
        assert right in after
        assert left + right <= room
        # Neither side could have more, and a side that lacks something has its half, whole words
        # considered.
        assert not any(left < more <= room - right for more in before)
        assert not any(right < more <= room - left for more in after)
        fair_left = max(x for x in before if x <= room // 2)
        fair_right = max(x for x in after if x <= room // 2)
        assert left >= fair_left
        assert right >= fair_right


def test_context_by_hand() -> None:
    # pieces 0-4, 4-6, 6-9, 9-12, 12-16
    pieces = pieces_of([[1, 3], [0, 1], [2, 1], [], [1, 1, 0], [4]])

    def read(capacity: int, context: Context) -> tuple[int, int]:
        windows = make_windows(
            pieces, document=0, unit="sentence", capacity=capacity, overlap=2, context=context
        )
        assert [w.segment for w in windows] == [(0, 2), (2, 3), (3, 5), (5, 7), (7, 8)]
        assert windows[2].units == windows[2].keep == windows[2].segment
        return windows[2].pieces

    assert read(16, Context(sentences=1)) == (4, 12)
    assert read(16, Context(sentences=9)) == (0, 16)
    # 4 characters before would cut the word of pieces 1 to 3
    assert read(16, Context(characters=4)) == (4, 12)
    assert read(16, Context(characters=5)) == (1, 12)
    assert read(16, Context(characters=7)) == (0, 16)
    # 7 pieces of room: neither side has another whole word for it
    assert read(10, Context(characters=7)) == (4, 12)
    # half of the room on the left, and what the right cannot use
    assert read(11, Context(characters=7)) == (1, 12)
    assert read(12, Context(characters=7)) == (4, 16)
    assert read(13, Context(characters=7)) == (0, 12)
    assert read(4, Context(sentences=1)) == (6, 10)
    middle = make_windows(
        pieces_of([[1] * 9, [1], [1]]),
        document=0,
        unit="sentence",
        capacity=8,
        overlap=2,
        context=Context(sentences=1),
    )
    assert [w.pieces for w in middle] == [(0, 8), (6, 9), (3, 11), (9, 11)]


@pytest.mark.parametrize(
    ("unit", "context"),
    [("packed", Context(sentences=1)), ("sentence", Context(sentences=1, characters=1))],
)
def test_context_that_means_nothing_is_refused(
    unit: Literal["sentence", "packed"], context: Context
) -> None:
    with pytest.raises(ValueError, match="needs unit = 'sentence'"):
        make_windows(
            pieces_of([[1]]), document=0, unit=unit, capacity=4, overlap=0, context=context
        )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            {"context_characters": 100, "context_sentences": 2},
            "= 100 and context_sentences = 2 exclude each other",
        ),
        (
            {"unit": "packed", "context_sentences": 2},
            'context_sentences = 2 needs unit = "sentence"',
        ),
        ({"context_characters": -1}, "Expected `int` >= 0"),
    ],
)
def test_settings_of_context(values: dict[str, Any], expected: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=expected):
        msgspec.convert(values, ReadingSettings)
    assert Context.of(msgspec.convert({"context_characters": 100}, ReadingSettings)) == Context(
        characters=100
    )
    assert Context.of(ReadingSettings()) == NO_CONTEXT

"""Padded arrays against loops over every piece."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from fascicle.text.batch import collate
from fascicle.text.pieces import Pieces, PieceTokenizer
from fascicle.text.windows import Context, windows_of

TOKENIZER = PieceTokenizer(Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]")), pad=9)
TOKENIZER.prefix, TOKENIZER.suffix = (101, 103), (102,)
SENTENCES = st.lists(st.lists(st.integers(0, 4), max_size=8), min_size=1, max_size=4)


def pieces_of(sentences: list[list[int]]) -> Pieces:
    """Sentences as the numbers of pieces of their words; 0 is a piece of no word."""
    unit_of: list[int] = []
    first: list[int] = []
    bounds = [(0, 0)]
    for words in sentences:
        for count in words:
            first += [len(unit_of)] if count else []
            unit_of += [len(first) - 1] * count or [-1]
        bounds.append((bounds[-1][1], len(unit_of)))
    n, starts = len(unit_of), np.array(first, dtype=np.int64)
    return Pieces(
        ids=np.arange(n, dtype=np.int64) + 1000,
        spans=np.stack([np.arange(n), np.arange(n) + 1], axis=1),
        units=np.stack([starts, starts + 1], axis=1),
        first=starts,
        unit_of=np.array(unit_of, dtype=np.int64),
        sentences=np.array(bounds[1:], dtype=np.int64),
    )


CONTEXT = st.builds(Context, characters=st.integers(0, 9)) | st.builds(Context, sentences=st.integers(0, 2))


@given(
    documents=st.lists(SENTENCES.map(pieces_of), min_size=1, max_size=3),
    capacity=st.integers(2, 9) | st.integers(10, 40),
    context=CONTEXT,
)
def test_arrays_equal_naive_loops(documents: list[Pieces], capacity: int, context: Context) -> None:
    windows = [
        w
        for i, p in enumerate(documents)
        for w in windows_of(p, document=i, unit="sentence", capacity=capacity, overlap=1, context=context)
    ]
    if not windows:
        return
    batch = collate(windows, documents, TOKENIZER)
    length = 3 + max(w.pieces[1] - w.pieces[0] for w in windows)
    widest = max(w.units[1] - w.units[0] for w in windows)
    assert {name: a.shape[1:] for name, a in batch.items()} == {
        "input_ids": (length,),
        "attention_mask": (length,),
        "first_piece": (widest,),
        "last_piece": (widest,),
        "unit_of_piece": (length,),
        "unit_count": (),
    }
    for row, window in enumerate(windows):
        source, (a, b), (u, v) = documents[window.document], window.pieces, window.units
        ids = [101, 103, *source.ids[a:b].tolist(), 102]
        padding = length - len(ids)
        units = [int(k) - u if u <= k < v else -1 for k in source.unit_of[a:b]]
        assert batch["input_ids"][row].tolist() == ids + [9] * padding
        assert batch["attention_mask"][row].tolist() == [1] * len(ids) + [0] * padding
        assert batch["unit_of_piece"][row].tolist() == [-1, -1, *units, -1] + [-1] * padding
        assert batch["unit_count"][row] == v - u
        assert batch["first_piece"][row].tolist() == [units.index(k) + 2 for k in range(v - u)] + [0] * (widest - v + u)
        inside = [max(at for at, of in enumerate(units) if of == k) + 2 for k in range(v - u)]
        assert batch["last_piece"][row].tolist() == inside + [0] * (widest - v + u)
        at = batch["first_piece"][row, : v - u]
        assert batch["input_ids"][row, at].tolist() == source.ids[source.first[u:v]].tolist()


def test_context_is_read_and_belongs_to_no_unit() -> None:
    document = pieces_of([[1, 2], [0, 2, 1], [3]])
    windows = windows_of(document, document=0, unit="sentence", capacity=10, overlap=1, context=Context(characters=3))
    batch = collate(windows[1:2], [document], TOKENIZER)
    assert batch["input_ids"].tolist() == [[101, 103, *range(1000, 1010), 102]]
    assert batch["unit_of_piece"].tolist() == [[-1] * 6 + [0, 0, 1, -1, -1, -1, -1]]
    assert batch["first_piece"].tolist() == [[6, 8]]
    assert batch["last_piece"].tolist() == [[7, 8]]


def test_the_last_piece_of_a_unit_that_does_not_fit_is_the_last_one_read() -> None:
    document = pieces_of([[2, 9]])
    windows = windows_of(document, document=0, unit="sentence", capacity=4, overlap=1)
    batch = collate(windows, [document], TOKENIZER)
    assert [w.pieces for w in windows] == [(0, 2), (2, 6)]
    assert batch["first_piece"].tolist() == [[2], [2]]
    assert batch["last_piece"].tolist() == [[3], [5]]

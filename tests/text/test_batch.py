"""Padded arrays against loops over every piece."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.support.reading import pieces_of
from tokenizers import Tokenizer, models

from fascicle.text.pieces import Pieces, PieceTokenizer
from fascicle.text.windows import Context, collate, make_windows

TOKENIZER = PieceTokenizer(
    Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]")), pad=9
)
TOKENIZER.prefix, TOKENIZER.suffix = (101, 103), (102,)
SENTENCES = st.lists(st.lists(st.integers(0, 4), max_size=8), min_size=1, max_size=4)


CONTEXT = st.builds(Context, characters=st.integers(0, 9)) | st.builds(
    Context, sentences=st.integers(0, 2)
)


@given(
    documents=st.lists(SENTENCES.map(pieces_of), min_size=1, max_size=3),
    capacity=st.integers(2, 9) | st.integers(10, 40),
    context=CONTEXT,
)
def test_arrays_equal_naive_loops(documents: list[Pieces], capacity: int, context: Context) -> None:
    windows = [
        w
        for i, p in enumerate(documents)
        for w in make_windows(
            p, document=i, unit="sentence", capacity=capacity, overlap=1, context=context
        )
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
        assert batch["first_piece"][row].tolist() == [units.index(k) + 2 for k in range(v - u)] + [
            0
        ] * (widest - v + u)
        inside = [max(at for at, of in enumerate(units) if of == k) + 2 for k in range(v - u)]
        assert batch["last_piece"][row].tolist() == inside + [0] * (widest - v + u)
        at = batch["first_piece"][row, : v - u]
        assert batch["input_ids"][row, at].tolist() == source.ids[source.first[u:v]].tolist()

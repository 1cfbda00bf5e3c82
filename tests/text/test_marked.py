"""Marked mentions: the formula of the paper, the tokenizer's own reading of it, and what
cropping keeps.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention
from fascicle.core.mention import Fragments
from fascicle.errors import InputError
from fascicle.text.marked import (
    InputForm,
    MarkedMention,
    encode_candidates,
    make_candidates,
    pad_marked,
)
from fascicle.text.pieces import PieceTokenizer

tokenizers = pytest.importorskip("tokenizers")
MARKERS = ("<e>", "</e>")
WORDS = [
    "the",
    "patient",
    "lung",
    "cancer",
    "pain",
    "fever",
    "in",
    "aspirin",
    "hepatitis",
    ".",
    "(",
    ")",
]


@pytest.fixture(scope="module")
def tokenizer(tiny_encoder: Path) -> PieceTokenizer:
    return PieceTokenizer.from_file(tiny_encoder / "tokenizer.json").with_tokens(MARKERS)


def form_of(tokenizer: PieceTokenizer, length: int = 64) -> InputForm:
    start, end = (tokenizer.id_of(marker) for marker in MARKERS)
    assert start is not None
    assert end is not None
    return InputForm(start=start, end=end, max_length=length)


@st.composite
def candidates(draw: st.DrawFn, most_words: int = 12, fragments: int = 1) -> MarkedMention:
    words = draw(st.lists(st.sampled_from(WORDS), min_size=2 * fragments, max_size=most_words))
    text, places = "", []
    for word in words:
        text += " " if text else ""
        places.append((len(text), len(text) + len(word)))
        text += word
    count = draw(st.integers(1, fragments))
    cuts = sorted(draw(st.sets(st.integers(0, len(words)), min_size=2 * count, max_size=2 * count)))
    spans: Fragments = tuple(
        (places[a][0], places[b - 1][1]) for a, b in zip(cuts[::2], cuts[1::2], strict=True)
    )
    return MarkedMention(
        text=text, spans=spans, type=draw(st.sampled_from(["disease", "drug", "a b"]))
    )


def marked_text(one: MarkedMention, *, start: str, end: str) -> str:
    """The type, then the text with markers around each fragment, and a blank on both sides of
    each marker.
    """
    text = one.text
    for a, b in reversed(one.spans):
        text = f"{text[:a]} {start} {text[a:b]} {end} {text[b:]}"
    return f"{one.type} {text}"


@given(one=candidates(fragments=3))
def test_pieces_are_those_that_the_tokenizer_reads_in_the_marked_text(
    tokenizer: PieceTokenizer, one: MarkedMention
) -> None:
    whole = tokenizers.Tokenizer.from_str(tokenizer.content)
    whole.encode_special_tokens = False
    expected = whole.encode(marked_text(one, start="<e>", end="</e>")).ids
    (found,) = encode_candidates([one], tokenizer, form=form_of(tokenizer))
    assert found.ids.tolist() == expected
    assert not found.cropped
    assert not found.cut


def test_markers_written_in_a_text_are_text(tokenizer: PieceTokenizer) -> None:
    form = form_of(tokenizer)
    text = "the <e> patient </e> has pain"
    (found,) = encode_candidates(
        [MarkedMention(text=text, spans=((25, 29),), type="disease")], tokenizer, form=form
    )
    assert (found.ids == form.start).sum() == 1
    assert (found.ids == form.end).sum() == 1


def inside(ids: np.ndarray, form: InputForm) -> list[int]:
    first, last = np.flatnonzero(ids == form.start)[0], np.flatnonzero(ids == form.end)[-1]
    return [int(i) for i in ids[first + 1 : last]]


@given(one=candidates(most_words=40), length=st.integers(16, 40))
def test_cropping_keeps_the_prompt_the_markers_and_the_mention(
    tokenizer: PieceTokenizer, one: MarkedMention, length: int
) -> None:
    form, full = form_of(tokenizer, length), form_of(tokenizer, 10_000)
    (found,), (whole,) = (encode_candidates([one], tokenizer, form=f) for f in (form, full))
    assert len(found.ids) == min(length, len(whole.ids)) or found.cut
    assert (found.ids == form.start).sum() == (found.ids == form.end).sum() == 1
    assert found.ids[0] == whole.ids[0]
    assert found.ids[-1] == whole.ids[-1]
    assert found.ids[1] == whole.ids[1]  # the prompt
    mention, all_of_it = inside(found.ids, form), inside(whole.ids, form)
    if not found.cut:
        assert mention == all_of_it
        assert found.cropped == (len(found.ids) < len(whole.ids))
        start, at = (
            np.flatnonzero(whole.ids == form.start)[0],
            np.flatnonzero(found.ids == form.start)[0],
        )
        prompt = len(tokenizer.encode([one.type])[0][0]) + 1
        before = at - prompt
        # the nearest pieces
        assert found.ids[prompt:at].tolist() == whole.ids[start - before : start].tolist()
        behind, after = (
            whole.ids[start + len(mention) + 2 : -1],
            found.ids[at + len(mention) + 2 : -1],
        )
        assert after.tolist() == behind[: len(after)].tolist()
        if before < start - prompt and len(after) < len(behind):
            assert abs(before - len(after)) <= 1  # both sides alike
    else:
        assert len(mention) < len(all_of_it)
        assert mention[0] == all_of_it[0]
        assert len(mention) < 2 or mention[-1] == all_of_it[-1]


@given(one=candidates(most_words=40, fragments=8), length=st.integers(16, 40))
def test_every_fragment_is_marked_or_all_of_them_as_one(
    tokenizer: PieceTokenizer, one: MarkedMention, length: int
) -> None:
    form = form_of(tokenizer, length)
    (found,) = encode_candidates([one], tokenizer, form=form)
    starts, ends = (np.flatnonzero(found.ids == marker) for marker in (form.start, form.end))
    assert len(found.ids) <= length
    assert len(starts) == len(ends)
    assert len(starts) in (1, len(one.spans))
    assert len(starts) == len(one.spans) or 3 * len(one.spans) > length - 6
    assert (starts + 1 < ends).all()  # a piece of each
    assert (ends[:-1] < starts[1:]).all()


def test_a_long_type_takes_at_most_a_quarter(tokenizer: PieceTokenizer) -> None:
    form = form_of(tokenizer, 18)
    one = MarkedMention(text="the patient has pain", spans=((16, 20),), type="a b c " * 9 + "a")
    (found,) = encode_candidates([one], tokenizer, form=form)
    assert found.cut
    assert np.flatnonzero(found.ids == form.start)[0] <= 1 + 4 + 3
    assert len(inside(found.ids, form)) == 1


def test_far_text_is_not_read_at_all(tokenizer: PieceTokenizer) -> None:
    form = form_of(tokenizer, 20)
    text = "pain " * 500 + "fever" + " pain" * 500
    (near,) = encode_candidates(
        [MarkedMention(text=text, spans=((2500, 2505),), type="drug")], tokenizer, form=form
    )
    short = text[2500 - 100 : 2505 + 100]
    (same,) = encode_candidates(
        [MarkedMention(text=short, spans=((100, 105),), type="drug")], tokenizer, form=form
    )
    assert near.ids.tolist() == same.ids.tolist()
    assert near.cropped


SENTENCES = Document(
    id="1", text="No pain. Lung  cancer and fever. Aspirin.", sentences=((0, 8), (9, 32), (33, 41))
)


@pytest.mark.parametrize(
    ("spans", "text", "local"),
    [
        (((3, 7),), "No pain.", ((3, 7),)),
        (((9, 21),), "Lung  cancer and fever.", ((0, 12),)),
        (((3, 7), (26, 31)), "No pain. Lung  cancer and fever.", ((3, 7), (26, 31))),
        (((7, 9),), "No pain.", ((7, 9),)),
    ],
)
def test_the_sentences_that_a_mention_touches(
    spans: Fragments, text: str, local: Fragments
) -> None:
    (found,) = make_candidates(
        SENTENCES, [Mention(spans, "Disease")], unit="sentence", segmenter="rules@1"
    )
    assert found.text.startswith(text)
    assert found.spans == local
    (whole,) = make_candidates(
        SENTENCES, [Mention(spans, "Disease")], unit="document", segmenter="rules@1"
    )
    assert whole.text == SENTENCES.text
    assert whole.spans == spans


def test_a_mention_beyond_its_text_is_refused() -> None:
    with pytest.raises(
        InputError, match="which has 41 characters, a mention of type 'Disease' ends at 60"
    ):
        make_candidates(
            SENTENCES, [Mention(((50, 60),), "Disease")], unit="document", segmenter="rules@1"
        )


def test_padding() -> None:
    batch = pad_marked([np.array([1, 2, 3]), np.array([4])], pad=9)
    assert batch["input_ids"].tolist() == [[1, 2, 3], [4, 9, 9]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1], [1, 0, 0]]

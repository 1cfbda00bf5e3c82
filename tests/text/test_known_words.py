"""Pieces by looking words up are those of the tokenizer, for any text."""

from __future__ import annotations

import string
import tracemalloc

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace

from fascicle.runtime.places import find_model
from fascicle.text.known_words import KnownWords, cuts_words_alone
from fascicle.text.pieces import PieceTokenizer

WORDS = (
    "lithium",
    "IL-2",
    "[SEP]",
    "[UNK]",
    "a" * 101,
    "x'y",
    "naïve",
    "β",
    "μg/ml",
    "\u00a0",
    "5mg",
    "e.g.",
    "中文",
)
TEXTS = st.lists(
    st.one_of(
        st.sampled_from(WORDS),
        st.text(alphabet=string.printable, max_size=12),
        st.text(max_size=5),
        st.sampled_from((" ", "  ", "\n", "\t", "\x00", "\x7f", "-", "##")),
    ),
    max_size=8,
).map("".join)


def shipped() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(find_model("biomed") / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    return tokenizer


# a tokenizer removes these, and makes one word of two; for Fascicle they end a word
ENDS = str.maketrans(dict.fromkeys("\v\f\x1c\x1d\x1e\x1f\x85", " "))
PLAIN = shipped()
OURS = PieceTokenizer(shipped())


@example(texts=["0\f0"])
@given(texts=st.lists(TEXTS, max_size=4))
def test_pieces_are_those_of_the_tokenizer(texts: list[str]) -> None:
    blank = [text.translate(ENDS) for text in texts]
    expected = PLAIN.encode_batch(blank, add_special_tokens=False)
    for (ids, spans), one in zip(OURS.encode(texts), expected, strict=True):
        assert ids.dtype == spans.dtype == np.int64
        assert ids.tolist() == one.ids
        assert spans.shape == (len(one.ids), 2)
        assert [tuple(span) for span in spans.tolist()] == one.offsets


def test_more_words_than_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fascicle.text.known_words._MOST", 2)
    words = KnownWords(shipped())
    for _ in range(2):
        for text in ("one two three", "four", "two"):
            ((ids, _),) = words.encode([text])
            assert ids.tolist() == PLAIN.encode(text, add_special_tokens=False).ids
    assert len(words._known) <= 2


def test_tokenizers_that_cut_otherwise_are_asked_for_everything() -> None:
    assert cuts_words_alone(PLAIN)
    changed = shipped()
    changed.add_tokens([AddedToken("mg ml", special=False)])
    assert not cuts_words_alone(changed)
    for part, other in (
        ("normalizer", Lowercase()),
        ("pre_tokenizer", Whitespace()),
        ("normalizer", None),
        ("model", WordLevel({"[UNK]": 0}, unk_token="[UNK]")),
    ):
        changed = shipped()
        setattr(changed, part, other)
        assert not cuts_words_alone(changed)


@pytest.mark.slow
def test_long_words_are_not_kept() -> None:
    words = KnownWords(shipped())
    tracemalloc.start()
    for at in range(100):
        ((ids, _),) = words.encode([f"{at}{'a' * 50_000}"])
        assert ids.tolist() == PLAIN.encode(f"{at}{'a' * 50_000}", add_special_tokens=False).ids
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 1_000_000

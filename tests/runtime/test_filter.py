"""The filter at work, with networks that say what they are told to: no torch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fascicle.core.document import Document, Mention
from fascicle.runtime.filter import MentionFilter
from fascicle.settings.inputs import TokenizerFacts
from fascicle.settings.recipes.filter import (
    FilterManifest,
    FilterModelSettings,
    FilterReading,
    ThresholdFacts,
)
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.windows import Batch

Logit = Callable[[NDArray[np.int64]], float]
TEXT = "the patient had lung cancer and fever . aspirin caused pain ."
WORDS = [
    (0, 3),
    (4, 11),
    (12, 15),
    (16, 20),
    (21, 27),
    (28, 31),
    (32, 37),
    (40, 47),
    (48, 54),
    (55, 59),
]


class Told:
    """Gives a logit of correct for the pieces of each row; counts the rows."""

    def __init__(self, logit: Logit) -> None:
        self._logit = logit
        self.rows = 0

    def run(self, inputs: Batch) -> dict[str, NDArray[np.float32]]:
        rows = [
            ids[mask == 1]
            for ids, mask in zip(inputs["input_ids"], inputs["attention_mask"], strict=True)
        ]
        self.rows += len(rows)
        return {"logits": np.array([[0.0, self._logit(row)] for row in rows], dtype=np.float32)}


@pytest.fixture(scope="module")
def tokenizer(tiny_encoder: Path) -> PieceTokenizer:
    return PieceTokenizer.from_file(tiny_encoder / "tokenizer.json").with_tokens(("<e>", "</e>"))


def filter_of(
    tokenizer: PieceTokenizer, scorer: Told, *, threshold: float = 0.5, length: int = 32
) -> MentionFilter:
    facts = TokenizerFacts(
        sha256=tokenizer.sha256, prefix=tokenizer.prefix, suffix=tokenizer.suffix, pad=tokenizer.pad
    )
    manifest = FilterManifest(
        name="meta",
        fascicle="0",
        runtime="onnx",
        types=("A", "B"),
        marker_ids=(tokenizer.id_of("<e>") or 0, tokenizer.id_of("</e>") or 0),
        model=FilterModelSettings(encoder="x"),
        reading=FilterReading(max_length=length),
        tokenizer=facts,
        threshold=ThresholdFacts(value=threshold),
    )
    return MentionFilter(manifest, tokenizer, scorer, max_tokens=64)


MENTIONS = st.builds(
    lambda a, w, t, source, score: Mention(
        ((WORDS[a][0], WORDS[min(a + w, len(WORDS) - 1)][1]),), t, source=source, score=score
    ),
    st.integers(0, len(WORDS) - 1),
    st.integers(0, 2),
    st.sampled_from(["disease", "drug"]),
    st.sampled_from(["a", "b"]),
    st.sampled_from([None, 0.3]),
)
FOUND = st.lists(st.lists(MENTIONS, max_size=6), min_size=1, max_size=4)


@given(found=FOUND)
def test_accept_all_is_the_union_and_reject_all_is_nothing(
    tokenizer: PieceTokenizer, found: list[list[Mention]]
) -> None:
    documents = [Document(id=str(i), text=TEXT) for i in range(len(found))]
    yes = filter_of(tokenizer, Told(lambda ids: 50.0)).judge(documents, found)
    assert [{(m.type, m.spans) for m in p.add} for p in yes] == [
        {(m.type, m.spans) for m in one} for one in found
    ]
    assert {m.score for p in yes for m in p.add} <= {1.0}
    no = filter_of(tokenizer, Told(lambda ids: -50.0)).judge(documents, found)
    assert not any(p.add for p in no)
    at_least = filter_of(tokenizer, Told(lambda ids: 0.0), threshold=0.5).judge(documents, found)
    assert [p.add for p in at_least] == [
        tuple(Mention(m.spans, m.type, score=0.5, source="meta") for m in p.add) for p in yes
    ]  # a probability of exactly the threshold is kept


@given(found=FOUND, threshold=st.floats(0, 1))
def test_recall_is_at_most_that_of_the_union(
    tokenizer: PieceTokenizer, found: list[list[Mention]], threshold: float
) -> None:
    documents = [Document(id=str(i), text=TEXT) for i in range(len(found))]
    scorer = Told(lambda ids: float(ids.sum() % 7 - 3))
    judge = filter_of(tokenizer, scorer, threshold=threshold)
    union = [{(m.type, m.spans) for m in one} for one in found]
    for said, patch, all_of_it in zip(found, judge.judge(documents, found), union, strict=True):
        assert {(m.type, m.spans) for m in patch.add} <= all_of_it
        assert len({(m.type, m.spans) for m in said}) == len(all_of_it)
    assert scorer.rows == sum(map(len, union))  # what two systems say is judged once
    alone = [judge.judge([d], [one])[0] for d, one in zip(documents, found, strict=True)]
    assert alone == judge.judge(documents, found)


def test_a_mention_that_is_too_long_is_an_event(tokenizer: PieceTokenizer) -> None:
    judge = filter_of(tokenizer, Told(lambda ids: 1.0), length=16)
    twice = f"{TEXT} {TEXT}"
    found = [Mention(((0, len(twice)),), "disease"), Mention(((0, 3),), "disease")]
    (patch,) = judge.judge([Document(id="1", text=twice)], [found])
    assert [event.code for event in patch.events] == ["long-mention"]
    assert patch.add[0].score == pytest.approx(1 / (1 + np.exp(-1)), abs=1e-6)


def test_another_threshold(tokenizer: PieceTokenizer) -> None:
    judge = filter_of(tokenizer, Told(lambda ids: 0.0))
    document = Document(id="1", text=TEXT)
    assert judge.judge([document], [[Mention(((0, 3),), "drug")]])[0].add
    assert not judge.with_threshold(0.6).judge([document], [[Mention(((0, 3),), "drug")]])[0].add

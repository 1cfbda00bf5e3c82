from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pytest
from tests.support.tagging import DECISIONS, chain_scores, texts

from fascicle.core.tags import tag_scheme
from fascicle.runtime.decoding.tagger import TagDecision, decode_batch

BIO = tag_scheme("BIO")


@pytest.mark.parametrize("decision", DECISIONS, ids=str)
def test_batch_equals_single_and_spans_are_flat(decision: TagDecision) -> None:
    batch = [*texts(60, 5), np.zeros((0, 5), dtype=np.float32), *texts(1, 5, 2000)]
    for text, (spans, scores) in zip(batch, decode_batch(batch, decision), strict=True):
        alone, alone_scores = decode_batch([text], decision)[0]
        assert np.array_equal(spans, alone)
        assert scores == pytest.approx(alone_scores, rel=1e-9)
        assert spans.shape == (len(scores), 3)
        assert ((scores >= 0) & (scores <= 1)).all()
        assert (spans[:, 0] < spans[:, 1]).all()
        assert (spans[1:, 0] >= spans[:-1, 1]).all()
        assert not len(spans) or spans[-1, 1] <= len(text)


def test_nothing_to_decode() -> None:
    decision = TagDecision(scheme=BIO, decoding="viterbi", chain=chain_scores(5))
    assert decode_batch([], decision) == []
    spans, scores = decode_batch([np.zeros((0, 5))], decision)[0]
    assert spans.shape == (0, 3)
    assert scores.shape == (0,)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="choose 'strict', 'lenient' or 'viterbi'"):
        TagDecision(scheme=BIO, decoding="greedy")
    decision = TagDecision(scheme=BIO, decoding="strict")
    for bad in (np.zeros((3, 4)), np.zeros(5), np.zeros((3, 0))):
        with pytest.raises(ValueError, match="one C that fits BIO"):
            decode_batch([bad], decision)[0]
    with pytest.raises(ValueError, match="one C that fits BIO"):
        decode_batch([np.zeros((3, 5)), np.zeros((3, 7))], decision)
    with pytest.raises(ValueError, match="cannot decode emissions of 7"):
        decode_batch(
            [np.zeros((3, 7))], TagDecision(scheme=BIO, decoding="strict", chain=chain_scores(5))
        )[0]


@pytest.mark.parametrize("decoding", ["strict", "viterbi"])
@pytest.mark.parametrize("chain", [False, True])
def test_no_word_costs_a_call_of_its_own(decoding: str, chain: bool) -> None:
    decision = TagDecision(scheme=BIO, decoding=decoding, chain=chain_scores(5) if chain else None)
    batch = texts(10_000, 5, longest=50)
    calls: Counter[str] = Counter()
    sys.setprofile(lambda _frame, event, _what: calls.update([event]))
    try:
        decode_batch(batch, decision)
    finally:
        sys.setprofile(None)
    assert 0 < calls["call"] + calls["c_call"] < 2 * len(batch)  # of some 250,000 words

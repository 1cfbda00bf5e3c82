from __future__ import annotations

import itertools
import sys
from collections import Counter

import numpy as np
import pytest

from fascicle.core.tags import tag_scheme
from fascicle.decoding.tagger import (
    ChainScores,
    TagDecision,
    decode_batch,
    decode_emissions,
    tag_distributions,
    tag_marginals,
)

BIO = tag_scheme("BIO")


def chain_scores(n_tags: int) -> ChainScores:
    rng = np.random.default_rng(7)
    draw = rng.uniform(-1, 1, size=(n_tags + 2, n_tags)).astype(np.float32)
    return ChainScores(transitions=draw[:-2], start=draw[-2], end=draw[-1])


def texts(count: int, n_tags: int, longest: int = 30) -> list[np.ndarray]:
    rng = np.random.default_rng(11)
    return [2 * rng.normal(size=(n, n_tags)).astype(np.float32) for n in rng.integers(0, longest, size=count)]


DECISIONS = [
    TagDecision(scheme=tag_scheme(name), decoding=decoding, chain=chain_scores(5) if chain else None)
    for name in ("BIO", "IO")
    for decoding in ("strict", "lenient", "viterbi")
    for chain in (False, True)
]


@pytest.mark.parametrize("decision", DECISIONS, ids=str)
def test_batch_equals_single_and_spans_are_flat(decision: TagDecision) -> None:
    batch = [*texts(60, 5), np.zeros((0, 5), dtype=np.float32), *texts(1, 5, 2000)]
    for text, (spans, scores) in zip(batch, decode_batch(batch, decision), strict=True):
        alone, alone_scores = decode_emissions(text, decision)
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
    spans, scores = decode_emissions(np.zeros((0, 5)), decision)
    assert spans.shape == (0, 3)
    assert scores.shape == (0,)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="choose 'strict', 'lenient' or 'viterbi'"):
        TagDecision(scheme=BIO, decoding="greedy")
    decision = TagDecision(scheme=BIO, decoding="strict")
    for bad in (np.zeros((3, 4)), np.zeros(5), np.zeros((3, 0))):
        with pytest.raises(ValueError, match="one C that fits BIO"):
            decode_emissions(bad, decision)
    with pytest.raises(ValueError, match="one C that fits BIO"):
        decode_batch([np.zeros((3, 5)), np.zeros((3, 7))], decision)
    with pytest.raises(ValueError, match="cannot decode emissions of 7"):
        decode_emissions(np.zeros((3, 7)), TagDecision(scheme=BIO, decoding="strict", chain=chain_scores(5)))


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


def by_enumeration(text: np.ndarray, decision: TagDecision) -> np.ndarray:
    """The probability of each tag at each unit, from the scores of all paths that the decoding searches."""
    units, tags = text.shape
    scheme = decision.scheme
    legal, may_start = scheme.legal((tags - 1) // scheme.width), scheme.legal_start((tags - 1) // scheme.width)
    found = np.zeros((units, tags))
    for path in itertools.product(range(tags), repeat=units):
        pairs = list(itertools.pairwise(path))
        if decision.decoding == "viterbi" and not (may_start[path[0]] and all(legal[pair] for pair in pairs)):
            continue
        score = sum(text[unit, tag] for unit, tag in enumerate(path))
        if decision.chain is not None:
            chain = decision.chain
            score += chain.start[path[0]] + chain.end[path[-1]] + sum(chain.transitions[pair] for pair in pairs)
        found[range(units), path] += np.exp(score)
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("decision", DECISIONS, ids=str)
def test_marginals_of_tags_are_sums_over_paths(decision: TagDecision) -> None:
    rng = np.random.default_rng(13)
    batch = [2 * rng.normal(size=(n, 5)).astype(np.float32) for n in (1, 4, 0, 3)]
    found = tag_marginals(batch, decision)
    assert [table.shape for table in found] == [text.shape for text in batch]
    for text, table in zip(batch, found, strict=True):
        if len(text):
            np.testing.assert_allclose(table, by_enumeration(text.astype(np.float64), decision), atol=1e-6)
    assert tag_marginals([], decision) == []


@pytest.mark.parametrize("decision", DECISIONS, ids=str)
def test_a_mention_is_at_most_as_probable_as_its_tags(decision: TagDecision) -> None:
    (text,) = [t for t in texts(8, 5) if len(t) > 8][:1]
    scheme = decision.scheme
    (table,) = tag_marginals([text], decision)
    spans = np.array([(0, start, start + width) for start in range(6) for width in (1, 2)])
    for (_, start, end), row in zip(spans.tolist(), tag_distributions([text], spans, decision), strict=True):
        for kind in range(2):
            first = 1 + scheme.width * kind
            here = table[start, [first, first + scheme.width - 1][: scheme.width]].sum()
            assert row[1 + kind] <= here + 1e-9
            assert end - start == 1 or row[1 + kind] <= table[end - 1, first + scheme.width - 1] + 1e-9

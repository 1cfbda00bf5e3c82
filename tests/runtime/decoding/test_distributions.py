"""Distributions over the types of given spans, against all tag paths, and against sums over one
span.
"""

from __future__ import annotations

import math
from itertools import pairwise, product
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.reading import chain_of
from tests.support.wide import wide_logits

from fascicle.core.tags import SCHEMES
from fascicle.runtime.decoding.chains import ChainScores
from fascicle.runtime.decoding.spans import match_distributions, span_distributions
from fascicle.runtime.decoding.tagger import TagDecision, tag_distributions, tag_runs

TYPES = 2


def by_enumeration(emissions: Any, spans: list[tuple[int, int]], decision: TagDecision) -> Any:
    """Weighs every path, reads it as the decoder reads it, and counts those that hold each span."""
    scheme, chain = decision.scheme, decision.chain
    tags = scheme.count(TYPES)
    legal, first = scheme.legal(TYPES), scheme.legal_start(TYPES)
    repair: Literal["strict", "lenient"] = "lenient" if decision.decoding == "lenient" else "strict"
    total, held = 0.0, np.zeros((len(spans), TYPES))
    for path in product(range(tags), repeat=len(emissions)):
        forbidden = not first[path[0]] or not all(legal[a, b] for a, b in pairwise(path))
        if decision.decoding == "viterbi" and forbidden:
            continue
        score = sum(float(emissions[i, tag]) for i, tag in enumerate(path))
        if chain is not None:
            score += float(chain.start[path[0]] + chain.end[path[-1]])
            score += sum(float(chain.transitions[a, b]) for a, b in pairwise(path))
        if scheme.width > 1:
            touching = [
                a and (a - 1) // 2 == (b - 1) // 2 and (b - 1) % 2 == 0
                for a, b in pairwise(path)
                if b
            ]
            score += decision.touching * sum(map(bool, touching))
        weight = math.exp(score)
        total += weight
        for start, end, kind in tag_runs(np.array(path), scheme, repair=repair).tolist():
            if (start, end) in spans:
                held[spans.index((start, end)), kind] += weight
    return held / total


@given(
    seed=st.integers(0, 10**6),
    scheme=st.sampled_from(["BIO", "IO"]),
    decoding=st.sampled_from(["strict", "lenient", "viterbi", "chain"]),
    touching=st.sampled_from([0.0, -0.7]),
    counts=st.lists(st.integers(1, 4), min_size=1, max_size=3),
)
def test_a_tagger_against_all_paths(
    seed: int, scheme: str, decoding: Any, touching: float, counts: list[int]
) -> None:
    chance = np.random.default_rng(seed)
    tags = SCHEMES[scheme].count(TYPES)
    chain = ChainScores(**chain_of(chance, tags)) if decoding == "chain" else None
    decoding = "viterbi" if decoding == "chain" else decoding
    touching = touching if decoding == "viterbi" else 0.0
    decision = TagDecision(
        scheme=SCHEMES[scheme], decoding=decoding, chain=chain, touching=touching
    )
    texts = [2 * chance.normal(size=(count, tags)) for count in counts]
    every = [[(a, b) for a in range(count) for b in range(a + 1, count + 1)] for count in counts]
    rows = [(number, a, b) for number, spans in enumerate(every) for a, b in spans]
    order = chance.permutation(len(rows))
    found = np.zeros((len(rows), 1 + TYPES))
    found[order] = tag_distributions(texts, np.array(rows)[order], decision)
    expected = np.concatenate(
        [by_enumeration(text, spans, decision) for text, spans in zip(texts, every, strict=True)]
    )
    np.testing.assert_allclose(found[:, 1:], expected, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)


def test_sure_emissions_give_no_nan() -> None:
    emissions = np.full((3, 5), -1e4)
    emissions[[0, 1, 2], [1, 2, 0]] = 0.0  # B-first I-first O
    for decoding in ("strict", "lenient", "viterbi"):
        decision = TagDecision(scheme=SCHEMES["BIO"], decoding=decoding)  # type: ignore[arg-type]
        found = tag_distributions([emissions], np.array([[0, 0, 2], [0, 0, 1]]), decision)
        np.testing.assert_allclose(found, [[0, 1, 0], [1, 0, 0]], atol=1e-12)


@given(
    seed=st.integers(0, 10**6),
    names=st.sets(st.sampled_from(["starts", "ends", "widths", "spans"]), min_size=1).filter(
        lambda n: n != {"widths"}
    ),
    shift=st.sampled_from([0.0, 1.5]),
)
def test_a_span_head_against_the_softmax_of_its_logits(
    seed: int, names: set[str], shift: float
) -> None:
    chance = np.random.default_rng(seed)
    shapes = {"starts": (2, 5, 4), "ends": (2, 5, 4), "widths": (3, 4), "spans": (2, 5, 3, 4)}
    tables = {name: chance.normal(size=shapes[name]).astype(np.float32) for name in names}
    cells = [(b, i, w) for b in range(2) for i in range(5) for w in range(3) if i + w < 5]
    rows = np.array([b for b, _, _ in cells])
    spans = np.array([(i, i + w + 1) for _, i, w in cells])
    found = span_distributions(tables, rows, spans, longest=3, shift=shift)
    band = wide_logits(tables, longest=3)
    for cell, row in zip(cells, found.tolist(), strict=True):
        logits = [float(value) for value in band[cell]]
        logits[0] += shift
        weights = [math.exp(value) for value in logits]
        assert row == pytest.approx([weight / sum(weights) for weight in weights], abs=1e-6)


def test_broken_logits_are_refused() -> None:
    one, where = np.zeros(1, dtype=np.int64), np.array([[0, 1]])
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="logits of a span"):
            span_distributions({"starts": np.full((1, 1, 3), bad)}, one, where, longest=1)
    with pytest.raises(ValueError, match="NaN"):
        match_distributions({"spans": np.full((1, 1, 1, 2), np.nan)}, one, where)


@given(seed=st.integers(0, 10**6), dynamic=st.booleans(), shift=st.sampled_from([0.0, -2.0]))
def test_a_bi_encoder_against_scalars(seed: int, dynamic: bool, shift: float) -> None:
    chance = np.random.default_rng(seed)
    tables = {"spans": (4 * chance.normal(size=(2, 4, 3, TYPES))).astype(np.float32)}
    if dynamic:
        tables["span_threshold"] = chance.normal(size=(2, TYPES)).astype(np.float32)
    cells = [(b, i, w) for b in range(2) for i in range(4) for w in range(3) if i + w < 4]
    rows, spans = (
        np.array([b for b, _, _ in cells]),
        np.array([(i, i + w + 1) for _, i, w in cells]),
    )
    for (b, i, w), row in zip(
        cells, match_distributions(tables, rows, spans, shift=shift).tolist(), strict=True
    ):
        limits = tables["span_threshold"][b].tolist() if dynamic else [0.0, 0.0]
        pairs = zip(tables["spans"][b, i, w].tolist(), limits, strict=True)
        sure = [1 / (1 + math.exp(limit + shift - score)) for score, limit in pairs]
        assert row == pytest.approx([math.prod(1 - value for value in sure), *sure], abs=1e-5)


def test_a_span_that_is_too_wide_for_a_bi_encoder_is_surely_none() -> None:
    tables = {"spans": np.full((1, 1, 1, TYPES), -1e4, dtype=np.float32)}
    found = match_distributions(tables, np.zeros(1, dtype=np.int64), np.array([[0, 1]]))
    assert found.tolist() == [[1.0, 0.0, 0.0]]

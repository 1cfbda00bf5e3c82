from __future__ import annotations

from collections import defaultdict
from itertools import product

import msgspec
import numpy as np
import pytest
from tests.support.reading import chain_of

from fascicle.core.tags import tag_scheme
from fascicle.runtime.decoding import chains
from fascicle.runtime.decoding.chains import (
    ChainScores,
    constrain,
    forward_backward,
    geometric_mean,
    log_softmax,
    span_marginals,
)
from fascicle.runtime.decoding.tagger import tag_runs


def all_paths(emissions: np.ndarray, parts: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Every path `[C^n, n]` and its score."""
    n, n_tags = emissions.shape
    paths = np.array(list(product(range(n_tags), repeat=n)))
    scores = (
        parts["start"][paths[:, 0]]
        + parts["end"][paths[:, -1]]
        + emissions[np.arange(n), paths].sum(axis=1)
    )
    return paths, scores + parts["transitions"][paths[:, :-1], paths[:, 1:]].sum(axis=1)


def log_sum(values: np.ndarray) -> float:
    return float(values.max() + np.log(np.exp(values - values.max()).sum()))


def check_against_enumeration(
    emissions: np.ndarray, lengths: np.ndarray, parts: dict[str, np.ndarray]
) -> None:
    lattice = forward_backward(emissions, lengths, ChainScores(**parts))
    tokens = lattice.token_marginals()
    for row, length in enumerate(lengths):
        assert not tokens[row, length:].any()
        if not length:
            assert lattice.log_partition[row] == 0
            continue
        paths, scores = all_paths(emissions[row, :length], parts)
        total = log_sum(scores)
        assert lattice.log_partition[row] == pytest.approx(total, rel=1e-12)
        weights = np.exp(scores - total)
        assert weights.sum() == pytest.approx(1)
        for step in range(length):
            expected = np.bincount(paths[:, step], weights=weights, minlength=emissions.shape[2])
            assert tokens[row, step] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_partition_and_token_marginals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = np.array([6, 1, 0, 3])
    check_against_enumeration(
        rng.normal(size=(4, 6, 3)) * (1 + 3 * seed), lengths, chain_of(rng, 3, scale=1 + seed)
    )


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_underflow_are_still_exact(seed: int) -> None:
    """The best tags are thousands of nats better, but no path may use them twice."""
    rng = np.random.default_rng(seed)
    emissions, parts = rng.normal(size=(3, 5, 3)), chain_of(rng, 3)
    emissions[:2, :, 0] += 3000
    emissions[1, 2] -= 1e4
    parts["transitions"][0] = -np.inf
    parts["transitions"][1, 0] = -2000
    lengths = np.array([5, 4, 5])
    _, exact = chains._scaled_arrivals(
        emissions, lengths, pairs=parts["transitions"], first=parts["start"]
    )
    assert not exact.all()
    parts["transitions"][0] = -1e4
    parts["transitions"][0, 1] = -np.inf
    check_against_enumeration(emissions, lengths, parts)


@pytest.mark.parametrize("scheme_name", ["BIO", "IO"])
@pytest.mark.parametrize("bound", [False, True])
def test_span_marginals_equal_enumeration(scheme_name: str, bound: bool) -> None:
    """Every possible mention of a short text, against the paths that decode to it."""
    rng = np.random.default_rng(3)
    scheme = tag_scheme(scheme_name)
    n_tags, length = scheme.count(2), 4
    emissions, parts = rng.normal(size=(2, length + 2, n_tags)) * 2, chain_of(rng, n_tags)
    if bound:
        legal, first = scheme.legal(2), scheme.legal_start(2)
        parts = msgspec.structs.asdict(
            constrain(ChainScores(**parts), legal=legal, legal_start=first)
        )
    paths, scores = all_paths(emissions[1, :length], parts)
    expected: dict[tuple[int, ...], float] = defaultdict(float)
    for path, weight in zip(paths, np.exp(scores - log_sum(scores)), strict=True):
        for span in tag_runs(path, scheme).tolist():
            expected[tuple(span)] += weight
    spans = [
        (start, end, kind)
        for start in range(length)
        for end in range(start + 1, length + 1)
        for kind in (0, 1)
    ]
    lattice = forward_backward(emissions, [length + 2, length], ChainScores(**parts))
    found = span_marginals(lattice, [(1, *span) for span in spans], scheme=scheme)
    assert found == pytest.approx([expected[span] for span in spans], abs=1e-12)


@pytest.mark.parametrize("junk", [np.nan, np.inf, 1e30])
def test_padding_changes_nothing(junk: float) -> None:
    rng = np.random.default_rng(0)
    parts, lengths = chain_of(rng, 3), np.array([4, 2, 0])
    emissions = rng.normal(size=(3, 4, 3))
    padded = np.full((3, 4, 3), junk)
    inside = np.arange(4) < lengths[:, None]
    padded[inside] = emissions[inside]
    clean, dirty = (
        forward_backward(emissions, lengths, ChainScores(**parts)),
        forward_backward(padded, lengths, ChainScores(**parts)),
    )
    assert clean.log_partition.tobytes() == dirty.log_partition.tobytes()
    assert clean.token_marginals().tobytes() == dirty.token_marginals().tobytes()
    spans = [(0, 1, 3, 0), (1, 0, 2, 0)]
    both = [span_marginals(lattice, spans, scheme=tag_scheme("BIO")) for lattice in (clean, dirty)]
    assert both[0].tobytes() == both[1].tobytes()


def test_no_rows_and_no_spans() -> None:
    parts = chain_of(np.random.default_rng(0), 3)
    lattice = forward_backward(np.zeros((0, 4, 3)), np.zeros(0, dtype=int), ChainScores(**parts))
    assert lattice.token_marginals().shape == (0, 4, 3)
    assert span_marginals(lattice, np.zeros((0, 4)), scheme=tag_scheme("BIO")).shape == (0,)
    assert forward_backward(
        np.zeros((2, 0, 3)), [0, 0], ChainScores(**parts)
    ).log_partition.tolist() == [0, 0]


def test_geometric_mean() -> None:
    rng = np.random.default_rng(0)
    emissions = rng.normal(size=(6, 3)).astype(np.float32)
    tags, spans = emissions.argmax(axis=1), np.array([[0, 1, 0], [1, 4, 0], [5, 6, 0]])
    chosen = np.exp(log_softmax(emissions))[np.arange(6), tags]
    expected = [chosen[0], np.prod(chosen[1:4]) ** (1 / 3), chosen[5]]
    assert geometric_mean(emissions, tags, spans=spans) == pytest.approx(expected)
    assert geometric_mean(emissions, tags, spans=spans[:0]).shape == (0,)

"""The pooled difference against loops, and what its interval must do."""

from __future__ import annotations

import numpy as np
import pytest

from fascicle.errors import InputError
from fascicle.evaluation.scoring.scores import Counts, Scores
from fascicle.evaluation.uncertainty.intervals import bootstrap_difference
from studies.bundling.hierarchical import bootstrap_pooled


def scores(rows: list[tuple[int, int, int]]) -> Scores:
    units = {str(i): Counts(tp=a, fp=b, fn=c) for i, (a, b, c) in enumerate(rows)}
    total = Counts(**{n: sum(getattr(c, n) for c in units.values()) for n in ("tp", "fp", "fn")})
    return Scores(counts=total, by_type={}, by_document=units)


def pair(chance: np.random.Generator, documents: int, gain: float) -> tuple[Scores, Scores]:
    """Two systems on the same gold of three mentions a document, the first one finding more."""
    found = [chance.binomial(3, p, size=documents) for p in (0.5 + gain, 0.5)]
    first, second = (scores([(int(t), 1, 3 - int(t)) for t in column]) for column in found)
    return first, second


def test_the_estimate_is_the_mean_of_means() -> None:
    chance = np.random.default_rng(0)
    corpora = [[pair(chance, 30, 0.1)], [pair(chance, 20, 0.2), pair(chance, 20, 0.0)]]
    expected = [[a.micro.f1 - b.micro.f1 for a, b in pairs] for pairs in corpora]
    found = bootstrap_pooled(corpora, resamples=200)
    assert found.estimate == pytest.approx(
        (expected[0][0] + (expected[1][0] + expected[1][1]) / 2) / 2
    )
    assert found.low <= found.estimate <= found.high
    assert found == bootstrap_pooled(corpora, resamples=200)


def test_one_corpus_and_one_seed_is_the_plain_bootstrap() -> None:
    first, second = pair(np.random.default_rng(1), 200, 0.1)
    plain = bootstrap_difference(first, second, resamples=4000)
    pooled = bootstrap_pooled([[(first, second)]], resamples=4000)
    assert pooled.estimate == pytest.approx(plain.estimate)
    assert (pooled.low, pooled.high) == pytest.approx((plain.low, plain.high), abs=0.01)


def test_draws_without_any_mention_are_left_out_as_in_the_plain_bootstrap() -> None:
    first, second = (
        scores([(0, 0, 0), (3, 0, 1), (0, 0, 0)]),
        scores([(0, 0, 0), (1, 0, 3), (0, 0, 0)]),
    )
    plain = bootstrap_difference(first, second, resamples=2000)
    pooled = bootstrap_pooled([[(first, second)]], resamples=2000)
    gap = first.micro.f1 - second.micro.f1
    assert (pooled.low, pooled.high) == pytest.approx((gap, gap)) == (plain.low, plain.high)
    for found in (plain, pooled):
        assert found.undefined / 2000 == pytest.approx((2 / 3) ** 3, abs=0.04)


def test_corpora_that_disagree_widen_the_interval() -> None:
    chance = np.random.default_rng(2)
    alike = [[pair(chance, 400, 0.1)] for _ in range(6)]
    mixed = [[pair(chance, 400, 0.3 * (i % 2) - 0.05)] for i in range(6)]
    widths = [(d := bootstrap_pooled(c, resamples=500)).high - d.low for c in (alike, mixed)]
    assert widths[1] > 2 * widths[0]
    assert bootstrap_pooled(alike, resamples=500).p_value < 0.02


def test_what_cannot_be_pooled() -> None:
    first, second = pair(np.random.default_rng(4), 5, 0.1)
    other, _ = pair(np.random.default_rng(4), 6, 0.1)
    for corpora in ([], [[]], [[(first, other)]], [[(first, second), (other, other)]]):
        with pytest.raises(InputError):
            bootstrap_pooled(corpora)

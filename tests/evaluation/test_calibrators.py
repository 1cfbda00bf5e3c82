"""Temperature and isotonic calibration, against scipy, scikit-learn, and formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.isotonic import IsotonicRegression

from fascicle.errors import InputError
from fascicle.evaluation.calibration.fitting import LEAST, MOST, fit_isotonic, fit_temperature
from fascicle.evaluation.calibration.reliability import (
    JudgedMentions,
    expected_calibration_error,
    reliability_curve,
)
from fascicle.runtime.decoding.selection import CLIP, apply_temperature, interpolate_scores

SCORES = st.sampled_from([0.0, 0.2, 0.25, 0.5, 0.8, 0.99, 1.0]) | st.floats(0, 1)
ROWS = st.lists(st.tuples(SCORES, st.booleans()), min_size=1, max_size=40)


def data(rows: list[tuple[float, bool]]) -> JudgedMentions:
    scores, right = np.array([s for s, _ in rows]), np.array([r for _, r in rows], dtype=bool)
    return JudgedMentions(
        scores=scores, right=right, types=("A",) * len(rows), gold={"A": len(rows)}
    )


def loss(judged: JudgedMentions, temperature: float) -> float:
    clipped = np.clip(judged.scores, CLIP, 1 - CLIP)
    z = np.log(clipped / (1 - clipped)) / temperature
    return float(np.sum(np.logaddexp(0, np.where(judged.right, -z, z))))


@given(ROWS)
def test_no_temperature_is_better(rows: list[tuple[float, bool]]) -> None:
    judged = data(rows)
    found = fit_temperature(judged)
    grid = np.geomspace(LEAST, MOST, 400)
    assert loss(judged, found.value) <= min(loss(judged, t) for t in grid) + 1e-9
    by_scipy = minimize_scalar(
        lambda x: loss(judged, float(np.exp(x))),
        bounds=(np.log(LEAST), np.log(MOST)),
        method="bounded",
    )
    assert loss(judged, found.value) <= by_scipy.fun + 1e-9
    assert found.at_bound == (found.value in (LEAST, MOST))


@given(st.floats(0.3, 4.0), st.integers(0, 5))
def test_a_temperature_that_was_put_in_comes_out(temperature: float, seed: int) -> None:
    chance = np.random.default_rng(seed)
    true = chance.uniform(0.02, 0.98, size=20000)
    right = chance.uniform(size=len(true)) < true
    logits = temperature * np.log(true / (1 - true))
    judged = JudgedMentions(
        scores=1 / (1 + np.exp(-logits)),
        right=right,
        types=("A",) * len(true),
        gold={"A": len(true)},
    )
    found = fit_temperature(judged)
    assert found.value == pytest.approx(temperature, rel=0.06)
    before, after = (
        expected_calibration_error(reliability_curve(scores, right))
        for scores in (judged.scores, apply_temperature(judged.scores, found.value))
    )
    assert after is not None
    assert before is not None
    assert after <= before + 0.01
    assert after < 0.02


def test_temperatures_at_the_bounds() -> None:
    parted = fit_temperature(data([(0.9, True), (0.1, False)]))
    assert (parted.value, parted.at_bound) == (LEAST, True)
    turned = fit_temperature(data([(0.9, False), (0.1, True)]))
    assert (turned.value, turned.at_bound) == (MOST, True)
    assert fit_temperature(data([(0.5, True), (0.5, False)])).at_bound


def test_extreme_scores_stay_finite() -> None:
    found = fit_temperature(data([(1.0, True), (1.0, False), (0.0, False), (0.6, True)]))
    assert np.isfinite(apply_temperature(np.array([0.0, 0.5, 1.0]), found.value)).all()
    assert apply_temperature(np.array([0.5]), found.value)[0] == 0.5


def min_max(rows: list[tuple[float, bool]]) -> dict[float, float]:
    """The isotonic regression by its formula: max over starts of min over ends of the mean
    between.
    """
    levels = sorted({s for s, _ in rows})
    means = [[float(r) for s, r in rows if s == level] for level in levels]

    def mean(a: int, b: int) -> float:
        part = [r for level in means[a : b + 1] for r in level]
        return sum(part) / len(part)

    n = len(levels)
    return {
        levels[i]: max(min(mean(a, b) for b in range(i, n)) for a in range(i + 1)) for i in range(n)
    }


@given(ROWS)
def test_isotonic_is_the_formula_and_that_of_scikit_learn(rows: list[tuple[float, bool]]) -> None:
    # scikit-learn joins what is nearer
    assume(np.diff(sorted({s for s, _ in rows}), prepend=-1).min() > 1e-6)
    judged = data(rows)
    found = fit_isotonic(judged)
    wanted = min_max(rows)
    fitted = interpolate_scores(np.array(list(wanted)), found.scores, found.values)
    assert fitted == pytest.approx(list(wanted.values()))
    theirs = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(
        judged.scores, judged.right
    )
    between = np.linspace(0, 1, 101)
    assert interpolate_scores(between, found.scores, found.values) == pytest.approx(
        theirs.predict(between), abs=1e-9
    )
    assert list(found.scores) == sorted(set(found.scores))
    assert list(found.values) == sorted(found.values)
    assert (np.diff(interpolate_scores(between, found.scores, found.values)) >= -1e-12).all()


def test_nothing_to_fit_on() -> None:
    for fit in (fit_temperature, fit_isotonic):
        with pytest.raises(InputError, match="give development data"):
            fit(data([]))

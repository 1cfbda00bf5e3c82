"""The correction of probabilities: against a search over a grid, and its promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.linking.calibration import LinkCalibration, correct_probabilities, fit_calibration
from fascicle.linking.fitting import threshold


def loss(scores: np.ndarray, right: np.ndarray, scale: float, shift: float) -> float:
    """The penalised loss, mention by mention."""
    total = 0.5 * ((scale - 1) ** 2 + shift**2)
    for score, is_right in zip(scores, right, strict=True):
        odds = scale * np.log(score / (1 - score)) + shift
        found = 1 / (1 + np.exp(-odds))
        total -= np.log(found if is_right else 1 - found)
    return float(total)


@pytest.mark.parametrize("seed", range(3))
def test_the_fit_is_the_best_of_a_grid(seed: int) -> None:
    random = np.random.default_rng(seed)
    scores = random.uniform(0.05, 0.95, 60)
    right = random.random(60) < scores**2
    found = fit_calibration(scores, right)
    best = loss(scores, right, found.scale, found.shift)
    for scale in np.linspace(max(0.05, found.scale - 0.5), found.scale + 0.5, 11):
        for shift in np.linspace(found.shift - 0.5, found.shift + 0.5, 11):
            assert best <= loss(scores, right, scale, shift) + 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_scores_of_mentions_are_fitted_as_scipy_minimises(seed: int) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    random = np.random.default_rng(seed)
    scores, mentions = random.uniform(0.05, 0.95, (2, 300))
    right = random.random(300) < scores * mentions
    found = fit_calibration(scores, right, mentions)
    odds, others = (np.log(one / (1 - one)) for one in (scores, mentions))
    sign = np.where(right, 1.0, -1.0)

    def penalised(weights: np.ndarray) -> float:
        told = weights[0] * odds + weights[1] + weights[2] * others
        return float(
            np.log1p(np.exp(-sign * told)).sum() + 0.5 * ((weights - [1, 0, 0]) ** 2).sum()
        )

    best = optimize.minimize(
        penalised, [1.0, 0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-8, "maxiter": 5000}
    )
    assert found == pytest.approx(tuple(best.x), abs=1e-4)
    assert found.mention > 0


def test_mentions_whose_better_scores_are_worse_do_not_count() -> None:
    random = np.random.default_rng(0)
    scores, mentions = random.uniform(0.05, 0.95, (2, 300))
    right = random.random(300) < scores * (1 - mentions)
    assert fit_calibration(scores, right, mentions) == fit_calibration(scores, right)
    assert fit_calibration(scores, right).mention == 0


def test_a_ranker_that_is_too_sure_becomes_honest() -> None:
    random = np.random.default_rng(0)
    truth = random.uniform(0.5, 0.99, 4000)
    right = random.random(4000) < truth
    odds = 2 * np.log(truth / (1 - truth)) + 0.3
    found = fit_calibration(1 / (1 + np.exp(-odds)), right)
    assert found.scale == pytest.approx(0.5, abs=0.08)
    assert found.shift == pytest.approx(-0.15, abs=0.12)


def test_nothing_to_learn_changes_nothing() -> None:
    none = np.empty(0)
    assert fit_calibration(none, none.astype(bool)) == LinkCalibration(1.0, 0.0)
    assert fit_calibration(np.array([0.0, 1.0]), np.array([False, True])).scale > 0


UNITS = st.lists(st.lists(st.floats(0.01, 5), min_size=0, max_size=4), min_size=1, max_size=5)


@given(UNITS, st.floats(0.05, 3), st.floats(-2, 2))
def test_probabilities_still_sum_up_and_keep_their_proportions(
    units: list[list[float]], scale: float, shift: float
) -> None:
    sizes = [1 + sum(unit) for unit in units]
    scores = np.array([one / size for unit, size in zip(units, sizes, strict=True) for one in unit])
    nil = np.array([1 / size for size in sizes])
    owners = np.array([number for number, unit in enumerate(units) for _ in unit], dtype=np.int64)
    calibration = LinkCalibration(scale, shift)
    found, none = correct_probabilities(scores, nil, owners, calibration)
    for number, unit in enumerate(units):
        own, before = found[owners == number], scores[owners == number]
        assert own.sum() + none[number] == pytest.approx(1)
        if not unit:
            continue
        best = int(before.argmax())
        assert own[best] == pytest.approx(float(calibration(before[best : best + 1])[0]))
        for at in range(len(unit)):
            if at != best:
                assert own[at] / none[number] == pytest.approx(before[at] / nil[number])


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9), st.floats(0.05, 3), st.floats(-2, 2))
def test_the_order_stays(scores: list[float], scale: float, shift: float) -> None:
    found = LinkCalibration(scale, shift)(np.array(sorted(scores)))
    assert (np.diff(found) >= 0).all()
    assert ((found >= 0) & (found <= 1)).all()


def f1_at(threshold: float, scores: list[float], right: list[bool], mentions: int) -> float:
    answered = [one for score, one in zip(scores, right, strict=True) if score >= threshold]
    return 2 * sum(answered) / (len(answered) + mentions)


@given(
    st.lists(
        st.tuples(st.integers(0, 100).map(lambda one: one / 100), st.booleans()),
        min_size=1,
        max_size=12,
    ),
    st.integers(0, 5),
)
def test_no_threshold_is_better_and_none_is_higher_than_needed(
    given: list[tuple[float, bool]], unanswered: int
) -> None:
    scores, right = map(list, zip(*given, strict=True))
    mentions = len(scores) + unanswered
    found = threshold(np.array(scores), np.array(right), mentions)
    best = max(f1_at(one, scores, right, mentions) for one in {*scores, 1.1})
    assert f1_at(found, scores, right, mentions) == pytest.approx(best)
    if found > 0.5:
        assert any(0.5 <= score < found for score in scores)


def test_texts_in_which_all_is_right_make_nobody_timid() -> None:
    assert threshold(np.full(80, 0.999), np.ones(80, dtype=bool), 80) == 0.5

"""What becomes of scores: the order stays, curves are those of others, thresholds are those of
the types.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from fascicle.runtime.decoding.selection import (
    CLIP,
    apply_temperature,
    calibrate_scores,
    interpolate_scores,
    round_scores,
    sigmoid,
    type_thresholds,
)
from fascicle.settings.decision import Calibration, IsotonicCurve, TemperatureCurve

SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=30).map(np.array)
TEMPERATURES = st.floats(0.01, 100)


def of_temperature(value: float) -> Calibration:
    return Calibration(curve=TemperatureCurve(temperature=value), chosen_on="")


@given(SCORES, TEMPERATURES)
def test_a_temperature_keeps_the_order(scores: np.ndarray, temperature: float) -> None:
    given_ = round_scores(np.sort(scores))
    found = calibrate_scores(given_, of_temperature(temperature))
    assert (np.diff(found) >= 0).all()
    assert ((found >= 0) & (found <= 1)).all()
    assert ((found >= 0.5) == (given_ >= 0.5)).all() or (np.abs(given_ - 0.5) < 1e-4).any()
    assert found.tolist() == np.round(found, 6).tolist()


@given(st.floats(2 * CLIP, 1 - 2 * CLIP), st.floats(0.5, 20))
def test_a_temperature_is_the_formula(score: float, temperature: float) -> None:
    odds = (score / (1 - score)) ** (1 / temperature)
    assert apply_temperature(np.array([score]), temperature)[0] == pytest.approx(
        odds / (1 + odds), rel=1e-9
    )


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30), SCORES)
def test_an_isotonic_curve_is_that_of_scikit_learn(
    rows: list[tuple[float, bool]], scores: np.ndarray
) -> None:
    known, right = np.array([s for s, _ in rows]), [float(r) for _, r in rows]
    theirs = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(known, right)
    knots, values = theirs.X_thresholds_.tolist(), np.clip(theirs.y_thresholds_, 0, 1).tolist()
    found = interpolate_scores(np.sort(scores), knots, values)
    assert found == pytest.approx(theirs.predict(np.sort(scores)), abs=1e-9)
    assert (np.diff(found) >= -1e-12).all()


def test_scores_are_rounded_before_and_after() -> None:
    assert round_scores(np.array([1.2, -0.1, 0.12345678], dtype=np.float32)).tolist() == [
        1.0,
        0.0,
        0.123457,
    ]
    curve = IsotonicCurve(scores=(0.0, 1.0), values=(0.0, 1 / 3))
    assert calibrate_scores(np.array([1.0]), Calibration(curve=curve, chosen_on="")).tolist() == [
        0.333333
    ]
    assert calibrate_scores(np.array([0.25]), Calibration(chosen_on="")).tolist() == [0.25]


def test_thresholds_by_type() -> None:
    calibration = Calibration(threshold=0.5, thresholds={"B": 0.75}, chosen_on="")
    assert type_thresholds(calibration, ("A", "B", "C")).tolist() == [0.5, 0.75, 0.5]


def test_extremes_do_not_overflow() -> None:
    with np.errstate(all="raise"):
        assert sigmoid(np.array([-700.0, 0.0, 700.0])) == pytest.approx([math.exp(-700), 0.5, 1.0])

"""Calibrations against brute force: every place where a threshold can lie is tried."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.errors import InputError, UsageError
from fascicle.evaluation.calibration.fitting import FEW, Method, Target, fit_calibration
from fascicle.evaluation.calibration.reliability import JudgedMentions
from fascicle.runtime.decoding.selection import calibrate_scores, round_scores
from fascicle.settings.decision import Calibration, TemperatureCurve

TYPES = ("A", "B")
ROWS = st.lists(
    st.tuples(
        st.sampled_from([0.125, 0.25, 0.5, 0.625, 0.875]) | st.floats(0, 1),
        st.booleans(),
        st.sampled_from(TYPES),
    ),
    min_size=1,
    max_size=25,
)
Row = tuple[float, bool, str]


def data(rows: list[Row], *, missed: int = 0) -> JudgedMentions:
    gold = {name: sum(r for _, r, t in rows if t == name) + missed for name in TYPES}
    return JudgedMentions(
        scores=round_scores(np.array([s for s, _, _ in rows])),
        right=np.array([r for _, r, _ in rows], dtype=bool),
        types=tuple(t for _, _, t in rows),
        gold=gold,
    )


def rates(
    judged: JudgedMentions, scores: np.ndarray, threshold: float
) -> tuple[float, float, float]:
    """Precision, recall, F1 of what reaches a threshold, counted one by one; precision of
    nothing is -1.
    """
    tp = sum(1 for s, r in zip(scores, judged.right, strict=True) if r and s >= threshold)
    kept = sum(1 for s in scores if s >= threshold)
    gold = sum(judged.gold.values())
    return (tp / kept if kept else -1.0), tp / gold, 2 * tp / (kept + gold)


def best_by_hand(
    judged: JudgedMentions, scores: np.ndarray, target: Target
) -> tuple[float, float, float] | None:
    """What the best cut gives: just above and at every score."""
    found = [rates(judged, scores, at) for at in sorted(set(scores.tolist()))]
    if target.precision is not None:
        return max((f for f in found if f[0] >= target.precision), key=lambda f: f[1], default=None)
    if target.recall is not None:
        return max((f for f in found if f[1] >= target.recall), key=lambda f: f[0], default=None)
    return max(found, key=lambda f: f[2])


TARGETS = st.one_of(
    st.just(Target()),
    st.sampled_from([0.3, 0.5, 0.75, 1.0]).map(lambda p: Target(precision=p)),
    st.sampled_from([0.3, 0.5, 0.75, 1.0]).map(lambda r: Target(recall=r)),
)


@given(ROWS, st.integers(0, 3), TARGETS, st.sampled_from(["isotonic", "none"]))
def test_a_threshold_is_as_good_as_the_best_by_hand(
    rows: list[Row], missed: int, target: Target, method: Method
) -> None:
    judged = data(rows, missed=missed)
    if not sum(judged.gold.values()):
        return
    curve = fit_calibration(judged, method="isotonic", target=None, chosen_on="x").calibration
    scores = calibrate_scores(judged.scores, curve) if method == "isotonic" else judged.scores
    wanted = best_by_hand(judged, scores, target)
    if wanted is None:
        with pytest.raises(InputError, match="the best is"):
            fit_calibration(judged, method=method, target=target, chosen_on="x")
        return
    fitted = fit_calibration(judged, method=method, target=target, chosen_on="x")
    threshold = fitted.calibration.threshold
    found = rates(judged, scores, threshold)
    position = 2 if target == Target() else 1 if target.precision is not None else 0
    assert found[position] == pytest.approx(wanted[position])
    assert target.precision is None or found[0] >= target.precision
    assert target.recall is None or found[1] >= target.recall
    last = fitted.stages[-1]
    assert (last.figures.precision, last.figures.recall, last.figures.f1) == pytest.approx(found)
    # No score lies near the threshold: a small change of scores changes no decision.
    gaps = np.abs(scores - threshold)
    assert threshold == 0.0 or gaps.min() >= 0.49e-6


@given(ROWS, TARGETS)
def test_the_threshold_of_a_type_is_that_of_the_type_alone(rows: list[Row], target: Target) -> None:
    judged = data(rows, missed=1)
    predicted = {t for _, _, t in rows}
    try:
        fitted = fit_calibration(
            judged, method="none", target=target, types=TYPES, chosen_on="x"
        ).calibration
    except InputError:
        return
    reached = {
        name
        for name in predicted
        if best_by_hand(judged.of_type(name), judged.of_type(name).scores, target) is not None
    }
    assert set(fitted.thresholds) == reached
    for name, threshold in fitted.thresholds.items():
        alone = fit_calibration(
            judged.of_type(name), method="none", target=target, chosen_on="x"
        ).calibration
        assert threshold == alone.threshold
    if reached == set(TYPES):
        assert fitted.threshold == 0.0
    else:
        assert (
            fitted.threshold
            == fit_calibration(
                judged, method="none", target=target, chosen_on="x"
            ).calibration.threshold
        )


def test_a_type_that_cannot_be_fitted_takes_the_common_threshold_and_it_is_said() -> None:
    rows: list[Row] = [(0.9, True, "A"), (0.8, False, "A"), (0.4, False, "B")]
    judged = JudgedMentions(
        scores=np.array([s for s, _, _ in rows]),
        right=np.array([r for _, r, _ in rows]),
        types=("A", "A", "B"),
        gold={"A": 1, "C": 2},
    )
    fitted = fit_calibration(
        judged, method="none", target=Target(), types=("A", "B", "C"), chosen_on="x"
    )
    assert fitted.calibration.thresholds == {"A": pytest.approx(0.85)}
    assert fitted.calibration.threshold == pytest.approx(0.85)
    assert fitted.notes == (
        "there is no gold mention of 'B', so it takes the threshold of all types, 0.85",
        "there is no predicted mention of 'C', so it takes the threshold of all types, 0.85",
    )


def test_what_is_kept_and_how_the_numbers_change() -> None:
    rows: list[Row] = [(0.9, True, "A"), (0.8, False, "A"), (0.7, True, "A"), (0.2, False, "A")]
    fitted = fit_calibration(
        data(rows, missed=0), method="temperature", target=Target(recall=1.0), chosen_on="h"
    )
    assert isinstance(fitted.calibration.curve, TemperatureCurve)
    assert (fitted.calibration.wanted, fitted.calibration.chosen_on) == ("recall 1", "h")
    assert [(s.name, s.mentions) for s in fitted.stages] == [
        ("uncalibrated", 4),
        ("temperature", 4),
        ("kept for recall 1", 3),
    ]
    first, _, last = fitted.stages
    assert first.figures.precision == 0.5
    assert last.figures.precision == pytest.approx(2 / 3)
    assert first.brier == pytest.approx((0.01 + 0.64 + 0.09 + 0.04) / 4)
    assert first.calibration_error == pytest.approx((0.1 + 0.8 + 0.3 + 0.2) / 4)


def test_everything_is_kept_where_everything_is_good_enough() -> None:
    fitted = fit_calibration(
        data([(0.3, True, "A")]), method="none", target=Target(precision=0.9), chosen_on="x"
    )
    assert fitted.calibration == Calibration(threshold=0.0, wanted="precision 0.9", chosen_on="x")


def test_few_mentions_for_an_isotonic_curve_are_said() -> None:
    rows: list[Row] = [(at / FEW, at % 3 == 0, "A") for at in range(FEW)]
    for number, notes in ((FEW, 0), (FEW - 1, 1)):
        fitted = fit_calibration(data(rows[:number]), method="isotonic", target=None, chosen_on="x")
        assert len(fitted.notes) == notes


@pytest.mark.parametrize(
    ("rows", "target", "told"),
    [
        (
            [(0.9, False, "A"), (0.8, True, "A")],
            Target(precision=0.99),
            r"precision of 0\.99; the best is 0\.5000 at 0\.8",
        ),
        ([(0.9, True, "A")], Target(recall=0.9), r"recall of 0\.9; the best is 0\.5000 at 0\.9"),
        ([(0.9, False, "A")], None, "the gold holds no mention"),
    ],
)
def test_what_cannot_be_reached(rows: list[Row], target: Target | None, told: str) -> None:
    judged = data(rows, missed=0)
    if target is not None and target.recall:
        judged = JudgedMentions(
            scores=judged.scores, right=judged.right, types=judged.types, gold={"A": 2}
        )
    with pytest.raises(InputError, match=told):
        fit_calibration(
            judged, method="none" if target else "isotonic", target=target, chosen_on="x"
        )


def test_a_type_that_cannot_reach_it_takes_the_common_threshold_and_it_is_said() -> None:
    rows: list[Row] = [(0.9, True, "A"), (0.8, False, "B"), (0.7, True, "B")]
    fitted = fit_calibration(
        data(rows), method="none", target=Target(precision=0.9), types=TYPES, chosen_on="x"
    )
    assert fitted.calibration.thresholds == {"A": 0.0}
    assert fitted.calibration.threshold == pytest.approx(0.85)
    assert fitted.notes == (
        "of the type 'B', no threshold gives a precision of 0.9; the best is 0.5000 at 0.7; "
        "so it takes the threshold of all types, 0.85",
    )
    assert fitted.stages[-1].mentions == 1


def test_what_all_types_together_cannot_reach_is_refused_per_type_too() -> None:
    rows: list[Row] = [(0.9, False, "B"), (0.8, True, "A")]
    with pytest.raises(
        InputError, match=r"of the type 'B', no threshold .*; of all types, no threshold"
    ):
        fit_calibration(
            data(rows, missed=1),
            method="none",
            target=Target(precision=0.9),
            types=TYPES,
            chosen_on="x",
        )


def test_no_temperature_fits_what_is_parted_without_exception() -> None:
    with pytest.raises(InputError, match=r"no temperature from 0\.01 to 100 fits these scores"):
        fit_calibration(
            data([(0.9, True, "A"), (0.2, False, "A")]),
            method="temperature",
            target=None,
            chosen_on="x",
        )


def test_nothing_to_fit_is_refused() -> None:
    with pytest.raises(UsageError, match="neither a curve nor a threshold"):
        fit_calibration(data([(0.9, True, "A")]), method="none", target=None, chosen_on="x")
    with pytest.raises(UsageError, match="'platt'"):
        fit_calibration(data([(0.9, True, "A")]), method="platt", target=None, chosen_on="x")  # type: ignore[arg-type]

"""Fitting of the calibration of a model, from its predictions on development data.

A curve is one number (temperature) or a rising step function (isotonic). Both keep the order of the
scores, so precision-recall curves stay as they are, apart from scores that isotonic calibration
makes equal. A temperature needs little data. Isotonic calibration fits any rising curve and needs
hundreds of mentions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import msgspec
import numpy as np

from fascicle.core.arrays import Floats
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.calibration.reliability import (
    JudgedMentions,
    best_threshold,
    brier_score,
    expected_calibration_error,
    precision_recall,
    reliability_curve,
    threshold_for,
)
from fascicle.evaluation.scoring.scores import Counts, Figures, figures
from fascicle.runtime.decoding.selection import calibrate_scores, logits, sigmoid, type_thresholds
from fascicle.settings.decision import (
    Calibration,
    Curve,
    IsotonicCurve,
    LogisticCurve,
    TemperatureCurve,
)

LEAST, MOST = 0.01, 100.0  # temperatures
_LIMIT = 100.0  # of slope and offset
_STEPS = 100


@dataclass(frozen=True, kw_only=True)
class _Temperature:
    """Divides the logit of a score by one number (Guo et al., ICML 2017).

    Attributes:
        value: above 1 where the system is too sure of itself, below 1 where it is too shy.
        at_bound: whether the best value lies outside ``[LEAST, MOST]``, as when the scores part
            right from wrong at 0.5 without an exception, or say the opposite of the truth.
    """

    value: float
    at_bound: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields, ready for JSON."""
        return {"temperature": self.value, "at_bound": self.at_bound}

    def curve(self) -> TemperatureCurve:
        """Returns the curve as a model folder stores it.

        Raises:
            InputError: no temperature within the bounds fits.
        """
        if self.at_bound:
            raise InputError(
                f"no temperature from {LEAST:g} to {MOST:g} fits these scores, as where right and "
                "wrong mentions are parted at 0.5 without an exception; use isotonic calibration, "
                "none, or more development data"
            )
        return TemperatureCurve(temperature=self.value)


def fit_temperature(data: JudgedMentions) -> _Temperature:
    """Returns the temperature with the highest likelihood.

    Args:
        data: of development documents.

    Raises:
        InputError: no mentions.
    """
    evidence, right = logits(_scores(data)), data.right.astype(np.float64)

    def slope(inverse: float) -> float:
        """Derivative of the negative log likelihood by the inverse temperature, in which it is
        convex.
        """
        return float(np.sum((sigmoid(inverse * evidence) - right) * evidence))

    low, high = 1.0 / MOST, 1.0 / LEAST
    if slope(low) >= 0.0:
        return _Temperature(value=MOST, at_bound=True)
    if slope(high) <= 0.0:
        return _Temperature(value=LEAST, at_bound=True)
    while high / low > 1.0 + 1e-12:
        middle = math.sqrt(low * high)
        if middle in (low, high):
            break
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return _Temperature(value=1.0 / math.sqrt(low * high))


def fit_isotonic(data: JudgedMentions) -> IsotonicCurve:
    """Returns the rising function with the smallest squared distance to the truth, by pooling
    adjacent violators.

    Args:
        data: of development documents.

    Raises:
        InputError: no mentions.
    """
    knots, places = np.unique(_scores(data), return_inverse=True)
    weights = np.bincount(places, minlength=len(knots)).astype(np.float64)
    sums = np.bincount(places, weights=data.right.astype(np.float64), minlength=len(knots))
    values = _pool(sums.astype(np.float64), weights)
    # The first and the last knot of a pool define it.
    needed = np.ones(len(knots), dtype=bool)
    if len(knots) > 2:
        needed[1:-1] = (values[1:-1] != values[:-2]) | (values[1:-1] != values[2:])
    return IsotonicCurve(
        scores=tuple(knots[needed].tolist()), values=tuple(values[needed].tolist())
    )


def _pool(sums: Floats, weights: Floats) -> Floats:
    """Returns for each knot the mean of its pool, so that the means rise."""
    pools: list[tuple[float, float, int]] = []  # sum, weight, knots
    for total, weight in zip(sums.tolist(), weights.tolist(), strict=True):
        pool = (total, weight, 1)
        # means, compared without dividing
        while pools and pools[-1][0] * pool[1] >= pool[0] * pools[-1][1]:
            before = pools.pop()
            pool = (before[0] + pool[0], before[1] + pool[1], before[2] + pool[2])
        pools.append(pool)
    means = [total / weight for total, weight, _ in pools]
    return np.repeat(means, [count for _, _, count in pools])


def fit_logistic(judged: Sequence[Sequence[tuple[float, bool]]]) -> LogisticCurve | None:
    """Returns the curve of highest likelihood over the log odds of scores (Platt, 1999).

    The truth of each mention is softened as in Platt's paper, so that scores that part right from
    wrong without an exception have a finite curve.

    Args:
        judged: the score of each mention of each group, and whether it is right; each group counts
            the same.

    Returns:
        ``None`` if all are right, all are wrong, or better scores are no better.
    """
    groups = [group for group in judged if group]
    pairs = [pair for group in groups for pair in group]
    right = np.array([true for _, true in pairs], dtype=bool)
    if not 0 < right.sum() < len(right):
        return None
    shares = [np.full(len(group), len(pairs) / len(groups) / len(group)) for group in groups]
    evidence = logits(np.array([score for score, _ in pairs], dtype=np.float64))
    truth = np.where(right, (right.sum() + 1) / (right.sum() + 2), 1 / ((~right).sum() + 2))
    weights = _regress(evidence, truth, np.concatenate(shares))
    slope, offset = np.clip(weights, -_LIMIT, _LIMIT).tolist()
    return LogisticCurve(slope=slope, offset=offset) if slope > 0 else None


def _regress(evidence: Floats, truth: Floats, share: Floats) -> Floats:
    """Returns slope and offset of a logistic regression, by Newton's method."""
    inputs = np.column_stack([evidence, np.ones(len(evidence))])
    weights = np.array([1.0, 0.0])
    for _ in range(_STEPS):
        probability = sigmoid(inputs @ weights)
        spread = share * probability * (1 - probability)
        curvature = (inputs * spread[:, None]).T @ inputs + 1e-9 * np.eye(2)
        step = np.linalg.solve(curvature, inputs.T @ (share * (probability - truth)))
        weights = weights - np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-10:
            break
    return weights


def _scores(data: JudgedMentions) -> Floats:
    if not len(data.scores):
        raise InputError(
            "nothing was predicted, so no calibration can be fitted; give development data"
        )
    return data.scores


Method = Literal["temperature", "isotonic", "none"]
_METHODS: Final[tuple[Method, ...]] = ("temperature", "isotonic", "none")
FEW: Final = 200  # predicted mentions, below which an isotonic curve mostly repeats its data


@dataclass(frozen=True, kw_only=True)
class Target:
    """Goal of a threshold: the best F1, or a wanted precision or recall.

    Attributes:
        precision: the wanted one, above 0 and up to 1.
        recall: the same; at most one of the two.
    """

    precision: float | None = None
    recall: float | None = None

    def __str__(self) -> str:
        """Returns the goal as model folders and tables name it."""
        if self.precision is not None:
            return f"precision {self.precision:g}"
        return "F1" if self.recall is None else f"recall {self.recall:g}"


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Some predicted mentions after a step of the calibration.

    Attributes:
        name: of the step.
        mentions: number of mentions that are left.
        calibration_error: expected, over ten bins of equal width; ``None`` without mentions.
        brier: score; ``None`` without mentions.
        figures: strict precision, recall and F1.
    """

    name: str
    mentions: int
    calibration_error: float | None
    brier: float | None
    figures: Figures

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields, ready for JSON."""
        numbers = {"expected_calibration_error": self.calibration_error, "brier_score": self.brier}
        return {"name": self.name, "mentions": self.mentions, **numbers, **self.figures.as_dict()}


@dataclass(frozen=True, kw_only=True)
class FittedCalibration:
    """Fitted calibration, and its effect on the data that it was fitted on.

    Attributes:
        calibration: for the decision of the model.
        stages: before the calibration, then after each step.
        notes: what else to know, as sentences.
    """

    calibration: Calibration
    stages: tuple[Stage, ...]
    notes: tuple[str, ...]


def check_gold(mentions: int) -> None:
    """Refuses to fit anything on gold without mentions.

    Args:
        mentions: how many the gold holds.

    Raises:
        InputError: none.
    """
    if not mentions:
        raise InputError(
            "the gold holds no mention, so nothing is known to be right; give annotated "
            "development data"
        )


def fit_calibration(
    data: JudgedMentions,
    *,
    method: Method,
    target: Target | None,
    types: Sequence[str] = (),
    chosen_on: str,
) -> FittedCalibration:
    """Fits a curve for the scores, and thresholds on what the curve gives.

    A threshold lies in the middle between the lowest score that is kept and the highest that is
    not, so that scores that differ in the last digits, as between torch and ONNX, decide alike;
    where all are kept, it is 0. A type that the gold or the predictions lack, or that no threshold
    of its own brings to the target, takes the threshold of all types together.

    Args:
        data: predictions on development data, with the scores of
            ``decoding.selection.round_scores``.
        method: of the curve.
        target: of the thresholds; ``None`` keeps every mention.
        types: those of the model, for a threshold of each; none for one threshold.
        chosen_on: sha256 of the data.

    Raises:
        UsageError: nothing to fit was asked for, an unknown method, or an impossible target.
        InputError: no gold mention, no temperature fits, or no threshold reaches the target.
    """
    if method not in _METHODS:
        raise UsageError(f"the method {method!r} was given; choose from {', '.join(_METHODS)}")
    if method == "none" and target is None:
        raise UsageError(
            "neither a curve nor a threshold is to be fitted; give a method, or a target for "
            "thresholds"
        )
    check_gold(sum(data.gold.values()))
    notes: list[str] = []
    fitted = Calibration(
        curve=_curve(data, method),
        wanted="" if target is None else str(target),
        chosen_on=chosen_on,
    )
    changed = replace(data, scores=calibrate_scores(data.scores, fitted))
    stages = [_stage("uncalibrated", data)]
    if fitted.curve is not None:
        stages.append(_stage(method, changed))
        if method == "isotonic" and len(data.scores) < FEW:
            notes.append(
                f"an isotonic curve over only {len(data.scores):,} mentions mostly repeats them"
            )
    if target is not None:
        fitted = _with_thresholds(fitted, changed, target=target, types=types, notes=notes)
        stages.append(_stage(f"kept for {target}", _select(changed, fitted)))
    return FittedCalibration(calibration=fitted, stages=tuple(stages), notes=tuple(notes))


def _curve(data: JudgedMentions, method: Method) -> Curve | None:
    if method == "none":
        return None
    return fit_temperature(data).curve() if method == "temperature" else fit_isotonic(data)


def _with_thresholds(
    fitted: Calibration,
    data: JudgedMentions,
    *,
    target: Target,
    types: Sequence[str],
    notes: list[str],
) -> Calibration:
    """Returns the calibration with a threshold of each type, and where one is needed for all."""
    thresholds: dict[str, float] = {}
    lacking: dict[str, str] = {}  # types without a threshold of their own -> why
    for name in types:
        part = data.of_type(name)
        if not part.gold[name] or not len(part.scores):
            lacking[name] = (
                f"there is no {'predicted' if part.gold[name] else 'gold'} mention of {name!r},"
            )
            continue
        try:
            thresholds[name] = _threshold(part, target)
        except InputError as error:
            lacking[name] = f"of the type {name!r}, {error};"
    overall = 0.0 if thresholds and not lacking else _overall(data, target, lacking)
    notes += [
        f"{why} so it takes the threshold of all types, {overall:.4g}" for why in lacking.values()
    ]
    return msgspec.structs.replace(fitted, threshold=overall, thresholds=thresholds)


def _overall(data: JudgedMentions, target: Target, lacking: Mapping[str, str]) -> float:
    """Returns one threshold for all types together, used by types without their own."""
    try:
        return _threshold(data, target)
    except InputError as error:
        if not lacking:
            raise
        raise InputError(f"{' '.join(lacking.values())} of all types, {error}") from None


def _threshold(data: JudgedMentions, target: Target) -> float:
    """Returns the threshold for the target, in the middle between the lowest score kept and the
    highest one dropped.
    """
    curve = precision_recall(data.scores, data.right, gold=sum(data.gold.values()))
    best = target.precision is None and target.recall is None
    threshold = (
        best_threshold(curve)
        if best
        else threshold_for(curve, precision=target.precision, recall=target.recall)
    )
    below = curve.thresholds[curve.thresholds < threshold.threshold]
    return float(threshold.threshold + below[0]) / 2 if len(below) else 0.0


def _select(data: JudgedMentions, calibration: Calibration) -> JudgedMentions:
    """Returns the mentions that reach their thresholds."""
    names = sorted(set(data.types))
    least = dict(zip(names, type_thresholds(calibration, names).tolist(), strict=True))
    return data.select(data.scores >= np.array([least[name] for name in data.types]))


def _stage(name: str, data: JudgedMentions) -> Stage:
    right, gold = int(data.right.sum()), sum(data.gold.values())
    return Stage(
        name=name,
        mentions=len(data.scores),
        calibration_error=expected_calibration_error(reliability_curve(data.scores, data.right)),
        brier=brier_score(data.scores, data.right),
        figures=figures(Counts(tp=right, fp=len(data.scores) - right, fn=gold - right)),
    )

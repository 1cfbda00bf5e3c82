"""The last step of every decision: what becomes of the scores of mentions, and which mentions are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Floats
from fascicle.settings.decision import Calibration, TemperatureCurve

CLIP: Final = 1e-6  # a score of exactly 0 or 1 has no finite logit
_DIGITS: Final = 6


def rounded(scores: NDArray[Any]) -> Floats:
    """Scores as mentions have them: from 0 to 1, with six decimals.

    What is fitted on the predictions in a file is thereby fitted on the same numbers that a predictor sees.
    """
    result: Floats = np.clip(np.asarray(scores, dtype=np.float64), 0.0, 1.0).round(_DIGITS)
    return result


def calibrated(scores: Floats, calibration: Calibration) -> Floats:
    """The scores that a calibration gives, shape as given; the order never turns, and near ones may become equal.

    Args:
        scores: of ``rounded``.
        calibration: of a model.
    """
    curve = calibration.curve
    if curve is None:
        return scores
    if isinstance(curve, TemperatureCurve):
        return rounded(tempered(scores, curve.temperature))
    return rounded(interpolated(scores, curve.scores, curve.values))


def thresholds(calibration: Calibration, types: Sequence[str]) -> Floats:
    """Returns the least score of a mention of each type, shape ``[types]``."""
    return np.array([calibration.thresholds.get(name, calibration.threshold) for name in types], dtype=np.float64)


def tempered(scores: Floats, temperature: float) -> Floats:
    """Scores with their logits divided by a temperature, shape as given."""
    return sigmoid(logits(scores) / temperature)


def interpolated(scores: Floats, knots: Sequence[float], values: Sequence[float]) -> Floats:
    """Scores through a function that is linear between knots and level beyond them, shape as given."""
    result: Floats = np.interp(scores, np.array(knots), np.array(values))
    return result


def logits(scores: Floats) -> Floats:
    """Computes log odds; those of 0 and 1 are finite."""
    clipped = np.clip(scores, CLIP, 1.0 - CLIP)
    result: Floats = np.log(clipped) - np.log1p(-clipped)
    return result


def sigmoid(values: Floats) -> Floats:
    """Computes the logistic function without overflow."""
    small = np.exp(-np.abs(values))
    result: Floats = np.where(values >= 0, 1.0 / (1.0 + small), small / (1.0 + small))
    return result

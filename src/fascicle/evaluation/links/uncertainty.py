"""How sure figures of links are, and whether two systems differ: documents are drawn, as for recognition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import numpy as np

from fascicle.core.arrays import Floats, Ints
from fascicle.errors import InputError
from fascicle.evaluation.links.scores import LinkScores, calibration_errors
from fascicle.evaluation.uncertainty.intervals import (
    Difference,
    Interval,
    difference_of,
    drawn_documents,
    interval_of,
    weights_of,
)
from fascicle.evaluation.uncertainty.significance import swapped

CALIBRATION: Final = "calibration_error"
COMPARED: Final = ("recall@1", "f1", "concept_f1")


def link_intervals(
    scores: LinkScores, *, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> dict[str, Interval]:
    """The intervals of all figures that are defined, and of the calibration error, over the same draws of documents.

    Args:
        scores: of one system.
        resamples: number of draws.
        level: share of the draws that the intervals hold.
        seed: of the random numbers.

    Raises:
        InputError: there is no document.
    """
    known = {name: float(value) for name in scores.figures if (value := scores.value(name)) is not None}
    drawn: dict[str, list[Floats]] = defaultdict(list)
    flat = scores.bins.reshape(len(scores.bins), -1)
    for weights in _weights(scores, resamples=resamples, seed=seed):
        for name in known:
            drawn[name].append(rates(weights @ scores.figures[name]))
        drawn[CALIBRATION].append(calibration_errors((weights @ flat).reshape(-1, *scores.bins.shape[1:])))
    if scores.calibration_error is not None:
        known[CALIBRATION] = scores.calibration_error
    return {
        name: interval_of(value, np.concatenate(drawn[name]), level=level, seed=seed) for name, value in known.items()
    }


def link_difference(
    first: LinkScores, second: LinkScores, name: str, *, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> Difference:
    """A figure of one system less that of another, with its paired interval and the p-value of randomisation.

    Args:
        first: of one system.
        second: of another, on the same gold.
        name: of the figure.
        resamples: number of draws, and of shuffles.
        level: share of the draws that the interval holds.
        seed: of the random numbers.

    Raises:
        InputError: other documents, or the figure is undefined for one of the two.
    """
    values = (first.value(name), second.value(name))
    if first.documents != second.documents or values[0] is None or values[1] is None:
        raise InputError(
            f"the figure {name} of two systems was to be compared; both need the same documents, and something to count"
        )
    ours, theirs = first.figures[name], second.figures[name]
    parts = [
        rates(weights @ ours) - rates(weights @ theirs) for weights in _weights(first, resamples=resamples, seed=seed)
    ]
    found = difference_of(values[0] - values[1], np.concatenate(parts), level=level, seed=seed)
    p_value = swapped(ours, theirs, figure=lambda sums: np.nan_to_num(rates(sums)), shuffles=resamples, seed=seed)
    return Difference(**{**found.as_dict(), "p_value": p_value})  # type: ignore[arg-type]


def rates(sums: Ints | Floats) -> Floats:
    """Part divided by whole, of sums of shape ``[..., 2]``; not a number where there is no whole."""
    part, whole = np.moveaxis(sums, -1, 0)
    found: Floats = np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
    return found


def _weights(scores: LinkScores, *, resamples: int, seed: int) -> Iterator[Floats]:
    if not scores.documents:
        raise InputError("links of no document were given; an interval needs at least one")
    return (weights_of(draws) for draws in drawn_documents(len(scores.documents), resamples=resamples, seed=seed))

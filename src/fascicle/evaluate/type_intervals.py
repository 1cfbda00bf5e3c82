"""How sure the strict F1 of each type is: percentile bootstrap over documents, all types on the same draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from fascicle.core.document import Mention, identities
from fascicle.evaluate.figures import ONE_DOCUMENT
from fascicle.evaluate.intervals import Interval, drawn_documents, percentiles, weights_of

IN_ONE_DOCUMENT: Final = "only one document has mentions of the type, and an interval comes from drawing documents"


def type_intervals(
    gold: Mapping[str, Sequence[Mention]],
    predicted: Mapping[str, Sequence[Mention]],
    *,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Interval | str]:
    """The interval of the strict F1 of each type.

    In a draw without a document that has the type on either side its F1 is undefined; such draws are left out.

    Args:
        gold: document id -> its gold mentions.
        predicted: the same of one system.
        resamples: number of draws.
        level: share of the draws that an interval holds.
        seed: of the random numbers; the same seed draws the same documents as `intervals.bootstrap_f1` does.

    Returns:
        Type of either side, by name -> its interval, or why it has none.
    """
    types, counts = _counts(gold, predicted)
    if len(gold) < 2:
        return dict.fromkeys(types, ONE_DOCUMENT)
    flat = counts.reshape(len(gold), -1).astype(np.float64)  # whole numbers: sums are exact
    blocks = drawn_documents(len(gold), resamples=resamples, seed=seed)
    sums = np.concatenate([weights_of(draws) @ flat for draws in blocks]).reshape(resamples, len(types), 3)
    drawn, whole = _f1(sums), _f1(counts.sum(axis=0))
    documents = (counts.sum(axis=2) > 0).sum(axis=0)
    found: dict[str, Interval | str] = {}
    for at, name in enumerate(types):
        known = drawn[~np.isnan(drawn[:, at]), at]
        if documents[at] < 2 or not len(known):
            found[name] = IN_ONE_DOCUMENT
            continue
        low, high = percentiles(known, level)
        found[name] = Interval(
            estimate=float(whole[at]), low=low, high=high, level=level, resamples=resamples, seed=seed
        )
    return found


def _counts(
    gold: Mapping[str, Sequence[Mention]], predicted: Mapping[str, Sequence[Mention]]
) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    """The types, and TP, FP and FN, shape (documents, types, 3)."""
    sides = [(identities(key, mentions), identities(key, predicted.get(key, ()))) for key, mentions in gold.items()]
    types = tuple(sorted({type_ for pair in sides for side in pair for _, type_, _ in side}))
    place = {name: at for at, name in enumerate(types)}
    counts = np.zeros((len(sides), len(types), 3), dtype=np.int64)
    for row, (true, said) in zip(counts, sides, strict=True):
        for part, found in enumerate((true & said, said - true, true - said)):
            np.add.at(row, ([place[type_] for _, type_, _ in found], part), 1)
    return types, counts


def _f1(sums: npt.NDArray[np.int64] | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Of TP, FP and FN, shape (..., 3); not a number where all three are 0."""
    tp, fp, fn = np.moveaxis(sums, -1, 0)
    total = 2 * tp + fp + fn
    return np.where(total > 0, 2 * tp / np.maximum(total, 1), np.nan)

"""What bundling gains: pairs of a bundle and a single model, gaps between single models, and how
the two go together.

A gain is F1 of a head in the bundle less F1 of the single model with the same head, trained with
the same seed and scored on the same test part. A gap is F1 of that single model less F1 of the
single model with the *other* head.

Gain and gap share a term: chance that makes a single model good makes its gap large and its gain
small. So the two are also taken apart: the gap from the first seed, the gain from the others. (Over
the means of all seeds, gaps and gains share their terms again, also if each gap is taken from the
other seeds.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt

from fascicle.training.experiments.grid import Grid
from fascicle.training.experiments.results import stored_scores
from studies.bundling.hierarchical import Pair
from studies.tables.grids import Row, Value, rows_of

Floats = npt.NDArray[np.float64]
MODELS: Mapping[str, tuple[str, str]] = {  # system of the grid and head; in the order of the paper
    "SeqNER": ("softmax", ""),
    "SeqNER, CRF": ("crf", ""),
    "BL-SeqNER": ("bundle", "softmax"),
    "SpanNER": ("spanner", ""),
    "BL-SpanNER": ("bundle", "span"),
}
SINGLES = ("SeqNER", "SpanNER")
EXACT_UP_TO = 8  # corpora whose orders are all tried: 40,320
DRAWN_ORDERS = 20_000
FEWEST = 3  # corpora for which chance is told at all


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """The rows of a corpus, by model."""

    name: str
    rows: Mapping[str, Row]

    def f1(self, model: str) -> dict[int, float]:
        """Seed -> test F1 of the runs that are done, in points."""
        return {
            seed: 100 * float(v["test"]["micro"]["f1"]) for seed, v in self.found(model).items()
        }

    def found(self, model: str) -> dict[int, Value]:
        """Seed -> results of the runs that are done; none for a model that the grid does not
        plan here.
        """
        return self.rows[model].found if model in self.rows else {}

    def planned(self, single: str) -> int:
        """Seeds for which a bundle and this single model are planned."""
        rows = [self.rows[model] for model in (single, bundled(single)) if model in self.rows]
        return (
            len(set.intersection(*({r.recipe.seed for r in row.runs} for row in rows)))
            if len(rows) == 2
            else 0
        )

    def pairs(self, single: str) -> dict[int, Pair]:
        """Seed -> scores of the bundle and of the single model, where both are there and say
        what they counted.
        """
        first, second = self.found(bundled(single)), self.found(single)
        return {
            seed: (
                stored_scores(first[seed]["test_counts"]),
                stored_scores(second[seed]["test_counts"]),
            )
            for seed in second
            if seed in first and first[seed].get("test_counts") and second[seed].get("test_counts")
        }

    def gains(self, single: str) -> dict[int, float]:
        """Seed -> gain of a head, in points."""
        first, second = self.f1(bundled(single)), self.f1(single)
        return {seed: first[seed] - second[seed] for seed in second if seed in first}

    def gaps(self, single: str) -> dict[int, float]:
        """Seed -> F1 of this single model less F1 of the other, in points."""
        own, other = self.f1(single), self.f1(other_of(single))
        return {seed: own[seed] - other[seed] for seed in own if seed in other}

    def apart(self, single: str) -> list[tuple[float, float]]:
        """The gap of the first seed and the mean gain of the others; nothing where there are no
        others.
        """
        gaps, gains = self.gaps(single), self.gains(single)
        first, others = next(iter(gaps), None), list(gains)
        if first in gains:
            others.remove(first)
        return (
            [(gaps[first], sum(gains[s] for s in others) / len(others))]
            if first is not None and others
            else []
        )


@dataclass(frozen=True, kw_only=True)
class Relation:
    """How a gain goes with something else.

    Attributes:
        points: how many.
        corpora: that they come from.
        of_points: Pearson's and Spearman's correlation over the points.
        of_means: the same over the means of the corpora; ``None`` where these do not define one.
        p: of the two over means: the share of the orders of the corpora that are at least as far
            from 0; ``None`` for fewer than three corpora.
    """

    points: int
    corpora: int
    of_points: tuple[float, float]
    of_means: tuple[float, float] | None
    p: tuple[float, float] | None


def bundled(single: str) -> str:
    """The same head in the bundle."""
    return f"BL-{single}"


def other_of(single: str) -> str:
    """The other single model."""
    return SINGLES[1 - SINGLES.index(single)]


def corpora_of(grid: Grid) -> list[Corpus]:
    """The corpora of a grid, with the rows of the plain systems that are scored on test."""
    names = {what: model for model, what in MODELS.items()}
    rows: dict[str, dict[str, Row]] = {}
    for row in rows_of(grid, grid.results):
        model = names.get((row.system, row.head))
        if model and not row.variant and row.runs[0].recipe.corpus.test:
            rows.setdefault(row.corpus, {})[model] = row
    return [Corpus(name=name, rows=found) for name, found in rows.items()]


def relation(points: Mapping[str, Sequence[tuple[float, float]]]) -> Relation | None:
    """Correlations over all points, and the chance of such correlations between the means of the
    corpora.

    Points of one corpus are not independent, so chance is told by putting the corpora in another
    order: all orders for at most ``EXACT_UP_TO`` corpora, else ``DRAWN_ORDERS`` drawn ones.

    Args:
        points: of each corpus, pairs of what may explain the gain, and the gain.

    Returns:
        ``None`` where a correlation is not defined: fewer than two points, or all the same.
    """
    used = [np.array(pairs, dtype=np.float64) for pairs in points.values() if len(pairs)]
    every = np.concatenate(used) if used else np.empty((0, 2))
    of_points = _both(every)
    if of_points is None:
        return None
    means = np.array([pairs.mean(axis=0) for pairs in used])
    of_means = _both(means)
    tested = of_means is not None and len(means) >= FEWEST
    x, y = means.T
    return Relation(
        points=len(every),
        corpora=len(used),
        of_points=of_points,
        of_means=of_means,
        p=(permutation_p(x, y), permutation_p(ranks(x), ranks(y))) if tested else None,
    )


def _both(points: Floats) -> tuple[float, float] | None:
    """Pearson's and Spearman's correlation of the two columns, where they are defined."""
    if len(points) < 2 or (np.ptp(points, axis=0) == 0).any():
        return None
    x, y = points.T
    return correlation(x, y), correlation(ranks(x), ranks(y))


def correlation(x: Floats, y: Floats) -> float:
    """Pearson's."""
    a, b = x - x.mean(), y - y.mean()
    return float(a @ b / math.sqrt((a @ a) * (b @ b)))


def ranks(values: Floats) -> Floats:
    """Ranks from 1; equal values share the mean of theirs."""
    below = (values[:, None] > values[None, :]).sum(axis=1)
    equal = (values[:, None] == values[None, :]).sum(axis=1)
    return np.asarray(below + (equal + 1) / 2, dtype=np.float64)


def permutation_p(x: Floats, y: Floats) -> float:
    """Share of the orders of ``x`` whose correlation with ``y`` is at least as far from 0, the
    given one included.
    """
    a, b = x - x.mean(), y - y.mean()
    seen = np.abs(np.concatenate([a[orders] @ b for orders in _orders(len(x))]))
    return float((seen >= abs(a @ b) * (1 - 1e-9)).mean())


def _orders(count: int) -> Iterator[npt.NDArray[np.int64]]:
    """Orders of so many things, as blocks of rows; the first is the given one."""
    if count <= EXACT_UP_TO:
        yield np.array(list(permutations(range(count))), dtype=np.int64)
        return
    chance = np.random.default_rng(0)
    yield np.arange(count, dtype=np.int64)[None, :]
    yield chance.permuted(np.tile(np.arange(count, dtype=np.int64), (DRAWN_ORDERS, 1)), axis=1)

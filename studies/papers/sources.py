"""Comparisons from stored results: differences of runs on the same test part, and numbers with their intervals."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from fascicle.errors import InputError
from fascicle.training.experiments.grid import Grid, read_grid
from fascicle.training.experiments.results import stored_scores
from studies.bundling.hierarchical import bootstrap_pooled
from studies.common import GRIDS
from studies.papers.rule import Compared, Z
from studies.tables.grids import Row, rows_of

DRAWS: Final = 1000
SEVERAL: Final = ("bundling", "binder", "combining", "span-heads", "adapted")  # grids that have rows of several seeds
SAME_TEXTS: Final[Mapping[str, str]] = {  # corpus -> one of the same texts that has several seeds
    "genia": "genia-events",
    "genia-resplit": "genia-events",
    "bc5cdr-chem": "bc5cdr",
    "bc5cdr-disease": "bc5cdr",
}
Key = tuple[str, str, str]  # corpus, system, variant; a head of a bundle follows its system after a colon


@functools.cache
def grid(name: str) -> Grid:
    """A plan of runs."""
    return read_grid(GRIDS / f"{name}.toml")


@functools.cache
def rows(name: str) -> Mapping[Key, Row]:
    """The rows of a grid; ``bundle:span`` is the head ``span`` of a bundle."""
    found = rows_of(grid(name), grid(name).results)
    return {(r.corpus, f"{r.system}:{r.head}" if r.head else r.system, r.variant): r for r in found}


@functools.cache
def deviations(measure: str = "f1") -> Mapping[str, float]:
    """Corpus -> standard deviation of a measure on test between seeds, in points; under the empty name, over all."""
    variances: dict[str, list[float]] = {}
    for name in SEVERAL:
        for row in rows(name).values():
            found = [100 * float(v["test"]["micro"][measure]) for v in row.values] if row.on_test else []
            if len(found) > 1:
                variances.setdefault(row.corpus, []).append(statistics.variance(found))
    pooled = {corpus: statistics.mean(found) for corpus, found in variances.items()}
    whole = {"": math.sqrt(statistics.mean(pooled.values()))} if pooled else {}
    return {corpus: math.sqrt(found) for corpus, found in pooled.items()} | whole


def deviation(corpus: str, measure: str = "f1") -> float:
    """Between seeds, of the corpus or of its texts where they have several, else over all corpora that have."""
    found = deviations(measure)
    return found.get(corpus, found.get(SAME_TEXTS.get(corpus, ""), found.get("", 0.0)))


def less(what: str, paper: float, *, first: Row | None, second: Row | None, **more: Any) -> list[Compared]:
    """F1 of one row less that of another, over the seeds that both have; nothing where one is not there.

    Args:
        what: is compared.
        paper: the difference there.
        first: row whose F1 it is.
        second: row whose F1 is taken from it.
        more: further fields of the comparison.
    """
    if first is None or second is None:
        return []
    pairs = [(first.found[seed], second.found[seed]) for seed in first.found if seed in second.found]
    if not pairs or not all(v.get("test_counts") for pair in pairs for v in pair):
        return []
    scored = [tuple(stored_scores(value["test_counts"]) for value in pair) for pair in pairs]
    ends: dict[str, float] = {}
    here = 100 * statistics.mean(a.micro.f1 - b.micro.f1 for a, b in scored)
    try:
        found = bootstrap_pooled([[(a, b) for a, b in scored]], resamples=DRAWS)
        ends = {"low": 100 * found.low, "high": 100 * found.high}
    except InputError:  # one was scored document by document, the other sentence by sentence
        pass
    return [
        Compared(
            what=what,
            paper=paper,
            here=here,
            seeds=len(pairs),
            deviation=deviation(first.corpus),
            corpus=first.corpus,
            minutes=minutes(value for pair in pairs for value in pair),
            **{**ends, **more},
        )
    ]


def on_dev(what: str, paper: float, *, first: Row | None, second: Row | None, **more: Any) -> list[Compared]:
    """F1 on dev of one row less that of another; results keep no counts of dev, so there is no interval."""
    if first is None or second is None:
        return []
    pairs = [(first.found[seed], second.found[seed]) for seed in first.found if seed in second.found]
    if not pairs:
        return []
    here = 100 * statistics.mean(float(a["dev"]["micro"]["f1"]) - float(b["dev"]["micro"]["f1"]) for a, b in pairs)
    spent = minutes(value for pair in pairs for value in pair)
    return [Compared(what=what, paper=paper, here=here, seeds=len(pairs), corpus=first.corpus, minutes=spent, **more)]


def minutes(values: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Of training, by the clock, of each run."""
    return {f"{value['grid']}/{value['run']}": float(value["seconds"]) / 60 for value in values if "run" in value}


def percent(found: Mapping[str, float]) -> dict[str, Any]:
    """A stored difference with its interval, in points."""
    return {"here": 100 * found["estimate"], "low": 100 * found["low"], "high": 100 * found["high"]}


def proportion(right: int, whole: int) -> dict[str, Any]:
    """A share in percent with its interval (Wilson)."""
    share, square = right / whole, Z * Z / whole
    middle = (share + square / 2) / (1 + square)
    half = Z * math.sqrt(share * (1 - share) / whole + square / (4 * whole)) / (1 + square)
    return {"here": 100 * share, "low": 100 * (middle - half), "high": 100 * (middle + half)}


def mean_of(found: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """The mean of differences on different corpora, with the interval of independent ones."""
    points = [percent(one) for one in found]
    here = statistics.mean(one["here"] for one in points)
    half = math.sqrt(sum(((one["high"] - one["low"]) / 2) ** 2 for one in points)) / len(points)
    return {"here": here, "low": here - half, "high": here + half}

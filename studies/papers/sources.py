"""Comparisons from stored results: differences of runs on the same test part, and numbers with
their intervals.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from fascicle.errors import InputError
from fascicle.training.experiments.grid import Grid, read_grid
from fascicle.training.experiments.results import stored_scores
from studies.bundling.hierarchical import bootstrap_pooled
from studies.common import GRIDS
from studies.papers.rule import Compared, Z
from studies.tables.grids import Row, rows_of

DRAWS: Final = 1000
ON_GPU: Final = "on a processor, and on a GPU in the paper"
TURNS: Final = "papers-turns"  # results of `studies.papers.turns`
# grids that have rows of several seeds
SEVERAL: Final = ("bundling", "binder", "combining", "span-heads", "adapted")
# seeds -> Student's t of 95 %, with one degree less
STUDENT: Final[Mapping[int, float]] = {2: 12.71, 3: 4.30}
# grids whose labels are those of a dictionary: their seeds lie farther apart
WEAK: Final = ("distant",)
SAME_TEXTS: Final[Mapping[str, str]] = {  # corpus -> one of the same texts that has several seeds
    "genia": "genia-events",
    "genia-resplit": "genia-events",
    "bc5cdr-chem": "bc5cdr",
    "bc5cdr-disease": "bc5cdr",
}
# corpus, system, variant; a head of a bundle follows its system after a colon
Key = tuple[str, str, str]


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
def deviations(measure: str = "f1", grids: tuple[str, ...] = SEVERAL) -> Mapping[str, float]:
    """Corpus -> standard deviation of a measure on test between seeds, in points; under the
    empty name, over all.
    """
    variances: dict[str, list[float]] = {}
    for name in grids:
        for row in rows(name).values():
            found = (
                [100 * float(v["test"]["micro"][measure]) for v in row.values]
                if row.on_test
                else []
            )
            if len(found) > 1:
                variances.setdefault(row.corpus, []).append(statistics.variance(found))
    pooled = {corpus: statistics.mean(found) for corpus, found in variances.items()}
    whole = {"": math.sqrt(statistics.mean(pooled.values()))} if pooled else {}
    return {corpus: math.sqrt(found) for corpus, found in pooled.items()} | whole


def deviation(corpus: str, measure: str = "f1", *, grids: tuple[str, ...] = SEVERAL) -> float:
    """Between seeds, of the corpus or of its texts where they have several, else over all
    corpora that have.
    """
    found = deviations(measure, grids)
    return found.get(corpus, found.get(SAME_TEXTS.get(corpus, ""), found.get("", 0.0)))


def less(
    what: str, paper: float | None, *, first: Row | None, second: Row | None, **more: Any
) -> list[Compared]:
    """F1 of one row less that of another, over the seeds that both have; nothing where one is not
    there.

    Args:
        what: is compared.
        paper: the difference there; ``None`` where the paper does not make it.
        first: row whose F1 it is.
        second: row whose F1 is taken from it.
        more: further fields of the comparison.
    """
    if first is None or second is None:
        return []
    pairs = [
        (first.found[seed], second.found[seed]) for seed in first.found if seed in second.found
    ]
    if not pairs or not all(v.get("test_counts") for pair in pairs for v in pair):
        return []
    scored = [tuple(stored_scores(value["test_counts"]) for value in pair) for pair in pairs]
    ends: dict[str, float] = {}
    by_seed = [100 * (a.micro.f1 - b.micro.f1) for a, b in scored]
    here = statistics.mean(by_seed)
    try:
        found = bootstrap_pooled([[(a, b) for a, b in scored]], resamples=DRAWS)
        ends = with_all_of_seeds(here, 100 * found.low, 100 * found.high, by_seed)
    except InputError:  # one was scored document by document, the other sentence by sentence
        pass
    return [
        Compared(
            what=what,
            paper=paper,
            here=here,
            seeds=len(pairs),
            corpus=first.corpus,
            minutes=minutes(value for pair in pairs for value in pair),
            **{"deviation": deviation(first.corpus), "doubt": other_machine(pairs), **ends, **more},
        )
    ]


def widened(one: Compared, factor: float) -> Compared:
    """A comparison whose interval is wider by a factor, such as the root of that of a variance."""
    if one.low is None or one.high is None:
        return one
    low, high = (one.here + factor * (end - one.here) for end in (one.low, one.high))
    return replace(one, low=low, high=high)


def on_dev(
    what: str, paper: float, *, first: Row | None, second: Row | None, **more: Any
) -> list[Compared]:
    """F1 on dev of one row less that of another; results keep no counts of dev, so there is no
    interval.
    """
    if first is None or second is None:
        return []
    pairs = [
        (first.found[seed], second.found[seed]) for seed in first.found if seed in second.found
    ]
    if not pairs:
        return []
    here = 100 * statistics.mean(
        float(a["dev"]["micro"]["f1"]) - float(b["dev"]["micro"]["f1"]) for a, b in pairs
    )
    spent = minutes(value for pair in pairs for value in pair)
    more = {"doubt": other_machine(pairs), **more}
    return [
        Compared(
            what=what,
            paper=paper,
            here=here,
            seeds=len(pairs),
            corpus=first.corpus,
            minutes=spent,
            **more,
        )
    ]


def other_machine(pairs: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> str:
    """A doubt where the two runs of a pair had different machines or arithmetic, as far as both
    say; else empty.
    """
    found = []
    for first, second in (tuple(value["facts"] for value in pair) for pair in pairs):
        on_gpu = {
            bool(facts.get("environment", {}).get("accelerator")) for facts in (first, second)
        }
        bits = sorted({facts["precision"] for facts in (first, second) if facts.get("precision")})
        if len(on_gpu) > 1:
            found.append("one on a GPU and one on a CPU")
        elif len(bits) > 1:
            found.append(f"one in {bits[0]} and one in {bits[1]}")
    return " or ".join(dict.fromkeys(found))


def minutes(values: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Of training, by the clock, of each run; the heads of a bundle are one run."""
    return {
        f"{value['grid']}/{str(value['run']).removesuffix('.' + str(value.get('head')))}": float(
            value["seconds"]
        )
        / 60
        for value in values
        if "run" in value
    }


def percent(found: Mapping[str, float]) -> dict[str, Any]:
    """A stored difference with its interval, in points."""
    return {"here": 100 * found["estimate"], "low": 100 * found["low"], "high": 100 * found["high"]}


def proportion(right: int, whole: int) -> dict[str, Any]:
    """A share in percent with its interval (Wilson)."""
    share, square = right / whole, Z * Z / whole
    middle = (share + square / 2) / (1 + square)
    half = Z * math.sqrt(share * (1 - share) / whole + square / (4 * whole)) / (1 + square)
    return {"here": 100 * share, "low": 100 * (middle - half), "high": 100 * (middle + half)}


def with_all_of_seeds(
    here: float, low: float, high: float, by_seed: Sequence[float]
) -> dict[str, Any]:
    """The ends of an interval for which seeds were drawn, with what so few draws leave out.

    Draws of n seeds vary by (n - 1) / n of the variance of their mean, s² / n; the rest, s² / n²,
    is added.
    """
    rest = Z * statistics.stdev(by_seed) / len(by_seed) if len(by_seed) > 1 else 0.0
    return {
        "low": here - math.hypot(here - low, rest),
        "high": here + math.hypot(high - here, rest),
    }


def between(values: Sequence[float]) -> float:
    """Half the width of the 95 % interval of a mean over seeds, by Student's t; 0 for a single
    seed.
    """
    if len(values) < 2:
        return 0.0
    return STUDENT[len(values)] * statistics.stdev(values) / math.sqrt(len(values))


def half_of_mean(halves: Mapping[str, float]) -> float:
    """Half the width of the interval of a mean over rows.

    Args:
        halves: name of a row, which starts with that of its corpus -> half its width. Rows of one
            corpus share their texts, so their widths are added as if they went together; those of
            different corpora are independent.
    """
    shared: dict[str, float] = {}
    for name, half in halves.items():
        corpus = name.partition(" ")[0]
        shared[corpus] = shared.get(corpus, 0.0) + half
    return math.hypot(*shared.values()) / len(halves)

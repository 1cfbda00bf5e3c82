"""Tables of a grid, from its file and its results files alone: no corpus is needed.

A results file whose hash is not that of the grid's recipe (over the data that the file names) is
stale, and counts as not run. What a results file does not say is ``not measured``. A bundle has a
row for each of its heads, from the two results files that its run leaves.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fascicle.core.wording import plural
from fascicle.errors import InputError
from fascicle.evaluation.uncertainty.intervals import Interval, bootstrap_difference
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.experiments.grid import Grid, GridRun
from fascicle.training.experiments.hashes import recipe_hash
from fascicle.training.experiments.results import other_conditions, read_result, stored_scores
from studies.abstracts import drawing_abstracts

MISSING = "not measured"
NOT_RUN = "not run"
Value = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A system on a corpus: its planned runs, and the results of those that are done, which are
    read when they are first asked for.

    Attributes:
        runs: planned.
        results: the folder of the results.
        parts: the abstracts of the sentences of test parts.
        head: of a bundle, the head whose results these are; empty for a single model.
    """

    runs: tuple[GridRun, ...]
    results: Path
    parts: Mapping[str, Any]
    head: str = ""

    @cached_property
    def _stored(self) -> dict[int, tuple[GridRun, Value]]:
        is_answer = self.head == _heads(self.runs[0])[0]
        suffix = "" if is_answer else f".{self.head}"
        values = (read_result(self.results, f"{run.name}{suffix}") for run in self.runs)
        pairs = zip(self.runs, values, strict=True)
        return {run.recipe.seed: (run, value) for run, value in pairs if value}

    @cached_property
    def found(self) -> dict[int, Value]:
        """Seed -> results."""
        return {
            seed: drawing_abstracts(value, self.parts)
            for seed, (run, value) in self._stored.items()
            if _is_current(run, value)
        }

    @property
    def stale(self) -> int:
        """How many results are those of another recipe."""
        return len(self._stored) - len(self.found)

    @property
    def corpus(self) -> str:
        """Name of the corpus in the grid."""
        return self.runs[0].corpus

    @property
    def system(self) -> str:
        """Name of the system; empty for a recipe file."""
        return self.runs[0].system

    @property
    def variant(self) -> str:
        """Name of the variant; empty for the plain system."""
        return self.runs[0].variant

    @property
    def name(self) -> str:
        """What the table calls it."""
        told = f", {self.variant}" if self.variant else ""
        head = f", head `{self.head}`" if self.head else ""
        return f"`{self.system or self.runs[0].recipe.name}`{told}{head}"

    @property
    def on_test(self) -> bool:
        """Whether it is scored on test; several corpora in one recipe are not."""
        corpus = self.runs[0].recipe.corpus
        return bool(corpus and corpus.test)

    @property
    def values(self) -> list[Value]:
        """The results, in the order of the planned seeds."""
        return list(self.found.values())

    def seeds(self) -> str:
        """How many of the planned runs are done, tier by tier where there are several."""
        tiers: dict[str, list[bool]] = {}
        for run in self.runs:
            tiers.setdefault(run.tier, []).append(run.recipe.seed in self.found)
        told = [f"{tier} {sum(done)} of {len(done)}" for tier, done in tiers.items()]
        stale = f" ({self.stale} stale)" if self.stale else ""
        return ", ".join(told if len(tiers) > 1 else [told[0].split(" ", 1)[1]]) + stale


def rows_of(grid: Grid, results: Path) -> list[Row]:
    """The rows of a grid, in the order of its file."""
    cells: dict[str, list[GridRun]] = {}
    for run in grid.runs:
        cells.setdefault(run.recipe.name, []).append(run)
    parts = read_result(results.parent, "abstracts").get("parts", {})
    return [
        Row(runs=tuple(runs), results=results, parts=parts, head=head)
        for runs in cells.values()
        for head in _heads(runs[0])
    ]


def _heads(run: GridRun) -> tuple[str, ...]:
    """Of a bundle its heads, the answering one first; of a single model one without a name."""
    recipe = run.recipe
    if not isinstance(recipe, Recipe) or recipe.bundle is None:
        return ("",)
    answer = recipe.answer()
    return (answer, *(name for name in recipe.heads() if name != answer))


def grid_table(grid: Grid, results: Path) -> str:
    """One table for each corpus: every system that is scored on test, beside the one it is
    compared with.
    """
    rows = [row for row in rows_of(grid, results) if row.on_test]
    parts = []
    for corpus in dict.fromkeys(row.corpus for row in rows):
        chosen = [row for row in rows if row.corpus == corpus]
        if corpus and not any(row.found or row.stale for row in chosen):
            parts.append(_planned(corpus, chosen))
            continue
        title = [_title(corpus, chosen)] if corpus else []  # recipe files are under no common name
        parts += [*title, _corpus_table(chosen, compare=grid.compare)]
    return "\n\n".join(parts)


def dev_table(grid: Grid, results: Path) -> str:
    """F1 on dev of the variants that are scored on dev alone: what a choice rests on."""
    rows = [row for row in rows_of(grid, results) if not row.on_test]
    variants = list(dict.fromkeys(row.variant for row in rows))
    body = []
    for corpus, system, head in dict.fromkeys((row.corpus, row.system, row.head) for row in rows):
        cells = {
            row.variant: row
            for row in rows
            if (row.corpus, row.system, row.head) == (corpus, system, head)
        }
        shown = [_dev(cells[v]) if v in cells else "" for v in variants]
        body.append([corpus, f"`{system}`" + (f", head `{head}`" if head else ""), *shown])
    return markdown(
        ["corpus", "system", *(", ".join(filter(None, ("dev F1", v))) for v in variants)], body
    )


def _corpus_table(rows: Sequence[Row], *, compare: str) -> str:
    nested = any(_subset(value, "inner", "gold") for row in rows for value in row.values)
    columns: list[tuple[str, Callable[[Row], str]]] = [
        ("test F1", lambda row: spread(row.values, "test", "micro", "f1")),
        ("95 % interval", lambda row: interval(row.values[0])),
        *([(f"less `{compare}`", lambda row: _difference(row, rows, compare))] if compare else []),
        ("precision", lambda row: mean(row.values, "test", "micro", "precision")),
        ("recall", lambda row: mean(row.values, "test", "micro", "recall")),
        *((f"recall, {name}", _recall(name)) for name in ("seen", "unseen")),
        *((f"recall, {name}", _recall(name)) for name in ("outermost", "inner") if nested),
        ("dev F1", lambda row: mean(row.values, "dev", "micro", "f1")),
        ("minutes a run", lambda row: minutes(row.values)),
        ("peak memory", lambda row: _memory(row.values)),
    ]
    body = []
    for row in rows:
        if other := other_conditions(row.values):
            sys.stderr.write(
                f"{row.corpus} {row.name}: seeds of different conditions ({'; '.join(other)})\n"
            )
        cells = (
            [of(row) for _, of in columns] if row.found else [NOT_RUN, *[""] * (len(columns) - 1)]
        )
        body.append([row.name, row.seeds(), *cells])
    return markdown(["system", "seeds", *(title for title, _ in columns)], body)


def _planned(corpus: str, rows: Sequence[Row]) -> str:
    """A line for a corpus of which nothing is run."""
    tiers = dict.fromkeys(run.tier for row in rows for run in row.runs)
    count = sum(len(row.runs) for row in rows if row.head in ("", row.runs[0].recipe.answer()))
    return (
        f"**{corpus}**: {NOT_RUN}; {plural(count, 'run')} of the tier {' and '.join(tiers)} planned"
    )


def _title(corpus: str, rows: Iterable[Row]) -> str:
    """The corpus, with the size of its test part where a result tells it."""
    for row in rows:
        for value in row.values:
            test = value["facts"]["data"]["test"]
            return (
                f"**{corpus}** (test: {test['documents']:,} documents, {test['mentions']:,} "
                "mentions)"
            )
    return f"**{corpus}**"


def _is_current(run: GridRun, value: Value) -> bool:
    """Whether a result is that of the recipe in the grid, over the data that the result names."""
    data = {part: facts["sha256"] for part, facts in value["facts"]["data"].items()}
    return bool(value.get("hash") == recipe_hash(run.recipe, data))


def _difference(row: Row, rows: Iterable[Row], compare: str) -> str:
    """F1 less that of the system to compare with, on the first seed that both have, with its
    paired interval.
    """
    others = [
        other for other in rows if other.system == compare and other.variant in (row.variant, "")
    ]
    other = max(others, key=lambda o: (o.variant == row.variant, o.head == row.head), default=None)
    if other is None or other is row:
        return "reference" if other is row else ""
    common = [seed for seed in row.found if seed in other.found]
    if not common:
        return ""
    first, second = (found[common[0]].get("test_counts") for found in (row.found, other.found))
    if not first or not second:
        return MISSING
    try:
        paired = bootstrap_difference(stored_scores(first), stored_scores(second))
    except InputError:
        return "other units"  # one was scored document by document, the other sentence by sentence
    return points(paired)


def points(found: Interval) -> str:
    """A difference of F1 with its interval, in points."""
    return f"{100 * found.estimate:+.2f} ({100 * found.low:+.1f} to {100 * found.high:+.1f})"


def _recall(name: str) -> Callable[[Row], str]:
    def cell(row: Row) -> str:
        measured = [value for value in row.values if value.get("test_recall")]
        if not measured:
            return MISSING
        shares = [
            share for value in measured if (share := _subset(value, name, "recall")) is not None
        ]
        return f"{100 * statistics.mean(shares):.1f}" if shares else "none"

    return cell


def _subset(value: Value, name: str, key: str) -> Any:
    return ((value.get("test_recall") or {}).get(name) or {}).get(key)


def _dev(row: Row) -> str:
    """By the average that the model is chosen by."""
    if not row.found:
        return NOT_RUN
    return mean(row.values, "dev", row.values[0]["dev"].get("average", "micro"), "f1", digits=2)


def _memory(values: Sequence[Value]) -> str:
    peaks = [peak for value in values if (peak := value.get("peak_rss_bytes"))]
    return f"{max(peaks) / 1e9:.1f} GB" if peaks else MISSING


def spread(values: Sequence[Value], *path: str) -> str:
    """The mean in percent, and the standard deviation where there are several."""
    return deviating([100 * _at(value, path) for value in values])


def deviating(points: Sequence[float], *, sign: str = "") -> str:
    """The mean of some points, and their standard deviation where there are several."""
    deviation = f" ± {statistics.stdev(points):.2f}" if len(points) > 1 else ""
    return f"{statistics.mean(points):{sign}.2f}{deviation}"


def over_seeds(
    values: Mapping[int, float] | Sequence[float], planned: int, *, sign: str = ""
) -> str:
    """The mean of some seeds, their standard deviation, and of how many they are if some are
    missing.
    """
    found = list(values.values()) if isinstance(values, Mapping) else list(values)
    if not found:
        return NOT_RUN if planned else "not planned"
    missing = f" ({len(found)} of {planned} seeds)" if len(found) < planned else ""
    return f"{deviating(found, sign=sign)}{missing}"


def mean(values: Sequence[Value], *path: str, digits: int = 1) -> str:
    """The mean in percent."""
    return f"{100 * statistics.mean(_at(value, path) for value in values):.{digits}f}"


def interval(value: Value) -> str:
    """The interval of the test F1, in percent."""
    found = value["test_f1_interval"]
    return f"{100 * found['low']:.1f} to {100 * found['high']:.1f}"


def minutes(values: Sequence[Value]) -> str:
    """Mean time of a run."""
    return f"{statistics.mean(value['seconds'] / 60 for value in values):.0f}"


def with_interval(difference: Mapping[str, float]) -> str:
    """A difference of shares in points, with its interval."""
    low, high = (f"{100 * difference[name]:+.1f}" for name in ("low", "high"))
    return f"{100 * difference['estimate']:+.1f} ({low} to {high})"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines)


def _at(value: Any, path: Iterable[str]) -> float:
    for key in path:
        value = value[key]
    return float(value)

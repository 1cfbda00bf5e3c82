"""Tables of the study of six types, from ``results/six-rows.json`` and
``results/six-dial.json``.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from fascicle.training.experiments.results import read_result
from studies.common import BIOMED, RESULTS, result
from studies.six.corpora import BESIDE, OWN, OWN_OUTPUT, ROWS, TABLE_2, ScoredRow
from studies.six.spread import DECIDED, SEEDS, f1_of_further, f1_of_seeds
from studies.tables.grids import NOT_RUN, markdown, over_seeds

Value = Mapping[str, Any]
OF_SIX: Final = "biomed@1"  # what shipped from this study
PAPER: Final = "paper-"  # begins the name of a student under the protocol of the paper
FULL: Final = "-fp32"  # of the name of a model before its weights became 8 bits
RULES: Final = ("seqeval", "strict")
# what shipped as biomed@1 before, whose seeds are all among the further ones
BEFORE: Final = "longer"
_SEEDS: Final = 3  # of what ships, as planned
_FITS: Final = {"the mean of corpora": "mean", "all mentions together": "mentions"}


def table_2(value: Value) -> str:
    """The rows of the paper: its student, and of each system that ships seqeval's default score
    and the strict one.
    """
    return _table_2(value, [name for name in _systems(value) if not name.startswith(PAPER)])


def paper(value: Value) -> str:
    """The same of the students under the protocol of the paper."""
    return _table_2(value, [name for name in _systems(value) if name.startswith(PAPER)])


def _systems(value: Value) -> list[str]:
    return [name for name in value.get("systems", {}) if not name.endswith(FULL)]


def _table_2(value: Value, systems: Sequence[str]) -> str:
    if not systems:
        return NOT_RUN
    head = [
        "F1, test",
        "words",
        "TinyBERN2",
        *(f"{name}, {rule}" for name in systems for rule in RULES),
    ]
    body = [
        [_named(row), _form(row), f"{row.paper:.2f}", *_cells(value, systems, row)]
        for row in TABLE_2
    ]
    known = [name for name in systems if all(_of(value, name, row) for row in TABLE_2)]
    mean = {(name, rule): _mean(value, name, rule) for name in known for rule in RULES}
    shown = [
        f"{mean[name, rule]:.2f}" if name in known else "" for name in systems for rule in RULES
    ]
    body.append(["mean", "", f"{statistics.mean(row.paper or 0.0 for row in TABLE_2):.2f}", *shown])
    above = [
        str(_above(value, name, rule)) if name in known else ""
        for name in systems
        for rule in RULES
    ]
    return markdown(head, [*body, ["rows above TinyBERN2", "", "", *above]])


def beside(value: Value) -> str:
    """Corpora that are not in the paper, as a user meets them: raw text, strict F1 with
    intervals.
    """
    systems = [
        name
        for name in value.get("systems", {})
        if any(_of(value, name, row, "raw") for row in BESIDE)
    ]
    if not systems:
        return NOT_RUN
    body = [
        [_named(row), *(_strict(_of(value, name, row, "raw")) for name in systems)]
        for row in BESIDE
    ]
    return markdown(["strict F1, raw text of test", *systems], body)


def raw(value: Value) -> str:
    """What a user of a model that ships loses who has no words and sentences of a corpus: the
    rows with both forms.
    """
    rows = [row for row in TABLE_2 if row.given and row.raw]
    ours = [name for name in value.get("systems", {}) if "@" in name]
    systems = [name for name in ours if all(_of(value, name, row, "raw") for row in rows)]
    if not systems:
        return NOT_RUN
    body = [
        [
            row.name,
            *(
                _strict(_of(value, name, row, form))
                for name in systems
                for form in ("given", "raw")
            ),
        ]
        for row in rows
    ]
    return markdown(
        ["strict F1, test", *(f"{n}, {f}" for n in systems for f in ("words given", "raw text"))],
        body,
    )


def int8(value: Value) -> str:
    """What 8 bits cost: strict F1 of the 32-bit form less that of the 8-bit one, in pairs."""
    systems = {
        name: f"{name}{FULL}"
        for name in value.get("systems", {})
        if f"{name}{FULL}" in value["systems"]
    }
    if not systems:
        return NOT_RUN
    body = [[row.name, *(_less(value, full, row) for full in systems.values())] for row in ROWS]
    costs = {
        name: [found["estimate"] for row in ROWS if (found := _difference(value, full, row))]
        for name, full in systems.items()
    }
    means = [f"{-100 * statistics.mean(found):+.2f}" if found else "" for found in costs.values()]
    return markdown(["8 bits less 32 bits, strict F1 (95 %)", *systems], [*body, ["mean", *means]])


def front(value: Value) -> str:
    """What ships, for the first page: a line for each type of the rows of the paper, raw text
    where it is at hand.
    """
    if BIOMED not in value.get("systems", {}):
        return NOT_RUN
    body, further = [], result(SEEDS)
    for row in TABLE_2:
        form = "raw" if row.raw else "given"
        found = _of(value, BIOMED, row, form)
        assert found is not None
        micro = found["strict"]["micro"]
        rates = (f"{100 * micro[name]:.1f}" for name in ("precision", "recall"))
        what = "raw text" if row.raw else "words of the corpus"
        own = [
            one for one in OWN if one.name == f"{row.name}{OWN_OUTPUT}" and _of(value, BIOMED, one)
        ]
        shown = own[0] if own else row
        seeds = over_seeds(f1_of_seeds(value, further, BIOMED, shown.name, form), _SEEDS)
        body.append(
            [shown.row.type, f"{row.row.corpus} test, {what}", *rates, _strict(found), seeds]
        )
    head = [f"`{BIOMED}`", "data", "precision", "recall", "F1 (95 %)", "F1 of three seeds"]
    return markdown(head, sorted(body, key=lambda line: line[0]))


def seeds(value: Value) -> str:
    """Strict F1 of what ships, of further seeds of it, and their mean: raw text where it is at
    hand.
    """
    further = result(SEEDS)
    models = [name for name in _systems(value) if name in further.get("systems", {})]
    if not models:
        return NOT_RUN
    body = []
    for row in ROWS:
        cells = []
        for name in models:
            found = f1_of_seeds(value, further, name, row.name, "raw" if row.raw else "given")
            cells += [
                " ".join(f"{f1:.2f}" for f1 in found),
                over_seeds(found, _SEEDS) if found else "",
            ]
        body.append([_named(row), "raw text" if row.raw else "words of the corpus", *cells])
    return markdown(
        ["strict F1, test", "read", *(f"{n}, {w}" for n in models for w in ("each seed", "mean"))],
        body,
    )


def decided(value: Value) -> str:
    """Strict F1 of all seeds of what ships, with its whole decision, and their mean."""
    found = result(DECIDED)
    body = []
    for row in ROWS if BIOMED in value.get("systems", {}) else ():
        f1 = f1_of_further(found, BIOMED, row.name, "raw" if row.raw else "given")
        if len(f1) < _SEEDS:
            return NOT_RUN
        read = "raw text" if row.raw else "words of the corpus"
        body.append(
            [_named(row), read, " ".join(f"{one:.1f}" for one in f1), over_seeds(f1, _SEEDS)]
        )
    return (
        markdown(["strict F1, test", "read", f"`{BIOMED}`, each seed", "mean"], body)
        if body
        else NOT_RUN
    )


def soft(value: Value) -> str:
    """What this study shipped last beside what it shipped before: means of seeds, and the
    difference.
    """
    further = result(SEEDS)
    body, gaps = [], []
    for row in ROWS:
        form = "raw" if row.raw else "given"
        now = f1_of_seeds(value, further, OF_SIX, row.name, form)
        before = f1_of_further(further, BEFORE, row.name, form)
        if len(now) < _SEEDS or len(before) < _SEEDS:
            return NOT_RUN
        gaps.append(statistics.mean(now) - statistics.mean(before))
        body.append(
            [_named(row), over_seeds(before, _SEEDS), over_seeds(now, _SEEDS), f"{gaps[-1]:+.2f}"]
        )
    body.append(["mean", "", "", f"{statistics.mean(gaps):+.2f}"])
    return markdown(
        ["strict F1, test, three seeds", f"`{BEFORE}`", OF_SIX, "difference of the means"], body
    )


def dial(value: Value) -> str:
    """Sizes: macro F1 over the rows, speed, megabytes, start-up; of models of earlier runs, the
    day.
    """
    measured = read_result(RESULTS, "six-dial")
    if not measured:
        return NOT_RUN
    body = []
    for name, one in (measured["models"] | measured.get("earlier", {})).items():
        mean = mean_strict(value, name)
        f1 = NOT_RUN if mean is None else f"{mean:.2f}"
        rates = [f"{rate:,.0f}" for rate in one["sentences_per_second"].values()]
        ratio = f"{one['times_pipeline']['bulk']:.1f}" if "times_pipeline" in one else NOT_RUN
        body.append(
            [
                name,
                f1,
                *rates,
                ratio,
                f"{one['megabytes']:.1f}",
                f"{one['start_seconds']:.2f}",
                one.get("date", "together"),
            ]
        )
    speed = ["sentences/s, batch 1", "batch 32", "bulk", "times the pipeline"]
    head = ["model", "mean strict F1", *speed, "MB", "start, s", "measured"]
    return markdown(head, body)


def thresholds(value: Value) -> str:
    """Dev F1 of each type of each corpus under two ways of fitting the threshold of a type; with
    ``six-thresholds``.
    """
    fits = {
        f"{run}, fitted on {name}": found[key]
        for run, found in value.get("runs", {}).items()
        for name, key in _FITS.items()
    }
    if not fits:
        return NOT_RUN
    support = {cell: of for fit in fits.values() for cell, of in fit["support"].items()}
    cells = [
        [
            cell,
            f"{of:,}",
            *(f"{100 * fit['f1'][cell]:.2f}" if cell in fit["f1"] else "" for fit in fits.values()),
        ]
        for cell, of in support.items()
    ]
    mean = [f"{100 * statistics.mean(fit['f1'].values()):.2f}" for fit in fits.values()]
    return markdown(["dev F1", "mentions", *fits], [*cells, ["mean", "", *mean]])


def stored(make: Callable[[Value], str], results: Path = RESULTS, name: str = "six-rows") -> str:
    """A table of stored results."""
    return make(read_result(results, name) or {})


def _named(row: ScoredRow) -> str:
    return f"{row.name}{' (unseen by the paper)' if row.unseen and row.paper else ' (unseen)' if row.unseen else ''}"


def _form(row: ScoredRow) -> str:
    return "given" if row.given else "cut"


def _of(value: Value, name: str, row: ScoredRow, form: str = "") -> Value | None:
    """What a system has in a row; an output that it keeps apart for the corpus stands in the
    place of the default.
    """
    rows: Value = value.get("systems", {}).get(name, {}).get("rows", {})
    found: Value | None = rows.get(f"{row.name}{OWN_OUTPUT}", rows.get(row.name, {})).get(
        form or ("given" if row.given else "raw")
    )
    return found


def _f1(found: Value, rule: str) -> float:
    return 100 * float(
        found["seqeval"]["f1"] if rule == "seqeval" else found["strict"]["micro"]["f1"]
    )


def _cells(value: Value, systems: Sequence[str], row: ScoredRow) -> list[str]:
    cells = []
    for name in systems:
        found = _of(value, name, row)
        cells += [f"{_f1(found, 'seqeval'):.2f}", _strict(found)] if found else ["", ""]
    return cells


def _strict(found: Value | None) -> str:
    if not found:
        return ""
    within = found["strict"]["f1_interval"]
    return f"{_f1(found, 'strict'):.2f} ({100 * within['low']:.1f} to {100 * within['high']:.1f})"


def mean_strict(value: Value, name: str) -> float | None:
    """Mean strict F1 of a system over the rows of the paper, in points; nothing if one is
    missing.
    """
    known = all(_of(value, name, row) for row in TABLE_2)
    return _mean(value, name, "strict") if known else None


def _mean(value: Value, name: str, rule: str) -> float:
    return statistics.mean(_f1(found, rule) for row in TABLE_2 if (found := _of(value, name, row)))


def _above(value: Value, name: str, rule: str) -> int:
    return sum(
        _f1(found, rule) > (row.paper or 0.0) for row in TABLE_2 if (found := _of(value, name, row))
    )


def _difference(value: Value, name: str, row: ScoredRow) -> Value | None:
    found = _of(value, name, row)
    less: Value | None = found.get("less_first") if found else None
    return less


def _less(value: Value, name: str, row: ScoredRow) -> str:
    """What the first system has more than this one, which is its 32-bit form."""
    found = _difference(value, name, row)
    if not found:
        return ""
    return (
        f"{-100 * found['estimate']:+.2f} ({-100 * found['high']:+.1f} to "
        f"{-100 * found['low']:+.1f})"
    )


TABLES: Final[Mapping[str, Callable[[Value], str]]] = MappingProxyType(
    {
        "table-2": table_2,
        "paper": paper,
        "beside": beside,
        "raw": raw,
        "int8": int8,
        "front": front,
        "seeds": seeds,
        "decided": decided,
        "soft": soft,
        "dial": dial,
    }
)

"""Writes every table of the documentation from ``benchmarks/results/``: README.md, and pages of docs/.

usage: python -m benchmarks.tables [--check]

A table stands between ``<!-- table NAME -->`` and ``<!-- end -->``; ``--check`` changes nothing and fails where a table
is not what the results say. Each grid of ``benchmarks/grids/`` has the tables ``GRID``, from its results on test, and
``GRID-dev``, of the variants that are scored on dev alone.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.common import GRIDS, RESULTS, ROOT
from benchmarks.studies.abbreviations import tables as abbreviation_tables
from benchmarks.studies.binder import leads as binder_leads
from benchmarks.studies.binder import measured as binder_measured
from benchmarks.studies.binder import tables as binder_tables
from benchmarks.studies.bundling import study_tables as bundling_study_tables
from benchmarks.studies.bundling import tables as bundling_tables
from benchmarks.studies.combining import tables as combining_tables
from benchmarks.studies.families import tables as family_tables
from benchmarks.studies.families.reports import ATTRIBUTES, PAPER
from benchmarks.studies.labels import rows as label_rows
from benchmarks.studies.linking import tables as link_tables
from benchmarks.studies.packs import tables as pack_tables
from benchmarks.studies.parts import cells as parts_cells
from benchmarks.studies.pretraining import record as pretraining
from benchmarks.studies.six import tables as six_tables
from benchmarks.studies.span_typer.tables import in_words, pictures, span_typer, speed
from benchmarks.tables import evaluation as evaluate_tables
from benchmarks.tables import runs as run_tables
from benchmarks.tables import serving as serve_tables
from benchmarks.tables import speed as speed_tables
from benchmarks.tables import training as training_tables
from benchmarks.tables.best import best_recipes
from benchmarks.tables.costs import folder_output, head_cost, inputs_cost, int8_heads, linking_speed, span_speed
from benchmarks.tables.grids import MISSING, dev_table, grid_table, interval, markdown, mean, minutes, rows_of, spread
from fascicle.experiments.grid import Grid, read_grid

DOCS = ROOT / "docs"
PAGES = (
    ROOT / "README.md",
    DOCS / "results.md",
    DOCS / "families" / "span-typer.md",
    DOCS / "how-to-annotate-many.md",
    DOCS / "how-to-run-on-many-machines.md",
    DOCS / "how-to-calibrate.md",
    DOCS / "how-to-serve.md",
    DOCS / "how-to-curate.md",
    DOCS / "how-to-link.md",
    DOCS / "scores.md",
    DOCS / "corpus-check.md",
    *sorted((DOCS / "studies").glob("*.md")),
)
_TABLE = re.compile(r"(<!-- table ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> int:
    """Rewrites or checks the pages; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    tell = functools.cache(table)  # some stand on several pages
    stale = []
    for page in PAGES:
        old = page.read_text(encoding="utf-8")
        new = _TABLE.sub(lambda found: f"{found[1]}{tell(found[2])}\n{found[3]}", old)
        if new != old:
            stale.append(page.name)
            if not args.check:
                page.write_text(new, encoding="utf-8")
    if args.check and stale:
        sys.stderr.write(f"not what benchmarks/results say: {', '.join(stale)}; run make bench\n")
        return 1
    for name in TABLES:
        sys.stdout.write(f"\n{name}\n\n{tell(name)}\n")
    return 0


def table(name: str) -> str:
    """The table of this name: one of ``TABLES``, or of a grid."""
    if name in TABLES:
        return TABLES[name]()
    of_dev = name.endswith("-dev")
    grid = _grid(name.removesuffix("-dev"))
    return (dev_table if of_dev else grid_table)(grid, grid.results)


def _grid(name: str) -> Grid:
    return read_grid(GRIDS / f"{name}.toml")


def _bundling(make: Callable[[Grid], str]) -> Callable[[], str]:
    """A table of the grid ``bundling``."""
    return lambda: make(_grid("bundling"))


def _studies(make: Callable[[Grid], str]) -> Callable[[], str]:
    """A table of the grid ``bundling-studies``."""
    return lambda: make(_grid("bundling-studies"))


def _cells(name: str) -> str:
    """F1 of each type of each corpus on dev."""
    return parts_cells.table(_grid(name), _grid(name).results)


def _small_teacher() -> str:
    """What a small model has on the cells of the big teacher."""
    rows = {
        name: next(
            row for row in rows_of(_grid(grid), _grid(grid).results) if (row.system, row.variant) == (system, "")
        )
        for name, grid, system in (("mpnet", "teachers", "mpnet"), ("six-shape", "six", "shape"))
    }
    return parts_cells.beside(list(rows.items()))


def _binder(number: int) -> Callable[[], str]:
    """One of the tables of variants of the grid ``binder``."""
    return lambda: binder_tables.variants(_grid("binder"), number)


def training() -> str:
    """Test scores of the runs of the grid ``first``, which is one of recipe files."""
    grid = read_grid(GRIDS / "first.toml")
    scored = ("test F1", "95 % interval", "precision", "recall", "dev F1", "best epoch", "minutes a run")
    head = ("recipe", "seeds", *scored)
    body = []
    for row in rows_of(grid, grid.results):
        cells = [MISSING] * len(scored)
        if row.found:
            cells = [
                spread(row.values, "test", "micro", "f1"),
                interval(row.values[0]),
                mean(row.values, "test", "micro", "precision"),
                mean(row.values, "test", "micro", "recall"),
                mean(row.values, "dev", "micro", "f1"),
                ", ".join(str(value["epoch"]) for value in row.values),
                minutes(row.values),
            ]
        body.append([row.name, row.seeds(), *cells])
    return markdown(head, body)


def tried() -> str:
    """What the choice of the best recipes rests on."""
    rows = [[row["corpus"], row["what"], f"{row['dev_f1']:.2f}"] for row in result("tried")["runs"]]
    for corpus, recipe in CANDIDATES:
        value = result(f"first/{recipe}-s1")
        dev = f"{100 * value['dev']['micro']['f1']:.2f}" if value else MISSING
        rows.append([corpus, f"`{recipe}`, a planned run", dev])
    soup = _from("shipped-bc5cdr@1", "dev_given_sentences_fp32", "micro", "f1", scale=100)
    rows.append(
        ["bc5cdr", "the mean of the weights of `bc5cdr-best` and `bc5cdr-hidden`: shipped as `bc5cdr@1`", soup()]
    )
    return markdown(["corpus", "variant (seed 1)", "dev F1"], sorted(rows, key=lambda row: row[0]))


NCBI = ("ncbi-disease-crf", "ncbi-disease-packed-crf", "ncbi-disease-packed")
CANDIDATES = (
    ("bc5cdr", "bc5cdr-best"),
    ("bc5cdr", "bc5cdr-hidden"),
    *(("ncbi-disease", recipe) for recipe in NCBI),
)


def shipped() -> str:
    """The shipped model."""
    value = result("shipped-bc5cdr@1")
    if not value:
        return MISSING
    rows = []
    for key, what in SHIPPED.items():
        micro, interval = value[key]["micro"], value[key]["f1_interval"]
        cells = [f"{100 * micro[k]:.1f}" for k in ("precision", "recall", "f1")]
        rows.append([what, *cells, f"{100 * interval['low']:.1f} to {100 * interval['high']:.1f}"])
    return markdown(["`bc5cdr@1` on", "precision", "recall", "F1", "95 % interval"], rows)


SHIPPED: Mapping[str, str] = {
    "dev_given_sentences": "BC5CDR dev, words and sentences given",
    "test_given_sentences": "BC5CDR test, words and sentences given",
    "test_given_sentences_fp32": "the same with fp32 weights",
    "test_one_sentence_at_a_time": "the same, each sentence without its neighbours",
    "test_raw_text": "BC5CDR test, raw text of the abstracts",
    "ncbi_disease_test_raw_text": "NCBI-disease test, raw text, diseases only (another corpus)",
}


def calibration() -> str:
    """The shipped model before and after calibration: on dev, where it was fitted, and on test."""
    value = result("calibration")
    if not value:
        return MISSING
    rows = []
    for part in ("dev", "test"):
        for one in value[part]:
            shares = (f"{100 * one[key]:.2f}" for key in ("precision", "recall", "f1"))
            error = f"{100 * one['expected_calibration_error']:.2f}"
            rows.append([part, one["name"], f"{one['mentions']:,}", error, f"{one['brier_score']:.4f}", *shares])
    less = value["test_f1_difference"]
    found = f"{100 * less['estimate']:+.2f} ({100 * less['low']:+.2f} to {100 * less['high']:+.2f})"
    head = ["bc5cdr", "", "mentions", "ECE", "Brier", "P", "R", "F1"]
    return f"{markdown(head, rows)}\n\nF1 on test, last row less the one above, paired: {found}."


def goals() -> str:
    """The figures that the first release set itself, beside what was measured."""
    rows = [[what, goal, measure()] for what, goal, measure in GOALS]
    return markdown(["what", "goal", "measured"], rows)


def fast() -> str:
    """How fast the shipped model is: the rows of the goals about time and memory."""
    rows = [[what, measure()] for what, _, measure in GOALS if what.startswith(FAST)]
    return markdown(["what", "measured"], rows)


FAST = (
    "throughput",
    "sentences a second",
    "`fascicle annotate --text`",
    "peak memory, 20,000",
    "peak memory, a document of 400,000",
)


def _f1(recipe: str, seeds: int) -> Callable[[], str]:
    def measure() -> str:
        found = [v for s in range(1, seeds + 1) if (v := result(f"first/{recipe}-s{s}"))]
        if not found:
            return MISSING
        shown = mean(found, "test", "micro", "f1", digits=2)
        return shown if len(found) == seeds else f"{shown} ({len(found)} of {seeds} seeds)"

    return measure


def _best(recipes: tuple[str, ...]) -> Callable[[], str]:
    """Test F1 of the recipe with the best dev F1, seed 1 each."""

    def measure() -> str:
        found = {recipe: value for recipe in recipes if (value := result(f"first/{recipe}-s1"))}
        if len(found) < len(recipes):
            return MISSING
        name = max(found, key=lambda recipe: found[recipe]["dev"]["micro"]["f1"])
        return f"{100 * found[name]['test']['micro']['f1']:.2f} (`{name}`)"

    return measure


def _from(name: str, *path: str, form: str = "{:.2f}", scale: float = 1.0) -> Callable[[], str]:
    def measure() -> str:
        value: Any = result(name)
        if not value:
            return MISSING
        for key in path:
            value = value[key]
        return form.format(value * scale)

    return measure


def _raw_gap() -> str:
    value = result("shipped-bc5cdr@1")
    if not value:
        return MISSING
    gap = value["test_raw_text"]["micro"]["f1"] - value["test_given_sentences"]["micro"]["f1"]
    return f"{100 * gap:+.2f}"


def _crf(kind: str) -> Callable[[], str]:
    def measure() -> str:
        value = result("crf_speed")
        rows = [value[rows][kind]["ratio"] for rows in ("full_rows", "ragged_rows")] if value else []
        return " and ".join(f"{ratio:.1f}x" for ratio in rows) or MISSING

    return measure


GOALS: tuple[tuple[str, str, Callable[[], str]], ...] = (
    ("NCBI-disease test F1, word-level softmax, mean of 3 seeds", "82.0", _f1("ncbi-disease-softmax", 3)),
    ("NCBI-disease test F1, best shipped recipe by dev F1", "84.0", _best(NCBI)),
    ("NCBI-disease test F1, CRF", "report", _f1("ncbi-disease-crf", 1)),
    ("BC5CDR test F1, word-level softmax, mean of 2 seeds", "82.0", _f1("bc5cdr-softmax", 2)),
    ("BC5CDR test F1, CRF", "report", _f1("bc5cdr-crf", 1)),
    (
        "BC5CDR test F1, the shipped model (int8, sentences given)",
        "84.0",
        _from("shipped-bc5cdr@1", "test_given_sentences", "micro", "f1", scale=100),
    ),
    (
        "int8 less fp32, BC5CDR test F1, paired",
        "-0.5",
        _from("shipped-bc5cdr@1", "test_int8_less_fp32", "estimate", form="{:+.2f}", scale=100),
    ),
    ("raw text less given sentences, BC5CDR test F1", "within 1.5", _raw_gap),
    ("CRF loss and backward against pytorch-crf, CPU time (full and ragged rows)", "3x", _crf("loss_and_backward")),
    ("Viterbi against pytorch-crf, CPU time (full and ragged rows)", "4x", _crf("decode")),
    ("throughput against the Hugging Face pipeline", "7x", _from("throughput", "ratio", "pipeline", form="{:.1f}x")),
    (
        "throughput against a length-sorted fp32 torch loop",
        "2.3x",
        _from("throughput", "ratio", "torch_loop", form="{:.1f}x"),
    ),
    (
        "sentences a second, 2 cores",
        "report",
        _from("throughput", "sentences_per_second", "fascicle", form="{:.0f}"),
    ),
    (
        "`fascicle annotate --text`, whole process, against `import torch, transformers`",
        "at most 1/3",
        _from("resources", "start_ratio"),
    ),
    ("peak memory, 10,000 sentences", "350 MB", _from("resources", "peak_mb", "10000_sentences", form="{:.0f} MB")),
    ("peak memory, 20,000 sentences", "flat", _from("resources", "peak_mb", "20000_sentences", form="{:.0f} MB")),
    (
        "peak memory, a document of 200,000 characters",
        "350 MB",
        _from("resources", "peak_mb", "document_of_200000_characters", form="{:.0f} MB"),
    ),
    (
        "peak memory, a document of 400,000 characters",
        "flat",
        _from("resources", "peak_mb", "document_of_400000_characters", form="{:.0f} MB"),
    ),
)


def environment() -> str:
    """The machines that the results come from."""
    seen: dict[str, list[str]] = {}
    for path in sorted(RESULTS.rglob("*.json")):
        value = json.loads(path.read_text(encoding="utf-8"))
        facts = value.get("environment") or value.get("facts", {}).get("environment") or value.get("machine")
        if not facts or "processor" not in facts:
            continue
        cores = facts.get("cores", facts.get("cpu_count"))
        torch = facts.get("packages", facts)["torch"]
        name = f"{facts['processor']}, {cores} cores, torch {torch}"
        seen.setdefault(name, []).append(value["date"])
    return "\n".join(f"- {name}: results of {min(dates)} to {max(dates)}" for name, dates in sorted(seen.items()))


def result(name: str) -> dict[str, Any]:
    """One results file, empty if it is not there."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


BEST_OF = ("span-heads", "bundling")  # beside `first`; their plans have both corpora sentence by sentence
TABLES: Mapping[str, Callable[[], str]] = {
    "training": training,
    "tried": tried,
    "shipped": shipped,
    "goals": goals,
    "fast": fast,
    "calibration": calibration,
    "environment": environment,
    "span-speed": span_speed,
    "head-cost": head_cost,
    "multilabel-cost": lambda: head_cost("multilabel_cost"),
    "int8-heads": int8_heads,
    "inputs-cost": inputs_cost,
    "folder-output": folder_output,
    "bundling-table3": _bundling(bundling_tables.published),
    "bundling-gains": _bundling(bundling_tables.gains),
    "bundling-gaps": _bundling(bundling_tables.gaps),
    "bundling-oov": _bundling(bundling_tables.unknown_words),
    "bundling-relations": _bundling(bundling_tables.relations),
    "bundling-weights": lambda: bundling_study_tables.weights(_grid("bundling-studies"), _grid("bundling")),
    "bundling-taggers": _studies(bundling_study_tables.taggers),
    "bundling-representations": _studies(bundling_study_tables.representations),
    "bundling-others": lambda: bundling_study_tables.others(_grid("bundling-studies"), _grid("binder")),
    "best-recipes": lambda: best_recipes(_grid("first"), [_grid(g) for g in BEST_OF], ("ncbi-disease", "bc5cdr")),
    **{f"families-{name}": functools.partial(family_tables.bucketed, RESULTS, name) for name in ATTRIBUTES},
    **{f"bundling-{name}": functools.partial(family_tables.bundled, RESULTS, name) for name in PAPER},
    "families-errors": lambda: family_tables.errors(RESULTS),
    "bundling-errors": lambda: family_tables.moved(RESULTS),
    "bundling-gradients": lambda: bundling_study_tables.gradients(RESULTS),
    **{f"{name}-cells": functools.partial(_cells, name) for name in ("parts", "six")},
    "teachers-beside": _small_teacher,
    **speed_tables.TABLES,
    **training_tables.TABLES,
    **{f"six-{name}": functools.partial(six_tables.stored, make) for name, make in six_tables.TABLES.items()},
    "labels-rows": lambda: label_rows.stored(RESULTS, part="dev"),
    "pretraining": lambda: pretraining.table(RESULTS),
    "abbreviation-finder": lambda: abbreviation_tables.finder(RESULTS),
    "abbreviation-rules": lambda: abbreviation_tables.rules(RESULTS),
    "abbreviation-ablation": lambda: abbreviation_tables.ablation(RESULTS),
    "pack-recognition": lambda: pack_tables.recognition(RESULTS),
    "pack-judging": lambda: pack_tables.judged(RESULTS),
    "pack-links": lambda: pack_tables.links(RESULTS),
    "linking-speed": linking_speed,
    "pack-speed": lambda: pack_tables.speed(RESULTS),
    "pack-builds": lambda: pack_tables.builds(RESULTS),
    "pack-names": lambda: pack_tables.names(RESULTS),
    "linking": lambda: link_tables.figures(RESULTS),
    "linking-systems": lambda: link_tables.systems(RESULTS),
    "linking-tiers": lambda: link_tables.tiers(RESULTS),
    "linking-unseen": lambda: link_tables.unseen(RESULTS),
    "linking-errors": lambda: link_tables.errors(RESULTS),
    "linking-ablation": lambda: link_tables.ablation(RESULTS),
    "linking-raw": lambda: link_tables.raw(RESULTS),
    "linking-dense": lambda: link_tables.dense(RESULTS),
    "linking-dense-costs": lambda: link_tables.dense_costs(RESULTS),
    "span-typer": lambda: span_typer(RESULTS),
    "span-typer-speed": lambda: speed(RESULTS),
    "span-typer-pictures": lambda: pictures(DOCS),
    "span-typer-words": lambda: in_words(RESULTS),
    "runs": lambda: run_tables.measured(RESULTS),
    "runs-cost": lambda: run_tables.costs(RESULTS),
    "serving": lambda: serve_tables.measured(RESULTS),
    "curation-curve": lambda: serve_tables.curve(RESULTS),
    "bundle-cost": lambda: bundling_study_tables.cost(RESULTS),
    **{
        f"combining-{corpus}": functools.partial(combining_tables.combining, corpus, RESULTS)
        for corpus in combining_tables.CORPORA
    },
    "combining-chosen": lambda: combining_tables.chosen(RESULTS),
    "combining-control": lambda: combining_tables.control(RESULTS),
    "combining-filters": lambda: combining_tables.filters(RESULTS),
    "combining-agreement": lambda: combining_tables.agreement(RESULTS),
    "combining-agreement-kept": lambda: combining_tables.agreement_kept(RESULTS),
    "combining-filter-rates": lambda: combining_tables.filter_rates(RESULTS),
    "combining-seconds": lambda: combining_tables.seconds(RESULTS),
    "combining-claims": lambda: combining_tables.claims(_grid("claims")),
    "evaluate-speed": lambda: evaluate_tables.seconds(RESULTS, evaluate_tables.EVALUATION),
    "doctor-speed": lambda: evaluate_tables.seconds(RESULTS, evaluate_tables.DOCTOR),
    "binder-supervised": lambda: binder_tables.supervised(_grid("binder")),
    "binder-beside": lambda: binder_tables.beside(_grid("binder"), _grid("span-heads")),
    "binder-leads": lambda: binder_leads.leads(RESULTS),
    "binder-distant": lambda: binder_tables.distant(_grid("distant")),
    "binder-rules": lambda: binder_tables.rules(RESULTS),
    "binder-table4": _binder(4),
    "binder-table5": _binder(5),
    "binder-table6": _binder(6),
    "binder-noise": lambda: binder_tables.noise(_grid("noise"), _grid("binder")),
    "binder-noise-parts": lambda: binder_tables.noise_parts(_grid("noise")),
    "binder-cost": lambda: binder_measured.cost(RESULTS),
    "binder-contrast": lambda: binder_measured.contrast(RESULTS),
    "binder-breakdown": lambda: binder_measured.breakdown(RESULTS),
    "binder-partly": lambda: binder_measured.partly(RESULTS),
    "binder-densities": lambda: binder_measured.densities(RESULTS),
    "binder-unseen": lambda: binder_measured.unseen(RESULTS),
    "binder-reworded": lambda: binder_measured.reworded(RESULTS),
    "binder-goals": lambda: binder_tables.goals(_grid("binder"), _grid("distant")),
}

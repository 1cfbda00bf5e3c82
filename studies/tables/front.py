"""Tables of the front pages: the goals of the first release, the shipped model, speed,
calibration, machines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from fascicle.training.experiments.grid import read_grid
from studies.common import GRIDS, RESULTS, result
from studies.tables.grids import MISSING, interval, markdown, mean, minutes, rows_of, spread


def training() -> str:
    """Test scores of the runs of the grid ``first``, which is one of recipe files."""
    grid = read_grid(GRIDS / "first.toml")
    scored = (
        "test F1",
        "95 % interval",
        "precision",
        "recall",
        "dev F1",
        "best epoch",
        "minutes a run",
    )
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
        [
            "bc5cdr",
            "the mean of the weights of `bc5cdr-best` and `bc5cdr-hidden`: shipped as `bc5cdr@1`",
            soup(),
        ]
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
        rows = (
            [value[rows][kind]["ratio"] for rows in ("full_rows", "ragged_rows")] if value else []
        )
        return " and ".join(f"{ratio:.1f}x" for ratio in rows) or MISSING

    return measure


GOALS: tuple[tuple[str, str, Callable[[], str]], ...] = (
    (
        "NCBI-disease test F1, word-level softmax, mean of 3 seeds",
        "82.0",
        _f1("ncbi-disease-softmax", 3),
    ),
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
    (
        "CRF loss and backward against pytorch-crf, CPU time (full and ragged rows)",
        "3x",
        _crf("loss_and_backward"),
    ),
    ("Viterbi against pytorch-crf, CPU time (full and ragged rows)", "4x", _crf("decode")),
    (
        "throughput against the Hugging Face pipeline",
        "7x",
        _from("throughput", "ratio", "pipeline", form="{:.1f}x"),
    ),
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
    (
        "peak memory, 10,000 sentences",
        "350 MB",
        _from("resources", "peak_mb", "10000_sentences", form="{:.0f} MB"),
    ),
    (
        "peak memory, 20,000 sentences",
        "flat",
        _from("resources", "peak_mb", "20000_sentences", form="{:.0f} MB"),
    ),
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
        facts = (
            value.get("environment")
            or value.get("facts", {}).get("environment")
            or value.get("machine")
        )
        if not facts or "processor" not in facts:
            continue
        cores = facts.get("cores", facts.get("cpu_count"))
        torch = facts.get("packages", facts)["torch"]
        beside = f", {facts['accelerator']}" if facts.get("accelerator") else ""
        name = f"{facts['processor']}, {cores} cores{beside}, torch {torch}"
        seen.setdefault(name, []).append(value["date"])
    return "\n".join(
        f"- {name}: results of {min(dates)} to {max(dates)}" for name, dates in sorted(seen.items())
    )

"""The table of the span typer, from ``studies/results/span-typer/``."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from studies.tables.grids import MISSING, NOT_RUN, deviating, markdown

CORPORA = ("genia", "litbank", "nerel-ru", "nerel-bio", "germeval14", "anercorp", "harem", "msra")
SEEDS = (1, 2, 3)
HEAD = (
    "corpus",
    "seeds",
    "typing accuracy",
    "lookup of the string",
    "over lookup",
    "most frequent type",
    "published protocol",
    'the paper: accuracy, "F1"',
    "F1 of finding (P / R)",
    "words of test without vector",
    "CPU minutes",
)
PAPER_SECONDS = 117_035  # of 600 updates on GENIA, by a note in the authors' program
Value = dict[str, Any]


def span_typer(results: Path) -> str:
    """A row for each corpus, the mean over seeds; the F1 of finding is of another run."""
    return markdown(HEAD, [_row(corpus, results / "span-typer") for corpus in CORPORA])


def _row(corpus: str, folder: Path) -> list[str]:
    typed = _typed(folder, corpus)
    found = _read(folder / f"{corpus}-found-s1.json")
    finding = _finding(found["test"]["found"]["micro"]) if found else NOT_RUN
    if not typed:
        return [corpus, f"0 of {len(SEEDS)}", *[MISSING] * 6, finding, MISSING, NOT_RUN]
    tests = [value["test"] for value in typed]
    published = typed[0]["published"]
    # none of a GPU
    minutes = [value["cpu_minutes"] for value in typed if value.get("device", "cpu") == "cpu"]
    return [
        corpus,
        f"{len(typed)} of {len(SEEDS)}",
        _spread([test["typing"]["accuracy"] for test in tests]),
        f"{100 * tests[0]['lookup_accuracy']:.2f}",
        _spread([test["typing"]["accuracy"] - test["lookup_accuracy"] for test in tests], sign="+"),
        f"{100 * tests[0]['majority_accuracy']:.2f}",
        _spread([test["published_protocol"]["f1"] for test in tests]),
        f"{published[0]:.2f}, {published[1]:.2f}" if published else "not in it",
        finding,
        f"{100 * tests[0]['words_without_vector'] / tests[0]['words']:.1f} %"
        if "words" in tests[0]
        else MISSING,
        f"{statistics.mean(minutes):.1f} + {typed[0]['vectors']['cpu_minutes']:.1f}"
        if minutes
        else MISSING,
    ]


def _typed(folder: Path, corpus: str) -> list[Value]:
    """The runs of a corpus that are done, by seed."""
    return [value for seed in SEEDS if (value := _read(folder / f"{corpus}-s{seed}.json"))]


def speed(results: Path) -> str:
    """Training on GENIA, beside what the authors' program took."""
    found = _read(results / "span-typer" / "genia-s1.json")
    head = ("GENIA, 600 updates", "minutes", f"times faster than {PAPER_SECONDS:,} s", "goal")
    clocks = (("of the processor", "cpu_minutes"), ("by the clock", "minutes"))
    if not found:
        return markdown(head, [[name, MISSING, MISSING, "100"] for name, _ in clocks])
    rows = [
        [name, f"{found[of]:.1f}", f"{PAPER_SECONDS / 60 / found[of]:.0f}", "100"]
        for name, of in clocks
    ]
    return markdown(head, rows)


def pictures(docs: Path) -> str:
    """Links to the sheets that were drawn."""
    drawn = [corpus for corpus in CORPORA if (docs / "span-typer" / f"{corpus}.png").is_file()]
    return ", ".join(f"[{corpus}](span-typer/{corpus}.png)" for corpus in drawn) or NOT_RUN


def _finding(rates: Value) -> str:
    return f"{100 * rates['f1']:.2f} ({100 * rates['precision']:.0f} / {100 * rates['recall']:.0f})"


def _spread(shares: Sequence[float], *, sign: str = "") -> str:
    return deviating([100 * share for share in shares], sign=sign)


def _read(path: Path) -> Value:
    value: Value = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return value

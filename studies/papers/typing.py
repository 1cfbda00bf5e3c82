"""Rows of *span-level-strategy*: typing accuracy, time and pictures."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from typing import Any, Final

from fascicle.training.experiments.results import read_result
from studies.common import RESULTS
from studies.papers.row import PaperRow
from studies.papers.rule import DRAWN, NOT_AT_HAND, Compared
from studies.papers.sources import between, deviation, proportion
from studies.span_typer.tables import PAPER_SECONDS, SEEDS

PAGE: Final = "span-typer.md#results"
PRINTED_SECONDS: Final = 46_777.8  # Table 2, GENIA
MARGIN: Final = 2.0  # points of accuracy
NO_SPLIT: Final = "the paper states no split"
OWN_SPLIT: Final = "a split of our own; the paper states none"
OTHER_TRAIN: Final = "taught with another train part; the paper states no split"
# -> name there, doubt, and more that is not as in the paper
CORPORA: Final[Mapping[str, tuple[str, str, str]]] = {
    "genia": ("GENIA", NO_SPLIT, "The official parts"),
    "litbank": ("Litbank", OWN_SPLIT, "Four fifths are train"),
    "nerel-ru": ("NEREL", NO_SPLIT, "The official parts"),
    "germeval14": ("GermEval14", NO_SPLIT, "The official parts"),
    "anercorp": ("ANERcorp", OWN_SPLIT, "Four fifths are train"),
    "harem": ("HAREM", OWN_SPLIT, "Four fifths are train"),
    "msra": (
        "MSRA",
        OTHER_TRAIN,
        "The official train part is not free; the paper prints 86.87, and its precision and F1 "
        "stand for 96.87",
    ),
}


def typing() -> list[PaperRow]:
    """The rows of the paper, in its order."""
    found = [_accuracy(corpus) for corpus in CORPORA]
    return [*found[:2], _cadec(), *found[2:], _time(), _pictures()]


def _runs(corpus: str) -> list[Mapping[str, Any]]:
    return [
        value
        for seed in SEEDS
        if (value := read_result(RESULTS / "span-typer", f"{corpus}-s{seed}"))
    ]


def _accuracy(corpus: str) -> PaperRow:
    what, doubt, remark = CORPORA[corpus]
    found, runs, more = [], _runs(corpus), ""
    if runs:
        tests = [run["test"]["typing"] for run in runs]
        points = [100 * test["accuracy"] for test in tests]
        here = statistics.mean(points)
        first = runs[0]
        given, asked = first["taught"]["mentions"], first["test"]["typing"]["mentions"]
        lost = 100 * first["test"]["words_without_vector"] / first["test"]["words"]
        more = (
            f"; {given:,} mentions of train and {asked:,} of test, and {lost:.0f} % of the "
            "words of these lack a vector"
        )
        if not _is_share(runs[0]["published"][0], asked):
            more += (
                "; no share of these mentions is the number of the paper, so its part is another"
            )
        sure = proportion(round(here / 100 * asked), asked)
        low, high = (
            math.hypot(sure[end] - sure["here"], between(points)) for end in ("low", "high")
        )
        found = [
            Compared(
                what="typing accuracy",
                paper=runs[0]["published"][0],
                unit="level",
                margin=MARGIN,
                doubt=doubt,
                seeds=len(runs),
                deviation=deviation(corpus),
                minutes={f"{corpus}/{at}": float(run["minutes"]) for at, run in enumerate(runs)},
                here=here,
                low=here - low,
                high=here + high,
            )
        ]
    return PaperRow(
        what=f"Table 2, {what}",
        found=tuple(found),
        remark=f"{remark}{more}.",
        table=PAGE,
        commands=("studies.span_typer.measure", f"recipes/papers/typing-{corpus}.toml"),
        results=("span-typer.tar.xz",),
    )


def _is_share(printed: float, mentions: int) -> bool:
    """Whether some count of right mentions gives a number of two decimals, rounded or cut."""
    near = round(printed / 100 * mentions)
    shares = [100 * right / mentions for right in (near - 1, near, near + 1)]
    return any(printed - 0.005 <= share < printed + 0.01 for share in shares)


def _cadec() -> PaperRow:
    return PaperRow(
        what="Table 2, CADEC",
        said=NOT_AT_HAND,
        remark="The corpus is licensed.",
        needs="`$FASCICLE_LICENSED/cadec/train.jsonl`, made from its folders `text` and `original`",
        table="paper-recipes.md#corpora-with-a-licence",
        commands=("recipes/papers/typing-cadec.toml",),
    )


def _time() -> PaperRow:
    runs = _runs("genia")
    found = [
        Compared(
            what="minutes of 600 updates on GENIA",
            paper=PRINTED_SECONDS / 60,
            here=runs[0]["minutes"],
            unit="level",
            margin=1.0,
            doubt="on another machine",
        )
    ]
    return PaperRow(
        what="Table 2, time",
        found=tuple(found) if runs else (),
        remark="Each distinct span is read once here; a note in the program of the paper has "
        f"{PAPER_SECONDS:,} s for "
        "600 updates, and the paper speaks of 600 epochs.",
        table=PAGE,
        commands=("studies.span_typer.measure",),
        results=("span-typer.tar.xz",),
    )


def _pictures() -> PaperRow:
    return PaperRow(
        what="Figures 3 to 6",
        said=DRAWN,
        remark="Loss, principal components, violins and volcano are drawn for each corpus at hand.",
        table=PAGE,
    )

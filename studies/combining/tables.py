"""Tables of combinations, from ``results/combining/CORPUS.json``, beside Table 1 of the paper,
and of its claims.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fascicle.evaluation.uncertainty.intervals import MEASURES
from fascicle.training.experiments.grid import Grid
from fascicle.training.experiments.results import read_result
from studies.bundling.study_tables import dev_of
from studies.tables.grids import MISSING, markdown, over_seeds

# *comparing-and-combining* Table 1: F1, precision, recall. Its GENIA has the split of genia-resplit
# and more mentions, its NCBI-disease is cut into sentences that lose gold: neither is comparable
# with the numbers beside it.
PAPER: Mapping[str, Mapping[str, str]] = {
    "NCBI-disease": {
        "SpanPred": "89.0 (88.1 / 89.9)",
        "SEQ": "88.7 (87.8 / 89.5)",
        "SeqCRF": "87.9 (86.2 / 89.6)",
        "SpanPred ∪ SEQ": "88.2 (84.6 / 92.2)",
        "SpanPred x SEQ": "89.6 (91.9 / 87.4)",
        "SpanPred ∪ SEQ ∪ SeqCRF": "87.1 (81.4 / 93.8)",
        "SpanPred x SEQ x SeqCRF": "89.5 (88.8 / 90.1)",
        "Meta(SpanPred ∪ SEQ)": "89.1 (86.3 / 92.2)",
    },
    "GENIA": {
        "SpanPred": "77.1 (77.0 / 77.1)",
        "SEQ": "76.1 (79.8 / 72.7)",
        "SeqCRF": "75.7 (79.7 / 72.1)",
        "SpanPred ∪ SEQ": "77.2 (73.5 / 81.4)",
        "SpanPred x SEQ": "75.8 (85.0 / 68.5)",
        "SpanPred ∪ SEQ ∪ SeqCRF": "76.4 (71.3 / 82.3)",
        "SpanPred x SEQ x SeqCRF": "77.1 (81.9 / 72.9)",
        "Meta(SpanPred ∪ SEQ)": "78.3 (77.4 / 79.2)",
    },
    "LivingNER": {
        "SpanPred": "95.7 (95.4 / 96.0)",
        "SEQ": "95.0 (94.7 / 95.3)",
        "SeqCRF": "95.3 (95.6 / 95.0)",
        "SpanPred ∪ SEQ": "95.2 (93.4 / 97.1)",
        "SpanPred x SEQ": "95.5 (96.9 / 94.2)",
        "SpanPred ∪ SEQ ∪ SeqCRF": "94.9 (92.5 / 97.4)",
        "SpanPred x SEQ x SeqCRF": "95.7 (96.1 / 95.4)",
        "Meta(SpanPred ∪ SEQ)": "95.7 (94.6 / 96.9)",
    },
}
CORPORA: Mapping[str, str] = {
    "ncbi-disease": "NCBI-disease",
    "livingner-resplit": "",
    "genia-resplit": "GENIA",
    "genia-events": "GENIA",
    "bc5cdr": "",
}
SAID = ("precision", "recall", "F1")
LAST = ("Meta(SpanPred ∪ SEQ ∪ SeqCRF)", "chosen on dev")


def combining(corpus: str, results: Path) -> str:
    """The rows of one corpus: F1 with its interval, precision, recall, difference to the best
    single system.

    Args:
        corpus: its name in the grid.
        results: the folder of results files.
    """
    rows = read_result(results / "combining", corpus).get("rows", {})
    paper = PAPER.get(CORPORA.get(corpus, ""), {})
    names = dict.fromkeys((*PAPER["GENIA"], *LAST, *rows))
    head = [
        "system",
        "precision",
        "recall",
        "F1",
        "95 % interval",
        "F1 over the best single system",
    ]
    if paper:
        head.append(f"the paper's {CORPORA[corpus]}: F1 (P / R)")
    body = []
    for name in names:
        cells = [MISSING] * 5
        if name in rows:
            micro, span = rows[name]["micro"], rows[name]["f1_interval"]
            cells = [f"{100 * micro[key]:.2f}" for key in ("precision", "recall", "f1")]
            cells.append(f"{100 * span['low']:.1f} to {100 * span['high']:.1f}")
            cells.append(_gap(rows[name]["over_single"]))
        body.append([name, *cells, *([paper.get(name, "")] if paper else [])])
    return markdown(head, body)


def chosen(results: Path) -> str:
    """What was chosen on dev of each corpus, before test was opened.

    Args:
        results: the folder of results files.
    """
    body = []
    for corpus in CORPORA:
        said = read_result(results / "combining", f"{corpus}.choice")
        if not said:
            body.append([corpus, *[MISSING] * 6])
            continue
        alone, together = (
            said["dev"]["singles"][said["single"]]["micro"]["f1"],
            said["dev"]["combination"]["f1"],
        )
        members = ", ".join(said["members"])
        numbers = [
            f"{100 * alone:.2f}",
            members,
            said["rule"]["name"],
            f"{100 * together:.2f}",
            str(said["tried"]),
        ]
        body.append([corpus, said["single"], *numbers])
    head = [
        "corpus",
        "best single system",
        "its F1 on dev",
        "chosen members",
        "rule",
        "their F1 on dev",
        "tried",
    ]
    return markdown(head, body)


def control(results: Path) -> str:
    """What was chosen on dev, against a vote of as many seeds of the best single system, on test.

    Args:
        results: the folder of results files.
    """
    body = []
    for corpus in CORPORA:
        found = read_result(results / "combining", corpus).get("control")
        body.append([corpus, found["name"], _gap(found)] if found else [corpus, MISSING, MISSING])
    return markdown(
        ["corpus", "control", "F1 of what was chosen on dev, less that of the control"], body
    )


def filters(results: Path) -> str:
    """What each filter gains over its member that was best on dev.

    Args:
        results: the folder of results files.
    """
    body = []
    for corpus in CORPORA:
        result = read_result(results / "combining", corpus)
        found = result.get("filters", {})
        for name, gains in found.items():
            kinds = ("tn", "fp"), ("fn", "tp")  # incorrect, correct: rejected, kept
            shares = ", ".join(_share(gains["held_out"], *kind) for kind in kinds)
            rejected = _rejected(result["rows"], name)
            body.append(
                [
                    corpus,
                    name,
                    gains["over"],
                    *(_gap(gains[of]) for of in MEASURES),
                    shares,
                    rejected,
                ]
            )
        if not found:
            body.append([corpus, *[MISSING] * 7])
    rejects = (
        "held out, from one half: incorrect, correct",
        "of the union on test, from its threshold: the same",
    )
    head = ["corpus", "filter", "its best member on dev", *(f"{of}, gained" for of in SAID)]
    return markdown([*head, *(f"it rejects, {where}" for where in rejects)], body)


def _share(counts: Mapping[str, int], part: str, rest: str) -> str:
    whole = counts[part] + counts[rest]
    return f"{100 * counts[part] / whole:.0f} % of {whole:,}"


def _rejected(rows: Mapping[str, Mapping[str, Mapping[str, int]]], name: str) -> str:
    """Which shares of what is false and of what is right in its union a filter leaves out."""
    kept, given = (rows[one]["micro"] for one in (name, name.partition("(")[2].partition(")")[0]))
    false = 1 - (kept["predicted"] - kept["tp"]) / (given["predicted"] - given["tp"])
    return f"{100 * false:.0f} %, {100 * (1 - kept['tp'] / given['tp']):.0f} %"


def _gap(difference: Mapping[str, float]) -> str:
    """A difference with its interval, in points."""
    estimate, low, high = (100 * difference[key] for key in ("estimate", "low", "high"))
    return f"{estimate:+.2f} ({low:+.2f} to {high:+.2f})"


CLAIMS = (  # what is changed, its variant, the variant without it, the systems
    ("special tokens in the loss", "specials", "", ("spanpred",)),
    ("special tokens in the loss, tags on pieces", "piece-specials", "piece", ("softmax",)),
    ("Adam", "adam", "", ("softmax", "spanpred")),
    ("Adafactor, 1e-4", "adafactor-1e-4", "", ("softmax", "spanpred")),
    ("Adafactor, 2e-4", "adafactor-2e-4", "", ("softmax", "spanpred")),
    ("Adafactor, 4e-4", "adafactor-4e-4", "", ("softmax", "spanpred")),
)
NAMES = {"softmax": "SEQ", "spanpred": "SpanPred"}


def claims(grid: Grid) -> str:
    """What the paper says and does not test: F1 on dev with and without it, and the difference
    on the same seeds.
    """
    dev, body = dev_of(grid), []
    for corpus in dict.fromkeys(run.corpus for run in grid.runs):
        for what, variant, base, systems in CLAIMS:
            for system in systems:
                with_it, without = (
                    dev.f1(corpus, system, variant, ""),
                    dev.f1(corpus, system, base, ""),
                )
                if not (with_it or without):
                    continue  # a corpus of the gpu tier
                gains = {seed: with_it[seed] - without[seed] for seed in with_it if seed in without}
                planned = len(
                    dev.seeds(corpus, system, variant, "") & dev.seeds(corpus, system, base, "")
                )
                cells = [dev.cell(corpus, system, base, ""), dev.cell(corpus, system, variant, "")]
                body.append(
                    [corpus, NAMES[system], what, *cells, over_seeds(gains, planned, sign="+")]
                )
    return markdown(
        ["corpus", "system", "changed", "plain", "changed so", "difference, same seeds"], body
    )

"""Rows of *tinybern2-kazu*: its student, its labels, its counts and its throughput."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Final

from fascicle.training.experiments.results import read_result
from studies.common import RESULTS
from studies.papers.row import PaperRow
from studies.papers.rule import NOT_AT_HAND, TESTED, Compared, Z
from studies.papers.sources import deviation, mean_of, minutes, proportion
from studies.six.corpora import TABLE_2, ScoredRow

COLUMNS: Final = ("BERN2", "WS-BERN2", "TinyBERN2")
SYSTEMS: Final[Mapping[str, tuple[str, ...]]] = {  # names in six-rows.json, one for each seed
    "BERN2": ("paper-teacher",),
    "WS-BERN2": ("paper-ws",),
    "TinyBERN2": ("paper-student-1", "paper-student-2", "paper-student-3"),
}
RUNS: Final[Mapping[str, tuple[str, ...]]] = {  # of six-paper.toml
    "BERN2": ("gold-mpnet-s1",),
    "WS-BERN2": ("weak-ws-s1",),
    "TinyBERN2": ("weaker-student-s1", "weaker-student-s2", "weaker-student-s3"),
}
DIAL: Final = ("4x312", "paper-4x312")  # names in six-dial.json of the shape of the paper
PUBLISHED: Final[Mapping[str, tuple[float, float, float]]] = {  # Table 2, F1 of the columns
    "bc2gm GENE": (81.61, 82.54, 80.08),
    "jnlpba protein": (69.70, 67.95, 66.83),
    "cellfinder GeneProtein": (57.62, 74.98, 69.17),
    "ncbi-disease Disease": (83.55, 87.82, 83.92),
    "bc5cdr Disease": (70.41, 72.40, 71.18),
    "bc5cdr Chemical": (90.32, 90.94, 90.36),
    "jnlpba cell_line": (60.35, 45.62, 46.27),
    "cellfinder CellLine": (13.78, 16.48, 5.59),
    "jnlpba cell_type": (64.01, 65.33, 65.22),
    "cellfinder CellType": (39.50, 38.53, 33.89),
    "linnaeus Species": (90.33, 56.99, 55.56),
    "cellfinder Species": (46.21, 44.27, 48.14),
}
MARGIN: Final = 2.0
RARE: Final = ("jnlpba cell_line", "jnlpba cell_type", "linnaeus *")  # of few mentions in weak labels, §5.1
RATES: Final = {"1": ("one at a time", 57.43), "32": ("32 at once", 267.40)}  # sentences a second on a processor
PUBLISHED_SHARE: Final = 100 * 466 / 102_569  # of mentions that touch one of their type, §5.2
BIOMEDICAL: Final = [
    "bionlp11id",
    "nerel-bio",
    "craft",
    "genia",
    "jnlpba",
    "cellfinder",
    "drugprot",
    "bc2gm",
    "bionlp13gro",
    "nlm-chem",
    "dimb-re",
    "linnaeus",
    "livingner-es",
    "bionlp13pc",
    "ncbi-disease",
    "gnormplus-bc2gn",
    "bc5cdr",
    "ct-ebm-sp-es",
    "biored",
    "pharmaconer-es",
    "nlm-gene",
    "bioid",
    "bionlp13ge",
    "bionlp13cg",
    "chilean-waiting-list-es",
]


def tinybern2() -> list[PaperRow]:
    """The rows of the paper, in its order."""
    return [
        PaperRow(
            what="Table 1, the weakly labelled text",
            said=NOT_AT_HAND,
            remark="A teacher of our own labels raw text instead.",
            needs="the labels of BERN2 on PubMed, which are not public",
            table="small-models.md#teachers",
            commands=("studies/grids/teachers.toml", "recipes/papers/tinybern2-teacher.toml"),
            results=("teachers.tar.xz",),
        ),
        PaperRow(
            what="Table 2, BERN2",
            said=NOT_AT_HAND,
            remark="The recipe of a teacher of our own takes its place; BC4CHEMD and GELLUS are not among the data.",
            needs="BERN2 with its models",
            table="paper-recipes.md#tinybern2",
            commands=("recipes/papers/tinybern2-teacher.toml",),
        ),
        _teacher(),
        _weak(),
        _distilled(),
        _student(),
        _price(),
        _throughput(),
        *_labels(),
        PaperRow(
            what="§4.2.1, the evaluation",
            said=TESTED,
            remark=_modes(),
            table="small-models.md#six-types",
            commands=("studies.six.rows",),
            results=("six-rows.json",),
        ),
        _touching(),
        PaperRow(
            what="§5.3, distinct concepts in PubMed and PubMed Central",
            said=NOT_AT_HAND,
            remark="The paper counts concepts of all abstracts and articles.",
            needs="the files of PubMed and of PubMed Central, which `fascicle run` reads",
        ),
    ]


def _scored(name: str, row: ScoredRow) -> tuple[float, float] | None:
    """F1 of a system as seqeval counts, and half the width of the interval of its strict one."""
    systems = read_result(RESULTS, "six-rows").get("systems", {})
    found = systems.get(name, {}).get("rows", {}).get(row.name, {}).get("given" if row.given else "raw")
    if not found:
        return None
    ends = found["strict"]["f1_interval"]
    return 100 * float(found["seqeval"]["f1"]), 50 * (ends["high"] - ends["low"])


def _mean(name: str, of: Sequence[ScoredRow]) -> tuple[float, float] | None:
    """The mean over some rows and the seeds of a system, and half its width; nothing if a row was not scored.

    The width is that of the texts, as wide as that of one seed, and that between seeds where there are several.
    """
    by_seed = [[found for row in of if (found := _scored(seed, row))] for seed in SYSTEMS[name]]
    scored = [seed for seed in by_seed if len(seed) == len(of)]
    if not scored:
        return None
    means = [statistics.mean(f1 for f1, _ in seed) for seed in scored]
    texts = statistics.mean(math.hypot(*(half for _, half in seed)) / len(of) for seed in scored)
    between = Z * statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 1 else 0.0
    return statistics.mean(means), math.hypot(texts, between)


def _seeds(name: str, of: Sequence[ScoredRow]) -> int:
    return sum(all(_scored(seed, row) for row in of) for seed in SYSTEMS[name])


def _trained(*names: str) -> dict[str, float]:
    """Minutes of training of some systems."""
    stored = [read_result(RESULTS / "six-paper", run) for name in names for run in RUNS[name]]
    return minutes([run for run in stored if run])


def _printed(name: str, of: Sequence[ScoredRow]) -> float:
    """The mean in the column of a system of the paper."""
    return statistics.mean(PUBLISHED[row.name][COLUMNS.index(name)] for row in of)


def _level(what: str, name: str, *, doubt: str) -> tuple[Compared, ...]:
    """The mean of one of our systems over all rows, as seqeval counts, beside that of the paper."""
    ours = _mean(name, TABLE_2)
    if not ours:
        return ()
    return (
        Compared(
            what=f"mean F1 of {what} over twelve rows",
            paper=_printed(name, TABLE_2),
            here=ours[0],
            low=ours[0] - ours[1],
            high=ours[0] + ours[1],
            doubt=doubt,
            unit="level",
            margin=MARGIN,
            seeds=_seeds(name, TABLE_2),
            deviation=deviation(""),
            minutes=_trained(name),
        ),
    )


def _less(what: str, *, first: str, second: str, of: Sequence[ScoredRow], doubt: str = "") -> tuple[Compared, ...]:
    """The mean of one of our systems less that of another, beside those of the paper."""
    ours, theirs = _mean(first, of), _mean(second, of)
    if not ours or not theirs:
        return ()
    printed = [_printed(name, of) for name in (first, second)]
    return (
        Compared(
            what=what,
            paper=round(printed[0] - printed[1], 2),
            here=ours[0] - theirs[0],
            low=ours[0] - theirs[0] - math.hypot(ours[1], theirs[1]),
            high=ours[0] - theirs[0] + math.hypot(ours[1], theirs[1]),
            doubt=doubt,
            seeds=min(_seeds(first, of), _seeds(second, of)),
            deviation=deviation(""),
            minutes=_trained(first, second),
        ),
    )


def _weak() -> PaperRow:
    unseen = [row for row in TABLE_2 if row.unseen]
    return PaperRow(
        what="Table 2, WS-BERN2 beside BERN2 on unseen corpora",
        found=_less("weakly taught model less its teacher", first="WS-BERN2", second="BERN2", of=unseen),
        remark="The mean of seven rows whose corpora taught nobody; labels of our own teacher, of 8 million "
        "characters.",
        table="small-models.md#students-under-the-protocol-of-the-paper",
        commands=("studies/grids/six-paper.toml", "recipes/papers/tinybern2-ws.toml"),
        results=("six-rows.json", "six-paper.tar.xz"),
    )


def _distilled() -> PaperRow:
    return PaperRow(
        what="Table 2, TinyBERN2 beside WS-BERN2",
        found=_less("student less the model that it learns from", first="TinyBERN2", second="WS-BERN2", of=TABLE_2),
        remark="The mean of twelve rows; labels of our own chain of models, of 8 million characters.",
        table="small-models.md#students-under-the-protocol-of-the-paper",
        commands=("studies/grids/six-paper.toml", "recipes/papers/tinybern2-student.toml"),
        results=("six-rows.json", "six-paper.tar.xz"),
    )


def _teacher() -> PaperRow:
    return PaperRow(
        what="Table 2, a teacher of ours in the place of BERN2",
        found=_level("the teacher", "BERN2", doubt="of another encoder, and taught by other corpora"),
        remark="all-mpnet-base-v2, 12 layers, learnt from the corpora at hand that taught BERN2.",
        table="small-models.md#students-under-the-protocol-of-the-paper",
        commands=("studies/grids/six-paper.toml", "recipes/papers/tinybern2-teacher.toml"),
        results=("six-rows.json", "six-paper.tar.xz"),
    )


def _student() -> PaperRow:
    return PaperRow(
        what="Table 2, the student of the paper and ours",
        found=_level("the student", "TinyBERN2", doubt="taught with other labels of less text"),
        remark="4 layers and 14 million parameters in both; ours, of 312 numbers, has another teacher, and read weak "
        "labels of 8 million characters where the paper has 439 million words.",
        table="small-models.md#students-under-the-protocol-of-the-paper",
        commands=("studies/grids/six-paper.toml", "recipes/papers/tinybern2-student.toml"),
        results=("six-rows.json", "six-paper.tar.xz"),
    )


def _price() -> PaperRow:
    return PaperRow(
        what="Table 2, TinyBERN2 beside BERN2",
        found=_less("student less the teacher of 12 layers", first="TinyBERN2", second="BERN2", of=TABLE_2),
        remark="The mean of twelve rows; the price of a small model, of our own chain.",
        table="small-models.md#students-under-the-protocol-of-the-paper",
        commands=("studies/grids/six-paper.toml",),
        results=("six-rows.json", "six-paper.tar.xz"),
    )


def _throughput() -> PaperRow:
    models = read_result(RESULTS, "six-dial")
    models = models.get("models", {}) | models.get("earlier", {}) if models else {}
    known = [models[name] for name in DIAL if name in models]
    rates: Mapping[str, float] = known[0]["sentences_per_second"] if known else {}
    found = [
        Compared(
            what=f"sentences a second, {how}",
            paper=paper,
            here=rates[size],
            unit="level",
            margin=0.1 * paper,
            doubt="on another processor",
        )
        for size, (how, paper) in RATES.items()
        if size in rates
    ]
    return PaperRow(
        what="Table 2, throughput",
        found=tuple(found),
        remark="One core of another processor, and 8 bits; no GPU was measured.",
        table="small-models.md#six-types",
        commands=("studies.six.dial",),
        results=("six-dial.json",),
    )


def _modes() -> str:
    """How far F1 of seqeval in its default mode lies from strict F1, over all rows of all systems."""
    systems = read_result(RESULTS, "six-rows").get("systems", {})
    scores = [form for of in systems.values() for row in of["rows"].values() for form in row.values()]
    apart = [100 * abs(one["seqeval"]["f1"] - one["strict"]["micro"]["f1"]) for one in scores]
    told = f": {statistics.mean(apart):.2f} points in the mean of {len(apart)} scores, at most {max(apart):.2f}"
    return (
        f"The paper does not name the mode of seqeval; its default mode lies beside strict F1{told if apart else ''}."
    )


def _arms(stored: Mapping[str, Any], arm: str) -> dict[str, Any]:
    """Mean over rows and seeds of an arm less soft BIO, with the width of the first seed and that between seeds."""
    held = [row for row in stored.values() if "less_first" in row.get(arm, {})]
    runs = [read_result(RESULTS / "labels", f"sample-{name}-s{seed}") for name in (arm, "soft-bio") for seed in (1, 2)]
    if not held:
        return {}
    by_seed = [
        statistics.mean(100 * (mine["micro"]["f1"] - base["micro"]["f1"]) for mine, base in pairs)
        for pairs in zip(*(zip(row[arm]["seeds"], row["soft-bio"]["seeds"], strict=True) for row in held), strict=True)
    ]
    sure = mean_of([row[arm]["less_first"] for row in held])
    between = Z * statistics.stdev(by_seed) / len(by_seed) ** 0.5 if len(by_seed) > 1 else 0.0
    half, here = math.hypot((sure["high"] - sure["low"]) / 2, between), statistics.mean(by_seed)
    spent = minutes(run for run in runs if run)
    return {"here": here, "low": here - half, "high": here + half, "seeds": len(by_seed), "minutes": spent}


def _labels() -> list[PaperRow]:
    stored = read_result(RESULTS, "labels-rows-dev").get("rows", {})
    hard = [
        (
            f"hard less soft labels, {which}",
            paper,
            _arms({k: v for k, v in stored.items() if (k in RARE) == rare}, "hard-bio"),
        )
        for which, paper, rare in (("rare types", -0.89, True), ("the others", -0.14, False))
    ]
    parts = (
        (
            "Table 3, hard or soft labels",
            [("hard less soft labels, both BIO", 60.10 - 60.62, _arms(stored, "hard-bio"))],
        ),
        ("§5.1, soft labels and rare types", hard),
        ("Table 3, BIO or IO", [("IO less BIO, both soft", 60.96 - 60.62, _arms(stored, "soft-io"))]),
    )
    return [
        PaperRow(
            what=what,
            found=tuple(
                Compared(what=told, paper=round(paper, 2), elsewhere=True, corpus="dev parts", **found)
                for told, paper, found in arms
                if found
            ),
            remark="Strict F1 of small students on dev, without fitted thresholds, over eight rows, of which cell "
            "lines are 0 in every arm; the paper has a model of 12 layers and fourteen rows of test.",
            table="small-models.md#hard-and-soft-labels",
            commands=("studies/grids/labels.toml",),
            results=("labels-rows-dev.json", "labels.tar.xz"),
        )
        for what, arms in parts
    ]


def _touching() -> PaperRow:
    """A median of corpora, with the interval of a median; and how many corpora have more than the paper."""
    corpora = read_result(RESULTS, "touching").get("corpora", {})
    shares = sorted(100 * corpora[n]["touching"] / corpora[n]["mentions"] for n in BIOMEDICAL if n in corpora)
    found = []
    if shares:
        above = sum(share > PUBLISHED_SHARE for share in shares)
        edge = proportion(len(shares) // 2, len(shares))  # ranks that hold the median in 95 % of samples
        low, high = (shares[min(len(shares) - 1, int(edge[end] * len(shares) / 100))] for end in ("low", "high"))
        found = [
            Compared(
                what=f"median share of mentions that touch one of their type ({above} of {len(shares)} corpora have "
                "more)",
                paper=PUBLISHED_SHARE,
                here=statistics.median(shares),
                low=low,
                high=high,
                unit="level",
                margin=0.1,
                doubt="of other texts",
            )
        ]
    return PaperRow(
        what="§5.2, mentions that touch",
        found=tuple(found),
        remark="In per cent of the gold of the biomedical corpora at hand; the paper counts predictions of BERN2, and "
        "also prints 2.7 % for spans that start right after one of their class.",
        table="families-tables.md#mentions-that-touch-or-overlap",
        commands=("studies.multilabel.touching",),
        results=("touching.json",),
    )

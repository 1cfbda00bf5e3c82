"""Rows of *tinybern2-kazu*: its student, its labels, its counts and its throughput."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from fascicle.training.experiments.results import read_result
from studies.common import RESULTS
from studies.papers.row import PaperRow
from studies.papers.rule import LEVEL, NOT_AT_HAND, SHARE, TESTED, Compared
from studies.papers.settling import DEV_PARTS
from studies.papers.sources import (
    between,
    deviation,
    half_of_mean,
    minutes,
    other_machine,
    proportion,
)
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
OTHER_LABELS: Final = "taught with other labels of less text"
EIGHT_BITS: Final = "two of our three students were scored with weights of 8 bits"
COUNTED: Final = "F1 as seqeval counts, with the intervals of strict F1"
CUT: Final = "CellFinder is in sentences that we cut"
# of few mentions in weak labels, §5.1
RARE: Final = ("jnlpba cell_line", "jnlpba cell_type", "linnaeus *")
# sentences a second on a processor
RATES: Final = {"1": ("one at a time", 57.43), "32": ("32 at once", 267.40)}
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
            needs="the labels of BERN2 on PubMed, version 1.0 of February 2022, which its page offered",
            table="small-models.md#teachers",
            commands=("studies/grids/teachers.toml", "recipes/papers/tinybern2-teacher.toml"),
            results=("teachers.tar.xz",),
        ),
        PaperRow(
            what="Table 2, BERN2",
            said=NOT_AT_HAND,
            remark="The recipe of a teacher of our own takes its place; BC4CHEMD and GELLUS are "
            "not among the data.",
            needs="BERN2 with its models",
            table="paper-recipes.md#tinybern2",
            commands=("recipes/papers/tinybern2-teacher.toml",),
        ),
        _teacher(),
        *_weak(),
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


@cache
def _systems() -> Mapping[str, Any]:
    """The scores of all systems; their file is large, and read once."""
    return read_result(RESULTS, "six-rows").get("systems", {})


def _scored(name: str, row: ScoredRow) -> tuple[float, float] | None:
    """F1 of a system as seqeval counts, and half the width of the interval of its strict one."""
    systems = _systems()
    found = (
        systems.get(name, {}).get("rows", {}).get(row.name, {}).get("given" if row.given else "raw")
    )
    if not found:
        return None
    ends = found["strict"]["f1_interval"]
    return 100 * float(found["seqeval"]["f1"]), 50 * (ends["high"] - ends["low"])


def _mean(name: str, of: Sequence[ScoredRow]) -> tuple[float, float] | None:
    """The mean over some rows and the seeds of a system, and half its width; nothing if a row was
    not scored.

    The width is that of the texts, as wide as that of one seed, and that between seeds where there
    are several.
    """
    by_seed = [
        {row.name: found for row in of if (found := _scored(seed, row))} for seed in SYSTEMS[name]
    ]
    scored = [seed for seed in by_seed if len(seed) == len(of)]
    if not scored:
        return None
    means = [statistics.mean(f1 for f1, _ in seed.values()) for seed in scored]
    texts = statistics.mean(
        half_of_mean({row: half for row, (_, half) in seed.items()}) for seed in scored
    )
    return statistics.mean(means), math.hypot(texts, between(means))


def _seeds(name: str, of: Sequence[ScoredRow]) -> int:
    return sum(all(_scored(seed, row) for row in of) for seed in SYSTEMS[name])


def _stored(name: str) -> list[dict[str, Any]]:
    """The runs of a system."""
    return [found for run in RUNS[name] if (found := read_result(RESULTS / "six-paper", run))]


def _trained(*names: str) -> dict[str, float]:
    """Minutes of training of some systems."""
    return minutes(run for name in names for run in _stored(name))


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


def _less(
    what: str, *, first: str, second: str, of: Sequence[ScoredRow], doubt: str = ""
) -> tuple[Compared, ...]:
    """The mean of one of our systems less that of another, beside those of the paper.

    If one row carries the mean of the paper, this is a doubt, and the mean without that row stands
    beside it.
    """
    row = carrying({row.name: _printed(first, [row]) - _printed(second, [row]) for row in of})
    carried = f"{row} carries the mean of the paper" if row else ""
    found = _difference(what, first, second, of, doubt, carried)
    if row:
        rest = [one for one in of if one.name != row]
        found += _difference(f"{what}, without {row}", first, second, rest, doubt)
    return found


def carrying(printed: Mapping[str, float]) -> str:
    """The row of a mean without which the paper has less than half of it, another sign, or no
    difference; or none.

    Args:
        printed: name of a row -> difference in the paper.
    """
    whole = statistics.mean(printed.values())
    if len(printed) == 1 or abs(whole) <= LEVEL:
        return ""
    row = max(printed, key=lambda name: math.copysign(1.0, whole) * printed[name])
    rest = statistics.mean(points for name, points in printed.items() if name != row)
    return row if math.copysign(1.0, whole) * rest < max(SHARE * abs(whole), LEVEL) else ""


def _difference(
    what: str, first: str, second: str, of: Sequence[ScoredRow], *doubts: str
) -> tuple[Compared, ...]:
    ours, theirs = _mean(first, of), _mean(second, of)
    if not ours or not theirs:
        return ()
    half = math.hypot(ours[1], theirs[1])
    machine = other_machine(zip(_stored(first), _stored(second), strict=False))
    return (
        Compared(
            what=what,
            paper=round(_printed(first, of) - _printed(second, of), 2),
            here=ours[0] - theirs[0],
            low=ours[0] - theirs[0] - half,
            high=ours[0] - theirs[0] + half,
            doubt=", ".join(filter(None, (*doubts, machine))),
            seeds=min(_seeds(first, of), _seeds(second, of)),
            deviation=deviation(""),
            minutes=_trained(first, second),
        ),
    )


def _agreeing(first: str, second: str, of: Sequence[ScoredRow]) -> str:
    """In how many rows the difference has the sign of the paper."""
    same = [
        (ours[0] - theirs[0]) * (_printed(first, [row]) - _printed(second, [row])) > 0
        for row in of
        if (ours := _mean(first, [row])) and (theirs := _mean(second, [row]))
    ]
    return f"{sum(same)} of {len(same)} rows have the sign of the paper"


def _beside(what: str, found: Sequence[Compared], remark: str, *recipes: str) -> PaperRow:
    """A row of Table 2 over means of F1."""
    return PaperRow(
        what=f"Table 2, {what}",
        found=tuple(found),
        remark=f"{remark}; {COUNTED}.",
        table="small-models.md#students-under-the-protocol-of-the-paper",
        commands=("studies/grids/six-paper.toml", *recipes),
        results=("six-rows.json", "six-paper.tar.xz"),
    )


def _weak() -> list[PaperRow]:
    """The weakly taught model beside its teacher: the claim of the paper, its other half, and
    all rows.
    """
    first, second, told = "WS-BERN2", "BERN2", "weakly taught model less its teacher"
    unseen = [row for row in TABLE_2 if row.unseen]
    large = [row for row in TABLE_2 if not row.unseen and row.row.type in ("Gene", "Disease")]
    recipe = "recipes/papers/tinybern2-ws.toml"
    return [
        _beside(
            "WS-BERN2 beside BERN2 on unseen corpora",
            _less(told, first=first, second=second, of=unseen, doubt=OTHER_LABELS),
            "The mean of seven rows whose corpora taught nobody the type; "
            f"{_agreeing(first, second, unseen)}; {CUT}",
            recipe,
        ),
        _beside(
            "WS-BERN2 beside BERN2 on corpora of types with more data",
            [
                one
                for row in large
                for one in _less(
                    f"{row.name}, {told}", first=first, second=second, of=[row], doubt=OTHER_LABELS
                )
            ],
            "The paper calls both analogous for genes, diseases and chemicals, whose corpus is "
            "not at hand",
            recipe,
        ),
        _beside(
            "WS-BERN2 beside BERN2 on all rows",
            _less(told, first=first, second=second, of=TABLE_2, doubt=OTHER_LABELS),
            f"The mean of twelve rows; {_agreeing(first, second, TABLE_2)}; {CUT}",
            recipe,
        ),
    ]


def _distilled() -> PaperRow:
    first, second = "TinyBERN2", "WS-BERN2"
    return _beside(
        "TinyBERN2 beside WS-BERN2",
        _less(
            "student less the model that it learns from",
            first=first,
            second=second,
            of=TABLE_2,
            doubt=OTHER_LABELS,
        ),
        f"The mean of twelve rows; {_agreeing(first, second, TABLE_2)}; {EIGHT_BITS}; {CUT}",
        "recipes/papers/tinybern2-student.toml",
    )


def _teacher() -> PaperRow:
    return _beside(
        "a teacher of ours in the place of BERN2",
        _level("the teacher", "BERN2", doubt="of another encoder, and taught by other corpora"),
        "all-mpnet-base-v2, 12 layers where BERN2 has 24, learnt from the corpora at hand that "
        f"taught BERN2; {CUT}",
        "recipes/papers/tinybern2-teacher.toml",
    )


def _student() -> PaperRow:
    return _beside(
        "the student of the paper and ours",
        _level("the student", "TinyBERN2", doubt=OTHER_LABELS),
        "4 layers and 14 million parameters in both; ours, of 312 numbers, has another teacher, "
        "and read weak labels "
        f"of 8 million characters where the paper has 439 million words; {EIGHT_BITS}; {CUT}",
        "recipes/papers/tinybern2-student.toml",
    )


def _price() -> PaperRow:
    first, second, told = (
        "TinyBERN2",
        "BERN2",
        "student less the teacher, of 24 layers there and 12 here",
    )
    unseen = [row for row in TABLE_2 if row.unseen]
    return _beside(
        "TinyBERN2 beside BERN2",
        (
            *_less(
                told,
                first=first,
                second=second,
                of=TABLE_2,
                doubt=f"another teacher, {OTHER_LABELS}",
            ),
            *_less(
                f"{told}, unseen rows",
                first=first,
                second=second,
                of=unseen,
                doubt=f"another teacher, {OTHER_LABELS}",
            ),
        ),
        "The mean of twelve rows, and that of the seven whose corpora taught nobody the type; "
        "the text of the "
        f"paper does not compare the two; {_agreeing(first, second, TABLE_2)}; {EIGHT_BITS}; {CUT}",
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
        remark="One core of another processor, 8 bits and sentences of BC5CDR, where the paper "
        "has those of BC4CHEMD; "
        "the rates of its GPU were not measured here.",
        table="small-models.md#six-types",
        commands=("studies.six.dial",),
        results=("six-dial.json",),
    )


def _modes() -> str:
    """How far F1 of seqeval in its default mode lies from strict F1, over all rows of all
    systems.
    """
    systems = _systems()
    scores = [
        form for of in systems.values() for row in of["rows"].values() for form in row.values()
    ]
    apart = [100 * abs(one["seqeval"]["f1"] - one["strict"]["micro"]["f1"]) for one in scores]
    told = (
        f": {statistics.mean(apart):.2f} points in the mean of {len(apart)} scores, at most "
        f"{max(apart):.2f}"
    )
    return (
        "The paper does not name the mode of seqeval; its default mode lies beside strict "
        f"F1{told if apart else ''}."
    )


def _arms(stored: Mapping[str, Any], arm: str) -> dict[str, Any]:
    """Mean over rows and seeds of an arm less soft BIO, with the width of the first seed and
    that between seeds.
    """
    held = {name: row for name, row in stored.items() if "less_first" in row.get(arm, {})}
    runs = [
        read_result(RESULTS / "labels", f"sample-{name}-s{seed}")
        for name in (arm, "soft-bio")
        for seed in (1, 2)
    ]
    if not held:
        return {}
    by_seed = [
        statistics.mean(100 * (mine["micro"]["f1"] - base["micro"]["f1"]) for mine, base in pairs)
        for pairs in zip(
            *(
                zip(row[arm]["seeds"], row["soft-bio"]["seeds"], strict=True)
                for row in held.values()
            ),
            strict=True,
        )
    ]
    ends = {name: row[arm]["less_first"] for name, row in held.items()}
    texts = half_of_mean({name: 50 * (one["high"] - one["low"]) for name, one in ends.items()})
    half, here = math.hypot(texts, between(by_seed)), statistics.mean(by_seed)
    spent = minutes(run for run in runs if run)
    return {
        "here": here,
        "low": here - half,
        "high": here + half,
        "seeds": len(by_seed),
        "minutes": spent,
    }


def _improved(stored: Mapping[str, Any]) -> str:
    """In how many rows IO is above BIO in the mean of the seeds."""
    means = [
        [
            statistics.mean(s["micro"]["f1"] for s in row[arm]["seeds"])
            for arm in ("soft-io", "soft-bio")
        ]
        for row in stored.values()
        if "soft-io" in row
    ]
    above = sum(ours > theirs for ours, theirs in means)
    return (
        "; the paper says that IO improves 11 of 14 rows, and its table has 10 and a tie; "
        f"here {above} of {len(means)}"
    )


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
        (
            "Table 3, BIO or IO",
            [("IO less BIO, both soft", 60.96 - 60.62, _arms(stored, "soft-io"))],
        ),
    )
    return [
        PaperRow(
            what=what,
            found=tuple(
                Compared(
                    what=told, paper=round(paper, 2), elsewhere=True, corpus=DEV_PARTS, **found
                )
                for told, paper, found in arms
                if found
            ),
            remark="Strict F1 of small students on dev, without fitted thresholds, over eight "
            "rows, of which cell "
            "lines are 0 in every arm; the paper has a model of 12 layers and fourteen rows of test"
            f"{_improved(stored) if what == 'Table 3, BIO or IO' else ''}.",
            table="small-models.md#hard-and-soft-labels",
            commands=("studies/grids/labels.toml",),
            results=("labels-rows-dev.json", "labels.tar.xz"),
        )
        for what, arms in parts
    ]


def _touching() -> PaperRow:
    """A median of corpora, with the interval of a median; and how many corpora have more than
    the paper.
    """
    corpora = read_result(RESULTS, "touching").get("corpora", {})
    shares = sorted(
        100 * corpora[n]["touching"] / corpora[n]["mentions"] for n in BIOMEDICAL if n in corpora
    )
    found = []
    if shares:
        above = sum(share > PUBLISHED_SHARE for share in shares)
        # ranks that hold the median in 95 % of samples
        edge = proportion(len(shares) // 2, len(shares))
        low, high = (
            shares[min(len(shares) - 1, int(edge[end] * len(shares) / 100))]
            for end in ("low", "high")
        )
        found = [
            Compared(
                what=f"median share of mentions that touch one of their type ({above} of "
                f"{len(shares)} corpora have "
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
        remark="In per cent of the gold of the biomedical corpora at hand; the paper counts "
        "predictions of BERN2, and "
        "also prints 2.7 % for spans that start right after one of their class.",
        table="families-tables.md#mentions-that-touch-or-overlap",
        commands=("studies.multilabel.touching",),
        results=("touching.json",),
    )

"""Rows of *binder*: complete labels, labels from a dictionary, variants, cost and counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from fascicle.core.wording import plural
from fascicle.training.experiments.results import read_result
from studies.binder import borders, token_labels
from studies.binder.paper import BREAKDOWN, DISTANT, SPEED, SUPERVISED, TABLES
from studies.common import RESULTS
from studies.papers.row import PaperRow
from studies.papers.rule import DRAWN, NOT_AT_HAND, Compared, Counted, Evidence
from studies.papers.sources import (
    ON_GPU,
    TURNS,
    WEAK,
    deviation,
    less,
    minutes,
    percent,
    proportion,
    rows,
    widened,
)
from studies.tables.grids import Row

PAGE: Final = "binder-tables.md"
COMPLETE: Final = f"{PAGE}#complete-labels-tables-1-2-3-and-10-of-the-paper"
VARIANTS: Final = f"{PAGE}#variants-tables-4-5-and-6"
LICENSED: Final = "paper-recipes.md#corpora-with-a-licence"
GRID: Final = "studies/grids/binder.toml"
FILES: Final = {  # what the recipes read
    "ace2004": "$FASCICLE_LICENSED/ace2004/fold-1/train.jsonl",
    "ace2005": "$FASCICLE_LICENSED/ace2005/train.jsonl",
    "conll2003": "$FASCICLE_DATA/conll2003/eng.train",
}
TABLE_2: Final = {
    "bc5cdr-chem": "BC5-chem",
    "bc5cdr-disease": "BC5-disease",
    "ncbi-disease": "NCBI",
    "bc2gm": "BC2GM",
    "jnlpba-one": "JNLPBA",
}
EPOCHS: Final = {"bc2gm": "four", "jnlpba-one": "three"}  # of the runs that were cut short
# Table 11: mentions of train, dev and test, and the run whose results say how many were read here.
COUNTS: Final[Mapping[str, tuple[int, int, int]]] = {
    "bc5cdr-chem": (5203, 5347, 5385),
    "bc5cdr-disease": (4182, 4244, 4424),
    "ncbi-disease": (5134, 787, 960),
    "bc2gm": (15197, 3061, 6325),
    "jnlpba-one": (46750, 4551, 8662),
    "genia": (46142, 4367, 5506),
}


def binder() -> list[PaperRow]:
    """The rows of the paper, in its order."""
    return [
        _licensed("Table 1, ACE2004 and ACE2005", "ace2004", "ace2005"),
        _genia(),
        *map(_table_2, TABLE_2),
        *_distant(),
        *_variants(),
        _tuned(),
        *_cost(),
        _breakdown(),
        *_told(),
        *_counts(),
        _licensed("Table 11, ACE2004 and ACE2005", "ace2004", "ace2005"),
        _similarities(),
        _windows(),
    ]


def _row(corpus: str, system: str, variant: str = "", *, name: str = "binder") -> Row | None:
    return rows(name).get((corpus, system, variant))


def _complete(
    what: str, found: Sequence[Evidence], remark: str, *commands: str, **more: Any
) -> PaperRow:
    return PaperRow(
        what=what,
        found=tuple(found),
        remark=remark,
        table=COMPLETE,
        commands=(GRID, *commands),
        results=("binder.tar.xz",),
        **more,
    )


def _licensed(what: str, *names: str) -> PaperRow:
    return PaperRow(
        what=what,
        said=NOT_AT_HAND,
        remark="The corpus is licensed." if len(names) == 1 else "Both are licensed.",
        needs=" and ".join(f"`{FILES[name]}`" for name in names),
        table=LICENSED,
        commands=tuple(f"recipes/papers/binder-{name}.toml" for name in names),
    )


def _genia() -> PaperRow:
    ours, theirs, *_ = (SUPERVISED["genia"][0], SUPERVISED["genia"][2])
    found = less(
        "BINDER less biaffine",
        round(ours - theirs, 2),
        first=_row("genia-events", "binder", "nested"),
        second=_row("genia-events", "biaffine", "nested", name="span-heads"),
        elsewhere=True,
    )
    remark = (
        "The documents with events, a half of GENIA, since biaffine was not run on all of it; the "
        "paper leads with its large encoder alone, by 0.3."
    )
    return _complete("Table 1, GENIA", found, remark, "recipes/papers/binder-genia.toml")


SHARED: Final = "the most that abstracts which test sentences share can do to it"


def _table_2(corpus: str) -> PaperRow:
    ours, _, theirs, _ = SUPERVISED[corpus]
    first, second = (_row(corpus, system) for system in ("binder", "crf"))
    found = less("BINDER less a CRF", round(ours - theirs, 2), first=first, second=second)
    shared = read_result(RESULTS, "abstracts")["shared"].get(corpus)
    found = [widened(one, math.sqrt(shared)) for one in found] if shared else found
    leads = (
        "; the paper prints both level, and calls BINDER better than the CRF"
        if found and _leads(found[0])
        else ""
    )
    rose = (
        f"; {EPOCHS[corpus]} epochs, at whose end F1 on dev still rose" if corpus in EPOCHS else ""
    )
    wider = f"; its interval is wider by {SHARED}" if shared else ""
    remark = f"The CRF of the paper has an LSTM below it, ours has none{leads}{rose}{wider}."
    names = [
        f"recipes/papers/binder-{name}.toml"
        for name in (corpus.removesuffix("-one"), f"{corpus.removesuffix('-one')}-large")
    ]
    return _complete(f"Table 2, {TABLE_2[corpus]}", found, remark, *names)


def _leads(one: Compared) -> bool:
    return one.is_level and one.here > one.margin


def _labels() -> list[PaperRow]:
    """Dictionary matching on test, and the quality of the labels of train that the paper states."""
    stored = read_result(RESULTS, token_labels.NAME)
    p, r, _ = DISTANT["dictionary matching"]
    wanted = (
        ("Table 3, dictionary matching", (("", "test", "mentions", p, r),)),
        (
            "§3, the quality of the labels from the dictionary",
            (
                ("Chemical", "train", "tokens", 97.99, 63.14),
                ("Disease", "train", "tokens", 98.34, 46.73),
            ),
        ),
    )
    return [
        PaperRow(
            what=what,
            found=tuple(one for numbers in chosen for one in _quality(stored, *numbers))
            if stored
            else (),
            remark="Names are sequences of tokens, case included; the paper publishes no matcher.",
            table=f"{PAGE}#quality-of-the-labels",
            commands=("studies.binder.token_labels",),
            results=(f"{token_labels.NAME}.json",),
        )
        for what, chosen in wanted
    ]


def _quality(
    stored: Mapping[str, Any], kind: str, part: str, unit: str, *published: float
) -> list[Compared]:
    right, said, gold = token_labels.rates(stored, part, unit, kind)
    return [
        Compared(
            what=f"{kind} {name}".strip(),
            paper=paper,
            unit="level",
            margin=2.0,
            doubt="by a rule that was found by these numbers",
            **proportion(right, whole),
        )
        for name, paper, whole in zip(("precision", "recall"), published, (said, gold), strict=True)
    ]


def _distant() -> list[PaperRow]:
    measured = read_result(RESULTS, "distant").get("raw", {}).get("test", {}).get("micro")
    run = _row("bc5cdr", "binder", "raw", name="distant")
    f1 = DISTANT["dictionary matching"][2]
    taught = []
    if measured and run and run.found:
        values = list(run.found.values())
        mean = sum(100 * v["test"]["micro"]["f1"] for v in values) / len(values)
        ends = [
            100 * values[0]["test_f1_interval"][end] - 100 * measured["f1"]
            for end in ("low", "high")
        ]
        taught = [
            Compared(
                what="BINDER less its labels",
                paper=round(DISTANT["BINDER"][2] - f1, 1),
                here=mean - 100 * measured["f1"],
                low=ends[0],
                high=ends[1],
                doubt="the interval is that of BINDER alone",
                seeds=len(values),
                deviation=deviation("bc5cdr", grids=WEAK),
                minutes=minutes(values),
            )
        ]
    return [
        *_labels(),
        PaperRow(
            what="Table 3, BINDER from a dictionary",
            found=tuple(taught),
            remark="Taught the names as written.",
            table=f"{PAGE}#models-taught-from-these-labels",
            commands=("studies/grids/distant.toml", "recipes/papers/binder-bc5cdr-distant.toml"),
            results=("distant.tar.xz", "distant.json"),
        ),
        *_taggers(),
        PaperRow(
            what="Table 3, other systems from a dictionary",
            said=NOT_AT_HAND,
            remark="The paper quotes their numbers; none of these systems was run.",
            needs="the programs of AutoNER, BNPU and Conf-MPU",
            table=f"{PAGE}#models-taught-from-these-labels",
        ),
        PaperRow(
            what="Table 3, complete labels",
            said=NOT_AT_HAND,
            remark="The two systems beside BINDER in the paper were not run; our own tagger, CRF "
            "and SpanNER stand "
            "beside it in the table.",
            needs="the program of Wang et al. (2021)",
            table=COMPLETE,
            commands=(GRID,),
            results=("binder.tar.xz",),
        ),
    ]


def _taggers() -> list[PaperRow]:
    """BINDER beside taggers that the same dictionary taught: one that stops early, and one that
    teaches itself.
    """
    ours, taught = (
        _row("bc5cdr", system, "raw", name="distant") for system in ("binder", "softmax")
    )
    lead = round(DISTANT["BINDER"][2] - DISTANT["BERT-ES (Liang et al.)"][2], 1)
    rounds = [_row(f"round-{at}", "softmax", name="self-training") for at in (1, 2)]
    itself = less(
        "BINDER less SEQ after two rounds", None, first=ours, second=rounds[1], deviation=_apart()
    )
    spent = minutes(value for row in (ours, taught, *rounds) if row for value in row.found.values())
    scored = " to ".join(
        f"{100 * row.values[0]['test']['micro']['f1']:.2f}"
        for row in (taught, *rounds)
        if row and row.found
    )
    return [
        PaperRow(
            what="Table 3, BINDER beside a tagger that stops early (BERT-ES)",
            found=tuple(
                less("BINDER less SEQ", None, first=ours, second=taught, deviation=_apart())
            ),
            remark=f"The paper has a lead of {lead}, over a number that it quotes, of another "
            "encoder; here both were "
            "taught the names as written, on one encoder; the program of BERT-ES was not run; "
            "with other labels from "
            f"the dictionary the lead is {_other_leads()}.",
            table=f"{PAGE}#models-taught-from-these-labels",
            commands=("studies/grids/distant.toml",),
            results=("distant.tar.xz",),
        ),
        PaperRow(
            what="Table 3, BINDER beside a tagger that teaches itself",
            found=tuple(replace(one, minutes=spent) for one in itself),
            remark="The paper has BINDER above all systems from a dictionary, but none that "
            "teaches itself; F1 of the "
            f"tagger goes from {scored} in two rounds, which is within chance.",
            table=f"{PAGE}#models-taught-from-these-labels",
            commands=("studies/grids/distant.toml", "studies/grids/self-training.toml"),
            results=("self-training.tar.xz", "distant.tar.xz"),
        ),
    ]


def _apart() -> float:
    """Standard deviation between seeds that a dictionary taught, which is larger than that
    between others.
    """
    return deviation("bc5cdr", grids=WEAK)


def _other_leads() -> str:
    """BINDER less SEQ with the core of the dictionary, and with its phrases."""
    found = []
    for what, variant in (("names alone", "core"), ("phrases", "")):
        ours, taught = (
            _row("bc5cdr", system, variant, name="distant") for system in ("binder", "softmax")
        )
        found += less(f"with {what}", None, first=ours, second=taught)
    return " and ".join(
        f"{one.here:+.2f} ({one.what}, {plural(one.seeds, 'seed')})" for one in found
    )


def _variant(table: int, variant: str) -> list[Compared]:
    """A variant less the full model, on the two corpora that take the place of ACE2005."""
    name, printed = TABLES[table][variant]
    full = TABLES[table][""][1]
    assert printed
    assert full
    return [
        one
        for corpus in ("conll04", "scierc")
        for one in less(
            f"{name} less the full model",
            round(printed[2] - full[2], 1),
            first=_row(corpus, "binder", variant),
            second=_row(corpus, "binder"),
            elsewhere=True,
        )
    ]


def _tuned() -> PaperRow:
    """Learnt less tuned thresholds, which the paper names as its reason to learn them."""
    learnt, tuned = (TABLES[6][name][1] for name in ("global", "dev"))
    assert learnt
    assert tuned
    return PaperRow(
        what="Table 6, learnt above tuned thresholds",
        found=tuple(
            one
            for corpus in ("conll04", "scierc")
            for one in less(
                "learnt less tuned",
                round(learnt[2] - tuned[2], 1),
                first=_row(corpus, "binder", "global"),
                second=_row(corpus, "binder", "dev"),
                elsewhere=True,
            )
        ),
        remark="In place of ACE2005; the tuned ones were fitted in each epoch and on single "
        "sentences, unlike there.",
        table=VARIANTS,
        commands=(GRID,),
        results=("binder.tar.xz",),
    )


def _variants() -> list[PaperRow]:
    parts = (
        ("Table 4, variants", 4, ("shared", "joint", "no-positions"), "In place of ACE2005."),
        ("Table 5, descriptions", 5, ("atomic", "keywords", "drawn"), "In place of ACE2005."),
        (
            "Table 6, thresholds tuned on dev",
            6,
            ("dev",),
            "Fitted in each epoch and on single sentences, unlike in the paper.",
        ),
        ("Table 6, learnt global thresholds", 6, ("global",), "In place of ACE2005."),
    )
    return [
        PaperRow(
            what=what,
            found=tuple(one for variant in variants for one in _variant(table, variant)),
            remark=remark,
            table=VARIANTS,
            commands=(GRID, "recipes/papers/binder-ace2005.toml"),
            results=("binder.tar.xz",),
        )
        for what, table, variants, remark in parts
    ]


def _faster(kind: str, of: Mapping[str, Any], other: str, place: int) -> Compared:
    """Words a second of BINDER by those of another system: of training from turns with an interval,
    of inference with quartiles of both ratios to the tagger.
    """
    timed = read_result(RESULTS, TURNS).get("passes", {}).get(f"{other} by binder_own")
    paper = SPEED["binder_own"][place] / SPEED[other][place]
    what = f"{kind}, BINDER by {other.replace('_', ' ')}"
    if kind == "training" and timed:
        ends = {"here": timed["median"], "low": timed["low"], "high": timed["high"]}
        return Compared(what=what, paper=paper, unit="times", doubt=ON_GPU, **ends)
    unit = {"median": 1.0, "low": 1.0, "high": 1.0}
    ours, theirs = (of[name].get("ratio", unit) for name in ("binder_own", other))
    return Compared(
        what=what,
        paper=paper,
        here=theirs["median"] / ours["median"],
        low=theirs["low"] / ours["high"],
        high=theirs["high"] / ours["low"],
        unit="times",
        doubt=f"quartiles of rounds in place of an interval, {ON_GPU}",
        loose=True,
    )


def _cost() -> list[PaperRow]:
    stored = read_result(RESULTS, "binder_cost")
    kinds_of = f"; {stored['types']} types here, and seven there" if stored else ""
    kinds = (
        (("training", stored["training"]), ("inference", stored["inference"]["torch"]))
        if stored
        else ()
    )
    return [
        PaperRow(
            what=what,
            found=tuple(
                _faster(kind, of, other, place)
                for place, (kind, of) in enumerate(kinds)
                for other in others
            ),
            remark=f"Words a second, on one core here and on a GPU there{own}{kinds_of}.",
            table=f"{PAGE}#cost-table-7",
            commands=("studies.papers.turns", "studies.speed.binder"),
            results=(f"{TURNS}.json", "binder_cost.json"),
        )
        for what, others, own in (
            (
                "Table 7, one pass for each type",
                ("per_type",),
                "; a reader of our own stands for MRC-NER, without its matrix of starts and "
                "ends, which is faster",
            ),
            ("Table 7, CRF and biaffine", ("crf", "biaffine"), ""),
        )
    ]


def _breakdown() -> PaperRow:
    runs = read_result(RESULTS, borders.NAME).get("runs", {})
    _, start, end, _ = BREAKDOWN["GENIA"]
    found = [
        Compared(
            what=f"F1 of ends less F1 of starts, {what}",
            paper=round(end - start, 1),
            **percent(runs[f"{corpus}-binder-nested-s1"]),
            deviation=deviation(corpus),
            corpus=corpus,
            **more,
        )
        for what, corpus, more in (
            ("all of GENIA", "genia", {}),
            ("its documents with events", "genia-events", {"elsewhere": True}),
        )
        if runs
    ]
    return PaperRow(
        what="Table 8, GENIA",
        found=tuple(found),
        remark="One seed, and all types together.",
        table=f"{PAGE}#partly-correct-predictions-tables-8-and-9",
        commands=("studies.binder.borders",),
        results=(f"{borders.NAME}.json",),
    )


def _told() -> list[PaperRow]:
    """What is licensed, or told without a number."""
    return [
        _licensed("Table 8, ACE2005", "ace2005"),
        PaperRow(
            what="Table 9, partly correct predictions",
            said=NOT_AT_HAND,
            remark="Predictions with one wrong boundary are counted by side and direction; the "
            "kinds of the paper "
            "(modifiers, genitives, errors of annotation) were not assigned.",
            needs="a reader who gives each of these predictions its kind",
            table=f"{PAGE}#partly-correct-predictions-tables-8-and-9",
            results=("binder_analysis.json",),
        ),
        _licensed("Table 10, CoNLL03", "conll2003"),
        PaperRow(
            what="Table 10, on CoNLL++",
            said=NOT_AT_HAND,
            remark="The systems that the paper leads on CoNLL-2003 were not run; our tagger, CRF "
            "and SpanNER stand "
            "beside BINDER in the table.",
            needs="the programs of the systems of Table 10",
            table=COMPLETE,
            commands=(GRID, "recipes/papers/binder-conllpp.toml"),
            results=("binder.tar.xz",),
        ),
    ]


def _counts() -> list[PaperRow]:
    found = {corpus: _counted(corpus) for corpus in COUNTS}
    parts = (
        ("Table 11, BC5-chem, NCBI, BC2GM", ("bc5cdr-chem", "ncbi-disease", "bc2gm"), "All parts."),
        (
            "Table 11, BC5-disease, JNLPBA",
            ("bc5cdr-disease", "jnlpba-one"),
            "Dev of BC5-disease and train of JNLPBA have other counts.",
        ),
        (
            "Table 11, GENIA",
            ("genia",),
            "Of the mentions here, 0 of train, 183 of dev and 291 of test lie inside another one "
            "of their type.",
        ),
    )
    return [
        PaperRow(
            what=what,
            found=tuple(one for corpus in corpora for one in found[corpus]),
            remark=remark,
            table="paper-recipes.md#what-differs-and-why",
            commands=("fascicle corpus stats",),
            results=("binder.tar.xz",),
        )
        for what, corpora, remark in parts
    ]


def _counted(corpus: str) -> list[Counted]:
    """Mentions of each part, as a run of BINDER has read them."""
    row = _row(corpus, "binder") or _row(corpus, "binder", "nested")
    data = next(iter(row.found.values()))["facts"]["data"] if row and row.found else {}
    parts = ("train", "dev", "test")
    return [
        Counted(what=f"mentions of {corpus}, {part}", paper=paper, here=data[part]["mentions"])
        for part, paper in zip(parts, COUNTS[corpus], strict=True)
        if part in data
    ]


def _similarities() -> PaperRow:
    return PaperRow(
        what="Figures 2 and 3, similarities",
        said=DRAWN,
        remark="Of conll04, in place of ACE2005: gold spans, thresholds and other spans.",
        table=f"{PAGE}#thresholds-figures-2-and-3",
        results=("binder-densities.tar.xz",),
    )


def _windows() -> PaperRow:
    longest = _row("scierc", "binder", "window-256")
    found = [
        one
        for length in (64, 128)
        for one in less(
            f"{length} pieces less 256",
            -1,
            first=_row("scierc", "binder", f"window-{length}"),
            second=longest,
            drawn=True,
            elsewhere=True,
        )
    ]
    return PaperRow(
        what="A.3, length of windows",
        found=tuple(found),
        remark="The paper finds shorter windows slightly worse, without a number.",
        table=f"{PAGE}#length-of-windows-a3",
        commands=(GRID,),
        results=("binder.tar.xz",),
    )

"""Rows of *bundling-learning*: gains of bundling, errors, and the studies of its Figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from fascicle.training.experiments.results import read_result
from studies.bundling import kinds
from studies.bundling.gains import MODELS, SINGLES, Corpus, bundled, corpora_of, other_of, relation
from studies.bundling.paper import Printed, table3
from studies.bundling.pooled import intervals
from studies.bundling.study_tables import OTHERS
from studies.common import RESULTS
from studies.papers.row import PaperRow
from studies.papers.rule import NOT_AT_HAND, Compared, Counted, Z
from studies.papers.sources import (
    ON_GPU,
    TURNS,
    deviation,
    grid,
    less,
    minutes,
    on_dev,
    other_machine,
    percent,
    rows,
    with_all_of_seeds,
)
from studies.tables.grids import Row

PAGE: Final = "bundling-tables.md"
GRID: Final = ("studies/grids/bundling.toml",)
STUDIES: Final = ("studies/grids/bundling-studies.toml",)
KEPT: Final = "figures"  # a grid whose runs keep the counts of dev
NAMED: Final = {
    "conllpp": "CoNLL++",
    "conll04": "CoNLL04",
    "scierc": "SciERC",
    "ncbi-disease": "NCBI",
    "bc5cdr": "BC5CDR",
    "wnut16": "W16",
    "wnut17": "W17",
}
# Table 1: mentions of train, dev and test.
COUNTS: Final[Mapping[str, tuple[int, int, int]]] = {
    "conllpp": (23499, 5942, 5702),
    "conll04": (3377, 893, 1079),
    "scierc": (5598, 811, 1685),
    "bc5cdr": (9385, 9353, 9809),
    "ncbi-disease": (5429, 923, 941),
    "wnut16": (2104, 661, 3473),
    "wnut17": (1975, 835, 1079),
}
SAME_COUNTS: Final = ("conllpp", "conll04", "scierc")
ONE_SEED: Final = "the chance between seeds is not in it"
OTHER_PART: Final = "of test here, and of dev in the paper"
RATES: Final = "alone at 1e-4, and in the bundle at 2e-4"
# corpus -> how its train part differs from that of the paper
OTHER_TRAIN: Final[Mapping[str, str]] = {
    "wnut16": "a train part of 1,496 mentions, and of 2,104 in the paper",
}
LICENSED: Final = ("ontonotes5", "ace2004", "ace2005", "conll2003")


def bundling() -> list[PaperRow]:
    """The rows of the paper, in its order."""
    return [
        *_counts(),
        _licensed(),
        *_gains(),
        *_spans(),
        _conclusion(),
        _quoted(),
        *_mentions(),
        *_errors(),
        _others(),
        *_weights(),
        *_taggers(),
        *_vectors(),
        *_times(),
    ]


def _counts() -> list[PaperRow]:
    parts = (
        ("CoNLL++, CoNLL04, SciERC", SAME_COUNTS, "All parts."),
        (
            "BC5CDR, NCBI, W16, W17",
            tuple(name for name in COUNTS if name not in SAME_COUNTS),
            "The numbers of the paper for NCBI are within 1 of those of its sentences here, but "
            "for 5 of train: 5,424, "
            "923 and 940.",
        ),
    )
    return [
        PaperRow(
            what=f"Table 1, {what}",
            found=tuple(one for corpus in corpora for one in _counted(corpus)),
            remark=remark,
            table="paper-recipes.md#what-differs-and-why",
            commands=("fascicle corpus stats",),
            results=("bundling.tar.xz",),
        )
        for what, corpora, remark in parts
    ]


def _counted(corpus: str) -> list[Counted]:
    row = _row(corpus, "SpanNER")
    data = next(iter(row.found.values()))["facts"]["data"] if row and row.found else {}
    return [
        Counted(what=f"mentions of {corpus}, {part}", paper=paper, here=data[part]["mentions"])
        for part, paper in zip(("train", "dev", "test"), COUNTS[corpus], strict=True)
        if part in data
    ]


def _licensed() -> PaperRow:
    return PaperRow(
        what="Table 3, OntoNotes, ACE04, ACE05, CoNLL03",
        said=NOT_AT_HAND,
        remark="These corpora are licensed.",
        needs="`train.jsonl` in `ontonotes5`, `ace2004-flat/fold-1` and `ace2005-flat` of "
        "`$FASCICLE_LICENSED`, and "
        "`$FASCICLE_DATA/conll2003/eng.train`",
        table="paper-recipes.md#corpora-with-a-licence",
        commands=tuple(
            f"recipes/papers/bundling-{name}-{model}.toml"
            for name in LICENSED
            for model in ("spanner", "seqner")
        ),
    )


def _gains() -> list[PaperRow]:
    sure = intervals(grid("bundling"))
    corpora = {corpus.name: corpus for corpus in corpora_of(grid("bundling"))}
    return [
        PaperRow(
            what=f"Table 3, {what}: {bundled(single)}",
            found=tuple(
                gain
                for one in _stored(sure, single, name)
                for gain in _gained(corpora[name], single, one)
            ),
            remark=_printed(name, single),
            table=f"{PAGE}#gains",
            commands=GRID,
            results=("bundling.tar.xz", "bundling-gains.json"),
        )
        for name, what in NAMED.items()
        for single in reversed(SINGLES)
    ]


def _stored(sure: Mapping[str, Any], single: str, name: str) -> list[Mapping[str, float]]:
    """The gain of a head on a corpus; nothing where it was not computed from the results that
    are there.
    """
    found = sure.get(single, {}).get("corpora", {}).get(name)
    return [found] if found else []


def _gained(corpus: Corpus, single: str, found: Mapping[str, float]) -> list[Compared]:
    """The gain as printed, and as the printed precision and recall have it where a printed F1 is
    not theirs.
    """
    of = [table3()[corpus.name][model] for model in (bundled(single), single)]
    first, second = corpus.found(bundled(single)), corpus.found(single)
    both = [seed for seed in second if seed in first]
    points, gains = percent(found), corpus.gains(single)
    printed = Compared(
        what=f"{bundled(single)} less {single}",
        paper=of[0].f1 - of[1].f1,
        here=points["here"],
        **with_all_of_seeds(
            points["here"], points["low"], points["high"], [gains[seed] for seed in both]
        ),
        seeds=len(both),
        deviation=deviation(corpus.name),
        doubt=", ".join(
            filter(
                None,
                (other_machine((first[s], second[s]) for s in both), *_doubts(corpus.name, single)),
            )
        ),
        corpus=corpus.name,
        minutes=minutes(of[seed] for of in (first, second) for seed in both),
    )
    return [printed] if all(one.consistent for one in of) else _both(printed, *of)


def _doubts(corpus: str, single: str) -> tuple[str, str]:
    """What else differs between a bundle and a single model, and between the corpus here and in
    the paper.
    """
    return RATES if single == "SpanNER" else "", OTHER_TRAIN.get(corpus, "")


def _both(printed: Compared, ours: Printed, theirs: Printed) -> list[Compared]:
    """A difference as printed, and that of the printed precision and recall."""
    told = f"{printed.what}, F1 of the paper from its precision and recall"
    return [printed, replace(printed, what=told, paper=ours.likely - theirs.likely)]


def _printed(name: str, single: str) -> str:
    wrong = [
        f"the paper prints F1 {one.f1:.2f} for {model}, but its precision and recall give "
        f"{one.harmonic:.2f}"
        for model, one in table3()[name].items()
        if model in (bundled(single), single) and not one.consistent
    ]
    return f"{'; '.join(['One encoder for all, and rates chosen on dev of conll04', *wrong])}."


def _row(corpus: str, model: str) -> Row | None:
    system, head = MODELS[model]
    return rows("bundling").get((corpus, f"{system}:{head}" if head else system, ""))


def _spans() -> list[PaperRow]:
    """SpanNER less SeqNER: on tweets, where the paper explains its lead, and on the others,
    where it has one too.
    """
    return [_noisy("W16 and W17", ("wnut16", "wnut17")), _noisy("the others", tuple(NAMED)[:-2])]


def _noisy(what: str, names: Sequence[str]) -> PaperRow:
    return PaperRow(
        what=f"Table 3, {what}: SpanNER over SeqNER",
        found=tuple(one for name in names for one in _over(name)),
        remark="Rates chosen on dev of conll04; the interval is over seeds and texts.",
        table=f"{PAGE}#gains",
        commands=GRID,
        results=("bundling.tar.xz",),
    )


def _over(name: str) -> list[Compared]:
    """SpanNER less SeqNER as printed, and as the printed precision and recall have it where an
    F1 is not theirs.
    """
    ours, theirs = (table3()[name][model] for model in ("SpanNER", "SeqNER"))
    told = f"{NAMED[name]}, SpanNER less SeqNER"
    doubt = {"doubt": OTHER_TRAIN[name]} if name in OTHER_TRAIN else {}
    found = less(
        told, ours.f1 - theirs.f1, first=_row(name, "SpanNER"), second=_row(name, "SeqNER"), **doubt
    )
    return (
        found
        if ours.consistent and theirs.consistent
        else [again for one in found for again in _both(one, ours, theirs)]
    )


def _conclusion() -> PaperRow:
    """Correlations of gains with gaps, with Fisher's interval over the corpora."""
    found, chance = [], []
    for single in SINGLES:
        points = {
            c.name: [(c.gaps(single)[s], c.gains(single)[s]) for s in c.gains(single)]
            for c in corpora_of(grid("bundling"))
        }
        ours = relation({name: pairs for name, pairs in points.items() if pairs})
        theirs = relation(
            {
                name: [
                    (
                        of[single].f1 - of[other_of(single)].f1,
                        of[bundled(single)].f1 - of[single].f1,
                    )
                ]
                for name, of in table3().items()
            }
        )
        if ours and theirs:
            here = ours.of_points[0]
            half = Z / math.sqrt(ours.corpora - 3)
            found.append(
                Compared(
                    what=f"Pearson, gain of {single} with its lead",
                    paper=theirs.of_points[0],
                    here=here,
                    low=math.tanh(math.atanh(here) - half),
                    high=math.tanh(math.atanh(here) + half),
                    doubt=f"over {ours.corpora} corpora here, and {theirs.corpora} there",
                )
            )
        if ours and ours.p:
            chance.append(f"{ours.p[0]:.2f} for {single}")
    return PaperRow(
        what="Conclusion 1, gains against gaps",
        found=tuple(found),
        remark="The paper prints no correlation, so that of its Table 3 stands here; gain and "
        "lead share a term, and "
        f"over all orders of the corpora here p is {' and '.join(chance)}, uncorrected.",
        table=f"{PAGE}#gains-against-gaps",
        commands=("studies.bundling.pooled",),
        results=("bundling.tar.xz",),
    )


def _quoted() -> PaperRow:
    return PaperRow(
        what="Table 4, other systems",
        said=NOT_AT_HAND,
        remark="The paper quotes their numbers; none of these systems was run.",
        needs="the programs of the quoted systems",
        table=f"{PAGE}#table-3",
    )


SPANS_LESS: Final = "SpanNER less SeqNER"
SPANS, SEQUENCES = "BL-SpanNER less SpanNER", "BL-SeqNER less SeqNER"
FLAT: Final = ("bc5cdr", "scierc")  # of the first four corpora of Table 6, and at hand
TWEETS: Final = ("wnut16", "wnut17")
# attribute, interval, and the sign that the text of the paper gives the difference
Claim = tuple[str, str, int]
CLAIMS: Final[tuple[tuple[str, str, tuple[Claim, ...]], ...]] = (
    ("SpanNER beside SeqNER, by length", SPANS_LESS, (("length", "1", 1), ("length", "5+", -1))),
    (
        "SpanNER beside SeqNER, by text",
        SPANS_LESS,
        (("text_length", "32+", 1), ("text_length", "1-7", -1)),
    ),
    (
        "SpanNER beside SeqNER, by label consistency",
        SPANS_LESS,
        (("label_consistency", "(0.9, 1]", 1), ("label_consistency", "[0, 0.1]", -1)),
    ),
    (
        "SpanNER beside SeqNER, by density",
        SPANS_LESS,
        (("entity_density", "over 0.05", 1), ("entity_density", "(0.01, 0.025]", -1)),
    ),
    ("BL-SpanNER", SPANS, (("length", "5+", 1), ("text_length", "1-7", 1))),
    (
        "BL-SeqNER",
        SEQUENCES,
        (("length", "1", 1), ("text_length", "32+", 1), ("entity_density", "over 0.05", 1)),
    ),
)
WORDS: Final[Mapping[str, str]] = {
    "length": "mention length {}",
    "text_length": "text length {}",
    "label_consistency": "label consistency {}",
    "entity_density": "density {}",
}


def _mentions() -> list[PaperRow]:
    """Table 6 is a heat map, so the paper has directions alone: those that its text states."""
    return [
        *(
            _kinds(what, [_kind(corpus, pair, *one) for one in claims for corpus in FLAT])
            for what, pair, claims in CLAIMS
        ),
        *(
            _kinds(f"W16 and W17, {pair}", [_everywhere(corpus, pair, sign) for corpus in TWEETS])
            for pair, sign in ((SPANS_LESS, 1), (SPANS, -1), (SEQUENCES, 1))
        ),
    ]


def _kinds(what: str, found: Sequence[list[Compared]]) -> PaperRow:
    return PaperRow(
        what=f"Table 6, {what}",
        found=tuple(one for some in found for one in some),
        remark="F1 on test in the intervals of Table 5 with 20 mentions or more; the paper shows "
        "a heat map of dev "
        "parts, and its text the direction.",
        table=f"{PAGE}#by-kind-of-mention",
        commands=("studies.bundling.kinds",),
        results=("bundling.tar.xz", f"{kinds.NAME}.json"),
    )


def _of_kinds(corpus: str, pair: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (
        read_result(RESULTS, kinds.NAME).get("corpora", {}).get(corpus, {}).get(pair, {})
    )
    return found


def _kind(corpus: str, pair: str, attribute: str, interval: str, sign: int) -> list[Compared]:
    """The difference in one interval; nothing where it has too few mentions."""
    of = _of_kinds(corpus, pair)
    points = of.get(attribute, {}).get(interval)
    what = f"{NAMED[corpus]}, {WORDS[attribute].format(interval)}, {pair}"
    return [_shown(what, sign, points, of["seeds"], _spent(corpus, pair))] if points else []


def _everywhere(corpus: str, pair: str, sign: int) -> list[Compared]:
    """The mean over all intervals, and in how many of them the first head is above."""
    of = _of_kinds(corpus, pair)
    if not of:
        return []
    mean = of[kinds.MEAN]
    what = (
        f"{NAMED[corpus]}, mean of {mean['intervals']} intervals of four attributes "
        f"({mean['above']} above), {pair}"
    )
    return [_shown(what, sign, mean["points"], of["seeds"], _spent(corpus, pair))]


def _spent(corpus: str, pair: str) -> dict[str, float]:
    """Minutes of the runs of both models of a pair; the heads of a bundle are one run."""
    found = [_row(corpus, model) for model in pair.split(" less ")]
    return minutes(value for row in found if row for value in row.found.values())


def _shown(
    what: str, sign: int, points: Sequence[float], seeds: int, spent: Mapping[str, float]
) -> Compared:
    """A direction of the paper beside points with their interval, in which seeds are drawn where
    there are several.
    """
    here, low, high = points
    doubt = OTHER_PART if seeds > 1 else ONE_SEED
    return Compared(
        what=what,
        paper=sign,
        here=here,
        low=low,
        high=high,
        drawn=True,
        seeds=seeds,
        doubt=doubt,
        minutes=spent,
    )


def _errors() -> list[PaperRow]:
    """Table 7 is a heat map, so the paper has directions alone; its text has other ones for W16
    and W17.
    """
    parts = (
        (
            "boundary errors of SpanNER beside SeqNER",
            SPANS_LESS,
            ("boundary",),
            1,
            (*FLAT, *TWEETS),
        ),
        ("type errors of SpanNER beside SeqNER", SPANS_LESS, ("type",), -1, (*FLAT, *TWEETS)),
        ("BL-SeqNER", SEQUENCES, ("boundary", "type"), -1, (*FLAT, *TWEETS)),
        ("BL-SpanNER", SPANS, ("boundary", "type"), -1, FLAT),
        ("BL-SpanNER on W16 and W17", SPANS, ("boundary", "type"), 1, TWEETS),
    )
    return [
        PaperRow(
            what=f"Table 7, {what}",
            found=tuple(_error(corpus, pair, kind, sign) for kind in kinds for corpus in corpora)
            if _reports()
            else (),
            remark="Shares of all errors on test, in points; the paper shows a heat map of dev "
            "parts, and its text the "
            "direction.",
            table=f"{PAGE}#boundary-and-type-errors",
            commands=("studies.families.reports",),
            results=("family-reports.json",),
        )
        for what, pair, kinds, sign, corpora in parts
    ]


def _reports() -> Mapping[str, Any]:
    return read_result(RESULTS, "family-reports")


def _error(corpus: str, pair: str, kind: str, sign: int) -> Compared:
    stored = _reports()
    seeds = len(stored["grids"]["bundling"][corpus]["systems"]["`spanner`"]["seeds"])
    points = stored["differences"][pair][corpus][f"{kind} share"]
    what = f"{NAMED[corpus]}, {kind} errors, {pair}"
    return _shown(what, sign, points, seeds, _spent(corpus, pair))


def _others() -> PaperRow:
    """Systems of ours in place of the five of the paper, each bundled less alone, on dev; the
    paper has gains alone.
    """
    return PaperRow(
        what="Table 8, five other models",
        said=NOT_AT_HAND,
        found=tuple(
            one
            for corpus in ("conll04", "scierc")
            for other in OTHERS
            for one in _with_and_without(corpus, *other)
        ),
        remark="Four systems of ours stand in their place: F1 on dev, bundled less alone; the "
        "CRF with alpha = 0.1 has "
        "another rate in the bundle than alone.",
        needs="the programs of RDANER, CL-KL, HireNER, SodNER and DyGIE++",
        table=f"{PAGE}#the-papers-studies-on-dev",
        commands=STUDIES,
        results=("bundling-studies.tar.xz",),
    )


def _with_and_without(
    corpus: str, model: str, alone: tuple[str, str, str], what: str, together: tuple[str, str, str]
) -> list[Compared]:
    """On dev: a system with a second head bundled onto it less the system alone; a corpus may
    have one precision.
    """
    studies = rows("bundling-studies")
    single = rows("binder") if model == "BINDER" else studies
    first, second = (
        next(
            (found[key] for key in ((corpus, name, variant), (corpus, name, "")) if key in found),
            None,
        )
        for found, name, variant in (
            (studies, f"{together[0]}:{together[2]}", together[1]),
            (single, alone[0], alone[1]),
        )
    )
    told = f"{NAMED[corpus]}, {model} with {what}, less alone"
    return on_dev(told, 1, first=first, second=second, drawn=True, elsewhere=True)


def _study(
    what: str,
    paper: float,
    first: tuple[str, str],
    second: tuple[str, str],
    corpus: str = "conll04",
    *,
    drawn: bool = True,
) -> list[Compared]:
    """On dev: one row of the studies less another; each is a system, with its head, and a
    variant. Runs that kept the counts of dev come first, all of whose seeds are done.
    """
    kept = [rows(KEPT).get((corpus, *one)) for one in (first, second)]
    if all(row and len(row.found) == len(row.runs) for row in kept):
        return less(
            what, paper, first=kept[0], second=kept[1], drawn=drawn, elsewhere=corpus == "conll04"
        )
    found = rows("bundling-studies")
    return on_dev(
        what,
        paper,
        first=found.get((corpus, *first)),
        second=found.get((corpus, *second)),
        drawn=drawn,
        elsewhere=corpus == "conll04",
    )


def _figure(what: str, found: Sequence[Compared], remark: str) -> PaperRow:
    """A row of a figure on dev, and where its numbers stand."""
    kept = any(one.interval for one in found)
    return PaperRow(
        what=what,
        found=tuple(found),
        remark=remark,
        table=f"{PAGE}#{'dev-with-intervals' if kept else 'the-papers-studies-on-dev'}",
        commands=(*STUDIES, f"studies/grids/{KEPT}.toml") if kept else STUDIES,
        results=("bundling-studies.tar.xz", f"{KEPT}.tar.xz")[: 1 + kept],
    )


def _weights() -> list[PaperRow]:
    return [
        _figure(
            f"Figure 5, the loss weight: {model}",
            [
                one
                for corpus in ("conll04", "scierc")
                for one in _study(
                    f"{corpus}, alpha = 0.9 less 0.1",
                    -1,
                    (f"bundle:{head}", "alpha-0.9"),
                    (f"bundle:{head}", ""),
                    corpus,
                )
            ],
            "F1 on dev; the figure has nine weights, of which five were run, and two "
            "stand here; conll04 is not in it.",
        )
        for model, head in (("BL-SpanNER", "span"), ("BL-SeqNER", "softmax"))
    ]


def _taggers() -> list[PaperRow]:
    alone = _study("SeqNER, CRF less softmax", -1, ("crf", ""), ("softmax", ""))
    found = [
        *_study(
            "BL-SeqNER, CRF less softmax",
            0.11,
            ("bundle:crf", "crf"),
            ("bundle:softmax", ""),
            drawn=False,
        ),
        *_study(
            "BL-SpanNER, CRF less softmax",
            0.11,
            ("bundle:span", "crf"),
            ("bundle:span", ""),
            drawn=False,
        ),
    ]
    parts = (
        (
            "bundles",
            found,
            "F1 on dev of one corpus; the paper prints the mean of all its comparisons, with CRF "
            "above softmax on four "
            "and on six of six corpora.",
        ),
        (
            "SeqNER",
            alone,
            "F1 on dev of one corpus; in the paper CRF is above softmax on two of six corpora.",
        ),
    )
    return [
        _figure(f"Figure 6, softmax or CRF, {what}", compared, remark)
        for what, compared, remark in parts
    ]


def _vectors() -> list[PaperRow]:
    alone, together = ("spanner", "spanner"), ("bundle:span", "bundle:span")
    best = [
        *_study("SpanNER, hybrid less boundary", 1, (alone[0], ""), (alone[1], "boundary")),
        *_study("SpanNER, hybrid less pooling", 1, (alone[0], ""), (alone[1], "pooling")),
        *_study(
            "BL-SpanNER, hybrid less boundary", 1, (together[0], ""), (together[1], "boundary")
        ),
        *_study(
            "BL-SpanNER, hybrid less pooling", 1, (together[0], ""), (together[1], "pooling-fp32")
        ),
    ]
    rest = _study(
        "SpanNER, boundary less pooling", -1, (alone[0], "boundary"), (alone[1], "pooling")
    )
    return [
        _figure(what, found, remark)
        for what, found, remark in (
            (
                "Figure 7, the hybrid vector of a span",
                best,
                "F1 on dev of one corpus; the bundle with pooling had 32 bits, the others 16.",
            ),
            (
                "Figure 7, boundary beside pooling",
                rest,
                "F1 on dev of one corpus; in the paper pooling is above boundary on five of six "
                "corpora.",
            ),
        )
    ]


def _times() -> list[PaperRow]:
    """What a CRF costs beside softmax, whose ends are quartiles of ratios, and the hybrid vector
    beside the others.
    """
    timed = read_result(RESULTS, TURNS).get("vectors", {})
    chain = read_result(RESULTS, "binder_cost").get("training", {}).get("crf", {}).get("ratio")
    doubt = "quartiles of turns in place of an interval"
    hybrid = [
        Compared(
            what=f"time of a step, hybrid by {other}",
            paper=1.0,
            here=of["median"],
            low=of["low"],
            high=of["high"],
            unit="level",
            margin=0.1,
            doubt=ON_GPU,
        )
        for other in ("boundary", "pooling")
        if (of := timed.get(f"spanner_hybrid by spanner_{other}"))
    ]
    crf = [
        Compared(
            what="time of training, CRF by softmax",
            paper=None,
            here=chain["median"],
            low=chain["low"],
            high=chain["high"],
            unit="times",
            doubt=doubt,
        )
        for _ in range(bool(chain))
    ]
    parts = (
        (
            "§4.5.2, time of a CRF",
            crf,
            "The paper finds much more time, and prints no number; here a plain tagger was "
            "timed, not a bundle.",
            "speed.binder",
            "binder_cost",
        ),
        (
            "§4.5.3, time of the hybrid vector",
            hybrid,
            "The paper finds no extra time; here it is CPU time of a step on one core.",
            "papers.turns",
            TURNS,
        ),
    )
    return [
        PaperRow(
            what=what,
            found=tuple(found),
            remark=remark,
            table="binder-tables.md#cost-table-7"
            if script == "speed.binder"
            else "results.md#what-heads-cost",
            commands=(f"studies.{script}",),
            results=(f"{results}.json",),
        )
        for what, found, remark, script, results in parts
    ]

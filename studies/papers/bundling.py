"""Rows of *bundling-learning*: gains of bundling, errors, and the studies of its Figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fascicle.training.experiments.results import read_result
from studies.bundling.gains import MODELS, SINGLES, Corpus, bundled, corpora_of, other_of, relation
from studies.bundling.paper import table3
from studies.bundling.pooled import intervals
from studies.common import RESULTS
from studies.papers.row import PaperRow
from studies.papers.rule import NOT_AT_HAND, TESTED, Compared, Counted
from studies.papers.sources import deviation, grid, less, minutes, on_dev, percent, rows
from studies.tables.grids import Row

PAGE: Final = "bundling-tables.md"
GRID: Final = ("studies/grids/bundling.toml",)
STUDIES: Final = ("studies/grids/bundling-studies.toml",)
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
        _taggers(),
        *_vectors(),
        *_times(),
    ]


def _counts() -> list[PaperRow]:
    parts = (
        ("CoNLL++, CoNLL04, SciERC", SAME_COUNTS, "All parts."),
        (
            "BC5CDR, NCBI, W16, W17",
            tuple(name for name in COUNTS if name not in SAME_COUNTS),
            "The numbers of the paper for NCBI are close to those of its sentences.",
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
        needs="`train.jsonl` in `ontonotes5`, `ace2004-flat/fold-1` and `ace2005-flat` of `$FASCICLE_LICENSED`, and "
        "`$FASCICLE_DATA/conll2003/eng.train`",
        table="paper-recipes.md#corpora-with-a-licence",
        commands=tuple(
            f"recipes/papers/bundling-{name}-{model}.toml" for name in LICENSED for model in ("spanner", "seqner")
        ),
    )


def _gains() -> list[PaperRow]:
    sure = intervals(grid("bundling"))
    corpora = {corpus.name: corpus for corpus in corpora_of(grid("bundling"))}
    return [
        PaperRow(
            what=f"Table 3, {what}: {bundled(single)}",
            found=tuple(_gain(corpora[name], single, one) for one in _stored(sure, single, name)),
            remark=_printed(name, single),
            table=f"{PAGE}#gains",
            commands=GRID,
            results=("bundling.tar.xz", "bundling-gains.json"),
        )
        for name, what in NAMED.items()
        for single in reversed(SINGLES)
    ]


def _stored(sure: Mapping[str, Any], single: str, name: str) -> list[Mapping[str, float]]:
    """The gain of a head on a corpus; nothing where it was not computed from the results that are there."""
    found = sure.get(single, {}).get("corpora", {}).get(name)
    return [found] if found else []


def _gain(corpus: Corpus, single: str, found: Mapping[str, float]) -> Compared:
    printed = table3()[corpus.name]
    first, second = corpus.found(bundled(single)), corpus.found(single)
    both = [seed for seed in second if seed in first]
    return Compared(
        what=f"{bundled(single)} less {single}",
        paper=printed[bundled(single)].f1 - printed[single].f1,
        **percent(found),
        seeds=len(both),
        deviation=deviation(corpus.name),
        corpus=corpus.name,
        minutes=minutes(of[seed] for of in (first, second) for seed in both),
    )


def _printed(name: str, single: str) -> str:
    of = [table3()[name][model] for model in (bundled(single), single)]
    doubt = (
        ""
        if all(one.consistent for one in of)
        else "; an F1 of the paper is not that of the precision and recall beside it"
    )
    return f"One encoder for all, and rates chosen on dev of conll04{doubt}."


def _row(corpus: str, model: str) -> Row | None:
    system, head = MODELS[model]
    return rows("bundling").get((corpus, f"{system}:{head}" if head else system, ""))


def _spans() -> list[PaperRow]:
    """SpanNER less SeqNER: on tweets, where the paper explains its lead, and on the others, where it has one too."""
    return [_noisy("W16 and W17", ("wnut16", "wnut17")), _noisy("the others", tuple(NAMED)[:-2])]


def _noisy(what: str, names: Sequence[str]) -> PaperRow:
    found = [
        one
        for name in names
        for one in less(
            f"{NAMED[name]}, SpanNER less SeqNER",
            table3()[name]["SpanNER"].f1 - table3()[name]["SeqNER"].f1,
            first=_row(name, "SpanNER"),
            second=_row(name, "SeqNER"),
        )
    ]
    return PaperRow(
        what=f"Table 3, {what}: SpanNER over SeqNER",
        found=tuple(found),
        remark="Rates chosen on dev of conll04; the interval is over seeds and texts.",
        table=f"{PAGE}#gains",
        commands=GRID,
        results=("bundling.tar.xz",),
    )


def _conclusion() -> PaperRow:
    """Correlations of gains with gaps; without an interval, since chance is told by orders of the corpora."""
    found = []
    for single in SINGLES:
        points = {
            c.name: [(c.gaps(single)[s], c.gains(single)[s]) for s in c.gains(single)]
            for c in corpora_of(grid("bundling"))
        }
        ours = relation({name: pairs for name, pairs in points.items() if pairs})
        theirs = relation(
            {
                name: [(of[single].f1 - of[other_of(single)].f1, of[bundled(single)].f1 - of[single].f1)]
                for name, of in table3().items()
            }
        )
        if ours and theirs:
            found.append(
                Compared(
                    what=f"Pearson, gain of {single} with its lead, from Table 3 of the paper",
                    paper=theirs.of_points[0],
                    here=ours.of_points[0],
                )
            )
    return PaperRow(
        what="Conclusion 1, gains against gaps",
        found=tuple(found),
        remark="The paper prints no correlation; here none remains beyond chance after correction for their number, "
        "and gain and lead share a term.",
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


def _mentions() -> list[PaperRow]:
    return [
        PaperRow(
            what="Table 6, SpanNER beside SeqNER",
            said=TESTED,
            remark="With one or two seeds, span heads lose most on long mentions; small label consistency is a "
            "weakness of SpanPred, and of SpanNER on BC5CDR alone; differences within a cell were not tested.",
            table="families-tables.md",
            commands=("studies.families.reports",),
            results=("family-reports.json",),
        ),
        PaperRow(
            what="Table 6, the bundles",
            said=TESTED,
            remark="There is no kind of mention in which BL-SeqNER gains on every corpus; differences "
            "within a cell were not tested.",
            table=f"{PAGE}#by-kind-of-mention",
            commands=("studies.families.reports",),
            results=("family-reports.json",),
        ),
    ]


def _errors() -> list[PaperRow]:
    """Table 7 is a heat map, so the paper has directions alone; the last row of each difference is over all corpora."""
    stored = read_result(RESULTS, "family-reports").get("differences", {})

    def of(pair: str, kind: str, paper: int) -> Compared:
        here, low, high = stored[pair]["all corpora"][f"{kind} share"]
        return Compared(what=f"{kind} errors, {pair}", paper=paper, here=here, low=low, high=high, drawn=True)

    pairs: Sequence[tuple[str, tuple[tuple[str, str, int], ...]]] = (
        ("boundary errors of SpanNER beside SeqNER", (("SpanNER less SeqNER", "boundary", 1),)),
        ("type errors of SpanNER beside SeqNER", (("SpanNER less SeqNER", "type", -1),)),
        ("BL-SeqNER", tuple(("BL-SeqNER less SeqNER", kind, -1) for kind in ("boundary", "type"))),
        ("BL-SpanNER", tuple(("BL-SpanNER less SpanNER", kind, -1) for kind in ("boundary", "type"))),
    )
    return [
        PaperRow(
            what=f"Table 7, {what}",
            found=tuple(of(*one) for one in wanted) if stored else (),
            remark="Shares of all errors on test of six corpora, with one to three seeds each; the paper shows a heat "
            "map of dev parts, four of the same corpora, and BL-SpanNER above SpanNER on W16 and W17.",
            table=f"{PAGE}#boundary-and-type-errors",
            commands=("studies.families.reports",),
            results=("family-reports.json",),
        )
        for what, wanted in pairs
    ]


def _others() -> PaperRow:
    return PaperRow(
        what="Table 8, five other models",
        said=NOT_AT_HAND,
        remark="On dev of conll04 and scierc, SpanPred, biaffine, SeqCRF and BINDER take their place with one seed, "
        "and show no clear gain.",
        needs="the programs of RDANER, CL-KL, HireNER, SodNER and DyGIE++",
        table=f"{PAGE}#the-papers-studies-on-dev",
        commands=STUDIES,
        results=("bundling-studies.tar.xz",),
    )


def _study(
    what: str, paper: int, first: tuple[str, str], second: tuple[str, str], corpus: str = "conll04"
) -> list[Compared]:
    """On dev: one row of the studies less another; each is a system, with its head, and a variant."""
    found = rows("bundling-studies")
    return on_dev(
        what,
        paper,
        first=found.get((corpus, *first)),
        second=found.get((corpus, *second)),
        drawn=True,
        elsewhere=corpus == "conll04",
    )


def _weights() -> list[PaperRow]:
    return [
        PaperRow(
            what=f"Figure 5, the loss weight: {model}",
            found=tuple(
                one
                for corpus in ("conll04", "scierc")
                for one in _study(
                    f"{corpus}, alpha = 0.9 less 0.1",
                    -1,
                    (f"bundle:{head}", "alpha-0.9"),
                    (f"bundle:{head}", ""),
                    corpus,
                )
            ),
            remark="F1 on dev, for two of the nine weights of the figure, which does not have conll04.",
            table=f"{PAGE}#the-papers-studies-on-dev",
            commands=STUDIES,
            results=("bundling-studies.tar.xz",),
        )
        for model, head in (("BL-SpanNER", "span"), ("BL-SeqNER", "softmax"))
    ]


def _taggers() -> PaperRow:
    found = [
        *_study("BL-SeqNER, CRF less softmax", 1, ("bundle:crf", "crf"), ("bundle:softmax", "")),
        *_study("BL-SpanNER, CRF less softmax", 1, ("bundle:span", "crf"), ("bundle:span", "")),
    ]
    return PaperRow(
        what="Figure 6, softmax or CRF",
        found=tuple(found),
        remark="F1 on dev of one corpus; the paper has CRF above softmax on four and on six of six corpora, by 0.11 in "
        "the mean.",
        table=f"{PAGE}#the-papers-studies-on-dev",
        commands=STUDIES,
        results=("bundling-studies.tar.xz",),
    )


def _vectors() -> list[PaperRow]:
    alone, together = ("spanner", "spanner"), ("bundle:span", "bundle:span")
    best = [
        *_study("SpanNER, hybrid less boundary", 1, (alone[0], ""), (alone[1], "boundary")),
        *_study("SpanNER, hybrid less pooling", 1, (alone[0], ""), (alone[1], "pooling")),
        *_study("BL-SpanNER, hybrid less boundary", 1, (together[0], ""), (together[1], "boundary")),
        *_study("BL-SpanNER, hybrid less pooling", 1, (together[0], ""), (together[1], "pooling-fp32")),
    ]
    rest = _study("SpanNER, boundary less pooling", -1, (alone[0], "boundary"), (alone[1], "pooling"))
    return [
        PaperRow(
            what=what,
            found=tuple(found),
            remark=remark,
            table=f"{PAGE}#the-papers-studies-on-dev",
            commands=STUDIES,
            results=("bundling-studies.tar.xz",),
        )
        for what, found, remark in (
            (
                "Figure 7, the hybrid vector of a span",
                best,
                "F1 on dev of one corpus; the bundle with pooling had 32 bits, the others 16.",
            ),
            (
                "Figure 7, boundary beside pooling",
                rest,
                "F1 on dev of one corpus; in the paper pooling is above boundary on five of six corpora.",
            ),
        )
    ]


def _times() -> list[PaperRow]:
    """What a CRF costs beside softmax, and the hybrid vector beside the others; the ends are quartiles of ratios."""
    steps = read_result(RESULTS, "head_cost").get("training", {}).get("steps", {})
    chain = read_result(RESULTS, "binder_cost").get("training", {}).get("crf", {}).get("ratio")
    doubt = "quartiles of turns in place of an interval"
    hybrid = [
        Compared(
            what=f"time of a step, hybrid by {other}",
            paper=1.0,
            here=ours["median"] / theirs["median"],
            low=ours["low"] / theirs["high"],
            high=ours["high"] / theirs["low"],
            unit="level",
            margin=0.1,
            doubt=doubt,
        )
        for other in ("boundary", "pooling")
        if steps
        for ours, theirs in [(steps["spanner_hybrid"]["ratio"], steps[f"spanner_{other}"]["ratio"])]
    ]
    crf = [
        Compared(
            what="time of training, CRF by softmax",
            paper=2.0,
            here=chain["median"],
            low=chain["low"],
            high=chain["high"],
            unit="times",
            drawn=True,
            doubt=doubt,
        )
        for _ in range(bool(chain))
    ]
    parts = (
        ("§4.5.2, time of a CRF", crf, "The paper finds much more time, without a number.", "binder", "binder_cost"),
        ("§4.5.3, time of the hybrid vector", hybrid, "The paper finds no extra time.", "heads", "head_cost"),
    )
    return [
        PaperRow(
            what=what,
            found=tuple(found),
            remark=remark,
            table="binder-tables.md#cost-table-7" if script == "binder" else "results.md#what-heads-cost",
            commands=(f"studies.speed.{script}",),
            results=(f"{results}.json",),
        )
        for what, found, remark, script, results in parts
    ]

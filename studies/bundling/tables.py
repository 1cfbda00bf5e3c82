"""Tables of the study of bundling: Table 3, gains, gaps, unknown words, and how these go together.

All from the grid ``bundling``, its results files, and ``bundling-gains.json`` and
``bundling-oov.json`` beside their folder. What is not there yet is ``not run``; a cell of fewer
seeds than are planned says of how many it is.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fascicle.training.experiments.grid import Grid
from fascicle.training.experiments.results import read_result
from studies.bundling.gains import (
    FEWEST,
    MODELS,
    SINGLES,
    Corpus,
    Relation,
    bundled,
    corpora_of,
    other_of,
    relation,
)
from studies.bundling.paper import Printed, table3
from studies.bundling.pooled import intervals
from studies.tables.grids import MISSING, NOT_RUN, markdown, over_seeds

Points = Mapping[str, Sequence[tuple[float, float]]]
BySeed = Callable[[Corpus, str], Mapping[int, float]]
MARK = "†"


def published(grid: Grid) -> str:
    """Table 3 of the paper and the same systems here: test F1, mean and standard deviation over
    seeds.
    """
    printed = table3()
    body, doubtful = [], list[str]()
    for corpus in corpora_of(grid):
        cells = [over_seeds(corpus.f1(model), _planned(corpus, model)) for model in MODELS]
        body.append([corpus.name, "here", *cells])
        if corpus.name in printed:
            of = printed[corpus.name]
            body.append(["", "paper", *(_printed(of.get(model)) for model in MODELS)])
            doubtful += [
                f"{p.harmonic:.2f} ({corpus.name}, {m})" for m, p in of.items() if not p.consistent
            ]
    told = (
        f"\n\n{MARK} not the F1 of the precision and recall printed beside it: "
        f"{'; '.join(doubtful)}."
    )
    return markdown(["corpus", "", *MODELS], body) + (told if doubtful else "")


def gains(grid: Grid) -> str:
    """Gain of each head on each corpus and over all, with intervals, and the paper's."""
    corpora, sure = corpora_of(grid), intervals(grid)
    body = [
        [
            c.name,
            over_seeds(c.gaps("SpanNER"), _gap_planned(c), sign="+"),
            *(_gain(c, s, sure) for s in SINGLES),
        ]
        for c in corpora
    ]
    body.append(["mean of the corpora", "", *(_pooled(corpora, s, sure) for s in SINGLES)])
    both = [
        table3()[c.name] for c in corpora if c.name in table3() and any(c.gains(s) for s in SINGLES)
    ]
    for row in body[:-1]:
        row += _paper_differences([table3()[row[0]]] if row[0] in table3() else [])
    body[-1] += _paper_differences(both)
    own = ["SpanNER less SeqNER", *(f"gain of {single}" for single in SINGLES)]
    head = ["corpus", *own, *(f"paper: {what}" for what in own)]
    note = (
        f"{MARK} with the F1 of the printed precision and recall, where the printed F1 is another."
    )
    note += " The paper's means are over the corpora that have a gain here."
    return f"{markdown(head, body)}\n\n{note}"


def gaps(grid: Grid) -> str:
    """The points: for each corpus and seed the two single models, the gap between them, and the
    gains.
    """
    body = []
    for corpus in corpora_of(grid):
        by_seed = {
            "SeqNER": corpus.f1("SeqNER"),
            "SpanNER": corpus.f1("SpanNER"),
            "gap": corpus.gaps("SpanNER"),
            **{f"gain {single}": corpus.gains(single) for single in SINGLES},
        }
        seeds = sorted(set().union(*by_seed.values()))
        signed = [""] * 2 + ["+"] * 3
        body += [
            [
                corpus.name,
                str(seed),
                *(_plain(of.get(seed), f) for of, f in zip(by_seed.values(), signed, strict=True)),
            ]
            for seed in seeds
        ] or [[corpus.name, "", *[NOT_RUN] * len(by_seed)]]
    head = [
        "SeqNER",
        "SpanNER",
        "SpanNER less SeqNER",
        *(f"gain of {single}" for single in SINGLES),
    ]
    return markdown(["corpus", "seed", *head], body)


def unknown_words(grid: Grid) -> str:
    """Out-of-vocabulary density of each test part (Eq. 21), beside gap and gains."""
    oov = _densities(grid)
    body = []
    for corpus in corpora_of(grid):
        of = oov.get(corpus.name)
        told = (
            [f"{of['words']:,}", f"{of['density']:.3f}", f"{of['density_folded']:.3f}"]
            if of
            else [NOT_RUN] * 3
        )
        body.append(
            [
                corpus.name,
                *told,
                over_seeds(corpus.gaps("SpanNER"), _gap_planned(corpus), sign="+"),
                *(over_seeds(corpus.gains(s), corpus.planned(s), sign="+") for s in SINGLES),
            ]
        )
    own = ["SpanNER less SeqNER", *(f"gain of {single}" for single in SINGLES)]
    return markdown(
        ["corpus", "words of test", "OOV density", "OOV density, case folded", *own], body
    )


def relations(grid: Grid) -> str:
    """Correlations of gains with gaps and with unknown words."""
    corpora = corpora_of(grid)
    oov = {name: float(of["density"]) for name, of in _densities(grid).items()}
    printed = table3()
    rows: list[tuple[str, str, Points]] = []
    for single in SINGLES:
        gap, gain = f"{single} less {other_of(single)}", f"gain of {single}"
        rows += [
            (gain, f"{gap}, same seed", _with_gain(corpora, Corpus.gaps, single)),
            (
                f"{gain}, other seeds",
                f"{gap}, first seed",
                {c.name: c.apart(single) for c in corpora},
            ),
            (gain, "OOV density", _with_density(corpora, oov, Corpus.gains, single)),
            (
                f"{gain}, paper",
                f"{gap}, paper",
                {name: [_paper_point(of, single)] for name, of in printed.items()},
            ),
        ]
    rows.append(
        ("SpanNER less SeqNER", "OOV density", _with_density(corpora, oov, Corpus.gaps, "SpanNER"))
    )
    body = [[what, against, *_correlations(relation(points))] for what, against, points in rows]
    head = [
        "",
        "against",
        "points",
        "Pearson",
        "Spearman",
        "corpora",
        "Pearson of means",
        "Spearman of means",
    ]
    return markdown(head, body)


def _planned(corpus: Corpus, model: str) -> int:
    return len(corpus.rows[model].runs) if model in corpus.rows else 0


def _gap_planned(corpus: Corpus) -> int:
    return min(_planned(corpus, single) for single in SINGLES)


def _printed(row: Printed | None) -> str:
    """F1 as the paper has it; there is none for the tagger with a CRF, of which the paper shows
    a figure only.
    """
    return f"{row.f1:.2f}{'' if row.consistent else f' {MARK}'}" if row else ""


def _gain(corpus: Corpus, single: str, sure: Mapping[str, Any]) -> str:
    found = corpus.gains(single)
    told = over_seeds(found, corpus.planned(single), sign="+")
    return (
        f"{told}{_interval(sure.get(single, {}).get('corpora', {}).get(corpus.name))}"
        if found
        else told
    )


def _pooled(corpora: Sequence[Corpus], single: str, sure: Mapping[str, Any]) -> str:
    """The mean over the corpora of the mean over their seeds."""
    means = [
        statistics.mean(found.values()) for corpus in corpora if (found := corpus.gains(single))
    ]
    if not means:
        return NOT_RUN
    missing = f" ({len(means)} of {len(corpora)} corpora)" if len(means) < len(corpora) else ""
    return (
        f"**{statistics.mean(means):+.2f}**{missing}{_interval(sure.get(single, {}).get('pooled'))}"
    )


def _interval(found: Mapping[str, float] | None) -> str:
    if not found:
        return ", interval not computed"
    return f", {100 * found['low']:+.2f} to {100 * found['high']:+.2f}"


def _plain(value: float | None, sign: str) -> str:
    return NOT_RUN if value is None else f"{value:{sign}.2f}"


def _paper_differences(rows: Sequence[Mapping[str, Printed]]) -> list[str]:
    """Gap and gains as printed, means over corpora; in brackets with the F1 of printed precision
    and recall.
    """
    pairs = [("SpanNER", "SeqNER"), *((bundled(single), single) for single in SINGLES)]
    return [
        _paper_difference([of[a] for of in rows], [of[b] for of in rows]) if rows else ""
        for a, b in pairs
    ]


def _paper_difference(first: Sequence[Printed], second: Sequence[Printed]) -> str:
    told = statistics.mean(a.f1 - b.f1 for a, b in zip(first, second, strict=True))
    if all(p.consistent for p in (*first, *second)):
        return f"{told:+.2f}"
    meant = statistics.mean(a.likely - b.likely for a, b in zip(first, second, strict=True))
    return f"{told:+.2f} ({meant:+.2f} {MARK})"


def _paper_point(of: Mapping[str, Printed], single: str) -> tuple[float, float]:
    return of[single].f1 - of[other_of(single)].f1, of[bundled(single)].f1 - of[single].f1


def _with_gain(corpora: Iterable[Corpus], what: BySeed, single: str) -> Points:
    """Of each corpus what a seed has, and its gain, for the seeds that have both."""
    found = {c.name: (what(c, single), c.gains(single)) for c in corpora}
    return {
        name: [(xs[seed], ys[seed]) for seed in xs if seed in ys]
        for name, (xs, ys) in found.items()
    }


def _with_density(
    corpora: Iterable[Corpus], oov: Mapping[str, float], what: BySeed, single: str
) -> Points:
    return {
        c.name: [(oov[c.name], value) for value in what(c, single).values()]
        for c in corpora
        if c.name in oov
    }


def _correlations(found: Relation | None) -> list[str]:
    if found is None:
        return [NOT_RUN, *[""] * 5]
    of_means = [MISSING] * 2
    if found.of_means and found.corpora >= FEWEST:
        chance = [f" (p = {p:.2f})" for p in found.p] if found.p else [""] * 2
        of_means = [f"{r:+.2f}{p}" for r, p in zip(found.of_means, chance, strict=True)]
    return [
        str(found.points),
        *(f"{r:+.2f}" for r in found.of_points),
        str(found.corpora),
        *of_means,
    ]


def _densities(grid: Grid) -> dict[str, Any]:
    """Corpus -> what is known of the words of its test part, if it is the part that the results
    are of.
    """
    measured = read_result(grid.results.parent, "bundling-oov").get("corpora", {})
    kept = {}
    for corpus in corpora_of(grid):
        of = measured.get(corpus.name)
        data = [v["facts"]["data"] for model in corpus.rows for v in corpus.found(model).values()]
        if of and all(
            d[part]["sha256"] == of["sha256"][part] for d in data for part in ("train", "test")
        ):
            kept[corpus.name] = of["test"]
    return kept

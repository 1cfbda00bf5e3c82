"""Tables of the study of BINDER: its grids (``binder``, ``distant``, ``self-training``, ``noise``)
and other results.

What is not there yet is ``not run``; a cell of fewer seeds than are planned says of how many it is.
The paper's numbers stand beside ours where it has any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fascicle.errors import InputError
from fascicle.evaluation.scoring.scores import Scores
from fascicle.evaluation.uncertainty.intervals import Measure, bootstrap_difference
from fascicle.training.experiments.grid import Grid
from fascicle.training.experiments.results import read_result, stored_scores
from studies.binder.paper import ALL, DISTANT, PRF, SUPERVISED, TABLES
from studies.bundling.hierarchical import bootstrap_pooled
from studies.tables.grids import MISSING, NOT_RUN, Row, markdown, over_seeds, points, rows_of

NAMES = {"softmax": "SEQ", "crf": "SeqCRF", "spanner": "SpanNER", "binder": "BINDER"}
VARIANT_CORPORA = ("conll04", "scierc")
NOISED = ("softmax", "spanner", "binder")
DRAWS = 2000  # of seeds and documents
WINDOWS = (64, 128, 256)  # pieces
RULES = {
    "raw": "as written",
    "core": "three casings, names alone",
    "three-casings": "three casings, with phrases",
}
LABELS = {"raw": "raw", "core": "core", "": "three-casings"}  # variant of the grid -> rule
MEASURES: tuple[tuple[Measure, str], ...] = (
    ("f1", "F1"),
    ("precision", "precision"),
    ("recall", "recall"),
)


class Found:
    """The rows of a grid that are scored on test, by corpus, system and variant."""

    def __init__(self, grid: Grid) -> None:
        """Reads the results."""
        rows = [row for row in rows_of(grid, grid.results) if row.runs[0].recipe.corpus.test]
        self._rows = {(row.corpus, row.system, row.variant): row for row in rows}
        self.corpora = tuple(dict.fromkeys(row.corpus for row in rows))

    def row(self, corpus: str, system: str, variant: str = "") -> Row | None:
        """One row; ``None`` if it is not planned."""
        return self._rows.get((corpus, system, variant))

    def values(
        self, corpus: str, system: str, variant: str = "", *, which: str = "f1"
    ) -> dict[int, float]:
        """Seed -> points on test of the runs that are done."""
        row = self.row(corpus, system, variant)
        return (
            {seed: 100 * float(v["test"]["micro"][which]) for seed, v in row.found.items()}
            if row
            else {}
        )

    def cell(self, corpus: str, system: str, variant: str = "", *, which: str = "f1") -> str:
        """Mean and standard deviation; empty if the row is not planned."""
        row = self.row(corpus, system, variant)
        return (
            over_seeds(self.values(corpus, system, variant, which=which), len(row.runs))
            if row
            else ""
        )

    def nested(self, corpus: str) -> str:
        """The variant of a corpus that decodes nested mentions, where that is the one that is
        planned.
        """
        return "" if self.row(corpus, "binder") else "nested"


def differences(first: Row | None, second: Row | None, measure: Measure = "f1") -> str:
    """One measure of the first less that of the second, with a paired 95 % interval, for each
    seed that both have.
    """
    if first is None or second is None:
        return ""
    told = []
    for seed in sorted(first.found.keys() & second.found.keys()):
        counts = [row.found[seed].get("test_counts") for row in (first, second)]
        if not all(counts):
            return MISSING
        try:
            d = bootstrap_difference(*(stored_scores(c) for c in counts if c), measure=measure)
        except InputError:
            # one was scored document by document, the other sentence by sentence
            return "other units"
        told.append(points(d))
    return "; ".join(told) or NOT_RUN


def supervised(grid: Grid) -> str:
    """Test F1 of all systems on all corpora, beside Tables 1, 2, 3 and 10."""
    found, body = Found(grid), []
    for corpus, variant in _compared(found):
        cells = [found.cell(corpus, system, _variant_of(system, variant)) for system in NAMES]
        printed, other, of_other, where = SUPERVISED.get(corpus, (0.0, "", 0.0, ""))
        paper = [str(printed), f"{of_other}, {other}", where] if other else ["", "", ""]
        body.append([_named(corpus, variant), *cells, *paper])
    return markdown(
        ["test F1", *NAMES.values(), "paper: BINDER", "paper: beside it", "paper: where"], body
    )


def beside(grid: Grid, heads: Grid) -> str:
    """BINDER less each other system, on all corpora; those of another grid stand beside."""
    found, others, body = Found(grid), Found(heads), []
    for corpus, variant in _compared(found):
        tuned = f"{variant}-tuned" if variant else "tuned"
        rows = [
            found.row(corpus, system, _variant_of(system, variant))
            for system in NAMES
            if system != "binder"
        ]
        rows += [
            others.row(corpus, "spanner-hybrid", tuned),
            others.row(corpus, "biaffine", variant),
        ]
        first = found.row(corpus, "binder", variant)
        for measure, name in MEASURES if first and first.found else MEASURES[:1]:
            body.append(
                [_named(corpus, variant), name, *(differences(first, row, measure) for row in rows)]
            )
    names = [name for system, name in NAMES.items() if system != "binder"]
    return markdown(["test", "BINDER less", *names, "SpanNER, tuned on dev", "biaffine"], body)


def _compared(found: Found) -> list[tuple[str, str]]:
    """The corpora on which all systems are planned, each with the variant of those that can
    nest.
    """
    return [(corpus, found.nested(corpus)) for corpus in found.corpora if found.row(corpus, "crf")]


def _named(corpus: str, variant: str) -> str:
    return f"{corpus}, {variant}" if variant else corpus


def _variant_of(system: str, variant: str) -> str:
    return variant if system in ("spanner", "binder") else ""


def variants(grid: Grid, number: int) -> str:
    """Table 4, 5 or 6 of the paper: variants on two corpora."""
    found, body = Found(grid), []
    for variant, (name, printed) in TABLES[number].items():
        cells = []
        for corpus in VARIANT_CORPORA:
            cells += [found.cell(corpus, "binder", variant, which=which) for which in ALL]
            cells.append(_less_full(found, corpus, variant) if variant else "")
        body.append([name, *cells, _printed(printed)])
    heads = [
        f"{corpus}, {w}"
        for corpus in VARIANT_CORPORA
        for w in ("P", "R", "F1", "F1 less the full model")
    ]
    return markdown([f"Table {number}", *heads, "paper, ACE2005: P / R / F1"], body)


def windows(grid: Grid) -> str:
    """Lengths of windows (A.3) on scierc: test P, R and F1, and F1 less that of the longest,
    each seed.
    """
    found = Found(grid)
    rows = {length: found.row("scierc", "binder", f"window-{length}") for length in WINDOWS}
    body = []
    for length, row in rows.items():
        cells = [found.cell("scierc", "binder", f"window-{length}", which=which) for which in ALL]
        body.append(
            [
                str(length),
                *cells,
                "" if length == WINDOWS[-1] else differences(row, rows[WINDOWS[-1]]),
            ]
        )
    return markdown(["pieces", "P", "R", "F1", f"F1 less that of {WINDOWS[-1]}, each seed"], body)


def _less_full(found: Found, corpus: str, variant: str) -> str:
    """Mean over the seeds that both have, with an interval over seeds and documents."""
    row, base = found.row(corpus, "binder", variant), found.row(corpus, "binder")
    if row is None or base is None:
        return ""
    planned = {r.recipe.seed for r in row.runs} & {r.recipe.seed for r in base.runs}
    both = [seed for seed in sorted(planned) if seed in row.found and seed in base.found]
    if not both:
        return NOT_RUN
    d = bootstrap_pooled(
        [[(_scores(row, seed), _scores(base, seed)) for seed in both]], resamples=DRAWS
    )
    return f"{points(d)}{f' ({len(both)} of {len(planned)} seeds)' if len(both) < len(planned) else ''}"


def _scores(row: Row, seed: int) -> Scores:
    return stored_scores(row.found[seed]["test_counts"])


def _printed(numbers: PRF | None) -> str:
    return " / ".join(f"{n:.1f}" for n in numbers) if numbers else ""


def distant(grid: Grid, rounds: Grid) -> str:
    """BC5CDR from a dictionary alone, and after rounds of self-training, beside Table 3."""
    found, corpus = Found(grid), "bc5cdr"
    measured = read_result(grid.results.parent, "distant")
    body = []
    for rule, name in RULES.items():
        of = measured.get(rule, {}).get("test", {}).get("micro")
        cells = [f"{100 * of[which]:.2f}" for which in ALL] if of else [NOT_RUN] * 3
        body.append([f"dictionary alone, {name}", "", *cells, "", ""])
    before: dict[str, Row] = {}
    for variant, rule in LABELS.items():
        for system, name in NAMES.items():
            row = found.row(corpus, system, variant)
            if row is None:
                continue
            gap = (
                ""
                if system == "softmax"
                else differences(row, found.row(corpus, "softmax", variant))
            )
            gain = differences(row, before.get(system))
            before[system] = row
            body.append(
                [
                    name,
                    RULES[rule],
                    *(found.cell(corpus, system, variant, which=which) for which in ALL),
                    gap,
                    gain,
                ]
            )
    body += _rounds(Found(rounds), found.row(corpus, "softmax", "raw"))
    body += [
        [name, "paper", *(f"{n:.1f}" for n in numbers), "", ""] for name, numbers in DISTANT.items()
    ]
    gaps = ["F1 less SEQ, each seed", "F1 less that of the labels before"]
    return markdown(["test", "labels", "precision", "recall", "F1", *gaps], body)


def _rounds(found: Found, first: Row | None) -> Iterator[list[str]]:
    """The rounds of self-training after a first stage, each less that stage and less the round
    before it.
    """
    before = first
    for name in found.corpora:
        row = found.row(name, "softmax")
        cells = [found.cell(name, "softmax", which=which) for which in ALL]
        told = f"{RULES['raw']}, then its own, {name.replace('-', ' ')}"
        yield ["SEQ", told, *cells, differences(row, first), differences(row, before)]
        before = row


def rules(results: Path) -> str:
    """How right the labels of the dictionary are, by mention and by word, beside what others
    report.
    """
    measured = read_result(results, "distant")
    body = []
    for rule, name in RULES.items():
        for part, kind in (("train", "Chemical"), ("train", "Disease"), ("test", "micro")):
            of = measured.get(rule, {}).get(part, {})
            cells = [_rates(of, kind), _rates(of.get("words", {}), kind)]
            body.append(
                [
                    name,
                    part,
                    kind,
                    *cells,
                    _reported(measured.get("reported", []), rule, part, kind),
                ]
            )
    return markdown(
        ["rule", "part", "type", "mentions: P / R", "words: P / R", "reported elsewhere: P / R"],
        body,
    )


def _rates(of: Mapping[str, Any], kind: str) -> str:
    row = of.get("micro") if kind == "micro" else of.get("types", {}).get(kind)
    return f"{100 * row['precision']:.1f} / {100 * row['recall']:.1f}" if row else NOT_RUN


def _reported(listed: Iterable[Mapping[str, Any]], rule: str, part: str, kind: str) -> str:
    chosen = [
        r for r in listed if r["rule"] in ("", rule) and (r["part"], r["type"]) == (part, kind)
    ]
    return "; ".join(f"{r['precision']:.1f} / {r['recall']:.1f} ({r['source']})" for r in chosen)


def noises(found: Found) -> dict[str, dict[str, list[float]]]:
    """The corpora of noisy parts, the kinds of noise of each, and the planned shares of each
    kind.
    """
    kinds: dict[str, dict[str, list[float]]] = {}
    for name in found.corpora:
        corpus, kind, share = name.rsplit("-", 2)
        kinds.setdefault(corpus, {}).setdefault(kind, []).append(float(share))
    return kinds


def noise(grid: Grid, clean: Grid) -> str:
    """Test F1 by the share of training mentions that are wrong, what that costs, and what is
    left of BINDER's lead.
    """
    found, without, body = Found(grid), Found(clean), []
    for corpus, kinds in noises(found).items():
        first = [without.row(corpus, system) for system in NOISED]
        cells = [without.cell(corpus, system) for system in NOISED]
        body.append([corpus, "none", "0", *cells, "", "", "", *_leads(first)])
        for kind, shares in kinds.items():
            for share in shares:
                name = f"{corpus}-{kind}-{share}"
                rows = [found.row(name, system) for system in NOISED]
                costs = [differences(row, base) for row, base in zip(rows, first, strict=True)]
                cells = [found.cell(name, system) for system in NOISED]
                body.append([corpus, kind, f"{share:g}", *cells, *costs, *_leads(rows)])
    told = [NAMES[system] for system in NOISED]
    heads = [
        *(f"{name}, less no noise" for name in told),
        *(f"BINDER less {name}" for name in told[:-1]),
    ]
    return markdown(["corpus", "noise", "share", *told, *heads], body)


def noise_parts(grid: Grid) -> str:
    """What is lost to wrong labels, mentions found or mentions right: test precision and recall."""
    found = Found(grid)
    columns = [(which, system) for which in ("precision", "recall") for system in NOISED]
    body = [
        [
            corpus,
            kind,
            f"{share:g}",
            *(found.cell(f"{corpus}-{kind}-{share}", s, which=which) for which, s in columns),
        ]
        for corpus, kinds in noises(found).items()
        for kind, shares in kinds.items()
        for share in shares
    ]
    told = [f"{NAMES[system]}, {which}" for which, system in columns]
    return markdown(["corpus", "noise", "share", *told], body)


def _leads(rows: Sequence[Row | None]) -> list[str]:
    """BINDER, the last, less each of the others."""
    *others, binder = rows
    return [differences(binder, other) for other in others]

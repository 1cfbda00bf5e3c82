"""Tables of the studies of bundling on dev, of the gradients, and of what a bundle costs.

All from the grid ``bundling-studies`` and the results beside it. What is not there yet is ``not
run``; a cell of fewer seeds than are planned says of how many it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from fascicle.training.experiments.grid import Grid
from studies.tables.grids import Row, markdown, over_seeds, rows_of

Key = tuple[str, str, str, str]  # corpus, system, variant, head


@dataclass(frozen=True, kw_only=True)
class Dev:
    """F1 on dev of every row of a grid."""

    rows: Mapping[Key, Row]

    def f1(self, *key: str) -> dict[int, float]:
        """Seed -> F1 in points of the runs that are done; of a variant in fp32, other seeds in
        the grid's precision.
        """
        return {
            seed: 100 * float(v["dev"]["micro"]["f1"])
            for row in self._rows(key)
            for seed, v in row.found.items()
        }

    def seeds(self, *key: str) -> set[int]:
        """The seeds that are planned."""
        return {run.recipe.seed for row in self._rows(key) for run in row.runs}

    def _rows(self, key: tuple[str, ...]) -> list[Row]:
        """The row of the grid's precision, then that in fp32, if one is asked for."""
        corpus, system, variant, head = key
        variants = dict.fromkeys((variant.removesuffix("fp32").removesuffix("-"), variant))
        found = (self.rows.get((corpus, system, one, head)) for one in variants)
        return [row for row in found if row is not None]

    def cell(self, *key: str) -> str:
        """Mean and standard deviation; empty if the row is not planned."""
        planned = self.seeds(*key)
        return over_seeds(self.f1(*key), len(planned)) if planned else ""


def dev_of(grid: Grid) -> Dev:
    """The rows of a grid by corpus, system, variant and head."""
    return Dev(
        rows={(r.corpus, r.system, r.variant, r.head): r for r in rows_of(grid, grid.results)}
    )


def weights(studies: Grid, main: Grid) -> str:
    """Figure 5: both heads for each weight of the tagger, and the single models of the seeds
    that are done.
    """
    dev, others = dev_of(studies), dev_of(main)
    alphas = {
        run.recipe.bundle.weight: run.variant
        for run in studies.runs
        if run.system == "bundle"
        and run.recipe.bundle
        and run.variant.partition("-")[0] in ("", "alpha")
    }
    corpora = list(
        dict.fromkeys(run.corpus for run in studies.runs if run.variant.startswith("alpha"))
    )
    body = [
        [
            f"alpha = {alpha:g}",
            *(
                dev.cell(corpus, "bundle", variant, head)
                for corpus in corpora
                for head in ("softmax", "span")
            ),
        ]
        for alpha, variant in sorted(alphas.items())
    ]
    alone = []
    for corpus in corpora:
        planned = len(dev.seeds(corpus, "bundle", "", "span"))
        for system, head in (("softmax", "softmax"), ("spanner", "span")):
            seeds = set().union(
                *(dev.f1(corpus, "bundle", variant, head) for variant in alphas.values())
            )
            found = others.f1(corpus, system, "", "") | dev.f1(corpus, system, "", "")
            alone.append(over_seeds({s: f1 for s, f1 in found.items() if s in seeds}, planned))
    columns = [f"{corpus}, {model}" for corpus in corpora for model in ("BL-SeqNER", "BL-SpanNER")]
    return markdown(["dev F1", *columns], [*body, ["the single models", *alone]])


def taggers(studies: Grid) -> str:
    """Figure 6: two ways of tagging."""
    dev = dev_of(studies)
    rows = {"softmax": ("softmax", ""), "CRF": ("crf", "crf")}
    body = [
        [
            name,
            dev.cell("conll04", system, "", ""),
            dev.cell("conll04", "bundle", variant, system),
            dev.cell("conll04", "bundle", variant, "span"),
        ]
        for name, (system, variant) in rows.items()
    ]
    return markdown(["dev F1 on conll04, tagger", "SeqNER", "BL-SeqNER", "BL-SpanNER"], body)


def representations(studies: Grid) -> str:
    """Figure 7: three vectors of a span."""
    dev = dev_of(studies)
    body = [
        [
            name,
            dev.cell("conll04", "spanner", alone, ""),
            dev.cell("conll04", "bundle", bundled, "span"),
            dev.cell("conll04", "bundle", bundled, "softmax"),
        ]
        for name, alone, bundled in (
            ("boundary", "boundary", "boundary"),
            ("pooling", "pooling", "pooling-fp32"),
            ("hybrid", "", ""),
        )
    ]
    return markdown(["dev F1 on conll04, span vector", "SpanNER", "BL-SpanNER", "BL-SeqNER"], body)


OTHERS = (  # model, its cell, what is bundled onto it, the cell of that
    (
        "SpanPred",
        ("spanpred", "fp32", ""),
        "a tagger, alpha = 0.1",
        ("spanpred-bundle", "fp32", "span"),
    ),
    (
        "biaffine",
        ("biaffine", "fp32", ""),
        "a tagger, alpha = 0.1",
        ("biaffine-bundle", "fp32", "biaffine"),
    ),
    ("SeqCRF", ("crf", "", ""), "SpanNER, alpha = 0.1", ("bundle", "crf", "crf")),
    ("SeqCRF", ("crf", "fp32", ""), "SpanNER, alpha = 0.9", ("crf-bundle", "fp32", "crf")),
    ("BINDER", ("binder", "", ""), "a tagger, alpha = 0.1", ("binder-bundle", "", "binder")),
)


def others(studies: Grid, binder: Grid) -> str:
    """Table 8's question: other models, alone and with a second head bundled onto them.

    Args:
        studies: the grid of the studies.
        binder: the grid that has BINDER alone.
    """
    dev, of_binder = dev_of(studies), dev_of(binder)
    body = []
    for corpus, (model, alone, what, together) in itertools.product(("conll04", "scierc"), OTHERS):
        if corpus == "scierc" and not dev.seeds(corpus, *together):
            continue  # its plan has no CRF with a tenth of a span head
        single = of_binder if model == "BINDER" else dev
        first, second = dev.f1(corpus, *together), single.f1(corpus, *alone)
        common = {seed: first[seed] - second[seed] for seed in second if seed in first}
        planned = len(single.seeds(corpus, *alone) & dev.seeds(corpus, *together))
        cells = [single.cell(corpus, *alone), dev.cell(corpus, *together)]
        body.append([corpus, model, what, *cells, over_seeds(common, planned, sign="+")])
    return markdown(
        ["dev F1", "model", "bundled with", "alone", "bundled", "gain, same seeds"], body
    )

"""Tables of the studies of bundling on dev, of the gradients, and of what a bundle costs.

All from the grid ``bundling-studies`` and the results beside it. What is not there yet is ``not
run``; a cell of fewer seeds than are planned says of how many it is.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fascicle.training.experiments.grid import Grid
from fascicle.training.experiments.results import read_result
from studies.tables.grids import NOT_RUN, Row, markdown, over_seeds, rows_of

Key = tuple[str, str, str, str]  # corpus, system, variant, head
GOALS = {"training": 1.25, "inference": 1.0}  # of a bundle, times its slower single model


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


def gradients(results: Path) -> str:
    """Agreement of the two gradients over training, one table for each run."""
    runs = read_result(results, "bundling-gradients").get("runs", {})
    return "\n\n".join(_of_run(name, run) for name, run in runs.items()) or NOT_RUN


def _of_run(name: str, run: Mapping[str, Any]) -> str:
    first, second = run["weights"]
    body = []
    for line in run["epochs"]:
        parts = line["parts"]
        cells = [_number(line["losses"][head], 3) for head in (second, first)]
        cells += [
            _number(parts["encoder"]["norm_ratio"]),
            _number(line["pull"]),
            _quartiles(line["batch_cosines"]),
        ]
        body.append(
            [
                str(line["epoch"]),
                *cells,
                *(_number(parts[p]["cosine"], sign="+") for p in _ordered(parts)),
            ]
        )
    ratio = f"`{second}` : `{first}`"
    head = ["epoch", f"loss, `{second}`", f"loss, `{first}`", f"norms, {ratio}", f"pull, {ratio}"]
    head += [
        "cosine of single batches",
        *(f"cosine, {part}" for part in _ordered(run["epochs"][0]["parts"])),
    ]
    return f"`{name}`, trained in {run.get('precision', 'bf16')}\n\n{markdown(head, body)}"


def _ordered(parts: Mapping[str, Any]) -> list[str]:
    """The whole encoder, the embeddings, the layers by number."""
    return sorted(
        parts, key=lambda part: (part != "encoder", part != "embeddings", len(part), part)
    )


def _quartiles(values: list[float | None]) -> str:
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return _number(known[0], sign="+") if known else "none"
    low, middle, high = statistics.quantiles(known, n=4)
    return f"{middle:+.2f} ({low:+.2f} to {high:+.2f})"


def _number(value: float | None, digits: int = 2, *, sign: str = "") -> str:
    return "none" if value is None else f"{value:{sign}.{digits}f}"


def cost(results: Path) -> str:
    """Time of a bundle against its slower single model, and the goals."""
    found = read_result(results, "bundle-cost")
    body = [["training epoch", *_cost(found.get("training")), f"at most {GOALS['training']}"]]
    for model, head in (("BL-SeqNER", "softmax"), ("BL-SpanNER", "span")):
        of = found["inference"][head] if found else None
        body.append([f"inference, {model}", *_cost(of), f"at most {GOALS['inference']}"])
    head_row = [
        "time of the bundle",
        "to the slower single model",
        "which is",
        "to the single model of its head",
        "goal",
    ]
    return markdown(head_row, body)


def _cost(of: Mapping[str, Any] | None) -> list[str]:
    if not of:
        return [NOT_RUN, "", ""]
    own = of.get("ratio_to_same_head")
    return [_ratio(of["ratio"]), f"`{of['slower']}`", _ratio(own) if own else ""]


def _ratio(of: Mapping[str, float]) -> str:
    return f"{of['median']:.2f} ({of['low']:.2f} to {of['high']:.2f})"

"""Tables of what a training step costs, of ``studies/docs/speed.md``; from ``studies/results/``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from studies.common import result
from studies.tables.grids import MISSING, markdown

_BASE = "softmax"


def steps() -> str:
    """A step of each family and of the loops by hand, times that of the softmax tagger."""
    found = result("training-speed")
    if not found:
        return MISSING
    corpora = found["corpora"]
    base = [f"{one['steps'][_BASE]['cpu_ms_per_step']:.0f} ms" for one in corpora.values()]
    body = [[f"`{_BASE}`", *base]]
    for name in next(iter(corpora.values()))["steps"]:
        if name != _BASE:
            body.append([name, *(_ratio(one["steps"][name]) for one in corpora.values())])
    for key, what in (
        ("cells", "pieces of a batch, with padding"),
        ("pieces", "pieces of a batch"),
    ):
        body.append([what, *(f"{one['batch'][key]:.0f}" for one in corpora.values())])
    body.append(
        [
            "pieces that `binder` reads of types",
            *(str(one["read_of_types"]["pieces"]) for one in corpora.values()),
        ]
    )
    note = f"Measured on {found['date']}; beside it ran: {found['beside']}."
    return f"{markdown(('CPU time of a step, times `softmax`', *corpora), body)}\n\n{note}"


def shares() -> str:
    """Where the time of a step of the softmax tagger goes."""
    found = result("training-speed")
    if not found:
        return MISSING
    corpora = found["corpora"]
    kinds = next(iter(corpora.values()))["shares"]
    body = [
        [kind, *(f"{100 * one['shares'][kind]:.1f} %" for one in corpora.values())]
        for kind in kinds
    ]
    return markdown(("share of a step", *corpora), body)


def learnt() -> str:
    """F1 of small trainings with either dropout."""
    found = result("training-f1")
    if not found:
        return MISSING
    seeds = range(1, 1 + len(next(iter(found["f1"].values()))))
    body = [
        [kind, *(f"{value:.2f}" for value in scores), f"{found['mean'][kind]:.2f}"]
        for kind, scores in found["f1"].items()
    ]
    what = f"dev F1, {found['sentences']} sentences, {found['epochs']} epochs; dropout"
    return markdown((what, *(f"seed {seed}" for seed in seeds), "mean"), body)


TABLES: Mapping[str, Callable[[], str]] = {
    "speed-training": steps,
    "speed-training-shares": shares,
    "speed-training-f1": learnt,
}


def _ratio(row: Mapping[str, Any]) -> str:
    ratio = row["ratio"]
    return f"{ratio['median']:.2f} ({ratio['low']:.2f} to {ratio['high']:.2f})"

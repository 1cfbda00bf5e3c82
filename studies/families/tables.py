"""Which family is good at which mention, and which errors bundling moves: tables of
``family-reports.json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fascicle.training.experiments.results import read_result
from studies.families.reports import MEASURES, NAME, PAIRS
from studies.tables.grids import NOT_RUN, markdown

GRID = "span-heads"
# row of Table 6 of *bundling-learning*: a system of the grid less another
BUNDLED: Mapping[str, tuple[str, str]] = {
    "SeqNER less SpanNER": ("`softmax`", "`spanner`"),
    "BL-SpanNER less SpanNER": ("`bundle`, head `span`", "`spanner`"),
    "BL-SeqNER less SeqNER": ("`bundle`, head `softmax`", "`softmax`"),
}
# the first is what others are less of
SHOWN = ("`softmax`", "`crf`", "`spanpred`", "`spanner-hybrid`", "`biaffine`")
FEWEST = 20  # gold mentions of an interval, of one seed, below which no F1 is told
KINDS = ("type", "boundary", "boundary-and-type", "split", "merged", "spurious", "missed")


def bucketed(results: Path, attribute: str) -> str:
    """F1 of the first system in the intervals of an attribute, and what the others have more, for
    each corpus.

    A corpus whose mentions all fall into one interval is left out.
    """
    corpora = read_result(results, NAME).get("grids", {}).get(GRID, {})
    if not corpora:
        return NOT_RUN
    labels = next(iter(corpora.values()))["intervals"][attribute]
    body = []
    for corpus, of in corpora.items():
        base, seeds = _buckets(of, SHOWN[0], attribute), len(of["systems"][SHOWN[0]]["seeds"])
        told = [(tp + fn) / seeds >= FEWEST for tp, _, fn in base]
        if sum(told) < 2:
            continue
        for system in _shown(of):
            own = _buckets(of, system, attribute)
            cells = [
                _bucket(*pair, first=system == SHOWN[0]) for pair in zip(own, base, strict=True)
            ]
            cells = [cell if enough else "–" for cell, enough in zip(cells, told, strict=True)]
            body.append([corpus if system == SHOWN[0] else "", system, *cells])
    return markdown(["corpus", "system", *labels], body)


def bundled(results: Path, attribute: str) -> str:
    """F1 of SpanNER in the intervals of an attribute, and differences of F1, for each corpus.

    The paper shows every system as a difference to SpanNER; here a head of a bundle stands beside
    its single model.
    """
    corpora = read_result(results, NAME).get("grids", {}).get("bundling", {})
    if not corpora:
        return NOT_RUN
    body = []
    for corpus, of in corpora.items():
        base, seeds = _buckets(of, "`spanner`", attribute), len(of["systems"]["`spanner`"]["seeds"])
        told = [(tp + fn) / seeds >= FEWEST for tp, _, fn in base]
        rows = {"SpanNER": [_bucket(own, own, first=True) for own in base]}
        for name, (system, other) in BUNDLED.items():
            pairs = zip(
                _buckets(of, system, attribute), _buckets(of, other, attribute), strict=True
            )
            rows[name] = [_bucket(*pair, first=False) for pair in pairs]
        for name, cells in rows.items():
            shown = [cell if enough else "–" for cell, enough in zip(cells, told, strict=True)]
            body.append([corpus if name == "SpanNER" else "", name, *shown])
    labels = next(iter(corpora.values()))["intervals"][attribute]
    return markdown(["corpus", "system", *labels], body)


def errors(results: Path) -> str:
    """Errors for 100 gold mentions, by class: false positives / false negatives."""
    corpora = read_result(results, NAME).get("grids", {}).get(GRID, {})
    body = []
    for corpus, of in corpora.items():
        for system in _shown(of):
            told = of["systems"][system]
            gold = of["gold"] * len(told["seeds"]) / 100
            cells = [
                _both_sides(kind, [count / gold for count in told["errors"][kind]])
                for kind in KINDS
            ]
            body.append([corpus if system == SHOWN[0] else "", system, *cells])
    return markdown(["corpus", "system", *KINDS], body) if body else NOT_RUN


def moved(results: Path) -> str:
    """Boundary and type errors of the systems of *bundling-learning*: what one has less another."""
    differences = read_result(results, NAME).get("differences", {})
    body = [
        [pair if first else "", corpus, *(_signed(told[name]) for name in MEASURES)]
        for pair in PAIRS
        for first, (corpus, told) in _with_first(differences.get(pair, {}))
    ]
    return markdown(["", "corpus", *MEASURES], body) if body else NOT_RUN


def _both_sides(kind: str, counts: Sequence[float]) -> str:
    """False positives and false negatives of a class; two classes are of one side only."""
    if kind in ("spurious", "missed"):
        return f"{sum(counts):.1f}"
    return " / ".join(f"{count:.1f}" for count in counts)


def _shown(of: Mapping[str, Any]) -> list[str]:
    """The systems of a corpus that stand in the tables, nested variants beside flat ones."""
    return [name for first in SHOWN for name in of["systems"] if name.split(",")[0] == first]


def _with_first(of: Mapping[str, Any]) -> Sequence[tuple[bool, tuple[str, Any]]]:
    return [(at == 0, item) for at, item in enumerate(of.items())]


def _buckets(of: Mapping[str, Any], system: str, attribute: str) -> list[tuple[int, int, int]]:
    told = of["systems"][system]
    return [(tp, fp, fn) for tp, fp, fn in told["buckets"][attribute]]


def _bucket(own: tuple[int, int, int], base: tuple[int, int, int], *, first: bool) -> str:
    """An F1 in percent, or the difference of two."""
    if first:
        return f"{_f1(own):.1f}"
    return f"{_f1(own) - _f1(base):+.1f}"


def _f1(counts: tuple[int, int, int]) -> float:
    tp, fp, fn = counts
    return 200 * tp / max(1, 2 * tp + fp + fn)


def _signed(of: Sequence[float]) -> str:
    return f"{of[0]:+.1f} ({of[1]:+.1f} to {of[2]:+.1f})"

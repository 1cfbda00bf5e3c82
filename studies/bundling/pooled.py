"""How sure are the gains of bundling? Intervals for each corpus and pooled over all, from the
results of the grid.

usage: python -m studies.bundling.pooled

Reads the results files of ``studies/grids/bundling.toml``; no corpus is needed. For each head: the
gain on each corpus, with seeds and test units drawn with replacement, and the mean gain over the
corpora, with corpora, seeds and test units drawn (``hierarchical``). Takes a minute or so for the
whole grid, so the tables read ``results/bundling-gains.json``, and show an interval only while the
results are those that it was made from.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fascicle.errors import InputError
from fascicle.training.experiments.grid import Grid, read_grid
from fascicle.training.experiments.results import read_result
from studies.bundling.gains import SINGLES, Corpus, corpora_of
from studies.bundling.hierarchical import Pair, bootstrap_pooled
from studies.common import GRIDS, write_result

NAME = "bundling-gains"
DRAWS = 10_000


def pooled(grid: Grid, *, draws: int = DRAWS) -> dict[str, Any]:
    """Gains with intervals, by head: of each corpus, of all, and what they were made from.

    Raises:
        InputError: bundle and single model of a corpus were not scored on the same test part.
    """
    corpora = corpora_of(grid)
    found: dict[str, Any] = {}
    for single in SINGLES:
        pairs = {corpus.name: corpus.pairs(single) for corpus in corpora}
        used = {name: list(of.values()) for name, of in pairs.items() if of}
        found[single] = {
            "fingerprint": fingerprint(corpora, single),
            "seeds": {name: list(of) for name, of in pairs.items()},
            "corpora": {name: _gain(name, [of], draws=draws) for name, of in used.items()},
            "pooled": _gain("all corpora", list(used.values()), draws=draws) if used else None,
        }
    return found


def intervals(grid: Grid) -> dict[str, Any]:
    """Head -> gains with intervals, as stored; nothing for a head whose results have changed
    since.
    """
    stored = read_result(grid.results.parent, NAME).get("heads", {})
    corpora = corpora_of(grid)
    return {
        single: of
        for single in SINGLES
        if (of := stored.get(single)) and of["fingerprint"] == fingerprint(corpora, single)
    }


def fingerprint(corpora: list[Corpus], single: str) -> str:
    """Hash of all counts that the gains of a head are made of."""
    counts = {
        corpus.name: {str(s): _counts(pair) for s, pair in corpus.pairs(single).items()}
        for corpus in corpora
    }
    return hashlib.sha256(json.dumps(counts, sort_keys=True).encode("utf-8")).hexdigest()


def _counts(pair: Pair) -> list[list[tuple[int, int, int]]]:
    return [[(c.tp, c.fp, c.fn) for c in scores.by_document.values()] for scores in pair]


def _gain(name: str, pairs: list[list[Pair]], *, draws: int) -> dict[str, float | int]:
    try:
        return bootstrap_pooled(pairs, resamples=draws).as_dict()
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def lines(report: Mapping[str, Any]) -> list[str]:
    """What was found, for a person."""
    told = []
    for single, of in report.items():
        rows = {**of["corpora"], **({"all corpora": of["pooled"]} if of["pooled"] else {})}
        told += [
            f"{single:8} {name:14} {100 * g['estimate']:+.2f} ({100 * g['low']:+.2f} to "
            f"{100 * g['high']:+.2f})"
            for name, g in rows.items()
        ] or [f"{single:8} no bundle and single model of one seed are done"]
    return told


def main(path: Path = GRIDS / "bundling.toml") -> int:
    """Computes, prints and writes ``results/bundling-gains.json``."""
    try:
        report = pooled(read_grid(path))
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    print("\n".join(lines(report)))
    write_result(
        NAME, {"what": "gain in test F1 of bundling, by head", "draws": DRAWS, "heads": report}
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Ratios of training times with an interval: the hybrid vector of a span by its halves, and BINDER
by other systems.

usage: python -m studies.papers.turns [--rounds 30] [--few 12]

``FASCICLE_DATA`` names the corpora. The heads are those of ``studies.speed.heads``, the systems those
of ``studies.speed.binder``, both on one thread; all of a group take turns of two steps on the same
batches, each round in another order. The two take the quartiles of the ratios; here stands the
median with ends of order: so many of the ratios from each side that the median of all turns that
could be made is between them with at least 95 %, whatever their distribution. CPU time is counted.
Written: ``results/papers-turns.json``.
"""

from __future__ import annotations

import os

os.environ["RAYON_NUM_THREADS"] = "1"  # read by the tokenizer when it is first used

import argparse
import math
import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import torch

from fascicle.training.experiments.grid import read_grid
from fascicle.training.recogniser.parts import read_parts
from studies.common import GRIDS, write_result
from studies.papers.sources import TURNS
from studies.speed import binder, heads

STEPS: Final = 2  # in a turn
CHANCE: Final = 0.025  # of each end
# what is divided -> by what
VECTORS: Final[Mapping[str, tuple[str, ...]]] = {
    "spanner_hybrid": ("spanner_boundary", "spanner_pooling")
}
PASSES: Final[Mapping[str, tuple[str, ...]]] = dict.fromkeys(
    (binder.PER_TYPE, "crf", "biaffine"), ("binder_own",)
)


def ends(ratios: Sequence[float]) -> dict[str, float]:
    """The median of ratios, and the ends of its interval of 95 %.

    Raises:
        ValueError: there are fewer than six, so that even the least and the largest leave more
            chance outside.
    """
    count, below = len(ratios), 0.0
    order = -1
    while order < count and (below := below + math.comb(count, order + 1) / 2**count) <= CHANCE:
        order += 1
    if order < 0:
        raise ValueError(f"{count} turns have no interval of 95 %; make six or more")
    low, high = sorted(ratios)[order], sorted(ratios)[count - 1 - order]
    return {"median": statistics.median(ratios), "low": low, "high": high, "turns": count}


def compared(times: heads.Times, pairs: Mapping[str, Sequence[str]]) -> dict[str, dict[str, float]]:
    """Each time by each other one in the same round: ``"A by B"`` -> the ratio with its ends."""
    return {
        f"{name} by {other}": ends(
            [a / b for a, b in zip(times.cpu[name], times.cpu[other], strict=True)]
        )
        for name, others in pairs.items()
        for other in others
    }


def vectors(rounds: int) -> dict[str, Any]:
    """A step of SpanNER with each vector of a span."""
    names = ["spanner_hybrid", *VECTORS["spanner_hybrid"]]
    parts = read_parts(heads.recipe_of(names[0]).corpus)
    works = {name: partial(_turn, heads.pupil(heads.recipe_of(name), parts)) for name in names}
    return compared(heads.take_turns(works, rounds=rounds, warm_up=2), VECTORS)


def passes(rounds: int) -> dict[str, Any]:
    """A step of BINDER with an encoder of its own for types, and of the others of its Table 7."""
    recipes = binder.recipes_of(read_grid(GRIDS / "binder.toml"), "conll04")
    parts = read_parts(recipes["binder"].corpus)
    pupils = {name: heads.pupil(recipes[name], parts) for name in ("binder_own", "crf", "biaffine")}
    other = binder.rival(recipes["binder"], heads.pupil(recipes["binder"], parts))
    works = {name: partial(_turn, each) for name, each in pupils.items()}

    def turn(_: int) -> None:
        for _step in range(STEPS):
            other.step()

    return compared(
        heads.take_turns({**works, binder.PER_TYPE: turn}, rounds=rounds, warm_up=1), PASSES
    )


def _turn(each: heads.Pupil, _: int) -> None:
    for _step in range(STEPS):
        binder.one_step(each)


def main() -> None:
    """Measures and writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30, help="of SpanNER (default 30)")
    parser.add_argument("--few", type=int, default=12, help="of BINDER (default 12)")
    args = parser.parse_args()
    torch.set_num_threads(1)
    found = {"passes": passes(args.few), "vectors": vectors(args.rounds)}
    what = f"ratios of CPU time in turns of {STEPS} steps of training, with ends of 95 %"
    write_result(TURNS, {"what": what, **found})
    print(found)


if __name__ == "__main__":
    main()

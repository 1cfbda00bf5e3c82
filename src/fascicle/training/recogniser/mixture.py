"""Windows of several corpora in one epoch: how many of each, and which.

A corpus of n windows gets a share in proportion to its weight times n to a power, as languages are sampled in
pretraining (Lample and Conneau 2019, *XLM* §3.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fascicle.core.arrays import Ints


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """What an epoch is made of.

    Attributes:
        part_of: part of each window, ``[w]``, from 0.
        quotas: windows of each part in an epoch.
        unguided: share of windows that are read by no guideline; 1 if nothing is learnt of guidelines.
    """

    part_of: Ints
    quotas: tuple[int, ...]
    unguided: float = 1.0

    @property
    def size(self) -> int:
        """Windows in an epoch."""
        return sum(self.quotas)

    def drawn(self, *, seed: int, epoch: int) -> Ints:
        """The windows of an epoch, sorted; the same for the same arguments.

        Each part is an endless row of shuffled decks, in each of which every window is once. An epoch goes on where the
        one before ended, so no window comes again before all others of its part.

        Args:
            seed: decides the decks.
            epoch: from 0.

        Returns:
            ``[size]``.
        """
        drawn = []
        for part, quota in enumerate(self.quotas):
            of_part = np.flatnonzero(self.part_of == part)
            first, end = epoch * quota, (epoch + 1) * quota
            decks = range(first // len(of_part), -(-end // len(of_part)))
            row = np.concatenate([_deck(len(of_part), part=part, number=number, seed=seed) for number in decks])
            at = first - decks.start * len(of_part)
            drawn.append(of_part[row[at : at + quota]])
        return np.sort(np.concatenate(drawn))

    def guidelines(self, windows: Ints, chance: np.random.Generator) -> Ints:
        """What the windows of a batch are read by: the number of their part from 1, or 0 for no guideline.

        Args:
            windows: of the batch.
            chance: draws which ones are read by none.
        """
        found: Ints = np.where(chance.random(len(windows)) < self.unguided, 0, self.part_of[windows] + 1)
        return found


def _deck(size: int, *, part: int, number: int, seed: int) -> Ints:
    return np.random.default_rng((seed, number, part, 1)).permutation(size)


def quotas(sizes: Sequence[int], weights: Sequence[float], *, power: float, total: int) -> tuple[int, ...]:
    """How many windows of each part are in an epoch: its share of the total, rounded so that the sum is kept.

    Of the windows that are left after rounding down, each goes to the part with the largest remainder, the first of
    equal ones.

    Args:
        sizes: windows of each part, at least 1.
        weights: of each part.
        power: of its size.
        total: windows in an epoch.
    """
    shares = np.array(weights) * np.array(sizes, dtype=np.float64) ** power
    exact = total * shares / shares.sum()
    found = np.floor(exact).astype(np.int64)
    order = np.argsort(found - exact, kind="stable")
    found[order[: total - int(found.sum())]] += 1
    return tuple(found.tolist())

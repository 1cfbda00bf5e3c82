"""Which concepts of a short form may be those of its long form, for which nothing was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.knowledge.abbreviations.forms import FUNCTION_WORDS
from fascicle.knowledge.pack.keying import KeyReader
from fascicle.knowledge.pack.pack import Pack

HALF: Final = 0.5  # of the words of a long form, that the names of its concept have at least


def alone(owners: Ints, taxa: Ints, units: int) -> Bools:
    """Whether units have one candidate a species at most.

    Args:
        owners: number of the unit of each candidate, ``[n]``.
        taxa: number of the species of each, ``[n]``.
        units: how many there are.

    Returns:
        ``[units]``.
    """
    _, first, counts = np.unique(owners << 32 | taxa, return_index=True, return_counts=True)
    found = np.ones(units, dtype=np.bool_)
    found[owners[first[counts > 1]]] = False
    return found


def shares(pack: Pack, read: KeyReader, concepts: Ints, longs: Sequence[str]) -> Floats:
    """The share of the words of a long form that the names of a concept have; function words are none.

    Args:
        pack: of the concepts.
        read: makes keys.
        concepts: rows, ``[n]``.
        longs: the long form to compare each one with.

    Returns:
        ``[n]``.
    """
    active = pack.active
    owners, terms = active.of_concept.take(concepts)
    keys = active.keys.strings.take(np.searchsorted(active.starts, terms, side="right") - 1)
    words: list[set[str]] = [set() for _ in longs]
    for owner, name in zip(owners.tolist(), keys, strict=True):
        words[owner].update(name.split(" "))
    wanted = [{one for one in name.split(" ") if one.isalnum()} - FUNCTION_WORDS for name in read(longs)]
    return np.array([len(one & own) / max(1, len(one)) for one, own in zip(wanted, words, strict=True)])

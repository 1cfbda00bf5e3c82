"""Which concepts of a short form may be those of its long form, for which nothing was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.knowledge.abbreviations.forms import FUNCTION_WORDS
from fascicle.knowledge.linking.asking import Question
from fascicle.knowledge.pack.keying import KeyReader
from fascicle.knowledge.pack.pack import Pack

HALF: Final = 0.5  # of the words of a long form, that the names of its concept have at least


class Agreement:
    """Compares concepts of short forms with their long forms."""

    def __init__(self, pack: Pack, read: KeyReader) -> None:
        """Takes the pack of the concepts, and what makes keys."""
        self._pack, self._read = pack, read

    def __call__(self, owners: Ints, concepts: Ints, questions: Sequence[Question]) -> tuple[Bools, Floats]:
        """What speaks for candidates of short forms.

        Args:
            owners: number of the unit of each candidate, ``[n]``.
            concepts: rows of the candidates, ``[n]``.
            questions: that were asked for each, ``[n]``.

        Returns:
            Whether its short form is distinctive and has one candidate in each species; the share of the words of its
            long form that its names have. Function words are none.
        """
        distinctive = np.array([one.distinctive for one in questions], dtype=np.bool_)
        several = list(zip(concepts.tolist(), [one.name for one in questions], strict=True))
        distinct = dict.fromkeys(several)  # a pair has many mentions
        values = dict(zip(distinct, self._shares(list(distinct)), strict=True))
        return distinctive & self._alone(owners, concepts), np.array([values[one] for one in several])

    def _alone(self, owners: Ints, concepts: Ints) -> Bools:
        """Whether the unit of each candidate has one in each species at most."""
        taxa = self._pack.taxon_rows[concepts].astype(np.int64)
        _, first, counts = np.unique(owners << 32 | taxa, return_index=True, return_counts=True)
        found: Bools = ~np.isin(owners, owners[first[counts > 1]])
        return found

    def _shares(self, several: Sequence[tuple[int, str]]) -> list[float]:
        active = self._pack.active
        owners, terms = active.of_concept.take(np.array([row for row, _ in several], dtype=np.int64))
        keys = active.keys.strings.take(np.searchsorted(active.starts, terms, side="right") - 1)
        words: list[set[str]] = [set() for _ in several]
        for owner, name in zip(owners.tolist(), keys, strict=True):
            words[owner].update(name.split(" "))
        names = self._read([long for _, long in several])
        wanted = [{one for one in name.split(" ") if one.isalnum()} - FUNCTION_WORDS for name in names]
        return [len(one & own) / max(1, len(one)) for one, own in zip(wanted, words, strict=True)]

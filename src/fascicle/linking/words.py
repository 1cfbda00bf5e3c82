"""Counts of the words of concepts that occur in texts, for thousands of concepts at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints, unique_values
from fascicle.terms.pack.arrays import Lists
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.priors import common_words

_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_END: Final = "\0"  # behind the words of a concept
_WORD_OR_END: Final = re.compile(rf"{_WORD.pattern}|{_END}")
_MOST_NAMES: Final = 20  # of a concept
_REMEMBERED: Final = 1 << 18  # cached words of all concepts
_BITS: Final = 32


class ConceptWords:
    """Compares the words of concepts with those of texts; for one thread.

    A word has four letters or more and is not common. The words of a concept are those of its first
    names, of its definition and of the labels of its parents; of a concept that leads others, also
    those of their names. Those of the concepts are cached, up to a bound.
    """

    def __init__(self, pack: Pack, *, remembered: int = _REMEMBERED) -> None:
        """Sets the open pack.

        Args:
            pack: the pack that has the concepts.
            remembered: how many words are kept from one call to the next.
        """
        self._pack, self._remembered = pack, remembered
        self._forget()

    def _forget(self) -> None:
        # of words; 0: that count nothing
        self._numbers = {**dict.fromkeys(common_words(), 0), _END: -1}
        self._places: dict[int, int] = {}  # of concepts, in the lists below
        self._starts = np.zeros(1, dtype=np.int64)
        # place of a concept and number of a word, ascending
        self._keys = np.zeros(0, dtype=np.int64)

    def shares(
        self,
        concepts: Ints,
        text_of: Ints,
        *,
        texts: Sequence[str],
        name_of: Ints,
        names: Sequence[str],
    ) -> Floats:
        """Returns the share of the words of each concept that occur in a text, without those of its
        name there.

        So that a concept with one word does not win by it, a share is that of three words more.

        Args:
            concepts: rows, ``[n]``.
            text_of: number of the text of each, ``[n]``.
            texts: whole.
            name_of: number of the name of each, ``[n]``.
            names: the names that concepts have in the texts.

        Returns:
            ``[n]``.
        """
        places = self._placed(concepts)
        present = self._present(texts, unique_values(text_of))
        owners, keys = Lists(self._starts, self._keys).take(places)
        inside = present[text_of[owners], keys & ((1 << _BITS) - 1)]
        name_owners, name_words = self._of_names(places, name_of, names)
        size = len(concepts)
        counts = np.bincount(owners, minlength=size) - np.bincount(name_owners, minlength=size)
        present_counts = np.bincount(owners[inside], minlength=size)
        present_counts -= np.bincount(
            name_owners[present[text_of[name_owners], name_words]], minlength=size
        )
        return present_counts / (counts + 3)

    def _of_names(self, places: Ints, name_of: Ints, names: Sequence[str]) -> tuple[Ints, Ints]:
        """Returns the words of the names of concepts: the number of the concept of each, and the
        word.
        """
        numbers = self._numbers
        numbered = [{numbers.get(word, 0) for word in _words_of(name)} - {0} for name in names]
        sizes = np.fromiter(map(len, numbered), dtype=np.int64, count=len(numbered))
        values = np.fromiter(chain.from_iterable(numbered), dtype=np.int64, count=int(sizes.sum()))
        owners, words = Lists(np.concatenate([[0], np.cumsum(sizes)]), values).take(name_of)
        pairs = places[owners] << _BITS | words
        at = np.minimum(np.searchsorted(self._keys, pairs), len(self._keys) - 1)
        present = (
            self._keys[at] == pairs if len(self._keys) else np.zeros(len(pairs), dtype=np.bool_)
        )
        return owners[present], words[present]

    def _placed(self, concepts: Ints) -> Ints:
        """Returns the places of the words of concepts; words that are not in memory yet are
        read.
        """
        distinct, inverse = np.unique(concepts, return_inverse=True)
        if len(self._keys) > self._remembered:
            self._forget()
        rows = distinct.tolist()
        new = [row for row in rows if row not in self._places]
        if new:
            self._read(np.array(new, dtype=np.int64))
        places = np.array([self._places[row] for row in rows], dtype=np.int64)
        of_concept: Ints = places[inverse]
        return of_concept

    def _read(self, rows: Ints) -> None:
        active, numbers, first = self._pack.active, self._numbers, len(self._places)
        sets, led = self._pack.leads.led(rows)
        order = np.argsort(np.concatenate([np.arange(len(rows)), sets]), kind="stable")
        of_row = np.concatenate([np.arange(len(rows)), sets])[order]
        members = np.concatenate([rows, led])[order]
        places, terms = active.of_concept.take(members)
        owners = of_row[places]
        starts = np.searchsorted(owners, np.arange(len(rows)))
        chosen = np.arange(len(owners)) - starts[owners] < _MOST_NAMES
        names = active.surfaces.take(active.surface[terms[chosen]])
        bounds = np.searchsorted(owners[chosen], np.arange(len(rows) + 1)).tolist()
        definitions = [""] * len(rows)
        for row, definition in zip(
            of_row.tolist(), self._pack.definitions_at(members), strict=True
        ):
            definitions[row] = definitions[row] or definition
        several = zip(pairwise(bounds), definitions, self._above(rows), strict=True)
        texts = [
            " ".join([*names[start:end], *labels, definition.replace(_END, " ")])
            for (start, end), definition, labels in several
        ]
        words = _WORD_OR_END.findall(_END.join([*texts, ""]).lower())
        new = dict.fromkeys(word for word in words if word not in numbers)
        numbers.update(zip(new, range(len(numbers), len(numbers) + len(new)), strict=True))
        found = np.array([numbers[word] for word in words], dtype=np.int64)
        places = first + np.cumsum(found < 0)
        keys = unique_values((places << _BITS | found)[found > 0])
        sizes = np.bincount((keys >> _BITS) - first, minlength=len(rows))
        self._keys = np.concatenate([self._keys, keys])
        self._starts = np.concatenate([self._starts, np.cumsum(sizes) + self._starts[-1]])
        self._places.update(zip(rows.tolist(), range(first, first + len(rows)), strict=True))

    def _above(self, rows: Ints) -> list[list[str]]:
        """Returns the labels of the parents of concepts."""
        owners, parents = self._pack.parent_rows.take(rows)
        labels = self._pack.labels_at(parents)
        bounds = np.searchsorted(owners, np.arange(len(rows) + 1)).tolist()
        return [labels[start:end] for start, end in pairwise(bounds)]

    def _present(self, texts: Sequence[str], rows: Ints) -> Bools:
        """Returns whether each word of any concept occurs in each of some texts, ``[texts,
        words]``.
        """
        numbers = self._numbers
        present = np.zeros((len(texts), len(numbers)), dtype=np.bool_)
        for number in rows.tolist():
            present[number, [numbers.get(word, 0) for word in _words_of(texts[number])]] = True
        return present


def _words_of(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))

"""Counts of the words of concepts that occur in texts, for thousands of concepts at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints, int_array, lengths_of, unique_values
from fascicle.core.pairs import join_pairs, split_pairs
from fascicle.terms.pack.arrays import Lists
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.priors import common_words

_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_END: Final = "\0"  # behind the words of a concept
_WORD_OR_END: Final = re.compile(rf"{_WORD.pattern}|{_END}")
_MOST_NAMES: Final = 20  # of a concept
_REMEMBERED: Final = 1 << 18  # cached words of all concepts


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
        # number of each word; 0: it counts nothing
        self._numbers = {**dict.fromkeys(common_words(), 0), _END: -1}
        self._places: dict[int, int] = {}  # of concepts, in the lists below
        # Pairs of the place of a concept and the number of a word, ascending.
        self._starts = np.zeros(1, dtype=np.int64)
        self._pairs = int_array([])

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
        places = self._find(concepts)  # first, as it gives new words their numbers
        present = self._present(texts, unique_values(text_of))
        owners, pairs = Lists(self._starts, self._pairs).take(places)
        in_text = present[text_of[owners], split_pairs(pairs)[1]]
        name_owners, name_words = self._words_of_names(places, name_of, names)
        name_in_text = present[text_of[name_owners], name_words]

        size = len(concepts)
        # of each row, the words of its concept and those in the text, both without its name
        counts = np.bincount(owners, minlength=size) - np.bincount(name_owners, minlength=size)
        shared = np.bincount(owners[in_text], minlength=size)
        shared -= np.bincount(name_owners[name_in_text], minlength=size)
        return shared / (counts + 3)

    def _words_of_names(
        self, places: Ints, name_of: Ints, names: Sequence[str]
    ) -> tuple[Ints, Ints]:
        """Returns the words of concepts that are in their names: the number of the concept of each,
        and the word.
        """
        numbers = self._numbers
        words = [{numbers.get(word, 0) for word in _words_of(name)} - {0} for name in names]
        sizes = lengths_of(words)
        values = np.fromiter(chain.from_iterable(words), dtype=np.int64, count=int(sizes.sum()))
        owners, values = Lists(np.concatenate([[0], np.cumsum(sizes)]), values).take(name_of)
        if not len(self._pairs):
            return owners[:0], values[:0]
        pairs = join_pairs(places[owners], values)
        nearest = np.minimum(np.searchsorted(self._pairs, pairs), len(self._pairs) - 1)
        is_own = self._pairs[nearest] == pairs
        return owners[is_own], values[is_own]

    def _present(self, texts: Sequence[str], rows: Ints) -> Bools:
        """Returns whether each word of any concept occurs in each of some texts, ``[texts,
        words]``.
        """
        numbers = self._numbers
        present = np.zeros((len(texts), len(numbers)), dtype=np.bool_)
        for row in rows.tolist():
            present[row, [numbers.get(word, 0) for word in _words_of(texts[row])]] = True
        return present

    def _find(self, concepts: Ints) -> Ints:
        """Returns the places of the words of concepts; words that are not cached yet are added."""
        distinct, inverse = np.unique(concepts, return_inverse=True)
        if len(self._pairs) > self._remembered:
            self._forget()
        rows = distinct.tolist()
        new = [row for row in rows if row not in self._places]
        if new:
            self._add(int_array(new))
        return int_array([self._places[row] for row in rows])[inverse]

    def _add(self, rows: Ints) -> None:
        numbers, first = self._numbers, len(self._places)
        words = _WORD_OR_END.findall(_END.join([*self._texts(rows), ""]).lower())
        new = dict.fromkeys(word for word in words if word not in numbers)
        numbers.update(zip(new, range(len(numbers), len(numbers) + len(new)), strict=True))

        values = int_array([numbers[word] for word in words])
        places = first + np.cumsum(values < 0)  # the words of a concept stand before its end
        pairs = unique_values(join_pairs(places, values)[values > 0])
        sizes = np.bincount(split_pairs(pairs)[0] - first, minlength=len(rows))
        self._pairs = np.concatenate([self._pairs, pairs])
        self._starts = np.concatenate([self._starts, np.cumsum(sizes) + self._starts[-1]])
        self._places |= {row: first + number for number, row in enumerate(rows.tolist())}

    def _texts(self, rows: Ints) -> list[str]:
        """Returns what describes each concept: its first names, the labels of its parents, and its
        definition, or the first one of its set.
        """
        places, led = self._pack.leads.led(rows)
        owners = np.concatenate([np.arange(len(rows)), places])
        order = np.argsort(owners, kind="stable")
        owners, members = owners[order], np.concatenate([rows, led])[order]

        definitions = [""] * len(rows)
        for owner, definition in zip(
            owners.tolist(), self._pack.definitions_at(members), strict=True
        ):
            definitions[owner] = definitions[owner] or definition
        names = self._first_names(members, owners, len(rows))
        descriptions = zip(names, self._parent_labels(rows), definitions, strict=True)
        return [
            " ".join([*own, *labels, definition.replace(_END, " ")])
            for own, labels, definition in descriptions
        ]

    def _first_names(self, members: Ints, owners: Ints, count: int) -> list[list[str]]:
        """Returns the first names of the concepts of each owner."""
        active = self._pack.active
        places, terms = active.of_concept.take(members)
        owners = owners[places]
        starts = np.searchsorted(owners, np.arange(count))
        is_first = np.arange(len(owners)) - starts[owners] < _MOST_NAMES
        names = active.surfaces.take(active.surface[terms[is_first]])
        return _by_owner(names, owners[is_first], count)

    def _parent_labels(self, rows: Ints) -> list[list[str]]:
        owners, parents = self._pack.parent_rows.take(rows)
        return _by_owner(self._pack.labels_at(parents), owners, len(rows))


def _by_owner(values: list[str], owners: Ints, count: int) -> list[list[str]]:
    """Returns the values of each owner; ``owners`` ascend."""
    bounds = np.searchsorted(owners, np.arange(count + 1)).tolist()
    return [values[start:end] for start, end in pairwise(bounds)]


def _words_of(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))

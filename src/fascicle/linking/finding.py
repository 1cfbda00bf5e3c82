"""Search for candidates, and features of those that were found by short forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints, int_array
from fascicle.core.pairs import join_pairs
from fascicle.linking.asking import Query
from fascicle.linking.candidates import (
    CANONICAL,
    EXACT,
    FAMILY_TYPES,
    FOLDED,
    NEAR,
    REORDERED,
)
from fascicle.linking.index import NameIndex, type_bit
from fascicle.linking.mixed_case import MixedCase
from fascicle.terms.abbreviations.forms import FUNCTION_WORDS
from fascicle.terms.keys.characters import CasePolicy, case_fits, is_inflected
from fascicle.terms.keys.key import KeyReader, key
from fascicle.terms.pack import layout
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.priors import common_words
from fascicle.terms.terms import NAME_KINDS

_EXACT_NAME: Final = NAME_KINDS.index("exact")  # and the kind before it, the label
_REMEMBERED: Final = 1 << 14  # strings without an equal name, and what was found for them
_GREEK: Final = frozenset(
    [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "kappa",
        "lambda",
        "sigma",
        "omega",
    ]
)
_OPPOSED: Final = frozenset(["hyper", "hypo", "non", "anti", "pre", "post", "pro"])
_Lookup = tuple[str, str]  # string, or its key, and type
_Rows = tuple[tuple[int, float], ...]  # of keys or terms, with how similar they are


class FoundTerms(NamedTuple):
    """Terms that may be meant.

    Attributes:
        places: number of the query string, ascending, ``[n]``.
        terms: rows of the active terms of the pack, ``[n]``.
        tiers: numbers in `TIERS`, ``[n]``.
        similarity: of the keys, 1 but for those that are near, ``[n]``.
    """

    places: Ints
    terms: Ints
    tiers: Ints
    similarity: Floats


class Finder:
    """Looks up strings in a pack; for one thread. Without an index, it finds names with equal keys
    alone.

    Attributes:
        pack: whose names are found.
        index: of the pack, or ``None``.
        reader: makes keys.
    """

    def __init__(self, pack: Pack, index: NameIndex | None = None) -> None:
        """Sets an open pack and its open index."""
        self.pack, self.index = pack, index
        self.reader = KeyReader() if index is None else index.reader
        self._mixed_case = MixedCase(pack.active, self.reader)
        self._near: dict[_Lookup, _Rows] = {}
        self._types = {name: number for number, name in enumerate(pack.types)}

    def find(self, surfaces: Sequence[str], types: Sequence[str]) -> FoundTerms:
        """Returns the terms of strings by equal keys of level 2, but for symbols that only have the
        key of a word.

        Args:
            surfaces: strings.
            types: for each, the type that a concept must have; a pack without the type finds
                nothing.
        """
        keys = self.reader(surfaces)
        rows = self.pack.active.keys.find(keys)
        matches, names = self._of_rows(surfaces, types, np.flatnonzero(rows >= 0), rows[rows >= 0])
        plausible = self._plausible(surfaces, types, matches, names)
        return FoundTerms._make(column[plausible] for column in matches)

    def find_families(self, surfaces: Sequence[str], types: Sequence[str]) -> FoundTerms:
        """Returns the families and complexes that strings name exactly, or as a plural, for
        those of the type of genes.
        """
        kinds = [FAMILY_TYPES.get(kind, "") for kind in types]
        matches = self._find_exact(surfaces, kinds)
        singular = [name.removesuffix("s") for name in surfaces]
        keys = zip(surfaces, singular, self.reader(surfaces), self.reader(singular), strict=True)
        names = [
            # keys keep the plural of some words in capitals: GATAs
            name if name != whole and (own == other or not name[-1:].islower()) else ""
            for whole, name, own, other in keys
        ]
        plurals = self._find_exact(names, kinds)
        order = np.argsort(np.concatenate([matches.places, plurals.places]), kind="stable")
        columns = zip(matches, plurals, strict=True)
        return FoundTerms._make(np.concatenate(pair)[order] for pair in columns)

    def _find_exact(self, surfaces: Sequence[str], types: Sequence[str]) -> FoundTerms:
        matches = self.find(surfaces, types)
        exact = (matches.tiers <= FOLDED) & (self.pack.active.kind[matches.terms] <= _EXACT_NAME)
        return FoundTerms._make(column[exact] for column in matches)

    def find_reordered(self, surfaces: Sequence[str], types: Sequence[str]) -> FoundTerms:
        """Returns the terms whose names have the same words in another order; nothing without an
        index.
        """
        if self.index is None or not surfaces:
            return _nothing()
        places, rows = self.index.in_any_order(self.reader(surfaces))
        matches, _ = self._of_rows(surfaces, types, places, rows)
        return matches._replace(tiers=np.full(len(matches.terms), REORDERED))

    def find_near(self, surfaces: Sequence[str], types: Sequence[str]) -> FoundTerms:
        """Returns the terms whose names are almost equal; nothing without an index."""
        if self.index is None or not surfaces:
            return _nothing()
        pairs = list(zip(self.reader(surfaces), types, strict=True))
        places, rows, values = self._search_once(pairs)
        matches, _ = self._of_rows(surfaces, types, places, rows, values)
        return matches._replace(tiers=np.full(len(matches.terms), NEAR))

    def _search_once(self, pairs: Sequence[_Lookup]) -> tuple[Ints, Ints, Floats]:
        """Returns places, rows and similarity of matches; pairs are searched once and, up to a
        bound, cached.
        """
        cached = self._near
        missed = list(dict.fromkeys(pair for pair in pairs if pair not in cached))
        if len(cached) + len(missed) > _REMEMBERED:
            cached.clear()
            missed = list(dict.fromkeys(pairs))
        for start in range(0, len(missed), _REMEMBERED):
            cached.update(self._search_near(missed[start : start + _REMEMBERED]))
        flat = [(at, row, value) for at, pair in enumerate(pairs) for row, value in cached[pair]]
        table = np.array(flat, dtype=np.float64).reshape(-1, 3)
        return table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2]

    def _search_near(self, lookups: Sequence[_Lookup]) -> dict[_Lookup, _Rows]:
        """Returns the rows of keys that are similar and do not differ in meaning, such as by
        another number.
        """
        assert self.index is not None
        bits = [type_bit(self._types[kind]) if kind in self._types else 0 for _, kind in lookups]
        near = self.index.near(
            [name_key for name_key, _ in lookups], np.array(bits, dtype=np.uint64)
        )
        names = self.pack.active.keys.strings.take(near.rows)
        matches: list[list[tuple[int, float]]] = [[] for _ in lookups]
        telling = [_telling(name_key) for name_key, _ in lookups]
        for owner, row, value, name in zip(
            near.owners.tolist(), near.rows.tolist(), near.similarity.tolist(), names, strict=True
        ):
            if telling[owner] == _telling(name):
                matches[owner].append((row, value))
        return {pair: tuple(rows) for pair, rows in zip(lookups, matches, strict=True)}

    def _of_rows(
        self,
        surfaces: Sequence[str],
        types: Sequence[str],
        places: Ints,
        rows: Ints,
        similarity: Floats | None = None,
    ) -> tuple[FoundTerms, list[str]]:
        """Returns the terms of rows of keys that have the type, with their tiers if their keys
        are equal; and names.
        """
        which, terms = self.pack.active.of_key_rows(rows)
        owners = places[which]
        values = np.ones(len(terms)) if similarity is None else similarity[which]
        numbers = int_array([self._types.get(kind, -1) for kind in types])
        of_type = self.pack.type_rows[self.pack.active.concept[terms]] == numbers[owners]
        owners, terms, values = owners[of_type], terms[of_type], values[of_type]
        names = self.pack.active.surfaces.take(self.pack.active.surface[terms])
        return FoundTerms(owners, terms, _tiers(surfaces, owners.tolist(), names), values), names

    def _plausible(
        self,
        surfaces: Sequence[str],
        types: Sequence[str],
        matches: FoundTerms,
        names: Sequence[str],
    ) -> Bools:
        """Returns whether each term can be meant by its string."""
        cases = (self.pack.active.flags[matches.terms] & layout.CASE).tolist()
        rows = zip(*(column.tolist() for column in matches[:3]), names, cases, strict=True)
        can = (
            tier == EXACT
            or (
                _can_be(surfaces[place], name, case)
                and self._mixed_case.fits(surfaces[place], types[place], term, name)
            )
            for place, term, tier, name, case in rows
        )
        return np.fromiter(can, dtype=np.bool_, count=len(names))


def _tiers(surfaces: Sequence[str], owners: Sequence[int], names: Sequence[str]) -> Ints:
    """Returns how each name was found by the key of its string."""
    simple: dict[int, str] = {}
    folded: dict[str, str] = {}
    tiers = np.zeros(len(names), dtype=np.int64)
    for at, (owner, name) in enumerate(zip(owners, names, strict=True)):
        if name != surfaces[owner]:
            if owner not in simple:
                simple[owner] = key(surfaces[owner], 1)
            if name not in folded:
                folded[name] = key(name, 1)
            tiers[at] = FOLDED if folded[name] == simple[owner] else CANONICAL
    return tiers


def _can_be(surface: str, name: str, case: int) -> bool:
    """True if a string can be a name of the same key: ``serum`` is not ``SERA``, nor the word
    ``hard`` ``HARD``.
    """
    if is_inflected(surface, name):
        return False
    word = surface.lower()
    common = surface[1:] == word[1:] and (
        word in common_words() or word.removesuffix("s") in common_words()
    )
    return not common or case < CasePolicy.symbol or case_fits(surface, name, case)


def _telling(canonical: str) -> list[str]:
    """Returns the tokens of a key that distinguish names: numbers, letters, Greek letters,
    opposites.
    """
    return sorted(
        token
        for token in canonical.split(" ")
        if len(token) == 1 or any(map(str.isdigit, token)) or token in _GREEK or token in _OPPOSED
    )


def _nothing() -> FoundTerms:
    empty = int_array([])
    return FoundTerms(empty, empty, empty, np.empty(0, dtype=np.float64))


class ShortFormFeatures:
    """Compares concepts of short forms with their long forms."""

    def __init__(self, pack: Pack, reader: KeyReader) -> None:
        """Sets the pack of the concepts, and the reader of keys."""
        self._pack, self._reader = pack, reader

    def __call__(
        self, owners: Ints, concepts: Ints, queries: Sequence[Query]
    ) -> tuple[Bools, Floats]:
        """Returns features of candidates that were found by short forms.

        Args:
            owners: number of the unit of each candidate, ``[n]``.
            concepts: rows of the candidates, ``[n]``.
            queries: of each candidate, ``[n]``.

        Returns:
            Whether its short form is distinctive and has one candidate in each species; the share
            of the words of its long form that its names have. Function words are none.
        """
        distinctive = np.array([query.distinctive for query in queries], dtype=np.bool_)
        names = list(zip(concepts.tolist(), [query.name for query in queries], strict=True))
        distinct = dict.fromkeys(names)  # a pair has many mentions
        values = dict(zip(distinct, self._shares(list(distinct)), strict=True))
        shares = np.array([values[name] for name in names])
        return distinctive & self._alone(owners, concepts), shares

    def _alone(self, owners: Ints, concepts: Ints) -> Bools:
        """Returns whether the unit of each candidate has one in each species at most."""
        taxa = self._pack.taxon_rows[concepts].astype(np.int64)
        _, first, counts = np.unique(
            join_pairs(owners, taxa), return_index=True, return_counts=True
        )
        alone: Bools = ~np.isin(owners, owners[first[counts > 1]])
        return alone

    def _shares(self, names: Sequence[tuple[int, str]]) -> list[float]:
        """Returns for each concept and long form, which share of its words names of the concept
        have.
        """
        active = self._pack.active
        concepts = int_array([concept for concept, _ in names])
        owners, terms = active.of_concept.take(concepts)
        keys = active.keys.strings.take(np.searchsorted(active.starts, terms, side="right") - 1)
        words: list[set[str]] = [set() for _ in names]
        for owner, name in zip(owners.tolist(), keys, strict=True):
            words[owner].update(name.split(" "))
        shares = []
        for own, name in zip(words, self._reader([name for _, name in names]), strict=True):
            long = set(filter(str.isalnum, name.split(" "))) - FUNCTION_WORDS
            shares.append(len(long & own) / max(1, len(long)))
        return shares

"""Concepts of a pack that are equal in several vocabularies, and the choice of the identifier
that a link gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Bools, Ints, int_array, unique_values
from fascicle.core.pairs import join_pairs, split_pairs
from fascicle.core.wording import near_hint
from fascicle.errors import UsageError
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import Lists, map_array, write_array
from fascicle.terms.pack.pack import Pack, References
from fascicle.terms.pack.sets import find_edges
from fascicle.terms.terms import NAME_KINDS

_STARTS: Final = "equal.starts.u4"
_ROWS: Final = "equal.rows.u4"
EXACT: Final = "equal.exact.u1"
FILES: Final = (_STARTS, _ROWS, EXACT)
ITSELF, EXACTLY, REFERRED, TWICE, ABOVE, NAMESAKE = range(6)
_SIGNS: Final = re.compile(r"[\W_]+")
_LABEL: Final = NAME_KINDS.index("label")
_EXACT: Final = frozenset(
    {"skos:exactMatch", "owl:equivalentClass", "semapv:crossSpeciesExactMatch"}
)
# says that they belong together, and mostly that they are the same
_OTHER: Final = frozenset({"oboInOwl:hasDbXref"})


class Equivalent(NamedTuple):
    """Concepts that were reached from others by references.

    Attributes:
        places: number of the concept that was given, ``[n]``.
        rows: of the concepts, ``[n]``; each concept is equivalent to itself too.
        distance: `ITSELF`, `EXACTLY` by an exact match, `REFERRED` by another reference, `TWICE` by
            two references, `ABOVE` by a parent or a reference of one, `NAMESAKE` by the same label
            in another species, ``[n]``.
    """

    places: Ints
    rows: Ints
    distance: Ints


_NONE: Final = int_array([])
NOTHING: Final = Equivalent(_NONE, _NONE, _NONE)


def write_equivalents(folder: Path, pack: Pack) -> None:
    """Writes which concepts of one type refer to each other, in either direction."""
    edges = [
        (a, b, exact)
        for concept, other, exact in find_edges(pack, _references)
        if concept != other and pack.type_rows[concept] == pack.type_rows[other]
        for a, b in ((concept, other), (other, concept))
    ]
    table = int_array(sorted(set(edges))).reshape(-1, 3)
    # of two references between the same, the exact one is the last
    last = np.ones(len(table), dtype=np.bool_)
    last[:-1] = (table[1:, :2] != table[:-1, :2]).any(axis=1)
    table = table[last]
    counts = np.bincount(table[:, 0], minlength=len(pack))
    write_array(folder / _STARTS, np.concatenate([[0], np.cumsum(counts)]))
    write_array(folder / _ROWS, table[:, 1])
    write_array(folder / EXACT, table[:, 2])


def _references(references: References) -> Iterator[tuple[str, bool]]:
    for predicate, curies in references.items():
        if predicate in _EXACT or predicate in _OTHER:
            yield from ((curie, predicate in _EXACT) for curie in curies)


class Equivalents:
    """Cross-references between equivalent concepts, open for reading."""

    def __init__(self, folder: Path, parents: Lists) -> None:
        """Maps the files.

        Args:
            folder: the folder that `write_equivalents` wrote into.
            parents: of each concept of the pack.
        """
        starts, self._exact = map_array(folder / _STARTS), map_array(folder / EXACT)
        self._rows, self._parents = Lists(starts, map_array(folder / _ROWS)), parents
        self._edges = Lists(starts, np.arange(len(self._exact)))

    def fits(self, concepts: int) -> bool:
        """True if the files may be those of a pack with so many concepts."""
        rows = self._rows.values
        return (
            self._rows.fits(concepts)
            and len(self._exact) == len(rows)
            and int(rows.max(initial=0)) < concepts
        )

    def of(self, rows: Ints) -> Equivalent:
        """Returns the equivalents of some concepts that are one reference away."""
        places, references = self._rows.take(rows)
        _, edges = self._edges.take(rows)
        itself = np.arange(len(rows))
        equivalents = Equivalent(
            np.concatenate([itself, places]),
            np.concatenate([rows, references]),
            np.concatenate(
                [np.full(len(rows), ITSELF), np.where(self._exact[edges] != 0, EXACTLY, REFERRED)]
            ),
        )
        return sort_equivalents(equivalents)

    def within(self, rows: Ints, allowed: Bools) -> Equivalent:
        """Returns equivalents in some vocabularies: one reference away, else two, else those of a
        parent.

        Args:
            rows: of concepts.
            allowed: whether each concept of the pack is of one of the vocabularies.
        """
        near = select_rows(self.of(rows), allowed)
        return sort_equivalents(concatenate(near, self._farther(rows, allowed, near)))

    def _farther(self, rows: Ints, allowed: Bools, near: Equivalent) -> Equivalent:
        missing = np.setdiff1d(np.arange(len(rows)), near.places)
        if not len(missing):
            return NOTHING
        first = self.of(rows[missing])
        twice = select_rows(self._onward(missing[first.places], first.rows, TWICE), allowed)
        missing = np.setdiff1d(missing, twice.places)
        places, parents = self._parents.take(rows[missing])
        return concatenate(
            twice, select_rows(self._onward(missing[places], parents, ABOVE), allowed)
        )

    def _onward(self, places: Ints, rows: Ints, distance: int) -> Equivalent:
        """Returns the concepts one reference away from those reached, with the given distance."""
        equivalents = self.of(rows)
        return _distinct(places[equivalents.places], equivalents.rows, distance)


def concatenate(first: Equivalent, second: Equivalent) -> Equivalent:
    """Concatenates two results."""
    return Equivalent(*(np.concatenate(pair) for pair in zip(first, second, strict=True)))


def sort_equivalents(equivalents: Equivalent) -> Equivalent:
    """Sorts by place and distance."""
    order = np.lexsort((equivalents.rows, equivalents.distance, equivalents.places))
    return Equivalent(*(column[order] for column in equivalents))


def _distinct(places: Ints, rows: Ints, distance: int) -> Equivalent:
    """Returns each row of a place once, in order."""
    pairs = unique_values(join_pairs(places, rows))
    return Equivalent(*split_pairs(pairs), np.full(len(pairs), distance))


def select_rows(equivalents: Equivalent, allowed: Bools) -> Equivalent:
    """Returns the equivalents that are wanted, by the row of each."""
    selected = allowed[equivalents.rows]
    return Equivalent(*(column[selected] for column in equivalents))


class Namesakes:
    """Concepts of several species with one label; orthologous genes usually share their symbol."""

    def __init__(self, pack: Pack) -> None:
        """Sets the open pack."""
        self._pack, self._names = pack, pack.active
        self._types = np.flatnonzero(np.bincount(pack.type_rows[pack.taxon_rows > 0]))

    def of(self, rows: Ints) -> Equivalent:
        """Returns the namesakes of concepts, without themselves; of concepts of a type without
        species none.
        """
        with_species = np.flatnonzero(np.isin(self._pack.type_rows[rows], self._types))
        if not len(with_species):
            return NOTHING
        places, terms = self._names.of_concept.take(rows[with_species])
        labels = self._names.kind[terms] == _LABEL
        places, terms = with_species[places[labels]], terms[labels]
        keys = np.searchsorted(self._names.starts, terms, side="right") - 1
        owners, namesake_terms = self._names.of_key_rows(keys)
        labels = self._names.kind[namesake_terms] == _LABEL
        owners, namesake_terms = owners[labels], namesake_terms[labels]
        places, own_terms = places[owners], terms[owners]
        namesakes = self._names.concept[namesake_terms].astype(np.int64)
        same_type = (namesakes != rows[places]) & (
            self._pack.type_rows[namesakes] == self._pack.type_rows[rows[places]]
        )
        # names of one key may differ in the s of a plural, as Gapdh and GAPDHS do
        same_type[same_type] = self._folded(own_terms[same_type]) == self._folded(
            namesake_terms[same_type]
        )
        return _distinct(places[same_type], namesakes[same_type], NAMESAKE)

    def _folded(self, terms: Ints) -> NDArray[np.str_]:
        """Returns the letters and digits of names, in small letters."""
        surfaces = self._names.surfaces.take(self._names.surface[terms])
        return np.array([_SIGNS.sub("", surface.casefold()) for surface in surfaces], dtype=np.str_)


class AnsweredConcepts:
    """Maps the leading concepts of sets to the answered ones.

    Attributes:
        ontology: prefix of the only vocabulary that is answered; empty for any.
    """

    def __init__(self, pack: Pack, *, order: Sequence[str] = (), ontology: str = "") -> None:
        """Sets the open pack.

        Args:
            pack: the pack that has the sets.
            order: prefixes of vocabularies, the best first; a set without any of them has its
                leading concept.
            ontology: prefix of the only vocabulary that is answered, in place of the order.

        Raises:
            UsageError: the pack has no concept of the ontology, or no sets.
        """
        self._pack, self.ontology = pack, ontology
        self._rows: Ints | None = None  # of the answer of each concept that leads a set
        prefixes = (ontology,) if ontology else tuple(order)
        if not prefixes:
            return
        check_ontology(pack, ontology)
        self._rows = np.arange(len(pack))
        for prefix in reversed([name for name in prefixes if name in pack.prefixes]):
            rows = np.flatnonzero(pack.prefix_rows == pack.prefixes.index(prefix))
            self._rows[pack.leads.of(rows)] = rows

    def describe(self, leads: Ints, terms: Ints) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Yields CURIE, label and other CURIEs of answers.

        Args:
            leads: rows of the concepts that lead.
            terms: by which they were found, or -1.
        """
        rows = leads if self._rows is None else self._rows[leads]
        curies = self._pack.curies.strings.take(rows)
        return zip(curies, self._labels(rows, leads, terms), self._same(leads, rows), strict=True)

    def _labels(self, rows: Ints, leads: Ints, terms: Ints) -> list[str]:
        """Returns the labels of answers; one without has that of the leading concept, or of the
        concept of the term.
        """
        labels = self._pack.label_rows
        labelled = np.where(labels[rows] == layout.NONE, leads, rows)
        lacks = np.flatnonzero((labels[labelled] == layout.NONE) & (terms >= 0))
        labelled[lacks] = self._pack.active.concept[terms[lacks]]
        return self._pack.labels_at(labelled)

    def _same(self, leads: Ints, rows: Ints) -> list[tuple[str, ...]]:
        """Returns the CURIEs of the other concepts of sets than the answers, the leading one
        first.
        """
        places, led = self._pack.leads.led(leads)
        same: list[tuple[str, ...]] = [()] * len(leads)
        if not len(places):
            return same
        starts = np.searchsorted(places, np.arange(len(leads) + 1)).tolist()
        curies = self._pack.curies.strings.take(led)
        for place in unique_values(places).tolist():
            row, members = int(rows[place]), range(starts[place], starts[place + 1])
            first = () if row == leads[place] else (self._pack.curie(int(leads[place])),)
            same[place] = (*first, *(curies[at] for at in members if led[at] != row))
        return same


def check_ontology(pack: Pack, ontology: str) -> None:
    """Raises an error for a vocabulary in which a pack cannot give links; an empty name is allowed.

    Raises:
        UsageError: the pack has no concept of it, or no sets.
    """
    if ontology and ontology not in (names := pack.prefixes):
        raise UsageError(
            f"the pack {pack.folder} has no concept of {ontology!r}{near_hint(ontology, names)}; "
            "give one of its "
            f"vocabularies: {', '.join(names)}"
        )
    if ontology and layout.LEAD not in pack.manifest.files:
        raise UsageError(
            f"the pack {pack.folder} does not say which of its concepts are the same, so links "
            "cannot be taken to "
            f"{ontology}; leave out the argument ontology, or build the pack again with fascicle "
            "index build"
        )

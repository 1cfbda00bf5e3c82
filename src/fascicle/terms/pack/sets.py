"""Sets of concepts that are equal in several vocabularies, made from the statements of the sources
of a pack.

Edges between two concepts of one type, of different vocabularies and not of different species, are
taken in the order of their evidence; of equal evidence, those between equal labels come first. An
edge that would bring two concepts of one vocabulary, or two that a source states to be different,
into one set is not taken: it is a conflict. An edge of a concept that another one replaced is one
of that other concept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product, starmap
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import numpy as np

from fascicle.core.arrays import Bools, Ints, int_array
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import row_chunks, write_array
from fascicle.terms.pack.pack import Pack, References
from fascicle.terms.terms import DIFFERENT, REFERS, SAME, UNEQUAL

EVIDENCE: Final = ("exact match", "equal label", "single reference")
MATCH, LABEL, REFERENCE = range(3)
_UNKNOWN: Final = -1


class _Edge(NamedTuple):
    """Two concepts with evidence that they are equal.

    Attributes:
        concept: row of the first.
        other: row of the second.
        evidence: its kind, a number in `EVIDENCE`.
        taken: whether both are in one set; else it is a conflict.
    """

    concept: int
    other: int
    evidence: int
    taken: bool


class _Sets(NamedTuple):
    """Sets of a pack.

    Attributes:
        leads: row of the leading concept of each: that of the vocabulary which comes first in the
            sources of the pack.
        edges: all that was looked at, in that order.
    """

    leads: Ints
    edges: tuple[_Edge, ...]

    def counts(self) -> dict[str, int]:
        """Returns the number of sets, of edges by their evidence, and of conflicts."""
        led = self.leads[self.leads != np.arange(len(self.leads))]
        accepted = Counter(edge.evidence for edge in self.edges if edge.taken)
        return {
            "sets of concepts of several vocabularies": len(np.unique(led)),
            "concepts in sets that others lead": len(led),
            **{f"edges by {what}": accepted[number] for number, what in enumerate(EVIDENCE)},
            "conflicts between edges": sum(not edge.taken for edge in self.edges),
        }


def write_sets(folder: Path, pack: Pack) -> dict[str, int]:
    """Writes the column of leading concepts; returns its counts."""
    sets = make_sets(pack)
    write_array(folder / layout.LEAD, sets.leads)
    return {
        **sets.counts(),
        "identifiers with one replacement, which mappings follow": len(replacements(pack)),
    }


def make_sets(pack: Pack, keys: Ints | None = None) -> _Sets:
    """Makes the sets; the same pack gives the same ones.

    Args:
        pack: the pack that is open.
        keys: rows of the keys of labels; by default those of the pack.
    """
    vocabularies = _vocabulary_ranks(pack)
    keys = label_keys(pack) if keys is None else keys
    candidates = np.concatenate(
        [_stated_edges(pack, vocabularies), _label_edges(pack, keys, vocabularies)]
    )
    union = _Union(vocabularies, _stated_pairs(pack, DIFFERENT))
    edges = []
    for first, other, evidence, sure in _order_edges(pack, keys, candidates).tolist():
        if sure:
            union.join(first, other)
        edges.append(_Edge(first, other, evidence, union.root(first) == union.root(other)))
    return _Sets(union.leads(), tuple(edges))


class _Union:
    """Sets that grow by edges, as in the union-find algorithm (Galler and Fischer 1964)."""

    def __init__(self, vocabularies: Ints, different: set[tuple[int, int]]) -> None:
        self._vocabularies, self._different = vocabularies, different
        self._roots = np.arange(len(vocabularies), dtype=np.int64)
        # of sets of several concepts: vocabulary -> concept, by the root
        self._members: dict[int, dict[int, int]] = {}

    def root(self, row: int) -> int:
        """Returns the concept that stands for the set of a concept."""
        while (above := int(self._roots[row])) != row:
            self._roots[row] = self._roots[above]
            row = above
        return row

    def join(self, first: int, other: int) -> None:
        """Makes two sets one, unless it would have two concepts that may not be together."""
        first, other = self.root(first), self.root(other)
        if first == other:
            return
        members, more = self._set(first), self._set(other)
        if members.keys() & more.keys():
            return
        if self._different.intersection(_pairs(members.values(), more.values())):
            return
        self._roots[other] = first
        self._members[first] = members | more
        self._members.pop(other, None)

    def _set(self, root: int) -> dict[int, int]:
        return self._members.get(root) or {int(self._vocabularies[root]): root}

    def leads(self) -> Ints:
        """Returns the row of the leading concept of each: that of the first vocabulary."""
        leads = np.arange(len(self._roots), dtype=np.int64)
        for members in self._members.values():
            leads[list(members.values())] = members[min(members)]
        return leads


def _stated_pairs(pack: Pack, *predicates: str) -> set[tuple[int, int]]:
    """Returns the pairs of concepts of which a source states one of these predicates."""
    stated = find_edges(
        pack,
        lambda references: (
            (curie, 0) for predicate in predicates for curie in references.get(predicate, ())
        ),
    )
    return {_pair(concept, other) for concept, other, _ in stated}


def _pairs(some: Iterable[int], more: Iterable[int]) -> Iterator[tuple[int, int]]:
    return starmap(_pair, product(some, more))


def _pair(concept: int, other: int) -> tuple[int, int]:
    return min(concept, other), max(concept, other)


def _vocabulary_ranks(pack: Pack) -> Ints:
    """Returns the vocabulary of each concept, as its place in `vocabulary_order`."""
    place = {name: at for at, name in enumerate(vocabulary_order(pack))}
    ranks: Ints = int_array([place[name] for name in pack.prefixes])[pack.prefix_rows]
    return ranks


def vocabulary_order(pack: Pack) -> tuple[str, ...]:
    """Returns the prefixes of a pack in the order in which they lead sets: as stated, then by
    the first source.
    """
    names, numbers = pack.prefixes, pack.prefix_rows
    first = int_array([min(one, default=0) for one in pack.manifest.sets])[pack.set_rows]
    earliest = np.full(len(names), len(pack.manifest.sources), dtype=np.int64)
    np.minimum.at(earliest, numbers, first)
    stated = [one for one in pack.manifest.vocabularies or () if one in names]
    by_source = [names[at] for at in np.lexsort((np.arange(len(names)), earliest)).tolist()]
    return tuple(dict.fromkeys((*stated, *by_source)))


def label_keys(pack: Pack) -> Ints:
    """Returns the row of the key of the label of each concept; -1 for those that have none or
    are kept out.
    """
    names, labels = pack.active, pack.label_rows.astype(np.int64)
    keys = np.full(len(pack), _UNKNOWN, dtype=np.int64)
    rows = np.flatnonzero(labels < layout.LIMIT)
    terms = np.searchsorted(names.surface, labels[rows])  # surfaces stand in the order of the terms
    keys[rows] = np.searchsorted(names.starts, terms, side="right") - 1
    return keys


def _label_edges(pack: Pack, keys: Ints, vocabularies: Ints) -> Ints:
    """Returns edges between concepts of one type with equal labels; labels that a vocabulary has
    twice are not sure.
    """
    rows = np.flatnonzero(keys >= 0)
    _, groups = np.unique(
        pack.type_rows[rows].astype(np.int64) << 32 | keys[rows], return_inverse=True
    )
    order = np.lexsort((rows, vocabularies[rows], groups))
    rows, groups = rows[order], groups[order]
    pairs = groups << 32 | vocabularies[rows]
    _, places, counts = np.unique(pairs, return_inverse=True, return_counts=True)
    once = counts[places] == 1
    first = np.flatnonzero(np.diff(groups, prepend=-1))[groups]
    followers = np.flatnonzero(vocabularies[rows] != vocabularies[rows[first]])
    sure = once[followers] & once[first[followers]]
    return np.stack(
        [rows[first[followers]], rows[followers], np.full(len(followers), LABEL), sure], axis=1
    ).astype(np.int64)


def _stated_edges(pack: Pack, vocabularies: Ints) -> Ints:
    """Returns edges that the sources state: concept, other, evidence, and whether it is sure."""
    unequal = _stated_pairs(pack, *UNEQUAL)
    table = int_array(
        [
            (row, other, evidence, evidence == MATCH or _pair(row, other) not in unequal)
            for row, other, evidence in find_edges(pack, _matches)
        ]
    ).reshape(-1, 4)
    rows, targets = table[:, 0], table[:, 1]
    # A concept that several of one vocabulary refer to is mostly above all of them.
    _, places, counts = np.unique(
        targets << 32 | vocabularies[rows], return_inverse=True, return_counts=True
    )
    referred = np.bincount(places, weights=table[:, 2] == REFERENCE, minlength=len(counts))[places]
    table[:, 3] &= (table[:, 2] == MATCH) | (referred == 1)
    return table


def _matches(references: References) -> Iterator[tuple[str, int]]:
    """Yields concepts that match one, and single references to a vocabulary."""
    yield from (
        (curie, MATCH)
        for predicate in sorted(SAME & references.keys())
        for curie in references[predicate]
    )
    referred = references.get(REFERS, ())
    prefixes = Counter(curie.partition(":")[0] for curie in referred)
    yield from ((curie, REFERENCE) for curie in referred if prefixes[curie.partition(":")[0]] == 1)


def _order_edges(pack: Pack, keys: Ints, table: Ints) -> Ints:
    """Returns possible edges, each pair once with its best evidence, in the order in which they
    are taken.
    """
    first, second = table[:, 0], table[:, 1]
    table = np.stack(
        [np.minimum(first, second), np.maximum(first, second), table[:, 2], table[:, 3]], axis=1
    )
    table = table[_may_be(pack, table[:, 0], table[:, 1])]
    first, second, evidence, sure = table.T
    equal_labels = (keys[first] == keys[second]) & (keys[first] != _UNKNOWN)
    order = np.lexsort((second, first, ~equal_labels, 1 - sure, evidence))
    _, first_place = np.unique((first << 32 | second)[order], return_index=True)
    return table[order[np.sort(first_place)]]


def _may_be(pack: Pack, first: Ints, second: Ints) -> Bools:
    """Returns whether pairs have one type, no different species, different vocabularies, and are
    not obsolete.
    """
    numbers, taxa, types, gone = (
        pack.prefix_rows,
        pack.taxon_rows,
        pack.type_rows,
        pack.flag_rows & layout.OBSOLETE,
    )
    species = (taxa[first] == taxa[second]) | (taxa[first] == 0) | (taxa[second] == 0)
    possible: Bools = (
        species & (types[first] == types[second]) & (numbers[first] != numbers[second])
    )
    possible &= (gone[first] == 0) & (gone[second] == 0)
    return possible


def find_edges(
    pack: Pack, targets_of: Callable[[References], Iterable[tuple[str, int]]]
) -> Iterator[tuple[int, int, int]]:
    """Yields the row of a concept, the row of another that it refers to, and what its references
    say of both.

    In place of a concept that exactly one other replaced stands that other.

    Args:
        pack: the pack that is open.
        targets_of: of the references of a concept, by their predicates: CURIEs of others, each
            with a number.
    """
    decoder, current = msgspec.msgpack.Decoder(layout.ConceptFacts), replacements(pack)
    for rows in row_chunks(len(pack)):
        facts = (
            (row, decoder.decode(raw))
            for row, raw in zip(rows.tolist(), pack.facts.raws(rows), strict=True)
            if raw
        )
        stated = [
            (row, *target) for row, content in facts for target in targets_of(content.references)
        ]
        other_rows = pack.concept_rows([curie for _, curie, _ in stated])
        for (row, _, evidence), other in zip(stated, other_rows.tolist(), strict=True):
            first, second = current.get(row, row), current.get(other, other)
            if other >= 0 and first != second:
                yield first, second, evidence


def replacements(pack: Pack) -> Mapping[int, int]:
    """Returns the row of each concept that exactly one current concept of the pack replaced, and
    the row of that.
    """
    decoder = msgspec.msgpack.Decoder(layout.ConceptFacts)
    gone = np.flatnonzero(pack.flag_rows & layout.OBSOLETE)
    facts = [decoder.decode(raw).replaced_by if raw else () for raw in pack.facts.raws(gone)]
    pairs = [
        (row, *several)
        for row, several in zip(gone.tolist(), facts, strict=True)
        if len(several) == 1
    ]
    new_rows = pack.concept_rows([curie for _, curie in pairs])
    current = (new_rows >= 0) & ((pack.flag_rows[new_rows] & layout.OBSOLETE) == 0)
    return {
        row: new
        for (row, _), new, holds in zip(pairs, new_rows.tolist(), current.tolist(), strict=True)
        if holds
    }

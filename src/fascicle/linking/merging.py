"""Candidates of units, merged from all names that lead to one concept.

A *group* has the rows of one unit and one set of equal concepts, the best row first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from msgspec.structs import asdict, astuple

from fascicle.core.arrays import Bools, Floats, Ints, int_array
from fascicle.core.pairs import join_pairs, split_pairs
from fascicle.linking.answerable import Answerable
from fascicle.linking.asking import Unit
from fascicle.linking.candidates import (
    CANONICAL,
    ELSEWHERE,
    EXACT,
    FOLDED,
    SUPPLEMENTARY,
    TIERS,
    Candidates,
    FoundConcepts,
    are_preferred,
    have_prefix,
    label_precedence,
    limit_candidates,
    rank_by_tier,
    shared_priors,
    take_rows,
)
from fascicle.linking.equivalents import ABOVE, ITSELF
from fascicle.linking.families import Families
from fascicle.linking.finding import ShortFormFeatures
from fascicle.linking.lookup import WAY
from fascicle.terms.keys.key import KeyReader
from fascicle.terms.pack.pack import Pack
from fascicle.terms.terms import NAME_KINDS

_HALF: Final = 0.5  # of the words of a long form, that the names of its concept have at least
_UNKNOWN_PRIOR: Final = 0.5  # of a remembered name
_LABEL: Final = NAME_KINDS.index("label")
_MESH: Final = "MESH"
_DESCRIPTOR: Final = f"{_MESH}:D"
_SHORT: Final = 1 << WAY["short"]
_OWN: Final = 1 << WAY["own"]
Allow = Callable[[Candidates, Bools], Bools]


class _Groups(NamedTuple):
    """Rows in groups.

    Attributes:
        rows: of all groups, in their order.
        priors: of each row, that of the set for the first one of a group, ``[n]``.
        first: the first row of each group, ``[groups]``.
        pairs: unit and leading concept of each group, ascending, ``[groups]``.
    """

    rows: FoundConcepts
    priors: Floats
    first: Ints
    pairs: Ints

    @property
    def sizes(self) -> Ints:
        """Number of rows of each group."""
        return np.diff(self.first, append=len(self.priors))

    @property
    def ways(self) -> Ints:
        """Ways of all rows of each group, as bits."""
        ways: Ints = np.bitwise_or.reduceat(1 << self.rows.ways, self.first)
        return ways

    def any(self, flags: Bools) -> Bools:
        """Returns whether a row of each group has the flag."""
        return np.logical_or.reduceat(flags, self.first)

    def remembered(self, documents: Mapping[tuple[int, int], int]) -> Ints:
        """Returns how many documents name the unit of each group by its concept."""
        counts = np.zeros(len(self.first), dtype=np.int64)
        places = join_pairs(*int_array(list(documents)).reshape(-1, 2).T)
        counts[np.searchsorted(self.pairs, places)] = list(documents.values())
        return counts


class CandidateMerger:
    """Merges the concepts that were found for units into candidates."""

    def __init__(self, pack: Pack, reader: KeyReader, answerable: Answerable, allow: Allow) -> None:
        """Sets the open pack.

        Args:
            pack: of the concepts.
            reader: of keys.
            answerable: the concepts that may be answered.
            allow: returns which candidates count, given those that count here.
        """
        self._pack, self._answerable, self._allow = pack, answerable, allow
        self._compare = ShortFormFeatures(pack, reader)
        self.families = Families(pack)

    def merge(
        self,
        units: list[Unit],
        matches: Sequence[FoundConcepts],
        documents: Mapping[tuple[int, int], int],
    ) -> Candidates:
        """Returns the candidates, each by the best of the names that lead to it.

        Args:
            units: of all documents.
            matches: their concepts.
            documents: of a unit and a row, how many annotated texts name it so.
        """
        groups = self._group(matches)
        best, (owners, concepts) = take_rows(groups.rows, groups.first), split_pairs(groups.pairs)
        priors = groups.priors[groups.first]
        ways = groups.ways
        labels, verbatim = self._labels(groups, best.distance)
        distinctive, agrees = self._agreement(units, owners, concepts, ways)
        remembered = groups.remembered(documents)
        totals = np.bincount(owners, weights=remembered).astype(np.int64)

        candidates = Candidates(
            **asdict(best) | {"concepts": concepts, "ways": ways},
            units=units,
            names=groups.sizes,
            priors=priors,
            labels=labels,
            distinctive=distinctive,
            agrees=agrees,
            remembered=remembered,
            remembered_all=totals[owners],
            precedence=self._precedence(units, best, concepts, verbatim, priors),
        )
        return limit_candidates(candidates, self._allow(candidates, self._counting(candidates)))

    def _group(self, matches: Sequence[FoundConcepts]) -> _Groups:
        """Returns rows in groups: by tier, distance, way and species, then by the prior."""
        columns = zip(*map(astuple, matches), strict=True)
        rows = FoundConcepts(*map(np.concatenate, columns))
        leads = self._pack.leads
        priors = np.full(len(rows.terms), _UNKNOWN_PRIOR)
        has_term = rows.terms >= 0
        priors[has_term] = self._pack.active.prior[rows.terms[has_term]]

        pairs = join_pairs(rows.owners, leads.of(rows.concepts))
        looseness = _looseness(rows.tiers, rows)
        order = np.lexsort((rows.terms, -priors, -rows.hinted, looseness, pairs))
        rows, priors, pairs = take_rows(rows, order), priors[order], pairs[order]
        first = np.flatnonzero(np.diff(pairs, prepend=-1))
        if len(leads):
            # names of one key have it by turns
            by_key = np.where(rows.tiers <= CANONICAL, EXACT, rows.tiers)
            looseness = _looseness(by_key, rows)
            priors[first] = shared_priors(first, rows.concepts, looseness, priors)
        return _Groups(rows, priors, first, pairs[first])

    def _labels(self, groups: _Groups, distance: Ints) -> tuple[Bools, Bools]:
        """Returns whether a name of each group is a label; and one as it is written in the text,
        of a concept without a species.

        Args:
            groups: of rows.
            distance: of the best row of each.
        """
        rows = groups.rows
        labels = (rows.terms >= 0) & (rows.distance == np.repeat(distance, groups.sizes))
        labels[labels] = self._pack.active.kind[rows.terms[labels]] == _LABEL
        verbatim = labels & (rows.tiers <= FOLDED) & (rows.distance == ITSELF)
        verbatim &= rows.ways <= WAY["long"]
        # species tell genes of one label apart
        verbatim &= self._pack.taxon_rows[rows.concepts] == 0
        return groups.any(labels), groups.any(verbatim)

    def _agreement(
        self, units: Sequence[Unit], owners: Ints, concepts: Ints, ways: Ints
    ) -> tuple[Bools, Floats]:
        """Returns features of candidates that were found by short forms: see `Candidates`."""
        distinctive, agrees = np.zeros(len(ways), dtype=np.bool_), np.zeros(len(ways))
        short = np.flatnonzero(ways & _SHORT)
        if len(short):
            queries = [units[unit].query for unit in owners[short].tolist()]
            distinctive[short], agrees[short] = self._compare(
                owners[short], concepts[short], queries
            )
        return distinctive, agrees

    def _precedence(
        self,
        units: Sequence[Unit],
        best: FoundConcepts,
        concepts: Ints,
        verbatim: Bools,
        priors: Floats,
    ) -> Ints:
        """Returns `Candidates.precedence`."""
        precedence = label_precedence(
            best.owners,
            verbatim,
            priors,
            self._pack.prefix_rows[concepts],
            self._pack.type_rows[concepts],
            units=len(units),
        )
        loose = (precedence == 0) & (best.tiers <= CANONICAL)
        loose &= np.isin(best.distance, (ITSELF, ABOVE))
        loose &= np.isin(best.owners, self._answerable.labelled_elsewhere(units))
        precedence[loose] = ELSEWHERE
        return precedence

    def _counting(self, candidates: Candidates) -> Bools:
        """Returns which candidates count, whatever the strategies: a short form alone leads to a
        concept if it is distinctive, or if the names of the concept agree with the long form.
        """
        counting = candidates.distinctive | (candidates.agrees >= _HALF)
        counting |= candidates.ways != _SHORT
        counting[self.families.strangers(candidates)] = False
        counting[self._loose_supplementary(candidates)] = False
        counting[self._less_usual_genes(candidates)] = False
        counting[self._looser(candidates)] = False
        return counting

    def _looser(self, candidates: Candidates) -> Bools:
        """Returns which concepts without a species have the name only in another spelling, where a
        rule prefers one that has it as written: ``C4-2`` is not C-4-II.
        """
        exact = np.flatnonzero((candidates.tiers == EXACT) & (candidates.distance == ITSELF))
        preferred = exact[are_preferred(self._pack, candidates.terms[exact])]
        beside = np.isin(candidates.owners, candidates.owners[preferred])
        beside &= self._pack.taxon_rows[candidates.concepts] == 0
        looser: Bools = beside & (candidates.tiers > FOLDED)
        return looser

    def _less_usual_genes(self, candidates: Candidates) -> Ints:
        """Returns genes that have the name as an alias, where a rule prefers another gene of their
        species: ``PSA`` is KLK3, not NPEPPS.
        """
        names = self._pack.active
        has_name = (candidates.terms >= 0) & (candidates.ways & _OWN > 0)
        rows = np.flatnonzero(has_name & (self._pack.taxon_rows[candidates.concepts] > 0))
        terms, tiers = candidates.terms[rows], candidates.tiers[rows]
        is_preferred = are_preferred(self._pack, terms) & (candidates.distance[rows] == ITSELF)
        if not is_preferred.any():
            return rows[:0]
        taxa = self._pack.taxon_rows[candidates.concepts[rows]]
        species = join_pairs(candidates.owners[rows], taxa)
        is_symbol = (names.kind[terms] == _LABEL) & (tiers == EXACT)
        is_alias = np.isin(species, species[is_preferred]) & ~is_preferred & ~is_symbol
        return np.compress(is_alias, rows)

    def _loose_supplementary(self, candidates: Candidates) -> Ints:
        """Returns supplementary records of MeSH with another label, where a descriptor has the name
        as well.

        Theirs are mostly names of a parent or a mixture: ``Retinoic acid`` of retinoyl glucuronide.
        """
        pack, owners = self._pack, candidates.owners
        if _MESH not in pack.prefixes:
            return int_array([])
        counts = np.bincount(owners, minlength=len(candidates.units))
        of_mesh = pack.prefix_rows[candidates.concepts] == pack.prefixes.index(_MESH)
        rows = np.flatnonzero((counts[owners] > 1) & of_mesh)
        concepts, owners, tiers = candidates.concepts[rows], owners[rows], candidates.tiers[rows]

        is_descriptor = have_prefix(pack, concepts, _DESCRIPTOR)
        best = np.full(len(candidates.units), len(TIERS))
        np.minimum.at(best, owners[is_descriptor], tiers[is_descriptor])
        loose = have_prefix(pack, concepts, SUPPLEMENTARY) & ~candidates.labels[rows]
        return rows[loose & (tiers >= best[owners])]


def _looseness(tiers: Ints, rows: FoundConcepts) -> Ints:
    """Returns tier, distance and way of each row as one number, in this order; each is below 8."""
    return rank_by_tier(tiers, rows.distance) * 8 + rows.ways

"""Strategies of linking by type: which candidates count, in which vocabulary they are answered,
and how ties end.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.core.wording import near_hint
from fascicle.errors import UsageError
from fascicle.linking.candidates import TIERS, Candidates, allowed_by_precedence
from fascicle.linking.equivalents import AnsweredConcepts
from fascicle.linking.folder import Ranker
from fascicle.linking.species_features import LIKELY
from fascicle.settings.steps import LinkStrategy
from fascicle.terms.pack.pack import Pack

_OTHERS: Final = ""  # stands for the types without a strategy
_WEIGHTS: Final = ("weighed", "named")  # species of a strategy that are none
_NO_TAXON: Final = -1  # row of a species that the pack lacks


class _Rule(NamedTuple):
    """What candidates of a type must be.

    Attributes:
        tiers: whether each of `TIERS` counts.
        places: rank of the vocabulary of each concept of the pack, or ``None``.
        taxon: row of the only species, or ``None``.
    """

    tiers: Bools
    places: Ints | None
    taxon: int | None


class Strategies:
    """Strategies by type, for one pack.

    Attributes:
        of: strategies by type of the pack.
        ontology: prefix of the only vocabulary that is answered; empty for any.
        species: the only species of types that have one.
    """

    def __init__(
        self,
        pack: Pack,
        strategies: Mapping[str, LinkStrategy],
        *,
        order: Sequence[str] = (),
        ontology: str = "",
    ) -> None:
        """Sets the open pack.

        Args:
            pack: of the linker.
            strategies: strategies by type; those of types that the pack lacks do nothing.
            order: as of `AnsweredConcepts`, of types without vocabularies of their own. Where names
                equal to a mention are of several vocabularies, those of the first of these alone
                are candidates, as of a strategy.
            ontology: as of `AnsweredConcepts`.
        """
        self._pack, self.ontology = pack, ontology
        self.of = {
            pack.own_type(kind): strategy
            for kind, strategy in strategies.items()
            if pack.covers(kind)
        }
        order = () if ontology else order
        orders = {_OTHERS: order} | {
            kind: () if ontology else strategy.vocabularies or order
            for kind, strategy in self.of.items()
        }
        self._answers = {
            kind: AnsweredConcepts(pack, order=own, ontology=ontology)
            for kind, own in orders.items()
        }
        self.species = {
            kind: strategy.species
            for kind, strategy in self.of.items()
            if strategy.species not in _WEIGHTS
        }
        self._rules = {kind: self._rule(kind, orders[kind]) for kind in self.of}
        if order:
            every = np.ones(len(TIERS), dtype=np.bool_)
            self._rules[_OTHERS] = _Rule(every, _ranks(pack, order), None)

    def _rule(self, kind: str, order: Sequence[str]) -> _Rule:
        taxon = None
        if kind in self.species:
            taxon = _taxa(self._pack).get(self.species[kind], _NO_TAXON)
        return _Rule(np.isin(TIERS, self.of[kind].keys), _ranks(self._pack, order), taxon)

    def resolve(
        self, rankers: Mapping[str, Ranker], vocabularies: Mapping[str, Sequence[str]]
    ) -> tuple[dict[str, Ranker], dict[str, Sequence[str]]]:
        """Returns the rankers that are used, and the vocabularies that are answered, by type.

        Args:
            rankers: of the linker.
            vocabularies: in place of those of the rankers.
        """
        answered = {kind: ranker.vocabularies for kind, ranker in rankers.items()} | dict(
            vocabularies
        )
        answered |= {
            kind: strategy.vocabularies
            for kind, strategy in self.of.items()
            if strategy.vocabularies
        }
        stated = {kind for kind, strategy in self.of.items() if strategy.ranker == "stated"}
        used = {kind: ranker for kind, ranker in rankers.items() if kind not in stated}
        return used, dict.fromkeys(
            self._pack.types, (self.ontology,)
        ) if self.ontology else answered

    def allowed(self, candidates: Candidates, allowed: Bools) -> Bools:
        """Returns which candidates count.

        Args:
            candidates: candidates.
            allowed: which of them count without strategies.
        """
        for kind, rule in self._rules.items():
            fits = allowed & rule.tiers[candidates.tiers]
            if rule.taxon is not None:
                fits = fits & np.isin(self._pack.taxon_rows[candidates.concepts], (0, rule.taxon))
            if rule.places is not None:
                fits = fits & allowed_by_precedence(rule.places, candidates, fits)
            allowed = np.where(self._are(candidates, kind), fits, allowed)
        return allowed

    def of_named_species(self, candidates: Candidates, species: Floats) -> Bools:
        """Returns which candidates count, of types where the species of the text decide.

        Args:
            candidates: of units.
            species: their `SPECIES_FEATURES`.
        """
        owners, allowed = candidates.owners, np.ones(len(candidates.owners), dtype=np.bool_)
        likely = species[:, LIKELY] > 0
        has_likely = np.bincount(owners, weights=likely, minlength=len(candidates.units)) > 0
        of_other = has_likely[owners] & ~likely
        of_other &= self._pack.taxon_rows[candidates.concepts] > 0
        for kind, strategy in self.of.items():
            if strategy.species == "named":
                allowed &= ~(of_other & self._are(candidates, kind))
        return allowed

    def ties(self, kinds: Sequence[str], alike: Ints) -> tuple[Ints, Bools]:
        """Returns how many first candidates are answered together, and whether the answer is NIL,
        as the strategies end ties.

        Args:
            kinds: type of each unit.
            alike: first candidates of each unit that are equally good, ``[units]``.
        """
        ends = [self.of[kind].fallback if kind in self.of else "" for kind in kinds]
        of_unit = np.array(ends, dtype=object)
        first = np.where(of_unit == "first", np.minimum(alike, 1), alike)
        return first, (of_unit == "nil") & (alike > 1)

    def describe(
        self, candidates: Candidates, rows: Ints
    ) -> list[tuple[str, str, tuple[str, ...]]]:
        """Returns CURIE, label and other CURIEs of candidates, each in the vocabulary of its
        type.
        """
        concepts, terms = candidates.concepts[rows], candidates.terms[rows]
        names = list(self._answers[_OTHERS].describe(concepts, terms))
        for kind in self.of:
            own = np.flatnonzero(self._are(candidates, kind)[rows])
            described = self._answers[kind].describe(concepts[own], terms[own])
            for row, description in zip(own.tolist(), described, strict=True):
                names[row] = description
        return names

    def _are(self, candidates: Candidates, kind: str) -> Bools:
        """Returns whether each candidate is of a type."""
        of_unit = [
            kind == unit.type if kind else unit.type not in self.of for unit in candidates.units
        ]
        return np.array(of_unit, dtype=np.bool_)[candidates.owners]


def _taxa(pack: Pack) -> dict[str, int]:
    """Returns the row of each species of a pack."""
    return {taxon: row for row, taxon in enumerate(pack.taxa.take(np.arange(len(pack.taxa))))}


def _ranks(pack: Pack, order: Sequence[str]) -> Ints | None:
    """Returns the rank in an order of the first vocabulary that the set of each concept is in;
    ``None`` without one.
    """
    if not order:
        return None
    places = np.full(len(pack), len(order))
    for place, prefix in reversed(list(enumerate(order))):
        if prefix in pack.prefixes:
            rows = np.flatnonzero(pack.prefix_rows == pack.prefixes.index(prefix))
            places[pack.leads.of(rows)] = place
    return places


def _prefixes(pack: Pack, kind: str) -> list[str]:
    """Returns the vocabularies that have concepts of a type."""
    own = pack.type_rows == pack.types.index(pack.own_type(kind)) if pack.covers(kind) else slice(0)
    return [pack.prefixes[number] for number in np.unique(pack.prefix_rows[own])]


def check_strategies(packs: Sequence[Pack], strategies: Mapping[str, LinkStrategy]) -> None:
    """Raises an error for a strategy that no pack can follow.

    Raises:
        UsageError: no pack has the type, a vocabulary of it or the species, or a pack has two types
            as one.
    """
    if not strategies:
        return
    for pack in packs:
        own_types = [pack.own_type(kind) for kind in strategies if pack.covers(kind)]
        if twice := [kind for kind in own_types if own_types.count(kind) > 1]:
            raise UsageError(
                f"there are several strategies for what is {twice[0]} in the pack; leave one of "
                "them"
            )
    types = {kind for pack in packs for kind in pack.types}
    species = {*_WEIGHTS, *(taxon for pack in packs for taxon in _taxa(pack))}
    for kind, strategy in strategies.items():
        if not any(pack.covers(kind) for pack in packs):
            _check_name(kind, "type", kind, types)
        vocabularies = {name for pack in packs for name in _prefixes(pack, kind)}
        for name in strategy.vocabularies:
            _check_name(kind, "vocabulary", name, vocabularies)
        _check_name(kind, "species", strategy.species, species)


def _check_name(kind: str, what: str, name: str, available: Collection[str]) -> None:
    if name and name not in available:
        raise UsageError(
            f"the strategy for {kind} names the {what} "
            f"{name!r}{near_hint(name, sorted(available))}, which "
            f"no pack of the linker has{' for it' * (what == 'vocabulary')}; name another {what}"
        )

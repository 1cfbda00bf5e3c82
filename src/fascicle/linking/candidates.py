"""Candidates of units: concepts that each may mean, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import Any, Final

import msgspec
import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints, int_array
from fascicle.core.pairs import join_pairs
from fascicle.linking.asking import Unit
from fascicle.terms.pack.arrays import expand_ranges
from fascicle.terms.pack.layout import PREFERRED
from fascicle.terms.pack.pack import Pack

TIERS: Final = ("exact", "folded", "canonical", "reordered", "near", "remembered")
EXACT, FOLDED, CANONICAL, REORDERED, NEAR, REMEMBERED = range(6)
MOST: Final = 64  # candidates of a unit
SUPPLEMENTARY: Final = "MESH:C"  # of the identifiers of supplementary records
_FAR: Final = 10.0  # times as probable
FAMILY: Final = "family"  # tier of a link of a gene to a family or complex of genes
# tier of a candidate that has a label of another vocabulary as a loose name
BROADER: Final = "broader"
PRECEDED, ELSEWHERE, LABELS = -1, -2, 2  # of `Candidates.precedence`
# of the families of a type
FAMILY_TYPES: Final = MappingProxyType({"Gene": "GeneFamily"})


class FoundConcepts(msgspec.Struct, frozen=True):
    """Concepts that were found for units, one for each name that led to one.

    Attributes:
        owners: number of the unit of each, ``[n]``; so are all the others.
        concepts: rows in the pack.
        terms: row of the active term by which it was found, or -1 for a remembered name.
        tiers: numbers in `TIERS`.
        similarity: of the keys.
        ways: numbers in `WAYS`.
        distance: `ITSELF` for a name of its own, else that of a concept that it is equivalent to,
            see `Reached`.
        hinted: 1 if words of the mention name the species of the concept, -1 if they name another,
            else 0.
    """

    owners: Ints
    concepts: Ints
    terms: Ints
    tiers: Ints
    similarity: Floats
    ways: Ints
    distance: Ints
    hinted: Ints


class Candidates(FoundConcepts, frozen=True, kw_only=True):
    """Candidates of units; each concept occurs once for a unit, by the best of its names.

    ``owners`` ascend, and within a unit ``concepts``, which lead their sets. ``ways`` are those of
    all names that lead to a concept, as bits by their number in `WAYS`.

    Attributes:
        units: in the order of documents, first mentions and parts.
        names: how many terms lead to it.
        priors: of the term; 0.5 for a remembered name.
        labels: whether the term is a preferred name.
        distinctive: whether it was found by a short form alone that is hardly short for anything
            else.
        agrees: the share of the words of the long form that its names have, if it was found by the
            short form alone.
        remembered: how many documents annotated the surface with it.
        remembered_all: how many annotated it with any concept.
        precedence: 1 of the candidate whose label is the mention as written, `LABELS` of several
            that are equally probable, `PRECEDED` of one
            of another vocabulary that has it as a loose name, `ELSEWHERE` if that label is of no
            vocabulary that may be answered, else 0; see `label_precedence`.
    """

    units: list[Unit]
    names: Ints
    priors: Floats
    labels: Bools
    distinctive: Bools
    agrees: Floats
    remembered: Ints
    remembered_all: Ints
    precedence: Ints


def have_prefix(pack: Pack, concepts: Ints, prefix: str) -> Bools:
    """Returns whether the CURIE of each concept starts with a prefix."""
    curies = pack.curies.strings.take(concepts)
    return np.array([curie.startswith(prefix) for curie in curies], dtype=np.bool_)


def are_preferred(pack: Pack, terms: Ints) -> Bools:
    """Returns whether a rule prefers the concept of each name; not where there is none, -1."""
    preferred: Bools = (terms >= 0) & (pack.active.flags[terms] & PREFERRED > 0)
    return preferred


def rank_by_tier(tiers: Ints, distance: Ints) -> Ints:
    """Returns numbers that order rows by tier, then by distance, which is below 8."""
    return tiers * 8 + distance


def take_rows(concepts: FoundConcepts, rows: Ints) -> FoundConcepts:
    """Returns some rows, in their order."""
    return FoundConcepts(*(column[rows] for column in msgspec.structs.astuple(concepts)))


def limit_candidates(candidates: Candidates, allowed: Bools) -> Candidates:
    """Returns at most `MOST` candidates of each unit, the best ones of those that are allowed."""
    counts = np.bincount(candidates.owners[allowed], minlength=len(candidates.units))
    if allowed.all() and (not len(counts) or counts.max() <= MOST):
        return candidates
    keys = (
        candidates.concepts,
        -candidates.priors,
        candidates.distance,
        candidates.tiers,
        -candidates.remembered,
        candidates.owners,
    )
    order = np.lexsort(keys)
    order = order[allowed[order]]
    starts = np.cumsum(counts) - counts
    rows = np.sort(order[np.arange(len(order)) - starts[candidates.owners[order]] < MOST])
    return Candidates(units=candidates.units, **_columns(candidates, rows))


def _columns(candidates: Candidates, rows: Ints) -> dict[str, Any]:
    return {
        name: getattr(candidates, name)[rows]
        for name in Candidates.__struct_fields__
        if name != "units"
    }


def separate_mentions(candidates: Candidates, separated: Bools) -> Candidates:
    """Returns candidates with a unit of its own for each mention of some units.

    Args:
        candidates: candidates of units.
        separated: whether the mentions of each unit are separated.
    """
    several = [len(unit.mentions) > 1 for unit in candidates.units]
    separated = separated & np.array(several, dtype=np.bool_)
    if not separated.any():
        return candidates
    numbered = sorted(
        _numbered_units(candidates.units, separated.tolist()),
        key=lambda pair: (pair[0].document, pair[0].mentions[0], pair[0].part),
    )
    sources = int_array([number for _, number in numbered])
    bounds = np.searchsorted(candidates.owners, np.arange(len(candidates.units) + 1))
    owners, rows = expand_ranges(bounds[sources], bounds[sources + 1])
    units = [unit for unit, _ in numbered]
    return Candidates(**_columns(candidates, rows) | {"units": units, "owners": owners})


def _numbered_units(units: Iterable[Unit], separated: Iterable[bool]) -> Iterator[tuple[Unit, int]]:
    """Yields units, divided where they are separated, each with the number of the one before."""
    for number, (unit, is_separated) in enumerate(zip(units, separated, strict=True)):
        for part in unit.each() if is_separated else (unit,):
            yield part, number


def shared_priors(first: Ints, members: Ints, ways: Ints, priors: Floats) -> Floats:
    """Returns the priors of candidates: concepts of a set share the prior of a name that several of
    them have.

    Args:
        first: of the rows of each candidate, the best.
        members: concept of each row.
        ways: how each was found.
        priors: of each row.
    """
    owners = np.repeat(np.arange(len(first)), np.diff(first, append=len(members)))
    best = first[owners]
    rows = np.flatnonzero((ways == ways[best]) & (members != members[best]))
    rows = rows[np.lexsort((-priors[rows], members[rows], owners[rows]))]
    rows = rows[np.diff(join_pairs(owners[rows], members[rows]), prepend=-1) != 0]
    sums = np.bincount(owners[rows], weights=priors[rows], minlength=len(first))
    return np.minimum(priors[first] + sums, 1.0)


def label_precedence(
    owners: Ints, verbatim: Bools, priors: Floats, vocabularies: Ints, types: Ints, *, units: int
) -> Ints:
    """Returns `Candidates.precedence`: a label, as written, precedes a loose name of another
    vocabulary.

    It precedes none where another concept is far more probable, which a curated rule prefers then.
    Of several with this label the more probable precedes, but no name of the vocabulary of another.

    ``Obstructive hydrocephalus`` is a label of DOID, and a loose name of the coarser
    `Hydrocephalus` of MeSH.

    Args:
        owners: number of the unit of each candidate.
        verbatim: whether a label of each is the mention as written.
        priors: of each.
        vocabularies: of the concept that leads the set of each.
        types: of the concepts.
        units: how many there are.
    """
    highest, of_labels = np.zeros((2, units))
    np.maximum.at(highest, owners, priors)
    np.maximum.at(of_labels, owners, np.where(verbatim, priors, 0.0))
    precedes = verbatim & (priors >= of_labels[owners]) & (priors * _FAR >= highest[owners])
    place = np.full(units, -1)
    place[owners[precedes]] = np.flatnonzero(precedes)
    first, vocabulary = place[owners], join_pairs(owners, vocabularies)
    loose = (first >= 0) & (types == types[first])
    loose &= ~np.isin(vocabulary, vocabulary[verbatim])
    precedes &= np.isin(owners, owners[loose]) | (_count(owners, verbatim) == 1)
    return np.where(loose, PRECEDED, precedes * np.where(_count(owners, precedes) == 1, 1, LABELS))


def _count(owners: Ints, rows: Bools) -> Ints:
    """Returns for each candidate how many of some rows are of its unit."""
    counts: Ints = np.bincount(owners[rows], minlength=int(owners.max(initial=0)) + 1)[owners]
    return counts


def allowed_by_precedence(places: Ints, candidates: Candidates, allowed: Bools) -> Bools:
    """Returns whether each candidate may stay, given those of vocabularies that precede its own.

    Where an equal name leads to a concept of a vocabulary, concepts of later vocabularies are no
    candidates, but for one whose label is the mention as written: `renal calculi` is the concept of
    MeSH that has this name, and not another one of DOID beside it.

    Args:
        places: of the vocabulary of each concept of the pack.
        candidates: candidates of units.
        allowed: those that count.
    """
    own = places[candidates.concepts]
    first = np.full(len(candidates.units), int(places.max(initial=0)) + 1)
    equal = allowed & (candidates.tiers <= CANONICAL)
    np.minimum.at(first, candidates.owners[equal], own[equal])
    may_stay: Bools = (own <= first[candidates.owners]) | (candidates.precedence > 0)
    return may_stay

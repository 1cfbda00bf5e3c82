"""Candidates of units: concepts that each may mean, as arrays; and decisions on them, as a
linker gives them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

import msgspec
import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.core.mention import ABSENT, AMBIGUOUS, Link
from fascicle.linking.asking import Unit
from fascicle.terms.pack.arrays import expand_ranges

TIERS: Final = ("exact", "folded", "canonical", "reordered", "near", "remembered", "dense")
EXACT, FOLDED, CANONICAL, REORDERED, NEAR, REMEMBERED, DENSE = range(7)
MOST: Final = 64  # candidates of a unit
SUPPLEMENTARY: Final = "MESH:C"  # of the identifiers of supplementary records
FAMILY: Final = "family"  # tier of a link of a gene to a family or complex of genes
# tier of a candidate that has a label of another vocabulary as a loose name
BROADER: Final = "broader"
PRECEDED, ELSEWHERE = -1, -2  # of `Candidates.precedence`
# of the families of a type
FAMILY_TYPES: Final[Mapping[str, str]] = MappingProxyType({"Gene": "GeneFamily"})


class FoundConcepts(msgspec.Struct, frozen=True):
    """Concepts that were found for units, one for each name that led to one.

    Attributes:
        owners: number of the unit of each, ``[n]``; so are all the others.
        concepts: rows in the pack.
        terms: row of the active term by which it was found, or -1 for a remembered name.
        tiers: numbers in `TIERS`.
        similarity: of the keys, or of the vectors of a name that was found by them.
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
        precedence: 1 of the only candidate whose label is the mention as written, `PRECEDED` of one
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

    @property
    def dense(self) -> Floats:
        """Similarity of candidates that were found by vectors, 0 for the others, ``[n]``."""
        return np.where(self.tiers == DENSE, self.similarity, 0.0)


def limit_candidates(found: Candidates, allowed: Bools) -> Candidates:
    """Returns at most `MOST` candidates of each unit, the best ones of those that are allowed."""
    counts = np.bincount(found.owners[allowed], minlength=len(found.units))
    if allowed.all() and (not len(counts) or counts.max() <= MOST):
        return found
    keys = (
        found.concepts,
        -found.priors,
        found.distance,
        -found.dense,
        found.tiers,
        -found.remembered,
        found.owners,
    )
    order = np.lexsort(keys)
    order = order[allowed[order]]
    starts = np.cumsum(counts) - counts
    kept = np.sort(order[np.arange(len(order)) - starts[found.owners[order]] < MOST])
    return Candidates(units=found.units, **_columns(found, kept))


def _columns(found: Candidates, rows: Ints) -> dict[str, Any]:
    return {
        name: getattr(found, name)[rows] for name in Candidates.__struct_fields__ if name != "units"
    }


def separate_mentions(found: Candidates, chosen: Bools) -> Candidates:
    """Returns candidates with a unit of its own for each mention of some units.

    Args:
        found: candidates of units.
        chosen: whether the mentions of each unit are separated.
    """
    several = {
        number
        for number in np.flatnonzero(chosen).tolist()
        if len(found.units[number].mentions) > 1
    }
    if not several:
        return found
    split = (
        (number, unit.each() if number in several else (unit,))
        for number, unit in enumerate(found.units)
    )
    made = [(one, number) for number, units in split for one in units]
    made.sort(key=lambda pair: (pair[0].document, pair[0].mentions[0], pair[0].part))
    sources = np.array([number for _, number in made], dtype=np.int64)
    bounds = np.searchsorted(found.owners, np.arange(len(found.units) + 1))
    owners, rows = expand_ranges(bounds[sources], bounds[sources + 1])
    return Candidates(
        **_columns(found, rows) | {"units": [one for one, _ in made], "owners": owners}
    )


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
    rows = rows[np.diff(owners[rows] << 32 | members[rows], prepend=-1) != 0]
    others = np.bincount(owners[rows], weights=priors[rows], minlength=len(first))
    return np.minimum(priors[first] + others, 1.0)


def label_precedence(
    owners: Ints, written: Bools, priors: Floats, vocabularies: Ints, types: Ints, *, units: int
) -> Ints:
    """Returns `Candidates.precedence`: a label, as written, precedes a loose name of another
    vocabulary.

    It precedes none where another concept is far more probable, which a curated rule prefers then.

    ``Obstructive hydrocephalus`` is a label of DOID, and a loose name of the coarser
    `Hydrocephalus` of MeSH.

    Args:
        owners: number of the unit of each candidate.
        written: whether a label of each is the mention as written.
        priors: of each.
        vocabularies: of the concept that leads the set of each.
        types: of the concepts.
        units: how many there are.
    """
    only = np.bincount(owners, weights=written, minlength=units) == 1
    highest = np.zeros(units)
    np.maximum.at(highest, owners, priors)
    precedes = written & only[owners] & (priors * _FAR >= highest[owners])
    place = np.full(units, -1)
    place[owners[precedes]] = np.flatnonzero(precedes)
    first = place[owners]
    loose = (
        (first >= 0) & ~precedes & (vocabularies != vocabularies[first]) & (types == types[first])
    )
    return np.where(loose, PRECEDED, precedes.astype(np.int64))


def allowed_by_precedence(places: Ints, found: Candidates, allowed: Bools) -> Bools:
    """Returns whether each candidate may stay, given those of vocabularies that precede its own.

    Where an equal name leads to a concept of a vocabulary, concepts of later vocabularies are no
    candidates, but for one whose label is the mention as written: `renal calculi` is the concept of
    MeSH that has this name, and not another one of DOID beside it.

    Args:
        places: of the vocabulary of each concept of the pack.
        found: candidates of units.
        allowed: those that count.
    """
    own = places[found.concepts]
    first = np.full(len(found.units), int(places.max(initial=0)) + 1)
    equal = allowed & (found.tiers <= CANONICAL)
    np.minimum.at(first, found.owners[equal], own[equal])
    may_stay: Bools = (own <= first[found.owners]) | (found.precedence > 0)
    return may_stay


_FAR: Final = 10.0  # times as probable
_DIGITS: Final = 6  # of a score, as everywhere


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """Concept that a mention may mean.

    Attributes:
        curie: of the concept.
        label: its preferred name.
        name: of the pack by which it was found; empty for one that annotated texts gave.
        tier: how it was found.
        ways: what of the mention led to it: its own words, its long or short form, and so on.
        probability: or ``None`` without a fitted ranker; of an ambiguous mention its share, then.
        features: the features that are not 0.
        parts: of its score, weight times feature; empty without a fitted ranker.
        date: of the vocabulary in the pack, empty if its source states none.
        same: CURIEs of the same concept in other vocabularies.
    """

    curie: str
    label: str
    name: str
    tier: str
    ways: tuple[str, ...]
    probability: float | None
    features: dict[str, float]
    parts: dict[str, float]
    date: str
    same: tuple[str, ...] = ()


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """Decision of the linker about one thing that a mention names.

    Attributes:
        mention: number of the mention in the document.
        part: number of the thing in the mention.
        surface: its words.
        type: of the mention.
        pack: name of the pack of the candidates.
        candidates: the best first.
        nil: probability that no concept of the pack fits; ``None`` without a fitted ranker, and
            without candidates.
        answer: whether the first candidate is the answer; else it is NIL, or ambiguous.
        ambiguous: how many of the first candidates are the answer because they cannot be told
            apart; else 0.
    """

    mention: int
    part: int
    surface: str
    type: str
    pack: str
    candidates: tuple[Candidate, ...]
    nil: float | None
    answer: bool
    ambiguous: int = 0

    @property
    def link(self) -> Link:
        """Answer as a link; the first one of an ambiguous answer."""
        return self.links[0]

    @property
    def links(self) -> tuple[Link, ...]:
        """Answer as links; an ambiguous answer has several."""
        if not self.answer and not self.ambiguous:
            return (nil_link(self.nil, absent=not self.candidates),)
        first = self.candidates[: self.ambiguous or 1]
        tiers = [AMBIGUOUS if self.ambiguous else one.tier for one in first]
        return tuple(
            link_to(one.curie, one.label, tier, one.probability, one.same)
            for one, tier in zip(first, tiers, strict=True)
        )


@lru_cache(maxsize=1 << 12)  # a document names a concept again and again
def link_to(curie: str, label: str, tier: str, score: float | None, same: tuple[str, ...]) -> Link:
    """Returns a link to a concept."""
    prefix, _, local = curie.partition(":")
    return Link(
        id=local,
        ontology=prefix,
        name=label,
        score=_rounded(score),
        tier=tier,
        curie=curie,
        same=same,
    )


def nil_link(score: float | None, ontology: str = "", *, absent: bool = False) -> Link:
    """Returns a NIL link: no concept fits, of one vocabulary or of any; ``absent``: there was no
    candidate.
    """
    return Link(
        id="", ontology=ontology, nil=True, score=_rounded(score), tier=ABSENT if absent else ""
    )


def _rounded(score: float | None) -> float | None:
    return None if score is None else min(1.0, round(score, _DIGITS))


def distinct(several: Sequence[Link]) -> tuple[Link, ...]:
    """Returns the links of a mention: each concept once, or NIL if no part has one."""
    if len(several) == 1:  # as of nearly all mentions
        return tuple(several)
    named = {link.curie: link for link in reversed(several) if not link.nil}
    return tuple(reversed(named.values())) if named else (several[0],)

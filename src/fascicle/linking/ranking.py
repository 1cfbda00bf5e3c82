"""Ranker: orders the candidates of each mention, and decides how many of them are the answer.

A type with a fitted ranker has probabilities of `logit`; another one has `stated_scores`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec
import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.linking.calibration import correct_probabilities
from fascicle.linking.candidates import EXACT, PRECEDED, Candidates
from fascicle.linking.features import FEATURES, RARE_SHORT_FORM
from fascicle.linking.folder import Ranker
from fascicle.linking.logit import ChoiceSets, probabilities

WEIGHTS: Final = MappingProxyType(
    {
        "species: in the name": 4.0,
        "species: likely": 2.0,
        "species: share in the document": 1.0,
        "tier: exact": 1.0,
        "tier: folded": 0.5,
        "tier: reordered": -0.5,
        "tier: near": -1.0,
        "tier: remembered": 1.0,
        "similarity": 1.0,
        "found by: short": -1.0,
        "found by: bare": -1.0,
        "found by: part": -1.0,
        "found by: shorter": -6.0,
        RARE_SHORT_FORM: -4.0,
        "by an exact match of vocabularies": -0.25,
        "by a reference of vocabularies": -0.5,
        "by two references": -1.0,
        "by a parent": -3.0,
        "by a namesake": -2.0,
        "label": 1.0,
        "case": 0.5,
        "share of prior": 0.5,
        "share of remembered": 3.0,
        "another name in the document": 0.5,
        "words around": 1.0,
    }
)
MARGIN: Final = 0.5
_MOST_ALIKE: Final = 20
_FOREIGN: Final = 10.0
# of the probability of the first candidate, that those have which may be meant instead
_COMPARABLE: Final = 1 / 3
_WEIGHTS: Final = np.array([WEIGHTS.get(name, 0.0) for name in FEATURES])
_LIKELY: Final = FEATURES.index("species: likely")
_OF_ANOTHER: Final = FEATURES.index("label of another")
_DIGITS: Final = 9  # of a sum: equal candidates must tie
# Returns how many first candidates of each unit are answered together, and whether it is NIL.
_Ties = Callable[[Sequence[str], Ints], tuple[Ints, Bools]]


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates of units in their order, as arrays.

    Attributes:
        candidates: as they were gathered.
        features: of `FeatureExtractor.features`, ``[n, features]``.
        order: numbers of candidates, by unit, the best first, ``[n]``.
        scores: probability of each candidate, or NaN, ``[n]``.
        nil: probability that none fits, of each unit, or NaN, ``[units]``.
        alike: how many candidates of each unit are tied with the first, ``[units]``.
        answered: how many of the first candidates of each unit are the answer; 0 if it is NIL,
            ``[units]``.
    """

    candidates: Candidates
    features: Floats
    order: Ints
    scores: Floats
    nil: Floats
    alike: Ints
    answered: Ints


def stated_scores(candidates: Candidates, features: Floats) -> Floats:
    """Returns the weighted sum of the features of each candidate, ``[n]``, for types without a
    fitted ranker.

    The weights are round numbers, the same for every type, chosen on the texts that the shipped
    linker was fitted on. Of mentions whose first two candidates differ by less than `MARGIN`, the
    first was right in a third; so they are *ambiguous*.
    """
    scores: Floats = np.round(np.einsum("nf,f->n", features, _WEIGHTS), _DIGITS)
    return scores


def unit_shares(scores: Floats, owners: Ints, units: int) -> Floats:
    """Returns the share that each candidate has of its unit, if one of them is meant, ``[n]``.

    Args:
        scores: stated, ``[n]``.
        owners: number of the unit of each, ``[n]``.
        units: how many there are.
    """
    highest = np.full(units, -np.inf)
    np.maximum.at(highest, owners, scores)
    powers = np.exp(scores - highest[owners])
    shares: Floats = powers / np.bincount(owners, weights=powers, minlength=units)[owners]
    return shares


def count_tied(scores: Floats, stated: Floats, owners: Ints, *, units: int) -> Ints:
    """Returns how many candidates of each unit are tied with the first, the first included,
    ``[units]``.

    Args:
        scores: by a ranker, or not a number, in the order of candidates, ``[n]``.
        stated: the same by `stated_scores`.
        owners: number of the unit of each, ascending, ``[n]``.
        units: how many there are.
    """
    starts = np.searchsorted(owners, np.arange(units))
    first = starts[owners]
    ranked = np.nan_to_num(scores, nan=0.0)
    near = (ranked == ranked[first]) & (stated > stated[first] - MARGIN)
    counts: Ints = np.bincount(owners[near], minlength=units)
    return counts


class _TypeRows(NamedTuple):
    """Candidates that the ranker of one type ranks.

    Attributes:
        ranker: of the type.
        units: numbers of the units of this type.
        rows: numbers of their candidates, in the order without a ranker, ``[n]``.
        owners: place of the unit of each in ``units``, ascending, ``[n]``.
    """

    ranker: Ranker
    units: Ints
    rows: Ints
    owners: Ints


class CandidateRanker:
    """Ranks candidates by the rankers of their types."""

    def __init__(self, rankers: Mapping[str, Ranker], ties: _Ties) -> None:
        """Sets the rankers.

        Args:
            rankers: by type; candidates of other types are in the order of `stated_scores`.
            ties: see `Strategies.ties`.
        """
        self._rankers, self._ties = rankers, ties

    def rank_candidates(
        self,
        candidates: Candidates,
        features: Floats,
        mention_scores: Floats | None = None,
        foreign: Bools | None = None,
    ) -> Ranked:
        """Returns candidates in their order, and how many of them are answers.

        Args:
            candidates: candidates of units.
            features: of them.
            mention_scores: of the mention of each unit, not a number where it has none; by default
                none has one.
            foreign: which units are genes of species that the pack lacks, so that the probabilities
                of candidates are divided by `_FOREIGN`; by default none.
        """
        owners, units = candidates.owners, len(candidates.units)
        stated = stated_scores(candidates, features)  # decide between equally probable candidates
        stated[candidates.precedence == PRECEDED] = -np.inf  # another label precedes them
        by_statement = np.lexsort((candidates.concepts, -stated, owners))
        parts = list(self._by_type(candidates, by_statement))
        scores, nil = np.where(np.isinf(stated), 0.0, np.nan), np.full(units, np.nan)
        self._fill_probabilities(parts, features, scores, nil)
        order = _by_score(by_statement, scores, owners)
        tied = count_tied(scores[order], stated[order], owners, units=units)
        tied = np.minimum(tied, _MOST_ALIKE)
        if mention_scores is None:
            mention_scores = np.full(units, np.nan)
        thresholds = _correct(parts, mention_scores, scores, nil)

        if foreign is not None:
            scores[foreign[owners]] /= _FOREIGN
            sums = np.bincount(owners, weights=scores, minlength=units)
            nil[foreign] = 1 - sums[foreign]
        alike, thresholds = _undecided(scores[order], nil, owners, tied, thresholds)
        is_low = _are_low(scores[order], owners, thresholds)
        order, scores, alike = _settle(candidates, order, scores, features, tied, alike)
        alike, is_nil = self._ties([unit.type for unit in candidates.units], alike)
        # no name was compared, so nothing is known
        nil[np.bincount(owners, minlength=units) == 0] = np.nan
        shares = unit_shares(stated, owners, units)
        return Ranked(
            candidates=candidates,
            features=features,
            order=order,
            scores=np.where(np.isnan(scores) & (alike > 1)[owners], shares, scores),
            nil=nil,
            alike=alike,
            answered=np.where(is_low | is_nil, 0, alike),
        )

    def _by_type(self, candidates: Candidates, order: Ints) -> Iterator[_TypeRows]:
        """Yields the candidates of each type with a ranker, without those that a label precedes."""
        order = order[candidates.precedence[order] != PRECEDED]
        owners = candidates.owners[order]
        of_unit = np.array([unit.type for unit in candidates.units], dtype=object)
        for kind, ranker in self._rankers.items():
            units = np.flatnonzero(of_unit == kind)
            of_type = np.isin(owners, units)
            yield _TypeRows(ranker, units, order[of_type], np.searchsorted(units, owners[of_type]))

    def _fill_probabilities(
        self, parts: Sequence[_TypeRows], features: Floats, scores: Floats, nil: Floats
    ) -> None:
        """Fills in the probability of each candidate, and of NIL for each unit."""
        for ranker, units, rows, owners in parts:
            weights = np.array([ranker.weights.get(name, 0.0) for name in FEATURES])
            choices = ChoiceSets(owners, features[rows], len(units))
            scores[rows], nil[units] = probabilities(choices, weights)


def _correct(
    parts: Sequence[_TypeRows], mention_scores: Floats, scores: Floats, nil: Floats
) -> Floats:
    """Corrects probabilities in place; returns the threshold of each unit."""
    thresholds = np.zeros(len(nil))
    for ranker, units, rows, owners in parts:
        correction = ranker.correction(mention_scores[units])
        scores[rows], nil[units] = correct_probabilities(
            scores[rows], nil[units], owners, correction
        )
        thresholds[units] = ranker.thresholds(mention_scores[units])
    return thresholds


def _are_low(scores: Floats, owners: Ints, thresholds: Floats) -> Bools:
    """Returns which units have no candidate, or a first one that is less probable than its
    threshold; a candidate without a probability is not.
    """
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    low = np.ones(len(thresholds), dtype=np.bool_)
    low[owners[first]] = scores[first] < thresholds[owners[first]]
    return low


def _undecided(
    scores: Floats, nil: Floats, owners: Ints, alike: Ints, thresholds: Floats
) -> tuple[Ints, Floats]:
    """Returns ties and thresholds where some candidate is meant, but none is probable enough:
    several are the answer.

    Args:
        scores: probability of each candidate, or NaN, in the order of candidates, ``[n]``.
        nil: probability that none fits, of each unit, or NaN, ``[units]``.
        owners: number of the unit of each candidate, ascending, ``[n]``.
        alike: first candidates of each unit that are equally good, ``[units]``.
        thresholds: of each unit, ``[units]``.
    """
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    best = np.full(len(nil), np.nan)
    best[owners[first]] = scores[first]
    counts = np.bincount(owners, weights=scores > 0, minlength=len(nil)).astype(np.int64)
    comparable = np.bincount(
        owners, weights=scores >= _COMPARABLE * best[owners], minlength=len(nil)
    )
    several = np.minimum(
        np.minimum(np.maximum(comparable.astype(np.int64), 2), counts), _MOST_ALIKE
    )
    open_ = (best < thresholds) & (nil < best) & (several > 1)
    return np.where(open_, np.maximum(alike, several), alike), np.where(open_, 0.0, thresholds)


def _settle(
    candidates: Candidates,
    order: Ints,
    scores: Floats,
    features: Floats,
    tied: Ints,
    alike: Ints,
) -> tuple[Ints, Floats, Ints]:
    """Returns order, probabilities and counts of answers where several are the answer of a unit.

    One whose label is the mention as written is the answer alone, and takes the probability of the
    first: `Mek` is a family, as it may be several genes of a species. A gene that only differs by
    its species is no reason to answer with its family. So is a gene whose symbol is the mention and
    an alias of all others: `AR`. Else those that are tied share their probability.

    Args:
        candidates: of units.
        order: of them, the best of each unit first.
        scores: probability of each, or NaN.
        features: of each; whether it is of the likely species, and its name the symbol of another
            gene of its species, decides.
        tied: first candidates of each unit that are equally good, ``[units]``.
        alike: how many are the answer, ``[units]``.
    """
    owners, units = candidates.owners, len(alike)
    alike, several = alike.copy(), (alike > 1)[owners]
    starts = np.searchsorted(owners, np.arange(units))
    places = np.arange(len(order)) - starts[owners]
    scores = _share_among_tied(order, scores, owners, tied, several & (places < tied[owners]))

    # A label that precedes the others is the answer alone.
    answers = several & (places < alike[owners])
    counts = np.bincount(owners, weights=answers & (features[order, _LIKELY] > 0), minlength=units)
    precedes = several & (candidates.precedence[order] == 1)
    precedes &= (counts[owners] != 1) | (places == 0)
    labels = np.flatnonzero(precedes | _are_symbols(candidates, order, answers, features))
    rows = order[labels]
    best = _by_score(order, scores, owners)[starts[owners[labels]]]
    scores[rows], scores[best] = scores[best], scores[rows]
    alike[owners[labels]] = 1
    is_label = np.zeros(len(order), dtype=np.bool_)
    is_label[rows] = True
    falling = -np.nan_to_num(scores[order], nan=0.0)
    return order[np.lexsort((~is_label[order], falling, owners))], scores, alike


def _share_among_tied(
    order: Ints, scores: Floats, owners: Ints, tied: Ints, equal: Bools
) -> Floats:
    """Returns probabilities of which candidates that are tied have equal shares."""
    scores = scores.copy()
    sums = np.bincount(owners[equal], weights=scores[order[equal]], minlength=len(tied))
    scores[order[equal]] = (sums / np.maximum(tied, 1))[owners[equal]]
    return scores


def _are_symbols(candidates: Candidates, order: Ints, answers: Bools, features: Floats) -> Bools:
    """Returns which answers are genes whose symbol is the mention, and an alias of the others."""
    owners = candidates.owners
    by_itself = answers & ~(features[order, _OF_ANOTHER] > 0)
    symbols = by_itself & candidates.labels[order] & (candidates.tiers[order] == EXACT)
    rest = np.bincount(owners, weights=by_itself, minlength=len(candidates.units))
    are_symbols: Bools = symbols & (rest == 1)[owners]
    return are_symbols


def _by_score(order: Ints, scores: Floats, owners: Ints) -> Ints:
    return order[np.lexsort((-np.nan_to_num(scores[order], nan=0.0), owners))]

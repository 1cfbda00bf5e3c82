"""Ranker: a conditional logistic model of the candidate that a mention means, or none of them.

The probability of a candidate is ``exp(w x) / (1 + sum of exp(w x'))`` over the candidates ``x'``
of its mention (McFadden 1974, the conditional logit with an outside option); what is left is that
of NIL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.linking.candidates import PRECEDED, Candidates
from fascicle.linking.features import FEATURES, RARE_SHORT_FORM
from fascicle.linking.folder import Ranker, correct_probabilities

WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
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
# of the probability of the first candidate, that those have which may be meant instead
_COMPARABLE: Final = 1 / 3
_DENSE: Final = -2.0  # of a name that was found by vectors, beside their similarity
_WEIGHTS: Final = np.array([WEIGHTS.get(name, 0.0) for name in FEATURES])
_LIKELY: Final = FEATURES.index("species: likely")
_DIGITS: Final = 9  # of a sum: equal candidates must tie
_Ties = Callable[[Sequence[str], Ints, Floats], tuple[Ints, Floats]]


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
    sums = np.einsum("nf,f->n", features[:, : len(FEATURES)], _WEIGHTS)
    dense = candidates.dense
    scores: Floats = np.round(sums + np.where(dense > 0, _DENSE + dense, 0.0), _DIGITS)
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


class Choices(NamedTuple):
    """Candidates of mentions.

    Attributes:
        owners: number of the mention of each candidate, ascending, ``[n]``.
        features: of each candidate, ``[n, features]``.
        mentions: how many there are, also without candidates.
    """

    owners: Ints
    features: Floats
    mentions: int


def probabilities(choices: Choices, weights: Floats) -> tuple[Floats, Floats]:
    """Returns the probability of each candidate, and of NIL for each mention.

    Args:
        choices: candidates.
        weights: of the features.

    Returns:
        ``[n]`` and ``[mentions]``; those of a mention sum up to 1.
    """
    # Not a product of matrices, whose last digits depend on the place of a row: equal candidates
    # must tie.
    scores = np.einsum("nf,f->n", np.ascontiguousarray(choices.features), weights)
    highest = np.zeros(choices.mentions)
    np.maximum.at(highest, choices.owners, scores)
    powers = np.exp(scores - highest[choices.owners])
    none = np.exp(-highest)
    total = none + np.bincount(choices.owners, weights=powers, minlength=choices.mentions)
    return powers / total[choices.owners], none / total


class _OfRanker(NamedTuple):
    """Candidates that one ranker ranks.

    Attributes:
        ranker: of a type.
        units: numbers of the units of this type.
        rows: numbers of their candidates, in the order without a ranker, ``[n]``.
        owners: place of the unit of each in ``units``, ascending, ``[n]``.
    """

    ranker: Ranker
    units: Ints
    rows: Ints
    owners: Ints


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
    candidates: Candidates, order: Ints, scores: Floats, likely: Bools, tied: Ints, alike: Ints
) -> tuple[Ints, Floats, Ints]:
    """Returns order, probabilities and counts of answers where several are the answer of a unit.

    One whose label is the mention as written is the answer alone, and takes the probability of the
    first: `Mek` is a family, as it may be several genes of a species. A gene that only differs by
    its species is no reason to answer with its family. Else those that are tied share their
    probability.

    Args:
        candidates: candidates.
        order: of them, the best of each unit first.
        scores: probability of each, or NaN.
        likely: whether each is of the likely species.
        tied: first candidates of each unit that are equally good, ``[units]``.
        alike: how many are the answer, ``[units]``.
    """
    owners, scores, alike = candidates.owners, scores.copy(), alike.copy()
    starts = np.searchsorted(owners, np.arange(len(alike)))
    places, several = np.arange(len(order)) - starts[owners], (alike > 1)[owners]
    equal = several & (places < tied[owners])
    sums = np.bincount(owners[equal], weights=scores[order[equal]], minlength=len(alike))
    scores[order[equal]] = (sums / np.maximum(tied, 1))[owners[equal]]
    genes = np.bincount(
        owners, weights=several & (places < alike[owners]) & likely[order], minlength=len(alike)
    )
    labels = np.flatnonzero(
        several & (candidates.precedence[order] > 0) & ((genes[owners] != 1) | (places == 0))
    )
    rows, units = order[labels], owners[labels]
    best = _by_score(order, scores, owners)[starts[units]]
    scores[rows], scores[best] = scores[best], scores[rows]
    alike[units] = 1
    is_label = np.isin(np.arange(len(order)), rows)
    return (
        order[np.lexsort((~is_label[order], -np.nan_to_num(scores[order], nan=0.0), owners))],
        scores,
        alike,
    )


def _by_score(order: Ints, scores: Floats, owners: Ints) -> Ints:
    return order[np.lexsort((-np.nan_to_num(scores[order], nan=0.0), owners))]


class CandidateRanker:
    """Ranks candidates by the rankers of their types.

    Attributes:
        inputs: names of the features, in order.
    """

    def __init__(self, rankers: Mapping[str, Ranker], inputs: tuple[str, ...], ties: _Ties) -> None:
        """Sets the rankers.

        Args:
            rankers: by type; candidates of other types are in the order of `stated_scores`.
            inputs: names of the features, in order.
            ties: returns how many first candidates are answered together, and the thresholds; see
                `Strategies.ties`.
        """
        self._rankers, self.inputs, self._ties = rankers, inputs, ties

    def rank_candidates(
        self, candidates: Candidates, features: Floats, mention_scores: Floats | None = None
    ) -> Ranked:
        """Returns candidates in their order, and how many of them are answers.

        Args:
            candidates: candidates of units.
            features: of them.
            mention_scores: of the mention of each unit, not a number where it has none; by default
                none has one.
        """
        units, kinds = len(candidates.units), [unit.type for unit in candidates.units]
        sums = stated_scores(
            candidates, features
        )  # decide between candidates that are equally probable
        sums[
            candidates.precedence == PRECEDED
        ] = -np.inf  # a label of another vocabulary precedes them
        shares = unit_shares(sums, candidates.owners, units)
        stated = np.lexsort((candidates.concepts, -sums, candidates.owners))
        parts = list(
            self._by_ranker(
                kinds, candidates.owners, stated[candidates.precedence[stated] != PRECEDED]
            )
        )
        scores, nil = np.where(np.isinf(sums), 0.0, np.nan), np.full(units, np.nan)
        for ranker, numbers, rows, owners in parts:
            weights = np.array([ranker.weights.get(name, 0.0) for name in self.inputs])
            scores[rows], nil[numbers] = probabilities(
                Choices(owners, features[rows], len(numbers)), weights
            )
        order = _by_score(stated, scores, candidates.owners)
        tied = np.minimum(
            count_tied(scores[order], sums[order], candidates.owners, units=units), _MOST_ALIKE
        )
        thresholds = np.zeros(units)
        mention_scores = np.full(units, np.nan) if mention_scores is None else mention_scores
        for ranker, numbers, rows, owners in parts:
            correction = ranker.correction(mention_scores[numbers])
            scores[rows], nil[numbers] = correct_probabilities(
                scores[rows], nil[numbers], owners, correction
            )
            thresholds[numbers] = ranker.thresholds(mention_scores[numbers])
        alike, thresholds = _undecided(scores[order], nil, candidates.owners, tied, thresholds)
        first = np.flatnonzero(np.diff(candidates.owners, prepend=-1))
        some = candidates.owners[first]
        below = scores[order[first]] < thresholds[some]  # not so without a probability
        order, scores, alike = _settle(
            candidates, order, scores, features[:, _LIKELY] > 0, tied, alike
        )
        alike, impossible = self._ties(kinds, alike, np.zeros(units))
        # no name was compared, so nothing is known
        nil[np.bincount(candidates.owners, minlength=units) == 0] = np.nan
        scores = np.where(np.isnan(scores) & (alike > 1)[candidates.owners], shares, scores)
        answered = np.zeros(units, dtype=np.int64)
        answered[some] = np.where(below | (impossible[some] > 0), 0, alike[some])
        return Ranked(
            candidates=candidates,
            features=features,
            order=order,
            scores=scores,
            nil=nil,
            alike=alike,
            answered=answered,
        )

    def _by_ranker(self, kinds: Sequence[str], owners: Ints, order: Ints) -> Iterator[_OfRanker]:
        of_unit = np.array(kinds, dtype=object)
        for kind, ranker in self._rankers.items():
            units = np.flatnonzero(of_unit == kind)
            rows = order[np.isin(owners[order], units)]
            yield _OfRanker(ranker, units, rows, np.searchsorted(units, owners[rows]))


class Table(NamedTuple):
    """Candidates of all mentions of a type.

    Attributes:
        choices: candidates of units.
        right: whether each is, ``[n]``.
        tiers: of each, ``[n]``.
        documents: number of the document of each unit, ``[units]``.
        scores: of the mention of each unit, or not a number, ``[units]``.
        inputs: names of the features.
    """

    choices: Choices
    right: Bools
    tiers: Ints
    documents: Ints
    scores: Floats
    inputs: tuple[str, ...]


def join_tables(tables: Sequence[Table]) -> Table:
    """Concatenates several tables."""
    sizes = np.cumsum([0, *(table.choices.mentions for table in tables)])
    owners = [table.choices.owners + size for table, size in zip(tables, sizes[:-1], strict=True)]
    features = np.concatenate([table.choices.features for table in tables])
    choices = Choices(np.concatenate(owners), features, int(sizes[-1]))
    names = ("right", "tiers", "documents", "scores")
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(table, name) for table in tables]) for name in names
    }
    return Table(choices, inputs=tables[0].inputs, **columns)


def select_units(table: Table, selected: Bools) -> Table:
    """Returns the candidates of some units."""
    units = np.flatnonzero(selected)
    rows = np.flatnonzero(selected[table.choices.owners])
    owners = np.searchsorted(units, table.choices.owners[rows])
    choices = Choices(owners, table.choices.features[rows], len(units))
    return Table(
        choices,
        table.right[rows],
        table.tiers[rows],
        table.documents[units],
        table.scores[units],
        table.inputs,
    )


def best_rows(choices: Choices, scores: Floats) -> Ints:
    """Returns the best candidate of each unit that has one."""
    order = np.lexsort((-scores, choices.owners))
    return order[np.flatnonzero(np.diff(choices.owners[order], prepend=-1))]


def cross_validate(table: Table, folds: Sequence[Floats], weights: Floats) -> Floats:
    """Returns cross-validated probabilities of candidates: by weights that were fitted without
    their document.

    Args:
        table: candidates.
        folds: weights without each fold of documents.
        weights: of all documents, for those that taught nothing.
    """
    scores = np.zeros(len(table.right))
    fold_of = np.where(table.documents < 0, len(folds), table.documents % len(folds))[
        table.choices.owners
    ]
    for fold, own_weights in enumerate((*folds, weights)):
        own = fold_of == fold
        if own.any():
            scores[own] = probabilities(table.choices, own_weights)[0][own]
    return scores

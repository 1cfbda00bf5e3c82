"""A filter without a network: which mentions of several systems are right, told by who agrees,
scores, and rivals.

It stands where the learned filter of *comparing-and-combining* §4.6 stands, behind the union of all
systems, and reads no text. A logistic regression weighs, for each mention: which systems predicted
it, how sure they were, its type, its length, and how many systems predicted something else in its
place. The penalty and the threshold are chosen on predictions for documents that the regression did
not learn from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.core.document import Mention
from fascicle.errors import InputError, UsageError
from fascicle.runtime.combination.align import Votes

PENALTIES: Final = (0.1, 1.0, 10.0, 100.0)
FOLDS: Final = 5
_MOST_PATTERNS: Final = 5  # systems of which every set has a column of its own
_SUREST: Final = 6.0  # log odds; a score of 0 or 1 has no finite ones
_STEPS: Final = 100
_SMALL: Final = 1e-10


@dataclass(frozen=True, kw_only=True, eq=False)
class Regression:
    """A logistic regression over F features.

    Attributes:
        weights: of the features, ``[F]``.
        bias: the log odds of a row of zeros.
    """

    weights: Floats
    bias: float

    def odds(self, rows: Floats) -> Floats:
        """The log odds of rows ``[n, F]``, ``[n]``."""
        return np.asarray(rows @ self.weights + self.bias)


@dataclass(frozen=True, kw_only=True, eq=False)
class AgreementFilter:
    """A fitted filter.

    Attributes:
        systems: whose mentions it judges, in their order.
        types: that have a weight of their own, sorted.
        mean: of each feature where it was fitted, ``[F]``.
        scale: by which each feature is divided, ``[F]``.
        regression: over the features.
        penalty: weight of the squared weights in the loss.
        threshold: the least probability that is kept.
        unseen_f1: F1 on the documents of the fit, each judged by a regression that did not learn
            from it.
    """

    systems: tuple[str, ...]
    types: tuple[str, ...]
    mean: Floats
    scale: Floats
    regression: Regression
    penalty: float
    threshold: float
    unseen_f1: float

    def probabilities(self, votes: Votes) -> Floats:
        """How probable it is that each mention is right, ``[M]``.

        Args:
            votes: of the same systems, in the same order.

        Raises:
            UsageError: other systems.
        """
        if votes.systems != self.systems:
            raise UsageError(
                f"the filter was fitted to {', '.join(self.systems)}, but "
                f"{', '.join(votes.systems)} were given; give "
                "the same systems in the same order"
            )
        rows = (features_of(votes, types=self.types) - self.mean) / self.scale
        return _logistic(self.regression.odds(rows))

    def kept(self, votes: Votes) -> dict[str, tuple[Mention, ...]]:
        """By document, the mentions that are probably right, with their probability as score."""
        found: dict[str, list[Mention]] = {identifier: [] for identifier in votes.documents}
        for at, chance in enumerate(self.probabilities(votes).tolist()):
            if chance >= self.threshold:
                one = votes.entries[votes.bounds[at]]
                found[votes.documents[votes.document[at]]].append(
                    Mention(one.spans, one.type, score=chance)
                )
        return {identifier: tuple(mentions) for identifier, mentions in found.items()}


def fit_agreement(
    votes: Votes,
    gold: Mapping[str, Iterable[Mention]],
    *,
    penalties: Sequence[float] = PENALTIES,
    folds: int = FOLDS,
    seed: int = 1,
) -> AgreementFilter:
    """Fits a filter to the mentions of systems on development data.

    Documents are drawn into folds. For each penalty, each fold is judged by a regression over the
    others. The penalty has the least loss there, the threshold the best F1 there. The regression is
    then fitted to all documents.

    Args:
        votes: the systems on development data.
        gold: document id -> its gold mentions.
        penalties: that are tried, each above 0.
        folds: at least 2.
        seed: of the draw.

    Raises:
        UsageError: fewer than two folds, or a penalty of 0 or less.
        InputError: fewer documents than folds, or mentions that are all right, or all wrong.
    """
    if folds < 2 or not penalties or min(penalties) <= 0:
        raise UsageError("a fit needs two folds or more, and penalties above 0; give other ones")
    if len(votes.documents) < folds:
        raise InputError(
            f"the systems list {len(votes.documents)} documents for {folds} folds; give more "
            "documents"
        )
    right = labels_of(votes, gold)
    if right.all() or not right.any():
        raise InputError(
            "the mentions of the systems are all right or all wrong, so there is nothing to tell "
            "apart"
        )
    types = tuple(sorted({mention.type for mention in votes.entries}))
    raw = features_of(votes, types=types)
    mean, scale = raw.mean(axis=0), np.where(raw.std(axis=0) > _SMALL, raw.std(axis=0), 1.0)
    rows = (raw - mean) / scale
    fold = np.random.default_rng(seed).permutation(len(votes.documents))[votes.document] % folds
    unseen = {penalty: _unseen(rows, right, fold, penalty=penalty) for penalty in penalties}
    penalty = min(penalties, key=lambda one: _loss(unseen[one], right))
    threshold, f1 = best_threshold(
        _logistic(unseen[penalty]), right, gold=sum(len({*m}) for m in gold.values())
    )
    return AgreementFilter(
        systems=votes.systems,
        types=types,
        mean=mean,
        scale=scale,
        regression=fit_regression(rows, right, penalty=penalty),
        penalty=penalty,
        threshold=threshold,
        unseen_f1=f1,
    )


def labels_of(votes: Votes, gold: Mapping[str, Iterable[Mention]]) -> Bools:
    """Which mentions are gold, ``[M]``."""
    true = {
        (identifier, m.type, m.spans) for identifier, mentions in gold.items() for m in mentions
    }
    firsts = [votes.entries[at] for at in votes.bounds[:-1].tolist()]
    return np.array(
        [
            (votes.documents[d], m.type, m.spans) in true
            for d, m in zip(votes.document.tolist(), firsts, strict=True)
        ],
        dtype=np.bool_,
    )


def features_of(votes: Votes, *, types: Sequence[str]) -> Floats:
    """What the filter knows of each mention, ``[M, F]``.

    For S systems the columns are: who predicted it ``[S]``; the log odds of their scores, 0 without
    one ``[S]``; the share of the voters that did; which set of systems it was, for up to five
    systems ``[2^S]``; its type ``[T]``; the logarithm of its length in characters; whether it has
    several fragments; the most systems that predicted one other mention that overlaps it, over S;
    whether it lies inside such a mention; whether one lies inside it.

    Args:
        votes: the systems side by side.
        types: that have a column.
    """
    firsts = [votes.entries[at] for at in votes.bounds[:-1].tolist()]
    agree, number = votes.predicted.astype(np.float64), len(votes.systems)
    voters = votes.voters[votes.document].sum(axis=1, keepdims=True)
    columns = [
        agree,
        _odds_of_scores(votes),
        agree.sum(axis=1, keepdims=True) / np.maximum(voters, 1),
    ]
    if number <= _MOST_PATTERNS:
        sets = votes.predicted @ (1 << np.arange(number))
        columns.append((sets[:, None] == np.arange(1 << number)).astype(np.float64))
    columns.append(
        np.array([[one.type == kind for kind in types] for one in firsts], dtype=np.float64)
    )
    columns.append(
        np.array(
            [[np.log(one.end - one.start), len(one.spans) > 1] for one in firsts], dtype=np.float64
        )
    )
    columns.append(_rivals(votes, firsts))
    return np.hstack([column.reshape(len(firsts), -1) for column in columns])


def fit_regression(rows: Floats, right: Bools, *, penalty: float) -> Regression:
    """Minimises the logistic loss, summed over rows, plus half the penalty times the sum of squared
    weights.

    Newton's method; the bias is not penalised. A step that does not lower the loss is halved.

    Args:
        rows: features, ``[n, F]``.
        right: classes, ``[n]``; both must occur.
        penalty: above 0.
    """
    inputs = np.hstack([rows, np.ones((len(rows), 1))])
    ridge = np.append(np.full(rows.shape[1], penalty), 0.0)
    found = np.zeros(inputs.shape[1])

    def cost(weights: Floats) -> float:
        return _loss(inputs @ weights, right) + 0.5 * float(ridge @ weights**2)

    now = cost(found)
    for _ in range(_STEPS):
        chance = _logistic(inputs @ found)
        slope = inputs.T @ (chance - right) + ridge * found
        curve = (inputs * (chance * (1.0 - chance))[:, None]).T @ inputs + np.diag(ridge)
        step = np.linalg.lstsq(curve, slope, rcond=None)[0]
        size = 1.0
        while (after := cost(found - size * step)) > now and size > _SMALL:
            size /= 2
        found, before, now = found - size * step, now, min(after, now)
        if before - now <= _SMALL * max(1.0, before):
            break
    return Regression(weights=found[:-1], bias=float(found[-1]))


def best_threshold(chances: Floats, right: Bools, *, gold: int) -> tuple[float, float]:
    """The threshold with the best F1, and this F1; of equal ones the highest threshold.

    Args:
        chances: of each mention, ``[M]``.
        right: whether it is gold, ``[M]``.
        gold: all gold mentions, those that no system predicted included.
    """
    order = np.argsort(-chances, kind="stable")
    sorted_ = chances[order]
    # mentions of one probability are kept together
    last = np.append(sorted_[1:] < sorted_[:-1], True)
    kept, found = np.arange(1, len(order) + 1), np.cumsum(right[order])
    f1 = np.where(last, 2.0 * found / (kept + gold), -1.0)
    at = int(np.argmax(f1))
    return float(sorted_[at]), float(f1[at])


def _unseen(rows: Floats, right: Bools, fold: Ints, *, penalty: float) -> Floats:
    """The log odds of each mention by a regression over the other folds."""
    odds = np.zeros(len(rows))
    for number in np.unique(fold):
        apart = fold == number
        taught = right[~apart]
        if taught.all() or not taught.any():
            odds[apart] = _SUREST if taught.any() else -_SUREST
            continue
        odds[apart] = fit_regression(rows[~apart], taught, penalty=penalty).odds(rows[apart])
    return odds


def _odds_of_scores(votes: Votes) -> Floats:
    """The log odds of the score that each system gave, 0 where it gave none, ``[M, S]``."""
    found = np.zeros(votes.predicted.shape)
    for at, (first, last) in enumerate(
        zip(votes.bounds[:-1].tolist(), votes.bounds[1:].tolist(), strict=True)
    ):
        columns = np.flatnonzero(votes.predicted[at]).tolist()
        for column, entry in zip(columns, votes.entries[first:last], strict=True):
            if entry.score is not None:
                chance = min(max(entry.score, 1e-9), 1.0 - 1e-9)
                found[at, column] = min(
                    max(float(np.log(chance / (1.0 - chance))), -_SUREST), _SUREST
                )
    return found


def _rivals(votes: Votes, firsts: Sequence[Mention]) -> Floats:
    """Of each mention: the most systems for one that overlaps it, over all; inside one; around
    one, ``[M, 3]``.
    """
    found, support = np.zeros((len(firsts), 3)), votes.predicted.sum(axis=1)
    order = sorted(
        range(len(firsts)),
        key=lambda at: (int(votes.document[at]), firsts[at].start, firsts[at].end),
    )
    for place, one in enumerate(order):
        for other in order[place + 1 :]:
            same = votes.document[one] == votes.document[other]
            if not same or firsts[other].start >= firsts[one].end:
                break
            for mine, theirs in ((one, other), (other, one)):
                found[mine, 0] = max(found[mine, 0], support[theirs] / len(votes.systems))
                if _inside(firsts[mine], firsts[theirs]):
                    found[mine, 1] = found[theirs, 2] = 1.0
    return found


def _inside(one: Mention, other: Mention) -> bool:
    return (
        other.start <= one.start
        and one.end <= other.end
        and (one.start, one.end) != (other.start, other.end)
    )


def _logistic(odds: Floats) -> Floats:
    return np.asarray(np.exp(-np.logaddexp(0.0, -odds)))


def _loss(odds: Floats, right: Bools) -> float:
    """The logistic loss, summed."""
    return float(np.logaddexp(0.0, np.where(right, -odds, odds)).sum())

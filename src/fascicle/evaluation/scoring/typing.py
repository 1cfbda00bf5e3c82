"""Typing of given mentions: how often the right type is given to a mention whose place is known.

This is not recognition. Places come from the gold, so nothing can be missed and nothing can be
invented, and the figures here may not stand beside precision, recall or F1 of systems that find
their mentions. A discontinuous mention is typed fragment by fragment and is right only if every
fragment is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fascicle.core.wording import plural
from fascicle.errors import InputError
from fascicle.evaluation.scoring.scores import Counts


@dataclass(frozen=True, kw_only=True)
class TypedMention:
    """A given mention, and what it was taken for.

    Attributes:
        gold: its type.
        predicted: the type that each of its fragments was given.
    """

    gold: str
    predicted: tuple[str, ...]

    @property
    def right(self) -> bool:
        """True if every fragment has the type of the mention."""
        return bool(self.predicted) and all(predicted == self.gold for predicted in self.predicted)


@dataclass(frozen=True, kw_only=True)
class TypingScores:
    """Scores of the types given to mentions.

    Attributes:
        confusion: (gold type, type that was predicted) -> mentions of one fragment.
        discontinuous: mentions of several fragments.
        discontinuous_right: those of them all of whose fragments are right.
    """

    confusion: Mapping[tuple[str, str], int] = field(repr=False)
    discontinuous: int = 0
    discontinuous_right: int = 0

    @property
    def contiguous(self) -> int:
        """Mentions of one fragment."""
        return sum(self.confusion.values())

    @property
    def contiguous_right(self) -> int:
        """Those of them with the right type."""
        return sum(
            count for (gold, predicted), count in self.confusion.items() if gold == predicted
        )

    @property
    def mentions(self) -> int:
        """All of them."""
        return self.contiguous + self.discontinuous

    @property
    def accuracy(self) -> float:
        """Share of mentions with the right type, discontinuous ones included; 0 where there is
        none.
        """
        return (
            (self.contiguous_right + self.discontinuous_right) / self.mentions
            if self.mentions
            else 0.0
        )

    @property
    def types(self) -> tuple[str, ...]:
        """Types of the gold and types that were predicted, the most frequent of the gold first."""
        gold = Counter[str]()
        for (name, predicted), count in self.confusion.items():
            gold[name] += count
            gold[predicted] += 0
        return tuple(sorted(gold, key=lambda name: (-gold[name], name)))

    def counts(self, name: str) -> Counts:
        """True and false positives and false negatives of a type, over mentions of one fragment."""
        right = self.confusion.get((name, name), 0)
        predicted = sum(count for (_, other), count in self.confusion.items() if other == name)
        gold = sum(count for (other, _), count in self.confusion.items() if other == name)
        return Counts(tp=right, fp=predicted - right, fn=gold - right)

    @property
    def macro_f1(self) -> float:
        """Mean over the types of the gold of the harmonic mean of their precision and recall; 0
        without gold.
        """
        values = [counts.rates().f1 for name in self.types if (counts := self.counts(name)).support]
        return sum(values) / len(values) if values else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Returns the scores, ready for JSON."""
        return {
            "accuracy": self.accuracy,
            "macro_f1_over_types": self.macro_f1,
            "mentions": self.mentions,
            "contiguous": self.contiguous,
            "contiguous_right": self.contiguous_right,
            "discontinuous": self.discontinuous,
            "discontinuous_right": self.discontinuous_right,
            "types": list(self.types),
            "confusion": [
                [self.confusion.get((gold, predicted), 0) for predicted in self.types]
                for gold in self.types
            ],
        }


def score_typing(mentions: Iterable[TypedMention]) -> TypingScores:
    """Counts.

    Args:
        mentions: every gold mention once.

    Raises:
        InputError: a mention none of whose fragments was typed.
    """
    confusion, discontinuous, right = Counter[tuple[str, str]](), 0, 0
    for mention in mentions:
        if not mention.predicted:
            raise InputError(
                f"a mention of type {mention.gold!r} was given no type; type each of its fragments"
            )
        if len(mention.predicted) == 1:
            confusion[mention.gold, mention.predicted[0]] += 1
        else:
            discontinuous += 1
            right += mention.right
    return TypingScores(
        confusion=dict(confusion), discontinuous=discontinuous, discontinuous_right=right
    )


@dataclass(frozen=True, kw_only=True)
class PublishedProtocol:
    """Numbers that *span-level-strategy* prints in its Table 2; see `published_protocol_f1`."""

    accuracy: float
    precision: float
    recall: float
    f1: float


def published_protocol_f1(
    right: int, contiguous: int, *, discontinuous: int = 0, discontinuous_right: int = 0
) -> PublishedProtocol:
    """The figures of *span-level-strategy*, Table 2, from the counts of typing. They are not those
    of recognition.

    "Precision" is the share of given mentions of one fragment that get the right type, which is
    typing accuracy. Since all mentions are given, none is called missed and "recall" is 100 %; "F1"
    is their harmonic mean ``2P / (1 + P)``, which is larger than the accuracy whatever the model
    does. Where there are discontinuous mentions (CADEC, NEREL), those with a wrong fragment alone
    count as missed: recall is ``right / (contiguous + D - D_right)``, so that precision and recall
    are of different populations.

    Args:
        right: mentions of one fragment with the right type.
        contiguous: mentions of one fragment.
        discontinuous: mentions of several fragments, ``D``.
        discontinuous_right: those all of whose fragments are right, ``D_right``.

    Raises:
        InputError: counts that cannot be.
    """
    if not (0 <= right <= contiguous and 0 <= discontinuous_right <= discontinuous and contiguous):
        raise InputError(
            f"{right} right of {plural(contiguous, 'mention')} and {discontinuous_right} right of "
            f"{discontinuous} discontinuous ones cannot be; give counts of at least one mention, "
            "none of them larger than its whole"
        )
    precision = right / contiguous
    recall = right / (contiguous + discontinuous - discontinuous_right) if discontinuous else 1.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    accuracy = (right + discontinuous_right) / (contiguous + discontinuous)
    return PublishedProtocol(accuracy=accuracy, precision=precision, recall=recall, f1=f1)


@dataclass(frozen=True, kw_only=True)
class TypeLookup:
    """Typing without a model: of each string the type that it has most often in training.

    Attributes:
        majority: the most frequent type of all, which unseen strings get.
        by_string: string -> type; none for the baseline that says the majority always.
    """

    majority: str
    by_string: Mapping[Hashable, str] = field(repr=False)

    def type_of(self, string: Hashable) -> str:
        """Returns the type of one string."""
        return self.by_string.get(string, self.majority)

    @property
    def always_majority(self) -> TypeLookup:
        """The baseline that has not looked at strings."""
        return TypeLookup(majority=self.majority, by_string={})


def fit_lookup(pairs: Iterable[tuple[Hashable, str]]) -> TypeLookup:
    """Counts strings and types of training; of two types as frequent the one that is more so over
    all, then by name.

    Args:
        pairs: string and type of each training mention.

    Raises:
        InputError: no pair.
    """
    pairs_: Sequence[tuple[Hashable, str]] = list(pairs)
    overall = Counter(name for _, name in pairs_)
    if not overall:
        raise InputError(
            "the training text holds no mention, so no string has a type; give annotated text"
        )

    def rank(name: str) -> tuple[int, str]:
        return -overall[name], name

    by_string: dict[Hashable, Counter[str]] = {}
    for string, name in pairs_:
        by_string.setdefault(string, Counter())[name] += 1
    best = {
        string: min(counts, key=lambda name: (-counts[name], *rank(name)))
        for string, counts in by_string.items()
    }
    return TypeLookup(majority=min(overall, key=rank), by_string=best)

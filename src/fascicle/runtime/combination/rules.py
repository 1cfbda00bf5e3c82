"""Rules that decide which mentions of several systems are kept: union, majority, k of n, weighted.

All are one form. A mention is kept if at least so many systems predicted it, or if the systems that
predicted it hold *more than* a share of the weight of all systems that have a vote in its document.
A vote is for the whole tuple ``(type, spans)``: neither the type nor the boundaries are voted on
apart, so there are no ties to break (*comparing-and-combining* §4.5 and §4.6; SpanNER's vote over
the labels of a span, with O among them, is another rule). Weights are added exactly, as the decimal
numbers they were given as; so the order of the systems never matters.

What is kept may overlap even if no system's own mentions do.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from fascicle.core.arrays import Bools
from fascicle.core.document import Link, Mention, in_order
from fascicle.core.wording import plural
from fascicle.errors import UsageError
from fascicle.runtime.combination.align import Votes
from fascicle.settings.recipes.ensemble import RuleName

HALF: Final = 0.5
_DECIMAL: Final = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?(?:e-[0-9]{1,3})?", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Rule that decides which mentions are kept; made by `union`, `majority`, `k_of_n` and
    `weighted`.

    Attributes:
        name: the source of what it keeps.
        votes: systems that must have predicted it, at least; ``None`` for a rule by weight.
        share: of the weight of the voters; the systems that predicted it must hold more than that.
        weights: one for each system, exact; empty stands for equal ones.
    """

    name: str
    votes: int | None = None
    share: Fraction = Fraction(1, 2)
    weights: tuple[Fraction, ...] = ()

    @property
    def is_vote(self) -> bool:
        """True if the rule has no weights and does not keep what a single vote supports."""
        return not self.weights and self.votes != 1

    def keeps(self, predicted: Bools, voters: Bools) -> Bools:
        """Decides for many mentions at once.

        Args:
            predicted: who predicted each of M mentions, ``[M, S]``.
            voters: who has a vote on it, ``[M, S]``; whoever predicted it is among them.

        Returns:
            Which are kept, ``[M]``.

        Raises:
            UsageError: other numbers of systems and of weights, or more votes asked for than there
                are systems.
        """
        systems = predicted.shape[1]
        self.check(systems)
        if self.votes is not None:
            return np.asarray(predicted.sum(axis=1) >= self.votes)
        weights = self.weights or (Fraction(1),) * systems
        scale = math.lcm(*(weight.denominator for weight in weights))
        whole = [int(weight * scale) for weight in weights]
        # Integers as long as they need to be: 64 bits hold the usual weights, and nothing is ever
        # rounded.
        largest = sum(whole) * max(self.share.denominator, self.share.numerator)
        kind: Any = np.int64 if largest < 2**62 else object
        column = np.array(whole, dtype=kind)
        yes, all_ = predicted.astype(kind) @ column, voters.astype(kind) @ column
        return np.asarray(
            yes * self.share.denominator > all_ * self.share.numerator, dtype=np.bool_
        )

    def check(self, systems: int) -> None:
        """Refuses a number of systems that the rule is not for.

        Raises:
            UsageError: other numbers of systems and of weights, or more votes asked for than there
                are systems.
        """
        if self.votes is not None and self.votes > systems:
            raise UsageError(
                f"{self.votes} of {systems} systems were to agree; give a number of votes from 1 "
                f"to {systems}"
            )
        if self.weights and len(self.weights) != systems:
            raise UsageError(
                f"{len(self.weights)} weights were given for {plural(systems, 'system')}; give one "
                "weight for each system, in the order of the systems"
            )


def union() -> Rule:
    """Keeps every mention that any system predicted."""
    return Rule(name="union", votes=1)


def majority() -> Rule:
    """Keeps what strictly more than half of the voters predicted; of two, what both predicted."""
    return Rule(name="majority")


def k_of_n(k: int) -> Rule:
    """Keeps what at least ``k`` systems predicted; in a document with fewer than ``k`` voters
    nothing is kept.

    Raises:
        UsageError: ``k`` is less than 1.
    """
    if k < 1:
        raise UsageError(f"{k} votes were asked for; give a number from 1 to the number of systems")
    return Rule(name="kofn", votes=k)


def weighted(weights: Sequence[float | str], *, threshold: float | str = HALF) -> Rule:
    """Keeps what systems predicted that hold more than a share of the weight of the voters.

    Args:
        weights: one for each system, e.g. its F1 on development data; not negative, not all 0.
        threshold: the share, from 0 up to but not including 1; at one half and equal weights it is
            the majority.

    Raises:
        UsageError: weights or a threshold out of range.
    """
    exact = tuple(_exact(weight, what="the weight") for weight in weights)
    share = _exact(threshold, what="the threshold")
    if not any(exact):
        raise UsageError("no weight above 0 was given; give at least one")
    if share >= 1:
        raise UsageError(
            f"the threshold {threshold} is not allowed; give a share from 0 up to but not "
            "including 1"
        )
    return Rule(name="weighted", share=share, weights=exact)


@dataclass(frozen=True, kw_only=True)
class _RuleKind:
    """Facts about a rule, found by its name.

    Attributes:
        means: what it keeps, for help.
        make: the rule of a request; that of the learned filter is what the filter judges.
        needs: arguments without which there is no such rule.
        takes: arguments that it may have.
        least: systems that it can be applied to.
    """

    means: str
    make: Callable[[RuleRequest], Rule]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    least: int = 2


@dataclass(frozen=True, kw_only=True)
class RuleRequest:
    """A rule by its name, and the arguments that it was given.

    Attributes:
        name: of a rule of `RULES`.
        k: of ``"kofn"``, how many systems must agree.
        weights: of ``"weighted"``, one for each system.
        threshold: of ``"weighted"``, the share of the weight to exceed; of ``"meta"``, the least
            probability to keep.
        filter: of ``"meta"``, the folder of the filter.

    Raises:
        UsageError: another name, an argument that the rule does not have, or one that it needs and
            that is missing.
    """

    name: RuleName
    k: int | None = None
    weights: Sequence[float | str] | None = None
    threshold: float | str | None = None
    filter: str | None = None

    @staticmethod
    def of(rule: RuleRequest | RuleName) -> RuleRequest:
        """Returns a rule that may be only a name."""
        return rule if isinstance(rule, RuleRequest) else RuleRequest(name=rule)

    def __post_init__(self) -> None:
        """Checks the name and the arguments."""
        if self.name not in RULES:
            raise UsageError(
                f"the rule {self.name!r} was asked for; choose from {', '.join(RULES)}"
            )
        self.check({name: getattr(self, name) for name in ("k", "weights", "threshold", "filter")})

    @property
    def kind(self) -> _RuleKind:
        """Returns the facts about the rule."""
        return RULES[self.name]

    def check(self, arguments: Mapping[str, object], *, needed: Sequence[str] = ()) -> None:
        """Refuses arguments that are not for this rule.

        Args:
            arguments: argument -> its value; ``None`` if it was not given.
            needed: of them, those that there must be beside the ones that the rule always needs.
        """
        for argument, value in arguments.items():
            owners = [
                name for name, kind in RULES.items() if argument in (*kind.needs, *kind.takes)
            ]
            if value is not None and self.name not in owners:
                raise UsageError(
                    f"the argument {argument} is for the rule {' and '.join(owners)}, but "
                    f"{self.name} was asked for; leave it out"
                )
            if value is None and argument in (*self.kind.needs, *needed):
                raise UsageError(
                    f"{self.name} needs the argument {argument}, {_ARGUMENTS[argument]}"
                )

    def rule(self) -> Rule:
        """Returns the rule itself.

        Raises:
            UsageError: a number that is not allowed.
        """
        return self.kind.make(self)


def _weighted(request: RuleRequest) -> Rule:
    return weighted(
        request.weights or (), threshold=HALF if request.threshold is None else request.threshold
    )


# The one table of rules: for commands, for the manifests of ensembles and for Python.
RULES: Final[Mapping[RuleName, _RuleKind]] = MappingProxyType(
    {
        "union": _RuleKind(means="mentions of any system", make=lambda _: union()),
        "majority": _RuleKind(
            means="mentions of more than half of the systems", make=lambda _: majority()
        ),
        "kofn": _RuleKind(
            means="mentions of at least k systems",
            make=lambda request: k_of_n(request.k or 0),
            needs=("k",),
        ),
        "weighted": _RuleKind(
            means="mentions of systems whose weights together exceed a share of all weights, the "
            "threshold",
            make=_weighted,
            needs=("weights",),
            takes=("threshold",),
        ),
        "meta": _RuleKind(
            means="mentions of any system that the learned filter accepts (one system is enough)",
            make=lambda _: union(),
            needs=("filter",),
            takes=("threshold", "texts", "threads"),
            least=1,
        ),
    }
)
_ARGUMENTS: Final = MappingProxyType(
    {
        "k": "the number of systems that must agree, for example 2",
        "weights": "one number for each system, for example 0.84,0.83,0.79",
        "filter": "the folder of a filter",
        "texts": "the texts that were predicted on",
    }
)


def combine(votes: Votes, rule: Rule) -> dict[str, tuple[Mention, ...]]:
    """Joins the systems by a rule.

    A mention that is kept has the rule as its source. Its score is the mean of the scores that the
    systems gave it, and ``None`` if none gave it one: systems that did not say it, and those
    without scores, play no part, so it is no measure of agreement. Links are those of all who
    predicted it, each once, with the mean of the scores it was given. Attributes, which may hold
    text, are left out.

    Args:
        votes: the systems side by side.
        rule: which mentions are kept.

    Returns:
        Document id -> its mentions in canonical order, for every document of any system, sorted by
        id.

    Raises:
        UsageError: the rule is for another number of systems.
    """
    accepted = np.nonzero(rule.keeps(votes.predicted, votes.voters[votes.document]))[0]
    mentions_of: dict[str, list[Mention]] = {identifier: [] for identifier in votes.documents}
    starts, ends = votes.bounds[:-1][accepted].tolist(), votes.bounds[1:][accepted].tolist()
    for index, start, end in zip(votes.document[accepted].tolist(), starts, ends, strict=True):
        mentions_of[votes.documents[index]].append(_merge(votes.entries[start:end], rule.name))
    return {identifier: in_order(mentions) for identifier, mentions in mentions_of.items()}


def _merge(votes: Sequence[Mention], source: str) -> Mention:
    first = votes[0]
    links = _links(votes) if any(mention.links for mention in votes) else ()
    return Mention(
        first.spans, first.type, score=_mean(m.score for m in votes), source=source, links=links
    )


def _mean(scores: Iterable[float | None]) -> float | None:
    """Returns the mean of the scores that exist; `math.fsum` rounds once, so their order does not
    matter.
    """
    numbers = [score for score in scores if score is not None]
    return math.fsum(numbers) / len(numbers) if numbers else None


def _links(votes: Sequence[Mention]) -> tuple[Link, ...]:
    same: dict[tuple[str, str, bool], list[Link]] = {}
    for mention in votes:
        for link in mention.links:
            same.setdefault((link.ontology, link.id, link.nil), []).append(link)
    return tuple(
        Link(
            id=identifier,
            ontology=ontology,
            name=min((link.name for link in links if link.name), default=""),
            score=_mean(link.score for link in links),
            nil=nil,
            tier=links[0].tier if len({link.tier for link in links}) == 1 else "",
            curie=min((link.curie for link in links if link.curie), default=""),
            same=tuple(sorted({identifier for link in links for identifier in link.same})),
        )
        for (ontology, identifier, nil), links in sorted(same.items())
    )


def _exact(value: float | str, *, what: str) -> Fraction:
    """Returns the decimal number as it is written, not as binary floating point has it."""
    text = str(value)
    if not _DECIMAL.fullmatch(text):
        raise UsageError(
            f"{what} {text!r} is not allowed; give a decimal number of at least 0, such as 0.85"
        )
    return Fraction(text)

"""Scores a filter during training, and chooses its threshold."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

import msgspec

from fascicle.core.arrays import Floats, Ints
from fascicle.core.document import GOLD, Document, Mention, MentionsById
from fascicle.errors import InputError
from fascicle.evaluation.calibration.reliability import (
    Curve,
    best_threshold,
    judged,
    precision_recall,
    threshold_for,
)
from fascicle.evaluation.scoring.scores import Counts, score
from fascicle.formats.sources import source_sha256
from fascicle.runtime.filter import MentionFilter
from fascicle.settings.recipes.filter import FilterRecipe, FilterSettings, ThresholdFacts
from fascicle.text.marked import EncodedMention
from fascicle.training.engine.events import Ended
from fascicle.training.filter.data import bare_mention
from fascicle.training.filter.members import ROWS, Member


@dataclass(frozen=True, kw_only=True)
class Confusion(Counts):
    """Counts of a filter's decisions on examples, at a probability of one half.

    Attributes:
        tp: correct and accepted.
        fp: incorrect and accepted.
        fn: correct and rejected.
        tn: incorrect and rejected.
    """

    tn: int

    @classmethod
    def of(cls, chances: Floats, labels: Ints) -> Confusion:
        """Counts the decisions.

        Args:
            chances: of being correct, ``[n]``.
            labels: 1 for correct, ``[n]``.
        """
        accepted, correct = chances >= 0.5, labels == 1
        return cls(
            tp=int((accepted & correct).sum()),
            fp=int((accepted & ~correct).sum()),
            fn=int((~accepted & correct).sum()),
            tn=int((~accepted & ~correct).sum()),
        )

    @property
    def accuracy(self) -> float:
        """Share of right decisions; 0 without examples."""
        total = self.support + self.fp + self.tn
        return (self.tp + self.tn) / total if total else 0.0

    @property
    def f1(self) -> float:
        """F1 of the correct examples; 0 if there are none and none was accepted."""
        return self.rates().f1

    def as_dict(self) -> dict[str, Any]:
        """Returns the counts for JSON."""
        return {**asdict(self), "accuracy": self.accuracy, "f1": self.f1}


@dataclass(frozen=True, kw_only=True)
class FilterFinished(Ended):
    """Event: the end of the run of a filter.

    Attributes:
        epoch: the epoch that was chosen.
        held_out: decisions of its model on the held-out examples.
        threshold: chosen for it.
        scores: on the documents that the threshold was chosen on, by name: each member,
            ``"union"``, ``"half"`` (kept from 0.5 on) and ``"kept"``: counts and rates of mentions.
    """

    epoch: int
    held_out: Confusion
    threshold: ThresholdFacts
    scores: Mapping[str, Mapping[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        """See ``Ended``."""
        return {
            "epoch": self.epoch,
            "held_out": self.held_out.as_dict(),
            "threshold": msgspec.to_builtins(self.threshold),
            "on_threshold_documents": self.scores,
        }


@dataclass(frozen=True, kw_only=True)
class HeldOutData:
    """Data on which a filter is scored.

    Attributes:
        inputs: held-out examples.
        labels: 1 for correct, ``[n]``.
        held_out: documents of dev on which the epoch is chosen.
        documents: on which the threshold is chosen.
        members: predictions of the chosen models of the systems.
    """

    inputs: Sequence[EncodedMention]
    labels: Ints
    held_out: Sequence[Document]
    documents: Sequence[Document]
    members: Sequence[Member]


def fit_threshold(
    judge: MentionFilter, exam: HeldOutData, recipe: FilterRecipe
) -> tuple[ThresholdFacts, dict[str, dict[str, Any]], str]:
    """Chooses the threshold: the least probability at which a mention is kept.

    Args:
        judge: the filter.
        exam: with the documents on which the choice is made; there may be none.
        recipe: with the criterion of the choice.

    Returns:
        The threshold; the scores of the filter and of the members on these documents, by name; and
        the reason why it is not the requested one, empty if it is.
    """
    settings, documents = recipe.filter, exam.documents
    if not documents:
        return ThresholdFacts(), {}, ""
    gold = {d.id: d.layer(GOLD) for d in documents}
    systems = _systems(exam.members, documents)
    union = _union(systems.values(), documents)
    scored = _score_mentions(judge, union, documents)
    value, note = _choose_threshold(gold, scored, settings)
    facts = ThresholdFacts(
        value=value,
        aim=settings.threshold,
        floor=settings.floor,
        chosen_on=source_sha256(recipe.corpus.dev),
        documents=len(documents),
    )
    beside = dict(zip(ROWS, (union, _accepted(scored, 0.5), _accepted(scored, value)), strict=True))
    return (
        facts,
        {name: _row(gold, predicted) for name, predicted in {**systems, **beside}.items()},
        note,
    )


def kept_f1(judge: MentionFilter, exam: HeldOutData) -> float:
    """Returns F1 of the mentions that the filter keeps on the held-out documents, at its best
    threshold there.
    """
    documents = exam.held_out
    union = _union(_systems(exam.members, documents).values(), documents)
    if not any(union.values()):
        return 0.0
    return best_threshold(
        _curve({d.id: d.layer(GOLD) for d in documents}, _score_mentions(judge, union, documents))
    ).f1


def _systems(
    members: Sequence[Member], documents: Sequence[Document]
) -> dict[str, dict[str, list[Mention]]]:
    return {member.name: _bare_mentions(member.best or {}, documents) for member in members}


def _bare_mentions(
    predicted: MentionsById, documents: Sequence[Document]
) -> dict[str, list[Mention]]:
    return {d.id: list(map(bare_mention, predicted.get(d.id, ()))) for d in documents}


def _score_mentions(
    judge: MentionFilter, predicted: MentionsById, documents: Sequence[Document]
) -> dict[str, list[Mention]]:
    """Returns mentions with their probability of being right as scores."""
    mentions = [predicted[d.id] for d in documents]
    chances = iter([chance for chance, _ in judge.chances(documents, mentions)])
    scored = {}
    for document, own in zip(documents, mentions, strict=True):
        scored[document.id] = [msgspec.structs.replace(m, score=next(chances)) for m in own]
    return scored


def _curve(gold: MentionsById, scored: MentionsById) -> Curve:
    all_ = judged(gold, scored)
    return precision_recall(all_.scores, all_.right, gold=sum(all_.gold.values()))


def _choose_threshold(
    gold: MentionsById, scored: MentionsById, settings: FilterSettings
) -> tuple[float, str]:
    """Returns the threshold, and the reason why it is not the requested one, where that is
    impossible.
    """
    try:
        curve, aim = _curve(gold, scored), settings.threshold
        floor = {aim: settings.floor} if aim in ("precision", "recall") else {}
        return (threshold_for(curve, **floor) if floor else best_threshold(curve)).threshold, ""
    except InputError as error:
        return 0.5, f"the threshold stays 0.5, for none could be chosen: {error}"


def _union(
    systems: Collection[MentionsById], documents: Sequence[Document]
) -> dict[str, list[Mention]]:
    union = {}
    for d in documents:
        mentions = chain.from_iterable(predicted[d.id] for predicted in systems)
        union[d.id] = list(dict.fromkeys(mentions))
    return union


def _accepted(scored: MentionsById, value: float) -> dict[str, list[Mention]]:
    accepted = {}
    for identifier, mentions in scored.items():
        accepted[identifier] = [m for m in mentions if m.score is not None and m.score >= value]
    return accepted


def _row(gold: MentionsById, predicted: MentionsById) -> dict[str, Any]:
    scores = score(gold, predicted)
    return {**asdict(scores.micro), **asdict(scores.counts)}

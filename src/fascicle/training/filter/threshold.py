"""The threshold of a filter: what it is chosen on, and what is kept with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from fascicle.core.arrays import Ints
from fascicle.core.document import GOLD, Document, Mention
from fascicle.errors import InputError
from fascicle.evaluation.calibration.reliability import (
    Threshold,
    best_threshold,
    judged,
    precision_recall,
    threshold_for,
)
from fascicle.evaluation.scoring.scores import score
from fascicle.formats.sources import source_sha256
from fascicle.runtime.filter import MentionFilter
from fascicle.settings.recipes.filter import FilterRecipe, FilterSettings, ThresholdFacts
from fascicle.text.marked import Marked
from fascicle.training.filter.members import ROWS, Member

Found = Mapping[str, Sequence[Mention]]


@dataclass(frozen=True, kw_only=True)
class Exam:
    """What a filter is judged on.

    Attributes:
        inputs: held-out examples.
        labels: 1 for correct, ``[n]``.
        documents: that the threshold is chosen on.
        members: what the systems predict when they are used.
    """

    inputs: Sequence[Marked]
    labels: Ints
    documents: Sequence[Document]
    members: Sequence[Member]


def fit_threshold(
    judge: MentionFilter, exam: Exam, recipe: FilterRecipe
) -> tuple[ThresholdFacts, dict[str, dict[str, Any]], str]:
    """Chooses from which probability on a mention is kept.

    Args:
        judge: the filter.
        exam: with the documents that the choice is made on, of which there may be none.
        recipe: says by what it is chosen.

    Returns:
        The threshold; what it and the members give on these documents, by name; and why it is not the one that was
        asked for, empty if it is.
    """
    settings, documents = recipe.filter, exam.documents
    if not documents:
        return ThresholdFacts(), {}, ""
    gold = {d.id: d.layer(GOLD) for d in documents}
    systems = {member.name: _of(member.chosen or {}, documents) for member in exam.members}
    union = _union(systems.values(), documents)
    flat = [(d, mention) for d in documents for mention in union[d.id]]
    chances = iter([chance for chance, _ in judge.chances(documents, [union[d.id] for d in documents])])
    scored: dict[str, list[Mention]] = {d.id: [] for d in documents}
    for document, mention in flat:
        scored[document.id].append(msgspec.structs.replace(mention, score=next(chances)))
    value, note = _chosen(gold, scored, settings)
    facts = ThresholdFacts(
        value=value,
        aim=settings.threshold,
        floor=settings.floor,
        chosen_on=source_sha256(recipe.corpus.dev),
        documents=len(documents),
    )
    beside = dict(zip(ROWS, (union, _from(scored, 0.5), _from(scored, value)), strict=True))
    return facts, {name: _row(gold, predicted) for name, predicted in {**systems, **beside}.items()}, note


def _chosen(gold: Found, scored: Found, settings: FilterSettings) -> tuple[float, str]:
    """The threshold, and why it is not the one that was asked for, where that cannot be."""
    try:
        all_ = judged(gold, scored)
        curve = precision_recall(all_.scores, all_.right, gold=sum(all_.gold.values()))
        return _by_aim(curve, settings).threshold, ""
    except InputError as error:
        return 0.5, f"the threshold stays 0.5, for none could be chosen: {error}"


def _by_aim(curve: Any, settings: FilterSettings) -> Threshold:
    if settings.threshold == "precision":
        return threshold_for(curve, precision=settings.floor)
    if settings.threshold == "recall":
        return threshold_for(curve, recall=settings.floor)
    return best_threshold(curve)


def _of(predicted: Found, documents: Sequence[Document]) -> dict[str, list[Mention]]:
    return {d.id: [Mention(m.spans, m.type) for m in predicted.get(d.id, ())] for d in documents}


def _union(systems: Any, documents: Sequence[Document]) -> dict[str, list[Mention]]:
    listed = list(systems)
    return {d.id: list(dict.fromkeys(m for predicted in listed for m in predicted[d.id])) for d in documents}


def _from(scored: Found, value: float) -> dict[str, list[Mention]]:
    return {i: [m for m in mentions if m.score is not None and m.score >= value] for i, mentions in scored.items()}


def _row(gold: Found, predicted: Found) -> dict[str, Any]:
    found = score(gold, predicted)
    rates = found.micro
    return {
        "precision": rates.precision,
        "recall": rates.recall,
        "f1": rates.f1,
        "tp": found.counts.tp,
        "fp": found.counts.fp,
        "fn": found.counts.fn,
    }

"""A system on a gold: what it said, and its scores under every rule of matching."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fascicle.core.document import Document, Mention
from fascicle.evaluate.inputs import layers
from fascicle.evaluate.rules import RULES, RuleName
from fascicle.evaluate.scores import Scores, score


@dataclass(frozen=True, kw_only=True)
class System:
    """What one system said, and its scores.

    Attributes:
        name: for tables.
        predicted: document id -> its mentions, with an entry for every gold document.
        scores: rule -> scores.
    """

    name: str
    predicted: Mapping[str, Sequence[Mention]] = field(repr=False)
    scores: Mapping[RuleName, Scores] = field(repr=False)

    @property
    def strict(self) -> Scores:
        """Scores under the strict rule."""
        return self.scores["strict"]

    @property
    def others(self) -> tuple[Scores, ...]:
        """Scores under the other rules."""
        return tuple(scores for rule, scores in self.scores.items() if rule != "strict")


def score_system(
    name: str,
    documents: Sequence[Document],
    *,
    predicted: Mapping[str, Sequence[Mention]],
    allow_missing: bool = False,
) -> System:
    """Scores one system under every rule.

    Args:
        name: for tables.
        documents: with gold mentions.
        predicted: document id -> its mentions.
        allow_missing: see ``scores.score``.

    Raises:
        InputError: see ``scores.score``.
    """
    gold = layers(documents)
    scores = {rule: score(gold, predicted, allow_missing=allow_missing, rule=rule) for rule in RULES}
    return System(name=name, predicted={key: predicted.get(key, ()) for key in gold}, scores=scores)

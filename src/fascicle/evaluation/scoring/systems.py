"""A system on a gold: what it said, and its scores under every rule of matching."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fascicle.core.document import Document, Mention
from fascicle.evaluation.scoring.inputs import by_sentence, layers
from fascicle.evaluation.scoring.rules import RuleName
from fascicle.evaluation.scoring.scores import Scores, score, score_rules


@dataclass(frozen=True, kw_only=True)
class Scored:
    """What one system said, and its scores.

    Attributes:
        name: for tables.
        predicted: document id -> its mentions, with an entry for every gold document.
        scores: rule -> scores.
        drawn: strict scores by what a bootstrap draws, see ``by_unit``.
    """

    name: str
    predicted: Mapping[str, Sequence[Mention]] = field(repr=False)
    scores: Mapping[RuleName, Scores] = field(repr=False)
    drawn: Scores = field(repr=False)

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
) -> Scored:
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
    scores = score_rules(gold, predicted, allow_missing=allow_missing)
    said = {key: predicted.get(key, ()) for key in gold}
    return Scored(name=name, predicted=said, scores=scores, drawn=by_unit(documents, said, scores["strict"]))


def by_unit(documents: Sequence[Document], predicted: Mapping[str, Sequence[Mention]], whole: Scores) -> Scores:
    """Strict scores by document, or by sentence if a single document has them marked: what intervals come from.

    Args:
        documents: with gold mentions.
        predicted: document id -> mentions.
        whole: the scores by document.

    Returns:
        Scores with the same sums.
    """
    if len(documents) != 1 or not documents[0].sentences:
        return whole
    return score(by_sentence(documents), by_sentence(documents, predicted=predicted), zero_rule=whole.zero_rule)

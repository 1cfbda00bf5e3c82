"""Predictions that are right but for a boundary, and how often training has each of the two strings
(*binder* Table 9).

A pair is a false positive and the gold mention that decides its class, of the same type, where the
two share characters: the classes *boundary* of ``breakdown.errors``. The number behind a string is
how many gold mentions of training have its words, of whatever type and in whatever case. The paper
does not say whether its numbers count mentions or occurrences; where annotation is what the two
sides differ about, mentions say which of them training has shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fascicle.core.document import Document
from fascicle.evaluation.breakdown.errors import BOUNDARY, Mistake
from fascicle.evaluation.breakdown.layout import Surface, WordLayout

_CONTEXT = 60  # characters on each side
_LONGEST = 300  # characters of a string that are shown


@dataclass(frozen=True, kw_only=True)
class PartlyRight:
    """One pair.

    Attributes:
        document: its id.
        type: of both.
        side: ``"left"``, ``"right"``, ``"both"`` or ``"inside"``: which boundary is wrong.
        change: ``"longer"`` if the prediction has more characters than the gold mention, else
            ``"shorter"``, or ``"moved"`` if it has as many.
        predicted: its text.
        predicted_in_training: gold mentions of training with its words.
        gold: text of the gold mention.
        gold_in_training: gold mentions of training with its words.
        context: the text around both.
    """

    document: str
    type: str
    side: str
    change: str
    predicted: str
    predicted_in_training: int
    gold: str
    gold_in_training: int
    context: str

    def as_dict(self) -> dict[str, Any]:
        """The fields, ready for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def partly_right(
    found: Iterable[Mistake], documents: Iterable[Document], frequency: Mapping[Surface, int]
) -> list[PartlyRight]:
    """All pairs, in the order of the mistakes.

    Args:
        found: mistakes of a system.
        documents: that they were made in.
        frequency: words of a string in lower case -> gold mentions of training, see
            ``lexicon.Lexicon``.
    """
    layouts = {document.id: WordLayout(document, unit="document") for document in documents}
    return [
        _pair(mistake, layouts[mistake.document], frequency)
        for mistake in found
        if mistake.side == "fp" and mistake.kind in BOUNDARY and mistake.partner is not None
    ]


def _pair(mistake: Mistake, layout: WordLayout, frequency: Mapping[Surface, int]) -> PartlyRight:
    said, gold, text = mistake.mention, mistake.partner, layout.document.text
    assert gold is not None  # the caller looked
    lengths = [sum(b - a for a, b in mention.spans) for mention in (said, gold)]
    start, end = min(said.start, gold.start), max(said.end, gold.end)
    return PartlyRight(
        document=mistake.document,
        type=said.type,
        side=mistake.kind.removeprefix("boundary-"),
        change="longer"
        if lengths[0] > lengths[1]
        else "shorter"
        if lengths[0] < lengths[1]
        else "moved",
        predicted=_shown(said.text_in(text)),
        predicted_in_training=frequency.get(layout.surface(said.spans), 0),
        gold=_shown(gold.text_in(text)),
        gold_in_training=frequency.get(layout.surface(gold.spans), 0),
        context=" ".join(text[max(0, start - _CONTEXT) : end + _CONTEXT].split()),
    )


def summary(pairs: Iterable[PartlyRight]) -> dict[str, Any]:
    """What the pairs have in common.

    Returns:
        ``"pairs"``; ``"kinds"``: side and change -> how many, the most frequent first;
        ``"training"``: of how many pairs training has the ``"predicted"`` string more often than
        the gold one, the ``"gold"`` one more often, both equally often (``"same"``), or
        ``"neither"``.
    """
    listed = list(pairs)
    kinds = Counter(f"{pair.side}, {pair.change}" for pair in listed)
    known = Counter(_more_often(pair) for pair in listed)
    return {
        "pairs": len(listed),
        "kinds": dict(sorted(kinds.items(), key=lambda item: (-item[1], item[0]))),
        "training": {name: known[name] for name in ("predicted", "gold", "same", "neither")},
    }


def _more_often(pair: PartlyRight) -> str:
    said, gold = pair.predicted_in_training, pair.gold_in_training
    if not said and not gold:
        return "neither"
    return "predicted" if said > gold else "gold" if gold > said else "same"


def _shown(words: str) -> str:
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"

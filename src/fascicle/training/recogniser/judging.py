"""What the predictions on dev are worth: of one corpus all together, of several each type of each corpus alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import msgspec

from fascicle.core.document import Document, Mention
from fascicle.evaluation.scoring.scores import Counts, Rates, Scores
from fascicle.labelling.distant import score_known

Average = Literal["micro", "macro"]
Found = Mapping[str, tuple[Mention, ...]]


class Judge(Protocol):
    """How predictions on dev are scored, and by which number of their scores a model is chosen."""

    @property
    def average(self) -> Average:
        """By which F1 a model is chosen."""
        ...

    def scores(self, documents: Sequence[Document], found: Found) -> Scores:
        """Scores predictions.

        Args:
            documents: with their gold; ids must be unique.
            found: document id -> predicted mentions, for each document.
        """
        ...

    def f1_of_type(self, scores: Scores, name: str) -> float:
        """F1 of a type, 0 if dev does not have it."""
        ...


def chosen_by(judge: Judge, scores: Scores) -> Rates:
    """The rates by whose F1 a model is chosen."""
    return scores.micro if judge.average == "micro" else scores.macro


@dataclass(frozen=True)
class OneCorpus:
    """The micro average over all types; see ``labelling.distant.score_known``."""

    average: Average = "micro"

    def scores(self, documents: Sequence[Document], found: Found) -> Scores:
        """See ``Judge``."""
        return score_known(documents, found)

    def f1_of_type(self, scores: Scores, name: str) -> float:
        """See ``Judge``."""
        return scores.by_type.get(name, Counts()).rates().f1


@dataclass(frozen=True, kw_only=True)
class CellScores(Scores):
    """Scores whose types are cells, ``"PART/TYPE"``."""

    def as_dict(self) -> dict[str, Any]:
        """As of all scores, with the name of the average that decides."""
        return {"average": "macro", **super().as_dict()}


@dataclass(frozen=True, kw_only=True)
class SeveralCorpora:
    """The mean over cells: each type of each corpus that annotates it and has it in dev.

    Predictions of other types are neither right nor wrong there, for nobody looked for them.

    Attributes:
        annotates: name of each part -> its types.
    """

    annotates: Mapping[str, Sequence[str]]
    average: Average = "macro"

    def scores(self, documents: Sequence[Document], found: Found) -> Scores:
        """See ``Judge``; ids of documents begin with the name of their part and a slash."""
        part_of = {document.id: document.id.partition("/")[0] for document in documents}
        known = [
            msgspec.structs.replace(document, mentions=self._cells(part_of[document.id], document.mentions))
            for document in documents
        ]
        scores = score_known(known, {key: self._cells(part_of[key], mentions) for key, mentions in found.items()})
        return CellScores(**{name: getattr(scores, name) for name in Scores.__dataclass_fields__})

    def _cells(self, part: str, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
        """The mentions of the types that a part annotates, with their cells as types."""
        known = self.annotates[part]
        return tuple(msgspec.structs.replace(m, type=f"{part}/{m.type}") for m in mentions if m.type in known)

    def f1_of_type(self, scores: Scores, name: str) -> float:
        """The mean over the corpora that annotate the type and have it in dev."""
        cells = [scores.by_type.get(f"{part}/{name}", Counts()) for part in self.annotates]
        rates = [counts.rates().f1 for counts in cells if counts.support]
        return sum(rates) / max(1, len(rates))

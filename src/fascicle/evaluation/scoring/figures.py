"""Precision, recall and F1 of counts; a number without a denominator is undefined, with a reason.

``scoring.scores`` gives such numbers a value by rule, for averages need one. What is shown to a reader is
``None`` with a reason, never a zero that looks like a failure, and never a NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

from fascicle.evaluation.report_parts import Line
from fascicle.evaluation.scoring.scores import Counts, Scores

NO_GOLD: Final = "there is no gold mention"
_NOTHING_PREDICTED: Final = "nothing was predicted"
_NEITHER: Final = "there is no gold mention and nothing was predicted"
_NO_DOCUMENT: Final = "there is no document"
ONE_DOCUMENT: Final = "there is only one document, and an interval comes from drawing documents"
IN_ONE_DOCUMENT: Final = "only one document has mentions of the type, and an interval comes from drawing documents"
_NO_TYPES: Final = "this rule does not look at types"


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Precision, recall and F1, each from 0 to 1 or ``None``.

    Attributes:
        precision: ``None`` if nothing was predicted.
        recall: ``None`` if there is no gold mention.
        f1: ``2 TP / (gold + predicted)``; ``None`` if both are 0. It is 0, and defined, where one side is empty.
    """

    precision: float | None
    recall: float | None
    f1: float | None

    @property
    def undefined(self) -> dict[str, str]:
        """Name of a number that is ``None`` -> why."""
        reasons = {"precision": _NOTHING_PREDICTED, "recall": NO_GOLD, "f1": _NEITHER}
        return {name: reason for name, reason in reasons.items() if getattr(self, name) is None}

    def as_dict(self) -> dict[str, Any]:
        """Returns the numbers, and under ``"undefined"`` the reasons where there are any; ready for JSON."""
        numbers = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return numbers | ({"undefined": self.undefined} if self.undefined else {})


def figures(counts: Counts) -> Figures:
    """Computes precision, recall and F1 of some counts."""
    total = counts.support + counts.predicted
    return Figures(
        precision=counts.tp / counts.predicted if counts.predicted else None,
        recall=counts.tp / counts.support if counts.support else None,
        f1=2 * counts.tp / total if total else None,
    )


def figures_row(counts: Counts) -> Line:
    """Counts with their figures, ready for JSON."""
    numbers = {"gold": counts.support, "predicted": counts.predicted, "tp": counts.tp, "fp": counts.fp, "fn": counts.fn}
    return cast(Line, numbers | figures(counts).as_dict())


def no_interval(scores: Scores, name: str = "micro_f1") -> str:
    """Returns why a headline number has no interval; empty if it has one.

    Args:
        scores: by what is drawn.
        name: see ``intervals.HEADLINE``.
    """
    documents = len(scores.by_document)
    if documents < 2:
        return ONE_DOCUMENT if documents else _NO_DOCUMENT
    average, number = name.split("_")
    reasons = figures(scores.counts).undefined if average == "micro" else macro_row(scores).get("undefined", {})
    reason: str = reasons.get(number, "")
    return reason


def macro_row(scores: Scores) -> dict[str, Any]:
    """Returns the macro averages of some scores, ready for JSON.

    They are means over the types in the gold, in which a type without predictions has the precision that the zero rule
    of the scores gives it.
    """
    if not any(counts.support for counts in scores.by_type.values()):
        reason = NO_GOLD if scores.by_type or not scores.counts.support else _NO_TYPES
        names = ("precision", "recall", "f1")
        return dict.fromkeys(names) | {"undefined": dict.fromkeys(names, reason)}
    return {**vars(scores.macro)}


def undefined_numbers(scores: Scores) -> dict[str, dict[str, str]]:
    """Returns undefined numbers of some scores: ``"micro"``, or the name of a type, -> number -> reason.

    Types are listed under ``"type NAME"``, so that none is mistaken for ``"micro"``.
    """
    found = {"micro": figures(scores.counts).undefined}
    found |= {f"type {name}": figures(counts).undefined for name, counts in scores.by_type.items()}
    return {where: reasons for where, reasons in found.items() if reasons}

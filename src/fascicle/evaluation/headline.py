"""The headline numbers of a system, how sure each is, and why some are not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fascicle.core.wording import counted
from fascicle.evaluation.scoring.figures import no_interval
from fascicle.evaluation.scoring.scores import Scores
from fascicle.evaluation.uncertainty.intervals import HEADLINE, Interval, bootstrap

TITLES: Final[Mapping[str, str]] = {
    "micro_precision": "micro P",
    "micro_recall": "micro R",
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "difference": "the difference",
}
BUCKETS_UNCORRECTED: Final = (
    "Differences in single buckets are not corrected for many comparisons: among so many, some are large by chance."
)
_NEVER: Final = "it is undefined in every draw of documents"


@dataclass(frozen=True, kw_only=True)
class Headline:
    """Intervals of the headline numbers, all over the same draws.

    Attributes:
        intervals: name of a number, see ``intervals.HEADLINE`` -> interval.
        undefined: name -> why there is none.
    """

    intervals: Mapping[str, Interval]
    undefined: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        """``"NAME_interval"`` for each number, ``None`` where ``"undefined"`` says why; ready for JSON."""
        found = {name: self.intervals.get(name) for name in HEADLINE}
        value: dict[str, Any] = {f"{name}_interval": one and one.as_dict() for name, one in found.items()}
        reasons = {f"{name}_interval": why for name, why in self.undefined.items()}
        return value | ({"undefined": reasons} if reasons else {})


def headline_of(drawn: Scores, *, resamples: int = 1000) -> Headline:
    """The intervals of the headline numbers of some scores.

    Args:
        drawn: scores by what is drawn, see ``systems.by_unit``.
        resamples: number of draws.
    """
    reasons = {name: no_interval(drawn, name) for name in HEADLINE}
    found = {} if all(reasons.values()) else bootstrap(drawn, resamples=resamples)
    never = {name for name, one in found.items() if one.undefined == one.resamples}
    reasons = {name: why or (_NEVER if name in never else "") for name, why in reasons.items()}
    return Headline(
        intervals={name: one for name, one in found.items() if not reasons[name]},
        undefined={name: why for name, why in reasons.items() if why},
    )


def left_out(intervals: Mapping[str, Mapping[str, Any] | None], unit: str) -> list[str]:
    """A sentence for each number that is undefined in some draws.

    Args:
        intervals: name, or ``"difference"`` -> interval as it stands in JSON.
        unit: what is drawn.
    """
    return [
        f"{TITLES[name]} is undefined in {one['undefined']:,} of the {counted(one['resamples'], 'draw')} of "
        f"{unit}s, which are left out of its interval."
        for name, one in intervals.items()
        if one is not None and one["undefined"]
    ]


def intervals_told(gold: Mapping[str, Any]) -> str:
    """What intervals were drawn over, where it is not documents; empty if it is.

    Args:
        gold: of a report, with its ``unit`` and what is ``drawn``.
    """
    if gold["unit"] == "sentence":
        return "Every document is one sentence, so intervals come from drawing sentences."
    if gold["drawn"] == "sentence":
        return "There is only one document, so intervals come from drawing its sentences."
    return ""

"""What the training of a filter says while it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from fascicle.core.arrays import Floats, Ints
from fascicle.settings.recipes.filter import ThresholdFacts
from fascicle.training.engine.events import Ended, Validated


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How a filter judged examples, at a probability of one half.

    Attributes:
        tp: correct and accepted.
        fp: incorrect and accepted.
        fn: correct and rejected.
        tn: incorrect and rejected.
    """

    tp: int
    fp: int
    fn: int
    tn: int

    @classmethod
    def of(cls, chances: Floats, labels: Ints) -> Verdict:
        """Counts.

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
        """Share that was judged right; 0 without examples."""
        total = self.tp + self.fp + self.fn + self.tn
        return (self.tp + self.tn) / total if total else 0.0

    @property
    def f1(self) -> float:
        """Of the correct examples; 0 if there are none and none was accepted."""
        total = 2 * self.tp + self.fp + self.fn
        return 2 * self.tp / total if total else 0.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        counts = {name: getattr(self, name) for name in ("tp", "fp", "fn", "tn")}
        return {**counts, "accuracy": self.accuracy, "f1": self.f1}


@dataclass(frozen=True, kw_only=True)
class FilterEpoch(Validated):
    """A filter with how it judged the held-out examples.

    Attributes:
        held_out: the counts.
        kept_f1: F1 of what it keeps on the held-out documents, where the epoch is chosen by that.
    """

    held_out: Verdict
    kept_f1: float | None = None

    @property
    def figures(self) -> str:
        """Accuracy and F1 on held-out examples, in percent."""
        kept = "" if self.kept_f1 is None else f", F1 of what is kept {100 * self.kept_f1:.2f}"
        return f"held-out accuracy {100 * self.held_out.accuracy:.2f} F1 {100 * self.held_out.f1:.2f}{kept}"


@dataclass(frozen=True, kw_only=True)
class FilterFinished(Ended):
    """The end of the run of a filter.

    Attributes:
        epoch: that was chosen.
        held_out: how its model judged the held-out examples.
        threshold: what was chosen for it.
        scores: on the documents that the threshold was chosen on, by name: each member, ``"union"``, ``"half"`` (kept
            from 0.5 on) and ``"kept"``: counts and rates of mentions.
    """

    epoch: int
    held_out: Verdict
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

"""What the training of a filter says while it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fascicle.core.arrays import Floats, Ints
from fascicle.recipe.filter import ThresholdFacts
from fascicle.train.events import Note
from fascicle.train.loop import StepDone


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
class FilterEpoch:
    """An epoch, with how the held-out examples were judged."""

    epoch: int
    epochs: int
    loss: float
    seconds: float
    held_out: Verdict
    best: bool


@dataclass(frozen=True, kw_only=True)
class FilterFinished:
    """The end of a run.

    Attributes:
        folder: of the run.
        epoch: that was chosen.
        held_out: how its model judged the held-out examples.
        threshold: what was chosen for it.
        scores: on the documents that the threshold was chosen on, by name: each member, ``"union"``, ``"half"`` (kept
            from 0.5 on) and ``"kept"``: counts and rates of mentions.
    """

    folder: Path
    epoch: int
    held_out: Verdict
    threshold: ThresholdFacts
    scores: Mapping[str, Mapping[str, Any]]


FilterEvent = Note | StepDone | FilterEpoch | FilterFinished

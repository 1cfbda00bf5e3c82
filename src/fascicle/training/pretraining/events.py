"""What a pretraining says while it goes on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fascicle.training.engine.events import Ended, Validated


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """How well held-out pieces are guessed.

    Attributes:
        loss: mean cross-entropy of a hidden piece, in nats.
        pieces: that were hidden.
    """

    loss: float
    pieces: int

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> HeldOut | None:
        """What a line of ``metrics.jsonl`` says; ``None`` where nothing was held out."""
        given = line["held_out"]
        return None if given is None else cls(loss=given["loss"], pieces=given["pieces"])

    @property
    def perplexity(self) -> float:
        """Pseudo-perplexity: the exponential of the mean cross-entropy, each piece guessed from both sides."""
        return math.exp(min(self.loss, 700.0))  # a float has no larger exponential

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"loss": self.loss, "perplexity": self.perplexity, "pieces": self.pieces}


@dataclass(frozen=True, kw_only=True)
class PretrainingScored(Validated):
    """An encoder with what it guesses of held-out text; ``None`` where nothing is held out."""

    held_out: HeldOut | None

    @property
    def figures(self) -> str:
        """The pseudo-perplexity."""
        return "nothing held out" if self.held_out is None else f"held-out perplexity {self.held_out.perplexity:.2f}"


@dataclass(frozen=True, kw_only=True)
class PretrainingFinished(Ended):
    """The end of a pretraining.

    Attributes:
        held_out: how well held-out pieces are guessed in the end; ``None`` where nothing is held out.
        step: number of the last step.
        pieces: of the text in all epochs, special tokens not counted.
        cost: seconds of all sittings.
    """

    held_out: HeldOut | None
    step: int
    pieces: int
    cost: float

    def as_dict(self) -> dict[str, Any]:
        """See ``Ended``."""
        held_out = None if self.held_out is None else self.held_out.as_dict()
        return {"step": self.step, "held_out": held_out, "pieces": self.pieces, "training_seconds": round(self.cost, 1)}

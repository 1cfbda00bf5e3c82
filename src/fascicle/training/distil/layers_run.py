"""Distillation by layers alone, as the engine trains it: from a recipe to an encoder.

::

    RUN/recipe.json      the resolved recipe
    RUN/run.json         versions, machine, hashes of the data and the teacher, which layers are compared
    RUN/metrics.jsonl    one line each time that the held-out text was compared
    RUN/encoder/         the chosen encoder; any recipe can name it as its ``encoder``
    RUN/state/           what ``resume`` needs; removed at the end
    RUN/scores.json      its losses on held-out text
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from fascicle.models.encoder import Pretrained, save_pretrained
from fascicle.settings.folders.described import CARD
from fascicle.settings.recipes.distil import DistilRecipe
from fascicle.settings.recipes.recogniser import TrainingSettings
from fascicle.training.distil.card import card_of
from fascicle.training.distil.pupil import LAYERS, Pupil
from fascicle.training.engine.events import Ended, Validated
from fascicle.training.engine.loop import Trainer
from fascicle.training.engine.record import Choice, Kept, Line
from fascicle.training.engine.run import Facts, Judged, Point, Trainee

ENCODER: Final = "encoder"
Losses = Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class LayersCompared(Validated):
    """A student with its losses on held-out text.

    Attributes:
        held_out: ``"total"`` and the losses that it is the weighted sum of.
    """

    held_out: Losses

    @property
    def figures(self) -> str:
        """The losses."""
        return "held out " + _told(self.held_out)


@dataclass(frozen=True, kw_only=True)
class LayersFinished(Ended):
    """The end of a run.

    Attributes:
        epoch: of the chosen encoder.
        step: of the chosen encoder.
        held_out: its losses, see ``LayersCompared``.
    """

    epoch: int
    step: int
    held_out: Losses

    @property
    def encoder(self) -> Path:
        """Its folder."""
        return self.folder / ENCODER

    def as_dict(self) -> dict[str, Any]:
        """See ``Ended``."""
        return {"epoch": self.epoch, "step": self.step, "held_out": dict(self.held_out)}


def _told(losses: Losses) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in losses.items())


class LayerTrainee(Trainee):
    """An encoder that imitates layers; the best one on held-out text is kept."""

    def __init__(
        self,
        *,
        folder: Path,
        recipe: DistilRecipe,
        student: Pretrained,
        loop: Trainer,
        held_out: Sequence[Mapping[str, Tensor]],
        facts: Facts,
    ) -> None:
        """Puts the parts together.

        Args:
            folder: of the run.
            recipe: of the run.
            student: whose encoder is trained.
            loop: trains a ``Pupil`` with losses on layers.
            held_out: batches that nothing is learned from.
            facts: of the run.
        """
        self._folder = folder
        self._recipe = recipe
        self._losses = dict[str, float]()  # of the weights that were judged last
        self._student = student
        self._held_out = held_out
        self.loop: Trainer = loop
        self.choice = choice_of(loop.settings, folder=ENCODER, merit=_merit, aim="loss on held-out text")
        self.facts = facts

    def judge(self, point: Point) -> Judged:
        """Compares the layers on held-out text."""
        self._losses = losses = self._compared()
        facts = point.facts()
        return Judged(
            lines=[point.line(held_out=losses)], event=lambda best: LayersCompared(**facts, best=best, held_out=losses)
        )

    @torch.no_grad()
    def _compared(self) -> dict[str, float]:
        """Means over all pieces of the held-out text, the total first."""
        pupil, device = self.loop.model.eval(), self.loop.device
        assert isinstance(pupil, Pupil)
        assert pupil.layers is not None
        total, pieces = defaultdict[str, float](float), 0
        for given in self._held_out:
            batch = {name: tensor.to(device) for name, tensor in given.items()}
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=self.loop.bf16):
                losses = pupil(batch)[LAYERS]
            weight = int(batch["attention_mask"].sum())
            pieces += weight
            for name, loss in {"total": pupil.layers.total(losses), **losses}.items():
                total[name] += float(loss) * weight
        return {name: value / pieces for name, value in total.items()}

    def keep(self, place: Path, kept: Kept) -> None:
        """Writes the encoder and its card."""
        save_pretrained(place, self._student)
        known = {**self.facts.more, "data": self.facts.data}
        card = card_of(self._recipe, known, self._losses or self._compared())
        (place / CARD).write_text(card, encoding="utf-8")

    def finish(self, chosen: Sequence[Line]) -> Iterator[Ended]:
        """Tells the losses of the chosen encoder."""
        (line,) = chosen
        yield LayersFinished(
            folder=self._folder, epoch=line["epoch"], step=line["step"], held_out=dict(line["held_out"])
        )


def choice_of(given: TrainingSettings, *, folder: str, merit: Any, aim: str) -> Choice:
    """How a run that keeps one model is scored and stopped, by the settings of its training.

    Args:
        given: of the recipe.
        folder: of the model.
        merit: line -> what it is chosen by.
        aim: what did not become better, for a sentence.
    """
    times = given.patience_epochs or given.patience_validations
    return Choice(
        kept=(Kept(folder=folder, merit=merit),),
        last=given.select == "last",
        every=given.validate_every_steps,
        patience=times,
        aim=f"{aim} for {times} times that it was scored",
    )


def _merit(line: Line) -> float:
    return -float(line["held_out"]["total"])

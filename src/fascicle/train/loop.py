"""The training loop: a generator of events. Saving, scoring, stopping and printing belong to whoever consumes it."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from accelerate import Accelerator
from torch import Tensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from fascicle.models.model import Trainable
from fascicle.recipe.settings import TrainingSettings
from fascicle.train.optim import WeightAverage, make_optimizer, make_schedule
from fascicle.train.precision import precision_on
from fascicle.train.rows import RowGradients


@dataclass(frozen=True, kw_only=True)
class StepDone:
    """One change of the weights: its number from 1, and the loss of its batches."""

    step: int
    loss: float


@dataclass(frozen=True, kw_only=True)
class EpochDone:
    """One pass over the data: its number from 1, the mean loss of its batches, and its time in seconds.

    Of an epoch that was gone on with in the middle, loss and time are those of what was left of it.
    """

    epoch: int
    loss: float
    seconds: float


class Batches(Protocol):
    """What an epoch is made of."""

    def batches(
        self, *, size: int, seed: int, epoch: int, hidden: float = 0.0
    ) -> Iterator[tuple[dict[str, Tensor], dict[str, Tensor]]]:
        """One epoch of inputs and targets, the same for the same arguments; see ``train.data.TrainingSet``."""
        ...

    def count(self, size: int) -> int:
        """Batches in an epoch."""
        ...


class Trainer:
    """A model with its optimizer, schedule and average: what changes during training."""

    def __init__(self, model: Trainable, data: Batches, settings: TrainingSettings, *, seed: int) -> None:
        """Prepares training.

        Args:
            model: trained in place.
            data: what is learnt, in batches.
            settings: of the recipe.
            seed: decides the order of batches; dropout follows torch's own generator.
        """
        self.model = model
        self.data = data
        self.settings = settings
        self.seed = seed
        self.epoch = 0
        self.step = 0
        self.average = WeightAverage(model, settings)
        self._accelerator = Accelerator()  # without its mixed precision, which is one for the life of the process
        self.device = self._accelerator.device
        self.precision = precision_on(self.device, settings)
        model.to(self.device)
        self._rows = RowGradients(model)
        self.optimizer: Optimizer = make_optimizer(model, settings)
        self.move_schedule()

    def move_schedule(self) -> None:
        """Puts the schedule to ``step``, also after that was set from outside."""
        self.schedule: LambdaLR = make_schedule(self.optimizer, self.settings, steps=self.steps, done=self.step)

    @property
    def bf16(self) -> bool:
        """Whether it trains under bf16 autocast."""
        return self.precision == "bf16"

    @property
    def steps(self) -> int:
        """Changes of the weights in all epochs."""
        return self.steps_per_epoch * self.settings.epochs

    @property
    def steps_per_epoch(self) -> int:
        """Changes of the weights in an epoch."""
        return -(-self.data.count(self.settings.batch_size) // self.settings.accumulation)

    def run(self) -> Iterator[StepDone | EpochDone]:
        """Trains from where it stands to the last epoch; whoever listens may leave the model in evaluation mode."""
        while self.epoch < self.settings.epochs:
            yield from self._one_epoch()

    def _one_epoch(self) -> Iterator[StepDone | EpochDone]:
        started, total = time.perf_counter(), 0.0
        batches = self.data.batches(
            size=self.settings.batch_size, seed=self.seed, epoch=self.epoch, hidden=self.settings.hidden_pieces
        )
        # Batches that were trained on before are made again, for what is drawn for the others depends on them.
        done = self.step - self.epoch * self.steps_per_epoch
        deque(itertools.islice(batches, done * self.settings.accumulation), maxlen=0)
        while group := list(itertools.islice(batches, self.settings.accumulation)):
            self.model.train()
            loss = sum(self._accumulate(batch, targets, share=1.0 / len(group)) for batch, targets in group)
            self._change()
            total += loss
            yield StepDone(step=self.step, loss=loss)
        self.epoch += 1
        self.average.after_epoch()
        mean = total / max(1, self.steps_per_epoch - done)
        yield EpochDone(epoch=self.epoch, loss=mean, seconds=time.perf_counter() - started)

    def _accumulate(self, batch: dict[str, Tensor], targets: dict[str, Tensor], *, share: float) -> float:
        """Adds the gradient of one batch; returns its share of the loss."""
        batch, targets = ({name: t.to(self.device) for name, t in x.items()} for x in (batch, targets))
        with self._rows.collected(), torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.bf16):
            scores = self.model(batch)
        loss = self.model.loss(scores, targets) * share
        self._accelerator.backward(loss)
        return float(loss.detach())

    def _change(self) -> None:
        """Clips, steps, forgets the gradient."""
        self._rows.fill()
        if self.settings.clip:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad(set_to_none=True)
        self._rows.clear()
        self.step += 1
        self.average.after_step()

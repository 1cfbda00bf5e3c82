"""Training loop: a generator of events. The caller saves, scores, stops and prints.

The state that a run needs to resume after a kill is saved here: tensors as safetensors, numbers as
JSON.

Also chooses the arithmetic of training (bf16 or fp32) for each device.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Protocol

import torch
from accelerate import Accelerator
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from fascicle.errors import RecipeError
from fascicle.models.encoder import Trainable
from fascicle.models.heads.contract import put_weights
from fascicle.models.nn.dropout import QuickDropout
from fascicle.models.nn.tensors import TensorDict, move_tensors
from fascicle.settings.recipes.recogniser import TrainingSettings
from fascicle.training.engine.folder import resume_errors
from fascicle.training.engine.optim import (
    RowGradients,
    WeightAverage,
    clip,
    make_optimizer,
    make_schedule,
    weights_in,
)

_Used = Literal["fp32", "bf16"]
_PRECISIONS: Final[tuple[_Used, ...]] = ("fp32", "bf16")
# chance and other processes make a step a tenth slower, and must not affect the result of a run
_MUCH: Final = 1.25
_INSTRUCTIONS = ("avx512_bf16", "amx_bf16", "bf16")  # flags of x86-64 (two) and of ARM
_TIMED = 3  # steps of each arithmetic, of which the fastest counts: the first ones wait for memory


def precision_on(device: torch.device, settings: TrainingSettings) -> _Used:
    """Returns the arithmetic to use: that of the recipe, or, for ``"auto"``, bf16 where the device
    computes in it.

    Args:
        device: on which training runs.
        settings: of the recipe.
    """
    if settings.precision != "auto":
        return settings.precision
    return "bf16" if computes_bf16(device) else "fp32"


def faster_precision(seconds: Mapping[_Used, float]) -> _Used:
    """Returns the arithmetic for ``"auto"`` on a CPU with bf16: fp32 where a bf16 step takes 25%
    longer or more.
    """
    return "fp32" if seconds["bf16"] > _MUCH * seconds["fp32"] else "bf16"


def slow_precision(device: torch.device, settings: TrainingSettings) -> str:
    """Returns one sentence where bf16 is requested and would be emulated; else empty."""
    if precision_on(device, settings) == "fp32" or computes_bf16(device) is not False:
        return ""
    return (
        'training.precision is "bf16", which this processor has no instructions for: it is '
        "emulated, and can be fifty "
        'times slower; set "fp32", or "auto", which takes bf16 only where it is fast'
    )


def computes_bf16(device: torch.device) -> bool | None:
    """True if a device has instructions for bf16; ``None`` where torch gives no information."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    capabilities: Mapping[str, object] = (
        getattr(torch.cpu, "get_capabilities", dict)() if device.type == "cpu" else {}
    )
    return any(bool(capabilities.get(name)) for name in _INSTRUCTIONS) if capabilities else None


@dataclass(frozen=True, kw_only=True)
class StepDone:
    """Event: one change of the weights, with its number from 1 and the loss of its batches.

    The numbers of all steps and epochs of the run are 0 where they are not known.
    """

    step: int
    loss: float
    steps: int = field(default=0, compare=False)
    epochs: int = field(default=0, compare=False)

    @property
    def place(self) -> str:
        """Where the run is, in words."""
        if not self.steps:
            return f"step {self.step:,}"
        epoch = 1 + (self.step - 1) * self.epochs // self.steps
        return f"epoch {epoch}/{self.epochs}, step {self.step:,} of {self.steps:,}"


@dataclass(frozen=True, kw_only=True)
class EpochDone:
    """Event: one pass over the data, with its number from 1."""

    epoch: int


BatchTensors = tuple[TensorDict, TensorDict]  # inputs and targets of one batch


def finite_loss(loss: float, *, step: int) -> float:
    """Returns the loss of a step.

    Raises:
        RecipeError: it is infinite or no number.
    """
    if math.isfinite(loss):
        return loss
    raise RecipeError(
        f"the loss of step {step:,} is {loss}: lower learning_rate in the recipe; if it is the "
        "first step, check the weights of the encoder",
        key="learning_rate",
    )


class Loop(ABC):
    """Training loop: changes weights step by step, and can be saved and resumed.

    Attributes:
        model: to train.
        optimizer: of its parameters.
        device: the device that both are on.
        epochs: of the whole run.
        steps: of the whole run.
        steps_per_epoch: in an epoch.
        epoch: complete epochs.
        step: steps done.
    """

    model: nn.Module
    optimizer: Optimizer
    device: torch.device
    epochs: int
    steps: int
    steps_per_epoch: int
    epoch: int = 0
    step: int = 0

    @abstractmethod
    def run(self) -> Iterator[StepDone | EpochDone]:
        """Trains to the last epoch; the caller may leave the model in evaluation mode between
        events.
        """

    def evaluated(self) -> AbstractContextManager[None]:
        """Returns a block in which the model has the weights that are scored and kept."""
        return nullcontext()

    @abstractmethod
    def extra_state(self) -> tuple[TensorDict, dict[str, Any]]:
        """Returns the tensors and numbers of the state beside weights, optimizer and random
        generators.
        """

    @abstractmethod
    def take_extra_state(self, tensors: TensorDict, numbers: dict[str, Any]) -> None:
        """Restores this state; called after everything else is restored."""

    def save(self, folder: Path) -> None:
        """Writes weights, optimizer, random generators and the extra state into an existing
        folder.
        """
        tensors: TensorDict = {f"model.{n}": p.detach() for n, p in self.model.named_parameters()}
        numbers: dict[str, Any] = {"epoch": self.epoch, "step": self.step, "optimizer": {}}
        for index, values in self.optimizer.state_dict()["state"].items():
            for name, value in values.items():
                if isinstance(value, Tensor):
                    tensors[f"optimizer.{index}.{name}"] = value
                else:
                    numbers["optimizer"][f"{index}.{name}"] = value
        more, figures = self.extra_state()
        tensors, numbers = tensors | more, numbers | figures
        tensors["random.torch"] = torch.get_rng_state()
        if self.device.type == "cuda":
            tensors["random.cuda"] = torch.cuda.get_rng_state(self.device)
        save_file(_in_separate_memory(tensors), folder / "state.safetensors")
        (folder / "state.json").write_text(json.dumps(numbers), encoding="utf-8")

    def restore(self, folder: Path) -> None:
        """Restores the state that `save` wrote.

        Raises:
            OutputError: the state is damaged, or of another model.
        """
        with resume_errors(folder):
            try:
                self._restore(folder)
            except torch.OutOfMemoryError:
                raise
            # a file cut short; tensors of another shape
            except (SafetensorError, RuntimeError) as error:
                raise ValueError(str(error)) from error

    def _restore(self, folder: Path) -> None:
        tensors = load_file(folder / "state.safetensors")
        numbers = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        self.epoch, self.step = numbers["epoch"], numbers["step"]
        put_weights(
            self.model, {n: tensors[f"model.{n}"] for n, _ in self.model.named_parameters()}
        )
        state: dict[int, dict[str, Any]] = {}
        for name, value in (_under(tensors, "optimizer.") | numbers["optimizer"]).items():
            index, _, field = name.partition(".")
            state.setdefault(int(index), {})[field] = value
        self.optimizer.load_state_dict(
            {"state": state, "param_groups": self.optimizer.state_dict()["param_groups"]}
        )
        self.take_extra_state(tensors, numbers)
        torch.set_rng_state(tensors["random.torch"])
        if "random.cuda" in tensors and self.device.type == "cuda":
            torch.cuda.set_rng_state(tensors["random.cuda"], self.device)


def _in_separate_memory(tensors: TensorDict) -> TensorDict:
    """Returns the tensors on the CPU in separate memory, as safetensors requires; copies only where
    needed.

    Weights and optimizer state are the largest part of the memory of a process, so a copy of all
    would double it.
    """
    separate: TensorDict = {}
    addresses: set[int] = set()
    for name, original in tensors.items():
        tensor = original.detach().cpu().contiguous()
        memory = tensor.untyped_storage()
        is_alone = memory.nbytes() == tensor.nbytes and memory.data_ptr() not in addresses
        separate[name] = tensor if is_alone else tensor.clone()
        addresses.add(memory.data_ptr())
    return separate


def _under(tensors: TensorDict, prefix: str) -> TensorDict:
    """Returns the tensors whose names begin with a prefix, without the prefix."""
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}


class Batches(Protocol):
    """Source of the batches of an epoch."""

    def batches(
        self, *, size: int, seed: int, epoch: int, hidden: float = 0.0
    ) -> Iterator[BatchTensors]:
        """Yields one epoch of inputs and targets, a function of the arguments; see
        ``recogniser.data.TrainingSet``.
        """

    def count(self, size: int) -> int:
        """Returns the number of batches in an epoch."""


class Trainer(Loop):
    """Training loop of a model with its optimizer, schedule and weight average."""

    model: Trainable

    def __init__(
        self, model: Trainable, data: Batches, settings: TrainingSettings, *, seed: int
    ) -> None:
        """Prepares training.

        Args:
            model: trained in place.
            data: batches to train on.
            settings: of the recipe.
            seed: decides the order of batches; dropout follows torch's own generator.
        """
        self.model = model
        self.data = data
        self.settings = settings
        self.seed = seed
        self.epochs = settings.epochs
        self.steps_per_epoch = -(-data.count(settings.batch_size) // settings.accumulation)
        self.steps = self.steps_per_epoch * settings.epochs
        self.average = WeightAverage(model, settings)
        # without its mixed precision, which is fixed for the life of the process
        self._accelerator = Accelerator()
        self.device = self._accelerator.device
        self.precision: _Used = precision_on(self.device, settings)
        self.step_seconds: dict[_Used, float] = {}
        model.to(self.device)
        self._rows = RowGradients(model)
        self.optimizer: Optimizer = make_optimizer(model, settings)
        self.move_schedule()

    def settle_precision(self, before: _Used | None = None) -> None:
        """Chooses the arithmetic for ``precision = "auto"`` on a device with bf16: fp32 if a step
        in it is much faster.

        On some processors bf16 has instructions and is still slower. A step of each is timed;
        weights, gradients and random generators stay as they are.

        Args:
            before: arithmetic of the same run until it was interrupted; it is kept.
        """
        if self.settings.precision != "auto":
            return
        if before is not None:
            self.precision = before
        elif self.precision == "bf16" and self.device.type == "cpu":
            with torch.random.fork_rng(devices=[]):
                self.step_seconds = self._timed_steps()
            self.precision = faster_precision(self.step_seconds)

    def _timed_steps(self) -> dict[_Used, float]:
        """Measures the best time of a step in each arithmetic, in seconds, without changing the
        weights.
        """
        batches = self.data.batches(size=self.settings.batch_size, seed=self.seed, epoch=0)
        batch, targets = next(batches)
        self.model.train()
        best = dict.fromkeys(_PRECISIONS, math.inf)
        for self.precision in _PRECISIONS * _TIMED:
            started = time.perf_counter()
            self._accumulate(batch, targets, share=1.0)
            best[self.precision] = min(best[self.precision], time.perf_counter() - started)
            self.optimizer.zero_grad(set_to_none=True)
        return best

    def facts(self) -> dict[str, Any]:
        """Returns the number of steps and ``precision_facts`` for ``run.json``."""
        return {"steps": self.steps, **self.precision_facts()}

    def notes(self) -> list[str]:
        """Returns a sentence for the user where the arithmetic is emulated, see
        ``slow_precision``.
        """
        return list(filter(None, [slow_precision(self.device, self.settings)]))

    def precision_facts(self) -> dict[str, Any]:
        """Returns the arithmetic for ``run.json``, and the measured seconds if they decided it."""
        timed = {name: round(seconds, 5) for name, seconds in self.step_seconds.items()}
        return {"precision": self.precision} | ({"step_seconds": timed} if timed else {})

    def move_schedule(self) -> None:
        """Moves the schedule to ``step``, also after ``step`` was set from outside."""
        self.schedule: LambdaLR = make_schedule(
            self.optimizer, self.settings, steps=self.steps, step=self.step
        )

    @property
    def bf16(self) -> bool:
        """True if it trains under bf16 autocast."""
        return self.precision == "bf16"

    def run(self) -> Iterator[StepDone | EpochDone]:
        """See `Loop.run`."""
        while self.epoch < self.settings.epochs:
            yield from self._one_epoch()

    def evaluated(self) -> AbstractContextManager[None]:
        """Returns a block in which the model has its averaged weights, if any; afterwards it has
        its own again.
        """
        return weights_in(self.model, self.average.weights())

    def extra_state(self) -> tuple[TensorDict, dict[str, Any]]:
        """Returns the weight averages."""
        return {f"average.{name}": tensor for name, tensor in self.average.state().items()}, {}

    def take_extra_state(self, tensors: TensorDict, numbers: dict[str, Any]) -> None:
        """Restores ``extra_state``, and moves the schedule."""
        del numbers
        self.average.restore(move_tensors(_under(tensors, "average."), self.device))
        self.move_schedule()

    def _one_epoch(self) -> Iterator[StepDone | EpochDone]:
        batches = self.data.batches(
            size=self.settings.batch_size,
            seed=self.seed,
            epoch=self.epoch,
            hidden=self.settings.hidden_pieces,
        )
        # Batches that were trained on before are made again, because the random draws for the
        # others depend on them.
        steps_done = self.step - self.epoch * self.steps_per_epoch
        deque(itertools.islice(batches, steps_done * self.settings.accumulation), maxlen=0)
        while group := list(itertools.islice(batches, self.settings.accumulation)):
            self.model.train()
            loss = sum(
                self._accumulate(batch, targets, share=1.0 / len(group)) for batch, targets in group
            )
            self._change()
            yield StepDone(step=self.step, loss=loss, steps=self.steps, epochs=self.epochs)
        self.epoch += 1
        self.average.after_epoch()
        yield EpochDone(epoch=self.epoch)

    def _accumulate(self, batch: TensorDict, targets: TensorDict, *, share: float) -> float:
        """Adds the gradient of one batch; returns its share of the loss."""
        batch, targets = move_tensors(batch, self.device), move_tensors(targets, self.device)
        precision = torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.bf16)
        with self._rows.collected(), QuickDropout(), precision:
            scores = self.model(batch)
        loss = self.model.loss(scores, targets) * share
        self._accelerator.backward(loss)
        return finite_loss(float(loss.detach()), step=self.step + 1)

    def _change(self) -> None:
        """Clips the gradient, makes a step, and clears the gradient."""
        self._rows.join()
        if self.settings.clip:
            limit = clip if self.device.type == "cpu" else torch.nn.utils.clip_grad_norm_
            limit(self.model.parameters(), self.settings.clip)
        self._rows.fill()
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad(set_to_none=True)
        self._rows.clear()
        self.step += 1
        self.average.after_step()

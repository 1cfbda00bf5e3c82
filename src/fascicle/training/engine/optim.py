"""Optimizers, their parameter groups and schedules, and averages of weights.

It also has faster gradients of large embedding tables on a CPU.

A batch reads a few hundred of the thirty thousand rows of a vocabulary. Its gradient is dense all
the same: for every step torch takes memory of the size of the table and fills it with zeros, which
costs a small encoder a tenth of its time. Here the gradients of rows are collected as they are, and
put into one dense tensor that is kept from step to step, of which only the rows that were written
are cleared. The optimizer gets the same dense gradient.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from fascicle.models.encoder import Encoder, Trainable
from fascicle.models.heads.contract import put_weights
from fascicle.models.nn.pooling import InputVectors
from fascicle.models.nn.tensors import TensorDict
from fascicle.settings.recipes.recogniser import TrainingSettings

_LAYER = re.compile(r"\.(?:layers?|blocks?|h)\.(\d+)\.")
_LARGE = 4096  # rows; below, nothing is gained
_MARGIN = 1e-6  # the constant of torch


def make_optimizer(model: Trainable, settings: TrainingSettings) -> Optimizer:
    """Builds the optimizer of a recipe over the groups of ``parameter_groups``."""
    groups = list(parameter_groups(model, settings))
    if settings.optimizer == "adamw":
        return torch.optim.AdamW(groups, lr=settings.learning_rate, fused=True)
    if settings.optimizer == "adam":
        return torch.optim.Adam(groups, lr=settings.learning_rate, fused=True)
    from transformers.optimization import Adafactor

    return Adafactor(
        groups,
        lr=settings.learning_rate,
        relative_step=False,
        scale_parameter=False,
        warmup_init=False,
    )


def parameter_groups(model: Trainable, settings: TrainingSettings) -> Iterator[dict[str, object]]:
    """Yields groups of parameters that share a learning rate and a weight decay.

    Heads have their own rate, and the vectors of their inputs a multiple of it. Each encoder layer
    has the rate of the layer above times ``layer_decay``, the embeddings count as the layer below
    the first; an encoder inside a head is one too. Biases and normalisations are not decayed.
    """
    encoders = tuple(
        f"{name}." for name, module in model.named_modules() if isinstance(module, Encoder)
    )
    depth = 1 + max((_depth(name) for name, _ in model.encoder.named_parameters()), default=0)
    multiples = {
        f"{n}.table": m.rate for n, m in model.named_modules() if isinstance(m, InputVectors)
    }
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if name.startswith(encoders):
            rate = settings.learning_rate * settings.layer_decay ** (depth - 1 - _depth(name))
        else:
            rate = (settings.head_learning_rate or settings.learning_rate) * multiples.get(
                name, 1.0
            )
        decay = settings.weight_decay if parameter.ndim > 1 else 0.0
        groups.setdefault((rate, decay), []).append(parameter)
    for (rate, decay), parameters in groups.items():
        yield {"params": parameters, "lr": rate, "weight_decay": decay}


def make_schedule(
    optimizer: Optimizer, settings: TrainingSettings, *, steps: int, step: int = 0
) -> LambdaLR:
    """Builds the schedule: warm-up, then linear to zero or constant, over ``steps`` steps,
    ``done`` of them made.
    """
    return LambdaLR(optimizer, rate_factor(settings, steps=steps), last_epoch=step - 1)


def rate_factor(settings: TrainingSettings, *, steps: int) -> Callable[[int], float]:
    """Returns the factor of the learning rates at each step."""
    warm = round(settings.warmup * steps)

    def factor(step: int) -> float:
        if step < warm:
            return (step + 1) / (warm + 1)
        if settings.schedule == "constant":
            return 1.0
        return max(0.0, (steps - step) / max(1, steps - warm))

    return factor


class WeightAverage:
    """Average of weights beside a model: exponential over steps, or the mean of the last epochs.

    Args of the constructor come from ``TrainingSettings``; ``weights`` are those to evaluate and
    keep.
    """

    def __init__(self, model: nn.Module, settings: TrainingSettings) -> None:
        """Starts from the model's weights."""
        self._model = model
        self._settings = settings
        self.steps = 0
        self.tensors: TensorDict = {}
        self._epochs: list[TensorDict] = []

    @torch.no_grad()
    def after_step(self) -> None:
        """Updates the exponential average; its decay grows from 0, so that early weights lose
        their influence.
        """
        if self._settings.average != "ema":
            return
        self.steps += 1
        decay = min(self._settings.average_decay, self.steps / (self.steps + 10))
        live = self._live()
        if not self.tensors:
            self.tensors = {name: t.clone() for name, t in live.items()}
        names = list(live)
        torch._foreach_lerp_(
            [self.tensors[n] for n in names], [live[n] for n in names], 1.0 - decay
        )

    @torch.no_grad()
    def after_epoch(self) -> None:
        """Adds the weights of an epoch to the mean of the last ones."""
        if self._settings.average != "last":
            return
        self._epochs = [*self._epochs, {n: t.clone() for n, t in self._live().items()}]
        self._epochs = self._epochs[-self._settings.average_epochs :]
        self.tensors = {
            n: torch.stack([e[n] for e in self._epochs]).mean(0) for n in self._epochs[0]
        }

    def state(self) -> TensorDict:
        """Returns the state for resuming."""
        epochs = {f"epoch{i}.{n}": t for i, e in enumerate(self._epochs) for n, t in e.items()}
        return {
            **{f"mean.{n}": t for n, t in self.tensors.items()},
            **epochs,
            "steps": torch.tensor(self.steps),
        }

    def restore(self, state: TensorDict) -> None:
        """Restores the state."""
        self.steps = int(state["steps"])
        self.tensors = {
            n.removeprefix("mean."): t for n, t in state.items() if n.startswith("mean.")
        }
        count = len({n.partition(".")[0] for n in state if n.startswith("epoch")})
        self._epochs = [
            {n.partition(".")[2]: t for n, t in state.items() if n.startswith(f"epoch{i}.")}
            for i in range(count)
        ]

    def weights(self) -> TensorDict:
        """Returns the averaged weights, or the current ones where nothing is averaged."""
        return dict(self.tensors) if self.tensors else self._live()

    def _live(self) -> TensorDict:
        return {n: p.detach() for n, p in self._model.named_parameters()}


@contextmanager
def weights_in(model: nn.Module, weights: Mapping[str, Tensor]) -> Iterator[None]:
    """Replaces the weights of a model for the block.

    Args:
        model: changed in place, and restored afterwards.
        weights: of each of its parameters.
    """
    parameters = dict(model.named_parameters())
    live = {
        n: p.detach().clone()
        for n, p in parameters.items()
        if weights[n].data_ptr() != p.data_ptr()
    }
    put_weights(model, {name: weights[name] for name in live})
    try:
        yield
    finally:
        put_weights(model, live)


def _depth(name: str) -> int:
    """Returns the layer of an encoder parameter: 0 for embeddings, 1 for the first layer."""
    match = _LAYER.search(name)
    return int(match[1]) + 1 if match else 0


class RowGradients:
    """Dense gradients of the large tables of a model, collected row by row."""

    def __init__(self, model: nn.Module) -> None:
        """Finds the large tables.

        Args:
            model: on its device; nothing is done except on a CPU, because a GPU fills memory
                quickly.
        """
        tables = (module for module in model.modules() if isinstance(module, nn.Embedding))
        self._tables = tuple(
            t for t in tables if t.num_embeddings >= _LARGE and t.weight.device.type == "cpu"
        )
        self._dense: list[Tensor | None] = [None] * len(self._tables)
        self._rows: list[Tensor | None] = [None] * len(self._tables)

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Returns a block in which rows that are read get gradients of rows."""
        for table in self._tables:
            table.sparse = True
        try:
            yield
        finally:
            for table in self._tables:
                table.sparse = False

    @torch.no_grad()
    def join(self) -> None:
        """Sums the collected gradients to one row for each row read; after the backward pass,
        before ``clip``.
        """
        for weight in (table.weight for table in self._tables):
            if weight.grad is not None and weight.grad.is_sparse:
                weight.grad = weight.grad.coalesce()

    @torch.no_grad()
    def fill(self) -> None:
        """Makes the gradients dense; to be called before any other code reads them."""
        for at, weight in enumerate(table.weight for table in self._tables):
            if weight.grad is None or not weight.grad.is_sparse:
                continue
            grad, dense = weight.grad.coalesce(), self._dense[at]
            if dense is None:
                dense = self._dense[at] = torch.zeros_like(weight)
            self._rows[at] = rows = grad.indices()[0]
            dense[rows] = grad.values()
            weight.grad = dense

    @torch.no_grad()
    def clear(self) -> None:
        """Clears the gradients after the weights have changed."""
        for at, (dense, rows) in enumerate(zip(self._dense, self._rows, strict=True)):
            if dense is not None and rows is not None:
                dense[rows] = 0.0
                self._rows[at] = None


@torch.no_grad()
def clip(parameters: Iterable[nn.Parameter], limit: float) -> None:
    """Clips gradients as ``torch.nn.utils.clip_grad_norm_`` does, on a CPU, with fewer passes over
    memory.

    Gradients of rows are read and scaled as they are, and nothing is written where the norm is
    within the limit.

    Args:
        parameters: their gradients are dense, or rows that are added up, see ``RowGradients.join``.
        limit: of the norm over all of them.
    """
    gradients = [
        p.grad.values() if p.grad.is_sparse else p.grad for p in parameters if p.grad is not None
    ]
    # a copy where it is not contiguous: of small ones alone
    flat = [values.reshape(-1) for values in gradients]
    norm = math.sqrt(math.fsum(float(values.dot(values)) for values in flat))
    factor = limit / (norm + _MARGIN)
    if factor >= 1.0:
        return
    for values in gradients:
        values.mul_(factor)

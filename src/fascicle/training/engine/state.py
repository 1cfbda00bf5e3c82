"""What a run needs to go on after a kill: tensors as safetensors, numbers as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from fascicle.models.heads.contract import put_weights
from fascicle.training.engine.folder import legible


class Resumable(Protocol):
    """What changes weights, and can go on later.

    Attributes:
        optimizer: of its parameters.
        device: that both are on.
        epoch: complete epochs.
        step: changes of the weights.
    """

    optimizer: Optimizer
    device: torch.device
    epoch: int
    step: int

    @property
    def model(self) -> nn.Module:
        """What is trained."""
        ...

    def extra_state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors and numbers that it needs beside these."""
        ...

    def take_extra_state(self, tensors: dict[str, Tensor], numbers: dict[str, Any]) -> None:
        """Restores them; called when all the rest is restored."""
        ...


def save_state(folder: Path, trainer: Resumable) -> None:
    """Writes weights, optimizer, random generators and what else there is into an existing folder."""
    tensors: dict[str, Tensor] = {f"model.{n}": p.detach() for n, p in trainer.model.named_parameters()}
    numbers: dict[str, Any] = {"epoch": trainer.epoch, "step": trainer.step, "optimizer": {}}
    for index, values in trainer.optimizer.state_dict()["state"].items():
        for name, value in values.items():
            if isinstance(value, Tensor):
                tensors[f"optimizer.{index}.{name}"] = value
            else:
                numbers["optimizer"][f"{index}.{name}"] = value
    more, figures = trainer.extra_state()
    tensors, numbers = tensors | more, numbers | figures
    tensors["random.torch"] = torch.get_rng_state()
    if trainer.device.type == "cuda":
        tensors["random.cuda"] = torch.cuda.get_rng_state(trainer.device)
    save_file(_apart(tensors), folder / "state.safetensors")
    (folder / "state.json").write_text(json.dumps(numbers), encoding="utf-8")


def _apart(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same on the CPU, in memory of their own, as safetensors asks; what has that already is not copied.

    Weights and what an optimizer keeps of them are the largest part of a process, so a copy of all would double it.
    """
    found: dict[str, Tensor] = {}
    taken: set[int] = set()
    for name, given in tensors.items():
        tensor = given.detach().cpu().contiguous()
        memory = tensor.untyped_storage()
        is_alone = memory.nbytes() == tensor.nbytes and memory.data_ptr() not in taken
        found[name] = tensor if is_alone else tensor.clone()
        taken.add(memory.data_ptr())
    return found


def restore_state(folder: Path, trainer: Resumable) -> None:
    """Puts a trainer back to where ``save_state`` saw it.

    Raises:
        OutputError: the state is damaged, or of another model.
    """
    with legible(folder):
        try:
            _restore(folder, trainer)
        except torch.OutOfMemoryError:
            raise
        except (SafetensorError, RuntimeError) as error:  # a file cut short; tensors of another shape
            raise ValueError(str(error)) from error


def _restore(folder: Path, trainer: Resumable) -> None:
    tensors = load_file(folder / "state.safetensors")
    numbers = json.loads((folder / "state.json").read_text(encoding="utf-8"))
    trainer.epoch, trainer.step = numbers["epoch"], numbers["step"]
    put_weights(trainer.model, {n: tensors[f"model.{n}"] for n, _ in trainer.model.named_parameters()})
    state: dict[int, dict[str, Any]] = {}
    for name, tensor in under(tensors, "optimizer.").items():
        index, _, field = name.partition(".")
        state.setdefault(int(index), {})[field] = tensor
    for name, value in numbers["optimizer"].items():
        index, _, field = name.partition(".")
        state.setdefault(int(index), {})[field] = value
    trainer.optimizer.load_state_dict({"state": state, "param_groups": trainer.optimizer.state_dict()["param_groups"]})
    trainer.take_extra_state(tensors, numbers)
    torch.set_rng_state(tensors["random.torch"])
    if "random.cuda" in tensors and trainer.device.type == "cuda":
        torch.cuda.set_rng_state(tensors["random.cuda"], trainer.device)


def under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Those whose names begin with a prefix, without it."""
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}

"""What a run needs to go on after a kill: tensors as safetensors, numbers as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from fascicle.models.head import put_weights
from fascicle.train.loop import Trainer


def save_state(folder: Path, trainer: Trainer) -> None:
    """Writes weights, optimizer, average and random generators into an existing folder."""
    tensors: dict[str, Tensor] = {f"model.{n}": p.detach() for n, p in trainer.model.named_parameters()}
    numbers: dict[str, Any] = {"epoch": trainer.epoch, "step": trainer.step, "optimizer": {}}
    for index, values in trainer.optimizer.state_dict()["state"].items():
        for name, value in values.items():
            if isinstance(value, Tensor):
                tensors[f"optimizer.{index}.{name}"] = value
            else:
                numbers["optimizer"][f"{index}.{name}"] = value
    tensors |= {f"average.{n}": t for n, t in trainer.average.state().items()}
    tensors["random.torch"] = torch.get_rng_state()
    if trainer.device.type == "cuda":
        tensors["random.cuda"] = torch.cuda.get_rng_state(trainer.device)
    save_file({n: t.detach().cpu().contiguous().clone() for n, t in tensors.items()}, folder / "state.safetensors")
    (folder / "state.json").write_text(json.dumps(numbers), encoding="utf-8")


def restore_state(folder: Path, trainer: Trainer) -> None:
    """Puts a trainer back to where ``save_state`` saw it."""
    tensors = load_file(folder / "state.safetensors")
    numbers = json.loads((folder / "state.json").read_text(encoding="utf-8"))
    trainer.epoch, trainer.step = numbers["epoch"], numbers["step"]
    put_weights(trainer.model, {n: tensors[f"model.{n}"] for n, _ in trainer.model.named_parameters()})
    state: dict[int, dict[str, Any]] = {}
    for name, tensor in _under(tensors, "optimizer.").items():
        index, _, field = name.partition(".")
        state.setdefault(int(index), {})[field] = tensor
    for name, value in numbers["optimizer"].items():
        index, _, field = name.partition(".")
        state.setdefault(int(index), {})[field] = value
    trainer.optimizer.load_state_dict({"state": state, "param_groups": trainer.optimizer.state_dict()["param_groups"]})
    trainer.average.restore({n: t.to(trainer.device) for n, t in _under(tensors, "average.").items()})
    trainer.move_schedule()
    torch.set_rng_state(tensors["random.torch"])
    if "random.cuda" in tensors and trainer.device.type == "cuda":
        torch.cuda.set_rng_state(tensors["random.cuda"], trainer.device)


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}

"""Which arithmetic training uses on which processor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import torch

from fascicle.settings.recipes.recogniser import TrainingSettings

Used = Literal["fp32", "bf16"]
PRECISIONS: Final[tuple[Used, ...]] = ("fp32", "bf16")
_MUCH: Final = 1.25  # chance and other processes make a step a tenth slower, and must not decide what a run gives
_INSTRUCTIONS = ("avx512_bf16", "amx_bf16", "bf16")  # of x86-64, twice, and of ARM


def precision_on(device: torch.device, settings: TrainingSettings) -> Used:
    """What is used: what the recipe says, or, for ``"auto"``, bf16 where the device computes in it.

    Args:
        device: that trains.
        settings: of the recipe.
    """
    if settings.precision != "auto":
        return settings.precision
    return "bf16" if computes_bf16(device) else "fp32"


def faster(seconds: Mapping[Used, float]) -> Used:
    """What ``"auto"`` is on a processor with instructions for bf16: fp32 where bf16 takes a quarter longer or more."""
    return "fp32" if seconds["bf16"] > _MUCH * seconds["fp32"] else "bf16"


def slow_precision(device: torch.device, settings: TrainingSettings) -> str:
    """One sentence where bf16 is asked for and would be emulated; else empty."""
    if precision_on(device, settings) == "fp32" or computes_bf16(device) is not False:
        return ""
    return (
        'training.precision is "bf16", which this processor has no instructions for: it is emulated, and can be fifty '
        'times slower; set "fp32", or "auto", which takes bf16 only where it is fast'
    )


def computes_bf16(device: torch.device) -> bool | None:
    """Whether a device has instructions for bf16; ``None`` where torch does not tell."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    known: Mapping[str, object] = getattr(torch.cpu, "get_capabilities", dict)() if device.type == "cpu" else {}
    return any(bool(known.get(name)) for name in _INSTRUCTIONS) if known else None

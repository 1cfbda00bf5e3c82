"""Where a network computes."""

from __future__ import annotations

import torch

from fascicle.errors import UsageError


def device_named(name: str | None) -> torch.device:
    """The device of torch that a name stands for.

    Args:
        name: ``"cpu"``, ``"cuda"`` or another name that torch knows; ``"auto"`` for a GPU where there is one; ``None``
            for the processor.

    Raises:
        UsageError: there is no such device here.
    """
    wanted = "cpu" if name is None else name
    if wanted == "auto":
        wanted = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        place = torch.device(wanted)
        torch.empty(0, device=place)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise UsageError(
            f"the device {name!r} cannot be used here; give cpu, auto, or one that torch has, such as cuda"
        ) from None
    return place

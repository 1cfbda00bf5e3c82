"""The pseudo-perplexity of held-out text: how well hidden words are guessed from their neighbours on both sides."""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
import torch
import torch.nn.functional as F

from fascicle.models.masked import LOGITS, NAME, MaskedModel
from fascicle.settings.recipes.pretraining import MaskingSettings
from fascicle.training.pretraining.events import HeldOut
from fascicle.training.pretraining.masking import Mask, MaskedSet
from fascicle.training.raw.windows import TextWindows

_DRAW: Final = 20  # of the words that are hidden: the same in every run
_TOGETHER: Final = 8  # windows whose hidden words are drawn together, whatever the size of a batch is


def held_out_set(windows: TextWindows, masking: MaskingSettings, mask: Mask) -> MaskedSet:
    """Held-out windows in which every piece that is guessed is hidden by the mask token."""
    return MaskedSet(windows=windows, masking=msgspec.structs.replace(masking, masked=1.0, random=0.0), mask=mask)


def guess(model: MaskedModel, held_out: MaskedSet, *, bf16: bool = False) -> HeldOut:
    """Guesses the same hidden words whenever it is called.

    Args:
        model: left in evaluation mode.
        held_out: of `held_out_set`, at least one window.
        bf16: compute under bf16 autocast.
    """
    device, total, pieces = model.embeddings.device, 0.0, 0
    model.eval()
    for at in range(0, len(held_out.windows), _TOGETHER):
        chosen = np.arange(at, min(at + _TOGETHER, len(held_out.windows)))
        batch, targets = held_out.batch(chosen, np.random.default_rng((_DRAW, at)))
        with torch.inference_mode(), torch.autocast(device.type, dtype=torch.bfloat16, enabled=bf16):
            logits = model({name: tensor.to(device) for name, tensor in batch.items()})[NAME][LOGITS]
        hidden = targets[NAME].to(device)
        total += float(F.cross_entropy(logits.float(), hidden, reduction="sum"))
        pieces += len(hidden)
    return HeldOut(loss=total / pieces, pieces=pieces)

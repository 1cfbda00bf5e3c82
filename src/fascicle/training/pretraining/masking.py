"""Which pieces are hidden: whole words, drawn anew in every epoch.

The pseudo-perplexity of held-out text: how well hidden words are guessed from their neighbours on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import msgspec
import numpy as np
import torch
import torch.nn.functional as F

from fascicle.core.arrays import Bools, Ints
from fascicle.models.masked import LOGITS, NAME, PLACES, MaskedModel
from fascicle.settings.recipes.pretraining import MaskingSettings
from fascicle.training.engine.loop import Taught
from fascicle.training.pretraining.events import HeldOut
from fascicle.training.raw.windows import TextWindows


@dataclass(frozen=True, kw_only=True, eq=False)
class Mask:
    """What stands in the place of a hidden piece.

    Attributes:
        token: id of the mask token.
        ordinary: ids that a random piece is drawn from: all but special tokens, ``[n]``.
    """

    token: int
    ordinary: Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class MaskedSet:
    """Windows of text with some of their words hidden.

    Attributes:
        windows: of the text.
        masking: what is hidden.
        mask: what stands in its place.
    """

    windows: TextWindows
    masking: MaskingSettings
    mask: Mask

    def batches(self, *, size: int, seed: int, epoch: int, hidden: float = 0.0) -> Iterator[Taught]:
        """One epoch of batches, the same for the same arguments.

        Each batch is drawn from the numbers of its own place, so none depends on those before it.

        Args:
            size: windows in a batch.
            seed: decides, with ``epoch``, the order and what is hidden.
            epoch: from 0.
            hidden: of no use here.

        Yields:
            ``input_ids``, ``attention_mask`` and ``places`` as `MaskedModel` takes them, and the hidden ids.
        """
        del hidden
        order = self.windows.order(seed=seed, epoch=epoch)
        for at in range(self.count(size)):
            chosen = order[at * size : (at + 1) * size]
            yield self.batch(chosen, np.random.default_rng((seed, epoch, 1, at)))

    def count(self, size: int) -> int:
        """Batches in an epoch."""
        return -(-len(self.windows) // size)

    def batch(self, chosen: Ints, chance: np.random.Generator) -> Taught:
        """Some windows, with words hidden.

        Args:
            chosen: numbers of windows, at least one.
            chance: decides what is hidden.
        """
        text = self.windows.batch(chosen)
        guessed = chosen_pieces(text.begins, text.special, self.masking, chance)
        batch = {
            "input_ids": hidden_ids(text.ids, guessed, self.masking, mask=self.mask, chance=chance),
            "attention_mask": text.attention_mask,
            PLACES: np.flatnonzero(guessed),
        }
        hidden = torch.from_numpy(text.ids[guessed])
        return {name: torch.from_numpy(array) for name, array in batch.items()}, {NAME: hidden}


def chosen_pieces(begins: Bools, special: Bools, masking: MaskingSettings, chance: np.random.Generator) -> Bools:
    """Draws what is guessed: each word with the same chance; at least one word of the batch.

    Args:
        begins: whether a word begins with a piece, ``[B, T]``.
        special: whether a place is a special token or padding, ``[B, T]``.
        masking: what is hidden.
        chance: one number is drawn for each place.
    """
    after = np.concatenate([np.ones_like(special[:, :1]), special[:, :-1]], axis=1)  # a window may begin in a word
    first = ~special & (begins | after) if masking.whole_words else ~special
    word = np.cumsum(first).reshape(first.shape) - 1
    draws = chance.random(first.shape)[first]
    picked = draws < masking.share
    if not picked.any():
        picked[np.argmin(draws)] = True
    found: Bools = ~special & picked[np.maximum(word, 0)]
    return found


def hidden_ids(ids: Ints, guessed: Bools, masking: MaskingSettings, *, mask: Mask, chance: np.random.Generator) -> Ints:
    """The ids that the network reads.

    Args:
        ids: of the text, ``[B, T]``.
        guessed: of ``chosen_pieces``.
        masking: shares of what stands in the place of a piece.
        mask: the mask token, and the pieces to draw from.
        chance: two numbers are drawn for each piece that is guessed.
    """
    kind = chance.random(int(guessed.sum()))
    drawn = mask.ordinary[chance.integers(0, len(mask.ordinary), len(kind))]
    shown = np.where(
        kind < masking.masked, mask.token, np.where(kind < masking.masked + masking.random, drawn, ids[guessed])
    )
    found = ids.copy()
    found[guessed] = shown
    return found


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

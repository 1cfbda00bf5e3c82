"""What a student reads: windows of a corpus, with what its teacher answers or without, or of raw text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fascicle.core.arrays import Ints
from fascicle.core.document import Document
from fascicle.models.heads.contract import IGNORED
from fascicle.models.heads.tagger import SoftmaxTagger
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.batch import Batch
from fascicle.text.pieces import PieceTokenizer
from fascicle.training.distil.pupil import TAUGHT
from fascicle.training.engine.loop import Batches
from fascicle.training.raw.windows import TextWindows
from fascicle.training.recogniser.data import TrainingSet, training_set


@dataclass(frozen=True, kw_only=True)
class TaughtSet(TrainingSet):
    """A training set whose batches have what a teacher answers beside them, as ``TAUGHT``.

    Attributes:
        answers: probabilities of all labels but O of the units of each document, ``[units, C - 1]``, in half precision
            as they were kept; negative where the teacher says nothing.
        head: that learns them.
    """

    answers: Sequence[NDArray[np.float16]]
    head: SoftmaxTagger

    def _arrays(self, chosen: Ints) -> Batch:
        batch = super()._arrays(chosen)
        found = np.full((*batch["first_piece"].shape, len(self.head.labels)), IGNORED, dtype=np.float32)
        for row, at in enumerate(chosen):
            window = self.windows[at]
            first, last = window.units
            told = self.answers[window.document][first:last].astype(np.float32)
            found[row, : last - first] = self.head.soft_gold(told)
        return {**batch, TAUGHT: found}


def text_set(documents: Sequence[Document], tokenizer: PieceTokenizer, *, reading: ReadingSettings) -> TrainingSet:
    """The windows of documents, without any gold."""
    return training_set(documents, tokenizer, types=(), reading=reading, heads={})


@dataclass(frozen=True, kw_only=True)
class RawSet:
    """Windows of raw text as batches.

    Attributes:
        windows: of the text.
    """

    windows: TextWindows

    def batches(
        self, *, size: int, seed: int, epoch: int, hidden: float = 0.0
    ) -> Iterator[tuple[dict[str, Tensor], dict[str, Tensor]]]:
        """One epoch of batches, see ``training.engine.loop.Batches``; no piece is hidden."""
        order = self.windows.order(seed=seed, epoch=epoch)
        for at in range(0, len(order), size):
            read = self.windows.batch(order[at : at + size])
            arrays = {"input_ids": read.ids, "attention_mask": read.attention_mask}
            yield {name: torch.from_numpy(array) for name, array in arrays.items()}, {}

    def count(self, size: int) -> int:
        """Batches in an epoch."""
        return -(-len(self.windows) // size)


def in_order(data: Batches, *, size: int) -> Iterator[dict[str, Tensor]]:
    """All windows in batches, always the same."""
    for batch, _ in data.batches(size=size, seed=0, epoch=0):
        yield batch

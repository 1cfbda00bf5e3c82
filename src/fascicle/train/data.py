"""Documents -> training batches: windows with targets, in an order that the seed and the epoch decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fascicle.core.document import GOLD, Document
from fascicle.core.tags import SCHEMES
from fascicle.models.tagger import IGNORED
from fascicle.models.targets import align
from fascicle.recipe.settings import HeadSettings, ReadingSettings
from fascicle.text.batch import Batch, collate
from fascicle.text.pieces import Ints, Pieces, PieceTokenizer, encode_documents
from fascicle.text.windows import Window, cut_short, windows_of

_SORTED_TOGETHER = 50  # batches whose windows are sorted by length before they are cut: little padding, much chance


@dataclass(frozen=True, kw_only=True)
class TrainingSet:
    """Everything that an epoch is made of.

    Attributes:
        pieces: the documents.
        windows: of all documents.
        tags: tag ids of the units of each document.
        tokenizer: of the encoder.
        specials: whether special tokens take part in the loss, as O.
        mentions: gold mentions.
        lost: gold mentions that the head cannot represent, by reason.
    """

    pieces: list[Pieces]
    windows: list[Window]
    tags: list[Ints]
    tokenizer: PieceTokenizer
    specials: bool
    mentions: int
    lost: Counter[str]

    def batches(
        self, *, size: int, seed: int, epoch: int, hidden: float = 0.0
    ) -> Iterator[tuple[dict[str, Tensor], Tensor]]:
        """One epoch of batches, the same for the same arguments.

        Args:
            size: windows in a batch.
            seed: decides, with ``epoch``, the order and what is hidden.
            epoch: from 0.
            hidden: share of pieces replaced by the mask token.

        Yields:
            Arrays of ``text.batch.collate`` and targets ``[B, U]``.
        """
        chance = np.random.default_rng((seed, epoch, 1))
        for chosen in _shuffled([w.pieces[1] - w.pieces[0] for w in self.windows], size=size, seed=(seed, epoch)):
            arrays, targets = self._batch([self.windows[i] for i in chosen])
            if hidden:
                arrays = {**arrays, "input_ids": self._hide(arrays, hidden, chance)}
            yield {name: torch.from_numpy(a) for name, a in arrays.items()}, torch.from_numpy(targets)

    def count(self, size: int) -> int:
        """Batches in an epoch."""
        return -(-len(self.windows) // size)

    def _batch(self, windows: Sequence[Window]) -> tuple[Batch, Ints]:
        arrays = collate(windows, self.pieces, self.tokenizer)
        targets = np.full(arrays["first_piece"].shape, IGNORED, dtype=np.int64)
        for row, window in enumerate(windows):
            tags = self.tags[window.document][slice(*window.units)]
            targets[row, : len(tags)] = tags
        if self.specials:
            arrays, targets = _with_specials(arrays, targets)
        return arrays, targets

    def _hide(self, arrays: Batch, share: float, chance: np.random.Generator) -> Ints:
        """Piece ids with a share of them replaced; special tokens and padding stay."""
        ids, length = arrays["input_ids"], arrays["attention_mask"].sum(axis=1, keepdims=True)
        place = np.arange(ids.shape[1])
        inside = (place >= len(self.tokenizer.prefix)) & (place < length - len(self.tokenizer.suffix))
        return np.where(inside & (chance.random(ids.shape) < share), self.tokenizer.mask or 0, ids)


def training_set(
    documents: Sequence[Document],
    tokenizer: PieceTokenizer,
    *,
    types: Sequence[str],
    reading: ReadingSettings,
    head: HeadSettings,
) -> TrainingSet:
    """Cuts documents into windows and aligns their gold.

    Args:
        documents: with mentions of source ``"gold"``.
        tokenizer: of the encoder.
        types: entity types.
        reading: what the network reads at a time.
        head: what it learns.
    """
    capacity = reading.max_length - len(tokenizer.prefix) - len(tokenizer.suffix)
    scheme = SCHEMES[head.scheme]
    pieces = encode_documents(documents, tokenizer, segmenter=reading.segmenter, level=head.level)
    windows: list[Window] = []
    tags: list[Ints] = []
    lost: Counter[str] = Counter()
    for number, (document, read) in enumerate(zip(documents, pieces, strict=True)):
        cut = windows_of(read, document=number, unit=reading.unit, capacity=capacity, overlap=reading.overlap)
        aligned = align(document.layer(GOLD), read, cut, types=types, scheme=scheme)
        windows.extend(cut)
        tags.append(scheme.encode(map(tuple, aligned.spans.tolist()), length=len(read.units)))
        lost.update(aligned.lost)
        lost["long-word"] += len(cut_short(read, capacity=capacity))
    mentions = sum(len(d.layer(GOLD)) for d in documents)
    return TrainingSet(
        pieces=pieces,
        windows=windows,
        tags=tags,
        tokenizer=tokenizer,
        specials=head.specials == "include",
        mentions=mentions,
        lost=+lost,
    )


def _shuffled(lengths: Sequence[int], *, size: int, seed: tuple[int, int]) -> Iterator[Ints]:
    """Batches of indices: shuffled, sorted by length within large groups, the batches shuffled again."""
    chance = np.random.default_rng(seed)
    order = chance.permutation(len(lengths))
    lengths_of = np.asarray(lengths)
    batches: list[Ints] = []
    for at in range(0, len(order), size * _SORTED_TOGETHER):
        group = order[at : at + size * _SORTED_TOGETHER]
        group = group[np.argsort(lengths_of[group], kind="stable")]
        batches.extend(group[i : i + size] for i in range(0, len(group), size))
    for i in chance.permutation(len(batches)):
        yield batches[i]


def _with_specials(arrays: dict[str, Ints], targets: Ints) -> tuple[dict[str, Ints], Ints]:
    """Adds the first and the last special token of each window as units tagged O (*comparing-and-combining* §4.1)."""
    count = arrays["unit_count"]
    rows = np.arange(len(count))
    first = np.pad(arrays["first_piece"], ((0, 0), (1, 1)))
    tags = np.pad(targets, ((0, 0), (1, 1)), constant_values=IGNORED)
    tags[:, 0] = 0
    first[rows, count + 1] = arrays["attention_mask"].sum(axis=1) - 1
    tags[rows, count + 1] = 0
    return {**arrays, "first_piece": first, "unit_count": count + 2}, tags

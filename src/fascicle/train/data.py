"""Documents -> training batches: windows with targets, in an order that the seed and the epoch decide."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fascicle.core.document import GOLD, Document
from fascicle.models.head import Head
from fascicle.models.targets import Aligned, Limits, align
from fascicle.recipe.heads import Level
from fascicle.recipe.settings import ReadingSettings
from fascicle.text.batch import Batch, collate
from fascicle.text.pieces import Ints, Pieces, PieceTokenizer
from fascicle.text.reading import Reading, read_documents
from fascicle.text.windows import Window, cut_short

_SORTED_TOGETHER = 50  # batches whose windows are sorted by length before they are cut: little padding, much chance


@dataclass(frozen=True, kw_only=True)
class TrainingSet:
    """Everything that an epoch is made of.

    Attributes:
        pieces: the documents.
        windows: of all documents.
        heads: what is trained, by name.
        gold: of each head and document, in the head's own form.
        tokenizer: of the encoder.
        mentions: gold mentions.
        lost: of each head, gold mentions that it cannot represent, by reason.
    """

    pieces: list[Pieces]
    windows: list[Window]
    heads: Mapping[str, Head]
    gold: Mapping[str, list[Ints]]
    tokenizer: PieceTokenizer
    mentions: int
    lost: Mapping[str, Counter[str]]

    def batches(
        self, *, size: int, seed: int, epoch: int, hidden: float = 0.0
    ) -> Iterator[tuple[dict[str, Tensor], dict[str, Tensor]]]:
        """One epoch of batches, the same for the same arguments.

        Args:
            size: windows in a batch.
            seed: decides, with ``epoch``, the order, what is hidden, and what the heads draw.
            epoch: from 0.
            hidden: share of pieces replaced by the mask token.

        Yields:
            Arrays of ``text.batch.collate``, and the targets of each head.
        """
        hiding = np.random.default_rng((seed, epoch, 1))
        chances = {name: np.random.default_rng((seed, epoch, 2)) for name in self.heads}
        for chosen in _shuffled([w.pieces[1] - w.pieces[0] for w in self.windows], size=size, seed=(seed, epoch)):
            windows = [self.windows[i] for i in chosen]
            arrays = collate(windows, self.pieces, self.tokenizer)
            if hidden:
                arrays = {**arrays, "input_ids": self._hide(arrays, hidden, hiding)}
            targets = {name: torch.from_numpy(self._targets(name, windows, chances[name])) for name in self.heads}
            yield {name: torch.from_numpy(a) for name, a in arrays.items()}, targets

    def count(self, size: int) -> int:
        """Batches in an epoch."""
        return -(-len(self.windows) // size)

    def _targets(self, name: str, windows: Sequence[Window], chance: np.random.Generator) -> Ints:
        gold = self.gold[name]
        return self.heads[name].targets([gold[w.document] for w in windows], windows, chance=chance)

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
    heads: Mapping[str, Head],
    level: Level,
) -> TrainingSet:
    """Cuts documents into windows and aligns their gold.

    Args:
        documents: with mentions of source ``"gold"``.
        tokenizer: of the encoder.
        types: entity types.
        reading: what the network reads at a time.
        heads: what is trained, by name.
        level: what a unit of the heads is.
    """
    read = read_documents(documents, tokenizer, reading=reading, level=level)
    short = sum(len(cut_short(p, capacity=read.capacity)) for p in read.pieces)
    gold: dict[str, list[Ints]] = {}
    lost: dict[str, Counter[str]] = {}
    for name, head in heads.items():
        aligned = aligned_gold(documents, read, types=types, limits=head.limits)
        units = [len(p.units) for p in read.pieces]
        gold[name] = [head.gold(a.spans, units=n) for a, n in zip(aligned, units, strict=True)]
        lost[name] = sum((a.lost for a in aligned), Counter({"long-word": short}))
    return TrainingSet(
        pieces=read.pieces,
        windows=[w for cut in read.windows for w in cut],
        heads=heads,
        gold=gold,
        tokenizer=tokenizer,
        mentions=sum(len(d.layer(GOLD)) for d in documents),
        lost={name: +count for name, count in lost.items()},
    )


def aligned_gold(
    documents: Sequence[Document], read: Reading, *, types: Sequence[str], limits: Limits
) -> list[Aligned]:
    """The gold of each document in units, see ``models.targets.align``."""
    return [
        align(document.layer(GOLD), pieces, windows, types=types, limits=limits)
        for document, pieces, windows in zip(documents, read.pieces, read.windows, strict=True)
    ]


def covering_width(documents: Sequence[Document], read: Reading, *, types: Sequence[str], share: float) -> int:
    """The smallest width in units that covers a share of the gold mentions that are read at all."""
    aligned = aligned_gold(documents, read, types=types, limits=Limits(nested=True))
    widths = np.sort(np.concatenate([np.diff(a.spans[:, :2], axis=1)[:, 0] for a in aligned]))
    return int(widths[max(0, math.ceil(share * len(widths)) - 1)]) if len(widths) else 1


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

"""Documents -> training batches: windows with targets, in an order determined by the seed and the
epoch.

For several corpora, it also draws the windows of each corpus in one epoch.

A corpus of n windows gets a share in proportion to its weight times n to a power, as languages are
sampled in pretraining (Lample and Conneau 2019, *XLM* §3.1).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import msgspec
import numpy as np
import torch

from fascicle.core.arrays import Ints
from fascicle.core.document import GOLD, Document
from fascicle.core.mention import Span
from fascicle.core.stream import chunks
from fascicle.errors import RecipeError
from fascicle.models.heads.contract import Head, Targets
from fascicle.settings.heads import Level
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.pieces import Pieces, PieceTokenizer
from fascicle.text.reading import DocumentReader, Reading, read_documents, with_piece_units
from fascicle.text.targets import (
    UNKNOWN,
    AlignedGold,
    HeadLimits,
    align,
    spans_in_window,
    unknown_units,
)
from fascicle.text.windows import Batch, Window, add_level, collate, truncated_units
from fascicle.training.engine.loop import BatchTensors
from fascicle.training.labelling import unknown_ranges

# batches whose windows are sorted by length before they are cut: little padding, random order
_SORTED_TOGETHER = 50


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """Mixture of corpora: the number of windows of each in an epoch, and their random draw.

    Attributes:
        part_of: part of each window, ``[w]``, from 0.
        quotas: windows of each part in an epoch.
        unguided: share of windows that are read without a guideline; 1 if no guidelines are learnt.
    """

    part_of: Ints
    quotas: tuple[int, ...]
    unguided: float = 1.0

    @property
    def size(self) -> int:
        """Number of windows in an epoch."""
        return sum(self.quotas)

    def drawn(self, *, seed: int, epoch: int) -> Ints:
        """Returns the windows of an epoch, sorted; the same for the same arguments.

        Each part is an endless sequence of shuffled copies of its windows. An epoch continues where
        the last one ended, so at any moment the counts of draws of the windows of a part differ by
        at most 1.

        Args:
            seed: determines the shuffled copies.
            epoch: from 0.

        Returns:
            ``[size]``.
        """
        drawn = []
        for part, quota in enumerate(self.quotas):
            of_part = np.flatnonzero(self.part_of == part)
            first, end = epoch * quota, (epoch + 1) * quota
            decks = range(first // len(of_part), -(-end // len(of_part)))
            row = np.concatenate(
                [_deck(len(of_part), part=part, number=number, seed=seed) for number in decks]
            )
            at = first - decks.start * len(of_part)
            drawn.append(of_part[row[at : at + quota]])
        return np.sort(np.concatenate(drawn))

    def guidelines(self, windows: Ints, chance: np.random.Generator) -> Ints:
        """Returns the guideline of each window of a batch: the number of its part from 1, or 0 for
        no guideline.

        Args:
            windows: of the batch.
            chance: draws the windows without a guideline.
        """
        return np.where(chance.random(len(windows)) < self.unguided, 0, self.part_of[windows] + 1)


def _deck(size: int, *, part: int, number: int, seed: int) -> Ints:
    return np.random.default_rng((seed, number, part, 1)).permutation(size)


def quotas(
    sizes: Sequence[int], weights: Sequence[float], *, power: float, total: int
) -> tuple[int, ...]:
    """Returns the number of windows of each part in an epoch: its share of the total, rounded so
    that the sum is kept.

    Of the windows that are left after rounding down, each goes to the part with the largest
    remainder, the first of equal ones.

    Args:
        sizes: windows of each part, at least 1.
        weights: of each part.
        power: of its size.
        total: windows in an epoch.
    """
    shares = np.array(weights) * np.array(sizes, dtype=np.float64) ** power
    exact = total * shares / shares.sum()
    counts = np.floor(exact).astype(np.int64)
    order = np.argsort(counts - exact, kind="stable")
    counts[order[: total - int(counts.sum())]] += 1
    return tuple(counts.tolist())


@dataclass(frozen=True, kw_only=True)
class _LevelView:
    """Documents in units of one level.

    Attributes:
        pieces: of each document.
        windows: of all documents.
    """

    pieces: list[Pieces]
    windows: list[Window]

    @classmethod
    def of(cls, reading: Reading) -> _LevelView:
        """Returns the view of documents that were cut."""
        return cls(pieces=reading.pieces, windows=list(chain.from_iterable(reading.windows)))


@dataclass(frozen=True, kw_only=True)
class TrainingSet:
    """Training data of a recogniser.

    Attributes:
        views: the documents in the units of the heads, by level; the first one determines the
            windows.
        heads: the heads that are trained, by name.
        gold: of each head and document, in the form of the head.
        tokenizer: of the encoder.
        mentions: gold mentions.
        lost: for each head, the gold mentions that it cannot represent, by reason.
        mixture: determines the windows of an epoch; by default each once.
    """

    views: Mapping[Level, _LevelView]
    heads: Mapping[str, Head]
    gold: Mapping[str, list[Targets]]
    tokenizer: PieceTokenizer
    mentions: int
    lost: Mapping[str, Counter[str]]
    mixture: Mixture | None = None

    @property
    def pieces(self) -> list[Pieces]:
        """Pieces of each document, in the units between which windows were cut."""
        return next(iter(self.views.values())).pieces

    @property
    def windows(self) -> list[Window]:
        """Windows of all documents, in the same units."""
        return next(iter(self.views.values())).windows

    def batches(
        self, *, size: int, seed: int, epoch: int, hidden: float = 0.0
    ) -> Iterator[BatchTensors]:
        """Yields one epoch of batches, the same for the same arguments.

        Args:
            size: windows in a batch.
            seed: determines, with ``epoch``, the order, the hidden pieces, and the draws of the
                heads.
            epoch: from 0.
            hidden: share of pieces replaced by the mask token.

        Yields:
            Arrays of ``text.windows.collate``, with ``guideline`` of a mixture with guidelines, and
            the targets of each head.
        """
        hiding, following = (np.random.default_rng((seed, epoch, number)) for number in (1, 3))
        chances = {name: np.random.default_rng((seed, epoch, 2)) for name in self.heads}
        guided = self.mixture if self.mixture is not None and self.mixture.unguided < 1 else None
        for indices in self._shuffle(size=size, seed=seed, epoch=epoch):
            arrays = dict(self._arrays(indices))
            if hidden:
                arrays["input_ids"] = self._hide(arrays, hidden, hiding)
            if guided:
                arrays["guideline"] = guided.guidelines(indices, following)
            targets = {
                name: torch.from_numpy(self._targets(name, indices, chance))
                for name, chance in chances.items()
            }
            yield {name: torch.from_numpy(a) for name, a in arrays.items()}, targets

    def _shuffle(self, *, size: int, seed: int, epoch: int) -> Iterator[Ints]:
        """Yields the windows of each batch of an epoch."""
        drawn = np.arange(len(self.windows))
        if self.mixture is not None:
            drawn = self.mixture.drawn(seed=seed, epoch=epoch)
        lengths = np.array([w.pieces[1] - w.pieces[0] for w in self.windows])[drawn]
        for places in shuffled_batches(lengths, size=size, seed=(seed, epoch)):
            yield drawn[places]

    def count(self, size: int) -> int:
        """Returns the number of batches in an epoch."""
        return -(-(len(self.windows) if self.mixture is None else self.mixture.size) // size)

    def _arrays(self, indices: Ints) -> Batch:
        batch: Batch | None = None
        for level, view in self.views.items():
            windows = [view.windows[index] for index in indices]
            arrays = collate(windows, view.pieces, self.tokenizer)
            batch = arrays if batch is None else add_level(batch, arrays, level)
        assert batch is not None
        return batch

    def _targets(self, name: str, indices: Ints, chance: np.random.Generator) -> Targets:
        head, gold = self.heads[name], self.gold[name]
        windows = [self.views[head.level].windows[i] for i in indices]
        return head.targets([gold[w.document] for w in windows], windows, chance=chance)

    def _hide(self, arrays: Batch, share: float, chance: np.random.Generator) -> Ints:
        """Returns piece ids with a share of them replaced; special tokens and padding stay."""
        ids, length = arrays["input_ids"], arrays["attention_mask"].sum(axis=1, keepdims=True)
        place = np.arange(ids.shape[1])
        inside = (place >= len(self.tokenizer.prefix)) & (
            place < length - len(self.tokenizer.suffix)
        )
        return np.where(inside & (chance.random(ids.shape) < share), self.tokenizer.mask or 0, ids)


def training_set(
    documents: Sequence[Document],
    tokenizer: PieceTokenizer,
    *,
    types: Sequence[str],
    reading: ReadingSettings,
    heads: Mapping[str, Head],
    reader: DocumentReader = read_documents,
) -> TrainingSet:
    """Cuts documents into windows and aligns their gold.

    Args:
        documents: with mentions of source ``"gold"``, and with the unknown ranges of weak labels.
        tokenizer: of the encoder.
        types: entity types.
        reading: settings of the windows.
        heads: the heads that are trained, by name.
        reader: cuts the documents.
    """
    readings = _read_for_heads(documents, tokenizer, reading=reading, heads=heads, reader=reader)
    aligned = {
        name: _aligned_gold(documents, readings[head.level], types=types, limits=head.limits)
        for name, head in heads.items()
    }
    ranges = list(map(unknown_ranges, documents))
    return TrainingSet(
        views={level: _LevelView.of(reading) for level, reading in readings.items()},
        heads=heads,
        gold={
            name: _gold_of_head(head, aligned[name], readings[head.level].pieces, ranges)
            for name, head in heads.items()
        },
        tokenizer=tokenizer,
        mentions=sum(len(d.layer(GOLD)) for d in documents),
        lost=_count_lost(aligned, [next(iter(readings.values()))]),
    )


def _gold_of_head(
    head: Head,
    aligned: Sequence[AlignedGold],
    pieces: Sequence[Pieces],
    ranges: Sequence[tuple[Span, ...]],
) -> list[Targets]:
    """Returns the gold of each document in the form of a head.

    Args:
        head: learns it.
        aligned: gold in units.
        pieces: of the documents.
        ranges: in characters, of which nothing is known.
    """
    gold = []
    for mentions, cut, unknown in zip(aligned, pieces, ranges, strict=True):
        units = unknown_units(unknown, cut, limits=head.limits)
        gold.append(head.gold(mentions.spans, units=len(cut.units), unknown=units))
    return gold


def _read_for_heads(
    documents: Sequence[Document],
    tokenizer: PieceTokenizer,
    *,
    reading: ReadingSettings,
    heads: Mapping[str, Head],
    reader: DocumentReader,
) -> dict[Level, Reading]:
    """Cuts documents into the units of all heads; the first reading determines the windows.

    Where some heads label words and others pieces, windows are cut between words. Arguments as in
    ``training_set``.
    """
    levels: set[Level] = {head.level for head in heads.values()} or {"word"}
    first = reader(documents, tokenizer, reading=reading, level=max(levels))
    return {first.level: first} | ({"piece": with_piece_units(first)} if len(levels) > 1 else {})


def count_lost_gold(
    documents: Sequence[Document],
    tokenizer: PieceTokenizer,
    *,
    types: Sequence[str],
    reading: ReadingSettings,
    heads: Mapping[str, Head],
    reader: DocumentReader,
) -> dict[str, Counter[str]]:
    """Counts gold mentions that each head cannot represent, by reason; those of other types are
    ignored.

    Documents are cut in the portions in which a predictor reads them. Arguments as in
    ``training_set``.
    """
    aligned: dict[str, list[AlignedGold]] = {name: [] for name in heads}
    firsts = []
    for chunk in chunks(documents):
        views = _read_for_heads(chunk, tokenizer, reading=reading, heads=heads, reader=reader)
        firsts.append(next(iter(views.values())))
        taught = [_of_types(document, types) for document in chunk]
        for name, head in heads.items():
            aligned[name] += _aligned_gold(
                taught, views[head.level], types=types, limits=head.limits
            )
    return _count_lost(aligned, firsts)


def _count_lost(
    aligned: Mapping[str, Sequence[AlignedGold]], readings: Sequence[Reading]
) -> dict[str, Counter[str]]:
    short = sum(
        len(truncated_units(pieces, capacity=reading.capacity))
        for reading in readings
        for pieces in reading.pieces
    )
    lost = {}
    for name, documents in aligned.items():
        lost[name] = +sum((gold.lost for gold in documents), Counter({"long-word": short}))
    return lost


def _of_types(document: Document, types: Sequence[str]) -> Document:
    mentions = tuple(m for m in document.mentions if m.type in types)
    return (
        document
        if len(mentions) == len(document.mentions)
        else msgspec.structs.replace(document, mentions=mentions)
    )


def with_mentions(data: TrainingSet) -> TrainingSet:
    """Returns the training set of a single bi-encoder without the windows that contain no mention.

    Raises:
        RecipeError: no window is left.
    """
    ((level, view),) = data.views.items()
    (gold,) = data.gold.values()
    windows = [
        window
        for window in view.windows
        if (spans_in_window(gold[window.document], window)[:, 2] > UNKNOWN).any()
    ]
    if not windows:
        raise RecipeError(
            'windows = "mentions" leaves nothing to train on: no window of train holds one; choose '
            '"all"'
        )
    return replace(data, views={level: replace(view, windows=windows)})


def _aligned_gold(
    documents: Sequence[Document], reading: Reading, *, types: Sequence[str], limits: HeadLimits
) -> list[AlignedGold]:
    """Returns the gold of each document in units, see ``text.targets.align``."""
    return [
        align(document.layer(GOLD), pieces, windows, types=types, limits=limits)
        for document, pieces, windows in zip(
            documents, reading.pieces, reading.windows, strict=True
        )
    ]


def covering_width(
    documents: Sequence[Document], reading: Reading, *, types: Sequence[str], share: float
) -> int:
    """Returns the smallest width in units that covers a share of the gold mentions that are read
    at all.
    """
    aligned = _aligned_gold(documents, reading, types=types, limits=HeadLimits(nested=True))
    widths = np.sort(np.concatenate([np.diff(a.spans[:, :2], axis=1)[:, 0] for a in aligned]))
    return int(widths[max(0, math.ceil(share * len(widths)) - 1)]) if len(widths) else 1


def shuffled_batches(
    lengths: Sequence[int] | Ints, *, size: int, seed: tuple[int, int]
) -> Iterator[Ints]:
    """Yields batches of indices: shuffled, sorted by length within large groups, the batches
    shuffled again.

    Args:
        lengths: of each item.
        size: items in a batch.
        seed: determines the order.
    """
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

"""Span heads: classify every span up to a maximum width by type, or as no mention.

Sources: SpanPred, *comparing-and-combining* §4.3; SpanNER, *bundling-learning* §3.1.3; biaffine, Yu
et al. 2020. Shapes: B windows, U units, L the width, C classes: none first, then the entity types.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from torch import Tensor

from fascicle.core.arrays import Bools, Ints, int_array
from fascicle.models.heads.contract import IGNORED, Basis, Head
from fascicle.models.nn.losses import SETS, set_code
from fascicle.models.nn.spans import (
    REPRESENTATIONS,
    BiaffineScorer,
    LinearSpanScorer,
    SpanScorer,
    span_loss,
)
from fascicle.models.nn.tensors import TensorDict, Tensors
from fascicle.runtime.decoding.kinds import head_limits
from fascicle.settings.heads import BiaffineSettings, SpanHeadSettings, SpanSettings
from fascicle.text.targets import NONE_UNKNOWN, UNKNOWN, covered_mask
from fascicle.text.windows import Window, scored_mask

_NONE = 0
_AXES = {
    "starts": ("batch", "units", ""),
    "ends": ("batch", "units", ""),
    "widths": ("", ""),
    "spans": ("batch", "units", "", ""),
}


class SpanClassifier(Head):
    """Base class of the span heads: chooses the spans that are taught and scored; the loss is the
    mean cross-entropy.

    The score of a mention is the probability of its type among all types and none.
    """

    scorer: SpanScorer

    def __init__(self, settings: SpanHeadSettings, basis: Basis) -> None:
        """Takes the scorer that the subclass makes.

        Args:
            settings: of the head, with a width above 0.
            basis: inputs of the head.
        """
        super().__init__(settings)
        if not settings.width:
            raise ValueError(
                "a span head needs a width: the one that train asks for is found before it is built"
            )
        self.settings = settings
        self.limits = head_limits(settings)
        self.scorer = self.make_scorer(classes=1 + len(basis.types), width=basis.width)
        self.axes = {name: _AXES[name] for name in self.scorer.outputs}

    @abstractmethod
    def make_scorer(self, *, classes: int, width: int) -> SpanScorer:
        """Builds the scorer of this family.

        Args:
            classes: C.
            width: of the encoder's states.
        """

    def gold(self, spans: Ints, *, units: int, unknown: Ints = NONE_UNKNOWN) -> Ints:
        """Returns the spans, then the unknown ranges with -1 as their type, ``[m + r, 3]``."""
        return np.concatenate([spans, np.pad(unknown, ((0, 0), (0, 1)), constant_values=UNKNOWN)])

    def without(self, gold: Ints, types: Sequence[int]) -> Ints:
        """Adds a row for the whole document: a span that is no mention may be of these types,
        see ``nn.losses``.
        """
        return np.concatenate([gold, int_array([(0, 0, set_code(types))])])

    def targets(
        self, gold: Sequence[Ints], windows: Sequence[Window], *, chance: np.random.Generator
    ) -> Ints:
        """Returns classes ``[B, U, L]`` of the spans that a window answers for, ``IGNORED`` for all
        others.

        Of the spans that are no mention, ``negatives`` of each window are drawn
        (*bundling-learning* §3.2.2), or all are taught; none that shares a unit with an unknown
        range is among them. With special tokens U has two more places, and spans over them are no
        mentions.
        """
        around = int(self.units.specials)
        units = max(window.units[1] - window.units[0] for window in windows)
        shape = (units + 2 * around, self.settings.width)
        targets = np.full((len(windows), *shape), IGNORED, dtype=np.int64)
        targets[_answered(windows, shape, around)] = _NONE
        for table, rows, window in zip(targets, gold, windows, strict=True):
            _write_gold(table, rows, window, around)
        if self.settings.negatives:
            negatives = (targets == _NONE) | (targets <= SETS)
            targets[_surplus(negatives, self.settings.negatives, chance)] = IGNORED
        return targets

    def scores(self, states: Tensor, batch: Tensors) -> TensorDict:
        """Returns the tables of the scorer, see ``nn.spans``; the first state represents the
        whole window.
        """
        return self.scorer(self.units(states, batch), states[:, 0])

    def loss(self, scores: Tensors, targets: Tensor) -> Tensor:
        """Returns the mean over the taught spans of the batch; arguments as in ``Head``."""
        return span_loss(scores, targets, ignored=IGNORED)


class LinearSpans(SpanClassifier):
    """Span head with one linear layer over the vector of a span."""

    settings: SpanSettings

    def make_scorer(self, *, classes: int, width: int) -> SpanScorer:
        """See ``SpanClassifier``."""
        return LinearSpanScorer(
            parts=REPRESENTATIONS[self.settings.representation],
            width=width,
            classes=classes,
            longest=self.settings.width,
            width_embedding=self.settings.width_embedding,
        )


class BiaffineSpans(SpanClassifier):
    """Span head with a bilinear form of the first and last unit of a span."""

    settings: BiaffineSettings

    def make_scorer(self, *, classes: int, width: int) -> SpanScorer:
        """See ``SpanClassifier``."""
        return BiaffineScorer(
            width=width,
            classes=classes,
            longest=self.settings.width,
            hidden=self.settings.hidden,
            dropout=self.settings.dropout,
            width_embedding=self.settings.width_embedding,
        )


def _write_gold(table: Ints, rows: Ints, window: Window, around: int) -> None:
    """Writes the gold of a window into its classes ``[U, L]``: sets of classes, unknown ranges, and
    mentions.
    """
    kinds = rows[:, 2]
    for code in kinds[kinds <= SETS]:  # a single row, if any
        inner = _inner(window.units[1] - window.units[0], table.shape, around)
        table[(table == _NONE) & inner] = code
    if (kinds == UNKNOWN).any():
        table[_touched(rows[kinds == UNKNOWN], window, table.shape, around)] = IGNORED
    for start, end, kind in _of_window(rows[kinds > UNKNOWN], window):
        table[start - window.units[0] + around, end - start - 1] = kind + 1


def _of_window(spans: Ints, window: Window) -> list[list[int]]:
    """Returns the gold spans that a window answers for."""
    first, last = np.searchsorted(spans[:, 0], window.units)
    near = spans[first:last]
    return near[scored_mask(window, near)].tolist()


def _touched(ranges: Ints, window: Window, shape: tuple[int, ...], around: int) -> Bools:
    """Returns a mask of the cells ``[U, L]`` of a window that share a unit with one of the
    ranges.
    """
    units, longest = shape
    places = np.clip(ranges[:, :2], *window.units) - window.units[0] + around
    count = np.append(0, np.cumsum(covered_mask(places, units + longest)))
    first, width = np.arange(units)[:, None], np.arange(longest)
    return count[first + width + 1] > count[first]


def _inner(units: int, shape: tuple[int, ...], around: int) -> Bools:
    """Returns a mask of the cells ``[U, L]`` of a window that are spans over its units, without
    special tokens.
    """
    first, width = np.arange(shape[0])[:, None], np.arange(shape[1])
    return (first >= around) & (first + width < units + around)


def _answered(windows: Sequence[Window], shape: tuple[int, ...], around: int) -> Bools:
    """Returns a mask of the cells ``[B, U, L]`` that their window answers for, as in
    ``text.windows.scored_mask``.
    """
    first, width = np.arange(shape[0])[:, None], np.arange(shape[1])
    low, high, keep_low, keep_high = (
        np.array(values)[:, None, None]
        for values in zip(*((*w.units, *w.keep) for w in windows), strict=True)
    )
    count = high - low + 2 * around
    middle = low - around + (2 * first + width) // 2
    # Special tokens stand outside every unit, and belong to the window that keeps the unit beside
    # them.
    at_edge = (middle < low) & (keep_low == low) | (middle >= high) & (keep_high == high)
    return (first + width < count) & ((middle >= keep_low) & (middle < keep_high) | at_edge)


def _surplus(candidates: Bools, limit: int, chance: np.random.Generator) -> Bools:
    """Draws without replacement the candidates to leave out, so that ``limit`` remain in each
    row; returns a mask.
    """
    rows = candidates.reshape(len(candidates), -1)
    priority = np.where(rows, chance.random(rows.shape, dtype=np.float32), 2.0)
    surplus = rows.copy()
    if rows.shape[1] > limit:
        remaining = np.argpartition(priority, limit - 1, axis=1)[:, :limit]
        np.put_along_axis(surplus, remaining, False, axis=1)
    else:
        surplus[:] = False
    return surplus.reshape(candidates.shape)

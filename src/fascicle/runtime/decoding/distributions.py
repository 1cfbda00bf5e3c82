"""Probabilities of a model for given mentions: of each type, and of none, for exactly their spans.

A decoder asks which spans are the best; a prober asks how probable the spans of the gold are, of the same tables and
under the same decision. What the numbers mean depends on the head, see `Definition`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from fascicle.core.arrays import Floats, Floats32, Ints
from fascicle.core.document import Mention
from fascicle.errors import ModelError
from fascicle.runtime.decoding.decoders import LabelDecoder, Tables, TagDecoder
from fascicle.text.pieces import Pieces
from fascicle.text.targets import Limits, Reach, in_units, segments
from fascicle.text.windows import Window, answered, stitch

Definition = Literal["tag-path", "softmax", "sigmoid"]
"""``tag-path``: of all ways to tag the text, weighted by the model, the share that reads as exactly this mention; none
is the rest. ``softmax``: over the types and none of this span alone. ``sigmoid``: one number for each type, whatever
the others have, the one that is the score of a mention; none is the product of what they leave, and the numbers do not
sum to 1."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GoldDistribution:
    """Probabilities of a model for one given mention.

    Attributes:
        mention: as given.
        probabilities: of none, then of each type, ``[1 + K]``; ``None`` if the model has no number for this span.
        unreachable: why it has none, a key of ``REASONS``; empty if it has.
    """

    mention: Mention
    probabilities: Floats | None
    unreachable: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """The given mentions of one document in units.

    Attributes:
        spans: first unit and one past the last of each mention that has a number, ``[g, 2]``.
        reasons: of each mention, why it has none; empty if it has.
    """

    spans: Ints
    reasons: list[str] = field(default_factory=list)

    def fill(self, mentions: Sequence[Mention], rows: Floats) -> tuple[GoldDistribution, ...]:
        """Joins the mentions, in the order in which they were placed, with the numbers ``[g, 1 + K]``."""
        numbers = iter(rows)
        return tuple(
            GoldDistribution(mention=m, probabilities=None if reason else next(numbers), unreachable=reason)
            for m, reason in zip(mentions, self.reasons, strict=True)
        )


def place(
    mentions: Sequence[Mention], pieces: Pieces, windows: Sequence[Window], *, types: Sequence[str], limits: Limits
) -> Places:
    """Finds the units of mentions, each for itself: that two overlap does not matter here.

    Args:
        mentions: of one document.
        pieces: the document as the model sees it.
        windows: of the document.
        types: of the model.
        limits: of its answering head.
    """
    segment_of, reach = segments(windows, len(pieces.units)), Reach(pieces, windows, limits)
    spans, reasons = [], []
    for mention in mentions:
        span, reason = in_units(mention, pieces, segment_of, breakers=limits.breakers)
        if mention.type not in types:
            reason = "unknown-type"
        elif span is not None and not reason:
            reason = reach.outside(span)
        if span is not None and not reason:
            spans.append(span)
        reasons.append(reason)
    return Places(spans=np.array(spans, dtype=np.int64).reshape(-1, 2), reasons=reasons)


class Prober(Protocol):
    """Turns the tables of one kind of head into distributions of given spans; one object for each call."""

    def take(self, tables: Tables, windows: Sequence[Window], counts: Ints) -> list[Any]:
        """Extracts what is needed from each window of a batch, in the form that a decoder takes."""
        ...

    def probabilities(self, taken: Sequence[Sequence[Any]], windows: Sequence[Sequence[Window]]) -> list[Floats]:
        """Returns the probabilities of the spans of each document, ``[g, 1 + K]``."""
        ...


class TagProber:
    """Prober for emissions, and the chain of a CRF."""

    def __init__(self, decoder: TagDecoder | LabelDecoder, spans: Sequence[Ints], *, types: int) -> None:
        """Prepares.

        Args:
            decoder: of the same head.
            spans: asked for, of each document, ``[g, 2]``.
            types: number of entity types.
        """
        self._decoder = decoder
        self._spans = spans
        self._classes = 1 + types

    def take(self, tables: Tables, windows: Sequence[Window], counts: Ints) -> list[Any]:
        """Returns the emissions of windows whose document has mentions."""
        rows = self._decoder.take(tables, windows, counts)
        return [row if len(self._spans[w.document]) else None for row, w in zip(rows, windows, strict=True)]

    def probabilities(self, taken: Sequence[Sequence[Any]], windows: Sequence[Sequence[Window]]) -> list[Floats]:
        """Computes the probabilities of the spans of all segments that have one, in one call."""
        texts: list[Floats32] = []
        asked = [np.zeros((0, 3), dtype=np.int64)]
        for rows, cut, spans in zip(taken, windows, self._spans, strict=True):
            if not len(spans):
                continue
            units = max(w.segment[1] for w in cut)
            joined, origin = stitch(rows, cut, units=units), segments(cut, units)
            ends = {w.segment[0]: w.segment[1] for w in cut}
            starts, number = np.unique(origin[spans[:, 0]], return_inverse=True)
            asked.append(np.column_stack([number + len(texts), spans - starts[number, None]]))
            texts += [joined[start : ends[start]] for start in starts.tolist()]
        found = np.zeros((0, self._classes))
        if texts:
            found = self._decoder.distributions(texts, np.concatenate(asked))
        return _split(found, [len(spans) for spans in self._spans])


class SpanProber:
    """Prober for the tables of a head that scores spans: each span is read in the one window assigned to it."""

    def __init__(self, numbers: Callable[[Tables, Ints, Ints], Floats], spans: Sequence[Ints], *, types: int) -> None:
        """Prepares.

        Args:
            numbers: from tables, windows ``[g]`` and spans ``[g, 2]`` in units of their windows, ``[g, 1 + K]``.
            spans: asked for, of each document, ``[g, 2]``.
            types: number of entity types.
        """
        self._numbers = numbers
        self._spans = spans
        self._classes = 1 + types

    def take(self, tables: Tables, windows: Sequence[Window], counts: Ints) -> list[tuple[Ints, Floats]]:
        """Returns the given spans assigned to each window, ``[n]``, and their numbers ``[n, 1 + K]``."""
        mine = [np.flatnonzero(answered(w, self._spans[w.document])) for w in windows]
        rows = np.repeat(np.arange(len(windows)), [len(found) for found in mine])
        local = [self._spans[w.document][found] - w.units[0] for w, found in zip(windows, mine, strict=True)]
        try:
            numbers = self._numbers(tables, rows, np.concatenate(local))
        except ValueError as error:
            raise ModelError(
                f"the network does not score spans as its model.json says ({error}); export the model folder again"
            ) from None
        return list(zip(mine, _split(numbers, [len(found) for found in mine]), strict=True))

    def probabilities(self, taken: Sequence[Sequence[Any]], windows: Sequence[Sequence[Window]]) -> list[Floats]:
        """Puts what the windows of each document gave in the order of its spans."""
        result = []
        for parts, spans in zip(taken, self._spans, strict=True):
            numbers = np.full((len(spans), self._classes), np.nan)
            for mine, values in parts:
                numbers[mine] = values
            result.append(numbers)
        return result


def _split(rows: Floats, counts: Sequence[int]) -> list[Floats]:
    """Consecutive rows, so many to each."""
    return np.split(rows, np.cumsum(counts)[:-1]) if counts else []

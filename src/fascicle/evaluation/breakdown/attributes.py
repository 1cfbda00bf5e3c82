"""Attributes by which results are broken down: measures of a mention and of the text around it.

Each is measured so that a gold and a predicted mention with the same identity have the same value:

* **of the mention**, by its own characters and type: length, label consistency, training frequency,
  place;
* **of its text** (a sentence, or the document), always by the *gold* of that text: text length,
  both densities, share of unknown words. A mention belongs to the text in which it starts;
* **nesting depth** by the gold mentions that a mention lies properly inside of, for predictions
  too.

So every true positive has one value, and the counts of all intervals add up to those of the whole.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.core.document import GOLD, Document, Identity
from fascicle.core.lazy import cached_property
from fascicle.core.mention import Fragments
from fascicle.errors import InputError
from fascicle.evaluation.breakdown.layout import Lexicon, TextUnit, WordLayout
from fascicle.evaluation.scoring.rules import find_overlapping, join_touching, properly_inside

Values = Floats


@dataclass(frozen=True, kw_only=True)
class Range:
    """An interval of values.

    Attributes:
        low: lower end.
        high: upper end; may be infinite.
        with_low: whether the lower end belongs to it.
        with_high: whether the upper end does.
        whole: whether the values are whole numbers, which only changes how it is written.
    """

    low: float
    high: float
    with_low: bool = True
    with_high: bool = True
    whole: bool = False

    @property
    def label(self) -> str:
        """``"3-4"`` or ``"5+"`` for whole numbers, else ``"(0.1, 0.5]"``."""
        if self.whole:
            low, high = self.low + (not self.with_low), self.high - (not self.with_high)
            if math.isinf(high):
                return f"{low:g}+"
            return f"{low:g}" if low == high else f"{low:g}-{high:g}"
        if self.low == self.high:
            return f"{self.low:.4g}"
        if math.isinf(self.high):
            return f"{'at least' if self.with_low else 'over'} {self.low:.4g}"
        return (
            f"{'[' if self.with_low else '('}{self.low:.4g}, "
            f"{self.high:.4g}{']' if self.with_high else ')'}"
        )

    def holds(self, values: Values) -> Bools:
        """Returns which values lie inside; shape as given."""
        above = values >= self.low if self.with_low else values > self.low
        below = values <= self.high if self.with_high else values < self.high
        inside: Bools = above & below
        return inside


Ranges = tuple[Range, ...]


def whole_ranges(*starts: int) -> Ranges:
    """Intervals of whole numbers: ``whole_ranges(1, 2, 3, 5)`` is 1, 2, 3-4, 5+."""
    ends = [*(after - 1 for after in starts[1:]), math.inf]
    return tuple(
        Range(low=low, high=high, whole=True) for low, high in zip(starts, ends, strict=True)
    )


def real_ranges(*ends: float, whole: bool = False) -> Ranges:
    """Intervals between ends: ``real_ranges(0, 0.1, 0.5)`` is [0, 0.1], (0.1, 0.5]."""
    return tuple(
        Range(low=low, high=high, with_low=index == 0, with_high=not math.isinf(high), whole=whole)
        for index, (low, high) in enumerate(pairwise(ends))
    )


def quantile_ranges(values: Values, *, whole: bool = False) -> Ranges:
    """Returns four intervals that hold about equally many of some values, and together every number
    from 0.

    Where one value is so frequent that two ends fall on it, there are fewer intervals.

    Args:
        values: not negative, at least one.
        whole: whether the values are whole numbers.

    Raises:
        InputError: no values.
    """
    if not len(values):
        raise InputError("there is no gold mention to take quantiles of; give fixed intervals")
    # Ends are values that occur: the share of values up to each is at least the wanted one.
    ends = sorted(
        {float(end) for end in np.quantile(values, (0.25, 0.5, 0.75), method="inverted_cdf")}
        - {float(values.max())}
    )
    return real_ranges(0.0, *ends, math.inf, whole=whole)


def assign(values: Values, ranges: Sequence[Range], *, name: str) -> Ints:
    """Returns the interval of each value.

    Args:
        values: shape ``[n]``.
        ranges: in rising order, without a value in common.
        name: of the attribute, for the message.

    Returns:
        Places in ``ranges``, shape ``[n]``.

    Raises:
        InputError: a value outside all intervals; none is left out silently.
    """
    places = np.full(len(values), -1, dtype=np.int64)
    for place, interval in enumerate(ranges):
        places[interval.holds(values)] = place
    outside = values[places < 0]
    if len(outside):
        raise InputError(
            f"{len(outside):,} values of {name} lie outside all intervals "
            f"({', '.join(r.label for r in ranges)}), the "
            f"first is {outside[0]:g}; give intervals that cover every value"
        )
    return places


@dataclass(frozen=True)
class _Attribute:
    """One of the things that are measured.

    Attributes:
        title: for a reader.
        ranges: its usual intervals.
        means: in one sentence.
        paper: whether the intervals are those of *bundling-learning*, Table 5.
        needs_training: whether it needs a `Lexicon`.
    """

    title: str
    ranges: Ranges
    _: KW_ONLY
    means: str
    paper: bool = False
    needs_training: bool = False

    @property
    def whole(self) -> bool:
        """True if values are whole numbers."""
        return self.ranges[0].whole


ATTRIBUTES: Final = MappingProxyType(
    {
        "length": _Attribute(
            "mention length",
            whole_ranges(1, 2, 3, 5),
            means="words that the mention touches",
            paper=True,
        ),
        "text_length": _Attribute(
            "text length", whole_ranges(1, 8, 17, 32), means="words of the text", paper=True
        ),
        "label_consistency": _Attribute(
            "label consistency",
            real_ranges(0, 0.1, 0.5, 0.9, 1),
            means="share of the words of all occurrences of its string in training that lie in "
            "mentions of its type",
            paper=True,
            needs_training=True,
        ),
        # The paper ends at 1, which nested mentions can exceed.
        "entity_density": _Attribute(
            "entity density (mentions)",
            real_ranges(0, 0.01, 0.025, 0.05, math.inf),
            means="gold mentions of the text for each of its words",
            paper=True,
        ),
        "token_density": _Attribute(
            "entity density (words)",
            real_ranges(0, 0.05, 0.15, 0.3, 1),
            means="share of the words of the text that a gold mention touches",
        ),
        "unknown_words": _Attribute(
            "unknown words",
            real_ranges(0, 0, 0.1, 0.25, 1),
            means="share of the words of the text that training does not have, case included",
            needs_training=True,
        ),
        "training_frequency": _Attribute(
            "training frequency",
            whole_ranges(0, 1, 3, 11),
            means="training mentions of its string, of whatever type",
            needs_training=True,
        ),
        "nesting_depth": _Attribute(
            "nesting depth",
            whole_ranges(0, 1, 2),
            means="gold mentions that it lies properly inside of",
        ),
        "place": _Attribute(
            "place in the document",
            real_ranges(0, 0.25, 0.5, 0.75, 1),
            means="share of the characters of the document that stand before it",
        ),
    }
)


class Ruler:
    """Measures mentions of some gold documents."""

    def __init__(
        self,
        documents: Iterable[Document],
        *,
        training: Lexicon | None = None,
        unit: TextUnit = "sentence",
    ) -> None:
        """Takes the gold; texts are cut when the first mention in them is measured.

        Args:
            documents: with gold mentions; their ids are distinct.
            training: what attributes of training need; without it they are not measured.
            unit: what a text is.
        """
        self.names = tuple(
            n for n, a in ATTRIBUTES.items() if training is not None or not a.needs_training
        )
        self._documents = {document.id: document for document in documents}
        self._sheets: dict[str, _Sheet] = {}
        self._training = training
        self._unit: TextUnit = unit

    def measure(self, mentions: Sequence[Identity]) -> dict[str, Values]:
        """Returns the attributes of mentions, gold or predicted.

        Args:
            mentions: of the documents, in any order; shape ``[n]``.

        Returns:
            Name of an attribute -> values, shape ``[n]``, for each of ``names``.
        """
        values = np.zeros((len(self.names), len(mentions)))
        places: dict[str, list[int]] = {}
        for at, (document, _, _) in enumerate(mentions):
            places.setdefault(document, []).append(at)
        for identifier, rows in places.items():
            if identifier not in self._sheets:
                self._sheets[identifier] = _Sheet(self._documents[identifier], unit=self._unit)
            sheet = self._sheets[identifier]
            spans = [mentions[at][2] for at in rows]
            depths = sheet.depths(spans)
            values[:, rows] = np.array(
                [
                    self._row(sheet, type_=mentions[at][1], spans=mentions[at][2], depth=depth)
                    for at, depth in zip(rows, depths, strict=True)
                ]
            ).T
        return dict(zip(self.names, values, strict=True))

    def _row(self, sheet: _Sheet, *, type_: str, spans: Fragments, depth: int) -> tuple[float, ...]:
        """Returns the values of one mention, in the order of ``names``."""
        layout = sheet.layout
        text = layout.text_at(spans[0][0])
        words = max(1, len(layout.texts[text]))
        first = (max(1, len(layout.touched(spans))), words)
        density = (sheet.mentions[text] / words, sheet.covered[text] / words)
        last = (depth, spans[0][0] / max(1, len(layout.document.text)))
        if self._training is None:
            return (*first, *density, *last)
        surface = layout.surface(spans)
        consistency = self._training.consistency.get((surface, type_), 0.0)
        unknown = sheet.unknown(text, self._training.vocabulary) / words
        return (
            *first,
            consistency,
            *density,
            unknown,
            self._training.frequency.get(surface, 0),
            *last,
        )


class _Sheet:
    """Facts about the texts of a gold document."""

    def __init__(self, document: Document, *, unit: TextUnit) -> None:
        self.layout = WordLayout(document, unit=unit)
        self._gold = {(m.type, m.spans) for m in document.layer(GOLD)}
        self._unknown: dict[int, int] = {}

    @cached_property
    def mentions(self) -> Counter[int]:
        """Text -> gold mentions that start in it."""
        return Counter(self.layout.text_at(spans[0][0]) for _, spans in self._gold)

    @cached_property
    def covered(self) -> tuple[int, ...]:
        """Of each text, the words that a gold mention touches."""
        touched = {at for _, spans in self._gold for at in self.layout.touched(spans)}
        return tuple(len(touched.intersection(text)) for text in self.layout.texts)

    def unknown(self, text: int, vocabulary: frozenset[str]) -> int:
        """Returns the number of words of a text that are not in the vocabulary."""
        if text not in self._unknown:
            self._unknown[text] = sum(
                self.layout.words[at] not in vocabulary for at in self.layout.texts[text]
            )
        return self._unknown[text]

    def depths(self, mentions: Sequence[Fragments]) -> list[int]:
        """Counts, for each mention, the gold mentions of different characters that properly
        contain it.
        """
        gold = list({join_touching(spans) for _, spans in self._gold})
        depths = []
        for spans, places in zip(mentions, find_overlapping(mentions, gold), strict=True):
            depths.append(sum(properly_inside(spans, gold[place]) for place in places))
        return depths

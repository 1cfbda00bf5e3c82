"""Results broken down by attributes of mentions and texts: counts and F1 in each interval (Fu et al., EMNLP 2020).

A gold mention falls into an interval by its own value, and so does a predicted one (``breakdown.attributes``
says how both are measured). True positives are the identities on both sides, as everywhere. Because a true positive has
one value, and because a value outside all intervals is an error, the counts of the intervals of an attribute add up
exactly to the counts of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fascicle.core.arrays import Bools, Ints
from fascicle.core.document import Identity, Mention, identities
from fascicle.errors import UsageError
from fascicle.evaluation.breakdown.attributes import ATTRIBUTES, Range, Ranges, Ruler, Values, assign, quantile_ranges
from fascicle.evaluation.report_parts import BucketLine
from fascicle.evaluation.scoring.scores import Counts, figures, figures_row

Cutting = Literal["fixed", "quantiles"]
CUTTINGS: tuple[Cutting, ...] = ("fixed", "quantiles")
NEEDS_TRAINING = "it needs the training corpus, which was not given"
_NO_QUANTILES = "there is no gold mention to take quantiles of"


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """The mentions in one interval.

    Attributes:
        range: the interval.
        counts: of the mentions in it.
    """

    range: Range
    counts: Counts

    @property
    def is_empty(self) -> bool:
        """True if no mention, gold or predicted, falls into it."""
        return not self.counts.support + self.counts.predicted

    def as_dict(self) -> BucketLine:
        """Returns label, counts and figures, ready for JSON."""
        return {"interval": self.range.label, "empty": self.is_empty, **figures_row(self.counts)}


class Bucketing:
    """Some gold, measured once, for any number of systems."""

    def __init__(
        self,
        gold: Mapping[str, Iterable[Mention]],
        ruler: Ruler,
        *,
        cutting: Cutting = "fixed",
    ) -> None:
        """Measures the gold mentions and decides on intervals.

        Args:
            gold: document id -> its gold mentions.
            ruler: over the same documents.
            cutting: the usual intervals of each attribute, which are those of *bundling-learning* where it has some, or
                four intervals with about equally many gold mentions.
            ranges: attribute -> intervals to take in place of these.

        Raises:
            UsageError: an unknown way of cutting or attribute, or intervals that overlap.
            InputError: a gold mention outside all intervals.
        """
        if cutting not in CUTTINGS:
            raise UsageError(f"the buckets {cutting!r} were asked for; choose from {', '.join(CUTTINGS)}")
        self._ruler = ruler
        self._gold = sorted(identity for key, mentions in gold.items() for identity in identities(key, mentions))
        values = ruler.measure(self._gold)
        self.undefined = {name: NEEDS_TRAINING for name in ATTRIBUTES if name not in ruler.names}
        self.ranges: dict[str, Ranges] = {}
        for name in ruler.names:
            if cutting == "fixed":
                self.ranges[name] = ATTRIBUTES[name].ranges
            elif self._gold:
                self.ranges[name] = quantile_ranges(values[name], whole=ATTRIBUTES[name].whole)
            else:
                self.undefined[name] = _NO_QUANTILES
        self._places = self._assigned(values)

    def count(self, predicted: Mapping[str, Iterable[Mention]]) -> dict[str, tuple[Bucket, ...]]:
        """Returns the counts of one system.

        Args:
            predicted: document id -> its mentions, for documents of the gold.

        Returns:
            Attribute -> its buckets, in the order of its intervals, for each of ``ranges``.

        Raises:
            InputError: a predicted mention outside all intervals.
        """
        said: set[Identity] = set()
        for key, mentions in predicted.items():
            said |= identities(key, mentions)
        found = np.array([identity in said for identity in self._gold], dtype=bool)
        wrong = self._assigned(self._ruler.measure(sorted(said - set(self._gold))))
        return {
            name: _buckets(ranges, self._places[name], found, wrong=wrong[name]) for name, ranges in self.ranges.items()
        }

    def _assigned(self, values: Mapping[str, Values]) -> dict[str, Ints]:
        return {name: assign(values[name], ranges, name=ATTRIBUTES[name].title) for name, ranges in self.ranges.items()}


def _buckets(ranges: Ranges, places: Ints, found: Bools, *, wrong: Ints) -> tuple[Bucket, ...]:
    counted = [np.bincount(part, minlength=len(ranges)) for part in (places[found], wrong, places[~found])]
    return tuple(
        Bucket(range=one, counts=Counts(tp=int(tp), fp=int(fp), fn=int(fn)))
        for one, tp, fp, fn in zip(ranges, *counted, strict=True)
    )


def f1_differences(
    of: Mapping[str, tuple[Bucket, ...]], baseline: Mapping[str, tuple[Bucket, ...]]
) -> dict[str, list[float | None]]:
    """Computes F1 of one system minus F1 of another in each bucket: a heat map (*bundling-learning*, Table 6).

    Args:
        of: the counts of one system.
        baseline: those of another, over the same intervals.

    Returns:
        Attribute -> differences in the order of the buckets; ``None`` where the F1 of either is undefined.
    """
    return {
        name: [_difference(a, b) for a, b in zip(buckets, baseline[name], strict=True)] for name, buckets in of.items()
    }


def _difference(a: Bucket, b: Bucket) -> float | None:
    first, second = figures(a.counts).f1, figures(b.counts).f1
    return None if first is None or second is None else first - second

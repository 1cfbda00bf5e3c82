"""Results broken down: counts and F1 in each interval of an attribute (Fu et al., EMNLP 2020), and
errors as examples.

A gold mention falls into an interval by its own value, and so does a predicted one
(``breakdown.attributes`` says how both are measured). True positives are the identities on both
sides, as everywhere. Because a true positive has one value, and because a value outside all
intervals is an error, the counts of the intervals of an attribute add up exactly to the counts of
the whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, Literal

import numpy as np

from fascicle.core.arrays import Bools, Ints
from fascicle.core.document import GOLD, Document, Identity, Mention, MentionsById, identities
from fascicle.core.mention import Fragments, fragments_overlap
from fascicle.errors import UsageError
from fascicle.evaluation.breakdown.attributes import (
    ATTRIBUTES,
    Range,
    Ranges,
    Ruler,
    Values,
    assign,
    quantile_ranges,
)
from fascicle.evaluation.breakdown.errors import BOUNDARY, CLASSES, Mistake, distinct
from fascicle.evaluation.report_parts import BucketLine, Class, ConfusionPart
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
            cutting: the usual intervals of each attribute, which are those of *bundling-learning*
                where it has some, or four intervals with about equally many gold mentions.
            ranges: attribute -> intervals to take in place of these.

        Raises:
            UsageError: an unknown way of cutting or attribute, or intervals that overlap.
            InputError: a gold mention outside all intervals.
        """
        if cutting not in CUTTINGS:
            raise UsageError(
                f"the buckets {cutting!r} were asked for; choose from {', '.join(CUTTINGS)}"
            )
        self._ruler = ruler
        self._gold = sorted(
            identity for key, mentions in gold.items() for identity in identities(key, mentions)
        )
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
        keys: set[Identity] = set()
        for key, mentions in predicted.items():
            keys |= identities(key, mentions)
        is_found = np.array([identity in keys for identity in self._gold], dtype=bool)
        wrong = self._assigned(self._ruler.measure(sorted(keys - set(self._gold))))
        return {
            name: _buckets(ranges, self._places[name], is_found, wrong=wrong[name])
            for name, ranges in self.ranges.items()
        }

    def _assigned(self, values: Mapping[str, Values]) -> dict[str, Ints]:
        return {
            name: assign(values[name], ranges, name=ATTRIBUTES[name].title)
            for name, ranges in self.ranges.items()
        }


def _buckets(ranges: Ranges, places: Ints, is_found: Bools, *, wrong: Ints) -> tuple[Bucket, ...]:
    counted = [
        np.bincount(part, minlength=len(ranges))
        for part in (places[is_found], wrong, places[~is_found])
    ]
    return tuple(
        Bucket(range=interval, counts=Counts(tp=int(tp), fp=int(fp), fn=int(fn)))
        for interval, tp, fp, fn in zip(ranges, *counted, strict=True)
    )


def f1_differences(
    of: Mapping[str, tuple[Bucket, ...]], baseline: Mapping[str, tuple[Bucket, ...]]
) -> dict[str, list[float | None]]:
    """Computes F1 of one system minus F1 of another in each bucket: a heat map
    (*bundling-learning*, Table 6).

    Args:
        of: the counts of one system.
        baseline: those of another, over the same intervals.

    Returns:
        Attribute -> differences in the order of the buckets; ``None`` where the F1 of either is
        undefined.
    """
    return {
        name: [_difference(a, b) for a, b in zip(buckets, baseline[name], strict=True)]
        for name, buckets in of.items()
    }


def _difference(a: Bucket, b: Bucket) -> float | None:
    first, second = figures(a.counts).f1, figures(b.counts).f1
    return None if first is None or second is None else first - second


_CONTEXT: Final = 60  # characters on each side
_LONGEST: Final = 300  # characters of a mention that are shown
_WIDEST: Final = 800  # characters of a context
_MOST_AROUND: Final = 40  # mentions of each side listed for a context


def class_table(mistakes: Iterable[Mistake]) -> dict[str, Class]:
    """Counts the errors of each class.

    Returns:
        Class -> ``"fp"``, ``"fn"``, those among both whose partner was right (``"beside_right"``),
        and ``"types"``: type of the mention -> ``[fp, fn]``. Every class is there.
    """
    table: dict[str, Class] = {
        kind: {"fp": 0, "fn": 0, "beside_right": 0, "types": {}} for kind in CLASSES
    }
    for mistake in mistakes:
        row = table[mistake.kind]
        row[mistake.side] += 1
        row["beside_right"] += mistake.partner_right
        row["types"].setdefault(mistake.mention.type, [0, 0])[mistake.side == "fn"] += 1
    for row in table.values():
        row["types"] = dict(sorted(row["types"].items()))
    return table


def confusions(mistakes: Iterable[Mistake]) -> list[ConfusionPart]:
    """Counts which types were predicted for which: false positives with a partner of another type,
    by frequency.

    Returns:
        Rows of ``"gold"`` and ``"predicted"`` type, how often with the ``"same_span"``, how often
        with an ``"overlapping"`` one, and how often the partner was itself found
        (``"beside_right"``), so that its type was not lost.
    """
    rows: dict[tuple[str, str], Counter[str]] = {}
    for mistake in mistakes:
        if (
            mistake.side == "fp"
            and mistake.partner is not None
            and mistake.partner.type != mistake.mention.type
        ):
            row = rows.setdefault((mistake.partner.type, mistake.mention.type), Counter())
            row["same_span" if mistake.kind == "type" else "overlapping"] += 1
            row["beside_right"] += mistake.partner_right
    confused: list[ConfusionPart] = [
        {
            "gold": gold,
            "predicted": predicted,
            "same_span": row["same_span"],
            "overlapping": row["overlapping"],
            "beside_right": row["beside_right"],
        }
        for (gold, predicted), row in rows.items()
    ]
    return sorted(
        confused, key=lambda r: (-r["same_span"] - r["overlapping"], r["gold"], r["predicted"])
    )


def boundary_words(
    mistakes: Iterable[Mistake], texts: Mapping[str, str], *, at_most: int = 20
) -> list[dict[str, Any]]:
    """Returns the words between the boundary of a false positive and that of its gold partner of
    the same type.

    Only mistakes of the classes *boundary* are looked at, and only false positives, so that a pair
    counts once.

    Args:
        mistakes: of a system.
        texts: document id -> its text.
        at_most: how many rows.

    Returns:
        The most frequent first: on which ``"side"`` of the gold mention (left or right) which
        ``"change"`` was made, ``"added"`` if the prediction has the words and the gold does not,
        else ``"left out"``; the ``"words"`` in lower case with single spaces, the ``"count"`` of
        all, and ``"types"`` with the count of each.
    """
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for mistake in mistakes:
        for key in _changes(mistake, texts[mistake.document]):
            counts.setdefault(key, Counter())[mistake.mention.type] += 1
    rows: list[dict[str, Any]] = [
        {
            "side": side,
            "change": change,
            "words": words,
            "count": types.total(),
            "types": dict(sorted(types.items())),
        }
        for (side, change, words), types in counts.items()
    ]
    rows.sort(key=lambda row: (-row["count"], row["words"], row["side"], row["change"]))
    return rows[:at_most]


def _changes(mistake: Mistake, text: str) -> Iterator[tuple[str, str, str]]:
    """Yields side, change and words of each wrong boundary of a false positive."""
    predicted, gold = mistake.mention, mistake.partner
    if mistake.side != "fp" or mistake.kind not in BOUNDARY or gold is None:
        return
    ends = (("left", predicted.start, gold.start), ("right", gold.end, predicted.end))
    for side, a, b in ends:
        words = " ".join(text[min(a, b) : max(a, b)].split()).lower()
        if words:
            yield side, "added" if a < b else "left out", words


def error_examples(
    mistakes: Sequence[Mistake],
    documents: Mapping[str, Document],
    *,
    at_most: int = 5,
    predicted: MentionsById | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """Mistakes in their context, of each class and side the worst first: those with the highest
    score.

    Mistakes without a score come last, in the order of the documents. A false negative has the
    score of the prediction that touches it. A false positive and a false negative that are of one
    class because of each other are shown once, as the false positive.

    Args:
        mistakes: of a system, in the order of the documents.
        documents: by id.
        at_most: how many of each class and side.
        predicted: document id -> all that the system said. With it, an example holds under
            ``"around"`` the ``"gold"`` and the ``"predicted"`` mentions of its context, the nearest
            first, and how many more there are.

    Returns:
        Class -> examples, false positives first; classes without any are left out.
    """
    examples: dict[str, list[dict[str, Any]]] = {}
    groups = _worst_first(mistakes)
    for kind, side in product(CLASSES, ("fp", "fn")):
        for mistake in groups.get((kind, side), ())[:at_most]:
            document = documents[mistake.document]
            example = _example(mistake, document.text)
            if predicted is not None:
                example["around"] = _around(
                    example,
                    gold=distinct(document.layer(GOLD)),
                    predicted=distinct(predicted.get(document.id, ())),
                )
            examples.setdefault(kind, []).append(example)
    return examples


def _worst_first(mistakes: Sequence[Mistake]) -> dict[tuple[str, str], list[Mistake]]:
    """Returns the mistakes of each class and side, those with the highest score first.

    False negatives that a false positive of their class already shows are left out.
    """
    pairs = {
        (mistake.document, mistake.kind, _key(mistake.mention), _key(mistake.partner))
        for mistake in mistakes
        if mistake.side == "fp"
    }
    groups: dict[tuple[str, str], list[Mistake]] = {}
    for mistake in mistakes:
        mirror = (mistake.document, mistake.kind, _key(mistake.partner), _key(mistake.mention))
        if mistake.side == "fp" or mirror not in pairs:
            groups.setdefault((mistake.kind, mistake.side), []).append(mistake)
    for group in groups.values():  # stable
        group.sort(
            key=lambda mistake: -1.0 if mistake.score is None else mistake.score, reverse=True
        )
    return groups


def _key(mention: Mention | None) -> tuple[str, Fragments] | None:
    return None if mention is None else (mention.type, mention.spans)


def _example(mistake: Mistake, text: str) -> dict[str, Any]:
    start, end = mistake.mention.start, mistake.mention.end
    if mistake.partner is not None:
        start, end = min(start, mistake.partner.start), max(end, mistake.partner.end)
    before = _cut_left(text, start)
    after = min(_cut_right(text, end), before + _WIDEST)
    return {
        "document": mistake.document,
        "side": mistake.side,
        "score": mistake.score,
        "mention": _describe(mistake.mention, text),
        "partner": None if mistake.partner is None else _describe(mistake.partner, text),
        "partner_right": mistake.partner_right,
        "context": text[before:after],
        "context_start": before,
    }


def _around(
    example: Mapping[str, Any], *, gold: Sequence[Mention], predicted: Sequence[Mention]
) -> dict[str, Any]:
    """Returns the gold and predicted mentions in the context of an example."""
    around: dict[str, Any] = {}
    more = 0
    for side, mentions, opposite in (
        ("gold", gold, predicted),
        ("predicted", predicted, gold),
    ):
        near = _near(example, mentions)
        keys = set(map(_key, opposite))
        around[side] = [
            {
                "type": mention.type,
                "spans": list(map(list, mention.spans)),
                "right": _key(mention) in keys,
            }
            for mention in near[:_MOST_AROUND]
        ]
        more += len(near[_MOST_AROUND:])
    return around | {"more": more}


def _near(example: Mapping[str, Any], mentions: Iterable[Mention]) -> list[Mention]:
    """Returns the mentions in the context of an example, the nearest to its mention first."""
    start = example["context_start"]
    window = ((start, start + len(example["context"])),)
    first, last = example["mention"]["spans"][0][0], example["mention"]["spans"][-1][1]
    near = [mention for mention in mentions if fragments_overlap(mention.spans, window)]
    # stable: of equally near ones the first
    near.sort(key=lambda mention: max(mention.start - last, first - mention.end, 0))
    return near


def _describe(mention: Mention, text: str) -> dict[str, Any]:
    words = mention.text_in(text)
    return {
        "type": mention.type,
        "spans": list(map(list, mention.spans)),
        "text": words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…",
    }


def _cut_left(text: str, start: int) -> int:
    """Returns the start of a context: the start of a word, unless there is no white space near."""
    low = max(0, start - _CONTEXT)
    if low == 0:
        return 0
    space = next((at for at in range(low, start) if text[at].isspace()), None)
    return low if space is None else space + 1


def _cut_right(text: str, end: int) -> int:
    high = min(len(text), end + _CONTEXT)
    if high == len(text):
        return high
    space = next((at for at in range(high - 1, end - 1, -1) if text[at].isspace()), None)
    return high if space is None else space

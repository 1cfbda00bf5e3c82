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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from fascicle.core.arrays import Bools, Ints
from fascicle.core.document import GOLD, Document, Identity, Mention, identities
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
from fascicle.evaluation.report_parts import BucketLine, Class, Confusion
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
        said: set[Identity] = set()
        for key, mentions in predicted.items():
            said |= identities(key, mentions)
        found = np.array([identity in said for identity in self._gold], dtype=bool)
        wrong = self._assigned(self._ruler.measure(sorted(said - set(self._gold))))
        return {
            name: _buckets(ranges, self._places[name], found, wrong=wrong[name])
            for name, ranges in self.ranges.items()
        }

    def _assigned(self, values: Mapping[str, Values]) -> dict[str, Ints]:
        return {
            name: assign(values[name], ranges, name=ATTRIBUTES[name].title)
            for name, ranges in self.ranges.items()
        }


def _buckets(ranges: Ranges, places: Ints, found: Bools, *, wrong: Ints) -> tuple[Bucket, ...]:
    counted = [
        np.bincount(part, minlength=len(ranges)) for part in (places[found], wrong, places[~found])
    ]
    return tuple(
        Bucket(range=one, counts=Counts(tp=int(tp), fp=int(fp), fn=int(fn)))
        for one, tp, fp, fn in zip(ranges, *counted, strict=True)
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


def class_table(found: Iterable[Mistake]) -> dict[str, Class]:
    """Counts the errors of each class.

    Returns:
        Class -> ``"fp"``, ``"fn"``, those among both whose partner was right (``"beside_right"``),
        and ``"types"``: type of the mention -> ``[fp, fn]``. Every class is there.
    """
    table: dict[str, Class] = {
        kind: {"fp": 0, "fn": 0, "beside_right": 0, "types": {}} for kind in CLASSES
    }
    for mistake in found:
        row = table[mistake.kind]
        row[mistake.side] += 1
        row["beside_right"] += mistake.partner_right
        row["types"].setdefault(mistake.mention.type, [0, 0])[mistake.side == "fn"] += 1
    for row in table.values():
        row["types"] = dict(sorted(row["types"].items()))
    return table


def confusions(found: Iterable[Mistake]) -> list[Confusion]:
    """Counts which types were predicted for which: false positives with a partner of another type,
    by frequency.

    Returns:
        Rows of ``"gold"`` and ``"predicted"`` type, how often with the ``"same_span"``, how often
        with an ``"overlapping"`` one, and how often the partner was itself found
        (``"beside_right"``), so that its type was not lost.
    """
    rows: dict[tuple[str, str], Counter[str]] = {}
    for mistake in found:
        if (
            mistake.side == "fp"
            and mistake.partner is not None
            and mistake.partner.type != mistake.mention.type
        ):
            row = rows.setdefault((mistake.partner.type, mistake.mention.type), Counter())
            row["same_span" if mistake.kind == "type" else "overlapping"] += 1
            row["beside_right"] += mistake.partner_right
    listed: list[Confusion] = [
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
        listed, key=lambda r: (-r["same_span"] - r["overlapping"], r["gold"], r["predicted"])
    )


def boundary_words(
    found: Iterable[Mistake], texts: Mapping[str, str], *, at_most: int = 20
) -> list[dict[str, Any]]:
    """Returns the words between the boundary of a false positive and that of its gold partner of
    the same type.

    Only mistakes of the classes *boundary* are looked at, and only false positives, so that a pair
    counts once.

    Args:
        found: mistakes of a system.
        texts: document id -> its text.
        at_most: how many rows.

    Returns:
        The most frequent first: on which ``"side"`` of the gold mention (left or right) which
        ``"change"`` was made, ``"added"`` if the prediction has the words and the gold does not,
        else ``"left out"``; the ``"words"`` in lower case with single spaces, the ``"count"`` of
        all, and ``"types"`` with the count of each.
    """
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for mistake in found:
        if mistake.side != "fp" or mistake.kind not in BOUNDARY or mistake.partner is None:
            continue
        text, said, gold = texts[mistake.document], mistake.mention, mistake.partner
        for side, a, b in (("left", said.start, gold.start), ("right", gold.end, said.end)):
            words = " ".join(text[min(a, b) : max(a, b)].split()).lower()
            if a != b and words:
                key = (side, "added" if a < b else "left out", words)
                counts.setdefault(key, Counter())[said.type] += 1
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
    return sorted(rows, key=lambda row: (-row["count"], row["words"], row["side"], row["change"]))[
        :at_most
    ]


def error_examples(
    found: Sequence[Mistake],
    documents: Mapping[str, Document],
    *,
    at_most: int = 5,
    predicted: Mapping[str, Sequence[Mention]] | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """Mistakes in their context, of each class and side the worst first: those with the highest
    score.

    Mistakes without a score come last, in the order of the documents. A false negative has the
    score of the prediction that touches it. A false positive and a false negative that are of one
    class because of each other are shown once, as the false positive.

    Args:
        found: mistakes of a system, in the order of the documents.
        documents: by id.
        at_most: how many of each class and side.
        predicted: document id -> all that the system said. With it, an example holds under
            ``"around"`` the ``"gold"`` and the ``"predicted"`` mentions of its context, the nearest
            first, and how many more there are.

    Returns:
        Class -> examples, false positives first; classes without any are left out.
    """
    chosen: dict[str, list[dict[str, Any]]] = {}
    sides: dict[str, dict[str, list[Mention]]] = {}  # of the documents that examples are from
    pairs = {
        (m.document, m.kind, _key(m.mention), _key(m.partner)) for m in found if m.side == "fp"
    }
    for kind in CLASSES:
        for side in ("fp", "fn"):
            of_kind = [
                m
                for m in found
                if m.kind == kind
                and m.side == side
                and (
                    side == "fp"
                    or (m.document, kind, _key(m.partner), _key(m.mention)) not in pairs
                )
            ]
            of_kind.sort(key=lambda m: -1.0 if m.score is None else m.score, reverse=True)  # stable
            for mistake in of_kind[:at_most]:
                document = documents[mistake.document]
                shown = _example(mistake, document.text)
                if predicted is not None:
                    if document.id not in sides:
                        said = predicted.get(document.id, ())
                        sides[document.id] = {
                            "gold": distinct(document.layer(GOLD)),
                            "predicted": distinct(said),
                        }
                    shown["around"] = _around(shown, sides[document.id])
                chosen.setdefault(kind, []).append(shown)
    return chosen


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
        "mention": _shown(mistake.mention, text),
        "partner": None if mistake.partner is None else _shown(mistake.partner, text),
        "partner_right": mistake.partner_right,
        "context": text[before:after],
        "context_start": before,
    }


def _around(example: Mapping[str, Any], sides: Mapping[str, Sequence[Mention]]) -> dict[str, Any]:
    """Returns the gold and predicted mentions in the context of an example."""
    start = example["context_start"]
    window = ((start, start + len(example["context"])),)
    first, last = example["mention"]["spans"][0][0], example["mention"]["spans"][-1][1]
    keys = {side: {_key(mention) for mention in mentions} for side, mentions in sides.items()}
    around: dict[str, Any] = {}
    more = 0
    for side, other in (("gold", "predicted"), ("predicted", "gold")):
        near = [mention for mention in sides[side] if fragments_overlap(mention.spans, window)]
        # stable: of equally near ones the first
        near.sort(key=lambda m: max(m.start - last, first - m.end, 0))
        around[side] = [
            {
                "type": m.type,
                "spans": [list(span) for span in m.spans],
                "right": _key(m) in keys[other],
            }
            for m in near[:_MOST_AROUND]
        ]
        more += len(near[_MOST_AROUND:])
    return around | {"more": more}


def _shown(mention: Mention, text: str) -> dict[str, Any]:
    words = mention.text_in(text)
    return {
        "type": mention.type,
        "spans": [list(span) for span in mention.spans],
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

"""Agreement of two annotations of the same documents: F1 of mentions, and Cohen's kappa of words.

F1 is strict and symmetric: of the mentions of both sides, the share that the other side has too. It
needs no words and does not say what agreement chance would give, which is next to nothing for
mentions.

Kappa needs units that both sides label. Here they are *words*, those of the documents or of the
segmenter ``rules@1``. The label of a word is the set of types of the mentions that touch it, which
is empty for most words: nested mentions give a word several types, of a discontinuous mention only
the fragments count, and two mentions that touch are not parted (IO, not BIO). For one type, and for
*any* type, a word is marked or not.

Most words are marked by nobody, and both sides agree on these without effort. So there are three
kappas of the labels: over all words; over those that at least one side marked; and over those that
both marked, where only the types can differ. For one type or any, the second kappa could not be
above 0, for no word is left on whose absence both could agree; the F1 of words stands beside the
kappa instead, to which kappa tends as unmarked words are added (Hripcsak and Rothschild 2005).
Krippendorff's alpha (nominal) asks the same as the kappa of one type, for any number of sides, and
takes the chance of both sides from one distribution. Intervals are percentile bootstraps over
documents.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from fascicle.core.arrays import Floats, Ints, int_array
from fascicle.core.document import Document, Identity, Mention, MentionsById, identities
from fascicle.errors import InputError
from fascicle.evaluation.breakdown.layout import WordLayout
from fascicle.evaluation.scoring.scores import ONE_DOCUMENT
from fascicle.evaluation.uncertainty.intervals import draw_weights, percentiles, ratios

_Label = frozenset[str]
NO_MENTION: Final = "neither side has such a mention"
NO_MARK: Final = "neither side marks such a word"
NO_WORD: Final = "there is no such word"
ONE_LABEL: Final = (
    "both sides give all these words one label, so that chance alone would agree on all of them"
)
_SUBSETS: Final[Mapping[str, Callable[[_Label, _Label], bool]]] = MappingProxyType(
    {
        "all words": lambda first, second: True,
        "marked by either": lambda first, second: bool(first or second),
        "marked by both": lambda first, second: bool(first and second),
    }
)


@dataclass(frozen=True, kw_only=True)
class Number:
    """A measure with its interval.

    Attributes:
        value: ``None`` if it is undefined.
        low: lower end of the interval; ``None`` if there is none.
        high: upper end.
        undefined: why there is no value, or no interval; empty if there are both.
    """

    value: float | None
    low: float | None
    high: float | None
    undefined: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields, ready for JSON."""
        return {name: value for name, value in vars(self).items() if name != "undefined" or value}


@dataclass(frozen=True, kw_only=True)
class Row:
    """Counts and measures of both sides for one type, or for all types.

    Attributes:
        first: number of the mentions of the first side.
        second: number of the mentions of the second side.
        both: number of the mentions that both sides have.
        measures: ``"f1"``, and of words ``"kappa"`` and ``"alpha"``.
    """

    first: int
    second: int
    both: int
    measures: Mapping[str, Number]

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields, ready for JSON."""
        counts = {"first": self.first, "second": self.second, "both": self.both}
        return counts | {name: number.as_dict() for name, number in self.measures.items()}


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Agreement of two annotations.

    Attributes:
        documents: number of documents that both sides annotated.
        words: of these.
        mentions: type -> strict agreement of mentions.
        all_mentions: the same of all types together.
        marks: type -> words that a mention of it touches.
        any_mark: words that any mention touches.
        kappas: a subset of the words, see `_SUBSETS`, -> number of these, and kappa of their
            labels.
        wordless_mentions: mentions of both sides that touch no word.
        level: of the intervals.
        resamples: draws of documents.
        seed: of these draws.
    """

    documents: int
    words: int
    mentions: Mapping[str, Row]
    all_mentions: Row
    marks: Mapping[str, Row]
    any_mark: Row
    kappas: Mapping[str, tuple[int, Number]]
    wordless_mentions: int
    level: float
    resamples: int
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields, ready for JSON."""
        return vars(self) | {
            "mentions": {name: row.as_dict() for name, row in self.mentions.items()},
            "all_mentions": self.all_mentions.as_dict(),
            "marks": {name: row.as_dict() for name, row in self.marks.items()},
            "any_mark": self.any_mark.as_dict(),
            "kappas": {
                name: {"words": count} | number.as_dict()
                for name, (count, number) in self.kappas.items()
            },
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class _Series:
    """Input of a measure: whole numbers of each document, ``[documents, columns]``, that are
    added up.
    """

    counts: Ints
    measure: Callable[[Floats], Floats]
    empty: str  # why it is undefined where the first sum is 0

    @property
    def sums(self) -> list[int]:
        """Over all documents."""
        sums: list[int] = self.counts.sum(axis=0).tolist()
        return sums


# by kind, and by type or subset
_Key = tuple[str, str | None]
_AllSeries = Mapping[_Key, _Series]
_Numbers = Mapping[_Key, Number]


def agreement(
    documents: Sequence[Document],
    first: MentionsById,
    second: MentionsById,
    *,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Agreement:
    """Compares two annotations.

    Args:
        documents: the texts, with words where the source knows them.
        first: document id -> mentions of the first side, for every document.
        second: the same of the second side.
        resamples: draws of the bootstrap; a draw in which a measure is undefined is left out of its
            interval.
        level: share of the draws inside an interval.
        seed: of the draws.

    Raises:
        InputError: there is no document.
    """
    if not documents:
        raise InputError("there is no document, so there is nothing to agree on; give a corpus")
    pages = [
        _Page.of(document, (first[document.id], second[document.id])) for document in documents
    ]
    types = sorted({mention.type for page in pages for mention in chain(*page.sides)})
    series = _all_series(pages, types)
    numbers = _numbers(series, resamples=resamples, level=level, seed=seed)
    return Agreement(
        documents=len(documents),
        words=sum(map(_Page.words, pages)),
        mentions={name: _mention_row(series, numbers, name) for name in types},
        all_mentions=_mention_row(series, numbers, None),
        marks={name: _mark_row(series, numbers, name) for name in types},
        any_mark=_mark_row(series, numbers, None),
        kappas=_kappas(series, numbers),
        wordless_mentions=sum(page.wordless for page in pages),
        level=level,
        resamples=resamples,
        seed=seed,
    )


def _mention_row(series: _AllSeries, numbers: _Numbers, name: str | None) -> Row:
    a, b, shared = series["mentions", name].sums
    return Row(first=a, second=b, both=shared, measures={"f1": numbers["mentions", name]})


def _mark_row(series: _AllSeries, numbers: _Numbers, name: str | None) -> Row:
    a, b, shared = series["marks", name].sums
    measures = {"f1": "marks", "kappa": "kappa", "alpha": "alpha"}
    return Row(
        first=a,
        second=b,
        both=shared,
        measures={measure: numbers[key, name] for measure, key in measures.items()},
    )


@dataclass(frozen=True, kw_only=True)
class _Page:
    """A document with the mentions of both sides.

    Attributes:
        sides: the mentions of each.
        labels: of each side, the types of each word.
        wordless: mentions of both sides that touch no word.
    """

    sides: tuple[Sequence[Mention], Sequence[Mention]]
    labels: tuple[list[_Label], list[_Label]]
    wordless: int

    def words(self) -> int:
        return len(self.labels[0])

    @staticmethod
    def of(document: Document, sides: tuple[Sequence[Mention], Sequence[Mention]]) -> _Page:
        layout, (first, second) = WordLayout(document), sides
        return _Page(
            sides=sides,
            labels=(_labels(layout, first), _labels(layout, second)),
            wordless=sum(not layout.touched(mention.spans) for mention in (*first, *second)),
        )


def _kappas(
    series: Mapping[tuple[str, str | None], _Series],
    numbers: Mapping[tuple[str, str | None], Number],
) -> dict[str, tuple[int, Number]]:
    """Returns of each subset of the words their number, and kappa of their labels."""
    return {name: (series["subset", name].sums[0], numbers["subset", name]) for name in _SUBSETS}


def _all_series(
    pages: Sequence[_Page], types: Sequence[str]
) -> dict[tuple[str, str | None], _Series]:
    """Everything that is measured: mentions, marks and their kappa by type and for all
    (``None``), and the subsets.
    """
    labels = [page.labels for page in pages]
    series: dict[tuple[str, str | None], _Series] = {}
    for name in (*types, None):
        of_type = [_of_type(page, name) for page in pages]
        marks = _mark_words(labels, name)
        places = [tuple(map(_marked_places, page)) for page in marks]
        series["mentions", name] = _sets(of_type, empty=NO_MENTION)
        series["marks", name] = _sets(places, empty=NO_MARK)
        series["kappa", name] = _label_series(marks)
        series["alpha", name] = _alpha_series(marks)
    for name, is_in_subset in _SUBSETS.items():
        series["subset", name] = _label_series([_select(pair, is_in_subset) for pair in labels])
    return series


def _of_type(page: _Page, name: str | None) -> tuple[set[Identity], ...]:
    """Returns the identities of the mentions of each side that have a type, or of all."""
    return tuple(
        identities("", filter(lambda mention: name in (None, mention.type), side))
        for side in page.sides
    )


def _marked_places(marks: Sequence[bool]) -> set[int]:
    return set(np.flatnonzero(marks).tolist())


def _select(
    labels: tuple[list[_Label], list[_Label]], condition: Callable[[_Label, _Label], bool]
) -> tuple[list[_Label], list[_Label]]:
    """Returns the labels of the words for which a condition holds."""
    words = [pair for pair in zip(*labels, strict=True) if condition(*pair)]
    return [first for first, _ in words], [second for _, second in words]


def alphas(
    documents: Sequence[Document],
    sides: Sequence[MentionsById],
    *,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str | None, Number]:
    """Computes Krippendorff's alpha of the words that each type marks, and of any type (``None``),
    for several sides.

    Args:
        documents: see `agreement`.
        sides: for each side, document id -> mentions; each document has two or more sides.
        resamples: see `agreement`.
        level: see above.
        seed: see above.
    """
    labels = []
    for document in documents:
        layout = WordLayout(document)
        labels.append(
            tuple(_labels(layout, side[document.id]) for side in sides if document.id in side)
        )
    types = sorted(frozenset().union(*chain.from_iterable(chain.from_iterable(labels))))
    series = {("alpha", name): _alpha_series(_mark_words(labels, name)) for name in (*types, None)}
    numbers = _numbers(series, resamples=resamples, level=level, seed=seed)
    return {name: number for (_, name), number in numbers.items()}


def _mark_words(
    labels: Sequence[tuple[list[_Label], ...]], name: str | None
) -> list[tuple[list[bool], ...]]:
    """Returns which words of each document each side marks with a type, or with any."""
    return [tuple(map(partial(_marks, name=name), sides)) for sides in labels]


def _marks(labels: Iterable[_Label], name: str | None) -> list[bool]:
    return [bool(label) if name is None else name in label for label in labels]


def _labels(layout: WordLayout, mentions: Sequence[Mention]) -> list[_Label]:
    """Returns the types that touch each word."""
    types_by_word: list[set[str]] = [set() for _ in layout.words]
    for mention in mentions:
        for at in layout.touched(mention.spans):
            types_by_word[at].add(mention.type)
    return [frozenset(types) for types in types_by_word]


def _sets(pairs: Sequence[tuple[set[Any], ...]], *, empty: str) -> _Series:
    """Sizes of the two sets of each document and of what they share."""
    counts = int_array([(len(a), len(b), len(a & b)) for a, b in pairs])
    return _Series(counts=counts, measure=_f1, empty=empty)


def _label_series(pairs: Sequence[tuple[Sequence[Any], ...]]) -> _Series:
    """Counts the words of each document: all, those both sides label alike, and each label of each
    side.

    Shape ``[documents, 2 + 2 * labels]``.
    """
    labels = dict.fromkeys(chain.from_iterable(chain.from_iterable(pairs)))
    index = {label: number for number, label in enumerate(labels)}
    counts = np.zeros((len(pairs), 2 + 2 * len(index)), dtype=np.int64)
    for row, (first, second) in zip(counts, pairs, strict=True):
        row[:2] = len(first), sum(a == b for a, b in zip(first, second, strict=True))
        for start, side in ((2, first), (2 + len(index), second)):
            np.add.at(row, [start + index[label] for label in side], 1)
    return _Series(counts=counts, measure=_kappa, empty=NO_WORD)


def _alpha_series(marks_by_document: Sequence[tuple[list[bool], ...]]) -> _Series:
    """Counts the values of each document: all, those that mark a word, and the pairs that differ
    about one word.

    A pair of one of m sides counts 1 / (m - 1), times a whole number for all documents that makes
    all counts whole.
    """
    whole = math.lcm(*(len(several) - 1 for several in marks_by_document))
    counts = np.zeros((len(marks_by_document), 3), dtype=np.int64)
    for row, several in zip(counts, marks_by_document, strict=True):
        sides, marks = len(several), int_array(several).sum(axis=0)
        row[:] = (
            sides * len(marks),
            marks.sum(),
            (marks * (sides - marks)).sum() * (whole // (sides - 1)),
        )
    return _Series(counts=counts, measure=partial(_alpha, whole=whole), empty=NO_WORD)


def _alpha(sums: Floats, *, whole: int) -> Floats:
    """Computes alpha from the columns of ``_alpha_series``; NaN where all values are one.

    1 - (n - 1) d / a b with a and b the numbers of both values, n = a + b, and d the pairs that
    differ, as they count.
    """
    total, ones, differ = np.moveaxis(sums, -1, 0)
    chance = whole * ones * (total - ones)
    return ratios(chance - (total - 1) * differ, chance)


def _f1(sums: Floats) -> Floats:
    """Computes F1 from the sizes of two sets and of their intersection, ``[..., 3]``; NaN where
    both are empty.
    """
    return ratios(2 * sums[..., 2], sums[..., 0] + sums[..., 1])


def _kappa(sums: Floats) -> Floats:
    """Computes kappa from the columns of ``_label_series``; NaN where the expected agreement is 1.

    (n alike - e) / (n n - e) with e the sum over the labels of the product of both sides' numbers:
    whole numbers.
    """
    first, second = np.split(sums[..., 2:], 2, axis=-1)
    chance = (first * second).sum(axis=-1)
    return ratios(sums[..., 0] * sums[..., 1] - chance, sums[..., 0] ** 2 - chance)


def _numbers(
    series: Mapping[tuple[str, str | None], _Series], *, resamples: int, level: float, seed: int
) -> dict[tuple[str, str | None], Number]:
    """Returns every measure with its interval, all over the same draws."""
    counts = np.concatenate([part.counts for part in series.values()], axis=1).astype(np.float64)
    cuts = np.cumsum([part.counts.shape[1] for part in series.values()])[:-1]
    parts = [counts.sum(axis=0, keepdims=True)]
    if len(counts) > 1:
        parts += [
            weights @ counts
            for weights in draw_weights(len(counts), resamples=resamples, seed=seed)
        ]
    # the first row is that of the documents as they are
    sums = np.split(np.concatenate(parts), cuts, axis=1)
    return {
        key: _number(
            part.measure(own_sums),
            undefined=ONE_LABEL if own_sums[0, 0] else part.empty,
            level=level,
        )
        for (key, part), own_sums in zip(series.items(), sums, strict=True)
    }


def _number(values: Floats, *, undefined: str, level: float) -> Number:
    """Builds a number from the first value, with the interval of the other values."""
    if np.isnan(values[0]):
        return Number(value=None, low=None, high=None, undefined=undefined)
    drawn = values[1:][~np.isnan(values[1:])]
    if not len(drawn):
        return Number(value=float(values[0]), low=None, high=None, undefined=ONE_DOCUMENT)
    low, high = percentiles(drawn, level)
    return Number(value=float(values[0]), low=low, high=high)

"""Agreement of two annotations, against scikit-learn and counting by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from tests.evaluation.strategies import TEXT, Corpus, corpora, sides

from fascicle.core.document import Document, Mention
from fascicle.core.mention import Fragments
from fascicle.errors import InputError
from fascicle.evaluation.comparison.agreement import (
    NO_MARK,
    NO_MENTION,
    NO_WORD,
    ONE_LABEL,
    Agreement,
    Number,
    agreement,
    alphas,
)
from fascicle.evaluation.scoring.scores import ONE_DOCUMENT, score
from fascicle.evaluation.uncertainty.intervals import bootstrap_f1
from fascicle.text.segment import RULES_1


def compared(corpus: Corpus, *, turned: bool = False) -> Agreement:
    first, second = sides(corpus)
    documents = [Document(id=identifier, text=TEXT) for identifier in first]
    return agreement(documents, *((second, first) if turned else (first, second)), resamples=20)


def types_of_words(mentions: Sequence[Mention]) -> list[str]:
    """The types at each word, joined; character by character."""
    return [
        "+".join(
            sorted({m.type for m in mentions if any(a < end and start < b for a, b in m.spans)})
        )
        for start, end in RULES_1.words(TEXT)
    ]


def check(number: Number, expected: float) -> None:
    if math.isnan(expected):
        assert number.value is None
        assert number.undefined
    else:
        assert number.value == pytest.approx(expected)


def by_scikit_learn(pairs: Sequence[tuple[object, object]]) -> float:
    if len(set(map(str, (x for pair in pairs for x in pair)))) < 2:
        return math.nan  # it divides zero by zero there
    return float(cohen_kappa_score([str(a) for a, _ in pairs], [str(b) for _, b in pairs]))


@given(corpora())
def test_kappa_is_that_of_scikit_learn(corpus: Corpus) -> None:
    assume(corpus)
    found = compared(corpus)
    pairs = [
        pair
        for first, second in corpus
        for pair in zip(types_of_words(first), types_of_words(second), strict=True)
    ]
    assert found.words == len(pairs)
    subsets = {
        "all words": pairs,
        "marked by either": [(a, b) for a, b in pairs if a or b],
        "marked by both": [(a, b) for a, b in pairs if a and b],
    }
    for name, chosen in subsets.items():
        count, number = found.kappas[name]
        assert count == len(chosen)
        check(number, by_scikit_learn(chosen))
    for type_, row in [*found.marks.items(), ("", found.any_mark)]:
        marked = [
            tuple(type_ in side.split("+") if type_ else bool(side) for side in pair)
            for pair in pairs
        ]
        assert (row.first, row.second) == (sum(a for a, _ in marked), sum(b for _, b in marked))
        assert row.both == sum(a and b for a, b in marked)
        check(row.measures["kappa"], by_scikit_learn([(a, b) for a, b in marked]))


@given(corpora())
def test_f1_is_the_strict_one_and_its_interval_too(corpus: Corpus) -> None:
    assume(corpus)
    found = compared(corpus)
    scores = score(*sides(corpus))
    total = scores.counts.support + scores.counts.predicted
    check(found.all_mentions.measures["f1"], scores.micro.f1 if total else math.nan)
    assert set(found.mentions) == set(scores.by_type)
    for name, counts in scores.by_type.items():
        row = found.mentions[name]
        assert (row.first, row.second, row.both) == (counts.support, counts.predicted, counts.tp)
        check(row.measures["f1"], counts.rates().f1)
    # else draws without any mention count there, as 0
    if len(corpus) > 1 and all(a or b for a, b in corpus):
        interval = bootstrap_f1(scores, resamples=20)
        number = found.all_mentions.measures["f1"]
        assert (number.low, number.high) == pytest.approx((interval.low, interval.high))


@given(corpora())
def test_it_is_symmetric(corpus: Corpus) -> None:
    assume(corpus)
    one, other = compared(corpus).as_dict(), compared(corpus, turned=True).as_dict()

    def turned(value: object) -> object:
        if isinstance(value, dict):
            names = {"first": "second", "second": "first"}
            return {names.get(key, key): turned(inner) for key, inner in value.items()}
        return pytest.approx(value) if isinstance(value, float) else value

    assert one == turned(other)
    json.dumps(one, allow_nan=False)


def one(*spans: Fragments, kind: str = "A") -> tuple[Mention, ...]:
    return tuple(Mention(span, kind) for span in spans)


def test_what_is_undefined_says_why() -> None:
    documents = [Document(id="1", text="a b c"), Document(id="2", text="")]
    nothing = agreement(documents, {"1": (), "2": ()}, {"1": (), "2": ()})
    assert nothing.all_mentions.measures["f1"] == Number(
        value=None, low=None, high=None, undefined=NO_MENTION
    )
    assert nothing.any_mark.measures["f1"].undefined == NO_MARK
    assert nothing.any_mark.measures["kappa"].undefined == ONE_LABEL
    assert [number.undefined for _, number in nothing.kappas.values()] == [
        ONE_LABEL,
        NO_WORD,
        NO_WORD,
    ]
    single = agreement(documents[:1], {"1": one(((0, 1),))}, {"1": one(((0, 3),))})
    number = single.any_mark.measures["kappa"]
    assert (number.value, number.low, number.undefined) == (pytest.approx(0.4), None, ONE_DOCUMENT)
    with pytest.raises(InputError, match="there is no document"):
        agreement([], {}, {})


def test_the_interval_of_kappa_is_that_of_drawn_documents() -> None:
    documents = [Document(id=str(n), text="a b c d e") for n in range(6)]
    first = {str(n): one(((0, 1),), ((4, 5),)) if n % 2 else one(((0, 3),)) for n in range(6)}
    second = {str(n): one(((0, 1),)) if n % 3 else one(((6, 9),)) for n in range(6)}
    found = agreement(documents, first, second, resamples=200, seed=3).any_mark.measures["kappa"]

    def marked(mentions: Sequence[Mention]) -> list[bool]:
        return [any(a <= 2 * at < b for m in mentions for a, b in m.spans) for at in range(5)]

    values = []
    for draw in np.random.default_rng(3).integers(0, 6, size=(200, 6)):
        a, b = ([x for n in draw for x in marked(side[str(n)])] for side in (first, second))
        values.append(cohen_kappa_score(a, b))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])))


def test_mentions_without_words_are_counted() -> None:
    document = Document(id="1", text="a  b", words=((0, 1), (3, 4)))
    found = agreement([document], {"1": one(((1, 2),))}, {"1": one(((0, 1),))})
    assert found.wordless_mentions == 1
    assert (found.all_mentions.first, found.any_mark.first) == (1, 0)


def by_krippendorff(values: Sequence[Sequence[float]]) -> float:
    krippendorff = pytest.importorskip("krippendorff")
    if len({value for side in values for value in side if value == value}) < 2:
        return math.nan  # it refuses a single value
    return float(krippendorff.alpha(np.array(values, dtype=float), level_of_measurement="nominal"))


@given(corpora())
def test_alpha_is_that_of_an_independent_library(corpus: Corpus) -> None:
    assume(corpus)
    found = compared(corpus)
    words = [tuple(map(types_of_words, pair)) for pair in corpus]
    for type_, row in [*found.marks.items(), ("", found.any_mark)]:
        values = [
            [
                type_ in label.split("+") if type_ else bool(label)
                for pair in words
                for label in pair[side]
            ]
            for side in (0, 1)
        ]
        check(row.measures["alpha"], by_krippendorff(values))


@given(corpora(), corpora())
def test_alpha_of_three_and_four_sides_is_that_of_an_independent_library(
    corpus: Corpus, other: Corpus
) -> None:
    count = min(len(corpus), len(other))
    assume(count)
    together = [(*corpus[at], *other[at]) for at in range(count)]
    documents = [Document(id=str(at), text=TEXT) for at in range(count)]
    for number in (3, 4):
        layers = [
            {str(at): several[side] for at, several in enumerate(together)}
            for side in range(number)
        ]
        labels = [[types_of_words(several[side]) for several in together] for side in range(number)]
        found = alphas(documents, layers, resamples=20)
        for type_, alpha in found.items():
            values = [
                [
                    bool(label) if type_ is None else type_ in label.split("+")
                    for words in side
                    for label in words
                ]
                for side in labels
            ]
            check(alpha, by_krippendorff(values))


@given(corpora(), corpora(), st.data())
def test_alpha_leaves_out_who_does_not_have_a_document(
    corpus: Corpus, other: Corpus, data: st.DataObject
) -> None:
    count = min(len(corpus), len(other))
    assume(count)
    together = [(*corpus[at], *other[at]) for at in range(count)]
    there = [data.draw(st.sets(st.integers(0, 3), min_size=2)) for _ in together]
    documents = [Document(id=str(at), text=TEXT) for at in range(count)]
    layers = [
        {str(at): several[side] for at, several in enumerate(together) if side in there[at]}
        for side in range(4)
    ]
    for type_, alpha in alphas(documents, layers, resamples=20).items():
        values = [
            [
                (bool(label) if type_ is None else type_ in label.split("+"))
                if side in there[at]
                else math.nan
                for at, several in enumerate(together)
                for label in types_of_words(several[side])
            ]
            for side in range(4)
        ]
        check(alpha, by_krippendorff(values))


def test_alpha_has_an_interval_over_documents() -> None:
    mention = Mention(((0, 3),), "T")
    documents = [Document(id=str(at), text=TEXT) for at in range(30)]
    first = {one.id: (mention,) for one in documents}
    second = {one.id: (mention,) if int(one.id) % 3 else () for one in documents}
    alpha = alphas(documents, [first, second])["T"]
    assert alpha.low is not None
    assert alpha.value is not None
    assert alpha.high is not None
    assert -1 <= alpha.low < alpha.value < alpha.high <= 1

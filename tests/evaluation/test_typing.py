"""Scores of typing against counting by hand, and the published figures of the paper's Table 2."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.errors import InputError
from fascicle.evaluation.scoring.typing import (
    TypedMention,
    fit_lookup,
    published_protocol_f1,
    score_typing,
)

types = st.sampled_from("abc")
typed = st.lists(
    st.builds(
        lambda gold, given: TypedMention(gold=gold, predicted=tuple(given)),
        types,
        st.lists(types, min_size=1, max_size=3),
    ),
    min_size=1,
    max_size=25,
)


@given(typed)
def test_counts_are_those_of_hand(mentions: list[TypedMention]) -> None:
    scores = score_typing(mentions)
    whole = [m for m in mentions if len(m.predicted) == 1]
    assert scores.accuracy == pytest.approx(
        sum(set(m.predicted) == {m.gold} for m in mentions) / len(mentions)
    )
    assert scores.mentions == len(mentions)
    for name in "abc":
        hits = sum(m.gold == name == m.predicted[0] for m in whole)
        assert scores.counts(name).tp == hits
        assert scores.counts(name).support == sum(m.gold == name for m in whole)
        assert scores.counts(name).predicted == sum(m.predicted[0] == name for m in whole)


def test_a_discontinuous_mention_is_right_only_if_every_fragment_is() -> None:
    scores = score_typing(
        [
            TypedMention(gold="a", predicted=("a", "a")),
            TypedMention(gold="a", predicted=("a", "b")),
            TypedMention(gold="b", predicted=("b",)),
        ]
    )
    assert (scores.discontinuous, scores.discontinuous_right, scores.contiguous) == (2, 1, 1)
    assert scores.accuracy == pytest.approx(2 / 3)


def test_a_mention_without_a_type_is_refused() -> None:
    with pytest.raises(InputError, match="was given no type"):
        score_typing([TypedMention(gold="a", predicted=())])


# accuracy and "F1" of Table 2 where there are no discontinuous mentions, in per cent
TABLE_2 = [
    (91.76, 95.70),
    (87.93, 93.58),
    (69.47, 81.99),
    (72.73, 84.21),
    (64.98, 78.77),
    (96.87, 98.41),
]


@pytest.mark.parametrize(("accuracy", "f1"), TABLE_2)
def test_the_published_f1_is_a_function_of_the_accuracy(accuracy: float, f1: float) -> None:
    found = published_protocol_f1(round(100 * accuracy), 10_000)
    assert found.precision == found.accuracy == pytest.approx(accuracy / 100)
    assert found.recall == 1.0
    assert 100 * found.f1 == pytest.approx(f1, abs=0.011)


@given(st.integers(0, 50), st.integers(1, 50), st.integers(0, 20), st.integers(0, 20))
def test_with_discontinuous_mentions_recall_has_its_own_population(
    right: int, whole: int, some: int, good: int
) -> None:
    if right > whole or good > some:
        with pytest.raises(InputError, match="cannot be"):
            published_protocol_f1(right, whole, discontinuous=some, discontinuous_right=good)
        return
    found = published_protocol_f1(right, whole, discontinuous=some, discontinuous_right=good)
    precision = Fraction(right, whole)
    recall = Fraction(right, whole + some - good) if some else Fraction(1)
    assert found.recall == pytest.approx(float(recall))
    assert found.f1 == pytest.approx(
        float(2 * precision * recall / (precision + recall)) if right else 0.0
    )
    assert found.accuracy == pytest.approx((right + good) / (whole + some))


def test_the_lookup_says_what_a_string_is_most_often() -> None:
    pairs = [("x", "a"), ("x", "b"), ("x", "b"), ("y", "a"), ("z", "c"), ("z", "a"), ("w", "b")]
    found = fit_lookup(pairs)
    assert found.majority == "a"  # a and b are as frequent: the first by name
    assert [found.type_of(s) for s in ("x", "y", "z", "unseen")] == ["b", "a", "a", "a"]
    assert found.always_majority.type_of("x") == "a"
    with pytest.raises(InputError, match="holds no mention"):
        fit_lookup([])

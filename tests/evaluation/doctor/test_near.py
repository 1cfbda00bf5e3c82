"""Near duplicates against a comparison of all pairs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.evaluation.doctor.fingerprints import (
    Hashes,
    NearIndex,
    digest,
    normal_words,
    shingles,
)

_SETS = st.lists(st.frozensets(st.integers(0, 12), max_size=10), max_size=12)
_THRESHOLDS = st.sampled_from(
    [Fraction(1, 5), Fraction(1, 2), Fraction(7, 10), Fraction(4, 5), Fraction(1)]
)


def hashes(values: frozenset[int]) -> Hashes:
    return np.array(sorted(values), dtype=np.uint64)


def similarity(a: frozenset[int], b: frozenset[int]) -> Fraction:
    return Fraction(len(a & b), len(a | b)) if a | b else Fraction(0)


@given(_SETS, _SETS, _THRESHOLDS)
def test_pairs_are_those_of_a_comparison_of_all(
    members: list[frozenset[int]], probes: list[frozenset[int]], threshold: Fraction
) -> None:
    index = NearIndex([hashes(s) for s in members], threshold=threshold)
    found = {
        (pair.probe, pair.member, pair.similarity)
        for pair in index.pairs([hashes(s) for s in probes])
    }
    expected = {
        (i, j, similarity(a, b))
        for i, a in enumerate(probes)
        for j, b in enumerate(members)
        if similarity(a, b) >= threshold
    }
    assert found == expected
    assert index.skipped == 0


@given(_SETS, _THRESHOLDS)
def test_pairs_within_the_index_are_given_once(
    members: list[frozenset[int]], threshold: Fraction
) -> None:
    sets = [hashes(s) for s in members]
    found = [
        (pair.probe, pair.member)
        for pair in NearIndex(sets, threshold=threshold).pairs(sets, own=True)
    ]
    expected = [
        (i, j)
        for i, a in enumerate(members)
        for j, b in enumerate(members)
        if i < j and similarity(a, b) >= threshold
    ]
    assert sorted(found) == expected


def test_what_is_not_compared_is_counted() -> None:
    # each resembles the five others
    sets = [hashes(frozenset({*range(10), 100 + i})) for i in range(6)]
    index = NearIndex(sets, threshold=Fraction(1, 2), most=9)
    found = [pair.probe for pair in index.pairs(sets, own=True)]
    assert (found, index.skipped) == ([0] * 5 + [1] * 4, 3)  # the last one has no candidate


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_shingles_against_sets_of_tuples(one: list[str], other: list[str]) -> None:
    def tuples(words: list[str]) -> set[tuple[str, ...]]:
        return {tuple(words[i : i + 3]) for i in range(len(words) - 2)}

    common = set(shingles(one).tolist()) & set(shingles(other).tolist())
    assert len(common) == len(tuples(one) & tuples(other))
    assert len(shingles(one)) == len(tuples(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("IL-2 (interleukin)", "il 2 Interleukin"),
        ("ﬁbrosis at 5 µm", "Fibrosis at 5 μm."),  # compatibility forms
        ("10 mg/kg , p = 0 . 05", "10mg/kg, p=0.05"),
        ("STRASSE", "straße"),
    ],
)
def test_the_normal_form_ignores_case_spaces_and_punctuation(one: str, other: str) -> None:
    assert digest(normal_words(one)) == digest(normal_words(other))


def test_the_normal_form_keeps_letters_and_digits() -> None:
    assert digest(normal_words("p53")) != digest(normal_words("p54"))
    assert normal_words("α-tubulin_2") == ["α", "tubulin", "2"]
    assert normal_words("心臓病と癌 is bad") == ["心", "臓", "病", "と", "癌", "is", "bad"]
    assert normal_words("- ( ) !") == []

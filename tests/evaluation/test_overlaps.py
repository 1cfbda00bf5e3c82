"""What touches and what lies inside, against sets of characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.mention import Fragments
from fascicle.evaluation.scoring.rules import (
    count_characters,
    find_overlapping,
    join_touching,
    properly_inside,
    shared_characters,
)

from .strategies import characters, fragments

SOME = st.lists(fragments(length=16), max_size=8)


@given(SOME, SOME)
def test_touching_is_sharing_a_character(first: list[Fragments], second: list[Fragments]) -> None:
    expected = [[j for j, b in enumerate(second) if characters(a) & characters(b)] for a in first]
    assert find_overlapping(first, second) == expected


@given(fragments(length=16), fragments(length=16))
def test_sizes_and_insides_are_those_of_sets(a: Fragments, b: Fragments) -> None:
    assert shared_characters(a, b) == len(characters(a) & characters(b))
    assert count_characters(a) == len(characters(a))
    assert properly_inside(a, b) == (characters(a) < characters(b))


@given(fragments(length=16))
def test_joining_keeps_the_characters_in_the_fewest_spans(spans: Fragments) -> None:
    assert characters(join_touching(spans)) == characters(spans)
    assert all(
        before[1] < after[0]
        for before, after in zip(join_touching(spans), join_touching(spans)[1:], strict=False)
    )

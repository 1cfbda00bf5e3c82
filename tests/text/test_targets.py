"""What a tagger is taught, and the count of what it cannot be."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.support.reading import TYPES, pieces_at

from fascicle.core.document import Mention
from fascicle.core.tags import SCHEMES
from fascicle.runtime.decoding.tagger import tag_runs
from fascicle.text.targets import REASONS, AlignedGold, HeadLimits, align
from fascicle.text.windows import make_windows


def taught(
    mentions: list[Mention], *, scheme: Literal["BIO", "IO"] = "BIO", **layout: Any
) -> AlignedGold:
    return aligned(mentions, layout, HeadLimits(separates=SCHEMES[scheme].width > 1))


def aligned(mentions: list[Mention], layout: dict[str, Any], limits: HeadLimits) -> AlignedGold:
    pieces = pieces_at(**layout)
    windows = make_windows(pieces, document=0, unit="sentence", capacity=4, overlap=1)
    return align(mentions, pieces, windows, types=TYPES, limits=limits)


def disease(*spans: tuple[int, int]) -> Mention:
    return Mention(spans, "Disease")


# "lung cancer pain of rats": words 0-4, 5-11, 12-16, 17-19, 20-24
TEXT = {"words": [(0, 4), (5, 11), (12, 16), (17, 19), (20, 24)], "sentences": [3, 2]}


def test_the_longer_wins_and_of_equal_length_the_first() -> None:
    found = taught(
        [disease((0, 11)), disease((5, 17))], words=[(0, 4), (5, 11), (12, 17)], sentences=[3]
    )
    assert found.spans.tolist() == [[1, 3, 1]]
    found = taught([disease((5, 16)), disease((0, 11)), Mention(((0, 11),), "Chemical")], **TEXT)
    assert found.spans.tolist() == [[0, 2, 0]]
    assert found.lost == {"overlapped": 2}


EXAMPLES = {
    "discontinuous": ([disease((0, 4), (12, 16))], []),
    "unread": ([disease((4, 5))], []),
    "inside-word": ([disease((0, 8))], [[0, 2, 1]]),
    "crosses-segment": ([disease((12, 19))], []),
    "overlapped": ([disease((0, 11)), Mention(((5, 11),), "Chemical")], [[0, 2, 1]]),
}


NESTED = HeadLimits(nested=True, width=3)
NESTED_EXAMPLES = {
    "same-span": (
        [disease((0, 11)), Mention(((0, 11),), "Chemical"), disease((5, 11))],
        [[0, 2, 0], [1, 2, 1]],
    ),
    "too-wide": ([disease((0, 24)), disease((0, 16))], [[0, 3, 1]]),
    "crosses-window": ([disease((5, 19)), disease((12, 24))], [[2, 5, 1]]),
}


@pytest.mark.parametrize("reason", NESTED_EXAMPLES)
def test_each_reason_of_span_heads_is_counted(reason: str) -> None:
    """One segment, read through windows of three words that share two (``crosses-window``: that
    share one).
    """
    mentions, spans = NESTED_EXAMPLES[reason]
    pieces = pieces_at(TEXT["words"], [5])
    overlap = 1 if reason == "crosses-window" else 2
    windows = make_windows(pieces, document=0, unit="sentence", capacity=3, overlap=overlap)
    found = align(mentions, pieces, windows, types=TYPES, limits=NESTED)
    assert found.lost == {reason: 1}
    assert found.spans.tolist() == spans


def test_a_flat_span_head_is_taught_what_it_cannot_return_beside_the_longer_mention() -> None:
    """The shorter mention is counted as lost, but is no example of a span that is no mention."""
    pieces = pieces_at(TEXT["words"], [5])
    windows = make_windows(pieces, document=0, unit="sentence", capacity=5, overlap=2)
    mentions = [
        disease((0, 11)),
        disease((5, 11)),
        Mention(((0, 11),), "Chemical"),
        disease((0, 24)),
    ]
    found = align(mentions, pieces, windows, types=TYPES, limits=HeadLimits(width=3))
    assert found.spans.tolist() == [[0, 2, 0], [1, 2, 1]]
    assert found.lost == {"overlapped": 2, "too-wide": 1}


@pytest.mark.parametrize("reason", EXAMPLES)
def test_each_reason_is_counted(reason: str) -> None:
    mentions, spans = EXAMPLES[reason]
    found = taught(mentions, **TEXT)
    assert found.lost == {reason: 1}
    assert found.spans.tolist() == spans


def test_touching_mentions_are_lost_in_io_only() -> None:
    mentions = [Mention(((0, 4),), "Chemical"), disease((5, 11)), disease((12, 16))]
    assert taught(mentions, **TEXT).lost == {}
    found = taught(mentions, scheme="IO", **TEXT)
    assert found.lost == {"touching": 2}
    assert found.spans.tolist() == [[0, 1, 0], [1, 2, 1], [2, 3, 1]]


def test_mentions_do_not_touch_over_the_end_of_a_sentence() -> None:
    assert taught([disease((12, 16)), disease((17, 19))], scheme="IO", **TEXT).lost == {}


def test_a_mention_is_lost_for_one_reason_only() -> None:
    found = taught([disease((0, 3)), disease((5, 11))], scheme="IO", **TEXT)
    assert found.lost == {"inside-word": 1, "touching": 1}


def test_every_reason_has_an_example_and_an_explanation() -> None:
    assert set(REASONS) == {*EXAMPLES, *NESTED_EXAMPLES, "touching", "breaker"}


def test_a_mention_with_a_breaker_is_taught_and_counted() -> None:
    pieces = replace(pieces_at(**TEXT), text="lung (ancer pain of rats")
    windows = make_windows(pieces, document=0, unit="sentence", capacity=4, overlap=1)
    for breakers, lost in (("", {}), (")", {}), (")(", {"breaker": 1})):
        limits = HeadLimits(breakers=breakers)
        found = align(
            [disease((0, 11)), disease((12, 16))], pieces, windows, types=TYPES, limits=limits
        )
        assert found.lost == lost
        assert found.spans.tolist() == [[0, 2, 1], [2, 3, 1]]


def test_an_unknown_type_is_refused() -> None:
    for spans in (((0, 4),), ((0, 4), (12, 16))):
        with pytest.raises(
            ValueError, match=r"the type .Gene., not among the types Chemical, Disease"
        ):
            taught([Mention(spans, "Gene")], **TEXT)


@st.composite
def gold(draw: st.DrawFn) -> tuple[list[Mention], dict[str, Any]]:
    """Words of one to three characters, some of them apart, under mentions at any characters."""
    sizes = draw(st.lists(st.tuples(st.integers(0, 1), st.integers(1, 3)), min_size=1, max_size=12))
    words, at = [], 0
    for gap, size in sizes:
        words.append((at + gap, at + gap + size))
        at += gap + size
    sentences: list[int] = []
    while sum(sentences) < len(words):
        sentences.append(draw(st.integers(1, len(words) - sum(sentences))))
    borders = sorted({a for a, _ in words}), sorted({b for _, b in words})
    ranges = st.tuples(st.sampled_from(borders[0]), st.sampled_from(borders[1])) | st.tuples(
        st.integers(0, at), st.integers(0, at)
    )
    drawn = draw(st.sets(st.tuples(ranges, st.sampled_from(TYPES)), max_size=6))
    mentions = [Mention(((a, b),), kind) for (a, b), kind in sorted(drawn) if a < b]
    return mentions, {"words": words, "sentences": sentences}


@given(example=gold(), scheme=st.sampled_from(["BIO", "IO"]))
def test_decoding_the_tags_gives_the_representable_gold_back(
    example: tuple[list[Mention], dict[str, Any]], scheme: Literal["BIO", "IO"]
) -> None:
    mentions, layout = example
    found = taught(mentions, scheme=scheme, **layout)
    rows = SCHEMES[scheme]
    tags = rows.encode(map(tuple, found.spans.tolist()), length=len(layout["words"]))
    borders = np.cumsum([0, *layout["sentences"]])
    decoded = tag_runs(tags, rows, borders=borders)
    words = layout["words"]
    predicted = {(words[a][0], words[b - 1][1], TYPES[k]) for a, b, k in decoded.tolist()}
    exact = {(m.start, m.end, m.type) for m in mentions} & predicted
    if scheme == "BIO":
        assert decoded.tolist() == found.spans.tolist()
        assert found.lost.total() + len(exact) == len(mentions)
    # In IO two touching mentions may read as a third one that happens to be gold too, but was lost
    # to them.
    assert found.lost.total() <= len(mentions)
    assert len(mentions) - found.lost.total() <= len(exact)
    assert set(found.lost) <= set(REASONS)


@given(
    example=gold(), separates=st.booleans(), width=st.sampled_from([None, 2]), nested=st.booleans()
)
def test_types_that_do_not_compete_are_taught_as_if_each_were_alone(
    example: tuple[list[Mention], dict[str, Any]], separates: bool, width: int | None, nested: bool
) -> None:
    mentions, layout = example
    limits = {"separates": separates, "width": width, "nested": nested}
    found = aligned(mentions, layout, HeadLimits(across_types=True, **limits))
    alone = [
        aligned([m for m in mentions if m.type == kind], layout, HeadLimits(**limits))
        for kind in TYPES
    ]
    assert found.spans.tolist() == sorted(row for one in alone for row in one.spans.tolist())
    assert found.lost == alone[0].lost + alone[1].lost


@given(example=gold())
def test_of_types_that_do_not_compete_nothing_else_can_be_taught(
    example: tuple[list[Mention], dict[str, Any]],
) -> None:
    """By brute force: what is taught is flat within its type, and every other span of the gold
    would break that.
    """
    mentions, layout = example
    taught = [
        tuple(row)
        for row in aligned(mentions, layout, HeadLimits(across_types=True)).spans.tolist()
    ]
    every = {
        tuple(aligned([m], layout, HeadLimits()).spans[0].tolist())
        for m in mentions
        if len(aligned([m], layout, HeadLimits()).spans)
    }

    def clash(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        return one[2] == other[2] and one[0] < other[1] and other[0] < one[1]

    assert set(taught) <= every
    assert len(set(taught)) == len(taught)
    assert not any(clash(one, other) for one in taught for other in taught if one != other)
    assert all(any(clash(one, other) for other in taught) for one in every)

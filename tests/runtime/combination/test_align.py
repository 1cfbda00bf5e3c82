"""Several systems side by side: who said what, who has a vote, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Event, Mention
from fascicle.errors import InputError, UsageError
from fascicle.runtime.combination.align import MISSING, System, Votes, align

SPANS = st.sampled_from([((0, 2),), ((1, 4),), ((0, 1), (3, 4)), ((2, 5),)])
MENTIONS = st.builds(Mention, SPANS, st.sampled_from("XYZ"), score=st.none() | st.floats(0, 1))
SAID = st.dictionaries(st.sampled_from("abcd"), st.lists(MENTIONS, max_size=5), min_size=1)


def systems_of(*said: dict[str, list[Mention]], **known: Any) -> list[System]:
    return [System(name=f"s{n}", mentions=one, **known) for n, one in enumerate(said)]


def table(votes: Votes) -> dict[tuple[str, str, Any], set[str]]:
    """What was aligned, as a plain dictionary: identity -> names of those who said it."""
    found = {}
    for row, (start, end) in enumerate(zip(votes.bounds[:-1], votes.bounds[1:], strict=True)):
        entries = votes.entries[start:end]
        assert len({(m.type, m.spans) for m in entries}) == 1
        names = {
            name for name, said in zip(votes.systems, votes.predicted[row], strict=True) if said
        }
        assert len(entries) == len(names)
        found[votes.documents[votes.document[row]], entries[0].type, entries[0].spans] = names
    assert len(found) == len(votes.predicted)
    return found


@given(st.lists(SAID, min_size=2, max_size=4))
def test_the_table_equals_sets(said: list[dict[str, list[Mention]]]) -> None:
    said = [{"a": [], **one} for one in said]  # so that all have a document in common
    votes = align(systems_of(*said))
    expected: dict[Any, set[str]] = {}
    repeated = 0
    for number, one in enumerate(said):
        for identifier, mentions in one.items():
            repeated += len(mentions) - len({(m.type, m.spans) for m in mentions})
            for mention in mentions:
                expected.setdefault((identifier, mention.type, mention.spans), set()).add(
                    f"s{number}"
                )
    assert table(votes) == expected
    assert votes.duplicates == repeated
    assert votes.documents == tuple(sorted({i for one in said for i in one}))


def test_of_two_the_surer_one_is_kept() -> None:
    one, two, none = (Mention(((0, 2),), "X", score=score) for score in (0.2, 0.9, None))
    votes = align(systems_of({"a": [one, two, none]}, {"a": [none, one]}))
    assert (votes.entries, votes.duplicates) == ((two, one), 3)


@pytest.mark.parametrize(
    ("missing", "lists_all", "has_vote"),
    [
        ("auto", True, False),
        ("auto", False, True),
        ("no-vote", True, False),
        ("no-vote", False, False),
        ("empty", True, True),
        ("empty", False, True),
    ],
)
def test_documents_that_one_system_lacks(missing: Any, lists_all: bool, has_vote: bool) -> None:
    whole = System(name="whole", mentions={"a": [], "b": [Mention(((0, 1),), "X")]})
    part = System(name="part", mentions={"a": []}, lists_all=lists_all)
    votes = align([whole, part], missing=missing)
    assert votes.voters.tolist() == [[True, True], [True, has_vote]]
    assert (votes.unread, votes.assumed) == (
        ({}, {"part": ("b",)}) if has_vote else ({"part": ("b",)}, {})
    )
    with pytest.raises(InputError, match="part lacks 1 document: 'b' that other systems have"):
        align([whole, part], missing="refuse")
    assert align([whole, whole_copy(whole)], missing="refuse").unread == {}


def whole_copy(system: System) -> System:
    return System(name="copy", mentions=system.mentions)


def test_texts_are_compared_by_hash() -> None:
    said: dict[str, list[Mention]] = {"a": [], "b": [], "c": []}
    first = System(name="first", mentions=said, hashes={"a": "AA", "b": "bb", "c": "cc"})
    second = System(name="second", mentions=said, hashes={"c": "cd", "a": "aa", "b": "bc"})
    with pytest.raises(
        InputError, match=r"first and second .* different texts of document 'b' \(2 such documents"
    ):
        align([first, second])
    third = System(name="third", mentions=said, hashes={"a": "aa"})
    assert align([first, third]).hashes == {"a": "aa", "b": "bb", "c": "cc"}


def test_offsets_beyond_a_text_that_any_system_knows() -> None:
    reader = System(name="reader", mentions={"a": []}, lengths={"a": 4})
    fits = System(name="fits", mentions={"a": [Mention(((0, 4),), "X")]})
    beyond = System(name="beyond", mentions={"a": [Mention(((0, 1), (3, 5)), "X")]})
    assert len(align([reader, fits]).predicted) == 1
    with pytest.raises(
        InputError, match=r"beyond: in document 'a', which has 4 characters, .* 'X' ends at 5"
    ):
        align([reader, beyond])


def test_events_come_once_and_in_one_order() -> None:
    cut, gone = (Event(step="s", kind="loss", code=code, message="m") for code in ("cut", "gone"))
    first = System(name="first", mentions={"a": []}, events={"a": [gone, cut]})
    second = System(name="second", mentions={"a": []}, events={"a": [cut], "b": []})
    assert align([first, second]).events == align([second, first]).events == {"a": (cut, gone)}


def test_what_cannot_be_aligned() -> None:
    one, other = System(name="one", mentions={"a": []}), System(name="other", mentions={"b": []})
    with pytest.raises(UsageError, match=r"one system \(one\) was given; give .* at least two"):
        align([one])
    with pytest.raises(UsageError, match="no system was given"):
        align([])
    with pytest.raises(UsageError, match="two systems are called 'one'"):
        align([one, one])
    with pytest.raises(UsageError, match="choose from auto, no-vote, empty, refuse"):
        align([one, other], missing="all")  # type: ignore[arg-type]
    with pytest.raises(
        InputError, match=r"one \(1 document: 'a'\) and other \(1 document: 'b'\) have no document"
    ):
        align([one, other])
    with pytest.raises(InputError, match=r"other \(1 document: 'b'\) and one, two"):
        align([one, System(name="two", mentions={"a": []}), other])


def test_nothing_said_is_no_error() -> None:
    votes = align(systems_of({"a": []}, {"a": []}))
    assert votes.predicted.shape == (0, 2)
    assert (votes.bounds.tolist(), votes.document.dtype) == ([0], np.dtype(np.int64))
    assert MISSING[0] == "auto"

"""Ensembles as predictors, with members that say what they are told to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Event, Mention, Patch
from fascicle.core.mention import overlaps
from fascicle.errors import UsageError
from fascicle.runtime.ensemble import EnsemblePredictor
from fascicle.settings.recipes.ensemble import EnsembleManifest
from fascicle.text.annotator import Annotator

TEXT = "abcdefghij"
Said = list[tuple[int, int, str, float | None]]


class Parrot(Annotator):
    """Says the same about every text, in the order of the documents of a call."""

    def __init__(self, said: Said) -> None:
        self._said = said

    @property
    def name(self) -> str:
        return "parrot"

    @property
    def types(self) -> tuple[str, ...]:
        return ("A", "B")

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        add = tuple(
            Mention(((a, b),), t, score=s, source=self.name)
            for a, b, t, s in sorted(self._said, key=str)
        )
        return [
            Patch(add=add, events=(Event(step="x", kind="note", code="y", message="z"),))
            for _ in documents
        ]


@st.composite
def said(draw: st.DrawFn) -> Said:
    keys = draw(
        st.sets(st.tuples(st.integers(0, 7), st.integers(1, 3), st.sampled_from("AB")), max_size=6)
    )
    return [
        (a, a + w, t, draw(st.sampled_from([None, 0.25, 0.5, 1.0]))) for a, w, t in sorted(keys)
    ]


def ensemble(members: list[Said], **settings: Any) -> EnsemblePredictor:
    manifest = EnsembleManifest(
        name="all",
        fascicle="0",
        types=("A", "B"),
        members=tuple(map(str, range(len(members)))),
        **settings,
    )
    openers: list[Callable[[], Annotator]] = [lambda one=one: Parrot(one) for one in members]  # type: ignore[misc]
    return EnsemblePredictor(manifest, openers)


RULES: dict[str, Callable[[int, int], bool]] = {
    "union": lambda votes, n: votes >= 1,
    "majority": lambda votes, n: 2 * votes > n,
    "kofn": lambda votes, n: votes >= 2,
    "weighted": lambda votes, n: 2 * votes > n,
}


@given(members=st.lists(said(), min_size=2, max_size=4), rule=st.sampled_from(sorted(RULES)))
def test_rules_against_counting(members: list[Said], rule: str) -> None:
    more: dict[str, Any] = {"kofn": {"k": 2}, "weighted": {"weights": ("0.3",) * len(members)}}.get(
        rule, {}
    )
    document = Document(id="1", text=TEXT)
    found = ensemble(members, rule=rule, **more).predict([document, document])
    votes: dict[tuple[Any, ...], list[float | None]] = {}
    for one in members:
        for a, b, t, s in one:
            votes.setdefault((t, ((a, b),)), []).append(s)
    expected = {}
    for key, scores in votes.items():
        known = [s for s in scores if s is not None]
        if RULES[rule](len(scores), len(members)):
            expected[key] = sum(known) / len(known) if known else None
    for patch in found:  # documents of one id are two documents
        assert {(m.type, m.spans): m.score for m in patch.add} == pytest.approx(expected)
        assert {m.source for m in patch.add} <= {"all"}
        assert len(patch.events) == 1  # all members say the same
    assert document.mentions == ()
    assert ensemble(members[::-1], rule=rule, **more).predict([document])[0].add == found[0].add


@given(members=st.lists(said(), min_size=2, max_size=3))
def test_flat_output_is_the_best_choice_without_overlaps(members: list[Said]) -> None:
    document = Document(id="1", text=TEXT)
    nested = ensemble(members, rule="union").predict([document])[0].add
    patch = ensemble(members, rule="union", output="flat").predict([document])[0]
    support = {
        (m.type, m.spans): sum(
            1.0 if s is None else s
            for one in members
            for a, b, t, s in one
            if (t, ((a, b),)) == (m.type, m.spans)
        )
        for m in nested
    }
    assert set(patch.add) <= set(nested)
    chosen = list(patch.add)
    assert not any(overlaps(x.spans[0], y.spans[0]) for x in chosen for y in chosen if x is not y)

    def best(rest: list[Mention], end: int) -> float:
        if not rest:
            return 0.0
        first, *others = rest
        without = best(others, end)
        return (
            max(without, support[first.type, first.spans] + best(others, first.end))
            if first.start >= end
            else without
        )

    ordered = sorted(nested, key=lambda m: (m.start, m.end))
    assert sum(support[m.type, m.spans] for m in chosen) == pytest.approx(
        best(ordered, 0), abs=1e-4
    )
    assert len(patch.events) == 1 + (len(chosen) < len(nested))


def test_members_are_opened_for_each_call_and_not_held() -> None:
    opened: list[int] = []

    def opener(number: int) -> Annotator:
        opened.append(number)
        return Parrot([(0, 1, "A", 0.5)])

    manifest = EnsembleManifest(
        name="all", fascicle="0", types=("A",), rule="union", members=("0", "1")
    )
    both = EnsemblePredictor(manifest, [lambda: opener(0), lambda: opener(1)])
    assert both.predict([]) == []
    assert opened == []
    assert [len(d.mentions) for d in both.annotate(["a", "b"])] == [1, 1]
    assert opened == [0, 1]


def test_numbers_that_do_not_fit() -> None:
    with pytest.raises(UsageError, match="3 of 2 systems"):
        ensemble([[], []], rule="kofn", k=3)
    with pytest.raises(UsageError, match="1 weights were given for 2 systems"):
        ensemble([[], []], rule="weighted", weights=("1",))

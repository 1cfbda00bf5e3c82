"""Which mentions may stand beside each other, against a loop over all of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention
from fascicle.core.patches import apply
from fascicle.pipeline.steps import Choice
from fascicle.runtime.decoding.selection import select
from fascicle.settings.steps import Keep

TYPES = ("A", "B", "C")
spans = st.tuples(st.integers(0, 12), st.integers(1, 6)).map(
    lambda pair: ((pair[0], pair[0] + pair[1]),)
)
mentions = st.lists(
    st.builds(
        Mention,
        spans,
        st.sampled_from(TYPES),
        score=st.none() | st.integers(0, 4).map(lambda score: score / 4),
        source=st.sampled_from(("one", "two", "else")),
    ),
    max_size=14,
    unique_by=lambda one: one.key,
)
keeps = st.sampled_from(("all", "nested", "flat"))


def chosen(found: list[Mention], choice: Choice) -> set[Mention]:
    document = Document(id="a", text="x" * 20, mentions=tuple(found))
    (patch,) = choice.run([document])
    return set(apply(document, patch, step=choice.name, drops=choice.drops).mentions)


def may_stand_beside(one: Mention, other: Mention, keep: Keep, types: dict[str, Keep]) -> bool:
    if one.type != other.type and (one.type in types or other.type in types):
        return True
    mode = types.get(one.type, keep)
    characters, others = set(range(one.start, one.end)), set(range(other.start, other.end))
    if mode == "all" or not characters & others:
        return True
    if mode == "flat":
        return False
    if characters == others:
        return one.type != other.type
    return characters < others or others < characters


@settings(max_examples=50)
@given(mentions, keeps, st.dictionaries(st.sampled_from(TYPES), keeps, max_size=2))
def test_against_a_loop(found: list[Mention], keep: Keep, types: dict[str, Keep]) -> None:
    layers = ("two", "one")
    rank = lambda one: (  # noqa: E731
        -(1.0 if one.score is None else one.score),
        one.start - one.end,
        one.start,
        layers.index(one.source),
        one.type,
    )
    stays: list[Mention] = []
    for one in sorted((one for one in found if one.source in layers), key=rank):
        if all(may_stand_beside(one, other, keep, types) for other in stays):
            stays.append(one)
    choice = Choice(name="choice", layers=layers, keep=keep, types=types)
    assert chosen(found, choice) == {*stays, *(one for one in found if one.source == "else")}


@settings(max_examples=50)
@given(mentions)
def test_flat_is_the_greedy_rule_of_the_decoder_where_nothing_ties(found: list[Mention]) -> None:
    layer = [one for one in found if one.source == "one"]
    scored = [Mention(one.spans, one.type, (at + 1) / 100, "one") for at, one in enumerate(layer)]
    table = np.array([(one.start, one.end, TYPES.index(one.type)) for one in scored]).reshape(-1, 3)
    kept = select(table, np.array([one.score for one in scored]), decoding="greedy")
    assert chosen(scored, Choice(name="choice", layers=("one",), keep="flat")) == {
        scored[at] for at in kept
    }

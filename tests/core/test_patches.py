"""Patches against a naive oracle: offsets stay valid, only declared sources lose mentions,
nothing is lost for good.
"""

from __future__ import annotations

from functools import reduce
from itertools import permutations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.codec import decode, encode
from fascicle.core.document import (
    Document,
    Link,
    Mention,
    MentionKey,
    Patch,
    Relation,
    Section,
    in_order,
    unique,
)
from fascicle.core.patches import apply

TEXT = "lung cancer (LC) of mice"
SOURCES = ("gold", "model", "dictionary")
LINKS = (
    Link(id="D1", ontology="MESH", curie="MESH:D1", tier="exact"),
    Link(id="", ontology="MESH", nil=True),
)

offsets = st.integers(0, len(TEXT) - 1)


def mentions(*sources: str) -> st.SearchStrategy[Mention]:
    spans = st.tuples(offsets, st.integers(1, 3)).map(
        lambda at: ((at[0], min(at[0] + at[1], len(TEXT))),)
    )
    scores = st.none() | st.sampled_from([0.25, 0.5])
    return st.builds(
        Mention, spans, st.sampled_from("AB"), score=scores, source=st.sampled_from(sources)
    )


@st.composite
def documents(draw: st.DrawFn) -> Document:
    found, _ = unique(draw(st.lists(mentions(*SOURCES), max_size=8)))
    return Document(id="1", text=TEXT, mentions=found)


@st.composite
def patches(draw: st.DrawFn, document: Document, *, name: str, touches: tuple[str, ...]) -> Patch:
    """A patch of a step that adds under its own name, and drops, replaces and links mentions of
    some sources.
    """
    keys = [mention.key for mention in document.mentions if mention.source in touches]
    fates = draw(
        st.lists(
            st.sampled_from(["keep", "drop", "replace"]), min_size=len(keys), max_size=len(keys)
        )
    )

    def of(fate: str) -> list[MentionKey]:
        return [key for key, its in zip(keys, fates, strict=True) if its == fate]

    add = draw(st.lists(mentions(name), max_size=3))
    linked = of("keep") + [mention.key for mention in add]
    return Patch(
        add=tuple(add),
        drop=tuple(of("drop")),
        replace=tuple((key, draw(mentions(key[0]))) for key in of("replace")),
        links=tuple((key, LINKS) for key in dict.fromkeys(linked) if draw(st.booleans())),
        abbreviations=tuple(
            draw(st.sets(st.sampled_from([((13, 15), (0, 11)), ((0, 1), (0, 4))])))
        ),
    )


def naive(document: Document, patch: Patch) -> tuple[Mention, ...]:
    """The mentions after a patch, by plain loops."""
    found = list(document.mentions)
    gone = list(patch.drop) + [key for key, _ in patch.replace]
    found = [mention for mention in found if mention.key not in gone]
    for mention in [new for _, new in patch.replace] + list(patch.add):
        if mention.key not in [other.key for other in found]:
            found.append(mention)
    for key, links in patch.links:
        found = [
            msgspec.structs.replace(mention, links=mention.links + links)
            if mention.key == key
            else mention
            for mention in found
        ]
    return in_order(found)


@st.composite
def histories(draw: st.DrawFn) -> tuple[Document, list[tuple[str, Patch]]]:
    """A document, and the patches of three steps that each read what the one before left."""
    document = now = draw(documents())
    steps = []
    for name in ("one", "two", "three"):
        patch = draw(patches(now, name=name, touches=(*SOURCES, "one", "two")))
        steps.append((name, patch))
        now = apply(now, patch, step=name, drops=(*SOURCES, "one", "two"))
    return document, steps


@given(histories())
def test_apply_agrees_with_plain_loops(history: tuple[Document, list[tuple[str, Patch]]]) -> None:
    document, steps = history
    for name, patch in steps:
        after = apply(document, patch, step=name, drops=(*SOURCES, "one", "two"))
        assert after.mentions == naive(document, patch)
        assert all(0 <= start < end <= len(TEXT) for m in after.mentions for start, end in m.spans)
        assert set(after.abbreviations or ()) == {
            *(document.abbreviations or ()),
            *patch.abbreviations,
        }
        assert (after.id, after.text, after.meta) == (document.id, document.text, document.meta)
        assert decode(encode(after)) == after
        new = [event for event in after.events[len(document.events) :] if event.step == name]
        counts = {event.code: int(event.message.split(": ")[1].split()[0]) for event in new}
        assert len(counts) == len(new)  # each kind of change has one event
        assert sum(counts.values()) == len(patch.drop) + len(patch.replace)
        assert counts.keys() <= {"dropped", "replaced"}
        document = after


@given(histories())
def test_the_original_layer_of_every_source_stays(
    history: tuple[Document, list[tuple[str, Patch]]],
) -> None:
    document, steps = history
    last = reduce(
        lambda d, s: apply(d, s[1], step=s[0], drops=(*SOURCES, "one", "two")), steps, document
    )

    def bare(found: tuple[Mention, ...]) -> tuple[Mention, ...]:
        return tuple(msgspec.structs.replace(mention, links=()) for mention in found)

    for source in SOURCES:
        assert bare(last.layer(source, original=True)) == document.layer(source)
    for name, patch in steps:
        assert bare(last.layer(name, original=True)) == unique(patch.add)[0]


@given(st.data())
def test_a_step_touches_the_sources_that_it_declares(data: st.DataObject) -> None:
    document = data.draw(documents())
    declared = data.draw(st.sets(st.sampled_from(SOURCES)))
    patch = data.draw(patches(document, name="step", touches=SOURCES))
    touched = {key[0] for key in (*patch.drop, *(key for key, _ in patch.replace))}
    if not touched <= declared:
        with pytest.raises(ValueError, match="declares"):
            apply(document, patch, step="step", drops=declared)
        return
    after = apply(document, msgspec.structs.replace(patch, links=()), step="step", drops=declared)
    for source in set(SOURCES) - declared:
        assert after.layer(source) == document.layer(source)


@given(st.data())
def test_patches_of_one_document_that_touch_different_sources_come_in_any_order(
    data: st.DataObject,
) -> None:
    document = data.draw(documents())
    steps = [
        (
            f"of-{source}",
            source,
            data.draw(patches(document, name=f"of-{source}", touches=(source,))),
        )
        for source in SOURCES
    ]
    results = []
    for order in permutations(steps):
        result = document
        for name, source, patch in order:
            result = apply(result, patch, step=name, drops=(source,))
        results.append(result)
    first = results[0]
    for other in results[1:]:
        assert (other.mentions, other.abbreviations) == (first.mentions, first.abbreviations)
        assert sorted(map(str, other.events)) == sorted(map(str, first.events))
        for name in (*SOURCES, *(name for name, _, _ in steps)):
            assert other.layer(name, original=True) == first.layer(name, original=True)


DOCUMENT = Document(id="1", text=TEXT, mentions=(Mention(((0, 4),), "A"), Mention(((0, 11),), "A")))
SHORT, LONG = DOCUMENT.mentions[1], DOCUMENT.mentions[0]


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (Patch(drop=(("gold", "A", ((5, 6),)),)), "no such mention"),
        (Patch(drop=(SHORT.key, SHORT.key)), "more than once"),
        (Patch(drop=(SHORT.key,), replace=((SHORT.key, LONG),)), "more than once"),
        (Patch(replace=((SHORT.key, Mention(((0, 4),), "B", source="step")),)), "keep the source"),
        (Patch(replace=((SHORT.key, Mention(((0, 99),), "B")),)), "ends at 99"),
        (Patch(drop=(SHORT.key,), links=((SHORT.key, LINKS),)), "no such mention"),
        (Patch(sections=(Section(0, 99),)), "section"),
        (Patch(abbreviations=(((0, 99), (0, 1)),)), "abbreviation"),
        (Patch(sentences=((0, 99),)), "sentence"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(patch: Patch, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        apply(DOCUMENT, patch, step="step", drops=["gold"])


def test_lists_in_place_of_tuples_are_refused() -> None:
    with pytest.raises(ValueError, match="wrong type"):
        apply(Document(id="1", text=TEXT), Patch(add=(Mention([(0, 4)], "A"),)))  # type: ignore[arg-type]


@given(st.lists(mentions(*SOURCES), max_size=8))
def test_canonical_order_is_that_of_a_plain_sort(given: list[Mention]) -> None:
    def place(one: Mention) -> tuple[object, ...]:
        return one.start, -one.end, one.type, one.spans, one.source

    first = {one.key: one for one in reversed(given)}
    assert unique(given) == (tuple(sorted(first.values(), key=place)), len(given) - len(first))
    if len(first) == len(given):
        assert in_order(given) == in_order(reversed(given)) == unique(given)[0]
    else:
        with pytest.raises(ValueError, match="twice"):
            in_order(given)


def test_two_mentions_that_change_places() -> None:
    patch = Patch(
        replace=(
            (SHORT.key, msgspec.structs.replace(LONG, score=0.5)),
            (LONG.key, msgspec.structs.replace(SHORT, score=0.25)),
        )
    )
    after = apply(DOCUMENT, patch, drops=["gold"])
    assert [mention.score for mention in after.mentions] == [0.5, 0.25]
    assert after.layer("gold", original=True) == DOCUMENT.mentions
    assert [event.code for event in after.events] == ["replaced"]


def test_relations_follow_a_mention_that_is_replaced() -> None:
    relation = Relation(type="x", arguments=(("a", SHORT.key), ("b", LONG.key), ("c", SHORT.key)))
    moved = Mention(((0, 4),), "B")
    after = apply(
        DOCUMENT.having(relations=(relation,)), Patch(replace=((SHORT.key, moved),)), drops=["gold"]
    )
    assert after.relations == (
        Relation(type="x", arguments=(("a", moved.key), ("b", LONG.key), ("c", moved.key))),
    )
    assert apply(after, Patch(drop=(moved.key,)), drops=["gold"]).relations == after.relations


def test_relations_follow_a_mention_to_an_equal_one_that_is_there() -> None:
    relation = Relation(type="x", arguments=(("a", SHORT.key), ("b", LONG.key)))
    after = apply(
        DOCUMENT.having(relations=(relation,)), Patch(replace=((SHORT.key, LONG),)), drops=["gold"]
    )
    assert after.mentions == (LONG,)
    assert after.relations == (Relation(type="x", arguments=(("a", LONG.key), ("b", LONG.key))),)


def test_what_takes_no_place_is_dropped() -> None:
    after = apply(
        DOCUMENT,
        Patch(replace=((SHORT.key, msgspec.structs.replace(LONG, score=0.5)),)),
        drops=["gold"],
    )
    assert after.mentions == (LONG,)
    assert [event.code for event in after.events] == ["dropped"]


def test_the_document_keeps_its_own_sections_and_gets_those_that_it_lacks() -> None:
    patch = Patch(sections=(Section(0, 11, "title"),), abbreviations=(((13, 15), (0, 11)),))
    found = apply(DOCUMENT, patch)
    assert (found.sections, found.abbreviations) == (patch.sections, patch.abbreviations)
    assert apply(found, Patch(sections=(Section(0, 1, "body"),))) == found
    assert apply(DOCUMENT, Patch()).abbreviations is None


def test_a_link_says_what_it_is() -> None:
    document = apply(DOCUMENT, Patch(links=((SHORT.key, LINKS),)))
    assert document.layer("gold")[1].links == LINKS
    assert decode(encode(document)) == document
    for wrong in (
        {"id": "D1", "nil": True},
        {"id": "", "name": "lung", "nil": True},
        {"id": "D1", "curie": "D1"},
        {"id": "D1", "curie": "MESH: D1"},
        {"id": "D1", "curie": "1:D1"},
        {"id": "D1", "tier": "Exact"},
    ):
        with pytest.raises(ValueError, match=r"NIL|CURIE|tier"):
            Link(**wrong)
    for curie in (
        "MESH:D003920",
        "NCBIGene:7157",
        "cellosaurus:CVCL_0030",
        "GO:0005634",
        "orphanet.ordo:C1",
    ):
        assert Link(id="x", curie=curie).curie == curie

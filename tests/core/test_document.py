from __future__ import annotations

import gc
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.codec import decode, encode
from fascicle.core.document import (
    Document,
    Event,
    Link,
    Mention,
    Patch,
    Relation,
    Section,
    identities,
    in_order,
    unique,
)
from fascicle.core.patches import apply
from fascicle.errors import FormatError

AWKWARD = [
    "",
    "a\r\nb",
    "İstanbul",
    "e\u0301",
    "👩‍👩‍👧 family",
    "\u05e9\u05dc\u05d5\u05dd",
    "\x00\u2028",
    "𝔘nicode",
]

texts = st.one_of(st.sampled_from(AWKWARD), st.text(max_size=60))
names = st.text(min_size=1, max_size=5)


@st.composite
def ranges(draw: st.DrawFn, length: int) -> tuple[tuple[int, int], ...]:
    cuts = sorted(draw(st.sets(st.integers(0, length), max_size=6)))
    return tuple(zip(cuts[::2], cuts[1::2], strict=False))


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(texts)
    mentions = []
    for _ in range(draw(st.integers(0, 4))):
        fragments = draw(ranges(len(text)))
        if fragments:
            score = draw(st.none() | st.floats(0, 1))
            links = draw(
                st.lists(
                    st.builds(
                        Link, id=names, ontology=names, same=st.sampled_from([(), ("A:1", "B:2")])
                    ),
                    max_size=2,
                ).map(tuple)
            )
            mentions.append(
                Mention(fragments, draw(names), score=score, source=draw(names), links=links)
            )
    return Document(
        id=draw(names),
        text=text,
        sections=draw(
            st.none()
            | st.builds(
                lambda *facts: (Section(0, len(text), "title", facts),), st.tuples(names, names)
            )
        ),
        sentences=draw(st.none() | ranges(len(text))),
        words=draw(st.none() | ranges(len(text))),
        mentions=unique(mentions)[0],
        meta=draw(st.dictionaries(names, names, max_size=2)),
        events=(Event(step="test", kind="note", code="code", message=draw(names)),),
    )


@given(documents())
def test_the_codec_loses_nothing(document: Document) -> None:
    line = encode(document)
    assert b"\n" not in line
    assert decode(line) == document


@given(documents())
def test_mentions_are_hashable_and_in_canonical_order(document: Document) -> None:
    assert len(set(document.mentions)) == len(document.mentions)
    assert in_order(reversed(document.mentions)) == document.mentions


def test_the_garbage_collector_does_not_look_at_mentions() -> None:
    """A mention can be part of no cycle; tracking a hundred thousand of them took a fifth of the
    time of a vote.
    """
    assert not gc.is_tracked(Mention(((0, 1), (2, 3)), "A", links=(Link(id="1"),)))


def test_a_lone_surrogate_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"lone surrogate \(U\+D83D\) at character 1"):
        Document(id="1", text="a\ud83d")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b'{"id": "1"}',
        b'{"id":"1","text":"a","fascicle":99}',
        b'{"id":"1","text":"\\ud83d","fascicle":1}',
        b'{"id":"1","text":"abc","fascicle":1,"words":[[2,1]]}',
    ],
)
def test_what_is_no_document_is_refused(line: bytes) -> None:
    with pytest.raises(FormatError):
        decode(line)


def test_offsets_outside_the_text_are_refused() -> None:
    with pytest.raises(ValueError, match="has 3 characters, but a mention of type 'X' ends at 4"):
        Document(id="1", text="abc", mentions=(Mention(((0, 4),), "X"),))
    with pytest.raises(ValueError, match="sentence"):
        Document(id="1", text="abc", sentences=((0, 4),))


def test_the_same_mention_twice_is_refused_but_another_source_may_say_it() -> None:
    one = Mention(((0, 2),), "X")
    with pytest.raises(ValueError, match="occurs twice"):
        Document(id="1", text="abc", mentions=(one, msgspec.structs.replace(one, score=0.5)))
    both = Document(
        id="1", text="abc", mentions=(one, msgspec.structs.replace(one, source="model"))
    )
    assert both.layer("gold") == (one,)
    assert identities("1", both.mentions) == {("1", "X", ((0, 2),))}


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_score_is_a_probability(score: float) -> None:
    with pytest.raises(ValueError, match="probability"):
        Mention(((0, 1),), "X", score=score)


def test_a_patch_gives_sentences_and_words_to_a_document_that_has_none() -> None:
    patch = Patch(sentences=((0, 3),), words=((0, 1), (2, 3)))
    bare = Document(id="1", text="a b")
    assert (apply(bare, patch).sentences, apply(bare, patch).words) == (
        patch.sentences,
        patch.words,
    )
    given = Document(id="1", text="a b", sentences=(), words=((0, 3),))
    assert apply(given, patch) == given
    with pytest.raises(ValueError, match="word"):
        apply(bare, Patch(words=((0, 9),)))


PARTS = ("sections", "sentences", "words", "mentions", "abbreviations", "events", "changes")


@given(
    documents(),
    documents(),
    st.sampled_from(PARTS),
    st.sampled_from([((0, 1),), ((1, 1),), ((0, 99),)]),
)
def test_a_document_with_another_part_is_checked_as_a_new_one(
    one: Document, other: Document, part: str, pair: tuple[tuple[int, int], ...]
) -> None:
    value = (
        tuple((span, span) for span in pair) if part == "abbreviations" else getattr(other, part)
    )
    new, copy = (
        partial(make, **{part: value})
        for make in (partial(msgspec.structs.replace, one), one.having)
    )
    assert made(copy) == made(new)


def made(make: Callable[[], Document]) -> Document | str:
    """A document, or why there is none."""
    try:
        return make()
    except ValueError as error:
        return str(error)


def test_plain_data_of_a_document_and_of_its_mentions() -> None:
    link = Link(id="D1", ontology="MESH", curie="MESH:D1")
    document = Document(
        id="1", text="a tremor", mentions=(Mention(((2, 8),), "Disease", score=0.5, links=(link,)),)
    )
    (mention,) = document
    said = mention.to_dict()
    assert {name: said[name] for name in ("start", "end", "text", "type", "score", "source")} == {
        "start": 2,
        "end": 8,
        "text": "tremor",
        "type": "Disease",
        "score": 0.5,
        "source": "gold",
    }
    assert [one["curie"] for one in said["links"]] == ["MESH:D1"]
    found = json.loads(json.dumps(document.to_dict()))
    assert found == {"id": "1", "text": "a tremor", "mentions": [json.loads(json.dumps(said))]}


def test_a_mention_is_in_sections_by_name_or_by_attribute() -> None:
    sections = (
        Section(0, 3, "abstract-methods", (("page", "3"), ("source", "a=b"))),
        Section(2, 6, "abstracts", (("page", "4"), ("a=b", "c"), ("title", ""))),
    )
    document = Document(id="1", text="abcdef", sections=sections)
    first, between, second = (Mention((span,), "X") for span in ((0, 3), (1, 4), (4, 6)))
    for names, inside in (
        (["abstract"], [first]), (["page=3"], [first]), (["page=4", "title"], [second]), (["source=a=b"], [first]),
        (["page"], []), (["page="], []), (["=3"], []), (["page=3", "page=4"], [first, second]),
        (["a=b=c"], [second]), (["title"], []), (["title="], [second]),
    ):  # fmt: skip
        assert [one for one in (first, between, second) if document.is_in(one, names)] == inside


@pytest.mark.parametrize(
    "wrong",
    ["x", Relation(arguments=(("gold", "X", ((0, 1),)),)), Relation(arguments=(("a", None),))],
)
def test_what_is_no_relation_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="document 'a' has a part of the wrong type"):
        Document(id="a", text="b", relations=(wrong,))
    with pytest.raises(ValueError, match="document 'a' has a part of the wrong type"):
        Document(id="a", text="b").having(relations=(wrong,))

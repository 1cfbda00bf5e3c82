from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.tags import SCHEMES, TagCensus, decode_tags, split_tag, tag_scheme

TYPES = ("x", "y-z")
Span = tuple[int, int, str]


@st.composite
def flat_mentions(draw: st.DrawFn) -> tuple[int, list[Span]]:
    """A sentence length and mentions that do not overlap but may touch."""
    mentions, position = [], 0
    for gap, width, kind in draw(
        st.lists(
            st.tuples(st.integers(0, 2), st.integers(1, 4), st.sampled_from(TYPES)), max_size=6
        )
    ):
        mentions.append((position + gap, position + gap + width, kind))
        position += gap + width
    return position + draw(st.integers(0, 2)), mentions


def write(length: int, mentions: list[Span], scheme: str) -> list[str]:
    """Write mentions in any of the five schemes, straight from their definitions."""
    tags = ["O"] * length
    for start, end, kind in mentions:
        touches = any(other_end == start and other == kind for _, other_end, other in mentions)
        for at in range(start, end):
            first, last = at == start, at == end - 1
            if scheme in ("BIOES", "BILOU"):
                single, closing = ("S", "E") if scheme == "BIOES" else ("U", "L")
                prefix = single if first and last else "B" if first else closing if last else "I"
            elif scheme == "IOB2":
                prefix = "B" if first else "I"
            else:
                prefix = "B" if scheme == "IOB1" and first and touches else "I"
            tags[at] = f"{prefix}-{kind}"
    return tags


@pytest.mark.parametrize("scheme", ["IOB1", "IOB2", "BIOES", "BILOU"])
@given(sentence=flat_mentions())
def test_every_scheme_round_trips(scheme: str, sentence: tuple[int, list[Span]]) -> None:
    length, mentions = sentence
    tags = write(length, mentions, scheme)
    assert decode_tags(tags) == mentions
    census = TagCensus()
    census.add(tags)
    assert census.repairs == 0
    if mentions and scheme != "IOB1":
        allowed = {scheme, "IOB2"} if all(tag[0] in "OBI" for tag in tags) else {scheme}
        assert census.scheme in allowed


@pytest.mark.parametrize(
    ("tags", "mentions"),
    [
        ("I-x I-x B-x O", [(0, 2, "x"), (2, 3, "x")]),
        ("I-x I-y", [(0, 1, "x"), (1, 2, "y")]),
        ("B-x I-y I-y O I-x", [(0, 1, "x"), (1, 3, "y"), (4, 5, "x")]),
        ("E-x E-x", [(0, 1, "x"), (1, 2, "x")]),
        ("B-x E-x I-x", [(0, 2, "x"), (2, 3, "x")]),
        ("S-x I-x L-x U-x", [(0, 1, "x"), (1, 3, "x"), (3, 4, "x")]),
        ("B-x S-x B-x", [(0, 1, "x"), (1, 2, "x"), (2, 3, "x")]),
        ("B-a-b I-a-b", [(0, 2, "a-b")]),
        ("", []),
    ],
)
def test_reading_repairs_like_conlleval(tags: str, mentions: list[Span]) -> None:
    assert decode_tags(tags.split()) == mentions


@pytest.mark.parametrize("tag", ["B", "B-", "X-x", "", "o", "b-x", "Bx", "-x", "B_x"])
def test_malformed_tags_are_refused_by_name(tag: str) -> None:
    for refuse in (
        lambda: split_tag(tag),
        lambda: decode_tags(["O", tag]),
        lambda: TagCensus().add(["O", tag]),
    ):
        with pytest.raises(ValueError, match="is not 'O' or one of the prefixes"):
            refuse()


@pytest.mark.parametrize(
    ("sentences", "scheme", "repairs"),
    [
        (["O O", ""], "O", 0),
        (["I-x I-x O I-y I-x"], "IO", 0),
        (["I-x B-x O I-y"], "IOB1", 0),
        (["I-x B-x O I-y", "I-x", "O B-y"], "IOB1", 1),
        (["B-x I-x O B-y"], "IOB2", 0),
        (["B-x I-x", "I-x O B-x I-y", "B-x"], "IOB2", 2),
        (["B-x O I-y"], "IOB2", 1),  # as many repairs in IOB1
        (["B-x E-x S-y"], "BIOES", 0),
        (["B-x O", "S-x I-x E-x", "B-x E-y", "B-x"], "BIOES", 4),
        (["B-x I-x L-x U-y"], "BILOU", 0),
        (["U-x L-x B-x B-x L-x"], "BILOU", 2),
    ],
)
def test_census_names_scheme_and_counts_repairs(
    sentences: list[str], scheme: str, repairs: int
) -> None:
    census = TagCensus()
    for sentence in sentences:
        census.add(sentence.split())
    assert (census.scheme, census.repairs, census.sentences) == (scheme, repairs, len(sentences))


def test_labels_number_the_tags() -> None:
    assert tag_scheme("BIO").labels(["x", "y"]) == ("O", "B-x", "I-x", "B-y", "I-y")
    assert tag_scheme("IO").labels(["x", "y"]) == ("O", "I-x", "I-y")
    assert [SCHEMES[name].count(2) for name in ("BIO", "IO")] == [5, 3]
    with pytest.raises(ValueError, match="distinct"):
        tag_scheme("BIO").labels(["x", "x"])
    with pytest.raises(ValueError, match="choose one of BIO, IO"):
        tag_scheme("BIOES")


@given(sentence=flat_mentions())
def test_encoded_gold_reads_back(sentence: tuple[int, list[Span]]) -> None:
    length, mentions = sentence
    labels = tag_scheme("BIO").labels(TYPES)
    ids = tag_scheme("BIO").encode(
        [(start, end, TYPES.index(kind)) for start, end, kind in mentions], length=length
    )
    assert ids.shape == (length,)
    assert [labels[tag] for tag in ids] == write(length, mentions, "IOB2")
    ids = tag_scheme("IO").encode(
        [(start, end, TYPES.index(kind)) for start, end, kind in mentions], length=length
    )
    assert [tag_scheme("IO").labels(TYPES)[tag] for tag in ids] == write(length, mentions, "IO")


@pytest.mark.parametrize("spans", [[(0, 0, 0)], [(-1, 1, 0)], [(1, 4, 0)], [(0, 2, 0), (1, 3, 1)]])
def test_encode_refuses_what_tags_cannot_hold(spans: list[tuple[int, int, int]]) -> None:
    with pytest.raises(ValueError, match="span"):
        tag_scheme("BIO").encode(spans, length=3)


def test_legal_transitions() -> None:
    scheme = tag_scheme("BIO")
    labels = scheme.labels(TYPES)
    legal = scheme.legal(2)
    for source, before in enumerate(labels):
        for target, after in enumerate(labels):
            same = before != "O" and before[2:] == after[2:]
            assert legal[source, target] == (not after.startswith("I") or same)
    assert scheme.legal_start(2).tolist() == [True, True, False, True, False]
    assert tag_scheme("IO").legal(3).all()
    assert tag_scheme("IO").legal_start(3).all()
    assert scheme.legal(0).shape == (1, 1)
    assert np.all(scheme.legal(0))

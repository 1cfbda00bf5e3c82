"""How mentions lie to each other, to words and to sentences, against loops over everything."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention, unique
from fascicle.evaluation.doctor.checks.contract import Hit
from fascicle.evaluation.doctor.checks.relations import (
    across_sentences,
    crossing,
    discontinuous,
    edge_space,
    inside_word,
    nested,
    nested_in_own_type,
    same_span,
    touching,
)
from fascicle.evaluation.doctor.parts import CheckedDocument, CheckedPart, GivenPart, load_parts

TEXT = "ab cde. f  ghi jk lmn op. qr"
WORDS = ((0, 2), (3, 7), (8, 9), (11, 14), (15, 17), (18, 21), (22, 25), (26, 28))
SENTENCES = ((0, 7), (8, 25), (26, 28))

_SPAN = st.tuples(st.integers(0, 26), st.integers(1, 8)).map(
    lambda pair: (pair[0], min(28, sum(pair)))
)
_FRAGMENTS = (
    st.lists(_SPAN, min_size=1, max_size=2)
    .map(lambda spans: tuple(sorted(spans)))
    .filter(lambda spans: all(a[1] <= b[0] for a, b in pairwise(spans)))
)
_MENTIONS = st.lists(st.tuples(_FRAGMENTS, st.sampled_from("XY")), max_size=8)


def item_of(found: list[tuple[tuple[tuple[int, int], ...], str]]) -> CheckedDocument:
    mentions, _ = unique(Mention(tuple(sorted(spans)), kind) for spans, kind in found)
    document = Document(id="a", text=TEXT, words=WORDS, sentences=SENTENCES, mentions=mentions)
    given = GivenPart(
        part=CheckedPart(name="train", role="train"), path="x", documents=lambda: [document]
    )
    return load_parts([given])[0][0]


def characters(mention: Mention) -> set[int]:
    return {at for start, end in mention.spans for at in range(start, end)}


def places(find: Callable[[CheckedDocument], object], item: CheckedDocument) -> list[object]:
    return sorted(hit.spans for hit in find(item) if isinstance(hit, Hit))  # type: ignore[attr-defined]


def where(item: CheckedDocument, holds: Callable[[Mention], bool]) -> list[object]:
    return sorted(m.spans for m in item.mentions if holds(m))


def inside(a: Mention, b: Mention) -> bool:
    """By fragments: each one of a in one of b."""
    return a.spans != b.spans and all(
        any(y[0] <= x[0] and x[1] <= y[1] for y in b.spans) for x in a.spans
    )


@given(_MENTIONS)
def test_relations_between_mentions(found: list[tuple[tuple[tuple[int, int], ...], str]]) -> None:
    item = item_of(found)
    mentions = item.mentions
    assert places(nested, item) == where(item, lambda a: any(inside(a, b) for b in mentions))
    assert places(nested_in_own_type, item) == where(
        item, lambda a: any(inside(a, b) and a.type == b.type for b in mentions)
    )
    pairs = [(a, b) for i, a in enumerate(mentions) for b in mentions[i + 1 :]]
    crossings = [
        b.spans
        for a, b in pairs
        if characters(a) & characters(b)
        and not inside(a, b)
        and not inside(b, a)
        and a.spans != b.spans
    ]
    assert places(crossing, item) == sorted(crossings)
    assert places(discontinuous, item) == where(item, lambda a: len(a.spans) > 1)
    same = [
        b.spans for i, b in enumerate(mentions) if any(a.spans == b.spans for a in mentions[:i])
    ]
    assert places(same_span, item) == sorted(same)


@given(_MENTIONS)
def test_touching(found: list[tuple[tuple[tuple[int, int], ...], str]]) -> None:
    item = item_of(found)

    def sentence(offset: int) -> int:
        return max([i for i, (start, _) in enumerate(SENTENCES) if start <= offset], default=-1)

    def touches(b: Mention) -> bool:
        return any(
            a.type == b.type
            and a.end <= b.start
            and not TEXT[a.end : b.start].strip()
            and not TEXT[b.start].isspace()
            and sentence(a.end - 1) == sentence(b.start)
            for a in item.mentions
        )

    assert places(touching, item) == where(item, touches)


@given(_MENTIONS)
def test_borders(found: list[tuple[tuple[tuple[int, int], ...], str]]) -> None:
    item = item_of(found)
    borders = {at for start, end in WORDS for at in range(start + 1, end)}
    assert places(inside_word, item) == where(
        item, lambda m: any(start in borders or end in borders for start, end in m.spans)
    )
    assert places(edge_space, item) == where(
        item, lambda m: any(TEXT[start:end] != TEXT[start:end].strip() for start, end in m.spans)
    )
    breaks = {start for start, _ in SENTENCES if start}
    assert places(across_sentences, item) == where(
        item, lambda m: any(m.start < at < m.end for at in breaks)
    )


def test_sentences_of_the_segmenter_are_not_held_against_mentions() -> None:
    document = Document(id="a", text="He left. She came.", mentions=(Mention(((3, 12),), "X"),))
    given = GivenPart(
        part=CheckedPart(name="train", role="train"), path="x", documents=lambda: [document]
    )
    assert list(across_sentences(load_parts([given])[0][0])) == []

"""Mentions and corpora for property tests, and sets of characters to check against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from fascicle.core.document import Document, Mention
from fascicle.core.mention import Fragments
from fascicle.evaluation.comparison.comparing import Cells, make_cells
from fascicle.runtime.combination.align import System

TEXT = "IL-2 gene of T cells, il-2 GENE in a T"
TYPES = ("Cell", "Gene", "gene")
# of each document the gold and the predicted mentions
Corpus = list[tuple[tuple[Mention, ...], ...]]

_CROWDED = st.sampled_from([((0, 2),), ((1, 4),), ((0, 1), (3, 4)), ((2, 5),), ((4, 9),)])
# What one side says of four documents, not in the order of the alphabet; and gold that is not
# empty, with several such.
SAID = st.fixed_dictionaries(
    dict.fromkeys("cabd", st.lists(st.builds(Mention, _CROWDED, st.sampled_from("XY")), max_size=6))
)
CASES = st.tuples(
    SAID.filter(lambda said: any(said.values())), st.lists(SAID, min_size=2, max_size=4)
)


def cells_from(
    gold: dict[str, Any], said: Sequence[dict[str, Any]], *, order: Any = None, **options: Any
) -> Cells:
    """The table of systems that are called ``s0``, ``s1`` and so on, in another order if one is
    given.
    """
    named = [System(name=f"s{n}", mentions=said[n]) for n in order or range(len(said))]
    return make_cells(System(name="the gold", mentions=gold), named, **options)


@st.composite
def fragments(draw: st.DrawFn, *, length: int = len(TEXT)) -> Fragments:
    """One span, or up to three disjoint ones that may touch."""
    count = draw(st.sampled_from((1, 1, 1, 2, 3)))
    cuts = sorted(draw(st.sets(st.integers(0, length), min_size=2 * count, max_size=2 * count)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=True))
    if count > 1 and draw(st.booleans()):
        spans[1] = (spans[0][1], spans[1][1])
    return tuple(spans)


@st.composite
def mentions(
    draw: st.DrawFn, *, source: str = "gold", scored: bool = False, at_most: int = 7
) -> tuple[Mention, ...]:
    """Some mentions of ``TEXT`` with distinct type and spans."""
    keys = draw(
        st.lists(st.tuples(fragments(), st.sampled_from(TYPES)), max_size=at_most, unique=True)
    )
    score = st.sampled_from((0.0, 0.25, 0.5, 0.75, 1.0)) if scored else st.none()
    return tuple(Mention(spans, type_, score=draw(score), source=source) for spans, type_ in keys)


def corpora(*, scored: bool = False, at_most: int = 7) -> st.SearchStrategy[Corpus]:
    """Documents as pairs of gold and predicted mentions; some predictions are copies of gold
    ones.
    """

    @st.composite
    def pairs(draw: st.DrawFn) -> tuple[tuple[Mention, ...], ...]:
        gold = draw(mentions(at_most=at_most))
        said = draw(mentions(source="model", scored=scored, at_most=at_most))
        copied = draw(st.lists(st.sampled_from(gold), unique=True)) if gold else []
        known = {(m.type, m.spans) for m in said}
        said += tuple(
            Mention(m.spans, m.type, score=0.5 if scored else None, source="model")
            for m in copied
            if (m.type, m.spans) not in known
        )
        return gold, said

    return st.lists(pairs(), max_size=4)


def sides(corpus: Corpus) -> tuple[dict[str, tuple[Mention, ...]], dict[str, tuple[Mention, ...]]]:
    """Gold and predictions by document id."""
    return {str(i): pair[0] for i, pair in enumerate(corpus)}, {
        str(i): pair[1] for i, pair in enumerate(corpus)
    }


def documents(corpus: Corpus, *, text: str = TEXT) -> list[Document]:
    """The gold as documents."""
    return [Document(id=str(i), text=text, mentions=gold) for i, (gold, _) in enumerate(corpus)]


def characters(spans: Fragments) -> frozenset[int]:
    """The characters of a mention."""
    return frozenset(i for a, b in spans for i in range(a, b))

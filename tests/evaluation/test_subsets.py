"""Recall on subsets, against sets of characters and naive loops."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention
from fascicle.errors import InputError
from fascicle.evaluation.scoring.rules import Recall, gold_surfaces, nested_spans, subset_recall
from fascicle.formats.files import read
from fascicle.formats.records import JsonlOptions

from .strategies import characters, fragments

TEXT = "aabbabab ab aB"


@st.composite
def mentions(draw: st.DrawFn, *, source: str = "gold") -> tuple[Mention, ...]:
    keys = draw(
        st.lists(
            st.tuples(fragments(length=len(TEXT)), st.sampled_from("XY")), max_size=7, unique=True
        )
    )
    return tuple(Mention(spans, kind, source=source) for spans, kind in keys)


def naive_inner(gold: tuple[Mention, ...]) -> set[tuple[tuple[int, int], ...]]:
    return {m.spans for m in gold if any(characters(m.spans) < characters(o.spans) for o in gold)}


@given(mentions())
def test_inner_is_properly_inside_as_sets_of_characters(gold: tuple[Mention, ...]) -> None:
    assert nested_spans(gold)[0] == naive_inner(gold)
    assert nested_spans(reversed(gold))[0] == naive_inner(gold)


@given(st.lists(st.tuples(mentions(), mentions(source="model")), max_size=4), mentions())
def test_recall_against_a_naive_loop(
    pairs: list[tuple[tuple[Mention, ...], tuple[Mention, ...]]], train: tuple[Mention, ...]
) -> None:
    documents = [Document(id=str(i), text=TEXT, mentions=gold) for i, (gold, _) in enumerate(pairs)]
    predicted = {str(i): said for i, (_, said) in enumerate(pairs)}
    found = subset_recall(
        documents, predicted, known=gold_surfaces([Document(id="t", text=TEXT, mentions=train)])
    )
    names = {(m.text_in(TEXT), m.type) for m in train}
    expected = {name: [0, 0] for name in found}
    for gold, said in pairs:
        for m in gold:
            hit = any((m.type, m.spans) == (p.type, p.spans) for p in said)
            inside = any(characters(m.spans) < characters(o.spans) for o in gold)
            twin = any(
                o.type != m.type and characters(o.spans) == characters(m.spans) for o in gold
            )
            subsets = [
                "seen" if (m.text_in(TEXT), m.type) in names else "unseen",
                "inner" if inside else "outermost",
                *(
                    ["nested"]
                    if inside or any(characters(o.spans) < characters(m.spans) for o in gold)
                    else []
                ),
                *(["same_span"] if twin else []),
                "discontinuous" if len(m.spans) > 1 else "continuous",
            ]
            for name in subsets:
                expected[name][0] += 1
                expected[name][1] += hit
    assert {name: [r.gold, r.found] for name, r in found.items()} == expected
    total = sum(len(gold) for gold, _ in pairs)
    for parts in (("seen", "unseen"), ("inner", "outermost"), ("continuous", "discontinuous")):
        assert sum(found[name].gold for name in parts) == total
    without = subset_recall(documents, predicted, known=None)
    assert without == {name: found[name] for name in found if name not in ("seen", "unseen")}


def test_nothing_has_no_recall() -> None:
    assert Recall(gold=0, found=0).as_dict() == {"gold": 0, "found": 0, "recall": None}
    assert Recall(gold=4, found=1).as_dict() == {"gold": 4, "found": 1, "recall": 0.25}


def test_a_document_without_predictions_is_an_error() -> None:
    with pytest.raises(InputError, match="lack the document 'a'; give an empty entry"):
        subset_recall([Document(id="a", text="b")], {}, known=frozenset())


@pytest.mark.parametrize(
    ("part", "gold", "inner", "same"), [("dev", 2902, 458, 24), ("test", 4005, 658, 26)]
)
def test_the_inner_mentions_of_genia(
    fascicle_data: Path, part: str, gold: int, inner: int, same: int
) -> None:
    path = fascicle_data / "genia" / "event-docs.jsonl.gz"
    documents = list(read(str(path), format="jsonl", options=JsonlOptions(where=(("part", part),))))
    perfect = {d.id: d.layer("gold") for d in documents}
    found = subset_recall(documents, perfect, known=frozenset())
    assert found["inner"] == Recall(gold=inner, found=inner)
    assert found["outermost"] == Recall(gold=gold - inner, found=gold - inner)
    assert found["same_span"].gold == same

"""Predictions that are right but for a boundary, against a walk over all pairs."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import GOLD, Document, Mention
from fascicle.evaluation.breakdown.errors import find_mistakes
from fascicle.evaluation.breakdown.layout import read_lexicon
from fascicle.evaluation.scoring.inputs import layers
from studies.binder.partly_right import partly_right, summary

TEXT = "the human GR and human lymphocytes in a cell"
WORDS = TEXT.split()
STARTS = [sum(len(w) + 1 for w in WORDS[:i]) for i in range(len(WORDS))]


def mention(first: int, last: int, kind: str = "A", source: str = GOLD) -> Mention:
    return Mention(((STARTS[first], STARTS[last] + len(WORDS[last])),), kind, source=source)


def document(*mentions: Mention, identifier: str = "d") -> Document:
    return Document(id=identifier, text=TEXT, mentions=mentions)


def test_a_modifier_too_many() -> None:
    gold, said = document(mention(2, 2)), mention(1, 2, source="model")
    train = [
        document(mention(1, 2), mention(4, 5, "B")),
        document(mention(1, 2), mention(2, 2), identifier="e"),
    ]
    found = find_mistakes(layers([gold]), {"d": (said,)})
    (pair,) = partly_right(found, [gold], read_lexicon(train).frequency)
    assert (pair.predicted, pair.predicted_in_training) == ("human GR", 2)
    assert (pair.gold, pair.gold_in_training) == ("GR", 1)
    assert (pair.side, pair.change, pair.type, pair.document) == ("left", "longer", "A", "d")
    assert pair.context == TEXT
    assert pair.as_dict().keys() == {field.name for field in fields(pair)}
    assert summary([pair]) == {
        "pairs": 1,
        "kinds": {"left, longer": 1},
        "training": {"predicted": 1, "gold": 0, "same": 0, "neither": 0},
    }


SPANS = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 2), st.sampled_from("AB")),
    unique_by=lambda s: s[:2],
    max_size=5,
)


@given(gold=SPANS, said=SPANS, train=SPANS)
def test_every_pair_is_a_false_positive_beside_gold_of_its_type(
    gold: list[tuple[int, int, str]],
    said: list[tuple[int, int, str]],
    train: list[tuple[int, int, str]],
) -> None:
    of = {
        name: [mention(a, min(8, a + n), k, source) for a, n, k in spans]
        for name, source, spans in (
            ("gold", GOLD, gold),
            ("said", "model", said),
            ("train", GOLD, train),
        )
    }
    of = {
        name: list({(m.type, m.spans): m for m in mentions}.values())
        for name, mentions in of.items()
    }
    test = document(*of["gold"])
    found = find_mistakes(layers([test]), {"d": tuple(of["said"])})
    known = Counter(TEXT[m.start : m.end].lower() for m in of["train"])
    pairs = partly_right(
        found, [test], read_lexicon([document(*of["train"], identifier="t")]).frequency
    )
    exact = {(m.type, m.spans) for m in of["gold"]}
    wrong = {m.text_in(TEXT) for m in of["said"] if (m.type, m.spans) not in exact}
    for pair in pairs:
        assert pair.predicted in wrong
        assert pair.predicted != pair.gold or TEXT.count(pair.gold) > 1
        assert pair.predicted_in_training == known[pair.predicted.lower()]
        assert pair.gold_in_training == known[pair.gold.lower()]
    told = summary(pairs)
    assert (
        told["pairs"] == len(pairs) == sum(told["kinds"].values()) == sum(told["training"].values())
    )
    assert len(pairs) == sum(
        m.side == "fp" and m.kind.startswith("boundary-") and m.kind[9:] != "and-type"
        for m in found
    )

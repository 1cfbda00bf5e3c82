"""Strict scores against brute force, and at their edges."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Mention
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.scoring.scores import Counts, Rates, Scores, score

TYPES = ["Chemical", "Disease", "Gene"]


@st.composite
def mentions(draw: st.DrawFn) -> Mention:
    cuts = sorted(draw(st.sets(st.integers(0, 12), min_size=2, max_size=4)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    return Mention(
        tuple(sorted(pairs)), draw(st.sampled_from(TYPES)), score=draw(st.sampled_from([None, 0.5]))
    )


CORPORA = st.lists(
    st.tuples(st.lists(mentions(), max_size=6), st.lists(mentions(), max_size=6)), max_size=5
)


def scored(corpus: list[tuple[list[Mention], list[Mention]]], **options: object) -> Scores:
    gold = {str(i): pair[0] for i, pair in enumerate(corpus)}
    predicted = {str(i): pair[1] for i, pair in enumerate(corpus)}
    return score(gold, predicted, **options)  # type: ignore[arg-type]


def triple(rates: Rates) -> tuple[float, float, float]:
    return rates.precision, rates.recall, rates.f1


@given(CORPORA)
def test_equals_brute_force_sets(corpus: list[tuple[list[Mention], list[Mention]]]) -> None:
    found = scored(corpus)
    gold = {(i, m.type, m.spans) for i, (side, _) in enumerate(corpus) for m in side}
    predicted = {(i, m.type, m.spans) for i, (_, side) in enumerate(corpus) for m in side}
    assert found.counts == Counts(
        tp=len(gold & predicted), fp=len(predicted - gold), fn=len(gold - predicted)
    )
    for name in TYPES:
        g, p = ({x for x in side if x[1] == name} for side in (gold, predicted))
        assert found.by_type.get(name, Counts()) == Counts(
            tp=len(g & p), fp=len(p - g), fn=len(g - p)
        )
    precision = len(gold & predicted) / len(predicted) if predicted else 0.0
    recall = len(gold & predicted) / len(gold) if gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    assert found.micro.precision == precision
    assert found.micro.recall == recall
    assert found.micro.f1 == pytest.approx(f1)
    assert list(found.by_document) == [str(i) for i in range(len(corpus))]
    assert found.duplicates_gold == sum(len(g) for g, _ in corpus) - len(gold)
    assert found.duplicates_predicted == sum(len(p) for _, p in corpus) - len(predicted)


GENE = Mention(((0, 4),), "Gene")
CELL = Mention(((5, 9),), "Cell")


def test_macro_is_over_the_types_in_the_gold() -> None:
    found = score({"a": [GENE]}, {"a": [GENE, CELL]})
    assert found.macro == Rates(precision=1.0, recall=1.0, f1=1.0)
    assert found.micro.precision == 0.5
    assert found.by_type["Cell"] == Counts(fp=1)


@pytest.mark.parametrize(
    ("gold", "predicted", "zero", "binder"),
    [
        ([], [], (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
        ([GENE], [], (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
        ([], [GENE], (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
        ([GENE], [CELL], (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        ([GENE], [GENE], (1.0, 1.0, 1.0), (1.0, 1.0, 1.0)),
    ],
)
def test_zero_division(
    gold: list[Mention],
    predicted: list[Mention],
    zero: tuple[float, ...],
    binder: tuple[float, ...],
) -> None:
    assert triple(score({"a": gold}, {"a": predicted}).micro) == zero
    assert triple(score({"a": gold}, {"a": predicted}, zero_rule="binder").micro) == binder


def test_no_documents_at_all() -> None:
    assert score({}, {}).micro == score({}, {}).macro == Rates(precision=0.0, recall=0.0, f1=0.0)


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'one'.*zero, binder"):
        score({}, {}, zero_rule="one")  # type: ignore[arg-type]


def test_missing_documents_are_refused_or_reported() -> None:
    gold = {"a": [GENE], "b": [GENE], "c": []}
    with pytest.raises(InputError, match=r"lack 2 documents: 'b', 'c' of the 3"):
        score(gold, {"a": [GENE]})
    found = score(gold, {"a": [GENE]}, allow_missing=True)
    assert found.missing == ("b", "c")
    assert found.counts == Counts(tp=1, fn=1)


@pytest.mark.parametrize("allow_missing", [False, True])
def test_other_documents_are_refused(allow_missing: bool) -> None:
    with pytest.raises(InputError, match=r"name 1 document: 'x' that the gold does not have"):
        score({"a": [GENE]}, {"a": [], "x": []}, allow_missing=allow_missing)
    with pytest.raises(InputError, match="no document in common"):
        score({"a": [GENE]}, {"x": []}, allow_missing=allow_missing)
    with pytest.raises(InputError, match=r"6 documents: '0', '1', '2', '3', '4', \.\.\."):
        score({}, {str(i): [] for i in range(6)}, allow_missing=allow_missing)


def test_several_sources_on_one_side_are_refused() -> None:
    with pytest.raises(InputError, match=r"predictions hold mentions of 2 sources \(gold, seq\)"):
        score({"a": [GENE]}, {"a": [GENE, Mention(((5, 9),), "Cell", source="seq")]})


def test_as_dict_is_json() -> None:
    found = json.loads(
        json.dumps(score({"a": [GENE], "b": []}, {"a": [GENE, CELL]}, allow_missing=True).as_dict())
    )
    assert found["micro"] == {
        "precision": 0.5, "recall": 1.0, "f1": 2 / 3, "support": 1, "predicted": 2, "tp": 1, "fp": 1, "fn": 0,
    }  # fmt: skip
    assert found["types"]["Cell"]["fp"] == 1
    assert (found["documents"], found["missing_documents"], found["zero_rule"]) == (2, 1, "zero")


def test_equal_counts_of_many_documents_are_one_object() -> None:
    gold = {str(number): [Mention(((0, 1 + number),), "Gene")] for number in range(3)}
    found = score(gold, gold)
    assert len({id(counts) for counts in found.by_document.values()}) == 1

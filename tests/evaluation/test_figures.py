"""Undefined numbers are nothing, and say why."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Mention
from fascicle.evaluation.scoring.scores import (
    Counts,
    Figures,
    figures,
    figures_row,
    macro_row,
    score,
    undefined_numbers,
)

GENE, CELL = Mention(((0, 4),), "Gene"), Mention(((5, 9),), "Cell")
COUNTS = st.builds(Counts, tp=st.integers(0, 3), fp=st.integers(0, 3), fn=st.integers(0, 3))


@given(COUNTS)
def test_numbers_are_those_of_the_zero_rule_or_undefined(counts: Counts) -> None:
    found, by_rule = figures(counts), counts.rates("zero")
    for name, denominator in (
        ("precision", counts.predicted),
        ("recall", counts.support),
        ("f1", counts.predicted + counts.support),
    ):
        assert getattr(found, name) == (getattr(by_rule, name) if denominator else None)
        assert (name in found.undefined) == (denominator == 0)


def test_reasons() -> None:
    assert figures(Counts()).as_dict() == {
        "precision": None,
        "recall": None,
        "f1": None,
        "undefined": {
            "precision": "nothing was predicted",
            "recall": "there is no gold mention",
            "f1": "there is no gold mention and nothing was predicted",
        },
    }
    assert figures(Counts(fn=2)) == Figures(precision=None, recall=0.0, f1=0.0)
    assert figures(Counts(fp=2)) == Figures(precision=0.0, recall=None, f1=0.0)
    assert "undefined" not in figures_row(Counts(tp=1))


def test_macro_is_undefined_without_gold_or_types() -> None:
    assert macro_row(score({"a": [GENE]}, {"a": [GENE]})) == {
        "precision": 1.0,
        "recall": 1.0,
        "f1": 1.0,
    }
    for gold, rule, reason in (
        ([], "strict", "there is no gold mention"),
        ([GENE], "span", "does not look at types"),
    ):
        row = macro_row(score({"a": gold}, {"a": [CELL]}, rule=rule))  # type: ignore[arg-type]
        assert row["f1"] is None
        assert reason in row["undefined"]["f1"]


def test_what_is_undefined_is_listed_by_type() -> None:
    assert undefined_numbers(score({"a": [GENE]}, {"a": [CELL]})) == {
        "type Cell": {"recall": "there is no gold mention"},
        "type Gene": {"precision": "nothing was predicted"},
    }
    assert undefined_numbers(score({"a": [GENE]}, {"a": [GENE]})) == {}

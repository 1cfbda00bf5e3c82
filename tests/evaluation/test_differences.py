"""Paired tests of systems against the first, as they stand in a report."""

from __future__ import annotations

from fascicle.core.document import Document, Mention
from fascicle.evaluation.scoring.inputs import ScoredSystem, score_system
from fascicle.evaluation.scoring.scores import ONE_DOCUMENT
from fascicle.evaluation.uncertainty.intervals import bootstrap_difference
from fascicle.evaluation.uncertainty.significance import (
    holm_correction,
    paired_tests,
    randomisation_p_value,
)

GENE = Mention(((0, 4),), "Gene")


def systems(*found: int, gold: bool = True, documents: int = 40) -> list[ScoredSystem]:
    """Systems that find the only mention in so many of the documents."""
    texts = [
        Document(id=str(i), text="IL-2", mentions=(GENE,) if gold else ()) for i in range(documents)
    ]
    return [
        score_system(
            "same name",
            texts,
            predicted={d.id: (GENE,) if i < n else () for i, d in enumerate(texts)},
        )
        for n in found
    ]


def test_the_rows_are_those_of_the_tests_with_holms_correction() -> None:
    first, *others = systems(40, 20, 39, 40)
    rows = paired_tests([first, *others], resamples=200)
    p_values = [randomisation_p_value(one.strict, first.strict, shuffles=200) for one in others]
    assert [row["p_value"] for row in rows] == p_values
    assert [row["p_holm"] for row in rows] == holm_correction(p_values)
    assert rows[0]["p_holm"] == 3 * p_values[0] < 0.05
    for row, one in zip(rows, others, strict=True):
        whole = bootstrap_difference(one.strict, first.strict, resamples=200).as_dict()
        assert row["f1_interval"] == {
            name: value for name, value in whole.items() if name != "p_value"
        }
    assert rows[0]["f1_interval"]["estimate"] < 0


def test_one_system_has_no_row() -> None:
    assert paired_tests(systems(3)) == []


def test_where_there_is_no_test_it_says_why() -> None:
    (row,) = paired_tests(systems(1, 0, documents=1))
    assert (row["f1_interval"], row["p_value"], row["p_holm"]) == (None, None, None)
    assert set(row["undefined"].values()) == {ONE_DOCUMENT}
    first, second = paired_tests(systems(1, 0, 2, gold=False))
    assert set(first["undefined"].values()) == {"the F1 of one of the two is undefined"}
    assert second["f1_interval"]["estimate"] == 0.0
    (row,) = paired_tests(systems(0, 0, documents=0))
    assert set(row["undefined"].values()) == {"there is no document"}

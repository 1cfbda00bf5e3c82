"""Comparisons against sets, and their intervals against those of one system or of one pair."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings

from fascicle.core.document import Mention, identities
from fascicle.errors import UsageError
from fascicle.evaluation.comparison.comparing import Comparison, compare
from fascicle.evaluation.scoring.scores import score
from fascicle.evaluation.uncertainty.intervals import bootstrap_difference, bootstrap_f1
from fascicle.evaluation.uncertainty.significance import holm_correction, randomisation_p_value

from .strategies import CASES, cells_from


def compared(
    gold: dict[str, Any], said: list[dict[str, Any]], *, resamples: int = 20
) -> Comparison:
    cells = cells_from(gold, said)
    return compare(cells, cells.drawn(resamples=resamples, seed=0))


def all_of(said: dict[str, Any]) -> set[Any]:
    return {identity for i, mentions in said.items() for identity in identities(i, mentions)}


@given(CASES)
def test_counts_equal_those_of_sets(case: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    gold, said = all_of(case[0]), [all_of(one) for one in case[1]]
    found = compared(*case)
    everything, common = set().union(*said), set.intersection(*said)
    assert (found.documents, found.gold) == (4, len(gold))
    for measured, chosen in ((found.union, everything), (found.intersection, common)):
        counts = measured.counts
        assert (counts.tp, counts.fp, counts.fn) == (
            len(chosen & gold),
            len(chosen - gold),
            len(gold - chosen),
        )
    right = len(everything & gold)
    assert found.oracle_f1 == pytest.approx(2 * right / (right + len(gold)))
    for at, row in enumerate(found.rows):
        others = set().union(*(one for n, one in enumerate(said) if n != at))
        assert row.unique_true == len((said[at] - others) & gold)
        assert row.unique_false == len(said[at] - others - gold)
        assert row.by_type == score(case[0], case[1][at]).by_type
        for other in range(len(said)):
            assert found.found_by[at][other] == len((gold - said[at]) & said[other])
            assert found.avoided_by[at][other] == len((said[at] - gold) - said[other])
        for name, unique in found.unique_by_type.items():
            assert unique[at] == len({i for i in (said[at] - others) & gold if i[1] == name})
    for name, counts in found.types.items():
        of_type = {i for i in everything if i[1] == name}
        assert (counts.tp, counts.fp) == (len(of_type & gold), len(of_type - gold))
        assert counts.support == sum(i[1] == name for i in gold)
    for pair, (a, b) in zip(found.pairs, combinations(said, 2), strict=True):
        assert (pair.shared, pair.shared_true) == (len(a & b), len(a & b & gold))
        assert pair.agreement == pytest.approx(
            2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0
        )


@settings(max_examples=30)
@given(CASES)
def test_intervals_are_those_of_the_usual_bootstrap(
    case: tuple[dict[str, Any], list[dict[str, Any]]],
) -> None:
    found = compared(*case, resamples=50)
    scores = [score(case[0], one) for one in case[1]]
    for row, one in zip(found.rows, scores, strict=True):
        expected = bootstrap_f1(one, resamples=50)
        assert row.measured.f1.as_dict() == pytest.approx(expected.as_dict())
        for interval, rate in (
            (row.measured.precision, "precision"),
            (row.measured.recall, "recall"),
        ):
            assert interval.estimate == pytest.approx(getattr(one.micro, rate))
            assert interval.low <= interval.high
    chosen = list(combinations(scores, 2))
    differences = [bootstrap_difference(a, b, resamples=50) for a, b in chosen]
    shuffled = [randomisation_p_value(a, b, shuffles=50) for a, b in chosen]
    for pair, difference in zip(found.pairs, differences, strict=True):
        assert pair.difference.as_dict() == pytest.approx(difference.as_dict())
    assert [p.bootstrap_p for p in found.pairs] == pytest.approx(
        holm_correction([d.p_value for d in differences])
    )
    assert [p.randomisation_p for p in found.pairs] == shuffled
    assert [p.randomisation_p_corrected for p in found.pairs] == holm_correction(shuffled)


def test_a_clear_difference_is_shown_and_a_small_one_is_not() -> None:
    gold = {str(d): [Mention(((n, n + 1),), "X") for n in range(5)] for d in range(40)}
    good = {d: mentions[:4] for d, mentions in gold.items()}
    nearly = {d: mentions[: 3 if d == "7" else 4] for d, mentions in gold.items()}
    bad = {d: mentions[:2] for d, mentions in gold.items()}
    found = compared(gold, [good, nearly, bad], resamples=999)
    assert [pair.differ() for pair in found.pairs] == [False, True, True]
    assert found.pairs[1].bootstrap_p == pytest.approx(3 * 2 / 1000)


def test_one_system_cannot_be_compared() -> None:
    gold = {"a": [Mention(((0, 1),), "X")]}
    with pytest.raises(UsageError, match="at least two"):
        compared(gold, [gold])

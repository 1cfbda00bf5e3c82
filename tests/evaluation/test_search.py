"""Every subset under every rule against the combinations themselves, and what is chosen of them."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fascicle.core.document import Mention
from fascicle.errors import UsageError
from fascicle.evaluation.comparison.comparing import Cells
from fascicle.evaluation.comparison.search import MOST, Floors, ScoredCombination, choose, search
from fascicle.evaluation.scoring.scores import score
from fascicle.evaluation.uncertainty.intervals import bootstrap_difference, bootstrap_f1
from fascicle.runtime.combination.align import System, align
from fascicle.runtime.combination.rules import combine, k_of_n, majority, union, weighted

from .strategies import CASES, cells_from

Case = tuple[dict[str, Any], list[dict[str, Any]]]


def rows(cells: Cells, *, resamples: int = 10) -> tuple[ScoredCombination, ...]:
    return search(cells, cells.drawn(resamples=resamples, seed=0))


@settings(max_examples=40)
@given(CASES)
def test_every_combination_equals_combining_and_scoring(case: Case) -> None:
    gold, said = case
    found = {(one.members, one.rule): one for one in rows(cells_from(gold, said))}
    f1 = [f"{score(gold, one).micro.f1:.4f}" for one in said]
    expected = 0
    for size in range(2, len(said) + 1):
        for members in combinations(range(len(said)), size):
            votes = align([System(name=str(m), mentions=said[m]) for m in members])
            rules = [
                union(),
                majority(),
                *(k_of_n(k) for k in range(2, size + 1) if k != size // 2 + 1),
            ]
            if any(float(f1[m]) for m in members):
                rules.append(weighted([f1[m] for m in members]))
            for rule in rules:
                expected += 1
                scores = score(gold, combine(votes, rule))
                one = found[members, rule]
                assert one.counts == scores.counts
                interval = bootstrap_f1(scores, resamples=10)
                assert one.f1_interval == pytest.approx((interval.low, interval.high))
    assert len(found) == expected


@given(CASES, st.randoms(use_true_random=False))
def test_the_best_come_first_whatever_the_order_of_the_systems(
    case: Case, chance: random.Random
) -> None:
    gold, said = case
    found = rows(cells_from(gold, said))
    assert [one.f1 for one in found] == sorted((one.f1 for one in found), reverse=True)
    order = list(range(len(said)))
    chance.shuffle(order)
    shuffled = rows(cells_from(gold, said, order=order))

    def named(one: ScoredCombination, of: list[int]) -> tuple[Any, ...]:
        return {of[m] for m in one.members}, one.rule.name, one.rule.votes, one.counts, one.repeats

    assert [named(one, list(range(len(said)))) for one in found] == [
        named(one, order) for one in shuffled
    ]


@given(CASES)
def test_repeats_are_those_that_keep_the_same(case: Case) -> None:
    gold, said = case
    seen = set()
    for one in rows(cells_from(gold, said)):
        votes = align([System(name=str(m), mentions=said[m]) for m in one.members])
        kept = frozenset(
            (i, m.type, m.spans) for i, ms in combine(votes, one.rule).items() for m in ms
        )
        assert one.repeats == (kept in seen)
        seen.add(kept)


@given(CASES, st.floats(0, 1), st.floats(0, 1))
def test_what_is_chosen_is_the_best_of_all_that_reach_the_floor(
    case: Case, recall: float, precision: float
) -> None:
    cells = cells_from(*case)
    drawn = cells.drawn(resamples=10, seed=0)
    found = search(cells, drawn)
    for floors in (Floors(recall=recall, precision=precision), Floors()):
        choices = choose(cells, drawn, found, floors=floors)
        single = score(case[0], case[1][choices.single]).micro
        assert single.f1 == max(score(case[0], one).micro.f1 for one in case[1])
        by_f1, by_precision, by_recall = choices.choices
        assert by_f1.chosen is not None
        assert by_f1.chosen.candidate == found[0]
        for choice, floor, own, wanted, demanded in (
            (by_precision, floors.recall, single.recall, "precision", "recall"),
            (by_recall, floors.precision, single.precision, "recall", "precision"),
        ):
            assert choice.floor == (own if floor is None else floor)
            enough = [one for one in found if getattr(one, demanded) >= choice.floor]
            assert choice.reachable == max(getattr(one, demanded) for one in found)
            assert (choice.chosen is None) == (not enough) == (choice.reachable < choice.floor)
            if choice.chosen is not None:
                assert choice.chosen.candidate in enough
                best = max(getattr(one, wanted) for one in enough)
                assert getattr(choice.chosen.candidate, wanted) == best
                equal = [one.f1 for one in enough if getattr(one, wanted) == best]
                assert choice.chosen.candidate.f1 == max(equal)


@settings(max_examples=30)
@given(CASES)
def test_the_gain_is_a_paired_difference(case: Case) -> None:
    cells = cells_from(*case)
    drawn = cells.drawn(resamples=50, seed=0)
    choices = choose(cells, drawn, search(cells, drawn), floors=Floors())
    chosen = choices.choices[0].chosen
    assert chosen is not None
    votes = align([System(name=str(m), mentions=case[1][m]) for m in chosen.candidate.members])
    combined = score(case[0], combine(votes, chosen.candidate.rule))
    expected = bootstrap_difference(combined, score(case[0], case[1][choices.single]), resamples=50)
    assert (chosen.gain.estimate, chosen.gain.low, chosen.gain.high) == pytest.approx(
        (expected.estimate, expected.low, expected.high)
    )
    assert chosen.measured.f1.as_dict() == pytest.approx(
        bootstrap_f1(combined, resamples=50).as_dict()
    )


def test_many_systems_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(0)
    everything = [Mention(((n, n + 1),), "X") for n in range(30)]
    gold = {"a": everything[:20]}
    said = [{"a": [m for m in everything if chance.random() < 0.5]} for _ in range(5)]
    whole = rows(cells_from(gold, said))
    monkeypatch.setattr("fascicle.evaluation.comparison.search._AT_ONCE", 7)
    assert rows(cells_from(gold, said)) == whole
    # union, majority, weighted; k of n for every other k
    assert len(whole) == 10 * 3 + 10 * 4 + 5 * 5 + 6
    with pytest.raises(UsageError, match=f"at most {MOST}"):
        rows(cells_from(gold, said * 3))


@pytest.mark.parametrize("floors", [{"recall": 1.1}, {"precision": -0.1}, {"recall": float("nan")}])
def test_floors_are_shares(floors: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="give a share from 0 to 1"):
        Floors(**floors)

"""Approximate randomisation against all swaps, and Holm's correction against a loop."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Mention
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.scoring.scores import Counts, Scores, score
from fascicle.evaluation.uncertainty import significance
from fascicle.evaluation.uncertainty.significance import holm_correction, randomisation_p_value

GOLD = 5  # mentions of each document
ANSWERS = st.tuples(st.integers(0, GOLD), st.integers(0, 4))  # true and false positives
PAIRS = st.lists(st.tuples(ANSWERS, ANSWERS), min_size=1, max_size=7)


def made(answers: list[tuple[int, int]]) -> Scores:
    counts = [Counts(tp=tp, fp=fp, fn=GOLD - tp) for tp, fp in answers]
    total = Counts(
        tp=sum(c.tp for c in counts), fp=sum(c.fp for c in counts), fn=sum(c.fn for c in counts)
    )
    return Scores(counts=total, by_type={}, by_document={str(i): c for i, c in enumerate(counts)})


def exact(pairs: list[tuple[tuple[int, int], tuple[int, int]]]) -> float:
    """The share of all 2^n swaps in which the two differ at least as much."""

    def gap(swapped: list[tuple[tuple[int, int], tuple[int, int]]]) -> float:
        first, second = (made([pair[side] for pair in swapped]) for side in (0, 1))
        return abs(first.micro.f1 - second.micro.f1)

    coins = list(product((False, True), repeat=len(pairs)))
    gaps = [
        gap([(b, a) if coin else (a, b) for coin, (a, b) in zip(toss, pairs, strict=True)])
        for toss in coins
    ]
    return sum(one >= gap(pairs) - 1e-12 for one in gaps) / len(gaps)


@given(PAIRS)
def test_randomisation_comes_near_the_enumeration_of_all_swaps(
    pairs: list[tuple[tuple[int, int], tuple[int, int]]],
) -> None:
    first, second = (made([pair[side] for pair in pairs]) for side in (0, 1))
    found = randomisation_p_value(first, second, shuffles=4000)
    assert found == pytest.approx(exact(pairs), abs=0.05)  # six standard errors and more
    assert found == randomisation_p_value(second, first, shuffles=4000)
    assert 1 / 4001 <= found <= 1


def test_systems_that_differ_nowhere_or_everywhere() -> None:
    good, bad = made([(5, 0)] * 40), made([(2, 3)] * 40)
    assert randomisation_p_value(good, good, shuffles=99) == 1.0
    assert randomisation_p_value(good, bad, shuffles=999) == 0.001


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (
        made([(i % 6, i % 3) for i in range(30)]),
        made([((i + 1) % 6, i % 2) for i in range(30)]),
    )
    whole = randomisation_p_value(first, second, shuffles=500, seed=3)
    monkeypatch.setattr(significance, "_SWAPS_AT_ONCE", 100)
    assert (
        randomisation_p_value(first, second, shuffles=500, seed=3)
        == whole
        != randomisation_p_value(first, second, shuffles=500)
    )


def test_what_cannot_be_tested() -> None:
    gene = Mention(((0, 4),), "Gene")
    with pytest.raises(InputError, match="same documents"):
        randomisation_p_value(
            score({"a": [gene]}, {"a": [gene]}), score({"b": [gene]}, {"b": [gene]})
        )
    with pytest.raises(UsageError, match="0 shuffles"):
        randomisation_p_value(made([(1, 0)]), made([(1, 0)]), shuffles=0)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_equals_a_loop(values: list[float]) -> None:
    expected = [0.0] * len(values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=lambda i: values[i])):
        largest = max(largest, (len(values) - rank) * values[index])
        expected[index] = min(1.0, largest)
    assert holm_correction(values) == pytest.approx(expected)


def test_holm_on_a_known_example() -> None:
    assert holm_correction([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm_correction([]) == []
    for wrong in ([-0.1], [1.1], [float("nan")]):
        with pytest.raises(UsageError, match="each must be from 0 to 1"):
            holm_correction(wrong)

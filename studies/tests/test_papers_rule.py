"""The rule of the page of papers: what numbers may be called reproduced, and what they may not."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.papers.rule import (
    DIFFERS,
    DRAWN,
    NOT_AT_HAND,
    NOT_RUN,
    OTHER_SIZE,
    REPRODUCED,
    TESTED,
    UNDECIDED,
    WITHIN_CHANCE,
    Compared,
    Counted,
    state_of,
)
from studies.papers.sources import (
    between,
    half_of_mean,
    minutes,
    other_machine,
    proportion,
    with_all_of_seeds,
)
from studies.papers.tinybern2 import carrying


def compared(
    paper: float | None, here: float, low: float | None, high: float | None, **more: object
) -> Compared:
    made = Compared(what="a less b", paper=paper, here=here, low=low, high=high, seeds=3)
    return dataclasses.replace(made, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "state"),
    [
        (compared(1.0, 1.2, 0.4, 2.0), REPRODUCED),
        (compared(-1.0, -1.2, -2.0, -0.4), REPRODUCED),
        (compared(1.0, 1.2, -0.1, 2.5), WITHIN_CHANCE),
        (compared(1.0, 0.5, None, None), WITHIN_CHANCE),
        (compared(0.5, 1.0, 0.03, 2.0), WITHIN_CHANCE),  # at the border of chance
        (compared(-0.5, -1.0, -2.0, -0.03), WITHIN_CHANCE),
        (compared(1.0, -0.1, -0.5, 0.3), UNDECIDED),  # another direction, within chance
        (compared(1.0, -0.5, None, None), UNDECIDED),
        (compared(1.0, -0.5, -1.0, -0.02), UNDECIDED),  # at the border of chance
        (compared(1.0, -0.5, -1.0, -0.2), DIFFERS),
        (compared(-1.0, 0.5, 0.2, 1.0), DIFFERS),
        (compared(17.3, 6.2, 4.4, 7.7), OTHER_SIZE),  # beyond chance, and less than half as large
        # its ends are none of a 95 % interval
        (compared(17.3, 6.2, 4.4, 7.7, loose=True), WITHIN_CHANCE),
        (compared(1.0, 6.2, 4.4, 7.7), OTHER_SIZE),  # beyond chance, and more than twice as large
        (compared(1.0, 1.9, 1.2, 2.6), REPRODUCED),
        # more than twice as large, though it may be less
        (compared(1.0, 2.9, 1.2, 4.6), WITHIN_CHANCE),
        # less than half as large, though it may be more
        (compared(-2.0, -0.9, -1.7, -0.1), WITHIN_CHANCE),
        (compared(1.0, 1.2, 0.4, 2.0, doubt="over sentences"), WITHIN_CHANCE),
        (compared(1.0, -1.2, -2.0, -0.4, doubt="over sentences"), UNDECIDED),
        (
            compared(17.3, 6.2, 4.4, 7.7, doubt="quartiles"),
            OTHER_SIZE,
        ),  # a doubt brings a number no nearer to the paper
        (compared(2.6, 0.02, -3.8, 3.8), UNDECIDED),  # so near to none that it has no direction
        (compared(-2.6, -0.02, None, None), UNDECIDED),
        (compared(1, 0.03, -0.7, 0.7, drawn=True), UNDECIDED),
        (compared(2.0, 1.03, 0.8, 1.1, unit="times"), UNDECIDED),
        (compared(None, 1.6, 0.7, 2.5), TESTED),  # the paper makes no such comparison
        # a wide interval agrees with all
        (compared(68.7, 70.9, 68.5, 73.3, unit="level", margin=2.0), UNDECIDED),
        (compared(0.1, 3.5, 2.7, 4.3, doubt="over sentences"), UNDECIDED),
        (
            compared(91.8, 91.0, 90.2, 91.7, unit="level", margin=2.0, doubt="chosen by it"),
            WITHIN_CHANCE,
        ),
        (compared(0.1, 3.5, 2.7, 4.3), DIFFERS),  # the paper has no difference
        (compared(0.0, 0.78, 0.0, 1.54), WITHIN_CHANCE),  # at the border of chance
        (compared(0.1, 0.2, -0.5, 0.9), REPRODUCED),
        (compared(0.1, 0.2, -0.5, 1.1), WITHIN_CHANCE),
        (compared(91.8, 91.0, 90.2, 91.7, unit="level", margin=2.0), REPRODUCED),
        (compared(91.8, 90.0, 88.2, 91.7, unit="level", margin=2.0), WITHIN_CHANCE),
        (compared(91.8, 80.0, 79.2, 81.7, unit="level", margin=2.0), DIFFERS),
        # nothing says how sure it is
        (compared(91.8, 80.0, None, None, unit="level", margin=2.0), UNDECIDED),
        (compared(0.0, 1.2, None, None), UNDECIDED),
        (compared(0.0, 0.9, None, None), WITHIN_CHANCE),
        # A level of another split, train part or machine does not say that the paper's number is
        # another one.
        (
            compared(91.8, 80.0, 79.2, 81.7, unit="level", margin=2.0, doubt="a split of our own"),
            UNDECIDED,
        ),
        (compared(91.8, 80.0, 79.2, 81.7, unit="level", margin=2.0, elsewhere=True), UNDECIDED),
        (compared(91.8, 91.0, 90.2, 91.7, unit="level", margin=2.0, elsewhere=True), WITHIN_CHANCE),
        (compared(0.0, 1.2, 0.4, 2.0, elsewhere=True, corpus="a half"), UNDECIDED),
        # a direction is not a level
        (compared(1.0, -1.2, -2.0, -0.4, elsewhere=True, corpus="a half"), DIFFERS),
        (compared(8.0, 6.2, 5.9, 6.5, unit="times"), REPRODUCED),
        (compared(8.0, 4.2, 3.9, 4.8, unit="times"), WITHIN_CHANCE),
        # less than half of what exceeds 1
        (compared(17.5, 5.0, 3.4, 7.2, unit="times"), OTHER_SIZE),
        (compared(1 / 8.0, 1 / 6.2, 1 / 6.5, 1 / 5.9, unit="times"), REPRODUCED),
        (compared(1.1, 0.6, 0.4, 0.8, unit="times"), DIFFERS),
        (compared(1, 9.0, 8.0, 10.0, drawn=True), REPRODUCED),
        (Counted(what="mentions", paper=960, here=960), REPRODUCED),
        (Counted(what="mentions", paper=4244, here=4246), DIFFERS),
    ],
)
def test_one_comparison(one: Compared | Counted, state: str) -> None:
    assert one.verdict == state
    assert state_of([one]) == state


def test_the_interval_of_one_seed_has_the_chance_between_seeds_in_it() -> None:
    several = compared(1.0, 1.2, 0.4, 2.0, deviation=0.5)
    alone = dataclasses.replace(several, seeds=1)
    assert (several.verdict, alone.verdict) == (REPRODUCED, WITHIN_CHANCE)
    low, high = alone.interval or (0.0, 0.0)
    between = 1.96 * 2**0.5 * 0.5
    assert (low, high) == pytest.approx(
        (1.2 - (0.8**2 + between**2) ** 0.5, 1.2 + (0.8**2 + between**2) ** 0.5)
    )


def test_a_level_that_may_be_chance_between_seeds_is_not_another_one() -> None:
    several = compared(0.0, 0.8, 0.3, 1.3)
    alone = dataclasses.replace(several, seeds=1, deviation=0.5)
    assert (several.verdict, alone.verdict) == (DIFFERS, WITHIN_CHANCE)


def test_a_row_is_as_good_as_its_worst_comparison() -> None:
    good, weak, bad = (
        compared(1, 1, 0.5, 1.5),
        compared(1, 1, -0.5, 1.5),
        compared(1, -1, -1.5, -0.5),
    )
    assert state_of([good, good]) == REPRODUCED
    assert state_of([good, weak]) == WITHIN_CHANCE
    other, large = compared(1, -1, -1.5, 0.5), compared(1, 9, 8, 10)
    assert state_of([good, weak, large]) == OTHER_SIZE
    assert state_of([good, large, other]) == UNDECIDED
    assert state_of([good, other, bad]) == DIFFERS
    assert state_of([]) == NOT_RUN


def test_what_the_paper_does_not_compare_hides_no_difference() -> None:
    ours = compared(None, 1.6, 0.7, 2.5)
    assert state_of([ours, ours]) == TESTED
    with pytest.raises(ValueError, match="in a row of its own"):
        state_of([ours, compared(1, -1, -1.5, -0.5)])


@pytest.mark.parametrize(
    ("paper", "unit"), [(2.0, "points"), (2.0, "times"), (1, "times"), (None, "points")]
)
def test_a_direction_in_words_has_no_size(paper: float | None, unit: str) -> None:
    with pytest.raises(ValueError, match="leave paper out"):
        compared(paper, 1.03, 0.8, 1.1, unit=unit, drawn=True)


def test_one_corpus_that_is_not_of_the_paper_reproduces_nothing() -> None:
    here = compared(1, 1, 0.5, 1.5, corpus="conll04", elsewhere=True)
    there = dataclasses.replace(here, corpus="scierc")
    assert state_of([here, here]) == WITHIN_CHANCE
    assert state_of([here, there]) == REPRODUCED


@pytest.mark.parametrize("said", [REPRODUCED, WITHIN_CHANCE, DIFFERS])
def test_agreement_and_difference_are_never_said(said: str) -> None:
    with pytest.raises(ValueError, match="may not be said"):
        state_of([], said)


def test_a_state_is_not_said_beside_numbers() -> None:
    assert state_of([], DRAWN) == DRAWN
    with pytest.raises(ValueError, match="may not be said"):
        state_of([compared(1, 1, 0.5, 1.5)], DRAWN)
    assert state_of([compared(1, 1, 0.5, 1.5)], NOT_AT_HAND) == NOT_AT_HAND


NUMBERS = st.floats(-50, 50, allow_nan=False)


@given(NUMBERS, NUMBERS, st.floats(0, 20), st.floats(0, 20), st.integers(1, 3), st.floats(0, 3))
def test_reproduced_needs_the_sign_of_the_paper_beyond_chance(
    paper: float, here: float, below: float, over: float, seeds: int, deviation: float
) -> None:
    one = compared(paper, here, here - below, here + over, seeds=seeds, deviation=deviation)
    mirrored = compared(
        -paper, -here, -here - over, -here + below, seeds=seeds, deviation=deviation
    )
    assert one.verdict == mirrored.verdict
    doubted = dataclasses.replace(one, doubt="another split")
    assert doubted.verdict in {WITHIN_CHANCE, UNDECIDED, OTHER_SIZE}
    assert (doubted.verdict == OTHER_SIZE) == (one.verdict == OTHER_SIZE)
    assert (doubted.verdict == UNDECIDED) == (one.verdict in {DIFFERS, UNDECIDED})
    if one.verdict == REPRODUCED and abs(paper) > 0.15:
        low, high = one.interval or (0.0, 0.0)
        assert (low > 0) == (paper > 0)
        assert (high > 0) == (paper > 0)


@given(st.integers(0, 50), st.integers(1, 50))
def test_a_share_lies_in_its_interval(right: int, more: int) -> None:
    found = proportion(right, right + more)
    assert -1e-9 <= found["low"] <= found["here"] <= found["high"] <= 100 + 1e-9


def run(accelerator: str | None = None, precision: str | None = None) -> dict[str, object]:
    return {"facts": {"environment": {"accelerator": accelerator}, "precision": precision}}


@pytest.mark.parametrize(
    ("pairs", "doubt"),
    [
        ([(run(), run())], ""),
        (
            [(run("a GPU", "fp32"), run("a GPU", "fp32")), (run(None, "bf16"), run(None, "bf16"))],
            "",
        ),
        (
            [(run(), run()), (run("a GPU", "fp32"), run(None, "bf16"))],
            "one on a GPU and one on a CPU",
        ),
        ([(run(None, "fp32"), run(None, "bf16"))], "one in bf16 and one in fp32"),
        ([(run(None, "fp32"), run())], ""),  # an early result does not say its precision
    ],
)
def test_a_pair_of_other_machines_has_a_doubt(
    pairs: list[tuple[dict[str, object], ...]], doubt: str
) -> None:
    assert other_machine(pairs) == doubt  # type: ignore[arg-type]


def test_the_interval_of_a_mean_over_seeds_holds_the_seeds() -> None:
    seeds = [90.32, 91.47, 91.95]
    half, mean = between(seeds), sum(seeds) / 3
    assert half == pytest.approx(4.30 * 0.8399 / 3**0.5, abs=0.01)
    assert all(mean - half < seed < mean + half for seed in seeds)
    assert between([1.0, 2.0]) == pytest.approx(12.71 * 0.5)
    assert between([1.0]) == 0.0


def test_an_interval_that_drew_seeds_gets_what_few_draws_leave_out() -> None:
    ends = with_all_of_seeds(1.0, 0.0, 2.5, [0.0, 1.0, 2.0])
    rest = 1.96 / 3
    assert ends == pytest.approx(
        {"low": 1 - (1 + rest**2) ** 0.5, "high": 1 + (1.5**2 + rest**2) ** 0.5}
    )
    assert with_all_of_seeds(1.0, 0.0, 2.5, [1.0]) == pytest.approx({"low": 0.0, "high": 2.5})


def test_rows_of_shared_texts_are_not_independent() -> None:
    assert half_of_mean({"jnlpba protein": 1.0, "ncbi-disease *": 1.0}) == pytest.approx(2**0.5 / 2)
    assert half_of_mean({"jnlpba protein": 1.0, "jnlpba cell_line": 1.0}) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("printed", "row"),
    [
        ({"a": -1.0, "b": -2.0, "c": -35.0}, "c"),
        ({"a": 1.0, "b": -2.0, "c": 17.0}, "c"),  # without it the sign is another
        ({"a": -1.0, "b": -2.0, "c": -3.0}, ""),
        ({"a": 4.0}, ""),
        ({"a": 5.0, "b": -5.0}, ""),  # no difference to carry
    ],
)
def test_a_row_that_carries_a_mean_of_the_paper_is_named(
    printed: dict[str, float], row: str
) -> None:
    assert carrying(printed) == row


def test_the_heads_of_a_bundle_are_one_run() -> None:
    heads = [
        {"grid": "g", "run": "bundle-s1", "head": "span", "seconds": 60},
        {"grid": "g", "run": "bundle-s1.softmax", "head": "softmax", "seconds": 60},
        {"grid": "g", "run": "alone-s1", "seconds": 60},
    ]
    assert minutes(heads) == {"g/bundle-s1": 1.0, "g/alone-s1": 1.0}

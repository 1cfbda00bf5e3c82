"""What would settle a row: the smallest number that the rule itself accepts."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.papers import PAPERS
from studies.papers.rule import NOT_AT_HAND, REPRODUCED, Compared
from studies.papers.settling import OPEN, needs, seeds_needed, texts_needed
from studies.papers.summary import CLAIMS, claims, counts

_POINTS = st.floats(-9, 9, allow_nan=False)
_PAPERS = {name: make() for name, make in PAPERS.items()}


def _alone(here: float, arm: float, deviation: float, paper: float = 1.0) -> Compared:
    return Compared(
        what="a less b",
        paper=paper,
        here=here,
        low=here - arm,
        high=here + arm,
        deviation=deviation,
    )


def test_seeds_by_hand() -> None:
    one = _alone(1.2, 0.5, 1.0)
    # sqrt(0.25 + (1.96 * sqrt(2 / k)) ** 2) is below 1.2, with the border of a twentieth, from k = 9
    arms = {k: math.hypot(0.5, 1.96 * math.sqrt(2 / k)) for k in (8, 9)}
    settled = {k: 1.2 - arm > 0.05 * 2 * arm for k, arm in arms.items()}
    assert settled == {8: False, 9: True}
    assert seeds_needed(one) == 9


@given(here=_POINTS, arm=st.floats(0.1, 9), paper=_POINTS)
def test_fewer_texts_do_not_settle_it(here: float, arm: float, paper: float) -> None:
    one = dataclasses.replace(_alone(here, arm, 0.0, paper), seeds=3)
    factor = texts_needed(one)
    if factor is None:
        return
    verdicts = []
    for share in (factor, factor / 1.1):
        scale = 1 / math.sqrt(share)
        narrow = dataclasses.replace(one, low=here - arm * scale, high=here + arm * scale)
        verdicts.append(narrow.verdict not in OPEN)
    assert verdicts[0]
    assert factor == 1 or not verdicts[1]


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (_alone(1.2, 0.5, 1.0), "9 seeds"),
        (dataclasses.replace(_alone(1.2, 0.5, 0), doubt="x"), "a pair without its doubt"),
        (_alone(1.2, 1.5, 0), "1.9 times the test texts, since these allow ±1.5"),
        (_alone(0.01, 1.5, 0), "no number of texts, if the difference is as near to none as here"),
        (
            dataclasses.replace(_alone(1.2, 0.5, 0), low=None, high=None),
            "an interval",
        ),
        (
            dataclasses.replace(_alone(1.2, 0.5, 0), elsewhere=True),
            "a second corpus, since these are not the texts of the paper",
        ),
        (
            dataclasses.replace(
                _alone(1.2, 0.5, 0),
                doubt="alone at 1e-4, and in the bundle at 2e-4",
                minutes={"a": 40.0, "b": 50.0},
            ),
            "both runs at one rate (at most 1.5 h of training)",
        ),
        (
            dataclasses.replace(_alone(1.2, 0.5, 0), doubt="the paper states no split"),
            "the split of the paper, which it does not state",
        ),
        (
            dataclasses.replace(
                _alone(1.2, 0.5, 0), low=None, high=None, minutes={"a": 10.0, "b": 20.0}
            ),
            "an interval, from the predictions of both systems (at most 0.5 h of training)",
        ),
        (
            dataclasses.replace(_alone(1.2, 1.5, 0), seeds=3, minutes={"a": 60.0}),
            "1.9 times the texts and seeds (about 1.0 h of training), since these allow ±1.5",
        ),
        (
            dataclasses.replace(_alone(1.2, 0.5, 0, paper=9.0), loose=True),
            "an interval of 95 %",
        ),
        (
            _alone(1.2, 0.5, 0, paper=2.4001),
            "no number of texts, if the difference is as near to half or twice the paper's as here",
        ),
        (
            dataclasses.replace(
                _alone(1.2, 0.5, 0),
                doubt="of test here, and of dev in the paper",
                minutes={"a": 60.0},
            ),
            "the same figures of dev, from runs that keep predictions there (at most 1.0 h of training)",
        ),
    ],
)
def test_words(one: Compared, words: str) -> None:
    assert list(needs([one])) == [words]


def test_a_row_that_would_differ_needs_what_its_cheapest_comparison_needs() -> None:
    bare = dataclasses.replace(_alone(1.2, 0.5, 0), low=None, high=None, minutes={"a": 600.0})
    dear = dataclasses.replace(_alone(-1.2, 0.5, 0), doubt="the paper states no split")
    cheap = dataclasses.replace(_alone(-1.2, 0.5, 0), doubt="alone at 1e-4", minutes={"b": 60.0})
    wanted = ["both runs at one rate (at most 1.0 h of training)"]
    assert list(needs([bare, dear, cheap])) == wanted
    assert len(needs([bare, _alone(1.2, 1.5, 0)])) == 2  # none differs, so each is needed


def test_one_corpus_that_is_not_of_the_paper_needs_another_beside_all_else() -> None:
    one = dataclasses.replace(_alone(1.2, 1.5, 0), elsewhere=True, corpus="a", minutes={"a": 60.0})
    second = "a second corpus, since these are not the texts of the paper (about 1.0 h of training)"
    assert needs([one])[1:] == [second]
    assert len(needs([dataclasses.replace(one, here=-1.2, low=-2.7, high=0.3)])) == 1  # differs


def test_every_open_row_says_what_would_settle_it() -> None:
    rows = [row for rows in _PAPERS.values() for row in rows]
    assert all((row.settling() == "settled") == (row.state not in OPEN) for row in rows)
    assert all(row.settling() for row in rows)
    assert all(row.needs for row in rows if row.settling() == "the file" and not row.found)
    assert {row.state for row in rows} >= {NOT_AT_HAND, REPRODUCED}


def test_every_doubt_has_what_takes_it_away() -> None:
    rows = [row for rows in _PAPERS.values() for row in rows]
    assert not [row.what for row in rows if "its doubt" in row.settling()]


def test_each_paper_has_claims_and_all_rows_are_counted() -> None:
    assert {claim.paper for claim in CLAIMS} == set(PAPERS)
    assert claims(_PAPERS).count("\n") >= len(CLAIMS)
    last = counts(_PAPERS).strip().splitlines()[-1].strip("| ").split(" | ")
    *groups, everything = map(int, last[1:])
    assert sum(groups) == everything == sum(map(len, _PAPERS.values()))

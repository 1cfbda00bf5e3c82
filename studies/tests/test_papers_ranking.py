"""Open rows in the order of their cost: what training they need, and what no run can give."""

from __future__ import annotations

import pytest

from studies.papers.ranking import hours, ranking
from studies.papers.row import PaperRow
from studies.papers.rule import Compared
from studies.papers.settling import MEASURED


@pytest.mark.parametrize(
    ("settling", "cost"),
    [
        (MEASURED, 0.0),
        ("9 seeds (about 3.8 h of training)", 3.8),
        (
            "both runs at one rate (at most 0.4 h of training); 2 seeds (about 1,662.7 h of training)",
            1663.1,
        ),
        ("12 times the test texts, since these allow ±3.1", None),
        ("both runs at one rate (at most 0.3 h of training); 2 times the test texts", None),
    ],
)
def test_the_hours_of_a_row(settling: str, cost: float | None) -> None:
    assert hours(settling) == (cost if cost is None else pytest.approx(cost))


def row(what: str, here: float, low: float, high: float, doubt: str) -> PaperRow:
    one = Compared(
        what="a less b", paper=1.0, here=here, low=low, high=high, doubt=doubt, minutes={"r": 60.0}
    )
    return PaperRow(what=what, found=(one,), remark="A row.")


def test_the_cheapest_comes_first_and_the_settled_are_left_out() -> None:
    rows = [
        row("settled", 1.0, 0.5, 1.5, ""),
        row("by training", 1.0, 0.5, 1.5, "alone at 1e-4"),
        row("for nothing", 1.0, 0.5, 1.5, "quartiles of turns"),
        row("by texts", 1.0, -0.5, 2.5, ""),
    ]
    table = ranking({"bundling": rows})
    assert [line.split(" | ")[2] for line in table.splitlines()[2:4]] == [
        "for nothing",
        "by training",
    ]
    assert [line.split(" | ")[0] for line in table.splitlines()[2:4]] == ["| 0.0", "| 1.0"]
    assert table.endswith("which no run can settle: 1.")
    assert "| settled |" not in table

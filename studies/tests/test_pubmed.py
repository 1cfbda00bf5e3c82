"""The estimate for PubMed is arithmetic of what was measured."""

from __future__ import annotations

import pytest
from scipy import stats

from studies.speed.pubmed import _STUDENT, estimate

_MILLION = {"citations": 3_600_000, "cores": 10, "hours": 0.5, "efficiency": 1.0}


def test_hours_and_interval() -> None:
    found = estimate([9.0, 10.0, 11.0], {"network": 0.75, "link": 0.25}, **_MILLION)
    assert found["hours"] == pytest.approx(1.0)
    assert found["citations_per_second_and_core"] == pytest.approx(100.0)
    assert found["hours_by_stage"] == {"network": 0.75, "link": 0.25}
    assert found["times_too_slow"] == pytest.approx(2.0)
    low, high = stats.t.interval(0.95, 2, loc=10.0, scale=1 / 3**0.5)
    assert found["interval"] == [
        pytest.approx(low / 10, abs=0.01),
        pytest.approx(high / 10, abs=0.01),
    ]


def test_half_as_efficient_takes_twice_as_long() -> None:
    halves = {**_MILLION, "efficiency": 0.5}
    assert (
        estimate([10.0, 10.0], {}, **halves)["hours"]
        == 2 * estimate([10.0, 10.0], {}, **_MILLION)["hours"]
    )


def test_one_round_is_no_measurement() -> None:
    with pytest.raises(SystemExit, match="round"):
        estimate([10.0], {}, **_MILLION)


def test_the_table_of_quantiles() -> None:
    for freedom, value in enumerate(_STUDENT[1:], start=1):
        assert value == pytest.approx(stats.t.ppf(0.975, freedom), abs=5e-4)

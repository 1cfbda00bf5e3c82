"""Streaming histograms against NumPy over all values at once."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.binder.densities import Histogram, Panel, panels_as_dict

VALUES = st.lists(st.floats(-2.0, 3.0, width=32), max_size=30)


@given(parts=st.lists(VALUES, max_size=4), bins=st.integers(1, 9))
def test_parts_add_up_to_the_whole(parts: list[list[float]], bins: int) -> None:
    histogram = Histogram(low=-2.0, high=3.0, bins=bins)
    for part in parts:
        histogram.add(np.array(part, dtype=np.float32).reshape(1, -1))
    together = [value for part in parts for value in part]
    counts, edges = np.histogram(together, bins=bins, range=(-2.0, 3.0))
    assert histogram.counts.tolist() == counts.tolist()
    assert histogram.edges == pytest.approx(edges)
    assert histogram.total == len(together)


def test_rounding_may_go_over_an_edge_and_nothing_else_may() -> None:
    histogram = Histogram(low=-1.0, high=1.0, bins=2)
    histogram.add([1.000001, -1.000001])
    assert histogram.counts.tolist() == [1, 1]
    for value in (1.01, -1.01, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="cannot count"):
            histogram.add([0.0, value])
    assert histogram.total == 2


@pytest.mark.parametrize(
    ("low", "high", "bins"), [(0.0, 0.0, 3), (1.0, 0.0, 3), (0.0, 1.0, 0), (float("nan"), 1.0, 2)]
)
def test_a_histogram_needs_bins(low: float, high: float, bins: int) -> None:
    with pytest.raises(ValueError, match="needs bins between two edges"):
        Histogram(low=low, high=high, bins=bins)


def test_the_data_file() -> None:
    groups = {name: Histogram(low=0.0, high=2.0, bins=2) for name in ("entity", "threshold")}
    groups["entity"].add([0.5, 1.5, 1.6])
    value: Any = json.loads(json.dumps(panels_as_dict([Panel(title="A", groups=groups)])))
    assert value == {
        "fascicle_densities": 1,
        "panels": [
            {
                "title": "A",
                "edges": [0.0, 1.0, 2.0],
                "counts": {"entity": [1, 2], "threshold": [0, 0]},
            }
        ],
    }

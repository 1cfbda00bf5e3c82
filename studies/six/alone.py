"""The price of generality: what ships beside the same student that learnt from one corpus alone, on
its test part, from ``results/six-alone.json``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from fascicle.evaluation.uncertainty.intervals import Difference
from studies.common import RESULTS, result
from studies.tables.grids import NOT_RUN, markdown, points

NAME: Final = "six-alone"


def table(results: Path = RESULTS) -> str:
    """A line for each row."""
    value = result(NAME, results)
    if not value:
        return NOT_RUN
    body = []
    for rows in value["runs"].values():
        for name, one in rows.items():
            f1 = [f"{100 * one[key]['micro']['f1']:.2f}" for key in ("alone", "shipped")]
            body.append([name, *f1, points(Difference(**one["less"]))])
    return markdown(["strict F1, test", "alone", value["beside"], "difference (95 %)"], body)

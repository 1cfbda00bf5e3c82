"""The page of the span typer has the published sums."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.grids import write_json

from fascicle.evaluation.scoring.typing import published_protocol_f1
from studies.common import HERE
from studies.span_typer import tables
from studies.tests.tables import rows

PAGE = (HERE / "docs" / "span-typer.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("accuracy", "f1"), [(9176, 95.70), (6498, 78.77), (5000, 66.67)])
def test_the_sums_of_the_page_are_right(accuracy: int, f1: float) -> None:
    assert f"{f1:.2f}" in PAGE or f"{f1 / 100:.4f}" in PAGE
    assert 100 * published_protocol_f1(accuracy, 10_000).f1 == pytest.approx(f1, abs=0.006)


def test_rows_are_of_all_seeds_and_minutes_of_processors(tmp_path: Path) -> None:
    """A row has the mean over seeds; the time of a GPU is no time of a processor."""
    for seed, accuracy, device in ((1, 0.902, "cpu"), (2, 0.918, "cuda"), (3, 0.918, "cuda")):
        test = {
            "typing": {"accuracy": accuracy},
            "lookup_accuracy": 0.64,
            "majority_accuracy": 0.47,
            "published_protocol": {"f1": 0.95},
        }
        run = {
            "test": test,
            "published": [96.87, 98.41],
            "device": device,
            "vectors": {"cpu_minutes": 0.3},
        }
        write_json(
            tmp_path / "span-typer" / f"msra-s{seed}.json",
            {**run, "cpu_minutes": 4.0 if seed == 1 else 0.5},
        )
    (row,) = (row for row in rows(tables.span_typer(tmp_path)) if row["corpus"] == "msra")
    assert (row["seeds"], row["typing accuracy"], row["CPU minutes"]) == (
        "3 of 3",
        "91.27 ± 0.92",
        "4.0 + 0.3",
    )

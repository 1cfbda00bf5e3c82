"""The page of the span typer has the published sums."""

from __future__ import annotations

import pytest

from fascicle.evaluation.scoring.typing import published_protocol_f1
from studies.common import HERE

PAGE = (HERE / "docs" / "span-typer.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("accuracy", "f1"), [(9176, 95.70), (6498, 78.77), (5000, 66.67)])
def test_the_sums_of_the_page_are_right(accuracy: int, f1: float) -> None:
    assert f"{f1:.2f}" in PAGE or f"{f1 / 100:.4f}" in PAGE
    assert 100 * published_protocol_f1(accuracy, 10_000).f1 == pytest.approx(f1, abs=0.006)

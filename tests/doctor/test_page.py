"""The page about the checks names each of them as it is."""

from __future__ import annotations

import re
from pathlib import Path

from fascicle.doctor.checks.table import CHECKS
from fascicle.formats.exclusions import HEADER, REASONS

PAGE = (Path(__file__).parents[2] / "docs" / "corpus-check.md").read_text(encoding="utf-8")


def test_every_check_has_its_row() -> None:
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if line[:3] == "| `"]
    listed = {row[0].strip("`"): row[1:] for row in rows if len(row) == 4}
    assert listed == {check.code: [check.severity, check.means, check.remedy] for check in CHECKS.values()}
    assert list(listed) == list(CHECKS)


def test_the_exclusion_list_is_described() -> None:
    section = PAGE.partition("## The exclusion list")[2].partition("## JSON")[0]
    assert set(HEADER) <= set(re.findall(r"`(\w+)`", section))
    assert all(f"`{reason}`" in section for reason in REASONS)

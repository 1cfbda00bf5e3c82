"""The page about the corpus doctor describes the list that it writes."""

from __future__ import annotations

import re
from pathlib import Path

from fascicle.formats.exclusions import HEADER, REASONS

PAGE = (Path(__file__).parents[3] / "docs" / "corpus-check.md").read_text(encoding="utf-8")


def test_the_exclusion_list_is_described() -> None:
    section = PAGE.partition("## The exclusion list")[2].partition("## JSON")[0]
    assert set(HEADER) <= set(re.findall(r"`(\w+)`", section))
    assert all(f"`{reason}`" in section for reason in REASONS)

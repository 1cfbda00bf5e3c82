"""The table of odd files has the counts of the results."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from studies.common import result
from studies.formats.odd_files import GROUPS

_NAMES = {"RIS": "citations", "Word": "docx", "PDF": "pdf", "Excel": "xlsx"}
_PAGE = Path(__file__).parents[1] / "docs" / "formats.md"


def test_the_table_of_odd_files() -> None:
    stored: dict[str, Any] = result("odd-files")
    rows = re.findall(
        r"^\| (RIS|Word|PDF|Excel) \|(.*)\|$", _PAGE.read_text(encoding="utf-8"), re.M
    )
    assert len(rows) == len(_NAMES)
    for name, cells in rows:
        pairs = [tuple(map(int, pair)) for pair in re.findall(r"(\d+), now (\d+)", cells)]
        assert pairs == [
            tuple(stored[group][when][_NAMES[name]].get(kind, 0) for when in ("before", "ours"))
            for group in GROUPS
            for kind in ("right", "said", "wrong without a message")
        ]
    sizes = [sum(sum(one.values()) for one in stored[group]["ours"].values()) for group in GROUPS]
    assert sizes == [68, 98]

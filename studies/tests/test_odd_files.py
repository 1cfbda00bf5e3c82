"""The table of odd files is that of the results."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from studies.common import result

_NAMES = {"RIS": "citations", "Word": "docx", "PDF": "pdf", "Excel": "xlsx"}
_PAGE = Path(__file__).parents[1] / "docs" / "formats.md"


def test_the_table_of_odd_files() -> None:
    stored: dict[str, Any] = result("odd-files")
    rows = re.findall(
        r"^\| (RIS|Word|PDF|Excel) \|(.*)\|$", _PAGE.read_text(encoding="utf-8"), re.M
    )
    assert len(rows) == len(_NAMES)
    for name, cells in rows:
        before, now = (
            [
                stored[when][_NAMES[name]].get(kind, 0)
                for kind in ("right", "said", "wrong without a message")
            ]
            for when in ("before", "ours")
        )
        assert [tuple(map(int, pair)) for pair in re.findall(r"(\d+), now (\d+)", cells)] == list(
            zip(before, now, strict=True)
        )
    assert sum(sum(counts.values()) for counts in stored["ours"].values()) == 68

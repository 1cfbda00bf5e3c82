"""The page of formats has the stored counts of CRAFT and of odd files."""

from __future__ import annotations

import json
import re
from typing import Any

from studies.common import HERE, RESULTS, result

PAGE = HERE / "docs" / "formats.md"
NAMES = {"RIS": "citations", "Word": "docx", "PDF": "pdf", "Excel": "xlsx"}
GROUPS = ("first", "more")


def test_the_page_has_the_stored_counts() -> None:
    stored = json.loads((RESULTS / "craft-text.json").read_text(encoding="utf-8"))["paragraphs"]
    table = (
        PAGE.read_text(encoding="utf-8")
        .partition("| paragraphs | how many |")[2]
        .partition("\n\n")[0]
    )
    shown = [int(number.replace(",", "")) for number in re.findall(r"\| ([\d,]+) \|", table)]
    kinds = ("same", "blanks", "added heading", "short abstract", "keywords", "ours alone")
    assert shown == [*(stored[kind] for kind in kinds), 0]
    assert stored.keys() == {*kinds, "official alone"}
    # but for the marks, each of these is one of those
    assert stored["official alone"] == stored["ours alone"]


def test_the_table_of_odd_files() -> None:
    stored: dict[str, Any] = result("odd-files")
    rows = re.findall(r"^\| (RIS|Word|PDF|Excel) \|(.*)\|$", PAGE.read_text(encoding="utf-8"), re.M)
    assert len(rows) == len(NAMES)
    for name, cells in rows:
        pairs = [tuple(map(int, pair)) for pair in re.findall(r"(\d+), now (\d+)", cells)]
        assert pairs == [
            tuple(stored[group][when][NAMES[name]].get(kind, 0) for when in ("before", "ours"))
            for group in GROUPS
            for kind in ("right", "said", "wrong without a message")
        ]
    sizes = [sum(sum(one.values()) for one in stored[group]["ours"].values()) for group in GROUPS]
    assert sizes == [68, 98]

"""Kazu beside a term pack: the page has the stored numbers."""

from __future__ import annotations

import json

from studies.common import HERE, RESULTS


def test_the_page_has_the_stored_numbers() -> None:
    report = json.loads((RESULTS / "kazu-beside.json").read_text(encoding="utf-8"))
    page = (HERE / "docs" / "kazu.md").read_text(encoding="utf-8")
    alone = report["mentions"]
    for count in (alone["both"], alone["ours alone"]["all"], alone["kazu alone"]["all"]):
        assert f"{count:,}" in page

"""The tables of the documentation are what the results say, and the links of the pages here lead
somewhere.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from studies.common import HERE, ROOT

PAGES = sorted([*HERE.glob("*.md"), *HERE.glob("docs/*.md"), *HERE.glob("*/plan.md")])


def test_every_table_is_what_the_results_say() -> None:
    command = [sys.executable, "-m", "studies.tables", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as code hosts make them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title) for title in titles)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(HERE).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert "://" in link or target.exists(), link
        assert not anchor or "://" in link or anchor in anchors(target), link

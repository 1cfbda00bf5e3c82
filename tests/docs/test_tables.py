"""Every column of a table has a name, without which a screen reader says numbers and words of
nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
_HEAD = re.compile(r"^ *(\|.*\|) *\n *\|(?: *:?-+:? *\|)+ *$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_every_column_has_a_name(page: str) -> None:
    heads = _HEAD.findall((DOCS / page).read_text(encoding="utf-8"))
    assert [head for head in heads if re.search(r"\| *\|", head)] == []


def test_an_unnamed_column_is_found() -> None:
    assert _HEAD.findall("| a | |\n|---|---|\n| 1 | 2 |\n") == ["| a | |"]

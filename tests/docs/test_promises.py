"""Every sentence that promises something has the names of the tests that hold it, in a comment
behind it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLACES = {
    "SECURITY.md": ("- **Reading a model", "## What it does not promise"),
    "docs/formats.md": ("- **An input is never an output", "```{toctree}"),
}
COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
END = re.compile(r"[.!?](?=\s|$)")
TITLE = re.compile(r"^- \*\*[^*]*[.]\*\*", re.MULTILINE)
LAST = "The source of this page"
TESTS = frozenset(
    name
    for path in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
)


def promises(page: str) -> list[tuple[str, list[str]]]:
    """Sentences of the part of a page that promises, and the names in the comment behind each."""
    text = (ROOT / page).read_text(encoding="utf-8")
    begin, end = PLACES[page]
    text = text[text.index(begin) : text.index(end)].partition(LAST)[0]
    text = TITLE.sub(
        lambda title: title[0] if text[title.end() :].lstrip().startswith("<!--") else "-", text
    )
    parts = COMMENT.split(re.sub(r"`[^`]*`", "x", text))
    return [
        (parts[at], parts[at + 1].split() if at + 1 < len(parts) else [])
        for at in range(0, len(parts), 2)
    ]


@pytest.mark.parametrize("page", PLACES)
def test_a_sentence_has_its_tests(page: str) -> None:
    found = promises(page)
    assert len(found) > 12
    for text, names in found:
        sentences = [one for one in END.split(text) if one.strip(" \n-*")]
        assert len(sentences) == bool(names), f"{page}: no test is named behind one of {sentences}"
        assert set(names) <= TESTS, f"{page}: there is no test {set(names) - TESTS}"

"""Pages can be read in one sitting, and all of them in a day."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
GENERATED = re.compile(r"<!-- table .*?<!-- end -->", re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
WORDS = {
    page.relative_to(DOCS).as_posix(): len(
        COMMENT.sub("", GENERATED.sub("", page.read_text(encoding="utf-8"))).split()
    )
    for page in DOCS.rglob("*.md")
}
MOST = {"architecture.md": 2_000}  # of a page with a limit of its own
TABLE = "what-others-do.md"  # generated tables are not part of the sum
MOST |= {page: 1_500 for page in WORDS if page.startswith("how-to-")}


@pytest.mark.parametrize("page", sorted(WORDS))
def test_a_page_has_at_most_2500_words_and_a_how_to_1500(page: str) -> None:
    assert WORDS[page] <= MOST.get(page, 2_500)


def test_all_pages_have_at_most_66000_words() -> None:
    assert sum(WORDS.values()) - WORDS[TABLE] <= 66_000


def test_the_first_page_has_at_most_1200_words_and_six_rows_of_figures() -> None:
    page = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    (table,) = GENERATED.findall(page)
    assert len(page.split()) <= 1_200
    assert len([line for line in table.splitlines() if line.startswith("|")]) == 2 + 6

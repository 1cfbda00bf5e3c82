"""The open texts of the students: whole paragraphs in a row, of articles whose licence allows
it.
"""

from __future__ import annotations

import pytest

from fascicle.core.document import Document, Section
from studies.conventions.texts import excerpt, is_open

PARTS = ("A title", "An abstract.", "First one.", "Second one.", "Third one.", "Fourth one.")


def article(key: str) -> Document:
    """Title, abstract and four paragraphs."""
    sections, at = [], 0
    for number, part in enumerate(PARTS):
        name = ("title", "abstract")[number] if number < 2 else "paragraph"
        sections.append(Section(start=at, end=at + len(part), name=name))
        at += len(part) + 2
    return Document(
        id=key, text="\n\n".join(PARTS), sections=tuple(sections), meta={"license": "CC0"}
    )


@pytest.mark.parametrize("key", [f"a{number}" for number in range(12)])
def test_paragraphs_are_whole_and_follow_each_other(key: str) -> None:
    taken = excerpt(article(key), body=22).text.split("\n\n")
    assert taken[:2] == list(PARTS[:2])
    rest = taken[2:]
    assert rest
    first = PARTS.index(rest[0])
    assert rest == list(PARTS[first : first + len(rest)])
    assert sum(map(len, rest)) <= 22


def test_an_excerpt_starts_at_different_paragraphs() -> None:
    starts = {excerpt(article(f"a{number}"), body=12).text.split("\n\n")[2] for number in range(40)}
    assert len(starts) == 4


def test_an_article_without_paragraphs_gives_its_abstract() -> None:
    whole = article("a1")
    short = Document(id="a1", text=whole.text, sections=whole.sections[:2], meta=whole.meta)
    assert excerpt(short, body=100).text == "A title\n\nAn abstract."


@pytest.mark.parametrize(
    ("licence", "allowed"), [("CC BY 4.0", True), ("CC0", True), ("CC BY-NC 4.0", False)]
)
def test_only_open_licences_teach(licence: str, allowed: bool) -> None:
    assert is_open(licence) is allowed

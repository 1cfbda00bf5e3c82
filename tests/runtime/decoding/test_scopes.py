from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Section
from fascicle.runtime.decoding.scopes import ABSTRACT, name_scopes

SENTENCE = "Mutations of BRCA1 were found in nine of the families that were studied. "


def texts(document: Document) -> list[str]:
    return [document.text[slice(*one)].strip() for one in name_scopes(document)]


def test_an_abstract_is_one_stretch_with_its_title() -> None:
    title, abstract = "A title", SENTENCE * 10
    sections = (Section(0, 7, "title"), Section(8, 8 + len(abstract), "abstract"))
    document = Document(id="1", text=f"{title} {abstract}", sections=sections)
    assert name_scopes(document) == ((0, len(document.text)),)
    assert name_scopes(Document(id="1", text=document.text)) == ((0, len(document.text)),)


def test_abstracts_of_one_text_file_are_apart() -> None:
    abstract = (SENTENCE * 12).strip()
    for between in ("\n", "\n\n", "\n \n"):
        document = Document(id="1", text=between.join([abstract] * 500))
        assert texts(document) == [abstract] * 500


def test_sections_of_an_article_are_apart_but_for_title_and_abstract() -> None:
    parts = [
        ("title", "A title"),
        ("abstract", SENTENCE * 20),
        ("introduction", SENTENCE * 40),
        ("", SENTENCE * 40),
    ]
    text, sections = "", []
    for name, part in parts:
        sections.append(Section(len(text), len(text) + len(part), name))
        text += part + "\n\n"
    found = name_scopes(Document(id="1", text=text, sections=tuple(sections)))
    assert [text[slice(*one)].strip() for one in found] == [
        f"A title\n\n{parts[1][1].strip()}",
        *(part.strip() for _, part in parts[2:]),
    ]


@given(st.text(alphabet="ab \n", max_size=60), st.integers(0, 3))
def test_stretches_hold_all_of_a_text_in_order(text: str, times: int) -> None:
    long = text * (times * ABSTRACT // max(1, len(text)) + 1)
    found = name_scopes(Document(id="1", text=long))
    assert "".join(long[slice(*one)] for one in found) == long
    assert all(before[1] == after[0] for before, after in pairwise(found))

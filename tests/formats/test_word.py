"""Documents of Word, written by hand as ECMA-376 describes them, and by python-docx."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats.oracle.office import package, paragraph, run, table

from fascicle.core.document import Document
from fascicle.errors import FormatError, InputError
from fascicle.formats import detect, read

docx = pytest.importorskip("docx")


def of(tmp_path: Path, content: bytes) -> Document:
    path = tmp_path / "a.docx"
    path.write_bytes(content)
    assert detect(str(path)) == "docx"
    (found,) = read(path)
    return found


def parts(document: Document) -> list[tuple[str, str]]:
    return [(one.name, document.text[one.start : one.end]) for one in document.sections or ()]


def test_the_text_of_a_document(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        package(
            paragraph(run("Aspirin & you"), style="Title")
            + paragraph()
            + paragraph(run("Methods"), style="Heading1")
            + paragraph(
                run("We "), run("gave"), "<w:r><w:tab/><w:br/></w:r>", run("aspirin."), style="Body"
            )
            + table(
                [paragraph(run("a")), paragraph(run("b")) + paragraph(run("c"))],
                [paragraph(), paragraph(run("d"))],
            )
        ),
    )
    assert found.id == "a"
    assert found.meta == {"text": "extracted"}
    assert parts(found) == [
        ("title", "Aspirin & you"),
        ("heading", "Methods"),
        ("body", "We gave\t\naspirin."),
        ("table", "a\tb c"),
        ("table", "d"),
    ]


def test_what_was_changed_and_what_stands_in_a_frame(tmp_path: Path) -> None:
    """python-docx leaves out inserted text, controls and boxes when it is asked for the text of
    a paragraph.
    """
    box = f"<w:txbxContent>{paragraph(run('in a box'))}</w:txbxContent>"
    content = package(
        paragraph(
            run("one "),
            f"<w:ins>{run('new ')}</w:ins>",
            "<w:del><w:r><w:delText>old</w:delText></w:r></w:del>",
        )
        + f"<w:sdt><w:sdtContent>{paragraph(run('controlled'))}</w:sdtContent></w:sdt>"
        + paragraph(
            f"<w:sdt><w:sdtContent>{run('inline')}</w:sdtContent></w:sdt>",
            "<m:oMath><m:r><m:t>x2</m:t></m:r></m:oMath>",
        )
        + paragraph(
            f"<w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
            "</mc:AlternateContent></w:r>",
            run("beside"),
        )
        + paragraph(
            run("TNF-"),
            '<w:r><w:sym w:font="Symbol" w:char="F061"/></w:r>',
            "<w:r><w:noBreakHyphen/><w:softHyphen/></w:r>",
            '<w:r><w:sym w:font="Symbol" w:char="F044"/><w:sym w:font="Wingdings" '
            'w:char="F04A"/></w:r>',
        )
        + table([paragraph(run("a")) + table([paragraph(run("inner"))])])
    )
    found = of(tmp_path, content)
    assert [text for _, text in parts(found)] == [
        "one new",
        "controlled",
        "inlinex2",
        "beside",
        "in a box",
        "TNF-α-Δ\ufffd",
        "a",
        "inner",
    ]
    assert [event.code for event in found.events] == ["parts-left-out"]
    assert "signs of other fonts 1" in found.events[0].message


def test_files_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="entities"):
        of(tmp_path, package("", declared='<!DOCTYPE a [<!ENTITY b "c">]>'))
    whole = package(paragraph(run("a" * 5000)))
    path = tmp_path / "b.docx"
    for content in (whole[: len(whole) // 2], package("<w:p>"), b"PK\x03\x04 no zip", b"text"):
        path.write_bytes(content)
        with pytest.raises(InputError):
            list(read(path, format="docx"))


def test_footnotes_and_headers_are_said(tmp_path: Path) -> None:
    made = docx.Document()
    made.add_paragraph("A text.")
    made.sections[0].header.paragraphs[0].text = "Running head"
    path = tmp_path / "a.docx"
    made.save(path)
    found = of(tmp_path, path.read_bytes())
    assert found.text == "A text."
    assert "headers 1" in found.events[0].message


TEXTS = st.lists(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30), min_size=1, max_size=6
)


@settings(max_examples=40, deadline=None)
@given(TEXTS)
def test_sections_are_the_paragraphs(texts: list[str]) -> None:
    texts = [text.translate(dict.fromkeys((0xFFFE, 0xFFFF), "x")).strip() for text in texts]
    made = docx.Document()
    for text in texts:
        made.add_paragraph(text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.docx")
        made.save(path)
        found = of(Path(folder), path.read_bytes())
    assert [text for _, text in parts(found)] == list(filter(None, texts))


def test_a_box_in_a_box_is_read_once(tmp_path: Path) -> None:
    inner = paragraph(run("level 0"))
    for level in range(1, 30):
        inner = paragraph(
            f"<w:r><w:txbxContent>{inner}</w:txbxContent></w:r>", run(f"level {level}")
        )
    path = tmp_path / "a.docx"
    path.write_bytes(package(inner))
    (found,) = read(path)
    assert found.text.split("\n\n") == [f"level {level}" for level in reversed(range(30))]

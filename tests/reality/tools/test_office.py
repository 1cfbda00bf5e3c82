"""The packages openpyxl 3.1.5, python-docx 1.2.0 and pypdfium2 5.15.2."""

from __future__ import annotations

import ctypes
import io
import re
from pathlib import Path
from random import Random

import openpyxl
import pypdfium2
from docx import Document as Word
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from tests.formats.oracle.drafts import Taste
from tests.formats.oracle.papers import WORDS, by_hand
from tests.reality.crossing import COUNT, document, made

from fascicle.formats import read, write

TASTE = Taste(parts=(1, 3), empty=False, typed=False)


def test_openpyxl_and_fascicle_see_the_same_cells(tmp_path: Path) -> None:
    for seed, drafts in made(TASTE, name="xlsx"):
        path = tmp_path / f"{seed}.xlsx"
        book = openpyxl.Workbook()
        for row in (["id", "text"], *([one.id, one.parts[0]] for one in drafts)):
            book.active.append(row)
        book.save(path)
        rows = list(openpyxl.load_workbook(path).active.iter_rows(min_row=2, values_only=True))
        assert [(one.id, one.text) for one in read(path)] == rows


def test_openpyxl_reads_the_mentions_that_fascicle_writes(tmp_path: Path) -> None:
    for seed, drafts in made(Taste(empty=False, flat=True), name="xlsx ours"):
        path, documents = tmp_path / f"{seed}.xlsx", [document(one, "") for one in drafts]
        write(path, documents)
        head, *rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
        columns = [head.index(name) for name in ("document", "type", "start", "end", "text")]
        assert sorted(tuple(row[at] for at in columns) for row in rows) == sorted(
            (one.id, mark.type, mark.start, mark.end, mark.text_in(one.text))
            for one in documents
            for mark in one.mentions
        ), seed


def test_openpyxl_leaves_an_escape_as_letters(tmp_path: Path) -> None:
    """ECMA-376 part 1, 22.9.2.19 (ST_Xstring): _xHHHH_ is a character."""
    path = tmp_path / "a.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["id", "text"])
    book.active.append(["1", "Lithium_x000A_helps"])
    book.save(path)
    assert openpyxl.load_workbook(path).active["B2"].value == "Lithium_x000A_helps"
    (ours,) = read(path)
    assert ours.text == "Lithium\nhelps"


def test_word_and_fascicle_see_the_same_paragraphs(tmp_path: Path) -> None:
    for seed, drafts in made(TASTE, name="docx"):
        path = tmp_path / f"{seed}.docx"
        document = Word()
        for part in drafts[0].parts:
            document.add_paragraph(part)
        document.save(path)
        (ours,) = read(path)
        assert ours.text.split() == " ".join(one.text for one in Word(path).paragraphs).split()


def test_word_and_fascicle_see_the_same_tables_and_runs(tmp_path: Path) -> None:
    """Headings, runs in bold and in styles, lists, tables with cells of several paragraphs, heads
    and feet.
    """
    for seed, drafts in made(TASTE, name="docx with tables"):
        path = tmp_path / f"{seed}.docx"
        document, parts = Word(), [part for one in drafts for part in one.parts]
        document.sections[0].header.paragraphs[0].text = "Head"
        document.add_heading(parts[0], level=1)
        paragraph = document.add_paragraph()
        for at, word in enumerate(re.split("( +)", parts[-1])):
            paragraph.add_run(word).bold = at % 3 == 0
        paragraph.add_run().add_break()
        document.add_paragraph(parts[0], style="List Bullet")
        table = document.add_table(rows=2, cols=2)
        for at, part in enumerate((*parts, *parts, *parts, *parts)[:4]):
            table.cell(at // 2, at % 2).text = part
        table.cell(0, 0).add_paragraph("more")
        document.save(path)
        again = Word(path)
        blocks = [
            [block.text]
            if hasattr(block, "text")
            else [cell.text for row in block.rows for cell in row.cells]
            for block in again.iter_inner_content()
        ]
        (ours,) = read(path)
        assert ours.text.split() == " ".join(text for one in blocks for text in one).split(), seed


def test_fascicle_reads_the_pages_that_pdfium_makes(tmp_path: Path) -> None:
    """Pages whose lines are objects of text in a standard font, saved by the package."""
    raw = pypdfium2.raw
    for number in range(COUNT):
        random, path = Random(f"page {number}"), tmp_path / f"{number}.pdf"
        lines = [random.choices(WORDS, k=6) for _ in range(random.randint(1, 30))]
        document = pypdfium2.PdfDocument.new()
        page = document.new_page(612, 792)
        for at, words in enumerate(lines):
            text = raw.FPDFPageObj_NewTextObj(document, b"Helvetica", 10)
            letters = (" ".join(words) + "\0").encode("utf-16-le")
            raw.FPDFText_SetText(
                text, (ctypes.c_ushort * (len(letters) // 2)).from_buffer_copy(letters)
            )
            raw.FPDFPageObj_Transform(text, 1, 0, 0, 1, 54, 700 - 14 * at)
            raw.FPDFPage_InsertObject(page, text)
        page.gen_content()
        document.save(path)
        (ours,) = read(path)
        assert ours.text.split() == [word for line in lines for word in line], number


def test_a_simple_field_is_no_text_for_python_docx(tmp_path: Path) -> None:
    """ECMA-376 part 1, 17.16.19 (fldSimple): its runs are shown."""
    path = tmp_path / "a.docx"
    document = Word()
    paragraph = document.add_paragraph("We gave ")
    field, run, text = OxmlElement("w:fldSimple"), OxmlElement("w:r"), OxmlElement("w:t")
    field.set(qn("w:instr"), "DOCPROPERTY Drug")
    text.text = "lithium"
    run.append(text)
    field.append(run)
    paragraph._p.append(field)
    document.save(path)
    assert [one.text for one in Word(path).paragraphs] == ["We gave "]
    (ours,) = read(path)
    assert ours.text.strip() == "We gave lithium"


def test_the_words_of_a_pdf_are_those_of_pdfium(tmp_path: Path) -> None:
    for number in range(COUNT):
        paper, path = by_hand(number), tmp_path / f"{number}.pdf"
        path.write_bytes(paper.content)
        document = pypdfium2.PdfDocument(io.BytesIO(paper.content))
        theirs = set("".join(page.get_textpage().get_text_range() for page in document).split())
        (ours,) = read(path)
        # heads, numbers of pages and cut words differ
        assert theirs & set(paper.words) <= set(ours.text.split())

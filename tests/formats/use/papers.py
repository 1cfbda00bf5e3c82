"""Files of people who keep papers: citations, sheets, documents of Word, PDFs."""

from __future__ import annotations

from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from tests.formats.oracle.judging import Page
from tests.formats.oracle.office import package, paragraph, run, table, workbook
from tests.formats.oracle.papers import pdf_of
from tests.formats.use.given import Given

NEEDS: Final = MappingProxyType({"xlsx": "openpyxl", "docx": "docx", "pdf": "pypdfium2"})  # format -> module
CITATIONS = (
    Given(
        name="two citations of PubMed",
        format="citations",
        files={"a.nbib": "\nPMID- 7\nTI  - On\n      IL-2.\nAB  - AIM: \U0001f600.\n\nPMID- 8\nTI  - Two\n"},
        wanted=(Page("On IL-2.\nAIM: \U0001f600.", (), "7"), Page("Two", (), "8")),
    ),
    Given(
        name="RIS with line ends of Windows",
        format="citations",
        files={"a.ris": "TY  - JOUR\r\nAN  - 7\r\nT1  - On\r\nAB  - Lung cancer\r\nER  - \r\n\r\n"},
        wanted=(Page("On\nLung cancer", (), "7"),),
    ),
)
OFFICE = (
    Given(
        name="ids that are numbers, and an empty cell",
        format="xlsx",
        files={"a.xlsx": workbook([["id", "text"], [7, "Lung \U0001f600"], [8, "two\nlines"]])},
        wanted=(Page("Lung \U0001f600", (), "7"), Page("two\nlines", (), "8")),
    ),
    Given(
        name="a sheet that was cut off",
        format="xlsx",
        files={"a.xlsx": workbook([["id", "text"], [7, "Lung"]])[:400]},
        wanted=(),
        flawed=True,
    ),
    Given(
        name="a table between paragraphs",
        format="docx",
        files={
            "a.docx": package(
                paragraph(run("On "), run("IL-2 \U0001f600")) + table([paragraph(run("a"))]) + paragraph(run("end"))
            )
        },
        wanted=(Page("On IL-2 \U0001f600\n\na\n\nend"),),
    ),
    Given(
        name="text that was inserted",
        format="docx",
        files={"a.docx": package(paragraph(run("Lung"), f"<w:ins>{run(' cancer')}</w:ins>"))},
        wanted=(Page("Lung cancer"),),
    ),
    Given(
        name="lines in no order, and a word that was cut",
        format="pdf",
        files={
            "a.pdf": pdf_of(["of the patient.", "Lung inflam-", "mation and fi-", "brosis (late)"], order=(3, 0, 1, 2))
        },
        wanted=(Page("Lung inflammation and fibrosis (late) of the man."),),
    ),
    Given(
        name="a file that was cut off",
        format="pdf",
        files={"a.pdf": pdf_of(["Lung"], order=(0,))[:200]},
        wanted=(Page("Lung"),),
        flawed=True,
    ),
)
ALL = (*CITATIONS, *(one for one in OFFICE if find_spec(NEEDS[one.format])))

"""Files of people who keep papers and of annotators: citations, sheets, documents of Word, PDFs,
INCEpTION.
"""

from __future__ import annotations

from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from tests.formats.oracle.cas import TYPES, in_json, xmi
from tests.formats.oracle.judging import Page, mark
from tests.formats.oracle.office import package, paragraph, run, table, workbook
from tests.formats.oracle.papers import pdf_of
from tests.formats.oracle.webanno import HEAD
from tests.formats.use.given import Given

NEEDS: Final = MappingProxyType(
    {"xlsx": "openpyxl", "docx": "docx", "pdf": "pypdfium2", "cas": "cassis"}
)  # format -> module
CITATIONS = (
    Given(
        name="two citations of PubMed",
        format="citations",
        files={
            "a.nbib": "\nPMID- 7\nTI  - On\n      IL-2.\nAB  - AIM: \U0001f600.\n\nPMID- 8\nTI  "
            "- Two\n"
        },
        wanted=(Page("On IL-2.\nAIM: \U0001f600.", (), "7"), Page("Two", (), "8")),
    ),
    Given(
        name="RIS with line ends of Windows",
        format="citations",
        files={"a.ris": "TY  - JOUR\r\nAN  - 7\r\nT1  - On\r\nAB  - Lung cancer\r\nER  - \r\n\r\n"},
        wanted=(Page("On\n\nLung cancer", (), "7"),),
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
                paragraph(run("On "), run("IL-2 \U0001f600"))
                + table([paragraph(run("a"))])
                + paragraph(run("end"))
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
            "a.pdf": pdf_of(
                ["of the man.", "Lung inflam-", "mation and fi-", "brosis (late)"],
                order=(3, 0, 1, 2),
            )
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
ANNOTATORS = (
    Given(
        name="a sentence of two lines, and a mention of two tokens",
        format="webanno",
        files={
            "a.tsv": "\n".join(
                (
                    *HEAD,
                    "#Text=\U0001f600 lung",
                    "#Text=cancer",
                    "1-1\t0-2\t\U0001f600\tSYM\t_\t_\t",
                    "1-2\t3-7\tlung\tNN\t*[1]\tDisease[1]\t",
                    "1-3\t8-14\tcancer\tNN\t*[1]\tDisease[1]\t",
                    "",
                )
            )
        },
        wanted=(Page("\U0001f600 lung\ncancer", (mark(2, 13, "Disease"),)),),
    ),
    Given(
        name="a row that was cut off",
        format="webanno",
        files={"a.tsv": "\n".join((*HEAD, "#Text=lung", "1-1\t0-"))},
        wanted=(),
        flawed=True,
    ),
    *(
        Given(
            name=f"entities in {name}",
            format="cas",
            files={name: content, "TypeSystem.xml": TYPES},
            wanted=(Page("\U0001f600 lung", (mark(2, 6, "Organ"),)),),
        )
        for name, content in (
            ("a.xmi", xmi("\U0001f600 lung", [{"begin": 3, "end": 7, "value": "Organ"}])),
            ("a.json", in_json("\U0001f600 lung", [{"begin": 3, "end": 7, "value": "Organ"}])),
        )
    ),
)
ALL = (
    *CITATIONS,
    *(
        one
        for one in (*OFFICE, *ANNOTATORS)
        if one.format not in NEEDS or find_spec(NEEDS[one.format])
    ),
)

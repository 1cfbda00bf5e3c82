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
    Given(
        name="Web of Science, with an id of PubMed and without",
        format="citations",
        files={
            "a.txt": "\ufeffFN Clarivate Analytics Web of Science\nVR 1.0\nPT J\nAU Smith, J\n   Doe, A\n"
            "TI On IL-2 in ER\n   positive cancer\nAB ER and PT.\nDE a; b\nPM 7\nUT WOS:1\nER\n\n"
            "PT J\nTI Two\nUT WOS:2\nER\n\nEF\n"
        },
        wanted=(
            Page("On IL-2 in ER positive cancer\n\nER and PT.", (), "7"),
            Page("Two", (), "WOS:2"),
        ),
    ),
    Given(
        name="EndNote, with keywords on their own lines and an abstract in paragraphs",
        format="citations",
        files={
            "a.enw": "%0 Journal Article\r\n%A Smith, J\r\n%T On\r\n%X AIM: one.\r\n\r\nEND: two.\r\n"
            "%K cancer\r\nlung\r\n%M 7\r\n\r\n%0 Book\r\n%T Two\r\n%R 10.1000/x\r\n"
        },
        wanted=(Page("On\n\nAIM: one. END: two.", (), "7"), Page("Two", (), "10.1000/x")),
    ),
    Given(
        name="references of Zotero in BibTeX, with TeX, macros and an entry behind another",
        format="bibtex",
        files={
            "a.bib": '@string{jx = "J. X"}\n@article{a,\n  title = {{TNF}-$\\alpha$ in M{\\"u}ller\'s '
            "\\textit{E. coli} \\& Ca$^{2+}$},\n  journal = jx # { B},\n  month = jan,\n  year = 2020,\n"
            "  abstract = {5\\% of 10--12 \\textless i\\textgreater mice\\textless /i\\textgreater}\n}"
            '@book(b, title = "Bo{"}th")\n'
        },
        wanted=(
            Page("TNF-α in Müller's E. coli & Ca2+\n\n5% of 10–12 mice", (), "a"),
            Page('Bo"th', (), "b"),
        ),
    ),
    Given(
        name="BibTeX with comments and a preamble, as JabRef writes it",
        format="bibtex",
        files={
            "a.bib": "% Encoding: UTF-8\n\n@preamble{ {\\x} }\n@Article{Smith2020,\n  Title = {On dr@gs},\n"
            "  Abstract = {One.\n    Two \\{x\\}.},\n}\n\n@Comment{jabref-meta: databaseType:bibtex;}\n"
        },
        wanted=(Page("On dr@gs\n\nOne. Two {x}.", (), "Smith2020"),),
    ),
    Given(
        name="XML of EndNote with styles",
        format="endnote",
        files={
            "a.xml": '<?xml version="1.0" encoding="UTF-8" ?><xml><records><record><database>a</database>'
            "<rec-number>3</rec-number><titles><title><style>On </style><style face='italic'>BRCA1"
            "</style></title></titles><abstract><style>One &amp;&#xD;two.</style></abstract>"
            "<accession-num><style>7</style></accession-num></record></records></xml>"
        },
        wanted=(Page("On BRCA1\n\nOne & two.", (), "7"),),
    ),
    Given(
        name="XML of EndNote without an accession number",
        format="endnote",
        files={
            "a.xml": "<xml><records><record><titles><title>On</title></titles><electronic-resource-num>"
            "10.1000/x</electronic-resource-num></record><record><titles><title>Two</title></titles>"
            "</record></records></xml>"
        },
        wanted=(Page("On", (), "10.1000/x"), Page("Two", (), "a:2")),
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

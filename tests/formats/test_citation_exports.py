"""Citations as programs and databases export them, each written from the description of its
export.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fascicle.core.document import Document
from fascicle.formats import ReadReport, detect, read

# File name -> its content, and id, title and abstract of each citation; an empty id stands for the
# name and a number.
EXPORTS: dict[str, tuple[str, list[tuple[str, str, str]]]] = {
    "ovid.ris": (
        "1. \r\nTY  - JOUR\r\nID  - 25000001\r\nT1  - Lithium tremor\r\nA1  - Doe J\r\n"
        "Y1  - 2014//\r\nN2  - Lithium caused tremor.\r\nKW  - lithium\r\nJF  - J Test\r\n"
        "UR  - http://ovidsp.ovid.com/x\r\nER  - \r\n\r\n\r\n2. \r\nTY  - JOUR\r\n"
        "ID  - 25000002\r\nT1  - Aspirin\r\nN2  - Aspirin helped.\r\nER  - \r\n\r\n",
        [
            ("25000001", "Lithium tremor", "Lithium caused tremor."),
            ("25000002", "Aspirin", "Aspirin helped."),
        ],
    ),
    "ovid-link.ris": (
        "1.\nTY  - JOUR\nT1  - Lithium\nER  -\nNL  - J\n\n"
        "Link to the Ovid Full Text or citation: http://x\n\n2.\nTY  - JOUR\nT1  - Gout\n"
        "ER  -\nNL  - K\n\nLink to the Ovid Full Text or citation: http://y\n",
        [("", "Lithium", ""), ("", "Gout", "")],
    ),
    "ovid-txt.txt": (
        "1.\nTY  - JOUR\nT1  - Lithium\nN2  - Was given.\nER  -\n\n2.\nTY  - JOUR\nT1  - "
        "Gout\nER  -\n",
        [("", "Lithium", "Was given."), ("", "Gout", "")],
    ),
    "jstor.ris": (
        "Provider: JSTOR http://www.jstor.org\nDatabase: JSTOR\n"
        'Content: text/plain; charset="us-ascii"\n\n\nTY  - JOUR\nTI  - Fever in mice\n'
        "AU  - Doe, J\nAB  - Mice had fever.\nER  - \n",
        [("", "Fever in mice", "Mice had fever.")],
    ),
    "cochrane.ris": (
        'Provider: John Wiley & Sons, Ltd\nContent:text/plain; charset="UTF-8"\n\nTY  - JOUR\n'
        "AN  - CN-01234567\nTI  - Metformin for diabetes\n"
        "AB  - Background: x. Main results: y.\nN1  - PUBMED 123\nER  -\n",
        [("CN-01234567", "Metformin for diabetes", "Background: x. Main results: y.")],
    ),
    "cochrane-record.txt": (
        "Record #1 of 2\n\nTY  - JOUR\nAN  - CN-1\nTI  - A\nER  -\n\nRecord #2 of 2\n\n"
        "TY  - JOUR\nAN  - CN-2\nTI  - B\nER  -\n",
        [("CN-1", "A", ""), ("CN-2", "B", "")],
    ),
    "ebsco.ris": (
        "TY  - JOUR\nID  - 2010-12345-001\nT1  - Depression and sleep.\nAU  - Doe, Jane\n"
        "JO  - J Psych\nJF  - J Psych\nJA  - J P\nY1  - 2010/05//\nVL  - 3\n"
        "N2  - Abstract: We studied sleep.\nKW  - Sleep\nDB  - psyh\nDP  - EBSCOhost\nER  - \n"
        "\n",
        [("2010-12345-001", "Depression and sleep.", "Abstract: We studied sleep.")],
    ),
    "scopus.ris": (
        "Scopus\nEXPORT DATE:01 Jan 2024\n\nTY  - JOUR\nTI  - Zinc\nT2  - Journal\nJ2  - J.\n"
        "VL  - 1\nPY  - 2023\nDO  - 10.1000/zn\nUR  - https://www.scopus.com\n"
        "AB  - Zinc is a metal. © 2023 Elsevier\nKW  - zinc\nM3  - Article\nDB  - Scopus\n"
        "C2  - 30000001\nER  - \n\n",
        [("10.1000/zn", "Zinc", "Zinc is a metal. © 2023 Elsevier")],
    ),
    "wos.ris": (
        "TY  - JOUR\nAU  - Doe, J\nTI  - Iron\nT2  - BLOOD\nSN  - 0000-0000\n"
        "AB  - Iron deficiency.\nAN  - WOS:000123456700001\nPY  - 2020\nER  -\n\nEF  -\n",
        [("WOS:000123456700001", "Iron", "Iron deficiency.")],
    ),
    "wos-ef.ris": (
        "TY  - JOUR\nTI  - Iron\nER  -\nEF\n",
        [("", "Iron", "")],
    ),
    "zotero-lines.ris": (
        "TY  - JOUR\nTI  - Salt\nAB  - BACKGROUND\nSalt is bad.\n\nMETHODS\nWe ate salt.\n"
        "DA  - 2015/03//\nPY  - 2015\nER  - \n\n\n",
        [("", "Salt", "BACKGROUND Salt is bad. METHODS We ate salt.")],
    ),
    "endnote-kw.ris": (
        "TY  - JOUR\nAN  - 7\nTI  - Cold\nKW  - Adult\nFemale\nCommon Cold/drug therapy\nAB  - "
        "We sneezed.\nER  - \n",
        [("7", "Cold", "We sneezed.")],
    ),
    "both-abstracts.ris": (
        "TY  - JOUR\nTI  - A title\nT1  - Another title\nAB  - One\nN2  - Three\nER  - \n",
        [("", "A title", "One")],
    ),
    "equal-abstracts.ris": (
        "TY  - JOUR\nTI  - A\nT1  - A\nAB  - One\nN2  - One\nER  - \n",
        [("", "A", "One")],
    ),
    "two-ab.ris": (
        "TY  - JOUR\nTI  - A\nAB  - One.\nAB  - Two\nmore.\nER  - \n",
        [("", "A", "One. Two more.")],
    ),
    "no-er.ris": (
        "TY  - JOUR\nTI  - A\n\nTY  - JOUR\nTI  - B\n",
        [("", "A", ""), ("", "B", "")],
    ),
    "book-bt.ris": (
        "TY  - BOOK\nBT  - Whole book on gout\nER  - \nTY  - CHAP\nBT  - A book\nTI  - A "
        "chapter\nER  - \n",
        [("", "Whole book on gout", ""), ("", "A chapter", "")],
    ),
    "unpb-ct.ris": (
        "TY  - UNPB\nCT  - Unpublished thing\nER  - \n",
        [("", "Unpublished thing", "")],
    ),
    "translated.ris": (
        "TY  - JOUR\nTI  - Fieber bei Kindern\nTT  - Fever in children\nER  - \n",
        [("", "Fieber bei Kindern", "")],
    ),
    "only-tt.ris": (
        "TY  - JOUR\nTT  - Fever in children\nER  - \n",
        [("", "Fever in children", "")],
    ),
    "doi-url.ris": (
        "TY  - JOUR\nTI  - A\nDO  - https://doi.org/10.1000/a.b\nER  - \n",
        [("10.1000/a.b", "A", "")],
    ),
    "blank-start.ris": (
        "\n\nTY  - JOUR\nTI  - A\nER  - \n",
        [("", "A", "")],
    ),
    "bom.ris": (
        "\ufeffTY  - JOUR\nTI  - A\nER  - \n",
        [("", "A", "")],
    ),
    "bom-ovid.ris": (
        "\ufeff1.\nTY  - JOUR\nTI  - A\nER  - \n",
        [("", "A", "")],
    ),
    "empty-tags.ris": (
        "TY  - JOUR\nTI  - A\nAB  - \nN2  - Real abstract\nAN  - \nDO  - 10.1000/q\nER  - \n",
        [("10.1000/q", "A", "Real abstract")],
    ),
    "wrapped-dash.ris": (
        "TY  - JOUR\nTI  - A\nAB  - Levels of IL-2 and\nTNF - alpha rose\nDNA  - binding was "
        "seen\nER  - \n",
        [("", "A", "Levels of IL-2 and TNF - alpha rose DNA - binding was seen")],
    ),
    "one-space.ris": (
        "TY - JOUR\nTI - A\nAB - Text of it\nER - \nTY - JOUR\nTI - B\nER - \n",
        [("", "A", "Text of it"), ("", "B", "")],
    ),
    "fields-after.ris": (
        "TY  - JOUR\nTI  - A\nER  - \nUR  - http://x\nN1  - y\n\nTY  - JOUR\nTI  - B\nER  - \nUR "
        " - http://z\n",
        [("", "A", ""), ("", "B", "")],
    ),
    "colon-in-title.ris": (
        "TY  - JOUR\nTI  - A: B  - C\nER  - \n",
        [("", "A: B - C", "")],
    ),
    "pmc.nbib": (
        "PMC - PMC1000001\nPMID- 11111111\nTI  - One\n\nPMC - PMC2000002\nPMID- 22222222\nTI  - "
        "Two\n",
        [("11111111", "One", ""), ("22222222", "Two", "")],
    ),
    "pmc-late.nbib": (
        "PMID- 11111111\nTI  - One\n\nPMC - PMC2000002\nPMID- 22222222\nTI  - Two\n",
        [("11111111", "One", ""), ("22222222", "Two", "")],
    ),
    "pmc-only.nbib": (
        "PMC - PMC3000003\nTI  - Only in PMC\nAB  - Gout.\n\nPMC - PMC4\nPMID- 4\nTI  - Four\n",
        [("PMC3000003", "Only in PMC", "Gout."), ("4", "Four", "")],
    ),
    "no-blank.nbib": (
        "PMC - PMC1\nPMID- 1\nTI  - One\nPMC - PMC2\nPMID- 2\nTI  - Two\n",
        [("1", "One", ""), ("2", "Two", "")],
    ),
    "pubmed-no-blank.nbib": (
        "PMID- 1\nTI  - One\nPMID- 2\nTI  - Two\n",
        [("1", "One", ""), ("2", "Two", "")],
    ),
    "tt.nbib": (
        "PMID- 1\nTI  - [Fever in children].\nTT  - Fieber bei Kindern.\nAB  - A.\n",
        [("1", "[Fever in children].", "A.")],
    ),
    "oab.nbib": (
        "PMID- 1\nTI  - A\nAB  - English.\nOABL- spa\nOAB - Espanol.\n",
        [("1", "A", "English.")],
    ),
    "book.nbib": (
        "PMID- 30000003\nSTAT- Publisher\nCTI - StatPearls\nBTI - StatPearls\nTI  - Gout\n"
        "AB  - Gout hurts.\n\nPMID- 30000004\nBTI - LiverTox\nAB  - Liver.\n",
        [("30000003", "Gout", "Gout hurts."), ("30000004", "LiverTox", "Liver.")],
    ),
    "crlf.nbib": (
        "PMID- 1\r\nTI  - One long title that\r\n      wraps.\r\nAB  - x\r\n\r\nPMID- 2\r\nTI  - "
        "Two\r\n",
        [("1", "One long title that wraps.", "x"), ("2", "Two", "")],
    ),
    "html.nbib": (
        "<pre>\nPMID- 1\nTI  - One\n",
        [("1", "One", "")],
    ),
    "pubmed-set.txt": (
        "\n\nPMID- 1\nOWN - NLM\nTI  - One\n\n\n\nPMID- 2\nTI  - Two\n",
        [("1", "One", ""), ("2", "Two", "")],
    ),
    "wrap-tag.nbib": (
        "PMID- 1\nTI  - A\nAB  - We measured PSA and\n      AFP - alpha fetoprotein\n      AB  - "
        "in blood.\n",
        [("1", "A", "We measured PSA and AFP - alpha fetoprotein AB - in blood.")],
    ),
}


def of(folder: Path, name: str, content: str = "") -> list[Document]:
    path = folder / name
    path.write_bytes((content or EXPORTS[name][0]).encode())
    assert detect(str(path)) == "citations"
    report = ReadReport()
    report.aside.keep_going = True
    documents = list(read(path, report=report))
    assert report.aside.sentences == []
    return documents


def events(folder: Path, name: str) -> list[tuple[str, str]]:
    return [
        (event.code, event.message) for document in of(folder, name) for event in document.events
    ]


@pytest.mark.parametrize("name", EXPORTS)
def test_exports(tmp_path: Path, name: str) -> None:
    content, wanted = EXPORTS[name]
    documents = of(tmp_path, name, content)
    parts = [
        {one.name: doc.text[one.start : one.end] for one in doc.sections or ()} for doc in documents
    ]
    ids = [
        identifier or f"{Path(name).stem}:{at}" for at, (identifier, _, _) in enumerate(wanted, 1)
    ]
    assert [one.id for one in documents] == ids
    assert [(part.get("title", ""), part.get("abstract", "")) for part in parts] == [
        one[1:] for one in wanted
    ]


def test_the_id_of_pmc_belongs_to_the_citation_that_follows(tmp_path: Path) -> None:
    for name, ids in {
        "pmc.nbib": ["PMC1000001", "PMC2000002"],
        "pmc-late.nbib": [None, "PMC2000002"],
        "pmc-only.nbib": ["PMC3000003", "PMC4"],
        "no-blank.nbib": ["PMC1", "PMC2"],
    }.items():
        assert [one.meta.get("pmc") for one in of(tmp_path, name)] == ids


def test_lines_between_citations_are_counted_once(tmp_path: Path) -> None:
    for name, count, first in (
        ("ovid-link.ris", "6 lines", "line 1, '1.'"),
        ("fields-after.ris", "3 lines", "line 4, 'UR  - http://x'"),
        ("wos-ef.ris", "1 line", "line 4, 'EF'"),
        ("html.nbib", "1 line", "line 1, '<pre>'"),
    ):
        message = f"{count} between the citations left out; the first is {first}"
        assert [one for one in events(tmp_path, name) if one[0] == "lines-left-out"] == [
            ("lines-left-out", message)
        ]
    assert events(tmp_path, "pmc.nbib") == []


def test_fields_beside_those_that_are_read_are_named(tmp_path: Path) -> None:
    for name, fields in (
        ("both-abstracts.ris", "N2, T1"),
        ("translated.ris", "TT"),
        ("tt.nbib", "TT"),
        ("oab.nbib", "OAB, OABL"),
        ("book.nbib", "BTI, CTI, STAT"),
        ("ebsco.ris", "AU, DB, DP, JA, VL"),
    ):
        assert events(tmp_path, name)[0] == (
            "fields-left-out",
            f"these fields are not read: {fields}",
        )
    assert events(tmp_path, "equal-abstracts.ris") == []


def test_keywords_on_lines_of_their_own(tmp_path: Path) -> None:
    assert (
        of(tmp_path, "endnote-kw.ris")[0].meta["keywords"]
        == "Adult|Female|Common Cold/drug therapy"
    )

"""Citations of PubMed in XML."""

from __future__ import annotations

import gzip
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fascicle.core.document import Document, Section
from fascicle.errors import FormatError, UsageError
from fascicle.formats import ReadReport, detect, read, write
from fascicle.formats.medline import MedlineOptions
from fascicle.formats.report import FailedDocuments

DATA = os.environ.get("FASCICLE_DATA")
HEAD = (
    '<?xml version="1.0"?>\n<!DOCTYPE PubmedArticleSet SYSTEM "https://example.org/pubmed.dtd">\n'
)
CITATION = """<PubmedArticle><MedlineCitation><PMID Version="2">7</PMID><Article>
<Journal><JournalIssue><PubDate><Year>2001</Year></PubDate></JournalIssue><Title>J. Mice</Title></Journal>
<ArticleTitle>[Effects of  10<sup>-6</sup> M Ca<sub>2+</sub>
 on <i>Mus</i> &amp; &alpha; cells.]</ArticleTitle>
<Abstract><AbstractText Label="AIMS" NlmCategory="UNASSIGNED">To see.</AbstractText>
<AbstractText Label="DESIGN" NlmCategory="METHODS">p&lt;0.05</AbstractText><AbstractText>No label.</AbstractText>
<CopyrightInformation>(c) Us</CopyrightInformation></Abstract>
<AuthorList><Author><LastName>X</LastName></Author></AuthorList><Language>ger</Language>
<VernacularTitle>Wirkungen.</VernacularTitle></Article>
<MeshHeadingList><MeshHeading><DescriptorName UI="D1" MajorTopicYN="N">Mice</DescriptorName>
<QualifierName UI="Q2" MajorTopicYN="Y">physiology</QualifierName></MeshHeading></MeshHeadingList>
<OtherAbstract Type="Publisher" Language="ger"><AbstractText>Zu sehen.</AbstractText></OtherAbstract></MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="doi">10.1/x</ArticleId><ArticleId IdType="pmc">PMC9</ArticleId>
</ArticleIdList><ReferenceList><Reference><ArticleIdList><ArticleId IdType="doi">10.1/other</ArticleId></ArticleIdList>
</Reference></ReferenceList></PubmedData></PubmedArticle>"""
BARE = (
    "<PubmedArticle><MedlineCitation><PMID>8</PMID><Article><ArticleTitle>T</ArticleTitle></Article></MedlineCitation>"
    "</PubmedArticle>"
)
DELETED = "<DeleteCitation><PMID>5</PMID><PMID>6</PMID></DeleteCitation>"


def of(
    tmp_path: Path, *records: str, options: Any = None, report: ReadReport | None = None
) -> list[Document]:
    path = tmp_path / "a.xml"
    path.write_text(
        f"{HEAD}<PubmedArticleSet>{''.join(records)}</PubmedArticleSet>", encoding="utf-8"
    )
    assert detect(str(path)) == "medline"
    return list(read(path, options=options, report=report))


def parts(document: Document) -> list[tuple[str, str]]:
    return [(one.name, document.text[one.start : one.end]) for one in document.sections or ()]


def test_a_citation(tmp_path: Path) -> None:
    found, bare = of(tmp_path, CITATION, BARE)
    assert (found.id, bare.id, bare.text) == ("7", "8", "T")
    assert parts(found) == [
        ("title", "[Effects of 10-6 M Ca2+ on Mus & α cells.]"),
        ("abstract-objective", "AIMS: To see."),
        ("abstract-methods", "DESIGN: p<0.05"),
        ("abstract", "No label."),
    ]
    assert [one.attributes for one in found.sections or ()] == [
        (),
        (("Label", "AIMS"), ("NlmCategory", "UNASSIGNED")),
        (("Label", "DESIGN"), ("NlmCategory", "METHODS")),
        (),
    ]
    expected = {
        "doi": "10.1/x",
        "pmc": "PMC9",
        "mesh": "D1/Q2*",
        "mesh-names": "Mice",
        "year": "2001",
        "version": "2",
    }
    assert {name: found.meta.get(name) for name in expected} == expected
    told = {event.code: event.kind for event in found.events}
    assert told == {"fields-left-out": "note", "other-text-left-out": "loss"}
    left = next(event.message for event in found.events if event.code == "fields-left-out")
    assert "AuthorList" in left
    assert "CopyrightInformation" in left
    assert not bare.events


def test_other_languages_on_request(tmp_path: Path) -> None:
    (found,) = of(tmp_path, CITATION, options=MedlineOptions(others=True))
    assert parts(found)[-2:] == [("title-other", "Wirkungen."), ("abstract-other", "Zu sehen.")]
    assert (found.sections or ())[-1].attributes == (("Type", "Publisher"), ("Language", "ger"))
    assert "other-text-left-out" not in {event.code for event in found.events}


def test_deleted_citations_are_told(tmp_path: Path) -> None:
    report = ReadReport()
    of(tmp_path, BARE, DELETED, report=report)
    assert list(report.deleted.values()) == [["5", "6"]]
    assert any("2 documents" in line for line in report.lines())


def test_two_versions_are_two_documents(tmp_path: Path) -> None:
    assert [one.id for one in of(tmp_path, BARE, BARE)] == ["8", "8#2"]


def test_a_citation_without_an_id_costs_itself(tmp_path: Path) -> None:
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    found = of(tmp_path, BARE, BARE.replace("PMID", "ID"), CITATION, report=report)
    assert [one.id for one in found] == ["8", "7"]
    assert report.aside.count == 1


def test_what_comes_before_damage_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.xml.gz"
    path.write_bytes(
        gzip.compress(f"{HEAD}<PubmedArticleSet>{BARE}<PubmedArticle><a></b>".encode())
    )
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert [one.id for one in read(path, report=report)] == ["8"]
    assert report.aside.count == 1
    with pytest.raises(FormatError, match="XML"):
        list(read(path))


BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("head", "record", "said"),
    [
        (BOMB, "&b;", "entity"),
        (OUTSIDE, "&a;", "entity"),
        ("", "<i>" * 200, "deep"),
        ("", "&nobody;", "XML"),
    ],
)
def test_dangerous_xml_is_refused(tmp_path: Path, head: str, record: str, said: str) -> None:
    path = tmp_path / "a.xml"
    path.write_text(
        f"{head}<PubmedArticleSet>{BARE.replace('<PMID>', record + '<PMID>')}</PubmedArticleSet>"
    )
    with pytest.raises(FormatError, match=said):
        list(read(path, format="medline"))


@pytest.mark.parametrize(
    "filler", ["<!--" + "x" * 3000, "<PubmedArticle>" + "x" * 3000, "<a b='" + "x" * 3000]
)
def test_memory_is_bounded(tmp_path: Path, filler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fascicle.core.files.elements.MAX_RECORD", 1000)
    monkeypatch.setattr("fascicle.core.files.elements._CHUNK", 100)
    path = tmp_path / "a.xml"
    path.write_text(f"<PubmedArticleSet>{filler}")
    with pytest.raises(FormatError, match=r"1,000 (?:characters|bytes)"):
        list(read(path, format="medline"))


@pytest.mark.parametrize("chunk", [100, 10_000])
@pytest.mark.parametrize(
    ("title", "is_refused"),
    [
        ("x" * 900, False),
        ("\u4e00" * 900, False),
        ("&amp;" * 900, False),
        ("x" * 1100, True),
        ("<b/>" * 1100, True),
    ],
)
def test_the_size_of_a_record_is_in_characters(
    tmp_path: Path, title: str, is_refused: bool, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many bytes they have, and wherever the file is cut for the parser."""
    monkeypatch.setattr("fascicle.core.files.elements.MAX_RECORD", 1000)
    monkeypatch.setattr("fascicle.core.files.elements._CHUNK", chunk)
    path = tmp_path / "a.xml"
    path.write_text(
        f"<PubmedArticleSet>{BARE}{BARE.replace('>T<', f'>{title}<').replace('>8<', '>9<')}</PubmedArticleSet>"
    )
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    if is_refused:
        with pytest.raises(FormatError, match="1,000 characters"):
            list(read(path, format="medline"))
    else:
        assert [one.id for one in read(path, format="medline", report=report)] == ["8", "9"]


def test_encodings(tmp_path: Path) -> None:
    path, text = tmp_path / "a.xml", BARE.replace(">T<", ">Müller<")
    for encoding in ("iso-8859-1", "windows-1252", "utf-16", "utf-8"):
        path.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?>{text}'.encode(encoding))
        assert next(read(path, format="medline")).text == "Müller"
    path.write_bytes(text.encode("cp1252"))
    assert next(read(path, format="medline", encoding="cp1252")).text == "Müller"


def test_it_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not written"):
        write(tmp_path / "out", [Document(id="1", text="a")], format="medline")


def test_a_file_that_only_withdraws_has_no_documents(tmp_path: Path) -> None:
    assert of(tmp_path, DELETED) == []


CHARACTERS = st.characters(
    codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"
)
WORDS = st.lists(st.text(CHARACTERS, min_size=1, max_size=6), max_size=4).map(
    lambda words: " ".join(words).strip()
)


@settings(max_examples=15, deadline=None)
@given(
    title=WORDS,
    abstract=st.lists(st.tuples(st.sampled_from(["", "AIM", "X & <Y>"]), WORDS), max_size=3),
)
def test_text_and_offsets(title: str, abstract: list[tuple[str, str]]) -> None:
    inside = "".join(
        f"<AbstractText{f' Label={quoteattr(label)}' * bool(label)}><b>{escape(text)}</b></AbstractText>"
        for label, text in abstract
    )
    record = BARE.replace(">T<", f">{escape(title)}<").replace(
        "</Article>", f"<Abstract>{inside}</Abstract></Article>"
    )
    expected = [
        re.sub(" +", " ", part)
        for part in (title, *(f"{a}: {b}" if a and b else b for a, b in abstract))
    ]
    with tempfile.TemporaryDirectory() as folder:
        (found,) = of(Path(folder), record)
    assert found.text == "\n".join(filter(None, expected))
    assert [text for _, text in parts(found)] == list(filter(None, expected))


FACTS = st.dictionaries(
    st.sampled_from(["Label", "NlmCategory"]), st.text("AZ az1:=&<", max_size=6)
)


@pytest.mark.parametrize(
    "name", ["a.jsonl", "a.bioc.json", "a.bioc.xml", "a.kazu.jsonl", "a.parquet"]
)
@settings(max_examples=15, deadline=None)
@given(facts=st.lists(FACTS, min_size=1, max_size=3))
def test_the_facts_of_a_part_reach_every_file_that_can_hold_them(
    name: str, facts: list[dict[str, str]]
) -> None:
    told = ["".join(f" {key}={quoteattr(value)}" for key, value in each.items()) for each in facts]
    texts = "".join(f"<AbstractText{each}>Some text.</AbstractText>" for each in told)
    with tempfile.TemporaryDirectory() as folder:
        (found,) = of(
            Path(folder), BARE.replace("</Article>", f"<Abstract>{texts}</Abstract></Article>")
        )
        assert write(Path(folder) / name, [found]).losses.get("section-attributes", 0) == 0
        (again,) = read(Path(folder) / name)
    expected = [
        {key: value.strip() for key, value in each.items() if value.strip()} for each in facts
    ]
    for document in (found, again):
        assert [dict(one.attributes) for one in document.sections or ()] == [{}, *expected]
        assert document.text == found.text


@pytest.mark.skipif(not DATA, reason="FASCICLE_DATA is not set")
def test_an_update_file_of_pubmed() -> None:
    path = Path(str(DATA)) / "raw-xml" / "medline16n0902.xml.gz"
    report = ReadReport()
    found = {one.id: one for one in read(path, report=report)}
    assert len(found) == 604
    assert sum(map(len, report.deleted.values())) > 0
    with gzip.open(path) as stream:
        root = ElementTree.parse(stream).getroot()
    squeeze = re.compile(r"\s+")
    for citation in root.iter("MedlineCitation"):
        document = found[str(citation.findtext("PMID"))]
        texts = [
            citation.find("Article/ArticleTitle"),
            *citation.findall("Article/Abstract/AbstractText"),
        ]
        wanted = "".join("".join(one.itertext()) for one in texts if one is not None)
        labels = [
            f"{one.get('Label')}:" for one in texts[1:] if one is not None and one.get("Label")
        ]
        said = document.text
        for label in labels:
            said = said.replace(f"\n{label} ", "", 1) if label != "UNLABELLED:" else said
        assert squeeze.sub("", said) == squeeze.sub("", wanted)
        assert document.sections
        parts_with_text = [
            one for one in texts[1:] if one is not None and "".join(one.itertext()).strip()
        ]
        assert [one.attributes for one in document.sections[1:]] == [
            tuple(one.items()) for one in parts_with_text
        ]
        assert document.sections[0] == Section(
            0, document.text.find("\n") % (len(document.text) + 1), "title"
        )


@pytest.mark.skipif(not DATA, reason="FASCICLE_DATA is not set")
@pytest.mark.parametrize(
    "name", ["medline16n0902.xml.gz", "test_current_medline.xml.gz", "pubmed-29768149.xml"]
)
def test_no_text_is_lost_that_no_event_names(name: str) -> None:
    path = Path(str(DATA)) / "raw-xml" / name
    found = {one.id: one for one in read(path)}
    with gzip.open(path) if name.endswith(".gz") else path.open("rb") as stream:
        root = ElementTree.parse(stream).getroot()
    kept_by_number = {"QualifierName", "SupplMeshName"}  # meta has the numbers of these names
    for record in (one for one in root if one.tag in ("PubmedArticle", "MedlineCitation")):
        document = found[next(one.text or "" for one in record.iter("PMID"))]
        said = "".join("".join((document.id, document.text, *document.meta.values())).split())
        events = {event.code: event.message for event in document.events}
        named = (
            set(events.get("fields-left-out", "").partition(": ")[2].split(", ")) | kept_by_number
        )
        if "other-text-left-out" in events:
            named |= {"OtherAbstract", "VernacularTitle"}
        for element in unnamed(record, named):
            texts = [
                "".join((text or "").split())
                for text in (element.text, *(child.tail for child in element))
            ]
            if element.tag == "OtherID":  # PMC4668778 [Available on ...]
                texts = [text.partition("[")[0] for text in texts]
            assert all(text in said for text in texts), (document.id, element.tag)


def unnamed(parent: ElementTree.Element, named: set[str]) -> Iterator[ElementTree.Element]:
    """All elements in an element but those of some names, and what lies in these."""
    for child in parent:
        if child.tag not in named:
            yield child
            yield from unnamed(child, named)


def test_a_field_is_named_only_if_it_is_lost(tmp_path: Path) -> None:
    record = BARE.replace(
        "</Article>",
        "<Pagination><MedlinePgn>1-2</MedlinePgn></Pagination><Language>eng</Language><GrantList/>"
        '<ELocationID EIdType="doi">10.1/x</ELocationID></Article>',
    )
    (found,) = of(tmp_path, record)
    (event,) = found.events
    assert event.message.endswith(": Pagination")
    (found,) = of(tmp_path, BARE)
    assert not found.events


def test_a_doi_that_is_marked_as_wrong_is_not_taken(tmp_path: Path) -> None:
    ids = (
        '<ELocationID EIdType="doi" ValidYN="N">10.1000/wrong</ELocationID>'
        '<ELocationID EIdType="doi" ValidYN="Y">10.1000/right</ELocationID></Article>'
    )
    (found,) = of(tmp_path, BARE.replace("</Article>", ids))
    assert found.meta["doi"] == "10.1000/right"


@pytest.mark.parametrize(
    ("date", "year"),
    [("Winter 1998-1999", "1998"), ("1998 Dec-1999 Jan", "1998"), ("Spring", "")],
)
def test_the_year_of_a_date_in_words(tmp_path: Path, date: str, year: str) -> None:
    journal = f"<Journal><JournalIssue><PubDate><MedlineDate>{date}</MedlineDate></PubDate></JournalIssue></Journal>"
    (found,) = of(tmp_path, BARE.replace("<Article>", f"<Article>{journal}"))
    assert found.meta.get("year", "") == year

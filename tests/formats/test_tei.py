"""Articles in TEI, as GROBID makes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fascicle.core.document import Document
from fascicle.errors import FormatError
from fascicle.formats import detect, read
from fascicle.formats.jats import JatsOptions

HEADER = """<teiHeader xml:lang="en"><fileDesc><titleStmt><title type="main">Role of <hi rend="italic">Fgf9</hi>
<note place="foot">*</note></title></titleStmt><publicationStmt><publisher>P</publisher><date type="published"
when="2019-03-01">2019</date></publicationStmt><sourceDesc><biblStruct><analytic><author><persName><surname>Ann</surname>
</persName></author><title level="a">Role of Fgf9</title></analytic><monogr><title level="j">J. Mice</title></monogr>
<idno type="DOI">10.1/x</idno><idno type="PMID">5</idno></biblStruct></sourceDesc></fileDesc>
<profileDesc><textClass><keywords><term>mice</term><term>rats</term></keywords></textClass>
<abstract><div><p><s>To see Ca<hi rend="superscript">2+</hi>.</s><s>We did.</s></p></div></abstract></profileDesc>
</teiHeader>"""
TEXT = """<text xml:lang="en"><body>
<div><head n="1.">Introduction</head><p>IL-2 <ref type="bibr" target="#b3">3</ref> and gout <ref type="bibr"
target="#b0">1,</ref><ref type="bibr" target="#b1">2</ref> was common <ref type="bibr" target="#b1">[2]</ref>, as in
Fig. <ref type="figure" target="#fig_0">1</ref> and <ref type="bibr">(Smith, 2003)</ref>.</p></div>
<div><head n="2.">Materials and Methods</head><p>type 2<note place="foot" n="1">A note.</note> diabetes</p>
<formula xml:id="formula_0">x = 1<label>(1)</label></formula></div>
<figure xml:id="fig_0"><head>Figure 1 .</head><label>1</label><figDesc><div><p>A cell.</p></div></figDesc>
<graphic/></figure>
<figure type="table" xml:id="tab_0"><head>Table 1</head><label>1</label><figDesc>Counts.</figDesc>
<table><row><cell>a</cell><cell>b</cell></row><row><cell>1</cell><cell>2</cell></row></table></figure>
</body><back><div type="acknowledgement"><div><head>Thanks</head><p>To all.</p></div></div>
<div type="references"><listBibl><biblStruct xml:id="b0"/><biblStruct xml:id="b1"/></listBibl></div></back></text>"""


def of(
    folder: Path, content: str = HEADER + TEXT, options: JatsOptions | None = None
) -> list[Document]:
    path = folder / "some.tei.xml"
    path.write_text(
        f'<?xml version="1.0"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0">{content}</TEI>'
    )
    assert detect(str(path)) == "tei"
    return list(read(path, options=options))


def parts(document: Document) -> list[tuple[str, str]]:
    return [(one.name, document.text[one.start : one.end]) for one in document.sections or ()]


def test_an_article_of_grobid(tmp_path: Path) -> None:
    (found,) = of(tmp_path)
    assert parts(found) == [
        ("title", "Role of Fgf9"),
        ("footnote", "*"),
        ("abstract", "To see Ca2+. We did."),
        ("heading", "Introduction"),
        ("introduction", "IL-2 and gout was common [2], as in Fig. 1 and (Smith, 2003)."),
        ("heading", "Materials and Methods"),
        ("methods", "type 2 diabetes"),
        ("footnote", "A note."),
        ("formula", "x = 1(1)"),
        ("caption", "Figure 1 ."),
        ("caption", "A cell."),
        ("caption", "Table 1"),
        ("caption", "Counts."),
        ("heading", "Thanks"),
        ("acknowledgements", "To all."),
    ]
    assert found.text == "\n\n".join(text for _, text in parts(found))
    assert found.id == "5"
    meta = {
        "pmid": "5",
        "doi": "10.1/x",
        "journal": "J. Mice",
        "year": "2019",
        "keywords": "mice|rats",
    }
    assert found.meta == meta
    events = {event.code: event.message for event in found.events}
    assert "author" in events["fields-left-out"]
    assert events["marks-left-out"].startswith("3 raised marks")
    assert "references 2, tables 1" in events["parts-left-out"]


def test_tables_on_request(tmp_path: Path) -> None:
    (found,) = of(tmp_path, options=JatsOptions(tables=True))
    assert ("table", "a\tb\n1\t2") in parts(found)


def test_several_texts_and_prefixes(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    texts = [
        f"<tei:TEI><tei:text><tei:body><tei:p>{one}</tei:p></tei:body></tei:text></tei:TEI>"
        for one in "ab"
    ]
    path.write_text(
        f'<tei:teiCorpus xmlns:tei="http://www.tei-c.org/ns/1.0">{"".join(texts)}</tei:teiCorpus>'
    )
    assert [one.text for one in read(path)] == ["a", "b"]


def test_texts_in_groups_are_read_in_their_order(tmp_path: Path) -> None:
    (found,) = of(
        tmp_path,
        "<teiHeader/><facsimile/><text><front><p>a</p></front><group><head>b</head><text><body><p>c</p>"
        "</body></text><group><text><body><p>d</p></body><back><p>e</p></back></text></group></group>"
        "<back><p>f</p></back></text>",
    )
    assert [text for _, text in parts(found)] == list("abcdef")
    assert "elements facsimile 1" in str(found.events)


def test_what_stands_beside_the_divisions_of_a_text_is_counted(tmp_path: Path) -> None:
    """Running heads, terms of an index and analyses are no text of the article, and may stand
    anywhere in a text (https://www.tei-c.org/release/doc/tei-p5-doc/en/html/ref-model.global.html).
    """
    around = "<interpGrp><interp>illness</interp></interpGrp><spanGrp><span>x</span></spanGrp>"
    (found,) = of(
        tmp_path,
        '<teiHeader/><text><pb/><fw type="header">Running head</fw><front><p>a</p></front><index><term>'
        f"indexed term</term></index><body><p>b</p></body>{around}<back><p>d</p></back></text>"
        "<text><group><head>e</head><fw>Running head</fw><text><body><p>f</p></body></text></group>"
        "</text>",
    )
    assert [text for _, text in parts(found)] == list("abdef")
    (event,) = [event for event in found.events if event.code == "parts-left-out"]
    expected = "elements fw 2, elements index 1, elements interpGrp 1, elements spanGrp 1"
    assert event.message == f"these parts are not read: {expected}"


@pytest.mark.parametrize(("when", "year"), [("--03-01", ""), ("2019-03", "2019")])
def test_the_year_is_that_of_a_date(tmp_path: Path, when: str, year: str) -> None:
    (found,) = of(tmp_path, HEADER.replace("2019-03-01", when) + TEXT)
    assert found.meta.get("year", "") == year


def test_a_formula_is_read_once(tmp_path: Path) -> None:
    formula = "<semantics><mi>x</mi><annotation-xml><ci>y</ci></annotation-xml></semantics>"
    body = f"<p>gout <formula><math>{formula}</math></formula></p>"
    (found,) = of(tmp_path, f"<teiHeader/><text><body>{body}</body></text>")
    assert found.text == "gout x"


@pytest.mark.parametrize("root", ["OAI-PMH", "mods"])
def test_the_message_for_other_xml_names_its_root(tmp_path: Path, root: str) -> None:
    path = tmp_path / "a.xml"
    path.write_text(f'<?xml version="1.0"?>\n<{root} xmlns="x"><record>Text.</record></{root}>')
    with pytest.raises(FormatError, match=root) as error:
        list(read(path))
    assert "pandoc" not in str(error.value)
    assert next(read(path, format="plain")).text.startswith("<?xml")

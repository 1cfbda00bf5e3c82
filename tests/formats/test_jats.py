"""Articles in JATS and NLM XML."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.errors import FormatError
from fascicle.formats import detect, read, write
from fascicle.formats.jats import JatsOptions

DATA = os.environ.get("FASCICLE_DATA")
FRONT = """<front><journal-meta><journal-title-group><journal-title>J. Mice</journal-title></journal-title-group>
</journal-meta><article-meta>
<article-id pub-id-type="pmid">5</article-id><article-id pub-id-type="pmc">9</article-id>
<title-group><article-title>Role of <italic>Fgf9</italic><xref>*</xref></article-title></title-group>
<contrib-group><contrib>Ann</contrib></contrib-group><pub-date><year>2003</year></pub-date>
<abstract><sec><title>Aims</title><p>To see Ca<sup>2+</sup>.</p></sec></abstract>
<kwd-group><kwd>mice</kwd><kwd>rats</kwd></kwd-group></article-meta></front>"""
BODY = """<body><p>No heading.</p><sec><title>2. Materials and <bold>methods</bold></title>
<p>We used<list><list-item><label>1.</label><p>mice</p></list-item><list-item><p>rats</p></list-item></list> in cages
 [<xref>7</xref>].</p>
<sec><title>Cells</title><p>HeLa</p><fig><object-id>f1</object-id><label>Figure 1</label>
<caption><title>A cell.</title><p>Big.</p></caption></fig></sec></sec>
<table-wrap><label>Table 1</label><caption><p>Counts.</p></caption><table><thead><tr><th>a</th><th>b</th></tr></thead>
<tbody><tr><td>1</td><td>2</td></tr></tbody></table><table-wrap-foot><fn><p>n = 1</p></fn></table-wrap-foot>
</table-wrap></body>"""
BACK = """<back><ack><title>Thanks</title><p>To all.</p></ack><glossary><def-list><def-item><term>IL</term>
<def><p>interleukin</p></def></def-item></def-list></glossary><ref-list><title>References</title><ref/><ref/></ref-list>
</back>"""


def of(tmp_path: Path, article: str = FRONT + BODY + BACK, options: Any = None) -> list[Document]:
    path = tmp_path / "some.nxml"
    path.write_text(
        f'<!DOCTYPE article SYSTEM "a.dtd">\n<article article-type="x">{article}</article>'
    )
    assert detect(str(path)) == "jats"
    return list(read(path, options=options))


def parts(document: Document) -> list[tuple[str, str]]:
    return [(one.name, document.text[one.start : one.end]) for one in document.sections or ()]


def test_an_article(tmp_path: Path) -> None:
    (found,) = of(tmp_path)
    assert parts(found) == [
        ("title", "Role of Fgf9*"),
        ("heading", "Aims"),
        ("abstract-objective", "To see Ca2+."),
        ("body", "No heading."),
        ("heading", "2. Materials and methods"),
        ("methods", "We used"),
        ("methods", "1."),
        ("methods", "mice"),
        ("methods", "rats"),
        ("methods", "in cages [7]."),
        ("heading", "Cells"),
        ("methods", "HeLa"),
        ("caption", "Figure 1"),
        ("caption", "A cell."),
        ("caption", "Big."),
        ("caption", "Table 1"),
        ("caption", "Counts."),
        ("footnote", "n = 1"),
        ("heading", "Thanks"),
        ("acknowledgements", "To all."),
        ("abbreviations", "IL - interleukin"),
    ]
    assert found.text == "\n\n".join(text for _, text in parts(found))
    expected = {
        "pmc": "PMC9",
        "pmid": "5",
        "journal": "J. Mice",
        "year": "2003",
        "keywords": "mice|rats",
    }
    assert found.meta == {**expected, "article-type": "x"}
    said = {event.code: event.message for event in found.events}
    assert "contrib-group" in said["fields-left-out"]
    assert all(what in said["parts-left-out"] for what in ("references 2", "tables 1"))


def test_tables_on_request(tmp_path: Path) -> None:
    (found,) = of(tmp_path, options=JatsOptions(tables=True))
    assert ("table", "a\tb\n1\t2") in parts(found)
    assert "tables" not in str(found.events)


def test_ids(tmp_path: Path) -> None:
    front = "<front><article-meta>{}</article-meta></front>"
    pmid, doi = (
        '<article-id pub-id-type="pmid">5</article-id>',
        '<article-id pub-id-type="doi">10.1/x</article-id>',
    )
    assert [of(tmp_path, front.format(ids))[0].id for ids in (pmid + doi, doi, "")] == [
        "5",
        "10.1/x",
        "some",
    ]


def test_several_articles_and_those_inside(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    inside = "<sub-article><body><p>Reply</p></body></sub-article>"
    path.write_text(
        f"<pmc-articleset><article>{FRONT}</article><article>{BODY}{inside}</article></pmc-articleset>"
    )
    found = list(read(path))
    assert [one.id for one in found] == ["PMC9", "a"]
    assert "Reply" not in found[1].text


def test_dangerous_xml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.nxml"
    path.write_text(
        '<!DOCTYPE article [<!ENTITY a "ha"><!ENTITY b '
        '"&a;&a;">]><article><body>&b;</body></article>'
    )
    with pytest.raises(FormatError, match="entity"):
        list(read(path, format="jats"))


WORD = st.text(
    st.characters(
        codec="utf-8", exclude_categories=["Cc", "Cs", "Zs"], exclude_characters="\ufffe\uffff"
    )
)
INLINE = st.recursive(
    WORD.map(escape),
    lambda inner: st.builds(
        "<{0}>{1}</{0}>{2}".format,
        st.sampled_from(["bold", "sub", "xref"]),
        inner,
        WORD.map(escape),
    ),
    max_leaves=4,
)


@settings(max_examples=15, deadline=None)
@given(paragraphs=st.lists(INLINE, max_size=5))
def test_the_characters_of_paragraphs(tmp_path_factory: Any, paragraphs: list[str]) -> None:
    body = "".join(f"<p>{one}</p>" for one in paragraphs)
    (found,) = of(tmp_path_factory.mktemp("a"), f"<body><sec>{body}</sec></body>")
    expected = [
        "".join(ElementTree.fromstring(f"<p>{one}</p>").itertext()).strip() for one in paragraphs
    ]
    assert found.text.split("\n\n") == (list(filter(None, expected)) or [""])
    assert [text for _, text in parts(found)] == list(filter(None, expected))


TYPE = st.sampled_from(["", "methods", "materials|methods", "a=b", "intro"])
SECTION = st.recursive(
    st.just("<p>Here.</p>"),
    lambda inner: st.builds(
        '<sec sec-type="{}"><p>Before.</p>{}<p>After.</p></sec>'.format,
        TYPE,
        st.lists(inner, max_size=2).map("".join),
    ),
    max_leaves=6,
)


@settings(max_examples=25, deadline=None)
@given(body=st.lists(SECTION, max_size=3).map("".join), kind=TYPE)
def test_a_block_has_the_types_of_all_that_it_is_in(
    tmp_path_factory: Any, body: str, kind: str
) -> None:
    front = (
        "<front><article-meta><abstract "
        f'abstract-type="{kind}"><p>Short.</p></abstract></article-meta></front>'
    )
    (found,) = of(tmp_path_factory.mktemp("a"), f"{front}<body>{body}</body>")
    expected = [
        [("abstract-type", kind)] * bool(kind),
        *types_around(ElementTree.fromstring(f"<body>{body}</body>")),
    ]
    assert [list(one.attributes) for one in found.sections or ()] == expected
    path = tmp_path_factory.mktemp("b") / "a.jsonl"
    assert write(path, [found]).losses.get("section-attributes", 0) == 0
    assert next(read(path)).sections == found.sections


def types_around(
    element: ElementTree.Element, around: tuple[str, ...] = ()
) -> Iterator[list[tuple[str, str]]]:
    """For each paragraph, the types of the parts that it is in, from the outer to the inner."""
    if element.tag == "p":
        yield [("sec-type", kind) for kind in around]
    kind = element.get("sec-type", "")
    for child in element:
        yield from types_around(child, around if kind in ("", *around) else (*around, kind))


@pytest.mark.skipif(not DATA, reason="FASCICLE_DATA is not set")
def test_articles_of_pubmed_central() -> None:
    for path in sorted((Path(str(DATA)) / "raw-xml").glob("*.nxml")):
        (found,) = read(path)
        names = Counter(name for name, _ in parts(found))
        assert found.id.startswith("PMC")
        assert names["title"] == 1
        root = ElementTree.parse(path).getroot()
        said = re.sub(r"\s+", "", found.text)
        for paragraph in root.iterfind("./body//sec/p"):
            if not [
                one
                for one in paragraph.iter()
                if one.tag not in ("p", "xref", "italic", "bold", "sup", "sub")
            ]:
                assert re.sub(r"\s+", "", "".join(paragraph.itertext())) in said


OUT_OF_BODY = {
    "ref-list",
    "table",
    "object-id",
    "sub-article",
    "response",
    "tex-math",
    "annotation",
}


@pytest.mark.skipif(not DATA, reason="FASCICLE_DATA is not set")
def test_no_text_is_lost_that_no_event_names() -> None:
    for path in sorted((Path(str(DATA)) / "raw-xml").glob("*.nxml")):
        (found,) = read(path)
        said = "".join("".join((found.text, *found.meta.values())).split())
        events = {event.code: event.message.partition(": ")[2] for event in found.events}
        # its year is in meta, if it is the first
        named = set(events["fields-left-out"].split(", ")) | {"pub-date"}
        root = ElementTree.parse(path).getroot()
        left_out = OUT_OF_BODY & {one.tag for one in root.iter()}
        assert not left_out or events["parts-left-out"]
        marks = {"sup", "xref"} if "marks-left-out" in events else set()
        for element in unnamed(root, named | left_out | marks):
            for text in (element.text, *(child.tail for child in element)):
                assert "".join((text or "").split()) in said, (path.name, element.tag)


def unnamed(parent: ElementTree.Element, named: set[str]) -> Iterator[ElementTree.Element]:
    """All elements in an element but those of some names, and what lies in these."""
    for child in parent:
        if child.tag not in named:
            yield child
            yield from unnamed(child, named)


PARAGRAPH = (
    '<p>Patients were given IL-2<sup><xref ref-type="bibr" rid="b3">3</xref></sup> and '
    'gout<sup><xref ref-type="bibr" '
    'rid="b1">1</xref>,<xref ref-type="bibr" rid="b2">2</xref></sup> was common.</p>'
)


def test_marks_of_citations_join_no_word(tmp_path: Path) -> None:
    (found,) = of(tmp_path, f"<body>{PARAGRAPH}</body>")
    assert found.text == "Patients were given IL-2 and gout was common."
    (event,) = [event for event in found.events if event.code == "marks-left-out"]
    assert event.message.startswith("3 raised marks")


@pytest.mark.parametrize(
    "around", ["<p>{}</p>", "<table-wrap><table><tr><td>{}</td></tr></table></table-wrap>"]
)
@pytest.mark.parametrize(
    "mark",
    ['<xref rid="b"><sup>3</sup></xref>', '<sup>[<xref rid="b">3</xref>]</sup>', "<sup>3</sup>"],
)
def test_marks_in_every_block(tmp_path: Path, mark: str, around: str) -> None:
    text = f"<body>{around.format(f'IL-2{mark}, Ca<sup>2+</sup>')}</body>"
    (found,) = of(tmp_path, text, options=JatsOptions(tables=True))
    assert found.text == "IL-2, Ca2+"


X = "<mml:math xmlns:mml='http://www.w3.org/1998/Math/MathML'><mml:mi>x</mml:mi></mml:math>"


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (
            f"Use <alternatives>{X}<inline-graphic/><textual-form>x</textual-form></alternatives> here",
            "Use x here",
        ),
        (
            "Use <alternatives><inline-graphic/><textual-form>x</textual-form></alternatives> here",
            "Use x here",
        ),
        ("type 2<fn><p>A note.</p></fn> diabetes", "type 2 diabetes\n\nA note."),
        ("<ruby><rb>漢</rb><rt>kan</rt></ruby>", "漢"),
        ("gout<inline-graphic/>was", "gout was"),
        ("asthma<break/>gout", "asthma gout"),
    ],
)
def test_content_inside_a_line_neither_joins_nor_cuts_words(
    tmp_path: Path, content: str, shown: str
) -> None:
    (found,) = of(tmp_path, f"<body><p>{content}</p></body>")
    assert found.text == shown


@pytest.mark.parametrize(
    ("forms", "left_out"),
    [
        ("<tex-math>a</tex-math><mml:math><mml:mi>α</mml:mi></mml:math>", ""),
        ("<mml:math><mml:mi>α</mml:mi></mml:math><tex-math>a</tex-math>", ""),
        (
            "<mml:math><mml:semantics><mml:mi>α</mml:mi><mml:annotation-xml><mml:ci>a</mml:ci>"
            "</mml:annotation-xml><mml:annotation>a</mml:annotation></mml:semantics></mml:math>",
            "",
        ),
        ("<tex-math>a</tex-math><inline-graphic/>", "formulas as TeX 1, pictures in lines 1"),
    ],
)
def test_of_several_forms_of_a_formula_nothing_is_left_out_if_one_is_read(
    tmp_path: Path, forms: str, left_out: str
) -> None:
    """JATS: `alternatives` holds forms of one and the same object."""
    body = f"<body><p>x <inline-formula><alternatives>{forms}</alternatives></inline-formula></p></body>"
    (found,) = of(tmp_path, body.replace("<mml:", "<").replace("</mml:", "</"))
    assert [event.message.partition(": ")[2] for event in found.events] == [left_out][
        not left_out :
    ]
    assert found.text == ("x" if left_out else "x α")


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (
            "<item-info/><head><title>Gout</title></head><body><sections>x</sections></body>",
            "item-info",
        ),
        ("<info><title>Gout</title></info><para>Text.</para>", "info"),
    ],
)
def test_articles_of_elsevier_and_docbook_are_refused(
    tmp_path: Path, content: str, name: str
) -> None:
    with pytest.raises(FormatError, match=f"element {name} is not in JATS"):
        of(tmp_path, content)


def test_elements_that_jats_does_not_have_are_counted(tmp_path: Path) -> None:
    (found,) = of(tmp_path, f"{FRONT}<processing-meta/><extra><p>gout</p></extra>{BODY}")
    (event,) = [event for event in found.events if event.code == "parts-left-out"]
    assert "elements extra 1" in event.message
    assert "processing-meta" not in event.message


def test_blocks_of_a_cell_are_apart(tmp_path: Path) -> None:
    cell = (
        "<td><p>asthma</p><p>gout<inline-formula><tex-math>a</tex-math></inline-formula></p></td>"
    )
    table = f"<table-wrap><table><tr>{cell}<td>x<break/>y</td></tr></table></table-wrap>"
    (found,) = of(tmp_path, f"<body>{table}</body>", options=JatsOptions(tables=True))
    assert found.text == "asthma gout\tx y"
    assert "formulas as TeX 1" in str(found.events)

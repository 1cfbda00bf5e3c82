"""What a document of Word can hold, each with the text that Word prints, as ECMA-376, part 1,
describes it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.formats.oracle.office import package, paragraph, renamed, rewritten, run, strict, table

from fascicle.core.document import Document
from fascicle.errors import FormatError
from fascicle.formats import read

pytest.importorskip("docx")
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def box(*blocks: str) -> str:
    """A text box of DrawingML."""
    return f"<w:r><w:drawing><w:txbxContent>{''.join(blocks)}</w:txbxContent></w:drawing></w:r>"


def vml(*blocks: str) -> str:
    return f"<w:r><w:pict><w:group><w:txbxContent>{''.join(blocks)}</w:txbxContent></w:group></w:pict></w:r>"


def styled(text: str, properties: str) -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def mark(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def code(text: str) -> str:
    return f"<w:r><w:instrText>{text}</w:instrText></w:r>"


def field(instruction: str, result: str) -> str:
    return mark("begin") + instruction + mark("separate") + result + mark("end")


def formula(content: str) -> str:
    return f"<m:oMath>{content}</m:oMath>"


def arg(name: str, text: str) -> str:
    return f"<m:{name}><m:r><m:t>{text}</m:t></m:r></m:{name}>"


def symbols(text: str) -> str:
    return styled(text, '<w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/>')


def control(*blocks: str) -> str:
    return f"<w:sdt><w:sdtPr/><w:sdtContent>{''.join(blocks)}</w:sdtContent></w:sdt>"


def choice(*parts: tuple[str, str]) -> str:
    made = "".join(f"<mc:{name}>{content}</mc:{name.split()[0]}>" for name, content in parts)
    return f"<mc:AlternateContent>{made}</mc:AlternateContent>"


DRAWN = '<a:t xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">y</a:t>'
A, B = paragraph(run("first")), paragraph(run("second"))
PRINTED = [
    # name, body, the sections, what is counted
    (
        "box in a cell",
        table([paragraph(run("Cell lithium."), box(paragraph(run("Box tremor."))))]),
        "Cell lithium.|Box tremor.",
        "",
    ),
    (
        "VML box in a cell",
        table([paragraph(run("Cell."), vml(paragraph(run("Box."))))]),
        "Cell.|Box.",
        "",
    ),
    (
        "box in a box in a cell",
        table([paragraph(run("a"), box(paragraph(run("b"), box(B))))]),
        "a|b|second",
        "",
    ),
    ("box in a control", control(paragraph(run("a"), box(B))), "a|second", ""),
    (
        "boxes of a group",
        paragraph(run("a"), f"<w:r><w:drawing><w:wgp>{box(A)}{box(B)}</w:wgp></w:drawing></w:r>"),
        "a|first|second",
        "",
    ),
    ("table in a box", paragraph(box(table([A, B]))), "first\tsecond", ""),
    ("control in a cell", table([control(A + B), paragraph(run("x"))]), "first second\tx", ""),
    ("custom XML in a cell", table([f"<w:customXml>{A}{B}</w:customXml>"]), "first second", ""),
    ("table in a control in a cell", table([A + control(table([B]))]), "first|second", ""),
    (
        "control around a row",
        f"<w:tbl>{control('<w:tr><w:tc>' + A + '</w:tc></w:tr>')}</w:tbl>",
        "first",
        "",
    ),
    (
        "control around a cell",
        f"<w:tbl><w:tr>{control('<w:tc>' + A + '</w:tc>')}<w:tc>{B}</w:tc></w:tr></w:tbl>",
        "first\tsecond",
        "",
    ),
    (
        "table in a table in a table",
        table([A + table([B + table([paragraph(run("third"))])])]),
        "first|second|third",
        "",
    ),
    (
        "deleted row",
        "<w:tbl><w:tr><w:trPr><w:del/></w:trPr><w:tc>"
        + A
        + "</w:tc></w:tr><w:tr><w:tc>"
        + B
        + "</w:tc></w:tr></w:tbl>",
        "second",
        "",
    ),
    ("empty cell in the middle", table([A, paragraph(), B]), "first\t\tsecond", ""),
    (
        "ptab",
        paragraph(run("Lithium"), '<w:r><w:ptab w:alignment="right"/></w:r>', run("tremor")),
        "Lithium\ttremor",
        "",
    ),
    (
        "breaks",
        paragraph(
            run("a"), '<w:r><w:br w:type="page"/></w:r>', run("b"), "<w:r><w:cr/></w:r>", run("c")
        ),
        "a\nb\nc",
        "",
    ),
    ("line end in a run", paragraph("<w:r><w:t>Lithium\ntremor</w:t></w:r>"), "Lithium tremor", ""),
    (
        "hyphens",
        paragraph(
            run("IL"),
            "<w:r><w:noBreakHyphen/></w:r>",
            run("2 immu"),
            "<w:r><w:softHyphen/></w:r>",
            run("ne"),
        ),
        "IL-2 immune",
        "",
    ),
    (
        "ruby",
        paragraph(
            run("a "),
            f"<w:r><w:ruby><w:rubyPr/><w:rt>{run('over')}</w:rt><w:rubyBase>{run('base')}</w:rubyBase></w:ruby></w:r>",
        ),
        "a base",
        "ruby 1",
    ),
    (
        "fraction",
        paragraph(formula(f"<m:f>{arg('num', '12')}{arg('den', '34')}</m:f>")),
        "12/34",
        "",
    ),
    (
        "fraction of sums",
        paragraph(formula(f"<m:f>{arg('num', 'a+b')}{arg('den', 'c')}</m:f>")),
        "(a+b)/c",
        "",
    ),
    ("root", paragraph(formula(f"<m:rad>{arg('deg', '')}{arg('e', 'x')}</m:rad>")), "√x", ""),
    (
        "delimiters",
        paragraph(
            formula(
                "<m:d><m:dPr><m:begChr m:val='['/><m:endChr "
                f"m:val=']'/></m:dPr>{arg('e', 'x')}{arg('e', 'y')}</m:d>"
            )
        ),
        "[x|y]",
        "",
    ),
    ("parentheses", paragraph(formula(f"<m:d>{arg('e', 'x')}</m:d>")), "(x)", ""),
    (
        "sum",
        paragraph(
            formula(
                f"<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr>"
                f"{arg('sub', 'i')}{arg('sup', 'n')}{arg('e', 'x')}</m:nary>"
            )
        ),
        "∑i n x",
        "",
    ),
    ("power", paragraph(formula(f"<m:sSup>{arg('e', 'x')}{arg('sup', '2')}</m:sSup>")), "x2", ""),
    (
        "function",
        paragraph(formula(f"<m:func>{arg('fName', 'sin')}{arg('e', 'x')}</m:func>")),
        "sin x",
        "",
    ),
    (
        "matrix",
        paragraph(
            formula(
                f"<m:m><m:mr>{arg('e', 'a')}{arg('e', 'b')}</m:mr><m:mr>{arg('e', 'c')}{arg('e', 'd')}</m:mr></m:m>"
            )
        ),
        "a b; c d",
        "",
    ),
    (
        "formula of its own",
        "<m:oMathPara>" + formula("<m:r><m:t>E=m</m:t></m:r>") + "</m:oMathPara>",
        "E=m",
        "",
    ),
    ("Greek as characters", paragraph(run("TNF-"), symbols("a")), "TNF-α", ""),
    ("Greek as private characters", paragraph(run("TNF-"), symbols("\uf061")), "TNF-α", ""),
    ("signs of Symbol", paragraph(symbols("\uf0a3\uf0b3\uf0b1\uf0b4\uf0b0\uf0ae")), "≤≥±×°→", ""),
    (
        "sym of Symbol",
        paragraph(
            *(
                f'<w:r><w:sym w:font="Symbol" w:char="F0{one}"/></w:r>'
                for one in ("A3", "B1", "62", "57")
            )
        ),
        "≤±βΩ",
        "",
    ),
    (
        "sym of a font of text",
        paragraph('<w:r><w:sym w:font="Times New Roman" w:char="03B1"/></w:r>'),
        "α",
        "",
    ),
    (
        "letters of a picture font",
        paragraph(run("x "), styled("J", '<w:rFonts w:ascii="Wingdings" w:hAnsi="Wingdings"/>')),
        "x \ufffd",
        "signs of other fonts 1",
    ),
    (
        "a bad sym",
        paragraph(run("x "), '<w:r><w:sym w:font="Wingdings" w:char="zz"/></w:r>'),
        "x \ufffd",
        "signs of other fonts 1",
    ),
    (
        "hidden text",
        paragraph(
            run("a"),
            styled("secret", "<w:vanish/>"),
            run(" b"),
            styled(" c", '<w:vanish w:val="0"/>'),
        ),
        "a b c",
        "hidden texts 1",
    ),
    (
        "simple field",
        paragraph(run("see "), f'<w:fldSimple w:instr="REF a">{run("Table 1")}</w:fldSimple>'),
        "see Table 1",
        "",
    ),
    ("field", paragraph(run("see "), field(code(" REF a "), run("Table 1"))), "see Table 1", ""),
    (
        "field in a field",
        paragraph(
            field(
                code("IF ") + field(code("MERGEFIELD x"), run("hidden")) + code(' = "a"'),
                run("Lithium"),
            )
        ),
        "Lithium",
        "",
    ),
    (
        "field over paragraphs",
        paragraph(mark("begin"), code("TOC"), mark("separate"), run("a"))
        + paragraph(run("b"), mark("end")),
        "a|b",
        "",
    ),
    (
        "index entry",
        paragraph(run("Lithium"), mark("begin"), code('XE "Lithium"'), mark("end"), run(" helps")),
        "Lithium helps",
        "",
    ),
    (
        "field without a result",
        paragraph(run("x"), mark("begin"), code(" EQ \\f(1,2) "), mark("end")),
        "x",
        "fields without a result 1",
    ),
    (
        "field without an end",
        paragraph(run("x"), mark("begin"), run("lost")),
        "x",
        "fields without an end 1",
    ),
    (
        "hyperlink",
        paragraph(run("see "), f'<w:hyperlink w:anchor="a">{run("here")}</w:hyperlink>'),
        "see here",
        "",
    ),
    (
        "smart tag and direction",
        paragraph(f"<w:smartTag>{run('EGFR')}</w:smartTag>", f"<w:bdo>{run(' x')}</w:bdo>"),
        "EGFR x",
        "",
    ),
    (
        "moved text",
        paragraph(f"<w:moveFrom>{run('old ')}</w:moveFrom>", f"<w:moveTo>{run('new')}</w:moveTo>"),
        "new",
        "",
    ),
    (
        "deleted end of a paragraph",
        "<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>"
        + run("IL-")
        + "</w:p>"
        + paragraph(run("2 helps")),
        "IL-2 helps",
        "",
    ),
    (
        "drop cap",
        '<w:p><w:pPr><w:framePr w:dropCap="drop"/></w:pPr>'
        + run("L")
        + "</w:p>"
        + paragraph(run("ithium helps")),
        "Lithium helps",
        "",
    ),
    (
        "choice and fallback",
        paragraph("<w:r>" + choice(("Choice", box(A)), ("Fallback", vml(A))) + "</w:r>"),
        "first",
        "",
    ),
    (
        "two choices",
        paragraph(
            "<w:r>" + choice(("Choice", "<w:t>a</w:t>"), ("Choice", "<w:t>b</w:t>")) + "</w:r>"
        ),
        "a",
        "",
    ),
    (
        "fallback alone",
        paragraph("<w:r>" + choice(("Fallback", "<w:t>a</w:t>")) + "</w:r>"),
        "a",
        "",
    ),
    ("choice of blocks", choice(("Choice", A), ("Fallback", B)), "first", ""),
    (
        "chunk of another file",
        A + '<w:altChunk r:id="x" xmlns:r="' + _OFFICE + '"/>',
        "first",
        "chunks of other files 1",
    ),
    (
        "text in a drawing",
        paragraph(run("x"), f"<w:r><w:drawing>{DRAWN}</w:drawing></w:r>"),
        "x",
        "texts in drawings 1",
    ),
    (
        "letters as a picture",
        paragraph(
            run("x"),
            '<w:r><w:pict><v:textpath xmlns:v="urn:schemas-microsoft-com:vml" '
            'string="WORD"/></w:pict></w:r>',
        ),
        "x",
        "texts in drawings 1",
    ),
    ("object", paragraph(run("x"), "<w:r><w:object/></w:r>"), "x", "objects 1"),
    (
        "date of today",
        paragraph(run("x"), "<w:r><w:yearLong/></w:r>"),
        "x",
        "dates and page numbers 1",
    ),
    (
        "numbers of lists",
        "<w:p><w:pPr><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr>" + run("a") + "</w:p>",
        "a",
        "numbers or signs of lists 1",
    ),
    (
        "style of a box is not that around it",
        paragraph(run("a"), box(paragraph(run("b"), style="Title"))),
        "a|b",
        "",
    ),
]


def of(tmp_path: Path, content: bytes) -> Document:
    path = tmp_path / "a.docx"
    path.write_bytes(content)
    (found,) = read(path)
    return found


def parts(document: Document) -> list[str]:
    return [document.text[one.start : one.end] for one in document.sections or ()]


@pytest.mark.parametrize(
    ("body", "wanted", "counted"), [one[1:] for one in PRINTED], ids=[one[0] for one in PRINTED]
)
def test_what_is_printed(tmp_path: Path, body: str, wanted: str, counted: str) -> None:
    found = of(tmp_path, package(body))
    assert "|".join(parts(found)) == wanted
    assert counted in " ".join(event.message for event in found.events)
    assert bool(found.events) == bool(counted)


def related(body: str, **others: str) -> bytes:
    """A document with parts beside it, by the names of their kinds."""
    links = "".join(
        f'<Relationship Id="{name}" Type="{_OFFICE}/{name}" Target="{name}.xml"/>'
        for name in others
    )
    more = {f"word/{name}.xml": content for name, content in others.items()}
    rels = f'<Relationships xmlns="{_RELS}">{links}</Relationships>'
    return package(body, more={**more, "word/_rels/document.xml.rels": rels})


def notes(kind: str, *texts: str) -> str:
    made = "".join(
        f'<w:{kind} w:id="{at}">{paragraph(run(text))}</w:{kind}>'
        for at, text in enumerate(texts, 1)
    )
    return f"<w:{kind}s {_W}>{made}</w:{kind}s>"


def test_footnotes_follow_their_paragraph_and_endnotes_the_text(tmp_path: Path) -> None:
    body = paragraph(run("Text"), '<w:r><w:endnoteReference w:id="1"/></w:r>') + table(
        [paragraph(run("a"), '<w:r><w:footnoteReference w:id="2"/></w:r>'), paragraph(run("b"))]
    )
    body += paragraph(run("last"))
    content = related(
        body,
        footnotes=notes("footnote", "not used", "A note."),
        endnotes=notes("endnote", "At the end."),
    )
    found = of(tmp_path, content)
    assert parts(found) == ["Text", "a\tb", "A note.", "last", "At the end."]
    assert [one.name for one in found.sections or ()] == [
        "body",
        "table",
        "footnote",
        "body",
        "footnote",
    ]
    assert found.events == ()


def test_styles_hide_text_and_choose_fonts(tmp_path: Path) -> None:
    styles = (
        f"<w:styles {_W}>"
        '<w:style w:styleId="h"><w:name w:val="hid"/><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:styleId="b"><w:basedOn w:val="g"/></w:style>'
        '<w:style w:styleId="g"><w:basedOn w:val="b"/><w:rPr><w:rFonts '
        'w:ascii="Symbol"/></w:rPr></w:style>'
        '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>'
    )
    body = paragraph(run("Titel"), style="berschrift1") + paragraph(
        run("TNF-"), styled("a", '<w:rStyle w:val="b"/>'), styled(" gone", '<w:rStyle w:val="h"/>')
    )
    found = of(tmp_path, related(body, styles=styles))
    assert parts(found) == ["Titel", "TNF-α"]
    assert [one.name for one in found.sections or ()] == ["heading", "body"]
    assert "hidden texts 1" in found.events[0].message


def test_comments_charts_and_diagrams_are_counted(tmp_path: Path) -> None:
    comments = f"<w:comments {_W}><w:comment>{A}</w:comment><w:comment>{B}</w:comment></w:comments>"
    header = f"<w:hdr {_W}>{paragraph()}</w:hdr>"
    more = {
        "word/charts/chart1.xml": "<c><t>a</t></c>",
        "word/diagrams/data1.xml": "<d><t>a</t></d>",
    }
    links = "".join(
        f'<Relationship Id="a{at}" Type="{_OFFICE}/x" Target="{name.removeprefix("word/")}"/>'
        for at, name in enumerate([*more, "word/comments.xml", "word/header1.xml"])
    )
    more |= {"word/comments.xml": comments, "word/header1.xml": header}
    more["word/_rels/document.xml.rels"] = f'<Relationships xmlns="{_RELS}">{links}</Relationships>'
    (event,) = of(tmp_path, package(A, more=more)).events
    assert event.message == "these parts are not read: charts 1, comments 2, diagrams 1"


def test_strict_documents_are_read(tmp_path: Path) -> None:
    said = "http://purl.oclc.org/ooxml/drawingml/ is a name"
    found = of(tmp_path, strict(package(A + paragraph(run(said)))))
    assert found.text == f"first\n\n{said}"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32", "utf-7"])
def test_no_part_brings_entities_whatever_its_name(tmp_path: Path, encoding: str) -> None:
    declared = '<!DOCTYPE a [<!ENTITY a "secretly">]>'
    content = renamed(
        package(paragraph(run("Says ENTITY here")), declared=declared),
        "word/document.xml",
        "word/d.bin",
    )

    def encoded(name: str, part: bytes) -> tuple[str, bytes]:
        text = f'<?xml version="1.0" encoding="{encoding}"?>' + part.decode().replace(
            "ENTITY here", "&a; here"
        )
        return name, text.encode(encoding) if name == "word/d.bin" else part

    with pytest.raises(FormatError, match=r"entities|damaged"):
        of(tmp_path, rewritten(content, encoded))


def test_pictures_and_pages_may_have_a_document_type(tmp_path: Path) -> None:
    page, picture = "<!DOCTYPE html><p>a<br>b", '<!DOCTYPE svg PUBLIC "a" "b"><svg/>'
    found = of(
        tmp_path,
        package(A, more={"word/a.htm": page, "word/media/a.svg": picture, "word/b.bin": "\0"}),
    )
    assert found.text == "first"


RAISED = '<w:vertAlign w:val="superscript"/>'
LEVELS = {
    # properties of the raised run, what stands before it and in it -> the text, and how many marks
    # are left out
    ("IL-2", "3", RAISED): ("IL-2 helps", 1),
    ("IL-2", "3,4", '<w:position w:val="6"/>'): ("IL-2 helps", 1),
    ("IL-2", "3", '<w:position w:val="-6"/>'): ("IL-23 helps", 0),
    ("IL-2", "3", '<w:vertAlign w:val="subscript"/>'): ("IL-23 helps", 0),
    ("Ca", "2+", RAISED): ("Ca2+ helps", 0),
    ("CD4", "+", RAISED): ("CD4+ helps", 0),
    ("10", "6", RAISED): ("106 helps", 0),
}


@pytest.mark.parametrize("case", LEVELS)
def test_raised_text(tmp_path: Path, case: tuple[str, str, str]) -> None:
    word, text, properties = case
    found = of(tmp_path, package(paragraph(run(word), styled(text, properties), run(" helps"))))
    assert (found.text, len(found.events)) == LEVELS[case]


def test_citations_of_fields_and_links_are_marks(tmp_path: Path) -> None:
    cited = field(code(" ADDIN EN.CITE "), styled("Smith 2020", RAISED))
    link = f'<w:hyperlink w:anchor="_ENREF_3">{styled("3", RAISED)}</w:hyperlink>'
    found = of(tmp_path, package(paragraph(run("IL-2"), cited, run(" helps IL-3"), link, run("."))))
    assert found.text == "IL-2 helps IL-3."
    assert [(event.code, event.message[:2]) for event in found.events] == [("marks-left-out", "2 ")]


def test_a_link_to_a_caption_is_no_mark(tmp_path: Path) -> None:
    """Word itself names the places of captions and headings `_Ref` and a number."""
    link = f'<w:hyperlink w:anchor="_Ref1234">{run("1")}</w:hyperlink>'
    found = of(tmp_path, package(paragraph(run("the cohort "), link, run(" for gout"))))
    assert (found.text, found.events) == ("the cohort 1 for gout", ())


def test_numbers_of_lists_by_styles_are_counted(tmp_path: Path) -> None:
    style = (
        '<w:style w:styleId="l"><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style>'
    )
    (event,) = of(
        tmp_path,
        related(paragraph(run("a"), style="l"), styles=f"<w:styles {_W}>{style}</w:styles>"),
    ).events
    assert (event.kind, event.message) == (
        "note",
        "these parts are not read: numbers or signs of lists 1",
    )

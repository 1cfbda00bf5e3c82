"""More odd but valid files of Word and Excel, from ECMA-376 alone."""

from __future__ import annotations

import io
import zipfile
from typing import Final

from tests.formats.oracle.office import package, paragraph, renamed, rewritten, run, table, workbook
from tests.formats.use.printed_odd import (
    MAIN,
    OFFICE,
    RAISED,
    RELS,
    W,
    edited,
    formatted,
    sheet,
    strings,
    styled,
    with_notes,
    with_part,
    with_styles,
    word,
)

_COUNTED: Final = "loss parts-left-out"
_A, _B = paragraph(run("Lithium")), paragraph(run("tremor"))
_HELPS: Final = package(paragraph(run("Lithium helps")))
_NOTE: Final = f'<w:footnote w:id="2">{paragraph(run("A note."))}</w:footnote>'
_NOTED: Final = f'<w:r><w:rPr>{RAISED}</w:rPr><w:footnoteReference w:id="2"/></w:r>'


def _related(body: str, **parts: str) -> bytes:
    """A document with parts beside it, by the kinds of their relationships."""
    links = "".join(
        f'<Relationship Id="{kind}" Type="{OFFICE}/{kind}" Target="{kind}.xml"/>' for kind in parts
    )
    more = {f"word/{kind}.xml": f"<w:{part}" for kind, part in parts.items()}
    rels = f'<Relationships xmlns="{RELS}">{links}</Relationships>'
    return package(body, more={**more, "word/_rels/document.xml.rels": rels})


def _field(code: str, *result: str, data: str = "") -> str:
    """A complex field with runs as its result."""
    begin = f'<w:r><w:fldChar w:fldCharType="begin">{data}</w:fldChar></w:r>'
    asked = f'<w:r><w:instrText xml:space="preserve">{code}</w:instrText></w:r>'
    marks = [f'<w:r><w:fldChar w:fldCharType="{one}"/></w:r>' for one in ("separate", "end")]
    return begin + asked + marks[0] + "".join(result) + marks[1]


def _cell(content: str, properties: str) -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"


def _character(name: str, properties: str, based: str = "") -> str:
    parent = based and f'<w:basedOn w:val="{based}"/>'
    return f'<w:style w:type="character" w:styleId="{name}">{parent}<w:rPr>{properties}</w:rPr></w:style>'


def _packed(content: bytes) -> bytes:
    """A package that is compressed, with entries for its folders and a comment."""
    made = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for folder in sorted(
            {f"{name.partition('/')[0]}/" for name in old.namelist() if "/" in name}
        ):
            new.writestr(folder, b"")
        for name in old.namelist():
            new.writestr(name, old.read(name))
        new.comment = b"made by another program"
    return made.getvalue()


_ENDNOTES: Final = (
    f'endnotes {W}><w:endnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p>'
    f'</w:endnote><w:endnote w:id="2">{paragraph(run("An endnote."))}</w:endnote></w:endnotes>'
)
_CITED: Final = "ADDIN EN.CITE &lt;EndNote&gt;&lt;Cite&gt;&lt;Author&gt;Doe&lt;/Author&gt;&lt;/Cite&gt;&lt;/EndNote&gt;"
_PICTURE: Final = (
    '<w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/'
    'wordprocessingDrawing"><wp:docPr id="1" name="Picture 1" descr="A chart of gout"/>'
    '<a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData '
    'uri="http://schemas.openxmlformats.org/drawingml/2006/picture"/></a:graphic></wp:inline>'
    "</w:drawing></w:r>"
)


def _formula(content: str) -> str:
    return f"<m:oMath>{content}</m:oMath>"


def _math(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


WORD: Final = (
    word(
        "notes at the end",
        "",
        "Gout helps|The end.|An endnote.",
        content=_related(
            paragraph(
                run("Gout"),
                f'<w:r><w:rPr>{RAISED}</w:rPr><w:endnoteReference w:id="2"/></w:r>',
                run(" helps"),
            )
            + paragraph(run("The end.")),
            endnotes=_ENDNOTES,
        ),
    ),
    word(
        "a comment on a word",
        "",
        "Lithium helps",
        content=_related(
            paragraph(
                '<w:commentRangeStart w:id="0"/>',
                run("Lithium"),
                '<w:commentRangeEnd w:id="0"/><w:r><w:commentReference w:id="0"/></w:r>',
                run(" helps"),
            ),
            comments=f'comments {W}><w:comment w:id="0">{paragraph(run("Really?"))}</w:comment>'
            "</w:comments>",
        ),
        counted=_COUNTED,
    ),
    word(
        "a running head",
        "",
        "Lithium helps",
        content=_related(
            paragraph(run("Lithium helps"))
            + f'<w:sectPr><w:headerReference w:type="default" r:id="header" xmlns:r="{OFFICE}"/></w:sectPr>',
            header=f"hdr {W}>{paragraph(run('J. Made-up Res.'))}</w:hdr>",
        ),
        counted=_COUNTED,
    ),
    word(
        "a format that a tracked change ended",
        paragraph(
            run("IL-2"),
            styled(
                "3", f"<w:b/><w:rPrChange w:id='1'><w:rPr><w:vanish/>{RAISED}</w:rPr></w:rPrChange>"
            ),
            run(" helps"),
        ),
        "IL-23 helps",
    ),
    word(
        "an end of a paragraph that was inserted",
        "<w:p><w:pPr><w:rPr><w:ins/></w:rPr></w:pPr>" + run("Lithium") + "</w:p>" + _B,
        "Lithium|tremor",
    ),
    word(
        "a box that is ticked",
        paragraph(
            '<w:sdt><w:sdtPr><w14:checkbox xmlns:w14="http://schemas.microsoft.com/office/word/2010/'
            'wordml"><w14:checked w14:val="1"/></w14:checkbox></w:sdtPr><w:sdtContent>'
            + styled("☒", '<w:rFonts w:ascii="MS Gothic" w:hAnsi="MS Gothic"/>')
            + "</w:sdtContent></w:sdt>",
            run(" gout"),
        ),
        "☒ gout",
    ),
    word(
        "a table of contents",
        '<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj>'
        "</w:sdtPr><w:sdtContent>"
        + paragraph(run("Contents"))
        + paragraph(
            _field(
                ' TOC \\o "1-3" ',
                '<w:hyperlink w:anchor="_Toc1">'
                + run("Methods")
                + "<w:r><w:tab/></w:r>"
                + _field(" PAGEREF _Toc1 ", run("2"))
                + "</w:hyperlink>",
            )
        )
        + "</w:sdtContent></w:sdt>"
        + paragraph('<w:bookmarkStart w:id="0" w:name="_Toc1"/>', run("Methods")),
        "Contents|Methods\t2|Methods",
    ),
    word(
        "signs of their own",
        paragraph(run("IL\u20112\u00a0mg of \U0001d6fc-synuclein")),
        "IL\u20112\u00a0mg of \U0001d6fc-synuclein",
    ),
    word(
        "a note in a cell",
        "",
        "Gout\thelps|A note.",
        content=with_notes(table([paragraph(run("Gout"), _NOTED), paragraph(run("helps"))]), _NOTE),
    ),
    word(
        "a note whose mark was deleted",
        "",
        "Gout helps",
        content=with_notes(
            paragraph(run("Gout"), f"<w:del>{_NOTED}</w:del>", run(" helps")), _NOTE
        ),
    ),
    word(
        "a link that was inserted",
        paragraph(
            run("see "),
            f'<w:ins><w:hyperlink w:anchor="a"><w:ins>{run("Table")}</w:ins></w:hyperlink></w:ins>',
            run(" 1"),
        ),
        "see Table 1",
    ),
    word(
        "cells that were deleted and inserted",
        f"<w:tbl><w:tr>{_cell(_A, '<w:cellDel/>')}{_cell(_B, '<w:cellIns/>')}</w:tr></w:tbl>",
        "tremor",
    ),
    word(
        "elements of a schema of one's own in a line",
        paragraph(
            f'<w:customXml w:element="drug"><w:customXmlPr/>{run("Lithium")}</w:customXml>',
            run(" helps"),
        ),
        "Lithium helps",
    ),
    word(
        "an isotope as a formula",
        paragraph(
            _formula(
                f"<m:sPre><m:sub/><m:sup>{_math('14')}</m:sup><m:e>{_math('C')}</m:e></m:sPre>"
            )
        ),
        "14C",
    ),
    word(
        "frames around a formula",
        paragraph(
            _formula(
                f"<m:borderBox><m:e><m:box><m:e>{_math('E=m')}</m:e></m:box></m:e></m:borderBox>"
            ),
            run(" holds"),
        ),
        "E=m holds",
    ),
    word(
        "a raised style from another style",
        "",
        "gout helps",
        content=with_styles(
            paragraph(run("gout"), styled("3,4", '<w:rStyle w:val="d"/>'), run(" helps")),
            _character("c", RAISED) + _character("d", "<w:b/>", based="c"),
        ),
    ),
    word(
        "a run on the line in spite of its style",
        "",
        "IL-23 helps",
        content=with_styles(
            paragraph(
                run("IL-2"),
                styled("3", '<w:rStyle w:val="c"/><w:vertAlign w:val="baseline"/>'),
                run(" helps"),
            ),
            _character("c", RAISED),
        ),
    ),
    word(
        "a style that shows what its parent hides",
        "",
        "seen",
        content=with_styles(
            paragraph(styled("seen", '<w:rStyle w:val="d"/>')),
            _character("c", "<w:vanish/>") + _character("d", '<w:vanish w:val="0"/>', based="c"),
        ),
    ),
    word(
        "a document part of another name",
        "",
        "Lithium helps",
        content=renamed(_HELPS, "word/document.xml", "word/document2.xml"),
    ),
    word(
        "targets from the root of the package",
        "",
        "Lithium helps",
        content=edited(
            _HELPS,
            lambda name, part: part.replace('Target="word/document', 'Target="/word/document'),
        ),
    ),
    word(
        "a raised citation of EndNote",
        paragraph(
            run("IL-2"),
            _field(
                _CITED,
                _field("ADDIN EN.CITE.DATA ", data="<w:fldData>PEVuZE5v</w:fldData>"),
                styled("1, 2", RAISED),
                data="<w:fldData>PEVuZE5vdGU+</w:fldData>",
            ),
            run(" helps"),
        ),
        "IL-2 helps",
    ),
    word(
        "a citation of Zotero in the line",
        paragraph(
            run("Gout "),
            _field('ADDIN ZOTERO_ITEM CSL_CITATION {"citationID":"a"} ', run("(Doe 2020)")),
            run(" helps."),
        ),
        "Gout (Doe 2020) helps.",
    ),
    word(
        "comments and instructions of XML in a word",
        paragraph("<w:r><w:t>IL<!-- or IL-3 --><?a b?><![CDATA[-2 < 3]]></w:t></w:r>"),
        "IL-2 < 3",
    ),
    word(
        "another prefix",
        "",
        "Lithium helps",
        content=edited(
            _HELPS,
            lambda name, part: (
                part.replace("<w:", "<x:").replace("</w:", "</x:").replace("xmlns:w=", "xmlns:x=")
                if name == "word/document.xml"
                else part
            ),
        ),
    ),
    word(
        "a picture with a description",
        paragraph(run("Lithium"), _PICTURE, run(" helps")),
        "Lithium helps",
    ),
    word(
        "two parts with columns",
        "<w:p><w:pPr><w:sectPr><w:type w:val='continuous'/><w:cols w:num='2'/></w:sectPr></w:pPr>"
        + run("Lithium")
        + '<w:r><w:br w:type="column"/></w:r>'
        + run("helps")
        + "</w:p>"
        + _B
        + "<w:sectPr/>",
        "Lithium\nhelps|tremor",
    ),
    word(
        "raised letters of an ordinal and a trade mark",
        paragraph(run("the 21"), styled("st", RAISED), run(" Herceptin"), styled("®", RAISED)),
        "the 21st Herceptin®",
    ),
)

_ROWS: Final = (("id", "text"), ("1", "Lithium helps"))
_BOOK: Final = workbook(_ROWS)
_CELL: Final = '<c r="B2" t="inlineStr"><is><t xml:space="preserve">Lithium helps</t></is></c>'
_FACTS: Final = (
    '<sheetPr filterMode="0"/><dimension ref="A1:B2"/><sheetViews><sheetView workbookViewId="0">'
    '<pane ySplit="1" topLeftCell="A2" state="frozen"/></sheetView></sheetViews><sheetData>'
)
_RULES: Final = (
    '</sheetData><sheetProtection sheet="1" objects="1"/><autoFilter ref="A1:B2"/>'
    '<conditionalFormatting sqref="A1"><cfRule type="expression" priority="1"><formula>B1="gout"'
    '</formula></cfRule></conditionalFormatting><dataValidations count="1"><dataValidation '
    'type="list" sqref="B2"><formula1>"gout,fever"</formula1></dataValidation></dataValidations>'
    '<hyperlinks><hyperlink ref="B2" location="A1" display="elsewhere"/></hyperlinks>'
    "<headerFooter><oddHeader>&amp;CTable S1</oddHeader></headerFooter>"
)


def _in_sheet(content: bytes, old: str, new: str) -> bytes:
    return edited(
        content, lambda name, part: part.replace(old, new) if "sheet1.xml" in name else part
    )


def _celled(cell: str) -> bytes:
    """A workbook with another cell of the text."""
    return _in_sheet(_BOOK, _CELL, cell)


def _fonts(cell: str, font: str) -> bytes:
    """A workbook whose text has a cell with a font."""
    styles = (
        f'<styleSheet xmlns="{MAIN}"><fonts count="2"><font/><font>{font}</font></fonts><fills '
        'count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1">'
        '<xf/></cellStyleXfs><cellXfs count="2"><xf/><xf fontId="1" quotePrefix="1"/></cellXfs>'
        "</styleSheet>"
    )
    return with_part(_celled(cell), "xl/styles.xml", "styles", styles)


def _without_places(name: str, part: str) -> str:
    for place in ('r="A1" ', 'r="B1" ', 'r="A2" ', 'r="B2" ', ' r="1"', ' r="2"'):
        part = part.replace(place, "") if "sheet1.xml" in name else part
    return part


_LONG: Final = "Gout. " * 5_461 + "x"  # 32,767 characters, as many as a cell can hold
_RUN: Final = '<r><t xml:space="preserve">{}</t></r>'
EXCEL: Final = (
    sheet(
        "a formula that several cells share",
        _celled('<c r="B2" t="str"><f t="shared" ref="B2:B3" si="0">A2&amp;"x"</f><v>gout</v></c>'),
        ("1", "gout"),
    ),
    sheet(
        "a formula of an array",
        _celled('<c r="B2" t="str"><f t="array" ref="B2">A2:A3</f><v>a  b</v></c>'),
        ("1", "a  b"),
    ),
    sheet(
        "a title over all columns",
        _in_sheet(
            workbook([["Table S1. Texts", None], ["of gout", None], *_ROWS]),
            "</sheetData>",
            '</sheetData><mergeCells count="1"><mergeCell ref="A1:B1"/></mergeCells>',
        ),
        ("1", "Lithium helps"),
    ),
    sheet(
        "line ends in a cell",
        _celled('<c r="B2" t="inlineStr"><is><t>gout&#13;&#10;fever&#10;pain</t></is></c>'),
        ("1", "gout\nfever\npain"),
    ),
    sheet("rows and cells without places", edited(_BOOK, _without_places), ("1", "Lithium helps")),
    sheet(
        "shared texts in a part of another name",
        renamed(strings("<t>gout</t>"), "xl/sharedStrings.xml", "xl/texts.xml"),
        ("1", "gout"),
    ),
    sheet(
        "titles and abstracts beside other columns",
        workbook(
            [
                ["Authors", "Article Title", "Abstract", "DOI"],
                ["Doe, J", "Lung cancer", "We saw gout.", "10.1000/x"],
            ]
        ),
        ("10.1000/x", "Lung cancer\n\nWe saw gout."),
    ),
    sheet(
        "a number with an exponent",
        _in_sheet(workbook([["id", "text"], [7, "gout"]]), "<v>7</v>", "<v>3.5E7</v>"),
        ("35000000", "gout"),
    ),
    sheet("a day and a month", formatted("d\\-mmm", "43345"), ("2018-09-02", "Lithium helps")),
    sheet(
        "the name of a column in two formats",
        _in_sheet(
            _BOOK,
            '<t xml:space="preserve">text</t>',
            "<r><rPr><b/></rPr><t>te</t></r><r><t>xt</t></r>",
        ),
        ("1", "Lithium helps"),
    ),
    sheet(
        "filters, rules, views, links and heads",
        _in_sheet(_in_sheet(_BOOK, "<sheetData>", _FACTS), "</sheetData>", _RULES),
        ("1", "Lithium helps"),
    ),
    sheet(
        "a text that begins with an equals sign",
        _fonts('<c r="B2" s="1" t="inlineStr"><is><t>=IL-2</t></is></c>', ""),
        ("1", "=IL-2"),
    ),
    sheet("a package with folders and a comment", _packed(_BOOK), ("1", "Lithium helps")),
    sheet(
        "a cell that is raised as a whole",
        _fonts(
            '<c r="B2" s="1" t="inlineStr"><is><t>gout</t></is></c>',
            '<vertAlign val="superscript"/>',
        ),
        ("1", "gout"),
    ),
    sheet(
        "a first run in the font of its cell",
        _fonts(
            '<c r="B2" s="1" t="inlineStr"><is><r><t>b</t></r><r><rPr><rFont val="Arial"/></rPr>'
            "<t>-catenin</t></r></is></c>",
            '<name val="Symbol"/>',
        ),
        ("1", "β-catenin"),
    ),
    sheet(
        "a run that is struck out",
        strings(_RUN.format("IL-2 ") + "<r><rPr><strike/></rPr><t>not IL-3</t></r>"),
        ("1", "IL-2 not IL-3"),
    ),
    sheet(
        "a power of ten and a residue",
        strings(
            _RUN.format("10")
            + '<r><rPr><vertAlign val="superscript"/></rPr><t>6</t></r>'
            + _RUN.format(" cells, Ser")
            + '<r><rPr><vertAlign val="superscript"/></rPr><t>473</t></r>'
        ),
        ("1", "106 cells, Ser473"),
    ),
    sheet("a cell that is full", workbook([["id", "text"], ["1", _LONG]]), ("1", _LONG)),
    sheet(
        "a text that is not there",
        edited(strings("<t>gout</t>"), lambda name, part: part.replace("<v>0</v>", "<v>9</v>")),
        ("1", ""),
        flawed=True,
    ),
    sheet(
        "numbers as texts",
        workbook([["id", "text"], ["007", "gout"], ["08", "fever"]]),
        ("007", "gout"),
        ("08", "fever"),
    ),
    sheet(
        "characters by their numbers and escapes",
        strings("<t>&#x1D6FC;-synuclein_x000B_and&#x2009;gout</t>"),
        ("1", "\U0001d6fc-synuclein\x0band\u2009gout"),
    ),
    sheet(
        "comments of XML in a text",
        strings("<t>IL<!-- or IL-3 --><?a b?><![CDATA[-2 < 3]]></t>"),
        ("1", "IL-2 < 3"),
    ),
    sheet(
        "a part whose name has a blank",
        rewritten(
            edited(
                _BOOK,
                lambda name, part: part.replace("worksheets/sheet1.xml", "worksheets/a%20b.xml"),
            ),
            lambda name, part: (name.replace("sheet1.xml", "a%20b.xml"), part),
        ),
        ("1", "Lithium helps"),
    ),
)
ALL: Final = (*WORD, *EXCEL)

"""Odd but valid files of Word, PDF, Excel and reference managers, from the descriptions of their
formats.

ECMA-376 (Word, Excel), ISO 32000 (PDF), and the description of RIS by Research Information Systems.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Final

from tests.formats.oracle.judging import Page
from tests.formats.oracle.office import package, paragraph, rewritten, run, workbook
from tests.formats.oracle.papers import printed
from tests.formats.use.given import Given

W: Final = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELS: Final = "http://schemas.openxmlformats.org/package/2006/relationships"


def word(
    name: str,
    body: str,
    wanted: str,
    *,
    flawed: bool = False,
    counted: str = "",
    content: bytes = b"",
) -> Given:
    """A document; a bar stands between the sections of the wanted text."""
    text = wanted.replace("|", "\n\n")
    made = content or package(body)
    return Given(
        name=name,
        format="docx",
        files={"a.docx": made},
        wanted=(Page(text),),
        flawed=flawed,
        counted=counted,
    )


def edited(content: bytes, change: Callable[[str, str], str]) -> bytes:
    """A package with another content of its parts."""
    return rewritten(content, lambda name, part: (name, change(name, part.decode()).encode()))


def styled(text: str, properties: str) -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def with_styles(body: str, styles: str) -> bytes:
    link = f'<Relationship Id="s" Type="{OFFICE}/styles" Target="styles.xml"/>'
    more = {
        "word/styles.xml": f"<w:styles {W}>{styles}</w:styles>",
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{RELS}">{link}</Relationships>',
    }
    return package(body, more=more)


def with_notes(body: str, notes: str) -> bytes:
    link = f'<Relationship Id="s" Type="{OFFICE}/footnotes" Target="footnotes.xml"/>'
    more = {
        "word/footnotes.xml": f"<w:footnotes {W}>{notes}</w:footnotes>",
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{RELS}">{link}</Relationships>',
    }
    return package(body, more=more)


def _in_utf_16(content: bytes) -> bytes:
    def change(name: str, part: bytes) -> tuple[str, bytes]:
        text = '<?xml version="1.0" encoding="UTF-16"?>' + part.decode()
        return name, text.encode("utf-16") if name == "word/document.xml" else part

    return rewritten(content, change)


RAISED: Final = '<w:vertAlign w:val="superscript"/>'
_A, _B = paragraph(run("Lithium")), paragraph(run("tremor"))
_SIMPLE: Final = package(paragraph(run("Lithium helps")))
_CHOICE: Final = (
    '<mc:AlternateContent><mc:Choice xmlns:zz="urn:unknown" '
    'Requires="zz"><w:t>new</w:t></mc:Choice>'
    "<mc:Fallback><w:t>usual</w:t></mc:Fallback></mc:AlternateContent>"
)
_NOTES: Final = (
    '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>'
    '<w:footnote w:id="2"><w:p><w:r><w:rPr><w:vertAlign '
    'w:val="superscript"/></w:rPr><w:footnoteRef/></w:r>'
    f"{run(' A note.')}</w:p>{paragraph(run('More of it.'))}</w:footnote>"
)
WORD: Final = (
    word(
        "blanks that are not kept",
        paragraph("<w:r><w:t>IL-</w:t></w:r>", "<w:r><w:t> 2 </w:t></w:r>"),
        "IL-2",
    ),
    word(
        "text that came in and went",
        paragraph(run("IL-2"), f"<w:ins><w:del>{run('3')}</w:del></w:ins>"),
        "IL-2",
    ),
    word(
        "marks of programs inside a word",
        paragraph(
            run("IL"),
            '<w:proofErr w:type="spellStart"/><w:bookmarkStart w:id="1" w:name="a"/>',
            '<w:r><w:lastRenderedPageBreak/><w:t>-2</w:t></w:r><w:commentRangeStart w:id="1"/>',
            '<w:permStart w:id="2"/>',
            run("R"),
        ),
        "IL-2R",
    ),
    word("a choice that needs another program", paragraph("<w:r>" + _CHOICE + "</w:r>"), "usual"),
    word(
        "an element of another program that may be ignored",
        "",
        "first",
        content=edited(
            package(
                paragraph(
                    run("first"), '<zz:a xmlns:zz="urn:unknown"><w:r><w:t>gone</w:t></w:r></zz:a>'
                )
            ),
            lambda name, part: part.replace(
                "<w:document ", '<w:document xmlns:zz="urn:unknown" mc:Ignorable="zz" '
            ),
        ),
    ),
    word(
        "a control in a word",
        paragraph(
            run("IL-"),
            f"<w:sdt><w:sdtPr><w:text/></w:sdtPr><w:sdtContent>{run('2')}</w:sdtContent></w:sdt>",
        ),
        "IL-2",
    ),
    word(
        "a heading that goes on in the line",
        "<w:p><w:pPr><w:rPr><w:vanish/><w:specVanish/></w:rPr></w:pPr>"
        + run("Methods. ")
        + "</w:p>"
        + paragraph(run("We saw gout.")),
        "Methods. We saw gout.",
    ),
    word(
        "text that only the web view hides",
        paragraph(run("a "), styled("7", "<w:webHidden/>")),
        "a 7",
    ),
    word(
        "a style that raises",
        "",
        "IL-2 helps",
        content=with_styles(
            paragraph(run("IL-2"), styled("3,4", '<w:rStyle w:val="c"/>'), run(" helps")),
            f'<w:style w:type="character" w:styleId="c"><w:rPr>{RAISED}</w:rPr></w:style>',
        ),
    ),
    word(
        "two styles that hide",
        "",
        "seen",
        content=with_styles(
            '<w:p><w:pPr><w:pStyle w:val="p"/></w:pPr>'
            + styled("seen", '<w:rStyle w:val="c"/>')
            + "</w:p>",
            '<w:style w:type="character" w:styleId="c"><w:rPr><w:vanish/></w:rPr></w:style>'
            '<w:style w:type="paragraph" w:styleId="p"><w:rPr><w:vanish/></w:rPr></w:style>',
        ),
        flawed=True,
    ),
    word(
        "a paragraph that moved away",
        "<w:p><w:pPr><w:rPr><w:moveFrom/></w:rPr></w:pPr><w:moveFrom>"
        + run("old")
        + "</w:moveFrom></w:p>"
        + _B,
        "tremor",
    ),
    word(
        "cells over columns and rows",
        "<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr>"
        + _A
        + "</w:tc><w:tc>"
        + _B
        + "</w:tc></w:tr>"
        "<w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc><w:tc>"
        + _A
        + "</w:tc><w:tc>"
        + _B
        + "</w:tc></w:tr>"
        "</w:tbl>",
        "Lithium\ttremor|Lithium\ttremor",
    ),
    word(
        "a note with a sign of its own, of two paragraphs",
        "",
        "Gout helps|A note.|More of it.",
        content=with_notes(
            paragraph(
                run("Gout"),
                f'<w:r><w:rPr>{RAISED}</w:rPr><w:footnoteReference w:customMarkFollows="1" '
                'w:id="2"/>'
                "<w:t>*</w:t></w:r>",
                run(" helps"),
            ),
            _NOTES,
        ),
    ),
    word("parts in UTF-16", "", "Lithium helps", content=_in_utf_16(_SIMPLE)),
    word(
        "a document with macros",
        "",
        "Lithium helps",
        content=edited(
            _SIMPLE,
            lambda name, part: part.replace(
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
                "application/vnd.ms-word.document.macroEnabled.main+xml",
            ),
        ),
    ),
    word(
        "a template",
        "",
        "Lithium helps",
        content=edited(
            _SIMPLE, lambda name, part: part.replace("document.main+xml", "template.main+xml")
        ),
    ),
    word(
        "a list to choose from",
        paragraph(
            run("Drug: "),
            '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:result w:val="1"/>'
            '<w:listEntry w:val="aspirin"/><w:listEntry '
            'w:val="lithium"/></w:ddList></w:ffData></w:fldChar></w:r>',
            "<w:r><w:instrText> FORMDROPDOWN </w:instrText></w:r><w:r><w:fldChar "
            'w:fldCharType="end"/></w:r>',
        ),
        "Drug: lithium",
        flawed=True,
    ),
)


def page(
    name: str,
    content: bytes,
    wanted: str,
    *,
    flawed: bool = False,
    change: Callable[[bytes], bytes] = bytes,
) -> Given:
    made = change(printed(content))
    return Given(
        name=name, format="pdf", files={"a.pdf": made}, wanted=(Page(wanted),), flawed=flawed
    )


def shown(*lines: bytes) -> bytes:
    """Lines of a page, each in operators of its own."""
    return b"BT /F1 10 Tf 12 TL 54 600 Td " + b" T* ".join(lines) + b" ET"


def mapped(name: str, codes: str, shown: bytes, wanted: str) -> Given:
    """A page whose letters are told by a map to Unicode."""
    entries = codes.split()
    lines = " ".join(
        f"<{code}> <{text}>" for code, text in zip(entries[::2], entries[1::2], strict=True)
    )
    cmap = (
        f"1 begincodespacerange <00> <ff> endcodespacerange {len(entries) // 2} beginbfchar "
        f"{lines} endbfchar"
    )
    stream = f"/CIDInit begincmap {cmap} endcmap".encode()
    made = printed(shown).replace(
        b"/BaseFont /Symbol >>", b"/BaseFont /Helvetica /ToUnicode 99 0 R >>"
    )
    made = made.replace(
        b"xref\n0",
        b"99 0 obj\n<< /Length %d >>\nstream\n%s\nendstream\nendobj\nxref\n0"
        % (len(stream), stream),
        1,
    )
    return Given(name=name, format="pdf", files={"a.pdf": made}, wanted=(Page(wanted),))


_TEXT: Final = b"BT /F1 10 Tf 54 600 Td (Lithium helps) Tj ET"
_NUMBERED: Final = b" ".join(
    b"BT /F1 7 Tf 1 0 0 1 30 %d Tm (%d) Tj /F1 10 Tf 1 0 0 1 54 %d Tm (%s) Tj ET"
    % (600 - 24 * at, at + 1, 600 - 24 * at, line)
    for at, line in enumerate(
        (
            b"Most patients had been treated for a non-small cell lung",
            b"cancer, and some of them for a type 2 diabetes",
            b"mellitus that had been known for several years or so.",
            b"None of them had been seen in the hospital before them",
            b"or in another hospital, except for the one with an",
            b"infection, who had been seen there with sepsis and",
            b"pneumonia, and the one with an infarction of the",
            b"myocardium in the years before the study began.",
        )
    )
)
_BULLETS: Final = b" ".join(
    b"BT /F2 10 Tf 54 %d Td (\\267) Tj /F1 10 Tf 12 0 Td (%s) Tj ET" % (600 - 14 * at, name)
    for at, name in enumerate((b"lung cancer", b"gout", b"breast cancer"))
)
PDF: Final = (
    page(
        "letters pushed together and apart",
        shown(b"[(IL) -20 (-2) 90 (R) -600 (he) 15 (lps)] TJ"),
        "IL-2R helps",
    ),
    page(
        "each letter at a place of its own",
        b"BT /F1 10 Tf 54 600 Td (I) Tj 6 0 Td (L) Tj 6 0 Td (-) Tj 6 0 Td (2) Tj 12 0 Td (x) Tj ET",
        "IL-2 x",
    ),
    page(
        "bold by printing twice",
        b"BT /F1 10 Tf 54 600 Td (Lung cancer) Tj 0.3 0 Td (Lung cancer) Tj -0.3 -12 Td (helps) Tj ET",
        "Lung cancer helps",
    ),
    page("spaced letters", shown(b"2 Tc (Lithium) Tj 0 Tc"), "Lithium"),
    page("narrow letters", shown(b"50 Tz (Lithium helps) Tj"), "Lithium helps"),
    page(
        "a line shown by a quote",
        shown(b"(Lung) Tj (cancer helps) ' 2 0 (and gout) \""),
        "Lung cancer helps and gout",
    ),
    page(
        "a form within a page",
        b"q 1 0 0 1 0 0 cm /F Do Q",
        "Lithium helps",
        change=lambda made: made.replace(b"/XObject << ", b"/XObject << /F 98 0 R ").replace(
            b"xref\n0",
            b"98 0 obj\n<< /Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            b"/Length %d >>\nstream\n%s\nendstream\nendobj\nxref\n0" % (len(_TEXT), _TEXT),
            1,
        ),
    ),
    page(
        "units of another size",
        _TEXT,
        "Lithium helps",
        change=lambda made: made.replace(b"/MediaBox", b"/UserUnit 2 /MediaBox"),
    ),
    page(
        "bytes before the head",
        _TEXT,
        "Lithium helps",
        change=lambda made: b"mail header\r\n\r\n" + made,
    ),
    page(
        "accents of their own letters",
        b"BT /F1 10 Tf 54 600 Td (Sj) Tj 12 0 Td (\\310) Tj 0 0 Td (ogren syndrome) Tj ET",
        "Sjögren syndrome",
    ),
    page(
        "numbers of lines",
        _NUMBERED,
        "Most patients had been treated for a non-small cell lung cancer, and some of them for a "
        "type 2 diabetes "
        "mellitus that had been known for several years or so. None of them had been seen in the "
        "hospital before them "
        "or in another hospital, except for the one with an infection, who had been seen there "
        "with sepsis and "
        "pneumonia, and the one with an infarction of the myocardium in the years before the "
        "study began.",
    ),
    page("signs of a list", _BULLETS, "• lung cancer\n• gout\n• breast cancer"),
    page(
        "a drop cap",
        b"BT /F1 30 Tf 54 580 Td (L) Tj /F1 10 Tf 18 14 Td (ithium is a drug that has) Tj 0 -12 Td "
        b"(been known for years in) Tj -18 -12 Td (most of the countries.) Tj ET",
        "Lithium is a drug that has been known for years in most of the countries.",
    ),
    mapped(
        "a ligature of three letters",
        "41 006600660069",
        b"BT /F1 10 Tf 54 600 Td (E) Tj /F2 10 Tf (A) Tj /F1 10 Tf (cacy) Tj ET",
        "Efficacy",
    ),
    mapped(
        "letters beyond the first plane",
        "41 D835DEFC",
        b"BT /F2 10 Tf 54 600 Td (A) Tj /F1 10 Tf (-synuclein) Tj ET",
        "\U0001d6fc-synuclein",
    ),
    page(
        "words in no order",
        b"BT /F1 10 Tf 1 0 0 1 126 600 Tm (diabetes) Tj 1 0 0 1 54 600 Tm (A type) Tj 1 0 0 1 102 600 Tm (2) Tj "
        b"1 0 0 1 180 600 Tm (case) Tj ET",
        "A type 2 diabetes case",
    ),
    page(
        "a raised number by a move",
        b"BT /F1 10 Tf 54 600 Td (gout) Tj /F1 6 Tf 24 4 Td (1,2) Tj /F1 10 Tf 12 -4 Td ( helps) Tj ET",
        "gout helps",
    ),
)


def sheet(name: str, content: bytes, *wanted: tuple[str, str], flawed: bool = False) -> Given:
    """A workbook, and the id and the text of each document."""
    pages = tuple(Page(text, (), name) for name, text in wanted)
    return Given(name=name, format="xlsx", files={"a.xlsx": content}, wanted=pages, flawed=flawed)


_ROWS: Final = (("id", "text"), ("1", "Lithium helps"))
_BOOK: Final = workbook(_ROWS)
MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def _prefixed(name: str, part: str) -> str:
    if not name.startswith("xl/w") or "rels" in name:
        return part
    part = part.replace(f'xmlns="{MAIN}"', f'xmlns:x="{MAIN}"')
    return part.replace("</", "\0").replace("<", "<x:").replace("\0", "</x:")


def formatted(form: str, value: str) -> bytes:
    """A workbook with an id that has a format of numbers."""
    styles = (
        f'<styleSheet xmlns="{MAIN}"><numFmts count="1"><numFmt numFmtId="164" '
        f'formatCode="{form}"/></numFmts>'
        '<fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders '
        'count="1"><border/></borders>'
        '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf/><xf '
        'numFmtId="164"/></cellXfs>'
        "</styleSheet>"
    )
    return with_part(
        workbook([["id", "text"], [7, "Lithium helps"]]),
        "xl/styles.xml",
        "styles",
        styles,
        lambda name, part: part.replace('r="A2"><v>7</v>', f'r="A2" s="1"><v>{value}</v>'),
    )


def with_part(
    content: bytes,
    path: str,
    kind: str,
    part: str,
    change: Callable[[str, str], str] = lambda name, part: part,
) -> bytes:
    def joined(name: str, old: str) -> str:
        new = change(name, old)
        if name == "[Content_Types].xml":
            of_kind = f"application/vnd.openxmlformats-officedocument.spreadsheetml.{kind}+xml"
            return new.replace(
                "</Types>", f'<Override PartName="/{path}" ContentType="{of_kind}"/></Types>'
            )
        if name == "xl/_rels/workbook.xml.rels":
            link = f'<Relationship Id="m" Type="{OFFICE}/{kind}" Target="/{path}"/>'
            return new.replace("</Relationships>", f"{link}</Relationships>")
        return new

    made = io.BytesIO(edited(content, joined))
    with zipfile.ZipFile(made, "a") as packed:
        packed.writestr(path, part)
    return made.getvalue()


def strings(*items: str) -> bytes:
    """A workbook whose texts are shared, with one item in the cell of the text."""
    made = "".join(f"<si>{item}</si>" for item in items)
    return with_part(
        workbook([["id", "text"], ["1", "CELL"]]),
        "xl/sharedStrings.xml",
        "sharedStrings",
        f'<sst xmlns="{MAIN}">{made}</sst>',
        lambda name, part: part.replace(
            't="inlineStr"><is><t xml:space="preserve">CELL</t></is>',
            f't="s"><v>{len(items) - 1}</v>',
        ),
    )


_RAISED_3: Final = '<r><rPr><vertAlign val="superscript"/><sz val="8"/></rPr><t>3</t></r>'
EXCEL: Final = (
    sheet("names with a prefix", edited(_BOOK, _prefixed), ("1", "Lithium helps")),
    sheet(
        "parts in UTF-16",
        rewritten(
            _BOOK,
            lambda name, part: (
                name,
                ('<?xml version="1.0" encoding="UTF-16"?>' + part.decode()).encode("utf-16")
                if "sheet1" in name
                else part,
            ),
        ),
        ("1", "Lithium helps"),
    ),
    sheet(
        "a byte order mark",
        rewritten(_BOOK, lambda name, part: (name, b"\xef\xbb\xbf" + part)),
        ("1", "Lithium helps"),
    ),
    sheet(
        "words before the number of an id",
        formatted("&quot;CHEBI:&quot;0", "12"),
        ("CHEBI:12", "Lithium helps"),
    ),
    sheet("a share in per cent", formatted("0%", "0.25"), ("25%", "Lithium helps")),
    sheet(
        "a title above the table",
        workbook([["Table S1. Texts"], [], *_ROWS]),
        ("1", "Lithium helps"),
    ),
    sheet(
        "sheets in another order than their parts",
        edited(
            workbook([["id", "text"], ["2", "second"]], _ROWS),
            lambda name, part: (
                part.replace('r:id="r1"', 'r:id="rx"')
                .replace('r:id="r2"', 'r:id="r1"')
                .replace('r:id="rx"', 'r:id="r2"')
                if name == "xl/workbook.xml"
                else part
            ),
        ),
        ("1", "Lithium helps"),
        flawed=True,
    ),
    sheet(
        "a sheet of a chart before the texts",
        edited(
            workbook([], _ROWS),
            lambda name, part: (
                part.replace(
                    '/worksheet" Target="worksheets/sheet1',
                    '/chartsheet" Target="worksheets/sheet1',
                )
                .replace(
                    'sheet1.xml" '
                    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet',
                    'sheet1.xml" '
                    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.chartsheet',
                )
                .replace(
                    f'<worksheet xmlns="{MAIN}"><sheetData></sheetData></worksheet>',
                    f'<chartsheet xmlns="{MAIN}"><sheetViews><sheetView '
                    'workbookViewId="0"/></sheetViews>'
                    "</chartsheet>",
                )
            ),
        ),
        ("1", "Lithium helps"),
    ),
    sheet(
        "a workbook with macros",
        edited(
            _BOOK,
            lambda name, part: part.replace(
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
                "application/vnd.ms-excel.sheet.macroEnabled.main+xml",
            ),
        ),
        ("1", "Lithium helps"),
    ),
    sheet(
        "blanks around the names of columns",
        workbook([["id ", " Text\n"], ["1", "Lithium helps"]]),
        ("1", "Lithium helps"),
        flawed=True,
    ),
    sheet(
        "two columns of one name",
        workbook([["id", "text", "text"], ["1", "Lithium helps", "and gout"]]),
        ("1", "Lithium helps\n\nand gout"),
        flawed=True,
    ),
    sheet(
        "a row of blanks",
        workbook([*_ROWS, [" ", "  "], ["3", "gout"]]),
        ("1", "Lithium helps"),
        ("3", "gout"),
    ),
    sheet(
        "a raised number within a text",
        strings("<t/>", f"<r><t>IL-2</t></r>{_RAISED_3}<r><t>, and</t></r>"),
        ("1", "IL-2, and"),
    ),
    sheet(
        "extensions of an item",
        strings("<t>gout</t><extLst><ext uri='a'><a xmlns='b'>gone</a></ext></extLst>"),
        ("1", "gout"),
    ),
    sheet(
        "a formula of a link",
        edited(
            workbook([["id", "text"], ["1", "CELL"]]),
            lambda name, part: part.replace(
                't="inlineStr"><is><t xml:space="preserve">CELL</t></is>',
                't="str"><f>HYPERLINK("http://a","gout")</f><v>gout</v>',
            ),
        ),
        ("1", "gout"),
    ),
    sheet(
        "paths from the root of the package",
        edited(
            _BOOK, lambda name, part: part.replace('Target="worksheets/', 'Target="/xl/worksheets/')
        ),
        ("1", "Lithium helps"),
    ),
)


def ris(name: str, content: str | bytes, *wanted: str, flawed: bool = False) -> Given:
    """Citations, and the text of each; a bar stands between title and abstract."""
    pages = tuple(Page(text.replace("|", "\n\n")) for text in wanted)
    return Given(
        name=name, format="citations", files={"a.ris": content}, wanted=pages, flawed=flawed
    )


_ONE: Final = "TY  - JOUR\nTI  - Lung cancer\nAB  - We saw gout.\nER  - \n"
RIS: Final = (
    ris("line ends of old Macs", _ONE.replace("\n", "\r"), "Lung cancer|We saw gout."),
    ris("UTF-16", _ONE.encode("utf-16"), "Lung cancer|We saw gout."),
    ris(
        "letters of Windows",
        _ONE.replace("gout", "Sjögren").encode("cp1252"),
        "Lung cancer|We saw Sjögren.",
        flawed=True,
    ),
    ris(
        "blanks before the tags",
        "".join(f"  {line}\n" for line in _ONE.splitlines()),
        "Lung cancer|We saw gout.",
        flawed=True,
    ),
    ris(
        "a receptor at the start of a line",
        "TY  - JOUR\nTI  - Tumours\nAB  - Most of them were\nER  - positive, and some\nER  - "
        "negative.\nER  - \n",
        "Tumours|Most of them were ER - positive, and some ER - negative.",
    ),
    ris(
        "lines that go on behind blanks",
        _ONE.replace("saw", "saw\n      much"),
        "Lung cancer|We saw much gout.",
    ),
    ris(
        "references to characters, and tags",
        _ONE.replace(
            "gout",
            "TNF-&#945; (p &lt; 0.05), IL-2<sup>3</sup> and H<sub>2</sub>O in 3 < 5 and 7 > 4",
        ),
        "Lung cancer|We saw TNF-α (p < 0.05), IL-2 and H2O in 3 < 5 and 7 > 4.",
    ),
    ris("an abstract alone", "TY  - JOUR\nAB  - We saw gout.\nER  - \n", "We saw gout."),
    ris(
        "a tag that nobody knows",
        _ONE.replace("AB", "XX  - Odd\nAB"),
        "Lung cancer|We saw gout.",
        flawed=True,
    ),
    ris(
        "files put together",
        _ONE + "\ufeff" + _ONE.replace("gout", "asthma"),
        "Lung cancer|We saw gout.",
        "Lung cancer|We saw asthma.",
    ),
    ris("the end of a file of DOS", _ONE + "\x1a", "Lung cancer|We saw gout."),
    ris(
        "line ends that are none here",
        _ONE.replace("saw ", "saw\u2028TI  - odd \x0b\x0c\x85"),
        "Lung cancer|We saw\u2028TI - odd \x0b\x0c\x85gout.",
    ),
    ris(
        "no blank behind the dash",
        _ONE.replace("-", "-").replace("- ", "-"),
        "Lung cancer|We saw gout.",
        flawed=True,
    ),
    ris(
        "two titles",
        _ONE.replace("AB", "TI  - On gout\nAB"),
        "Lung cancer On gout|We saw gout.",
        flawed=True,
    ),
    ris(
        "text on the line below its tag",
        _ONE.replace("AB  - ", "AB  - \n"),
        "Lung cancer|We saw gout.",
    ),
    ris("no line end at the end", _ONE.rstrip() + "", "Lung cancer|We saw gout."),
    ris(
        "marks of direction in a word",
        _ONE.replace("gout", "go\u200but"),
        "Lung cancer|We saw go\u200but.",
    ),
    ris(
        "an empty reference",
        "TY  - JOUR\nER  - \n" + _ONE,
        "",
        "Lung cancer|We saw gout.",
        flawed=True,
    ),
)
ALL: Final = (*WORD, *PDF, *EXCEL, *RIS)

"""More odd but valid PDFs and files of reference managers, from the descriptions of their formats.

ISO 32000-1 (PDF); the descriptions of RIS, of the tagged formats of EndNote and the Web of Science,
of MEDLINE (https://www.nlm.nih.gov/bsd/mms/medlineelements.html), and of BibTeX.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

from tests.formats.oracle.judging import Page
from tests.formats.oracle.papers import printed
from tests.formats.use.given import Given
from tests.formats.use.printed_odd import mapped, page, ris, shown

_TEXT: Final = b"BT /F1 10 Tf 54 600 Td (Lithium helps) Tj ET"
_COURIER: Final = (
    b"/BaseFont /Courier /Encoding << /Type /Encoding /Differences [173 /uni2010 /fi /fl] >>"
)


def _pages(name: str, *contents: bytes, wanted: str) -> Given:
    """Several pages; a bar stands between the paragraphs of the wanted text."""
    return Given(
        name=name,
        format="pdf",
        files={"a.pdf": printed(*contents)},
        wanted=(Page(wanted.replace("|", "\n\n")),),
    )


def _object(made: bytes, number: int, content: bytes) -> bytes:
    return made.replace(b"xref\n0", b"%d 0 obj\n%s\nendobj\nxref\n0" % (number, content), 1)


def _stream(content: bytes, facts: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), facts, content)


def _with_font(made: bytes, font: bytes) -> bytes:
    """A file whose first font is another one."""
    return made.replace(_COURIER, font, 1)


def _encoded(name: bytes) -> bytes:
    return b"/BaseFont /Courier /Encoding " + name


def _split(made: bytes) -> bytes:
    """The content of the page as two streams; the border is between two operators."""
    first, second = _TEXT[:22], _TEXT[22:]
    made = made.replace(b"/Contents 5 0 R", b"/Contents [97 0 R 98 0 R]")
    return _object(_object(made, 97, _stream(first)), 98, _stream(second))


def _in_hex(made: bytes) -> bytes:
    made = made.replace(b"/Contents 5 0 R", b"/Contents 98 0 R")
    return _object(made, 98, _stream(_TEXT.hex().encode() + b">", b"/Filter /ASCIIHexDecode"))


def _updated(made: bytes) -> bytes:
    """A file to which a newer content of its page was added, as 7.5.6 describes it."""
    before = re.findall(rb"startxref\s+(\d+)", made)[-1]
    size = re.findall(rb"/Size (\d+)", made)[-1]
    at = len(made) + 1
    added = b"\n5 0 obj\n%s\nendobj\n" % _stream(_TEXT)
    table = b"xref\n5 1\n%010d 00000 n \n" % at
    trailer = b"trailer\n<< /Size %s /Root 1 0 R /Prev %s >>\n" % (size, before)
    return made + added + table + trailer + b"startxref\n%d\n%%%%EOF\n" % (len(made) + len(added))


_PAD: Final = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")


def _rc4(key: bytes, content: bytes) -> bytes:
    state, at = list(range(256)), 0
    for place in range(256):
        at = (at + state[place] + key[place % len(key)]) % 256
        state[place], state[at] = state[at], state[place]
    made, place, at = bytearray(), 0, 0
    for byte in content:
        place = (place + 1) % 256
        at = (at + state[place]) % 256
        state[place], state[at] = state[at], state[place]
        made.append(byte ^ state[(state[place] + state[at]) % 256])
    return bytes(made)


def _locked(made: bytes) -> bytes:
    """A file without a password to open it, that nobody may print: 7.6.3, revision 2."""
    owner = _rc4(hashlib.md5(_PAD, usedforsecurity=False).digest()[:5], _PAD)
    rights = (-64).to_bytes(4, "little", signed=True)
    key = hashlib.md5(_PAD + owner + rights + b"a", usedforsecurity=False).digest()[:5]
    facts = b"<< /Filter /Standard /V 1 /R 2 /P -64 /O <%s> /U <%s> >>" % (
        owner.hex().encode(),
        _rc4(key, _PAD).hex().encode(),
    )
    own = hashlib.md5(key + (5).to_bytes(3, "little") + b"\0\0", usedforsecurity=False).digest()
    made = made.replace(_TEXT, _rc4(own[:10], _TEXT))
    return _object(made, 96, facts).replace(
        b"/Root 1 0 R", b"/Root 1 0 R /Encrypt 96 0 R /ID [<61> <61>]"
    )


def _two_bytes(made: bytes) -> bytes:
    """A font with codes of two bytes, whose letters only a map to Unicode tells: 9.7 and 9.10."""
    cmap = (
        b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <ffff> "
        b"endcodespacerange 2 beginbfrange <0001> <0003> [<0049> <004c> <002d>] <0010> <0019> <0030> "
        b"endbfrange endcmap end"
    )
    font = b"/Encoding /Identity-H /BaseFont /A /DescendantFonts [97 0 R] /ToUnicode 98 0 R"
    made = _with_font(made, font).replace(b"/Subtype /Type1 " + font, b"/Subtype /Type0 " + font)
    inner = (
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A /DW 600 /CIDSystemInfo << /Registry "
        b"(Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor << /Type /FontDescriptor "
        b"/FontName /A /Flags 4 /FontBBox [0 -200 600 800] /ItalicAngle 0 /Ascent 800 /Descent -200 "
        b"/CapHeight 700 /StemV 80 >> >>"
    )
    return _object(_object(made, 97, inner), 98, _stream(cmap))


def _drawn(made: bytes) -> bytes:
    """A font whose letters are drawings: 9.6.5."""
    cmap = (
        b"begincmap 1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <61> <7a> <0061> "
        b"endbfrange endcmap"
    )
    font = (
        b"/FontBBox [0 -200 600 800] /FontMatrix [0.001 0 0 0.001 0 0] /CharProcs << /a 97 0 R >> "
        b"/Encoding << /Type /Encoding /Differences [97 " + b"/a " * 26 + b"] >> /FirstChar 97 "
        b"/LastChar 122 /Widths [" + b"600 " * 26 + b"] /ToUnicode 98 0 R"
    )
    made = _with_font(made, font).replace(b"/Subtype /Type1 " + font, b"/Subtype /Type3 " + font)
    glyph = _stream(b"600 0 0 0 500 700 d1 0 0 500 700 re f")
    return _object(_object(made, 97, glyph), 98, _stream(cmap))


def _outlined(made: bytes) -> bytes:
    made = made.replace(b"/Type /Catalog", b"/Type /Catalog /Outlines 97 0 R")
    made = _object(made, 97, b"<< /Type /Outlines /First 98 0 R /Last 98 0 R /Count 1 >>")
    return _object(made, 98, b"<< /Title (Methods) /Parent 97 0 R /Dest [4 0 R /Fit] >>")


def _linked(made: bytes) -> bytes:
    link = (
        b"/Annots [<< /Type /Annot /Subtype /Link /Rect [54 595 130 612] /Border [0 0 0] "
        b"/A << /S /URI /URI (http://example.org) >> >>] /MediaBox"
    )
    return made.replace(b"/MediaBox", link)


_FULL: Final = (
    b"Most patients had been treated for lung cancer in several of the years",
    b"before, and others had been known to have diabetes mellitus or gout as",
    b"children. None of the patients had been seen with any infection before",
    b"the study began, and none of their parents had ever been seen with it.",
)


def _lines(count: int, top: int = 740) -> bytes:
    """Full lines of one paragraph."""
    return b"BT /F1 10 Tf 12 TL 54 %d Td %s ET" % (
        top,
        b" ".join(b"(%s) Tj T*" % _FULL[at % 4] for at in range(count)),
    )


def _numbered(roman: bytes) -> bytes:
    return _lines(20) + b" BT /F1 9 Tf 300 30 Td (%s) Tj ET" % roman


_PARAGRAPH: Final = b" ".join(_FULL).decode()
PDF: Final = (
    page("content in two streams", b"", "Lithium helps", change=_split),
    page("content in hexadecimal digits", b"", "Lithium helps", change=_in_hex),
    page("a page that was changed later", shown(b"(Before) Tj"), "Lithium helps", change=_updated),
    page("a file that nobody may print", _TEXT, "Lithium helps", change=_locked),
    page("space between words", shown(b"9 Tw (Lithium helps) Tj 0 Tw"), "Lithium helps"),
    page(
        "a number raised by its rise",
        shown(b"(IL-2) Tj 4 Ts /F1 6 Tf (3) Tj 0 Ts /F1 10 Tf ( helps) Tj"),
        "IL-2 helps",
    ),
    page(
        "a number lowered by its rise",
        shown(b"(H) Tj -2 Ts /F1 6 Tf (2) Tj 0 Ts /F1 10 Tf (O helps) Tj"),
        "H2O helps",
    ),
    page(
        "strings in all their forms",
        shown(b"<4C697468> Tj (i\\165\\\nm \\(or (Li) it\\) he) Tj (lps) Tj"),
        "Lithium (or (Li) it) helps",
    ),
    page(
        "letters by their names",
        shown(b"(A-catenin and B) Tj"),
        "β-catenin and α",
        change=lambda made: _with_font(
            made, _encoded(b"<< /Type /Encoding /Differences [65 /uni03B2 /alpha] >>")
        ),
    ),
    page(
        "letters of Windows",
        shown(b"(\\223Sj\\366gren\\224 \\226 5 \\265g) Tj"),
        "“Sjögren” – 5 µg",
        change=lambda made: _with_font(made, _encoded(b"/WinAnsiEncoding")),
    ),
    page(
        "codes of two bytes",
        shown(b"<0001000200030012> Tj"),
        "IL-2",
        change=_two_bytes,
    ),
    mapped(
        "a ligature that is a letter",
        "41 FB03",
        b"BT /F1 10 Tf 54 600 Td (E) Tj /F2 10 Tf (A) Tj /F1 10 Tf (cacy) Tj ET",
        "Efficacy",
    ),
    page(
        "a soft hyphen at the end of a line",
        shown(
            *(b"(%s) Tj" % line for line in _FULL[:3]),
            b"(the study began, and none of their parents had ever had thrombo\\255) Tj",
            b"(cytopenia before that.) Tj",
        ),
        b" ".join(_FULL[:3]).decode()
        + " the study began, and none of their parents had ever had thrombocytopenia before that.",
        change=lambda made: _with_font(made, _encoded(b"/WinAnsiEncoding")),
    ),
    page(
        "a hyphen at a line end that is marked as a soft one",
        shown(
            *(b"(%s) Tj" % line for line in _FULL[:3]),
            b"(the study began, and none of their parents had ever had thrombo) Tj "
            b"/Span << /ActualText <FEFF00AD> >> BDC (-) Tj EMC",
            b"(cytopenia before that.) Tj",
        ),
        b" ".join(_FULL[:3]).decode()
        + " the study began, and none of their parents had ever had thrombocytopenia before that.",
    ),
    page("an outline", _TEXT, "Lithium helps", change=_outlined),
    page("a link", _TEXT, "Lithium helps", change=_linked),
    page("letters that are drawn", shown(b"(lithium) Tj"), "lithium", change=_drawn),
    page("small capitals", shown(b"(G) Tj /F1 8 Tf (OUT) Tj /F1 10 Tf ( helps) Tj"), "GOUT helps"),
    page(
        "a picture within the content",
        _TEXT + b" q 10 0 0 10 54 500 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x00 EI Q "
        b"BT /F1 10 Tf 54 588 Td (with gout.) Tj ET",
        "Lithium helps with gout.",
    ),
    page(
        "sizes in the matrix of the text",
        b"BT /F1 1 Tf 10 0 0 10 54 600 Tm (Lithium) Tj 4.8 0 Td (helps) Tj ET",
        "Lithium helps",
    ),
    page(
        "slanted letters", b"BT /F1 1 Tf 10 0 2 10 54 600 Tm (Lithium helps) Tj ET", "Lithium helps"
    ),
    _pages(
        "a note at the foot of a page",
        _lines(4) + b" BT /F1 7 Tf 54 90 Td (a: All of them were adults.) Tj ET",
        wanted=_PARAGRAPH + "|a: All of them were adults.",
    ),
    _pages(
        "Roman numbers of pages",
        *map(_numbered, (b"ii", b"iii", b"iv", b"v")),
        wanted=" ".join([_PARAGRAPH] * 20),
    ),
    # no description says that a page without content ends a paragraph
    _pages("a page without content", _TEXT, b"", _TEXT, wanted="Lithium helps Lithium helps"),
)


def _file(
    name: str, path: str, content: str | bytes, *wanted: str, identifier: str | None = None
) -> Given:
    """References, and the text of each; a bar stands between title and abstract."""
    kind = {"bib": "bibtex", "xml": "endnote"}.get(path.rpartition(".")[2], "citations")
    pages = tuple(Page(text.replace("|", "\n\n"), (), identifier) for text in wanted)
    return Given(name=name, format=kind, files={path: content}, wanted=pages)


def _endnote(title: str, abstract: str) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8" ?><xml><records><record><ref-type name="Journal '
        f'Article">17</ref-type><rec-number>1</rec-number><titles><title>{title}</title></titles>'
        f"<abstract>{abstract}</abstract></record></records></xml>"
    )


_ONE: Final = "TY  - JOUR\nTI  - Lung cancer\nAB  - We saw gout.\nER  - \n"
_BOTH: Final = "Lung cancer|We saw gout."
_NBIB: Final = (
    "PMID- 7\nTI  - Lung cancer\nAB  - We saw\n      gout.\nCI  - (c) 2020. The Authors.\nCOI - None of\n"
    "      them.\nOT  - fever\nAD  - Clinic of Gout,\n      Paris.\nCIN - Lung. 2021;1:2. PMID: 9\n"
)
_WEB: Final = (
    "FN Clarivate Analytics Web of Science\nVR 1.0\nPT J\nAU Doe, J\nTI Lung\n   cancer\nAB We saw\n"
    "   ER positive and\n   AB blood with gout.\nUT WOS:1\nER\n\nEF\n"
)
_STYLED: Final = '<style face="{}" font="{}" size="100%">{}</style>'
REFERENCES: Final = (
    _file(
        "a DOI as an address",
        "a.ris",
        _ONE.replace("ER", "DO  - doi:10.1000/X.1\nER"),
        _BOTH,
        identifier="10.1000/X.1",
    ),
    ris("all line ends in one file", _ONE.replace("\nAB", "\r\nAB").replace("\nER", "\rER"), _BOTH),
    ris(
        "wrapped lines without a blank",
        _ONE.replace("saw ", "saw\r\n").replace("\nER", "\r\nER"),
        _BOTH,
    ),
    ris(
        "a mark of order, no end",
        "\ufeff" + _ONE.replace("\n", "\r\n").replace("ER  - \r\n", ""),
        _BOTH,
    ),
    ris(
        "elements of JATS, as Crossref has them",
        _ONE.replace("We saw", "<jats:title>Abstract</jats:title><jats:p>We saw").replace(
            "gout.", "gout.</jats:p>"
        ),
        "Lung cancer|Abstract\nWe saw gout.",  # a line end is a blank as any other
    ),
    ris("older names of tags", _ONE.replace("TI  ", "T1  ").replace("AB  ", "N2  "), _BOTH),
    ris("an unknown kind of reference", _ONE.replace("JOUR", "AEJOUR"), _BOTH),
    ris(
        "an abstract in three parts with other tags between",
        _ONE.replace(
            "AB  - We saw gout.", "AB  - We\nsaw\nKW  - fever\nAB  - much\nPY  - 2020\nAB  - gout."
        ),
        "Lung cancer|We saw much gout.",
    ),
    ris(
        "a title that wraps before a dash",
        _ONE.replace("Lung cancer", "Lung cancer and IL\n-2 and 3\n- fever"),
        "Lung cancer and IL -2 and 3 - fever|We saw gout.",
    ),
    ris("blank lines in a reference", _ONE.replace("AB", "\n\nAB"), _BOTH),
    _file(
        "fields of PubMed that are no text",
        "a.nbib",
        _NBIB,
        _BOTH.replace("|", "\n"),
        identifier="7",
    ),
    _file(
        "a citation of PubMed with Windows line ends",
        "a.nbib",
        "\ufeff" + _NBIB.replace("\n", "\r\n"),
        _BOTH.replace("|", "\n"),
        identifier="7",
    ),
    _file(
        "per cent at the start of a line",
        "a.enw",
        "%0 Journal Article\n%T Lung cancer\n%X We saw 20\n% of gout and 5\n%of fever.\n%M 77\n",
        "Lung cancer|We saw 20 % of gout and 5 %of fever.",
        identifier="77",
    ),
    _file(
        "two references of EndNote",
        "a.enw",
        "\ufeff%0 Journal Article\r\n%T Lung cancer\r\n%X We saw\r\ngout.\r\n%R doi:10.1000/a\r\n\r\n\r\n"
        "%0 Book\r\n%T Fever\r\n",
        _BOTH,
        "Fever",
    ),
    _file(
        "lines of the Web of Science that begin like tags",
        "a.ciw",
        "\ufeff" + _WEB,
        "Lung cancer|We saw ER positive and AB blood with gout.",
        identifier="WOS:1",
    ),
    _file(
        "quotes in braces",
        "a.bib",
        '@article{k, title = {{Lung} cancer}, abstract = "We saw {"}gout{"}."}',
        'Lung cancer|We saw "gout".',
        identifier="k",
    ),
    _file(
        "macros that are joined",
        "a.bib",
        '@string{g = "gout"}\n@STRING(s = {saw })\n@article{k, title = "Lung " # {cancer}, abstract = '
        '"We " # s # g # "."}',
        _BOTH,
        identifier="k",
    ),
    _file(
        "an entry in parentheses, with comments around it",
        "a.bib",
        "gout @comment{@article{no, title={No}}} @preamble{{\\newcommand{\\x}{y}}}\n@Article(k,\n"
        " TITLE = {Lung cancer},\n Abstract={We saw gout.},\n)\nnotes of mine",
        _BOTH,
        identifier="k",
    ),
    _file(
        "accents and raised numbers of TeX",
        "a.bib",
        '@article{k, title = {Sj{\\"o}gren and Ca\\textsuperscript{2+}}, abstract = {5\\% of '
        "{\\'E}gout, H$_2$O \\& TNF-$\\alpha$}}",
        "Sjögren and Ca2+|5% of Égout, H2O & TNF-α",
        identifier="k",
    ),
    _file(
        "raised citations of TeX",
        "a.bib",
        "@article{k, title = {IL-2\\textsuperscript{3} helps}, abstract = {gout$^{4,5}$, Ca$^{2+}$}}",
        "IL-2 helps|gout, Ca2+",
        identifier="k",
    ),
    _file(
        "raised numbers of EndNote",
        "a.xml",
        _endnote(
            _STYLED.format("normal", "default", "IL-2")
            + _STYLED.format("superscript", "default", "3")
            + _STYLED.format("normal", "default", " helps"),
            _STYLED.format("normal", "default", "H")
            + _STYLED.format("subscript", "default", "2")
            + _STYLED.format("normal", "default", "O"),
        ),
        "IL-2 helps|H2O",
    ),
    _file(
        "the font Symbol in EndNote",
        "a.xml",
        _endnote(
            _STYLED.format("normal", "default", "TNF-")
            + _STYLED.format("normal", "Symbol", "a")
            + _STYLED.format("italic", "default", " helps"),
            "We saw gout.",
        ),
        "TNF-α helps|We saw gout.",
    ),
)
# what PDFium does not tell by itself: the hyphen under another text, and what an artifact is
MENDED: Final = (
    page(
        "another text for a part of a word, over two lines",
        b"BT /F1 10 Tf 12 TL 54 600 Td (Dru) Tj /Span << /ActualText (c) >> BDC (k-) Tj EMC T* (ker) Tj ET",
        "Drucker",
    ),
    page(
        "a running head that is marked as such",
        b"/Artifact << /Type /Pagination /Subtype /Header >> BDC BT /F1 8 Tf 54 760 Td (J. Made-up "
        b"Res.) Tj ET EMC " + _TEXT,
        "Lithium helps",
    ),
)
ALL: Final = (*PDF, *REFERENCES, *MENDED)

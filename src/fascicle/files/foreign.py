"""Files that hold text in a form that no reader takes, each named as what it is, with the way to its text."""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final

_UNPACK: Final = "unpack it first"
_TABLE: Final = "save its sheet as TSV first"
_OFFICE: Final = "save it as plain text first, for example with pandoc -t plain"
_PICTURE: Final = "an image; recognise its text first, for example with tesseract"
_SIGNATURES: Final = (
    (b"%PDF-", "a PDF; extract its text first, for example with pdftotext"),
    (b"%!PS", "a PostScript file; extract its text first, for example with ps2ascii"),
    (b"{\\rtf", "an RTF file; save it as plain text first, for example with pandoc -t plain"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", f"a file of Microsoft Office before 2007; {_OFFICE}"),
    (b"\x89PNG\r\n", _PICTURE),
    (b"\xff\xd8\xff", _PICTURE),
    (b"GIF8", _PICTURE),
    (b"II*\x00", _PICTURE),
    (b"MM\x00*", _PICTURE),
    (b"7z\xbc\xaf\x27\x1c", f"a 7z archive; {_UNPACK}"),
    (b"Rar!\x1a\x07", f"a RAR archive; {_UNPACK}"),
    (b"\xfd7zXZ\x00", f"packed with xz; {_UNPACK}, or pack it with gzip"),
    (b"BZh", f"packed with bzip2; {_UNPACK}, or pack it with gzip"),
    (b"\x28\xb5\x2f\xfd", f"packed with zstd; {_UNPACK}, or pack it with gzip"),
    (b"PK\x03\x04", f"a zip archive; {_UNPACK}"),
    (b"SQLite format 3\x00", "an SQLite database; export its texts first"),
    (b"PAR1", "a single Parquet file; name the folder with its two tables, or convert it to JSON Lines first"),
    (b"ARROW1", "an Arrow file; convert it to JSON Lines first"),
    (b"x\x9c", "packed with zlib, but no DocBin of spaCy; unpack it first"),
    (b"\x93NUMPY", "an array of NumPy, which holds no text"),
)
# The last one is what a line of text may well begin with, and so are these without what follows them.
_NEED_MORE: Final[Mapping[bytes, re.Pattern[bytes]]] = MappingProxyType(
    {
        b"BZh": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
        b"GIF8": re.compile(rb"GIF8[79]a"),
        b"PAR1": re.compile(rb"PAR1[\x00-\x1f]"),
        b"ARROW1": re.compile(rb"ARROW1\x00\x00"),
        b"%!PS": re.compile(rb"%!PS-Adobe"),
    }
)
_MARKUP: Final = re.compile(
    r"\s*(?:<!--.*?-->\s*)*<(?:(?P<html>!doctype\s+html|html[\s>])|(?P<xml>\?xml\s))", re.I | re.S
)
_ROOT: Final = re.compile(
    r"""\s*(?:<\?[^<>]*\?>\s*|<!--.*?-->\s*)*(?:<!doctype\s[^<>\[]*>\s*)?(?:<\?[^<>]*\?>\s*|<!--.*?-->\s*)*"""
    r"<([A-Za-z][\w:.-]*)(?=[\s>/])",
    re.I | re.S,
)
_TAG: Final = re.compile(r"<[A-Za-z!?/][^<>]*>")
_NAMED: Final[Mapping[str, str]] = MappingProxyType(
    {".html": "html", ".htm": "html", ".xhtml": "html", ".xml": "xml", ".nxml": "xml"}
)
HEAD: Final = 512  # bytes that are enough for `binary_kind`
# A member of a zip -> what a zip with it is.
_PACKAGES: Final = (
    ("word/", f"a Word document (DOCX); {_OFFICE}"),
    ("xl/", f"an Excel workbook (XLSX); {_TABLE}"),
    ("ppt/", f"a PowerPoint presentation (PPTX); {_OFFICE}"),
    ("META-INF/container.xml", "an EPUB book; extract its text first, for example with pandoc -t plain"),
    ("content.xml", f"an OpenDocument file (ODT, ODS); {_OFFICE}"),
)


def binary_kind(head: bytes) -> str:
    """What a file that is no plain text is, told by its first bytes, and what to do; empty if it may be text."""
    for signature, said in _SIGNATURES:
        if head.startswith(signature) and (signature not in _NEED_MORE or _NEED_MORE[signature].match(head)):
            return said
    return ""


def is_docbin(head: bytes) -> bool:
    """Whether a file is a DocBin of spaCy, told by its first bytes: MessagePack with its keys, packed with zlib."""
    try:
        return b"\xa5attrs" in zlib.decompressobj().decompress(head, HEAD)
    except zlib.error:
        return False


def is_html(head: str, suffix: str) -> bool:
    """Whether a text is a page in HTML, told by its beginning, or by its tags and the suffix of its file."""
    return _kind_of_markup(head, suffix) == "html"


def markup_kind(head: str, suffix: str) -> str:
    """What a text with mark-up is, and what to do; empty if it has none.

    Args:
        head: its beginning.
        suffix: of the file, in lower case.
    """
    kind = _kind_of_markup(head, suffix)
    if not kind:
        return ""
    what = "an HTML page" if kind == "html" else "an XML file of a kind that is not read"
    return (
        f"{what}; extract its text first, for example with pandoc -t plain, or name the format plain to read it as it "
        "is, tags included"
    )


def _kind_of_markup(head: str, suffix: str) -> str:
    match = _MARKUP.match(head)
    if match:
        return "html" if match["html"] or re.search(r"<html[\s>]", head, re.IGNORECASE) else "xml"
    return _NAMED.get(suffix, "") if _TAG.search(head) else ""


def root_of(head: str) -> str:
    """The name of the outermost element of a text with mark-up, told by its beginning; empty if it does not tell it."""
    match = _ROOT.match(head)
    return match[1].rpartition(":")[2] if match else ""


def package_kind(members: Collection[str]) -> str:
    """What a zip is, told by the names of its members, and what to do; empty if it is not known."""
    return next(
        (said for name, said in _PACKAGES if any(member.startswith(name) for member in members)),
        "",
    )

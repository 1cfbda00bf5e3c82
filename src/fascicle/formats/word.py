"""Documents of Word: the text as it is printed, with what was inserted and without what was deleted.

Needs the package python-docx (extra ``office``), which opens the file. ECMA-376, part 1, has the elements of its text.
A paragraph or a row of a table is a section, and an empty line stands between two. Offsets are those of this text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from fascicle.core.document import Document
from fascicle.core.effects import event_of
from fascicle.core.files.source import Source
from fascicle.errors import MissingExtraError
from fascicle.formats.beside import EXTRACTED
from fascicle.formats.handlers import Reader
from fascicle.formats.mixed import join_sections
from fascicle.formats.packages import package_of, reading
from fascicle.formats.report import ReadReport

STEP: Final = "docx"
_BETWEEN: Final = "\n\n"
_DELETED: Final = frozenset(
    {"del", "moveFrom", "Fallback", "pPr", "rPr", "txbxContent"}
)  # not of the text of a paragraph
_SIGNS: Final = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_GREEK: Final = dict(zip("abgdezhqiklmnxoprstufcyw", "αβγδεζηθικλμνξοπρστυφχψω", strict=True))  # of the font Symbol
_NOTES: Final = ("footnotes", "endnotes", "comments", "header", "footer")


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Yields the one document of a file; its id is the name of the file.

    Args:
        source: the file.
        options: none.
        report: not used.

    Raises:
        FormatError: no document of Word, or one that is damaged.
        MissingExtraError: python-docx is not installed.
    """
    package = package_of(source)
    with reading(source):
        part = _docx().Document(package).part
        left_out = Counter[str]()
        blocks = list(_blocks(part.element.body, left_out))
        for other in part.package.iter_parts():
            kind = next((name for name in _NOTES if f"/{name}" in str(other.partname)), "")
            left_out[f"{kind.rstrip('s')}s"] += bool(kind) and b"<w:t" in other.blob
    text, sections = join_sections(blocks, between=_BETWEEN)
    listed = ", ".join(f"{what} {count:,}" for what, count in sorted(left_out.items()) if count)
    said = (event_of("parts-left-out", step=STEP, message=f"these parts are not read: {listed}"),) if listed else ()
    yield Document(id=source.name, text=text, sections=sections, meta=dict(EXTRACTED), events=said)


def _docx() -> Any:
    try:
        import docx
    except ImportError:
        raise MissingExtraError("office", "python-docx") from None
    return docx


def _local(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _blocks(parent: Any, left_out: Counter[str]) -> Iterator[tuple[str, str]]:
    """Yields kind and text of the paragraphs, text boxes and rows of tables, in their order."""
    for child in parent:
        name = _local(child)
        if name == "p":
            yield _kind(child), _characters(child, left_out).strip()
            for box in _boxes(child):
                yield from _blocks(box, left_out)
        elif name == "tbl":
            rows = (row for row in child.iter() if _local(row) == "tr")
            yield from (("table", "\t".join(_cells(row, left_out)).strip("\t")) for row in rows)
        elif name not in _DELETED:
            yield from _blocks(child, left_out)


def _cells(row: Any, left_out: Counter[str]) -> Iterator[str]:
    """Yields the texts of the cells of a row; those of a table inside a cell are rows of their own."""
    for cell in row.iter():
        if _local(cell) == "tc" and next(one for one in cell.iterancestors() if _local(one) == "tr") is row:
            paragraphs = (one for one in cell if _local(one) != "tbl")
            yield " ".join(filter(None, (_characters(one, left_out).strip() for one in paragraphs)))


def _kind(paragraph: Any) -> str:
    style = next((one for one in paragraph.iter() if _local(one) == "pStyle"), None)
    name = "" if style is None else next(iter(style.attrib.values())).lower()
    return next((kind for kind in ("title", "heading", "caption") if name.startswith(kind)), "body")


def _characters(element: Any, left_out: Counter[str]) -> str:
    name = _local(element)
    if name == "t":
        return element.text or ""
    if name == "sym":
        return _symbol(element, left_out)
    if name in _SIGNS:
        return _SIGNS[name]
    return "".join(_characters(child, left_out) for child in element if _local(child) not in _DELETED)


def _symbol(element: Any, left_out: Counter[str]) -> str:
    said = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
    letter = chr(int(said.get("char", "0"), 16) & 0xFF)
    found = _GREEK.get(letter.lower(), "") if said.get("font") == "Symbol" else ""
    left_out["signs of other fonts"] += not found
    return (found.upper() if letter.isupper() else found) or "\ufffd"


def _boxes(paragraph: Any) -> Iterator[Any]:
    """Yields the text boxes in a paragraph, each once; those in a box are of the paragraphs of that box."""
    for one in paragraph.iter():
        above = [_local(other) for other in one.iterancestors()] if _local(one) == "txbxContent" else ["Fallback"]
        if "Fallback" not in above and next(other for other in one.iterancestors("{*}p")) is paragraph:
            yield one


READER: Final = Reader(read=read)

"""PDF: the text of its pages in the order in which it is read.

Needs the package pypdfium2 (extra ``office``), which finds the place of each letter; `fascicle.formats.pages` finds
columns, paragraphs and hyphens. Offsets are those of this text.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, Final

from fascicle.core.document import Document, Event
from fascicle.core.files.source import Source
from fascicle.core.wording import counted
from fascicle.errors import FormatError, MissingExtraError
from fascicle.formats.beside import EXTRACTED
from fascicle.formats.handlers import Reader
from fascicle.formats.packages import content_of, reading
from fascicle.formats.pages import Piece, printed_text
from fascicle.formats.report import ReadReport

STEP: Final = "pdf"
_GAP: Final = 0.8  # of the height of letters: a wider one may be the space between two columns
_HYPHENS: Final = frozenset("\x02\ufffe")  # what PDFium makes of a hyphen at the end of a line


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Yields the one document of a file; its id is the name of the file.

    ``meta`` has the offsets of the first character of each page (``pages``), and those at which a hyphen and a line end
    were taken out of a word (``hyphens``).

    Args:
        source: the file.
        options: none.
        report: not used.

    Raises:
        FormatError: no PDF, one that is damaged or needs a password, or pictures of pages without text.
        MissingExtraError: pypdfium2 is not installed.
    """
    content = content_of(source).getvalue()
    library = _library()
    with reading(source):
        document = library.PdfDocument(content)
        try:
            pages = list(map(_page, document))
        finally:
            document.close()
    found = printed_text([pieces for pieces, _ in pages], [height for _, height in pages])
    if not found.text:
        raise FormatError(
            "the PDF holds no text, only pictures of pages; recognise its text first, for example with ocrmypdf",
            at=source.path,
        )
    facts = {
        name: " ".join(map(str, offsets)) for name, offsets in (("pages", found.pages), ("hyphens", found.hyphens))
    }
    what = counted(found.left_out, "running head or page number", "running heads and page numbers")
    message = f"these parts are not read: {what}"  # a note, for nearly every paper has some
    said = (Event(step=STEP, kind="note", code="parts-left-out", message=message),) if found.left_out else ()
    meta = {**EXTRACTED, **{name: value for name, value in facts.items() if value}}
    yield Document(id=source.name, text=found.text, meta=meta, events=said)


def _library() -> Any:
    try:
        import pypdfium2
    except ImportError:
        raise MissingExtraError("office", "pypdfium2") from None
    return pypdfium2


def _page(page: Any) -> tuple[list[Piece], float]:
    """Returns the pieces of the lines of a page, in the order of the file, and the height of the page."""
    pieces: list[Piece] = []
    open_piece: Piece | None = None
    is_apart = False
    for sign, box in _signs(page.get_textpage()):
        if sign.isspace() or box is None:
            is_apart = True
            if sign in "\r\n" and open_piece is not None:
                pieces.append(open_piece)
                open_piece = None
            continue
        if open_piece is not None and _goes_on(open_piece, box):
            tall = max(open_piece, box, key=lambda one: one.height)
            text = open_piece.text + " " * is_apart + sign
            open_piece = Piece(open_piece.left, tall.bottom, max(open_piece.right, box.right), tall.top, text)
        else:
            pieces += [open_piece] if open_piece is not None else []
            open_piece = box._replace(text=sign)
        is_apart = False
    return pieces + ([open_piece] if open_piece is not None else []), float(page.get_height())


def _goes_on(piece: Piece, box: Piece) -> bool:
    is_level = abs(piece.middle - box.middle) < 0.5 * max(piece.height, box.height)
    return is_level and -piece.height < box.left - piece.right < _GAP * piece.height


def _signs(text: Any) -> Iterator[tuple[str, Piece | None]]:
    """Yields the characters of a page with their places; those without a place are blanks between words and lines."""
    raw = _library().raw
    rectangle = raw.FS_RECTF()
    for at in range(text.count_chars()):
        sign = chr(raw.FPDFText_GetUnicode(text, at))
        sign = "-" if sign in _HYPHENS else sign
        if "\ud800" <= sign <= "\udfff" or sign == "\0":
            sign = "\ufffd"
        is_made = raw.FPDFText_IsGenerated(text, at) == 1
        if is_made and sign != "-":
            yield sign if sign.isspace() else " ", None
        elif raw.FPDFText_GetLooseCharBox(text, at, ctypes.byref(rectangle)):
            yield sign, Piece(rectangle.left, rectangle.bottom, rectangle.right, rectangle.top, sign)


READER: Final = Reader(read=read)

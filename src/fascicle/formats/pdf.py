"""PDF: the text of its pages in the order in which it is read.

Needs the package pypdfium2 (extra ``office``), which finds the place of each letter; columns, paragraphs and words that
a line end cuts are found here. Offsets are those of this text.
"""

from __future__ import annotations

import ctypes
import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, Final, NamedTuple

from fascicle.core.document import Document, Event
from fascicle.core.files.source import Source
from fascicle.core.wording import plural
from fascicle.errors import FormatError, import_extra
from fascicle.formats.extraction import package_errors, read_all_bytes
from fascicle.formats.handlers import EXTRACTED, Reader
from fascicle.formats.report import ReadReport

_ZONE: Final = 0.12  # of the height of a page, at its top and its bottom: where running heads are
_CROSSING: Final = 0.34  # of the pieces of a region, at most, may lie across the space between two columns
_FEW: Final = 2  # pieces that make a column
_SPACES: Final = 256  # that are looked at in a region; a real page has few
_DEEPEST: Final = 20  # columns within columns
_LINES: Final = 100  # of a paragraph, whose spaces tell where it ends
_FARTHEST: Final = 1e6  # from the corner of a page
_DIGITS: Final = re.compile(r"\d+")
_NUMBERED: Final = re.compile(r"(?:table|fig|box|scheme|panel|appendix)\b", re.I)  # what may stand at the top of pages
_CUT: Final = re.compile(r"([^\W\d_][\w'-]*)[-\u00ad\u2010\u2011]$")
_SOFT: Final = re.compile(r"\u00ad(?!\s*$)")  # a soft hyphen that is not printed
_WORD: Final = re.compile(r"[^\W\d_][\w'-]*")
_LIGATURES: Final = str.maketrans(dict(zip("ﬀﬁﬂﬃﬄﬅﬆ", ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True)))


class Piece(NamedTuple):
    """Piece of a printed line; the unit is that of the page, and ``bottom`` is less than ``top``."""

    left: float
    bottom: float
    right: float
    top: float
    text: str

    @property
    def height(self) -> float:
        """Height of its letters."""
        return self.top - self.bottom

    @property
    def middle(self) -> float:
        """Place between its bottom and its top."""
        return (self.top + self.bottom) / 2


@dataclass(frozen=True, kw_only=True)
class _PrintedText:
    """Text of printed pages.

    Attributes:
        text: the paragraphs, with an empty line between two.
        hyphens: offsets at which a hyphen and a line end were taken out of a word.
        pages: offset of the first character of each page.
        left_out: number of running heads and page numbers.
    """

    text: str
    hyphens: tuple[int, ...]
    pages: tuple[int, ...]
    left_out: int


def printed_text(pages: Sequence[Sequence[Piece]], heights: Sequence[float]) -> _PrintedText:
    """Puts the pieces of pages in order, and joins them to one text.

    Args:
        pages: the pieces of each page, in any order.
        heights: of the pages.
    """
    frames = _frames(pages, heights)
    kept = [[one for one in page if _place(one) not in out] for page, out in zip(pages, frames, strict=True)]
    lines = [[line for region in _regions(page) for line in _lines(region)] for page in kept]
    known = Counter(word.lower() for page in lines for line in page for word in _WORD.findall(line.text)[:-1])
    joined = _Joined(known)
    starts = []
    for page in lines:
        begun = [joined.add(line) for line in page]
        starts.append(begun[0] if begun else joined.length)
    left_out = sum(map(len, frames))
    return _PrintedText(text=joined.text, hyphens=tuple(joined.hyphens), pages=tuple(starts), left_out=left_out)


def _frames(pages: Sequence[Sequence[Piece]], heights: Sequence[float]) -> list[set[int]]:
    """Returns the places of running heads and page numbers: lines that recur at one place at the edge of pages."""
    edges = [_edge_lines(page, height) for page, height in zip(pages, heights, strict=True)]
    seen = Counter(mark for lines in edges for mark in lines.items() if not _NUMBERED.match(mark[1]))
    return [{place for place, text in lines.items() if seen[place, text] > 1 or text == "#"} for lines in edges]


def _place(piece: Piece) -> int:
    return round(piece.middle / 4)


def _edge_lines(page: Sequence[Piece], height: float) -> dict[int, str]:
    """Returns the lines at the top and the bottom of a page, with a sign for each number, by their places."""
    found: dict[int, list[Piece]] = {}
    for piece in page:
        if piece.bottom > height * (1 - _ZONE) or piece.top < height * _ZONE:
            found.setdefault(_place(piece), []).append(piece)
    return {at: _DIGITS.sub("#", " ".join(one.text.strip() for one in sorted(row))) for at, row in found.items()}


def _regions(pieces: Sequence[Piece], *, within: int = 0) -> Iterator[list[Piece]]:
    """Yields columns and what lies across them, in the order in which they are read.

    Args:
        pieces: of a page, or of a column that may have columns itself.
        within: so many regions lie around these pieces.
    """
    gutter = _gutter(pieces) if within < _DEEPEST else None
    if gutter is None:
        if pieces:
            yield list(pieces)
        return
    across = sorted((one for one in pieces if _crosses(one, gutter)), key=lambda one: -one.middle)
    bands: list[list[Piece]] = [[] for _ in range(len(across) + 1)]
    for one in pieces:
        if not _crosses(one, gutter):
            bands[bisect_left(across, -one.middle, key=lambda other: -other.middle)].append(one)
    held: list[Piece] = []
    for at, band in enumerate(bands):
        if band and held:
            yield held
            held = []
        yield from _regions([one for one in band if one.right <= gutter], within=within + 1)
        yield from _regions([one for one in band if one.right > gutter], within=within + 1)
        held += across[at : at + 1]
    if held:
        yield held


def _crosses(piece: Piece, gutter: float) -> bool:
    return piece.left < gutter - 1 and piece.right > gutter


def _gutter(pieces: Sequence[Piece]) -> float | None:
    """Returns the left edge of the column behind the clearest space between two columns, if there is one."""
    lefts, rights = sorted(one.left for one in pieces), sorted(one.right for one in pieces)
    spaces = []
    for edge, count in Counter(round(one.left) for one in pieces).items():
        before, behind = bisect_right(rights, edge), len(pieces) - bisect_left(lefts, edge - 1)
        crossing = len(pieces) - before - behind
        if min(count, before, behind) >= _FEW and crossing <= _CROSSING * len(pieces):
            spaces.append((crossing, rights[before - 1] - edge, edge))
    spaces.sort(key=lambda space: space[:2])  # the least crossed first, and of these the widest
    return next((float(edge) for _, _, edge in spaces[:_SPACES] if _is_between_columns(pieces, edge)), None)


def _is_between_columns(pieces: Sequence[Piece], edge: int) -> bool:
    """True if half of the pieces on one side of a space have one beside them on the other side."""
    before = sorted(one.middle for one in pieces if one.right <= edge)
    behind = [one for one in pieces if one.left >= edge - 1]
    beside = sum(bisect_right(before, one.bottom) < bisect_left(before, one.top) for one in behind)
    return 2 * beside >= min(len(before), len(behind))


def _lines(pieces: Iterable[Piece]) -> list[Piece]:
    """Returns the lines of a region from top to bottom; pieces beside each other become one."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda one: (-one.middle, one.left)):
        if rows and abs(rows[-1][0].middle - piece.middle) < 0.5 * min(rows[-1][0].height, piece.height):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [line for line in map(_line, map(sorted, rows)) if line.text]


def _line(row: Sequence[Piece]) -> Piece:
    text = row[0].text
    for before, piece in pairwise(row):
        text += " " * (piece.left - before.right > 0.15 * piece.height) + piece.text
    bottom, top = min(one.bottom for one in row), max(one.top for one in row)
    tidy = " ".join(_SOFT.sub("", text.translate(_LIGATURES)).split())
    return Piece(row[0].left, bottom, max(one.right for one in row), top, tidy)


class _Joined:
    """Text to which lines are added one after the other."""

    def __init__(self, known: Counter[str]) -> None:
        """Starts without text; ``known`` are the words that stand within lines."""
        self._known = known
        self._parts: list[str] = []
        self._last: deque[Piece] = deque(maxlen=_LINES)  # of the paragraph
        self.length = 0
        self.hyphens: list[int] = []

    @property
    def text(self) -> str:
        """Text so far."""
        return "".join(self._parts)

    def add(self, line: Piece) -> int:
        """Adds one line: to the paragraph, to the word that is cut off before it, or as a new paragraph.

        Returns:
            Offset of the line.
        """
        before = self._parts[-1] if self._parts else ""
        if before and self._is_new(line):
            self._put("\n\n")
            self._last.clear()
        elif cut := _CUT.search(before):
            if self._is_one_word(cut[1], line.text):
                self._parts[-1] = before[:-1]
                self.length -= 1
                self.hyphens.append(self.length)
        elif before:
            self._put(" ")
        self._put(line.text)
        self._last.append(line)
        return self.length - len(line.text)

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self.length += len(text)

    def _is_new(self, line: Piece) -> bool:
        """True if a line begins a paragraph: other letters, a space above it, or a place to the right of the others."""
        last = self._last[-1]
        if not 0.85 * last.height < line.height < 1.18 * last.height:
            return True
        if line.middle > last.middle or line.left > last.right:  # another column or page
            return False
        pitches = [above.middle - below.middle for above, below in pairwise(self._last) if above.middle > below.middle]
        pitch = median(pitches) if pitches else 1.25 * line.height
        return last.middle - line.middle > 1.45 * pitch or line.left - last.left > 0.8 * line.height

    def _is_one_word(self, head: str, line: str) -> bool:
        """True if the hyphen between the end of a line and the next line is not part of a word."""
        found = _WORD.match(line)
        if found is None or not found[0][0].islower():
            return False
        whole, compound = f"{head}{found[0]}".lower(), f"{head}-{found[0]}".lower()
        if self._known[whole] or self._known[compound]:
            return self._known[whole] >= self._known[compound]
        return head[1:].islower() or len(head) == 1


_STEP: Final = "pdf"
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
    content = read_all_bytes(source).getvalue()
    library = _library()
    with package_errors(source):
        document = library.PdfDocument(content)
        try:
            pages = list(map(_page, document))
        finally:
            document.close()
    found = printed_text([pieces for pieces, _ in pages], [height for _, height in pages])
    if not found.text:
        message = "the PDF holds no text, only pictures of pages; recognise its text first, for example with ocrmypdf"
        raise FormatError(message, at=source.path)
    facts = {
        name: " ".join(map(str, offsets)) for name, offsets in (("pages", found.pages), ("hyphens", found.hyphens))
    }
    what = plural(found.left_out, "running head or page number", "running heads and page numbers")
    message = f"these parts are not read: {what}"  # a note, for nearly every paper has some
    said = (Event(step=_STEP, kind="note", code="parts-left-out", message=message),) if found.left_out else ()
    meta = {**EXTRACTED, **{name: value for name, value in facts.items() if value}}
    yield Document(id=source.name, text=found.text, meta=meta, events=said)


def _library() -> Any:
    return import_extra("pypdfium2", extra="office")


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
            sides = (rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
            left, bottom, right, top = map(_bounded, sides)
            yield sign, Piece(left, bottom, right, top, sign)


def _bounded(place: float) -> float:
    """Returns a place that can be calculated with: a damaged file may have letters that are nowhere."""
    return 0.0 if math.isnan(place) else max(-_FARTHEST, min(_FARTHEST, place))


READER: Final = Reader(read=read)

"""PDF: the text of its pages in the order in which it is read.

Needs the package pypdfium2 (extra ``office``), which finds the place of each letter; columns,
paragraphs and words that a line end cuts are found here. Offsets are those of this text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from fascicle.core.document import Document, Event
from fascicle.core.effects import make_event
from fascicle.core.files.source import Source
from fascicle.core.wording import plural
from fascicle.errors import FormatError
from fascicle.formats.extraction import package_errors, read_all_bytes
from fascicle.formats.handlers import EXTRACTED, FormatReader
from fascicle.formats.page_cells import divide_by_bands
from fascicle.formats.page_heads import running_heads
from fascicle.formats.page_letters import Page, letters_of
from fascicle.formats.page_marks import pdfium
from fascicle.formats.page_parts import (
    DOWN,
    NOTHING,
    UP,
    PrintedPiece,
    line_numbers,
    line_place,
    rows_of,
    turns_of,
    usual_pitch,
)
from fascicle.formats.page_tables import divide, table_lines
from fascicle.formats.report import ReadReport, unread_parts
from fascicle.text.borders import without_wraps
from fascicle.text.raised import Level, Line

# of the pieces of a region, at most, may lie across the space between two columns
_CROSSING: Final = 0.34
_FEW: Final = 2  # pieces that make a column
_SPACES: Final = 256  # that are looked at in a region; a real page has few
_DEEPEST: Final = 20  # columns within columns
_LINES: Final = 100  # of a paragraph, whose spaces tell where it ends
_CUT: Final = re.compile(r"([^\W\d_][\w'-]*)[-\u00ad\u2010\u2011]$")
_LEVELS: Final = re.compile(f"{UP}([^{DOWN}]*){DOWN}")
_SOFT: Final = re.compile(r"\u00ad(?!\s*$)")  # a soft hyphen that is not printed
_WORD: Final = re.compile(r"[^\W\d_][\w'-]*")
_LIGATURES: Final = str.maketrans(
    dict(zip("ﬀﬁﬂﬃﬄﬅﬆ", ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True))
)


@dataclass(frozen=True, kw_only=True)
class _PrintedText:
    """Text of printed pages.

    Attributes:
        text: the paragraphs, with an empty line between two.
        hyphens: offsets at which a hyphen and a line end were taken out of a word.
        pages: offset of the first character of each page.
        left_out: number of running heads, and of numbers of pages and lines.
        empty: places of the pages without text.
        marks: those that are raised, and left out.
    """

    text: str
    hyphens: tuple[int, ...]
    pages: tuple[int, ...]
    left_out: int
    empty: tuple[int, ...]
    marks: Line


def printed_text(
    pages: Sequence[Sequence[PrintedPiece]],
    heights: Sequence[float],
    rules: Sequence[Sequence[PrintedPiece]] | None = None,
) -> _PrintedText:
    """Puts the pieces of pages in order, and joins them to one text.

    Args:
        pages: the pieces of each page, in any order.
        heights: of the pages.
        rules: level lines that are drawn on each page; none by default.
    """
    heads = running_heads(pages, heights)
    marks = Line()
    lines: list[list[PrintedPiece]] = []
    left_out = sum(map(len, heads))
    for page, places, drawn in zip(pages, heads, rules or [()] * len(pages), strict=True):
        numbers = line_numbers(page)
        pieces = [piece for piece in page if piece not in numbers]
        lines.append(list(_page_lines(pieces, places, drawn, marks)))
        left_out += len(numbers)
    text, starts = _join(lines)
    return _PrintedText(
        text=text.text,
        hyphens=tuple(text.hyphens),
        pages=tuple(starts),
        left_out=left_out,
        empty=tuple(number for number, page in enumerate(lines) if not page),
        marks=marks,
    )


def _join(pages: Sequence[Sequence[PrintedPiece]]) -> tuple[_RunningText, list[int]]:
    """Joins the lines of pages; returns their text, and where each page begins in it."""
    words = Counter(
        word.lower() for page in pages for line in page for word in _WORD.findall(line.text)[:-1]
    )
    text = _RunningText(words)
    starts = []
    for page in pages:
        pitch = usual_pitch(page)
        lines = [text.add(line, pitch) for line in page]
        starts.append(lines[0] if lines else text.length)
    return text, starts


def _page_lines(
    page: Sequence[PrintedPiece], heads: Collection[int], rules: Sequence[PrintedPiece], marks: Line
) -> Iterator[PrintedPiece]:
    """Yields the lines of a page without its running heads; letters that are turned otherwise
    than most come last.
    """
    for rank, turn in enumerate(turns_of(page)):
        pieces = [
            piece
            for piece in page
            if piece.turn == turn and (rank or line_place(piece) not in heads)
        ]
        for region in _regions(pieces, () if rank else rules):
            yield from _lines(region, marks)


def _regions(
    pieces: Sequence[PrintedPiece], rules: Sequence[PrintedPiece], *, within: int = 0
) -> Iterator[list[PrintedPiece]]:
    """Yields columns and what lies across them, in the order in which they are read.

    Args:
        pieces: of a page, or of a column that may have columns itself.
        rules: level lines that are drawn on the page.
        within: so many regions lie around these pieces.
    """
    parts = list(_parts(pieces, rules)) if within < _DEEPEST else []
    if len(parts) > 1 or any("\t" in piece.text for _, part in parts for piece in part):
        for is_table, part in parts:
            yield from [part] if is_table else _regions(part, rules, within=within + 1)
        return
    is_table = any(is_table for is_table, _ in parts)
    gutter = _gutter(pieces) if within < _DEEPEST and not is_table else None
    if gutter is not None:
        yield from _columns(pieces, gutter, rules, within + 1)
    elif pieces:
        yield list(pieces)


def _columns(
    pieces: Sequence[PrintedPiece], gutter: float, rules: Sequence[PrintedPiece], within: int
) -> Iterator[list[PrintedPiece]]:
    """Yields the regions on both sides of a space between columns, and the pieces across it."""
    across = sorted(
        (piece for piece in pieces if _crosses(piece, gutter)), key=lambda piece: -piece.middle
    )
    bands: list[list[PrintedPiece]] = [[] for _ in range(len(across) + 1)]
    for piece in pieces:
        if not _crosses(piece, gutter):
            number = bisect_left(across, -piece.middle, key=lambda other: -other.middle)
            bands[number].append(piece)

    pending: list[PrintedPiece] = []  # across, without columns between them
    for number, band in enumerate(bands):
        if band and pending:
            yield pending
            pending = []
        before = [piece for piece in band if piece.right <= gutter]
        behind = [piece for piece in band if piece.right > gutter]
        yield from _regions(before, rules, within=within)
        yield from _regions(behind, rules, within=within)
        pending += across[number : number + 1]
    if pending:
        yield pending


def _parts(
    pieces: Sequence[PrintedPiece], rules: Sequence[PrintedPiece]
) -> Iterator[tuple[bool, list[PrintedPiece]]]:
    """Yields tables and what stands between them, from top to bottom; rows of long cells are
    pieces with TABs.
    """
    for is_table, part in divide_by_bands(pieces, rules):
        if is_table:
            yield True, part
        else:
            yield from divide(part)


def _crosses(piece: PrintedPiece, gutter: float) -> bool:
    return piece.left < gutter - 1 and piece.right > gutter


def _gutter(pieces: Sequence[PrintedPiece]) -> float | None:
    """Returns the left edge of the column behind the clearest space between two columns, if
    there is one.
    """
    lefts, rights = sorted(piece.left for piece in pieces), sorted(piece.right for piece in pieces)
    spaces = []
    for edge, count in Counter(round(piece.left) for piece in pieces).items():
        before, behind = bisect_right(rights, edge), len(pieces) - bisect_left(lefts, edge - 1)
        crossing = len(pieces) - before - behind
        if min(count, before, behind) >= _FEW and crossing <= _CROSSING * len(pieces):
            spaces.append((crossing, rights[before - 1] - edge, edge))
    spaces.sort(key=lambda space: space[:2])  # the least crossed first, and of these the widest
    return next(
        (float(edge) for _, _, edge in spaces[:_SPACES] if _is_between_columns(pieces, edge)), None
    )


def _is_between_columns(pieces: Sequence[PrintedPiece], edge: int) -> bool:
    """True if half of the pieces on one side of a space have one beside them on the other side."""
    before = sorted(piece.middle for piece in pieces if piece.right <= edge)
    behind = [piece for piece in pieces if piece.left >= edge - 1]
    beside = sum(  # or between two lines that stand apart
        bisect_right(before, piece.bottom - piece.height / 2)
        < bisect_left(before, piece.top + piece.height / 2)
        for piece in behind
    )
    return 2 * beside >= min(len(before), len(behind))


def _lines(pieces: Sequence[PrintedPiece], marks: Line) -> list[PrintedPiece]:
    """Returns the lines of a region from top to bottom; pieces beside each other become one."""
    if any("\t" in piece.text for piece in pieces):  # rows that are joined
        return [_tidy_piece(piece, marks) for piece in pieces]
    if any(is_table for is_table, _ in divide(pieces)):
        lines = table_lines([_tidy_piece(piece, marks) for piece in pieces])
    else:
        lines = [_line(row, marks) for row in rows_of(pieces)]
    return [line for line in lines if line.text]


def _tidy_piece(piece: PrintedPiece, marks: Line) -> PrintedPiece:
    """Returns a piece with tidy cells, which TABs separate."""
    cells = [_tidy(cell, marks) for cell in piece.text.split("\t")]
    return piece._replace(text="\t".join(cells))


def _tidy(text: str, marks: Line) -> str:
    """Returns a text with the usual letters and blanks, without raised marks, which are counted."""
    for at, part in enumerate(_LEVELS.split(text.replace(NOTHING, "").replace(DOWN + UP, ""))):
        marks.add(part, Level.RAISED if at % 2 else Level.PLAIN)
    return " ".join(_SOFT.sub("", marks.take().translate(_LIGATURES)).split())


def _line(row: Sequence[PrintedPiece], marks: Line) -> PrintedPiece:
    text = row[0].text
    for before, piece in pairwise(row):
        text += " " * (piece.left - before.right > 0.15 * piece.height) + piece.text
    bottom, top = min(cell.bottom for cell in row), max(cell.top for cell in row)
    return PrintedPiece(
        row[0].left, bottom, max(cell.right for cell in row), top, _tidy(text, marks), row[0].turn
    )


class _RunningText:
    """Text to which lines are added one after the other."""

    def __init__(self, words: Counter[str]) -> None:
        """Starts without text; ``words`` are those that stand within lines."""
        self._words = words
        self._parts: list[str] = []
        self._last: deque[PrintedPiece] = deque(maxlen=_LINES)  # of the paragraph
        self.length = 0
        self.hyphens: list[int] = []

    @property
    def text(self) -> str:
        """Text so far: a line end stands before an item of a list, and a blank between the lines
        of prose.
        """
        return without_wraps("".join(self._parts))

    def add(self, line: PrintedPiece, pitch: float = 0) -> int:
        """Adds one line: to the paragraph, to the word that is cut off before it, or as a new
        paragraph.

        Args:
            line: the line.
            pitch: the usual space from one line of prose to the next.

        Returns:
            Offset of the line.
        """
        before = self._parts[-1] if self._parts else ""
        if before and self._is_new(line, pitch):
            self._append("\n\n")
            self._last.clear()
        elif cut := _CUT.search(before):
            if self._is_one_word(cut[1], line.text):
                self._parts[-1] = before[:-1]
                self.length -= 1
                self.hyphens.append(self.length)
        elif before:
            self._append("\n")
        self._append(line.text)
        self._last.append(line)
        return self.length - len(line.text)

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self.length += len(text)

    def _is_new(self, line: PrintedPiece, usual: float) -> bool:
        """True if a line begins a paragraph: other letters, a space above it, or a place to the
        right of the others.
        """
        last = self._last[-1]
        # a row of a table, or letters at a side
        if "\t" in last.text + line.text or last.turn != line.turn:
            return True
        if not 0.85 * last.height < line.height < 1.18 * last.height:
            return True
        if line.middle > last.middle or line.left > last.right:  # another column or page
            return False
        pitches = [
            above.middle - below.middle
            for above, below in pairwise(self._last)
            if above.middle > below.middle
        ]
        pitch = median(pitches) if pitches else max(1.25 * line.height, usual)
        return last.middle - line.middle > 1.45 * pitch or line.left - last.left > 0.8 * line.height

    def _is_one_word(self, head: str, line: str) -> bool:
        """True if the hyphen between the end of a line and the next line is not part of a word."""
        tail = _WORD.match(line)
        if tail is None or not tail[0][0].islower():
            return False
        whole, compound = f"{head}{tail[0]}".lower(), f"{head}-{tail[0]}".lower()
        if self._words[whole] or self._words[compound]:
            return self._words[whole] >= self._words[compound]
        return head[1:].islower() or len(head) == 1


_STEP: Final = "pdf"


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Yields the one document of a file; its id is the name of the file.

    ``meta`` has the offsets of the first character of each page (``pages``), and those at which a
    hyphen and a line end were taken out of a word (``hyphens``).

    Args:
        source: the file.
        options: none.
        report: not used.

    Raises:
        FormatError: no PDF, one that is damaged or needs a password, or pictures of pages without
            text.
        MissingExtraError: pypdfium2 is not installed.
    """
    pages = _pages(source)
    printed = printed_text(
        [page.pieces for page in pages],
        [page.height for page in pages],
        [page.rules for page in pages],
    )
    if not printed.text:
        message = (
            "the PDF holds no text, only pictures of pages; recognise its text first, for "
            "example with ocrmypdf"
        )
        raise FormatError(message, at=source.path)
    meta = dict(EXTRACTED)
    for name, offsets in (("pages", printed.pages), ("hyphens", printed.hyphens)):
        if offsets:
            meta[name] = " ".join(map(str, offsets))
    events = tuple(_events(printed, pages))
    yield Document(id=source.name, text=printed.text, meta=meta, events=events)


def _pages(source: Source) -> list[Page]:
    content = read_all_bytes(source).getvalue()
    library = pdfium()
    with package_errors(source):
        document = library.PdfDocument(content)
        try:
            return list(map(letters_of, document))
        finally:
            document.close()


def _events(printed: _PrintedText, pages: Sequence[Page]) -> Iterator[Event]:
    pictures = [str(number + 1) for number in printed.empty if pages[number].has_pictures]
    if pictures:
        message = (
            f"{plural(len(pictures), 'page')} with pictures and without text: "
            f"{', '.join(pictures)}; recognise their text first, for example with ocrmypdf"
        )
        yield make_event("parts-left-out", step=_STEP, message=message)
    yield from unread_parts(sum((page.left_out for page in pages), Counter()), step=_STEP)
    heads = printed.left_out + sum(page.artifacts for page in pages)
    if heads:  # a note, for nearly every paper has some
        what = plural(
            heads,
            "running head or page number",
            "running heads and numbers of pages and lines",
        )
        message = f"these parts are not read: {what}"
        yield Event(step=_STEP, kind="note", code="parts-left-out", message=message)
    yield from printed.marks.events(_STEP)


READER: Final = FormatReader(read=read)

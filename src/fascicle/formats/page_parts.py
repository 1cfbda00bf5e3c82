"""Parts of printed pages: running heads, and tables that are read by rows."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice, pairwise, takewhile
from math import inf
from statistics import fmean, median
from typing import Final, NamedTuple

_ZONE: Final = 0.12  # of the height of a page, at its top and its bottom: where running heads are
# of the space between lines: the space between running heads and the text is wider
_APART: Final = 1.3
_LOOSE: Final = 2.2  # of the height of letters: the widest space between lines of a text
# what may stand at the top of pages
_NUMBERED: Final = re.compile(r"(?:table|fig|box|scheme|panel|appendix)\b", re.I)
# The number of a page stands alone at its place, behind the word for it, or between signs.
_PAGE_NUMBER: Final = re.compile(
    r"(?:^|\t|(?:^|\s)[|·•–—/-]\s+|\b(?:page|p\.|pg\.|seite|s\.)\s*)\d{1,5}"
    r"(?=$|\t|\s+[|·•–—/-](?:\s|$)|\s+of\s|\s*/\s*\d)",
    re.I,
)
_DIGITS: Final = re.compile(r"\d+$")
_PROSE: Final = 0.7  # of the width of the text: lines of wrapped prose fill more
# of the height of letters: the widest space from one line of prose to the next
_WIDEST: Final = 3.5
_NUMBERS: Final = 8  # of lines, at least
# part of its width that a row of a table fills at most; lines of columns of text fill more
_FULL: Final = 0.7
_WORDS: Final = 4  # most words of a half of the cells of a table
_EVEN: Final = 0.15  # of the widest space
_HALF, _ALL = 0.5, 0.9  # of the cells, so many stand below another one
_NEAR: Final = 3.0  # so near are edges of cells in one column
_LONG: Final = 20  # cells with many words that are looked at
_ROWS: Final = 4  # fewest rows of a table beside columns of text


class Piece(NamedTuple):
    """Piece of a printed line; the unit is that of the page, and ``bottom`` is less than ``top``.

    ``turn`` is the number of quarters by which its letters are turned; its places are those of the
    page turned back.
    """

    left: float
    bottom: float
    right: float
    top: float
    text: str
    turn: int = 0

    @property
    def height(self) -> float:
        """Height of its letters."""
        return self.top - self.bottom

    @property
    def middle(self) -> float:
        """Place between its bottom and its top."""
        return (self.top + self.bottom) / 2


def turns_of(page: Iterable[Piece]) -> list[int]:
    """Returns by how many quarters the letters of a page are turned; the turn of most comes
    first.
    """
    sizes = Counter[int]()
    for piece in page:
        sizes[piece.turn] += len(piece.text)
    return [turn for turn, _ in sizes.most_common()]


def _upright(page: Sequence[Piece]) -> list[Piece]:
    turns = turns_of(page)[:1]
    return [one for one in page if one.turn in turns]


def line_place(piece: Piece) -> int:
    """Returns the place of the line of a piece on its page."""
    return round(piece.middle / 4)


def running_heads(pages: Sequence[Sequence[Piece]], heights: Sequence[float]) -> list[set[int]]:
    """Returns the places of the running heads and page numbers of each page.

    They are the outermost lines, apart from the text, that recur at one place of most pages, or of
    most left or right pages, and are identical but for the number of the page.

    Args:
        pages: the pieces of each page.
        heights: of the pages.
    """
    pages = list(map(_upright, pages))
    lines = [_texts(page) for page in pages]
    counts: dict[tuple[int, str, int], list[int]] = defaultdict(lambda: [0, 0])
    totals = [sum(map(bool, lines[::2])), sum(map(bool, lines[1::2]))]
    for at, page in enumerate(lines):
        for mark in {mark for place, text in page.items() for mark in _marks(place, text, at)}:
            counts[mark][at % 2] += 1

    def recurs(place: int, text: str, at: int) -> bool:
        found = (counts[mark] for mark in _marks(place, text, at))
        return any(
            one >= 2 and 2 * one > total
            for count in found
            for one, total in ((sum(count), sum(totals)), (count[at % 2], totals[at % 2]))
        )

    heads = []
    for at, (pieces, height) in enumerate(zip(pages, heights, strict=True)):
        usual = {place for place, text in lines[at].items() if recurs(place, text, at)}
        heads.append(
            set(
                _outermost(
                    lines[at], usual, height, median(one.height for one in pieces) if pieces else 0
                )
            )
        )
    is_text = any(
        line_place(one) not in out for page, out in zip(pages, heads, strict=True) for one in page
    )
    return heads if is_text else [set() for _ in pages]


def _texts(page: Iterable[Piece]) -> dict[int, str]:
    """Returns the lines of a page by their places, with a TAB between pieces."""
    lines: dict[int, list[Piece]] = defaultdict(list)
    for piece in page:
        lines[line_place(piece)].append(piece)
    return {
        place: "\t".join(one.text.strip() for one in sorted(row)) for place, row in lines.items()
    }


def _marks(place: int, text: str, at: int) -> Iterator[tuple[int, str, int]]:
    """Yields what lines that are equal have in common: the text, or what stands around the
    number of the page.
    """
    if not _NUMBERED.match(text):
        yield place, text, -1
    for found in _PAGE_NUMBER.finditer(text):
        start = found.start() + _DIGITS.search(found[0]).start()  # type: ignore[union-attr]  # it ends with digits
        number = int(text[start : found.end()])
        if number > at:
            yield place, f"{text[:start]}#{text[found.end() :]}", number - at


def _outermost(
    lines: dict[int, str], usual: set[int], height: float, letters: float
) -> Iterator[int]:
    """Yields the places of usual lines at the edges of a page, if the text is apart from them."""
    places = sorted(lines)
    top = takewhile(
        lambda place: place in usual and 4 * place > height * (1 - _ZONE), reversed(places)
    )
    bottom = takewhile(lambda place: place in usual and 4 * place < height * _ZONE, places)
    edges = [list(top), list(bottom)]
    inner = [place for place in places if place not in chain(*edges)]
    spaces = [4 * (above - below) for below, above in pairwise(inner)]
    space = min(median(spaces), _LOOSE * letters) if spaces else 0
    for edge in edges:
        is_apart = (
            not inner or min(abs(edge[-1] - one) for one in inner) * 4 > _APART * space
            if edge
            else False
        )
        yield from (place for place in edge if is_apart or lines[place].isdigit())


def usual_pitch(lines: Sequence[Piece]) -> float:
    """Returns the space from one line of prose to the next on a page; 0 if most of its lines are
    not wrapped prose.
    """
    widest = max((line.right - line.left for line in lines), default=0)
    pairs = [
        (
            (above.right - above.left) * (above.text[-1:] not in tuple(".:!?")),
            above.middle - below.middle,
        )
        for above, below in pairwise(lines)
        if 0 < above.middle - below.middle < _WIDEST * below.height
        and abs(above.height - below.height) < 1
    ]
    full = [pitch for width, pitch in pairs if width > _PROSE * widest]
    return median(full) if 2 * len(full) > len(pairs) > 1 else 0


def line_numbers(page: Sequence[Piece]) -> list[Piece]:
    """Returns the numbers of the lines of a manuscript: they stand at the left of its prose, and
    count.
    """
    left = min((one.left for one in page if not one.text.strip().isdigit()), default=0)
    numbers = [one for one in page if one.text.strip().isdecimal() and one.right < left]
    count = len(numbers)
    values = [int(one.text) for one in sorted(numbers, key=lambda one: -one.middle)]
    if (
        count < _NUMBERS
        or len(set(values)) < count
        or {after - one for one, after in pairwise(values)} not in ({1}, {5})
    ):
        return []
    rows = [row for row in rows_of(page) if row[0] in numbers]
    widest = max((row[-1].right - left for row in rows), default=0)
    full = sum(len(row) == 2 and row[1].right - row[1].left > _PROSE * widest for row in rows)
    return numbers if 2 * full > count else []


def whole_lines(pieces: Iterable[Piece]) -> list[Piece]:
    """Returns pieces; those that are the words of a line which fills its column are one piece.

    Args:
        pieces: in the order of the file.
    """
    rows: list[list[Piece]] = []
    for one in pieces:
        if rows and _follows(rows[-1][-1], one):
            rows[-1].append(one)
        else:
            rows.append([one])
    columns = {
        _sides(row[0], by) for row in rows if _count_words(row[0]) > _WORDS for by in (-1, 0, 1)
    }
    whole = []
    for at, row in enumerate(rows):
        beside = [
            other
            for other in (*rows[max(0, at - 1) : at], *rows[at + 1 : at + 2])
            if len(other) > 1
        ]
        is_full = (round(row[0].left), round(row[-1].right)) in columns
        has_words = median(map(_count_words, row)) <= 1  # and no lines of columns beside each other
        is_line = (
            has_words
            and _is_even(row)
            and (is_full or not any(_fits(row, other) for other in beside))
        )
        whole += [_merged(row)] if is_line else row
    return whole


def _sides(line: Piece, by: int) -> tuple[int, int]:
    return round(line.left), round(line.right) + by


def _follows(one: Piece, following: Piece) -> bool:
    is_level = one.turn == following.turn and abs(one.middle - following.middle) < 0.2 * one.height
    return (
        is_level
        and abs(one.height - following.height) < 0.2 * one.height
        and following.left > one.right
    )


def _fits(row: Sequence[Piece], other: Sequence[Piece]) -> bool:
    """True if nearly all pieces of a row stand below those of another."""
    return sum(_distance(one, other[_nearest(one, other)]) < _NEAR for one in row) >= _ALL * len(
        row
    )


def _merged(row: Sequence[Piece]) -> Piece:
    bottom, top = min(one.bottom for one in row), max(one.top for one in row)
    return row[0]._replace(
        bottom=bottom, right=row[-1].right, top=top, text=" ".join(one.text for one in row)
    )


def rows_of(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """Returns the rows from top to bottom: pieces beside each other, from left to right."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda one: (-one.middle, one.left)):
        if rows and abs(rows[-1][0].middle - piece.middle) < 0.5 * min(
            rows[-1][0].height, piece.height
        ):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row) for row in rows]


def divide(pieces: Sequence[Piece]) -> list[tuple[bool, list[Piece]]]:
    """Divides pieces into tables and what stands between them, from top to bottom.

    Returns:
        Whether each part is a table, and its pieces.
    """
    rows = rows_of(pieces)
    parts: list[tuple[bool, list[Piece]]] = []
    for is_sparse, group in groupby(range(len(rows)), key=_sparse_rows(rows).__getitem__):
        places = list(group)
        run = rows[places[0] : places[-1] + 1]
        beside = rows[max(0, places[0] - 1) : places[0]] + rows[places[-1] + 1 : places[-1] + 2]
        others = [*chain(*rows[: places[0]], *rows[places[-1] + 1 :])] if is_sparse else []
        fewest = 2 if all(len(row) < 2 for row in beside) else _ROWS
        is_text = _has_columns(run, others) or _ends_columns(rows, places[0])
        is_table = is_sparse and _is_table(run, fewest=fewest) and not is_text
        if not parts or is_table or parts[-1][0]:
            parts.append((is_table, []))
        parts[-1][1].extend(chain(*run))
    return parts


def _sparse_rows(rows: Sequence[Sequence[Piece]]) -> list[bool]:
    """Returns for each row whether it may be one of a table, or goes on in a cell of one."""
    sparse: list[bool] = []
    for at, row in enumerate(rows):
        is_sparse = len(row) > 1 and (_filled(row) <= _FULL or median(map(_count_words, row)) <= 1)
        sparse.append(is_sparse or (at > 0 and sparse[-1] and _goes_on(rows[at - 1], row)))
    return sparse


def _count_words(piece: Piece) -> int:
    return len(piece.text.split())


def _filled(row: Sequence[Piece]) -> float:
    return sum(one.right - one.left for one in row) / ((row[-1].right - row[0].left) or 1)


def _goes_on(above: Sequence[Piece], row: Sequence[Piece]) -> bool:
    """True if a row has only further lines of cells of the row above, none of them in the first
    column.
    """
    is_close = above[0].middle - row[0].middle < 1.45 * row[0].height
    return is_close and all(
        any(abs(one.left - cell.left) < _NEAR for cell in above[1:]) for one in row
    )


def _is_table(rows: Sequence[Sequence[Piece]], *, fewest: int) -> bool:
    cells = [row for row in rows if len(row) > 1]
    words = median(_count_words(one) for row in cells for one in row)
    if len(cells) < fewest or not (
        words <= 1 or (words <= _WORDS and fmean(map(_filled, cells)) <= _FULL)
    ):
        return False
    fits = [
        _distance(one, above[_nearest(one, above)]) < _NEAR
        for above, row in pairwise(cells)
        for one in row
    ]
    even = sum(map(_is_even, cells))
    return sum(fits) >= (_ALL if 2 * even >= len(cells) else _HALF) * len(fits)


def _is_even(row: Sequence[Piece]) -> bool:
    """True if the spaces in a row are equal, as those between the words of a line that fills its
    column.
    """
    spaces = [following.left - one.right for one, following in pairwise(row)]
    return len(spaces) > 1 and max(spaces) - min(spaces) < _EVEN * max(spaces)


def _has_columns(rows: Sequence[Sequence[Piece]], others: Iterable[Piece]) -> bool:
    """True if a row has a line of a column of text, which has other lines above or below."""
    lines = [one for one in others if _count_words(one) > _WORDS]
    ends = (
        (one, following.left)
        for row in rows
        for one, following in pairwise([*row, row[-1]._replace(left=inf)])
    )
    long = islice(((one, end) for one, end in ends if _count_words(one) > _WORDS), _LONG)
    return any(
        sum(abs(one.left - line.left) < _NEAR and line.right <= end for line in lines) > 1
        for one, end in long
    )


def _ends_columns(rows: Sequence[Sequence[Piece]], at: int) -> bool:
    """True if the row ``at`` goes on with columns of text: lines of unequal columns end at
    different places.
    """
    above, row = rows[max(0, at - _ROWS) : at], rows[at]
    is_close = bool(above) and above[-1][0].middle - row[0].middle < 1.45 * row[0].height
    if not is_close or any(len(line) < 2 or _filled(line) <= _FULL for line in above):
        return False
    return all(
        any(abs(one.left - line.left) < _NEAR for line in text) for one in row for text in above
    )


def _distance(one: Piece, other: Piece) -> float:
    """Returns how far the cells of two rows are from standing below each other."""
    left, right = one.left - other.left, one.right - other.right
    return min(abs(left), abs(right), abs(left + right) / 2)


def _nearest(piece: Piece, row: Sequence[Piece]) -> int:
    """Returns the place of the cell of a row above or below which a piece stands."""
    at = bisect_left(row, piece.left, key=lambda one: one.left)
    return min(
        range(max(0, at - 2), min(len(row), at + 2)), key=lambda place: _distance(piece, row[place])
    )


def table_lines(pieces: Sequence[Piece]) -> list[Piece]:
    """Returns the rows of a table, each as one piece with a TAB between its cells."""
    rows = rows_of(pieces)
    columns = max(rows, key=len)
    lines: list[tuple[list[Piece], list[str]]] = []
    for row in rows:
        if not lines or not _goes_on(lines[-1][0], row):
            lines.append((row, [""] * len(columns)))
        cells = lines[-1][1]
        for one in row:
            at = _nearest(one, columns)
            cells[at] = f"{cells[at]} {one.text}".strip()
    return [
        row[0]._replace(
            bottom=min(one.bottom for one in row),
            right=row[-1].right,
            text="\t".join(cells).strip("\t"),
        )
        for row, cells in lines
    ]

"""Tables of printed pages whose cells have several lines.

Blank bands, or lines that are drawn, divide the rows of such a table at the same heights in all of
its columns. Each cell is shorter than its row, or fills it. Columns of prose have no such ends in a
row of bands.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from operator import attrgetter
from typing import Final, NamedTuple

from fascicle.formats.page_parts import PrintedPiece, rows_of

_BAND: Final = 1.12  # of the space between the lines of cells: a wider one may lie between two rows
_BLANK: Final = 0.3  # of the height of letters: a wider space lies between two columns
_RULED: Final = 0.9  # of the width of two rows: a line that is drawn between them covers more
_LEVEL: Final = 0.15  # of the height of letters: lines that stand level are nearer
_SAME: Final = 0.1  # of the height of letters
_FEWEST: Final = 4  # rows: three bands
_UNEQUAL: Final = 2  # rows whose cells have unequal numbers of lines
_WIDEST: Final = 50  # columns
_MANY: Final = 0.7  # of the rows with several lines
_MOST: Final = 15  # lines of a cell
# before an item of a list
_LABEL: Final = re.compile(r"[\[(]?(?:\d{1,3}|[a-z]|[ivx]+|\W)[.)\]]?", re.I)


class _Block(NamedTuple):
    """What may be a row of a table: its lines from top to bottom, and whether a line is drawn
    above it.
    """

    lines: list[list[PrintedPiece]]
    is_ruled: bool

    @property
    def pieces(self) -> list[PrintedPiece]:
        """All pieces."""
        return list(chain(*self.lines))


def divide_by_bands(
    pieces: Sequence[PrintedPiece], rules: Sequence[PrintedPiece]
) -> list[tuple[bool, list[PrintedPiece]]]:
    """Divides pieces into tables whose cells have several lines and what stands between them, from
    top to bottom.

    Args:
        pieces: of a page, or of a part of it.
        rules: level lines that are drawn on the page.

    Returns:
        Whether each part is such a table, and its pieces: those of a row of a table are one, with a
        TAB between cells.
    """
    blocks = list(_blocks(rows_of(pieces), rules))
    parts: list[tuple[bool, list[PrintedPiece]]] = []
    at = 0
    while at < len(blocks):
        end = _end(blocks, at)
        table = _table(blocks[at:end])
        if not parts or table or parts[-1][0]:
            parts.append((bool(table), []))
        parts[-1][1].extend(table or chain(*(block.pieces for block in blocks[at:end])))
        at = end
    return parts


def _blocks(rows: Sequence[list[PrintedPiece]], rules: Sequence[PrintedPiece]) -> Iterator[_Block]:
    """Yields what stands between bands that cross all pieces, or between lines that are drawn
    across all.
    """
    pitches = _pitches(list(chain(*rows)))
    drawn = sorted({(rule.middle, round(rule.left), round(rule.right)) for rule in rules})
    block = _Block([], is_ruled=False)
    for row in rows:
        is_ruled = bool(block.lines) and _is_ruled(block.lines[-1], row, drawn)
        is_apart = bool(block.lines) and _space(block.lines[-1], row) > _BAND * pitches.get(
            round(row[0].height), 0
        )
        if is_ruled or is_apart:
            yield block
            block = _Block([], is_ruled=is_ruled)
        block.lines.append(row)
    if block.lines:
        yield block


def _is_ruled(
    above: Sequence[PrintedPiece],
    row: Sequence[PrintedPiece],
    rules: Sequence[tuple[float, int, int]],
) -> bool:
    """True if a line is drawn between two rows, in one part or in several."""
    left, right = min(above[0].left, row[0].left), max(piece.right for piece in (*above, *row))
    first, last = bisect_left(rules, (row[0].middle,)), bisect_left(rules, (above[0].middle,))
    widths: dict[int, float] = defaultdict(float)
    for place, start, end in rules[first:last]:
        widths[round(place)] += max(0, min(end, right) - max(start, left))
    return any(width > _RULED * (right - left) for width in widths.values())


def _space(above: Sequence[PrintedPiece], row: Sequence[PrintedPiece]) -> float:
    return above[0].middle - row[0].middle


def _pitches(pieces: Sequence[PrintedPiece]) -> dict[int, float]:
    """Returns the space from one line to the next in columns, for each height of letters: one of
    the least.
    """
    spaces: dict[int, list[float]] = defaultdict(list)
    last: dict[int, PrintedPiece] = {}
    for piece in sorted(pieces, key=attrgetter("middle"), reverse=True):
        above = last.get(round(piece.left))
        if above is not None and above.middle - piece.middle > _BLANK * piece.height:
            spaces[round(piece.height)].append(above.middle - piece.middle)
        last[round(piece.left)] = piece
    return {height: sorted(values)[len(values) // 10] for height, values in spaces.items()}


def _columns(pieces: Sequence[PrintedPiece]) -> list[tuple[float, float]]:
    """Returns the sides of the columns, between which no piece stands."""
    columns: list[tuple[float, float]] = []
    for piece in sorted(pieces):
        if columns and piece.left <= columns[-1][1] + _BLANK * piece.height:
            columns[-1] = columns[-1][0], max(columns[-1][1], piece.right)
        else:
            columns.append((piece.left, piece.right))
    return columns


def _end(blocks: Sequence[_Block], at: int) -> int:
    """Returns where the blocks end that may be rows of one table, with the one ``at`` as the
    first.
    """
    columns: list[tuple[float, float]] = []
    height = blocks[at].lines[0][0].height
    for place in range(at, len(blocks)):
        own = _columns(blocks[place].pieces)
        common = _columns(
            [PrintedPiece(left, 0, right, height, "") for left, right in columns + own]
        )
        is_like = abs(blocks[place].lines[0][0].height - height) < _SAME * height
        fits = len(own) > 1 and max(len(own), len(columns)) <= len(common) <= _WIDEST
        if not (is_like and fits and _is_row(_cells(blocks[place], own))):
            return max(place, at + 1)
        columns = common
    return len(blocks)


def _is_row(cells: Sequence[Sequence[PrintedPiece]]) -> bool:
    """True if each cell has its lines one below the other, at the top, the middle or the bottom
    of the row.
    """
    if not all(cells):  # of letters without a usable width
        return False
    top, bottom = max(cell[0].middle for cell in cells), min(cell[-1].middle for cell in cells)
    for cell in cells:
        first, last, near = cell[0].middle, cell[-1].middle, _LEVEL * cell[0].height
        is_placed = min(top - first, last - bottom, abs((first + last) - (top + bottom))) < near
        spaces = [above.middle - below.middle for above, below in pairwise(cell)]
        least = min((space for space in spaces if space > 0.5 * cell[0].height), default=0)
        if len(cell) > _MOST or not is_placed or any(space > _BAND * least for space in spaces):
            return False
    return True


def _cells(block: _Block, columns: Sequence[tuple[float, float]]) -> list[list[PrintedPiece]]:
    """Returns the pieces of each column from top to bottom, and from left to right."""
    cells: list[list[PrintedPiece]] = [[] for _ in columns]
    for piece in block.pieces:
        cells[bisect_right(columns, piece.left, key=lambda sides: sides[0]) - 1].append(piece)
    return cells


def _table(blocks: Sequence[_Block]) -> list[PrintedPiece]:
    """Returns the rows of a table; none if the blocks are no rows of one.

    Lines are drawn between them, or some have cells with unequal numbers of lines; labels of a list
    are no cells.
    """
    if len(blocks) < _FEWEST:
        return []
    columns = _columns(list(chain(*(block.pieces for block in blocks))))
    rows = [_cells(block, columns) for block in blocks]
    texts = [column for column in zip(*rows, strict=True) if not all(map(_is_label, column))]
    counts = map(_line_counts, zip(*texts, strict=True))
    long = [row for row in counts if max(row, default=0) > 1]
    is_unequal = sum(len(row) > 1 for row in long) >= max(_UNEQUAL, _MANY * len(long))
    is_ruled = len(texts) > 1 and sum(block.is_ruled for block in blocks[1:]) >= _FEWEST - 1
    return list(map(_row, rows)) if is_ruled or is_unequal else []


def _line_counts(cells: Sequence[Sequence[PrintedPiece]]) -> set[int]:
    """Returns the numbers of lines of the cells of a row."""
    return {len(rows_of(cell)) for cell in cells if cell}


def _is_label(cell: Sequence[PrintedPiece]) -> bool:
    return not cell or (len(cell) == 1 and _LABEL.fullmatch(cell[0].text.strip()) is not None)


def _row(cells: Sequence[Sequence[PrintedPiece]]) -> PrintedPiece:
    pieces = sorted(chain(*cells), key=lambda piece: (-piece.middle, piece.left))
    left, right = min(piece.left for piece in pieces), max(piece.right for piece in pieces)
    text = "\t".join(map(_text, cells))
    return pieces[0]._replace(left=left, right=right, text=text)


def _text(cell: Sequence[PrintedPiece]) -> str:
    text = ""
    for piece in cell:
        text += " " * (bool(text) and not text.endswith("-")) + piece.text.strip()
    return text

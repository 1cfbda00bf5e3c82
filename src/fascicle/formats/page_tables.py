"""Tables of printed pages that are read by rows, and lines of text that look like such rows."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice, pairwise
from math import inf
from statistics import fmean, median
from typing import Final

from fascicle.formats.page_parts import PrintedPiece, rows_of

# part of its width that a row of a table fills at most; lines of columns of text fill more
_FULL: Final = 0.7
_WORDS: Final = 4  # most words of a half of the cells of a table
_EVEN: Final = 0.15  # of the widest space
_HALF, _ALL = 0.5, 0.9  # of the cells, so many stand below another one
_NEAR: Final = 3.0  # so near are edges of cells in one column
_CLOSE: Final = 1.45  # of the height of letters: a row that goes on with another is nearer to it
_LONG: Final = 20  # cells with many words that are looked at
_ROWS: Final = 4  # fewest rows of a table beside columns of text
_RECUR: Final = 4  # fewest short lines with equal sides in a column of text
_INDENT: Final = 3.0  # of the height of letters: the widest at the start of a paragraph
_LOOSE: Final = 2.2  # of the height of letters: the widest space between lines of prose
_HYPHENS: Final = ("-", "\u00ad", "\u2010")

_Rows = Sequence[Sequence[PrintedPiece]]


def whole_lines(pieces: Iterable[PrintedPiece]) -> list[PrintedPiece]:
    """Returns pieces; those that are the words of a line which fills its column are one piece.

    Args:
        pieces: in the order of the file.
    """
    rows: list[list[PrintedPiece]] = []
    for piece in pieces:
        if rows and _follows(rows[-1][-1], piece):
            rows[-1].append(piece)
        else:
            rows.append([piece])

    prose = _stretched_lines(rows)
    lines = []
    for number, row in enumerate(rows):
        lines += [_join(row)] if number in prose or _is_line(rows, number) else row
    return lines


def _is_line(rows: _Rows, number: int) -> bool:
    """True if the pieces of a row are the words of a line, and no cells or lines of columns."""
    row = rows[number]
    if median(map(_count_words, row)) > 1 or not _is_even(row):
        return False
    beside = (*rows[max(0, number - 1) : number], *rows[number + 1 : number + 2])
    return not any(len(other) > 1 and _fits(row, other) for other in beside)


def _stretched_lines(rows: _Rows) -> set[int]:
    """Returns the numbers of the rows that are lines of justified prose with wide blanks: some fill
    a column beside rows that are lines without doubt.
    """
    prose: set[int] = set()
    for block in _blocks(rows):
        evident = [at for at, number in enumerate(block) if _is_evident(rows, number)]
        if evident:  # a table may stand above or below it
            first, end = evident[0], evident[-1] + 1
            prose.update(
                block[first if first > _ROWS else 0 : end if len(block) - end > _ROWS else None]
            )
    return prose


def _is_evident(rows: _Rows, number: int) -> bool:
    """True if a row is a line of prose: it is whole, its words stand evenly, its last one is cut,
    or it begins a paragraph.
    """
    row = rows[number]
    if len(row) == 1:
        return _count_words(row[0]) > 1
    for below in rows[number + 1 : number + 2]:
        is_cut = row[-1].text.endswith(_HYPHENS) and below[0].text[:1].islower()
        height = row[0].height
        if is_cut or 0.5 * height < row[0].left - below[0].left < _INDENT * height:
            return True
    return _is_line(rows, number)


def _blocks(rows: _Rows) -> list[list[int]]:
    """Returns the numbers of the rows that fill a column, one below the other at one pitch; a short
    line may stand between two.
    """
    columns = _columns_of(rows)
    blocks: list[list[int]] = []
    last: list[Sequence[PrintedPiece]] = []
    column = None
    for number, row in enumerate(rows):
        left = _column_left(row, columns)
        is_short = left is None and len(row) == 1 and abs(row[0].left - (column or 0)) < _NEAR
        if last and (is_short or left == column) and _has_one_pitch([*last, row]):
            last = [last[-1], row]
        else:
            last, column = [row], left
            blocks.append([])
        blocks[-1] += [number] * (left is not None)
    return blocks


def _column_left(row: Sequence[PrintedPiece], columns: Mapping[int, Sequence[int]]) -> int | None:
    """Returns the left side of the column that a row fills, maybe with an indent."""
    lefts = columns.get(round(row[-1].right), ())
    at = bisect_right(lefts, row[0].left + 1)
    return lefts[at - 1] if at and row[0].left - lefts[at - 1] < _INDENT * row[0].height else None


def _columns_of(rows: _Rows) -> dict[int, list[int]]:
    """Returns the left sides of long lines, and of shorter ones that recur, by their right side."""
    counts = Counter[tuple[int, int]]()
    for row in rows:
        words = _count_words(row[0])
        if words > _WORDS or (words > 1 and len(row) == 1):
            counts[round(row[0].left), round(row[0].right)] += _RECUR if words > _WORDS else 1
    columns: defaultdict[int, list[int]] = defaultdict(list)
    for (left, right), count in sorted(counts.items()):
        for near in (right - 1, right, right + 1):
            columns[near] += [left] * (count >= _RECUR)
    return columns


def _has_one_pitch(rows: _Rows) -> bool:
    """True if rows follow each other as lines of prose do."""
    height = rows[-1][0].height
    pitches = [above[0].middle - row[0].middle for above, row in pairwise(rows)]
    widest = min(_LOOSE * height, min(pitches) + _EVEN * height)
    return 0 < min(pitches) <= max(pitches) < widest


def _follows(piece: PrintedPiece, following: PrintedPiece) -> bool:
    return (
        piece.turn == following.turn
        and abs(piece.middle - following.middle) < 0.2 * piece.height
        and abs(piece.height - following.height) < 0.2 * piece.height
        and following.left > piece.right
    )


def _fits(row: Sequence[PrintedPiece], other: Sequence[PrintedPiece]) -> bool:
    """True if nearly all pieces of a row stand below those of another."""
    return sum(_is_aligned(piece, other) for piece in row) >= _ALL * len(row)


def _join(row: Sequence[PrintedPiece]) -> PrintedPiece:
    return row[0]._replace(
        bottom=min(piece.bottom for piece in row),
        right=row[-1].right,
        top=max(piece.top for piece in row),
        text=" ".join(piece.text for piece in row),
    )


def divide(pieces: Sequence[PrintedPiece]) -> list[tuple[bool, list[PrintedPiece]]]:
    """Divides pieces into tables and what stands between them, from top to bottom.

    Returns:
        Whether each part is a table, and its pieces.
    """
    rows = rows_of(pieces)
    parts: list[tuple[bool, list[PrintedPiece]]] = []
    for is_sparse, group in groupby(range(len(rows)), key=_sparse_rows(rows).__getitem__):
        numbers = list(group)
        first, end = numbers[0], numbers[-1] + 1
        is_table = is_sparse and _is_table_between(rows, first, end)
        if not parts or is_table or parts[-1][0]:
            parts.append((is_table, []))
        parts[-1][1].extend(chain(*rows[first:end]))
    return parts


def _is_table_between(rows: Sequence[list[PrintedPiece]], first: int, end: int) -> bool:
    """True if the rows from ``first`` to ``end`` are a table, and no lines of columns of text."""
    table = rows[first:end]
    beside = (*rows[max(0, first - 1) : first], *rows[end : end + 1])
    fewest = 2 if all(len(row) < 2 for row in beside) else _ROWS
    if not _is_table(table, fewest=fewest) or _ends_columns(rows, first):
        return False
    return not _has_columns(table, chain(*rows[:first], *rows[end:]))


def _sparse_rows(rows: Sequence[Sequence[PrintedPiece]]) -> list[bool]:
    """Returns for each row whether it may be one of a table, or goes on in a cell of one."""
    sparse: list[bool] = []
    for at, row in enumerate(rows):
        is_sparse = len(row) > 1 and (_filled(row) <= _FULL or median(map(_count_words, row)) <= 1)
        sparse.append(is_sparse or (at > 0 and sparse[-1] and _goes_on(rows[at - 1], row)))
    return sparse


def _count_words(piece: PrintedPiece) -> int:
    return len(piece.text.split())


def _filled(row: Sequence[PrintedPiece]) -> float:
    return sum(piece.right - piece.left for piece in row) / ((row[-1].right - row[0].left) or 1)


def _goes_on(above: Sequence[PrintedPiece], row: Sequence[PrintedPiece]) -> bool:
    """True if a row has only further lines of cells of the row above, none of them in the first
    column.
    """
    return _is_close(above, row) and all(_starts_below(cell, above[1:]) for cell in row)


def _is_close(above: Sequence[PrintedPiece], row: Sequence[PrintedPiece]) -> bool:
    return above[0].middle - row[0].middle < _CLOSE * row[0].height


def _starts_below(cell: PrintedPiece, above: Iterable[PrintedPiece]) -> bool:
    """True if a cell begins below the beginning of one of the cells above."""
    return any(abs(cell.left - other.left) < _NEAR for other in above)


def _is_table(rows: Sequence[Sequence[PrintedPiece]], *, fewest: int) -> bool:
    cells = [row for row in rows if len(row) > 1]
    words = median(map(_count_words, chain(*cells)))
    is_short = words <= 1 or (words <= _WORDS and fmean(map(_filled, cells)) <= _FULL)
    if len(cells) < fewest or not is_short:
        return False
    aligned = [_is_aligned(cell, above) for above, row in pairwise(cells) for cell in row]
    even = sum(map(_is_even, cells))
    return sum(aligned) >= (_ALL if 2 * even >= len(cells) else _HALF) * len(aligned)


def _is_even(row: Sequence[PrintedPiece]) -> bool:
    """True if the spaces in a row are equal, as those between the words of a line that fills its
    column.
    """
    spaces = [following.left - piece.right for piece, following in pairwise(row)]
    return len(spaces) > 1 and max(spaces) - min(spaces) < _EVEN * max(spaces)


def _has_columns(rows: Sequence[Sequence[PrintedPiece]], rest: Iterable[PrintedPiece]) -> bool:
    """True if a row has a line of a column of text, which has other lines above or below."""
    lines = [piece for piece in rest if _count_words(piece) > _WORDS]
    for piece, end in islice(_long_pieces(rows), _LONG):
        if sum(abs(piece.left - line.left) < _NEAR and line.right <= end for line in lines) > 1:
            return True
    return False


def _long_pieces(rows: Iterable[Sequence[PrintedPiece]]) -> Iterator[tuple[PrintedPiece, float]]:
    """Yields the pieces of rows with many words, each with the left side of the one behind it."""
    for row in rows:
        for piece, following in pairwise([*row, row[-1]._replace(left=inf)]):
            if _count_words(piece) > _WORDS:
                yield piece, following.left


def _ends_columns(rows: Sequence[Sequence[PrintedPiece]], number: int) -> bool:
    """True if a row goes on with columns of text: lines of unequal columns end at different
    places.
    """
    above, row = rows[max(0, number - _ROWS) : number], rows[number]
    if not above or not _is_close(above[-1], row):
        return False
    if any(len(line) < 2 or _filled(line) <= _FULL for line in above):
        return False
    return all(_starts_below(cell, line) for cell in row for line in above)


def _is_aligned(cell: PrintedPiece, row: Sequence[PrintedPiece]) -> bool:
    """True if a cell stands below or above one of a row."""
    return _distance(cell, row[_nearest(cell, row)]) < _NEAR


def _distance(cell: PrintedPiece, other: PrintedPiece) -> float:
    """Returns how far the cells of two rows are from standing below each other."""
    left, right = cell.left - other.left, cell.right - other.right
    return min(abs(left), abs(right), abs(left + right) / 2)


def _nearest(piece: PrintedPiece, row: Sequence[PrintedPiece]) -> int:
    """Returns the place of the cell of a row above or below which a piece stands."""
    at = bisect_left(row, piece.left, key=lambda cell: cell.left)
    return min(
        range(max(0, at - 2), min(len(row), at + 2)), key=lambda place: _distance(piece, row[place])
    )


def table_lines(pieces: Sequence[PrintedPiece]) -> list[PrintedPiece]:
    """Returns the rows of a table, each as one piece with a TAB between its cells."""
    rows = rows_of(pieces)
    columns = max(rows, key=len)
    lines: list[tuple[list[PrintedPiece], list[str]]] = []
    for row in rows:
        if not lines or not _goes_on(lines[-1][0], row):
            lines.append((row, [""] * len(columns)))
        cells = lines[-1][1]
        for piece in row:
            column = _nearest(piece, columns)
            cells[column] = f"{cells[column]} {piece.text}".strip()
    return [
        _join(row)._replace(top=row[0].top, text="\t".join(cells).strip("\t"))
        for row, cells in lines
    ]

"""Pieces of printed lines, their rows, and the lines of prose among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

_PROSE: Final = 0.7  # of the width of the text: lines of wrapped prose fill more
# of the height of letters: the widest space from one line of prose to the next
_WIDEST: Final = 3.5
_NUMBERS: Final = 8  # of lines, at least
# The start and end of raised letters, and a letter that is not read: no text has these, as Unicode
# promises.
UP, DOWN, NOTHING = "\ufdd0", "\ufdd1", "\ufdd2"


class PrintedPiece(NamedTuple):
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


def turns_of(page: Iterable[PrintedPiece]) -> list[int]:
    """Returns by how many quarters the letters of a page are turned; the turn of most comes
    first.
    """
    sizes = Counter[int]()
    for piece in page:
        sizes[piece.turn] += len(piece.text)
    return [turn for turn, _ in sizes.most_common()]


def line_place(piece: PrintedPiece) -> int:
    """Returns the place of the line of a piece on its page."""
    return round(piece.middle / 4)


def usual_pitch(lines: Sequence[PrintedPiece]) -> float:
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


def line_numbers(page: Sequence[PrintedPiece]) -> list[PrintedPiece]:
    """Returns the numbers of the lines of a manuscript: they stand at the left of its prose, and
    count.
    """
    left = min((piece.left for piece in page if not piece.text.strip().isdigit()), default=0)
    numbers = [piece for piece in page if piece.text.strip().isdecimal() and piece.right < left]
    if len(numbers) < _NUMBERS or not _counts(numbers):
        return []
    rows = [row for row in rows_of(page) if row[0] in numbers]
    widest = max((row[-1].right - left for row in rows), default=0)
    full = sum(len(row) == 2 and row[1].right - row[1].left > _PROSE * widest for row in rows)
    return numbers if 2 * full > len(numbers) else []


def _counts(numbers: Sequence[PrintedPiece]) -> bool:
    """True if numbers grow by 1, or by 5, from each to the one below it."""
    values = [int(piece.text) for piece in sorted(numbers, key=lambda piece: -piece.middle)]
    return {below - above for above, below in pairwise(values)} in ({1}, {5})


def rows_of(pieces: Iterable[PrintedPiece]) -> list[list[PrintedPiece]]:
    """Returns the rows from top to bottom: pieces beside each other, from left to right."""
    rows: list[list[PrintedPiece]] = []
    for piece in sorted(pieces, key=lambda piece: (-piece.middle, piece.left)):
        if rows and abs(rows[-1][0].middle - piece.middle) < 0.5 * min(
            rows[-1][0].height, piece.height
        ):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row) for row in rows]

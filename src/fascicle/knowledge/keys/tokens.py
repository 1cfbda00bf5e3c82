"""The tokens that a text counts as, each with its place: keys and scans are both made of these.

A token is a run of letters or a part of one (`words.parts_of`), a run of digits, or a single sign. Blanks and hyphens
part tokens and are none. A possessive is left out: ``Alzheimer's`` is ``alzheimer``; in ``5'`` the sign stays.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import zip_longest
from typing import Final, NamedTuple

from fascicle.knowledge.keys.characters import BLANK, DIGIT, LETTER, SIGN, group
from fascicle.knowledge.keys.folding import fold
from fascicle.knowledge.keys.words import parts_of, single_numeral

SEPARATORS: Final = "-_"
NUMBERED: Final = frozenset(
    {"type", "factor", "stage", "grade", "phase", "group"}
)  # single Roman numerals follow these
OWNER: Final = "'"
SYMBOL: Final = 5  # letters of the longest
_PLAIN: Final = re.compile(r"([a-z]+)|([0-9]+)|[^a-z0-9\s_-]")  # runs of a folded text in ASCII


class Token(NamedTuple):
    """A token of a text.

    Attributes:
        start: first character in the source, in code points.
        end: one past the last, with the marks on it.
        text: in the form that counts.
        opens: no letter or digit stands right before it in the same word, so a name may begin here.
        closes: none stands right after it.
    """

    start: int
    end: int
    text: str
    opens: bool
    closes: bool


class Run(NamedTuple):
    """Letters, or digits, that stand together, or a sign.

    Attributes:
        start: first character in the folded text.
        end: one past the last.
        group: which of these it is.
        text: its characters.
    """

    start: int
    end: int
    group: int
    text: str


class Piece(NamedTuple):
    """What a run, or a part of it, counts as.

    Attributes:
        start: first character in the run.
        end: one past the last.
        group: whether it is a word, a number or a sign.
        form: what it counts as alone.
        symbol: what it counts as before a number.
        hisses: whether it ends with an ``s``, as it is written or in its form.
    """

    start: int
    end: int
    group: int
    form: str
    symbol: str
    hisses: bool


class _Placed(NamedTuple):
    piece: Piece
    start: int  # in the folded text
    end: int
    opens: bool
    closes: bool


def tokens(text: str) -> list[Token]:
    """The tokens of a text in their order."""
    folded = fold(text)
    found: list[Token] = []
    placed = _without_possessives(_placed(runs_of(folded.text)))
    before = ""
    for (piece, start, end, opens, closes), after in zip_longest(placed, placed[1:]):
        form = piece.symbol if after and after.piece.group == DIGIT else piece.form
        before = (single_numeral(form) if before in NUMBERED else "") or form
        found.append(Token(folded.starts[start], folded.ends[end - 1], before, opens, closes))
    return found


def runs_of(folded: str) -> list[Run]:
    """The runs of a folded text; blanks and hyphens are in none."""
    if folded.isascii():
        return [
            Run(found.start(), found.end(), (SIGN, LETTER, DIGIT)[found.lastindex or 0], found.group())
            for found in _PLAIN.finditer(folded)
        ]
    runs: list[Run] = []
    for at, character in enumerate(folded):
        kind = BLANK if character in SEPARATORS else group(character)
        if runs and runs[-1].end == at and runs[-1].group == kind != SIGN:
            runs[-1] = Run(runs[-1].start, at + 1, kind, runs[-1].text + character)
        elif kind != BLANK:
            runs.append(Run(at, at + 1, kind, character))
    return runs


def pieces_of(run: str, group: int) -> tuple[Piece, ...]:
    """What a run counts as, whatever stands around it.

    Args:
        run: folded.
        group: of its characters.
    """
    if group != LETTER:
        form = "and" if run == "&" else run
        return (Piece(0, len(run), LETTER if run == "&" else group, form, form, hisses=False),)
    pieces = []
    for start, end, form in parts_of(run):
        raw = run[start:end]
        # ``FADS1`` is not ``FAD1``, nor ``MEN1`` ``MAN1``: a short word before a number is a symbol, not a plural.
        plural = len(raw) > SYMBOL or not form.isalpha() or form in NUMBERED
        pieces.append(Piece(start, end, group, form, form if plural else raw, hisses="s" in (raw[-1], form[-1])))
    return tuple(pieces)


_known_pieces = lru_cache(maxsize=1 << 14)(pieces_of)


def _placed(runs: list[Run]) -> list[_Placed]:
    """The pieces of all runs."""
    placed: list[_Placed] = []
    for place, run in enumerate(runs):
        opens = not (place and _joined(runs[place - 1], run))
        closes = not (place + 1 < len(runs) and _joined(run, runs[place + 1]))
        pieces = _known_pieces(run.text, run.group)
        if len(pieces) == 1:
            placed.append(_Placed(pieces[0], run.start, run.end, opens, closes))
            continue
        for piece in pieces:
            first, last = opens and not piece.start, closes and piece.end == len(run.text)
            placed.append(_Placed(piece, run.start + piece.start, run.start + piece.end, first, last))
    return placed


def _without_possessives(placed: list[_Placed]) -> list[_Placed]:
    """Leaves out every ``'`` and ``'s`` behind a word, if the first is an ``'s``, or the word ends with an ``s``."""
    forms = [one.piece.form for one in placed]
    if OWNER not in forms:
        return placed
    kept: list[_Placed] = []
    place = 0
    while place < len(placed):
        piece = placed[place].piece
        end = place + 1
        while end < len(placed) and forms[end] == OWNER:
            end += 2 if forms[end + 1 : end + 2] == ["s"] else 1
        owns = piece.group == LETTER and (piece.hisses or forms[place + 2 : place + 3] == ["s"])
        if piece.group != LETTER:
            end = place + 1
        kept += placed[place : place + 1] if owns else placed[place:end]
        place = end
    return kept


def _joined(one: Run, other: Run) -> bool:
    return one.end == other.start and SIGN not in (one.group, other.group)

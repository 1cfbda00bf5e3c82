"""The tokens that a text counts as, each with its place: keys and scans are both made of these.

A token is a run of letters or a part of one (`words.parts_of`), a run of digits, or a single sign. Blanks and hyphens
part tokens and are none. A possessive is left out: ``Alzheimer's`` is ``alzheimer``; in ``5'`` the sign stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final, NamedTuple

from fascicle.knowledge.keys.characters import BLANK, DIGIT, LETTER, SIGN, group
from fascicle.knowledge.keys.folding import fold
from fascicle.knowledge.keys.words import Part, parts_of, single_numeral

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
    """A token before anything around its run is looked at.

    Attributes:
        start: first character in the folded text.
        end: one past the last.
        group: whether it is a word, a number or a sign.
        raw: as it is written.
        form: what it counts as alone.
        hisses: whether it ends with an ``s``, as it is written or in its form.
        opens: as of `Token`.
        closes: as of `Token`.
    """

    start: int
    end: int
    group: int
    raw: str
    form: str
    hisses: bool
    opens: bool
    closes: bool


def tokens(text: str) -> list[Token]:
    """The tokens of a text in their order."""
    folded = fold(text)
    found: list[Token] = []
    pieces = list(_without_possessives(pieces_of(runs_of(folded.text))))
    for piece, after in zip_longest(pieces, pieces[1:]):
        form = piece.raw if after and after.group == DIGIT and is_symbol(piece) else piece.form
        numeral = single_numeral(form) if found and found[-1].text in NUMBERED else ""
        found.append(
            Token(
                start=folded.starts[piece.start],
                end=folded.ends[piece.end - 1],
                text=numeral or form,
                opens=piece.opens,
                closes=piece.closes,
            )
        )
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


def pieces_of(runs: list[Run]) -> list[Piece]:
    """The tokens of each run, whatever stands around them."""
    pieces: list[Piece] = []
    for place, run in enumerate(runs):
        opens = not (place and _joined(runs[place - 1], run))
        closes = not (place + 1 < len(runs) and _joined(run, runs[place + 1]))
        size = len(run.text)
        for start, end, form in parts_of(run.text) if run.group == LETTER else (Part(0, size, run.text),):
            pieces.append(
                Piece(
                    start=run.start + start,
                    end=run.start + end,
                    group=LETTER if form == "&" else run.group,
                    raw=run.text[start:end],
                    form="and" if form == "&" else form,
                    hisses="s" in (run.text[end - 1], form[-1]),
                    opens=opens and not start,
                    closes=closes and end == size,
                )
            )
    return pieces


def _without_possessives(pieces: list[Piece]) -> Iterator[Piece]:
    """Leaves out every ``'`` and ``'s`` behind a word, if the first is an ``'s``, or the word ends with an ``s``."""
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        yield piece
        place += 1
        end = place
        while end < len(pieces) and pieces[end].form == OWNER:
            end += 2 if end + 1 < len(pieces) and pieces[end + 1].form == "s" else 1
        if piece.group == LETTER and end > place:
            first = pieces[place : place + 2]
            if not piece.hisses and not (len(first) > 1 and first[1].form == "s"):
                yield from pieces[place:end]
            place = end


def is_symbol(piece: Piece) -> bool:
    """Whether a word before a number is a symbol, not a plural: ``FADS1`` is not ``FAD1``, nor ``MEN1`` ``MAN1``."""
    return piece.group == LETTER and len(piece.raw) <= SYMBOL and piece.form.isalpha() and piece.form not in NUMBERED


def _joined(one: Run, other: Run) -> bool:
    return one.end == other.start and SIGN not in (one.group, other.group)

"""The hand that writes a file: it knows one fault, and makes it wherever it is asked for a
place, a line or an id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

from tests.formats.oracle.drafts import Draft, DraftMark, Span

BY_ONE, PASSAGE, BYTES, UTF16 = (
    "offsets wrong by one",
    "offsets of the passage",
    "offsets in bytes",
    "offsets in UTF-16",
)
UNEVEN, CRLF, NO_END = "uneven columns", "CRLF", "no last line end"
SAME_ID, NESTED, EQUAL = "one id twice", "nested spans", "equal spans"
BARE, WHOLE = "id without its vocabulary", "vocabulary in the id and beside it"
URL, UNDERSCORE = "id as a URL", "id with an underscore"
FAULTS: Final = (
    BY_ONE, PASSAGE, BYTES, UTF16, UNEVEN, CRLF, NO_END, SAME_ID, NESTED, EQUAL, BARE, WHOLE, URL, UNDERSCORE
)  # fmt: skip
MOVED: Final = frozenset({BY_ONE, PASSAGE, BYTES, UTF16})
OBO: Final = "http://purl.obolibrary.org/obo/"


@dataclass
class Hand:
    """Writes offsets, lines and ids, with one fault or none.

    Attributes:
        fault: of `FAULTS`, or the empty string.
        random: what chance decides.
        is_outside: whether an offset fell outside the text.
        is_seen: whether an offset names another text than the mention's.
    """

    fault: str
    random: Random
    is_outside: bool = False
    is_seen: bool = False
    _shift: Span | None = field(default=None)
    _often: float = 1.0
    _widths: set[int] = field(default_factory=set)

    def place(self, text: str, span: Span, *, base: int = 0) -> Span:
        """Where a file says that a mention stands.

        Args:
            text: of the whole document.
            span: where it stands in the text, counted in code points.
            base: where its passage begins.
        """
        start, end = span
        moved = {
            BY_ONE: lambda: self._by_one(span),
            PASSAGE: lambda: (start - base, end - base),
            BYTES: lambda: (len(text[:start].encode()), len(text[:end].encode())),
            UTF16: lambda: (_utf16(text[:start]), _utf16(text[:end])),
        }.get(self.fault, lambda: span)()
        outside = moved[0] < 0 or moved[1] > len(text) or moved[0] >= moved[1]
        self.is_outside |= outside
        self.is_seen |= outside or text[moved[0] : moved[1]] != text[start:end]
        return moved

    def places(self, text: str, spans: Sequence[Span], *, base: int = 0) -> list[Span]:
        """Where a file says that the fragments of a mention stand; see `place`."""
        return [self.place(text, one, base=base) for one in spans]

    def _by_one(self, span: Span) -> Span:
        """All or some offsets of a file go wrong in one way: counted from one, or to the last
        character.
        """
        if self._shift is None:
            self._shift = self.random.choice(((1, 1), (-1, -1), (0, -1), (0, 1)))
            self._often = self.random.choice((1.0, 0.3))
        first, last = self._shift if self.random.random() < self._often else (0, 0)
        return span[0] + first, span[1] + last

    def lines(self, rows: Sequence[str]) -> bytes:
        """A text file of lines."""
        end = "\r\n" if self.fault == CRLF else "\n"
        text = "".join(row + end for row in rows)
        return (text.removesuffix(end) if self.fault == NO_END else text).encode()

    def row(self, cells: Sequence[str], *, sep: str = "\t", twice: bool = True) -> str:
        """A row of cells, one of which may be lost, or written ``twice``."""
        if self.fault == UNEVEN and len(cells) > 1 and self.random.random() < 0.3:
            at = self.random.randrange(len(cells))
            more = self.random.choice(((), (cells[at], cells[at]) if twice else ()))
            cells = [*cells[:at], *more, *cells[at + 1 :]]
        self.measure(len(cells))
        return sep.join(cells)

    def measure(self, width: int) -> None:
        """Takes note of the width of a row: only rows of different widths are a fault that
        shows.
        """
        self._widths.add(width)
        self.is_seen |= self.fault == UNEVEN and len(self._widths) > 1

    def id(self, mark: DraftMark) -> str:
        """The concept of a mention as one text, in a format without a place for its vocabulary;
        perhaps empty.
        """
        return self._id(mark, f"{mark.prefix}:{mark.local}" if mark.prefix else mark.local)

    def local(self, mark: DraftMark) -> str:
        """The id of a concept in a format with a place for its vocabulary."""
        return self._id(
            mark,
            f"{mark.prefix}:{mark.local}" if self.fault == WHOLE and mark.prefix else mark.local,
        )

    def _id(self, mark: DraftMark, otherwise: str) -> str:
        if self.fault not in (URL, UNDERSCORE) or not mark.prefix:
            return otherwise
        return f"{OBO if self.fault == URL else ''}{mark.prefix}_{mark.local}"

    def prepared(self, drafts: Sequence[Draft]) -> list[Draft]:
        """The documents with the faults that are true of them: ids, nested and equal mentions."""
        if self.fault == SAME_ID:
            return [replace(one, id=drafts[0].id) for one in drafts]
        if self.fault in (NESTED, EQUAL):
            return [replace(one, marks=tuple(self._more(one))) for one in drafts]
        if self.fault == BARE:
            return [
                replace(one, marks=tuple(replace(mark, prefix="") for mark in one.marks))
                for one in drafts
            ]
        return list(drafts)

    def _more(self, draft: Draft) -> list[DraftMark]:
        found = list(draft.marks)
        for mark in draft.marks:
            inner = (
                replace(mark, last=mark.first, second=None, type="Inner")
                if self.fault == NESTED
                else replace(mark, type="Equal")
            )
            found.append(inner)
        return found


def _utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2

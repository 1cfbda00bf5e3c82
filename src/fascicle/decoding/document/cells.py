"""Cells of tables, which are texts of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fascicle.core.document import Document
from fascicle.core.spans import Span
from fascicle.settings.document import NameDecision

TAB: Final = "\t"
_LINE: Final = re.compile(r"[^\n]+")
_CELL: Final = re.compile(r"[^\t\n]+")


def cells_of(document: Document, rules: NameDecision) -> tuple[Span, ...]:
    """The cells of the rows of a document whose cells are all short, without blanks at their edges.

    A row is a line with a TAB in it, or a document with several sections, each of which is a cell. A row of one cell is
    none, and one with a longer cell is running text, which a model reads as a whole.

    Args:
        document: of any kind.
        rules: how many words a cell has at most.
    """
    text = document.text
    rows = (_in(text, line.span()) for line in _LINE.finditer(text) if TAB in line[0]) if TAB in text else iter(())
    sections = document.sections or ()
    if len(sections) > 1 and TAB not in text:
        rows = iter([[_trimmed(text, (one.start, one.end)) for one in sections]])
    return tuple(cell for row in rows for cell in _if_short(text, row, rules.words))


def _in(text: str, line: Span) -> list[Span]:
    return [_trimmed(text, found.span()) for found in _CELL.finditer(text, *line)]


def _trimmed(text: str, span: Span) -> Span:
    said = text[slice(*span)]
    return span[0] + len(said) - len(said.lstrip()), span[0] + len(said.rstrip())


def _if_short(text: str, row: list[Span], words: int) -> Iterator[Span]:
    cells = [(start, end) for start, end in row if start < end]
    if len(cells) > 1 and all(len(text[slice(*cell)].split()) <= words for cell in cells):
        yield from cells

"""Texts of a few words, which may be names alone: cells, items of lists, and whole texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from fascicle.core.document import Document, Mention
from fascicle.core.mention import Span
from fascicle.settings.decision import NameDecision
from fascicle.text.borders import list_items

_TAB: Final = "\t"
_LINE: Final = re.compile(r"[^\n]+")
_CELL: Final = re.compile(r"[^\t\n]+")


def short_cells(document: Document, rules: NameDecision) -> tuple[Span, ...]:
    """Returns the cells of the rows of a document whose cells are all short, and the short items of
    its lists.

    A row is a line with a TAB in it, or a document with several sections, each of which is a cell.
    A row of one cell is none, and one with a longer cell is running text, which a model reads as a
    whole. No cell has blanks at its edges, and no item its bullet or label.

    Args:
        document: of any kind.
        rules: how many words a cell has at most.
    """
    text = document.text
    rows = (
        (_cells_of(text, line.span()) for line in _LINE.finditer(text) if _TAB in line[0])
        if _TAB in text
        else iter(())
    )
    sections = document.sections or ()
    if len(sections) > 1 and _TAB not in text:
        rows = iter([[_strip(text, (section.start, section.end)) for section in sections]])
    cells = [cell for row in rows for cell in _if_short(text, row, rules.words)]
    if cells and _TAB not in text:
        return tuple(cells)
    items = (
        item
        for item in list_items(text)
        if item.is_listed and _TAB not in text[item.start : item.end]
    )
    spans = (_strip(text, (item.body, item.end)) for item in items)
    return tuple(sorted([*cells, *(span for span in spans if _is_short(text, span, rules.words))]))


def _cells_of(text: str, line: Span) -> list[Span]:
    return [_strip(text, cell.span()) for cell in _CELL.finditer(text, *line)]


def _strip(text: str, span: Span) -> Span:
    part = text[slice(*span)]
    return span[0] + len(part) - len(part.lstrip()), span[0] + len(part.rstrip())


def _if_short(text: str, row: list[Span], words: int) -> Iterator[Span]:
    cells = [(start, end) for start, end in row if start < end]
    if len(cells) > 1 and all(_is_short(text, cell, words) for cell in cells):
        yield from cells


def _is_short(text: str, cell: Span, words: int) -> bool:
    return 0 < len(text[slice(*cell)].split()) <= words


STOP: Final = " ."
_LEAST: Final = 3  # letters and digits: shorter ones are read once
_ENDS: Final = re.compile(r"[.!?;:]\s*\Z")


def may_be_name(text: str, rules: NameDecision) -> bool:
    """True if a text is short enough to be a name and is no sentence."""
    return 0 < len(text.split()) <= rules.words and not _ENDS.search(text)


def may_be_read_again(text: str) -> bool:
    """True if a text has enough letters and digits to be worth a second reading."""
    return sum(map(str.isalnum, text)) >= _LEAST


def covering(text: str, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Returns the mentions that each cover a whole text, except for white space."""
    start, end = _strip(text, (0, len(text)))
    return tuple(
        mention
        for mention in mentions
        if len(mention.spans) == 1 and mention.start <= start and mention.end >= end
    )

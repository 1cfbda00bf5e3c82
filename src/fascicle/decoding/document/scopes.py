"""Which stretches of a document speak of one matter, so that a name of one means the same throughout it.

Cells of tables, which are texts of their own.

Texts of a few words, which may be names alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from fascicle.core.document import Document, Mention
from fascicle.core.spans import Span
from fascicle.settings.document import NameDecision

ABSTRACT: Final = 5_000  # characters: hardly any abstract is longer
_HEAD: Final = frozenset({"title", "abstract"})
_BLANK_LINE: Final = re.compile(r"\n[^\S\n]*\n")


def scopes(document: Document) -> tuple[Span, ...]:
    """The stretches of a document within which names are marked: abstracts, sections or passages.

    A document with sections is one stretch up to 5,000 characters; of a longer one, the title and the abstract are one,
    and each other section is one. Without sections, a blank line ends a stretch, and in what is longer than 5,000
    characters each line does.

    Args:
        document: its sections are taken as they are.

    Returns:
        Stretches in order, which together hold all of the text.
    """
    text = document.text
    if document.sections:
        cuts = () if len(text) <= ABSTRACT else _section_cuts(document)
    else:
        cuts = (match.end() for match in _BLANK_LINE.finditer(text))
    stretches = _between(cuts, (0, len(text)))
    if document.sections:
        return tuple(stretches)
    return tuple(part for one in stretches for part in _lines(text, one))


def _section_cuts(document: Document) -> Iterator[int]:
    """Where a section begins that is not one with what is before it."""
    sections = sorted(document.sections or (), key=lambda one: (one.start, one.end))
    for before, section in pairwise(sections):
        if not {before.name.casefold(), section.name.casefold()} <= _HEAD:
            yield section.start


def _lines(text: str, span: Span) -> Iterable[Span]:
    start, end = span
    if end - start <= ABSTRACT:
        return (span,)
    return _between((match.end() for match in re.compile(r"\n").finditer(text, start, end)), span)


def _between(cuts: Iterable[int], span: Span) -> Iterator[Span]:
    places = sorted({span[0], span[1], *(cut for cut in cuts if span[0] < cut < span[1])})
    return pairwise(places)


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


STOP: Final = " ."
_LEAST: Final = 3  # letters and digits: shorter ones are read once
_ENDS: Final = re.compile(r"[.!?;:]\s*\Z")


def may_be_name(text: str, rules: NameDecision) -> bool:
    """Whether a text is short enough to be a name, and no sentence."""
    return 0 < len(text.split()) <= rules.words and not _ENDS.search(text)


def may_be_read_again(text: str) -> bool:
    """Whether a text says enough for a second reading."""
    return sum(map(str.isalnum, text)) >= _LEAST


def is_all_of(text: str, mention: Mention) -> bool:
    """Whether a mention leaves nothing but blanks of a text."""
    before, after = text[: mention.start], text[mention.end :]
    return len(mention.spans) == 1 and not before.strip() and not after.strip()

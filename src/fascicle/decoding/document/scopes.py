"""Which stretches of a document speak of one matter, so that a name of one means the same throughout it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from fascicle.core.document import Document
from fascicle.core.spans import Span

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

"""Stretches of a document within which a name means the same: abstracts, sections or passages."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from fascicle.core.document import Document, Mention
from fascicle.core.lazy import cached_property
from fascicle.core.mention import Span

ABSTRACT: Final = 5_000  # characters: hardly any abstract is longer
_HEAD: Final = frozenset({"title", "abstract"})
_BLANK_LINE: Final = re.compile(r"\n[^\S\n]*\n")


def name_scopes(document: Document) -> tuple[Span, ...]:
    """Returns the stretches of a document within which names are marked: abstracts, sections or
    passages.

    A document with sections is one stretch up to 5,000 characters; of a longer one, the title and
    the abstract are one, and each other section is one. Without sections, a blank line ends a
    stretch, and in what is longer than 5,000 characters each line does.

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
    return tuple(part for stretch in stretches for part in _lines(text, stretch))


def _section_cuts(document: Document) -> Iterator[int]:
    """Yields the start of each section, except where it and the section before both belong to
    the head.
    """
    sections = sorted(document.sections or (), key=lambda section: (section.start, section.end))
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


class Stretches:
    """The stretches of one document, and whether each is more than a sentence.

    Attributes:
        spans: of the stretches, in order, see `name_scopes`.
    """

    def __init__(
        self, document: Document, text: str, cut_sentences: Callable[[str], Sequence[Span]]
    ) -> None:
        """Cuts the document into stretches.

        Args:
            document: its sections and sentences are taken as they are.
            text: of the document, with plain characters.
            cut_sentences: cuts a text into sentences, where the document has none.
        """
        self.spans = name_scopes(document)
        self._starts = [start for start, _ in self.spans]
        self._document, self._text, self._cut_sentences = document, text, cut_sentences

    def number_of(self, mention: Mention) -> int:
        """Returns the number of the stretch in which a mention begins."""
        return bisect_right(self._starts, mention.start) - 1

    @cached_property
    def are_alone(self) -> list[bool]:
        """For each stretch, whether it has at most one sentence."""
        return [self._sentence_count(span) < 2 for span in self.spans]

    def _sentence_count(self, span: Span) -> int:
        sentences = self._document.sentences
        if sentences is None:
            return len(self._cut_sentences(self._text[slice(*span)]))
        return bisect_left(sentences, (span[1], 0)) - bisect_left(sentences, (span[0], 0))

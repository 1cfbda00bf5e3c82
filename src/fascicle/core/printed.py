"""Characters that print nothing inside a line: steps read texts without them, and ranges of both
texts correspond.

A soft hyphen shows only where a word is divided at a line end (Unicode 16.0, 6.2 and 23.2);
zero-width blanks, marks of direction and variation selectors never show. The joiners of scripts and
emoji (U+200C, U+200D) stay.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice, pairwise, zip_longest
from typing import Final, NamedTuple

from msgspec.structs import replace

from fascicle.core.document import Document, Patch, Section, unique
from fascicle.core.mention import Fragments, Mention, MentionKey, Span

_HIDDEN: Final = re.compile(
    "(?<=\\w)\u00ad[ \\t]*(?:\\r\\n?|\\n)[ \\t]*(?=\\w)"
    "|[\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0100-\U000e01ef]+"
)
_Run = Callable[[Sequence[Document]], Iterable[Patch]]


class Printed(NamedTuple):
    """A document as it is printed.

    Attributes:
        document: without characters that print nothing.
        places: place in the source of each of its characters, and the length of the source, ``[n +
            1]``.
        keys: key of each mention that moved -> its key in the source.
    """

    document: Document
    places: Sequence[int]
    keys: dict[MentionKey, MentionKey]


def as_printed(document: Document) -> Document:
    """Returns a document without characters that print nothing; the same object if it has none."""
    view = _view(document)
    return view.document if view else document


def run_on_printed(run: _Run, documents: Sequence[Document]) -> Iterator[Patch]:
    """Yields the patches of a step that reads documents as they are printed; their ranges are those
    of the documents.

    Args:
        run: method ``run`` of a step, or ``predict`` of a predictor.
        documents: any number; most have no hidden character, and go to the step as they are.
    """
    views = [_view(document) for document in documents]
    patches = run(
        [view.document if view else one for view, one in zip(views, documents, strict=True)]
    )
    for view, patch in zip_longest(views, patches):  # the caller counts the patches
        if patch is not None:
            yield _moved_back(patch, view) if view else patch


def _view(document: Document) -> Printed | None:
    """Returns a document as it is printed; ``None`` if it has no hidden character."""
    text = document.text
    hidden = [] if text.isascii() else [found.span() for found in _HIDDEN.finditer(text)]
    if not hidden:
        return None
    edges = pairwise([0, *chain.from_iterable(hidden), len(text)])
    places = [at for start, end in islice(edges, 0, None, 2) for at in range(start, end)]

    def moved(spans: Iterable[Span] | None) -> Fragments:
        pairs = (
            (bisect_left(places, start), bisect_left(places, end)) for start, end in spans or ()
        )
        return tuple((start, end) for start, end in pairs if start < end)

    mentions = [
        replace(one, spans=moved(one.spans)) for one in document.mentions if moved(one.spans)
    ]
    sources = [one.key for one in document.mentions if moved(one.spans)]
    keys = {one.key: key for one, key in reversed(list(zip(mentions, sources, strict=True)))}
    pairs = (moved(pair) for pair in document.abbreviations or ())
    view = replace(
        document,
        text="".join(text[at] for at in places),
        mentions=unique(mentions)[0],
        words=None if document.words is None else moved(document.words),
        sentences=None if document.sentences is None else moved(document.sentences),
        sections=document.sections
        and tuple(_section(one, partial(bisect_left, places)) for one in document.sections),
        abbreviations=document.abbreviations
        and tuple((pair[0], pair[1]) for pair in pairs if len(pair) > 1),
        relations=(),
        changes=(),
        events=(),
    )
    return Printed(view, [*places, len(text)], keys)


def _section(section: Section, move: Callable[[int], int]) -> Section:
    return replace(section, start=move(section.start), end=move(section.end))


def _moved_back(patch: Patch, view: Printed) -> Patch:
    """Returns a patch for a printed document as one for its source."""

    def back(span: Span) -> Span:
        start, end = span
        return view.places[start], view.places[end - 1] + 1 if start < end else view.places[start]

    def key_of(key: MentionKey) -> MentionKey:
        return view.keys.get(key) or (key[0], key[1], tuple(map(back, key[2])))

    def source(mention: Mention) -> Mention:
        return replace(mention, spans=key_of(mention.key)[2])

    def sections(section: Section) -> Section:
        start, end = back((section.start, section.end))
        return replace(section, start=start, end=end)

    return replace(
        patch,
        add=tuple(map(source, patch.add)),
        links=tuple((key_of(key), links) for key, links in patch.links),
        events=tuple(replace(one, span=one.span and back(one.span)) for one in patch.events),
        sentences=patch.sentences and tuple(map(back, patch.sentences)),
        words=patch.words and tuple(map(back, patch.words)),
        sections=patch.sections and tuple(map(sections, patch.sections)),
        abbreviations=tuple((back(short), back(long)) for short, long in patch.abbreviations),
        drop=tuple(map(key_of, patch.drop)),
        replace=tuple((key_of(key), source(mention)) for key, mention in patch.replace),
    )

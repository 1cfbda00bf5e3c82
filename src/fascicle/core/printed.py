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
from fascicle.core.mention import Fragments, Mention, MentionKey, Relation, Span
from fascicle.core.patches import follow

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

    def span_in_source(self, span: Span) -> Span:
        """Returns the place in the source of a span."""
        start, end = span
        return self.places[start], self.places[end - 1] + 1 if start < end else self.places[start]

    def key_in_source(self, key: MentionKey) -> MentionKey:
        """Returns the key in the source of a mention, which the source may have or not."""
        return self.keys.get(key) or (key[0], key[1], tuple(map(self.span_in_source, key[2])))

    def mention_in_source(self, mention: Mention) -> Mention:
        """Returns a mention at its place in the source."""
        return replace(mention, spans=self.key_in_source(mention.key)[2])

    def section_in_source(self, section: Section) -> Section:
        """Returns a section at its place in the source."""
        start, end = self.span_in_source((section.start, section.end))
        return replace(section, start=start, end=end)


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
        [
            view.document if view else document
            for view, document in zip(views, documents, strict=True)
        ]
    )
    for view, patch in zip_longest(views, patches):  # the caller counts the patches
        if patch is not None:
            yield _in_source(patch, view) if view else patch


def _view(document: Document) -> Printed | None:
    """Returns a document as it is printed; ``None`` if it has no hidden character."""
    places = _printed_places(text := document.text)
    if places is None:
        return None
    move = partial(_printed_spans, places)
    moved = list(_moved(document, places))
    pairs = map(move, document.abbreviations or ())
    view = replace(
        document,
        text="".join(text[at] for at in places),
        mentions=unique(mention for _, mention in moved)[0],
        words=None if document.words is None else move(document.words),
        sentences=None if document.sentences is None else move(document.sentences),
        sections=document.sections
        and tuple(_printed_section(places, section) for section in document.sections),
        abbreviations=document.abbreviations
        and tuple((pair[0], pair[1]) for pair in pairs if len(pair) > 1),
        relations=_relations(document, moved),
        changes=(),
        events=(),
    )
    # of mentions that are equal now, the key of the first counts
    keys = {mention.key: key for key, mention in reversed(moved)}
    return Printed(view, [*places, len(text)], keys)


def _moved(document: Document, places: Sequence[int]) -> Iterator[tuple[MentionKey, Mention]]:
    """Yields the key of each mention that is printed, and the mention of the printed text."""
    for mention in document.mentions:
        if spans := _printed_spans(places, mention.spans):
            yield mention.key, replace(mention, spans=spans)


def _relations(
    document: Document, moved: Sequence[tuple[MentionKey, Mention]]
) -> tuple[Relation, ...]:
    """Returns the relations of which all mentions are printed."""
    now = dict(moved)
    relations = (r for r in document.relations if now.keys() >= set(r.keys))
    return follow(relations, lambda key: now[key].key)


def _printed_places(text: str) -> list[int] | None:
    """Returns the places of the characters that are printed; ``None`` if all are."""
    hidden = [] if text.isascii() else [match.span() for match in _HIDDEN.finditer(text)]
    if not hidden:
        return None
    edges = pairwise([0, *chain.from_iterable(hidden), len(text)])
    return [at for start, end in islice(edges, 0, None, 2) for at in range(start, end)]


def _printed_spans(places: Sequence[int], spans: Iterable[Span]) -> Fragments:
    """Returns the spans of the printed text; those of which nothing is printed are left out."""
    moved = ((bisect_left(places, start), bisect_left(places, end)) for start, end in spans)
    return tuple((start, end) for start, end in moved if start < end)


def _printed_section(places: Sequence[int], section: Section) -> Section:
    start, end = (bisect_left(places, place) for place in (section.start, section.end))
    return replace(section, start=start, end=end)


def _in_source(patch: Patch, view: Printed) -> Patch:
    """Returns a patch for a printed document as one for its source."""
    place, key_of, mention_of = view.span_in_source, view.key_in_source, view.mention_in_source
    return replace(
        patch,
        add=tuple(map(mention_of, patch.add)),
        links=tuple((key_of(key), links) for key, links in patch.links),
        events=tuple(
            replace(event, span=event.span and place(event.span)) for event in patch.events
        ),
        sentences=patch.sentences and tuple(map(place, patch.sentences)),
        words=patch.words and tuple(map(place, patch.words)),
        sections=patch.sections and tuple(map(view.section_in_source, patch.sections)),
        abbreviations=tuple((place(short), place(long)) for short, long in patch.abbreviations),
        drop=tuple(map(key_of, patch.drop)),
        replace=tuple((key_of(key), mention_of(mention)) for key, mention in patch.replace),
        relations=follow(patch.relations, key_of),
        drop_relations=follow(patch.drop_relations, key_of),
    )

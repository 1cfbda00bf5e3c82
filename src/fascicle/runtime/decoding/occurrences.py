"""Marks of a name wherever it stands in a stretch, given mentions that are sure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from fascicle.core.document import Mention
from fascicle.core.mention import Fragments, PlacedSpans, Span, contains
from fascicle.runtime.decoding.edges import neutral_span
from fascicle.runtime.decoding.neutral import score_of
from fascicle.terms.abbreviations.definitions import FormMeanings
from fascicle.text.characters import find_occurrences

Name = tuple[str, str]
"""Words with what they mean there, if the document defines them twice."""


def mark_occurrences(
    text: str,
    mentions: Sequence[Mention],
    names: Mapping[Span, Mapping[Name, Mention]],
    *,
    scores: Mapping[Fragments, float],
    meanings: FormMeanings,
) -> list[Mention]:
    """Returns mentions, and names of each stretch where none is or only less probable parts, which
    go; longer names first.

    Args:
        text: of the document, with plain characters.
        mentions: of one type, as they stand.
        names: by stretch, each with the mention that the new ones are like.
        scores: of the network at some spans; 1 elsewhere.
        meanings: of the short forms that the document defines twice.
    """
    marker = _Marker(text, mentions, scores, meanings)
    marks = [mark for stretch, best in names.items() for mark in marker.mark(stretch, best)]
    return [*(mention for mention in mentions if mention.spans in marker.spans), *marks]


class _Marker:
    """Places of the mentions of one type.

    Attributes:
        spans: those that stand.
    """

    def __init__(
        self,
        text: str,
        mentions: Sequence[Mention],
        scores: Mapping[Fragments, float],
        meanings: FormMeanings,
    ) -> None:
        self.spans = {mention.spans for mention in mentions}
        self._text, self._scores, self._meanings = text, scores, meanings
        self._owners = defaultdict[Span, list[Fragments]](list)
        for fragments in self.spans:
            for span in fragments:
                self._owners[span].append(fragments)
        self._places = PlacedSpans(self._owners)

    def mark(self, stretch: Span, names: Mapping[Name, Mention]) -> Iterator[Mention]:
        """Yields new mentions of names in a stretch."""
        begin, stop = stretch
        occurrences = find_occurrences(self._text[begin:stop], {name for name, _ in names})
        for name in sorted(occurrences, key=lambda name: (-len(name), name)):
            for start, end in occurrences[name]:
                span = begin + start, begin + end
                like = names.get((name, self._meanings.at(name, span[0])))
                if like and self._take(span, like):
                    yield Mention((span,), like.type, score=like.score, source=like.source)

    def _take(self, span: Span, like: Mention) -> bool:
        """Makes a span stand in place of less probable parts; false if anything else overlaps."""
        if (span,) in self.spans or neutral_span(self._text, span, kind=like.type) != span:
            return False
        rivals = self._rivals(span)
        limit = score_of(like)
        for fragments in rivals:
            is_part = len(fragments) == 1 and contains(span, fragments[0])
            if not is_part or self._scores.get(fragments, 1.0) > limit:
                return False
        self.spans -= rivals
        self.spans.add((span,))
        if span not in self._owners:
            self._places.add(span)
        self._owners[span].append((span,))
        return True

    def _rivals(self, span: Span) -> set[Fragments]:
        return {
            fragments
            for place in self._places.overlapping(span)
            for fragments in self._owners[place]
            if fragments in self.spans
        }

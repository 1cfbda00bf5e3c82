"""Choice among overlapping names of a text."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from fascicle.core.arrays import Bools, Ints
from fascicle.core.document import Document
from fascicle.core.mention import Link
from fascicle.settings.inputs import Hyphens, Overlaps
from fascicle.terms.keys.characters import fold_character
from fascicle.text.segment import Segmenter, all_sentences

# what sentences of the segmenter end with
_MAY_END: Final = re.compile(r"[^\w\s-]|[\t\n\r\x85\u2028\u2029]")
_NO_SPAN: Final = -1


class Edges:
    """Sentence boundaries of a document: its own, or else those of the segmenter.

    Sentences are split at the first name that may lie across an end; most texts have none.
    """

    def __init__(self, document: Document, rules: Segmenter) -> None:
        """Sets the document, and the segmenter."""
        self._document, self._rules = document, rules
        self._edges: list[int] | None = None

    def part(self, start: int, end: int) -> bool:
        """True if a sentence begins or ends inside of a range."""
        document = self._document
        if (
            document.sentences is None
            and not document.sections
            and not _MAY_END.search(document.text, start, end)
        ):
            return False
        if self._edges is None:
            self._edges = sorted(
                {edge for sentence in all_sentences(document, self._rules) for edge in sentence}
            )
        return bisect_right(self._edges, start) < bisect_left(self._edges, end)


def slices_by_document(documents: Sequence[Document], starts: Ints) -> Iterator[tuple[slice, int]]:
    """Yields, for each document, the slice of its names in joined texts, and the offset of its
    text.
    """
    borders = np.cumsum([0, *(len(document.text) + 1 for document in documents)])
    bounds = np.searchsorted(starts, borders).tolist()
    for first, last, offset in zip(bounds, bounds[1:], borders.tolist(), strict=False):
        yield slice(first, last), offset


def by_place(
    part: slice, offset: int, starts: Ints, ends: Ints, values: Ints
) -> Iterator[tuple[int, int, int]]:
    """Yields the places in one document, each with its value."""
    columns = (starts[part] - offset, ends[part] - offset, values[part])
    return zip(*(column.tolist() for column in columns), strict=True)


class Match(NamedTuple):
    """Name in a text.

    Attributes:
        start: first character, in code points.
        end: one past the last character.
        types: of the name, sorted; none if it is known without a type.
    """

    start: int
    end: int
    types: tuple[str, ...]


class Meaning(NamedTuple):
    """Meaning of a name at a place.

    Attributes:
        type: of the mention.
        score: of the mention.
        links: none where several concepts have the name.
    """

    type: str
    score: float
    links: tuple[Link, ...]


class Occurrence(NamedTuple):
    """Place of one or several names.

    Attributes:
        start: first character.
        end: one past the last.
        meanings: of the name, one for each type, the most probable first.
    """

    start: int
    end: int
    meanings: tuple[Meaning, ...]


def hyphens_allow(text: str, start: int, end: int, policy: Hyphens) -> bool:
    """True if the hyphens within the word around a place allow a name there.

    Args:
        text: of the document.
        start: first character of the place.
        end: one past its last.
        policy: see `RecognitionSettings`.
    """
    if policy == "open":
        return True
    after = start > 1 and fold_character(text[start - 1]) == "-" and text[start - 2].isalnum()
    before = end + 1 < len(text) and fold_character(text[end]) == "-" and text[end + 1].isalnum()
    return not after and (policy == "before" or not before)


def resolve_overlaps(
    places: list[Occurrence], overlaps: Overlaps
) -> Iterator[tuple[Occurrence, Meaning]]:
    """Yields the meanings of places that may stand beside each other, in the order of the text.

    Args:
        places: in the order of the text.
        overlaps: ``"longest"``: of places that overlap the longest, with its most probable meaning;
            ``"nested"``: also those inside it, with all meanings; ``"all"``: all.
    """
    if overlaps != "all":
        disjoint: list[Occurrence] = []
        for group in _touching(places):
            disjoint += _choose(group, nested=overlaps == "nested")
        places = sorted(disjoint, key=lambda place: (place.start, place.end))
    for place in places:
        for meaning in place.meanings[:1] if overlaps == "longest" else place.meanings:
            yield place, meaning


def _touching(places: Sequence[Occurrence]) -> Iterator[list[Occurrence]]:
    """Yields groups of places that are connected by overlaps."""
    group: list[Occurrence] = []
    reach = 0
    for place in places:
        if group and place.start >= reach:
            yield group
            group, reach = [], 0
        group.append(place)
        reach = max(reach, place.end)
    if group:
        yield group


def _choose(group: list[Occurrence], *, nested: bool) -> list[Occurrence]:
    """Selects the longest first, then the more probable, then the first in the text; overlapping
    others are dropped.
    """
    if len(group) == 1:
        return group
    result: list[Occurrence] = []
    for place in sorted(
        group, key=lambda place: (place.start - place.end, -place.meanings[0].score, place.start)
    ):
        if all(_beside(place, other) or (nested and _inside(place, other)) for other in result):
            result.append(place)
    return result


def _beside(place: Occurrence, other: Occurrence) -> bool:
    return place.end <= other.start or other.end <= place.start


def _inside(place: Occurrence, other: Occurrence) -> bool:
    return other.start <= place.start and place.end <= other.end


def best_segmentation(spans: Ints) -> Bools:
    """Selects the disjoint spans with the largest sum of squared lengths.

    A text is read from left to right; at each token a sum must be strictly larger to replace what
    was found there first, and parts (spans, or single tokens that are in none) are found in the
    order of their beginnings. So of equal sums up to a token the one whose last part begins earlier
    is kept, and the choice depends on nothing but the spans. Of ``(0, 2)`` and ``(1, 3)`` that is
    ``(1, 3)``: at the last token it is found before the token alone. The work is proportional to
    the number of spans and of tokens under those that overlap.

    Args:
        spans: first token and one past the last, sorted, none twice, ``[m, 2]``.

    Returns:
        For each span whether it is chosen, ``[m]``.
    """
    selected = np.ones(len(spans), dtype=bool)
    if not len(spans):
        return selected
    reach = np.maximum.accumulate(spans[:, 1])
    first = np.concatenate([[True], spans[1:, 0] >= reach[:-1]])
    bounds = np.append(np.flatnonzero(first), len(spans))
    for number in np.flatnonzero(np.diff(bounds) > 1).tolist():
        group = slice(int(bounds[number]), int(bounds[number + 1]))
        selected[group] = _best_of_group(spans[group].tolist())
    return selected


def _best_of_group(spans: list[list[int]]) -> list[bool]:
    """Returns the best segmentation of connected spans, by dynamic programming over the tokens
    under them.
    """
    origin = spans[0][0]
    size = max(end for _, end in spans) - origin
    arrived = _best_arrivals(spans, origin, size)
    selected = [False] * len(spans)
    token = size
    while token > 0:
        index = arrived[token]
        if index == _NO_SPAN:
            token -= 1
        else:
            selected[index] = True
            token = spans[index][0] - origin
    return selected


def _best_arrivals(spans: list[list[int]], origin: int, size: int) -> list[int]:
    """Returns the span by which the best segmentation reaches each token, `_NO_SPAN` for none."""
    starting: list[list[int]] = [[] for _ in range(size)]
    for index, (start, _) in enumerate(spans):
        starting[start - origin].append(index)
    best = [0] + [-1] * size
    arrived = [_NO_SPAN] * (size + 1)
    for token in range(size):
        if best[token] > best[token + 1]:
            best[token + 1], arrived[token + 1] = best[token], _NO_SPAN
        for index in starting[token]:
            end = spans[index][1] - origin
            total = best[token] + (end - token) ** 2
            if total > best[end]:
                best[end], arrived[end] = total, index
    return arrived

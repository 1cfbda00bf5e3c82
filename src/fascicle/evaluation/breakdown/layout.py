"""Layout of documents as words and sentences, for measures in words; and statistics of the
training corpus on words.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.lazy import cached_property
from fascicle.core.mention import Fragments
from fascicle.errors import UsageError
from fascicle.evaluation.scoring.rules import Surfaces
from fascicle.text.segment import RULES_1, all_sentences

TextUnit = Literal["sentence", "document"]
UNITS: tuple[TextUnit, ...] = ("sentence", "document")

Surface = tuple[str, ...]


class WordLayout:
    """The words of a document, and of each of its texts.

    Words and sentences are those of the document; where the source did not say, those of the
    segmenter ``rules@1``. A *text* is a sentence, or the whole document. It goes from its first
    character to the next text, and the first one also has what stands before it, so that every
    character belongs to one.
    """

    def __init__(self, document: Document, *, unit: TextUnit = "sentence") -> None:
        """Cuts a document.

        Args:
            document: any.
            unit: what a text is.

        Raises:
            UsageError: an unknown unit.
        """
        if unit not in UNITS:
            raise UsageError(f"the unit of text {unit!r} was given; choose from {', '.join(UNITS)}")
        self.document = document
        words = document.words if document.words is not None else RULES_1.words(document.text)
        self._starts = [start for start, _ in words]
        self._ends = [end for _, end in words]
        self._firsts = [0]
        if unit == "sentence":
            sentences = (
                document.sentences
                if document.sentences is not None
                else all_sentences(document, RULES_1)
            )
            self._firsts = [start for start, _ in sentences] or [0]
        bounds = [0, *(bisect_left(self._starts, first) for first in self._firsts[1:]), len(words)]
        self.texts = tuple(range(first, last) for first, last in pairwise(bounds))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words as they stand."""
        text = self.document.text
        return tuple(text[start:end] for start, end in zip(self._starts, self._ends, strict=True))

    @cached_property
    def lower(self) -> tuple[str, ...]:
        """The words in lower case."""
        return tuple(word.lower() for word in self.words)

    def touched(self, spans: Fragments) -> range | tuple[int, ...]:
        """Returns the places of the words that share a character with a mention, in order."""
        runs = [
            range(bisect_right(self._ends, start), bisect_left(self._starts, end))
            for start, end in spans
        ]
        return runs[0] if len(runs) == 1 else tuple(sorted({at for run in runs for at in run}))

    def surface(self, spans: Fragments) -> Surface:
        """Returns the words that a mention touches, whole and in lower case."""
        touched = self.touched(spans)
        if isinstance(touched, range):
            return self.lower[touched.start : touched.stop]
        return tuple(self.lower[at] for at in touched)

    def text_at(self, offset: int) -> int:
        """Returns the place of the text that a character belongs to."""
        return max(0, bisect_right(self._firsts, offset) - 1)


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """Words and strings known from training.

    The **label consistency** of a string and a type is the measure of Fu et al. (EMNLP 2020), which
    *bundling-learning* §4.3.1 uses. All occurrences of the string in the training texts are looked
    up, word by word in lower case, annotated or not. The consistency is the share of their words
    that lie in a mention of the type. Where mentions overlap, a word counts for each of their
    types, so the consistencies of a string may sum to more than 1.

    Two errors of the sources are avoided:

    * Formula 23c of the paper, as printed, lacks the condition that the string is the same. It is
      then the share of the type among all training mentions, which says nothing about a mention.
    * The code of Fu et al. searches with a regular expression in which the string is not escaped,
      and which consumes the space on both sides, so that a repeated string is found once. It also
      rounds to three
      decimals, which moves values over the ends of intervals. Here words are compared with words,
      repeats count, and nothing is rounded.

    Attributes:
        documents: how many there were.
        mentions: gold mentions in them.
        vocabulary: words as they stand.
        frequency: string -> gold mentions of it, of whatever type.
        consistency: (string, type) -> label consistency; pairs with 0 are left out.
        surfaces: exact strings with their types, for ``fascicle.evaluation.scoring.rules``.
    """

    documents: int
    mentions: int
    vocabulary: frozenset[str] = field(repr=False)
    frequency: Mapping[Surface, int] = field(repr=False)
    consistency: Mapping[tuple[Surface, str], float] = field(repr=False)
    surfaces: Surfaces = field(repr=False)


def read_lexicon(documents: Iterable[Document]) -> Lexicon:
    """Reads training documents; what takes the time is cutting and walking through every text once.

    Args:
        documents: with gold mentions.
    """
    layouts = [WordLayout(document, unit="document") for document in documents]
    gold = [
        (layout, {(m.type, m.spans): m for m in layout.document.layer(GOLD)}.values())
        for layout in layouts
    ]
    frequency = Counter(layout.surface(m.spans) for layout, mentions in gold for m in mentions)
    frequency.pop((), None)  # mentions that touch no word
    return Lexicon(
        documents=len(layouts),
        mentions=sum(len(mentions) for _, mentions in gold),
        vocabulary=frozenset(word for layout in layouts for word in layout.words),
        frequency=dict(frequency),
        consistency=_consistency(gold, frequency.keys()),
        surfaces=frozenset(
            (m.text_in(layout.document.text), m.type) for layout, mentions in gold for m in mentions
        ),
    )


def _consistency(
    gold: Iterable[tuple[WordLayout, Collection[Mention]]], surfaces: Set[Surface]
) -> dict[tuple[Surface, str], float]:
    lengths: dict[str, set[int]] = {}
    for surface in surfaces:
        lengths.setdefault(surface[0], set()).add(len(surface))
    total: Counter[Surface] = Counter()
    covered: Counter[tuple[Surface, str]] = Counter()
    for layout, mentions in gold:
        types: dict[int, set[str]] = {}
        for mention in mentions:
            for at in layout.touched(mention.spans):
                types.setdefault(at, set()).add(mention.type)
        for surface, places in _occurrences(layout, mentions, lengths, surfaces):
            total[surface] += len(places)
            for at in places:
                for type_ in types.get(at, ()):
                    covered[surface, type_] += 1
    return {(surface, type_): count / total[surface] for (surface, type_), count in covered.items()}


def _occurrences(
    layout: WordLayout,
    mentions: Iterable[Mention],
    lengths: Mapping[str, set[int]],
    surfaces: Set[Surface],
) -> Iterator[tuple[Surface, range | tuple[int, ...]]]:
    """Yields where the strings of training mentions occur; one in pieces occurs only where it is
    annotated.
    """
    words = layout.lower
    for at, word in enumerate(words):
        for length in lengths.get(word, ()):
            if at + length <= len(words) and words[at : at + length] in surfaces:
                yield words[at : at + length], range(at, at + length)
    for mention in mentions:
        places = layout.touched(mention.spans)
        if len(places) and places[-1] - places[0] >= len(places):
            yield layout.surface(mention.spans), places

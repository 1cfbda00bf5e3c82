"""Finding the names of a dictionary in texts, word by word: exact, disjoint, and the same for any order of the names.

Two rules have names (``RULES``). ``raw`` takes typed names as they are written. ``three-casings`` is that of AutoNER
(Shang et al. 2018): each name as written, in capitals and in lower case; stop words never match alone; phrases without
a type take part in the choice, and where one of them is chosen nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from fascicle.core.arrays import Ints
from fascicle.core.document import Document, Event, Mention, Patch
from fascicle.core.spans import Span
from fascicle.errors import UsageError
from fascicle.knowledge.matching.dictionary import Entry
from fascicle.knowledge.matching.names import NameCounts, gather_names
from fascicle.knowledge.matching.phrases import best_segmentation
from fascicle.knowledge.matching.rules import RULES, MatchingRule
from fascicle.knowledge.portions import portions
from fascicle.text.annotator import Annotator, TagSpace
from fascicle.text.segment import Segmenter
from fascicle.text.segment import segmenter as segmenter_of

SOURCE: Final = "dictionary"
PORTION: Final = 1 << 20  # characters of text that are searched together
Cut = tuple[Sequence[Span], Ints]  # words, and the number of the sentence of each


class Match(NamedTuple):
    """A phrase of the dictionary in a text.

    Attributes:
        start: first character, in code points.
        end: one past the last character.
        types: of the phrase, sorted; none if it is known without a type.
    """

    start: int
    end: int
    types: tuple[str, ...]


class Matcher(Annotator):
    """A dictionary as a predictor.

    A text is cut into words by the segmenter, whatever words it comes with, for only then are names and texts cut
    alike. A match begins and ends with a word and lies in one sentence: of the document, or of the segmenter where it
    has none. Among all places where phrases stand, those with the largest sum of squared lengths in words are chosen so
    that none overlap (``phrases.best_segmentation``, which also says how ties are broken).
    """

    def __init__(
        self,
        entries: Iterable[Entry],
        *,
        rule: MatchingRule | str,
        segmenter: str = "rules@1",
        name: str = SOURCE,
        content: str = "",
    ) -> None:
        """Reads a dictionary to its end.

        Args:
            entries: names with a type, and under a rule that takes them phrases without; their order has no influence.
            rule: one of ``RULES``, or its name.
            segmenter: name of the segmenter.
            name: source of the mentions.
            content: hash of the dictionary, for the fingerprint.

        Raises:
            InputError: no name is left, or no such segmenter.
            UsageError: no such rule, or phrases without a type under a rule that takes none.
        """
        self.rule = _rule(rule)
        self._name = name
        self._content = content
        self._segmenter = segmenter_of(segmenter)
        self._names = gather_names(entries, rule=self.rule, segmenter=self._segmenter)

    @property
    def counts(self) -> NameCounts:
        """What became of the entries."""
        return self._names.counts

    @property
    def name(self) -> str:
        """The source of its mentions."""
        return self._name

    @property
    def types(self) -> tuple[str, ...]:
        """All types of the dictionary, sorted."""
        return tuple(sorted({name for types in self._names.types for name in types}))

    @property
    def version(self) -> str:
        """Rule and segmenter: together with the dictionary they decide every match."""
        return f"{self.rule.name} {self._segmenter.name}"

    @property
    def kind(self) -> str:
        """That it is a dictionary."""
        return "dictionary"

    @property
    def segmenter(self) -> str:
        """Name of what cuts texts into words."""
        return self._segmenter.name

    @property
    def fingerprint(self) -> str:
        """Hash of the dictionary, with the rules that it is matched by."""
        return f"{self.name} {self._content} {self.version}"

    @property
    def tag_space(self) -> TagSpace:
        """Tags without probabilities."""
        return TagSpace(meaning="none")

    def matches(self, documents: Iterable[Document]) -> Iterator[tuple[Match, ...]]:
        """The matches of each document, disjoint and in order; any number of documents in bounded memory.

        Args:
            documents: read once; their mentions and words are not looked at.
        """
        for chunk in portions(documents, characters=PORTION):
            yield from self.in_words(chunk, [words_in_sentences(document, self._segmenter) for document in chunk])

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions of each document: one for each type of a matched phrase, without a score.

        Phrases without a type are no mentions; an event counts them.

        Args:
            documents: stay as they are.
        """
        return [self._patch(found) for found in self.matches(documents)]

    def _patch(self, found: Sequence[Match]) -> Patch:
        untyped = sum(not match.types for match in found)
        events: tuple[Event, ...] = ()
        if untyped:
            message = f"{untyped} phrases without a type were found; they are not mentions"
            events = (Event(step=self.name, kind="note", code="untyped-phrases", message=message),)
        add = tuple(Mention(((m.start, m.end),), kind, source=self.name) for m in found for kind in m.types)
        return Patch(add=add, events=events)

    def in_words(self, documents: Sequence[Document], cuts: Sequence[Cut]) -> Iterator[tuple[Match, ...]]:
        """The matches of each document, all searched at once.

        Args:
            documents: at least one.
            cuts: the words of each, as ``words_in_sentences`` gives them for the segmenter of this matcher.
        """
        # Sentences are numbered through, and owners too, so no match reaches over an end.
        ids = np.concatenate([self._ids(d, words) for d, (words, _) in zip(documents, cuts, strict=True)])
        owners = np.repeat(np.arange(len(cuts)), [len(words) for words, _ in cuts])
        sentences = np.concatenate([numbers for _, numbers in cuts])
        ids[sentences < 0] = -1
        found = self._names.table.find(ids, self._names.kinds >= 0)
        first, last = found.spans[:, 0], found.spans[:, 1] - 1
        inside = (owners[first] == owners[last]) & (sentences[first] == sentences[last])
        spans, nodes = found.spans[inside], found.nodes[inside]
        chosen = best_segmentation(spans)
        yield from self._as_matches(cuts, owners, spans[chosen], nodes[chosen])

    def _as_matches(self, cuts: Sequence[Cut], owners: Ints, spans: Ints, nodes: Ints) -> Iterator[tuple[Match, ...]]:
        """Token ranges of the chunk as matches of each document."""
        kinds = self._names.kinds[nodes]
        border = np.searchsorted(owners[spans[:, 0]], np.arange(len(cuts) + 1)).tolist()
        offset = 0
        for number, (words, _) in enumerate(cuts):
            part = slice(border[number], border[number + 1])
            yield tuple(
                Match(words[start - offset][0], words[end - 1 - offset][1], self._names.types[kind])
                for (start, end), kind in zip(spans[part].tolist(), kinds[part].tolist(), strict=True)
            )
            offset += len(words)

    def _ids(self, document: Document, words: Sequence[Span]) -> Ints:
        text, known = document.text, self._names.vocabulary
        return np.array([known.get(text[a:b], -1) for a, b in words], dtype=np.int64)


def words_in_sentences(document: Document, rules: Segmenter) -> Cut:
    """The words of a text, and the number of the sentence of each; -1 for a word that a sentence ends inside."""
    words = rules.words(document.text)
    spans = np.array(words, dtype=np.int64).reshape(-1, 2)
    ends = np.unique(np.fromiter(_sentence_ends(document, rules), dtype=np.int64))
    first = np.searchsorted(ends, spans[:, 0], side="right")
    last = np.searchsorted(ends, spans[:, 1], side="left")
    return words, np.where(first == last, first, -1)


def _sentence_ends(document: Document, rules: Segmenter) -> Iterator[int]:
    """Where sentences end, or begin: the given ones, and the segmenter's in text outside them, as a model reads it."""
    text = document.text
    before = 0
    for start, end in (*(document.sentences or ()), (len(text), len(text))):
        gap = text[before:start]
        if gap and not gap.isspace():
            yield from (before + b for _, b in rules.sentences(gap))
        yield from (start, end)
        before = end


def _rule(rule: MatchingRule | str) -> MatchingRule:
    if isinstance(rule, MatchingRule):
        return rule
    if rule not in RULES:
        raise UsageError(f"the matching rule {rule!r} is not known; choose one of {', '.join(RULES)}")
    return RULES[rule]

"""Concepts that the mentions of a document are linked to, with sentence and section."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from fascicle.core.document import Document
from fascicle.core.facts import facts_of
from fascicle.core.mention import (
    AMBIGUOUS,
    Fragments,
    Link,
    Mention,
    Span,
    display_identifier,
    is_curie,
)
from fascicle.text.segment import Segmenter, all_sentences

UNKNOWN: Final = -1.0  # stands for a missing probability, below all others
DATED: Final = ("date", "year")  # names of facts
_DATE: Final = re.compile(
    r"[0-9]{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12][0-9]|3[01]))?)?(?![0-9])"
)
NO_SECTION: Final = "text"  # name of a place outside of all named sections
_NO_FACTS: Final = frozenset[str]()


class ConceptMention(NamedTuple):
    """A mention of a concept.

    Attributes:
        concept: its CURIE.
        link: from the mention to the concept.
        mention: of the document.
        sentence: number of the sentence in which the mention begins.
        section: name of the smallest section around the mention.
        sources: of all mentions of these words with this concept.
        probability: the score of the mention times that of the link, or the only score that there
            is, or `UNKNOWN`; the highest of these mentions.
        facts: that attributes of these mentions state, such as ``negated``.
    """

    concept: str
    link: Link
    mention: Mention
    sentence: int
    section: str
    sources: frozenset[str]
    probability: float
    facts: frozenset[str]


class DocumentConcepts(NamedTuple):
    """What a document says of concepts.

    Attributes:
        sentences: all of the document.
        occurrences: in the order of the mentions.
        concepts: the occurrences of each concept, in order.
        unnamed: number of links that have no CURIE, which are left out.
        ambiguous: number of mentions that are left out because their links are ambiguous.
        date: of the document, see `date_of`.
    """

    sentences: tuple[Span, ...]
    occurrences: tuple[ConceptMention, ...]
    concepts: Mapping[str, Sequence[ConceptMention]]
    unnamed: int
    ambiguous: int
    date: str


def evidence_of(
    document: Document, rules: Segmenter, *, identify: Callable[[str], str] = str
) -> DocumentConcepts:
    """Returns the evidence in a document; NIL and ambiguous links are none, and words count
    once for each concept, whatever the number of their mentions and links.

    Args:
        document: with links.
        rules: which cut the text outside of the sentences of the document.
        identify: CURIE of a link -> that of the concept.
    """
    sentences = all_sentences(document, rules) or ((0, 0),) * bool(document.mentions)
    starts = [start for start, _ in sentences]
    occurrences, unnamed = dict[tuple[str, Fragments], ConceptMention](), 0
    for mention, link in answers_of(document):
        curie = named_concept(link)
        if not curie:
            unnamed += 1
            continue
        sentence = max(0, bisect_right(starts, mention.start) - 1)
        section = document.section_of(mention) or NO_SECTION
        occurrence = _occurrence(identify(curie), link, mention, sentence, section)
        place = (occurrence.concept, mention.spans)
        before = occurrences.get(place)
        occurrences[place] = occurrence if before is None else _united(before, occurrence)
    ambiguous, date = sum(map(_is_ambiguous, document.mentions)), date_of(document.meta)
    every = tuple(occurrences.values())
    return DocumentConcepts(sentences, every, _by_concept(every), unnamed, ambiguous, date)


def _occurrence(
    concept: str, link: Link, mention: Mention, sentence: int, section: str
) -> ConceptMention:
    source, probability = _source(mention.source), _probability(mention, link)
    facts = frozenset(facts_of(mention)) if mention.attributes else _NO_FACTS
    return ConceptMention(concept, link, mention, sentence, section, source, probability, facts)


def _by_concept(occurrences: Iterable[ConceptMention]) -> Mapping[str, Sequence[ConceptMention]]:
    concepts = defaultdict[str, list[ConceptMention]](list)
    for occurrence in occurrences:
        concepts[occurrence.concept].append(occurrence)
    return concepts


@lru_cache(maxsize=1_000)
def _source(name: str) -> frozenset[str]:
    return frozenset((name,))


def _united(first: ConceptMention, other: ConceptMention) -> ConceptMention:
    """Returns two mentions of the same words as one, with the link that says more."""
    return first._replace(
        link=max(first.link, other.link, key=lambda link: (bool(link.name), bool(link.same))),
        sources=first.sources | other.sources,
        probability=max(first.probability, other.probability),
        facts=first.facts | other.facts,
    )


def date_of(facts: Mapping[str, str]) -> str:
    """Returns the date or year by the facts ``date`` and ``year`` of a document, or an empty text.

    Dates have the form of ISO 8601; of other ones only a year at their beginning counts.
    """
    values = {name.lower(): value.strip() for name, value in facts.items()}
    dates = (_DATE.match(values.get(name, "")) for name in DATED)
    return next((date[0] for date in dates if date), "")


def named_concept(link: Link) -> str:
    """Returns the CURIE of a link, or an empty text."""
    curie = display_identifier(link)
    return curie if link.curie or is_curie(curie) else ""  # a link checks its own CURIE


def answers_of(document: Document) -> Iterator[tuple[Mention, Link]]:
    """Yields the mentions with their links, without NIL and ambiguous ones."""
    for mention in document.mentions:
        for link in mention.links:
            if not link.nil and link.tier != AMBIGUOUS:
                yield mention, link


def _is_ambiguous(mention: Mention) -> bool:
    return any(link.tier == AMBIGUOUS for link in mention.links)


def _probability(mention: Mention, link: Link) -> float:
    first, second = mention.score, link.score
    if first is None or second is None:
        single = second if first is None else first
        return UNKNOWN if single is None else single
    return first * second


def first_filled(texts: Iterable[str]) -> str:
    """Returns the first text that is not empty, or an empty one."""
    return next(filter(None, texts), "")


def highest_probability(occurrences: Iterable[ConceptMention]) -> float:
    """Returns the highest probability, or `UNKNOWN`."""
    return max([occurrence.probability for occurrence in occurrences], default=UNKNOWN)


class Support(msgspec.Struct, frozen=True, kw_only=True):
    """What supports an edge.

    Attributes:
        count: of mentions, or of sentences with both concepts.
        documents: in which they are.
        sections: name -> count.
        sources: of the mentions.
        negated: of the count, those with a negated mention.
        uncertain: of the count, those with an uncertain mention.
        probability: the highest, or `UNKNOWN`.
        dates: the first and the last date of these documents; empty texts if they have none.
    """

    count: int
    documents: int
    sections: Mapping[str, int]
    sources: Collection[str]
    negated: int
    uncertain: int
    probability: float
    dates: tuple[str, str]


def support_of(occurrences: Sequence[ConceptMention], date: str = "") -> Support:
    """Returns the support by the mentions of one concept in one document with this date."""
    facts = [occurrence.facts for occurrence in occurrences if occurrence.facts]
    return Support(
        count=len(occurrences),
        documents=1,
        sections=Counter([occurrence.section for occurrence in occurrences]),
        sources=frozenset().union(*[occurrence.sources for occurrence in occurrences]),
        negated=sum("negated" in some for some in facts),
        uncertain=sum("uncertain" in some for some in facts),
        probability=highest_probability(occurrences),
        dates=(date, date),
    )

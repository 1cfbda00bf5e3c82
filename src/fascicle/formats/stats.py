"""Counts of the contents of a corpus, made in one pass."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from fascicle.core.document import Document, Mention
from fascicle.core.mention import Span, fragments_contain, overlapping_mentions
from fascicle.core.wording import shorten
from fascicle.formats.report import ReadReport

_Row = tuple[str, str, str]  # name, number, share
_PARTS: Final = MappingProxyType(
    {
        "nested": "nested in another",
        "inner_same_type": "nested in one of the same type",
        "same_span": "of the same span as another",
        "crossing": "crossing another",
        "overlapping": "overlapping another",
        "discontinuous": "discontinuous",
        "linked": "with a concept id",
        "longest_document": "longest document, characters",
        "longest_sentence_words": "longest sentence, words",
        "longest_sentence": "longest sentence, characters",
        "longest_mention_words": "longest mention, words",
        "longest_mention": "longest mention, characters",
    }
)  # field -> title


@dataclass(kw_only=True)
class CorpusStats:
    """Counts of one corpus.

    A mention is *nested* when a longer one contains it, *inner of the same type* when one of its
    own type does, *of the same span* when another mention (of another type or source) has its
    spans, *crossing* when it overlaps another and neither contains the other, *overlapping* when it
    shares a character with any other. Each mention counts at most once in each. Mentions of all
    sources are counted together.

    Attributes:
        documents: number of documents.
        empty_documents: those without text.
        characters: code points of text.
        sentences: number of sentences, where the source marks them.
        words: number of words, where the source marks them.
        mentions: number of mentions.
        types: type -> mentions.
        relations: type -> relations.
        nested: see above.
        inner_same_type: see above.
        same_span: see above.
        crossing: see above.
        overlapping: see above.
        discontinuous: mentions of several fragments.
        linked: mentions with at least one link.
        longest_document: in characters.
        longest_sentence_words: in words.
        longest_sentence: in characters.
        longest_mention_words: in words.
        longest_mention: in characters, from its first to its last.
        formats: file -> format.
        schemes: file -> tag scheme.
        repairs: invalid tag sequences that were repaired.
        events: ``"kind code"`` -> how often.
    """

    documents: int = 0
    empty_documents: int = 0
    characters: int = 0
    sentences: int = 0
    words: int = 0
    mentions: int = 0
    types: Counter[str] = field(default_factory=Counter)
    relations: Counter[str] = field(default_factory=Counter)
    nested: int = 0
    inner_same_type: int = 0
    same_span: int = 0
    crossing: int = 0
    overlapping: int = 0
    discontinuous: int = 0
    linked: int = 0
    longest_document: int = 0
    longest_sentence_words: int = 0
    longest_sentence: int = 0
    longest_mention_words: int = 0
    longest_mention: int = 0
    formats: dict[str, str] = field(default_factory=dict)
    schemes: dict[str, str] = field(default_factory=dict)
    repairs: int = 0
    events: Counter[str] = field(default_factory=Counter)

    def add(self, document: Document) -> None:
        """Counts one document."""
        self.documents += 1
        self.empty_documents += not document.text
        self.characters += len(document.text)
        self.longest_document = max(self.longest_document, len(document.text))
        self.events.update(f"{event.kind} {event.code}" for event in document.events)
        starts = [start for start, _ in document.words or ()]
        self.words += len(starts)
        for sentence in document.sentences or ():
            self.sentences += 1
            self.longest_sentence = max(self.longest_sentence, sentence[1] - sentence[0])
            self.longest_sentence_words = max(
                self.longest_sentence_words, _words_in(starts, sentence)
            )
        for mention in document.mentions:
            self._add_mention(mention, starts)
        self._add_overlaps(document.mentions)
        self.relations.update(relation.type for relation in document.relations)

    def as_dict(self) -> dict[str, Any]:
        """Returns the counts as a dictionary for JSON; each counter sorted by falling count."""
        values = dict(vars(self))
        for name in ("types", "relations", "events"):
            values[name] = dict(_by_count(values[name]))
        return values

    def _add_mention(self, mention: Mention, starts: list[int]) -> None:
        self.mentions += 1
        self.types[mention.type] += 1
        self.discontinuous += len(mention.spans) > 1
        self.linked += not all(link.nil for link in mention.links)
        self.longest_mention = max(self.longest_mention, mention.end - mention.start)
        words = sum(_words_in(starts, span) for span in mention.spans)
        self.longest_mention_words = max(self.longest_mention_words, words)

    def _add_overlaps(self, mentions: Iterable[Mention]) -> None:
        numbers: defaultdict[str, set[int]] = defaultdict(set)  # of mentions, by field
        for (i, a), (j, b) in overlapping_mentions(mentions):
            numbers["overlapping"] |= {i, j}
            if a.spans == b.spans:
                numbers["same_span"] |= {i, j}
                continue
            if fragments_contain(a.spans, b.spans):
                inner = j
            elif fragments_contain(b.spans, a.spans):
                inner = i
            else:
                numbers["crossing"] |= {i, j}
                continue
            numbers["nested"].add(inner)
            if a.type == b.type:
                numbers["inner_same_type"].add(inner)
        for name, members in numbers.items():
            setattr(self, name, getattr(self, name) + len(members))


def corpus_stats(documents: Iterable[Document], report: ReadReport | None = None) -> CorpusStats:
    """Counts a stream of documents.

    Args:
        documents: read once.
        report: of the reader; the source of formats, tag schemes and repairs.
    """
    stats = CorpusStats()
    for document in documents:
        stats.add(document)
    if report is not None:
        stats.formats = dict(report.formats)
        stats.schemes = {file: census.scheme for file, census in report.tags.items()}
        stats.repairs = report.repairs
    return stats


def format_table(stats: CorpusStats) -> str:
    """Formats the counts as a table for a terminal; rows with a count of zero are left out."""
    rows = [*_main_rows(stats), *_rows_of_parts(stats), *_source_rows(stats)]
    label = max(len(name) for name, *_ in rows)
    number = max(len(value) for _, value, _ in rows)
    return "".join(f"{name:<{label}}  {value:>{number}}{share}\n" for name, value, share in rows)


def _main_rows(stats: CorpusStats) -> Iterator[_Row]:
    yield "documents", f"{stats.documents:,}", ""
    if stats.empty_documents:
        yield "  without text", f"{stats.empty_documents:,}", ""
    yield "characters", f"{stats.characters:,}", ""
    yield "sentences", f"{stats.sentences:,}" if stats.sentences else "not marked", ""
    yield "words", f"{stats.words:,}" if stats.words else "not marked", ""
    yield "mentions", f"{stats.mentions:,}", ""
    yield from _type_rows(stats.types)
    if stats.relations:
        yield "relations", f"{stats.relations.total():,}", ""
        yield from _type_rows(stats.relations)


def _type_rows(counts: Counter[str]) -> Iterator[_Row]:
    for kind, count in _by_count(counts):
        yield f"  {shorten(kind) or 'without a type'}", f"{count:,}", ""


def _by_count(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _rows_of_parts(stats: CorpusStats) -> Iterator[_Row]:
    """Yields the numbers of mentions of each kind, with their share, and the longest ones."""
    for field_name, title in _PARTS.items():
        if count := getattr(stats, field_name):
            share = (
                ""
                if field_name.startswith("longest")
                else f"  {count / stats.mentions:.1%} of the mentions"
            )
            yield title, f"{count:,}", share


def _source_rows(stats: CorpusStats) -> Iterator[_Row]:
    if stats.formats:
        yield "format", ", ".join(sorted(set(stats.formats.values()))), ""
    if stats.schemes:
        yield "tag scheme", ", ".join(sorted(set(stats.schemes.values()))), ""
        yield "invalid tag sequences mended", f"{stats.repairs:,}", ""
    for name, count in sorted(stats.events.items()):
        yield name, f"{count:,}", ""


def _words_in(starts: list[int], span: Span) -> int:
    return bisect_left(starts, span[1]) - bisect_left(starts, span[0])


def shared_text_notes(parts: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Yields notes on parts of a corpus that have texts of an earlier part.

    Args:
        parts: name of each, such as ``train`` -> texts of its documents, or hashes of them; empty
            ones do not count.
    """
    earlier: dict[str, str] = {}  # text -> part
    for name, texts in parts.items():
        shared = Counter(earlier[text] for text in texts if text in earlier)
        for other, count in shared.items():
            yield (
                f"{count:,} of {len(texts):,} texts of {name} are in {other} too, so scores on "
                f"{name} are too high"
            )
        earlier.update((text, name) for text in texts if text and text not in earlier)

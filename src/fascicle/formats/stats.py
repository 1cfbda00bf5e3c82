"""What is in a corpus, counted in one pass."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fascicle.core.document import Document, Mention, overlapping_mentions
from fascicle.core.spans import Span, fragments_contain
from fascicle.core.wording import shortened
from fascicle.formats.report import ReadReport


@dataclass(kw_only=True)
class CorpusStats:
    """Counts of one corpus.

    A mention is *nested* when a longer one contains it, *inner of the same type* when one of its own type does, *of the
    same span* when another mention (of another type or source) has its spans, *crossing* when it overlaps another and
    neither contains the other, *overlapping* when it shares a character with any other. Each mention counts at most
    once in each. Mentions of all sources are counted together.

    Attributes:
        documents: number of documents.
        empty_documents: those without text.
        characters: code points of text.
        sentences: number of sentences, where the source marks them.
        words: number of words, where the source marks them.
        mentions: number of mentions.
        types: type -> mentions.
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
        repairs: invalid tag sequences that were mended.
        events: ``"kind code"`` -> how often.
    """

    documents: int = 0
    empty_documents: int = 0
    characters: int = 0
    sentences: int = 0
    words: int = 0
    mentions: int = 0
    types: Counter[str] = field(default_factory=Counter)
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
        self._add_sentences(document, starts)
        for mention in document.mentions:
            self._add_mention(mention, starts)
        self._add_relations(document.mentions)

    def as_dict(self) -> dict[str, Any]:
        """The same as JSON can hold it; types and events by falling count."""
        values = dict(vars(self))
        for name in ("types", "events"):
            values[name] = dict(sorted(values[name].items(), key=lambda item: (-item[1], item[0])))
        return values

    def _add_sentences(self, document: Document, starts: list[int]) -> None:
        for sentence in document.sentences or ():
            self.sentences += 1
            self.longest_sentence = max(self.longest_sentence, sentence[1] - sentence[0])
            self.longest_sentence_words = max(self.longest_sentence_words, _words_in(starts, sentence))

    def _add_mention(self, mention: Mention, starts: list[int]) -> None:
        self.mentions += 1
        self.types[mention.type] += 1
        self.discontinuous += len(mention.spans) > 1
        self.linked += bool(mention.links)
        self.longest_mention = max(self.longest_mention, mention.end - mention.start)
        words = sum(_words_in(starts, span) for span in mention.spans)
        self.longest_mention_words = max(self.longest_mention_words, words)

    def _add_relations(self, mentions: Iterable[Mention]) -> None:
        nested, same, equal, crossing, overlapping = (set[int]() for _ in range(5))
        for (i, a), (j, b) in overlapping_mentions(mentions):
            overlapping |= {i, j}
            if a.spans == b.spans:
                equal |= {i, j}
                continue
            inner = (
                {j} if fragments_contain(a.spans, b.spans) else {i} if fragments_contain(b.spans, a.spans) else set()
            )
            nested |= inner
            same |= inner if a.type == b.type else set()
            crossing |= set() if inner else {i, j}
        self.nested += len(nested)
        self.same_span += len(equal)
        self.inner_same_type += len(same)
        self.crossing += len(crossing)
        self.overlapping += len(overlapping)


def corpus_stats(documents: Iterable[Document], report: ReadReport | None = None) -> CorpusStats:
    """Counts a stream of documents.

    Args:
        documents: read once.
        report: the one that was given to the reader; tells formats, tag schemes and repairs.
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
    """The counts as a table for a terminal; rows of things that do not occur are left out."""
    groups = [_main_rows(stats), _share_rows(stats), _longest_rows(stats), _source_rows(stats)]
    rows = [row for group in groups for row in group]
    label = max(len(name) for name, _ in rows)
    number = max(len(value) for _, value in rows)
    shares = {name: f"  {share:.1%} of the mentions" for name, share in _shares(stats).items()}
    return "".join(f"{name:<{label}}  {value:>{number}}{shares.get(name, '')}\n" for name, value in rows)


def _main_rows(stats: CorpusStats) -> list[tuple[str, str]]:
    rows = [("documents", f"{stats.documents:,}")]
    rows += [("  without text", f"{stats.empty_documents:,}")] if stats.empty_documents else []
    rows += [("characters", f"{stats.characters:,}")]
    rows += [("sentences", f"{stats.sentences:,}" if stats.sentences else "not marked")]
    rows += [("words", f"{stats.words:,}" if stats.words else "not marked")]
    rows += [("mentions", f"{stats.mentions:,}")]
    ordered = sorted(stats.types.items(), key=lambda item: (-item[1], item[0]))
    return rows + [(f"  {shortened(kind)}", f"{count:,}") for kind, count in ordered]


def _share_rows(stats: CorpusStats) -> list[tuple[str, str]]:
    return [(name, f"{count:,}") for name, count in _parts(stats).items() if count]


def _shares(stats: CorpusStats) -> dict[str, float]:
    return {name: count / stats.mentions for name, count in _parts(stats).items() if count}


def _parts(stats: CorpusStats) -> dict[str, int]:
    return {
        "nested in another": stats.nested,
        "nested in one of the same type": stats.inner_same_type,
        "of the same span as another": stats.same_span,
        "crossing another": stats.crossing,
        "overlapping another": stats.overlapping,
        "discontinuous": stats.discontinuous,
        "with a concept id": stats.linked,
    }


def _longest_rows(stats: CorpusStats) -> list[tuple[str, str]]:
    parts = {
        "longest document, characters": stats.longest_document,
        "longest sentence, words": stats.longest_sentence_words,
        "longest sentence, characters": stats.longest_sentence,
        "longest mention, words": stats.longest_mention_words,
        "longest mention, characters": stats.longest_mention,
    }
    return [(name, f"{count:,}") for name, count in parts.items() if count]


def _source_rows(stats: CorpusStats) -> list[tuple[str, str]]:
    schemes = sorted(set(stats.schemes.values()))
    rows = [("format", ", ".join(sorted(set(stats.formats.values()))))] if stats.formats else []
    if schemes:
        rows += [("tag scheme", ", ".join(schemes)), ("invalid tag sequences mended", f"{stats.repairs:,}")]
    return rows + [(name, f"{count:,}") for name, count in sorted(stats.events.items())]


def _words_in(starts: list[int], span: Span) -> int:
    return bisect_left(starts, span[1]) - bisect_left(starts, span[0])

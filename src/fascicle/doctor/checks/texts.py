"""Texts and sentences of an unusual length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fascicle.core.spans import Span
from fascicle.core.wording import counted
from fascicle.doctor.checks.contract import Corpus
from fascicle.doctor.checks.hits import Detail, Found, Hit, percent
from fascicle.doctor.parts import Item

LONG_DOCUMENT: Final = 5_000  # words
SHORT_SENTENCE: Final = 2  # words
_FINAL: Final = frozenset(".?!:;…。？！：；؟۔।")
_CLOSERS: Final = "\"')]}»”’）」』"


def empty_document(item: Item) -> Iterator[Hit]:
    """Documents without a character that is not white space."""
    if not item.text.strip():
        yield Hit(item=item)


def long_document(item: Item) -> Iterator[Hit]:
    """Documents of more than `LONG_DOCUMENT` words."""
    if len(item.words) > LONG_DOCUMENT:
        yield Hit(item=item, message=f"{counted(len(item.words), 'word')}")


def long_sentence(corpus: Corpus) -> Found:
    """Sentences of more words than the settings say."""
    longest = 0
    for item in corpus.items:
        for span, length in _sentences(item):
            longest = max(longest, length)
            if length > corpus.settings.long_sentence:
                yield Hit(item=item, spans=(span,), message=f"{counted(length, 'word')}")
    yield Detail(text=f"The longest sentence has {counted(longest, 'word')}.")


def short_sentence(item: Item) -> Iterator[Hit]:
    """Sentences of at most `SHORT_SENTENCE` words."""
    for span, length in _sentences(item):
        if length <= SHORT_SENTENCE:
            yield Hit(item=item, spans=(span,))


def open_sentence(item: Item) -> Iterator[Hit]:
    """Sentences that the source marks and that do not end with a mark that ends sentences."""
    if item.marks_sentences:
        for (start, end), _ in _sentences(item):
            last = item.text[start:end].rstrip().rstrip(_CLOSERS + " ")[-1:]
            if last not in _FINAL:
                yield Hit(item=item, spans=((start, end),))


def share_of_sentences(corpus: Corpus) -> Iterator[Detail]:
    """How many sentences do not end as sentences do, part by part."""
    for part, items in corpus.by_part().items():
        count = sum(len(item.sentences) for item in items if item.marks_sentences)
        found = sum(1 for item in items for _ in open_sentence(item))
        if found:
            yield Detail(text=f"{part.name}: {found:,} of {counted(count, 'sentence')} ({percent(found, count)}).")


def _sentences(item: Item) -> Iterator[tuple[Span, int]]:
    spans = ((start, end) for start, end in item.sentences.tolist())
    return zip(spans, item.sentence_lengths().tolist(), strict=True)

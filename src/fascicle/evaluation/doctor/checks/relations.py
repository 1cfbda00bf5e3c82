"""Checks on how the mentions of one document relate to each other, and to words and sentences."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from fascicle.core.document import Mention, overlapping_mentions
from fascicle.core.mention import Span, fragments_contain
from fascicle.evaluation.doctor.checks.contract import Corpus, Found, Hit, hit_of
from fascicle.evaluation.doctor.parts import Item

_SPACES = re.compile(r"\s*")


def crossing(item: Item) -> Iterator[Hit]:
    """Pairs that overlap, neither inside the other; the hit is at the second."""
    for (_, before), (_, mention) in overlapping_mentions(item.mentions):
        if not (fragments_contain(before.spans, mention.spans) or fragments_contain(mention.spans, before.spans)):
            yield hit_of(item, mention, f"crosses {before.type} at {_places(before)}")


def nested(item: Item) -> Iterator[Hit]:
    """Mentions inside a longer one."""
    yield from _inner(item, same_type=False)


def nested_in_own_type(item: Item) -> Iterator[Hit]:
    """Mentions inside a longer one of their own type."""
    yield from _inner(item, same_type=True)


def same_span(item: Item) -> Iterator[Hit]:
    """Mentions with the spans of another one, of another type; the first of them is none."""
    types: dict[object, str] = {}
    for mention in item.mentions:
        if mention.spans in types:
            yield hit_of(item, mention, f"is {types[mention.spans]} too")
        types.setdefault(mention.spans, mention.type)


def discontinuous(item: Item) -> Iterator[Hit]:
    """Mentions of several fragments."""
    for mention in item.mentions:
        if len(mention.spans) > 1:
            yield hit_of(item, mention, f"{len(mention.spans)} fragments")


def touching(item: Item) -> Iterator[Hit]:
    """Pairs of one type in one sentence with nothing but white space between them; the hit is at the second."""
    ends: dict[tuple[str, int], Mention] = {}
    for mention in item.mentions:
        ends.setdefault((mention.type, _following(item.text, mention.end)), mention)
    for mention in item.mentions:
        before = ends.get((mention.type, mention.start))
        if before is not None and sentence_of(item, before.end - 1) == sentence_of(item, mention.start):
            yield hit_of(item, mention, f"follows another one at {_places(before)}")


def across_sentences(item: Item) -> Iterator[Hit]:
    """Mentions that begin in one sentence and end in another, of those that the source marks."""
    if not item.marks_sentences or len(item.sentences) < 2:
        return
    for mention in item.mentions:
        if sentence_of(item, mention.start) != sentence_of(item, mention.end - 1):
            yield hit_of(item, mention)


def sentence_of(item: Item, offset: int) -> int:
    """Returns the number of the last sentence that begins at or before a character; -1 before the first."""
    return bisect_right(item.sentences[:, 0], offset) - 1


def _inner(item: Item, *, same_type: bool) -> Iterator[Hit]:
    found: dict[Mention, Mention] = {}
    for (_, a), (_, b) in overlapping_mentions(item.mentions):
        if a.spans == b.spans or (same_type and a.type != b.type):
            continue
        if fragments_contain(a.spans, b.spans):
            found.setdefault(b, a)
        elif fragments_contain(b.spans, a.spans):
            found.setdefault(a, b)
    for inner, outer in found.items():
        yield hit_of(item, inner, f"inside {outer.type} at {_places(outer)}")


def _following(text: str, offset: int) -> int:
    """Returns the first character from an offset that is no white space."""
    match = _SPACES.match(text, offset)
    return match.end() if match else offset


def _places(mention: Mention) -> str:
    return ", ".join(f"{start}-{end}" for start, end in mention.spans)


def edge_space(item: Item) -> Iterator[Hit]:
    """Mentions of which a fragment begins or ends with white space."""
    text = item.text
    for mention in item.mentions:
        if any(text[start].isspace() or text[end - 1].isspace() for start, end in mention.spans):
            yield hit_of(item, mention)


def inside_word(item: Item) -> Iterator[Hit]:
    """Mentions of which a fragment begins or ends inside a word."""
    if not item.mentions or not len(item.words):
        return
    borders = np.array([border for m in item.mentions for span in m.spans for border in span], dtype=np.int64)
    before = np.searchsorted(item.words[:, 0], borders) - 1  # the last word that begins before the border
    inside = (before >= 0) & (borders < item.words[before, 1])
    at = 0
    for mention in item.mentions:
        more = 2 * len(mention.spans)
        if inside[at : at + more].any():
            yield hit_of(item, mention)
        at += more


def at_break(corpus: Corpus) -> Found:
    """Mentions that begin a sentence where one of their type ended the sentence before; only marked sentences."""
    for (item, sentence), (following, after) in pairwise(_sentences(corpus)):
        if item is not following and not _is_next(item, following):
            continue
        ended = {mention.type for mention in item.mentions if mention.end == sentence[1]}
        for mention in following.mentions:
            if mention.start == after[0] and mention.type in ended:
                yield hit_of(following, mention, "the sentence before ends with one too")


def _sentences(corpus: Corpus) -> Iterator[tuple[Item, Span]]:
    for item in corpus.items:
        if item.marks_sentences:
            yield from ((item, (start, end)) for start, end in item.sentences.tolist())


def _is_next(item: Item, following: Item) -> bool:
    """True if a sentence of a column file, which is a document by itself, follows another."""
    return (
        item.row >= 0
        and item.path == following.path
        and following.row == item.row + len(item.words)
        and len(item.sentences) == len(following.sentences) == 1
    )

"""Where mentions begin and end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from fascicle.core.spans import Span
from fascicle.doctor.checks.contract import Corpus
from fascicle.doctor.checks.hits import Found, Hit, hit_of
from fascicle.doctor.parts import Item


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
    """Whether a sentence of a column file, which is a document by itself, follows another."""
    return (
        item.row >= 0
        and item.path == following.path
        and following.row == item.row + len(item.words)
        and len(item.sentences) == len(following.sentences) == 1
    )

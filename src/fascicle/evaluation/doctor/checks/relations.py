"""Checks on how mentions relate to each other, to words and sentences, to other parts, and to
what models return.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from operator import itemgetter
from types import MappingProxyType
from typing import Final

import numpy as np

from fascicle.core.arrays import int_array
from fascicle.core.document import Mention
from fascicle.core.mention import Span, fragments_contain, overlapping_mentions
from fascicle.core.wording import plural
from fascicle.evaluation.doctor.checks.contract import (
    Corpus,
    Hit,
    HitsOrNotes,
    hit_of,
)
from fascicle.evaluation.doctor.parts import SPLITS, CheckedDocument, CheckedPart

_SPACES = re.compile(r"\s*")


def crossing(item: CheckedDocument) -> Iterator[Hit]:
    """Pairs that overlap, neither inside the other; the hit is at the second."""
    for (_, before), (_, mention) in overlapping_mentions(item.mentions):
        if not (
            fragments_contain(before.spans, mention.spans)
            or fragments_contain(mention.spans, before.spans)
        ):
            yield hit_of(item, mention, f"crosses {before.type} at {_places(before)}")


def nested(item: CheckedDocument, *, same_type: bool = False) -> Iterator[Hit]:
    """Mentions inside a longer one, or only those inside one of their own type."""
    outer_of: dict[Mention, Mention] = {}
    for (_, a), (_, b) in overlapping_mentions(item.mentions):
        if a.spans == b.spans or (same_type and a.type != b.type):
            continue
        if fragments_contain(a.spans, b.spans):
            outer_of.setdefault(b, a)
        elif fragments_contain(b.spans, a.spans):
            outer_of.setdefault(a, b)
    for inner, outer in outer_of.items():
        yield hit_of(item, inner, f"inside {outer.type} at {_places(outer)}")


nested_in_own_type: Final = partial(nested, same_type=True)


def same_span(item: CheckedDocument) -> Iterator[Hit]:
    """Mentions with the spans of another one, of another type; the first of them is none."""
    types: dict[object, str] = {}
    for mention in item.mentions:
        if mention.spans in types:
            yield hit_of(item, mention, f"is {types[mention.spans]} too")
        types.setdefault(mention.spans, mention.type)


def discontinuous(item: CheckedDocument) -> Iterator[Hit]:
    """Mentions of several fragments."""
    for mention in item.mentions:
        if len(mention.spans) > 1:
            yield hit_of(item, mention, f"{len(mention.spans)} fragments")


def touching(item: CheckedDocument) -> Iterator[Hit]:
    """Pairs of one type in one sentence with nothing but white space between them; the hit is at
    the second.
    """
    ends: dict[tuple[str, int], Mention] = {}
    for mention in item.mentions:
        ends.setdefault((mention.type, _following(item.text, mention.end)), mention)
    for mention in item.mentions:
        before = ends.get((mention.type, mention.start))
        if before is not None and _sentence_of(item, before.end - 1) == _sentence_of(
            item, mention.start
        ):
            yield hit_of(item, mention, f"follows another one at {_places(before)}")


def across_sentences(item: CheckedDocument) -> Iterator[Hit]:
    """Mentions that begin in one sentence and end in another, of those that the source marks."""
    if not item.marks_sentences or len(item.sentences) < 2:
        return
    for mention in item.mentions:
        if _sentence_of(item, mention.start) != _sentence_of(item, mention.end - 1):
            yield hit_of(item, mention)


def _sentence_of(item: CheckedDocument, offset: int) -> int:
    """Returns the number of the last sentence that begins at or before a character; -1 before
    the first.
    """
    return bisect_right(item.sentences[:, 0], offset) - 1


def _following(text: str, offset: int) -> int:
    """Returns the first character from an offset that is no white space."""
    match = _SPACES.match(text, offset)
    return match.end() if match else offset


def _places(mention: Mention) -> str:
    return ", ".join(f"{start}-{end}" for start, end in mention.spans)


def edge_space(item: CheckedDocument) -> Iterator[Hit]:
    """Mentions of which a fragment begins or ends with white space."""
    text = item.text
    for mention in item.mentions:
        if any(text[start].isspace() or text[end - 1].isspace() for start, end in mention.spans):
            yield hit_of(item, mention)


def inside_word(item: CheckedDocument) -> Iterator[Hit]:
    """Mentions of which a fragment begins or ends inside a word."""
    if not item.mentions or not len(item.words):
        return
    borders = int_array([border for m in item.mentions for span in m.spans for border in span])
    # the last word that begins before the border
    before = np.searchsorted(item.words[:, 0], borders) - 1
    inside = (before >= 0) & (borders < item.words[before, 1])
    at = 0
    for mention in item.mentions:
        more = 2 * len(mention.spans)
        if inside[at : at + more].any():
            yield hit_of(item, mention)
        at += more


def at_break(corpus: Corpus) -> HitsOrNotes:
    """Mentions that begin a sentence where one of their type ended the sentence before; only
    marked sentences.
    """
    for (item, sentence), (following, after) in pairwise(_sentences(corpus)):
        if item is not following and not _is_next(item, following):
            continue
        ended = {mention.type for mention in item.mentions if mention.end == sentence[1]}
        for mention in following.mentions:
            if mention.start == after[0] and mention.type in ended:
                yield hit_of(following, mention, "the sentence before ends with one too")


def _sentences(corpus: Corpus) -> Iterator[tuple[CheckedDocument, Span]]:
    for item in corpus.items:
        if item.marks_sentences:
            yield from ((item, (start, end)) for start, end in item.sentences.tolist())


def _is_next(item: CheckedDocument, following: CheckedDocument) -> bool:
    """True if a sentence of a column file, which is a document by itself, follows another."""
    return (
        item.row >= 0
        and item.path == following.path
        and following.row == item.row + len(item.words)
        and len(item.sentences) == len(following.sentences) == 1
    )


_KINDS: Final[Mapping[str, Callable[[CheckedDocument], Iterator[Hit]]]] = MappingProxyType(
    {
        "nested": nested,
        "nested in one of its type": nested_in_own_type,
        "crossing": crossing,
        "of one range with another": same_span,
        "discontinuous": discontinuous,
    }
)


def type_in_some_parts(corpus: Corpus) -> HitsOrNotes:
    """Types that some of train, dev and test have and another lacks; the hit is at their first
    mention.
    """
    counts: dict[str, Counter[str]] = {}
    first: dict[str, tuple[CheckedDocument, Mention]] = {}
    for part, items in _splits(corpus).items():
        counts[part.name] = Counter()
        for item in items:
            for mention in item.mentions:
                counts[part.name][mention.type] += 1
                first.setdefault(mention.type, (item, mention))
    for kind, (item, mention) in sorted(first.items(), key=itemgetter(0)):
        missing = [name for name, types in counts.items() if kind not in types]
        if not missing:
            continue
        present = ", ".join(
            f"{types[kind]:,} in {name}" for name, types in counts.items() if kind in types
        )
        yield Hit(
            item=item,
            spans=mention.spans,
            message=f"{kind}: {present}, none in {' and '.join(missing)}",
            where=f"not in {' or '.join(missing)}",
        )


def kind_not_in_train(corpus: Corpus) -> HitsOrNotes:
    """Mentions of dev and test that lie to others as none of train does."""
    parts = _splits(corpus)
    train = [items for part, items in parts.items() if part.role == "train"]
    if not train:
        return
    for name, find in _KINDS.items():
        if any(True for items in train for item in items for _ in find(item)):
            continue
        hits = [hit for items in parts.values() for item in items for hit in find(item)]
        for hit in hits:
            yield Hit(item=hit.item, spans=hit.spans, message=f"{name}: {hit.message}")
        if hits:
            yield f"{plural(len(hits), 'mention')} {name}, none in train."


def _splits(corpus: Corpus) -> dict[CheckedPart, list[CheckedDocument]]:
    return {
        part: items for part, items in corpus.by_part().items() if part.role in SPLITS and items
    }

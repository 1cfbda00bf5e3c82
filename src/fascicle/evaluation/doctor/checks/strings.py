"""The strings of mentions: how they are annotated elsewhere, or not at all."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fascicle.core.document import Mention
from fascicle.core.mention import Span
from fascicle.core.wording import counted
from fascicle.evaluation.doctor.checks.contract import Corpus, Detail, Found, Hit, percent, shown
from fascicle.evaluation.doctor.parts import Item

LIKELY: Final = 0.8  # share of the occurrences of a string that are annotated, from which the others look forgotten
OFTEN: Final = 5  # annotated occurrences, likewise
_SHORTEST: Final = 3  # characters of a string whose repeats are sought

_Words = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """Occurrences of the strings of mentions that no mention overlaps.

    Attributes:
        annotated: words of a string -> number of mentions.
        free: document, range and words of each occurrence without annotation.
        count: words of a string -> number of these.
    """

    annotated: Counter[_Words]
    free: list[tuple[Item, Span, _Words]]
    count: Counter[_Words]


def ambiguous_string(corpus: Corpus) -> Found:
    """Strings with several types; the hit is at the first mention of the rarest type."""
    types: defaultdict[str, Counter[str]] = defaultdict(Counter)
    first: dict[tuple[str, str], tuple[Item, Mention]] = {}
    for item in corpus.items:
        for mention in item.mentions:
            text = _line(mention.text_in(item.text))
            types[text][mention.type] += 1
            first.setdefault((text, mention.type), (item, mention))
    found = [(text, counts) for text, counts in types.items() if len(counts) > 1]
    for text, counts in sorted(found, key=lambda pair: (-pair[1].total(), pair[0])):
        ranked = counts.most_common()
        item, mention = first[text, ranked[-1][0]]
        listed = ", ".join(f"{kind} {count:,}" for kind, count in ranked)
        yield Hit(item=item, spans=mention.spans, message=f"{shown(text)} is {listed}", where="all parts")
    if found:
        touched = sum(counts.total() for _, counts in found)
        total = sum(counts.total() for counts in types.values())
        yield Detail(text=f"{touched:,} of {counted(total, 'mention')} ({percent(touched, total)}) have such a string.")


def unannotated_repeat(corpus: Corpus) -> Found:
    """Occurrences of strings of mentions, in whole words and the same case, that no mention overlaps."""
    repeats = corpus.shared(repeats_of)
    for item, span, words in repeats.free:
        yield Hit(item=item, spans=(span,), message=_shares(repeats, words))
    if repeats.free:
        total = repeats.annotated.total()
        yield Detail(
            text=f"{counted(len(repeats.count), 'string')}; there are {counted(total, 'mention')} of one range."
        )


def likely_missed(corpus: Corpus) -> Found:
    """Finds free occurrences of strings that are annotated nearly everywhere."""
    repeats = corpus.shared(repeats_of)
    for item, span, words in repeats.free:
        annotated, free = repeats.annotated[words], repeats.count[words]
        if annotated >= OFTEN and annotated >= LIKELY * (annotated + free):
            yield Hit(item=item, spans=(span,), message=_shares(repeats, words))


def seen_mention(corpus: Corpus) -> Found:
    """Finds mentions of dev and test whose string, ignoring case, is that of a mention of train."""
    parts = {part.name: items for part, items in corpus.by_part().items()}
    known = {_folded(m, item) for item in parts.get("train", ()) for m in item.mentions}
    if not known:
        return
    for name in ("dev", "test"):
        mentions = [(item, m, _folded(m, item)) for item in parts.get(name, ()) for m in item.mentions]
        seen = [(item, m) for item, m, text in mentions if text in known]
        for item, m in seen:
            yield Hit(item=item, spans=m.spans, message=m.type)
        strings = {text for _, _, text in mentions}
        if mentions:
            yield Detail(
                text=f"{name}: {len(seen):,} of {counted(len(mentions), 'mention')} "
                f"({percent(len(seen), len(mentions))}), {len(strings & known):,} of {counted(len(strings), 'string')} "
                f"({percent(len(strings & known), len(strings))})."
            )


def repeats_of(corpus: Corpus) -> Repeats:
    """Finds the free occurrences of all strings of mentions: the longest from left to right, none overlapping."""
    annotated: Counter[_Words] = Counter()
    for item in corpus.items:
        annotated.update(words for mention in item.mentions if (words := _in_words(mention, item)))
    lengths: defaultdict[str, set[int]] = defaultdict(set)  # of the strings that begin with a word
    for words in annotated:
        lengths[words[0]].add(len(words))
    longest_first = {word: sorted(found, reverse=True) for word, found in lengths.items()}
    free = [found for item in corpus.items for found in _free(item, annotated, longest_first)]
    return Repeats(annotated=annotated, free=free, count=Counter(words for _, _, words in free))


def _free(item: Item, known: Counter[_Words], lengths: dict[str, list[int]]) -> Iterator[tuple[Item, Span, _Words]]:
    words = [item.text[start:end] for start, end in item.words.tolist()]
    taken = _taken(item)
    at = 0
    while at < len(words):
        step = 1
        for length in lengths.get(words[at], ()):
            found = tuple(words[at : at + length])
            if len(found) == length and found in known and not any(taken[at : at + length]):
                yield item, (int(item.words[at, 0]), int(item.words[at + length - 1, 1])), found
                step = length
                break
        at += step


def _taken(item: Item) -> bytearray:
    """Returns a flag for each word: 1 if a mention overlaps it."""
    taken = bytearray(len(item.words))
    for mention in item.mentions:
        for start, end in mention.spans:
            first, last = bisect_right(item.words[:, 1], start), bisect_left(item.words[:, 0], end)
            taken[first:last] = b"\x01" * (last - first)
    return taken


def _in_words(mention: Mention, item: Item) -> _Words:
    """The words of a mention; none if it is too short, has no letter, several fragments, or borders inside words."""
    if len(mention.spans) > 1 or mention.end - mention.start < _SHORTEST:
        return ()
    # bisect, for searchsorted first copies all words into a row of its own: the square of a corpus in one text
    first, last = bisect_left(item.words[:, 0], mention.start), bisect_right(item.words[:, 1], mention.end)
    ranges = item.words[first:last].tolist()
    if not ranges or (ranges[0][0], ranges[-1][1]) != (mention.start, mention.end):
        return ()
    words = tuple(item.text[start:end] for start, end in ranges)
    return words if any(character.isalpha() for word in words for character in word) else ()


def _shares(repeats: Repeats, words: _Words) -> str:
    annotated, free = repeats.annotated[words], repeats.count[words]
    return f"{annotated:,} times annotated, {free:,} times not"


def _folded(mention: Mention, item: Item) -> str:
    return _line(mention.text_in(item.text)).casefold()


def _line(text: str) -> str:
    return " ".join(text.split())

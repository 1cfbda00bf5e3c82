"""Checks on texts: lengths of sentences, signs of damage, and strings of mentions that are
annotated unevenly.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from fascicle.core.document import Mention
from fascicle.core.mention import Span
from fascicle.core.wording import plural
from fascicle.evaluation.doctor.checks.contract import (
    Corpus,
    Hit,
    HitsOrNotes,
    format_share,
    quote_text,
)
from fascicle.evaluation.doctor.parts import CheckedDocument, CheckedPart

LONG_DOCUMENT: Final = 5_000  # words
SHORT_SENTENCE: Final = 2  # words
_FINAL: Final = frozenset(".?!:;…。？！：；؟۔।")
_CLOSERS: Final = "\"')]}»”’）」』"


def empty_document(item: CheckedDocument) -> Iterator[Hit]:
    """Documents without a character that is not white space."""
    if not item.text.strip():
        yield Hit(item=item)


def long_document(item: CheckedDocument) -> Iterator[Hit]:
    """Documents of more than `LONG_DOCUMENT` words."""
    if len(item.words) > LONG_DOCUMENT:
        yield Hit(item=item, message=f"{plural(len(item.words), 'word')}")


def long_sentence(corpus: Corpus) -> HitsOrNotes:
    """Finds sentences with more words than the settings allow."""
    longest = 0
    for item in corpus.items:
        for span, length in _sentences(item):
            longest = max(longest, length)
            if length > corpus.settings.long_sentence:
                yield Hit(item=item, spans=(span,), message=f"{plural(length, 'word')}")
    yield f"The longest sentence has {plural(longest, 'word')}."


def short_sentence(item: CheckedDocument) -> Iterator[Hit]:
    """Sentences of at most `SHORT_SENTENCE` words."""
    for span, length in _sentences(item):
        if length <= SHORT_SENTENCE:
            yield Hit(item=item, spans=(span,))


def open_sentence(corpus: Corpus) -> HitsOrNotes:
    """Marked sentences that do not end with a mark that ends sentences; part by part, how many
    of all these are.
    """
    open_: Counter[CheckedPart] = Counter()
    for item in corpus.items:
        for (start, end), _ in _sentences(item) if item.marks_sentences else ():
            if item.text[start:end].rstrip().rstrip(_CLOSERS + " ")[-1:] not in _FINAL:
                open_[item.part] += 1
                yield Hit(item=item, spans=((start, end),))
    for part, items in corpus.by_part().items():
        count = sum(len(item.sentences) for item in items if item.marks_sentences)
        if open_[part]:
            yield f"{part.name}: {format_share(open_[part], count, 'sentence')}."


def _sentences(item: CheckedDocument) -> Iterator[tuple[Span, int]]:
    spans = ((start, end) for start, end in item.sentences.tolist())
    return zip(spans, item.sentence_lengths().tolist(), strict=True)


REPLACED: Final = re.compile("\ufffd+")
CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# Soft hyphens, zero-width signs, marks of direction, byte order marks inside a text, private use.
INVISIBLE: Final = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\ue000-\uf8ff]"
)
_NO_CHARACTERS: Final = frozenset({"Cc", "Cn", "Co", "Cs"})
# What the bytes of a UTF-8 character after the first look like when they are read as cp1252 or
# latin-1.
_TAIL: Final = (
    "\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013\u2014\u2018-\u201a"
    "\u201c-\u201e\u2020-\u2022\u2026\u2030\u2039\u203a\u20ac\u2122"
)
# quotes stand there by right
_NOT_AFTER_LETTERS: Final = "\u00a0\u00ab\u00bb\u2018-\u201a\u201c-\u201e\u2039\u203a"
# Beginnings of the scripts and signs that are garbled most; of others only two characters in a row
# are believed.
_GARBLED: Final = re.compile(
    f"(?:[\u00c2-\u00df][{_TAIL}]|[\u00e0-\u00ef][{_TAIL}]{{2}}){{2,}}"
    f"|[ÂÃ][{_TAIL}]|[ÄÅÎÏÐÑ](?![{_NOT_AFTER_LETTERS}])[{_TAIL}]|[âï][{_TAIL}]{{2}}|ð[{_TAIL}]{{3}}"
)


def make_character_check(pattern: re.Pattern[str]) -> Callable[[CheckedDocument], Iterator[Hit]]:
    """Makes a check of the texts that match a pattern; the hit is at the first match."""

    def find(item: CheckedDocument) -> Iterator[Hit]:
        matches = (
            []
            if pattern is not CONTROL and item.text.isascii()
            else list(pattern.finditer(item.text))
        )
        if matches:
            message = f"{plural(len(matches), 'place')}, first {_name(matches[0][0][0])}"
            yield Hit(item=item, spans=(matches[0].span(),), message=message)

    return find


def mojibake(item: CheckedDocument) -> Iterator[Hit]:
    """Documents in which UTF-8 was read as another encoding."""
    if item.text.isascii():
        return
    matches = [
        (match, right) for match in _GARBLED.finditer(item.text) if (right := _ungarbled(match[0]))
    ]
    if matches:
        match, right = matches[0]
        message = f"{plural(len(matches), 'place')}, here probably {right!r}"
        yield Hit(item=item, spans=(match.span(),), message=message)


def mixed_forms(corpus: Corpus) -> HitsOrNotes:
    """Documents that are not in NFC, where others hold composed characters."""
    other = [item for item in corpus.items if not unicodedata.is_normalized("NFC", item.text)]
    composed = sum(
        1
        for item in corpus.items
        if not item.text.isascii()
        and unicodedata.is_normalized("NFC", item.text)
        and not unicodedata.is_normalized("NFD", item.text)
    )
    if not composed:
        return
    for item in other:
        at = _first_difference(item.text)
        yield Hit(item=item, spans=((at, at + 1),), message=f"first {_name(item.text[at])}")
    if other:
        yield f"Composed characters, in NFC, are in {plural(composed, 'other document')}."


def _ungarbled(text: str) -> str:
    """Returns the character whose UTF-8 was read as cp1252 or latin-1; empty if there is none."""
    data = b"".join(_byte(character) for character in text)
    try:
        right = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return (
        right
        if all(unicodedata.category(character) not in _NO_CHARACTERS for character in right)
        else ""
    )


def _byte(character: str) -> bytes:
    try:
        return character.encode("cp1252")
    except UnicodeEncodeError:
        return character.encode("latin-1", errors="replace")


def _first_difference(text: str) -> int:
    """Returns the position of the first character from which a text is not in NFC."""
    normal = unicodedata.normalize("NFC", text)
    same = next(
        (i for i, (a, b) in enumerate(zip(text, normal, strict=False)) if a != b),
        min(len(text), len(normal)),
    )
    return min(same, len(text) - 1)


def _name(character: str) -> str:
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X}{' ' if name else ''}{name}"


# share of the occurrences of a string that are annotated, from which the others look forgotten
LIKELY: Final = 0.8
OFTEN: Final = 5  # annotated occurrences, likewise
_SHORTEST: Final = 3  # characters of a string whose repeats are sought

_Words = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Repeats:
    """Occurrences of the strings of mentions that no mention overlaps.

    Attributes:
        annotated: words of a string -> number of mentions.
        free: document, range and words of each occurrence without annotation.
        count: words of a string -> number of these.
    """

    annotated: Counter[_Words]
    free: list[tuple[CheckedDocument, Span, _Words]]
    count: Counter[_Words]


_FirstMentions = dict[tuple[str, str], tuple[CheckedDocument, Mention]]


def _types_of_strings(corpus: Corpus) -> tuple[dict[str, Counter[str]], _FirstMentions]:
    """Returns how often each string has each type, and the first mention of both."""
    types: defaultdict[str, Counter[str]] = defaultdict(Counter)
    first: _FirstMentions = {}
    for item in corpus.items:
        for mention in item.mentions:
            text = _line(mention.text_in(item.text))
            types[text][mention.type] += 1
            first.setdefault((text, mention.type), (item, mention))
    return types, first


def ambiguous_string(corpus: Corpus) -> HitsOrNotes:
    """Strings with several types; the hit is at the first mention of the rarest type."""
    types, first = _types_of_strings(corpus)
    ambiguous = [(text, counts) for text, counts in types.items() if len(counts) > 1]
    for text, counts in sorted(ambiguous, key=lambda pair: (-pair[1].total(), pair[0])):
        ranked = counts.most_common()
        item, mention = first[text, ranked[-1][0]]
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in ranked)
        message = f"{quote_text(text)} is {kinds}"
        yield Hit(item=item, spans=mention.spans, message=message, where="all parts")
    if ambiguous:
        touched = sum(counts.total() for _, counts in ambiguous)
        total = sum(len(item.mentions) for item in corpus.items)
        yield f"{format_share(touched, total, 'mention')} have such a string."


def unannotated_repeat(corpus: Corpus) -> HitsOrNotes:
    """Occurrences of strings of mentions, in whole words and the same case, that no mention
    overlaps.
    """
    repeats = corpus.shared(find_repeats)
    for item, span, words in repeats.free:
        yield Hit(item=item, spans=(span,), message=_shares(repeats, words))
    if repeats.free:
        total = repeats.annotated.total()
        yield (
            f"{plural(len(repeats.count), 'string')}; there are {plural(total, 'mention')} of "
            "one range."
        )


def likely_missed(corpus: Corpus) -> HitsOrNotes:
    """Finds free occurrences of strings that are annotated nearly everywhere."""
    repeats = corpus.shared(find_repeats)
    for item, span, words in repeats.free:
        annotated, free = repeats.annotated[words], repeats.count[words]
        if annotated >= OFTEN and annotated >= LIKELY * (annotated + free):
            yield Hit(item=item, spans=(span,), message=_shares(repeats, words))


def seen_mention(corpus: Corpus) -> HitsOrNotes:
    """Finds mentions of dev and test whose string, ignoring case, is that of a mention of train."""
    parts = {part.name: items for part, items in corpus.by_part().items()}
    strings_of_train = {_folded(m, item) for item in parts.get("train", ()) for m in item.mentions}
    if not strings_of_train:
        return
    for name in ("dev", "test"):
        mentions = [
            (item, m, _folded(m, item)) for item in parts.get(name, ()) for m in item.mentions
        ]
        repeated = [(item, m) for item, m, text in mentions if text in strings_of_train]
        for item, m in repeated:
            yield Hit(item=item, spans=m.spans, message=m.type)
        strings = {text for _, _, text in mentions}
        if mentions:
            of_strings = format_share(len(strings & strings_of_train), len(strings), "string")
            yield f"{name}: {format_share(len(repeated), len(mentions), 'mention')}, {of_strings}."


def find_repeats(corpus: Corpus) -> _Repeats:
    """Finds the free occurrences of all strings of mentions: the longest from left to right,
    none overlapping.
    """
    annotated: Counter[_Words] = Counter()
    for item in corpus.items:
        annotated.update(words for mention in item.mentions if (words := _in_words(mention, item)))
    lengths: defaultdict[str, set[int]] = defaultdict(set)  # of the strings that begin with a word
    for words in annotated:
        lengths[words[0]].add(len(words))
    longest_first = {word: sorted(sizes, reverse=True) for word, sizes in lengths.items()}
    free = [sizes for item in corpus.items for sizes in _find_free(item, annotated, longest_first)]
    return _Repeats(annotated=annotated, free=free, count=Counter(words for _, _, words in free))


def _find_free(
    item: CheckedDocument, strings: Counter[_Words], lengths: dict[str, list[int]]
) -> Iterator[tuple[CheckedDocument, Span, _Words]]:
    words = [item.text[start:end] for start, end in item.words.tolist()]
    is_annotated = _flag_annotated(item)
    at = 0
    while at < len(words):
        step = 1
        for length in lengths.get(words[at], ()):
            candidate = tuple(words[at : at + length])
            if (
                len(candidate) == length
                and candidate in strings
                and not any(is_annotated[at : at + length])
            ):
                yield item, (int(item.words[at, 0]), int(item.words[at + length - 1, 1])), candidate
                step = length
                break
        at += step


def _flag_annotated(item: CheckedDocument) -> bytearray:
    """Returns a flag for each word: 1 if a mention overlaps it."""
    flags = bytearray(len(item.words))
    for mention in item.mentions:
        for start, end in mention.spans:
            first, last = bisect_right(item.words[:, 1], start), bisect_left(item.words[:, 0], end)
            flags[first:last] = b"\x01" * (last - first)
    return flags


def _in_words(mention: Mention, item: CheckedDocument) -> _Words:
    """The words of a mention; none if it is too short, has no letter, several fragments, or
    borders inside words.
    """
    if len(mention.spans) > 1 or mention.end - mention.start < _SHORTEST:
        return ()
    # bisect, for searchsorted first copies all words into a row of its own: the square of a corpus
    # in one text
    first, last = (
        bisect_left(item.words[:, 0], mention.start),
        bisect_right(item.words[:, 1], mention.end),
    )
    ranges = item.words[first:last].tolist()
    if not ranges or (ranges[0][0], ranges[-1][1]) != (mention.start, mention.end):
        return ()
    words = tuple(item.text[start:end] for start, end in ranges)
    return words if any(character.isalpha() for word in words for character in word) else ()


def _shares(repeats: _Repeats, words: _Words) -> str:
    annotated, free = repeats.annotated[words], repeats.count[words]
    return f"{annotated:,} times annotated, {free:,} times not"


def _folded(mention: Mention, item: CheckedDocument) -> str:
    return _line(mention.text_in(item.text)).casefold()


def _line(text: str) -> str:
    return " ".join(text.split())

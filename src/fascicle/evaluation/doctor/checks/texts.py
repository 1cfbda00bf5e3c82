"""Texts: sentences of an unusual length, and characters that hint at damage."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from fascicle.core.mention import Span
from fascicle.core.wording import counted
from fascicle.evaluation.doctor.checks.contract import Corpus, Detail, Found, Hit, percent
from fascicle.evaluation.doctor.parts import Item

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
    """Finds sentences with more words than the settings allow."""
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
    """Yields, part by part, how many sentences do not end as sentences do."""
    for part, items in corpus.by_part().items():
        count = sum(len(item.sentences) for item in items if item.marks_sentences)
        found = sum(1 for item in items for _ in open_sentence(item))
        if found:
            yield Detail(text=f"{part.name}: {found:,} of {counted(count, 'sentence')} ({percent(found, count)}).")


def _sentences(item: Item) -> Iterator[tuple[Span, int]]:
    spans = ((start, end) for start, end in item.sentences.tolist())
    return zip(spans, item.sentence_lengths().tolist(), strict=True)


_REPLACED: Final = re.compile("\ufffd+")
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# Soft hyphens, zero-width signs, marks of direction, byte order marks inside a text, private use.
_INVISIBLE: Final = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\ue000-\uf8ff]"
)
_NO_CHARACTERS: Final = frozenset({"Cc", "Cn", "Co", "Cs"})
# What the bytes of a UTF-8 character after the first look like when they are read as cp1252 or latin-1.
_TAIL: Final = (
    "\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013\u2014\u2018-\u201a"
    "\u201c-\u201e\u2020-\u2022\u2026\u2030\u2039\u203a\u20ac\u2122"
)
_NOT_AFTER_LETTERS: Final = "\u00a0\u00ab\u00bb\u2018-\u201a\u201c-\u201e\u2039\u203a"  # quotes stand there by right
# Beginnings of the scripts and signs that are garbled most; of others only two characters in a row are believed.
_GARBLED: Final = re.compile(
    f"(?:[\u00c2-\u00df][{_TAIL}]|[\u00e0-\u00ef][{_TAIL}]{{2}}){{2,}}"
    f"|[ÂÃ][{_TAIL}]|[ÄÅÎÏÐÑ](?![{_NOT_AFTER_LETTERS}])[{_TAIL}]|[âï][{_TAIL}]{{2}}|ð[{_TAIL}]{{3}}"
)


def replacement_character(item: Item) -> Iterator[Hit]:
    """Documents with U+FFFD."""
    yield from _matches(item, _REPLACED)


def control_character(item: Item) -> Iterator[Hit]:
    """Documents with control characters other than tabs and line ends."""
    yield from _matches(item, _CONTROL)


def invisible_character(item: Item) -> Iterator[Hit]:
    """Documents with characters that cannot be seen, or of private use."""
    yield from _matches(item, _INVISIBLE)


def mojibake(item: Item) -> Iterator[Hit]:
    """Documents in which UTF-8 was read as another encoding."""
    if item.text.isascii():
        return
    found = [(match, right) for match in _GARBLED.finditer(item.text) if (right := _ungarbled(match[0]))]
    if found:
        match, right = found[0]
        message = f"{counted(len(found), 'place')}, here probably {right!r}"
        yield Hit(item=item, spans=((match.start(), match.end()),), message=message)


def mixed_forms(corpus: Corpus) -> Found:
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
        yield Detail(text=f"Composed characters, in NFC, are in {counted(composed, 'other document')}.")


def _matches(item: Item, pattern: re.Pattern[str]) -> Iterator[Hit]:
    if pattern is not _CONTROL and item.text.isascii():
        return
    found = list(pattern.finditer(item.text))
    if found:
        start, end = found[0].span()
        message = f"{counted(len(found), 'place')}, first {_name(item.text[start])}"
        yield Hit(item=item, spans=((start, end),), message=message)


def _ungarbled(text: str) -> str:
    """Returns the character whose UTF-8 was read as cp1252 or latin-1; empty if there is none."""
    data = b"".join(_byte(character) for character in text)
    try:
        right = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return right if all(unicodedata.category(character) not in _NO_CHARACTERS for character in right) else ""


def _byte(character: str) -> bytes:
    try:
        return character.encode("cp1252")
    except UnicodeEncodeError:
        return character.encode("latin-1", errors="replace")


def _first_difference(text: str) -> int:
    """Returns the position of the first character from which a text is not in NFC."""
    normal = unicodedata.normalize("NFC", text)
    same = next((i for i, (a, b) in enumerate(zip(text, normal, strict=False)) if a != b), min(len(text), len(normal)))
    return min(same, len(text) - 1)


def _name(character: str) -> str:
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X}{' ' if name else ''}{name}"

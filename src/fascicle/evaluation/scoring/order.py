"""Documents matched by their order and their characters: for files whose documents have no names.

Two such files are about the same texts if their characters are the same, white space left out: a column file joins
words by blanks, whatever stood between them. So documents need not be cut alike, nor texts into words.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import msgspec

from fascicle.core.document import Mention, unique
from fascicle.core.mention import Fragments
from fascicle.errors import InputError

_SHOWN = 30  # characters on each side of a difference


@dataclass(frozen=True, kw_only=True)
class _Stream:
    """The texts of several documents, one after the other, without white space.

    Attributes:
        ids: of the documents.
        texts: of the documents.
        starts: where in the stream each document begins; then the length of the stream.
        characters: all of them.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...] = field(repr=False)
    starts: tuple[int, ...] = field(repr=False)
    characters: str = field(repr=False)

    @staticmethod
    def of(texts: Mapping[str, str]) -> _Stream:
        """Joins texts in their order."""
        bare = ["".join(text.split()) for text in texts.values()]
        starts = tuple(accumulate(map(len, bare), initial=0))
        return _Stream(ids=tuple(texts), texts=tuple(texts.values()), starts=starts, characters="".join(bare))

    def document_at(self, place: int) -> int:
        """Returns the number of the document that holds a character of the stream."""
        return bisect_right(self.starts, place) - 1

    def shown(self, place: int) -> str:
        """Quotes the text at a place, with its document, for a sentence."""
        if place >= len(self.characters):
            return "nothing more"
        number = self.document_at(place)
        at = _visible(self.texts[number])[place - self.starts[number]]
        text = self.texts[number][at : at + _SHOWN]
        return f"{text!r} at {at:,} of document {self.ids[number]!r}"


def match_by_order(
    gold: Mapping[str, str],
    texts: Mapping[str, str],
    mentions: Mapping[str, Sequence[Mention]],
    *,
    names: tuple[str, str] = ("the gold", "the predictions"),
) -> dict[str, tuple[Mention, ...]]:
    """Moves mentions onto the documents of another file with the same words in the same order.

    Args:
        gold: document id -> text, in the order of the file.
        texts: the same of the file with the mentions; ids and cuts between documents may be others.
        mentions: document id -> mentions, with offsets into ``texts``.
        names: of the two files, for errors.

    Returns:
        For every document of the gold the mentions, with offsets (code points) into its text.

    Raises:
        InputError: the words differ, or a mention reaches from one document of the gold into the next.
    """
    ours, theirs = _Stream.of(gold), _Stream.of(texts)
    if ours.characters != theirs.characters:
        raise InputError(_difference(ours, theirs, names))
    moved: dict[str, list[Mention]] = {identifier: [] for identifier in gold}
    visible: dict[int, list[int]] = {}
    for number, identifier in enumerate(theirs.ids):
        found = mentions.get(identifier, ())
        places = _visible(theirs.texts[number]) if found else []
        for mention in found:
            ranges = list(_in_stream(mention.spans, places, theirs.starts[number]))
            if not ranges:
                continue  # white space alone, which no file of words can hold
            home = ours.document_at(ranges[0][0])
            if ranges[-1][1] > ours.starts[home + 1]:
                raise InputError(_across(mention, identifier, ours.ids[home], names))
            at = visible.setdefault(home, _visible(ours.texts[home]) if home not in visible else [])
            base = ours.starts[home]
            spans = tuple((at[start - base], at[end - 1 - base] + 1) for start, end in ranges)
            moved[ours.ids[home]].append(msgspec.structs.replace(mention, spans=spans))
    return {identifier: unique(found)[0] for identifier, found in moved.items()}


def _visible(text: str) -> list[int]:
    """Returns the positions of the characters of a text that are not white space."""
    return [at for at, character in enumerate(text) if not character.isspace()]


def _in_stream(spans: Fragments, places: Sequence[int], start_of_document: int) -> Iterator[tuple[int, int]]:
    for start, end in spans:
        first, last = bisect_left(places, start), bisect_left(places, end)
        if last > first:
            yield start_of_document + first, start_of_document + last


def _difference(ours: _Stream, theirs: _Stream, names: tuple[str, str]) -> str:
    place = _first_difference(ours.characters, theirs.characters)
    gold, said = names
    return (
        f"the words of {said} ({_count(theirs.ids)}) and {gold} ({_count(ours.ids)}) differ, so documents cannot be "
        f"matched by their order: {said} has {theirs.shown(place)}, where {gold} has {ours.shown(place)}; give both "
        "files the same texts in the same order, or the same document ids"
    )


def _first_difference(first: str, second: str) -> int:
    """Finds by bisection the first place at which two different strings differ."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _across(mention: Mention, theirs: str, ours: str, names: tuple[str, str]) -> str:
    return (
        f"{names[1]}: the mention of type {mention.type!r} at {mention.spans} of document {theirs!r} reaches beyond "
        f"document {ours!r} of {names[0]}; give both files the same documents"
    )


def _count(ids: Iterable[str]) -> str:
    count = len(tuple(ids))
    return f"{count:,} {'document' if count == 1 else 'documents'}"

"""Names composed of a quality and an entity in texts: "blood glucose was raised" for the name
"increased blood glucose".

A word for the quality stands up to five words before or behind the entity, in one sentence, without
punctuation or another entity between them. What may stand between and behind them is in
``assets/lexicon/qualities.toml``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, Self

import msgspec
import numpy as np

from fascicle.core.arrays import Ints
from fascicle.core.document import Document
from fascicle.core.mention import (
    Fragments,
    Mention,
    PlacedMentions,
    PlacedSpans,
    Span,
    fragments_contain,
    fragments_overlap,
    join_over_blanks,
)
from fascicle.terms.keys.key import TokenArrays
from fascicle.terms.overlaps import Edges, Meaning
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import Array, expand_ranges, map_array
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.qualities import ROLES, UNIT, word_list
from fascicle.terms.pack.qualities import words as quality_words
from fascicle.terms.scanning.table import NameTable

TIER: Final = "composed"  # of links
_REACH: Final = 5  # tokens between quality and entity
_BORDER: Final = re.compile(r"[^\w\s'’-]|\n\s*[-\n]")
_NEXT: Final = re.compile(r"[ \n-]+([\w-]+)")
_BEFORE: Final = re.compile(r"([\w-]+)[ \n-]+$")
_HEAD: Final = re.compile(
    r"([\w-]+)\s+(?:of|in)\s+"
    r"(?:(?:the|and|mean|total|serum|plasma|his|her|their|\w+(?:ic|al|ar|ly)|\w+-\w+)\s+){0,3}$"
)
_WORD: Final = 40  # characters of a word at most
_BITS: Final = 40  # of a place in sorted numbers; the class is above them
_ADJECTIVE, _NOUN, _VERB = (1 << number for number in range(len(ROLES)))


class ComposedName(NamedTuple):
    """Quality and entity in a text.

    Attributes:
        quality: place of the word for the quality.
        entity: place of the entity.
        roles: bits of the roles of that word.
        kind: number of the class of the quality.
        rows: of the keys of the names that they mean.
    """

    quality: Span
    entity: Span
    roles: int
    kind: int
    rows: tuple[int, ...]

    @property
    def whole(self) -> Span:
        """From the first to the last character."""
        return min(self.quality[0], self.entity[0]), max(self.quality[1], self.entity[1])

    def moved(self, by: int) -> ComposedName:
        """Returns the name with other offsets."""
        (first, last), (start, end) = self.quality, self.entity
        return self._replace(quality=(first + by, last + by), entity=(start + by, end + by))


class ComposedNames:
    """Table of the composed names of a pack."""

    def __init__(self, pack: Pack) -> None:
        """Maps the files."""
        self._table = NameTable.open(pack.folder / layout.QUALITIES)
        self._starts, self._classes, self._rows = (
            map_array(pack.folder / name) for name in layout.OF_QUALITIES
        )

    @classmethod
    def of(cls, pack: object) -> Self | None:
        """Opens the table of a pack, if it has one."""
        has = isinstance(pack, Pack) and layout.QUALITIES in pack.manifest.files
        return cls(pack) if isinstance(pack, Pack) and has else None

    def find(
        self, tokens: TokenArrays, documents: Sequence[Document]
    ) -> dict[int, list[ComposedName]]:
        """Returns qualities near entities, by the number of the document and the entity.

        Args:
            tokens: of the texts of the documents.
            documents: in the same order.
        """
        names = self._pairs(tokens)
        ends = np.cumsum([len(document.text) + 1 for document in documents])
        of = np.searchsorted(ends, [name.entity[0] for name in names], side="right").tolist()
        result: dict[int, list[ComposedName]] = defaultdict(list)
        for number, name in zip(of, names, strict=True):
            size = len(documents[number].text)
            start, end = (place - (int(ends[number]) - size - 1) for place in name.whole)
            if start >= 0 and end <= size:
                result[number].append(name.moved(start - name.whole[0]))
        return result

    def _pairs(self, tokens: TokenArrays) -> list[ComposedName]:
        hits = self._table.find(tokens)
        at, entries = expand_ranges(
            self._starts[hits.rows].astype(np.int64), self._starts[hits.rows + 1].astype(np.int64)
        )
        first, last = hits.first[at], hits.last[at]
        kinds, roles = np.divmod(self._classes[entries].astype(np.int64), UNIT)
        is_word = roles > 0
        words = _Words.of(first[is_word], kinds[is_word], roles[is_word])
        columns = (first, last, kinds, self._rows[entries])
        pairs = words.pairs(*(column[~is_word] for column in columns))
        return [_name(tokens, words, place, rows) for place, rows in sorted(pairs.items())]


def _name(
    tokens: TokenArrays, words: _Words, place: tuple[int, ...], rows: Sequence[int]
) -> ComposedName:
    start, end, word, kind = place
    at = words.places[word]
    quality = int(tokens.starts[at]), int(tokens.ends[at])
    entity = int(tokens.starts[start]), int(tokens.ends[end])
    return ComposedName(quality, entity, int(words.roles[word]), kind, tuple(rows))


class _Words(NamedTuple):
    """Words for qualities in a text, sorted by class and place.

    Attributes:
        numbers: class and token of each.
        places: token of each.
        roles: of each.
    """

    numbers: Ints
    places: Ints
    roles: Ints

    @classmethod
    def of(cls, places: Ints, kinds: Ints, roles: Ints) -> Self:
        """Sorts words."""
        numbers = kinds << _BITS | places
        order = np.argsort(numbers)
        return cls(numbers[order], places[order], roles[order])

    def pairs(
        self, first: Ints, last: Ints, kinds: Ints, rows: Ints
    ) -> dict[tuple[int, ...], list[int]]:
        """Returns the keys of names by the place, word and class of entities.

        Args:
            first: token of each entity.
            last: its last token.
            kinds: class of the quality.
            rows: of the key of a name.
        """
        pairs: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for near in self._near(first, last, kinds):
            which = np.flatnonzero(near >= 0)
            columns = (first[which], last[which], near[which], kinds[which], rows[which])
            for *place, row in zip(*(column.tolist() for column in columns), strict=True):
                pairs[tuple(place)].append(row)
        return pairs

    def _near(self, first: Ints, last: Ints, kinds: Ints) -> Iterator[Array]:
        """Yields the nearest word before, and behind, each entity; -1 where none is near enough."""
        if not len(self.numbers):
            return
        before = np.searchsorted(self.numbers, kinds << _BITS | first) - 1
        behind = np.searchsorted(self.numbers, kinds << _BITS | last, side="right")
        for near, edge in ((before, first), (behind, last)):
            inside = np.clip(near, 0, len(self.numbers) - 1)
            far = np.abs(self.numbers[inside] - (kinds << _BITS | edge)) > _REACH + 1
            yield np.where(far, -1, inside)


def choose_composed(
    text: str, names: Sequence[ComposedName], edges: Edges
) -> Iterator[tuple[ComposedName, Fragments]]:
    """Yields the composed names that a text means with their fragments, the longest entities first;
    no two share an entity or a word.

    Args:
        text: of a document.
        names: in it.
        edges: of its sentences.
    """
    words: set[Span] = set()
    picked = PlacedSpans([])
    entities = sorted({name.entity for name in names})
    for name in sorted(names, key=_order):
        if name.quality in words or picked.overlapping(name.entity):
            continue
        if _is_meant(text, name, entities) and not edges.part(*name.whole):
            words.add(name.quality)
            picked.add(name.entity)
            parts = tuple(sorted((name.quality, name.entity)))
            yield name, join_over_blanks(parts, text)


def add_composed(
    mentions: list[Mention],
    names: Iterable[tuple[ComposedName, Fragments]],
    read: Callable[[Sequence[int]], Sequence[Meaning]],
    *,
    source: str,
    longest: bool,
) -> None:
    """Adds the mentions of composed names, in the order of the text.

    A composed name is left out beside a mention that overlaps it and is not inside of it.

    Args:
        mentions: of names as they are written, to which they are added.
        names: composed names with their fragments.
        read: gives the meanings of the names of keys.
        source: of the mentions.
        longest: whether mentions inside of a composed name are removed, and it has one type.
    """
    chosen, removed = list(names), set[int]()
    places = PlacedMentions(mentions if chosen else ())
    for name, spans in chosen:
        new = [*_merge(spans, read(name.rows), source)][: 1 if longest else None]
        near = [at for mention in new[:1] for at in places.beside(mention) if at not in removed]
        beside = [at for at in near if fragments_overlap(mentions[at].spans, spans)]
        if all(_is_inside(mentions[at].spans, spans) for at in beside):
            removed.update(beside if longest else ())
            for mention in new:
                places.put(len(mentions), mention)
                mentions.append(mention)
    rest = [mention for at, mention in enumerate(mentions) if at not in removed]
    mentions[:] = sorted(rest, key=lambda mention: mention.spans)


def _is_inside(spans: Fragments, outer: Fragments) -> bool:
    return spans != outer and fragments_contain(outer, spans)


def _merge(spans: Fragments, meanings: Sequence[Meaning], source: str) -> Iterator[Mention]:
    """Yields a mention for each type, linked where all names of this type mean one concept."""
    by_type: dict[str, list[Meaning]] = {}
    for meaning in sorted(meanings, key=lambda meaning: (-meaning.score, meaning.type)):
        by_type.setdefault(meaning.type, []).append(meaning)
    for kind, several in by_type.items():
        best = several[0]
        concepts = {tuple(link.curie for link in meaning.links) for meaning in several}
        links = tuple(msgspec.structs.replace(link, tier=TIER) for link in best.links)
        yield Mention(
            spans, kind, score=best.score, source=source, links=links if len(concepts) == 1 else ()
        )


def _order(name: ComposedName) -> tuple[int, int, Span]:
    start, end = name.whole
    return name.entity[0] - name.entity[1], end - start, name.quality


def _is_meant(text: str, name: ComposedName, entities: Sequence[Span]) -> bool:
    words = _between(text, name, entities)
    if words is None:
        return False
    is_before = name.quality < name.entity
    if not is_before and not words and name.roles & _NOUN:
        return _is_alone(text, name)
    if not (_before(name, words, text) if is_before else _behind(name, words, text)):
        return False
    after = _NEXT.match(text, name.whole[1])
    return after is None or after[1][0].isdigit() or _is_function(after[1].lower())


def _between(text: str, name: ComposedName, entities: Sequence[Span]) -> list[str] | None:
    """Returns the words between quality and entity; None if something keeps the two apart."""
    (_, start), (end, whole) = sorted((name.quality, name.entity))
    gap = text[start:end]
    if start > end or _BORDER.search(gap) or text.startswith("/", whole):
        return None
    first, behind = (bisect_left(entities, (place, 0)) for place in (start, end))
    if any(last <= end for _, last in entities[first:behind]):
        return None
    words = gap.lower().replace("-", " ").split()
    apart = (quality_words().keys(), word_list("ends", "nouns"))
    return words if all(each.isdisjoint(words) for each in apart) else None


def _before(name: ComposedName, words: list[str], text: str) -> bool:
    """True if words between a quality and the entity behind it let them belong together."""
    prepositions, measures = word_list("prepositions"), word_list("measures")
    is_noun = bool(words) and words[0] in prepositions
    if not name.roles & (_NOUN if is_noun else _ADJECTIVE):
        return False
    pairs = pairwise(words)
    if any(word in prepositions and before not in measures for before, word in pairs):
        return False
    return _has_blank(text, name.entity) or all(map(_is_weak, words))


def _behind(name: ComposedName, words: list[str], text: str) -> bool:
    """True if words between an entity and the quality behind it let them belong together."""
    linking, start = word_list("linking"), name.entity[0]
    fits = name.roles & _VERB or (name.roles & _ADJECTIVE and not linking.isdisjoint(words))
    if not (fits and all(_is_weak(word) or word in linking for word in words)):
        return False
    head = _HEAD.search(text, max(0, start - 3 * _WORD), start)  # "the dose of insulin rose"
    return (not head or head[1].lower() in word_list("measures")) and _is_alone(text, name)


def _is_alone(text: str, name: ComposedName) -> bool:
    """True unless an entity of one word is the end of the name of another entity."""
    start = name.entity[0]
    if _has_blank(text, name.entity):
        return True
    before = _BEFORE.search(text, max(0, start - _WORD), start)
    return before is None or _is_weak(word := before[1].lower()) or _is_function(word)


def _has_blank(text: str, span: Span) -> bool:
    return " " in text[slice(*span)]


def _is_weak(word: str) -> bool:
    """True for a word that does not change which entity is meant."""
    return word.endswith("ly") or word in word_list(
        "articles", "measures", "places", "prepositions", "weak"
    )


def _is_function(word: str) -> bool:
    """True for a word that cannot continue the name of an entity."""
    return word.endswith("ly") or word in word_list(
        "ends", "linking", "prepositions", "articles", "measures", "behind"
    )

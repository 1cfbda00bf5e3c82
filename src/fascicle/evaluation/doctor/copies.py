"""Search for texts that occur several times: within a part, across the parts of a corpus, and
across corpora.

Three kinds of copies, each sought only where none of the former was found:

* ``duplicate``: the same normal form (`fascicle.evaluation.doctor.fingerprints`).
* ``near-duplicate``: shingles with a Jaccard similarity of at least the threshold.
* ``shared-sentence``: a sentence of one document stands in another one, of another part.

Texts of fewer than ``min_words`` words are compared as wholes only; their copies are a kind of
their own, ``short-duplicate``. Other corpora are read once, in chunks, and never held: memory grows
with what is checked, and with the number of copies found.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Final, Literal

from fascicle.core.mention import Span
from fascicle.core.stream import group_by_size
from fascicle.evaluation.doctor.fingerprints import (
    ANCHOR,
    Hashes,
    NearIndex,
    Passages,
    digest,
    normal_words,
    shingles,
)
from fascicle.evaluation.doctor.parts import (
    SPLITS,
    CheckedDocument,
    CheckedPart,
    GivenPart,
    Unread,
    read_until_fault,
    source_id,
)
from fascicle.formats.predictions import text_hash

Kind = Literal["duplicate", "near-duplicate", "shared-sentence", "short-duplicate"]
Relation = Literal["in-part", "across-parts", "across-corpora"]
_CHUNK: Final = 1 << 20  # characters of other corpora that are looked at together
_BREAK: Final = "\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Foreign:
    """A document of another corpus; its text is not kept.

    Attributes:
        part: the corpus.
        path: of the file.
        id: of the document.
        sha256: of its text.
    """

    part: CheckedPart
    path: str
    id: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Group:
    """Documents of one part, and their copies in one part.

    Attributes:
        kind: of copy.
        originals: of the part that must be kept apart from training, or what was read
            first.
        copies: of these.
        similarity: 1 for duplicates, Jaccard for near duplicates, 0 for shared sentences, of which
            it says nothing.
        sentences: the shared sentence of each original.
    """

    kind: Kind
    originals: tuple[CheckedDocument, ...]
    copies: tuple[CheckedDocument | Foreign, ...]
    similarity: float = 1.0
    sentences: tuple[Span, ...] = ()

    @property
    def where(self) -> str:
        """The parts, for counts."""
        original, other = self.originals[0].part.name, self.copies[0].part.name
        return original if self.relation == "in-part" else f"{original} in {other}"

    @property
    def relation(self) -> Relation:
        """Relation of the two parts: the same part, two splits, or two corpora."""
        original, other = self.originals[0].part, self.copies[0].part
        if original == other:
            return "in-part"
        return "across-parts" if {original.role, other.role} <= SPLITS else "across-corpora"


@dataclass(frozen=True, kw_only=True)
class Copies:
    """Copies that were found, and the number of documents that were not compared.

    Attributes:
        groups: of all kinds.
        shared_ids: a document, and one of another part or corpus with the same id of its own.
        not_compared: documents whose near duplicates were not sought, for there were too many
            candidates.
        compared: documents of other corpora.
    """

    groups: list[Group]
    shared_ids: list[tuple[CheckedDocument, CheckedDocument | Foreign]]
    not_compared: int
    compared: int


def find_copies(
    items: Sequence[CheckedDocument],
    against: Iterable[GivenPart],
    unread: list[Unread],
    *,
    threshold: Fraction,
    min_words: int,
) -> Copies:
    """Compares all documents with one another, and with those of other corpora.

    Args:
        items: the items that are checked.
        against: other corpora, which are not compared with one another.
        unread: receives those that were not read to their end.
        threshold: least Jaccard similarity of near duplicates.
        min_words: a text or sentence of fewer words is short.
    """
    search = CopySearch(items, threshold=threshold, min_words=min_words)
    search.among_themselves()
    chunk: list[tuple[Foreign, str]] = []
    compared, size = 0, 0
    for place in against:
        for document in read_until_fault(place, unread):
            foreign = Foreign(
                part=place.part, path=place.path, id=document.id, sha256=text_hash(document.text)
            )
            is_columns = place.report.formats.get(place.path) == "conll"
            search.compare_id(foreign, source_id(document, place.path, is_columns=is_columns))
            chunk.append((foreign, document.text))
            compared, size = compared + 1, size + len(document.text)
            if size >= _CHUNK:
                search.compare(chunk)
                chunk, size = [], 0
    search.compare(chunk)
    return Copies(
        groups=search.groups,
        shared_ids=search.shared_ids,
        not_compared=search.near.skipped,
        compared=compared,
    )


class CopySearch:
    """Classes of documents with the same normal form, with indexes over one document of each
    class.
    """

    def __init__(
        self, items: Sequence[CheckedDocument], *, threshold: Fraction, min_words: int
    ) -> None:
        self.groups: list[Group] = []
        self.shared_ids: list[tuple[CheckedDocument, CheckedDocument | Foreign]] = []
        self._items = items
        self._min_words = min_words
        self._number: dict[bytes, int] = {}  # of the class with a normal form
        self._members: list[list[CheckedDocument]] = []
        self._class_of: list[int] = []  # of each item, -1 for texts without a letter or digit
        self._is_long: list[bool] = []  # whether a member of the class has enough words
        self._by_id: defaultdict[str, list[CheckedDocument]] = defaultdict(list)
        self._shingles = self._make_classes()
        self.near = NearIndex(self._shingles, threshold=threshold)
        self._alike: set[frozenset[int]] = set()  # classes of near duplicates
        # of each sentence of the index
        self._owners: list[dict[CheckedPart, list[tuple[CheckedDocument, Span]]]] = []
        self._remaining: dict[
            tuple[int, CheckedPart, CheckedPart], list[tuple[CheckedDocument, Span]]
        ] = {}
        self._passages = Passages(self._index_sentences())

    def _make_classes(self) -> list[Hashes]:
        """Puts each item into the class of its normal form; returns the shingles of the classes,
        none for one of short texts.
        """
        shingled: list[Hashes] = []
        for item in self._items:
            if item.own_id:
                self._by_id[item.own_id].append(item)
            words = normal_words(item.text)
            number = self._number.setdefault(digest(words), len(self._members)) if words else -1
            self._class_of.append(number)
            if number == len(self._members):
                self._members.append([])
                self._is_long.append(False)
                shingled.append(shingles(words))
            if number >= 0:
                self._members[number].append(item)
                self._is_long[number] |= len(item.words) >= self._min_words
        none = shingles([])
        return [
            own if is_long else none for own, is_long in zip(shingled, self._is_long, strict=True)
        ]

    def among_themselves(self) -> None:
        """Finds the copies among the items."""
        for members in self._members:
            if len(members) > 1:
                self._same(members)
        for probe, member, similarity in self.near.pairs(self._shingles, own=True):
            self._alike.add(frozenset((probe, member)))
            self._near(self._members[probe], self._members[member], float(similarity))
        if len({item.part for item in self._items}) > 1:
            self._shared([(item, item.text) for item in self._items], self._class_of, {})
        self._shingles.clear()  # the index has them
        for items in self._by_id.values():
            for first, other in combinations(_by_part(items).values(), 2):
                originals, copies = (
                    (first, other) if first[0].part.rank < other[0].part.rank else (other, first)
                )
                self.shared_ids += [(item, copies[0]) for item in originals]

    def compare_id(self, foreign: Foreign, identifier: str) -> None:
        """Finds the items with the id of a document of another corpus."""
        self.shared_ids += [(item, foreign) for item in self._by_id.get(identifier, ())]

    def compare(self, chunk: Sequence[tuple[Foreign, str]]) -> None:
        """Finds the copies in documents of other corpora."""
        classes, near = self.compare_wholes(chunk)
        self._shared(chunk, classes, near)

    def compare_wholes(
        self, chunk: Sequence[tuple[Foreign, str]]
    ) -> tuple[list[int], Mapping[int, set[int]]]:
        """Finds documents of other corpora that are copies as wholes.

        Returns:
            The class of each document, -1 for none; index of a document -> classes of its near
            duplicates.
        """
        worded = [normal_words(text) for _, text in chunk]
        classes = [self._number.get(digest(words), -1) for words in worded]
        near: defaultdict[int, set[int]] = defaultdict(set)
        for (foreign, _), number in zip(chunk, classes, strict=True):
            if number >= 0:
                for members in _by_part(self._members[number]).values():
                    self._add("duplicate", members, [foreign])
        for probe, member, similarity in self.near.pairs([shingles(words) for words in worded]):
            if member != classes[probe]:
                near[probe].add(member)
                for members in _by_part(self._members[member]).values():
                    self._add("near-duplicate", members, [chunk[probe][0]], float(similarity))
        return classes, near

    def sentences(self) -> Iterator[list[tuple[CheckedDocument, Span]]]:
        """Streams where each sentence of the index stands, in the order of their numbers."""
        for parts in self._owners:
            yield [owner for owners in parts.values() for owner in owners]

    def sentences_in(self, texts: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Streams the number of a sentence of the index, and the index of a text that it stands
        in, each pair once.
        """
        for batch in group_by_size(
            range(len(texts)), lambda index: len(texts[index]), least=_CHUNK
        ):
            normals = ["".join(normal_words(texts[index])) for index in batch]
            ends: list[int] = []
            for normal in normals:
                ends.append((ends[-1] if ends else 0) + len(normal) + len(_BREAK))
            pairs: set[tuple[int, int]] = set()
            for sentence, place in self._passages.find(_BREAK.join(normals)):
                index = batch[bisect_right(ends, place)]
                if (sentence, index) not in pairs:
                    pairs.add((sentence, index))
                    yield sentence, index

    def _index_sentences(self) -> list[str]:
        """Indexes normal forms of the sentences that are long enough; ``_owners`` maps each to
        its documents.
        """
        numbers: dict[str, int] = {}
        for item in self._items:
            lengths = item.sentence_lengths().tolist()
            for (start, end), length in zip(item.sentences.tolist(), lengths, strict=True):
                if length < self._min_words:
                    continue
                normal = "".join(normal_words(item.text[start:end]))
                if len(normal) >= ANCHOR:
                    number = numbers.setdefault(normal, len(numbers))
                    if number == len(self._owners):
                        self._owners.append({})
                    self._owners[number].setdefault(item.part, []).append((item, (start, end)))
        return list(numbers)

    def _same(self, members: list[CheckedDocument]) -> None:
        parts = _by_part(members)
        for same in parts.values():
            if len(same) > 1:
                self._add("duplicate", same[:1], same[1:])
        for first, other in combinations(parts.values(), 2):
            self._add("duplicate", first, other)

    def _near(
        self,
        first_class: list[CheckedDocument],
        second_class: list[CheckedDocument],
        similarity: float,
    ) -> None:
        for a in _by_part(first_class).values():
            for b in _by_part(second_class).values():
                if a[0].part == b[0].part:
                    earlier, later = sorted((a, b), key=lambda members: members[0].number)
                    # the others are duplicates of it
                    self._add("near-duplicate", earlier[:1], later[:1], similarity)
                else:
                    self._add("near-duplicate", a, b, similarity)

    def _shared(
        self,
        texts: Sequence[tuple[CheckedDocument | Foreign, str]],
        classes: Sequence[int],
        near: Mapping[int, set[int]],
    ) -> None:
        """Finds sentences of the items in texts of other parts."""
        for sentence, index in self.sentences_in([text for _, text in texts]):
            self._share(sentence, texts[index][0], classes[index], near.get(index, set()))

    def _share(
        self, sentence: int, other: CheckedDocument | Foreign, number: int, near: set[int]
    ) -> None:
        for part in self._owners[sentence]:
            if part == other.part:
                continue
            owners = self._untold(
                sentence, part, other, lambda item: self._is_copy(item, number, near)
            )
            if not owners:
                continue
            items, spans = tuple(item for item, _ in owners), tuple(span for _, span in owners)
            if part.rank < other.part.rank:
                self.groups.append(
                    Group(
                        kind="shared-sentence",
                        originals=items,
                        copies=(other,),
                        similarity=0.0,
                        sentences=spans,
                    )
                )
            elif isinstance(other, CheckedDocument):
                self.groups.append(
                    Group(kind="shared-sentence", originals=(other,), copies=items, similarity=0.0)
                )

    def _untold(
        self,
        sentence: int,
        part: CheckedPart,
        other: CheckedDocument | Foreign,
        is_copy: Callable[[CheckedDocument], bool],
    ) -> list[tuple[CheckedDocument, Span]]:
        """Returns the owners of a sentence that were not found in the part of a document yet; else
        the first one.

        A sentence that stands everywhere must not cost the square of that.
        """
        key = (sentence, part, other.part)
        remaining = self._remaining.setdefault(key, self._owners[sentence][part])
        owners = [owner for owner in remaining if not is_copy(owner[0])]
        if owners:
            self._remaining[key] = [owner for owner in remaining if is_copy(owner[0])]
            return owners
        first = next(
            (owner for owner in self._owners[sentence][part] if not is_copy(owner[0])), None
        )
        return [first] if first is not None else []

    def _is_copy(self, item: CheckedDocument, number: int, near: set[int]) -> bool:
        """True if a document of the class of that number, or near those, is a copy of an item as
        a whole.
        """
        own = self._class_of[item.number]
        return own == number or own in near or frozenset((own, number)) in self._alike

    def _add(
        self,
        kind: Kind,
        first: Sequence[CheckedDocument],
        second: Sequence[CheckedDocument | Foreign],
        similarity: float = 1.0,
    ) -> None:
        """Adds a group, with what must be kept first."""
        originals, copies = list(first), list(second)
        if copies[0].part.rank < originals[0].part.rank:
            items = [item for item in copies if isinstance(item, CheckedDocument)]
            originals, copies = items, [*originals]
        if kind == "duplicate" and not self._is_long[self._class_of[originals[0].number]]:
            kind = "short-duplicate"
        self.groups.append(
            Group(
                kind=kind, originals=tuple(originals), copies=tuple(copies), similarity=similarity
            )
        )


def _by_part(items: Iterable[CheckedDocument]) -> dict[CheckedPart, list[CheckedDocument]]:
    parts: dict[CheckedPart, list[CheckedDocument]] = {}
    for item in items:
        parts.setdefault(item.part, []).append(item)
    return parts

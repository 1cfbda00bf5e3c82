"""Input of the checks: the parts of a corpus as they were read, with what the checks need of
each document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

import numpy as np

from fascicle.core.arrays import Ints32
from fascicle.core.document import GOLD, Document, Event, Mention, Relation
from fascicle.core.files.source import stem
from fascicle.core.mention import Span
from fascicle.errors import InputError
from fascicle.formats.conll import ConllOptions
from fascicle.formats.files import ORIGINAL_ID
from fascicle.formats.predictions import text_hash
from fascicle.formats.report import ReadReport
from fascicle.text.segment import RULES_1, all_sentences

# Of two copies of a text, the one whose part stands first here is kept, and the other is to be left
# out of training.
_ROLES: Final = ("test", "dev", "train", "corpus", "against")
SPLITS: Final = frozenset({"train", "dev", "test"})


@dataclass(frozen=True, kw_only=True)
class CheckedPart:
    """A part of a corpus, a corpus without parts, or another corpus to compare with.

    Attributes:
        name: ``"train"``, ``"dev"`` or ``"test"``; else the path.
        role: one of `_ROLES`.
        order: among the parts of one role.
    """

    name: str
    role: str
    order: int = 0

    @property
    def rank(self) -> tuple[int, int]:
        """The smaller, the more its documents must be kept apart from training."""
        return _ROLES.index(self.role), self.order


@dataclass(frozen=True, kw_only=True)
class GivenPart:
    """One place to read.

    Attributes:
        part: the part that its documents belong to.
        path: the place.
        documents: opens it; what reading raises, also at once, is a finding.
        report: the one that the reader fills.
        encoding: of a column file, with ``columns``: to find lines again.
        columns: how a column file is read.
    """

    part: CheckedPart
    path: str
    documents: Callable[[], Iterable[Document]]
    report: ReadReport = field(default_factory=ReadReport)
    encoding: str = "utf-8"
    columns: ConllOptions = field(default_factory=ConllOptions)


@dataclass(frozen=True, kw_only=True)
class Unread:
    """A document, or the rest of a place, that cannot be read.

    Attributes:
        place: the place.
        documents: how many others were read there.
        message: of the reader.
    """

    place: GivenPart
    documents: int
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedDocument:
    """A document of a checked part.

    Attributes:
        number: among all items.
        part: the part that it belongs to.
        path: of the file.
        id: unique in its file.
        own_id: as the source gives it; empty where the reader made the id up.
        text: of the document.
        mentions: of the source that is checked, in canonical order.
        other_mentions: number of mentions of other sources.
        words: ranges of words, ``[w, 2]``; those of the segmenter where the source marks none.
        sentences: ranges of sentences, ``[s, 2]``, likewise.
        marks_words: whether the source marks words.
        marks_sentences: whether the source marks sentences.
        row: number of the first word in its file, where each word is a row of a column file; else
            -1.
        events: of reading.
        relations: between such mentions, and between concepts.
    """

    number: int
    part: CheckedPart
    path: str
    id: str
    own_id: str
    text: str
    mentions: tuple[Mention, ...]
    other_mentions: int
    words: Ints32
    sentences: Ints32
    marks_words: bool
    marks_sentences: bool
    row: int
    events: tuple[Event, ...]
    relations: tuple[Relation, ...] = ()

    @property
    def sha256(self) -> str:
        """Hash of the text."""
        return text_hash(self.text)

    def sentence_lengths(self) -> Ints32:
        """Words that begin in each sentence."""
        lengths: Ints32 = (
            np.diff(np.searchsorted(self.words[:, 0], self.sentences)).ravel().astype(np.int32)
        )
        return lengths

    def document(self) -> Document:
        """Returns the document with only the words and sentences that the source marked, and
        without events.
        """
        return Document(
            id=self.id,
            text=self.text,
            words=_spans(self.words) if self.marks_words else None,
            sentences=_spans(self.sentences) if self.marks_sentences else None,
            mentions=self.mentions,
        )


def load_parts(
    places: Sequence[GivenPart], *, source: str = GOLD
) -> tuple[list[CheckedDocument], list[Unread]]:
    """Reads parts as far as they can be read.

    Args:
        places: to read, in order.
        source: whose mentions are checked.

    Returns:
        All documents, and the places that were not read to their end.
    """
    items: list[CheckedDocument] = []
    unread: list[Unread] = []
    for place in places:
        rows = 0
        for document in read_until_fault(place, unread):
            items.append(_item(document, place, number=len(items), row=rows, source=source))
            rows += len(document.words or ())
    return items, unread


def read_until_fault(place: GivenPart, unread: list[Unread]) -> Iterator[Document]:
    """Yields the documents of a place up to a fault that ends it, which is added to ``unread``, as
    are documents that were set aside.
    """
    count = 0
    try:
        for document in place.documents():
            count += 1
            yield document
    except (InputError, OSError) as error:
        unread.append(Unread(place=place, documents=count, message=str(error)))
    unread += [
        Unread(place=place, documents=count, message=message)
        for message in place.report.aside.sentences
    ]


def source_id(document: Document, path: str, *, is_columns: bool) -> str:
    """Returns the id that the source gives a document, or nothing."""
    identifier = document.meta.get(ORIGINAL_ID, document.id)
    name, sign, number = identifier.rpartition(":")
    made_up = is_columns or (sign and name.rpartition("/")[2] == stem(path) and number.isdigit())
    return "" if made_up else identifier


def _item(
    document: Document, place: GivenPart, *, number: int, row: int, source: str
) -> CheckedDocument:
    words, sentences = document.words, document.sentences
    mentions = document.layer(source)
    is_columns = place.report.formats.get(place.path) == "conll"
    return CheckedDocument(
        number=number,
        part=place.part,
        path=place.path,
        id=document.id,
        own_id=source_id(document, place.path, is_columns=is_columns),
        text=document.text,
        mentions=mentions,
        other_mentions=len(document.mentions) - len(mentions),
        words=_ints(words if words is not None else RULES_1.words(document.text)),
        sentences=_ints(sentences if sentences is not None else all_sentences(document, RULES_1)),
        marks_words=words is not None,
        marks_sentences=sentences is not None,
        row=row if is_columns else -1,
        events=document.events,
        relations=tuple(r for r in document.relations if r.sources <= {source}),
    )


def _ints(spans: Sequence[Span]) -> Ints32:
    return np.fromiter(chain.from_iterable(spans), dtype=np.int32, count=2 * len(spans)).reshape(
        -1, 2
    )


def _spans(ints: Ints32) -> tuple[Span, ...]:
    return tuple((start, end) for start, end in ints.tolist())

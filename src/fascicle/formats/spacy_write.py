"""Writer for the binary files of spaCy (``DocBin``), without spaCy.

A file is one message of MessagePack, packed with zlib: columns of numbers over the tokens of all
documents, and a list of strings. The columns are kept in temporary files until the last document is
encoded, so that memory grows only with the strings.
"""

from __future__ import annotations

import struct
import tempfile
import zlib
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, compress
from typing import IO, Any, BinaryIO, Final

import msgspec
import numpy as np

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.mention import Span, link_text, parse_link
from fascicle.errors import InputError
from fascicle.formats.conll_write import on_words, with_words
from fascicle.formats.handlers import Encode, FormatWriter, WriteOne
from fascicle.formats.losses import count_links, facts_of_source, held_fields
from fascicle.formats.report import WriteReport
from fascicle.formats.spacy_read import (
    ATTRIBUTES,
    GROUP,
    ID,
    META,
    SCORES,
    SPAN,
    VERSION,
    Tokens,
)
from fascicle.formats.spacy_strings import string_number

_WHOLE: Final = "ids text-between-words meta mentions nested second-source sources scores"
_HOLDS: Final = held_fields(
    "the format of spaCy", _WHOLE, partly="words sentences links link-ontologies link-curies"
)
_IN_MEMORY: Final = 2**22  # bytes of a column, before it goes to a file
_CHUNK: Final = 2**20
_BEGIN, _INSIDE, _OUTSIDE = 3, 1, 2  # of an entity, in spaCy
_NOT_A_START: Final = 2**64 - 1  # -1 as spaCy writes it
_ENCODER: Final = msgspec.msgpack.Encoder()


@dataclass(frozen=True, kw_only=True)
class _Encoded:
    """Encoded columns of one document, by their names, and its strings."""

    columns: Mapping[str, bytes]
    strings: Set[str]


def _encode(document: Document, report: WriteReport) -> _Encoded:
    """Encodes one document as columns.

    Raises:
        InputError: a source with the name of the group for gold.
    """
    tokens = _tokens(document)
    _count(document, tokens, report)
    placed = list(_placed(document, tokens.ranges, report))
    report.mentions = len(placed)
    strings, entities = {"", *tokens.texts}, _entities(placed)
    is_whole = len(entities) == len(placed) and all(map(_is_plain, placed))
    groups = b"" if is_whole else _groups(placed, tokens.ranges, strings)
    user_data = _ENCODER.encode({ID: document.id, META: facts_of_source(document)})
    columns = {
        "tokens": _columns(tokens, entities, strings).tobytes("C"),
        "spaces": np.asarray(tokens.spaces, bool).tobytes(),
        "lengths": len(tokens.texts).to_bytes(4, "little"),
        "span_groups": _ENCODER.encode(groups),
        "user_data": _ENCODER.encode(user_data),
    }
    return _Encoded(columns=columns, strings=strings)


def _with_tokens(document: Document) -> Document:
    """Adds words from the default segmenter to a document that has none, split where mentions
    begin and end.
    """
    if document.words is not None:
        return document
    document = with_words(document)
    borders = sorted({at for mention in document.mentions for span in mention.spans for at in span})
    words = tuple(chain.from_iterable(_cut(word, borders) for word in document.words or ()))
    return msgspec.structs.replace(document, words=words)


def _cut(word: Span, borders: Sequence[int]) -> Iterator[Span]:
    start = word[0]
    for at in borders[bisect_right(borders, start) : bisect_left(borders, word[1])]:
        yield start, at
        start = at
    yield start, word[1]


# -- tokens ----------------------------------------------------------------------------------------


def _tokens(document: Document) -> Tokens:
    """Returns the tokens of a document: its words, and the text between them except one blank."""
    text, spaces, texts, position = document.text, list[bool](), list[str](), 0
    for start, end in [*(document.words or ()), (len(text), len(text))]:
        if position < start:
            if texts and text[position] == " ":
                spaces[-1] = True
                position += 1
            if position < start:
                texts.append(text[position:start])
                spaces.append(False)
        if start < end:
            texts.append(text[start:end])
            spaces.append(False)
        position = end
    tokens = Tokens(texts=texts, spaces=spaces)
    return tokens if document.sentences is None else _with_starts(tokens, document.sentences)


def _with_starts(tokens: Tokens, sentences: Iterable[Span]) -> Tokens:
    """Marks the tokens at which sentences begin."""
    words = list(compress(range(len(tokens.texts)), map(str.strip, tokens.texts)))
    places = [start for start, _ in tokens.words]
    numbers = (bisect_left(places, start) for start, _ in sentences)
    starts = [False] * len(tokens.texts)
    # Text before the first word belongs to its sentence: in spaCy the first token always begins a
    # sentence.
    for number in numbers:
        if number < len(words):
            starts[words[number] if number else 0] = True
    return Tokens(texts=tokens.texts, spaces=tokens.spaces, starts=starts)


def _count(document: Document, tokens: Tokens, report: WriteReport) -> None:
    """Counts the losses if the tokens do not reproduce the words or sentences."""
    if document.words and tokens.words != document.words:
        report.lose("words", document)
    if document.sentences and tokens.sentences != document.sentences:
        report.lose("sentences", document)


# -- mentions --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Placed:
    """Mention with its tokens, first and last (exclusive), and its concept."""

    mention: Mention
    first: int
    last: int
    concept: str


def _placed(document: Document, ranges: Sequence[Span], report: WriteReport) -> Iterator[_Placed]:
    for mention, first, last in on_words(document, ranges, report):
        if mention.source == GROUP:
            raise InputError(
                f"a mention of document {document.id!r} has the source {GROUP!r}, which spaCy "
                "has for gold; rename it"
            )
        concept = next((link_text(link) for link in mention.links if not link.nil), "")
        count_links(mention, [parse_link(concept)] if concept else [], document, report)
        yield _Placed(mention=mention, first=first, last=last, concept=concept)


def _entities(placed: Iterable[_Placed]) -> list[_Placed]:
    """Selects mentions that do not overlap: gold first, then the better score, then the longest,
    then the first.
    """
    entities: list[_Placed] = []
    covered: set[int] = set()
    for entity in sorted(placed, key=_rank):
        tokens = range(entity.first, entity.last)
        if covered.isdisjoint(tokens):
            covered.update(tokens)
            entities.append(entity)
    return entities


def _is_plain(placed: _Placed) -> bool:
    """True if an entity holds a mention as a whole."""
    return placed.mention.source == GOLD and placed.mention.score is None


def _rank(placed: _Placed) -> tuple[Any, ...]:
    return (placed.mention.source != GOLD, *placed.mention.rank)


def _columns(
    tokens: Tokens, entities: Iterable[_Placed], strings: set[str]
) -> np.ndarray[Any, Any]:
    """Returns the columns of the tokens."""
    columns = np.zeros((len(tokens.texts), len(ATTRIBUTES)), dtype="<u8")
    columns[:, 0] = np.fromiter(map(string_number, tokens.texts), "<u8", len(tokens.texts))
    columns[:, 1] = _OUTSIDE
    for entity in entities:
        kind, rows = entity.mention.type, slice(entity.first, entity.last)
        strings |= {kind, entity.concept}
        columns[rows, 1] = _INSIDE
        columns[entity.first, 1] = _BEGIN
        columns[rows, 2] = string_number(kind)
        columns[rows, 4] = string_number(entity.concept)
    if tokens.starts is not None:
        columns[:, 3] = np.where(tokens.starts, np.uint64(1), np.uint64(_NOT_A_START))
    return columns


def _groups(placed: Sequence[_Placed], ranges: Sequence[Span], strings: set[str]) -> bytes:
    """Encodes a group of spans for each source."""
    by_source: dict[str, list[_Placed]] = defaultdict(list)
    for span in placed:
        by_source[span.mention.source].append(span)
        strings |= {span.mention.type, span.concept}
    groups: dict[bytes, list[str]] = {}
    for source, spans in by_source.items():
        name = GROUP if source == GOLD else source
        groups[_group(name, spans, ranges)] = [name]
    return _ENCODER.encode(groups)


def _group(name: str, spans: Sequence[_Placed], ranges: Sequence[Span]) -> bytes:
    scores = [span.mention.score for span in spans]
    attributes = {SCORES: scores} if any(score is not None for score in scores) else {}
    packed = [_packed(span, ranges) for span in spans]
    return _ENCODER.encode({"name": name, "attrs": attributes, "spans": packed})


def _packed(placed: _Placed, ranges: Sequence[Span]) -> bytes:
    first, last, kind = placed.first, placed.last, string_number(placed.mention.type)
    numbers = (0, string_number(placed.concept), kind, first, last)
    return struct.pack(SPAN, *numbers, ranges[first][0], ranges[last - 1][1])


# -- the file --------------------------------------------------------------------------------------


class _Columns:
    """Columns of all documents, collected in temporary files."""

    def __init__(self, open_files: ExitStack) -> None:
        self._files: dict[str, IO[bytes]] = {
            name: open_files.enter_context(tempfile.SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115 - the stack closes it
            for name in ("tokens", "spaces", "lengths", "span_groups", "user_data")
        }
        self._strings: set[str] = set()
        self._count = 0

    def add(self, document: _Encoded) -> None:
        for name, part in document.columns.items():
            self._files[name].write(part)
        self._strings |= document.strings
        self._count += 1

    def message(self) -> Iterator[bytes]:
        """Yields the parts of the message."""
        encode, count = _ENCODER.encode, self._count
        yield b"\x8a" + encode("version") + encode(VERSION) + encode("attrs") + encode(ATTRIBUTES)
        for name in ("tokens", "spaces", "lengths"):
            size = self._files[name].tell()
            if size >= 2**32:
                raise InputError(
                    "a file of spaCy cannot hold more than 4 GiB of tokens; write several files"
                )
            yield encode(name) + b"\xc6" + size.to_bytes(4, "big")
            yield from self._content(name)
        yield encode("strings") + encode(sorted(self._strings))
        yield encode("cats") + _array(count) + encode({}) * count
        yield encode("flags") + _array(count) + encode({"has_unknown_spaces": False}) * count
        for name in ("span_groups", "user_data"):
            yield encode(name) + _array(count)
            yield from self._content(name)

    def _content(self, name: str) -> Iterator[bytes]:
        self._files[name].seek(0)
        while part := self._files[name].read(_CHUNK):
            yield part


def _array(count: int) -> bytes:
    return b"\xdd" + count.to_bytes(4, "big")


@contextmanager
def _into_message(stream: BinaryIO, encode: Encode) -> Iterator[WriteOne]:
    """Opens a file and yields the function that adds a document; the content is written at the end.

    Args:
        stream: the file.
        encode: makes what is written of a document.
    """
    with ExitStack() as files:
        columns = _Columns(files)
        yield columns.add
        packer = zlib.compressobj()
        for part in columns.message():
            stream.write(packer.compress(part))
        stream.write(packer.flush())


WRITER: Final = FormatWriter(
    holds=_HOLDS, encoder=lambda _: _encode, into=_into_message, prepare=_with_tokens, grows=False
)

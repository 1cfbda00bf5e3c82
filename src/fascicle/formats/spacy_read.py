"""Reader for the binary files of spaCy (``DocBin``), without spaCy: the layout of their rows,
and their strings.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from types import MappingProxyType
from typing import Any, Final

import msgspec
import numpy as np

from fascicle.core.document import GOLD, Document, Event, Link
from fascicle.core.effects import make_event
from fascicle.core.files.source import MAX_FILE, Source
from fascicle.core.mention import Span, parse_link
from fascicle.errors import FormatError, Place, explain_errors
from fascicle.formats.collect import MentionCollector
from fascicle.formats.handlers import Reader
from fascicle.formats.report import ReadReport

VERSION: Final = "0.1"
GROUP: Final = "sc"  # the group of spans that spaCy trains on, for gold
_ORTH: Final = 65
_ENT_IOB: Final = 77
_ENT_TYPE: Final = 78
_SENT_START: Final = 80
_ENT_KB_ID: Final = 452
# of tokens, in the order of their columns
ATTRIBUTES: Final = (_ORTH, _ENT_IOB, _ENT_TYPE, _SENT_START, _ENT_KB_ID)
# id, id in a knowledge base, label, first and last token (exclusive), the same in characters
SPAN: Final = ">QQQllll"
ID: Final = "id"  # in the user data
META: Final = "meta"
SCORES: Final = "scores"


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """Tokens of a text as in spaCy: without gaps, each optionally followed by one blank.

    Attributes:
        texts: of the tokens.
        spaces: whether a blank follows each.
        starts: whether each begins a sentence; ``None`` if not known.
    """

    texts: Sequence[str]
    spaces: Sequence[bool]
    starts: Sequence[bool] | None = None

    @property
    def text(self) -> str:
        """Text of the tokens."""
        return "".join(
            f"{text} " if space else text
            for text, space in zip(self.texts, self.spaces, strict=True)
        )

    def ranges(self) -> list[Span]:
        """Returns the range of each token in the text, in code points."""
        found, at = [], 0
        for text, space in zip(self.texts, self.spaces, strict=True):
            found.append((at, at + len(text)))
            at += len(text) + space
        return found

    def words(self) -> tuple[Span, ...]:
        """Returns the ranges of the tokens that are not blanks."""
        return tuple(at for at, text in zip(self.ranges(), self.texts, strict=True) if text.strip())

    def sentences(self) -> tuple[Span, ...] | None:
        """Returns the sentences, each from its first to its last word; ``None`` if they are not
        known.
        """
        return None if self.starts is None else tuple(self._sentences(self.starts))

    def _sentences(self, starts: Sequence[bool]) -> Iterator[Span]:
        words: list[Span] = []
        for at, text, starting in zip(self.ranges(), self.texts, starts, strict=True):
            if starting and words:
                yield words[0][0], words[-1][1]
                words = []
            if text.strip():
                words.append(at)
        if words:
            yield words[0][0], words[-1][1]


_MASK: Final = 2**64 - 1
_MULTIPLY: Final = 0xC6A4A7935BD1E995
_SHIFT: Final = 47
_SEED: Final = 1
# The names of the symbols in their order; ``FLAG19-63`` means FLAG19, FLAG20, ... FLAG63.
_NAMES: Final = """
IS_ALPHA IS_ASCII IS_DIGIT IS_LOWER IS_PUNCT IS_SPACE IS_TITLE IS_UPPER LIKE_URL LIKE_NUM LIKE_EMAIL
IS_STOP
IS_OOV_DEPRECATED IS_BRACKET IS_QUOTE IS_LEFT_PUNCT IS_RIGHT_PUNCT IS_CURRENCY FLAG19-63 ID ORTH
LOWER NORM SHAPE
PREFIX SUFFIX LENGTH CLUSTER LEMMA POS TAG DEP ENT_IOB ENT_TYPE HEAD SENT_START SPACY PROB LANG ADJ
ADP ADV AUX CONJ
CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X EOL SPACE DEPRECATED001-276 PERSON
NORP FACILITY ORG
GPE LOC PRODUCT EVENT WORK_OF_ART LANGUAGE LAW DATE TIME PERCENT MONEY QUANTITY ORDINAL CARDINAL
acomp advcl advmod
agent amod appos attr aux auxpass cc ccomp complm conj cop csubj csubjpass dep det dobj expl hmod
hyph infmod intj
iobj mark meta neg nmod nn npadvmod nsubj nsubjpass num number oprd obj obl parataxis partmod pcomp
pobj poss
possessive preconj prep prt punct quantmod relcl rcmod root xcomp acl ENT_KB_ID MORPH ENT_ID IDX _
"""


@cache
def symbols() -> Mapping[str, int]:
    """Returns the symbols with their numbers, the same in all versions of spaCy 3; the empty
    string is the first.
    """
    return MappingProxyType({name: number for number, name in enumerate(["", *_listed()])})


def _listed() -> Iterator[str]:
    for name in _NAMES.split():
        first, dash, last = name.partition("-")
        if not dash:
            yield name
            continue
        letters = first.rstrip("0123456789")
        digits = len(first) - len(letters)
        yield from (
            f"{letters}{number:0{digits}}"
            for number in range(int(first[len(letters) :]), int(last) + 1)
        )


def string_number(text: str) -> int:
    """Returns the number of a string: that of the symbol, or the hash of its UTF-8.

    Raises:
        UnicodeEncodeError: a lone surrogate.
    """
    found = symbols().get(text)
    return murmur64(text.encode()) if found is None else found


def _names_of(texts: Iterable[str]) -> dict[int, str]:
    """Returns the strings of a file, and all symbols, by their numbers."""
    return {
        **{number: name for name, number in symbols().items()},
        **{string_number(text): text for text in texts},
    }


def murmur64(data: bytes) -> int:
    """Returns MurmurHash64A of bytes, with the seed of spaCy.

    Source: Austin Appleby, MurmurHash2, 64-bit version for 64-bit machines (public domain).
    """
    whole = len(data) // 8 * 8
    state = _SEED ^ (len(data) * _MULTIPLY & _MASK)
    for at in range(0, whole, 8):
        block = int.from_bytes(data[at : at + 8], "little") * _MULTIPLY & _MASK
        block = (block ^ block >> _SHIFT) * _MULTIPLY & _MASK
        state = (state ^ block) * _MULTIPLY & _MASK
    if whole < len(data):
        state = (state ^ int.from_bytes(data[whole:], "little")) * _MULTIPLY & _MASK
    state = (state ^ state >> _SHIFT) * _MULTIPLY & _MASK
    return state ^ state >> _SHIFT


_STEP: Final = "spacy"
_CHUNK: Final = 2**20
_OUTSIDE: Final = (0, 2)  # of an entity, and not known
_BEGIN: Final = 3
_USER_DATA: Final = msgspec.msgpack.Decoder()
_GROUPS: Final = msgspec.msgpack.Decoder(dict[bytes, list[str]] | list[bytes])
_BROKEN: Final = (
    msgspec.MsgspecError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    OverflowError,
    struct.error,
)
_Column = np.ndarray[Any, Any]


class _Bin(msgspec.Struct):
    attrs: list[int]
    tokens: bytes
    spaces: bytes
    lengths: bytes
    strings: list[str]
    cats: list[Any] = []
    span_groups: list[bytes] = []
    user_data: list[bytes | None] = []


class _Group(msgspec.Struct):
    name: str
    attrs: dict[str, Any]
    spans: list[bytes]


_BIN: Final = msgspec.msgpack.Decoder(_Bin)
_GROUP: Final = msgspec.msgpack.Decoder(_Group)


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Yields the documents of a file, which is read as a whole.

    Entities are gold mentions, unless groups of spans of the document hold them. The group ``sc``
    is gold; each other group is a source with its name. The user data hold the id and further
    facts.

    Args:
        source: the file.
        options: none.
        report: a document whose columns are not valid is set aside.

    Raises:
        FormatError: no such file, or one that is too large.
    """
    found = _bin(source)
    if found is None:
        return
    columns = _columns(found, source)
    names = _names_of(found.strings)
    start = 0
    for number, length in enumerate(columns.lengths):
        part = slice(start, start + int(length))
        start = part.stop
        with report.aside.one():
            yield _document(found, columns, part, number, names, source)


def _bin(source: Source) -> _Bin | None:
    if (data := _unpacked(source)) is None:
        return None
    with _of_spacy(source):
        return _BIN.decode(data)


def _of_spacy(source: Source) -> AbstractContextManager[None]:
    return explain_errors(
        "no DocBin of spaCy", *_BROKEN, zlib.error, at=source.path, advice="; write it again"
    )


def _unpacked(source: Source) -> bytes | None:
    """Returns the unpacked message in the file; ``None`` for an empty file."""
    parts, size, packer = list[bytes](), 0, zlib.decompressobj()
    with source.open() as stream:
        while data := stream.read(_CHUNK):
            with _of_spacy(source):
                parts.append(packer.decompress(data, MAX_FILE + 1 - size))
            size += len(parts[-1])
            if size > MAX_FILE:
                message = f"the DocBin holds more than {MAX_FILE:,} bytes; write several files"
                raise FormatError(message, at=source.path, code="too-large")
        if parts and not packer.eof:
            raise FormatError(
                "the DocBin is cut off; write it again", at=source.path, code="damaged"
            )
    return b"".join(parts) if parts else None


@dataclass(frozen=True, kw_only=True)
class _Columns:
    """Columns of all documents, one after the other."""

    lengths: _Column
    spaces: _Column
    of: Mapping[int, _Column]
    unread: tuple[str, ...]


def _columns(found: _Bin, source: Source) -> _Columns:
    with _of_spacy(source):
        lengths = np.frombuffer(found.lengths, "<i4")
        spaces = np.frombuffer(found.spaces, bool)
        tokens = np.frombuffer(found.tokens, "<u8").reshape(len(spaces), len(found.attrs))
        total = int(lengths.sum(dtype=np.int64))
        if (lengths < 0).any() or total != len(spaces) or _ORTH not in found.attrs:
            raise ValueError("the columns do not fit together")
    of = {attribute: tokens[:, at] for at, attribute in enumerate(found.attrs)}
    known = {number: name for name, number in symbols().items()}
    unread = [
        known.get(one, str(one))
        for one, column in of.items()
        if one not in ATTRIBUTES and column.any()
    ]
    return _Columns(lengths=lengths, spaces=spaces, of=of, unread=tuple(sorted(unread)))


@dataclass(frozen=True, kw_only=True)
class _Doc:
    """Document of the file, with its events."""

    tokens: Tokens
    collector: MentionCollector
    names: Mapping[int, str]
    grouped: set[tuple[tuple[int, int], str]] = field(default_factory=set)


def _document(
    found: _Bin,
    columns: _Columns,
    part: slice,
    number: int,
    names: Mapping[int, str],
    source: Source,
) -> Document:
    place = Place(source.path, shown=f"{source.path}, document {number + 1}")
    try:
        tokens = _tokens(columns, part, names)
        doc = _Doc(tokens=tokens, collector=MentionCollector(tokens.text, step=_STEP), names=names)
        if number < len(found.span_groups) and found.span_groups[number]:
            _add_groups(doc, found.span_groups[number])
        _add_entities(doc, {one: column[part] for one, column in columns.of.items()})
        identifier, meta, events = _told(found, number)
        events += _unread(found, columns, number)
        name = f"{source.name}:{number + 1}" if identifier is None else identifier
        words, sentences = tokens.words(), tokens.sentences()
        return doc.collector.document(
            name, words=words, sentences=sentences, meta=meta, events=events
        )
    except _BROKEN as error:
        raise FormatError(
            f"the columns of the document make none ({error!r:.300})", at=place
        ) from None


def _tokens(columns: _Columns, part: slice, names: Mapping[int, str]) -> Tokens:
    texts = [names[int(one)] for one in columns.of[_ORTH][part]]
    starts = columns.of[_SENT_START][part] if _SENT_START in columns.of else np.zeros(0)
    known = [bool(one == 1) for one in starts] if starts.any() else None
    return Tokens(texts=texts, spaces=[bool(one) for one in columns.spaces[part]], starts=known)


def _add_groups(doc: _Doc, data: bytes) -> None:
    given = _GROUPS.decode(data)
    listed = given.items() if isinstance(given, dict) else [(one, None) for one in given]
    for one, keys in listed:
        group = _GROUP.decode(one)
        for key in keys if keys is not None else [group.name]:
            _add_group(doc, group, GOLD if key == GROUP else key)


def _add_group(doc: _Doc, group: _Group, source: str) -> None:
    ranges, given = doc.tokens.ranges(), group.attrs.get(SCORES)
    scores: Sequence[Any] = (
        given if isinstance(given, list) and len(given) == len(group.spans) else ()
    )
    for at, packed in enumerate(group.spans):
        _, concept, label, first, last, start, end = struct.unpack(SPAN, packed)
        kind = doc.names[label]
        if not kind or not 0 <= first < last <= len(ranges):
            doc.collector.drop(
                f"a span of the group {group.name!r} at tokens {first} to {last} has no type or "
                "no place"
            )
            continue
        span = ranges[first][0], ranges[last - 1][1]
        doc.grouped.add((span, kind))
        score = scores[at] if scores else None
        doc.collector.add(
            [span],
            kind,
            source=source,
            expected=doc.tokens.text[start:end],
            score=float(score) if isinstance(score, int | float) else None,
            links=_links(doc.names.get(concept, "")),
        )


def _add_entities(doc: _Doc, columns: Mapping[int, _Column]) -> None:
    """Adds the entities that are in no group of spans."""
    if _ENT_TYPE not in columns:
        return
    ranges = doc.tokens.ranges()
    for first, last in _runs(columns):
        kind, span = (
            doc.names[int(columns[_ENT_TYPE][first])],
            (ranges[first][0], ranges[last - 1][1]),
        )
        concept = (
            doc.names.get(int(columns[_ENT_KB_ID][first]), "") if _ENT_KB_ID in columns else ""
        )
        if not kind:
            doc.collector.drop(f"an entity at {span} has no type")
        elif (span, kind) not in doc.grouped:
            doc.collector.add([span], kind, links=_links(concept))


def _runs(columns: Mapping[int, _Column]) -> Iterator[tuple[int, int]]:
    """Yields first and last token (exclusive) of each entity; without tags, neighbours of one
    type are one entity.
    """
    kinds = columns[_ENT_TYPE]
    tags = columns.get(_ENT_IOB)
    start: int | None = None
    for at in range(len(kinds) + 1):
        inside = at < len(kinds) and (
            kinds[at] != 0 if tags is None else int(tags[at]) not in _OUTSIDE
        )
        begins = inside and (
            (tags is not None and int(tags[at]) == _BEGIN)
            or (at > 0 and kinds[at] != kinds[at - 1])
        )
        if start is not None and (begins or not inside):
            yield start, at
            start = None
        if inside and start is None:
            start = at


def _links(concept: str) -> tuple[Link, ...]:
    return (parse_link(concept),) if concept else ()


def _told(found: _Bin, number: int) -> tuple[str | None, dict[str, str], list[Event]]:
    """Returns the id and the facts in the user data; other user data is counted in events."""
    data = found.user_data[number] if number < len(found.user_data) else None
    given = _USER_DATA.decode(data) if data else {}
    if not isinstance(given, dict):
        return None, {}, []
    identifier, meta = given.pop(ID, None), given.pop(META, {})
    facts = (
        {key: str(one) for key, one in meta.items() if isinstance(key, str)}
        if isinstance(meta, dict)
        else {}
    )
    events = (
        [_loss("user-data-left-out", f"{len(given)} further user data are not read")]
        if given
        else []
    )
    return str(identifier) if isinstance(identifier, str | int) else None, facts, events


def _is_of_entities(name: str) -> bool:
    """True for a fact that an annotator states, and false for grammar and forms, which spaCy
    makes of any text.
    """
    return name == "ENT_ID" or name.isdigit()


def _unread(found: _Bin, columns: _Columns, number: int) -> list[Event]:
    events = []
    for is_loss, names in groupby(sorted(columns.unread, key=_is_of_entities), key=_is_of_entities):
        message = f"these facts of tokens are not read: {', '.join(names)}"
        note = Event(step=_STEP, kind="note", code="grammar-left-out", message=message)
        events.append(_loss("attributes-left-out", message) if is_loss else note)
    if number < len(found.cats) and found.cats[number]:
        events.append(_loss("categories-left-out", "categories of the text are not read"))
    return events


def _loss(code: str, message: str) -> Event:
    return make_event(code, step=_STEP, message=message)


READER: Final = Reader(read=read)

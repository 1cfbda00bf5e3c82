"""Reader for the binary files of spaCy (``DocBin``), without spaCy: the layout of their rows,
and their strings.
"""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import accumulate, compress, groupby, pairwise
from operator import add
from typing import Any, Final

import msgspec
import numpy as np

from fascicle.core.document import GOLD, Document, Event, Link
from fascicle.core.effects import make_event
from fascicle.core.files.source import MAX_FILE, Source
from fascicle.core.lazy import cached_property
from fascicle.core.mention import Span, parse_link
from fascicle.errors import FormatError, Place, explain_errors
from fascicle.formats.collect import MentionCollector
from fascicle.formats.handlers import FormatReader
from fascicle.formats.report import ReadReport
from fascicle.formats.spacy_strings import names_of, symbols

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
_STEP: Final = "spacy"
_CHUNK: Final = 2**20
_OUTSIDE: Final = (0, 2)  # of an entity, and not known
_BEGIN: Final = 3
_BLOCKED: Final = (_BEGIN, 0)  # tag and type where spaCy may find no entity
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

    @cached_property
    def text(self) -> str:
        """Text of the tokens."""
        return "".join(
            f"{text} " if space else text
            for text, space in zip(self.texts, self.spaces, strict=True)
        )

    @cached_property
    def ranges(self) -> list[Span]:
        """The range of each token in the text, in code points."""
        lengths = list(map(len, self.texts))
        starts = list(accumulate(map(add, lengths, self.spaces), initial=0))[:-1]
        return list(zip(starts, map(add, starts, lengths), strict=True))

    @cached_property
    def words(self) -> tuple[Span, ...]:
        """The ranges of the tokens that are not blanks."""
        return tuple(compress(self.ranges, map(str.strip, self.texts)))

    @cached_property
    def sentences(self) -> tuple[Span, ...] | None:
        """The sentences, each from its first to its last word; ``None`` if they are not known."""
        if self.starts is None:
            return None
        places, words = [start for start, _ in self.words], self.words
        firsts = (bisect_left(places, start) for start, _ in compress(self.ranges, self.starts))
        cuts = sorted({0, *firsts, len(words)})
        return tuple((words[first][0], words[last - 1][1]) for first, last in pairwise(cuts))


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
    content = _bin(source)
    if content is None:
        return
    columns = _columns(content, source)
    names = names_of(content.strings)
    start = 0
    for number, length in enumerate(columns.lengths):
        part = slice(start, start + int(length))
        start = part.stop
        with report.aside.one():
            yield _document(content, columns, part, number, names, source)


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
    unread: Mapping[str, _Column]


def _columns(content: _Bin, source: Source) -> _Columns:
    with _of_spacy(source):
        lengths = np.frombuffer(content.lengths, "<i4")
        spaces = np.frombuffer(content.spaces, bool)
        tokens = np.frombuffer(content.tokens, "<u8").reshape(len(spaces), len(content.attrs))
        total = int(lengths.sum(dtype=np.int64))
        if (lengths < 0).any() or total != len(spaces) or _ORTH not in content.attrs:
            raise ValueError("the columns do not fit together")
    of = {attribute: tokens[:, column] for column, attribute in enumerate(content.attrs)}
    names = {number: name for name, number in symbols().items()}
    unread = {
        names.get(attribute, str(attribute)): of[attribute]
        for attribute in of
        if attribute not in ATTRIBUTES
    }
    return _Columns(lengths=lengths, spaces=spaces, of=of, unread=unread)


@dataclass(frozen=True, kw_only=True)
class _Doc:
    """Document of the file, with its events."""

    tokens: Tokens
    collector: MentionCollector
    names: Mapping[int, str]
    grouped: set[tuple[tuple[int, int], str]] = field(default_factory=set)


def _document(
    content: _Bin,
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
        if number < len(content.span_groups) and content.span_groups[number]:
            _add_groups(doc, content.span_groups[number])
        _add_entities(doc, {name: column[part] for name, column in columns.of.items()})
        identifier, meta, events = _user_data(content, number)
        return doc.collector.document(
            f"{source.name}:{number + 1}" if identifier is None else identifier,
            words=tokens.words,
            sentences=tokens.sentences,
            meta=meta,
            events=[*events, *_unread(content, columns, part, number)],
        )
    except _BROKEN as error:
        raise FormatError(
            f"the columns of the document make none ({error!r:.300})", at=place
        ) from None


def _tokens(columns: _Columns, part: slice, names: Mapping[int, str]) -> Tokens:
    starts = columns.of[_SENT_START][part] if _SENT_START in columns.of else np.zeros(0)
    # in spaCy the first token always starts a sentence, so that it says nothing; 0 is "not known"
    statements = starts[1:] if len(starts) > 1 else starts
    return Tokens(
        texts=[names[int(number)] for number in columns.of[_ORTH][part]],
        spaces=columns.spaces[part].tolist(),
        starts=(starts == 1).tolist() if statements.any() else None,
    )


def _add_groups(doc: _Doc, data: bytes) -> None:
    groups = _GROUPS.decode(data)
    # earlier versions have a list of groups, each under its own name
    keyed = groups.items() if isinstance(groups, dict) else [(group, None) for group in groups]
    for packed, keys in keyed:
        group = _GROUP.decode(packed)
        for key in keys if keys is not None else [group.name]:
            _add_group(doc, group, GOLD if key == GROUP else key)


def _add_group(doc: _Doc, group: _Group, source: str) -> None:
    ranges, scores = doc.tokens.ranges, group.attrs.get(SCORES)
    if not isinstance(scores, list) or len(scores) != len(group.spans):
        scores = [None] * len(group.spans)
    for packed, score in zip(group.spans, scores, strict=True):
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
    ranges = doc.tokens.ranges
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
            kinds[at] != 0
            if tags is None
            else int(tags[at]) not in _OUTSIDE and (int(tags[at]), int(kinds[at])) != _BLOCKED
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


def _user_data(content: _Bin, number: int) -> tuple[str | None, dict[str, str], list[Event]]:
    """Returns the id and the facts in the user data; other user data is counted in events."""
    packed = content.user_data[number] if number < len(content.user_data) else None
    data = _USER_DATA.decode(packed) if packed else {}
    if not isinstance(data, dict):
        return None, {}, []
    identifier, meta = data.pop(ID, None), data.pop(META, {})
    facts = (
        {key: str(value) for key, value in meta.items() if isinstance(key, str)}
        if isinstance(meta, dict)
        else {}
    )
    events = []
    if data:
        events.append(_loss("user-data-left-out", f"{len(data)} further user data are not read"))
    return str(identifier) if isinstance(identifier, str | int) else None, facts, events


def _is_of_entities(name: str) -> bool:
    """True for a fact that an annotator states, and false for grammar and forms, which spaCy
    makes of any text.
    """
    return name == "ENT_ID" or name.isdigit()


def _unread(content: _Bin, columns: _Columns, part: slice, number: int) -> list[Event]:
    events = []
    unread = sorted(name for name in columns.unread if columns.unread[name][part].any())
    for is_loss, names in groupby(sorted(unread, key=_is_of_entities), key=_is_of_entities):
        message = f"these facts of tokens are not read: {', '.join(names)}"
        note = Event(step=_STEP, kind="note", code="grammar-left-out", message=message)
        events.append(_loss("attributes-left-out", message) if is_loss else note)
    if number < len(content.cats) and content.cats[number]:
        events.append(_loss("categories-left-out", "categories of the text are not read"))
    return events


def _loss(code: str, message: str) -> Event:
    return make_event(code, step=_STEP, message=message)


READER: Final = FormatReader(read=read)

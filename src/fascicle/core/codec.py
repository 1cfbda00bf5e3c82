"""JSON Lines codec for documents, the native format: ``decode(encode(d)) == d``.

Each mention is written with its text beside its offsets, for people and other programs; only the
offsets are binding.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import msgspec

from fascicle.core.absent import decode_present
from fascicle.core.document import (
    GOLD,
    Abbreviation,
    Change,
    Document,
    Event,
    Link,
    Mention,
    Relation,
    Section,
)
from fascicle.core.effects import make_event
from fascicle.core.mention import Fragments, Span
from fascicle.errors import BROKEN, FormatError

_SCHEMA = 2
# with relations or attributes of sections; other documents stay readable for earlier releases
_EXTENDED = 3
_READ = (1, 2, 3)  # the fields added later have defaults, so one decoder reads all


class MentionRecord(msgspec.Struct, omit_defaults=True, gc=False, forbid_unknown_fields=True):
    """Fields of a `Mention`, and its text; not checked here, since `Mention` checks them itself."""

    spans: Fragments
    type: str
    text: str | None = None
    score: float | None = None
    source: str = GOLD
    links: tuple[Link, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()


class _Version(msgspec.Struct):
    fascicle: int


class DocumentRecord(msgspec.Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Fields of a `Document`, and the version of the schema; unknown fields are an error, lest
    content be lost.
    """

    id: str
    text: str
    sections: tuple[Section, ...] | None = None
    sentences: tuple[Span, ...] | None = None
    words: tuple[Span, ...] | None = None
    mentions: tuple[MentionRecord, ...] = ()
    relations: tuple[Relation, ...] = ()
    abbreviations: tuple[Abbreviation, ...] | None = None
    meta: dict[str, str] = msgspec.field(default_factory=dict)
    events: tuple[Event, ...] = ()
    changes: tuple[Change, ...] = ()
    fascicle: int


class GivenDocument(DocumentRecord, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A document as other programs send it: only the text is required."""

    id: str = ""
    fascicle: int = _SCHEMA


def _plain(value: Any) -> Any:
    """Returns a scalar of numpy as one of Python."""
    if not hasattr(value, "item"):
        raise TypeError(f"a document cannot hold {type(value).__name__}")
    return value.item()


_ENCODER = msgspec.json.Encoder(enc_hook=_plain)
_DECODER = msgspec.json.Decoder(DocumentRecord)
_GIVEN = msgspec.json.Decoder(GivenDocument)
_VERSION = msgspec.json.Decoder(_Version)


def encode(document: Document) -> bytes:
    """Encodes a document as one line of JSON (UTF-8, without the line break)."""
    text = document.text
    is_extended = document.relations or any(
        section.attributes for section in document.sections or ()
    )
    version = _EXTENDED if is_extended else _SCHEMA
    if not document.mentions:  # the fields of both classes have the same order
        return _ENCODER.encode(document)[:-1] + b',"fascicle":%d}' % version
    mentions = [
        MentionRecord(m.spans, m.type, m.text_in(text), m.score, m.source, m.links, m.attributes)
        for m in document.mentions
    ]
    parts = {**msgspec.structs.asdict(document), "mentions": tuple(mentions)}
    return _ENCODER.encode(DocumentRecord(**parts, fascicle=version))


def decode(line: bytes | str) -> Document:
    """Decodes a line that `encode` wrote.

    A mention without its text is read too. If the given text of a mention differs from the text at
    its offsets, the offsets are kept, and an event (``text-mismatch``) reports it.

    Raises:
        FormatError: not JSON, not a document, of another schema version, or with offsets outside
            the text.
    """
    try:
        record = decode_present(_DECODER, line)
        _check_version(record.fascicle)
        return _document(record)
    except (msgspec.MsgspecError, ValueError) as error:
        with contextlib.suppress(msgspec.MsgspecError, ValueError):
            _check_version(_VERSION.decode(line).fascicle)  # another version may have other fields
        raise FormatError(
            f"not a Fascicle document of the schemas {_READ[0]} to {_READ[-1]}: {error}"
        ) from None


def decode_given(data: bytes | str | msgspec.Raw, *, name: str) -> Document:
    """Decodes a document of which only the text is required.

    Args:
        data: JSON.
        name: id for a document that has none.

    Raises:
        FormatError: see `decode`.
    """
    try:
        record = decode_present(_GIVEN, data)
        _check_version(record.fascicle)
        return _document(record if record.id else msgspec.structs.replace(record, id=name))
    except RecursionError:
        raise FormatError("not a document: it is nested too deeply") from None
    except (msgspec.MsgspecError, ValueError) as error:
        raise FormatError(f"not a document: {error}") from None


class _Named(msgspec.Struct):
    id: str = ""


def id_in(data: bytes | str | msgspec.Raw) -> str:
    """Returns the id in the JSON of a document that may be none; the empty string if there is no
    id to be read.
    """
    try:
        return msgspec.json.decode(data, type=_Named).id
    except BROKEN:
        return ""


def _check_version(version: int) -> None:
    if version not in _READ:
        raise FormatError(
            f"a document of schema {version} was given; this release reads the schemas {_READ[0]} "
            f"to {_READ[-1]}",
            code="version",
        )


def _document(record: DocumentRecord) -> Document:
    mentions = [
        Mention(m.spans, m.type, m.score, m.source, m.links, m.attributes) for m in record.mentions
    ]
    parts = {**msgspec.structs.asdict(record), "mentions": tuple(mentions)}
    del parts["fascicle"]
    document = Document(**parts)
    return note_text_differences(
        document, mentions, texts=[mention.text for mention in record.mentions]
    )


def note_text_differences(
    document: Document, mentions: Sequence[Mention], *, texts: Sequence[str | None]
) -> Document:
    """Returns the document with an event for each mention whose text in the source differs from
    that at its offsets.

    Args:
        document: the document with the mentions.
        mentions: the mentions in the order of the source, which may differ from that of the
            document.
        texts: their texts in the source; ``None`` where it has none.
    """
    wrong = [
        _mismatch(mention)
        for mention, text in zip(mentions, texts, strict=True)
        if text is not None and not _agrees(mention, text, document.text)
    ]
    return document.with_events(*wrong) if wrong else document


def _agrees(mention: Mention, expected: str, text: str) -> bool:
    # Lengths are compared first: a line may contain the whole text a thousand times, and then no
    # copy is made.
    length = sum(end - start for start, end in mention.spans) + len(mention.spans) - 1
    return length == len(expected) and mention.text_in(text) == expected


def _mismatch(mention: Mention) -> Event:
    message = (
        f"a mention of type {mention.type!r} has other text at its offsets than its source "
        "says; offsets kept"
    )
    return make_event(
        "text-mismatch", step="native", message=message, span=(mention.start, mention.end)
    )

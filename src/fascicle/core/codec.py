"""Documents as JSON Lines, the native format: ``decode(encode(d)) == d``."""

from __future__ import annotations

from typing import Any

import msgspec

from fascicle.core.document import Document
from fascicle.errors import FormatError

SCHEMA = 1


class _Record(Document, frozen=True, kw_only=True, omit_defaults=True):
    """A document with the version of its schema, as it stands in a file."""

    fascicle: int


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(_Record)


def encode(document: Document) -> bytes:
    """One document as one line of JSON (UTF-8, without the line break)."""
    return _ENCODER.encode(_Record(fascicle=SCHEMA, **_fields(document)))


def decode(line: bytes | str) -> Document:
    """Reads what ``encode`` wrote.

    Raises:
        FormatError: not JSON, not a document, of another schema version, or with offsets outside the text.
    """
    try:
        record = _DECODER.decode(line)
    except (msgspec.MsgspecError, ValueError) as error:
        raise FormatError(f"not a Fascicle document of schema {SCHEMA}: {error}") from None
    if record.fascicle != SCHEMA:
        raise FormatError(f"a document of schema {record.fascicle} was given; this release reads schema {SCHEMA}")
    return Document(**_fields(record))


def _fields(document: Document) -> dict[str, Any]:
    return {name: getattr(document, name) for name in Document.__struct_fields__}

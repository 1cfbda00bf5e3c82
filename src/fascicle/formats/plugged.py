"""Adapters for plug-in readers and writers (`fascicle.core.contracts.Reader` and ``Writer``), with checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, NoReturn

from fascicle.core import contracts
from fascicle.core.document import Document
from fascicle.core.files.source import Source
from fascicle.core.spans import are_tuples
from fascicle.errors import FascicleError, InputError, PluginError
from fascicle.formats.handlers import Encode, Put
from fascicle.formats.losses import EVERYTHING, HeldFields
from fascicle.formats.report import ReadReport, WriteReport


def reading(reader: contracts.Reader, *, name: str) -> Callable[[Source, Any, ReadReport], Iterator[Document]]:
    """Returns the function that reads a file with a plug-in reader; see `_read`."""
    return partial(_read, reader, name)


def _read(reader: contracts.Reader, name: str, source: Source, options: Any, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a file; errors that the reader yields are counted as set aside.

    Raises:
        InputError: the reader raises an error.
        PluginError: it gives something else than documents and errors.
    """
    try:
        for found in reader.read(source):
            if isinstance(found, Document):
                _check(found, name)
                yield found
            elif isinstance(found, InputError):
                report.aside.add(found if found.file else _placed(found, source.path))
            else:
                _refuse(
                    f"gave {_kind(found)} in place of a Document; yield Documents, and an InputError for what cannot "
                    "be read",
                    name,
                )
    except InputError as error:
        if error.file:
            raise
        raise _placed(error, source.path) from error
    except FascicleError as error:
        error.file = error.file or source.path
        raise
    except OSError:
        raise
    except Exception as error:
        why = f"the reader {name!r} cannot read it ({type(error).__name__}: {error})"
        raise InputError(why, at=source.path, key=name) from error


def _placed(error: InputError, path: str) -> InputError:
    """Returns the error with the file in its attribute and in its message, which the reader may omit."""
    placed = error if path in str(error) else error.saying(f"{path}: {error}")
    placed.file = path
    return placed


def _check(document: Document, name: str) -> None:
    for what, value in (("id", document.id), ("text", document.text)):
        if not isinstance(value, str):
            _refuse(f"gave a Document with {_kind(value)} as its {what}; make it a str", name)
    for mention in document.mentions:
        if not are_tuples(mention.spans):
            _refuse(f"gave a mention with the spans {mention.spans!r}; make them a tuple of tuples (start, end)", name)


def _refuse(what: str, name: str) -> NoReturn:
    raise PluginError(f"the reader {name!r} {what}", key=name)


def _kind(value: object) -> str:
    return f"an object of the type {type(value).__name__}"


def holds_of(writer: contracts.Writer, *, name: str) -> HeldFields:
    """Returns the fields that the files of a plug-in writer hold.

    Raises:
        PluginError: it names a field that does not exist.
    """
    fields = frozenset(writer.holds)
    if unknown := fields - EVERYTHING:
        raise PluginError(
            f"the writer {name!r} holds {min(unknown)!r}, which is no field of a document; the fields are "
            f"{', '.join(sorted(EVERYTHING))}",
            key=name,
        )
    return HeldFields(format=name, fields=fields)


def encoding(writer: contracts.Writer, *, name: str) -> Callable[[Any], Encode]:
    """Returns the function that takes options (ignored) and returns the function that encodes a document."""
    return lambda options: partial(_encode, writer, name)


def _encode(writer: contracts.Writer, name: str, document: Document, report: WriteReport) -> bytes:
    try:
        content = writer.encode(document)
    except FascicleError:
        raise
    except Exception as error:
        raise InputError(
            f"document {document.id!r} cannot be written by the writer {name!r} ({type(error).__name__}: {error})",
            key=document.id,
        ) from error
    if not isinstance(content, bytes):
        raise PluginError(
            f"the writer {name!r} gave {_kind(content)} in place of bytes; encode the text, as with .encode()", key=name
        )
    report.mentions += len(document.mentions)
    return content


@contextmanager
def framed(writer: contracts.Writer, stream: BinaryIO, encode: Encode) -> Iterator[Put]:
    """Writes the start and the end of a file around the documents."""
    stream.write(writer.start)
    yield stream.write
    stream.write(writer.end)

"""Readers and writers of other packages, held to their contracts: `fascicle.core.contracts.Reader` and ``Writer``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, NoReturn

from fascicle.core import contracts
from fascicle.core.document import Document
from fascicle.errors import FascicleError, InputError, PluginError, about
from fascicle.files.source import Source
from fascicle.formats.losses import EVERYTHING, Holds
from fascicle.formats.report import ReadReport, WriteReport
from fascicle.formats.writing import Encode, Put


def reading(reader: contracts.Reader, *, name: str) -> Callable[[Source, Any, ReadReport], Iterator[Document]]:
    """The function that reads a file by a reader of another package; see `_read`."""
    return partial(_read, reader, name)


def _read(reader: contracts.Reader, name: str, source: Source, options: Any, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a file, and sets aside what the reader gives as an error.

    Raises:
        InputError: the reader raises an error.
        PluginError: it gives something else than documents and errors.
    """
    try:
        with about(file=source.path):
            for found in reader.read(source):
                if isinstance(found, Document):
                    yield found
                elif isinstance(found, InputError):
                    found.file = found.file or source.path
                    report.aside.add(found)
                else:
                    _refuse(found, name)
    except (FascicleError, OSError):
        raise
    except Exception as error:
        why = f"the reader {name!r} cannot read it ({type(error).__name__}: {error})"
        raise InputError(why, at=source.path, key=name) from error


def _refuse(found: object, name: str) -> NoReturn:
    what = type(found).__name__
    raise PluginError(f"the reader {name!r} gave a {what} in place of a Document; correct it", key=name)


def holds_of(writer: contracts.Writer, *, name: str) -> Holds:
    """What the files of a writer of another package hold.

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
    return Holds(format=name, fields=fields)


def encoding(writer: contracts.Writer, *, name: str) -> Callable[[Any], Encode]:
    """As a format has it: takes no options, and gives the function that encodes a document."""
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
            f"the writer {name!r} gave a {type(content).__name__} in place of bytes; correct it", key=name
        )
    report.mentions += len(document.mentions)
    return content


@contextmanager
def framed(writer: contracts.Writer, stream: BinaryIO, encode: Encode) -> Iterator[Put]:
    """Puts what a file begins and ends with around the documents."""
    stream.write(writer.start)
    yield stream.write
    stream.write(writer.end)

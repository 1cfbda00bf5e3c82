"""Files of Word and Excel: a zip of XML, opened with care and read by a package of the extra ``office``."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

from fascicle.core.files.elements import refuse_entities
from fascicle.core.files.source import MAX_FILE, Source
from fascicle.errors import FascicleError, FormatError


def content_of(source: Source) -> io.BytesIO:
    """Returns the bytes of a file that has to be read as a whole.

    Raises:
        InputError: the file cannot be opened.
        FormatError: it is empty, or has more than `MAX_FILE` bytes.
    """
    with source.open() as stream:
        data = stream.read(MAX_FILE + 1)
    if not data:
        raise FormatError("the file is empty; save it again", at=source.path, code="empty")
    if len(data) > MAX_FILE:
        raise FormatError(f"the file has more than {MAX_FILE:,} bytes; split it", at=source.path, code="too-large")
    return io.BytesIO(data)


def package_of(source: Source) -> io.BytesIO:
    """Returns the bytes of a zip of XML that declares no entities and unpacks to at most `MAX_FILE` bytes.

    Raises:
        FormatError: no such zip, or one that is damaged; see also `content_of`.
    """
    content = content_of(source)
    with reading(source), zipfile.ZipFile(content) as package:
        if sum(one.file_size for one in package.infolist()) > MAX_FILE:
            raise FormatError(f"the file unpacks to more than {MAX_FILE:,} bytes", at=source.path, code="too-large")
        for name in package.namelist():
            if name.lower().endswith((".xml", ".rels")):
                refuse_entities(package.read(name), source)
    content.seek(0)
    return content


@contextmanager
def reading(source: Source) -> Iterator[None]:
    """Returns a context for the work of a package that reads a file; what it raises becomes a `FormatError`."""
    try:
        yield
    except (FascicleError, ImportError, MemoryError):
        raise
    except Exception as error:
        why = f"the file is damaged, or protected by a password ({type(error).__name__}: {error})"
        raise FormatError(f"{why}; open it in its program, and save it again", at=source.path, code="damaged") from None

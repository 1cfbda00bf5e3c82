"""XML in tar archives, as PubMed Central has its articles: one member in memory at a time."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO, Final

from fascicle.core.files.encodings import HEAD, is_tar
from fascicle.core.files.pipes import is_pipe
from fascicle.core.files.source import STDIN, Source, open_bytes
from fascicle.core.files.tree import MAX_MEMBER
from fascicle.errors import FormatError

_XML: Final = (".xml", ".nxml")


@dataclass(frozen=True, kw_only=True)
class _Member(Source):
    """A file in an archive.

    Attributes:
        content: its bytes.
    """

    content: bytes

    def open(self) -> AbstractContextManager[BinaryIO]:
        """Returns the bytes."""
        return nullcontext(io.BytesIO(self.content))


def xml_members(source: Source) -> Iterator[Source]:
    """Yields the files of XML in a tar archive, packed with gzip or not; another file itself.

    Raises:
        FormatError: an archive that is damaged, that has no XML, or with a file of more than
            `MAX_MEMBER` bytes.
    """
    if not _is_archive(source):
        yield source
        return
    is_empty = True
    with source.open() as stream:
        try:
            with tarfile.open(fileobj=stream, mode="r|") as archive:
                for member in archive:
                    place = PurePosixPath(member.name)
                    is_xml = place.suffix.lower() in _XML and not place.name.startswith(".")
                    content = archive.extractfile(member) if is_xml and member.isfile() else None
                    if content is not None:
                        is_empty = False
                        yield _member(source, member, content.read(MAX_MEMBER))
        except tarfile.TarError as error:
            message = f"the tar archive is damaged ({error}); fetch it again"
            raise FormatError(message, at=source.path, code="damaged") from None
    if is_empty:
        raise FormatError(
            "the file is a tar archive; unpack it, and name what is in it: only files .xml and "
            ".nxml are read from an archive",
            at=source.path,
        )


def _member(source: Source, member: tarfile.TarInfo, content: bytes) -> Source:
    path = f"{source.path}/{member.name}"
    if member.size > MAX_MEMBER:
        message = f"the file has more than {MAX_MEMBER:,} bytes; unpack the archive"
        raise FormatError(message, at=path, code="too-large")
    return _Member(path=path, encoding=source.encoding, content=content)


def _is_archive(source: Source) -> bool:
    if source.path == STDIN or is_pipe(source.path):
        return False
    with open_bytes(source.path) as stream:
        return is_tar(stream.read(HEAD))

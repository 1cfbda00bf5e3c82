"""XML in tar archives, as PubMed Central has its articles: one member in memory at a time."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO, Final, Self

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
        content: its bytes, at most one more than `MAX_MEMBER`.
    """

    content: bytes

    def open(self) -> AbstractContextManager[BinaryIO]:
        """Returns the bytes.

        Raises:
            FormatError: they are more than `MAX_MEMBER`.
        """
        if len(self.content) > MAX_MEMBER:
            message = f"the file has more than {MAX_MEMBER:,} bytes; unpack the archive"
            raise FormatError(message, at=self.path, code="too-large")
        return nullcontext(io.BytesIO(self.content))


class _Header(tarfile.TarInfo):
    """A header of which only the empty block ends the archive; tarfile ends at a damaged one."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if buf == bytes(tarfile.BLOCKSIZE):
                raise
            raise tarfile.ReadError(str(error)) from None


def xml_members(source: Source) -> Iterator[Source]:
    """Yields the files of XML in a tar archive, packed with gzip or not; another file itself.

    Raises:
        FormatError: an archive that is damaged, or that has no XML.
    """
    if not _is_archive(source):
        yield source
        return
    is_empty = True
    with source.open() as stream:
        try:
            with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header) as archive:
                for member in archive:
                    archive.members.clear()  # type: ignore[attr-defined]  # it keeps all
                    place = PurePosixPath(member.name)
                    is_xml = place.suffix.lower() in _XML and not place.name.startswith(".")
                    content = archive.extractfile(member) if is_xml and member.isfile() else None
                    if content is not None:
                        is_empty = False
                        yield _Member(
                            path=f"{source.path}/{member.name}",
                            encoding=source.encoding,
                            content=content.read(MAX_MEMBER + 1),
                        )
        except tarfile.TarError as error:
            message = f"the tar archive is damaged ({error}); fetch it again"
            raise FormatError(message, at=source.path, code="damaged") from None
    if is_empty:
        raise FormatError(
            "the file is a tar archive; unpack it, and name what is in it: only files .xml and "
            ".nxml are read from an archive",
            at=source.path,
        )


def _is_archive(source: Source) -> bool:
    if source.path == STDIN or is_pipe(source.path):
        return False
    with open_bytes(source.path) as stream:
        return is_tar(stream.read(HEAD))

"""JSON description file in the folder of a model, a filter, a span typer or an ensemble."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec

from fascicle.errors import FascicleError, ModelError
from fascicle.settings.base import Settings

CARD = "README.md"
FILTER: Final = "filter.json"
RELATIONS: Final = "relations.json"
TYPER: Final = "typer.json"
_MOST: Final = 2**26  # most bytes of such a file
_M = TypeVar("_M", bound=Settings)


class Wording(NamedTuple):
    """Parts of error messages about a kind of description file.

    Attributes:
        broken: message for a file that cannot be read.
        repair: advice for it.
        renew: advice for a file of another version.
        version: name of its version.
        error: class of errors for folders of this kind.
    """

    broken: str
    repair: str
    renew: str
    version: str = "format"
    error: type[FascicleError] = ModelError


class _Outline(msgspec.Struct):
    """Format version, which determines whether the rest can be read."""

    format: int


class _Named(_Outline):
    """Fields of all description files except those of linkers."""

    name: str


def read_description(
    path: Path,
    kind: type[_M],
    wording: Wording,
    *,
    format: int,  # noqa: A002
    missing: str = "",
    look: Callable[[bytes], None] = lambda content: None,
) -> _M:
    """Reads a description file.

    Args:
        path: path of the file.
        kind: class of its content.
        wording: parts of error messages.
        format: version that this release reads.
        missing: message for a folder without the file; one that cannot be read is damaged by
            default.
        look: function that is called with the content of a file of this version before it is
            decoded, and may raise a more specific error.

    Raises:
        ModelError: missing, damaged, or of another format version; packs have an error of their
            own.
    """
    if missing and not path.is_file():
        raise wording.error(missing, file=str(path.parent))
    try:
        content = _bounded(path)
        format_name = msgspec.json.decode(content, type=_Outline).format
        if format_name != format:
            raise wording.error(
                f"{path} has {wording.version} {format_name}; this release reads format {format}: "
                f"{wording.renew}",
                file=str(path),
                code="version",
            )
        look(content)
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, ValueError, OSError, RecursionError) as error:
        raise wording.error(
            f"{path} {wording.broken} ({error}); {wording.repair}", file=str(path)
        ) from None


def is_described(path: Path) -> bool:
    """True if a file is the description of a model, an ensemble or a pack, of any version."""
    try:
        msgspec.json.decode(_bounded(path), type=_Named)
    except (msgspec.MsgspecError, ValueError, OSError, RecursionError):
        return False
    return True


def _bounded(path: Path) -> bytes:
    with path.open("rb") as stream:
        content = stream.read(_MOST + 1)
    if len(content) > _MOST:
        raise ValueError(f"it has more than {_MOST:,} bytes")
    return content


def write_description(path: Path, described: _M) -> _M:
    """Writes a description file; returns ``described``."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(described)) + b"\n")
    return described


def write_hashed(path: Path, described: _M, names: Iterable[str] | None = None) -> _M:
    """Writes a description file with the hashes of other files of its folder; returns its content.

    Args:
        path: path of the file.
        described: content of the file; its ``files`` are replaced.
        names: names of the files to hash; by default all except cards and hidden files.
    """
    if names is None:
        names = (
            p.name
            for p in path.parent.iterdir()
            if p.name not in (path.name, CARD) and p.name[0] != "."
        )
    files = {name: file_sha256(path.parent / name) for name in sorted(names)}
    return write_description(path, msgspec.structs.replace(described, files=files))


def file_sha256(path: Path) -> str:
    """Computes the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

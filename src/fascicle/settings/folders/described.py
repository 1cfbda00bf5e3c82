"""The file of JSON by which the folder of a model, a filter, a span typer or an ensemble describes itself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec

from fascicle.errors import FascicleError, ModelError
from fascicle.settings.base import Settings

CARD = "README.md"
_MOST: Final = 2**26  # bytes of such a file
M = TypeVar("M", bound=Settings)


class Wording(NamedTuple):
    """What errors say of such a file.

    Attributes:
        broken: of one that cannot be read.
        repair: what to do then.
        renew: what to do with one of another version.
        version: what its version is called.
        error: of the folders of this kind.
    """

    broken: str
    repair: str
    renew: str
    version: str = "format"
    error: type[FascicleError] = ModelError


class _Outline(msgspec.Struct):
    """What tells whether the rest can be read."""

    format: int


class _Named(_Outline):
    """What all of them have, but those of linkers."""

    name: str


def read_described(
    path: Path,
    kind: type[M],
    wording: Wording,
    *,
    format: int,  # noqa: A002
    look: Callable[[bytes], None] = lambda content: None,
) -> M:
    """Reads the file.

    Args:
        path: of the file.
        kind: what it is read as.
        wording: for errors.
        format: version that this release reads.
        look: sees the content of a file of this version before it is read, and may raise an error that says more.

    Raises:
        ModelError: damaged, or of another format version; packs have an error of their own.
    """
    try:
        content = _bounded(path)
        found = msgspec.json.decode(content, type=_Outline).format
        if found != format:
            raise wording.error(
                f"{path} has {wording.version} {found}; this release reads format {format}: {wording.renew}",
                file=str(path),
                code="version",
            )
        look(content)
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, ValueError, OSError, RecursionError) as error:
        raise wording.error(f"{path} {wording.broken} ({error}); {wording.repair}", file=str(path)) from None


def is_described(path: Path) -> bool:
    """Whether a file is that of a model, an ensemble or a pack, of any version, and not another one of its name."""
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


def write_described(path: Path, described: M) -> M:
    """Writes the file; returns what it was given."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(described)) + b"\n")
    return described


def write_hashed(path: Path, described: M, names: Iterable[str] | None = None) -> M:
    """Writes the file with the hashes of other files of its folder; returns what it holds.

    Args:
        path: of the file.
        described: its ``files`` are made anew.
        names: of the files; by default all, cards and what is hidden left out.
    """
    if names is None:
        names = (p.name for p in path.parent.iterdir() if p.name not in (path.name, CARD) and p.name[0] != ".")
    files = {name: file_sha256(path.parent / name) for name in sorted(names)}
    return write_described(path, msgspec.structs.replace(described, files=files))


def file_sha256(path: Path) -> str:
    """Hash of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

"""Corpora of many files: a folder, a zip, or a folder inside a zip (``corpus.zip/train``).

A zip is read without unpacking it to the disk, and one file at a time is in memory.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from fascicle.core.files.encodings import (
    AUTO,
    BY_MARK,
    GUESSED,
    WESTERN,
    binary_kind,
    bom_encoding,
    is_western,
)
from fascicle.core.files.pipes import unreadable
from fascicle.core.files.source import GIVE_ENCODING, STDIN, Source, nul_error
from fascicle.errors import FormatError, InputError, UsageError

MAX_MEMBER: Final = 64 * 2**20  # bytes of one file, unpacked
_SMALL: Final = 2**16  # bytes
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")  # the second is the start of an empty archive
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 0x1
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_HIDDEN: Final = "__MACOSX"
# Errors of zipfile for damaged archives; RuntimeError and ValueError include more special ones.
_DAMAGED: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OverflowError,
    RuntimeError,
    ValueError,
)


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """Files below one path.

    Attributes:
        path: the path, as given.
        names: names of the files, relative to the path, with ``/`` between folders, sorted folder
            by folder.
        reader: function that returns the content of a file by its name.
        unnamed: files whose names are not Unicode, and which cannot be read.
        others: all members, if the path is a zip.
    """

    path: str
    names: tuple[str, ...]
    reader: Callable[[str], bytes]
    unnamed: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def place(self, name: str) -> str:
        """Returns the path of a file, for messages."""
        return f"{self.path.rstrip('/')}/{name}"

    def refusal(self, name: str) -> InputError:
        """Returns the error for a file of `unnamed`."""
        return InputError(
            f"the name of the file {name!r} in {self.path} is not Unicode, so no document can be "
            "named after it; rename it"
        )

    def read(self, name: str) -> bytes:
        """Reads the content of a file.

        Raises:
            InputError: it cannot be read.
            FormatError: it has more than `MAX_MEMBER` bytes, or it is damaged in the archive.
        """
        data = self.reader(name)
        if len(data) > MAX_MEMBER:
            raise _too_large(self.place(name))
        return data

    def text(self, name: str, source: Source) -> tuple[str, bool]:
        """Reads a text file; also returns whether it began with a byte order mark, which is not
        part of the text.

        Args:
            name: name of the file.
            source: the source, for its encoding.

        Raises:
            InputError: see `read`.
            FormatError: a binary file, or text in another encoding.
        """
        data, place = self.read(name), self.place(name)
        if kind := binary_kind(data):
            raise FormatError(f"{place} is {kind}")
        try:
            text = _decoded(data, source)
        except UnicodeError as error:
            message = f"{place} is not {source.codec} text ({error}); {GIVE_ENCODING}"
            raise FormatError(message, code="encoding") from None
        if "\0" in text:
            raise nul_error(place, f"at character {text.index(chr(0))}")
        has_mark = text.startswith("\ufeff")
        return text[1:] if has_mark else text, has_mark


def _decoded(data: bytes, source: Source) -> str:
    if source.encoding != AUTO or source.told is None:
        return data.decode(source.codec)
    if encoding := bom_encoding(data[:4]):
        source.told(encoding, BY_MARK)
        return "\ufeff" + data.decode(encoding)  # the codec removes the mark
    try:
        return data.decode()
    except UnicodeDecodeError:
        if not is_western([data]):
            raise
        source.told(WESTERN, GUESSED)
        return data.decode(WESTERN)


def split_archive(path: str) -> tuple[Path, str] | None:
    """Returns the zip on a path, and the path inside it (empty for its top); ``None`` if there
    is no zip.
    """
    if path == STDIN:
        return None
    place = Path(path)
    for candidate in (place, *place.parents):
        if candidate.is_file():
            inner = place.relative_to(candidate).as_posix()
            return (candidate, "" if inner == "." else inner) if _is_zip(candidate) else None
        if candidate.is_dir():
            return None
    return None


def path_exists(path: str) -> bool:
    """True if a path leads to a file or folder, or to a zip (the path inside the zip is not
    checked).
    """
    return Path(path).exists() or split_archive(path) is not None


@contextmanager
def open_tree(path: str, *, suffixes: Collection[str] | None) -> Iterator[Tree]:
    """Opens a folder, a zip, a folder inside a zip, or one file with those beside it that differ
    only in the suffix.

    Hidden files and folders are left out. Links to files count as files, links to folders are not
    followed.

    Args:
        path: the path.
        suffixes: suffixes of the files to list, in lower case; the case of the files does not
            matter. ``None`` for all files of a zip.

    Raises:
        UsageError: standard input.
        InputError: the path does not exist, or cannot be read.
        FormatError: a file that is no zip, or a zip that is damaged, encrypted, or holds a link, a
            path that leads out of it, or one file twice.
    """
    if path == STDIN:
        raise UsageError(
            "standard input is one file, but this format has several; name a folder or a .zip"
        )
    parts = split_archive(path)
    if parts is None:
        yield _folder(path, suffixes or ())
        return
    archive = _opened(parts[0])
    with archive:
        yield _archive(path, archive, parts, suffixes)


def is_unicode(name: str) -> bool:
    """True if a file name is Unicode; on some systems names may be any bytes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def lower_suffix(name: str) -> str:
    """Returns the suffix of a file name in lower case."""
    last = name.rstrip("/").rpartition("/")[2]
    dot = last.rfind(".")
    return last[dot:].lower() if 0 < dot < len(last) - 1 else ""


def has_suffix_below(folder: Path, suffixes: Collection[str], *, depth: int | None = None) -> bool:
    """True if a folder holds a visible file with such a suffix, at most ``depth`` levels down
    (0: directly).
    """
    for place, folders, files in os.walk(folder):
        if any(lower_suffix(file) in suffixes and _is_visible(file) for file in files):
            return True
        deep = depth is not None and len(Path(place).relative_to(folder).parts) >= depth
        folders[:] = [name for name in folders if not deep and _is_visible(name)]
    return False


def tree_sha256(path: str, *, suffixes: Collection[str]) -> str:
    """Returns a hash of the names and contents of the files that `open_tree` lists."""
    digest = hashlib.sha256()
    with open_tree(path, suffixes=suffixes) as tree:
        if tree.unnamed:
            raise tree.refusal(tree.unnamed[0])
        for name in tree.names:
            digest.update(f"{name} {hashlib.sha256(tree.read(name)).hexdigest()}\n".encode())
    return digest.hexdigest()


def _folder(path: str, suffixes: Collection[str]) -> Tree:
    place = Path(path)
    try:
        if place.is_dir():
            names, root = _list_files(place), path
        elif place.is_file():
            if lower_suffix(place.name) not in suffixes:
                raise _no_tree(place, suffixes)
            names = [
                entry.name
                for entry in place.parent.iterdir()
                if entry.stem == place.stem and entry.is_file()
            ]
            root = str(place.parent)
        else:
            raise InputError(
                f"there is no file or folder {path}; check the path", file=path, code="not-found"
            )
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}; check the path"
        raise InputError(message, file=path, code="unreadable") from None
    selected, unnamed = _select(names, suffixes)
    return Tree(path=root, names=selected, reader=partial(_file, Path(root)), unnamed=unnamed)


def _list_files(folder: Path) -> list[str]:
    def refuse(error: OSError) -> None:
        raise error

    names = []
    for place, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if _is_visible(name)]
        below = Path(place).relative_to(folder).as_posix()
        names += files if below == "." else [f"{below}/{file}" for file in files]
    return [name for name in names if (folder / name).is_file()]


def _file(folder: Path, name: str) -> bytes:
    try:
        with (folder / name).open("rb") as stream:
            data = stream.read(_SMALL)  # more would reserve memory for the largest file
            return data if len(data) < _SMALL else data + stream.read(MAX_MEMBER + 1 - _SMALL)
    except OSError as error:
        raise unreadable(folder / name, error) from None


def _archive(
    path: str, archive: zipfile.ZipFile, parts: tuple[Path, str], suffixes: Collection[str] | None
) -> Tree:
    place, inner = parts
    members = _members(archive, place)
    start = f"{inner}/" if inner else ""
    if inner and not any(name.startswith(start) for name in (*members, *_folders(members))):
        _check_member(path, parts, members, suffixes or ())
        parent = PurePosixPath(inner).parent
        start = "" if str(parent) == "." else f"{parent}/"
        members = {name: info for name, info in members.items() if _stem(name) == _stem(inner)}
        path = str(place / parent)
    below = {name[len(start) :]: info for name, info in members.items() if name.startswith(start)}
    names, unnamed = _select([name for name in below if not name.endswith("/")], suffixes)
    return Tree(
        path=path,
        names=names,
        reader=lambda name: _member(archive, below[name], place),
        unnamed=unnamed,
        others=tuple(members),
    )


def _check_member(
    path: str, parts: tuple[Path, str], members: Collection[str], suffixes: Collection[str]
) -> None:
    place, inner = parts
    if inner not in members:
        raise _not_inside(place, inner, members)
    if lower_suffix(inner) not in suffixes:
        raise FormatError(
            f"{path} is not a {' or '.join(suffixes)} file; give a folder inside the zip, or such "
            "a file",
            file=path,
        )


def _members(archive: zipfile.ZipFile, place: Path) -> dict[str, zipfile.ZipInfo]:
    """Returns all members by name; raises an error for names that lead out of the archive, links
    and the like.
    """
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.filename.replace("\\", "/")  # some programs of Windows write them so
        if name.startswith("/") or _DRIVE.match(name) or ".." in name.split("/"):
            raise FormatError(
                f"{place} holds {info.filename!r}, a path that leads out of it; such a zip is "
                "not read"
            )
        if stat.S_ISLNK(info.external_attr >> 16):
            raise FormatError(f"{place} holds the link {name!r}; give a zip of files without links")
        if info.flag_bits & _ENCRYPTED:
            raise FormatError(
                f"{place} is encrypted ({name!r}); unpack it with its password, and give the folder"
            )
        if name in members and not name.endswith("/"):
            raise FormatError(f"{place} holds {name!r} twice; pack it again with one of them")
        members[name] = info
    return members


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, place: Path) -> bytes:
    if info.compress_type not in _METHODS:
        message = (
            f"{info.filename!r} is packed in a way that is not read; pack it again with deflate"
        )
        raise FormatError(message, at=str(place))
    if info.file_size > MAX_MEMBER:
        raise _too_large(f"{place}/{info.filename}")
    try:
        with archive.open(info) as stream:
            return stream.read(MAX_MEMBER + 1)
    except (*_DAMAGED, OSError) as error:
        raise _damaged(place, error) from None


def _opened(place: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(place)
    except PermissionError as error:
        raise unreadable(place, error) from None
    except (*_DAMAGED, OSError) as error:
        raise _damaged(place, error) from None


def _select(
    names: list[str], suffixes: Collection[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the names with these suffixes, sorted folder by folder, and separately those that
    are not Unicode.
    """
    selected = [
        name
        for name in names
        if (suffixes is None or lower_suffix(name) in suffixes)
        and all(map(_is_visible, name.split("/")))
    ]
    ordered = sorted(selected, key=lambda name: name.split("/"))
    unnamed = {name for name in ordered if not is_unicode(name)}
    return tuple(name for name in ordered if name not in unnamed), tuple(sorted(unnamed))


def _folders(members: Collection[str]) -> set[str]:
    return {
        f"{parent}/"
        for name in members
        for parent in PurePosixPath(name).parents
        if str(parent) != "."
    }


def _stem(name: str) -> tuple[PurePosixPath, str]:
    return PurePosixPath(name).parent, PurePosixPath(name).stem


def _is_visible(name: str) -> bool:
    return not name.startswith(".") and name != _HIDDEN


def _is_zip(place: Path) -> bool:
    try:
        with place.open("rb") as stream:
            return stream.read(4) in _ZIP
    except OSError:
        return False  # opening it raises the error


def _no_tree(place: Path, suffixes: Collection[str]) -> InputError:
    if not place.stat().st_size:
        return InputError(
            f"{place} is empty: it holds no document; give a folder or a .zip", code="empty"
        )
    return FormatError(
        f"{place} is neither a zip nor a {' or '.join(suffixes)} file; give a folder, a .zip, or "
        "such a file"
    )


def _not_inside(place: Path, inner: str, members: Collection[str]) -> InputError:
    folders = sorted({name.split("/")[0] for name in members if "/" in name})
    names = ", ".join(folders[:10]) + (", ..." if len(folders) > 10 else "")
    message = (
        f"there is no {inner} in {place}; "
        f"{'its folders are ' + names if names else 'it has no folder'}"
    )
    return InputError(message, code="not-found")


def _too_large(place: str) -> FormatError:
    message = f"{place} has more than {MAX_MEMBER:,} bytes; split it into documents below that"
    return FormatError(message, file=place, code="too-large")


def _damaged(place: Path, error: Exception) -> FormatError:
    return FormatError(
        f"the zip is damaged or cut off ({error}); fetch the file again",
        at=str(place),
        code="damaged",
    )

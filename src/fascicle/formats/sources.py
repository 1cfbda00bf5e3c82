"""Kinds of paths: a file, the text files of a folder, or one corpus; and fingerprints of their
content.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

import msgspec

from fascicle.core.files.remote import is_url
from fascicle.core.files.source import STDIN, suffix
from fascicle.core.files.tree import (
    has_suffix_below,
    lower_suffix,
    open_tree,
    path_exists,
    split_archive,
    tree_sha256,
)
from fascicle.core.wording import plural
from fascicle.errors import InputError
from fascicle.formats.catalogue import format_named, readable_by_suffix
from fascicle.formats.handlers import ANNOTATIONS, SUFFIXES, TEXT
from fascicle.formats.report import table_unread
from fascicle.settings.folders.best import description_file, model_folder
from fascicle.settings.folders.described import file_sha256

if TYPE_CHECKING:
    from fascicle.formats.offset_tables import OffsetTable


# Of the format parquet. A program that reads the folder as one table finds only the mentions,
# because pandas and datasets ignore folders of such a name.
DOCUMENTS: Final = "__documents__/documents.parquet"
MENTIONS: Final = "mentions.parquet"
RELATIONS: Final = "__documents__/relations.parquet"  # earlier versions wrote none
_DOCUMENTS_BEFORE: Final = "documents.parquet"  # as earlier versions wrote it, beside the mentions
_MARKED: Final = (".sgm", ".name")  # texts with annotation in them, or in XML beside them
_PACKAGES: Final = (".docx", ".xlsx")  # of zips that are one file
_TYPES: Final = "TypeSystem.xml"  # beside the files of an export of INCEpTION
_DEPTH: Final = 12  # levels of folders that are searched for annotation


def format_of_folder(folder: Path) -> str:
    """Returns the format of a folder: parquet if it holds its tables, brat if it holds annotation,
    else plain.

    A folder with texts of its own whose annotation is only in folders below it is plain.
    """
    if parquet_tables(folder):
        return "parquet"
    beside = has_suffix_below(folder, ANNOTATIONS, depth=0)
    only_texts = not beside and has_suffix_below(folder, (TEXT,), depth=0)
    return (
        "brat"
        if beside or (not only_texts and has_suffix_below(folder, ANNOTATIONS, depth=_DEPTH))
        else "plain"
    )


class InputFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Files that a path refers to, looked up once.

    Attributes:
        path: as given.
        sources: what is read in its place: the path itself, or the text files of a folder.
        is_texts: whether it is a folder of plain texts, each a source of its own.
    """

    path: str
    sources: tuple[str, ...]
    is_texts: bool = False


def find_places(paths: Iterable[str], *, format: str = "auto") -> list[InputFiles]:  # noqa: A002
    """Looks up paths: a folder of texts becomes its files; a folder of brat files remains one
    source.

    Args:
        paths: as ``formats.files.read`` takes them.
        format: a name of ``formats.catalogue.FORMATS``, or ``"auto"``.

    Raises:
        InputError: a path that is not there, or a folder without texts.
    """
    places = []
    for path in paths:
        if path != STDIN and not path_exists(path):
            raise InputError(
                f"there is no file {path}; check the path", file=path, code="not-found"
            )
        folder = Path(path)
        is_texts = path != STDIN and folder.is_dir()
        if is_texts:
            name = format_of_folder(folder) if format == "auto" else format
            # A folder may be one corpus of the format, and not separate text files.
            is_texts = not format_named(name).many
        sources = tuple(map(str, _files_of(folder))) if is_texts else (path,)
        places.append(InputFiles(path=path, sources=sources, is_texts=is_texts))
    return places


def _files_of(folder: Path) -> list[Path]:
    """Returns the text files of a folder (``*.txt``, in capitals or not), sorted by name.

    Raises:
        InputError: there is none.
    """
    files = sorted(file for file in folder.iterdir() if _is_text(file))
    if not files:
        ending = _usual_ending(folder)
        advice = f", such as {folder}/*{ending}" if ending else ""
        message = (
            f"the folder {folder} holds no *.txt file; give a folder of plain texts, or "
            f"name the files{advice}"
        )
        raise InputError(message, file=str(folder))
    return files


def _usual_ending(folder: Path) -> str:
    """Returns the suffix of most files that can be read, else of most files; empty if none has a
    suffix.
    """
    entries = [entry for entry in folder.iterdir() if entry.is_file() and entry.name != _TYPES]
    counts = Counter(filter(None, map(_ending, entries)))
    return min(
        counts,
        key=lambda end: (not readable_by_suffix(suffix(f"a{end}")), -counts[end]),
        default="",
    )


def _ending(entry: Path) -> str:
    """Returns the suffix of a file as it is written, with the one before ``.gz``."""
    return "".join(entry.suffixes[-2:] if entry.suffix.lower() == ".gz" else entry.suffixes[-1:])


def distinct_files(paths: Iterable[str]) -> list[str]:
    """Returns each file once, as it was named first; links are files of their own."""
    files: dict[str, str] = {}
    for path in paths:
        files.setdefault(path if path == STDIN or is_url(path) else os.path.abspath(path), path)  # noqa: PTH100
    return list(files.values())


def notes_on(
    places: Sequence[InputFiles],
    *,
    format: str = "auto",  # noqa: A002
    others: Sequence[str] = (),
) -> Iterator[str]:
    """Yields messages about what is not read: files a second time, and what folders hold beside
    texts, or beside brat files.

    Args:
        places: files and folders.
        format: of the files.
        others: paths that are no folders.
    """
    paths = [*others, *(path for place in places for path in place.sources)]
    if count := len(paths) - len(distinct_files(paths)):
        yield f"{plural(count, 'input')} left out: the same file is named before, and is read once"
    for name, table in unread_tables(places, format=format).items():
        yield table_unread(name, table)
    for folder in dict.fromkeys(Path(place.path) for place in places if place.is_texts):
        if count := _count_left_out(folder):
            yield (
                f"{count:,} other {'entry' if count == 1 else 'entries'} of {folder} left out; "
                "of a folder, only the *.txt files are read, not those of its subfolders"
            )
    for folder in dict.fromkeys(Path(place.path) for place in places if not place.is_texts):
        if format in ("auto", "brat") and (names := _beside_brat(folder)):
            yield (
                f"{plural(len(names), 'file')} of {folder} left out, the first {names[0]}; in this "
                "folder of brat, only *.txt files and their annotation files are read; name other "
                "files to read them too"
            )


def left_out_notes(files: Sequence[str], *, format: str = "auto") -> Iterator[str]:  # noqa: A002
    """Works like `notes_on`, for files and folders that may not exist."""
    folders = [file for file in files if file != STDIN and Path(file).is_dir()]
    others = [file for file in files if file not in folders]
    return notes_on(find_places(folders, format=format), format=format, others=others)


def _count_left_out(folder: Path) -> int:
    """Returns the number of entries of a folder that `_files_of` leaves out; hidden ones are not
    counted.
    """
    return sum(not (entry.name.startswith(".") or _is_text(entry)) for entry in folder.iterdir())


def _beside_brat(folder: Path) -> list[str]:
    """Returns the names of files in a folder of brat files that are corpora in other formats;
    sorted.
    """
    if not folder.is_dir() or format_of_folder(folder) != "brat":
        return []
    names = [
        entry.name
        for entry in folder.iterdir()
        if entry.is_file() and not entry.name.startswith(".")
    ]
    return sorted(
        name
        for name in names
        if readable_by_suffix(lower_suffix(name)) not in ("", "brat", "plain")
    )


def unread_tables(places: Iterable[InputFiles], *, format: str = "auto") -> dict[str, str]:  # noqa: A002
    """Returns the unread tables of offsets beside folders of texts whose format was not given.

    Args:
        places: what is read.
        format: as asked for; with any but ``"auto"`` there are none.

    Returns:
        Folder -> one table that names texts of it.
    """
    plain = [place for place in places if place.is_texts and format == "auto"]
    if not plain:
        return {}
    from fascicle.formats.offset_tables import find_tables

    unread: dict[str, str] = {}
    for place in plain:
        names = frozenset(Path(file).stem for file in place.sources)
        if tables := find_tables(place.path, names):
            unread[place.path] = tables[0].path
    return unread


def input_state(path: str) -> str:
    """Returns a key that changes with an input: size and time of a file, the hash of a folder of
    files.

    Args:
        path: of an input; that of standard input and of what is not there is empty.
    """
    if path == STDIN:
        return ""
    try:
        facts = Path(path).stat()
    except OSError:
        archive = split_archive(path)  # a folder inside a zip
        return "" if archive is None else input_state(str(archive[0])) + _state_of_tables(path)
    if stat.S_ISDIR(facts.st_mode) and parquet_tables(Path(path)):
        return source_sha256(path)
    if stat.S_ISDIR(facts.st_mode):
        return tree_sha256(path, suffixes=_suffixes_in(path)) + _state_of_tables(path)
    more = _state_of_tables(path) if split_archive(path) is not None else ""
    return f"{facts.st_size} {facts.st_mtime_ns}{more}"


def source_sha256(path: str) -> str:
    """Returns the hash of a file, or of the names and contents of a folder's text files (of brat:
    annotation too).

    A table of offsets that names texts of a folder or zip without annotation is part of the hash.
    For the folder of a model it is the hash of the file that lists the hashes of all others.

    Raises:
        InputError: a corpus that cannot be read, or a folder without texts.
    """
    place = Path(path)
    if (model := description_file(model_folder(place))).is_file():
        return file_sha256(model)
    if tables := parquet_tables(place):
        return hashlib.sha256("".join(map(file_sha256, tables)).encode()).hexdigest()
    is_package = place.is_file() and lower_suffix(place.name) in _PACKAGES
    if not is_package and (
        split_archive(path) is not None or _holds_annotation(place) or _has_texts_below(place)
    ):
        return _with_tables(tree_sha256(path, suffixes=_suffixes_in(path)), path)
    if not place.is_dir():
        return file_sha256(place)
    lines = "".join(f"{file.name} {file_sha256(file)}\n" for file in _files_of(place))
    return _with_tables(hashlib.sha256(lines.encode("utf-8")).hexdigest(), path)


def _with_tables(digest: str, path: str) -> str:
    """Returns the hash of texts and of the tables of offsets that name them; without tables the
    hash is unchanged.
    """
    tables = _tables_of_texts(path)
    whole = hashlib.sha256(digest.encode())
    for line in (line for table in tables for line in table.raw_lines()):
        whole.update(line)
    return whole.hexdigest() if tables else digest


def _state_of_tables(path: str) -> str:
    """Returns the state of the tables beside texts; a table inside a zip has the state of the
    zip.
    """
    with suppress(InputError):  # the reader of the place reports the error
        tables = [
            table.path for table in _tables_of_texts(path) if split_archive(table.folder) is None
        ]
        return "".join(f" {input_state(table)}" for table in tables)
    return ""


def _tables_of_texts(path: str) -> list[OffsetTable]:
    """Returns the tables that name the texts of a place without annotation of its own."""
    from fascicle.formats.offset_tables import find_tables

    with open_tree(path, suffixes=SUFFIXES) as tree:
        if any(lower_suffix(name) in ANNOTATIONS for name in tree.names):
            return []
        names = frozenset(PurePosixPath(name).stem for name in tree.names)
    return find_tables(path, names)


def parquet_tables(place: Path) -> tuple[Path, ...]:
    """Returns the tables of documents, of mentions and, if it is there, of relations in a folder
    of the format parquet; empty for another place.
    """
    mentions, relations = place / MENTIONS, place / RELATIONS
    for documents in (place / DOCUMENTS, place / _DOCUMENTS_BEFORE):
        if documents.is_file() and mentions.is_file():
            return documents, mentions, *([relations] if relations.is_file() else [])
    return ()


def _holds_annotation(place: Path) -> bool:
    """True if a place is an annotation file, or a folder with such files anywhere below it."""
    annotations = (*ANNOTATIONS, *_MARKED)
    return (
        has_suffix_below(place, annotations)
        if place.is_dir()
        else lower_suffix(place.name) in annotations
    )


def _has_texts_below(place: Path) -> bool:
    """True if the texts of a folder are all in folders below it, as those of a table of offsets
    may be.
    """
    return not has_suffix_below(place, (TEXT,), depth=0) and has_suffix_below(place, (TEXT,))


def _suffixes_in(path: str) -> tuple[str, ...]:
    """Returns the suffixes of the files that a place of several files is read from."""
    with open_tree(path, suffixes=_MARKED) as tree:
        return (*_MARKED, ".xml") if tree.names else SUFFIXES


def _is_text(file: Path) -> bool:
    return file.suffix.lower() == ".txt" and file.is_file()

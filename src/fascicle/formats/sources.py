"""What a path stands for: a file, the text files of a folder, or one corpus; and how its content is known again."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from fascicle.errors import InputError
from fascicle.files.source import STDIN
from fascicle.files.tree import archive_of, has_suffix_below, is_there, suffix_of, tree_sha256
from fascicle.formats.brat_lines import ANNOTATIONS, SUFFIXES, TEXT
from fascicle.formats.catalogue import format_named
from fascicle.settings.folders.best import described_by, model_folder
from fascicle.settings.folders.described import file_sha256

TABLES: Final = ("documents.parquet", "mentions.parquet")  # of the format parquet
_DEPTH: Final = 12  # folders below a folder in which annotation is looked for


def format_of_folder(folder: Path) -> str:
    """The name of the format of a folder: parquet if it holds its tables, brat if it holds annotation, else plain.

    A folder with texts of its own whose annotation is only in folders below it is plain.
    """
    if _holds_tables(folder):
        return "parquet"
    beside = has_suffix_below(folder, ANNOTATIONS, depth=0)
    only_texts = not beside and has_suffix_below(folder, (TEXT,), depth=0)
    return "brat" if beside or (not only_texts and has_suffix_below(folder, ANNOTATIONS, depth=_DEPTH)) else "plain"


def is_one_source(folder: Path, *, format: str = "auto") -> bool:  # noqa: A002
    """Whether a folder is one corpus of the format, and not just the place of its text files."""
    return format_named(format_of_folder(folder) if format == "auto" else format).many


def expanded(paths: Iterable[str], *, format: str = "auto") -> list[str]:  # noqa: A002
    """The sources that paths stand for: a folder of texts stands for its files; one of brat files for itself.

    Args:
        paths: as ``formats.files.read`` takes them.
        format: a name of ``formats.catalogue.FORMATS``, or ``"auto"``.

    Raises:
        InputError: a path that is not there, or a folder without texts.
    """
    files: list[str] = []
    for path in paths:
        if path != STDIN and not is_there(path):
            raise InputError(f"there is no file {path}; check the path", file=path, code="not-found")
        place = Path(path)
        if path == STDIN or not place.is_dir() or is_one_source(place, format=format):
            files.append(path)
        else:
            files += map(str, files_of(place))
    return files


def files_of(folder: Path) -> list[Path]:
    """The text files of a folder (``*.txt``, in capitals or not), sorted by name.

    Raises:
        InputError: there is none.
    """
    files = sorted(file for file in folder.iterdir() if _is_text(file))
    if not files:
        raise InputError(
            f"the folder {folder} holds no *.txt file; give a folder of plain texts, or name the files",
            file=str(folder),
        )
    return files


def left_out(folder: Path) -> int:
    """How many entries of a folder `files_of` leaves out: other files and folders; hidden ones do not count."""
    return sum(not (entry.name.startswith(".") or _is_text(entry)) for entry in folder.iterdir())


def state_of(path: str) -> str:
    """What tells whether an input is still the same: size and time of a file, the hash of a folder of files.

    Args:
        path: of an input; that of standard input and of what is not there is empty.
    """
    if path == STDIN:
        return ""
    try:
        facts = Path(path).stat()
    except OSError:
        found = archive_of(path)  # a folder inside a zip
        return "" if found is None else state_of(str(found[0]))
    if stat.S_ISDIR(facts.st_mode) and _holds_tables(Path(path)):
        return source_sha256(path)
    if stat.S_ISDIR(facts.st_mode):
        return tree_sha256(path, suffixes=SUFFIXES)
    return f"{facts.st_size} {facts.st_mtime_ns}"


def source_sha256(path: str) -> str:
    """Hash of a file's content, or of the names and contents of a folder's text files (of brat: annotation too).

    Of the folder of a model it is that of the file in it which has the hashes of all others.

    Raises:
        InputError: a corpus that cannot be read, or a folder without texts.
    """
    place = Path(path)
    if (model := described_by(model_folder(place))).is_file():
        return file_sha256(model)
    if _holds_tables(place):
        return hashlib.sha256("".join(file_sha256(place / name) for name in TABLES).encode()).hexdigest()
    if archive_of(path) is not None or _holds_annotation(place):
        return tree_sha256(path, suffixes=SUFFIXES)
    if not place.is_dir():
        return file_sha256(place)
    listed = "".join(f"{file.name} {file_sha256(file)}\n" for file in files_of(place))
    return hashlib.sha256(listed.encode("utf-8")).hexdigest()


def _holds_tables(place: Path) -> bool:
    """Whether a place is a folder with the two tables of the format parquet."""
    return all((place / name).is_file() for name in TABLES)


def _holds_annotation(place: Path) -> bool:
    """Whether a place is an annotation file, or a folder with such files anywhere below it."""
    return has_suffix_below(place, ANNOTATIONS) if place.is_dir() else suffix_of(place.name) in ANNOTATIONS


def _is_text(file: Path) -> bool:
    return file.suffix.lower() == ".txt" and file.is_file()

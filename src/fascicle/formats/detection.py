"""Telling the format of a file: by what it begins with, and then by its name."""

from __future__ import annotations

import io
import re
import sys
import zlib
from pathlib import Path
from typing import Final

import msgspec

from fascicle.core.tags import is_tag
from fascicle.errors import FormatError, InputError
from fascicle.formats.brat_lines import ANNOTATIONS, SUFFIXES, TEXT
from fascicle.formats.pipes import refuse_pipe
from fascicle.formats.predictions import HEADER, columns_of
from fascicle.formats.source import GZIP, MAX_LINE, STDIN, open_bytes
from fascicle.formats.tree import archive_of, has_suffix_below, open_tree, suffix_of

_PEEK: Final = 64 * 1024
_ROWS: Final = 200
_ENOUGH_ROWS: Final = 10  # of a file that calls itself text: one line of text may well end in "blood group O"
_DEPTH: Final = 3  # folders below a folder in which annotation is looked for
_PUBTATOR: Final = re.compile(r"[^|\t\n]+\|t\|")
_OBJECT: Final = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:')
_SUFFIXES: Final = {
    ".txt": "plain",
    ".text": "plain",
    ".jsonl": "jsonl",
    ".jsonlines": "jsonl",
    ".json": "jsonl",
    ".pubtator": "pubtator",
    ".conll": "conll",
    ".iob": "conll",
    ".iob2": "conll",
    ".bio": "conll",
    ".zip": "brat",
    **dict.fromkeys(ANNOTATIONS, "brat"),
}
_NAMES: Final = "plain, conll, jsonl, native, pubtator, brat"


def detect(path: str) -> str:
    """The name of the format of a file.

    The first 64 kB decide if they can: JSON with a ``fascicle`` version is native, other JSON jsonl, a first line
    ``id|t|title`` pubtator, and rows that all end with a tag (``O``, ``B-Disease``) conll; if the file is called
    ``.txt``, at least ten of them with the same number of columns. Else the suffix decides.

    A folder with brat annotation (``.ann``, ``.a1``, ``.a2``) is brat; one with texts only is plain, and so is one with
    texts whose annotation is only in folders below it. A zip, or a folder inside a zip, must hold such annotation.

    Standard input is JSON Lines (native or not) if its first line is a JSON object, else plain text.

    Args:
        path: a file, gzip or not, a folder, a zip, or a folder inside a zip.

    Raises:
        InputError: the file cannot be opened.
        FormatError: a prediction file, which holds no documents, or nothing that is known.
    """
    if path == STDIN:
        return _of_stdin()
    if Path(path).is_dir():
        return _of_folder(Path(path))
    if archive_of(path) is not None:
        return _of_archive(path)
    refuse_pipe(path, formats=_NAMES)
    if suffix(path) in ANNOTATIONS and Path(path).is_file():
        return "brat"
    with open_bytes(path) as stream:
        head = stream.read(_PEEK)
        if b"\n" not in head and head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
            head += stream.readline(MAX_LINE)  # native records have their version at the end
    found = _by_content(head, path) or _SUFFIXES.get(suffix(path), "")
    if not found and not head:
        raise InputError(f"{path} is empty")
    if not found:
        raise FormatError(
            f"the format of {path} cannot be told; name it with --format, one of {_NAMES}; a TSV of predictions "
            f"begins with the header {' '.join(HEADER)} (TAB-separated, in any order; the score may be left out)"
        )
    return found


def suffix(path: str) -> str:
    """The suffix of a file in lower case, without ``.gz``."""
    name = path.lower().removesuffix(".gz")
    return Path(name).suffix


def by_suffix(path: str) -> str:
    """The format that a suffix stands for, or the empty string."""
    return _SUFFIXES.get(suffix(path), "")


def _of_folder(folder: Path) -> str:
    beside = has_suffix_below(folder, ANNOTATIONS, depth=0)
    only_texts = not beside and has_suffix_below(folder, (TEXT,), depth=0)
    return "brat" if beside or (not only_texts and has_suffix_below(folder, ANNOTATIONS, depth=_DEPTH)) else "plain"


def _of_archive(path: str) -> str:
    with open_tree(path, suffixes=SUFFIXES) as tree:
        if any(suffix_of(name) in ANNOTATIONS for name in tree.names):
            return "brat"
    raise FormatError(f"{path} holds no brat annotation ({', '.join(ANNOTATIONS)}); unpack it, and name what is in it")


def _of_stdin() -> str:
    """Looks at what waits in standard input, and takes nothing of it."""
    stream = sys.stdin.buffer
    head = stream.peek() if isinstance(stream, io.BufferedReader) else b""
    if head.startswith(GZIP):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, _PEEK)
        except zlib.error:
            return "plain"  # the reader says what is wrong with it
    content = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    line, ended, _ = content.decode("utf-8", errors="replace").partition("\n")
    if not _OBJECT.match(line) or (ended and not _json(line, fallback="")):
        return "plain"
    return _by_content(content, STDIN)


def _by_content(head: bytes, path: str) -> str:
    text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if len(head) == _PEEK and len(lines) > 1:
        lines = lines[:-1]  # cut off
    first = next((line for line in lines if line.strip(" \t")), "")
    if columns_of(first) or re.match(r'\{"fascicle_predictions":|\{.*"fascicle_predictions":', first):
        raise FormatError(f"{path} is a prediction file, which holds no text; give a file of documents")
    is_text = by_suffix(path) == "plain"
    if first.lstrip()[:1] == "{" or (first.lstrip()[:1] == "[" and suffix(path) in (".json", ".jsonl")):
        return _json(first, fallback="" if is_text else "jsonl")
    if _PUBTATOR.match(first):
        return "pubtator"
    return "conll" if _all_tagged(lines[:_ROWS], strict=is_text) else ""


def _json(first: str, *, fallback: str) -> str:
    try:
        record = msgspec.json.decode(first)
    except (msgspec.MsgspecError, RecursionError):
        return fallback  # cut off, or one array over many lines; a broken line is the reader's to explain
    return "native" if isinstance(record, dict) and "fascicle" in record else "jsonl"


def _all_tagged(lines: list[str], *, strict: bool) -> bool:
    rows = [line for line in lines if line.strip(" \t") and not line.startswith(("-DOCSTART-", "#"))]
    columns = [row.replace("\t", " ").rstrip(" ").split(" ") for row in rows]
    if strict and (len(rows) < _ENOUGH_ROWS or len({len(row) for row in columns}) > 1):
        return False
    return bool(rows) and all(len(row) > 1 and is_tag(row[-1]) for row in columns)

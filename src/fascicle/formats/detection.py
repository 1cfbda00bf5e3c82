"""Detection of the format of a file: first by its beginning, then by its name."""

from __future__ import annotations

import io
import re
import sys
import zlib
from collections.abc import Collection, Sequence
from itertools import dropwhile, islice
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Final

import msgspec

from fascicle.core.files import encodings
from fascicle.core.files.encodings import (
    decode_head,
    is_html,
    markup_kind,
    root_element,
    stated_separator,
)
from fascicle.core.files.pipes import is_pipe, refuse_pipe
from fascicle.core.files.source import GZIP, MAX_LINE, STDIN, Source, open_bytes, suffix
from fascicle.core.files.tree import lower_suffix, open_tree, split_archive
from fascicle.core.tags import is_tag
from fascicle.core.wording import shorten
from fascicle.errors import FormatError, InputError
from fascicle.formats.catalogue import (
    READABLE,
    canonical_name,
    plugged_by_suffix,
    readable_by_suffix,
    readable_names,
)
from fascicle.formats.citation_tags import other_export
from fascicle.formats.citations import looks_like_citations
from fascicle.formats.handlers import ANNOTATIONS, SUFFIXES
from fascicle.formats.inception import MARK as WEBANNO
from fascicle.formats.offset_tables import HEADER
from fascicle.formats.predictions import find_columns
from fascicle.formats.sources import format_of_folder
from fascicle.formats.stam import MARK as STAM
from fascicle.formats.tag_names import BEGIN, DOCSTART
from fascicle.formats.text_tables import (
    column_names,
    has_texts,
    is_above_names,
    is_export,
    longest_cell,
)
from fascicle.formats.unread import fields_argument
from fascicle.formats.web_annotation import MARK as WEB_ANNOTATION

_PEEK: Final = 64 * 1024
_ROWS: Final = 200
# of a file that calls itself text: one line of text may well end in "blood group O"
_ENOUGH_ROWS: Final = 10
_PUBTATOR: Final = re.compile(r"([^|\t\n]+\|t\|)|([^|\t\n]+)\|[a-z]\|")
_OBJECT: Final = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:')
_ENDS: Final = re.compile(r"\r+\n|\n|\r")
_BIOC: Final = re.compile(
    r'\s*(?:\[\s*)?\{[^{}\[\]]*(?:"infons"\s*:\s*\{[^{}]*\}[^{}\[\]]*)?"(?:documents|PubTator3)"\s*:\s*\['
)
_PASSAGES: Final = re.compile(r'"passages"\s*:|"(?:documents|PubTator3)"\s*:\s*\[\s*(?:\]|$)')
_KAZU: Final = re.compile(
    r'\s*(?:\[\s*)?\{\s*"idx"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*"sections"\s*:\s*\['
)
_CUT_OFF: Final = re.compile(r'\{"fascicle_predictions":')
_PREDICTIONS: Final = "fascicle_predictions"
_NATIVE: Final = "fascicle"
_RECORDS: Final = 20  # that are tried
_OBJECTS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_MARKUP: Final = 4096
_PDF: Final = b"%PDF-"
_PACKAGES: Final = (("word/", "docx"), ("xl/", "xlsx"))  # a member of a zip begins with this
_NAMES: Final = ", ".join(READABLE)
_JSON: Final = ("jsonl", "records")
_TABLES: Final = (".tsv", ".csv")
# Names of the outermost elements of XML.
_ROOTS: Final = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "MedlineCitationSet",
                "PubmedArticleSet",
                "PubmedBookArticleSet",
                "PubmedArticle",
                "PubmedBookArticle",
                "MedlineCitation",
                "responseWrapper",  # a search of Europe PMC
            ),
            "medline",
        ),
        "collection": "bioc",
        "XMI": "cas",
        "GateDocument": "gate-xml",
        **dict.fromkeys(("article", "pmc-articleset", "articles", "PMCArticles"), "jats"),
        **dict.fromkeys(("TEI", "TEI.2", "teiCorpus"), "tei"),
        "xml": "endnote",
    }
)


def detect(path: str) -> str:
    """Detects the format of a file and returns its name.

    The first 64 kB decide if possible: JSON with a ``fascicle`` version is jsonl, other JSON
    records, a first line ``id|t|title`` pubtator, and rows that all end with a tag (``O``,
    ``B-Disease``) conll; if the file is called ``.txt``, at least ten of them with the same number
    of columns. Else the suffix decides.

    A folder with brat annotation (``.ann``, ``.a1``, ``.a2``) is brat; one with texts only is
    plain, and so is one with texts whose annotation is only in folders below it. A zip, or a folder
    inside a zip, must hold such annotation.

    Standard input is JSON Lines (jsonl or records) if its first line is a JSON object, XML, HTML,
    PubTator or citations if it begins like them, else plain text.

    Args:
        path: a file, gzip or not, a folder, a zip, or a folder inside a zip.

    Raises:
        InputError: the file cannot be opened.
        FormatError: a prediction file, which holds no documents, or an unknown format.
    """
    name = _detect(path)
    if name is None:
        raise InputError(
            f"{path} is empty; give a file that holds documents or predictions",
            file=path,
            code="empty",
        )
    if not name:
        raise FormatError(
            f"the format of {path} cannot be recognised; "
            f"{_advice_for_table(path) if suffix(path) in _TABLES else ''}name it with "
            f"format=NAME, one of {', '.join(readable_names())}; a TSV of predictions begins with "
            f"the header {' '.join(HEADER)} (TAB-separated, in any order; the score may be left "
            "out)"
        )
    return name


def _advice_for_table(path: str) -> str:
    """Returns advice for a table of texts whose columns have no usual name, to be read before
    the names of formats.
    """
    with open_bytes(path) as stream:
        lines = _lines(_head(stream)[0], is_whole=True)
        head = (line for line in lines if line.strip() and not stated_separator(line))
        names, cells = ([*column_names(line)] for line in (next(head, ""), next(head, "")))
    return (
        f"its first line is {shorten(', '.join(names))}, and no column is called text, title or "
        "abstract; if it is a table of texts, read it with format=table and "
        f"{fields_argument(('text', longest_cell(names, cells)))}; else "
    )


def _detect(path: str) -> str | None:
    """Returns the name of the format; empty if it cannot be detected, ``None`` for an empty
    file.
    """
    if path == STDIN:
        return _of_stdin()
    if Path(path).is_dir():
        return format_of_folder(Path(path))
    if split_archive(path) is not None:
        return _of_archive(path)
    refuse_pipe(path, formats=_NAMES)
    if suffix(path) in ANNOTATIONS and Path(path).is_file():
        return "brat"
    if other := plugged_by_suffix(suffix(path), "readers"):
        return other
    with open_bytes(path) as stream:
        head, is_whole = _head(stream)
    if head.startswith(_PDF):
        return "pdf"
    if encodings.is_tar(head):
        return "jats"
    if encodings.is_docbin(head):
        return "spacy"
    if encodings.is_parquet(head):
        return "parquet"
    text = decode_head(head[:_MARKUP])
    if name := _of_markup(text, suffix(path)):
        return name
    if kind := encodings.binary_kind(head) or markup_kind(text, suffix(path)):
        raise FormatError(f"{path} is {kind}", file=path)
    by_suffix = format_by_suffix(path)
    # JSON that Fascicle did not write holds records, whatever the suffix; the first line decides.
    default = "records" if by_suffix == "jsonl" else by_suffix
    name = _by_content(_lines(head, is_whole=is_whole), path) or default
    return name if name or head else None


def _of_markup(text: str, end: str) -> str:
    """Returns the format of XML or HTML; empty for other files, and for XML that is not read."""
    return _ROOTS.get(root_element(text)) or ("html" if is_html(text, end) else "")


def prediction_kind(path: str, encoding: str = encodings.AUTO) -> str:
    """Detects whether a file holds predictions, and of which kind.

    Args:
        path: a file, gzip or not; anything else is no prediction file.
        encoding: of the file.

    Returns:
        ``"tsv"`` for the header of a TSV of predictions, ``"predictions"`` for JSON Lines of them,
        wherever the key is in the object; else, and for an unreadable file, the empty string.
    """
    if not Path(path).is_file():
        return ""
    try:
        with open_bytes(path) as stream:
            head, is_whole = _head(stream)
    except InputError:
        return ""  # the reader of the file reports the error
    lines = _lines(head, is_whole=is_whole, codec=Source(path=path, encoding=encoding).codec)
    if find_columns(_first(lines)):
        return "tsv"
    return "predictions" if _PREDICTIONS in _keys(lines) else ""


def format_by_suffix(path: str) -> str:
    """Returns the format for the suffix of a path, or the empty string."""
    return readable_by_suffix(suffix(path))


def format_to_read(path: str, requested: str) -> str:
    """Returns the name of the format in which to read a file.

    The content of the file decides between the two JSON formats, whichever was requested: files of
    Fascicle would lose their mentions if they were read as records of other tools, and those
    records were called ``jsonl`` before.

    Args:
        path: as `detect` takes it.
        requested: a name of a format, or ``"auto"``.

    Raises:
        InputError, FormatError: see `detect`.
    """
    name = canonical_name(requested)
    if name == "auto":
        return detect(path)
    detected = _detect(path) if name in _JSON and not is_pipe(path) else name
    return detected if detected in _JSON else name


def _of_archive(path: str) -> str:
    with open_tree(path, suffixes=SUFFIXES) as tree:
        if any(lower_suffix(name) in ANNOTATIONS for name in tree.names):
            return "brat"
        for place, name in _PACKAGES:
            if any(member.startswith(place) for member in tree.others):
                return name
        if kind := encodings.package_kind(tree.others):
            raise FormatError(f"{path} is {kind}", file=path)
    message = (
        f"{path} holds no brat annotation ({', '.join(ANNOTATIONS)}); unpack it, and name "
        "what is in it"
    )
    raise FormatError(message, file=path)


def _of_stdin() -> str:
    """Detects the format of standard input by peeking at its buffer, without consuming it."""
    stream = sys.stdin.buffer
    head = stream.peek() if isinstance(stream, io.BufferedReader) else b""
    if head.startswith(GZIP):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, _PEEK)
        except zlib.error:
            return "plain"  # the reader reports the error
    text = decode_head(head[:_MARKUP])
    if name := _of_markup(text, ""):
        return name
    if kind := markup_kind(text, ""):
        raise FormatError(f"standard input is {kind}")
    lines = list(dropwhile(lambda line: not line.strip(), _lines(head, is_whole=True)))
    if lines and (_is_pubtator(lines[0], lines) or looks_like_citations(lines)):
        return _by_content(lines, STDIN)
    if not lines or not _OBJECT.match(lines[0]) or (len(lines) > 1 and not _keys(lines)):
        return "plain"
    return _by_content(lines, STDIN)


def _head(stream: BinaryIO) -> tuple[bytes, bool]:
    """Returns the beginning of a file (of JSON, the whole first record), and whether it is the
    whole file.
    """
    head = stream.read(_PEEK)
    if len(head) < _PEEK:
        return head, True
    if _is_json(decode_head(head)):
        # native records and predictions have their version at the end
        head += stream.readline(MAX_LINE)
    return head, False


def _is_json(text: str) -> bool:
    return text.lstrip().startswith("{")


def _lines(head: bytes, *, is_whole: bool, codec: str = "utf-8") -> list[str]:
    """Returns the lines of the beginning of a file; a last line that is cut off is dropped
    unless it is the only.
    """
    lines = _ENDS.split(decode_head(head, codec=codec))
    return lines[:-1] if len(lines) > 1 and not is_whole and not head.endswith(b"\n") else lines


def _first(lines: Sequence[str]) -> str:
    return next((line for line in lines if line.strip(" \t")), "")


def _keys(lines: Sequence[str]) -> Collection[str]:
    """Returns the keys of the first record that can be parsed; damaged records before it are
    skipped.
    """
    for line in islice(filter(str.strip, lines), _RECORDS):
        try:
            return _OBJECTS.decode(line)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            continue
    return ()


def _by_content(lines: Sequence[str], path: str) -> str:
    if stated_separator(lines[0]):
        lines = lines[1:]
    first, keys = _first(lines), _keys(lines)
    if find_columns(first) or _PREDICTIONS in keys or _CUT_OFF.match(first):
        raise FormatError(
            f"{path} is a prediction file, which holds no text; give a file of documents", file=path
        )
    if first.startswith(WEBANNO):
        return "webanno"
    name = _of_json("\n".join(lines), first, keys, path)
    if name is not None:
        return name
    if _is_pubtator(first, lines):
        return "pubtator"
    if looks_like_citations(lines):
        return "citations"
    if export := other_export(lines):
        raise FormatError(f"{path} is {export}", file=path)
    is_text = format_by_suffix(path) == "plain"
    if first.startswith((BEGIN, DOCSTART)) or _all_tagged(lines[:_ROWS], strict=is_text):
        return "conll"
    return "table" if _is_table(lines, is_called_so=suffix(path) in _TABLES) else ""


def _is_pubtator(first: str, lines: Sequence[str]) -> bool:
    """True for a title, or for another passage of a document that has rows."""
    match = _PUBTATOR.match(first)
    return match is not None and (
        match[1] is not None or any(line.startswith(f"{match[2]}\t") for line in lines)
    )


def _is_table(lines: Sequence[str], *, is_called_so: bool) -> bool:
    first, second = [*islice(filter(str.strip, lines), 2), "", ""][:2]
    if not is_called_so:
        return is_export(first)
    return has_texts(first) or is_above_names(first, second)


def _of_json(text: str, first: str, keys: Collection[str], path: str) -> str | None:
    """Returns the format of JSON; empty for a text that looks like JSON, ``None`` for another
    text.

    Args:
        text: the beginning of the file.
        first: the first line of it that is not blank.
        keys: of the first record.
        path: of the file.
    """
    if (_BIOC.match(text) and _PASSAGES.search(text)) or (
        "passages" in keys and not {"entities", _NATIVE} & set(keys)
    ):
        return "bioc-json"
    if "%FEATURE_STRUCTURES" in text and "%TYPES" in text:
        return "cas"
    if WEB_ANNOTATION.search(text):
        return "web-annotation"
    if STAM.search(text):
        return "stam"
    if {"idx", "sections"} <= set(keys) or _KAZU.match(text):
        return "kazu"
    is_array = first.lstrip()[:1] == "[" and suffix(path) in (".json", ".jsonl")
    if not (keys or is_array or _is_json(first)):
        return None
    if _NATIVE in keys:
        return "jsonl"
    return "records" if keys or format_by_suffix(path) != "plain" else ""


def _all_tagged(lines: Sequence[str], *, strict: bool) -> bool:
    rows = [line for line in lines if line.strip(" \t") and not line.startswith((DOCSTART, "#"))]
    columns = [row.replace("\t", " ").rstrip(" ").split(" ") for row in rows]
    if strict and (len(rows) < _ENOUGH_ROWS or len({len(row) for row in columns}) > 1):
        return False
    return bool(rows) and all(len(row) > 1 and is_tag(row[-1]) for row in columns)

"""Texts with a table of offsets: one file for each text, and a TSV with one row for each mention.

Shared tasks publish corpora in this form, such as SocialDisNER
(https://zenodo.org/records/6359365). Offsets are half-open and count the code points of the text
file, line ends included. The header names the columns. Tasks use the same columns under different
names, so each column has several names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Final

from fascicle.core.document import Document, Event, Link
from fascicle.core.files.source import MAX_LINE, Source, is_integer, open_bytes, read_lines
from fascicle.core.files.tree import Tree, open_tree, split_archive
from fascicle.core.mention import Span, parse_link
from fascicle.core.wording import plural
from fascicle.errors import FormatError, InputError, Place
from fascicle.formats.collect import MentionCollector, is_text_at
from fascicle.formats.handlers import TEXT, FormatReader
from fascicle.formats.offset_units import AUTO
from fascicle.formats.pubtator import NO_ID
from fascicle.formats.report import ReadReport

_STEP: Final = "offsets"
HEADER: Final = ("document", "type", "start", "end", "score")  # of a table of predictions
_SUFFIX: Final = ".tsv"
_ABOVE: Final = 2  # folders above the texts in which a table is looked for
_NAMES: Final = MappingProxyType(
    {
        "document": (
            "document",
            "document_id",
            "doc_id",
            "tweets_id",
            "tweet_id",
            "filename",
            "file",
            "id",
        ),
        "start": ("start", "begin", "off0", "start_span", "start_offset"),
        "end": ("end", "off1", "end_span", "end_offset"),
        "type": ("type", "label"),
        "text": ("text", "extraction", "span"),
        "code": ("code", "codes", "ncbitax", "concept_id"),
    }
)
_TEXT: Final = "text"
_OPTIONAL: Final = (_TEXT, "code")
_NUMBER: Final = "mark"  # column of the number of a mention, such as T1
_NO_CODE: Final = NO_ID | {"NOCODE", "NOMAP", "NIL"}  # no concept fits
_BORDER: Final = re.compile(r"[+|]")  # of several concepts
_HEAD: Final = 64 * 1024
_ENDS: Final = re.compile(r"\r*\n|\r")


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the texts of a folder or zip, sorted by name, with the mentions of the table beside
    them.

    The id of a document is the name of its text without the suffix. A text without a row is a
    document without mentions (event ``no-annotation``). Rows of other texts are counted in an event
    of the first document (``rows-left-out``), since the parts of a corpus often share one table.
    Memory holds the rows of these texts, and one text at a time.

    Args:
        source: the place of the texts.
        options: none.
        report: a text that cannot be read sets its document aside.

    Raises:
        InputError: a place that cannot be read, or two texts of one name.
        FormatError: no table names a text, several do, or the table has a row that is no mention.
    """
    with open_tree(source.path, suffixes=(TEXT,)) as tree:
        for name in tree.unnamed:
            report.aside.add(tree.refusal(name))
        files = _files(tree)
        if not files:
            return
        table = _table(source, files)
        rows, left_out = _rows(table, source, files)
        events = _rows_left_out(table, left_out)
        for identifier, name in files.items():
            with report.aside.one():
                yield _document(tree, name, source, rows.pop(identifier, [])).with_events(*events)
                events = ()


def _files(tree: Tree) -> dict[str, str]:
    """Returns the text files by the ids of their documents."""
    files: dict[str, str] = {}
    for name in sorted(tree.names):
        identifier = PurePosixPath(name).stem
        if identifier in files:
            raise InputError(
                f"{tree.place(name)} and {files[identifier]} are two texts of one name, and a "
                "table cannot tell them apart; give one of their folders"
            )
        files[identifier] = name
    return files


def _table(source: Source, files: dict[str, str]) -> OffsetTable:
    tables = find_tables(source.path, files.keys())
    if len(tables) > 1:
        raise FormatError(
            f"{' and '.join(table.path for table in tables)} are tables of offsets of the texts in "
            f"{source.path}; leave one of them there",
            file=source.path,
        )
    if not tables:
        parts = ", ".join(names[0] for part, names in _NAMES.items() if part not in _OPTIONAL)
        raise FormatError(
            f"no table of offsets names a text of {source.path}; a .tsv with columns for {parts} "
            f"must be in this place or up to {plural(_ABOVE, 'folder')} above it",
            file=source.path,
        )
    return tables[0]


def _rows(
    table: OffsetTable, source: Source, files: dict[str, str]
) -> tuple[dict[str, list[_OffsetRow]], int]:
    """Returns the rows of each text, and the number of rows of other texts."""
    rows: defaultdict[str, list[_OffsetRow]] = defaultdict(list)
    left_out = 0
    for identifier, row in table.rows(source, files.keys()):
        if identifier:
            rows[identifier].append(row)
        else:
            left_out += 1
    return dict(rows), left_out


def _rows_left_out(table: OffsetTable, count: int) -> tuple[Event, ...]:
    if not count:
        return ()
    message = f"{table.name}: {plural(count, 'row')} of texts that are not here"
    return (Event(step=_STEP, kind="note", code="rows-left-out", message=message),)


def _document(tree: Tree, name: str, source: Source, rows: list[_OffsetRow]) -> Document:
    text, has_bom = tree.text(name, source)

    def agrees(cell: str, spans: Sequence[Span]) -> bool:
        return any(is_text_at(spans, text, beside) for beside in spellings(cell))

    collector = MentionCollector(text, step=_STEP, unit=AUTO, marked=has_bom, agrees=agrees)
    for row in rows:
        collector.add(
            row.spans,
            row.type,
            expected=row.text,
            is_standoff=True,
            links=row.links,
            attributes=row.attributes,
        )
    events = []
    if not rows:
        message = f"{name} has no row in the table"
        events.append(Event(step=_STEP, kind="note", code="no-annotation", message=message))
    # Codecs that let lone surrogates pass make texts that no document may have.
    return collector.document(PurePosixPath(name).stem, at=tree.place(name), events=events)


@dataclass(frozen=True, kw_only=True)
class _OffsetRow:
    """Mention in a row of the table.

    Attributes:
        spans: its offsets, as the table has them.
        type: its type.
        text: the cell with its text; ``None`` if there is no such column.
        links: concepts.
        attributes: the columns beside these, with their names.
    """

    spans: tuple[Span, ...]
    type: str
    text: str | None
    links: tuple[Link, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class OffsetTable:
    """Table of offsets in a folder or zip.

    Attributes:
        folder: its folder, which may be inside a zip.
        name: of its file.
    """

    folder: str
    name: str

    @property
    def path(self) -> str:
        """Path for messages, and for reading if the table is not inside a zip."""
        return f"{self.folder.rstrip('/')}/{self.name}"

    def lines(self, source: Source) -> Iterator[tuple[int, str]]:
        """Yields the lines of the table with their numbers.

        Args:
            source: the texts, for the encoding.

        Raises:
            InputError: it cannot be read.
            FormatError: it is no text, or text in another encoding.
        """
        if split_archive(self.folder) is None:
            yield from read_lines(
                Source(path=self.path, encoding=source.encoding, told=source.told)
            )
            return
        with open_tree(self.folder, suffixes=(_SUFFIX,)) as tree:
            text, _ = tree.text(self.name, source)
        yield from enumerate(_ENDS.split(text), 1)

    def raw_lines(self) -> Iterator[bytes]:
        """Yields the lines of the table as bytes, with their line ends.

        Raises:
            InputError: it cannot be read.
        """
        if split_archive(self.folder) is None:
            with open_bytes(self.path) as stream:
                yield from iter(partial(stream.readline, MAX_LINE), b"")
            return
        with open_tree(self.folder, suffixes=(_SUFFIX,)) as tree:
            yield from tree.read(self.name).splitlines(keepends=True)

    def rows(self, source: Source, names: Collection[str]) -> Iterator[tuple[str, _OffsetRow]]:
        """Yields each mention with its document id; the id is empty for documents that are not
        requested.

        Args:
            source: the texts, for the encoding.
            names: of the documents whose rows are wanted; the rows of others are checked too.

        Raises:
            FormatError: a row that is no mention, with file and line; see also `read_lines`.
        """
        numbered = self.lines(source)
        header = next(numbered, (0, ""))[1]
        columns, width = columns_by_name(header), header.count("\t") + 1
        titled = [
            (at, title)
            for at, title in enumerate(map(str.strip, header.split("\t")))
            if title and title != _NUMBER and at not in columns.values()
        ]
        for number, line in numbered:
            if line.strip():
                name, row = _row_of(
                    line.split("\t"), columns, width=width, place=Place(self.path, number)
                )
                facts = ((title, line.split("\t")[at].strip()) for at, title in titled)
                stated = tuple(fact for fact in facts if fact[1])
                yield (name if name in names else ""), replace(row, attributes=stated)


def columns_by_name(header: str) -> dict[str, int]:
    """Returns the positions of the columns of `_NAMES`, from the first line; empty if this is no
    table of offsets.

    A TSV of predictions does not count, because it may not be gold.
    """
    if set(HEADER[:-1]) <= set(header.split("\t")):
        return {}
    cells = [cell.strip().lower() for cell in header.split("\t")]
    columns: dict[str, int] = {}
    for part, names in _NAMES.items():
        name = next((name for name in names if name in cells), None)
        if name is not None:
            columns[part] = cells.index(name)
        elif part not in _OPTIONAL:
            return {}
    return columns


def find_tables(path: str, names: Collection[str]) -> list[OffsetTable]:
    """Returns the tables of offsets that name some of the texts in a folder or zip.

    The place itself is searched first, then the folder above it, then the one above that. The
    search ends at the first of these that has such a table.

    Args:
        path: a folder, a zip, or a folder inside a zip.
        names: names of its texts without their suffix.
    """
    place = Path(path)
    for level in (place, *place.absolute().parents[:_ABOVE]):
        tables = [table for table in _tables_in(level) if _names_some(table, names)]
        if tables:
            return tables
    return []


def _tables_in(level: Path) -> Iterator[OffsetTable]:
    folder = str(level)
    if split_archive(folder) is not None:
        with open_tree(folder, suffixes=(_SUFFIX,)) as tree:
            for name in tree.names:
                if "/" not in name and columns_by_name(_first_line(tree.read(name)[:_HEAD])):
                    yield OffsetTable(folder=folder, name=name)
        return
    if not level.is_dir():
        return
    with suppress(OSError):  # a folder above may not be readable
        files = sorted(
            file.name
            for file in level.iterdir()
            if file.suffix.lower() == _SUFFIX and file.is_file()
        )
        for name in files:
            if not name.startswith(".") and columns_by_name(_first_line(_head(level / name))):
                yield OffsetTable(folder=folder, name=name)


def _head(file: Path) -> bytes:
    with suppress(InputError), open_bytes(str(file)) as stream:
        return stream.read(_HEAD)
    return b""


def _first_line(head: bytes) -> str:
    return _ENDS.split(head.decode("utf-8-sig", errors="replace"), maxsplit=1)[0]


def _names_some(table: OffsetTable, names: Collection[str]) -> bool:
    """True if a row of a table is about one of the texts; false for a table that cannot be read."""
    with suppress(InputError):
        texts = (
            line.decode("utf-8-sig", errors="replace").rstrip("\r\n") for line in table.raw_lines()
        )
        at = columns_by_name(next(texts, "")).get("document", 0)
        return any(_document_named(line.split("\t")[at : at + 1]) in names for line in texts)
    return False


def _document_named(cells: Sequence[str]) -> str:
    return cells[0].strip().removesuffix(TEXT) if cells else ""


def _row_of(
    cells: Sequence[str], columns: Mapping[str, int], *, width: int, place: Place
) -> tuple[str, _OffsetRow]:
    if len(cells) != width:
        raise FormatError(
            f"the row has {plural(len(cells), 'cell')} and the header {width}; mend the row",
            at=place,
        )
    name, kind = _document_named([cells[columns["document"]]]), cells[columns["type"]].strip()
    if not name or not kind:
        raise FormatError("the row names no document or no type; mend the row", at=place)
    starts, ends = (cells[columns[part]].split(";") for part in ("start", "end"))
    offsets = [*starts, *ends]
    if len(starts) != len(ends) or not all(map(is_integer, offsets)):
        raise FormatError(
            "the start and the end of the row must be whole numbers, one each or as many of both "
            "with ; between them; mend the row",
            at=place,
        )
    spans = tuple(zip(map(int, starts), map(int, ends), strict=True))
    text = cells[columns[_TEXT]] if _TEXT in columns else None
    return name, _OffsetRow(spans=spans, type=kind, text=text, links=_links(cells, columns))


def _links(cells: Sequence[str], columns: Mapping[str, int]) -> tuple[Link, ...]:
    codes = _BORDER.split(cells[columns["code"]]) if "code" in columns else ()
    distinct = dict.fromkeys(map(str.strip, codes))
    return tuple(parse_link(code) for code in distinct if code not in _NO_CODE)


def spellings(cell: str) -> tuple[str, ...]:
    """Returns a cell as it is, and without the quotes that programs add to a cell that contains
    quotes.
    """
    if len(cell) > 1 and cell.startswith('"') and cell.endswith('"'):
        return cell, cell[1:-1].replace('""', '"')
    return (cell,)


READER: Final = FormatReader(read=read)

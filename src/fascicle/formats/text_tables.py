"""Tables with a column of texts, as CSV (RFC 4180) or TSV: a document for each row.

Quotes are those of CSV. A TSV has none, as its definition says
(https://www.iana.org/assignments/media-types/text/tab-separated-values), unless the options ask for
them.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from operator import itemgetter
from typing import Any, Final, Literal

import msgspec

from fascicle.core.document import Document, Event
from fascicle.core.effects import make_event
from fascicle.core.files.encodings import stated_separator
from fascicle.core.files.source import MAX_LINE, Source, line_text, read_lines_or_errors
from fascicle.core.tags import is_tag
from fascicle.errors import FormatError, Place, UsageError
from fascicle.formats.collect import META_LENGTH, MentionCollector
from fascicle.formats.extraction import join_sections
from fascicle.formats.handlers import FormatReader
from fascicle.formats.json_documents import from_records
from fascicle.formats.json_record import IDS, Record
from fascicle.formats.label_studio_rows import ANNOTATION, ANNOTATOR, is_flat, merge_records
from fascicle.formats.report import ReadReport
from fascicle.formats.shape_detection import Shapes
from fascicle.formats.shapes import JsonShape, adjust_shape
from fascicle.formats.unread import fields_argument, find_unread_fields, offset_fields

_STEP: Final = "table"
_SEPARATORS: Final = ("\t", ",", ";")
_Row = list[str] | FormatError  # its cells, or why it cannot be read
_TEXT: Final = "text"
_IDS: Final = (*IDS, "document")
# Columns of texts where none is called `_TEXT`: the first of these that are there, those of one row
# together.
_TITLES: Final = ("title", "article title", "article_title", "ti")
_ABSTRACTS: Final = ("abstract", "abstract note", "abstract_text", "ab")
_BODIES: Final = ("body", "content", "sentence", "full_text", "fulltext")
_TWO: Final = 2
_BETWEEN: Final = "\n\n"  # many titles have no full stop: a line end alone ends no sentence
# no name of a column; a year may be one
_CONTENT: Final = re.compile(r"(?!(?:19|20)\d\d$)[\d.,]+|.{80,}")
_QUOTED: Final = re.compile(r'"(?:[^"]|"")*""(?:[^"]|"")*"')


@dataclass(frozen=True, kw_only=True)
class TextTableOptions:
    """Columns of a table that are read; upper and lower case of their names are equal.

    Attributes:
        text: column of the texts; several with commas between them become sections of one text. By
            default the one that is called ``text``, else those of titles and abstracts, or of other
            texts, by their usual names.
        id: column of the ids; by default the first one that is called ``id``, ``_id``, ``pmid``,
            ``doc_id``, ``document_id``, ``doi``, ``pmcid`` or ``document``. Without one the rows
            are numbered.
        quotes: whether a cell of a TSV may stand in quotes.
        annotation: of rows whose cells hold annotation, changes to the shape, as of `JsonlOptions`.
    """

    text: str = ""
    id: str = ""
    quotes: bool = False
    annotation: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, fields: Iterable[tuple[str, str]]) -> TextTableOptions:
        """Makes options from pairs of names and values, as users write them.

        Raises:
            UsageError: another name, or another value for ``quotes`` than ``true`` or ``false``.
        """
        values = dict(fields)
        text, identifier = values.pop("text", ""), values.pop("id", "")
        quotes = values.pop("quotes", "false")
        adjust_shape(JsonShape(), values.items())
        if quotes not in ("true", "false"):
            raise UsageError(f"quotes = {quotes!r} is not allowed; give true or false")
        return cls(
            text=text, id=identifier, quotes=quotes == "true", annotation=tuple(values.items())
        )


@dataclass(frozen=True, kw_only=True)
class _Columns:
    """Roles of the columns of a table."""

    names: Sequence[str]
    texts: Sequence[int]
    id: int | None


def _separator_of(header: str) -> str:
    """Returns the separator of the cells of a table: a TAB, a comma or a semicolon."""
    return next((sign for sign in _SEPARATORS if sign in header), ",")


def has_texts(header: str) -> bool:
    """True if the first line of a file has a column of texts with a usual name, and is no row of
    contents.
    """
    return _has_texts(column_names(header))


def is_export(header: str) -> bool:
    """True if the first line of a file names, between TABs, a column of titles and one of
    abstracts, as Web of Science does.
    """
    names = column_names(header)
    return _has_texts(names) and "\t" in header and len(_usual([*map(str.lower, names)])) == _TWO


def is_above_names(first: str, second: str) -> bool:
    """True if the first line of a table is a remark above the names of the columns."""
    cells = next(csv.reader([first]), []) if len(first) <= META_LENGTH else []
    return len(cells) == 1 and not _has_texts(cells) and has_texts(second)


def _has_texts(names: Sequence[str]) -> bool:
    return bool(_usual([name.lower() for name in names])) and not any(
        map(_CONTENT.fullmatch, names)
    )


def longest_cell(names: Sequence[str], cells: Sequence[str]) -> str:
    """Returns the name of the column with the longest cell in a row, the most likely one to hold
    texts.
    """
    sizes = [
        (len(cell), name)
        for name, cell in zip(names, cells, strict=False)
        if name and "," not in name
    ]
    return max(sizes, key=itemgetter(0))[1] if sizes else names[-1]


def column_names(header: str) -> list[str]:
    """Returns the names of columns in the first line of a table."""
    separator = _separator_of(header)
    quoted = (
        header.split(separator)
        if separator == "\t"
        else next(csv.reader([header], delimiter=separator), [])
    )
    return [name.strip('" ') if separator == "\t" else name.strip() for name in quoted]


def _usual(names: Sequence[str]) -> list[str]:
    """Returns which of the names of columns, in lower case, are those of texts."""
    if _TEXT in names:
        return [_TEXT]
    title, abstract, body = (
        next(filter(lambda name: names.count(name) == 1, usual), "")
        for usual in (_TITLES, _ABSTRACTS, _BODIES)
    )
    return list(filter(None, (title, abstract) if title or abstract else (body,)))


def read(source: Source, options: TextTableOptions, report: ReadReport) -> Iterator[Document]:
    """Streams the rows of a table.

    Cells that are no text and have at most 200 characters are in ``meta``, under the names of their
    columns.

    Args:
        source: the file.
        options: which columns.
        report: a row with another number of cells is set aside.

    Raises:
        FormatError: a column that is not there, or quotes that do not match.
    """
    yield from documents_of_rows(_rows(source, options), source, options=options, report=report)


def documents_of_rows(
    rows: Iterator[tuple[int, _Row]],
    source: Source,
    *,
    options: TextTableOptions,
    report: ReadReport,
) -> Iterator[Document]:
    """Streams the documents of numbered rows, the first of which names the columns; see `read`."""
    header = next(rows, None)
    if header is None:
        return
    if isinstance(header[1], FormatError):
        raise header[1]
    columns, notes, rows = _open_table(header[1], rows, options, source)
    shapes = Shapes("auto", options.annotation, report=report, path=source.path)
    records = _records(rows, columns, options, source)
    for number, (place, record) in enumerate(merge_records(records), 1):
        with report.aside.one():
            if isinstance(record, FormatError):
                raise record
            if isinstance(record, dict):
                shape, events = shapes.of(record, place)
                parts = [Record(record, shape, place, events=events)]
                document = from_records(parts, source, number, report)
            else:
                document = _document(record, columns, f"{source.name}:{number}", place)
            yield document.with_events(*notes) if notes else document
            notes = ()


def _open_table(
    names: Sequence[str],
    rows: Iterator[tuple[int, _Row]],
    options: TextTableOptions,
    source: Source,
) -> tuple[_Columns, tuple[Event, ...], Iterator[tuple[int, _Row]]]:
    """Returns the columns, an event if they were guessed, and the rows below their names."""
    start = list(islice(rows, 1))
    is_below = _is_below(names, _cells(start))
    if is_below:
        names, start = _cells(start), list(islice(rows, 1))
    columns = _columns(names, options, source, cells=_cells(start))
    is_named = options.text or columns.names[columns.texts[0]].lower() == _TEXT
    notes = () if is_named and not is_below else (_note_columns(columns, is_below=is_below),)
    return columns, notes, chain(start, rows)


def _records(
    rows: Iterable[tuple[int, _Row]],
    columns: _Columns,
    options: TextTableOptions,
    source: Source,
) -> Iterator[tuple[Place, Any]]:
    """Yields each row with its place, as a record if it may hold annotation."""
    ignored = set[str]()
    for name, names in options.annotation:
        if name == "ignored":
            ignored.update(map(str.strip, names.split(",")))
    for line, cells in rows:
        place = Place(source.path, line)
        yield place, _record(cells, columns, ignored, place)


def _separator_in(lines: list[str]) -> str:
    """Returns the separator of a table by its first two lines; empties one that states it, which
    still is a line.
    """
    if not lines:
        return ","
    if separator := stated_separator(lines[0]):
        lines[0] = "\n"
        return separator
    return _separator_of(lines[-1 if is_above_names(lines[0], lines[-1]) else 0])


def _rows(source: Source, options: TextTableOptions) -> Iterator[tuple[int, _Row]]:
    """Yields the rows that are not empty, each with the number of its last line."""
    bad: list[FormatError] = []
    # so that quotes in a bad line still begin and end cells
    source = replace(source, bad=bad.append)
    lines = (line_text(line) + "\n" for _, line in read_lines_or_errors(source))
    first = list(islice(lines, 2))
    separator = _separator_in(first)
    quoting: Literal[0, 3] = (
        csv.QUOTE_MINIMAL if options.quotes or separator != "\t" else csv.QUOTE_NONE
    )
    reader = csv.reader(chain(first, lines), delimiter=separator, quoting=quoting, strict=True)
    while True:
        before = csv.field_size_limit(MAX_LINE)  # of the process; so it is set back after each row
        try:
            row = next(reader, None)
        except csv.Error as error:
            message = f"the row cannot be read ({error}); quote cells as in RFC 4180"
            raise FormatError(message, at=Place(source.path, reader.line_num)) from None
        finally:
            csv.field_size_limit(before)
        if row is None:
            return
        if row:
            yield reader.line_num, bad[0] if bad else row
        bad.clear()


def _columns(
    header: Sequence[str], options: TextTableOptions, source: Source, *, cells: Sequence[str] = ()
) -> _Columns:
    names = [name.strip() for name in header]
    lowered = [name.lower() for name in names]

    def number(name: str) -> int:
        if (count := lowered.count(name.strip().lower())) != 1:
            advice = f"name the one with {fields_argument((_TEXT, longest_cell(names, cells)))}"
            raise FormatError(
                f"{f'{count} columns are' if count else 'no column is'} called {name!r}; the table "
                f"has {', '.join(names)}; {'rename all but one of them' if count else advice}",
                at=Place(source.path, 1),
            )
        return lowered.index(name.strip().lower())

    identifier = options.id or next((name for name in _IDS if lowered.count(name) == 1), "")
    texts = options.text.split(",") if options.text else _usual(lowered) or [_TEXT]
    return _Columns(
        names=names,
        texts=list(map(number, texts)),
        id=number(identifier) if identifier else None,
    )


def _is_below(first: Sequence[str], second: Sequence[str]) -> bool:
    """True if the second row names the columns, below a remark in one cell."""
    return sum(map(bool, first)) == 1 and not _has_texts(first) and _has_texts(second)


def _cells(rows: Sequence[tuple[int, _Row]]) -> list[str]:
    """Returns the cells of the first row; none without it, or if it cannot be read."""
    return next((row for _, row in rows if isinstance(row, list)), [])


def _note_columns(columns: _Columns, *, is_below: bool) -> Event:
    """Returns a note about which columns were taken, for a user who named none; and that the row
    above their names was left out.
    """
    texts = [columns.names[column] for column in columns.texts]
    identifier = (
        f"the column {columns.names[columns.id]}"
        if columns.id is not None
        else "the number of the row"
    )
    lone = ", which has titles alone," if len(texts) == 1 and texts[0].lower() in _TITLES else ""
    message = (
        f"the text is the column{'s' * (len(texts) > 1)} {' and '.join(texts)}{lone} and the id is "
        f"{identifier}; to read others, name them: {fields_argument((_TEXT, ','.join(texts)))}"
        f"{'; the row above their names is left out' * is_below}"
    )
    return Event(step=_STEP, kind="note", code="columns-taken", message=message)


def _record(cells: _Row, columns: _Columns, ignored: Collection[str], place: Place) -> Any:
    """Returns a row as a record, if a cell may hold annotation; else its cells, or the error if
    it cannot be read.
    """
    if isinstance(cells, FormatError) or len(cells) != len(columns.names):
        return cells
    rest = {name: _value(cell) for name, cell in _other_cells(cells, columns)}
    candidates = {name: value for name, value in rest.items() if name not in ignored}
    is_tool = is_flat(columns.names)
    offsets = offset_fields(candidates)
    has_annotation = (
        is_tool or find_unread_fields(candidates, known=()) or [] in candidates.values()
    )
    if offsets or (has_annotation and len(columns.texts) > 1):
        return _refusal(offsets, place)
    if not has_annotation:
        return cells
    if is_tool:
        # an empty cell: the text has no annotation
        rest = {ANNOTATION: None, ANNOTATOR: None, **rest}
    identifier = {"id": cells[columns.id]} if columns.id is not None else {}
    return {**rest, "text": cells[columns.texts[0]], **identifier}


def _refusal(offsets: Sequence[str], place: Place) -> FormatError:
    """Returns the error about columns of offsets; or, without them, about annotation beside
    several columns of texts.
    """
    if offsets:
        message = (
            f"the columns {' and '.join(map(repr, offsets))} look like the offsets of one mention, "
            "and a row of a table of texts is a whole document; put the mentions of a text as a "
            "JSON list into one column, or leave these out with "
            f"{fields_argument(('ignored', ','.join(offsets)))}"
        )
    else:
        message = (
            "the row has cells that look like annotation, and several columns are read as one "
            "text, so that offsets have no meaning; name one column of texts, or leave annotation "
            f"out with {fields_argument(('ignored', 'NAMES'))}"
        )
    return FormatError(message, at=place)


def _other_cells(cells: Sequence[str], columns: _Columns) -> Iterator[tuple[str, str]]:
    """Yields the names and cells of a row beside its texts and its id, those that are not empty."""
    for column, (name, cell) in enumerate(zip(columns.names, cells, strict=True)):
        if column not in columns.texts and column != columns.id and name and cell:
            yield name, cell


def _value(cell: str) -> Any:
    """Returns the value of a cell: a list or an object (in JSON or Python notation), tags, or
    its text.
    """
    if cell[:1] in "[{":
        for decode in (msgspec.json.decode, _of_python):
            try:
                return decode(cell)
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                continue
    words = cell.split()
    return words if len(words) > 1 and all(map(is_tag, words)) else cell


def _of_python(cell: str) -> Any:
    # lists in place of tuples
    return msgspec.json.decode(msgspec.json.encode(ast.literal_eval(cell)))


def _document(cells: Sequence[str], columns: _Columns, numbered: str, place: Place) -> Document:
    if len(cells) != len(columns.names):
        raise FormatError(
            f"the row has {len(cells)} cells, and the table {len(columns.names)} columns", at=place
        )
    parts = [(columns.names[column], cells[column]) for column in columns.texts]
    identifier = cells[columns.id] if columns.id is not None else ""
    text, sections = join_sections(parts, between=_BETWEEN)
    return MentionCollector(text, step=_STEP).document(
        identifier or numbered,
        at=place,
        sections=sections if len(parts) > 1 else None,
        meta={
            name: cell for name, cell in _other_cells(cells, columns) if len(cell) <= META_LENGTH
        },
        events=[_quoted(name) for name, cell in parts if _QUOTED.fullmatch(cell)],
    )


def _quoted(name: str) -> Event:
    option = fields_argument(("quotes", "true"))
    message = (
        f"the cell of {name!r} looks quoted as in a CSV; its quotes were kept, and "
        f"{option} reads them"
    )
    return make_event("quotes-kept", step=_STEP, message=message)


READER: Final = FormatReader(read=read, options=TextTableOptions)

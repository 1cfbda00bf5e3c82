"""Texts with a table of offsets: one file for each text, and a TSV with one row for each mention.

Shared tasks publish corpora in this form, such as SocialDisNER (https://zenodo.org/records/6359365). Offsets are
half-open and count the code points of the text file, line ends included.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from fascicle.core.document import Document, Event
from fascicle.core.files.source import Source
from fascicle.core.files.tree import Tree, open_tree
from fascicle.core.wording import counted
from fascicle.errors import FormatError, InputError
from fascicle.formats.brat_lines import TEXT
from fascicle.formats.collect import MentionCollector
from fascicle.formats.handlers import Reader
from fascicle.formats.offset_tables import ABOVE, NAMES, OPTIONAL, OffsetRow, OffsetTable, tables_of
from fascicle.formats.report import ReadReport

STEP: Final = "offsets"
_Rows = dict[str, list[OffsetRow]]


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the texts of a folder or zip, sorted by name, with the mentions of the table beside them.

    The id of a document is the name of its text without the suffix. A text without a row is a document without mentions
    (event ``no-annotation``). Rows of other texts are counted in an event of the first document (``rows-left-out``),
    since the parts of a corpus often share one table. Memory holds the rows of these texts, and one text at a time.

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
                f"{tree.place(name)} and {files[identifier]} are two texts of one name, and a table cannot tell them "
                "apart; give one of their folders"
            )
        files[identifier] = name
    return files


def _table(source: Source, files: dict[str, str]) -> OffsetTable:
    found = tables_of(source.path, files.keys())
    if len(found) > 1:
        raise FormatError(
            f"{' and '.join(table.path for table in found)} are tables of offsets of the texts in {source.path}; "
            "leave one of them there",
            file=source.path,
        )
    if not found:
        parts = ", ".join(names[0] for part, names in NAMES.items() if part != OPTIONAL)
        raise FormatError(
            f"no table of offsets names a text of {source.path}; a .tsv with columns for {parts} must be in this place "
            f"or up to {counted(ABOVE, 'folder')} above it",
            file=source.path,
        )
    return found[0]


def _rows(table: OffsetTable, source: Source, files: dict[str, str]) -> tuple[_Rows, int]:
    """Returns the rows of each text, and the number of rows of other texts."""
    rows: defaultdict[str, list[OffsetRow]] = defaultdict(list)
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
    message = f"{table.name}: {counted(count, 'row')} of texts that are not here"
    return (Event(step=STEP, kind="note", code="rows-left-out", message=message),)


def _document(tree: Tree, name: str, source: Source, rows: list[OffsetRow]) -> Document:
    text, _ = tree.text(name, source)
    collector = MentionCollector(text, step=STEP)
    for row in rows:
        right = (
            given
            for given in row.texts
            if all(end - start == len(given) and text.startswith(given, start) for start, end in row.spans)
        )
        expected = next(right, row.texts[0] if row.texts else None)
        collector.add(row.spans, row.type, expected=expected)
    events = tuple(collector.events)
    if not rows:
        events = (Event(step=STEP, kind="note", code="no-annotation", message=f"{name} has no row in the table"),)
    try:
        return Document(id=PurePosixPath(name).stem, text=text, mentions=collector.mentions, events=events)
    except ValueError as error:  # codecs that let lone surrogates pass
        raise FormatError(str(error), at=tree.place(name)) from None


READER: Final = Reader(read=read)

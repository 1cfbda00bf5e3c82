"""Parquet: a folder with a table of mentions, for data frames and data bases, and in it a folder
with the documents and their relations; or one table of documents with columns of both.

Needs the package pyarrow (extra ``parquet``). The rows of mentions and of relations have the order
of the documents, so that all tables are written and read as streams.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from fascicle.core.arguments import validate_documents
from fascicle.core.codec import note_text_differences
from fascicle.core.document import Document, Mention, Relation, Section
from fascicle.core.files.atomic import check_folder
from fascicle.core.files.source import STDIN, Source
from fascicle.core.mention import AMBIGUOUS, Link, Span, link_text
from fascicle.errors import FormatError, InputError, UsageError
from fascicle.formats.arrow import (
    ALL,
    OF_FOLDERS,
    ROWS,
    Row,
    import_arrow,
    open_table,
    schemas,
    table_of,
)
from fascicle.formats.handlers import FormatReader, FormatWriter, WriteOne
from fascicle.formats.losses import EVERYTHING, HeldFields
from fascicle.formats.parquet_records import read_rows
from fascicle.formats.records import JsonlOptions
from fascicle.formats.report import ReadReport, WriteReport
from fascicle.formats.sources import DOCUMENTS, MENTIONS, RELATIONS, parquet_tables

_HOLDS: Final = HeldFields(format="Parquet", fields=EVERYTHING - {"changes"})
_OWN: Final = frozenset({"source", "meta", "ends"})  # one of them in each of our tables
_BATCH: Final = 64  # rows of documents that are read at once
_Rows = tuple[list[Row], ...]  # of the documents, the mentions and the relations


# -- writing ---------------------------------------------------------------------------------------


def _encode(document: Document, report: WriteReport) -> _Rows:
    """Returns the rows of a document, of its mentions and of its relations; cells have the order
    of the columns.
    """
    sections = document.sections
    row = (
        document.id,
        document.text,
        None if sections is None else list(map(msgspec.structs.astuple, sections)),
        document.sentences,
        document.words,
        document.abbreviations,
        tuple(document.meta.items()),
    )
    rows = [row], list(_mention_rows(document)), list(_relation_rows(document))
    # Raises for a lone surrogate here, so that the error belongs to the document and not to the
    # table.
    msgspec.json.encode(rows)
    return rows


def _mention_rows(document: Document) -> Iterator[Row]:
    return (_cells(document, mention) for mention in document.mentions)


def _relation_rows(document: Document) -> Iterator[Row]:
    concepts = {mention.key: _concept(mention) for mention in document.mentions}
    for relation in document.relations:
        ends = []
        for role, key in relation.arguments:
            source, kind, spans = key
            text = Mention(spans, kind).text_in(document.text)
            ends.append((role, kind, text, concepts.get(key), source, spans))
        yield document.id, relation.type, ends, relation.attributes


def _concept(mention: Mention) -> str | None:
    links = (link for link in mention.links if not link.nil and link.tier != AMBIGUOUS)
    return next(map(link_text, links), None)


def _cells(document: Document, mention: Mention) -> Row:
    return (
        document.id,
        mention.type,
        mention.start,
        mention.end,
        mention.text_in(document.text),
        mention.score,
        mention.source,
        _concept(mention),
        mention.spans,
        [
            (
                link.id,
                link.ontology,
                link.name,
                link.tier,
                link.curie,
                link.score,
                link.nil,
                link.same,
            )
            for link in mention.links
        ],
        mention.attributes,
    )


def to_arrow(documents: Document | Iterable[Document], *, relations: bool = False) -> Any:
    """Returns an Arrow table with a row for each mention, for pandas, polars and what else reads
    Arrow.

    The columns are those of the format ``parquet``: for mentions ``document``, ``type``,
    ``start``, ``end``, ``text``, ``score``, ``source``, ``concept`` (of the first link, a CURIE
    where it has one), and ``spans``, ``links`` and ``attributes``, which are lists; for relations
    ``document``, ``type``, ``ends`` (a list of ``role``, ``type``, ``text``, ``concept``,
    ``source`` and ``spans`` of each mention) and ``attributes``.

    Args:
        documents: one, or any number, which are read one after the other.
        relations: whether the rows are the relations of the documents, and not the mentions.

    Returns:
        A ``pyarrow.Table``. ``to_arrow(documents).to_pandas()`` is a data frame of pandas,
        ``polars.from_arrow(to_arrow(documents))`` one of polars.

    Raises:
        MissingExtraError: pyarrow is not installed.
        UsageError: something else than documents.
    """
    schema = schemas()[RELATIONS if relations else MENTIONS]
    stream = [documents] if isinstance(documents, Document) else validate_documents(documents)
    rows = chain.from_iterable(map(_relation_rows if relations else _mention_rows, stream))
    parts = iter(lambda: list(islice(rows, ROWS[MENTIONS])), [])
    return import_arrow().concat_tables(
        [schema.empty_table(), *(table_of(part, schema) for part in parts)]
    )


@contextmanager
def _into_folder(folder: Path) -> Iterator[WriteOne]:
    """Opens the tables in an empty folder and yields the function that adds rows; closes them
    at the end.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    (folder / DOCUMENTS).parent.mkdir()
    tables_of = schemas()
    with ExitStack() as stack:
        tables = [
            stack.enter_context(open_table(folder / name, tables_of[name], ROWS[name]))
            for name in OF_FOLDERS
        ]

        def add(parts: _Rows) -> None:
            for add_rows, rows in zip(tables, parts, strict=True):
                add_rows(rows)

        yield add


@contextmanager
def _into_file(stream: BinaryIO, _: object = None) -> Iterator[WriteOne]:
    """Opens one table and yields the function that adds a document with all its parts."""
    with open_table(stream, schemas()[ALL], ROWS[ALL]) as add_rows:

        def add(rows: _Rows) -> None:
            ((document,), *parts) = rows
            lists = (list(map(itemgetter(slice(1, None)), part)) for part in parts)
            add_rows([(*document, *lists)])

        yield add


def _check_place(path: str, *, overwrite: bool) -> None:
    """Checks early that tables can be written to a path.

    Raises:
        MissingExtraError: pyarrow is not installed.
        UsageError: standard output, or the name of an archive.
        OutputError: it exists and may not be overwritten, or it is a folder with other things in
            it.
    """
    import_arrow()
    if path == STDIN or path.lower().endswith((".zip", ".gz")):
        raise UsageError(
            "parquet is a folder with tables; name a folder to write, such as out.parquet, "
            f"not {path}"
        )
    check_folder(Path(path), kind="parquet", overwrite=overwrite)


# -- reading ---------------------------------------------------------------------------------------


def read(source: Source, options: JsonlOptions, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a folder with the tables, of one table with all, or of a table of
    another program, whose rows are records.

    Args:
        source: the folder, or the file.
        options: of records.
        report: a document whose rows are not valid is set aside.

    Raises:
        InputError: no folder with the tables.
        UsageError: options, and a table that is not of records.
        FormatError: other columns, or rows that are not in the order of the documents.
        MissingExtraError: pyarrow is not installed.
    """
    import_arrow()
    folder = Path(source.path)
    if folder.is_file():
        with _table(folder) as file:
            columns, facts = file.schema_arrow.names, file.schema_arrow.metadata or {}
        _refuse_repeated(columns, folder)
        if "document" not in columns or _OWN.isdisjoint(columns):
            yield from read_rows(_rows(folder), facts, source, options, report)
            return
    if options != JsonlOptions():
        raise UsageError(
            f"{folder} has the tables of Fascicle, whose columns are known; leave the options of "
            "records out"
        )
    if folder.is_file():
        for row in _rows(folder, ALL):
            with report.aside.one():
                yield _document(row, row["mentions"] or (), row["relations"] or (), folder=folder)
        return
    yield from _read_folder(folder, report)


def _refuse_repeated(columns: Sequence[str], path: Path) -> None:
    name, count = max(Counter(columns).items(), key=itemgetter(1), default=("", 0))
    if count > 1:
        raise FormatError(
            f"{count} columns are called {name!r}; the table has {', '.join(columns)}; rename all "
            "but one of them",
            at=str(path),
        )


def _read_folder(folder: Path, report: ReadReport) -> Iterator[Document]:
    if not (tables := parquet_tables(folder)):
        raise InputError(
            f"{folder} is not a folder with the tables {DOCUMENTS} and {MENTIONS}", file=str(folder)
        )
    documents, *others = map(_rows, tables, OF_FOLDERS)
    parts = list(map(_Following, others))
    for row in documents:
        rows = [part.of(row["document"]) for part in parts]
        with report.aside.one():
            yield _document(row, *rows, folder=folder)
    for table, part in zip(tables[1:], parts, strict=True):
        if part.waiting is not None:
            raise FormatError(
                f"the {table.stem} of document {part.waiting['document']!r} have no document, or "
                "another order than the documents; sort the tables alike",
                at=str(table),
            )


class _Following:
    """Rows of mentions or relations, consumed document by document."""

    def __init__(self, rows: Iterator[dict[str, Any]]) -> None:
        self._rows = rows
        self.waiting = next(rows, None)

    def of(self, identifier: str) -> list[dict[str, Any]]:
        rows = []
        while self.waiting is not None and self.waiting["document"] == identifier:
            rows.append(self.waiting)
            self.waiting = next(self._rows, None)
        return rows


def _rows(path: Path, table: str = "") -> Iterator[dict[str, Any]]:
    """Yields the rows of one of our tables, or of a table of another program."""
    schema = schemas()[table] if table else None
    with _table(path) as file:
        names = file.schema_arrow.names
        missing = [field.name for field in schema or () if field.name not in names]
        if missing:
            advice = "; name the folder with its tables" * (table == ALL)
            raise FormatError(
                f"the table lacks the columns {', '.join(missing)}{advice}", at=str(path)
            )
        for batch in file.iter_batches(
            batch_size=_BATCH * 16 if table in (MENTIONS, RELATIONS) else _BATCH
        ):
            yield from (batch.select(schema.names).cast(schema) if schema else batch).to_pylist()


@contextmanager
def _table(path: Path) -> Iterator[Any]:
    """Opens a file; what is wrong with it is an error about the table."""
    pa = import_arrow()
    try:
        with pa.parquet.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise FormatError(
            f"the table cannot be read ({reason[:300]}); write it again", at=str(path)
        ) from None


def _document(
    row: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    relations: Sequence[Mapping[str, Any]] = (),
    *,
    folder: Path,
) -> Document:
    try:
        mentions = list(map(_mention, rows))
        document = Document(
            id=row["document"],
            text=row["text"],
            sections=None if row["sections"] is None else tuple(map(_section, row["sections"])),
            sentences=_spans(row["sentences"]),
            words=_spans(row["words"]),
            abbreviations=_abbreviations(row["abbreviations"]),
            mentions=tuple(mentions),
            relations=tuple(map(_relation, relations)),
            meta=dict(_facts(row["meta"])),
        )
        return note_text_differences(document, mentions, texts=[row["text"] for row in rows])
    except (ValueError, TypeError, AttributeError) as error:
        raise FormatError(
            f"the rows of document {row['document']!r} make none: {error}", at=str(folder)
        ) from None


def _abbreviations(pairs: list[dict[str, Any]] | None) -> tuple[tuple[Span, Span], ...] | None:
    if pairs is None:
        return None
    return tuple((_pair(pair["short"]), _pair(pair["long"])) for pair in pairs)


def _mention(row: Mapping[str, Any]) -> Mention:
    return Mention(
        _spans(row["spans"]) or ((row["start"], row["end"]),),
        row["type"],
        score=row["score"],
        source=row["source"],
        links=tuple(
            Link(**link | {"same": tuple(link.get("same") or ())}) for link in row["links"] or ()
        ),
        attributes=_facts(row["attributes"]),
    )


def _relation(row: Mapping[str, Any]) -> Relation:
    ends = [
        (end["role"], (end["source"], end["type"], _spans(end["spans"]) or ()))
        for end in row["ends"] or ()
    ]
    facts = _facts(row["attributes"])
    return Relation(type=row["type"], arguments=tuple(ends), attributes=facts)


def _section(row: Mapping[str, Any]) -> Section:
    return Section(**{**row, "attributes": _facts(row.get("attributes"))})


def _facts(pairs: list[dict[str, str]] | None) -> tuple[tuple[str, str], ...]:
    return tuple((pair["name"], pair["value"]) for pair in pairs or ())


def _spans(spans: list[dict[str, int]] | None) -> tuple[Span, ...] | None:
    return None if spans is None else tuple(map(_pair, spans))


def _pair(span: Mapping[str, int]) -> Span:
    return span["start"], span["end"]


READER: Final = FormatReader(read=read, options=JsonlOptions)
WRITER: Final = FormatWriter(
    holds=_HOLDS,
    encoder=lambda _: _encode,
    into=_into_file,
    into_folder=_into_folder,
    check=_check_place,
    by_id=True,
)

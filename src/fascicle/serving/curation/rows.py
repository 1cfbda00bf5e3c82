"""Rows of the file of decisions: each carries its hash and that of the row before, so that no
damage passes as content.

The rows of documents are one chain. The steps about a document are another, which begins at the row
of the document. The table ``ends`` has the end of each chain, so that the last row of one cannot be
lost unnoticed either.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

import msgspec

from fascicle.serving.curation.decisions import NAMES

_DOCUMENTS: Final = 0  # place of the end of the chain of documents, whose places begin at 1
APPLICATION: Final = 0x46736363  # "Fscc": other databases are left alone
VERSION: Final = 2
_SMALLEST: Final = 100  # bytes that a row of a document takes at least
_TABLES: Final = """
CREATE TABLE documents (
    place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text_hash TEXT NOT NULL,
    content BLOB NOT NULL,
    who TEXT NOT NULL, at TEXT NOT NULL, previous BLOB NOT NULL, hash BLOB NOT NULL
) STRICT;
CREATE TABLE steps (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents (place),
    id TEXT NOT NULL UNIQUE, who TEXT NOT NULL, at TEXT NOT NULL, content BLOB NOT NULL,
    previous BLOB NOT NULL, hash BLOB NOT NULL
) STRICT;
CREATE TABLE ends (
    document INTEGER PRIMARY KEY, number INTEGER NOT NULL, hash BLOB NOT NULL
) STRICT;
CREATE INDEX steps_of ON steps (document, number)"""
_TRIGGERS: Final = tuple(
    f"CREATE TRIGGER {table}_{name} BEFORE {change} ON {table} BEGIN "
    f"SELECT RAISE(ABORT, '{called} are never {action}'); END"
    for table, called in (("documents", "documents"), ("steps", "decisions"))
    for name, change, action in (("stay", "UPDATE", "changed"), ("last", "DELETE", "removed"))
)


class DamagedError(Exception):
    """Error raised if a row is not as it was written, or is missing."""


class DocumentRow(NamedTuple):
    """Row of a document; ``content`` is the document as JSON."""

    place: int
    id: str
    text_hash: str
    content: bytes
    who: str
    at: str
    previous: bytes = b""
    hash: bytes = b""


class StepRow(NamedTuple):
    """Row of a step; ``document`` is the place of its document."""

    number: int
    document: int
    id: str
    who: str
    at: str
    content: bytes
    previous: bytes = b""
    hash: bytes = b""


_TABLE: Final = MappingProxyType({DocumentRow: "documents", StepRow: "steps"})
_Row = TypeVar("_Row", DocumentRow, StepRow)


def create(connection: sqlite3.Connection) -> None:
    """Creates the tables, within the transaction of the caller."""
    for statement in (*_TABLES.split(";"), *_TRIGGERS):
        connection.execute(statement)
    _end(connection, _DOCUMENTS, 0, b"")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def convert_version_1(connection: sqlite3.Connection) -> None:
    """Converts the tables of version 1, whose rows have no hashes, within the transaction of the
    caller.
    """
    for name in ("documents_stay", "documents_last", "steps_stay", "steps_last"):
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("DROP INDEX steps_of")
    for table in _TABLE.values():
        connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    create(connection)
    for row in connection.execute(
        "SELECT place, id, text_hash, content, who, at FROM old_documents ORDER BY place"
    ):
        append_document(connection, DocumentRow(*row))
    for row in connection.execute(
        "SELECT number, document, id, who, at, content FROM old_steps ORDER BY number"
    ):
        append_step(connection, StepRow(*row))
    for table in ("steps", "documents"):
        connection.execute(f"DROP TABLE old_{table}")


def append_document(connection: sqlite3.Connection, row: DocumentRow) -> DocumentRow:
    """Appends the row of a document; returns it with its place and its hash."""
    place, before = _end_of(connection, _DOCUMENTS)
    full = _chained(row._replace(place=place + 1), before)
    _insert(connection, full)
    _end(connection, full.place, 0, full.hash)
    _end(connection, _DOCUMENTS, full.place, full.hash)
    return full


def append_step(connection: sqlite3.Connection, row: StepRow) -> StepRow:
    """Appends the row of a step; returns it with its number, the next one unless it has one, and
    its hash.
    """
    _, before = _end_of(connection, row.document)
    full = _chained(row._replace(number=row.number or _next(connection)), before)
    _insert(connection, full)
    _end(connection, row.document, full.number, full.hash)
    return full


def document_places(connection: sqlite3.Connection) -> range:
    """Returns the places of all documents, also of those whose rows are lost."""
    places = [0]
    with suppress(DamagedError):
        places.append(_end_of(connection, _DOCUMENTS)[0])
    try:
        places.append(
            connection.execute("SELECT coalesce(max(place), 0) FROM documents").fetchone()[0]
        )
        (pages,), (size,) = (
            connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size")
        )
    except sqlite3.DatabaseError as error:
        _describe(error)
        return range(1, max(places) + 1)
    return range(
        1, min(max(places), pages * size // _SMALLEST) + 1
    )  # a damaged place may be any number


def text_places(connection: sqlite3.Connection) -> list[int]:
    """Returns the places of documents with texts: all but that of `NAMES`."""
    names = None
    try:
        query = "SELECT max(place) FROM documents WHERE id = ?"
        (names,) = connection.execute(query, (NAMES,)).fetchone()
    except sqlite3.DatabaseError as error:
        _describe(error)
    return [place for place in document_places(connection) if place != names]


def document_at(connection: sqlite3.Connection, place: int) -> DocumentRow:
    """Returns the row of a document.

    Raises:
        DamagedError: it is missing, or not as it was written.
    """
    try:
        columns = ", ".join(DocumentRow._fields)
        values = connection.execute(
            f"SELECT {columns} FROM documents WHERE place = ?", (place,)
        ).fetchone()
    except sqlite3.DatabaseError as error:
        raise DamagedError(f"document {place} cannot be read ({_describe(error)})") from None
    if values is None:
        raise DamagedError(f"document {place} is missing")
    row = DocumentRow(*values)
    if row.hash != _hash_of(row):
        raise DamagedError(f"document {place} is damaged")
    return row


def document_steps(connection: sqlite3.Connection, owner: DocumentRow) -> tuple[list[StepRow], str]:
    """Returns the rows of the steps about a document up to the first damage, and what is damaged;
    empty for nothing.
    """
    steps: list[StepRow] = []
    description, before = (
        f"document {owner.place} ({owner.id[:100] or 'rows of names'})",
        owner.hash,
    )
    query = f"SELECT {', '.join(StepRow._fields)} FROM steps WHERE document = ? ORDER BY number"
    try:
        for row in map(StepRow._make, connection.execute(query, (owner.place,))):
            if row.hash != _hash_of(row):
                return steps, f"step {row.number} about {description} is damaged"
            if row.previous != before:
                return steps, f"a step about {description} before step {row.number} is missing"
            steps.append(row)
            before = row.hash
        is_whole = _end_of(connection, owner.place) == (steps[-1].number if steps else 0, before)
    except (sqlite3.DatabaseError, DamagedError) as error:
        return steps, f"the steps about {description} cannot be read ({_describe(error)})"
    return steps, "" if is_whole else f"the last steps about {description} are missing"


def find_damages(connection: sqlite3.Connection) -> Iterator[str]:
    """Yields what is damaged in a file, one sentence each."""
    try:
        for (line,) in connection.execute("PRAGMA integrity_check(20)"):
            if line != "ok":
                yield f"the file is damaged ({line})"
    except sqlite3.DatabaseError as error:
        yield f"the file is damaged ({_describe(error)})"
    end = None
    try:
        end = _end_of(connection, _DOCUMENTS)
    except DamagedError as error:
        yield f"the end of the documents cannot be read ({error})"
    yield from _damaged_documents(connection, end)


def _damaged_documents(
    connection: sqlite3.Connection, end: tuple[int, bytes] | None
) -> Iterator[str]:
    before = b""
    for place in document_places(connection):
        try:
            row = document_at(connection, place)
        except DamagedError as error:
            yield str(error)
            before = b""
            continue
        if before and row.previous != before:
            yield f"document {place} does not follow the one before it"
        before = row.hash
        if damage := document_steps(connection, row)[1]:
            yield damage
        if end is not None and place == end[0] and row.hash != end[1]:
            yield "the end of the documents is damaged"


def _describe(error: Exception) -> str:
    """Returns the message of an error, unless it says nothing of damage.

    Raises:
        sqlite3.OperationalError: the file is locked, or its disk does not answer.
    """
    if isinstance(error, sqlite3.OperationalError):
        raise error
    return str(error)


def _chained(row: _Row, before: bytes) -> _Row:
    full = row._replace(previous=before)
    return full._replace(hash=_hash_of(full))


def _hash_of(row: _Row) -> bytes:
    """Returns the hash of a row: of its values and their classes, with the hash of the row
    before.
    """
    return hashlib.sha256(msgspec.msgpack.encode(tuple(row)[:-1])).digest()


def _insert(connection: sqlite3.Connection, row: _Row) -> None:
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO {_TABLE[type(row)]} VALUES ({marks})", row)


def _next(connection: sqlite3.Connection) -> int:
    (number,) = connection.execute(
        "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'steps'"
    ).fetchone()
    return int(number)


def _end_of(connection: sqlite3.Connection, place: int) -> tuple[int, bytes]:
    try:
        row = connection.execute(
            "SELECT number, hash FROM ends WHERE document = ?", (place,)
        ).fetchone()
    except sqlite3.DatabaseError as error:
        raise DamagedError(_describe(error)) from None
    if row is None or not (isinstance(row[0], int) and isinstance(row[1], bytes)):
        raise DamagedError("the end is missing")
    return row[0], row[1]


def _end(connection: sqlite3.Connection, place: int, number: int, digest: bytes) -> None:
    connection.execute("INSERT OR REPLACE INTO ends VALUES (?, ?, ?)", (place, number, digest))


def has_versions(connection: sqlite3.Connection) -> bool:
    """Returns whether steps are about versions, which projects alone have."""
    query = (
        """SELECT EXISTS (SELECT 1 FROM steps WHERE instr(CAST(content AS TEXT), '"version":'))"""
    )
    return bool(connection.execute(query).fetchone()[0])


def version_names(connection: sqlite3.Connection) -> set[str]:
    """Returns the names of all versions that intact steps are about."""
    query = """SELECT DISTINCT coalesce(json_extract(told, '$.version'), who)
        FROM (SELECT who, CAST(content AS TEXT) AS told FROM steps
            WHERE document NOT IN (SELECT place FROM documents WHERE id = ?))
        WHERE json_valid(told)"""
    return {str(name) for (name,) in connection.execute(query, (NAMES,))}

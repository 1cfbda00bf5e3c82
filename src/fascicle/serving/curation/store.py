"""SQLite file of documents and decisions: rows are only appended, and triggers reject every other change."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import msgspec

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.errors import InputError
from fascicle.serving.curation.decisions import Edit, Step, check

_APPLICATION: Final = 0x46736363  # "Fscc": other databases are left alone
_VERSION: Final = 1
_MOST_ID: Final = 1_000  # characters
_SCHEMA: Final = f"""
BEGIN;
CREATE TABLE documents (
    place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text_hash TEXT NOT NULL, content BLOB NOT NULL,
    who TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE TABLE steps (
    number INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL REFERENCES documents (place),
    id TEXT NOT NULL UNIQUE, who TEXT NOT NULL, at TEXT NOT NULL, content BLOB NOT NULL
) STRICT;
CREATE INDEX steps_of ON steps (document, number);
CREATE TRIGGER documents_stay BEFORE UPDATE ON documents BEGIN SELECT RAISE(ABORT, 'documents are never changed'); END;
CREATE TRIGGER documents_last BEFORE DELETE ON documents BEGIN SELECT RAISE(ABORT, 'documents are never removed'); END;
CREATE TRIGGER steps_stay BEFORE UPDATE ON steps BEGIN SELECT RAISE(ABORT, 'decisions are never changed'); END;
CREATE TRIGGER steps_last BEFORE DELETE ON steps BEGIN SELECT RAISE(ABORT, 'decisions are never removed'); END;
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
COMMIT;
"""


class _Content(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    edits: tuple[Edit, ...] = ()
    undoes: int | None = None
    finished: bool | None = None


Who = Annotated[str, msgspec.Meta(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+(?![\s\S])")]
Number = Annotated[int, msgspec.Meta(ge=0, le=(1 << 53) - 1)]


class GivenStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A step to save.

    Attributes:
        document: id of the document.
        id: by which the step is saved once, however often it is sent.
        who: the curator.
        after: number of the last step about the document that the curator has seen; 0 for none.
        edits: see `Step`, also for what follows.
        undoes: see above.
        finished: see above.
    """

    document: str
    id: Annotated[str, msgspec.Meta(min_length=32, max_length=32, pattern=r"^[0-9a-f]{32}$")]
    who: Who
    after: Number = 0
    edits: tuple[Edit, ...] = ()
    undoes: Number | None = None
    finished: bool | None = None


class Kept(NamedTuple):
    """Document with the steps about it, in order."""

    document: Document
    steps: tuple[Step, ...]


class ConflictError(Exception):
    """Error raised if a step conflicts with steps that others have saved meanwhile."""


class UnknownDocumentError(LookupError):
    """Error raised if a document does not exist."""


class Store:
    """Open file of decisions; safe for any number of threads, which are served one after the other."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Takes an open database that this module created."""
        self._connection = connection
        self._lock = threading.RLock()

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """Opens a file, or creates it.

        Args:
            path: of the file; ``":memory:"`` for none.

        Raises:
            InputError: it cannot be opened, or is another file.
        """
        place = str(path) if str(path) == ":memory:" else str(Path(path).expanduser())
        try:
            connection = sqlite3.connect(place, timeout=10, isolation_level=None, check_same_thread=False)
            _prepare(connection, place)
        except sqlite3.Error as error:
            raise InputError(
                f"decisions cannot be kept in {place} ({error}); name a new file, or one that was made for decisions",
                file=place,
                code="unreadable",
            ) from None
        return cls(connection)

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Opens a transaction: all or nothing; it is on the disk when the block ends."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # if the disk is full, SQLite has rolled back by itself
                    self._connection.execute("ROLLBACK")
                raise

    def add(self, documents: Sequence[Document], who: str) -> list[Kept]:
        """Adds documents that are not stored yet; the mentions of stored ones do not change.

        Args:
            documents: with the mentions of their models.
            who: adds them.

        Raises:
            ConflictError: one has the id of another text; then none is added.
            ValueError: one has an id that is empty or too long; then none is added.
        """
        for one in documents:
            if not 0 < len(one.id) <= _MOST_ID:
                raise ValueError(
                    f"a document has an id of {len(one.id):,} characters; give it one of 1 to {_MOST_ID:,}"
                )
        with self._writing() as connection:
            for document in documents:
                digest = hashlib.sha256(document.text.encode()).hexdigest()
                found = connection.execute("SELECT text_hash FROM documents WHERE id = ?", (document.id,)).fetchone()
                if found is None:
                    row = (document.id, digest, codec.encode(document), who, _now())
                    connection.execute(
                        "INSERT INTO documents (id, text_hash, content, who, at) VALUES (?, ?, ?, ?, ?)", row
                    )
                elif found[0] != digest:
                    raise ConflictError(
                        f"a document {document.id[:200]!r} with another text is curated here; give this one another id"
                    )
        return [self.document(document.id) for document in documents]

    def count(self) -> int:
        """Returns the number of documents."""
        with self._lock:
            return int(self._connection.execute("SELECT count(*) FROM documents").fetchone()[0])

    def document(self, name: str) -> Kept:
        """Returns a document with its steps.

        Raises:
            UnknownDocumentError: there is none of this id.
        """
        with self._lock:
            found = self._connection.execute("SELECT place, content FROM documents WHERE id = ?", (name,)).fetchone()
            if found is None:
                raise UnknownDocumentError(f"no document {name[:200]!r} is curated here; add it first")
            return Kept(codec.decode(found[1]), self._steps(found[0]))

    def documents(self) -> Iterator[Kept]:
        """Yields all documents with their steps, in the order in which they were added."""
        with self._lock:
            places = [row[0] for row in self._connection.execute("SELECT place FROM documents ORDER BY place")]
        for place in places:
            with self._lock:
                (content,) = self._connection.execute(
                    "SELECT content FROM documents WHERE place = ?", (place,)
                ).fetchone()
                kept = Kept(codec.decode(content), self._steps(place))
            yield kept

    def save(self, new: GivenStep) -> Step:
        """Saves a step; a step with an id that was saved before is not saved again.

        Raises:
            UnknownDocumentError: the document is not there.
            ConflictError: others have saved steps that the curator has not seen, or the id belongs to another step.
            ValueError: the step does not apply to the document.
        """
        with self._writing() as connection:
            kept = self.document(new.document)
            content = _content_of(new)
            if (saved := self._saved(new.id)) is not None:
                if saved not in kept.steps or _content_of(saved) != content:
                    raise ConflictError(f"the id {new.id!r} stands for another step; make a new one")
                return saved
            last = kept.steps[-1].number if kept.steps else 0
            if last != new.after:
                raise ConflictError("others have decided about this document meanwhile; look at it again")
            step = Step(
                number=last + 1, who=new.who, at=_now(), edits=new.edits, undoes=new.undoes, finished=new.finished
            )
            check(kept.document, kept.steps, step)
            cursor = connection.execute(
                "INSERT INTO steps (document, id, who, at, content) "
                "SELECT place, ?, ?, ?, ? FROM documents WHERE id = ?",
                (new.id, new.who, step.at, content, new.document),
            )
            assert cursor.lastrowid is not None
            return msgspec.structs.replace(step, number=cursor.lastrowid)

    def _saved(self, name: str) -> Step | None:
        found = self._connection.execute("SELECT number, who, at, content FROM steps WHERE id = ?", (name,)).fetchone()
        return None if found is None else _step(*found)

    def _steps(self, place: int) -> tuple[Step, ...]:
        rows = self._connection.execute(
            "SELECT number, who, at, content FROM steps WHERE document = ? ORDER BY number", (place,)
        )
        return tuple(_step(*row) for row in rows)


def _step(number: int, who: str, at: str, content: bytes) -> Step:
    found = msgspec.json.decode(content, type=_Content)
    return Step(number=number, who=who, at=at, edits=found.edits, undoes=found.undoes, finished=found.finished)


def _content_of(step: Step | GivenStep) -> bytes:
    return msgspec.json.encode(_Content(edits=step.edits, undoes=step.undoes, finished=step.finished))


def _prepare(connection: sqlite3.Connection, place: str) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    ours = connection.execute("PRAGMA application_id").fetchone()[0]
    if ours == 0 and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(_SCHEMA)
    elif ours != _APPLICATION:
        raise InputError(
            f"{place} is a database of another program; name a new file for decisions", file=place, code="unreadable"
        )
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != _VERSION:
        raise InputError(
            f"{place} has decisions of version {version}, and this release reads version {_VERSION}",
            file=place,
            code="version",
        )
    connection.execute("PRAGMA synchronous = FULL")  # with WAL; otherwise a power failure loses the last decisions


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")

"""File of documents and decisions (SQLite): rows are only appended, and triggers reject every
other change.

Who decides from a state that is no longer the last one gets a `ConflictError`; the page
(``page/code/saving.js``) then tries again, or says so. Text reaches the page as text nodes alone
(``page/code/dom.js``).
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO, Final, NamedTuple, TypeVar

import msgspec

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.files.temporary import lock
from fascicle.errors import InputError, OutputError
from fascicle.serving.curation import rows
from fascicle.serving.curation.decisions import NAMES, Edit, Remark, Rows, Step, check, check_id
from fascicle.serving.curation.rows import DamagedError, DocumentRow, StepRow

_T = TypeVar("_T")
_PRIVATE: Final = 0o600


class _Text(msgspec.Struct):
    text: str


class _Content(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    edits: tuple[Edit, ...] = ()
    undoes: int | None = None
    finished: bool | None = None
    remark: Remark | None = None
    rows: Rows = ()
    version: str | None = None


Who = Annotated[
    str, msgspec.Meta(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+(?![\s\S])")
]
Number = Annotated[int, msgspec.Meta(ge=0, le=(1 << 53) - 1)]


class GivenStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A step to save.

    Attributes:
        document: id of the document; empty for rows.
        id: by which the step is saved once, however often it is sent.
        who: the curator.
        after: number of the last step about the document that the curator has seen; 0 for none.
        edits: see `Step`, also for what follows.
        undoes: see above.
        finished: see above.
        remark: see above.
        rows: see above.
        version: see above.
    """

    document: str
    id: Annotated[str, msgspec.Meta(min_length=32, max_length=32, pattern=r"^[0-9a-f]{32}$")]
    who: Who
    after: Number = 0
    edits: tuple[Edit, ...] = ()
    undoes: Number | None = None
    finished: bool | None = None
    remark: Remark | None = None
    rows: Rows = ()
    version: str | None = None


class Kept(NamedTuple):
    """Document with the steps about it, in order."""

    document: Document
    steps: tuple[Step, ...]


def shared_by_all(record: Kept, new: GivenStep) -> Kept:
    """Returns what a step is about where all curators share their decisions: the document, and all
    steps.

    Raises:
        ValueError: the step is about a version.
    """
    if new.version is not None:
        raise ValueError("a document has versions only in a project; leave version out")
    return record


class ConflictError(Exception):
    """Error raised if a step conflicts with steps that others have saved meanwhile."""


class UnknownDocumentError(LookupError):
    """Error raised if a document does not exist."""


class Store:
    """Open file of decisions; safe for any number of threads, which are served one after the other.

    Attributes:
        damages: what was damaged when the file was opened, one sentence each. Then nothing is saved
            in it any more.
    """

    def __init__(self, connection: sqlite3.Connection, lock: BinaryIO | None = None) -> None:
        """Takes an open database that this module created, and the file that keeps other
        services out.
        """
        self._connection, self._held = connection, lock
        self._lock = threading.RLock()
        self.damages = tuple(rows.find_damages(connection))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Store:
        """Opens a file for one service, or creates it; nobody but its owner may read it.

        Args:
            path: of the file; ``":memory:"`` for none.

        Raises:
            InputError: it cannot be opened, or is another file.
            OutputError: another service has it open.
        """
        place = str(path) if str(path) == ":memory:" else str(Path(path).expanduser())
        lock = None if place == ":memory:" else _lock_file(place)
        try:
            connection = connect_database(place)
            _prepare(connection, place)
            return cls(connection, lock)
        except BaseException as error:
            if lock is not None:
                lock.close()
            if isinstance(error, sqlite3.Error):
                raise opening_error(place, error) from None
            raise

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._connection.close()
            if self._held is not None:
                self._held.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Opens a transaction, or goes on with that of an outer block: all or nothing; it is on
        the disk when the block ends.

        Raises:
            DamagedError: the file is damaged; what is written into such a file may be lost.
        """
        if self.damages:
            raise DamagedError(
                "the file of decisions is damaged, so that nothing more is saved in it "
                f"({self.damages[0]}); "
                "fascicle curation repair writes what is intact into a new file"
            )
        with self._lock:
            is_inner = self._connection.in_transaction
            if is_inner:
                yield self._connection
                return
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # if the disk is full, SQLite has rolled back by itself
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def add(self, documents: Sequence[Document], who: str) -> list[Kept]:
        """Adds documents that are not stored yet; the mentions of stored ones do not change.

        Args:
            documents: with the mentions of their models.
            who: adds them.

        Raises:
            ConflictError: one has the id of another text; then none is added.
            ValueError: one has an id that is not allowed; then none is added.
        """
        for new in documents:
            check_id(new.id)
        with self.writing() as connection:
            for document in documents:
                digest = hashlib.sha256(document.text.encode()).hexdigest()
                row = connection.execute(
                    "SELECT text_hash FROM documents WHERE id = ?", (document.id,)
                ).fetchone()
                if row is None:
                    _append_document(connection, document, who, digest)
                elif row[0] != digest:
                    raise ConflictError(
                        f"a document {document.id[:200]!r} with another text is curated here; "
                        "give this one another id"
                    )
        return [self.document(document.id) for document in documents]

    def count(self) -> int:
        """Returns the number of documents."""
        with self._lock:
            query = "SELECT count(*) FROM documents WHERE id != ?"
            return int(self._connection.execute(query, (NAMES,)).fetchone()[0])

    @property
    def has_versions(self) -> bool:
        """True if a project has used the file."""
        with self._lock:
            return rows.has_versions(self._connection)

    @property
    def version_names(self) -> set[str]:
        """Names of all versions, see `rows.version_names`."""
        with self._lock:
            return rows.version_names(self._connection)

    def names(self) -> tuple[Step, ...]:
        """Returns all steps that keep rows of curation, or take them back.

        Raises:
            DamagedError: one is damaged.
        """
        try:
            return self.document(NAMES).steps
        except UnknownDocumentError:
            return ()

    def document(self, name: str) -> Kept:
        """Returns a document with its steps.

        Raises:
            UnknownDocumentError: there is none of this id.
            DamagedError: it or a step about it is damaged.
        """
        with self._lock:
            row = self._connection.execute(
                "SELECT place FROM documents WHERE id = ?", (name,)
            ).fetchone()
            if row is None:
                raise UnknownDocumentError(
                    f"no document {name[:200]!r} is curated here; add it first"
                )
            record = read_kept(self._connection, row[0])
        if record.document.id != name:
            raise DamagedError(f"document {name[:200]!r} is damaged")
        return record

    def documents(self) -> Iterator[Kept]:
        """Yields all documents with their steps, in the order in which they were added, but
        those with damage.
        """
        with self._lock:
            places = rows.text_places(self._connection)
        for place in places:
            with self._lock, suppress(DamagedError):
                yield read_kept(self._connection, place)

    def each(self, of: Callable[[Kept], _T], cache: dict[int, tuple[int, _T]]) -> Iterator[_T]:
        """Yields what a function makes of each document, in the order in which they were added, but
        those with damage.

        Args:
            of: the function.
            cache: what it made before, by place, with the last step by then; what is still so is
                taken from here.
        """
        with self._lock:
            places = rows.text_places(self._connection)
            ends: dict[int, int] = dict(
                self._connection.execute("SELECT document, number FROM ends")
            )
        for place in places:
            entry = cache.get(place)
            if entry is None or entry[0] != ends.get(place):
                entry = None
                with self._lock, suppress(DamagedError):
                    entry = cache[place] = (
                        ends.get(place, 0),
                        of(read_kept(self._connection, place)),
                    )
            if entry is not None:
                yield entry[1]

    def has_words(self, name: str, words: str) -> bool:
        """Returns whether the id or the text of a document has some words, without regard of
        case.
        """
        with self._lock:
            row = self._connection.execute(
                "SELECT content FROM documents WHERE id = ?", (name,)
            ).fetchone()
        return (
            words.casefold() in f"{name}\n{msgspec.json.decode(row[0], type=_Text).text}".casefold()
        )

    def save(self, new: GivenStep, view: Callable[[Kept, GivenStep], Kept] = shared_by_all) -> Step:
        """Saves a step; a step with an id that was saved before is not saved again.

        Args:
            new: the step.
            view: returns the version of the document that the step is about, and raises an error if
                it may not be.

        Raises:
            UnknownDocumentError: the document is not there.
            ConflictError: others have saved steps that the curator has not seen, or the id belongs
                to another step.
            ValueError: the step does not apply to the document.
        """
        with self.writing() as connection:
            record = self._about(new)
            content = _content_of(new)
            if (saved := self._saved(new.id)) is not None:
                if (
                    saved not in record.steps
                    or saved.who != new.who
                    or _content_of(saved) != content
                ):
                    raise ConflictError(
                        f"the id {new.id!r} stands for another step; make a new one"
                    )
                return saved
            document, steps = view(record, new)
            last = steps[-1].number if steps else 0
            if last != new.after:
                about = "this document" if document.id else "names"
                raise ConflictError(
                    f"others have decided about {about} in the meantime; look at it again"
                )
            step = _step(StepRow(last + 1, 0, new.id, new.who, _now(), content))
            check(document, steps, step)
            (place,) = connection.execute(
                "SELECT place FROM documents WHERE id = ?", (new.document,)
            ).fetchone()
            row = rows.append_step(connection, StepRow(0, place, new.id, new.who, step.at, content))
            return msgspec.structs.replace(step, number=row.number)

    def _about(self, new: GivenStep) -> Kept:
        """Returns what a step is about; the first rows make their place."""
        try:
            return self.document(new.document)
        except UnknownDocumentError:
            if new.document != NAMES:
                raise
            _append_document(self._connection, Document(id=NAMES, text=""), new.who)
            return self.document(NAMES)

    def _saved(self, name: str) -> Step | None:
        query = f"SELECT {', '.join(StepRow._fields)} FROM steps WHERE id = ?"
        row = self._connection.execute(query, (name,)).fetchone()
        return None if row is None else _step(StepRow(*row))


def _append_document(
    connection: sqlite3.Connection, document: Document, who: str, digest: str = ""
) -> None:
    content = codec.encode(document)
    rows.append_document(connection, DocumentRow(0, document.id, digest, content, who, _now()))


def read_kept(connection: sqlite3.Connection, place: int) -> Kept:
    """Returns the document at a place, with its steps.

    Raises:
        DamagedError: it or a step about it is damaged.
    """
    row = rows.document_at(connection, place)
    steps, damage = rows.document_steps(connection, row)
    if damage:
        raise DamagedError(damage)
    return Kept(codec.decode(row.content), tuple(map(_step, steps)))


def _step(row: StepRow) -> Step:
    content = msgspec.json.decode(row.content, type=_Content)
    return Step(number=row.number, who=row.who, at=row.at, **msgspec.structs.asdict(content))


def _content_of(step: Step | GivenStep) -> bytes:
    return msgspec.json.encode(
        _Content(**{name: getattr(step, name) for name in _Content.__struct_fields__})
    )


def connect_database(place: str) -> sqlite3.Connection:
    """Connects to a database; damaged text is read too, so that its row is found to be damaged."""
    connection = sqlite3.connect(place, timeout=10, isolation_level=None, check_same_thread=False)
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    return connection


def check_version(connection: sqlite3.Connection, place: str, *versions: int) -> int:
    """Returns the version of the rows of a file.

    Raises:
        InputError: it is the file of another program, or of a version that is not among those
            given.
    """
    if connection.execute("PRAGMA application_id").fetchone()[0] != rows.APPLICATION:
        raise InputError(
            f"{place} is a database of another program; name a new file for decisions",
            file=place,
            code="unreadable",
        )
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version not in versions:
        raise InputError(
            f"{place} has decisions of version {version}, and this reads version "
            f"{' or '.join(map(str, versions))}",
            file=place,
            code="version",
        )
    return version


def opening_error(place: str, error: Exception) -> InputError:
    """Makes the error for a file that cannot be opened."""
    return InputError(
        f"decisions cannot be kept in {place} ({error}); name a new file, or one that was made "
        "for decisions",
        file=place,
        code="unreadable",
    )


def _lock_file(place: str) -> BinaryIO:
    """Opens a file, creates it for its owner alone if there is none, and locks it against other
    services.

    Raises:
        InputError: it cannot be opened.
        OutputError: another service has it open.
    """
    try:
        stream = open(place, "ab", opener=partial(os.open, mode=_PRIVATE))  # noqa: SIM115
    except OSError as error:
        raise opening_error(place, error) from None
    try:
        message = f"another service keeps decisions in {place}; give this one a file of its own"
        lock(stream, refusal=OutputError(message, file=place))
    except OutputError:
        stream.close()
        raise
    return stream


def _prepare(connection: sqlite3.Connection, place: str) -> None:
    """Creates the tables of a new file, or converts those of an earlier version."""
    is_new = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    is_ours = is_new and connection.execute("PRAGMA application_id").fetchone()[0] == 0
    version = 0 if is_ours else check_version(connection, place, 1, rows.VERSION)
    connection.execute("PRAGMA journal_mode = WAL")
    # with WAL; otherwise a power failure loses the last decisions
    connection.execute("PRAGMA synchronous = FULL")
    if version < rows.VERSION:
        connection.execute("BEGIN IMMEDIATE")
        rows.convert_version_1(connection) if version else rows.create(connection)
        connection.execute("COMMIT")
    connection.execute("PRAGMA foreign_keys = ON")
    for suffix in ("", "-wal", "-shm"):
        with suppress(OSError):
            Path(place + suffix).chmod(_PRIVATE)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")

"""Upkeep of files of decisions: check every row, write what is intact into a new file, copy, and
export gold.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import msgspec

from fascicle.core.arguments import AnyPath
from fascicle.core.files.atomic import atomic_writer
from fascicle.errors import InputError, UsageError
from fascicle.formats.outputs import write
from fascicle.serving.curation import rows
from fascicle.serving.curation.decisions import NAMES, Decided, gold_document
from fascicle.serving.curation.rows import DamagedError
from fascicle.serving.curation.store import (
    check_version,
    connect_database,
    opening_error,
    read_kept,
)
from fascicle.serving.curation.table import write_decisions
from fascicle.serving.curation.versions import REVIEWED, decided_by, uncounted
from fascicle.settings.serving import Project, read_project


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """What is in a file of decisions.

    Attributes:
        documents: number of documents that are intact, with all steps about them.
        steps: about them.
        damages: what is not as it was written, one sentence each.
    """

    documents: int
    steps: int
    damages: tuple[str, ...] = ()


def verify(path: AnyPath) -> Verified:
    """Checks every row of a file of decisions; a service may have it open.

    Raises:
        InputError: it cannot be opened, or is another file.
    """
    with _reading(path) as connection:
        documents = steps = 0
        for place in rows.document_places(connection):
            with suppress(DamagedError):
                row = rows.document_at(connection, place)
                steps_of_document, damage = rows.document_steps(connection, row)
                documents += not damage and row.id != NAMES
                steps += 0 if damage else len(steps_of_document)
        return Verified(
            documents=documents, steps=steps, damages=tuple(rows.find_damages(connection))
        )


def repair(path: AnyPath, output: AnyPath, *, overwrite: bool = False) -> Verified:
    """Writes what is intact of a file of decisions into a new one; the file itself stays as it is.

    Of a document with a damaged or missing step, the steps before it are kept: what curators had
    decided until then.

    Args:
        path: of the file.
        output: the new file.
        overwrite: replace an existing file.

    Returns:
        What the new file has, and what was damaged in the old one.

    Raises:
        InputError: the file cannot be opened, or is another one.
        OutputError: the new file cannot be written.
    """
    with (
        _reading(path) as connection,
        closing(sqlite3.connect(":memory:", isolation_level=None)) as new,
    ):
        damages = tuple(rows.find_damages(connection))
        rows.create(new)
        documents = steps = 0
        for place in rows.document_places(connection):
            with suppress(DamagedError):
                row = rows.document_at(connection, place)
                copy = rows.append_document(new, row)
                documents += row.id != NAMES
                for step in rows.document_steps(connection, row)[0]:
                    rows.append_step(new, step._replace(document=copy.place))
                    steps += 1
        _write(new, output, overwrite=overwrite)
    return Verified(documents=documents, steps=steps, damages=damages)


def backup(path: AnyPath, output: AnyPath, *, overwrite: bool = False) -> Verified:
    """Copies a file of decisions, which a service may have open.

    Args:
        path: of the file.
        output: the copy.
        overwrite: replace an existing file.

    Returns:
        What the copy has.

    Raises:
        InputError: the file cannot be opened, is another one, or is damaged; then nothing is
            written.
        OutputError: the copy cannot be written.
    """
    with _reading(path) as connection:
        if damages := tuple(rows.find_damages(connection)):
            raise InputError(
                f"{path} is damaged ({damages[0]}); write what is intact with `fascicle curation "
                "repair`",
                file=str(path),
                code="damaged",
            )
        _write(connection, output, overwrite=overwrite)
    return verify(output)


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """What was exported of a file of decisions.

    Attributes:
        documents: number of documents that were written.
        mentions: of them, all gold; of a table of decisions, its rows.
        left: documents that nobody has finished, or on which curators do not agree; they were left
            out.
        undecided: mentions of those that were written without a decision, which are not gold.
        uncounted: who has versions in the file, but is no curator of the project, so that they do
            not count.
        damages: of the file; damaged documents were left out.
        losses: what the format cannot hold, one sentence each.
    """

    documents: int
    mentions: int
    left: int
    undecided: int
    uncounted: tuple[str, ...] = ()
    damages: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()


def export(
    path: AnyPath,
    output: AnyPath,
    *,
    project: AnyPath | None = None,
    version: str = REVIEWED,
    unfinished: bool = False,
    decisions: bool = False,
    overwrite: bool = False,
) -> Exported:
    """Writes the gold of a file of decisions, which a service may have open, in the format of a
    suffix.

    Args:
        path: of the file.
        output: the new file or folder, see `fascicle.write`.
        project: settings of the project; without them, all curators share their decisions.
        version: of a curator, instead of what is reviewed.
        unfinished: write documents too that are not finished.
        decisions: write a table of all mentions of all documents instead, decided or open.
        overwrite: replace an existing file.

    Raises:
        RecipeError: the project cannot be read.
        InputError: the file cannot be opened, or is another one.
        UsageError: no curator of the project has this name, or the file has versions, and no
            project is given.
        OutputError: the output cannot be written.
    """
    settings = _project_with(version, project)
    with _reading(path) as connection:
        if settings is None and rows.has_versions(connection):
            raise UsageError(f"{path} has versions of several curators; give project=FILE")
        damages = tuple(rows.find_damages(connection))
        strangers = uncounted(rows.version_names(connection), settings) if settings else ()
        decided = _read_decided(connection, settings, version)
    exported = [document for document in decided if document.finished or unfinished or decisions]
    write_all = _write_decisions if decisions else _write_gold
    mentions, losses = write_all(exported, os.fspath(output), overwrite=overwrite)
    return Exported(
        documents=len(exported),
        mentions=mentions,
        left=len(decided) - len(exported),
        undecided=0 if decisions else sum(len(document.undecided) for document in exported),
        uncounted=strangers,
        damages=damages,
        losses=losses,
    )


def _read_decided(
    connection: sqlite3.Connection, settings: Project | None, version: str
) -> list[Decided]:
    """Returns the documents of a version, without those that are damaged."""
    decided: list[Decided] = []
    for place in rows.text_places(connection):
        with suppress(DamagedError):
            decided += decided_by(read_kept(connection, place), settings, version)
    return decided


def _write_decisions(
    decided: Sequence[Decided], path: str, *, overwrite: bool
) -> tuple[int, tuple[str, ...]]:
    """Writes a table of all mentions; returns their number, and what the format cannot hold."""
    return write_decisions(decided, path, overwrite=overwrite)[1], ()


def _write_gold(
    decided: Sequence[Decided], path: str, *, overwrite: bool
) -> tuple[int, tuple[str, ...]]:
    """Writes the gold, with the same result."""
    gold = [gold_document(document) for document in decided]
    report = write(path, gold, overwrite=overwrite)
    return sum(len(document.mentions) for document in gold), tuple(report.lines())


def _project_with(version: str, path: AnyPath | None) -> Project | None:
    """Reads the project, if any, which must have a version."""
    project = None if path is None else read_project(path)
    curators = project.curators if project else ()
    if version not in (REVIEWED, *curators):
        others = ", ".join(curators) or "none without one"
        raise UsageError(f"{version!r} is not a curator of a project; there are {others}")
    return project


@contextmanager
def _reading(path: AnyPath) -> Iterator[sqlite3.Connection]:
    """Opens a file for reading, as it is at this moment."""
    place = Path(path).expanduser()
    if not place.is_file():
        raise InputError(
            f"there is no file {place}; name a file of decisions", file=str(place), code="not-found"
        )
    with closing(connect_database(str(place))) as connection:
        try:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")
            check_version(connection, str(place), rows.VERSION)
        except sqlite3.Error as error:
            raise opening_error(str(place), error) from None
        yield connection


def _write(connection: sqlite3.Connection, output: AnyPath, *, overwrite: bool) -> None:
    with atomic_writer(output, overwrite=overwrite) as stream:
        with suppress(OSError, AttributeError):  # before the content is there
            os.fchmod(stream.fileno(), 0o600)
        stream.write(connection.serialize())

"""Plan of a run: shards of documents, which are the unit of work and of commit; and what later
files replaced.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.files.remote import fetch_to_local, is_url, url_state
from fascicle.core.files.source import STDIN, Source, stem
from fascicle.errors import InputError, UsageError
from fascicle.formats.files import IdSet, citation_version
from fascicle.formats.report import FailedDocuments, ReadReport
from fascicle.formats.requests import Input, ReadRequest, read_inputs
from fascicle.formats.sources import input_state
from fascicle.pipeline.running.folder import HISTORY, UNREAD, RunFolder
from fascicle.pipeline.running.records import (
    READ,
    VERSIONS,
    DocumentState,
    Entry,
    InputRange,
    Quarantined,
    RunManifest,
    Shard,
)
from fascicle.settings.pipeline import Shards


def replaced_documents(
    history: Callable[[], Iterable[Entry]],
    *,
    reasons: Counter[str] | None = None,
    inputs: Sequence[str] = (),
) -> dict[str, tuple[int, ...]]:
    """Returns the documents that are not in their latest version, or were withdrawn.

    A later input replaces the documents that it has again, and withdraws others; of several
    versions in one input the highest counts, and of equal ones the last, as in
    `fascicle.formats.files.latest`. Memory holds the hashes of all ids, and the ids of documents
    that occur again or are withdrawn.

    Args:
        history: gives all entries, in the order of the inputs; it is called twice.
        reasons: counts the documents by reason, see `RunManifest`.
        inputs: paths of all inputs.

    Returns:
        Shard -> places of documents, in order.
    """
    identifiers, counts = IdSet(), Counter[str]() if reasons is None else reasons
    again = {identifier for entry in history() for identifier in _current_ids(entry, identifiers)}
    now: dict[str, DocumentState] = {}
    places: defaultdict[str, list[int]] = defaultdict(list)
    for entry in history():
        for reason, state in _left_out(entry, now, again, inputs):
            counts[reason] += 1
            places[state.shard].append(state.place)
    return {shard: tuple(sorted(places)) for shard, places in places.items()}


def _left_out(
    entry: Entry, now: dict[str, DocumentState], again: set[str], inputs: Sequence[str]
) -> Iterator[tuple[str, DocumentState]]:
    """Brings the latest states up to date; yields the documents that no longer count, and why."""
    for identifier in entry.withdrawn:
        if identifier in now:
            yield "withdrawn", now.pop(identifier)
    for identifier, state in entry.documents():
        if identifier not in again:
            continue
        old = now.get(identifier)
        is_latest = old is None or state[:2] >= old[:2]
        if is_latest:
            now[identifier] = state
        if old is not None:
            yield _reason(identifier, old, state, inputs), old if is_latest else state


def _reason(
    identifier: str, old: DocumentState, state: DocumentState, inputs: Sequence[str]
) -> str:
    if old[:2] == state[:2]:
        return "repeated"
    name, _, number = identifier.rpartition(":")
    is_row = number.isdecimal() and bool(inputs) and name == stem(inputs[state.input])
    return "numbered" if is_row else "replaced"


def _current_ids(entry: Entry, earlier: IdSet) -> Iterator[str]:
    """Yields ids of an entry that earlier entries have, or that are withdrawn."""
    return chain(
        (identifier for identifier in entry.ids if not earlier.add(identifier)), entry.withdrawn
    )


_LEAST: Final = 25  # documents in each of the first shards, ...
_LEAST_TEXT: Final = 1 << 15  # ... with so many characters, for a shard has costs of its own ...
# ... and of later ones this part of all before them: so the last ones are short for the run
_SHARE: Final = 64
_LINE: Final = 1 << 24  # bytes that are kept of a line that could not be read


class _Unread(NamedTuple):
    """Document or input that could not be read.

    Attributes:
        error: the error that was raised.
        raw: the line that it names, if it is one of a file of lines.
    """

    error: InputError
    raw: bytes | None


@dataclass(kw_only=True)
class _Aside(FailedDocuments):
    """Collects every reading error for the quarantine; errors about a local copy name the URL of
    its file.
    """

    keep_going: bool = True
    all: list[_Unread] = field(default_factory=list)
    copies: dict[str, str] = field(default_factory=dict)

    def add(self, error: InputError) -> None:
        """Adds the error."""
        self.count += 1
        raw, message = _line_of(error), str(error)
        for near, url in self.copies.items():
            message = message.replace(near, url)
        problem = error.saying(message)
        problem.file = self.copies.get(error.file, error.file)
        self.all.append(_Unread(problem, raw))


def plan(
    inputs: Sequence[str],
    reading: ReadRequest,
    shards: Shards,
    *,
    begun: tuple[int, int] = (0, 0),
    are_unique: bool = True,
    note: Callable[[Entry], None] = lambda entry: None,
) -> tuple[list[Shard], list[_Unread]]:
    """Reads all inputs once, and splits them into shards.

    Args:
        inputs: paths and URLs.
        reading: how they are read.
        shards: how much is in a shard.
        begun: how many inputs and shards the run has already.
        are_unique: whether ids are made unique, by other ids for documents whose id was there
            before.
        note: function that is called with the documents that have been planned.

    Returns:
        The shards, and what could not be read.

    Raises:
        InputError: a URL that cannot be reached.
    """
    building, aside = _Building(shards, begun, note), _Aside()
    report = ReadReport(aside=aside)

    def near() -> Iterator[Input]:
        for document in _near(inputs, aside.copies):
            yield document
            # for it was read to its end
            building.end_input(tuple(chain.from_iterable(report.deleted.values())))
            report.deleted.clear()

    planned = []
    for name, document in read_inputs(near(), reading, report=report, are_unique=are_unique):
        if building.is_full(document):
            planned.append(building.end())
        building.add(aside.copies.get(name, name), document)
    if building.count:
        planned.append(building.end())
    return planned, aside.all


def _near(inputs: Sequence[str], copies: dict[str, str]) -> Iterator[Input]:
    """Yields the inputs, with a local copy for each URL while it is read."""
    for path in inputs:
        with fetch_to_local(path) as near:
            copies.clear()
            if near != path:
                copies[near] = path
            yield Input(name=near)


def _line_of(error: InputError) -> bytes | None:
    """Returns the bytes of the line that an error names, if it is one of a file of lines."""
    if not error.file or not error.line or not Path(error.file).is_file():
        return None
    with Source(path=error.file).open() as stream:
        lines: Iterator[Any] = islice(stream, error.line - 1, error.line)
        return next((line.rstrip(b"\r\n")[:_LINE] for line in lines), None)


class _Building:
    """Shard that is being planned."""

    def __init__(
        self, settings: Shards, begun: tuple[int, int], note: Callable[[Entry], None]
    ) -> None:
        self._settings, self._note = settings, note
        self._input, self._number = begun
        self._seen: dict[str, int] = {}
        self._before = 0  # documents of the shards that are planned
        self._ids: list[str] = []  # of the documents of this input in this shard
        self._versions: dict[int, int] = {}
        self._begin()

    def _begin(self) -> None:
        self.count, self._characters = 0, 0
        self._pieces: list[InputRange] = []
        self._renamed: dict[str, str] = {}
        self._hash = hashlib.sha256()

    def is_full(self, document: Document) -> bool:
        is_enough = self.count >= max(_LEAST, self._before // _SHARE)
        return bool(self.count) and (
            self._characters + len(document.text) > self._settings.characters
            or self.count >= self._settings.documents
            or (is_enough and self._characters >= _LEAST_TEXT)
        )

    def add(self, name: str, document: Document) -> None:
        at = self._seen.get(name, 0)
        self._seen[name] = at + 1
        if self._pieces and self._pieces[-1].input == name:
            last = self._pieces[-1]
            self._pieces[-1] = replace(last, count=last.count + 1)
        else:
            self._pieces.append(InputRange(input=name, first=at, count=1))
        if any(event.code == "duplicate-id" for event in document.events):
            self._renamed[str(self.count)] = document.id
        self._hash.update(codec.encode(document))
        if (version := citation_version(document)) != 1:
            self._versions[len(self._ids)] = version
        self._ids.append(document.id)
        self.count += 1
        self._characters += len(document.text)

    def end_input(self, withdrawn: tuple[str, ...]) -> None:
        self._note_ids()
        if withdrawn:
            self._note(Entry(input=self._input, withdrawn=withdrawn))
        self._input += 1

    def _note_ids(self) -> None:
        if self._ids:
            first = self.count - len(self._ids)
            ids = tuple(self._ids)
            self._note(
                Entry(
                    input=self._input,
                    shard=self._name,
                    first=first,
                    ids=ids,
                    versions=self._versions,
                )
            )
        self._ids, self._versions = [], {}

    @property
    def _name(self) -> str:
        return f"{self._number:05d}"

    def end(self) -> Shard:
        self._note_ids()
        shard = Shard(
            name=self._name,
            pieces=tuple(self._pieces),
            characters=self._characters,
            sha256=self._hash.hexdigest(),
            renamed=self._renamed,
        )
        self._number += 1
        self._before += self.count
        self._begin()
        return shard


def states_of_inputs(paths: Sequence[str]) -> list[str]:
    """Returns a line for each input with its name, size and time, to detect whether an input has
    changed.

    Raises:
        InputError: standard input, which cannot be read again.
    """
    if STDIN in paths:
        raise InputError(
            "a run reads its inputs more than once, and standard input can be read once; give a "
            "file"
        )
    return [f"{path} {url_state(path) if is_url(path) else input_state(path)}\n" for path in paths]


def extend_manifest(
    folder: RunFolder,
    manifest: RunManifest,
    inputs: Sequence[str],
    settings: Shards,
    *,
    latest: bool,
) -> RunManifest:
    """Plans the inputs that a manifest does not have yet.

    The folder gets the history of the new documents, and those that could not be read. Neither is
    valid before the new manifest is written.

    Args:
        folder: of the run.
        manifest: with the inputs that the run has already; without shards if it has none.
        inputs: all, those of the manifest first.
        settings: how much is in a shard.
        latest: whether a document of a later input takes the place of one with its id, see
            `fascicle.pipeline.running.plan.replaced_documents`; else it gets an id of its own.

    Raises:
        InputError: the run has no document.
        UsageError: documents of the run have other ids than in their files, so that nothing can
            take their place.
    """
    if latest and any(shard.renamed for shard in manifest.shards):
        raise UsageError(
            f"{folder.name} is of a run with duplicate ids, which got other ids; an update cannot "
            "know which of them is meant, so start again with update=True in another folder"
        )
    shards, unread = _plan_new(folder, manifest, inputs[manifest.inputs :], settings, latest=latest)
    if unread:
        before = islice(folder.quarantine(UNREAD), manifest.unread) if manifest.unread else ()
        folder.write_quarantine(UNREAD, [*before, *map(_record, unread)])
    plans = manifest.plans + 1
    reasons = Counter[str]()
    left_out = (
        replaced_documents(lambda: folder.history(plans), reasons=reasons, inputs=inputs)
        if latest
        else {}
    )
    return replace(
        manifest,
        unread=manifest.unread + len(unread),
        shards=tuple(
            replace(shard, left_out=left_out.get(shard.name, ()))
            for shard in (*manifest.shards, *shards)
        ),
        inputs=len(inputs),
        plans=plans,
        left_out=dict(sorted((+reasons).items())),
    )


def _plan_new(
    folder: RunFolder,
    manifest: RunManifest,
    inputs: Sequence[str],
    settings: Shards,
    *,
    latest: bool,
) -> tuple[list[Shard], list[_Unread]]:
    """Plans new inputs, and writes the history of their documents."""
    with folder.place.written(HISTORY.format(manifest.plans)) as stream:
        shards, unread = plan(
            inputs,
            msgspec.convert(manifest.reading, ReadRequest),
            settings,
            begun=(manifest.inputs, len(manifest.shards)),
            are_unique=not latest,
            note=lambda entry: stream.writelines((msgspec.json.encode(entry), b"\n")),
        )
        if not shards and not manifest.shards:
            reason = str(unread[0].error) if unread else "the inputs hold no document"
            raise InputError(f"{reason}; no document can be read, so there is nothing to run")
    return shards, unread


def _record(unread: _Unread) -> Quarantined:
    error, content = unread
    place = error.line or 0
    name = f"{error.file}:{place}" if place else error.file or str(error)[:100]
    return Quarantined(
        id=name,
        sha256=hashlib.sha256(content or b"").hexdigest(),
        input=error.file,
        place=place,
        shard="",
        step=READ,
        error=type(error).__name__,
        message=str(error),
        versions=dict(VERSIONS),
        attempt=1,
        seconds=0.0,
        memory=0,
        raw=content,
    )

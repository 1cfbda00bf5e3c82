"""Plan of a run: shards of documents, which are the unit of work and of commit; and what later files replaced."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.files.remote import fetched, is_url, state_of_url
from fascicle.core.files.source import STDIN, Source
from fascicle.errors import InputError
from fascicle.formats.files import Seen, named_again, version_of
from fascicle.formats.report import FailedDocuments, ReadReport
from fascicle.formats.requests import Input, ReadRequest, read_file, read_inputs
from fascicle.formats.sources import state_of
from fascicle.settings.pipeline import Shards


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Consecutive documents of one input in one shard, or the ids that the input withdraws.

    Attributes:
        input: its number among all inputs of the run.
        shard: name.
        first: place in the shard of the first document.
        ids: of the documents.
        versions: place among them -> version of a document, where it is not 1.
        withdrawn: ids of documents that the input withdraws, after all its documents.
    """

    input: int
    shard: str = ""
    first: int = 0
    ids: tuple[str, ...] = ()
    versions: dict[int, int] = msgspec.field(default_factory=dict)
    withdrawn: tuple[str, ...] = ()

    def documents(self) -> Iterator[tuple[str, _State]]:
        """Yields each document id with the place of the document."""
        for at, identifier in enumerate(self.ids):
            yield identifier, _State(self.input, self.versions.get(at, 1), self.shard, self.first + at)


class _State(NamedTuple):
    """One version of a document, and its place."""

    input: int
    version: int
    shard: str
    place: int


def replaced(history: Callable[[], Iterable[Entry]]) -> dict[str, tuple[int, ...]]:
    """Returns the documents that are not in their latest version, or were withdrawn.

    A later input replaces the documents that it has again, and withdraws others; of several versions in one input the
    highest counts, and of equal ones the last, as in `fascicle.formats.updates.latest`. Memory holds the hashes of all
    ids, and the ids of documents that occur again or are withdrawn.

    Args:
        history: gives all entries, in the order of the inputs; it is called twice.

    Returns:
        Shard -> places of documents, in order.
    """
    seen = Seen()
    again = {identifier for entry in history() for identifier in _known(entry, seen)}
    now: dict[str, _State] = {}
    found: defaultdict[str, list[int]] = defaultdict(list)
    for entry in history():
        gone = [now.pop(identifier) for identifier in entry.withdrawn if identifier in now]
        for identifier, state in entry.documents():
            if identifier not in again:
                continue
            old = now.get(identifier)
            if old is not None and state[:2] < old[:2]:
                gone.append(state)
                continue
            now[identifier] = state
            gone += [] if old is None else [old]
        for state in gone:
            found[state.shard].append(state.place)
    return {shard: tuple(sorted(places)) for shard, places in found.items()}


def _known(entry: Entry, seen: Seen) -> Iterator[str]:
    """Yields ids of an entry that earlier entries have, or that are withdrawn."""
    return chain((one for one in entry.ids if not seen.add(one)), entry.withdrawn)


T = TypeVar("T")
_LEAST: Final = 25  # documents in each of the first shards, ...
_SHARE: Final = 64  # ... and of later ones this part of all before them: so the last ones are short for the run
_LINE: Final = 1 << 24  # bytes that are kept of a line that could not be read


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """Consecutive documents of one input.

    Attributes:
        input: path.
        first: number of its first document, from 0, of those that can be read.
        count: of documents.
    """

    input: str
    first: int
    count: int


class Shard(msgspec.Struct, frozen=True, kw_only=True):
    """Documents that are committed together.

    Attributes:
        name: ``"00000"`` and so on, by its place in the run.
        pieces: where its documents are.
        characters: of text.
        sha256: of all its documents, as `fascicle.core.codec` writes them.
        renamed: place in the shard -> id of a document whose own id was there before.
        left_out: places of documents that a later input replaced or withdrew, in order.
    """

    name: str
    pieces: tuple[Piece, ...]
    characters: int
    sha256: str
    renamed: dict[str, str] = msgspec.field(default_factory=dict)
    left_out: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """Number of documents, without those that are left out."""
        return sum(piece.count for piece in self.pieces) - len(self.left_out)

    def kept(self, of_all: Sequence[T]) -> list[T]:
        """Returns the items without those of documents that are left out.

        Args:
            of_all: something of each document.
        """
        left_out = frozenset(self.left_out)
        return [one for at, one in enumerate(of_all) if at not in left_out]

    @property
    def inputs(self) -> list[str]:
        """Input of each document that is not left out."""
        return self.kept([piece.input for piece in self.pieces for _ in range(piece.count)])


class Unread(NamedTuple):
    """Document or input that could not be read.

    Attributes:
        error: that was raised.
        raw: the line that it names, if it is one of a file of lines.
    """

    error: InputError
    raw: bytes | None


@dataclass(kw_only=True)
class _Aside(FailedDocuments):
    """Collects every reading error for the quarantine; errors about a local copy name the URL of its file."""

    keep_going: bool = True
    all: list[Unread] = field(default_factory=list)
    copies: dict[str, str] = field(default_factory=dict)

    def add(self, error: InputError) -> None:
        """Adds the error."""
        self.count += 1
        raw, said = _line_of(error), str(error)
        for near, url in self.copies.items():
            said = said.replace(near, url)
        kept = error.saying(said)
        kept.file = self.copies.get(error.file, error.file)
        self.all.append(Unread(kept, raw))


def plan(
    inputs: Sequence[str],
    reading: ReadRequest,
    shards: Shards,
    *,
    begun: tuple[int, int] = (0, 0),
    are_unique: bool = True,
    note: Callable[[Entry], None] = lambda entry: None,
) -> tuple[list[Shard], list[Unread]]:
    """Reads all inputs once, and splits them into shards.

    Args:
        inputs: paths and URLs.
        reading: how they are read.
        shards: how much is in a shard.
        begun: how many inputs and shards the run has already.
        are_unique: whether ids are made unique, by other ids for documents whose id was there before.
        note: is called with the documents that have been planned.

    Returns:
        The shards, and what could not be read.

    Raises:
        InputError: a URL that cannot be reached.
    """
    building, aside = _Building(shards, begun, note), _Aside()
    report = ReadReport(aside=aside)

    def near() -> Iterator[Input]:
        for given in _near(inputs, aside.copies):
            yield given
            building.end_input(tuple(chain.from_iterable(report.deleted.values())))  # for it was read to its end
            report.deleted.clear()

    found = []
    for name, document in read_inputs(near(), reading, report=report, are_unique=are_unique):
        if building.is_full(document):
            found.append(building.end())
        building.add(aside.copies.get(name, name), document)
    if building.count:
        found.append(building.end())
    return found, aside.all


def _near(inputs: Sequence[str], copies: dict[str, str]) -> Iterator[Input]:
    """Yields the inputs, with a local copy for each URL while it is read."""
    for path in inputs:
        with fetched(path) as near:
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

    def __init__(self, settings: Shards, begun: tuple[int, int], note: Callable[[Entry], None]) -> None:
        self._settings, self._note = settings, note
        self._input, self._number = begun
        self._seen: dict[str, int] = {}
        self._before = 0  # documents of the shards that are planned
        self._ids: list[str] = []  # of the documents of this input in this shard
        self._versions: dict[int, int] = {}
        self._begin()

    def _begin(self) -> None:
        self.count, self._characters = 0, 0
        self._pieces: list[Piece] = []
        self._renamed: dict[str, str] = {}
        self._hash = hashlib.sha256()

    def is_full(self, document: Document) -> bool:
        characters = self._characters + len(document.text)
        most = min(self._settings.documents, max(_LEAST, self._before // _SHARE))
        return bool(self.count) and (characters > self._settings.characters or self.count >= most)

    def add(self, name: str, document: Document) -> None:
        at = self._seen.get(name, 0)
        self._seen[name] = at + 1
        if self._pieces and self._pieces[-1].input == name:
            last = self._pieces[-1]
            self._pieces[-1] = msgspec.structs.replace(last, count=last.count + 1)
        else:
            self._pieces.append(Piece(input=name, first=at, count=1))
        if any(event.code == "duplicate-id" for event in document.events):
            self._renamed[str(self.count)] = document.id
        self._hash.update(codec.encode(document))
        if (version := version_of(document)) != 1:
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
            self._note(Entry(input=self._input, shard=self._name, first=first, ids=ids, versions=self._versions))
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


class ShardReader:
    """Reads the documents of shards; consecutive shards of one input are read in one pass."""

    def __init__(self, reading: ReadRequest) -> None:
        """Takes how inputs are read; opens nothing yet."""
        self._reading = reading
        self._input, self._at = "", 0
        self._documents: Iterator[Document] = iter(())
        self._error: Exception | None = None

    def read(self, shard: Shard) -> list[Document]:
        """Returns the documents of a shard.

        Raises:
            InputError: they are not those that the run was planned with.
        """
        documents = [document for piece in shard.pieces for document in self._piece(piece)]
        for place, identifier in shard.renamed.items():
            at = int(place)
            if at < len(documents) and documents[at].id != identifier:
                documents[at] = _named(documents[at], identifier)
        if sha256_of(documents) != shard.sha256:
            names = ", ".join(sorted({piece.input for piece in shard.pieces})[:3])
            why = f" ({self._error})" if self._error else ""
            raise InputError(
                f"the documents of shard {shard.name} ({names}) have changed since the run began{why}; put them back, "
                "or start again in another folder"
            )
        return shard.kept(documents)

    def _piece(self, piece: Piece) -> list[Document]:
        if self._input != piece.input or self._at > piece.first:
            self._input, self._at = piece.input, 0
            self._documents = self._readable(piece.input)
        for _ in islice(self._documents, piece.first - self._at):
            pass
        found = list(islice(self._documents, piece.count))
        self._at = piece.first + len(found)
        return found

    def _readable(self, path: str) -> Iterator[Document]:
        self._error = None
        with fetched(path) as near:
            try:
                report = ReadReport(aside=FailedDocuments(keep_going=True))
                yield from read_file(near, self._reading, report=report, are_unique=False)  # the plan has seen all ids
            except (InputError, OSError) as error:
                self._error = error  # the plan has recorded it, and the hash shows whether it is the same


def _named(document: Document, identifier: str) -> Document:
    """Returns a document under its planned id, which is unique in its file and among all files."""
    for mark in identifier.removeprefix(document.id).split("#")[1:]:
        document = named_again(document, f"{document.id}#{mark}")
    return document


def sha256_of(documents: Iterable[Document]) -> str:
    """Returns the SHA-256 of documents, one after the other."""
    digest = hashlib.sha256()
    for document in documents:
        digest.update(codec.encode(document))
    return digest.hexdigest()


def states_of_inputs(paths: Sequence[str]) -> list[str]:
    """Returns a line for each input with its name, size and time, to detect whether an input has changed.

    Raises:
        InputError: standard input, which cannot be read again.
    """
    if STDIN in paths:
        raise InputError("a run reads its inputs more than once, and standard input can be read once; give a file")
    return [f"{path} {state_of_url(path) if is_url(path) else state_of(path)}\n" for path in paths]

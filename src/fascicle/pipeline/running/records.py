"""Records of a run beside its documents: manifest with its shards, history, markers, quarantine."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.files.tree import is_unicode
from fascicle.errors import UsageError
from fascicle.settings.choices import Choices
from fascicle.version import VERSION

SCHEMA: Final = 2
READ: Final = "read"  # name of the step for documents that cannot be read
WRITE: Final = "write"
NOTHING: Final = msgspec.Raw(b"null")
HASH_BYTES: Final = 8  # of the hash of a concept
T = TypeVar("T")


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

    def documents(self) -> Iterator[tuple[str, DocumentState]]:
        """Yields each document id with the place of the document."""
        for at, identifier in enumerate(self.ids):
            yield (
                identifier,
                DocumentState(self.input, self.versions.get(at, 1), self.shard, self.first + at),
            )


class DocumentState(NamedTuple):
    """One version of a document, and its place."""

    input: int
    version: int
    shard: str
    place: int


class InputRange(msgspec.Struct, frozen=True, kw_only=True):
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
    pieces: tuple[InputRange, ...]
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
        return [entry for at, entry in enumerate(of_all) if at not in left_out]

    @property
    def inputs(self) -> list[str]:
        """Input of each document that is not left out."""
        return self.kept([piece.input for piece in self.pieces for _ in range(piece.count)])


class RunManifest(msgspec.Struct, frozen=True, kw_only=True):
    """Manifest of a run: pipeline, options, inputs and shards; only an update changes it.

    Attributes:
        fascicle_run: version of the form of the folder.
        pipeline: file or folder of the pipeline, or a model.
        choices: about the mentions of a model.
        made_by: what decides the bytes of the parts, by name.
        reading: how inputs are read, as of `fascicle.formats.requests.ReadRequest`.
        format: of the parts.
        columns: of the parts, if they are tables, as of `fascicle.formats.tables.TableOptions`;
            ``None`` if they are none.
        suffix: of the names of the parts.
        unread: how many documents or inputs could not be read.
        shards: in order.
        inputs: how many there are.
        plans: how often inputs were planned: once, and once for each update.
        left_out: documents that do not count, by reason: ``"replaced"``, ``"withdrawn"``,
            ``"repeated"`` (their id was in one input twice) or ``"numbered"`` (replaced, and the id
            is a row number).
    """

    fascicle_run: int = SCHEMA
    pipeline: str
    choices: Choices = Choices()
    made_by: dict[str, str]
    reading: dict[str, Any]
    format: str
    columns: dict[str, Any] | None = None
    suffix: str
    unread: int
    shards: tuple[Shard, ...]
    inputs: int = 0
    plans: int = 0
    left_out: dict[str, int] = {}

    @property
    def documents(self) -> int:
        """Number of documents of the input, with those that could not be read."""
        return self.unread + sum(shard.count for shard in self.shards)


class MarkerFile(msgspec.Struct, frozen=True, kw_only=True):
    """Name, size and hash of a file in a marker.

    Attributes:
        name: in the folder of the run.
        size: in bytes.
        sha256: of its bytes.
    """

    name: str
    size: int
    sha256: str


class ShardMarker(msgspec.Struct, frozen=True, kw_only=True):
    """Marker of a finished shard.

    Attributes:
        shard: its name.
        documents: number of documents.
        done: number of documents in its part.
        quarantined: the others.
        characters: of text of those that are done.
        part: the file with them.
        quarantine: the file with the others, if there are any.
        mentions: ``source/type`` -> number.
        names: the most frequent words of mentions, ``words/type`` -> number.
        links: the most frequent links, identifier and name -> number.
        concepts: type -> the distinct concepts of its mentions, as of `hash_concepts`.
        origins: of the links: packs, and the dates of their vocabularies.
        losses: what the format of the part does not hold, by code -> number.
        events: of the finished documents, as of `fascicle.formats.account.EventCounts.state`.
        slowest: ids of documents, with the seconds of each.
        seconds: of the work.
        steps: of the seconds, those of each step, for the documents that are done.
        attempt: number of the successful attempt, from 1.
        left_out: as of the shard when it was done.
        made_by: as of the manifest; of a retry that of its own pipeline.
    """

    shard: str
    documents: int
    done: int
    quarantined: int
    characters: int
    part: MarkerFile
    quarantine: MarkerFile | None
    mentions: dict[str, int]
    names: dict[str, int]
    links: dict[str, int]
    concepts: dict[str, bytes] = msgspec.field(default_factory=dict)
    origins: tuple[str, ...] = ()
    losses: dict[str, int]
    events: tuple[tuple[str, str, int, str], ...] = ()
    slowest: tuple[tuple[str, float], ...]
    seconds: float
    steps: dict[str, float] = msgspec.field(default_factory=dict)
    attempt: int
    left_out: tuple[int, ...] = ()
    made_by: dict[str, str] = msgspec.field(default_factory=dict)


class Quarantined(msgspec.Struct, frozen=True, kw_only=True):
    """Document that was not processed.

    Attributes:
        id: of the document; of what could not be read, the place in its file.
        sha256: of the document as it is below.
        input: the file.
        place: number of the document in its shard; for what could not be read the line, or 0.
        shard: its name; empty for what could not be read.
        step: at which it failed.
        error: class of the error, or ``killed:SIGSEGV``, ``killed:time``, ``killed:memory``,
            ``exit:3``.
        message: of the error.
        versions: of Fascicle and Python.
        attempt: how often it was tried.
        seconds: the seconds that the step took for it.
        memory: MiB that the worker held at most, at that time.
        document: as it came, as `fascicle.core.codec` writes it; ``null`` of what could not be
            read.
        raw: of what could not be read: its line, where there is one.
    """

    id: str
    sha256: str
    input: str
    place: int
    shard: str
    step: str
    error: str
    message: str
    versions: dict[str, str]
    attempt: int
    seconds: float
    memory: int
    document: msgspec.Raw = NOTHING
    raw: bytes | None = None

    def restored(self) -> Document | None:
        """Returns the document as it was read; ``None`` if it could not be read."""
        return None if self.document == NOTHING else codec.decode(bytes(self.document))


VERSIONS: Final = {"fascicle": VERSION, "python": platform.python_version()}


def most_common_names(counts: Mapping[str, int], limit: int) -> dict[str, int]:
    """Returns the most frequent names, the first of the alphabet first among equals."""
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:limit])


def check_path(path: str) -> None:
    """Raises an error for a path that JSON cannot hold.

    Raises:
        UsageError: it is not Unicode.
    """
    if not is_unicode(path):
        raise UsageError(f"the name {path!r} is not Unicode, so a run cannot note it; rename it")


def hash_concepts(identifiers: Iterable[str]) -> bytes:
    """Returns a set of concepts as hashes of 8 bytes each, concatenated in order.

    Args:
        identifiers: of concepts; one that occurs twice counts once.
    """
    hashes = {
        hashlib.blake2b(identifier.encode(), digest_size=HASH_BYTES).digest()
        for identifier in identifiers
    }
    return b"".join(sorted(hashes))


def documents_sha256(documents: Iterable[Document]) -> str:
    """Returns the SHA-256 of documents, one after the other."""
    digest = hashlib.sha256()
    for document in documents:
        digest.update(codec.encode(document))
    return digest.hexdigest()

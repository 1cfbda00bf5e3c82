"""Reports of reading and writing: facts that are not part of the documents themselves.

A fact about one document is an `Event` of that document. Facts about a whole file (its tag scheme,
its number of documents) go into a report, which the caller may pass in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol

from fascicle.core.document import Document, Event, Mention
from fascicle.core.effects import make_event
from fascicle.core.files.encodings import BY_MARK
from fascicle.core.files.source import Meter
from fascicle.core.tags import TagCensus
from fascicle.core.wording import plural, shorten
from fascicle.errors import InputError

STEP: Final = "reading"
_REMEMBERED: Final = 100  # sentences; the count goes on


@dataclass(kw_only=True)
class FailedDocuments:
    """Documents that could not be read or written, while the run continued with the others.

    Attributes:
        keep_going: whether an error sets its document aside; by default it is raised.
        tell: function that is called with the message of each error.
        count: number of documents that were set aside.
        errors: the first errors; each names the file and the line, or the document.
    """

    keep_going: bool = False
    tell: Callable[[str], None] | None = None
    count: int = 0
    errors: list[InputError] = field(default_factory=list)

    @property
    def sentences(self) -> list[str]:
        """Messages of the first errors."""
        return list(map(str, self.errors))

    @contextmanager
    def one(self) -> Iterator[None]:
        """Returns a context for the work on one document; an `InputError` in it sets the document
        aside.

        Raises:
            InputError: the document is bad, and ``keep_going`` is off.
        """
        try:
            yield
        except InputError as error:
            self.add(error)

    def add(self, error: InputError) -> None:
        """Counts one document as set aside, or raises its error if the run must stop at errors.

        Args:
            error: why.

        Raises:
            InputError: the error itself, if ``keep_going`` is off.
        """
        if not self.keep_going:
            raise error
        self.count += 1
        if len(self.errors) < _REMEMBERED:
            # Without the traceback, which would keep the read data in memory.
            self.errors.append(error.saying(str(error)))
        if self.tell is not None:
            self.tell(str(error))


@dataclass(kw_only=True)
class ReadReport:
    """Facts about one reading; complete when all documents have been consumed.

    Attributes:
        formats: file -> name of its format, as given or as detected.
        shapes: file -> shape of its JSON records (`fascicle.formats.records.SHAPES`).
        encodings: file -> its encoding, where that was found in the file and is not UTF-8.
        tags: file -> census of its tags; ``scheme`` and ``repairs`` are read from it.
        documents: number of documents yielded.
        mentions: number of their mentions.
        events: how often each ``(kind, code)`` occurred on them.
        first: ``(kind, code)`` -> message of the first one, and where it was.
        deleted: file -> ids of documents that it withdraws, as update files of PubMed do.
        tables_unread: folder of plain texts -> table of offsets beside it that was not read.
        offset_votes: file -> for each unit, by how many documents offsets fit it better than code
            points.
        aside: documents that could not be read.
        meter: how much of the files was read so far.
    """

    formats: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, str] = field(default_factory=dict)
    encodings: dict[str, str] = field(default_factory=dict)
    tags: dict[str, TagCensus] = field(default_factory=dict)
    documents: int = 0
    mentions: int = 0
    events: Counter[tuple[str, str]] = field(default_factory=Counter)
    first: dict[tuple[str, str], str] = field(default_factory=dict)
    deleted: dict[str, list[str]] = field(default_factory=dict)
    tables_unread: dict[str, str] = field(default_factory=dict)
    offset_votes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    aside: FailedDocuments = field(default_factory=FailedDocuments)
    meter: Meter = field(default_factory=Meter)
    _notes: list[Event] = field(default_factory=list)

    def tell_encoding(self, path: str, encoding: str, how: str) -> None:
        """Records the encoding that was detected in a file."""
        if path in self.encodings:
            return
        self.encodings[path] = encoding
        message = f"the file was read as {encoding}: {how}"
        code = "encoding-marked" if how == BY_MARK else "encoding-guessed"
        self._notes.append(Event(step=STEP, kind="note", code=code, message=message))

    def take_notes(self) -> tuple[Event, ...]:
        """Returns the notes about the file for its next document, and clears them."""
        notes, self._notes = tuple(self._notes), []
        return notes

    def observe(self, document: Document) -> None:
        """Counts one document before it is yielded."""
        self.documents += 1
        self.mentions += len(document.mentions)
        for event in document.events:
            key = (event.kind, event.code)
            self.events[key] += 1
            if key not in self.first:
                self.first[key] = f"{event.message}; first in {shorten(document.id)}"

    @property
    def repairs(self) -> int:
        """Number of invalid tag sequences that were repaired, over all files."""
        return sum(census.repairs for census in self.tags.values())

    def mended(self) -> Iterator[tuple[tuple[str, str], int, str]]:
        """Yields key, count and message of the tag sequences repaired in each file, for
        `EventCounts.count`.
        """
        for file, census in self.tags.items():
            if census.repairs:
                first = (
                    f"invalid sequences of {census.scheme} tags were mended; first in "
                    f"{shorten(file)}"
                )
                yield ("repair", "mended-tags"), census.repairs, first

    def lines(self) -> list[str]:
        """Returns the report as sentences for users: schemes and repairs per file, then the
        events.
        """
        return [
            *(f"{file}: records of the shape {shape}" for file, shape in self.shapes.items()),
            *(f"{file}: read as {encoding}" for file, encoding in self.encodings.items()),
            *(f"{file}: {_describe(census)}" for file, census in self.tags.items()),
            *(
                f"{file}: withdraws {plural(len(ids), 'document')}"
                for file, ids in self.deleted.items()
            ),
            *(table_unread(folder, table) for folder, table in self.tables_unread.items()),
            *(
                f"{kind} {code}: {count:,} ({self.first[kind, code]})"
                for (kind, code), count in sorted(self.events.items())
            ),
        ]


def list_counts(counts: Mapping[str, int]) -> str:
    """Returns what was counted and how often, sorted; what has no name or is 0 is left out."""
    return ", ".join(
        f"{what} {count:,}" for what, count in sorted(counts.items()) if what and count
    )


def unread_parts(counts: Mapping[str, int], *, step: str) -> Iterator[Event]:
    """Yields an event about parts that are not read, if there are any.

    Args:
        counts: number of each kind of parts, see `list_counts`.
        step: name of the reader.
    """
    if listing := list_counts(counts):
        message = f"these parts are not read: {listing}"
        yield make_event("parts-left-out", step=step, message=message)


def table_unread(folder: str, table: str) -> str:
    """Returns the message that a table of offsets beside texts was not read."""
    return (
        f"{folder}: read as plain text; {table} has offsets of mentions in these texts and was not "
        "read (the format offsets reads both)"
    )


def _describe(census: TagCensus) -> str:
    repairs = f", {census.repairs:,} invalid tag sequences mended" if census.repairs else ""
    return f"tag scheme {census.scheme}{repairs}"


class Named(Protocol):
    """Object with an id: a document, or a prediction about one."""

    @property
    def id(self) -> str:
        """Id of the object."""


def _scored(mention: Mention) -> str:
    return mention.type if mention.score is None else f"{mention.type} {mention.score:.2f}"


@dataclass(kw_only=True, repr=False)
class WriteReport:
    """Counts of what a writer wrote, and of what its format could not hold.

    Attributes:
        documents: number of documents written.
        mentions: number of mentions written.
        losses: code -> number of mentions (or other things) that the file does not hold.
        examples: code -> the first document with this loss.
        folders: names of the folders of extracted texts beside the file.
        aside: documents that the format cannot hold at all.
    """

    documents: int = 0
    mentions: int = 0
    losses: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    aside: FailedDocuments = field(default_factory=FailedDocuments)

    def __repr__(self) -> str:
        """Returns the numbers of documents, mentions and losses in one line."""
        losses = f", {plural(self.losses.total(), 'loss', 'losses')}" if self.losses else ""
        documents = plural(self.documents, "document")
        return f"<WriteReport: {documents}, {plural(self.mentions, 'mention')}{losses}>"

    def lose(
        self,
        code: str,
        document: Named,
        mention: Mention | None = None,
        *,
        count: int = 1,
        instead: Mention | None = None,
    ) -> None:
        """Counts a loss: something that the format cannot hold.

        Args:
            code: short stable name, e.g. ``"discontinuous"``.
            document: where it is.
            mention: the mention, if it is one.
            count: how often.
            instead: the mention that was written in its place, if there is one.
        """
        self.losses[code] += count
        if code in self.examples:
            return
        example = shorten(document.id)
        if mention is not None and mention.spans:
            example += f" at {', '.join(f'{start}-{end}' for start, end in mention.spans)}"
        if mention and instead:
            example += f": {_scored(mention)} gave way to {_scored(instead)}"
        self.examples[code] = example

    def add(self, other: WriteReport) -> None:
        """Adds the counts of another report, except for its documents set aside."""
        self.documents += other.documents
        self.mentions += other.mentions
        self.losses.update(other.losses)
        for code, where in other.examples.items():
            self.examples.setdefault(code, where)
        self.folders |= other.folders

    def lines(self) -> list[str]:
        """Returns the losses as sentences for users."""
        return [
            f"not written, {code}: {count:,} (first in {self.examples[code]})"
            for code, count in sorted(self.losses.items())
        ]

"""Reading of documents from files in any format of the table `fascicle.formats.catalogue.FORMATS`,
with unique ids.

In a series of files in time order, such as the baseline and update files of PubMed, each document
is read once: a later file replaces the documents that it has again, and withdraws others
(https://www.nlm.nih.gov/databases/download/pubmed_medline.html). Few ids are kept as text, many as
hashes in tables.
"""

from __future__ import annotations

import struct
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from fascicle.core.arguments import check_argument, check_optional
from fascicle.core.document import Document, Event
from fascicle.core.effects import make_event
from fascicle.core.files.encodings import AUTO
from fascicle.core.files.source import Source, stem
from fascicle.errors import InputError, UsageError
from fascicle.formats.catalogue import Format, format_named
from fascicle.formats.handlers import FormatReader, check_options
from fascicle.formats.inline import WITHOUT_MARKUP, documents_with_markup
from fascicle.formats.report import STEP, ReadReport
from fascicle.formats.sources import find_places, unread_tables

_MISFITS: Final = frozenset({"text-mismatch", "offset-outside"})
_FEW: Final = 2  # number of misfits that is ignored
ORIGINAL_ID: Final = "original-id"
_PathLike = str | Path
_VERSION: Final = "version"  # in the meta of a citation, unless it is the first
_AGAIN: Final = "duplicate-id"
_FEW_IDS: Final = 1 << 16  # ids that are stored as text
_TABLES: Final = 256  # they grow one after the other, so that no growth needs twice the memory
_FIRST: Final = 64  # places in a new table
_HALVES: Final = struct.Struct("<QQ")


def note_misfits(documents: Iterable[Document]) -> Iterator[Document]:
    """Streams the documents of one file; the last one gets an event if most mentions of the file do
    not fit the text.

    From the first misfit on, each document is yielded only when the next one has been read.

    Args:
        documents: of one file.
    """
    mentions = misfits = 0
    pending: Document | None = None
    for document in documents:
        if pending is not None:
            yield pending
        wrong = [event.code for event in document.events if event.code in _MISFITS]
        misfits += len(wrong)
        mentions += len(document.mentions) + wrong.count("offset-outside")
        pending = document if misfits else None
        if pending is None:
            yield document
    if pending is not None:
        yield pending.with_events(*_verdict(mentions, misfits))


def _verdict(mentions: int, misfits: int) -> Iterator[Event]:
    if misfits < _FEW or 2 * misfits <= mentions:
        return
    message = (
        f"{misfits:,} of {mentions:,} mentions of the file do not fit its texts; their offsets "
        "were counted in other texts, or in another unit"
    )
    yield make_event("most-offsets-wrong", step=STEP, message=message)


def read(
    paths: _PathLike | Sequence[_PathLike],
    *,
    format: str = "auto",  # noqa: A002 - the name of the option everywhere
    options: Any = None,
    encoding: str = AUTO,
    report: ReadReport | None = None,
) -> Iterator[Document]:
    """Streams the documents of one or several files; their ids are unique.

    A second document with an id becomes ``id#2`` and so on: the id of the source is kept in
    ``meta["original-id"]``, and an event with the code ``duplicate-id`` reports it. A file that is
    named twice is read twice, but by the commands once.

    Args:
        paths: files, gzip or not; ``"-"`` is standard input; a folder stands for its ``*.txt``
            files, but a folder, a zip, or a folder inside a zip (``corpus.zip/train``) of brat
            files is one corpus.
        format: a name of `FORMATS`, or ``"auto"``: told by content and suffix.
        options: of the class of the format's reader; defaults by default.
        encoding: of the files; ``"auto"`` is what a byte order mark says, else UTF-8, else
            Windows-1252 if the bytes of a file can hardly be anything else. The report names what
            is not UTF-8, and so does an event of the document at which it was found.
        report: collects what is known about whole files. One whose ``aside`` keeps going sets aside
            the documents that cannot be read, and the files; the others are given out.

    Returns:
        An iterator; wrong arguments are reported at once, wrong content while it runs.

    Raises:
        UsageError: an unknown format or encoding, or options of another format.
        InputError: a file that is not there, or a corpus file without documents.
        FormatError: content that breaks the rules of its format.
    """
    check_argument(format, str, name="format", means="a str")
    check_argument(encoding, str, name="encoding", means="a str")
    check_optional(report, ReadReport, name="report", means="a ReadReport")
    if format != "auto":
        format_named(format)
    from fascicle.formats.detection import format_to_read

    report = ReadReport() if report is None else report
    plan, names = [], [*_check_paths(paths)]
    places = find_places(names, format=format)
    report.tables_unread.update(unread_tables(places, format=format))
    files = [source for place in places for source in place.sources]
    for source in make_sources(files, encoding=encoding, report=report):
        with report.aside.one():
            plan.append((source, format_named(format_to_read(source.path, format))))
    return stream_sources(plan, options, report)


def make_sources(files: Sequence[str], *, encoding: str, report: ReadReport) -> list[Source]:
    """Makes sources from files, with the names from which document ids are made; see `read`."""
    return [
        Source(
            path=path,
            encoding=encoding,
            name=name,
            told=partial(report.tell_encoding, path),
            meter=report.meter,
        )
        for path, name in zip(files, _names(files), strict=True)
    ]


def stream_sources(
    plan: Sequence[tuple[Source, Format]],
    options: Any,
    report: ReadReport,
    *,
    are_unique: bool = True,
) -> Iterator[Document]:
    """Streams the documents of sources, each read in its format; see `read`.

    Args:
        plan: sources and formats.
        options: as of `read`.
        report: as of `read`.
        are_unique: whether ids are made unique; all ids are then kept in memory, see `IdSet`.
    """
    for _, file_format in plan:
        check_options(options, file_format.reader.options, file_format.name)
    documents = _stream_plan(plan, options, report)
    return _observe(unique_ids(documents) if are_unique else documents, report)


def _check_paths(paths: object) -> Iterator[str]:
    """Yields each path as a string."""
    check_argument(paths, (str, Path, Sequence), name="paths", means="a path, or a list of paths")
    values = [paths] if isinstance(paths, str | Path) else list(cast("Sequence[object]", paths))
    if not values:
        raise UsageError("no file was given; name at least one, or - for standard input")
    for path in values:
        check_argument(path, (str, Path), name="each of paths", means="a str or a Path")
        yield str(path)


def unique_ids(documents: Iterable[Document], *, seen: IdSet | None = None) -> Iterator[Document]:
    """Renames documents with an id that occurred before to ``id#2``, ``id#3`` ...; no document is
    left out.

    Args:
        documents: any number.
        seen: ids that were there before.
    """
    seen = IdSet() if seen is None else seen
    copies: Counter[str] = Counter()
    for document in documents:
        original = identifier = document.id
        while not seen.add(identifier):
            copies[original] = max(copies[original], 1) + 1
            identifier = f"{original}#{copies[original]}"
        yield document if identifier == original else rename_document(document, identifier)


def rename_document(document: Document, identifier: str) -> Document:
    """Returns a document under another id, with an event about the change; see `unique_ids`."""
    message = f"the id {document.id!r} was there before; this document is {identifier!r}"
    event = make_event("duplicate-id", step=STEP, message=message)
    meta = {**document.meta, ORIGINAL_ID: document.meta.get(ORIGINAL_ID, document.id)}
    return msgspec.structs.replace(
        document, id=identifier, meta=meta, events=(*document.events, event)
    )


def _stream_plan(
    plan: Sequence[tuple[Source, Format]], options: Any, report: ReadReport
) -> Iterator[Document]:
    for source, file_format in plan:
        report.formats[source.path] = file_format.name
        with report.aside.one():
            yield from _stream_source(source, file_format.reader, options, report)


def _stream_source(
    source: Source, reader: FormatReader, options: Any, report: ReadReport
) -> Iterator[Document]:
    """Streams the documents of one source; an error that ends its reading is raised."""
    settings = options if options is not None or reader.options is None else reader.options()
    has_documents, before = False, report.aside.count
    try:
        documents = note_misfits(reader.read(source, settings, report))
        if (name := report.formats[source.path]) in WITHOUT_MARKUP:
            documents = documents_with_markup(documents, name, settings)
        for document in documents:
            has_documents = True
            notes = report.take_notes()
            yield document.with_events(*notes) if notes else document
    except InputError as error:
        if has_documents and report.aside.keep_going:
            raise error.saying(f"{error}; the rest of the file was not read") from None
        raise
    withdraws = source.path in report.deleted
    if (
        not has_documents
        and not reader.may_be_empty
        and not withdraws
        and report.aside.count == before
    ):
        where, name = (
            " that the options ask for" if options is not None else "",
            report.formats[source.path],
        )
        message = (
            f"{source.path} is empty: it holds no document{where}; give a file in the format {name}"
        )
        raise InputError(message, file=source.path, code="empty")


def _observe(documents: Iterator[Document], report: ReadReport) -> Iterator[Document]:
    for document in documents:
        report.observe(document)
        yield document


def _names(files: Sequence[str]) -> list[str]:
    """Returns the names from which document ids are made; with the folder where several files have
    the same name.
    """
    stems = [stem(file) for file in files]
    count = Counter(stems)
    return [
        name if count[name] == 1 else f"{Path(file).resolve().parent.name}/{name}"
        for name, file in zip(stems, files, strict=True)
    ]


def latest(
    paths: Sequence[str | Path],
    *,
    format: str = "auto",  # noqa: A002 - the name of the option everywhere
    report: ReadReport | None = None,
) -> Iterator[Document]:
    """Streams each document in its latest state, in the order of the files.

    Of several versions of a citation in one file the highest is used, and of equal ones the last. A
    document that a file withdraws is left out, unless a later file has it again. The files are read
    twice, and memory holds the ids of all documents.

    Args:
        paths: of files, the oldest first.
        format: a name of `FORMATS`, or ``"auto"``.
        report: counts the yielded documents, and collects the withdrawn ids.

    Returns:
        An iterator; each id occurs once.

    Raises:
        InputError: see `fascicle.formats.read`.
    """
    report = ReadReport() if report is None else report
    places = _latest_places(paths, format=format, report=report)
    for number, path in enumerate(paths):
        for position, document in enumerate(read(path, format=format, report=_like(report))):
            if places.get(_original_id(document)) == (number, position):
                current = _with_original_id(document)
                report.observe(current)
                yield current


def _latest_places(
    paths: Sequence[str | Path],
    *,
    format: str,  # noqa: A002
    report: ReadReport,
) -> dict[str, tuple[int, int]]:
    """Returns the number of the file, and the place in it, of the latest state of each id."""
    places: dict[str, tuple[int, int]] = {}
    for number, path in enumerate(paths):
        own, versions = _like(report), dict[str, int]()
        for position, document in enumerate(read(path, format=format, report=own)):
            identifier, version = _original_id(document), citation_version(document)
            if version >= versions.get(identifier, version):
                versions[identifier] = version
                places[identifier] = number, position
        for file, withdrawn in own.deleted.items():
            report.deleted.setdefault(file, []).extend(withdrawn)
            for identifier in withdrawn:
                places.pop(identifier, None)
        report.aside.count += own.aside.count
        report.aside.errors += own.aside.errors
    return places


def _like(report: ReadReport) -> ReadReport:
    """Returns an empty report with the same error handling as another one, and without messages to
    users.
    """
    own = ReadReport()
    own.aside.keep_going = report.aside.keep_going
    return own


def _original_id(document: Document) -> str:
    return document.meta.get(ORIGINAL_ID, document.id)


def citation_version(document: Document) -> int:
    """Returns the version of a citation, from 1; see `latest`."""
    version = document.meta.get(_VERSION, "1")
    return int(version) if version.isdecimal() else 1


def _with_original_id(document: Document) -> Document:
    """Returns a document with the original id from its file."""
    if ORIGINAL_ID not in document.meta:
        return document
    meta = {key: value for key, value in document.meta.items() if key != ORIGINAL_ID}
    events = tuple(event for event in document.events if event.code != _AGAIN)
    return msgspec.structs.replace(
        document, id=document.meta[ORIGINAL_ID], meta=meta, events=events
    )


class IdSet:
    """Set of ids with 21 to 32 bytes per id if there are many; a Python set takes about 110 for
    PMIDs.

    If there are many, ids with the same hash of 128 bits count as equal; among 38 million ids this
    happens with a probability of 2 in 10^24 (birthday bound, n^2 / 2^129).
    """

    def __init__(self, *, few: int = _FEW_IDS) -> None:
        """Creates an empty set.

        Args:
            few: number of ids that are stored as text.
        """
        self._limit = few
        self._few: set[str] = set()
        self._tables: tuple[_Table, ...] = ()

    def add(self, identifier: str) -> bool:
        """Adds an id.

        Returns:
            True if it was not in the set before.
        """
        if self._tables:
            return self._note(identifier)
        if identifier in self._few:
            return False
        self._few.add(identifier)
        if len(self._few) > self._limit:
            self._tables = tuple(_Table() for _ in range(_TABLES))
            while self._few:
                self._note(self._few.pop())
        return True

    def _note(self, identifier: str) -> bool:
        digest = blake2b(
            identifier.encode("utf-8", "surrogatepass"), digest_size=_HALVES.size
        ).digest()
        pair: tuple[int, int] = _HALVES.unpack(digest)
        return self._tables[pair[0] % _TABLES].add(*pair)


class _Table:
    """Hash table of pairs of numbers in an array, with open addressing: at the place of the hash or
    the next free.
    """

    def __init__(self) -> None:
        self._cells = array("Q", bytes(_HALVES.size * _FIRST))
        self._count = 0

    def add(self, high: int, low: int) -> bool:
        """Adds a pair; returns true if it is new."""
        if not self._insert(high, low):
            return False
        self._count += 1
        size = len(self._cells) // 2
        if 4 * self._count > 3 * size:
            old, self._cells = self._cells, array("Q", bytes(_HALVES.size * (size + size // 2)))
            for at in range(0, len(old), 2):
                if old[at] or old[at + 1]:
                    self._insert(old[at], old[at + 1])
        return True

    def _insert(self, high: int, low: int) -> bool:
        cells = self._cells
        at = 2 * (low % (len(cells) // 2))
        while cells[at] or cells[at + 1]:
            if cells[at] == high and cells[at + 1] == low:
                return False
            at += 2
            if at == len(cells):
                at = 0
        cells[at], cells[at + 1] = high, low
        return True

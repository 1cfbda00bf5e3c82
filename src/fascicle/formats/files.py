"""Reading and writing files of documents in any format of the table `fascicle.formats.catalogue.FORMATS`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from fascicle.core.arguments import check_argument, check_optional, checked_documents
from fascicle.core.document import Document, Event
from fascicle.errors import InputError, UsageError
from fascicle.files.atomic import Opened, atomic_folder, output
from fascicle.files.encodings import AUTO
from fascicle.files.source import STDIN, Source, stem
from fascicle.files.tree import is_there
from fascicle.formats.catalogue import Format, Reader, format_named, format_to_write
from fascicle.formats.detection import detect, format_to_read
from fascicle.formats.losses import LENIENT, Holds, Strictness, loss_names
from fascicle.formats.plain import files_of
from fascicle.formats.report import STEP, ReadReport, WriteReport
from fascicle.formats.writing import write_each

ORIGINAL_ID: Final = "original-id"

PathLike = str | Path


def read(
    paths: PathLike | Sequence[PathLike],
    *,
    format: str = "auto",  # noqa: A002 - the name of the option everywhere
    options: Any = None,
    encoding: str = AUTO,
    report: ReadReport | None = None,
) -> Iterator[Document]:
    """Streams the documents of one or several files; their ids are unique.

    A second document with an id becomes ``id#2`` and so on: the id of the source is kept in
    ``meta["original-id"]``, and an event with the code ``duplicate-id`` says so.

    Args:
        paths: files, gzip or not; ``"-"`` is standard input; a folder stands for its ``*.txt`` files, but a folder, a
            zip, or a folder inside a zip (``corpus.zip/train``) of brat files is one corpus.
        format: a name of `FORMATS`, or ``"auto"``: told by content and suffix.
        options: of the class of the format's reader; defaults by default.
        encoding: of the files; ``"auto"`` is what a byte order mark says, else UTF-8, else Windows-1252 if the bytes of
            a file can hardly be anything else. The report names what is not UTF-8, and so does an event of the document
            at which it was found.
        report: collects what is known about whole files. One whose ``aside`` keeps going sets aside the documents that
            cannot be read, and the files; the others are given out.

    Returns:
        An iterator; wrong arguments are reported at once, wrong content while it runs.

    Raises:
        UsageError: an unknown format or encoding, or options of another format.
        InputError: a file that is not there, or a corpus file without documents.
        FormatError: content that breaks the rules of its format.
    """
    _check_arguments(format=format, encoding=encoding)
    check_optional(report, ReadReport, name="report", means="a ReadReport")
    if format != "auto":
        format_named(format)
    files = expanded([paths] if isinstance(paths, str | Path) else paths, format=format)
    names = _names(files)
    report = ReadReport() if report is None else report
    sources = [
        Source(path=path, encoding=encoding, name=name, told=partial(report.tell_encoding, path), meter=report.meter)
        for path, name in zip(files, names, strict=True)
    ]
    plan = []
    for source in sources:
        with report.aside.one():
            chosen = format_named(format_to_read(source.path, format))
            plan.append((source, chosen))
    for _, chosen in plan:
        _check_options(options, chosen.reader.options, chosen.name)
    return _observed(unique_ids(_all(plan, options, report)), report)


def write(  # noqa: PLR0913 - what users may say, each on its own
    path: PathLike,
    documents: Iterable[Document],
    *,
    format: str = "auto",  # noqa: A002
    options: Any = None,
    overwrite: bool = False,
    report: WriteReport | None = None,
    strict: bool = False,
    allow_loss: Iterable[str] = (),
) -> WriteReport:
    """Writes documents to a file or folder, which takes its name only when it is complete.

    Args:
        path: where; ``"-"`` is standard output; ``.gz`` at its end packs the file. A format of several files is written
            to a folder, or to a zip if the path ends with ``.zip``.
        documents: may be a stream.
        format: a name of `FORMATS`, or ``"auto"``: told by the suffix.
        options: of the class of the format's writer; defaults by default.
        overwrite: replace an existing file, or a folder that was written in the format and that nobody changed since.
        report: where to count; a new one by default. One whose ``aside`` keeps going sets documents aside that the
            format cannot hold at all.
        strict: refuse a document of which the format would lose something.
        allow_loss: names of `fascicle.formats.losses.LOSSES` that are no reason to refuse.

    Returns:
        The report: what was written, and what the format could not hold.

    Raises:
        UsageError: an unknown format or loss, options of another format, or a file for a format of several files.
        LossError: a document would lose something, and ``strict`` is on; nothing is written.
        OutputError: the file or folder exists, or the place cannot be written.
        InputError: a document that the format cannot hold at all.
    """
    check_argument(path, (str, Path), name="path", means="a str or a Path")
    check_optional(report, WriteReport, name="report", means="a WriteReport")
    _check_arguments(format=format)
    documents = checked_documents(documents)
    chosen = format_named(format_to_write(str(path), format))
    _check_options(options, chosen.writer.options, chosen.name)
    strictness = Strictness(refuse=strict, allowed=loss_names(allow_loss))
    return write_as(path, documents, chosen, options=options, overwrite=overwrite, report=report, strictness=strictness)


def write_as(  # noqa: PLR0913 - as of `write`
    path: PathLike,
    documents: Iterable[Any],
    chosen: Format,
    *,
    options: Any = None,
    overwrite: bool = False,
    report: WriteReport | None = None,
    strictness: Strictness = LENIENT,
    opened: Opened = output,
    holds: Holds | None = None,
) -> WriteReport:
    """Writes documents in one format, see `write`.

    Args:
        path: where.
        documents: may be a stream; predictions for formats without texts.
        chosen: the format.
        options: of the class of its writer; defaults by default.
        overwrite: replace an existing file, or a folder that holds nothing but files of the format.
        report: where to count; a new one by default.
        strictness: whether a document is refused that would lose something.
        opened: opens a format of one file for writing.
        holds: what of a document is kept in this file; by default what the format holds.

    Raises:
        UsageError, OutputError, InputError, LossError: see `write`.
    """
    writer = chosen.writer
    options = options if options is not None or writer.options is None else writer.options()
    report = WriteReport() if report is None else report
    encode = writer.encoder(options)
    ready = map(writer.prepare, documents) if writer.prepare is not None else documents
    send = partial(write_each, ready, encode, holds=holds or writer.holds, report=report, strictness=strictness)
    if writer.into_folder is not None:
        writer.check(str(path), overwrite=overwrite)
        if not str(path).lower().endswith(".zip"):
            with atomic_folder(path, kind=chosen.name, overwrite=overwrite) as folder:
                send(writer.into_folder(folder))
            return report
    with opened(path, overwrite=overwrite) as stream, writer.into(stream, encode) as put:
        send(put)
    return report


def expanded(paths: Sequence[PathLike], *, format: str = "auto") -> list[str]:  # noqa: A002
    """The sources that paths stand for: a folder of texts stands for its files; one of brat files for itself.

    Args:
        paths: as `read` takes them.
        format: a name of `FORMATS`, or ``"auto"``.

    Raises:
        UsageError: no path.
        InputError: a path that is not there, or a folder without texts.
    """
    check_argument(paths, (str, Path, Sequence), name="paths", means="a path, or a list of paths")
    if not paths:
        raise UsageError("no file was given; name at least one, or - for standard input")
    for path in paths:
        check_argument(path, (str, Path), name="each of paths", means="a str or a Path")
    files: list[str] = []
    for path in map(str, paths):
        if path != STDIN and not is_there(path):
            raise InputError(f"there is no file {path}; check the path", file=str(path), code="not-found")
        if path == STDIN or not Path(path).is_dir() or is_one_source(path, format=format):
            files.append(path)
        else:
            files += map(str, files_of(Path(path)))
    return files


def is_one_source(folder: str, *, format: str = "auto") -> bool:  # noqa: A002
    """Whether a folder is one corpus of the format, and not just the place of its text files."""
    return format_named(format if format != "auto" else detect(folder)).many


def unique_ids(documents: Iterable[Document]) -> Iterator[Document]:
    """Renames documents whose id was there before to ``id#2``, ``id#3`` ...; nothing is left out."""
    seen: set[str] = set()
    copies: Counter[str] = Counter()
    for document in documents:
        original = identifier = document.id
        while identifier in seen:
            copies[original] = max(copies[original], 1) + 1
            identifier = f"{original}#{copies[original]}"
        seen.add(identifier)
        yield document if identifier == original else _renamed(document, identifier)


def _renamed(document: Document, identifier: str) -> Document:
    message = f"the id {document.id!r} was there before; this document is {identifier!r}"
    event = Event(step=STEP, kind="repair", code="duplicate-id", message=message)
    meta = {**document.meta, ORIGINAL_ID: document.meta.get(ORIGINAL_ID, document.id)}
    return msgspec.structs.replace(document, id=identifier, meta=meta, events=(*document.events, event))


def _all(plan: Sequence[tuple[Source, Format]], options: Any, report: ReadReport) -> Iterator[Document]:
    for source, chosen in plan:
        report.formats[source.path] = chosen.name
        with report.aside.one():
            yield from _of_one(source, chosen.reader, options, report)


def _of_one(source: Source, reader: Reader, options: Any, report: ReadReport) -> Iterator[Document]:
    """The documents of one source; an error that ends its reading is raised."""
    given = options if options is not None or reader.options is None else reader.options()
    found, before = False, report.aside.count
    try:
        for document in reader.read(source, given, report):
            found = True
            notes = report.take_notes()
            yield document.with_events(*notes) if notes else document
    except InputError as error:
        if found and report.aside.keep_going:
            raise error.saying(f"{error}; the rest of the file was not read") from None
        raise
    if not found and not reader.may_be_empty and report.aside.count == before:
        where, name = " that the options ask for" if options is not None else "", report.formats[source.path]
        raise InputError(
            f"{source.path} is empty: it holds no document{where}; give a file in the format {name}",
            file=source.path,
            code="empty",
        )


def _observed(documents: Iterator[Document], report: ReadReport) -> Iterator[Document]:
    for document in documents:
        report.observe(document)
        yield document


def _names(files: Sequence[str]) -> list[str]:
    """Names that document ids are made from: with the folder, where several files have the same name."""
    stems = [stem(file) for file in files]
    count = Counter(stems)
    return [
        name if count[name] == 1 else f"{Path(file).resolve().parent.name}/{name}"
        for name, file in zip(stems, files, strict=True)
    ]


def _check_arguments(**texts: object) -> None:
    for name, value in texts.items():
        check_argument(value, str, name=name, means="a str")


def _check_options(options: Any, allowed: type[Any] | None, name: str) -> None:
    if options is None or (allowed is not None and isinstance(options, allowed)):
        return
    rule = f"they must be {allowed.__name__}" if allowed is not None else "it has none"
    raise UsageError(f"{type(options).__name__} are not options of the format {name!r}: {rule}")

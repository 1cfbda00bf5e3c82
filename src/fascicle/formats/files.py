"""Reading and writing files of documents in any format: `FORMATS` is the table of them."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final

import msgspec

import fascicle.formats.brat as brat
import fascicle.formats.brat_write as brat_write
import fascicle.formats.conll as conll
import fascicle.formats.conll_write as conll_write
import fascicle.formats.jsonl as jsonl
import fascicle.formats.native as native
import fascicle.formats.plain as plain
import fascicle.formats.pubtator as pubtator
import fascicle.formats.pubtator_write as pubtator_write
from fascicle.core.arguments import check_argument, check_optional, checked_documents
from fascicle.core.document import Document, Event
from fascicle.errors import InputError, UsageError
from fascicle.formats.atomic import Opened, atomic_folder, output
from fascicle.formats.detection import by_suffix, detect
from fascicle.formats.encodings import AUTO
from fascicle.formats.losses import LENIENT, Holds, Strictness, loss_names
from fascicle.formats.report import STEP, ReadReport, WriteReport
from fascicle.formats.source import STDIN, Source, stem
from fascicle.formats.tree import is_there
from fascicle.formats.writing import Encode, Put, write_each

ORIGINAL_ID: Final = "original-id"

Reader = Callable[[Source, Any, ReadReport], Iterator[Document]]
PathLike = str | Path


@contextmanager
def _as_it_is(stream: BinaryIO) -> Iterator[Put]:
    yield stream.write


@dataclass(frozen=True, kw_only=True)
class Format:
    """One file format.

    Attributes:
        reader: streams the documents of a source.
        holds: which fields of a document its files hold.
        encoder: takes options, and gives the function that makes of one document what is written of it.
        suffixes: of its files, the first one the usual one.
        read_options: class of the reader's options, if it has any.
        write_options: class of the writer's options, if it has any.
        may_be_empty: whether a file without documents is no error.
        writer: opens a stream for what the encoder makes; bytes are written as they are by default.
        folder_writer: the same for an empty folder, for a format of several files. A folder is then one source of the
            reader too, and ``writer`` writes a zip.
    """

    reader: Reader
    holds: Holds
    encoder: Callable[[Any], Encode]
    suffixes: tuple[str, ...]
    read_options: type[Any] | None = None
    write_options: type[Any] | None = None
    may_be_empty: bool = False
    writer: Callable[[BinaryIO], AbstractContextManager[Put]] = _as_it_is
    folder_writer: Callable[[Path], Put] | None = None


FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        "brat": Format(
            reader=brat.read,
            holds=brat_write.HOLDS,
            encoder=lambda _: brat_write.encoder(),
            suffixes=(".zip", ".ann", ".a1", ".a2"),
            read_options=brat.BratOptions,
            writer=brat_write.into_zip,
            folder_writer=brat_write.into_folder,
        ),
        "conll": Format(
            reader=conll.read,
            holds=conll_write.HOLDS,
            encoder=conll_write.encoder,
            suffixes=(".conll", ".iob2", ".iob", ".bio", ".tsv"),
            read_options=conll.ConllOptions,
            write_options=conll_write.ConllWriteOptions,
        ),
        "jsonl": Format(
            reader=jsonl.read,
            holds=jsonl.HOLDS,
            encoder=lambda _: jsonl.encode,
            suffixes=(".jsonl", ".json", ".jsonlines"),
            read_options=jsonl.JsonlOptions,
        ),
        "native": Format(
            reader=native.read,
            holds=native.HOLDS,
            encoder=lambda _: native.encode,
            suffixes=(".fascicle.jsonl", ".jsonl"),
        ),
        "plain": Format(
            reader=plain.read,
            holds=plain.HOLDS,
            encoder=lambda _: plain.encoder(),
            suffixes=(".txt",),
            may_be_empty=True,
        ),
        "pubtator": Format(
            reader=pubtator.read,
            holds=pubtator_write.HOLDS,
            encoder=lambda _: pubtator_write.encode,
            suffixes=(".pubtator", ".txt"),
        ),
    }
)


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
        options: of the format's ``read_options`` class; defaults by default.
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
        _named(format)
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
            plan.append((source, format if format != "auto" else detect(source.path)))
    for _, name in plan:
        _check_options(options, FORMATS[name].read_options, name)
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
        options: of the format's ``write_options`` class; defaults by default.
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
    name = format if format != "auto" else _format_for(str(path))
    chosen = _named(name)
    _check_options(options, chosen.write_options, name)
    strictness = Strictness(refuse=strict, allowed=loss_names(allow_loss))
    return write_as(path, documents, chosen, options=options, overwrite=overwrite, report=report, strictness=strictness)


def write_as(  # noqa: PLR0913 - as of `write`
    path: PathLike,
    documents: Iterable[Document],
    chosen: Format,
    *,
    options: Any = None,
    overwrite: bool = False,
    report: WriteReport | None = None,
    strictness: Strictness = LENIENT,
    opened: Opened = output,
) -> WriteReport:
    """Writes documents in one format, see `write`.

    Args:
        path: where.
        documents: may be a stream.
        chosen: the format.
        options: of its ``write_options`` class; defaults by default.
        overwrite: replace an existing file, or a folder that holds nothing but files of the format.
        report: where to count; a new one by default.
        strictness: whether a document is refused that would lose something.
        opened: opens a format of one file for writing.

    Raises:
        UsageError, OutputError, InputError, LossError: see `write`.
    """
    options = options if options is not None or chosen.write_options is None else chosen.write_options()
    report = WriteReport() if report is None else report
    encode = chosen.encoder(options)
    send = partial(write_each, documents, encode, holds=chosen.holds, report=report, strictness=strictness)
    if chosen.folder_writer is not None:
        brat_write.check_place(str(path), overwrite=overwrite)
        if not brat_write.is_zip_name(str(path)):
            with atomic_folder(path, kind="brat", overwrite=overwrite) as folder:
                send(chosen.folder_writer(folder))
            return report
    with opened(path, overwrite=overwrite) as stream, chosen.writer(stream) as put:
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
            files += map(str, plain.files_of(Path(path)))
    return files


def is_one_source(folder: str, *, format: str = "auto") -> bool:  # noqa: A002
    """Whether a folder is one corpus of the format, and not just the place of its text files."""
    return FORMATS[format if format != "auto" else detect(folder)].folder_writer is not None


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


def _all(plan: Sequence[tuple[Source, str]], options: Any, report: ReadReport) -> Iterator[Document]:
    for source, name in plan:
        report.formats[source.path] = name
        with report.aside.one():
            yield from _of_one(source, FORMATS[name], options, report)


def _of_one(source: Source, chosen: Format, options: Any, report: ReadReport) -> Iterator[Document]:
    """The documents of one source; an error that ends its reading is raised."""
    given = options if options is not None or chosen.read_options is None else chosen.read_options()
    found, before = False, report.aside.count
    try:
        for document in chosen.reader(source, given, report):
            found = True
            notes = report.take_notes()
            yield document.with_events(*notes) if notes else document
    except InputError as error:
        if found and report.aside.keep_going:
            raise error.saying(f"{error}; the rest of the file was not read") from None
        raise
    if not found and not chosen.may_be_empty and report.aside.count == before:
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


def _named(name: str) -> Format:
    if name in FORMATS:
        return FORMATS[name]
    near = difflib.get_close_matches(name, list(FORMATS), n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise UsageError(
        f"the format {name!r} is not known{hint}; choose auto or one of {', '.join(FORMATS)}",
        key=name,
        code="unknown-name",
    )


def _check_options(options: Any, allowed: type[Any] | None, name: str) -> None:
    if options is None or (allowed is not None and isinstance(options, allowed)):
        return
    rule = f"they must be {allowed.__name__}" if allowed is not None else "it has none"
    raise UsageError(f"{type(options).__name__} are not options of the format {name!r}: {rule}")


def _format_for(path: str) -> str:
    if path == STDIN:
        return "native"
    name = path.lower().removesuffix(".gz")
    if name.endswith(".fascicle.jsonl"):
        return "native"
    found = by_suffix(path)
    if not found:
        raise UsageError(f"the format of {path} cannot be told from its name; choose one of {', '.join(FORMATS)}")
    return found

"""Reading and writing files of documents in any format: `FORMATS` is the table of them."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final

import msgspec

import fascicle.formats.brat as brat
import fascicle.formats.conll as conll
import fascicle.formats.jsonl as jsonl
import fascicle.formats.native as native
import fascicle.formats.plain as plain
import fascicle.formats.pubtator as pubtator
from fascicle.core.document import Document, Event
from fascicle.errors import InputError, UsageError
from fascicle.formats.atomic import atomic_folder, output
from fascicle.formats.brat_write import check_place, is_zip_name
from fascicle.formats.conll_write import ConllWriteOptions
from fascicle.formats.detection import by_suffix, detect
from fascicle.formats.report import ReadReport, WriteReport
from fascicle.formats.source import STDIN, Source, stem
from fascicle.formats.tree import is_there

STEP: Final = "reading"
ORIGINAL_ID: Final = "original-id"

Reader = Callable[[Source, Any, ReadReport], Iterator[Document]]
Writer = Callable[[Iterable[Document], BinaryIO, Any, WriteReport], None]
FolderWriter = Callable[[Iterable[Document], Path, Any, WriteReport], None]
PathLike = str | Path


@dataclass(frozen=True, kw_only=True)
class Format:
    """One file format.

    Attributes:
        reader: streams the documents of a source.
        writer: writes documents to a binary stream.
        suffixes: of its files, the first one the usual one.
        read_options: class of the reader's options, if it has any.
        write_options: class of the writer's options, if it has any.
        may_be_empty: whether a file without documents is no error.
        folder_writer: writes documents into an empty folder, for a format of several files. A folder is then one
            source of the reader too, and ``writer`` writes a zip.
    """

    reader: Reader
    writer: Writer
    suffixes: tuple[str, ...]
    read_options: type[Any] | None = None
    write_options: type[Any] | None = None
    may_be_empty: bool = False
    folder_writer: FolderWriter | None = None


FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        "brat": Format(
            reader=brat.read,
            writer=brat.write,
            suffixes=(".zip", ".ann", ".a1", ".a2"),
            read_options=brat.BratOptions,
            folder_writer=brat.write_folder,
        ),
        "conll": Format(
            reader=conll.read,
            writer=conll.write,
            suffixes=(".conll", ".iob2", ".iob", ".bio", ".tsv"),
            read_options=conll.ConllOptions,
            write_options=ConllWriteOptions,
        ),
        "jsonl": Format(
            reader=jsonl.read,
            writer=jsonl.write,
            suffixes=(".jsonl", ".json", ".jsonlines"),
            read_options=jsonl.JsonlOptions,
        ),
        "native": Format(reader=native.read, writer=native.write, suffixes=(".fascicle.jsonl", ".jsonl")),
        "plain": Format(reader=plain.read, writer=plain.write, suffixes=(".txt",), may_be_empty=True),
        "pubtator": Format(reader=pubtator.read, writer=pubtator.write, suffixes=(".pubtator", ".txt")),
    }
)


def read(
    paths: PathLike | Sequence[PathLike],
    *,
    format: str = "auto",  # noqa: A002 - the name of the option everywhere
    options: Any = None,
    encoding: str = "utf-8",
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
        encoding: of the files.
        report: collects what is known about whole files.

    Returns:
        An iterator; wrong arguments are reported at once, wrong content while it runs.

    Raises:
        UsageError: an unknown format or encoding, or options of another format.
        InputError: a file that is not there, or a corpus file without documents.
        FormatError: content that breaks the rules of its format.
    """
    if format != "auto":
        _named(format)
    files = expanded([paths] if isinstance(paths, str | Path) else list(paths), format=format)
    names = _names(files)
    sources = [Source(path=path, encoding=encoding, name=name) for path, name in zip(files, names, strict=True)]
    plan = [(source, format if format != "auto" else detect(source.path)) for source in sources]
    for _, name in plan:
        _check_options(options, FORMATS[name].read_options, name)
    return _observed(unique_ids(_all(plan, options, report or ReadReport())), report)


def write(
    path: PathLike,
    documents: Iterable[Document],
    *,
    format: str = "auto",  # noqa: A002
    options: Any = None,
    overwrite: bool = False,
) -> WriteReport:
    """Writes documents to a file or folder, which takes its name only when it is complete.

    Args:
        path: where; ``"-"`` is standard output; ``.gz`` at its end packs the file. A format of several files is written
            to a folder, or to a zip if the path ends with ``.zip``.
        documents: may be a stream.
        format: a name of `FORMATS`, or ``"auto"``: told by the suffix.
        options: of the format's ``write_options`` class; defaults by default.
        overwrite: replace an existing file, or a folder that was written in the format and that nobody changed since.

    Returns:
        What was written, and what the format could not hold.

    Raises:
        UsageError: an unknown format, options of another format, or a file for a format of several files.
        OutputError: the file or folder exists, or the place cannot be written.
        InputError: a document that the format cannot hold at all.
    """
    name = format if format != "auto" else _format_for(str(path))
    chosen = _named(name)
    _check_options(options, chosen.write_options, name)
    options = options if options is not None or chosen.write_options is None else chosen.write_options()
    report = WriteReport()
    if chosen.folder_writer is not None:
        check_place(str(path), overwrite=overwrite)
        if not is_zip_name(str(path)):
            with atomic_folder(path, kind="brat", overwrite=overwrite) as folder:
                chosen.folder_writer(documents, folder, options, report)
            return report
    with output(path, overwrite=overwrite) as stream:
        chosen.writer(documents, stream, options, report)
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
    if not paths:
        raise UsageError("no file was given; name at least one, or - for standard input")
    files: list[str] = []
    for path in map(str, paths):
        if path != STDIN and not is_there(path):
            raise InputError(f"there is no file {path}; check the path")
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
        chosen = FORMATS[name]
        report.formats[source.path] = name
        given = options if options is not None or chosen.read_options is None else chosen.read_options()
        found = False
        for document in chosen.reader(source, given, report):
            found = True
            yield document
        if not found and not chosen.may_be_empty:
            where = " that the options ask for" if options is not None else ""
            raise InputError(f"{source.path} is empty: it holds no document{where}; give a file in the format {name}")


def _observed(documents: Iterator[Document], report: ReadReport | None) -> Iterator[Document]:
    for document in documents:
        if report is not None:
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


def _named(name: str) -> Format:
    if name in FORMATS:
        return FORMATS[name]
    near = difflib.get_close_matches(name, list(FORMATS), n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise UsageError(f"the format {name!r} is not known{hint}; choose auto or one of {', '.join(FORMATS)}")


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

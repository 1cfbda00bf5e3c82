"""Requests to read: the options of commands, recipes and Python, resolved once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from fascicle.core.document import Document
from fascicle.core.files.encodings import AUTO
from fascicle.core.files.source import STDIN, suffix
from fascicle.core.files.tree import is_unicode
from fascicle.core.wording import plural
from fascicle.errors import FormatError, InputError, UsageError
from fascicle.formats.catalogue import canonical_name, format_named, plugged_by_suffix
from fascicle.formats.files import make_sources, unique_ids
from fascicle.formats.files import stream_sources as documents_in
from fascicle.formats.report import ReadReport
from fascicle.formats.sources import InputFiles, distinct_files, find_places, unread_tables

if TYPE_CHECKING:
    from fascicle.formats.conll import ConllOptions
    from fascicle.formats.inception_options import InceptionOptions
    from fascicle.formats.records import JsonlOptions
    from fascicle.formats.text_tables import TextTableOptions

_OWNERS: Final = (
    (("conll",), ("documents", "columns")),
    (("records", "label-studio", "parquet"), ("shape", "labels", "where")),
    (("records", "label-studio", "parquet", "table", "xlsx", "webanno", "cas"), ("fields",)),
    (("conll", "records", "parquet"), ("bare_tags",)),
)


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """Input of a run: a file (``"-"`` for standard input), or a text.

    Attributes:
        name: path of the file, or the id of the document with the text.
        text: the text; ``None`` for a file.
    """

    name: str
    text: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReadRequest:
    """Options for reading files of documents; an option of a format is empty if it was not given.

    Attributes:
        format: a name of ``formats.catalogue.FORMATS``, or ``"auto"``: told by content and suffix.
        encoding: of the files, or ``"auto"``, see ``formats.files.read``.
        documents: what a document of a column file is, see `ConllOptions`.
        columns: columns of a column file as ``formats.conll.parse_columns`` reads them, such as
            ``"0,3"``.
        shape: of JSON records, see `JsonlOptions`.
        fields: changes to that shape, ``(part of the shape, field of the records)``; of a table
            ``(part, column)``; of WebAnno and CAS ``("layer", name)`` and ``("type", feature)``.
        labels: names of tags of JSON records that are numbers, see `JsonlOptions`.
        bare_tags: tags are types without a prefix.
        where: ``(field, value)``; only JSON records with all these values are read.
        asked_by: what a user writes to name the format; for the sentences of errors.
    """

    format: str = "auto"
    encoding: str = AUTO
    documents: str = ""
    columns: str = ""
    shape: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    labels: str = ""
    bare_tags: bool = False
    where: tuple[tuple[str, str], ...] = ()
    asked_by: str = "format=NAME"

    def options(
        self, path: str, format_name: str
    ) -> ConllOptions | InceptionOptions | JsonlOptions | TextTableOptions | None:
        """Returns the options of a format for a file.

        Args:
            path: of the file; for the sentence of an error.
            format_name: its format.

        Raises:
            UsageError: an option of another format was given, or one with a value that is not
                allowed.
        """
        self._check_owners(path, format_name)
        if self.documents or self.columns or (self.bare_tags and format_name == "conll"):
            return self._conll_options()
        if self.fields and format_name in ("webanno", "cas"):
            from fascicle.formats.inception_options import InceptionOptions

            return InceptionOptions.of(self.fields)
        if self.fields and format_name in ("table", "xlsx"):
            from fascicle.formats.text_tables import TextTableOptions

            return TextTableOptions.of(self.fields)
        if self.shape or self.fields or self.labels or self.where or self.bare_tags:
            return self._jsonl_options()
        return None

    def _check_owners(self, path: str, format_name: str) -> None:
        """Raises an error if an option of another format was given."""
        for owners, names in _OWNERS:
            name = next(filter(partial(getattr, self), names), None)
            if name is not None and format_name not in owners:
                raise UsageError(
                    f"{name}=VALUE is for files of the format {' or '.join(owners)}, but {path} "
                    f"has the format {format_name}"
                )

    def _conll_options(self) -> ConllOptions:
        from fascicle.formats.conll import ConllOptions

        token, tags = self.token_and_tags
        return ConllOptions(
            token_column=token,
            tag_columns=tags,
            documents=self.documents or "auto",
            bare=self.bare_tags,
        )

    def _jsonl_options(self) -> JsonlOptions:
        from fascicle.formats.records import JsonlOptions

        bare = (("bare", "true"),) if self.bare_tags else ()
        return JsonlOptions(
            shape=self.shape or "auto",
            fields=(*self.fields, *bare),
            labels=self.labels,
            where=self.where,
        )

    @property
    def token_and_tags(self) -> tuple[int, tuple[int, ...] | None]:
        """Columns of the token and of the tags, as `ConllOptions` takes them."""
        from fascicle.formats.conll import parse_columns

        return parse_columns(self.columns) if self.columns else (0, (-1,))


def parse_pairs(texts: Iterable[str], *, key: str, example: str) -> tuple[tuple[str, str], ...]:
    """Splits ``NAME=VALUE`` texts into pairs.

    Args:
        texts: as a user writes them.
        key: name of the option; for error messages.
        example: for error messages.

    Raises:
        UsageError: a text without a name or without ``=``.
    """
    pairs = []
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise UsageError(
                f"{key} {text!r} is not allowed; give NAME=VALUE, for example {example}"
            )
        pairs.append((name, value))
    return tuple(pairs)


class ResolvedInputs(msgspec.Struct, frozen=True, kw_only=True):
    """Inputs of a run, looked up once.

    Attributes:
        inputs: files, those of folders of texts in place of the folders, each once; or texts.
        places: the files of each given path.
        reading: how files are read.
    """

    inputs: tuple[Input, ...]
    places: tuple[InputFiles, ...]
    reading: ReadRequest

    def documents(self, report: ReadReport) -> Iterator[tuple[str, Document]]:
        """Streams all documents, each with the name of its input; see `read_inputs`."""
        return read_inputs(self.inputs, self.reading, report=report)

    @property
    def size(self) -> int | None:
        """Size of all inputs in bytes; ``None`` if an input is not read from start to end."""
        sizes = list(map(_size_of, self.inputs))
        return None if None in sizes else sum(size for size in sizes if size is not None)


def resolve_inputs(
    files: Sequence[str], texts: Sequence[str], reading: ReadRequest
) -> ResolvedInputs:
    """Looks up files and folders; or takes texts, which get the names ``text-1`` and so on.

    Args:
        files: as given.
        texts: in place of files.
        reading: how files are read; its format decides what a folder is.

    Raises:
        UsageError: both, neither, standard input twice, or an empty name.
        InputError: a path that is not there, or a folder without texts.
    """
    if texts and files:
        raise UsageError("files and texts=TEXTS were given; give one or the other")
    if texts:
        inputs = (
            Input(name=f"text-{number}", text=text) for number, text in enumerate(texts, start=1)
        )
        return ResolvedInputs(inputs=tuple(inputs), places=(), reading=reading)
    if "" in files:
        raise UsageError(
            "an empty file name was given; name a file or folder, or . for this folder"
        )
    places = places_to_read(files, reading)
    sources = distinct_files(source for place in places for source in place.sources)
    return ResolvedInputs(
        inputs=tuple(Input(name=path) for path in sources), places=tuple(places), reading=reading
    )


def places_to_read(files: Sequence[str], request: ReadRequest) -> list[InputFiles]:
    """Looks up the places for files and folders.

    Args:
        files: as given.
        request: its format decides what a folder is.

    Raises:
        UsageError: nothing was given, or standard input twice.
        InputError: a path that is not there, or a folder without texts.
    """
    if not files:
        raise UsageError("no file was given; name files or folders, or - for standard input")
    if files.count(STDIN) > 1:
        raise UsageError("standard input (-) was given twice; it can be read once")
    return find_places(files, format=request.format)


def expand_paths(files: Sequence[str], request: ReadRequest) -> list[str]:
    """Returns the files, with each folder replaced by its files (``*.txt``); see
    `places_to_read`.
    """
    return [source for place in places_to_read(files, request) for source in place.sources]


def read_file(
    path: str, request: ReadRequest, *, report: ReadReport | None = None, are_unique: bool = True
) -> Iterator[Document]:
    """Streams the documents of one file.

    Args:
        path: of the file, or ``"-"``.
        request: how to read it.
        report: see ``formats.files.read``.
        are_unique: whether ids are made unique, see ``formats.files.stream_sources``.

    Raises:
        UsageError: options that the format of the file does not have.
        InputError: see ``formats.files.read``.
    """
    file_format = format_named(_format_of(path, request))
    options = request.options(path, file_format.name)
    report = ReadReport() if report is None else report
    (place,) = find_places([path], format=file_format.name)
    report.tables_unread.update(unread_tables([place], format=request.format))
    sources = make_sources(place.sources, encoding=request.encoding, report=report)
    return documents_in(
        [(source, file_format) for source in sources], options, report, are_unique=are_unique
    )


def read_inputs(
    inputs: Iterable[Input], request: ReadRequest, *, report: ReadReport, are_unique: bool = True
) -> Iterator[tuple[str, Document]]:
    """Streams all documents of several inputs, each with the name of its input; their ids are
    unique.

    Unreadable documents are set aside in the report; reading continues with the rest of the file,
    where possible, and with the other files.

    Args:
        inputs: in order.
        request: how to read them.
        report: collects facts about the files; its ``aside`` decides whether reading continues
            after an error.
        are_unique: whether ids are made unique, see ``formats.files.stream_sources``.
    """
    pairs = _stream(inputs, request, report)
    if not are_unique:
        return pairs
    names: list[str] = []
    return ((names.pop(), document) for document in unique_ids(_noting(names, pairs)))


def read_all_documents(
    files: Sequence[str], request: ReadRequest, *, report: ReadReport
) -> Iterator[Document]:
    """Streams all documents of files and folders; see `expand_paths` and `read_inputs`."""
    inputs = [Input(name=path) for path in expand_paths(files, request)]
    return (document for _, document in read_inputs(inputs, request, report=report))


def _size_of(input_: Input) -> int | None:
    if input_.text is not None or input_.name == STDIN or not Path(input_.name).is_file():
        return None
    from fascicle.formats.detection import format_by_suffix

    return None if format_by_suffix(input_.name) == "brat" else Path(input_.name).stat().st_size


def _noting(names: list[str], pairs: Iterator[tuple[str, Document]]) -> Iterator[Document]:
    for name, document in pairs:
        names.append(name)
        yield document


def _stream(
    inputs: Iterable[Input], request: ReadRequest, report: ReadReport
) -> Iterator[tuple[str, Document]]:
    for input_ in inputs:
        count = 0
        try:
            for document in _read_input(input_, request, report):
                count += 1
                yield input_.name, document
        except (InputError, OSError) as error:
            rest = (
                f"; the {plural(count, 'document')} before that are kept, the rest was not read"
                if count
                else ""
            )
            report.aside.add(InputError(f"{error}{rest}"))


def _read_input(input_: Input, request: ReadRequest, report: ReadReport) -> Iterator[Document]:
    if input_.text is None:
        # ids are counted over all inputs
        return read_file(input_.name, request, report=report, are_unique=False)
    try:
        return iter((Document(id=input_.name, text=input_.text),))
    except ValueError as error:
        raise InputError(f"the text that was given is not Unicode: {error}") from None


def _format_of(path: str, request: ReadRequest) -> str:
    """Returns the format in which to read a file."""
    from fascicle.formats.detection import format_to_read

    if not is_unicode(path):
        message = (
            f"the name of the file {path!r} is not Unicode, so no document can be named "
            "after it; rename it"
        )
        raise InputError(message)
    if canonical_name(request.format) in ("auto", "jsonl", "records") and _is_bare(path):
        return "plain"  # its format is unknown, and it is empty
    try:
        return format_to_read(path, request.format)
    except (FormatError, UsageError) as error:
        raise error.saying(str(error).replace("format=NAME", request.asked_by)) from None


def _is_bare(path: str) -> bool:
    """True if a file is empty and its suffix does not name a format or predictions."""
    from fascicle.formats.detection import format_by_suffix

    if path == STDIN or format_by_suffix(path) or suffix(path) in (".tsv", ".csv"):
        return False
    is_empty = Path(path).is_file() and not Path(path).stat().st_size
    return is_empty and not plugged_by_suffix(suffix(path), "readers")

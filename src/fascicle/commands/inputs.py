"""What commands read: paths, formats and their options, one input after the other."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fascicle.commands.console import say
from fascicle.commands.places import reads
from fascicle.core.document import Document
from fascicle.core.wording import counted
from fascicle.errors import FormatError, InputError, UsageError
from fascicle.formats.conll import DOCUMENTS, ConllOptions, parse_columns
from fascicle.formats.detection import by_suffix, detect
from fascicle.formats.encodings import AUTO
from fascicle.formats.files import READABLE, expanded, is_one_source, read, unique_ids
from fascicle.formats.jsonl import JsonlOptions
from fascicle.formats.pipes import is_pipe
from fascicle.formats.plain import left_out
from fascicle.formats.report import ReadReport
from fascicle.formats.shapes import SHAPES
from fascicle.formats.source import STDIN, Source, suffix

INPUT_FORMATS = ("auto", *READABLE)


@dataclass(frozen=True, kw_only=True)
class Input:
    """One input: a file (``"-"`` for standard input), or a text from the command line."""

    name: str
    text: str | None = None


def add_reading(parser: argparse.ArgumentParser, *, aliases: Sequence[str] = ()) -> None:
    """Adds ``--input-format`` and what tells readers how to read.

    Args:
        parser: of a command.
        aliases: other names of ``--input-format``.
    """
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--input-format", *aliases, dest="input_format", choices=INPUT_FORMATS, default="auto", help="default: auto"
    )
    add_reading_details(group)


def add_reading_details(group: argparse._ArgumentGroup) -> None:
    """Adds the options of column files and JSON records."""
    group.add_argument(
        "--encoding",
        default=AUTO,
        help="of the input files; default: auto, which is UTF-8, or what a file can only be (a line says so)",
    )
    group.add_argument("--documents", choices=DOCUMENTS, help="what a document of a column file is; default: auto")
    group.add_argument("--columns", metavar="T,L", help="columns of a column file, from 0: token, then tags (0,3)")
    group.add_argument("--shape", choices=("auto", *SHAPES), help="shape of JSON records; default: auto")
    group.add_argument(
        "--field",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a part of the shape and its field in these records (text=body, type=label); may be repeated",
    )
    group.add_argument(
        "--labels",
        type=reads,
        metavar="O,B-PER,...",
        help="names of tags that are numbers, in order, or the file dataset_info.json that lists them",
    )
    group.add_argument("--bare-tags", action="store_true", help="tags are types without B- and I- (person, O)")
    group.add_argument(
        "--where", action="append", default=[], metavar="FIELD=VALUE", help="only these JSON records; may be repeated"
    )


def paths_of(files: Sequence[str], *, format_name: str) -> list[str]:
    """Files, with those of folders (``*.txt``) in place of the folders; a brat corpus stays one path.

    Args:
        files: as given.
        format_name: of the input, or ``"auto"``.

    Raises:
        UsageError: nothing was given, or standard input twice.
        InputError: a path that is not there, or a folder without texts.
    """
    if not files:
        raise UsageError("no file was given; name files or folders, or - for standard input")
    if files.count(STDIN) > 1:
        raise UsageError("standard input (-) was given twice; it can be read once")
    return expanded(files, format=format_name)


def note_left_out(files: Sequence[str], *, format_name: str) -> None:
    """Says how much of the folders of texts is not read."""
    for folder in dict.fromkeys(file for file in files if file != STDIN and Path(file).is_dir()):
        if is_one_source(folder, format=format_name):
            continue
        if count := left_out(Path(folder)):
            say(
                f"note: {count:,} other {'entry' if count == 1 else 'entries'} of {folder} left out; "
                "of a folder, only the *.txt files are read, not those of its subfolders"
            )


def read_file(
    path: str, args: argparse.Namespace, *, format_name: str, report: ReadReport | None = None
) -> Iterator[Document]:
    """Streams the documents of one file, as the options of the command line say.

    Raises:
        UsageError: options that the format of the file does not have.
        InputError: see ``formats.files.read``.
    """
    name = _format_of(path, format_name, args)
    return read(path, format=name, options=_options(path, name, args), encoding=args.encoding, report=report)


def source_of(path: str, args: argparse.Namespace) -> Source:
    """A file of predictions; a line says so if it is not UTF-8."""

    def tell(encoding: str, how: str) -> None:
        say(f"note: {path} was read as {encoding}: {how}")

    return Source(path=path, encoding=args.encoding, told=tell)


def read_inputs(
    inputs: Sequence[Input], args: argparse.Namespace, *, report: ReadReport
) -> Iterator[tuple[str, Document]]:
    """Streams all documents of several inputs, each with the name of its input; their ids are unique.

    What cannot be read is set aside in the report, and stops neither the rest of its file, where that can be found, nor
    the other files.

    Args:
        inputs: in order.
        args: with the options of `add_reading`.
        report: collects what is known about the files; its ``aside`` goes on or does not.
    """
    names: list[str] = []
    documents = unique_ids(_noting(names, _each(inputs, args, report)))
    return ((names.pop(), document) for document in documents)


def total_size(inputs: Sequence[Input]) -> int | None:
    """Bytes of all inputs, as far as files are read from one end to the other; ``None`` if there are others."""
    sizes = [_size_of(given) for given in inputs]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def _size_of(given: Input) -> int | None:
    if (
        given.text is not None
        or given.name == STDIN
        or not Path(given.name).is_file()
        or by_suffix(given.name) == "brat"
    ):
        return None
    return Path(given.name).stat().st_size


def _noting(names: list[str], pairs: Iterator[tuple[str, Document]]) -> Iterator[Document]:
    for name, document in pairs:
        names.append(name)
        yield document


def _each(inputs: Sequence[Input], args: argparse.Namespace, report: ReadReport) -> Iterator[tuple[str, Document]]:
    for given in inputs:
        before = 0
        try:
            for document in _read_input(given, args, report):
                before += 1
                yield given.name, document
        except (InputError, OSError) as error:
            kept = f"; the {counted(before, 'document')} before that are kept, the rest was not read" if before else ""
            report.aside.add(InputError(f"{error}{kept}"))


def _read_input(given: Input, args: argparse.Namespace, report: ReadReport) -> Iterator[Document]:
    if given.text is None:
        return read_file(given.name, args, format_name=args.input_format, report=report)
    try:
        return iter((Document(id=given.name, text=given.text),))
    except ValueError as error:
        raise InputError(f"the text that was given is not Unicode: {error}") from None


def _format_of(path: str, name: str, args: argparse.Namespace) -> str:
    """The format to read a file in."""
    if not _is_unicode(path):
        raise InputError(
            f"the name of the file {path!r} is not Unicode, so no document can be named after it; rename it"
        )
    if name not in ("auto", "jsonl") or (name == "jsonl" and is_pipe(path)):
        return name
    if path != STDIN and Path(path).is_file() and not Path(path).stat().st_size and not _named_after_format(path):
        return "plain"  # nothing tells its format, and nothing is all that it holds
    try:
        found = detect(path)
    except FormatError as error:
        options = [f"--{one}-format" for one in ("input", "gold", "pred") if hasattr(args, f"{one}_format")]
        raise FormatError(str(error).replace("format=NAME", " or ".join(options))) from None
    # Native files are JSON Lines too: read as other records they would lose their mentions.
    return found if name == "auto" or found == "native" else name


def _named_after_format(path: str) -> bool:
    """Whether the suffix says what a file is: a corpus in a format, or predictions."""
    return bool(by_suffix(path)) or suffix(path) in (".tsv", ".csv")


def _options(path: str, name: str, args: argparse.Namespace) -> ConllOptions | JsonlOptions | None:
    of_columns = [option for option in ("documents", "columns") if getattr(args, option)]
    of_records = [option for option in ("shape", "field", "labels", "where") if getattr(args, option)]
    for given, owner in ((of_columns, "conll"), (of_records, "jsonl")):
        if given and name != owner:
            raise UsageError(f"--{given[0]} is for files of the format {owner}, but {path} has the format {name}")
    if args.bare_tags and name not in ("conll", "jsonl"):
        raise UsageError(f"--bare-tags is for files with tags, but {path} has the format {name}")
    if of_columns or (args.bare_tags and name == "conll"):
        token, tags = parse_columns(args.columns) if args.columns else (0, (-1,))
        return ConllOptions(
            token_column=token, tag_columns=tags, documents=args.documents or "auto", bare=args.bare_tags
        )
    if of_records or args.bare_tags:
        return JsonlOptions(
            shape=args.shape or "auto",
            fields=(
                *(_pair(text, "--field NAME=VALUE", "text=body") for text in args.field),
                *((("bare", "true"),) if args.bare_tags else ()),
            ),
            labels=args.labels or "",
            where=tuple(_pair(text, "--where FIELD=VALUE", "split=test") for text in args.where),
        )
    return None


def _pair(text: str, usage: str, example: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        option, _, form = usage.partition(" ")
        raise UsageError(f"{option} {text!r} is not allowed; give {form}, for example {example}")
    return name, value


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

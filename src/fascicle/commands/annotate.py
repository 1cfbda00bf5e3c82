"""``fascicle annotate``: a model over texts and corpora, in bounded memory."""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from fascicle.commands.console import EMPTY_TEXT, Tally, say, with_progress
from fascicle.commands.inputs import Input, add_reading, note_left_out, paths_of, read_inputs
from fascicle.commands.outputs import (
    OUTPUTS,
    STDOUT,
    Look,
    add_colour,
    add_format,
    check_output,
    format_of,
    is_many,
    wants_colour,
    write_documents,
)
from fascicle.commands.parsing import add_json, add_overwrite, add_strict, add_threads
from fascicle.commands.places import Inputs, fills, reads
from fascicle.core.document import Document, Event
from fascicle.errors import OutputError, UsageError
from fascicle.formats.atomic import check_target
from fascicle.formats.files import unique_ids
from fascicle.formats.owned import Ledger
from fascicle.formats.source import stem
from fascicle.loading import DEFAULT_MODEL, load
from fascicle.recipe.heads import BinderSettings

if TYPE_CHECKING:
    from fascicle.runtime.predictor import Annotator

_KIND = "annotate"  # of a folder with a file for each input
HELP = "find mentions in texts, folders of texts, standard input or corpora"


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "files",
        nargs="*",
        type=reads,
        metavar="FILE",
        help="texts, folders of *.txt, corpora, zips; - for standard input",
    )
    parser.add_argument("--text", action="append", default=[], help="a text to annotate; may be repeated")
    parser.add_argument(
        "--model",
        type=reads,
        default=DEFAULT_MODEL,
        help=f"name of a shipped model, or a model folder; default: {DEFAULT_MODEL}",
    )
    parser.add_argument(
        "--types",
        type=reads,
        metavar="TYPES.toml",
        help="look for the types that this file describes (a model of the family binder, as trained)",
    )
    parser.add_argument(
        "-o", "--output", type=fills, help="a file, or a folder (ends with /, exists, or several inputs and no suffix)"
    )
    add_format(parser, default="text on a terminal, by the suffix of the output, else jsonl")
    add_json(parser, what="the documents")
    add_colour(parser)
    add_threads(parser)
    add_overwrite(parser)
    add_strict(parser)
    add_reading(parser)


def run(args: argparse.Namespace) -> int:
    """Annotates; returns the exit code."""
    inputs = _inputs(args)
    target = _target(args, inputs)
    read = [args.types, *(given.name for given in inputs if given.text is None)]
    places = Inputs.of(read)
    for path in target.files.values() or [target.path]:
        places.refuse(path)
    note_left_out(args.files, format_name=args.input_format)
    predictor = load(args.model, threads=args.threads, types=args.types)
    _note_unread(args.types, predictor)
    tally = Tally()
    look = Look(
        format=target.format,
        source=predictor.name,
        colour=wants_colour(args.color, target.path),
        types=predictor.types,
        title=not (args.text and len(inputs) == 1),
    )
    work = _Work(inputs=inputs, args=args, predictor=predictor, tally=tally)
    if target.files:
        work.write_each(target, look)
    else:
        tally.add_report(write_documents(target.path, work.documents(target.path), look=look, overwrite=args.overwrite))
    tally.say(verbose=args.verbose)
    return tally.exit_code(strict=args.strict)


def _note_unread(types: str | None, predictor: Annotator) -> None:
    """Says which part of the descriptions a model with other types does not read."""
    from fascicle.runtime.predictor import ModelPredictor

    head = predictor.manifest.answering if types and isinstance(predictor, ModelPredictor) else None
    if isinstance(head, BinderSettings) and head.type_view != "description":
        what = {"name": "the names", "keyword": "the keywords", "instances": "the examples"}.get(head.type_view)
        say(f"note: of {types} the model reads {what} alone, no description: type_view = {head.type_view!r}")


@dataclass(frozen=True, kw_only=True)
class _Target:
    """Where the result goes: one file, or one file for each input (name of the input -> file)."""

    path: str
    format: str
    files: dict[str, Path]


class _AbandonedError(Exception):
    """The input of the file that is being written turned out to be damaged."""


@dataclass(frozen=True, kw_only=True)
class _Work:
    """One run over all inputs; batches cross the borders between them."""

    inputs: Sequence[Input]
    args: argparse.Namespace
    predictor: Annotator
    tally: Tally

    def documents(self, path: str) -> Iterator[Document]:
        """All annotated documents."""
        quiet = path == STDOUT and sys.stdout.isatty()
        return with_progress((document for _, document in self._annotated(set())), quiet=quiet)

    def write_each(self, target: _Target, look: Look) -> None:
        """One file for each input; a damaged input gets none."""
        Path(target.path).mkdir(parents=True, exist_ok=True)
        ledger = Ledger(Path(target.path), kind=_KIND)
        failed: set[str] = set()
        for name, pairs in groupby(self._annotated(failed), key=lambda pair: pair[0]):
            try:
                report = write_documents(
                    str(target.files[name]),
                    _unless_failed(name, pairs, failed),
                    look=look,
                    overwrite=self.args.overwrite,
                )
            except _AbandonedError:
                continue
            ledger.note(target.files[name].name)
            self.tally.add_report(report)
            if self.args.verbose:
                say(f"wrote {target.files[name]}: {report.documents:,} documents, {report.mentions:,} mentions")

    def _annotated(self, failed: set[str]) -> Iterator[tuple[str, Document]]:
        names: deque[str] = deque()  # of the inputs of documents that the predictor has read but not yet given out
        given = unique_ids(self._read(names, failed))
        for document in self.tally.observe(self.predictor.stream(map(self._prepared, given))):
            yield names.popleft(), document

    def _read(self, names: deque[str], failed: set[str]) -> Iterator[Document]:
        for given, document in read_inputs(self.inputs, self.args, tally=self.tally, failed=failed):
            names.append(given.name)
            yield document

    def _prepared(self, document: Document) -> Document:
        """Earlier mentions of the same source give way, for they may come from an older model of that name."""
        events: list[Event] = []
        earlier = document.layer(self.predictor.name)
        if earlier:
            message = f"{len(earlier):,} earlier mentions of {self.predictor.name!r} were replaced"
            events.append(Event(step="annotate", kind="note", code="replaced", message=message))
            kept = tuple(m for m in document.mentions if m.source != self.predictor.name)
            document = msgspec.structs.replace(document, mentions=kept)
        if not _can_be_seen(document.text):
            kind, code = EMPTY_TEXT
            message = "the text is empty or of invisible characters alone, so it has no mentions"
            events.append(Event(step="annotate", kind=kind, code=code, message=message))
        return document.with_events(*events) if events else document


def _can_be_seen(text: str) -> bool:
    """Whether anything of a text shows: no white space, zero-width space or soft hyphen does."""
    return any(character.isprintable() and not character.isspace() for character in text)


def _unless_failed(name: str, pairs: Iterable[tuple[str, Document]], failed: set[str]) -> Iterator[Document]:
    for _, document in pairs:
        yield document
    # The group ends when the next input was begun: by then it is known whether this one was read to its end.
    if name in failed:
        raise _AbandonedError


def _inputs(args: argparse.Namespace) -> list[Input]:
    if args.text and args.files:
        raise UsageError("files and --text were given; annotate one or the other")
    if args.text:
        return [Input(name=f"text-{number}", text=text) for number, text in enumerate(args.text, start=1)]
    if "" in args.files:
        raise UsageError("an empty file name was given; name a file or folder, or . for this folder")
    if not args.files:
        raise UsageError('nothing to annotate was given; name files or folders, - for standard input, or --text "..."')
    return [Input(name=path) for path in dict.fromkeys(paths_of(args.files, format_name=args.input_format))]


def _target(args: argparse.Namespace, inputs: Sequence[Input]) -> _Target:
    """Decides where and in which format to write, and refuses now what would be refused after hours of work."""
    if args.json and args.format not in (None, "jsonl"):
        raise UsageError(f"--json and --format {args.format} were given; --json is --format jsonl, give one of them")
    path = args.output or STDOUT
    asked = args.format or ("jsonl" if args.json else "")
    told = asked or format_of(path)
    if told and is_many(told):
        check_output(path, format_name=told, overwrite=args.overwrite)
        return _Target(path=path, format=told, files={})
    if path == STDOUT:
        return _Target(path=path, format=asked or ("text" if sys.stdout.isatty() else "jsonl"), files={})
    if not _is_folder(path, several=len(args.files) > 1 or len(inputs) > 1):
        check_target(path, overwrite=args.overwrite)
        return _Target(path=path, format=told or "jsonl", files={})
    name = asked or "jsonl"
    files = _file_names(inputs, Path(path), OUTPUTS[name].suffix)
    _check_folder(Path(path), files.values(), overwrite=args.overwrite)
    return _Target(path=path, format=name, files=files)


def _is_folder(path: str, *, several: bool) -> bool:
    return path.endswith("/") or Path(path).is_dir() or (several and not Path(path).suffix)


def _check_folder(folder: Path, files: Collection[Path], *, overwrite: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is a file; give the name of a folder to write, or remove the / at its end")
    if folder.is_dir():
        for file in files:
            check_target(file, overwrite=overwrite)
        if overwrite:  # their names are made from those of the inputs, so the user did not name them
            Ledger(folder, kind=_KIND).check(file.name for file in files)


def _file_names(inputs: Sequence[Input], folder: Path, suffix: str) -> dict[str, Path]:
    """Names of the output files; two inputs of one name are told apart by a number."""
    found: dict[str, Path] = {}
    taken: set[str] = set()
    for given in inputs:
        base = stem(given.name) if given.text is None else given.name
        name, number = base, 1
        while name.lower() in taken:
            number += 1
            name = f"{base}-{number}"
        taken.add(name.lower())
        found[given.name] = folder / f"{name}{suffix}"
    return found

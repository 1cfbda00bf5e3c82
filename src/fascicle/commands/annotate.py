"""``fascicle annotate``: a model over texts and corpora, in bounded memory."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fascicle import __version__
from fascicle.annotation import Annotation, NothingError, OfInput
from fascicle.commands.console import Progress, Tally, progress, say
from fascicle.commands.inputs import Input, add_reading, note_left_out, paths_of, read_inputs, total_size
from fascicle.commands.outputs import (
    OUTPUTS,
    STDOUT,
    Look,
    add_colour,
    add_format,
    check_output,
    file_format,
    format_of,
    is_many,
    wants_colour,
    write_documents,
)
from fascicle.commands.parsing import add_json, add_overwrite, add_threads
from fascicle.commands.places import Inputs, fills, reads
from fascicle.commands.strictness import add_strictness, strictness_of
from fascicle.core.document import Document
from fascicle.core.wording import counted
from fascicle.errors import UsageError
from fascicle.formats.atomic import check_target, output
from fascicle.formats.folder_run import FolderRun, check_folder_of_files
from fascicle.formats.part import PartFile, part_of
from fascicle.formats.source import STDIN, stem
from fascicle.loading import DEFAULT_MODEL, load

if TYPE_CHECKING:
    from fascicle.formats.atomic import Opened
    from fascicle.text.annotator import Annotator

HELP = "find mentions in texts, folders of texts, standard input or corpora"
_LONGEST: Final = 255  # bytes of a name that file systems take
_NUMBER: Final = 8  # of them for a number that tells names apart


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
        help="name of a shipped model, a model folder, or a dictionary: a .tsv file with a type, a TAB and a name in "
        f"each row; default: {DEFAULT_MODEL}",
    )
    parser.add_argument(
        "--types",
        type=reads,
        metavar="TYPES.toml",
        help="look for the types that this file describes (a model of the family binder, as trained)",
    )
    parser.add_argument(
        "--only", type=_names, action="extend", default=[], metavar="TYPE,...", help="only mentions of these types"
    )
    parser.add_argument(
        "--min-score",
        type=_score,
        default=0.0,
        metavar="X",
        help="no mentions with a score below X; those without a score, of dictionaries, stay",
    )
    parser.add_argument(
        "-o", "--output", type=fills, help="a file, or a folder (ends with /, exists, or several inputs and no suffix)"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on where the same command was interrupted; it begins anew if there is nothing to go on with",
    )
    add_format(parser, default="text on a terminal, by the suffix of the output, else jsonl")
    add_json(parser, what="the documents")
    parser.add_argument(
        "--segments", action="store_true", help="also give the sentences and words that the text is cut into"
    )
    add_colour(parser)
    add_threads(parser)
    add_overwrite(parser)
    add_strictness(parser)
    add_reading(parser)


def run(args: argparse.Namespace) -> int:
    """Annotates; returns the exit code."""
    inputs = _inputs(args)
    target = _target(args, inputs)
    if args.resume:
        _check_resume(target, inputs)
    read = [args.types, *(given.name for given in inputs if given.text is None)]
    own = part_of(target.path) if target.grows else ()
    places = Inputs.of(read)
    for path in (*(target.files.values() or [target.path]), *own):
        places.refuse(path)
    note_left_out(args.files, format_name=args.input_format)
    predictor = _predictor(args)
    tally = Tally()
    look = Look(
        format=target.format,
        source=predictor.name,
        colour=wants_colour(args.color, target.path),
        types=predictor.types,
        title=not (args.text and len(inputs) == 1),
        strictness=strictness_of(args),
    )
    work = _Work(inputs=inputs, args=args, predictor=predictor, tally=tally, look=look)
    if target.files:
        work.write_each(target)
    elif target.grows:
        work.write_growing(target)
    else:
        work.write_one(target.path)
    tally.say(verbose=args.verbose)
    tally.close(target.path, quiet=bool(args.text) and target.path == STDOUT)
    return tally.exit_code(strict=args.strict)


def _predictor(args: argparse.Namespace) -> Annotator:
    """The predictor, and the choice among what it finds."""
    predictor = load(args.model, threads=args.threads, types=args.types)
    _note_unread(args.types, predictor)
    if not args.only and not args.min_score:
        return predictor
    from fascicle.runtime.choice import Chosen

    return Chosen(predictor, only=args.only, min_score=args.min_score)


def _note_unread(types: str | None, predictor: Annotator) -> None:
    """Says which part of the descriptions a model with other types does not read."""
    from fascicle.runtime.predictor import ModelPredictor

    view = predictor.manifest.answering.needs.reads if types and isinstance(predictor, ModelPredictor) else ""
    if view not in ("", "description"):
        what = {"name": "the names", "keyword": "the keywords", "instances": "the examples"}.get(view)
        say(f"note: of {types} the model reads {what} alone, no description: type_view = {view!r}")


@dataclass(frozen=True, kw_only=True)
class _Target:
    """Where the result goes: one file, or one file for each input (name of the input -> file).

    A file that `grows` is written beside its final name, and a later run can go on with it.
    """

    path: str
    format: str
    files: dict[str, Path]
    grows: bool = False


@dataclass(frozen=True, kw_only=True)
class _Work:
    """One run over all inputs; batches cross the borders between them."""

    inputs: Sequence[Input]
    args: argparse.Namespace
    predictor: Annotator
    tally: Tally
    look: Look

    def write_one(self, path: str, *, part: PartFile | None = None, opened: Opened = output) -> None:
        """All documents to one place."""
        quiet = path == STDOUT and sys.stdout.isatty()
        shown = progress(total=total_size(self.inputs), quiet=quiet)
        run = self._run(shown)
        report = self.tally.account.open_report()
        documents = run.documents(self._read(), report=report, part=part)
        try:
            write_documents(
                path, documents, look=self.look, overwrite=self.args.overwrite, report=report, opened=opened
            )
        finally:
            shown.end()
        self.tally.account.add(report)

    def write_growing(self, target: _Target) -> None:
        """All documents to one file, so that a later run can go on if this one is killed."""
        part = PartFile(target.path, made_by=self._made_by(), overwrite=self.args.overwrite, resume=self.args.resume)
        if part.replaced:
            say(f"note: {part_of(target.path)[0]}, of an interrupted run, is made anew; --resume would go on with it")
        if part.done is not None:
            say(f"going on after {counted(part.done['documents'], 'document')} of the interrupted run")
        try:
            self.write_one(target.path, part=part, opened=part.opened)
        except BaseException:
            if part.kept is not None:
                say(f"what was done is kept in {part.kept}; give the same command with --resume to go on with it")
            raise

    def write_each(self, target: _Target) -> None:
        """One file for each input; an input without a good document gets none."""
        shown = progress(total=total_size(self.inputs))
        account, args, run = self.tally.account, self.args, self._run(shown)
        folder = Path(target.path)
        files = FolderRun(folder, target.files, made_by=self._made_by(), overwrite=args.overwrite, resume=args.resume)
        try:
            with files:
                if files.done:
                    say(f"going on after {counted(len(files.done), 'file')} of the interrupted run")
                for one in run.by_input(self._read(), done=files.done):
                    self._write_input(one, files)
                account.refuse_nothing()
        except BaseException:
            if files.kept:
                say(f"the files so far are kept in {folder}; give the same command with --resume to go on with them")
            raise
        finally:
            shown.end()

    def _write_input(self, one: OfInput, files: FolderRun) -> None:
        def opened(path: Any, *, overwrite: bool = False) -> Any:
            return files.opened(one.name, one.facts)

        place = files.files[one.name]
        try:
            write_documents(str(place), one.documents(), look=self.look, report=one.report, opened=opened)
        except NothingError:
            return
        finally:
            one.close()
        if self.args.verbose:
            said = f"{counted(one.report.documents, 'document')}, {counted(one.report.mentions, 'mention')}"
            say(f"wrote {place}: {said}")

    def _run(self, shown: Progress) -> Annotation:
        account, segments = self.tally.account, self.args.segments
        return Annotation(predictor=self.predictor, account=account, segments=segments, seen=shown.see)

    def _read(self) -> Iterator[tuple[str, Document]]:
        return read_inputs(self.inputs, self.args, report=self.tally.account.reading)

    def _made_by(self) -> dict[str, str]:
        """What decides the bytes of the output, beside the documents."""
        args = self.args
        names = ("input_format", "encoding", "documents", "columns", "shape", "field", "where", "segments")
        options = {name: getattr(args, name) for name in names}
        told = json.dumps([self.look.format, options], sort_keys=True)
        return {
            "release": __version__,
            "model": hashlib.sha256(self.predictor.fingerprint.encode()).hexdigest(),
            "set of options": hashlib.sha256(told.encode()).hexdigest(),
        }


def _check_resume(target: _Target, inputs: Sequence[Input]) -> None:
    if any(given.name == STDIN and given.text is None for given in inputs):
        raise UsageError("--resume was given with standard input, which cannot be read again; name files to read")
    if target.path == STDOUT:
        raise UsageError("--resume was given without an output; name a file or a folder with -o")
    if not target.files and not target.grows:
        raise UsageError(
            f"{target.path} cannot be gone on with: --resume is for a folder with one file for each input, and for one "
            "file of records that is not packed and has no very long name; write to such a one"
        )


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
        name = told or file_format(path)
        return _Target(path=path, format=name, files={}, grows=_grows(path, name))
    name = asked or "jsonl"
    files = _file_names(inputs, Path(path), OUTPUTS[name].suffix)
    check_folder_of_files(Path(path), files.values(), overwrite=args.overwrite, resume=args.resume)
    return _Target(path=path, format=name, files=files)


def _grows(path: str, format_name: str) -> bool:
    """Whether a file is one of records, each whole by itself: no view for reading, nothing packed, no device.

    The name of its part must be one that file systems take.
    """
    if format_name == "text" or path.endswith(".gz") or (Path(path).exists() and not Path(path).is_file()):
        return False
    return all(len(os.fsencode(own.name)) <= _LONGEST for own in part_of(path))


def _is_folder(path: str, *, several: bool) -> bool:
    return path.endswith("/") or Path(path).is_dir() or (several and not Path(path).suffix and not Path(path).exists())


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _score(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not allowed, give a number from 0 to 1")
    return value


def _file_names(inputs: Sequence[Input], folder: Path, suffix: str) -> dict[str, Path]:
    """Names of the output files; two inputs of one name are told apart by a number, and long names are cut."""
    found: dict[str, Path] = {}
    taken: set[str] = set()
    numbers: Counter[str] = Counter()
    for given in inputs:
        base = stem(given.name) if given.text is None else given.name
        while len(os.fsencode(base + suffix)) > _LONGEST - _NUMBER:
            base = base[:-1]
        name = base
        while name.lower() in taken:
            numbers[base.lower()] = max(numbers[base.lower()], 1) + 1
            name = f"{base}-{numbers[base.lower()]}"
        taken.add(name.lower())
        found[given.name] = folder / f"{name}{suffix}"
    return found

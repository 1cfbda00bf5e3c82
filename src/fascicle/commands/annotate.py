"""``fascicle annotate``: a model over texts and corpora, in bounded memory."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fascicle.commands.console import Tally, progress
from fascicle.commands.inputs import add_reading, reading_of
from fascicle.commands.outputs import add_colour, add_format, writing_of
from fascicle.commands.parsing import Once, add_ends, add_json, add_overwrite, add_threads
from fascicle.commands.places import fills, reads
from fascicle.commands.process import uncollected
from fascicle.commands.saying import say
from fascicle.commands.strictness import add_strictness
from fascicle.core.wording import counted
from fascicle.errors import UsageError
from fascicle.formats.report import WriteReport
from fascicle.formats.requests import STDOUT
from fascicle.loading import DEFAULT_MODEL, given_out, load, load_whole
from fascicle.loading.places import packs_of
from fascicle.settings.document import Ends
from fascicle.settings.folders.vocabularies import AUTO, DEFAULT_LINKER
from fascicle.settings.recognition import RecognitionSettings
from fascicle.tasks.annotate import AnnotateRequest, Listener, annotate_files

if TYPE_CHECKING:
    from fascicle.text.annotator import Annotator


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
    _add_model(parser)
    parser.add_argument(
        "-o", "--output", type=fills, help="a file, or a folder (ends with /, exists, or several inputs and no suffix)"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="resume the same command after an interruption; without anything to resume, start anew",
    )
    add_format(parser, default="text on a terminal, by the suffix of the output, else jsonl")
    add_json(parser, what="the documents")
    parser.add_argument(
        "--segments", action="store_true", help="also give the sentences and words that the text is cut into"
    )
    parser.add_argument(
        "--abbreviations",
        action="store_true",
        help="also give where a text defines short forms; of the formats, jsonl and text hold them",
    )
    _add_link(parser)
    add_colour(parser)
    add_threads(parser)
    add_overwrite(parser)
    add_strictness(parser)
    add_reading(parser)


def _add_model(parser: argparse.ArgumentParser) -> None:
    """What finds mentions, and which ones."""
    parser.add_argument(
        "--model",
        type=reads,
        action="append",
        help="name of a shipped model or pack, a model folder, a dictionary (.tsv: a type, a TAB and a name in each "
        f"row), a plug-in, or a term pack of index build; packs may be several; default: {DEFAULT_MODEL}",
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
        metavar="X",
        help="no mentions with a score below X; those without a score, of dictionaries, stay; default: 0, for term "
        f"packs {RecognitionSettings().threshold:g}",
    )
    add_ends(parser)
    parser.add_argument(
        "--nested", action="store_true", help="of term packs, also names inside others, and all types of a name"
    )


def _add_link(parser: argparse.ArgumentParser) -> None:
    """Whether, and by what, mentions are linked."""
    parser.add_argument(
        "--link",
        action="append",
        nargs="?",
        type=reads,
        const=DEFAULT_LINKER,
        metavar="LINKER",
        help="link mentions to concepts: by the shipped linker, by that of a folder that fascicle linker fit wrote, or "
        "by the names of a pack; of several, the first that knows a concept for a mention answers; "
        f"default: {DEFAULT_LINKER}, if it covers a type of the model, and the format holds links",
    )
    parser.add_argument("--no-link", action="store_true", help="no links")
    parser.add_argument(
        "--ontology", action=Once, default="", metavar="PREFIX", help="give links in this vocabulary of the pack alone"
    )


def run(args: argparse.Namespace) -> int:
    """Annotates; returns the exit code."""
    request, tally = _request_of(args), Tally()
    on_stdout = request.writing.path == STDOUT
    shown = progress(quiet=on_stdout and sys.stdout.isatty())
    listener = Listener(tell=say, seen=shown.see)
    if args.verbose:
        listener = replace(listener, wrote=_say_written)
    try:
        annotate_files(request, _predictor_of(args), account=tally.account, listener=listener)
    finally:
        shown.end()
    tally.say(verbose=args.verbose)
    tally.close(request.writing.path, quiet=bool(args.text) and on_stdout)
    return tally.exit_code(strict=args.strict)


def _request_of(args: argparse.Namespace) -> AnnotateRequest:
    """What was asked for."""
    if args.json and args.format not in (None, "jsonl"):
        raise UsageError(f"--json and --format {args.format} were given; --json is --format jsonl, give one of them")
    if args.no_link and args.link:
        raise UsageError("--link and --no-link were given; choose one of the two")
    if not args.text and not args.files:
        if args.link and args.link[-1] != DEFAULT_LINKER:
            raise UsageError(
                f"nothing to annotate was given, for --link took {args.link[-1]} as its linker; name files before "
                f"--link, or write --link={DEFAULT_LINKER}"
            )
        raise UsageError('nothing to annotate was given; name files or folders, - for standard input, or --text "..."')
    writing = writing_of(args)
    shown = writing.path == STDOUT and sys.stdout.isatty() and args.format is None
    return AnnotateRequest(
        files=tuple(args.files),
        texts=tuple(args.text),
        reading=reading_of(args),
        writing=replace(
            writing,
            format="jsonl" if args.json else "text" if shown else writing.format,
            options=replace(writing.options, title=len(args.text) != 1),
        ),
        segments=args.segments,
        abbreviations=args.abbreviations,
        link=None if args.no_link else tuple(args.link or ()) or AUTO,
        ontology=args.ontology,
        also_read=(args.types,) if args.types else (),
    )


def _predictor_of(args: argparse.Namespace) -> Callable[[], Annotator]:
    """Opens the predictor, with the choice among what it finds.

    Raises:
        UsageError: several models that are no term packs, or a choice that is for packs alone.
    """
    model = tuple(args.model or (DEFAULT_MODEL,))
    if packs_of(model):
        if args.ends:
            raise UsageError(f"--ends is for models, and {model[0]} is a term pack; leave it out")
        given = {
            "types": tuple(args.only),
            "overlaps": "nested" if args.nested else None,
            "threshold": args.min_score,
            "links": False if args.no_link else None,
        }
        recognition = RecognitionSettings(**{name: value for name, value in given.items() if value is not None})
        return partial(load, model, threads=args.threads, types=args.types, recognition=recognition)
    if args.nested:
        raise UsageError(f"--nested is for term packs, and {model[0]} is none; leave it out")
    return partial(
        _opened,
        model[0],
        types=args.types,
        threads=args.threads,
        only=tuple(args.only),
        min_score=args.min_score or 0.0,
        ends=args.ends,
    )


def _opened(
    model: str, *, types: str | None, threads: int | None, only: Sequence[str], min_score: float, ends: Ends | None
) -> Annotator:
    with uncollected():
        predictor = load_whole(model, threads=threads, types=types)
    _note_unread(types, predictor)
    return given_out(predictor, ends=ends, only=only, min_score=min_score)


def _say_written(path: Path, report: WriteReport) -> None:
    say(f"wrote {path}: {counted(report.documents, 'document')}, {counted(report.mentions, 'mention')}")


def _note_unread(types: str | None, predictor: Annotator) -> None:
    """Says which part of the descriptions a model with other types does not read."""
    from fascicle.runtime.predictor import ModelPredictor

    view = predictor.manifest.answering.needs.reads if types and isinstance(predictor, ModelPredictor) else ""
    if view not in ("", "description"):
        what = {"name": "the names", "keyword": "the keywords", "instances": "the examples"}.get(view)
        say(f"note: of {types} the model reads {what} alone, no description: type_view = {view!r}")


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

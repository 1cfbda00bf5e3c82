"""``fascicle label``: weak labels of raw text, by any predictor, in one file without the text."""

from __future__ import annotations

import argparse
import json
import sys

from fascicle.commands.console import Tally, progress
from fascicle.commands.inputs import INPUT_FORMATS, add_reading, reading_of
from fascicle.commands.parsing import add_json, add_overwrite, add_threads
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say
from fascicle.errors import UsageError
from fascicle.formats.requests import ReadRequest
from fascicle.tasks.annotate import Listener
from fascicle.tasks.label import LabelRequest, label_files
from fascicle.tasks.label_facts import facts_of


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "model", nargs="?", type=reads, metavar="MODEL", help="a model, an ensemble, a dictionary or a term pack"
    )
    parser.add_argument("files", nargs="*", type=reads, metavar="FILE", help="texts, folders of *.txt, corpora, zips")
    parser.add_argument("-o", "--output", type=writes, metavar="LABELS", help="the file to write; it is gzip")
    parser.add_argument(
        "--floor",
        type=_probability,
        default=LabelRequest.floor,
        metavar="P",
        help="least probability that is kept; default: 0.01",
    )
    group = parser.add_argument_group("what nothing may be learned from")
    group.add_argument(
        "--exclude", type=reads, default="", metavar="TSV", help="leave out what this list of corpus check names"
    )
    group.add_argument(
        "--against",
        nargs="+",
        action="extend",
        type=reads,
        default=[],
        metavar="CORPUS",
        help="leave out copies of these documents: by id, text, near duplicate and sentence (titles too)",
    )
    group.add_argument("--against-format", choices=INPUT_FORMATS, default="auto", help="of CORPUS; default: auto")
    parser.add_argument("--note", default="", help="on the licence of texts and model; it is kept in the file")
    parser.add_argument("--device", help="of a model of torch: cpu (default), cuda, or auto")
    parser.add_argument(
        "--resume", action="store_true", help="go on where the same command was interrupted, or begin if it was not"
    )
    parser.add_argument("--show", type=reads, metavar="LABELS", help="say what is in a label file, and nothing else")
    add_json(parser, what="with --show, what is in the file")
    add_threads(parser)
    add_overwrite(parser)
    add_reading(parser, aliases=("--format",))


def run(args: argparse.Namespace) -> int:
    """Labels, or shows a file; returns the exit code."""
    if args.show is not None:
        if args.model is not None or args.output:
            raise UsageError("--show names a label file, and nothing is labelled; leave out model, texts and output")
        return _show(args.show, as_json=args.json)
    if args.json:
        raise UsageError("--json is about --show; leave it out")
    if args.model is None or not args.files:
        raise UsageError("nothing to label was given; name a model, texts and an output: MODEL FILE ... -o LABELS")
    if not args.output:
        raise UsageError("no place to write was given; name a file with -o")
    tally, shown = Tally(), progress()
    try:
        label_files(_request_of(args), account=tally.account, listener=Listener(tell=say, seen=shown.see))
    finally:
        shown.end()
    tally.say()
    tally.close(args.output)
    return tally.exit_code(strict=False)


def _request_of(args: argparse.Namespace) -> LabelRequest:
    return LabelRequest(
        model=args.model,
        files=tuple(args.files),
        output=args.output,
        reading=reading_of(args),
        floor=args.floor,
        exclude=args.exclude,
        against=tuple(args.against),
        reading_against=ReadRequest(format=args.against_format, asked_by="--against-format"),
        note=args.note,
        threads=args.threads,
        device=args.device,
        overwrite=args.overwrite,
        resume=args.resume,
    )


def _show(path: str, *, as_json: bool) -> int:
    facts = facts_of(path)
    sys.stdout.write(json.dumps(facts.as_dict()) + "\n" if as_json else "\n".join(facts.lines()) + "\n")
    return 0


def _probability(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not allowed, give a number between 0 and 1, such as 0.01")
    return value

"""``fascicle combine``: the predictions of several systems to one file."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Final

from fascicle.combination.align import MISSING
from fascicle.combination.rules import HALF, RULES, RuleRequest
from fascicle.commands.console import Tally
from fascicle.commands.inputs import INPUT_FORMATS, add_reading_details, reading_of
from fascicle.commands.outputs import predicting_of
from fascicle.commands.parsing import add_overwrite, add_threads, positive
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say
from fascicle.commands.strictness import add_strictness
from fascicle.core.wording import counted
from fascicle.formats.outputs import write_predictions
from fascicle.formats.requests import STDOUT
from fascicle.systems.predictions import PREDICTIONS
from fascicle.systems.several import SystemsRequest
from fascicle.tasks.combine import TextsRequest, combine

META: Final = "meta"
STEP: Final = "combine"


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    listed = "; ".join(f"{name}: {kind.means}" for name, kind in RULES.items())
    parser.add_argument("rule", choices=tuple(RULES), metavar="RULE", help=listed)
    parser.add_argument(
        "files",
        nargs="*",
        type=reads,
        metavar="PRED",
        help="prediction files (JSON Lines or TSV), or corpora in any format",
    )
    parser.add_argument(
        "-o", "--output", type=writes, default=STDOUT, help="a .tsv, .csv or .jsonl file; default: standard output"
    )
    parser.add_argument(
        "--format",
        choices=("tsv", "csv", "predictions"),
        help="default: by the suffix of the output, else predictions (JSON Lines)",
    )
    parser.add_argument("--k", type=positive, metavar="K", help="of kofn: how many systems must agree")
    parser.add_argument(
        "--weights",
        metavar="W,W,...",
        help="of weighted: one number for each system, in their order; e.g. their dev F1",
    )
    parser.add_argument(
        "--threshold",
        metavar="SHARE",
        help=f"of weighted: the share of the weight to exceed; default: {HALF}; of {META}: the least probability to "
        "keep; default: the one that was chosen for the filter",
    )
    parser.add_argument(
        "--filter", type=reads, metavar="FOLDER", help=f"of {META}: the run folder of a filter, or its export"
    )
    parser.add_argument(
        "--texts", type=reads, metavar="FILE", help=f"of {META}: the texts that were predicted on, in any format"
    )
    add_threads(parser)
    parser.add_argument(
        "--missing",
        choices=MISSING,
        default="auto",
        help="a document that a file does not list: its system has no vote there (no-vote), found nothing (empty), or "
        "that is an error (refuse); auto: empty for TSV, which cannot list documents without mentions, else no-vote",
    )
    add_overwrite(parser)
    add_strictness(parser)
    add_system_options(parser)


def run(args: argparse.Namespace) -> int:
    """Combines; returns the exit code."""
    rule, texts = rule_of(args), texts_of(args)
    writing = predicting_of(args)
    writing.check()
    tally = Tally()
    found = combine(systems_of(args), rule, missing=args.missing, texts=texts, account=tally.account)
    tally.add_report(write_predictions(found.predictions, writing))
    for note in found.notes:
        say(f"note: {note}")
    votes = found.votes
    if args.verbose:
        kept = sum(len(one.mentions) for one in found.predictions)
        say(
            f"{args.rule} of {', '.join(votes.systems)}: {kept:,} of "
            f"{counted(len(votes.predicted), 'distinct mention')} kept, in {counted(len(votes.documents), 'document')}"
        )
    tally.say(verbose=args.verbose)
    return 3 if args.strict and votes.unread else tally.exit_code(strict=args.strict)


def add_system_options(parser: argparse.ArgumentParser) -> None:
    """Adds what tells which systems a file holds, and how it is read."""
    parser.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="NAME",
        help="of files with mentions of several sources: take this one; give it once for each",
    )
    parser.add_argument(
        "--map",
        type=reads,
        metavar="TYPES.toml",
        help='other names for types: lines "CHEMICAL" = "Chemical", in a table [NAME] for one system only; '
        'the new name "" leaves a type out',
    )
    parser.add_argument(
        "--distinct-types",
        action="store_true",
        help="types with other names are other types, however similar the names are",
    )
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--input-format", choices=INPUT_FORMATS.with_more(PREDICTIONS), default="auto", help="default: auto"
    )
    add_reading_details(group)


def systems_of(args: argparse.Namespace) -> SystemsRequest:
    """The systems that the options of `add_system_options` and the files name."""
    return SystemsRequest(
        paths=args.files,
        reading=reading_of(args),
        sources=args.source,
        map=args.map or "",
        distinct_types=args.distinct_types,
    )


def rule_of(args: argparse.Namespace) -> RuleRequest:
    """The rule that was asked for."""
    weights = None if args.weights is None else args.weights.split(",")
    return RuleRequest(name=args.rule, k=args.k, weights=weights, threshold=args.threshold, filter=args.filter)


def texts_of(args: argparse.Namespace) -> TextsRequest | None:
    """The texts of ``--texts``; how many threads read them is for their rule alone."""
    rule_of(args).check({"threads": args.threads})
    if args.texts is None:
        return None
    return TextsRequest(path=args.texts, reading=replace(reading_of(args), format="auto"), threads=args.threads)

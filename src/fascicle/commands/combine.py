"""``fascicle combine``: the predictions of several systems to one file."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import Final

import numpy as np

from fascicle.combine.align import MISSING, Votes, align, some_documents
from fascicle.combine.rules import HALF, RULES, RuleRequest, combine
from fascicle.combine.type_names import rename
from fascicle.commands.combine_filter import filtered
from fascicle.commands.console import Tally, say
from fascicle.commands.outputs import STDOUT, Look, check_output, format_of, write_predictions
from fascicle.commands.parsing import add_overwrite, add_threads, positive
from fascicle.commands.places import reads, writes
from fascicle.commands.strictness import add_strictness, strictness_of
from fascicle.commands.systems import (
    OFFSETS,
    add_system_options,
    read_map,
    read_systems,
    said_about,
    types_checked,
)
from fascicle.core.document import Event, Mention
from fascicle.core.wording import counted
from fascicle.errors import UsageError
from fascicle.formats.predictions import Prediction

META: Final = "meta"
HELP = "join the predictions of several systems by a rule"
STEP: Final = "combine"
_FORMATS: Final = MappingProxyType({"tsv": "tsv", "csv": "csv", "predictions": "predictions", "jsonl": "predictions"})


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
    request = rule_of(args)
    request.check({"texts": args.texts, "threads": args.threads}, needed=("texts",) if args.rule == META else ())
    rule, least = request.rule(), request.kind.least
    name = _format(args)
    look = Look(format=name, strictness=strictness_of(args, whole="predictions"))
    check_output(args.output, format_name=name, overwrite=args.overwrite)
    tally = Tally()
    given = read_systems(args.files, args, tally=tally, least=least)
    rule.check(len(given))
    systems, notes = rename([one.system for one in given], read_map(args.map, given))
    if not args.distinct_types:
        notes += types_checked({system.name: system.types() for system in systems}, notes, agree=rule.is_vote)
    votes = align(systems, missing=args.missing, least=least)
    combined = combine(votes, rule)
    found: Mapping[str, Sequence[Event]] = {}
    if args.rule == META:
        combined, found = filtered(combined, votes, args, tally=tally)
    written = write_predictions(args.output, _predictions(combined, votes, found), look=look, overwrite=args.overwrite)
    tally.add_report(written)
    for note in (*notes, *said_about(given), *_said(votes)):
        say(f"note: {note}")
    if args.verbose:
        kept = sum(map(len, combined.values()))
        say(
            f"{args.rule} of {', '.join(votes.systems)}: {kept:,} of {counted(len(votes.said), 'distinct mention')} "
            f"kept, in {counted(len(votes.documents), 'document')}"
        )
    tally.say(verbose=args.verbose)
    return 3 if args.strict and votes.unread else tally.exit_code(strict=args.strict)


def rule_of(args: argparse.Namespace) -> RuleRequest:
    """The rule that was asked for."""
    weights = None if args.weights is None else args.weights.split(",")
    return RuleRequest(name=args.rule, k=args.k, weights=weights, threshold=args.threshold, filter=args.filter)


def _format(args: argparse.Namespace) -> str:
    if args.format is not None or args.output == STDOUT:
        return args.format or "predictions"
    name = format_of(args.output)
    if name not in _FORMATS:
        raise UsageError(
            f"combined mentions are written as TSV, CSV or JSON Lines, which {args.output} does not tell; name it "
            ".tsv, .csv or .jsonl, or give --format"
        )
    return _FORMATS[name]


def _predictions(
    combined: Mapping[str, tuple[Mention, ...]], votes: Votes, found: Mapping[str, Sequence[Event]]
) -> Iterator[Prediction]:
    for row, (identifier, mentions) in enumerate(combined.items()):
        voters = votes.voters[row]
        silent = sorted(name for name, has_vote in zip(votes.systems, voters, strict=True) if not has_vote)
        events = [_no_vote(name) for name in silent]
        yield Prediction(
            id=identifier,
            sha256=votes.hashes.get(identifier),
            mentions=mentions,
            events=(*votes.events.get(identifier, ()), *events, *found.get(identifier, ())),
        )


def _no_vote(name: str) -> Event:
    return Event(
        step=STEP, kind="loss", code="no-vote", message=f"{name} did not list this document, so it had no vote here"
    )


def _said(votes: Votes) -> Iterator[str]:
    """What was decided about documents that are missing, and what may surprise."""
    for name, documents in votes.unread.items():
        yield f"{name} lacks {some_documents(documents)}; it has no vote there, and the rule is applied to the others"
    for name, documents in votes.assumed.items():
        all_ = len(votes.documents)
        yield (
            f"{name} names {all_ - len(documents):,} of {counted(all_, 'document')}; in the rest nothing "
            "counts as found"
        )
    alone = int((votes.voters.sum(axis=1) == 1).sum())
    if alone and len(votes.systems) > 1:
        yield f"documents in which only one system has a vote: {alone:,}"
    if votes.duplicates:
        yield f"mentions that a system has more than once, beyond the first: {votes.duplicates:,}; they have one vote"
    together = votes.said.sum(axis=1)
    for column, name in enumerate(votes.systems):
        own = together[votes.said[:, column]]
        if len(votes.systems) > 1 and len(own) and own.max() == 1:
            yield f"{name} has no mention in common with any other system; {OFFSETS}"
    for first, second in combinations(range(len(votes.systems)), 2):
        if len(votes.said) and np.array_equal(votes.said[:, first], votes.said[:, second]):
            yield (
                f"{votes.systems[first]} and {votes.systems[second]} say exactly the same; if they are one system, it "
                "has two votes"
            )

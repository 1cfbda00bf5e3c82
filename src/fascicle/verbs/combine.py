"""Command ``fascicle combine``: combines the predictions of several systems in one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from fascicle.core.wording import counted
from fascicle.evaluation.systems.several import SystemsRequest
from fascicle.formats.outputs import write_predictions
from fascicle.formats.requests import STDOUT
from fascicle.runtime.combination.align import MISSING, Missing
from fascicle.runtime.combination.rules import HALF, RULES, RuleRequest
from fascicle.settings.recipes.ensemble import RuleName
from fascicle.verbs.console import Tally
from fascicle.verbs.messages import say
from fascicle.verbs.options import OVERWRITE, THREADS, called, option, positive, reads, writes
from fascicle.verbs.shared import StrictWriting, predicting_of, reading_of
from fascicle.verbs.systems import SystemOptions
from fascicle.verbs.tasks.combine import TextsRequest, combine

META: Final = "meta"


_RULES: Final = "; ".join(f"{name}: {kind.means}" for name, kind in RULES.items())
_THRESHOLD: Final = (
    f"of weighted: the share of the weight to exceed; default: {HALF}; of {META}: the least probability to keep; "
    "default: the one that was chosen for the filter"
)


class Options(StrictWriting, SystemOptions):
    """Options of ``fascicle combine``.

    In Python: ``fascicle.combine(["one.jsonl", "two.jsonl", "three.jsonl"], "majority")``

    Attributes:
        files: prediction files (JSON Lines or TSV), or corpora in any format.
        output: a .tsv, .csv or .jsonl file; default: standard output.
        format: default: by the suffix of the output, else predictions (JSON Lines).
        k: of kofn: how many systems must agree.
        weights: of weighted: one number for each system, in their order; e.g. their dev F1.
        filter: of meta: the run folder of a filter, or its export.
        texts: of meta: the texts that were predicted on, in any format.
        missing: a document that a file does not list: its system has no vote there (no-vote), found nothing (empty), or
            that is an error (refuse); auto: empty for TSV, which cannot list documents without mentions, else no-vote.
    """

    rule: RuleName = option("RULE", choices=tuple(RULES), help=_RULES)
    files: list[str] = option("PRED *", reads)
    output: str = option("-o --output OUTPUT", writes, default=STDOUT)
    format: str | None = option("--format", choices=("tsv", "csv", "predictions"))
    k: int | None = option("--k K", positive)
    weights: str | None = option("--weights W,W,...")
    threshold: str | None = option("--threshold SHARE", help=_THRESHOLD)
    filter: str | None = option("--filter FOLDER", reads)
    texts: str | None = option("--texts FILE", reads)
    threads: int | None = THREADS
    missing: Missing = option("--missing", choices=MISSING, default="auto")
    overwrite: bool = OVERWRITE


def run(args: Options) -> int:
    """Runs the combination; returns the exit code."""
    rule, texts = rule_of(args), texts_of(args)
    writing = predicting_of(args)
    writing.check()
    tally = Tally()
    found = combine(systems_of(args, args.files), rule, missing=args.missing, texts=texts, account=tally.account)
    tally.account.add(write_predictions(found.predictions, writing))
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


def systems_of(args: SystemOptions, files: Sequence[str]) -> SystemsRequest:
    """Returns the systems that the options and the files name."""
    return called(SystemsRequest, args, paths=files, reading=reading_of(args), sources=args.source)


def rule_of(args: Any) -> RuleRequest:
    """Returns the requested rule."""
    weights = None if args.weights is None else args.weights.split(",")
    return called(RuleRequest, args, name=args.rule, weights=weights)


def texts_of(args: Options) -> TextsRequest | None:
    """Returns the texts of ``--texts``; the number of threads matters only to the rule ``meta``."""
    rule_of(args).check({"threads": args.threads})
    if args.texts is None:
        return None
    return TextsRequest(path=args.texts, reading=replace(reading_of(args), format="auto"), threads=args.threads)

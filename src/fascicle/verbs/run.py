"""Command ``fascicle run``: runs a pipeline over any number of documents, by workers, into a
folder.
"""

from __future__ import annotations

import contextlib
import sys
from functools import partial
from types import MappingProxyType
from typing import Final

import msgspec

from fascicle.core.progress import Progress, progress
from fascicle.core.wording import plural
from fascicle.formats.catalogue import PARTS
from fascicle.formats.losses import describe_loss
from fascicle.formats.sources import left_out_notes
from fascicle.loading import DEFAULT_MODEL
from fascicle.pipeline.running.report import Totals
from fascicle.pipeline.running.run import RunProgress
from fascicle.verbs.console import Tally
from fascicle.verbs.messages import emit, say, say_notes
from fascicle.verbs.options import FormatNames, Strict, call, fills, option, positive, reads, writes
from fascicle.verbs.shared import (
    AllChoices,
    Beside,
    GraphForm,
    ReadingOptions,
    choices_of,
    read_request,
    table_columns,
)
from fascicle.verbs.tasks.run import run as run_pipeline

_INCOMPLETE: Final = 3  # exit code
_LEFT_OUT: Final = MappingProxyType(
    {
        "replaced": "replaced by later ones with the same id",
        "withdrawn": "withdrawn by later inputs",
        "repeated": "replaced by others of the same input with the same id; if they are different "
        "documents, give each an id of its own",
        "numbered": "replaced by the same rows of later files (ids such as rows:1); if the rows "
        "are different documents, name a column with ids: --field id=COLUMN",
    }
)


class Options(AllChoices, Beside, GraphForm, Strict, ReadingOptions):
    """Options of ``fascicle run``.

    In Python: ``fascicle.verbs.tasks.run.run("texts/", "annotated", pipeline="pipeline.toml",
    workers=2)``

    Attributes:
        files: texts, folders of *.txt, corpora; not standard input.
        pipeline: a pipeline.toml, a folder with one, or a model, whose mentions are linked as in
            annotate; default: biomed.
        output: the folder of the run.
        device: where the network of a model computes, as in annotate.
        workers: processes; default: as many as usable cores and limits.memory of the pipeline
            allow, or 1 with --ray and for steps with a process of their own.
        ray: start workers on the machines of a Ray cluster: HOST:PORT, auto or local; default: the
            cluster that Ray finds.
        resume: resume the same run after an interruption; if there is nothing to resume, start from
            the beginning.
        update: write each document in its latest state. Give the inputs in order of time; a run
            that was made from the first of them continues with the others.
        format: of the parts; default: jsonl.
        graph: also write a graph of the finished run, as graph does, to this folder.
        json: print the account as JSON.
    """

    files: list[str] = option("INPUT +", reads)
    pipeline: str = option("--pipeline PIPELINE", reads, default=DEFAULT_MODEL)
    output: str = option("-o --output FOLDER", fills, required=True)
    device: str | None = option("--device DEVICE")
    workers: int | None = option("--workers N", positive)
    ray: str | None = option("--ray ADDRESS ?", const="")
    resume: bool = option("--resume")
    update: bool = option("--update")
    format: str = option("--format", choices=FormatNames(PARTS, group="writers"), default="jsonl")
    graph: str | None = option("--graph FOLDER", writes)
    json: bool = option("--json")


def run(args: Options) -> int:
    """Runs the pipeline; returns the exit code."""
    bar, reading, out = progress(), read_request(args), sys.stdout

    def show(totals: Totals) -> None:
        bar.end()
        with contextlib.redirect_stdout(out):
            print_account(totals, args.output, as_json=args.json, verbose=args.verbose)

    say_notes(left_out_notes(args.files, format=reading.format))
    try:
        # Ray prints on standard output, which is for the account
        with contextlib.redirect_stdout(sys.stderr):
            totals = call(
                run_pipeline,
                args,
                folder=args.output,
                reading=reading,
                choices=choices_of(args),
                columns=table_columns(args, args.format),
                progress=partial(_see, bar),
                done=show,
                tell=say,
            )
    finally:
        bar.end()
    return account_code(totals, strict=args.strict)


def print_account(totals: Totals, folder: str, *, as_json: bool, verbose: bool = False) -> None:
    """Prints the account of a run."""
    tally = Tally()
    tally.account.events.restore(totals.events)
    emit(msgspec.to_builtins(totals), "", as_json=as_json)
    for suspect in totals.suspects:
        say(
            f"suspect: from shard {suspect.shard} to {suspect.last} there is "
            f"{plural(suspect.mentions, 'mention')} of {suspect.type}, "
            f"and not about {suspect.expected:,}"
        )
    for code, count in totals.losses.items():
        say(f"loss {code}: {count:,} ({describe_loss(code)})")
    tally.say(verbose=verbose)
    for reason, count in totals.reasons.items():
        say(f"in quarantine at {reason}: {plural(count, 'document')}")
    for reason, count in totals.left_out.items():
        say(f"left out: {plural(count, 'document')} {_LEFT_OUT[reason]}")
    mentions = plural(sum(totals.mentions.values()), "mention")
    say(
        f"{plural(totals.documents, 'document')} in: {totals.done:,} done in {folder} with "
        f"{mentions}, {totals.quarantined:,} in quarantine"
    )


def account_code(totals: Totals, *, strict: bool = False) -> int:
    """Returns the exit code: 3 if documents are in quarantine, or with ``strict`` if the format
    lost anything, else that of `Tally.exit_code`.
    """
    tally = Tally()
    tally.account.events.restore(totals.events)
    if totals.quarantined or (strict and totals.losses):
        return _INCOMPLETE
    return tally.exit_code(strict=strict)


def _see(bar: Progress, now: RunProgress) -> None:
    rate = f"{now.characters_per_second / 1e6:.2f} MB/s by {plural(now.workers, 'worker')}"
    note = f"{rate}, {now.quarantined:,} in quarantine" if now.quarantined else rate
    bar.see(now.documents, now.characters, now.of_characters, note=note)

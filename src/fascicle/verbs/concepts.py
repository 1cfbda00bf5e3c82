"""Command ``fascicle concepts``: makes a table of the concepts of each document."""

from __future__ import annotations

import argparse
import math

from fascicle.core.wording import plural
from fascicle.graph.concepts import WEIGHTS, write_concepts
from fascicle.verbs import shared
from fascicle.verbs.console import Tally
from fascicle.verbs.graph import documents_of, say_unnamed
from fascicle.verbs.messages import say
from fascicle.verbs.options import Overwrite, Strict, number, option, reads, writes
from fascicle.verbs.tasks.graph import ambiguous_note

_WEIGHTS = (
    "weight of a mention in a section; may be repeated; default: "
    f"{', '.join(f'{name}={weight:g}' for name, weight in WEIGHTS.items())}, and 1 elsewhere"
)


_not_negative = number("from 0", lambda value: 0 <= value < math.inf)


def _weight(text: str) -> tuple[str, float]:
    name, sign, value = text.rpartition("=")
    if not name or not sign:
        raise argparse.ArgumentTypeError(f"{text!r} names no section; give SECTION=X, as title=3")
    return name, _not_negative(value)


class Options(Overwrite, Strict, shared.ReadingOptions):
    """Options of ``fascicle concepts``.

    In Python: ``fascicle.graph.concepts.write_concepts(fascicle.read("annotated.jsonl"),
    "concepts.csv")``

    Attributes:
        files: folders of runs, or documents with links; - for standard input.
        output: the table: .csv, .tsv, .xlsx or .parquet.
        source: only the mentions of this source.
    """

    files: list[str] = option("RUN +", reads)
    output: str = option("-o --output FILE", writes, required=True)
    weight: list[tuple[str, float]] = option("--weight SECTION=X ...", _weight, help=_WEIGHTS)
    source: str | None = option("--source NAME")


def run(args: Options) -> int:
    """Writes the table; returns the exit code."""
    tally = Tally()
    weights = {**WEIGHTS, **dict(args.weight)}
    totals = write_concepts(
        documents_of(args, tally), args.output, weights=weights, overwrite=args.overwrite
    )
    tally.account.written, tally.account.mentions = totals.documents, totals.mentions
    say_unnamed(totals.unnamed)
    if totals.ambiguous:
        say(ambiguous_note(totals.ambiguous))
    say(plural(totals.rows, "row"))
    return tally.end(args.output, strict=args.strict, verbose=args.verbose)

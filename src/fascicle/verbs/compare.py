"""Command ``fascicle compare``: compares several systems, and finds the best combination of them."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from typing import Final

from fascicle.core.files.atomic import atomic_text_writer, check_target
from fascicle.core.files.encodings import AUTO
from fascicle.errors import InputError
from fascicle.evaluation.comparison.search import MOST, Chosen, Floors, as_dict
from fascicle.evaluation.reports.comparison_table import as_markdown, as_text, sections_of
from fascicle.evaluation.systems.predictions import PredictionRequest
from fascicle.evaluation.systems.several import SystemsRequest
from fascicle.formats.requests import ReadRequest
from fascicle.runtime.combination.align import System
from fascicle.runtime.combination.rules import Rule
from fascicle.runtime.combination.type_names import check_types
from fascicle.verbs.combine import systems_of
from fascicle.verbs.console import Tally
from fascicle.verbs.messages import say
from fascicle.verbs.options import OVERWRITE, STRICT, called, natural, option, positive, reads, writes
from fascicle.verbs.shared import input_format, reading_of
from fascicle.verbs.systems import SYSTEM_FORMATS, SystemOptions
from fascicle.verbs.tasks.compare import Compared, CompareSettings, compare

OUT: Final = "combined.tsv"


_SEARCH: Final = f"score every subset of up to {MOST} systems under every rule; default: yes"


class Options(SystemOptions):
    """Options of ``fascicle compare``.

    In Python: ``fascicle.compare("gold.tsv", ["one.jsonl", "two.jsonl"])``

    Attributes:
        gold: a corpus in any format; development data if you choose by the result.
        files: prediction files (JSON Lines or TSV), or corpora in any format.
        output: write the report as Markdown too.
        json: print everything, all combinations included, as JSON.
        recall_floor: for the best precision; default: the recall of the best system.
        precision_floor: for the best recall; default: the precision of that system.
        resamples: bootstrap draws, and shuffles; default: 1000.
        seed: of the random numbers; default: 0.
        allow_missing: gold documents that a PRED lacks count as without predictions.
        gold_format: default: auto.
    """

    gold: str = option("GOLD", reads)
    files: list[str] = option("PRED *", reads)
    output: str | None = option("-o --output REPORT.md", writes)
    json: bool = option("--json")
    recall_floor: float | None = option("--recall-floor SHARE", float)
    precision_floor: float | None = option("--precision-floor SHARE", float)
    search: bool = option("--search", action=argparse.BooleanOptionalAction, default=True, help=_SEARCH)
    resamples: int = option("--resamples N", positive, default=1000)
    seed: int = option("--seed N", natural, default=0)
    allow_missing: bool = option("--allow-missing")
    overwrite: bool = OVERWRITE
    strict: bool = STRICT
    gold_format: str = input_format("--gold-format", choices=SYSTEM_FORMATS)


def run(args: Options) -> int:
    """Runs the comparison; returns the exit code."""
    floors = Floors(recall=args.recall_floor, precision=args.precision_floor)
    settings = called(CompareSettings, args, floors=floors)
    if args.output is not None:
        check_target(args.output, overwrite=args.overwrite)
    tally, systems = Tally(), systems_of(args, args.files)
    gold = PredictionRequest(path=args.gold, reading=reading_of(args, role="gold"))
    found = compare(gold, systems, settings, events=tally.account.events)
    commands = [
        _command(one.chosen, found, systems, settings) for one in (found.choices.choices if found.choices else ())
    ]
    sections = sections_of(found.comparison, found.choices, commands=commands)
    if args.output is not None:
        with atomic_text_writer(args.output, overwrite=args.overwrite) as stream:
            stream.write(as_markdown(f"Systems compared on {args.gold}", sections, notes=found.notes))
    tally.say(verbose=args.verbose)
    for note in found.notes:
        say(f"note: {note}")
    if args.json:
        value = as_dict(found.comparison, found.choices, commands=commands)
        sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(as_text(sections))
    return tally.exit_code(strict=args.strict)


def _command(chosen: Chosen | None, found: Compared, systems: SystemsRequest, settings: CompareSettings) -> str:
    """Returns the command that makes this combination of these files; empty where none was chosen."""
    if chosen is None:
        return ""
    rule, members = chosen.candidate.rule, chosen.candidate.members
    files = [found.given[member] for member in members]
    words = ["fascicle", "combine", rule.name, *dict.fromkeys(one.path for one in files)]
    words += [word for one in files if one.source for word in ("--source", one.source)]
    if rule.name == "kofn":
        words += ["--k", str(rule.votes)]
    if rule.weights:
        words += ["--weights", ",".join(str(float(weight)) for weight in rule.weights)]
    if settings.allow_missing:
        words += ["--missing", "empty"]
    if systems.distinct_types or not _types_agree([found.systems[member] for member in members], rule):
        words += ["--distinct-types"]
    words += ["--map", systems.map] if systems.map else []
    reading = options_of(systems.reading, documents=any(one.system.lengths for one in files))
    return shlex.join([*words, *reading, "-o", OUT])


def _types_agree(systems: Sequence[System], rule: Rule) -> bool:
    """True if ``fascicle combine`` would accept the types of these systems without gold."""
    try:
        check_types({system.name: system.types() for system in systems}, agree=rule.is_vote)
    except InputError:
        return False
    return True


def options_of(reading: ReadRequest, *, documents: bool) -> list[str]:
    """Returns the given options on the reading of files, as text.

    Args:
        reading: request with their values.
        documents: whether any file holds documents; prediction files have no such options.
    """
    words = [] if reading.format == "auto" else ["--input-format", reading.format]
    words += [] if reading.encoding == AUTO else ["--encoding", reading.encoding]
    if not documents:
        return words
    words += ["--bare-tags"] if reading.bare_tags else []
    for name in ("documents", "columns", "shape", "labels"):
        words += [f"--{name}", getattr(reading, name)] if getattr(reading, name) else []
    for flag, pairs in (("--field", reading.fields), ("--where", reading.where)):
        words += [word for name, value in pairs for word in (flag, f"{name}={value}")]
    return words

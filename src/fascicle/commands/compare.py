"""``fascicle compare``: what each of several systems knows that the others do not, and what to combine."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from fascicle.combine.align import System, some_documents
from fascicle.combine.rules import Rule
from fascicle.combine.type_names import check_types, rename
from fascicle.commands.console import Tally, say
from fascicle.commands.inputs import INPUT_FORMATS
from fascicle.commands.parsing import add_json, add_overwrite, add_strict, natural, positive
from fascicle.commands.places import reads, writes
from fascicle.commands.systems import (
    OFFSETS,
    PREDICTIONS,
    Given,
    add_system_options,
    read_gold,
    read_map,
    read_systems,
    said_about,
    types_checked,
)
from fascicle.errors import InputError, UsageError
from fascicle.evaluate.cells import Cells, cells_of
from fascicle.evaluate.choice import Chosen, Floors, choose
from fascicle.evaluate.compare import Comparison, compare
from fascicle.evaluate.comparison_record import as_dict
from fascicle.evaluate.comparison_table import as_markdown, as_text, sections_of
from fascicle.evaluate.search import MOST, search
from fascicle.formats.atomic import atomic_text_writer, check_target

HELP = "compare several systems on gold, and find the best combination"
OUT: Final = "combined.tsv"


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "gold", type=reads, metavar="GOLD", help="a corpus in any format; development data, if you will choose by it"
    )
    parser.add_argument(
        "files",
        nargs="*",
        type=reads,
        metavar="PRED",
        help="prediction files (JSON Lines or TSV), or corpora in any format",
    )
    parser.add_argument("-o", "--output", type=writes, metavar="REPORT.md", help="write the report as Markdown too")
    add_json(parser, what="everything, all combinations included,")
    parser.add_argument(
        "--recall-floor", type=float, metavar="SHARE", help="for the best precision; default: recall of the best system"
    )
    parser.add_argument(
        "--precision-floor", type=float, metavar="SHARE", help="for the best recall; default: its precision"
    )
    parser.add_argument(
        "--search",
        action=argparse.BooleanOptionalAction,
        default=True,
        help=f"score every subset of up to {MOST} systems under every rule; default: yes",
    )
    parser.add_argument(
        "--resamples", type=positive, default=1000, metavar="N", help="bootstrap draws, and shuffles; default: 1000"
    )
    parser.add_argument("--seed", type=natural, default=0, metavar="N", help="of the random numbers; default: 0")
    parser.add_argument(
        "--allow-missing", action="store_true", help="gold documents that a PRED lacks count as without predictions"
    )
    add_overwrite(parser)
    add_strict(parser)
    parser.add_argument("--gold-format", choices=(*INPUT_FORMATS, *PREDICTIONS), default="auto", help="default: auto")
    add_system_options(parser)


def run(args: argparse.Namespace) -> int:
    """Compares; returns the exit code."""
    floors = Floors(recall=args.recall_floor, precision=args.precision_floor)
    if args.output is not None:
        check_target(args.output, overwrite=args.overwrite)
    tally = Tally()
    read = read_gold(args.gold, args, tally=tally, kind=args.gold_format)
    given = read_systems(args.files, args, tally=tally, gold=read)
    if args.search and len(given) > MOST:
        raise UsageError(
            f"all subsets of {len(given)} systems are too many to try; give at most {MOST} systems, or --no-search"
        )
    (gold, *systems), notes = rename([read.system, *(one.system for one in given)], read_map(args.map, given))
    if not args.distinct_types:
        notes += _check_types(gold, systems, notes)
    cells = cells_of(gold, systems, allow_missing=args.allow_missing)
    drawn = cells.drawn(resamples=args.resamples, seed=args.seed)
    comparison = compare(cells, drawn, seed=args.seed)
    choices, commands = None, list[str]()
    if args.search:
        choices = choose(cells, drawn, search(cells, drawn), floors=floors, seed=args.seed)
        commands = [_command(one.chosen, given, systems, args) for one in choices.choices]
    sections = sections_of(comparison, choices, commands=commands)
    notes += [*said_about(given), *_said(cells), *_all_wrong(comparison)]
    if args.output is not None:
        with atomic_text_writer(args.output, overwrite=args.overwrite) as stream:
            stream.write(as_markdown(f"Systems compared on {args.gold}", sections, notes=notes))
    tally.say(verbose=args.verbose)
    for note in notes:
        say(f"note: {note}")
    if args.json:
        value = as_dict(comparison, choices, commands=commands)
        sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(as_text(sections))
    return tally.exit_code(strict=args.strict)


def _check_types(gold: System, systems: Sequence[System], notes: Sequence[str]) -> list[str]:
    """Every system must be able to be right; names that differ only in spelling are refused between any two."""
    types_checked({one.name: one.types() for one in (gold, *systems)}, notes, agree=False)
    pairs = [{one.name: one.types() for one in (gold, system)} for system in systems]
    return [note for pair in pairs for note in types_checked(pair, notes, agree=True)]


def _command(chosen: Chosen | None, given: Sequence[Given], systems: Sequence[System], args: argparse.Namespace) -> str:
    """What makes this combination of these files; empty where none was chosen."""
    if chosen is None:
        return ""
    rule, members = chosen.candidate.rule, chosen.candidate.members
    files = [given[member] for member in members]
    words = ["fascicle", "combine", rule.name, *dict.fromkeys(one.path for one in files)]
    words += [word for one in files if one.source for word in ("--source", one.source)]
    if rule.name == "kofn":
        words += ["--k", str(rule.votes)]
    if rule.weights:
        words += ["--weights", ",".join(str(float(weight)) for weight in rule.weights)]
    if args.allow_missing:
        words += ["--missing", "empty"]
    if args.distinct_types or not _types_agree([systems[member] for member in members], rule):
        words += ["--distinct-types"]
    reading = _reading(args, documents=any(one.system.lengths for one in files))
    return shlex.join([*words, *reading, "-o", OUT])


def _types_agree(systems: Sequence[System], rule: Rule) -> bool:
    """Whether the command would take the types of these systems for what they are; beside the gold they were."""
    try:
        check_types({system.name: system.types() for system in systems}, agree=rule.is_vote)
    except InputError:
        return False
    return True


def _reading(args: argparse.Namespace, *, documents: bool) -> list[str]:
    """The options that tell how files are read, as far as they were given."""
    names = ["map", "input_format", "encoding", *(("documents", "columns", "shape", "labels") if documents else ())]
    defaults = {"input_format": "auto", "encoding": "auto"}
    given = [(f"--{name.replace('_', '-')}", getattr(args, name), defaults.get(name)) for name in names]
    words = [word for option, value, default in given if value != default for word in (option, value)]
    words += ["--bare-tags"] if documents and args.bare_tags else []
    for name in ("field", "where") if documents else ():
        words += [word for value in getattr(args, name) for word in (f"--{name}", value)]
    return words


def _all_wrong(comparison: Comparison) -> Iterator[str]:
    for row in comparison.rows:
        if row.measured.counts.fp and not row.measured.counts.tp:
            yield f"{row.name} has no mention of the gold; {OFFSETS}"


def _said(cells: Cells) -> Iterator[str]:
    for name, documents in cells.missing.items():
        yield f"{name} does not list {some_documents(documents)}; nothing counts as found in them"
    if cells.duplicates:
        yield f"mentions that one side has more than once, beyond the first: {cells.duplicates:,}; they count once"

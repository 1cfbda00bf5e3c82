"""``fascicle index``: term packs, which are vocabularies made ready for finding and explaining names."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Final

import msgspec

from fascicle.commands.console import Steps, Tally, with_progress
from fascicle.commands.inputs import add_reading, reading_of
from fascicle.commands.parsing import Parser, add_command, add_json, add_overwrite, commands_of, positive
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say
from fascicle.core.wording import counted
from fascicle.errors import InputError, UsageError
from fascicle.files.apart import Inputs
from fascicle.files.atomic import check_target
from fascicle.files.source import STDIN
from fascicle.knowledge.curation.lint import Finding
from fascicle.knowledge.pack.stats import lines as stats_lines
from fascicle.knowledge.pack.why import lines as why_lines
from fascicle.knowledge.sources.report import SourceReport
from fascicle.tasks.index_build import build_pack, files_of, write_left_out
from fascicle.tasks.index_curate import CurateRequest, curate_pack
from fascicle.tasks.index_diff import diff
from fascicle.tasks.index_export import export
from fascicle.tasks.index_extend import extend
from fascicle.tasks.index_sets import sets
from fascicle.tasks.index_stats import stats
from fascicle.tasks.index_verify import verify
from fascicle.tasks.index_why import why

_LOUD: Final = 10  # rules that are told one by one
_TAKEN: Final = ("conflict", "taken")


def configure(parser: Parser) -> None:
    """Adds the commands."""
    parser.set_defaults(run=_run_nothing)
    commands = commands_of(parser, dest="index_command")
    _configure_build(add_command(commands, "build", help_text="make a pack from vocabularies"))
    _configure_extend(add_command(commands, "extend", help_text="add own names and concepts to a pack"))
    count = add_command(commands, "stats", help_text="count concepts, names, types and sources of a pack")
    _add_pack(count, run_stats)
    add_json(count, what="the counts")
    look = add_command(commands, "verify", help_text="read a whole pack, and check every hash and every range")
    _add_pack(look, run_verify)
    add_json(look, what="the result")
    _configure_why(add_command(commands, "why", help_text="explain what a pack makes of a name"))
    told = add_command(commands, "sets", help_text="list which concepts of several vocabularies are one thing, and why")
    _add_pack(told, run_sets)
    add_json(told, what="each pair")
    _configure_diff(add_command(commands, "diff", help_text="list what two packs differ in"))
    _configure_export(add_command(commands, "export", help_text="write the names of a pack as a table"))
    _configure_curate(add_command(commands, "curate", help_text="propose rules for names that do harm in texts"))


def _configure_build(parser: Parser) -> None:
    parser.set_defaults(run=run_build)
    parser.add_argument("sources", type=reads, metavar="SOURCES", help="a TOML file that names the vocabularies")
    parser.add_argument("-o", "--output", type=writes, required=True, metavar="PACK", help="the folder to write")
    parser.add_argument(
        "--memory", type=positive, default=256, metavar="MIB", help="for sorting; the build takes more; default: 256"
    )
    parser.add_argument(
        "--left-out",
        type=writes,
        metavar="TSV",
        help="also write the labels that are not looked for, each with the reason",
    )
    add_json(parser, what="the manifest")
    add_overwrite(parser)


def _configure_extend(parser: Parser) -> None:
    _add_pack(parser, run_extend)
    parser.add_argument(
        "own",
        type=reads,
        metavar="TABLE",
        help="a table with the titles concept and surface, and perhaps kind, type and so on; or a TOML file",
    )
    parser.add_argument("-o", "--output", type=writes, required=True, metavar="PACK", help="the folder to write")
    parser.add_argument("--type", default="", help="of the concepts of a table without such a column")
    parser.add_argument("--linker", type=reads, help="whose rankers are kept; default: the shipped one of the pack")
    add_json(parser, what="the manifest")
    add_overwrite(parser)


def _configure_why(parser: Parser) -> None:
    _add_pack(parser, run_why)
    parser.add_argument("surface", metavar="SURFACE", help="any name, in quotes if it has blanks")
    add_json(parser, what="the explanation")


def _configure_diff(parser: Parser) -> None:
    _add_pack(parser, run_diff)
    parser.add_argument("other", type=reads, metavar="PACK", help="the pack that is now; the first was before")
    parser.add_argument(
        "--corpus",
        nargs="+",
        action="extend",
        type=reads,
        default=[],
        metavar="FILE",
        help="also list the mentions in these texts that come, go or change their link",
    )
    add_json(parser, what="each difference")
    add_reading(parser, aliases=("--format",))


def _configure_export(parser: Parser) -> None:
    _add_pack(parser, run_export)
    _add_table(parser)
    parser.add_argument("--silent", action="store_true", help="the names that are kept out in place of those found")
    add_overwrite(parser)


def _configure_curate(parser: Parser) -> None:
    _add_pack(parser, run_curate)
    for name, metavar, what in (
        ("--corpus", "GOLD", "corpora with gold, which says which names are right"),
        ("--text", "RAW", "texts without gold, in which names are counted"),
    ):
        parser.add_argument(name, nargs="+", action="extend", type=reads, default=[], metavar=metavar, help=what)
    _add_table(parser)
    add_overwrite(parser)
    add_reading(parser, aliases=("--format",))


def _add_table(parser: Parser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        type=writes,
        default=STDIN,
        metavar="TSV",
        help="a file, or .gz; default: standard output",
    )


def _add_pack(parser: Parser, run: Callable[[argparse.Namespace], int]) -> None:
    parser.set_defaults(run=run)
    parser.add_argument(
        "pack",
        type=reads,
        metavar="PACK",
        help="a folder that fascicle index build wrote, or the name of a shipped pack",
    )


def run_build(args: argparse.Namespace) -> int:
    """Builds; returns the exit code."""
    asked = args.left_out is not None
    reports = defaultdict[str, SourceReport](lambda: SourceReport(labels=[] if asked else None))
    findings: list[Finding] = []
    steps = Steps()
    if asked:
        Inputs.of(files_of(args.sources)).refuse(args.left_out)
        check_target(args.left_out, overwrite=args.overwrite)
    try:
        with closing(steps):
            found = build_pack(
                args.sources,
                args.output,
                memory=args.memory,
                overwrite=args.overwrite,
                told=steps.see,
                reports=reports,
                findings=findings,
            )
    except InputError:
        _say_read({name: report for name, report in reports.items() if report.losses}, all_lines=True)
        raise
    _say_read(reports, all_lines=args.verbose)
    _say_rules(findings, all_lines=args.verbose)
    if asked:
        write_left_out(args.left_out, args.output, reports.values(), overwrite=args.overwrite)
    kept = f"{counted(found.counts['concepts'], 'concept')} and {counted(found.counts['names'], 'name')}"
    _print(msgspec.to_builtins(found), [found.full_name], as_json=args.json)
    say(f"wrote {args.output} with {kept}")
    return 0


def run_extend(args: argparse.Namespace) -> int:
    """Extends; returns the exit code."""
    reports: dict[str, SourceReport] = {}
    steps = Steps()
    with closing(steps):
        found = extend(
            args.pack,
            args.own,
            args.output,
            kind=args.type,
            linker=args.linker,
            overwrite=args.overwrite,
            told=steps.see,
            reports=reports,
        )
    _say_read(reports, all_lines=args.verbose)
    _print(msgspec.to_builtins(found), [found.full_name], as_json=args.json)
    kept = f"{counted(found.counts['concepts'], 'concept')} and {counted(found.counts['names'], 'name')}"
    say(f"wrote {args.output} with {kept}; it can be given as a pack and, with --link, as a linker")
    return 0


def _say_read(reports: Mapping[str, SourceReport], *, all_lines: bool) -> None:
    for name, report in reports.items():
        for line in report.lines() if all_lines else [report.summary()]:
            say(f"{name}: {line}")


def _say_rules(findings: Sequence[Finding], *, all_lines: bool) -> None:
    """What is wrong with rules, the harmless kinds as a number."""
    harmful = [one for one in findings if one.problem not in ("dead", "overruled", "twice")]
    loud = findings if all_lines else harmful[:_LOUD]
    for one in loud:
        say(f"curation: {one.said}")
    if rest := len(findings) - len(loud):
        say(f"curation: {counted(rest, 'more rule')} that can go or must be corrected; --verbose names all of them")


def run_stats(args: argparse.Namespace) -> int:
    """Counts; returns the exit code."""
    found = stats(args.pack)
    _print(msgspec.to_builtins(found), stats_lines(found), as_json=args.json)
    return 0


def run_verify(args: argparse.Namespace) -> int:
    """Verifies; returns the exit code."""
    found = verify(args.pack)
    line = f"{found.pack}: {found.files:,} files with {found.size:,} bytes are as they were written"
    _print(msgspec.to_builtins(found), [line], as_json=args.json)
    return 0


def run_sets(args: argparse.Namespace) -> int:
    """Lists pairs of concepts, one a line; returns the exit code."""
    counts = Counter[str]()
    for pair in sets(args.pack):
        counts["taken" if pair.taken else "conflict"] += 1
        if args.json:
            sys.stdout.write(msgspec.json.encode(pair).decode() + "\n")
        else:
            cells = (pair.concept, pair.label, pair.other, pair.other_label, pair.evidence)
            sys.stdout.write("\t".join((*(" ".join(cell.split()) for cell in cells), _TAKEN[pair.taken])) + "\n")
    say(f"{counted(counts['taken'], 'pair')} taken, {counted(counts['conflict'], 'conflict')}")
    return 0


def run_why(args: argparse.Namespace) -> int:
    """Explains; returns the exit code."""
    found = why(args.pack, args.surface)
    _print(msgspec.to_builtins(found), why_lines(found), as_json=args.json)
    return 0


def run_diff(args: argparse.Namespace) -> int:
    """Lists differences, one a line; returns the exit code."""
    counts, tally = Counter[str](), Tally()
    reading = reading_of(args)
    for change in diff(args.pack, args.other, corpus=args.corpus, reading=reading, account=tally.account):
        counts[f"{change.what}s {change.change}"] += 1
        if args.json:
            sys.stdout.write(msgspec.json.encode(change).decode() + "\n")
        else:
            cells = msgspec.structs.astuple(change)
            sys.stdout.write("\t".join(" ".join(cell.split()) for cell in cells) + "\n")
    say(", ".join(f"{what}: {count:,}" for what, count in sorted(counts.items())) or "the packs do not differ")
    tally.say()
    return tally.exit_code(strict=False)


def run_export(args: argparse.Namespace) -> int:
    """Writes the table; returns the exit code."""
    count = export(args.pack, args.output, silent=args.silent, overwrite=args.overwrite)
    if args.output != STDIN:
        say(f"wrote {count:,} names to {args.output}")
    return 0


def run_curate(args: argparse.Namespace) -> int:
    """Writes proposals; returns the exit code."""
    tally = Tally()
    request = CurateRequest(
        pack=args.pack,
        table=args.output,
        corpus=tuple(args.corpus),
        texts=tuple(args.text),
        reading=reading_of(args),
        overwrite=args.overwrite,
    )
    found = curate_pack(request, account=tally.account, watch=partial(with_progress, quiet=False))
    for note in found.notes:
        say(note)
    said = counted(len(found.proposals), "proposal")
    say(f"wrote {said} to {args.output}" if args.output != STDIN else said)
    tally.say()
    return tally.exit_code(strict=False)


def _print(values: object, lines: Iterable[str], *, as_json: bool) -> None:
    sys.stdout.write(json.dumps(values, ensure_ascii=False) + "\n" if as_json else "".join(f"{one}\n" for one in lines))


def _run_nothing(args: argparse.Namespace) -> int:
    raise UsageError(
        "index needs a command of its own: build, extend, stats, verify, sets, why, diff, export or curate; see "
        "fascicle index --help"
    )

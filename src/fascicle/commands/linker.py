"""``fascicle linker``: what decides which concept of a pack a mention means."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import closing

import msgspec

from fascicle.commands.console import Steps, Tally
from fascicle.commands.inputs import add_reading, documents_of, reading_of
from fascicle.commands.parsing import Parser, add_command, add_json, add_overwrite, commands_of
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say
from fascicle.errors import UsageError
from fascicle.knowledge.linking.dense import DenseSettings
from fascicle.knowledge.linking.fitting import FitSettings
from fascicle.knowledge.linking.folder import LinkerManifest
from fascicle.tasks.linker_fit import fit_folder


def configure(parser: Parser) -> None:
    """Adds the commands."""
    parser.set_defaults(run=_run_nothing)
    commands = commands_of(parser, dest="linker_command")
    _configure_fit(add_command(commands, "fit", help_text="index a pack, and fit a ranker to texts with links"))


def _configure_fit(parser: Parser) -> None:
    parser.set_defaults(run=run_fit)
    parser.add_argument(
        "packs",
        nargs="+",
        type=reads,
        metavar="PACK",
        help="a folder that fascicle index build wrote, or the name of a shipped pack; of several, a mention is linked "
        "by the first that has its type and a concept for it",
    )
    parser.add_argument(
        "--corpus",
        nargs="+",
        action="extend",
        type=reads,
        default=[],
        metavar="FILE",
        help="documents with links; without them, links stand in the order of tiers and have no probability",
    )
    parser.add_argument(
        "--small",
        action="store_true",
        help="some kB: without the index by which names with slips are found, and without names from the corpus",
    )
    parser.add_argument(
        "--index-of", type=reads, metavar="LINKER", help="another linker of the same packs, whose indexes are taken"
    )
    parser.add_argument(
        "--dense",
        metavar="ENCODER",
        help="find names in other words by vectors of this encoder, which goes along: a Hugging Face name, a folder, "
        "or package:NAME/FOLDER",
    )
    parser.add_argument(
        "--dense-types", nargs="+", default=[], metavar="TYPE", help="types whose names get vectors; all by default"
    )
    parser.add_argument("-o", "--output", type=writes, required=True, metavar="LINKER", help="the folder to write")
    add_json(parser, what="what the linker says of itself")
    add_overwrite(parser)
    add_reading(parser)


def run_fit(args: argparse.Namespace) -> int:
    """Fits; returns the exit code."""
    if args.dense_types and args.dense is None:
        raise UsageError("--dense-types says which names get vectors; give --dense with it")
    tally = Tally()
    dense = DenseSettings(encoder=args.dense, types=tuple(args.dense_types)) if args.dense is not None else None
    steps = Steps()
    with closing(steps):
        found = fit_folder(
            args.packs,
            args.output,
            documents=documents_of(args.corpus, reading_of(args), tally.account) if args.corpus else (),
            index_of=args.index_of,
            settings=FitSettings(remember=not args.small, indexed=not args.small, dense=dense),
            overwrite=args.overwrite,
            told=steps.see,
        )
    for one in found:
        if args.json:
            sys.stdout.write(json.dumps(msgspec.to_builtins(one), ensure_ascii=False) + "\n")
        else:
            sys.stdout.writelines(f"{line}\n" for line in _lines(one))
    tally.say()
    say(f"wrote {args.output}")
    return tally.exit_code(strict=False)


def _lines(found: LinkerManifest) -> list[str]:
    """What each tier was worth, a type and tier a line."""
    lines = [
        f"{found.pack}:",
        *([] if found.rankers else ["no annotated texts: links stand in the order of tiers, without probabilities"]),
    ]
    for kind, ranker in found.rankers.items():
        where = ", ".join(ranker.vocabularies) or "every vocabulary"
        lines.append(f"{kind}: {ranker.mentions:,} mentions; {where}; NIL below {ranker.threshold:.3f}")
        for tier, facts in ranker.tiers.items():
            precision = 100 * facts.right / max(facts.answered, 1)
            coverage = 100 * facts.answered / max(ranker.mentions, 1)
            lines.append(f"  {tier}: {precision:.1f} % right of {coverage:.1f} % of the mentions")
    few = found.few or {}
    return [
        *lines,
        *(f"{kind}: only {count:,} mentions can teach; no ranker was fitted" for kind, count in few.items()),
    ]


def _run_nothing(args: argparse.Namespace) -> int:
    raise UsageError("linker needs a command of its own: fit; see fascicle linker --help")

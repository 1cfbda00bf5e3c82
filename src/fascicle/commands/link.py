"""``fascicle link``: concepts for the mentions of documents, and why."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from fascicle.commands.console import Tally
from fascicle.commands.inputs import add_reading, documents_of, reading_of
from fascicle.commands.outputs import add_colour, add_format, writing_of
from fascicle.commands.parsing import Once, Parser, add_overwrite, positive
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say
from fascicle.commands.strictness import add_strictness
from fascicle.core.document import Document
from fascicle.core.provenance import dated
from fascicle.core.wording import counted
from fascicle.errors import UsageError
from fascicle.formats.outputs import write_documents
from fascicle.formats.requests import STDOUT
from fascicle.knowledge.linking.linker import Candidate, Decision
from fascicle.settings.folders.vocabularies import DEFAULT_LINKER
from fascicle.tasks.link import explain, link


def configure(parser: Parser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument("files", nargs="*", type=reads, metavar="PATH", help="documents with mentions; - for input")
    parser.add_argument(
        "--linker",
        action="append",
        type=reads,
        help="a folder that fascicle linker fit wrote, the name of a shipped linker, or a pack; of several, the first "
        f"that knows a concept for a mention answers; default: {DEFAULT_LINKER}",
    )
    parser.add_argument(
        "--pack",
        type=reads,
        action="append",
        default=[],
        help="of the linker, where it is not found by itself; may be repeated",
    )
    parser.add_argument(
        "--ontology",
        action=Once,
        default="",
        metavar="PREFIX",
        help="give the same concepts in another vocabulary of the pack",
    )
    parser.add_argument(
        "--keep-links",
        action="store_true",
        help="link only mentions without links; by default, links that mentions have are replaced",
    )
    parser.add_argument("--why", action="store_true", help="explain every decision, in place of writing documents")
    parser.add_argument("--json-lines", action="store_true", help="with --why: one JSON object a mention")
    parser.add_argument("--candidates", type=positive, default=5, metavar="N", help="with --why; default: 5")
    parser.add_argument("-o", "--output", type=writes, default=STDOUT, help="a file; default: standard output")
    add_format(parser, default="by the suffix of the output, else jsonl")
    add_colour(parser)
    add_overwrite(parser)
    add_strictness(parser)
    add_reading(parser)


def run(args: argparse.Namespace) -> int:
    """Links; returns the exit code."""
    tally = Tally()
    documents = documents_of(args.files, reading_of(args), tally.account)
    if args.why:
        if args.ontology or args.output != STDOUT:
            raise UsageError(
                "--why explains on standard output, in the vocabularies of the linker; leave out --ontology and -o"
            )
        chosen = {"linker": args.linker or DEFAULT_LINKER, "pack": args.pack, "keep_links": args.keep_links}
        for document, decisions in explain(documents, most=args.candidates, **chosen):
            for decision in decisions:
                _tell(document, decision, as_json=args.json_lines)
            if not args.json_lines:
                _tell_origins(document, decisions)
        tally.say()
        return tally.exit_code(strict=args.strict)
    writing = writing_of(args)
    writing.check()
    before = Counter[str]()
    linked = link(
        documents,
        linker=args.linker or DEFAULT_LINKER,
        pack=args.pack,
        ontology=args.ontology,
        keep_links=args.keep_links,
        told=lambda done, mentions: before.update({done: mentions}),
    )
    report = tally.account.open_report()
    write_documents(linked, writing, report=report)
    tally.account.add(report)
    tally.say()
    for done, mentions in before.items():
        instead = "without --keep-links they are replaced" if args.keep_links else "--keep-links keeps them"
        say(f"links that {counted(mentions, 'mention')} had were {done}; {instead}")
    tally.close(writing.path)
    return tally.exit_code(strict=args.strict)


def _tell(document: Document, decision: Decision, *, as_json: bool) -> None:
    if as_json:
        found = {"document": document.id, **msgspec.to_builtins(decision)}
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
        return
    nil = "" if decision.nil is None else f", none with {decision.nil:.3f}"
    head = f"{document.id} {decision.type} {decision.surface!r}: {_verdict(decision)}"
    sys.stdout.write(f"{head}{counted(len(decision.candidates), 'candidate')}{nil}\n")
    sys.stdout.writelines(f"  {line}\n" for one in decision.candidates for line in _lines(one))


def _verdict(decision: Decision) -> str:
    if decision.ambiguous:
        return f"ambiguous, the first {decision.ambiguous} cannot be told apart; "
    return "" if decision.answer else "NIL; "


def _tell_origins(document: Document, decisions: Sequence[Decision]) -> None:
    """A line for each pack that has candidates, with the dates of their vocabularies."""
    found: dict[str, set[tuple[str, str]]] = {}
    for decision in decisions:
        for one in decision.candidates:
            found.setdefault(decision.pack, set()).add((one.curie.partition(":")[0], one.date))
    sys.stdout.writelines(f"{document.id} candidates are of {dated(*pair)}\n" for pair in found.items())


def _lines(one: Candidate) -> Iterator[str]:
    score = "" if one.probability is None else f" {one.probability:.3f}"
    name = f" by {one.name!r}" if one.name else ""
    yield f"{one.curie} {one.label}{score}: {one.tier}{name}, {', '.join(one.ways)}"
    parts = sorted(one.parts.items(), key=lambda part: (-abs(part[1]), part[0]))
    told = [f"{what} {value:+.2f}" for what, value in parts if abs(value) >= 0.005]
    told = told or [f"{what} {value:.2f}" for what, value in one.features.items()]
    yield f"  {'; '.join(told)}"

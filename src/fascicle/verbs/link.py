"""Command ``fascicle link``: links the mentions of documents to concepts, and explains the
decisions.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import msgspec

from fascicle.core.arguments import Paths, to_path_list, validate_arguments
from fascicle.core.document import STEP, Document, name_with_dates
from fascicle.core.patches import apply
from fascicle.core.printed import run_on_printed
from fascicle.core.stream import portions
from fascicle.core.wording import plural
from fascicle.errors import UsageError
from fascicle.formats.outputs import STDOUT, write_documents
from fascicle.linking.decisions import Candidate, Decision
from fascicle.linking.opening import Linking, Places, find, without_links
from fascicle.settings.folders.vocabularies import DEFAULT_LINKER
from fascicle.verbs import shared
from fascicle.verbs.console import Tally
from fascicle.verbs.messages import say
from fascicle.verbs.options import Overwrite, call, option, positive, reads, writes

_TYPE: Final = "type "  # before the name of a type, in what `link` tells
_PORTION: Final = 1 << 18  # characters of text that are linked together
_Told = Callable[[str, int], None]


@validate_arguments
def link(
    documents: Iterable[Document],
    *,
    linker: Places = DEFAULT_LINKER,
    pack: Paths = (),
    ontology: str = "",
    keep_links: bool = False,
    told: _Told = lambda done, mentions: None,
) -> Iterator[Document]:
    """Links the mentions of documents, in order and in bounded memory.

    If no pack has the type of a mention, the mention and its links stay as they are.

    Args:
        documents: with mentions; may be a stream.
        linker: folder that ``fascicle linker fit`` wrote, the name of a shipped linker, a pack, or
            several of them: the first that has a concept for a mention answers.
        pack: folder of the pack that it was fitted with, or several; by default at the same paths
            as in the fit.
        ontology: prefix of a vocabulary, such as ``"MONDO"``: each link is mapped to it by the
            references of the pack, and is NIL without a reference.
        keep_links: link only mentions without links; by default, existing links are replaced.
        told: called for each document whose mentions had links, with ``"kept"`` or ``"replaced"``
            and their number. Also called with the name and the number of mentions of each type that
            no pack has, written ``"type NAME"``.

    Raises:
        PackError: the linker or the pack cannot be opened, or were not built for each other.
        UsageError: the pack has no concept of the ontology.
    """
    opened = find(linker, to_path_list(pack, name="pack"), ontology=ontology).opened()
    return (
        apply(document, patch, step=STEP)
        for chunk in _watched(documents, opened, keep_links=keep_links, told=told)
        for document, patch in zip(chunk, run_on_printed(opened.predict, chunk), strict=True)
    )


@validate_arguments
def explain(
    documents: Iterable[Document],
    *,
    linker: Places = DEFAULT_LINKER,
    pack: Paths = (),
    most: int = 5,
    keep_links: bool = False,
) -> Iterator[tuple[Document, list[Decision]]]:
    """Explains the links of `link` for the same documents: the candidates of each mention, and
    their weights.

    Args:
        documents: with mentions.
        linker: folder that ``fascicle linker fit`` wrote, the name of a shipped linker, a pack, or
            several of them: the first that has a concept for a mention answers.
        pack: folder of the pack that it was fitted with, or several; by default at the same paths
            as in the fit.
        most: largest number of candidates of each mention.
        keep_links: see `link`.

    Raises:
        PackError: the linker or the pack cannot be opened, or were not built for each other.
    """
    opened = find(linker, to_path_list(pack, name="pack")).opened()
    return (
        pair
        for chunk in _watched(documents, opened, keep_links=keep_links)
        for pair in zip(chunk, opened.explained(chunk, most=most), strict=True)
    )


def _watched(
    documents: Iterable[Document],
    linker: Linking,
    *,
    keep_links: bool,
    told: _Told = lambda done, mentions: None,
) -> Iterator[list[Document]]:
    """Yields documents in the form that the linker gets, in portions."""

    def bare(document: Document) -> Document:
        had = sum(
            bool(mention.links) and linker.covers(mention.type) for mention in document.mentions
        )
        if had:
            told("kept" if keep_links else "replaced", had)
        for kind, mentions in Counter(
            mention.type for mention in document.mentions if not linker.covers(mention.type)
        ).items():
            told(f"{_TYPE}{kind}", mentions)
        return without_links(document, linker.covers) if had and not keep_links else document

    return portions(map(bare, documents), characters=_PORTION)


_LINKER = (
    "a folder of fascicle linker fit, the name of a shipped linker, or a pack; with several "
    "linkers, a mention is "
    f"linked by the first one that has a concept for it; default: {DEFAULT_LINKER}"
)


class Options(shared.Colour, Overwrite, shared.StrictWriting, shared.ReadingOptions):
    """Options of ``fascicle link``.

    In Python: ``fascicle.link(fascicle.read("found.jsonl"), linker="linker", pack="pack")``

    Attributes:
        files: documents with mentions; - for standard input.
        pack: term pack of the linker, if it is not found automatically; may be repeated.
        ontology: give the same concepts in this vocabulary of the pack.
        keep_links: link only mentions without links; by default, existing links are replaced.
        why: explain every decision instead of writing documents.
        json_lines: with --why: one JSON object for each mention.
        candidates: with --why: number of candidates that are shown for each mention; default: 5.
        output: the file to write (for brat: a folder, or a .zip); default: standard output.
    """

    files: list[str] = option("PATH *", reads)
    linker: list[str] = option("--linker LINKER ...", reads, help=_LINKER)
    pack: list[str] = option("--pack PACK ...", reads)
    ontology: str = shared.ONTOLOGY
    keep_links: bool = option("--keep-links")
    why: bool = option("--why")
    json_lines: bool = option("--json-lines")
    candidates: int = option("--candidates N", positive, default=5)
    output: str = option("-o --output OUTPUT", writes, default=STDOUT)
    format: str | None = shared.output_format("by the suffix of the output, else jsonl")


def run(args: Options) -> int:
    """Links the documents; returns the exit code."""
    tally = Tally()
    documents = shared.counted_documents(args.files, shared.read_request(args), tally.account)
    if args.why:
        _explain(args, documents)
        return tally.end(strict=args.strict)
    writing = shared.write_request(args)
    writing.check()
    before = Counter[str]()
    linked = call(
        link,
        args,
        documents=documents,
        linker=args.linker or DEFAULT_LINKER,
        told=lambda done, mentions: before.update({done: mentions}),
    )
    report = tally.account.open_report()
    write_documents(linked, writing, report=report)
    tally.account.add(report)
    tally.say()
    _say_what_was_before(before, keeps=args.keep_links)
    tally.close(writing.path)
    return tally.exit_code(strict=args.strict)


def _explain(args: Options, documents: Iterator[Document]) -> None:
    """Prints the decisions about each mention."""
    if args.ontology or args.output != STDOUT:
        raise UsageError(
            "--why explains on standard output, in the vocabularies of the linker; leave out "
            "--ontology and -o"
        )
    linker = args.linker or DEFAULT_LINKER
    for document, decisions in call(
        explain, args, documents=documents, linker=linker, most=args.candidates
    ):
        for decision in decisions:
            _tell(document, decision, as_json=args.json_lines)
        if not args.json_lines:
            _tell_origins(document, decisions)


def _say_what_was_before(before: Counter[str], *, keeps: bool) -> None:
    """Says which mentions had links already, and which are of a type that no pack has."""
    without = {
        done.removeprefix(_TYPE): before.pop(done) for done in [*before] if done.startswith(_TYPE)
    }
    if without:
        listing = ", ".join(
            f"{kind!r} ({mentions:,})" for kind, mentions in sorted(without.items())[:5]
        )
        say(
            f"note: {plural(sum(without.values()), 'mention')} unchanged, because no pack has the "
            f"type: {listing}"
        )
    for done, mentions in before.items():
        instead = "without --keep-links they are replaced" if keeps else "--keep-links keeps them"
        say(f"links that {plural(mentions, 'mention')} had were {done}; {instead}")


def _tell(document: Document, decision: Decision, *, as_json: bool) -> None:
    if as_json:
        record = {"document": document.id, **msgspec.to_builtins(decision)}
        sys.stdout.write(msgspec.json.encode(record).decode() + "\n")
        return
    nil = "" if decision.nil is None else f", none with {decision.nil:.3f}"
    head = f"{document.id} {decision.type} {decision.surface!r}: {_verdict(decision)}"
    sys.stdout.write(f"{head}{plural(len(decision.candidates), 'candidate')}{nil}\n")
    sys.stdout.writelines(
        f"  {line}\n" for candidate in decision.candidates for line in _lines(candidate)
    )


def _verdict(decision: Decision) -> str:
    if decision.ambiguous:
        return f"ambiguous, the first {decision.ambiguous} cannot be told apart; "
    if decision.answer:
        return ""
    return "NIL, none fits; " if decision.candidates else "NIL, no name is like it; "


def _tell_origins(document: Document, decisions: Sequence[Decision]) -> None:
    """Prints a line for each pack that has candidates, with the dates of their vocabularies."""
    origins: dict[str, set[tuple[str, str]]] = {}
    for decision in decisions:
        for candidate in decision.candidates:
            origins.setdefault(decision.pack, set()).add(
                (candidate.curie.partition(":")[0], candidate.date)
            )
    sys.stdout.writelines(
        f"{document.id}: candidates are of {name_with_dates(*pair)}\n" for pair in origins.items()
    )


def _lines(candidate: Candidate) -> Iterator[str]:
    score = "" if candidate.probability is None else f" {candidate.probability:.3f}"
    name = f" by {candidate.name!r}" if candidate.name else ""
    yield (
        f"{candidate.curie} {candidate.label}{score}: {candidate.tier}{name}, "
        f"{', '.join(candidate.ways)}"
    )
    parts = sorted(candidate.parts.items(), key=lambda part: (-abs(part[1]), part[0]))
    terms = [f"{what} {value:+.2f}" for what, value in parts if abs(value) >= 0.005]
    terms = terms or [f"{what} {value:.2f}" for what, value in candidate.features.items()]
    yield f"  {'; '.join(terms)}"

"""``fascicle linker``: what decides which concept of a pack a mention means."""

from __future__ import annotations

import json
import sys
from contextlib import closing

import msgspec

from fascicle.commands.console import Steps, Tally
from fascicle.commands.options import Overwrite, option
from fascicle.commands.places import reads, writes
from fascicle.commands.saying import say
from fascicle.commands.shared import Reading, counted_documents, reading_of
from fascicle.errors import UsageError
from fascicle.knowledge.linking.dense import DenseSettings
from fascicle.knowledge.linking.fitting import FitSettings
from fascicle.knowledge.linking.folder import LinkerManifest
from fascicle.tasks.linker_fit import fit_folder


class Fit(Overwrite, Reading):
    """Index a pack, and fit a ranker to texts with links.

    In Python: ``fascicle.tasks.linker_fit.fit_folder("pack", "linker", documents=fascicle.read("links.jsonl"))``

    Attributes:
        packs: a folder that fascicle index build wrote, or the name of a shipped pack; of several, a mention is linked
            by the first that has its type and a concept for it.
        corpus: documents with links; without them, links stand in the order of tiers and have no probability.
        small: some kB: without the index by which names with slips are found, and without names from the corpus.
        index_of: another linker of the same packs, whose indexes are taken.
        dense: find names in other words by vectors of this encoder, which goes along: a Hugging Face name, a folder, or
            package:NAME/FOLDER.
        dense_types: types whose names get vectors; all by default.
        output: the folder to write.
        json: print what the linker says of itself as JSON.
    """

    packs: list[str] = option("PACK +", reads)
    corpus: list[str] = option("--corpus FILE +", reads)
    small: bool = option("--small")
    index_of: str | None = option("--index-of LINKER", reads)
    dense: str | None = option("--dense ENCODER")
    dense_types: list[str] = option("--dense-types TYPE +", action="store", default=[])
    output: str = option("-o --output LINKER", writes, required=True)
    json: bool = option("--json")


def run_fit(args: Fit) -> int:
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
            documents=counted_documents(args.corpus, reading_of(args), tally.account) if args.corpus else (),
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


COMMANDS = {
    "fit": (Fit, run_fit),
}

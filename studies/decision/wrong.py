"""Draws wrong mentions of a row by hash, for people to read: why are its scores too high?

usage: python -m studies.decision.wrong MODEL SCORES ROW [--mentions 50]

SCORES is the folder of ``studies.decision.scores``; ROW a name as of
``results/decision-MODEL.json``. Prints the score of each mention, the mention in its context, and
what people marked there, of any type.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections.abc import Sequence
from heapq import nsmallest
from pathlib import Path

from fascicle.core.document import GOLD, Document, Mention
from fascicle.loading import load_single
from studies.decision import measure

AROUND = 40  # characters


def main(argv: Sequence[str] | None = None) -> int:
    """Draws and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model")
    parser.add_argument("scores", type=Path)
    parser.add_argument("row")
    parser.add_argument("--mentions", type=int, default=50)
    args = parser.parse_args(argv)
    (row,) = (one for one in measure.ROWS if one.name == args.row)
    model = load_single(args.model, threads=1)
    taught = (
        measure.taught_sentences(Path(os.environ["FASCICLE_DATA"])) if row.fresh else frozenset()
    )
    path = args.scores / model.name / f"{row.file}.jsonl"
    said = measure.answers(path, row, model, taught=taught)
    wrong = [
        (one, mention)
        for one in said.documents
        for mention in said.after[one.id]
        if mention.type == row.type
        and mention.spans not in {gold.spans for gold in one.layer(GOLD) if gold.type in row.labels}
    ]
    every = sum(mention.type == row.type for found in said.after.values() for mention in found)
    print(f"{every:,} mentions, {len(wrong):,} wrong")
    for document, mention in nsmallest(args.mentions, wrong, key=lambda pair: _place(*pair)):
        start, end = mention.start, mention.end
        around = document.text[max(0, start - AROUND) : start], document.text[end : end + AROUND]
        shown = f"{around[0]}|{document.text[start:end]}|{around[1]}".replace("\n", " ")
        print(f"{mention.score:.2f}", shown, _gold(document, mention), sep="\t")
    return 0


def _place(document: Document, mention: Mention) -> bytes:
    return hashlib.sha256(f"{document.id} {mention.spans}".encode()).digest()


def _gold(document: Document, mention: Mention) -> str:
    near = (
        one for one in document.layer(GOLD) if one.start < mention.end and mention.start < one.end
    )
    return "; ".join(f"{one.type}: {document.text[one.start : one.end]}" for one in near) or "-"


if __name__ == "__main__":
    raise SystemExit(main())

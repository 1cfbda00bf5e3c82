"""Draws mentions of a model on raw abstracts by hash, for people to read: are they whole names, and
nothing but names?

usage: python -m studies.decision.mentions MODEL DRAW [--texts 400] [--mentions 1000]

Prints a line for each mention: its number, its type, its score, and the mention in its context.
DRAW names the draw: another word draws other texts. ``FASCICLE_DATA`` names the folder of
``text-abstracts``.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections.abc import Sequence
from heapq import nsmallest
from pathlib import Path
from typing import Final

from fascicle.core.document import Document
from fascicle.formats import read
from fascicle.loading import load_single

AROUND: Final = 30  # characters


def main(argv: Sequence[str] | None = None) -> int:
    """Draws and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model")
    parser.add_argument("draw")
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--mentions", type=int, default=1000)
    args = parser.parse_args(argv)

    def place(said: str) -> bytes:
        return hashlib.sha256(f"{args.draw} {said}".encode()).digest()

    path = Path(os.environ["FASCICLE_DATA"]) / "text-abstracts" / "abstracts.jsonl.gz"
    texts = nsmallest(args.texts, (one.text for one in read(path)), key=place)
    documents = [Document(id=str(at), text=text) for at, text in enumerate(texts)]
    patches = load_single(args.model, threads=1).predict(documents)
    every = [
        (one, mention)
        for one, patch in zip(documents, patches, strict=True)
        for mention in patch.add
    ]
    drawn = nsmallest(
        args.mentions,
        every,
        key=lambda pair: place(f"{pair[0].text} {pair[1].type} {pair[1].spans}"),
    )
    for number, (document, mention) in enumerate(drawn, 1):
        start, end = mention.start, mention.end
        before, after = (
            document.text[max(0, start - AROUND) : start],
            document.text[end : end + AROUND],
        )
        said = f"{before}|{document.text[start:end]}|{after}".replace("\n", " ").replace("\t", " ")
        print(number, mention.type, f"{mention.score:.2f}", said, sep="\t")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

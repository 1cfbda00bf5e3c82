"""How often is a match of the shipped pack right in open text? A reader judges random matches; this
writes the counts.

usage: FASCICLE_DATA=... python -m studies.packs.judging [--pack basic] [--wrong TYPE=NUMBER,NUMBER
...]

Texts are drawn by a seed: abstracts, articles and pages for patients, 10 million characters. Of
each type, matches are drawn that differ in text or in name, for one article may have a name a
hundred times: 100 of genes and of cell lines, 50 of others. A match is right if what stands there
is of that type with these ends; links are not looked at. Without ``--wrong`` the matches are shown
with numbers and with what stands around them; with it, the counts go to
``results/pack-judging.json``, without any text. Give ``--wrong`` for each type; ``TYPE=`` if all
are right.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from fascicle.core.document import Document
from fascicle.terms.pack.pack import Pack
from fascicle.terms.recognising import PackRecogniser
from studies.common import write_result

NAME = "pack-judging"
SEED = 23
LONGEST = 60_000  # characters of a text
TEXTS = {  # file below the folder of the data -> characters
    "text-abstracts/abstracts.jsonl.gz": 4_000_000,
    "text-elife/elife-01.jsonl.gz": 3_500_000,
    "text-pmc-rct/pmc-rct.jsonl.gz": 1_000_000,
    "text-plos/plos.jsonl.gz": 1_000_000,
    "text-medquad/medquad.jsonl.gz": 500_000,
}
READ = {"Gene": 100, "CellLine": 100}
READ_OF_OTHERS = 50


class Match(NamedTuple):
    """A match with what stands around it."""

    type: str
    document: str
    surface: str
    before: str
    after: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Shows the matches, or writes what was judged."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pack", default="basic")
    parser.add_argument("--wrong", nargs="+", metavar="TYPE=NUMBERS")
    args = parser.parse_args(arguments)
    pack = Pack.open(args.pack)
    drawn = _drawn(matches(pack, list(texts())))
    if args.wrong is None:
        for kind, found in sorted(drawn.items()):
            for number, one in enumerate(found, start=1):
                sys.stdout.write(
                    f"{kind} {number}: {one.before[-60:]}[[{one.surface}]]{one.after[:40]}\n"
                )
        return 0
    told = dict(one.split("=", 1) for one in args.wrong)
    if missing := sorted(drawn.keys() ^ told.keys()):
        parser.error(f"--wrong is needed once for each type; see {', '.join(missing)}")
    rows = [_row(kind, found, told[kind]) for kind, found in sorted(drawn.items())]
    write_result(
        NAME,
        {"pack": pack.full_name, "seed": SEED, "characters": sum(TEXTS.values()), "rows": rows},
    )
    return 0


def texts() -> Iterator[Document]:
    """The texts, in an order that the seed gives."""
    rng = random.Random(SEED)
    for name, characters in TEXTS.items():
        with gzip.open(Path(os.environ["FASCICLE_DATA"]) / name, "rt", encoding="utf-8") as stream:
            lines = stream.readlines()
        rng.shuffle(lines)
        for number, line in enumerate(lines):
            record = json.loads(line)
            parts = [
                record.get("title"),
                record.get("abstract"),
                record.get("text"),
                *_paragraphs(record),
            ]
            text = "\n\n".join(part for part in parts if part)[:LONGEST]
            yield Document(id=f"{name} {number}", text=text)
            characters -= len(text)
            if characters <= 0:
                break


def matches(pack: Pack, documents: Sequence[Document]) -> dict[str, list[Match]]:
    """Type -> its matches, each name once for each text."""
    found: dict[str, dict[tuple[str, str], Match]] = {}
    patches = PackRecogniser({"pack": pack}).predict(documents)
    for document, patch in zip(documents, patches, strict=True):
        for mention in patch.add:
            start, end = mention.start, mention.end
            around = (document.text[max(0, start - 80) : start], document.text[end : end + 60])
            before, after = (part.replace("\n", " ") for part in around)
            one = Match(mention.type, document.id, document.text[start:end], before, after)
            found.setdefault(mention.type, {}).setdefault((one.document, one.surface), one)
    return {kind: list(several.values()) for kind, several in found.items()}


def _drawn(found: dict[str, list[Match]]) -> dict[str, list[Match]]:
    return {
        kind: random.Random(SEED).sample(several, min(len(several), READ.get(kind, READ_OF_OTHERS)))
        for kind, several in found.items()
    }


def _paragraphs(record: dict[str, object]) -> list[str]:
    several = record.get("paragraphs")
    return (
        [part if isinstance(part, str) else part["text"] for part in several]
        if isinstance(several, list)
        else []
    )


def _row(kind: str, found: Sequence[Match], wrong: str) -> dict[str, object]:
    numbers = {int(number) for number in wrong.split(",") if number}
    if not numbers <= set(range(1, len(found) + 1)):
        raise SystemExit(f"{kind} has matches 1 to {len(found)}")
    return {"type": kind, "read": len(found), "right": len(found) - len(numbers)}


if __name__ == "__main__":
    sys.exit(main())

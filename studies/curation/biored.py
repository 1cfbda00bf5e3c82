"""The loop of a curator on BioRED: names and concepts, what the model is least sure of first,
beside chance.

usage: python -m studies.curation.biored [--seeds 1 2 3] [--minutes 90] [--smoke]

See ``biored.md``. Needs ``FASCICLE_DATA``. A seed that the results have already is left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from fascicle.core.document import Document
from fascicle.core.mention import Mention
from fascicle.formats.files import read
from studies.curation.curve import Loop, curves, measure, run
from studies.linking.corpora import documents

RESULT = "curation-biored"
PACK = "basic@1"
POOL = 300
POINTS = ((20, 8), (60, 5), (120, 4))
SMOKE = ((2, 1), (4, 1))  # shows that the way can be gone, and measures nothing


def main() -> None:
    """Measures seed after seed, as long as there is time, and writes
    ``results/curation-biored.json``.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument(
        "--minutes", type=float, default=90.0, help="of one core, after which no seed begins"
    )
    parser.add_argument(
        "--smoke", action="store_true", help="go the way with a few documents, and write nothing"
    )
    args = parser.parse_args()
    train, dev = (part("fit"), part("dev"))
    if args.smoke:
        with tempfile.TemporaryDirectory() as folder:
            curves(
                Path(folder), 1, Loop(train=train, dev=dev[:3], pool=8, points=SMOKE, also=recall)
            )
        return
    measure(
        RESULT,
        Loop(train=train, dev=dev, pool=POOL, points=POINTS, also=recall),
        seeds=args.seeds,
        minutes=args.minutes,
    )


def part(name: str) -> list[Document]:
    """Documents of BioRED with the types and identifiers of the pack; of a mention, gold alone."""
    found = documents("biored", "fit" if name == "fit" else "dev", choosing=True)
    return [
        one.having(mentions=tuple(map(_plain, one.mentions)), abbreviations=None) for one in found
    ]


def _plain(mention: Mention) -> Mention:
    return msgspec.structs.replace(mention, attributes=(), score=None)


def recall(folder: Path, known: Sequence[Document]) -> dict[str, float]:
    """Recall@1 of a linker that is fitted to what was curated so far, on the mentions of dev.

    Args:
        folder: of this point, with the file of decisions of its last step.
        known: gold of all steps.
    """
    run(
        "curation",
        "export",
        str(folder / "decisions.sqlite"),
        "-o",
        str(folder / "part.jsonl"),
        "--overwrite",
    )
    by_id = {one.id: one for one in known}
    for one in read(folder / "part.jsonl"):  # the command writes what the curator decided
        if {(m.key, m.links) for m in one.mentions} != {
            (m.key, m.links) for m in by_id[one.id].mentions
        }:
            raise AssertionError(f"the part has another {one.id} than the curator decided")
    linker, dev = folder / "linker", folder.parent / "dev.jsonl"
    if not linker.exists():
        run(
            "linker",
            "fit",
            PACK,
            "--small",
            "--corpus",
            str(folder / "gold.jsonl"),
            "-o",
            str(linker),
        )
    found = json.loads(run("evaluate", str(dev), "--links", "--linker", str(linker), "--json"))
    value = found["systems"][0]["figures"]["recall@1"]["value"]
    sys.stdout.write(f"{folder.name}: recall@1 {value}\n")
    return {"recall@1": value}


if __name__ == "__main__":
    main()

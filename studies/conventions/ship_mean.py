"""Ships a mean of ``mean.py``: measures every row of the card, and writes the model folder.

usage: python -m studies.conventions.ship_mean INT8 RUN FITTED [--of MODEL] [--full FP32]

INT8 is an export of ``mean.py``, named as the model that ships, and FP32 one with weights in 32 bits
(``mean.py --full``), without which the card has no column for it; RUN is the run in the mean, MODEL the shipped model in it; FITTED is the file of ``results``
that the exports were decided by, which also has what its twin took. Written: the model folder with
its card, ``results/shipped-NAME.json``, and its rows in ``results/six-rows.json``. The runs of the
card are RUN, its twin, and those of MODEL, from whose weights RUN started. ``FASCICLE_DATA`` names
the corpora.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from fascicle.loading import load_all_types
from fascicle.settings.decision import CAPITALS
from fascicle.settings.folders.described import CARD
from fascicle.settings.folders.manifest import MANIFEST, read_manifest, write_manifest
from studies.common import ROOT, result, write_result
from studies.decision import taught
from studies.ship_six import measured, run_facts
from studies.six.card import card


def main(argv: Sequence[str] | None = None) -> None:
    """Measures, and writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("int8", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("fitted", help="a file of results, without .json")
    parser.add_argument("--full", type=Path, help="the export in 32 bits")
    parser.add_argument("--of", default="biomed@2", help="the shipped model in the mean")
    parser.add_argument("--assets", type=Path, default=ROOT / "src" / "fascicle" / "assets")
    args = parser.parse_args(argv)
    made, name = args.int8, read_manifest(args.int8).name
    _reads_capitals(made)
    taught.written(made, name)
    full = load_all_types(args.full) if args.full else None
    facts = measured(name, load_all_types(made), full)
    facts |= {
        "decision": {"abbreviations": result(args.fitted)["decision"]["abbreviations"]},
        "runs": runs(run_facts(args.run), fitted=args.fitted, other=args.of),
        "mean_with": args.of,
        "size_bytes": sum(path.stat().st_size for path in made.iterdir()),
    }
    write_result(f"shipped-{name}", facts)
    (made / CARD).write_text(card(read_manifest(made), facts), encoding="utf-8")
    (made / MANIFEST).touch()  # a card that is younger than its manifest counts as edited
    shutil.copytree(made, args.assets / name)


def _reads_capitals(folder: Path) -> None:
    """Lets the model read texts without capitals in capitals, as all that ship do."""
    manifest = read_manifest(folder)
    decision = msgspec.structs.replace(manifest.decision, characters=CAPITALS)
    write_manifest(
        folder, msgspec.structs.replace(manifest, decision=decision), names=sorted(manifest.files)
    )


def runs(own: dict[str, Any], *, fitted: str, other: str) -> list[dict[str, Any]]:
    """Returns the facts of a run, of its twin, and of the runs behind a model that ships.

    Args:
        own: facts of the run.
        fitted: a file of results, which names the twin and has the seconds of its epochs.
        other: the model that ships.
    """
    said = result(fitted)
    hours = sum(epoch["seconds"] for epoch in said["dev"]) / 3600
    folder = own["folder"].replace(own["name"], said["twin"])
    twin = own | {"name": said["twin"], "folder": folder, "hours": hours}
    return [own, twin, *result(f"shipped-{other}")["runs"]]


if __name__ == "__main__":
    main()

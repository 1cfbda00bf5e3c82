"""Gives a shipped model of six types the decision of documents that was fitted on its twin.

usage: fascicle calibrate TWIN FOLDER/*.jsonl --document --json -o FITTED > SAID
       python -m studies.decision.ship SAID MODEL [--taught-dev] [--assets FOLDER]

TWIN is the model of the same training with dev kept from it, or MODEL itself if it did not learn
from dev. FOLDER is that of ``studies.decision.development``. Writes the manifest of MODEL, and
``results/decision-fit-MODEL.json``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import msgspec

from fascicle.settings.decision import CAPITALS, DocumentDecision
from fascicle.settings.folders.manifest import read_manifest, write_manifest
from studies.common import ROOT, write_result


def main(argv: Sequence[str] | None = None) -> int:
    """Writes manifests, and what was fitted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("said", type=Path)
    parser.add_argument("model", help="that ships")
    parser.add_argument(
        "--taught-dev",
        action="store_true",
        help="the model learnt from texts that it was fitted on",
    )
    parser.add_argument("--assets", type=Path, default=ROOT / "src" / "fascicle" / "assets")
    args = parser.parse_args(argv)
    said = json.loads(args.said.read_text(encoding="utf-8"))
    document = msgspec.convert(said["document"], DocumentDecision)
    folder = args.assets / args.model
    manifest = read_manifest(folder)
    own = msgspec.structs.replace(document, untaught=msgspec.UNSET) if args.taught_dev else document
    decision = msgspec.structs.replace(manifest.decision, document=own, characters=CAPITALS)
    write_manifest(
        folder, msgspec.structs.replace(manifest, decision=decision), names=sorted(manifest.files)
    )
    write_result(f"decision-fit-{args.model}", {"model": args.model, **said})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

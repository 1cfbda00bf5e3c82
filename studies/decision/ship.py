"""Gives the shipped models of six types the decision of documents that was fitted on ``biomed-fast@1``.

usage: fascicle calibrate biomed-fast@1 FOLDER/*.jsonl --document --json -o FITTED > SAID
       python -m studies.decision.ship SAID [--assets FOLDER]

FOLDER is that of ``studies.decision.development``. Writes both manifests, and ``results/decision-fit.json``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import msgspec

from fascicle.settings.decision import PLAIN, DocumentDecision
from fascicle.settings.folders.manifest import read_manifest, write_manifest
from studies.common import ROOT, write_result

MODELS = ("biomed@1", "biomed-fast@1")
FITTED_ON = "biomed-fast@1"


def main(argv: Sequence[str] | None = None) -> int:
    """Writes manifests, and what was fitted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("said", type=Path)
    parser.add_argument("--assets", type=Path, default=ROOT / "src" / "fascicle" / "assets")
    args = parser.parse_args(argv)
    said = json.loads(args.said.read_text(encoding="utf-8"))
    document = msgspec.convert(said["document"], DocumentDecision)
    for name in MODELS:
        folder = args.assets / name
        manifest = read_manifest(folder)
        untaught = document.untaught if name == FITTED_ON else msgspec.UNSET  # the other one learnt from dev
        own = msgspec.structs.replace(document, untaught=untaught)
        decision = msgspec.structs.replace(manifest.decision, document=own, characters=PLAIN)
        write_manifest(folder, msgspec.structs.replace(manifest, decision=decision), names=sorted(manifest.files))
    command = f"fascicle calibrate {FITTED_ON} FILES --document"
    write_result("decision-fit", {"model": FITTED_ON, "command": command, **said})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

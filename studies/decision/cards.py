"""Writes the cards of the shipped models of six types anew, from the stored results.

usage: python -m studies.decision.cards [--assets FOLDER]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from fascicle.settings.folders.described import CARD
from fascicle.settings.folders.manifest import MANIFEST, read_manifest
from studies.common import MODELS, ROOT, result
from studies.six.card import card


def main(argv: Sequence[str] | None = None) -> int:
    """Writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--assets", type=Path, default=ROOT / "src" / "fascicle" / "assets")
    assets = parser.parse_args(argv).assets
    for name in MODELS:
        folder = assets / name
        (folder / CARD).write_text(
            card(read_manifest(folder), result(f"shipped-{name}")), encoding="utf-8"
        )
        (folder / MANIFEST).touch()  # a card that is younger than its manifest counts as edited
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

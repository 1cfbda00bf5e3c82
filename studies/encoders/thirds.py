"""Writes the first third of the sentences of some training parts, for
``studies/grids/encoders.toml``.

usage: FASCICLE_DATA=... python -m studies.encoders.thirds OUT

Writes ``OUT/CORPUS.tsv``; name OUT in ``FASCICLE_THIRDS``. A sentence ends at a blank line; marks
of documents go.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

CORPORA = ("ncbi-disease", "bc5cdr")


def main() -> int:
    """Writes one file for each corpus."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name in CORPORA:
        text = (Path(os.environ["FASCICLE_DATA"]) / name / "iob" / "train.tsv").read_text(
            encoding="utf-8"
        )
        sentences = [
            part
            for part in text.split("\n\n")
            if part.strip() and not part.startswith("-DOCSTART-")
        ]
        chosen = sentences[: len(sentences) // 3]
        (out / f"{name}.tsv").write_text(
            "\n\n".join(part.strip("\n") for part in chosen) + "\n", encoding="utf-8"
        )
        sys.stdout.write(f"{name}: {len(chosen):,} of {len(sentences):,} sentences\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

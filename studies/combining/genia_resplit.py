"""GENIA as *comparing-and-combining* splits it: 18,546 sentences in file order, 50 / 25 / 25 per
cent.

usage: python -m studies.combining.genia_resplit OUT

``FASCICLE_DATA`` names the corpora. Writes ``OUT/{train,dev,test}.jsonl`` in the native format, for
the corpus ``genia-resplit`` of ``studies/grids/combining.toml``, whose paths begin with
``$FASCICLE_GENIA``: name OUT so. Abstracts are cut where a part ends, as in the paper; the usual
parts, 81 / 9 / 10 per cent, are other ones.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from fascicle.core.document import Document
from fascicle.formats import read
from studies.common import write_parts

# in the order of the corpus
FILES = ("nested.train.jsonl.gz", "nested.dev.jsonl", "nested.test.jsonl")


def resplit(sentences: Sequence[Document]) -> dict[str, Sequence[Document]]:
    """The parts, in file order; what rounding leaves goes to the last."""
    first, second = len(sentences) // 2, len(sentences) * 3 // 4
    return {"train": sentences[:first], "dev": sentences[first:second], "test": sentences[second:]}


def main() -> int:
    """Writes the parts and prints their sizes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    out: Path = parser.parse_args().out
    folder = Path(os.environ["FASCICLE_DATA"]) / "genia"
    write_parts(out, resplit([document for name in FILES for document in read(folder / name)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

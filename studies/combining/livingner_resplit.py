"""The sentences of LivingNER that are at hand, dealt out anew: not the official parts, whose train
part is not free.

usage: python -m studies.combining.livingner_resplit OUT

``FASCICLE_DATA`` names the corpora. Writes ``OUT/{train,dev,test}.jsonl`` in the native format, for
the corpus ``livingner-resplit`` of ``studies/grids/combining.toml``, whose paths begin with
``$FASCICLE_LIVINGNER``: name OUT so. Four fifths of the free valid part are train, the last fifth
is dev, in file order, which is no order of documents; the free test part is test. Sentences of
train and dev that test has too, in any case of letters, are left out.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from fascicle.core.document import Document
from fascicle.settings.recipes.corpora import CorpusSettings, CorpusTypes
from fascicle.training.corpus import read_part
from studies.common import write_parts


def resplit(valid: Sequence[Document], test: Sequence[Document]) -> dict[str, Sequence[Document]]:
    """The parts, in file order."""
    tested = {document.text.casefold() for document in test}
    kept = [document for document in valid if document.text.casefold() not in tested]
    end = len(kept) * 4 // 5
    return {"train": kept[:end], "dev": kept[end:], "test": test}


def main() -> int:
    """Writes the parts and prints their sizes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    out: Path = parser.parse_args().out
    folder = Path(os.environ["FASCICLE_DATA"]) / "livingner-es"
    corpus = CorpusSettings(
        train=str(folder / "species_valid.iob2"),
        dev=str(folder / "species_valid.iob2"),
        test=str(folder / "species_test.iob2.gz"),
        format="conll",
        documents="sentence",
        types=CorpusTypes(keep=("HUMAN", "SPECIES")),  # a few labels of valid are typing errors
    )
    write_parts(out, resplit(read_part(corpus, "train"), read_part(corpus, "test")))
    return 0


if __name__ == "__main__":
    sys.exit(main())

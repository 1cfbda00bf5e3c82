"""Reads corpora once with the network and keeps what it says, so that a decision is fitted and
judged without it.

usage: python -m studies.decision.scores MODEL FOLDER [NAME ...]

Each NAME of ``FILES`` gives ``FOLDER/MODEL/NAME.jsonl`` in the native format: documents with their
gold, and the mentions of the model with the scores of its head, before any curve, threshold or
rule. Characters are made plain before the network reads. What is there already is not read again.
``FASCICLE_DATA`` names the corpora.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from fascicle.core.document import Document
from fascicle.core.patches import apply
from fascicle.formats import read, write
from fascicle.loading import load_single
from fascicle.runtime.predictor import ModelPredictor
from fascicle.text.characters import with_plain_characters

FILES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "biored-test": "biored/Test.PubTator",
        "nlm-gene-test": "nlm-gene/Test.PubTator",
        "ncbi-test": "ncbi-disease/pubtator/test.PubTator.txt",
        "gnormplus-test": "gnormplus-bc2gn/Test.PubTator",
        "bc5cdr-test": "bc5cdr/pubtator/CDR_TestSet.PubTator.txt",
        "jnlpba-test": "jnlpba/jnlpba-standoff.zip/test",
        "cellfinder": "cellfinder/cellfinder1-brat.zip",
        "drugprot": "drugprot/DrugProt_Test.PubTator.gz",
        "cg": "bionlp13cg/standoff.zip",
        "bioid-test": "bioid/Test_revision.PubTator.gz",
        "aimed": "foreign-genes/aimed.jsonl",
        "bioinfer": "foreign-genes/bioinfer.jsonl",
        "exptm": "foreign-genes/exptm-test.jsonl",
        "bc2gm-test": "bc2gm/iob/test.tsv",
        "linnaeus-test": "linnaeus/iob/test.tsv",
        "nlm-chem": "nlm-chem/Test.PubTator.gz",
    }
)
# the model sees the sentences and words of these corpora
GIVEN: Final = ("bc2gm-test", "linnaeus-test")


def main(argv: Sequence[str] | None = None) -> int:
    """Reads and writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model")
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", default=list(FILES), help=", ".join(FILES)
    )
    args = parser.parse_args(argv)
    data = Path(os.environ["FASCICLE_DATA"])
    predictor = load_single(args.model, threads=1).uncalibrated()
    for name in args.names:
        target = args.folder / args.model / f"{name}.jsonl"
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            write(
                target,
                scored(predictor, read(data / FILES[name]), given=name in GIVEN),
                format="native",
            )
            print(name, flush=True)
    return 0


def scored(
    predictor: ModelPredictor, documents: Iterator[Document], *, given: bool
) -> Iterator[Document]:
    """Documents with their gold and what the model says.

    Args:
        predictor: without calibration.
        documents: of a corpus; ids get a number, since passages of an article share one.
        given: whether the model sees their sentences and words.
    """
    for at, document in enumerate(documents):
        shown = document.having(mentions=()) if given else Document(id="", text=document.text)
        (patch,) = predictor.predict([with_plain_characters(shown)])
        kept = msgspec.structs.replace(document, id=f"{at}:{document.id}", events=())
        yield apply(kept, msgspec.structs.replace(patch, events=()), step=predictor.name)


if __name__ == "__main__":
    raise SystemExit(main())

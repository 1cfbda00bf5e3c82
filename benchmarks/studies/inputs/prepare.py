"""The dictionaries of the study of inputs, and a development part for BioID: from the data folder, by fixed rules.

usage: python -m benchmarks.studies.inputs.prepare -o FOLDER

``FASCICLE_DATA`` names the data. Written are ``disease.tsv.gz``, ``chemical.tsv.gz``, ``cell.tsv.gz`` and
``gene.tsv.gz``, each ``type TAB name`` in sorted rows, and ``bioid-train.jsonl`` and ``bioid-dev.jsonl``.

Taken are only vocabularies that anybody may use and pass on with attribution: DOID and DrugBank's open vocabulary
(CC0), MONDO, ChEBI, Cellosaurus and the Cell Ontology (CC BY 4.0), PubChem and NCBI Gene (US government), HGNC groups
(CC0). Left out are those under share-alike or unstated terms, MEDIC and MeSH, by which NCBI-disease and BC5CDR were
annotated, and the dictionary of AutoNER, which was cut to the texts of BC5CDR.

A name has at least three characters and a letter, and is no SMILES string. BioID has no development part: that is every
fifth article of train, by the hash of its number; figures of one article stay together.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from fascicle.core.document import Document
from fascicle.core.wording import has_letters
from fascicle.files.atomic import atomic_writer
from fascicle.formats import read, write
from fascicle.knowledge.matching.copies import packed_copy
from fascicle.knowledge.matching.dictionary import Entry

SHORTEST: Final = 3  # characters of a name
EXACT: Final = frozenset({"label", "hasExactSynonym"})
ARTICLE: Final = 8  # digits of the number of an article, at the start of the id of a figure


def rows(path: Path, *, delimiter: str = "\t") -> Iterator[list[str]]:
    """The cells of a packed table."""
    with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as stream:
        quoting = csv.QUOTE_MINIMAL if delimiter == ";" else csv.QUOTE_NONE
        yield from csv.reader(stream, delimiter=delimiter, quoting=quoting)


def diseases(data: Path) -> Iterator[Entry]:
    """Labels and exact synonyms of DOID and MONDO."""
    for text, _, _, predicate, source in rows(data / "lexica-biolexica" / "disease-lexicon.tsv.gz"):
        if source in ("doid", "mondo") and predicate in EXACT:
            yield Entry(text, "Disease")


def cells(data: Path) -> Iterator[Entry]:
    """All names of Cellosaurus, whose synonyms are all "related", and the exact ones of the Cell Ontology."""
    for text, _, _, predicate, source in rows(data / "lexica-biolexica" / "cell-lexicon.tsv.gz"):
        if source == "cellosaurus":
            yield Entry(text, "CellLine")
        elif source == "cl" and predicate in EXACT:
            yield Entry(text, "CellType")


def chemicals(data: Path) -> Iterator[Entry]:
    """ChEBI, the biological part of PubChem, and DrugBank's open vocabulary."""
    for file in ("chebi-2016.tsv.gz", "pubchem-2020.tsv.gz"):
        for row in rows(data / "dict-chem-reach" / file):
            if not row[0].startswith("#"):
                yield Entry(row[0], "Chemical")
    for row in list(rows(data / "dict-drugbank-open" / "drugbank-vocabulary.csv.gz", delimiter=";"))[2:]:
        for name in (row[2], *row[5].split(" | ")):
            yield Entry(name, "Chemical")


def genes(data: Path) -> Iterator[Entry]:
    """Symbols, synonyms and full names of human genes, and their families."""
    for row in list(rows(data / "dict-gene-human" / "Homo_sapiens.gene_info.gz"))[1:]:
        for name in (row[2], row[8], *row[4].split("|")):
            yield Entry(name, "Gene")
    for row in list(rows(data / "dict-gene-families" / "hgnc.genegroup.tsv.gz"))[1:]:
        for name in (row[1], *row[3].split("|")):
            yield Entry(name, "Gene")


DICTIONARIES: Final[dict[str, Callable[[Path], Iterator[Entry]]]] = {
    "disease": diseases,
    "chemical": chemicals,
    "cell": cells,
    "gene": genes,
}


def usable(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries whose names can be found in a text, without white space around them."""
    for entry in entries:
        name = " ".join(entry.name.split())
        if len(name) >= SHORTEST and has_letters(name):
            yield Entry(name, entry.type)


def is_dev(document: Document) -> bool:
    """Whether a figure is of an article of the development part."""
    digest = hashlib.sha256(document.id[:ARTICLE].encode()).digest()
    return digest[0] % 5 == 0


def main(argv: Sequence[str] | None = None) -> int:
    """Writes all files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", required=True, type=Path)
    args = parser.parse_args(argv)
    data, folder = Path(os.environ["FASCICLE_DATA"]), args.output
    folder.mkdir(parents=True, exist_ok=True)
    for name, entries in DICTIONARIES.items():
        content, count = packed_copy(usable(entries(data)))
        with atomic_writer(folder / f"{name}.tsv.gz") as stream:
            stream.write(content)
        sys.stdout.write(f"{name}: {count:,} names, {len(content) / 1e6:.1f} MB\n")
    documents = list(read(data / "bioid" / "Train_revision.PubTator.gz"))
    for part, dev in (("train", False), ("dev", True)):
        chosen = [document for document in documents if is_dev(document) == dev]
        write(folder / f"bioid-{part}.jsonl", chosen)
        sys.stdout.write(f"bioid-{part}: {len(chosen):,} figures\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

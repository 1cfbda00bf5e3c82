"""Writes the development texts that the decision of documents is fitted on, under the types of the
shipped models.

usage: python -m studies.decision.development FOLDER [--aside FOLDER] [--apart] [--cut]

Texts are as people write them, where a corpus has them so: the dev part of JNLPBA is looked up in
its abstracts. Texts that are copies of test parts by ``grids/six-exclude.tsv`` are left out. Of the
corpora without a dev part in that grid, texts are left out that have a sentence which the grid
``conventions`` teaches, or which stands in a text by which the decision is measured. ``--aside``
names the folder of ``studies.conventions.aside``; its documents, which taught nothing, are added.
``--apart`` gives the genes of BC2GM and the cell lines of JNLPBA the types that a model keeps
apart. ``--cut`` adds the sentences of abstracts, each as a text of its own. ``FASCICLE_DATA`` names
the corpora.
"""

from __future__ import annotations

import argparse
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from fascicle.core.document import GOLD, Document
from fascicle.formats import read, write
from fascicle.text.segment import sentences
from fascicle.text.taught import all_sentence_hashes, sentence_hashes
from studies.common import GRIDS
from studies.decision.taught import texts
from studies.packs import gold

BIORED: Final = {
    "GeneOrGeneProduct": "Gene",
    "DiseaseOrPhenotypicFeature": "Disease",
    "ChemicalEntity": "Chemical",
    "OrganismTaxon": "Species",
    "CellLine": "CellLine",
}
ABSTRACTS: Final = (  # whose guidelines are those of the default outputs
    *("biored", "ncbi-disease", "bc5cdr", "bionlp11id", "bionlp13cg", "bionlp13pc"),
    *("nlm-gene-aside", "gnormplus-aside"),
)
NCBI: Final = dict.fromkeys(
    ("SpecificDisease", "DiseaseClass", "Modifier", "CompositeMention"), "Disease"
)
FOREIGN: Final = {"Protein": "Gene"}
INFECTION: Final = {"Protein": "Gene", "Chemical": "Chemical", "Organism": "Species"}
CANCER: Final = {
    "Gene_or_gene_product": "Gene",
    "Simple_chemical": "Chemical",
    "Organism": "Species",
}
PATHWAYS: Final = {"Gene_or_gene_product": "Gene", "Complex": "Gene", "Simple_chemical": "Chemical"}
CRAFT: Final = {"Species": "Species", "CellType": "CellType"}
MEASURED: Final = (
    "biored/Test.PubTator",
    "nlm-gene/Test.PubTator",
    "gnormplus-bc2gn/Test.PubTator",
    "ncbi-disease/pubtator/test.PubTator.txt",
    "bc5cdr/pubtator/CDR_TestSet.PubTator.txt",
    "bc2gm/iob/test.tsv",
    "jnlpba/iob2/test.iob2",
    "linnaeus/iob/test.tsv",
    "bioid/Test_revision.PubTator.gz",
    "cellfinder/cellfinder1-brat.zip",
    "drugprot/DrugProt_Test.PubTator.gz",
    "nlm-chem/Test.PubTator.gz",
    "foreign-genes/aimed.jsonl",
    "foreign-genes/bioinfer.jsonl",
    "foreign-genes/exptm-test.jsonl",
)
CELLS: Final = {"cell_line": "CellLine", "cell_type": "CellType"}
APART: Final = {"GENE": "Gene.bc2gm", "cell_line": "CellLine.jnlpba"}
GNORMPLUS: Final = dict.fromkeys(("Gene", "FamilyName", "DomainMotif"), "Gene")
ASIDE: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {"nlm-gene": {"Gene": "Gene"}, "gnormplus": GNORMPLUS, "bioid": {"CellLine": "CellLine"}}
)
_LEAST: Final = 40  # letters and digits of a sentence that tells where a text is from


def main(argv: Sequence[str] | None = None) -> int:
    """Writes a file for each corpus."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--aside", type=Path)
    parser.add_argument("--apart", action="store_true")
    parser.add_argument("--cut", action="store_true")
    args = parser.parse_args(argv)
    folder, data = args.folder, Path(os.environ["FASCICLE_DATA"])
    folder.mkdir(parents=True, exist_ok=True)
    found = parts(data, apart=APART if args.apart else {}) | others(
        data, taught=all_sentence_hashes(texts("conventions", ""), sentences)
    )
    found |= set_aside(data, args.aside) if args.aside else {}
    if args.cut:
        found |= {f"{name}-cut": list(_cut(found[name])) for name in ABSTRACTS if name in found}
    for name, documents in found.items():
        write(folder / f"{name}.jsonl", documents, format="native", overwrite=True)
        print(
            f"{name}: {len(documents):,} texts, {sum(len(one.mentions) for one in documents):,} "
            "mentions"
        )
    return 0


def _cut(documents: Sequence[Document]) -> Iterator[Document]:
    """The sentences of documents, each a document with the mentions inside it."""
    for one in documents:
        for number, (start, end) in enumerate(sentences(one.text)):
            inside = tuple(
                msgspec.structs.replace(m, spans=tuple((a - start, b - start) for a, b in m.spans))
                for m in one.mentions
                if start <= m.start and m.end <= end
            )
            yield Document(id=f"{one.id}:{number}", text=one.text[start:end], mentions=inside)


def parts(data: Path, *, apart: Mapping[str, str]) -> dict[str, list[Document]]:
    """Name of each file -> the texts of a dev part of the grid, with gold under the types of the
    models.

    Args:
        data: the corpora.
        apart: label of BC2GM or JNLPBA -> type that the model keeps apart.
    """
    copies, jnlpba = copies_of_tests(data), list(read(data / "jnlpba/iob2/devel.iob2"))
    dev = {key for one in jnlpba for key in keys(one)}
    train = list(read(data / "jnlpba/jnlpba-standoff.zip/train"))
    abstracts = [one for one in train if 2 * len(keys(one) & dev) > len(keys(one))]
    given: Mapping[str, tuple[Sequence[Document], Mapping[str, str]]] = {
        "biored": (list(read(data / "biored/Dev.PubTator")), BIORED),
        "ncbi-disease": (list(read(data / "ncbi-disease/pubtator/dev.PubTator.txt")), NCBI),
        "bc5cdr": (
            list(read(data / "bc5cdr/pubtator/CDR_DevelopmentSet.PubTator.txt")),
            {"Disease": "Disease", "Chemical": "Chemical"},
        ),
        "bc2gm": (list(read(data / "bc2gm/iob/devel.tsv")), {"GENE": "Gene"} | apart),
        "jnlpba": (abstracts, CELLS | apart),
        "jnlpba-sentences": (jnlpba, CELLS | apart),
    }
    return {
        name: [_ready(one, types) for one in documents if not keys(one) & copies]
        for name, (documents, types) in given.items()
    }


def set_aside(data: Path, folder: Path) -> dict[str, list[Document]]:
    """Texts of train parts that were set aside before anything learnt; none shares a sentence
    with a measured text.
    """
    tested = _tested(data)
    return {
        f"{name}-aside": [
            _ready(one, types)
            for one in read(folder / f"{name}.PubTator")
            if not keys(one) & tested
        ]
        for name, types in ASIDE.items()
    }


def others(data: Path, *, taught: frozenset[int]) -> dict[str, list[Document]]:
    """Texts of corpora that have no dev part in the grid, or one of sentences alone.

    Args:
        data: the corpora.
        taught: hashes of sentences; texts that have one of them are left out.
    """
    given: Mapping[str, tuple[Sequence[Document], Mapping[str, str]]] = {
        "bionlp13ge-sentences": (list(read(data / "bionlp13ge/iob/devel.tsv")), FOREIGN),
        "linnaeus-sentences": (list(read(data / "linnaeus/iob/devel.tsv")), {"Species": "Species"}),
        "bionlp11id": (list(read(data / "bionlp11id/standoff.zip/devel")), INFECTION),
        "bionlp13cg": (list(read(data / "bionlp13cg/standoff.zip/devel")), CANCER),
        "bionlp13pc": (list(read(data / "bionlp13pc/standoff.zip/devel")), PATHWAYS),
        "craft": (gold.craft("test"), CRAFT),  # the 30 articles that are not in its IOB form
    }
    tested = _tested(data)
    return {
        name: [
            _ready(one, types)
            for one in documents
            if taught.isdisjoint(sentence_hashes(one, sentences)) and not keys(one) & tested
        ]
        for name, (documents, types) in given.items()
    }


def _tested(data: Path) -> frozenset[str]:
    """Sentences of the texts by which the decision is measured."""
    return frozenset(key for file in MEASURED for one in read(data / file) for key in keys(one))


def keys(document: Document) -> frozenset[str]:
    """Letters and digits of the longer sentences of a text."""
    cut = document.sentences or sentences(document.text)
    found = (re.sub(r"[\W_]+", "", document.text[slice(*one)]).lower() for one in cut)
    return frozenset(one for one in found if len(one) >= _LEAST)


def copies_of_tests(data: Path) -> frozenset[str]:
    """Sentences of dev texts that are copies of test parts."""
    listed: dict[str, set[str]] = defaultdict(set)
    for line in (GRIDS / "six-exclude.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        corpus, part, document, _, _, _, _, of_part, *_ = line.split("\t")
        if part == "dev" and of_part == "test":
            listed[corpus].add(document)
    return frozenset(
        key for file, ids in listed.items() for one in _of(data, file, ids) for key in keys(one)
    )


def _of(data: Path, file: str, ids: set[str]) -> Iterator[Document]:
    path = data / file
    return (one for one in read(path) if one.id in ids) if path.exists() else iter(())


def _ready(document: Document, types: Mapping[str, str]) -> Document:
    mentions = {
        (types[m.type], m.spans): msgspec.structs.replace(m, type=types[m.type], links=())
        for m in document.layer(GOLD)
        if m.type in types
    }
    return msgspec.structs.replace(
        document, mentions=tuple(mentions.values()), events=(), abbreviations=None
    )


if __name__ == "__main__":
    raise SystemExit(main())

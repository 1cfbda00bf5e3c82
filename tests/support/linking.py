"""A small pack of diseases and genes, and texts that are linked to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tests.support.packs import REAL_PARTS, build_small

from fascicle.core.arrays import Floats, Ints
from fascicle.core.document import Document
from fascicle.core.mention import Link, Mention
from fascicle.linking.index import NameIndex, write_index
from fascicle.linking.similarity import similarities, to_letters
from fascicle.terms.pack.pack import Pack
from fascicle.terms.terms import ConceptRecord, CrossReference, Name

HUMAN, MOUSE = "NCBITaxon:9606", "NCBITaxon:10090"
CONCEPTS = {
    "MESH:D1": ("Disease", "", ["breast cancer", "breast neoplasm"], ["MESH:D9"], ["DOID:1"]),
    "MESH:D2": ("Disease", "", ["ovarian cancer", "ovarian neoplasm"], ["MESH:D9"], []),
    "MESH:D3": ("Disease", "", ["ataxia telangiectasia", "AT"], [], []),
    "MESH:D4": ("Disease", "", ["angiotensin disease", "AT"], [], []),
    "MESH:D5": ("Disease", "", ["glioblastoma"], ["MESH:D9"], []),
    "MESH:D9": ("Disease", "", ["cancer", "neoplasm"], [], []),
    "DOID:1": ("Disease", "", ["mammary carcinoma"], [], []),
    "DOID:2": ("Disease", "", ["mammary duct carcinoma"], ["DOID:1"], []),
    "NCBIGene:1": ("Gene", HUMAN, ["TERT", "telomerase"], [], []),
    "NCBIGene:2": ("Gene", MOUSE, ["Tert", "telomerase"], [], []),
    "NCBIGene:3": ("Gene", HUMAN, ["MTOR", "mTOR"], [], []),
    "NCBIGene:4": ("Gene", HUMAN, ["STAT3", "acute phase factor"], [], []),
    "NCBIGene:5": ("Gene", MOUSE, ["Stat3"], [], []),
    "NCBIGene:6": ("Gene", HUMAN, ["STAT5"], [], []),
}
RECORDS = {  # MESH comes first
    source: [
        ConceptRecord(
            curie=curie,
            type=kind,
            taxon=taxon,
            names=tuple(Name(name, "exact" if at else "label") for at, name in enumerate(names)),
            parents=tuple(parents),
            references=tuple(CrossReference(one, "skos:exactMatch") for one in references),
        )
        for curie, (kind, taxon, names, parents, references) in CONCEPTS.items()
        if curie.startswith("DOID") == (source == "doid")
    ]
    for source in ("all", "doid")
}


def build_pack(folder: Path) -> Pack:
    """The pack."""
    return build_small(folder, RECORDS, parts=REAL_PARTS)


def build_index(folder: Path, pack: Pack) -> NameIndex:
    """Its index."""
    folder.mkdir(exist_ok=True)
    write_index(folder, pack)
    return NameIndex.open(folder, pack)


def document(text: str, *found: tuple[str, str, str], identifier: str = "1") -> Document:
    """A text with the first place of each surface as a mention: surface, type, and CURIEs with
    blanks between them.
    """
    mentions = []
    for surface, kind, curies in found:
        start = text.index(surface)
        links = tuple(Link(id=one.partition(":")[2], curie=one) for one in curies.split())
        mentions.append(Mention(((start, start + len(surface)),), kind, links=links))
    return Document(id=identifier, text=text, mentions=tuple(mentions))


def corpus(count: int = 40) -> list[Document]:
    """Texts whose gold says that AT is ataxia, that genes follow the species, and that a slip is
    still the name.
    """
    texts = []
    for number in range(count):
        human = number % 2 == 0
        gene = "NCBIGene:1" if human else "NCBIGene:2"
        who = f"{'Patients' if human else 'Mice'} {number}"
        texts.append(
            document(
                f"{who} with AT and breast cancer or glioblastomma have telomerase.",
                ("AT", "Disease", "MESH:D3"),
                ("breast cancer", "Disease", "MESH:D1"),
                ("glioblastomma", "Disease", "MESH:D5"),
                ("telomerase", "Gene", gene),
                identifier=str(number),
            )
        )
    return texts


def similarities_of(first: Sequence[bytes], second: Sequence[bytes], owners: Ints) -> Floats:
    """what `similarities` says of strings that stand one behind the other."""
    sizes = np.array([len(one) for one in second], dtype=np.int64)
    content = np.frombuffer(b"".join(second), dtype=np.uint8)
    letters = to_letters(content, np.cumsum(sizes) - sizes, sizes)
    return similarities(first, letters, owners)

"""Gold mentions of the corpora on which term packs are measured: one type at a time, with CURIEs
of the concepts.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple
from xml.etree.ElementTree import Element, XMLParser, fromstring

import msgspec

from fascicle.core.document import Document
from fascicle.core.mention import Link, Mention
from fascicle.formats.files import read
from fascicle.terms.terms import curie

Part = Literal["dev", "test"]
CraftPart = Literal["train", "dev", "test"]


class Corpus(NamedTuple):
    """One corpus.

    Attributes:
        dev: file of the part to choose on, below the folder of the data: the development part, or
            train if there is none.
        test: file of the test part.
        types: type in the corpus -> canonical type; others are left out.
        bare: canonical type -> prefix of its identifiers where the corpus writes none.
    """

    dev: str
    test: str
    types: Mapping[str, str]
    bare: Mapping[str, str]


_DISEASE = {"SpecificDisease": "Disease", "DiseaseClass": "Disease", "Modifier": "Disease"}
_BARE = {
    "Disease": "MESH",
    "Chemical": "MESH",
    "Gene": "NCBIGene",
    "Species": "NCBITaxon",
    "CellLine": "cellosaurus",
}
CRAFT: Mapping[str, str] = {  # folder of annotations -> type
    "CHEBI": "Chemical",
    "CL": "CellType",
    "MONDO": "Disease",
    "NCBITaxon": "Species",
    "PR": "Gene",
    "UBERON": "Anatomy",
}
CORPORA: Mapping[str, Corpus] = {
    "bc5cdr": Corpus(
        "bc5cdr/pubtator/CDR_DevelopmentSet.PubTator.txt",
        "bc5cdr/pubtator/CDR_TestSet.PubTator.txt",
        {"Chemical": "Chemical", "Disease": "Disease"},
        _BARE,
    ),
    "ncbi-disease": Corpus(
        "ncbi-disease/pubtator/dev.PubTator.txt",
        "ncbi-disease/pubtator/test.PubTator.txt",
        {**_DISEASE, "CompositeMention": "Disease"},
        _BARE,
    ),
    "linnaeus": Corpus(
        "linnaeus/pubtator/Train.PubTator.gz",
        "linnaeus/pubtator/Test.PubTator",
        {"Species": "Species"},
        _BARE,
    ),
    "bioid": Corpus(
        "bioid/Train_revision.PubTator.gz",
        "bioid/Test_revision.PubTator.gz",
        {"CellLine": "CellLine"},
        _BARE,
    ),
    "biored": Corpus(
        "biored/Dev.PubTator",
        "biored/Test.PubTator",
        {
            "GeneOrGeneProduct": "Gene",
            "DiseaseOrPhenotypicFeature": "Disease",
            "ChemicalEntity": "Chemical",
            "OrganismTaxon": "Species",
            "CellLine": "CellLine",
        },
        _BARE,
    ),
    "nlm-gene": Corpus(
        "nlm-gene/Train.PubTator", "nlm-gene/Test.PubTator", {"Gene": "Gene"}, _BARE
    ),
}
NAMES = (*CORPORA, "craft")


def documents(name: str, part: Part) -> list[Document]:
    """The documents of a part, with gold mentions of canonical types, linked by CURIEs."""
    data = Path(os.environ["FASCICLE_DATA"])
    if name == "craft":
        return craft(part)
    corpus = CORPORA[name]
    path = data / (corpus.test if part == "test" else corpus.dev)
    return [renamed(document, corpus) for document in read(path, format="pubtator")]


def craft(part: CraftPart) -> list[Document]:
    """The articles of a part of CRAFT, which has a train part too."""
    return list(_craft(Path(os.environ["FASCICLE_DATA"]) / "craft", part))


def renamed(document: Document, corpus: Corpus) -> Document:
    """A document with the mentions of canonical types, linked by CURIEs."""
    mentions = {}
    for mention in document.mentions:
        if (kind := corpus.types.get(mention.type)) is not None:
            found = (
                curie(link.id, link.ontology or corpus.bare.get(kind, "")) for link in mention.links
            )
            links = tuple(Link(id=one.partition(":")[2], curie=one) for one in found if one)
            mentions[mention.spans, kind] = Mention(mention.spans, kind, links=links)
    return msgspec.structs.replace(document, mentions=tuple(mentions.values()), events=())


def _craft(folder: Path, part: CraftPart) -> Iterator[Document]:
    with (
        zipfile.ZipFile(folder / "craft-articles-txt.zip") as articles,
        zipfile.ZipFile(folder / "craft-concepts-knowtator.zip") as concepts,
    ):
        places: dict[str, list[tuple[str, str]]] = {}
        for place in concepts.namelist():
            kind = CRAFT.get(place.partition("/")[0])
            if kind and (found := re.search(r"/(\d+)\.(?:txt\.knowtator\.)?xml$", place)):
                places.setdefault(found[1], []).append((kind, place))
        for identifier in articles.read(f"articles/ids/craft-ids-{part}.txt").decode().split():
            text = articles.read(f"articles/txt/{identifier}.txt").decode("utf-8")
            mentions = {}
            for kind, place in places[identifier]:
                root = fromstring(concepts.read(place), parser=XMLParser())
                for spans, one in _annotations(root):
                    links = (Link(id=one.partition(":")[2], curie=one),) if one else ()
                    mentions[spans, kind] = Mention(spans, kind, links=links)
            yield Document(id=identifier, text=text, mentions=tuple(mentions.values()))


def _annotations(root: Element) -> Iterator[tuple[tuple[tuple[int, int], ...], str]]:
    """Fragments and CURIE of each annotation of a Knowtator file, of the first or the second
    form.
    """
    classes = {}
    for one in root.iter("classMention"):
        inner = one.find("mentionClass")
        classes[one.get("id")] = "" if inner is None else str(inner.get("id"))
    for annotation in root.iter("annotation"):
        first, second = annotation.find("mention"), annotation.find("class")
        told = classes.get(first.get("id"), "") if first is not None else ""
        told = str(second.get("id")) if second is not None else told
        spans = sorted(
            (int(one.get("start", "")), int(one.get("end", ""))) for one in annotation.iter("span")
        )
        joined: list[tuple[int, int]] = []
        for start, end in spans:
            if joined and start <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
            else:
                joined.append((start, end))
        if joined:
            yield tuple(joined), curie(told)

"""The corpora of the study of linking: which types, which parts to fit on, to choose on, and to
report.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from fascicle.core.document import Document
from fascicle.formats.files import read
from fascicle.terms.abbreviations.finder import find_abbreviations
from studies.packs.gold import CORPORA, Corpus, craft, renamed

Part = Literal["fit", "dev", "test"]
_PORTION: Final = 4  # where there is no part to choose on, every so many documents of train are it


class Study(NamedTuple):
    """One corpus.

    Attributes:
        corpus: types and prefixes.
        fit: files to fit on for the test part.
        test: file of the test part.
        dev: the file of ``fit`` to choose on; empty if a part of the documents is taken.
    """

    corpus: Corpus
    fit: tuple[str, ...]
    test: str
    dev: str = ""


_GENE: Final = CORPORA["nlm-gene"]
_CDR: Final = (
    "bc5cdr/pubtator/CDR_TrainingSet.PubTator.txt",
    "bc5cdr/pubtator/CDR_DevelopmentSet.PubTator.txt",
)
_NCBI: Final = CORPORA["ncbi-disease"]
STUDIES: Final[Mapping[str, Study]] = {
    "bc5cdr": Study(CORPORA["bc5cdr"], _CDR, CORPORA["bc5cdr"].test, _CDR[1]),
    "ncbi-disease": Study(
        _NCBI, ("ncbi-disease/pubtator/train.PubTator.txt", _NCBI.dev), _NCBI.test, _NCBI.dev
    ),
    "nlm-chem": Study(CORPORA["bc5cdr"], _CDR, "nlm-chem/Test.PubTator.gz", _CDR[1]),
    "nlm-gene": Study(_GENE, (_GENE.dev,), _GENE.test),
    "gnormplus": Study(_GENE, ("gnormplus-bc2gn/Train.PubTator",), "gnormplus-bc2gn/Test.PubTator"),
    "linnaeus": Study(CORPORA["linnaeus"], (CORPORA["linnaeus"].dev,), CORPORA["linnaeus"].test),
    "bioid": Study(CORPORA["bioid"], (CORPORA["bioid"].dev,), CORPORA["bioid"].test),
    "biored": Study(
        CORPORA["biored"],
        ("biored/Train.PubTator.gz", CORPORA["biored"].dev),
        CORPORA["biored"].test,
        CORPORA["biored"].dev,
    ),
}
_CHEMICALS: Final = dict.fromkeys(("Metabolite", "Nutrient", "Chemical"), "Chemical")
_DIMB_RE: Final = Corpus(
    "", "", {**_CHEMICALS, "Microorganism": "Species", "Disease": "Disease"}, {}
)


def documents(name: str, part: Part, *, choosing: bool = False) -> list[Document]:
    """The documents of a part, with types and identifiers as in the pack, and with their
    abbreviations.

    Args:
        name: of a corpus, in `NAMES`.
        part: which. ``"dev"`` is the part to choose on.
        choosing: ``"fit"`` without what ``"dev"`` holds.
    """
    if name in LOADED:
        return LOADED[name](part, choosing)
    study = STUDIES[name]
    if part == "test":
        return _read((study.test,), study.corpus)
    if study.dev:
        if part == "dev":
            return _read((study.dev,), study.corpus)
        return _read(
            [path for path in study.fit if not choosing or path != study.dev], study.corpus
        )
    found = _read(study.fit, study.corpus)
    if part == "fit" and not choosing:
        return found
    return [one for at, one in enumerate(found) if (at % _PORTION == 0) == (part == "dev")]


def _craft(part: Part, choosing: bool) -> list[Document]:
    """Articles of CRAFT, by its own parts."""
    wanted: tuple[Literal["train", "dev", "test"], ...] = (
        ("train", "dev") if not choosing else ("train",)
    )
    parts = wanted if part == "fit" else (part,)
    return [_abbreviated(one) for each in parts for one in craft(each)]


def _dimb_re(part: Part, choosing: bool) -> list[Document]:
    """Titles with abstracts, and results, of DiMB-RE, by its ``splits.json``."""
    place = Path(os.environ["FASCICLE_DATA"]) / "dimb-re" / "brat.zip"
    with zipfile.ZipFile(place) as archive:
        splits = json.loads(archive.read("splits.json"))
    names = (
        splits[part] if part != "fit" else [*splits["train"], *([] if choosing else splits["dev"])]
    )
    wanted = set(names)
    found = [one for one in read(place, format="brat") if one.id.partition("-")[0] in wanted]
    return [_abbreviated(renamed(one, _DIMB_RE)) for one in found]


LOADED: Final[Mapping[str, Callable[[Part, bool], list[Document]]]] = {
    "craft": _craft,
    "dimb-re": _dimb_re,
}
NAMES: Final = (*STUDIES, *LOADED)


def _abbreviated(document: Document) -> Document:
    return msgspec.structs.replace(document, abbreviations=find_abbreviations(document))


def _read(paths: Sequence[str], corpus: Corpus) -> list[Document]:
    data = Path(os.environ["FASCICLE_DATA"])
    found: dict[str, list[Document]] = {}
    for path in paths:
        for one in read(data / path, format="pubtator"):
            found.setdefault(one.meta.get("original-id", one.id), []).append(
                _abbreviated(renamed(one, corpus))
            )
    return [joined(identifier, passages) for identifier, passages in found.items()]


def joined(identifier: str, passages: Sequence[Document]) -> Document:
    """The passages of an article as one document: abbreviations hold in all of it."""
    text, mentions, abbreviations = "", [], []
    for one in passages:
        start = len(text)
        text += one.text + "\n"
        for mention in one.mentions:
            spans = tuple((a + start, b + start) for a, b in mention.spans)
            mentions.append(msgspec.structs.replace(mention, spans=spans))
        for (a, b), (c, d) in one.abbreviations or ():
            abbreviations.append(((a + start, b + start), (c + start, d + start)))
    return Document(
        id=identifier,
        text=text,
        mentions=tuple(mentions),
        abbreviations=tuple(abbreviations) or None,
    )

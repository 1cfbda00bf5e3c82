"""The corpora of the study: which files and types, for the figures and to choose on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from fascicle.core.document import Document
from fascicle.formats.files import read
from studies.conventions import aside
from studies.decision.development import copies_of_tests, keys
from studies.packs.gold import CORPORA, Corpus, renamed

Part = Literal["dev", "test", "aside"]


class Source(NamedTuple):
    """One corpus.

    Attributes:
        corpus: types and prefixes.
        test: file of the figures.
        dev: file to choose on; empty if there is none.
        every: every so many documents of that file are it.
        train: other files that have concepts.
    """

    corpus: Corpus
    test: str
    dev: str = ""
    every: int = 1
    train: Sequence[str] = ()

    @property
    def types(self) -> tuple[str, ...]:
        """The types that gold has."""
        return tuple(sorted(set(self.corpus.types.values())))


_CDR: Final = CORPORA["bc5cdr"]
_NCBI: Final = CORPORA["ncbi-disease"]
_RED: Final = CORPORA["biored"]
_GENE: Final = CORPORA["nlm-gene"]
_CHEM: Final = Corpus("", "nlm-chem/Test.PubTator.gz", {"Chemical": "Chemical"}, _CDR.bare)
SOURCES: Final[Mapping[str, Source]] = {
    "bc5cdr": Source(
        _CDR, _CDR.test, _CDR.dev, train=("bc5cdr/pubtator/CDR_TrainingSet.PubTator.txt",)
    ),
    "ncbi-disease": Source(
        _NCBI, _NCBI.test, _NCBI.dev, train=("ncbi-disease/pubtator/train.PubTator.txt",)
    ),
    "biored": Source(_RED, _RED.test, _RED.dev, train=("biored/Train.PubTator.gz",)),
    "nlm-gene": Source(_GENE, _GENE.test, _GENE.dev, 4),
    "gnormplus": Source(
        _GENE, "gnormplus-bc2gn/Test.PubTator", "gnormplus-bc2gn/Train.PubTator", 4
    ),
    "linnaeus": Source(CORPORA["linnaeus"], CORPORA["linnaeus"].test, CORPORA["linnaeus"].dev, 4),
    "nlm-chem": Source(_CHEM, _CHEM.test),
    "bioid": Source(CORPORA["bioid"], CORPORA["bioid"].test, CORPORA["bioid"].dev, 8),
}


def documents(name: str, part: Part) -> list[Document]:
    """The documents of a part, with gold mentions of canonical types; empty if the corpus has no
    such part.

    ``aside`` is ``dev``, but what ``studies.conventions.aside`` sets aside of those corpora that
    have no dev part.
    """
    source = SOURCES[name]
    if part == "test":
        return list(_read(source.test, source.corpus))
    if part == "aside" and name in aside.SOURCES:
        return _set_aside(name)
    found = list(_read(source.dev, source.corpus))[:: source.every] if source.dev else []
    if source.every == 1:
        copies = copies_of_tests(_data())
        found = [one for one in found if not keys(one) & copies]
    return found


def _set_aside(name: str) -> list[Document]:
    found, group = (
        list(_read(aside.SOURCES[name].file, SOURCES[name].corpus)),
        aside.SOURCES[name].group,
    )
    kept = aside.chosen([group(one.id) for one in found], aside.SHARE)
    return [one for one in found if group(one.id) in kept]


def everything() -> Iterator[tuple[str, Document]]:
    """All annotated documents with the names of their corpora."""
    for name, source in SOURCES.items():
        for path in (source.test, source.dev, *source.train):
            if path:
                yield from ((name, one) for one in _read(path, source.corpus))


def _data() -> Path:
    return Path(os.environ["FASCICLE_DATA"])


def _read(path: str, corpus: Corpus) -> Iterator[Document]:
    return (renamed(one, corpus) for one in read(_data() / path, format="pubtator"))

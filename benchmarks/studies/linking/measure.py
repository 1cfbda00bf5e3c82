"""Measures linkers with gold mentions; see ``plan.md``.

    python -m benchmarks.studies.linking.measure PACK INDEX OUT [--abbreviations FILE] [--corpora CORPUS ...]

``INDEX`` is a folder with the index of the pack, such as any linker of it. ``FILE`` is a JSON object with the pairs of
ranges of abbreviations by the text of the document. ``OUT`` is a JSON file, in which corpora that were not asked for
stay as they are.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from benchmarks.studies.packs.gold import CORPORA, Corpus, renamed
from fascicle.core.document import Document
from fascicle.evaluation.links import LinkCase, score_links
from fascicle.formats.files import read
from fascicle.knowledge.keys.key import key
from fascicle.knowledge.linking.fitting import Fitted, fit_linker
from fascicle.knowledge.linking.index import NameIndex
from fascicle.knowledge.linking.linker import Decision, Linker
from fascicle.knowledge.pack.pack import Pack
from fascicle.version import VERSION

_CHUNK: Final = 200  # documents


class Study(NamedTuple):
    """One corpus.

    Attributes:
        corpus: types and prefixes.
        fit: files to fit on.
        test: file of the test part.
    """

    corpus: Corpus
    fit: tuple[str, ...]
    test: str


_GENE: Final = CORPORA["nlm-gene"]
_CDR: Final = ("bc5cdr/pubtator/CDR_TrainingSet.PubTator.txt", "bc5cdr/pubtator/CDR_DevelopmentSet.PubTator.txt")
STUDIES: Final[Mapping[str, Study]] = {
    "bc5cdr": Study(CORPORA["bc5cdr"], _CDR, CORPORA["bc5cdr"].test),
    "ncbi-disease": Study(
        CORPORA["ncbi-disease"],
        ("ncbi-disease/pubtator/train.PubTator.txt", CORPORA["ncbi-disease"].dev),
        CORPORA["ncbi-disease"].test,
    ),
    "nlm-chem": Study(CORPORA["bc5cdr"], _CDR, "nlm-chem/Test.PubTator.gz"),
    "nlm-gene": Study(_GENE, (_GENE.dev,), _GENE.test),
    "gnormplus": Study(_GENE, ("gnormplus-bc2gn/Train.PubTator",), "gnormplus-bc2gn/Test.PubTator"),
    "linnaeus": Study(CORPORA["linnaeus"], (CORPORA["linnaeus"].dev,), CORPORA["linnaeus"].test),
    "bioid": Study(CORPORA["bioid"], (CORPORA["bioid"].dev,), CORPORA["bioid"].test),
}


class Known:
    """What errors are explained by."""

    def __init__(self, pack: Pack) -> None:
        """Takes the open pack."""
        self._pack = pack

    def taxon(self, curie: str) -> str:
        """The species of a concept."""
        row = int(self._pack.concept_rows([curie])[0])
        return self._pack.taxa[int(self._pack.taxon_rows[row])] if row >= 0 else ""

    def ancestors(self, curie: str) -> Collection[str]:
        """All concepts above one."""
        return self._pack.ancestors(curie) if self._pack.concept_rows([curie])[0] >= 0 else ()


def documents(paths: Sequence[str], corpus: Corpus, pairs: Mapping[str, list[list[list[int]]]]) -> list[Document]:
    """The documents of files, with types and identifiers as in the pack, and their abbreviations."""
    data = Path(os.environ["FASCICLE_DATA"])
    found: dict[str, list[Document]] = {}
    for path in paths:
        for one in read(data / path, format="pubtator"):
            known = tuple((tuple(a), tuple(b)) for a, b in pairs.get(one.text, ()))
            passage = msgspec.structs.replace(renamed(one, corpus), abbreviations=known or None)
            found.setdefault(one.meta.get("original-id", one.id), []).append(passage)
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
    return Document(id=identifier, text=text, mentions=tuple(mentions), abbreviations=tuple(abbreviations) or None)


def cases(pack: Pack, linker: Linker, fitted: Fitted, found: Sequence[Document]) -> Iterator[LinkCase]:
    """The gold mentions with what a linker says of them."""
    concepts = {curie for counts in fitted.memory.counts.values() for curie in counts}
    for start in range(0, len(found), _CHUNK):
        chunk = found[start : start + _CHUNK]
        mentions = [[one for one in each.mentions if one.links] for each in chunk]
        for document, own, decisions in zip(chunk, mentions, linker.decisions(chunk, mentions), strict=True):
            by_mention: dict[int, list[Decision]] = {}
            for decision in decisions:
                by_mention.setdefault(decision.mention, []).append(decision)
            for number, mention in enumerate(own):
                told = by_mention.get(number, [])
                answered = [one for one in told if one.answer]
                gold = frozenset(link.curie for link in mention.links)
                surface = " ".join(mention.text_in(document.text).split())
                first = answered[0].candidates[0] if answered else None
                yield LinkCase(
                    document=document.id,
                    type=mention.type,
                    surface=surface,
                    gold=gold,
                    parts=tuple(tuple(one.curie for one in each.candidates) for each in told),
                    answer=frozenset(one.candidates[0].curie for one in answered),
                    score=first.probability if first else None,
                    tier=first.tier if first else "",
                    known=bool((pack.concept_rows(sorted(gold)) >= 0).all()),
                    seen_surface=(mention.type, key(surface, 1)) in fitted.memory.counts,
                    seen_concepts=gold <= concepts,
                )


def measure(
    study: Study, pack: Pack, index: NameIndex, pairs: Mapping[str, list[list[list[int]]]]
) -> dict[str, object]:
    """The figures of a corpus, as they are written."""
    fitted = fit_linker(pack, index, documents(study.fit, study.corpus, pairs))
    test = documents([study.test], study.corpus, pairs)
    known = Known(pack)
    vocabularies = {kind: ranker.vocabularies for kind, ranker in fitted.rankers.items()}
    ordered = list(cases(pack, Linker(pack, index=index, vocabularies=vocabularies), fitted, test))
    linker = Linker(pack, index=index, memory=fitted.memory, rankers=fitted.rankers)
    found = list(cases(pack, linker, fitted, test))
    kinds = {kind: [case for case in found if case.type == kind] for kind in fitted.rankers}
    return {
        "all": msgspec.to_builtins(score_links(found, known)),
        "order of tiers": msgspec.to_builtins(score_links(ordered, known)),
        "unseen surfaces": msgspec.to_builtins(score_links(found, known, kept=lambda case: not case.seen_surface)),
        "unseen concepts": msgspec.to_builtins(score_links(found, known, kept=lambda case: not case.seen_concepts)),
        "types": {kind: msgspec.to_builtins(score_links(own, known)) for kind, own in kinds.items()},
        "rankers": msgspec.to_builtins(fitted.rankers),
    }


def main() -> None:
    """Measures corpora, and writes a file for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pack", type=Path)
    parser.add_argument("index", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--corpora", nargs="+", default=list(STUDIES))
    parser.add_argument("--abbreviations", type=Path)
    args = parser.parse_args()
    pack = Pack.open(args.pack)
    index = NameIndex.open(args.index, pack)
    pairs = json.loads(args.abbreviations.read_text()) if args.abbreviations else {}
    found = json.loads(args.out.read_text(encoding="utf-8")) if args.out.is_file() else {}
    for name in args.corpora:
        told = {"pack": pack.full_name, "version": VERSION, "date": f"{date.today()}"}
        found[name] = {**told, **measure(STUDIES[name], pack, index, pairs)}
        args.out.write_text(json.dumps(found, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

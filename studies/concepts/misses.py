"""What the concepts of documents lack, and what wrong links at 0.9 or more are; see ``plan.md``.

python -m studies.concepts.misses FOLDER

FOLDER has the mentions of ``mentions.py``. The links are those of ``raw.py`` with ``biomed``,
against identifiers of now. Writes ``results/concepts-misses.json``.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from fascicle.core.document import Document
from fascicle.core.mention import Mention, overlaps
from fascicle.linking.opening import find
from fascicle.settings.folders.vocabularies import DEFAULT_LINKER
from fascicle.terms.pack.pack import Pack
from fascicle.verbs.tasks.link_cases import mention_concepts
from studies.common import write_result
from studies.concepts.corpora import SOURCES, documents
from studies.concepts.mentions import MODELS, found
from studies.concepts.raw import linked
from studies.concepts.renewed import Renewed
from studies.concepts.worth import SURE, as_gold, concepts

LACKING: Final = (
    "not in the pack",
    "no mention found",
    "mention without a concept",
    "mention with another concept",
)
WRONG: Final = (
    "gold has no mention there",
    "gold has no concept there",
    "the gene of another species",
    "other ends",
    "another concept",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Counts and stores."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    args = parser.parse_args(argv)
    linker = find(DEFAULT_LINKER)
    pack, opened = linker.parts[0].pack, linker.opened()
    renewed, rows = Renewed(pack), {}
    for corpus, source in SOURCES.items():
        gold = renewed.of(documents(corpus, "test"))
        given = found(args.folder, MODELS[0], corpus, "test")
        answers = linked(given, opened)()
        for kind in source.types:
            lacking = Counter(lacking_kinds(gold, answers, kind, pack))
            wrong = Counter(wrong_kinds(gold, answers, kind, pack))
            rows[f"{corpus} {kind}"] = {"lacking": dict(lacking), "wrong": dict(wrong)}
            print(corpus, kind, dict(lacking), dict(wrong), flush=True)
    write_result("concepts-misses", {"linker": linker.fingerprint, "rows": rows})
    return 0


def lacking_kinds(
    gold: Sequence[Document], answers: Sequence[Sequence[Mention]], kind: str, pack: Pack
) -> Iterator[str]:
    """Of each concept that gold has for a document, and the answers do not, why."""
    for document, of_document, mentions in zip(gold, concepts(gold, kind), answers, strict=True):
        linked = [one for one in mentions if one.type == kind]
        told = {as_gold(link, of_document) for one in linked for link in one.links if not link.nil}
        for concept in sorted(of_document - told):
            places = [
                one
                for one in document.mentions
                if one.type == kind and concept in mention_concepts(one)
            ]
            near = [one for one in linked if any(_overlap(one, place) for place in places)]
            if pack.concept_rows([concept])[0] < 0:
                yield LACKING[0]
            elif not near:
                yield LACKING[1]
            else:
                yield LACKING[3 if any(not link.nil for one in near for link in one.links) else 2]


def wrong_kinds(
    gold: Sequence[Document], answers: Sequence[Sequence[Mention]], kind: str, pack: Pack
) -> Iterator[str]:
    """Of each link at `SURE` or more whose concept gold does not have for its document, what
    gold has there.
    """
    for document, of_document, mentions in zip(gold, concepts(gold, kind), answers, strict=True):
        for mention in mentions:
            for link in mention.links if mention.type == kind else ():
                curie = as_gold(link, of_document)
                if link.nil or link.score is None or link.score < SURE or curie in of_document:
                    continue
                near = [
                    one for one in document.mentions if one.type == kind and _overlap(one, mention)
                ]
                there = [other for one in near for other in mention_concepts(one)]
                if not there:
                    yield WRONG[1 if near else 0]
                elif kind == "Gene" and _labels(pack, [curie]) & _labels(pack, there):
                    yield WRONG[2]
                else:
                    yield WRONG[4 if any(one.spans == mention.spans for one in near) else 3]


def _overlap(one: Mention, other: Mention) -> bool:
    return any(overlaps(a, b) for a in one.spans for b in other.spans)


def _labels(pack: Pack, curies: Sequence[str]) -> set[str]:
    """Labels without case, in which genes of one name in several species agree."""
    rows = pack.concept_rows(list(curies)) if curies else np.zeros(0, dtype=np.int64)
    return {pack.label_at(int(row)).casefold() for row in rows if row >= 0}


if __name__ == "__main__":
    raise SystemExit(main())

"""Fits the linker that is shipped with the term pack ``basic@2``, measures it, and writes its card.

usage: python -m studies.ship_linker FOLDER --judge MODEL [--output
src/fascicle/assets/linkers/basic@2]

FOLDER has the mentions that MODEL finds in the part ``aside`` of ``studies/concepts/mentions.py``;
the probabilities of links of found mentions are corrected by them. MODEL is the twin of ``biomed``,
which did not learn from them.

``FASCICLE_DATA`` names the corpora. The linker has weights alone: no index, and no name of a
corpus. Written: its folder with the card, and ``results/shipped-linker-basic@2.json``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import numpy as np

from fascicle.core.document import Document, Link, Mention
from fascicle.core.patches import apply
from fascicle.formats.files import read
from fascicle.linking.fitting import FitSettings, fit_linker
from fascicle.linking.folder import LinkerManifest, Ranker, write_linker
from fascicle.linking.opening import find
from fascicle.settings.folders.described import CARD
from fascicle.terms.abbreviations.finder import AbbreviationFinder
from fascicle.terms.pack.pack import Pack
from studies.common import ROOT, write_result
from studies.concepts.corpora import SOURCES, documents
from studies.concepts.mentions import found as found_by
from studies.concepts.renewed import Renewed
from studies.concepts.worth import as_gold
from studies.packs.gold import CORPORA, Corpus, CraftPart, craft, renamed

PACK: Final = "basic@2"
LABELS: Final = 400
ORDER: Final = ("MESH",)  # of the vocabularies that a mention may be linked to
SETTINGS: Final = FitSettings(remember=False, indexed=False, restricted=False, threshold=0.5)


class Gold(NamedTuple):
    """What the ranker of some types is fitted on.

    Attributes:
        name: of the corpus.
        corpus: types and prefixes.
        files: to fit on.
        test: to measure on.
        licence: of the annotations.
    """

    name: str
    corpus: Corpus
    files: tuple[str, ...]
    test: str
    licence: str


_CDR: Final = CORPORA["bc5cdr"]
_GENES: Final = CORPORA["nlm-gene"]
GOLD: Final = (
    Gold(
        "BC5CDR",
        _CDR,
        ("bc5cdr/pubtator/CDR_TrainingSet.PubTator.txt", _CDR.dev),
        _CDR.test,
        "CC BY 4.0, as MTL-Bioinformatics-2016 states for its data",
    ),
    Gold("NLM-Gene", _GENES, (_GENES.dev,), _GENES.test, "MIT, as AIONER distributes it"),
    Gold(
        "GNormPlus",
        _GENES,
        ("gnormplus-bc2gn/Train.PubTator",),
        "gnormplus-bc2gn/Test.PubTator",
        "MIT, as AIONER distributes it",
    ),
    Gold(
        "Linnaeus",
        CORPORA["linnaeus"],
        (CORPORA["linnaeus"].dev,),
        CORPORA["linnaeus"].test,
        "MIT, as AIONER distributes it",
    ),
    Gold(
        "BioID",
        CORPORA["bioid"],
        (CORPORA["bioid"].dev,),
        CORPORA["bioid"].test,
        "MIT, as AIONER distributes it",
    ),
)
_CRAFT: Final = ("CellType", "Anatomy")  # that no other corpus has
_CRAFT_PARTS: Final[tuple[CraftPart, ...]] = ("train", "dev")
_CRAFT_LICENCE: Final = "CC BY 3.0"


class Measured(NamedTuple):
    """What links were worth on texts that the linker was not fitted on, with gold mentions.

    Attributes:
        mentions: that are linked in the gold, to whatever concept.
        known: of them, those whose concepts are all in the pack.
        answered: that got a concept.
        right: that got exactly those of the gold.
    """

    mentions: int
    known: int
    answered: int
    right: int


def main() -> None:
    """Fits, measures, writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--judge", required=True)
    parser.add_argument(
        "--output", type=Path, default=ROOT / "src" / "fascicle" / "assets" / "linkers" / PACK
    )
    args = parser.parse_args()
    pack = Pack.open(PACK)
    renewed = Renewed(pack)
    given, judged = fitting_texts(pack, args.folder, args.judge)
    fitted = fit_linker(pack, None, given, settings=SETTINGS, judged=judged)
    with tempfile.TemporaryDirectory() as place:
        fitted.memory.write(Path(place))
        made = write_linker(
            Path(place),
            pack,
            fitted.rankers,
            place=PACK,
            indexed=False,
            few=fitted.few,
            order=ORDER,
        )
        shutil.copytree(place, args.output, ignore=shutil.ignore_patterns(".*"), dirs_exist_ok=True)
    measured = {
        f"{name}: {kind}": measure(args.output, kind, renewed.of(found))
        for name, kind, found in to_measure()
    }
    sizes = {path.name: path.stat().st_size for path in args.output.iterdir() if path.name != CARD}
    result = {
        "linker": msgspec.to_builtins(made),
        "size_bytes": sum(sizes.values()),
        "test": {name: one._asdict() for name, one in measured.items()},
    }
    write_result(f"shipped-linker-{PACK}", result)
    (args.output / CARD).write_text(card(made, measured, sum(sizes.values())), encoding="utf-8")


def fitting_texts(pack: Pack, folder: Path, judge: str) -> tuple[list[Document], list[Document]]:
    """What the rankers are fitted on, and what probabilities of links of found mentions are
    corrected by.
    """
    renewed = Renewed(pack)
    return [*renewed.of(to_fit()), *labels_of(pack, "Species")], renewed.of(to_judge(folder, judge))


def to_judge(folder: Path, judge: str) -> list[Document]:
    """Documents to choose on with the concepts of gold, and the mentions that a model found."""
    judged = []
    for corpus in SOURCES:
        said = found_by(folder, judge, corpus, "aside")
        for gold, one in zip(documents(corpus, "aside"), said, strict=True) if said else ():
            judged.append(
                msgspec.structs.replace(
                    gold, mentions=(*gold.mentions, *one.mentions), abbreviations=None
                )
            )
    return judged


def to_fit() -> list[Document]:
    """The annotated documents, with their abbreviations."""
    data = Path(os.environ["FASCICLE_DATA"])
    found = [
        renamed(document, gold.corpus)
        for gold in GOLD
        for path in gold.files
        for document in read(data / path, format="pubtator")
    ]
    return with_abbreviations(
        [*found, *(of_types(one, _CRAFT) for part in _CRAFT_PARTS for one in craft(part))]
    )


def labels_of(pack: Pack, kind: str) -> list[Document]:
    """Labels as mentions of their concepts; they stand last by a hash.

    LINNAEUS names no genus and no family, and writes a genus for its best known species: a ranker
    that has seen nothing else takes a label of one word for wrong.
    """
    rows = np.flatnonzero(pack.type_rows == pack.types.index(kind))
    named = [
        one
        for one in zip(pack.curies.strings.take(rows), pack.labels_at(rows), strict=True)
        if one[0] != one[1]
    ]
    chosen = sorted(named, key=lambda one: sha256(one[0].encode()).hexdigest(), reverse=True)[
        :LABELS
    ]
    return [
        Document(
            id=f"label-{curie}",
            text=f"{label} was seen.",
            mentions=(
                Mention(
                    ((0, len(label)),), kind, links=(Link(id=curie.partition(":")[2], curie=curie),)
                ),
            ),
        )
        for curie, label in chosen
    ]


def to_measure() -> Iterable[tuple[str, str, list[Document]]]:
    """Corpus, type and documents of the test parts."""
    data = Path(os.environ["FASCICLE_DATA"])
    for gold in GOLD:
        found = with_abbreviations(
            [renamed(one, gold.corpus) for one in read(data / gold.test, format="pubtator")]
        )
        for kind in sorted(set(gold.corpus.types.values())):
            yield gold.name, kind, [of_types(one, (kind,)) for one in found]
    other = CORPORA["ncbi-disease"]
    found = with_abbreviations(
        [renamed(one, other) for one in read(data / other.test, format="pubtator")]
    )
    yield "NCBI-disease", "Disease", found
    articles = with_abbreviations(craft("test"))
    for kind in _CRAFT:
        yield "CRAFT", kind, [of_types(one, (kind,)) for one in articles]


def of_types(document: Document, types: Sequence[str]) -> Document:
    """A document with the mentions of some types alone."""
    kept = tuple(mention for mention in document.mentions if mention.type in types)
    return msgspec.structs.replace(document, mentions=kept)


def with_abbreviations(found: Sequence[Document]) -> list[Document]:
    """Documents with the definitions of short forms, as ``fascicle annotate`` links them."""
    return [
        apply(one, patch) for one, patch in zip(found, AbbreviationFinder().run(found), strict=True)
    ]


def measure(folder: Path, kind: str, found: Sequence[Document]) -> Measured:
    """Links the gold mentions of a type, and compares sets of concepts."""
    pack, linker = Pack.open(PACK), find(folder).opened()
    mentions = known = answered = right = 0
    for document in found:
        gold = {
            one.key: {link.curie for link in one.links} for one in document.mentions if one.links
        }
        bare = tuple(
            msgspec.structs.replace(one, links=()) for one in document.mentions if one.links
        )
        (patch,) = linker.predict([msgspec.structs.replace(document, mentions=bare)])
        for key, links in patch.links:
            said = {as_gold(link, gold[key]) for link in links if not link.nil}
            mentions += 1
            known += bool((pack.concept_rows(sorted(gold[key])) >= 0).all())
            answered += bool(said)
            right += said == gold[key]
    return Measured(mentions, known, answered, right)


def card(made: LinkerManifest, measured: dict[str, Measured], size: int) -> str:
    """The card, every number from what was measured."""
    lines = [
        f"# The linker of {PACK}",
        "",
        f"Links mentions to the concepts of the pack {PACK}. It has weights alone "
        f"({size / 1e3:.0f} kB): it looks",
        "names up by their keys, does not find names with slips, and keeps no name of the texts "
        "that it was fitted on.",
        "",
        "## What it was fitted on",
        "",
        *(
            f"- {gold.name} ({', '.join(sorted(set(gold.corpus.types.values())))}): {gold.licence}."
            for gold in GOLD
        ),
        f"- CRAFT ({', '.join(_CRAFT)}): {_CRAFT_LICENCE}.",
        f"- Species: {LABELS} labels of the pack too, each as a mention of its concept.",
        "",
        "What has identifiers in several vocabularies is one concept: that of MeSH is answered, "
        "and that of DOID or",
        "MONDO where there is none. An answer counts if one of its identifiers is that of the "
        "gold.",
        "",
        "The corpora are no part of Fascicle. Other types of the pack have no ranker: their "
        "links stand in the order",
        "of tiers, and have no probability.",
        "",
        "## What its links are worth",
        "",
        "On test parts, with gold mentions. A mention is right if its set of concepts is that of "
        "the gold.",
        "",
        "| corpus and type | mentions | concepts in the pack | answered | right of those "
        "answered |",
        "|---|---|---|---|---|",
        *(_row(name, one) for name, one in measured.items()),
        "",
        "## What its probabilities are fitted on",
        "",
        "Where a mention is given, on the documents above, each left out of the fit in its turn. "
        "Where a model found",
        "the mention, the probability is that the document has the concept. It is fitted on what "
        "the twin of biomed,",
        "the same training with dev kept from it, finds in the dev parts of BC5CDR, NCBI-disease "
        "and BioRED and in the",
        "tenth of NLM-Gene, GNormPlus and BioID that was set aside, which taught neither, and in "
        "every fourth document",
        "of train of LINNAEUS, which did. It holds for biomed-fast too. The odds of a link are "
        "raised to the power",
        "*scale*, those of the mention to the power *mention*, and the answer is given if it is "
        "rather right",
        "than wrong. Types with fewer than 2,000 found mentions there have one probability for "
        "both.",
        "",
        "| type | found mentions | right | scale | mention | shift |",
        "|---|---|---|---|---|---|",
        *(_correction(kind, ranker) for kind, ranker in made.rankers.items() if ranker.found),
        "",
        "By tier, on documents of the corpora above that were left out of the fit in their turn:",
        "",
        "| type | tier | of the mentions | right |",
        "|---|---|---|---|",
        *(
            f"| {kind} | {tier} | {100 * facts.answered / max(1, ranker.mentions):.1f} % "
            f"| {100 * facts.right / max(1, facts.answered):.1f} % |"
            for kind, ranker in made.rankers.items()
            for tier, facts in ranker.tiers.items()
        ),
        "",
        "## How to make it again",
        "",
        "```",
        "export FASCICLE_DATA=...",
        "python -m studies.concepts.mentions FOLDER --parts aside --models TWIN  # see "
        "studies/decision/ship.py",
        "python -m studies.ship_linker FOLDER --judge TWIN",
        "```",
        "",
        "The last command wrote this card; its numbers stand in "
        f"`studies/results/shipped-linker-{PACK}.json`.",
    ]
    return "\n".join(lines) + "\n"


def _correction(kind: str, ranker: Ranker) -> str:
    one = ranker.found
    if not one:
        return ""
    right = f"{100 * one.right / max(1, one.mentions):.1f} %"
    numbers = " | ".join(f"{value:.2f}" for value in (one.scale, one.mention, one.shift))
    return f"| {kind} | {one.mentions:,} | {right} | {numbers} |"


def _row(name: str, one: Measured) -> str:
    shares = (
        one.known / one.mentions,
        one.answered / one.mentions,
        one.right / max(1, one.answered),
    )
    return (
        f"| {name} | {one.mentions:,} | {' | '.join(f'{100 * share:.1f} %' for share in shares)} |"
    )


if __name__ == "__main__":
    main()

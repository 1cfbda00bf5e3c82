"""What is decided on dev for a model that has learnt from dev: by its twin, from which dev was
kept.

The thresholds are those that the training of the twin chose. Calibration and rules for
abbreviations are fitted here, on what the twin finds in dev parts of several corpora, each judged
by the types that it annotates.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import msgspec

from fascicle.core.document import GOLD, Document, Mention
from fascicle.evaluation.calibration.fitting import FittedCalibration, fit_calibration
from fascicle.evaluation.calibration.reliability import judged
from fascicle.evaluation.scoring.scores import score
from fascicle.formats import read
from fascicle.formats.sources import source_sha256
from fascicle.settings.folders.manifest import Manifest
from fascicle.terms.abbreviations.resolving import FittedRules, fit_rules
from fascicle.text.annotator import Annotator
from studies.six.rows import bare


@dataclass(frozen=True, kw_only=True)
class DevPart:
    """A dev part, and what of it counts.

    Attributes:
        path: in ``$FASCICLE_DATA``.
        types: label of its gold -> type of the model; other labels do not count.
        whole: whether its documents are whole texts, which define abbreviations, and are read
            without given words.
    """

    path: str
    types: Mapping[str, str]
    whole: bool = True


_NCBI = ("SpecificDisease", "DiseaseClass", "Modifier", "CompositeMention")
_BIORED = {
    "GeneOrGeneProduct": "Gene",
    "DiseaseOrPhenotypicFeature": "Disease",
    "ChemicalEntity": "Chemical",
    "OrganismTaxon": "Species",
    "CellLine": "CellLine",
}
_CELLS = {"cell_line": "CellLine", "cell_type": "CellType"}
DEV: Final = (
    DevPart(path="biored/Dev.PubTator", types=_BIORED),
    DevPart(
        path="bc5cdr/pubtator/CDR_DevelopmentSet.PubTator.txt",
        types={"Chemical": "Chemical", "Disease": "Disease"},
    ),
    DevPart(path="ncbi-disease/pubtator/dev.PubTator.txt", types=dict.fromkeys(_NCBI, "Disease")),
    DevPart(path="jnlpba/iob2/devel.iob2", types=_CELLS, whole=False),
    DevPart(path="bc2gm/iob/devel.tsv", types={"GENE": "Gene"}, whole=False),
    DevPart(path="linnaeus/iob/devel.tsv", types={"Species": "Species"}, whole=False),
)


@dataclass(frozen=True, kw_only=True)
class DevAnswers:
    """What the twin finds in dev parts.

    Attributes:
        documents: with the gold that counts, under the types of the model; ids begin with the path
            of their part.
        found: document id -> mentions of the types that its part annotates.
        whole: ids of documents that are whole texts.
        sha256: of all parts.
        parts: the dev parts.
    """

    documents: Sequence[Document]
    found: Mapping[str, tuple[Mention, ...]]
    whole: frozenset[str]
    sha256: str
    parts: tuple[DevPart, ...] = DEV

    def gold(self) -> dict[str, tuple[Mention, ...]]:
        """Document id -> gold."""
        return {document.id: document.layer(GOLD) for document in self.documents}


def parts_for(types: Sequence[str], parts: Sequence[DevPart] = DEV) -> tuple[DevPart, ...]:
    """Dev parts whose gold has the types that a model keeps for their corpus, such as
    ``Gene.bc2gm``, if it has them.

    Args:
        types: of the model.
        parts: of several corpora.
    """

    def own(part: DevPart, name: str) -> str:
        kept = f"{name}.{part.path.partition('/')[0]}"
        return kept if kept in types else name

    return tuple(
        replace(part, types={label: own(part, name) for label, name in part.types.items()})
        for part in parts
    )


def dev_answers(twin: Annotator, parts: Sequence[DevPart] = DEV) -> DevAnswers:
    """Asks the twin about dev.

    Args:
        twin: a model whose training did not see the gold of these parts; it gives out all its
            types.
        parts: of several corpora.
    """
    parts = parts_for(twin.types, parts)
    data, hashes = Path(os.environ["FASCICLE_DATA"]), hashlib.sha256()
    documents: list[Document] = []
    found: dict[str, tuple[Mention, ...]] = {}
    whole: set[str] = set()
    for part in parts:
        hashes.update(source_sha256(str(data / part.path)).encode())
        gold = [counted(document, part) for document in read(data / part.path)]
        shown = [
            bare(one) if part.whole else msgspec.structs.replace(one, mentions=()) for one in gold
        ]
        for document, patch in zip(gold, twin.predict(shown), strict=True):
            found[document.id] = tuple(m for m in patch.add if m.type in part.types.values())
        documents += gold
        whole |= {document.id for document in gold if part.whole}
    return DevAnswers(
        documents=documents,
        found=found,
        whole=frozenset(whole),
        sha256=hashes.hexdigest(),
        parts=tuple(parts),
    )


def counted(document: Document, part: DevPart) -> Document:
    """A document with the gold that counts, and an id of its own among all parts."""
    mentions = tuple(
        msgspec.structs.replace(m, type=part.types[m.type])
        for m in document.layer(GOLD)
        if m.type in part.types
    )
    return msgspec.structs.replace(document, id=f"{part.path}/{document.id}", mentions=mentions)


def fit_scores(dev: DevAnswers) -> FittedCalibration:
    """One temperature for all types; every mention is kept."""
    return fit_calibration(
        judged(dev.gold(), dev.found),
        method="temperature",
        target=None,
        types=(),
        chosen_on=dev.sha256,
    )


def fit_abbreviations(dev: DevAnswers, *, apart: Sequence[str] = ()) -> FittedRules:
    """Rules for short forms, by micro F1 on whole texts; see `fit_rules`."""
    documents = [document for document in dev.documents if document.id in dev.whole]
    gold = {document.id: document.layer(GOLD) for document in documents}
    found = {document.id: dev.found[document.id] for document in documents}

    def merit(changed: Mapping[str, Sequence[Mention]]) -> float:
        return score(
            gold,
            {key: [m for m in said if _counts(key, m, dev.parts)] for key, said in changed.items()},
        ).micro.f1

    return fit_rules(documents, found, merit=merit, chosen_on=dev.sha256, apart=apart)


def _counts(document: str, mention: Mention, parts: Sequence[DevPart]) -> bool:
    """Whether a type counts in a document; a rule may give a mention another type."""
    return any(
        document.startswith(f"{part.path}/") and mention.type in part.types.values()
        for part in parts
    )


def decided(manifest: Manifest, twin: Manifest, **fitted: Any) -> Manifest:
    """A model with the decision of its twin.

    Args:
        manifest: of the model.
        twin: of the same recipe, with dev kept.
        fitted: further parts of the decision.

    Raises:
        ValueError: they are no twins.
    """
    for name in ("types", "heads", "reading"):
        if getattr(manifest, name) != getattr(twin, name):
            raise ValueError(f"{manifest.name} and {twin.name} are no twins: their {name} differ")
    return msgspec.structs.replace(
        manifest, decision=msgspec.structs.replace(twin.decision, **fitted)
    )

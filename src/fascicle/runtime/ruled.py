"""Predictors whose answers go through rules for abbreviations and for whole documents."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Self

import msgspec

from fascicle.core.document import Document, Patch
from fascicle.errors import ModelError
from fascicle.runtime.decoding.deciding import all_decided, find_no_types
from fascicle.runtime.decoding.evidence import FindTypes
from fascicle.settings.decision import AbbreviationDecision, DocumentDecision
from fascicle.settings.folders.manifest import Manifest, ScoreDecision
from fascicle.settings.folders.vocabularies import find_pack, shipped_packs
from fascicle.settings.recipes.ensemble import EnsembleManifest
from fascicle.terms.abbreviations.resolving import apply_rules
from fascicle.text.annotator import Annotator
from fascicle.text.segment import segmenter


class RuledPredictor(Annotator):
    """Predictor that a manifest describes, and whose answers go through rules for abbreviations and
    for documents.

    Attributes:
        manifest: of the model or of the ensemble.
    """

    manifest: Manifest | EnsembleManifest

    @property
    def name(self) -> str:
        """Name of the model or ensemble; the source of its mentions."""
        return self.manifest.name

    @property
    def types(self) -> tuple[str, ...]:
        """Types that it looks for; of an ensemble those of any member."""
        return self.manifest.types

    @property
    def fingerprint(self) -> str:
        """Hash of the manifest, which holds the hashes of all files of the model, or those of
        the members.
        """
        return hashlib.sha256(msgspec.json.encode(self.manifest)).hexdigest()

    @property
    @abstractmethod
    def rules(self) -> ScoreDecision | EnsembleManifest:
        """What holds the rules."""

    @abstractmethod
    def ruled(self, **changes: Any) -> Self:
        """Returns the same predictor with other values of `rules`; those of members stay."""

    def with_abbreviations(self, rules: AbbreviationDecision | msgspec.UnsetType) -> Self:
        """Returns the same predictor with other rules for abbreviations."""
        return self.ruled(abbreviations=rules)

    def with_document(self, rules: DocumentDecision | msgspec.UnsetType) -> Self:
        """Returns the same predictor with another decision of documents."""
        return self.ruled(document=rules)

    def _by_rules(self, documents: Sequence[Document], patches: Iterable[Patch]) -> list[Patch]:
        """Returns the patches after the rules for abbreviations and for documents were applied."""
        rules, answers = self.rules, list(patches)
        if abbreviations := rules.abbreviations:
            apart = self.apart
            answers = [
                apply_rules(document, patch, abbreviations, apart=apart)
                for document, patch in zip(documents, answers, strict=True)
            ]
        if decision := rules.document:
            cuts, knows = segmenter(self.segmenter).sentences, known_names(decision)
            answers = all_decided(
                documents, answers, decision, sentences=cuts, knows=knows, source=self.name
            )
        return answers


def known_names(rules: DocumentDecision) -> FindTypes:
    """Returns a function from names to the type of each unambiguous one in the pack; its first
    call opens the pack.
    """
    return (lambda names: _open_names(rules.pack)(names)) if rules.pack else find_no_types


def check_pack(rules: DocumentDecision, *, model: str) -> None:
    """Refuses a decision whose pack this release does not ship, before anything is read.

    Raises:
        ModelError: this release does not ship the pack.
    """
    if rules.pack and rules.pack not in shipped_packs():
        raise ModelError(
            f"{model} needs the term pack {rules.pack!r}, and this release ships "
            f"{', '.join(shipped_packs())}; use the release that the model was made for, or "
            "calibrate the model again"
        )


@cache
def _open_names(name: str) -> FindTypes:
    from fascicle.terms.finding import KnownNames
    from fascicle.terms.pack.pack import Pack

    return KnownNames(Pack.open(find_pack(name)))

"""Rules for abbreviations as part of models and ensembles: everything that predicts applies
them.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from fascicle.core.document import Document, Mention, Patch
from fascicle.loading import load_single
from fascicle.runtime.ensemble import EnsemblePredictor
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.decision import AbbreviationDecision
from fascicle.settings.folders.manifest import Manifest
from fascicle.settings.recipes.ensemble import EnsembleManifest
from fascicle.terms.abbreviations.resolving import apply_rules
from fascicle.text.annotator import Annotator

LC = (30, 32)
RULES = AbbreviationDecision(spread="exact", drop=True, one_type=True)
TEXT = "the patient had lung cancer ( LC ) . the doctor gave LC for fever"


@pytest.fixture(scope="module")
def model(tiny_run: Path) -> ModelPredictor:
    return load_single(tiny_run / "best")


@pytest.fixture(scope="module")
def document(model: ModelPredictor) -> Document:
    """A short form that is no mention, of a mention, and one that is, of words that are none."""
    bare = Document(id="1", text=TEXT)
    (patch,) = model.predict([bare])
    words = {mention.text_in(TEXT): mention.spans[0] for mention in patch.add}
    cancer, fever = words["lung cancer"], words["fever"]
    return msgspec.structs.replace(bare, abbreviations=((LC, cancer), (fever, (0, 11))))


def test_a_model_decides_by_its_rules(model: ModelPredictor, document: Document) -> None:
    ruled = model.with_abbreviations(RULES)
    (before,), (after,) = model.predict([document]), ruled.predict([document])
    assert after == apply_rules(document, before, RULES)
    changed = {event.code for event in after.events} - {event.code for event in before.events}
    assert changed == {"abbreviation-added", "abbreviation-dropped"}
    assert [one.patch for one in ruled.tag([document])] == [after]
    assert [one.patch for one in ruled.probe([document])] == [after]
    assert ruled.fingerprint != model.fingerprint
    assert ruled.with_abbreviations(msgspec.UNSET).predict([document]) == [before]
    assert ruled.uncalibrated().predict([document]) == model.uncalibrated().predict([document])


def test_a_long_document_is_decided_as_a_whole(model: ModelPredictor, document: Document) -> None:
    text = document.text + "\n\nthe doctor gave aspirin ." * 20 + " LC ."
    long = msgspec.structs.replace(document, text=text)
    parts = ModelPredictor(model.manifest, model._tokenizer, model._scorer, max_characters=100)
    ruled = parts.with_abbreviations(RULES)
    assert ruled.predict([long]) == model.with_abbreviations(RULES).predict([long])
    assert (len(text) - 4, len(text) - 2) in {
        mention.spans[0] for mention in ruled.predict([long])[0].add
    }
    assert [one.patch for one in ruled.tag([long])] == ruled.predict([long])


class Says(Annotator):
    """The same mentions of every text."""

    def __init__(self, *mentions: Mention) -> None:
        self._mentions = mentions

    @property
    def name(self) -> str:
        return "says"

    @property
    def types(self) -> tuple[str, ...]:
        return ("Disease",)

    def predict(self, documents: list[Document]) -> list[Patch]:  # type: ignore[override]
        return [Patch(add=self._mentions) for _ in documents]


def test_an_ensemble_decides_by_rules_of_its_own(document: Document) -> None:
    cancer, fever = (
        Mention((span,), "Disease", score=0.5, source="says") for span in ((16, 27), (60, 65))
    )
    manifest = EnsembleManifest(
        name="all", fascicle="0", types=("Disease",), rule="union", members=("0", "1")
    )
    members = [lambda: Says(cancer), lambda: Says(fever)]
    plain, ruled = (EnsemblePredictor(one, members) for one in (manifest, with_rules(manifest)))
    (before,), (after,) = plain.predict([document]), ruled.predict([document])
    assert after == apply_rules(document, before, RULES)
    assert [mention.spans[0] for mention in after.add] == [(16, 27), LC, (53, 55)]
    assert all(mention.source == "all" for mention in after.add)
    assert ruled.with_abbreviations(msgspec.UNSET).predict([document]) == [before]


def with_rules(manifest: EnsembleManifest) -> EnsembleManifest:
    return msgspec.structs.replace(manifest, abbreviations=RULES)


def test_manifests_without_rules_are_as_before(model: ModelPredictor) -> None:
    assert b"abbreviations" not in msgspec.json.encode(model.manifest)
    ruled = model.with_abbreviations(RULES).manifest
    assert msgspec.json.decode(msgspec.json.encode(ruled), type=Manifest) == ruled

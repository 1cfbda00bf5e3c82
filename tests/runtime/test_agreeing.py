"""Mentions of careful types: those that a second model has too."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import fascicle
from fascicle.core.document import Document, Mention, Patch
from fascicle.core.mention import PlacedSpans
from fascicle.errors import UsageError
from fascicle.runtime.agreeing import AgreedPredictor
from fascicle.text.annotator import Annotator

TEXTS = (
    "BRCA1 and TP53 are mutated in breast cancer, and patients with mice take aspirin.",
    "The p110 subunit, the RING domain and the APC complex bind Cdc20 in HeLa cells.",
    "",
)


class Fixed(Annotator):
    """Gives the same mentions for each document."""

    name = "fixed"
    kind = "a model"
    types = ("Gene", "Disease")

    def __init__(self, *mentions: tuple[str, int, int]) -> None:
        self._add = tuple(Mention(((a, b),), kind, source="fixed") for kind, a, b in mentions)

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        return [Patch(add=self._add) for _ in documents]


FIRST = Fixed(("Gene", 0, 5), ("Gene", 10, 14), ("Gene", 20, 24), ("Disease", 30, 43))
SECOND = Fixed(("Gene", 3, 8), ("Disease", 10, 14), ("Gene", 24, 30))


def test_a_mention_of_a_careful_type_stays_if_the_second_model_has_its_type_there() -> None:
    careful = AgreedPredictor(FIRST, SECOND, ["Gene"])
    (patch,) = careful.predict([Document(id="1", text="x" * 50)])
    assert [(m.type, m.spans) for m in patch.add] == [
        ("Gene", ((0, 5),)),
        ("Disease", ((30, 43),)),  # nobody asked to confirm diseases
    ]
    (event,) = patch.events
    assert event.message == "left out: 2 mentions that fixed does not have"


def test_nothing_is_said_if_all_is_confirmed() -> None:
    (patch,) = AgreedPredictor(FIRST, FIRST, ["Gene", "Disease"]).predict(
        [Document(id="1", text="x" * 50)]
    )
    assert len(patch.add) == 4
    assert patch.events == ()


def test_types_that_one_of_the_two_does_not_have_are_refused() -> None:
    expected = r"fixed does not look for the type 'gene' \(did you mean 'Gene'\?\).*Gene, Disease"
    with pytest.raises(UsageError, match=expected):
        AgreedPredictor(FIRST, SECOND, ["gene"])


def test_the_shipped_models_agree_as_their_own_answers_say() -> None:
    careful = fascicle.load("biomed", careful="Gene", threads=1)
    assert careful.types == fascicle.load("biomed").types
    first, second = (
        [model(text) for text in TEXTS]
        for model in (fascicle.load("biomed", threads=1), fascicle.load("biomed-fast", threads=1))
    )
    for text, one, other in zip(TEXTS, first, second, strict=True):
        genes = PlacedSpans([m.spans[0] for m in other.mentions if m.type == "Gene"])
        expected = [
            (m.type, m.spans)
            for m in one.mentions
            if m.type != "Gene" or genes.overlapping(m.spans[0])
        ]
        assert [(m.type, m.spans) for m in careful(text).mentions] == expected
    assert careful.fingerprint != fascicle.load("biomed", threads=1).fingerprint
    assert "confirm Gene by biomed-fast" in str(careful)

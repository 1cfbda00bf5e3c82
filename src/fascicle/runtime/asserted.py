"""A predictor whose mentions have the facts that the text says of them."""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec

from fascicle.core.document import Document, Patch
from fascicle.runtime.wrapped import WrappedPredictor
from fascicle.settings.assertion import ENGLISH, Cues, read_cues
from fascicle.text.annotator import Annotator
from fascicle.text.assertion import AssertionRules


class AssertedPredictor(WrappedPredictor):
    """Predictor whose mentions have the facts that the text says of them, as attributes."""

    is_behind_links = True

    def __init__(self, predictor: Annotator, cues: Cues) -> None:
        """Takes the predictor and the cues."""
        super().__init__(predictor)
        self.gives = predictor.gives | {"facts"}
        self._rules = AssertionRules(cues, rules=predictor.segmenter)

    @property
    def part(self) -> str:
        """What it adds."""
        return "assertions"

    @property
    def fingerprint(self) -> str:
        """Fingerprints of the predictor and of the cues."""
        return f"{self._predictor.fingerprint} asserted {self._rules.fingerprint}"

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions with their facts, and events for each document; see `Annotator.predict`."""
        documents = list(documents)
        patches = zip(documents, self._predictor.predict(documents), strict=True)
        return [
            msgspec.structs.replace(patch, add=tuple(self._rules.assert_facts(document, patch.add)))
            for document, patch in patches
        ]


def add_assertions(predictor: Annotator, cues: bool | str | os.PathLike[str]) -> Annotator:
    """Returns a predictor that also says which of its mentions are negated, uncertain and so on.

    Args:
        predictor: finds the mentions.
        cues: true for the shipped cues, a file as `fascicle.settings.assertion.read_cues` takes it,
            or false for none.

    Raises:
        RecipeError: the cues cannot be read.
    """
    if cues is False or cues == "":
        return predictor
    return AssertedPredictor(predictor, read_cues(ENGLISH if cues is True else cues))

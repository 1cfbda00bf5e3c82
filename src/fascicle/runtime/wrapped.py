"""A predictor around another one, which it is like in all that it does not change."""

from __future__ import annotations

from fascicle.text.annotator import Annotator
from fascicle.text.tagging import TagSpace


class Wrapped(Annotator):
    """Says of itself what the predictor in it says."""

    def __init__(self, predictor: Annotator) -> None:
        """Takes the predictor."""
        self._predictor = predictor

    @property
    def name(self) -> str:
        """Of the predictor."""
        return self._predictor.name

    @property
    def sources(self) -> tuple[str, ...]:
        """Of the predictor."""
        return self._predictor.sources

    @property
    def types(self) -> tuple[str, ...]:
        """Of the predictor."""
        return self._predictor.types

    @property
    def kind(self) -> str:
        """Of the predictor."""
        return self._predictor.kind

    @property
    def segmenter(self) -> str:
        """Of the predictor."""
        return self._predictor.segmenter

    @property
    def fingerprint(self) -> str:
        """Of the predictor."""
        return self._predictor.fingerprint

    @property
    def tag_space(self) -> TagSpace:
        """Of the predictor."""
        return self._predictor.tag_space

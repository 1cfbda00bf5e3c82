"""A dictionary behind the door of a predictor."""

from __future__ import annotations

from collections.abc import Sequence

from fascicle.core.document import Document, Patch
from fascicle.knowledge.matcher import Matcher
from fascicle.runtime.predictor import Annotator


class DictionaryPredictor(Annotator):
    """Finds the names of a dictionary; its mentions have no score."""

    def __init__(self, matcher: Matcher, *, content: str) -> None:
        """Puts the parts together.

        Args:
            matcher: of the dictionary.
            content: hash of the dictionary.
        """
        self._matcher = matcher
        self._content = content

    @property
    def name(self) -> str:
        """Of the dictionary; the source of its mentions."""
        return self._matcher.name

    @property
    def types(self) -> tuple[str, ...]:
        """All types of the dictionary, sorted."""
        return self._matcher.types

    @property
    def kind(self) -> str:
        """That it is a dictionary."""
        return "dictionary"

    @property
    def fingerprint(self) -> str:
        """Hash of the dictionary, with the rules that it is matched by."""
        return f"{self.name} {self._content} {self._matcher.version}"

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions of each document; see `Annotator.predict`."""
        return self._matcher.predict(documents)

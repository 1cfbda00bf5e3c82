"""A predictor of another package as one of ours: with streams, and held to its contract."""

from __future__ import annotations

from collections.abc import Sequence

from fascicle.core.arguments import checked_documents
from fascicle.core.contracts import Predictor
from fascicle.core.document import Document, Patch
from fascicle.errors import PluginError
from fascicle.text.annotator import Annotator


class PluggedPredictor(Annotator):
    """Passes documents on, and checks the answers."""

    def __init__(self, predictor: Predictor, *, package: str) -> None:
        """Wraps a predictor.

        Args:
            predictor: does the work.
            package: that it is from, with its version.
        """
        self._predictor = predictor
        self._package = package

    @property
    def name(self) -> str:
        """The source of its mentions."""
        return self._predictor.name

    @property
    def types(self) -> tuple[str, ...]:
        """What it looks for."""
        return tuple(self._predictor.types)

    @property
    def kind(self) -> str:
        """The package that it is from."""
        return f"a plug-in of {self._package}"

    @property
    def fingerprint(self) -> str:
        """That of the predictor, if it has one, with its package."""
        return f"{self._package} {getattr(self._predictor, 'fingerprint', super().fingerprint)}"

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions and events for each document; see `fascicle.core.contracts.Predictor`.

        Raises:
            PluginError: it does not answer each document by a patch, or gives mentions of another source.
        """
        documents = list(checked_documents(documents))
        patches = self._predictor.predict(documents)
        if len(patches) != len(documents) or not all(isinstance(patch, Patch) for patch in patches):
            raise PluginError(
                f"{self.name}, {self.kind}, must answer {len(documents)} documents by as many patches; correct "
                "its predict",
                key=self.name,
            )
        strange = {mention.source for patch in patches for mention in patch.add} - {self.name}
        if strange:
            raise PluginError(
                f"{self.name}, {self.kind}, gave a mention of the source {min(strange)!r}; make its mentions with "
                f"source={self.name!r}",
                key=self.name,
            )
        return patches

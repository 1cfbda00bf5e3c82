"""A predictor around another one, which it is like in all that it does not change.

A predictor of another package as one of ours: with streams, and held to its contract.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from fascicle.core.arguments import checked_documents
from fascicle.core.contracts import Predictor
from fascicle.core.document import Document, Mention, Patch
from fascicle.core.mention import are_tuples
from fascicle.core.wording import counted
from fascicle.errors import FascicleError, InputError, PluginError
from fascicle.text.annotator import Annotator, TagSpace


class Wrapped(Annotator):
    """Predictor of another package; its properties are those of the predictor inside."""

    def __init__(self, predictor: Annotator) -> None:
        """Takes the predictor."""
        self._predictor = predictor
        self.gives = predictor.gives

    @property
    def links(self) -> bool:
        """True if the predictor links what it finds itself."""
        return self._predictor.links

    @property
    def name(self) -> str:
        """Name of the predictor."""
        return self._predictor.name

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources of the predictor."""
        return self._predictor.sources

    @property
    def types(self) -> tuple[str, ...]:
        """Types of the predictor."""
        return self._predictor.types

    @property
    def kind(self) -> str:
        """Kind of the predictor."""
        return self._predictor.kind

    @property
    def segmenter(self) -> str:
        """Segmenter of the predictor."""
        return self._predictor.segmenter

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the predictor."""
        return self._predictor.fingerprint

    @property
    def tag_space(self) -> TagSpace:
        """Tag space of the predictor."""
        return self._predictor.tag_space


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
        """Types that the predictor looks for."""
        return tuple(self._predictor.types)

    @property
    def kind(self) -> str:
        """The package that it is from."""
        return f"a plug-in of {self._package}"

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the predictor, if it has one, with its package."""
        return f"{self._package} {getattr(self._predictor, 'fingerprint', super().fingerprint)}"

    def close(self) -> None:
        """Ends what the predictor holds, if it has a method for that."""
        if hasattr(self._predictor, "close"):
            self._predictor.close()

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions and events for each document; see `fascicle.core.contracts.Predictor`.

        Raises:
            PluginError: it does not answer each document by a patch of mentions, or gives mentions of another source.
            InputError: it fails at a document, or finds mentions outside of its text.
        """
        documents = list(checked_documents(documents))
        patches = self._said(documents)
        if not isinstance(patches, Sequence):
            self._refuse(f"gave {_kind(patches)} in place of a list of patches; return one patch for each document")
        if len(patches) != len(documents):
            given = counted(len(patches), "patch", "patches")
            self._refuse(f"gave {given} for {counted(len(documents), 'document')}; return one for each, in their order")
        for document, patch in zip(documents, patches, strict=True):
            self._check(patch, document)
        return list(patches)

    def _said(self, documents: list[Document]) -> list[Patch]:
        """Runs the predictor; an exception from its own code is raised as an `InputError`."""
        try:
            return self._predictor.predict(documents)
        except (FascicleError, OSError):
            raise
        except Exception as error:
            which = f"document {documents[0].id!r}" if len(documents) == 1 else counted(len(documents), "document")
            why = f"failed at {which} ({type(error).__name__}: {error})"
            raise InputError(f"{self.name}, {self.kind}, {why}", key=self.name, code="prediction") from error

    def _check(self, patch: Patch, document: Document) -> None:
        if not isinstance(patch, Patch):
            self._refuse(f"gave {_kind(patch)} in place of a patch; make a Patch(add=(...)) for each document")
        if not isinstance(patch.add, tuple | list):
            self._refuse(f"made a Patch with {_kind(patch.add)} as its add; give it a tuple of mentions")
        for mention in patch.add:
            if not isinstance(mention, Mention):
                self._refuse(f"gave {_kind(mention)} in place of a mention; make a Mention(((start, end),), type)")
            if not are_tuples(mention.spans):
                self._refuse(
                    f"gave a mention with the spans {mention.spans!r}; make them a tuple of tuples (start, end)"
                )
            if mention.source != self.name:
                self._refuse(
                    f"gave a mention of the source {mention.source!r}; make its mentions with source={self.name!r}"
                )

            if mention.end > len(document.text):
                raise InputError(
                    f"{self.name}, {self.kind}, gave a mention that ends at {mention.end} for document "
                    f"{document.id!r}, which has {counted(len(document.text), 'character')}",
                    key=self.name,
                    code="prediction",
                )

    def _refuse(self, what: str) -> NoReturn:
        raise PluginError(f"{self.name}, {self.kind}, {what}", key=self.name)


def _kind(value: object) -> str:
    return f"an object of the type {type(value).__name__}"

"""What all predictors of Fascicle share beside ``predict``: streams, texts, and the sentences and words of a text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import overload

import msgspec

from fascicle.core.document import Document, Patch
from fascicle.core.stream import Given, annotate, stream
from fascicle.errors import InputError
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.segment import segmenter
from fascicle.text.tagging import Tagged, TagSpace, tagged_by_mentions


class Annotator(ABC):
    """A predictor of mentions, over documents, streams and texts; it is a step of a pipeline too."""

    needs: frozenset[str] = frozenset()
    gives: frozenset[str] = frozenset({"mentions"})
    drops: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        """The name, the types, and what kind of predictor it is."""
        return f"<{type(self).__name__} {self.name}: {', '.join(self.types)}; {self.kind}>"

    @property
    def kind(self) -> str:
        """How it works, in a few words."""
        return "predictor"

    @property
    @abstractmethod
    def name(self) -> str:
        """The source of its mentions."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Every source of its mentions: most have one, their name."""
        return (self.name,)

    @property
    @abstractmethod
    def types(self) -> tuple[str, ...]:
        """What it looks for."""

    @property
    def apart(self) -> tuple[str, ...]:
        """Types of `types` that are given out only when they are asked for."""
        return ()

    @abstractmethod
    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions and events for each document; see `fascicle.core.contracts.Predictor`."""

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """As `predict`, for pipelines."""
        return self.predict(documents)

    @property
    def fingerprint(self) -> str:
        """Decides, with the release, what this predictor says of a document: equal ones give equal answers."""
        return f"{self.name} {' '.join(self.types)}"

    @property
    def segmenter(self) -> str:
        """Name of what cuts texts into sentences and words."""
        return ReadingSettings().segmenter

    def predict_and_cut(self, documents: Sequence[Document]) -> list[Patch]:
        """As `predict`, with the sentences and words that each text is cut into."""
        rules = segmenter(self.segmenter)
        return [
            msgspec.structs.replace(patch, sentences=rules.sentences(document.text), words=rules.words(document.text))
            for document, patch in zip(documents, self.predict(documents), strict=True)
        ]

    @property
    def tag_space(self) -> TagSpace:
        """In which tags `tag` speaks."""
        return TagSpace()

    def tag(self, documents: Sequence[Document]) -> list[Tagged]:
        """As `predict`, and how probable each tag of each word is.

        Args:
            documents: words are taken from them where given.

        Returns:
            What is said of each document, in order. A predictor of mentions alone says its scores, see `text.tagging`.
        """
        return [
            tagged_by_mentions(document, patch, rules=self.segmenter, types=self.types)
            for document, patch in zip(documents, self.predict(documents), strict=True)
        ]

    def stream(
        self,
        documents: Iterable[Given],
        *,
        segments: bool = False,
        aside: Callable[[InputError], None] | None = None,
    ) -> Iterator[Document]:
        """Annotates any number of documents in bounded memory, in order; see `fascicle.core.stream.stream`.

        Earlier mentions of this predictor give way, and an event says how many; another one says that a text is empty.

        Args:
            documents: texts, pairs ``(id, text)``, or documents.
            segments: also give the sentences and words that the text is cut into, where a document has none.
            aside: is called with an error that names a document which cannot be annotated, and the others go on.
        """
        predict = self.predict_and_cut if segments else self.predict
        return stream(predict, documents, aside=aside, source=self.sources)

    def __call__(self, text: Given) -> Document:
        """Annotates one text.

        Args:
            text: a text, a pair ``(id, text)``, or a document.

        Returns:
            The document; iterating over it gives its mentions.
        """
        return next(self.stream([text]))

    @overload
    def annotate(self, texts: Collection[str]) -> list[Document]: ...

    @overload
    def annotate(self, texts: Iterator[str]) -> Iterator[Document]: ...

    def annotate(self, texts: Collection[str] | Iterator[str]) -> list[Document] | Iterator[Document]:
        """Annotates one text or several; see `fascicle.core.stream.annotate`."""
        return annotate(self.predict, texts, source=self.sources)

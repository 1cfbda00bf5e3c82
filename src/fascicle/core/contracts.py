"""Protocols of predictors, steps, readers, writers and vocabularies, for Fascicle and for other
packages.

Any object with these attributes is accepted: an instance of a class, or a module. Inheritance is
not needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol, runtime_checkable

from fascicle.core.document import Document, Patch
from fascicle.errors import InputError

if TYPE_CHECKING:
    from fascicle.settings.packs import SourceSettings

# Parts that steps need and give.
PARTS: Final = ("sections", "sentences", "words", "abbreviations", "mentions", "links", "relations")


@runtime_checkable
class Predictor(Protocol):
    """Finder of mentions: a model, an ensemble, a dictionary.

    `fascicle.core.stream` has ``stream`` and ``annotate`` for it.
    """

    @property
    def name(self) -> str:
        """Name that its mentions have as their source."""

    @property
    def types(self) -> tuple[str, ...]:
        """Entity types that it finds."""

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Predicts mentions and events for each document.

        Args:
            documents: any number; their own sentences and words are used where they have them.

        Returns:
            One patch per document, in order; the documents are not changed. The patch of a document
            does not depend on the other documents. Mentions have the name of the predictor as their
            source.
        """


@runtime_checkable
class Step(Protocol):
    """One step of a pipeline: returns patches for documents, and changes no document itself.

    `fascicle.core.patches.apply` applies the patches; it accepts only drops of the sources in
    ``drops``.
    """

    @property
    def name(self) -> str:
        """Name under which it reports the events of its patches."""

    @property
    def needs(self) -> frozenset[str]:
        """Parts of a document (see `PARTS`) that it requires."""

    @property
    def gives(self) -> frozenset[str]:
        """Parts of a document that its patches add."""

    @property
    def drops(self) -> frozenset[str]:
        """Sources whose mentions it may drop or replace."""

    @property
    def fingerprint(self) -> str:
        """Identifier of its behaviour in a release: steps with equal ones return equal patches
        for equal documents.
        """

    def run(self, documents: Sequence[Document]) -> Iterable[Patch]:
        """Returns one patch for each document, in order, as a list or lazily; the documents are
        not changed.
        """


class Source(Protocol):
    """A file for a reader."""

    @property
    def path(self) -> str:
        """Path of the file, for error messages; ``"-"`` is standard input."""

    @property
    def name(self) -> str:
        """Prefix for ids of documents: the file name without its suffix."""

    def lines(self) -> Iterator[tuple[int, str]]:
        """Iterates over the lines, numbered from 1, unpacked and decoded, without line ends."""

    def text(self) -> str:
        """Reads the whole file, unpacked and decoded."""

    def open(self) -> AbstractContextManager[BinaryIO]:
        """Opens the unpacked bytes of the file."""


@runtime_checkable
class Reader(Protocol):
    """Reader of documents of one file format."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Suffixes of its files in lower case, such as ``(".mu",)``."""

    def read(self, source: Source) -> Iterator[Document | InputError]:
        """Streams the documents of a file.

        Args:
            source: the file.

        Yields:
            Each document; or, for one that cannot be read, its error, so that reading can continue.
            An error after which reading cannot continue is raised.
        """


@runtime_checkable
class VocabularyReader(Protocol):
    """Reader of vocabularies of one form; a `fascicle.terms.sources.tables.Layout` of a table is
    one.
    """

    def read(self, settings: SourceSettings, report: Any) -> Iterator[Any]:
        """Streams the concepts of a vocabulary.

        Args:
            settings: of the source; ``path`` is the file.
            report: counts rows and losses, a `fascicle.terms.sources.drafts.SourceReport`.

        Yields:
            Each concept, or a part of one, as a `fascicle.terms.terms.ConceptRecord`.
        """


@runtime_checkable
class Writer(Protocol):
    """Writer of documents in one file format; a file is ``start``, then each encoded document,
    then ``end``.
    """

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Suffixes of its files in lower case; the first is the usual one."""

    @property
    def holds(self) -> frozenset[str]:
        """Fields of `fascicle.formats.losses.FIELDS` that its files can hold; the others are
        counted as lost.
        """

    @property
    def start(self) -> bytes:
        """Bytes at the beginning of a file."""

    @property
    def end(self) -> bytes:
        """Bytes at the end of a file."""

    def encode(self, document: Document) -> bytes:
        """Encodes one document as the bytes of the file.

        Raises:
            InputError: the format cannot hold the document at all.
        """

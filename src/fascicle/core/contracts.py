"""The protocols that predictors, steps, readers and writers implement, inside Fascicle and in other packages.

Any object with these attributes will do: an instance of a class, or a module. None has to inherit from anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import BinaryIO, Final, Protocol, runtime_checkable

from fascicle.core.document import Document, Patch
from fascicle.errors import InputError

PARTS: Final = ("sections", "sentences", "words", "abbreviations", "mentions", "links")  # what steps need and give


@runtime_checkable
class Predictor(Protocol):
    """Finds mentions: a model, an ensemble, a dictionary.

    `fascicle.core.stream` has ``stream`` and ``annotate`` for it.
    """

    @property
    def name(self) -> str:
        """The source of its mentions."""

    @property
    def types(self) -> tuple[str, ...]:
        """What it looks for."""

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions and events for each document.

        Args:
            documents: sentences and words are taken from them where given.

        Returns:
            One patch per document, in order; the documents stay as they are. The answer for a document does not depend
            on the documents beside it. Mentions have the name of the predictor as their source.
        """


@runtime_checkable
class Step(Protocol):
    """One step of a pipeline: says how documents change, and changes none itself.

    `fascicle.core.patches.apply` applies what it returns, and holds it to what it declares in ``drops``.
    """

    @property
    def name(self) -> str:
        """Who reports the events of its patches."""

    @property
    def needs(self) -> frozenset[str]:
        """Parts of a document (see `PARTS`) that must be there before."""

    @property
    def gives(self) -> frozenset[str]:
        """Parts of a document that its patches add."""

    @property
    def drops(self) -> frozenset[str]:
        """Sources whose mentions it may drop or replace."""

    @property
    def fingerprint(self) -> str:
        """Decides, with the release, what the step returns: equal ones give equal patches for equal documents."""

    def run(self, documents: Sequence[Document]) -> Iterable[Patch]:
        """One patch per document, in order, as a list or one after the other; the documents stay as they are."""


class Source(Protocol):
    """A file that a reader is given."""

    @property
    def path(self) -> str:
        """Where it is, for error messages; ``"-"`` is standard input."""

    @property
    def name(self) -> str:
        """What ids of documents are made from: the file name without its suffix."""

    def lines(self) -> Iterator[tuple[int, str]]:
        """Numbered lines from 1, unpacked and decoded, without their ends."""

    def text(self) -> str:
        """The whole file, unpacked and decoded."""

    def open(self) -> AbstractContextManager[BinaryIO]:
        """The bytes of the file, unpacked."""


@runtime_checkable
class Reader(Protocol):
    """Reads documents of one file format."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Of its files in lower case, such as ``(".mu",)``."""

    def read(self, source: Source) -> Iterator[Document | InputError]:
        """Streams the documents of a file.

        Args:
            source: the file.

        Yields:
            Each document; or, for one that cannot be read, the error, so that the others can go on. An error that
            ends the reading is raised.
        """


@runtime_checkable
class Writer(Protocol):
    """Writes documents in one file format, which the ``start``, each document, and the ``end`` make up."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Of its files in lower case; the first one is the usual one."""

    @property
    def holds(self) -> frozenset[str]:
        """Which fields of `fascicle.formats.losses.FIELDS` its files hold; the others are counted as lost."""

    @property
    def start(self) -> bytes:
        """What a file begins with."""

    @property
    def end(self) -> bytes:
        """What a file ends with."""

    def encode(self, document: Document) -> bytes:
        """What stands in the file for one document.

        Raises:
            InputError: the format cannot hold the document at all.
        """

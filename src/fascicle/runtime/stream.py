"""Documents through a predictor one after the other: lazily, in order, and none costs the others their answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fascicle.core.document import Document, Patch
from fascicle.core.patches import apply
from fascicle.errors import FascicleError, InputError, UsageError

_CHUNK_CHARACTERS = 1 << 17  # text read together: enough to sort windows by length, little enough to stay flat
_CHUNK_DOCUMENTS = 512
_FIRST_DOCUMENTS = 8  # the first answers come soon: chunks double from here

Given = str | tuple[str, str] | Document
Predict = Callable[[Sequence[Document]], list[Patch]]


class Outcome(NamedTuple):
    """What became of one document: its annotated form, or the error that it caused.

    Attributes:
        given: the document as it came.
        document: the annotated one; ``None`` after an error.
        error: why there is none.
    """

    given: Document
    document: Document | None = None
    error: Exception | None = None


def chunks(documents: Iterable[Document], *, first: int = _CHUNK_DOCUMENTS) -> Iterator[list[Document]]:
    """Consecutive documents, bounded in number and characters (one long document is a chunk of its own).

    Args:
        documents: read no further than the chunk that is given out needs.
        first: documents in the first chunk at most; each later one may have twice as many, up to 512.
    """
    chunk: list[Document] = []
    size, most = 0, first
    for document in documents:
        if chunk and size + len(document.text) > _CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
        chunk.append(document)
        size += len(document.text)
        if len(chunk) == most:
            yield chunk
            chunk, size, most = [], 0, min(2 * most, _CHUNK_DOCUMENTS)
    if chunk:
        yield chunk


def outcomes(predict: Predict, documents: Iterable[Document]) -> Iterator[Outcome]:
    """Annotates documents, in order, and says for each what became of it.

    Where a chunk raises an error, it is halved until the document that causes it is alone. Errors that no document can
    cause (a model that cannot be opened, a place that cannot be read) are raised.

    Args:
        predict: of a predictor.
        documents: any number; at most a chunk of them is read ahead.
    """
    for chunk in chunks(documents, first=_FIRST_DOCUMENTS):
        for given, patch in _answered(predict, chunk):
            if isinstance(patch, Exception):
                yield Outcome(given, error=patch)
                continue
            try:
                document = apply(given, patch)
            except ValueError as error:
                yield Outcome(given, error=error)
            else:
                yield Outcome(given, document)


def unanswered(outcome: Outcome) -> InputError:
    """The error of an outcome as one sentence that names the document."""
    error = outcome.error
    why = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    return InputError(f"document {outcome.given.id!r} could not be annotated ({why})")


def documents_of(given: Iterable[Given], *, aside: Callable[[InputError], None] | None = None) -> Iterator[Document]:
    """Documents of whatever `Annotator.stream` takes, one after the other.

    Args:
        given: texts (they are named ``text-1`` and so on, by their place), pairs of an id and a text, documents.
        aside: is called for what is none of these; by default it is raised.

    Raises:
        UsageError: one text or document, or what is no collection.
        InputError: something else than texts, pairs and documents.
    """
    if isinstance(given, str | bytes | Document | Mapping) or not isinstance(given, Iterable):
        raise UsageError(
            f"documents must be a list or stream of texts, pairs (id, text) or Documents; one {type(given).__name__} "
            "was given: put a text into a list, and give items() of a mapping"
        )
    for number, one in enumerate(given, start=1):
        try:
            document = document_of(one, number)
        except InputError as error:
            if aside is None:
                raise
            aside(error)
        else:
            yield document


def document_of(given: Given, number: int) -> Document:
    """One document of a text, of a pair of an id and a text, or of itself.

    Raises:
        InputError: anything else, or a text with a lone surrogate.
    """
    if isinstance(given, Document):
        return given
    pair = (f"text-{number}", given) if isinstance(given, str) else given
    if not (isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
        raise InputError(
            f"number {number} is of the type {type(given).__name__}; give texts, pairs (id, text) or Documents"
        )
    try:
        return Document(id=pair[0], text=pair[1])
    except ValueError as error:
        raise InputError(str(error)) from None


def _answered(predict: Predict, chunk: list[Document]) -> Iterator[tuple[Document, Patch | Exception]]:
    """The patch of each document; of one that raises an error by itself, the error."""
    try:
        patches: Sequence[Patch | Exception] = predict(chunk)
    except Exception as error:
        if isinstance(error, OSError) or (isinstance(error, FascicleError) and not isinstance(error, InputError)):
            raise
        if len(chunk) > 1:
            middle = len(chunk) // 2
            yield from _answered(predict, chunk[:middle])
            yield from _answered(predict, chunk[middle:])
            return
        patches = [error]
    yield from zip(chunk, patches, strict=True)

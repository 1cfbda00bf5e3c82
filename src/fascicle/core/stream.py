"""Lazy annotation of streams of documents, in order; an error in one document does not affect the
others.

`stream` and `annotate` take the method ``predict`` of any object that has one, or ``run`` of a
step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar, overload

import msgspec

from fascicle.core.arguments import check_argument
from fascicle.core.document import Document, Event, Patch, TextInput, to_document
from fascicle.core.patches import apply
from fascicle.core.printed import run_on_printed
from fascicle.core.wording import plural
from fascicle.errors import FascicleError, InputError, UsageError

_STEP: Final = "annotate"
EMPTY_TEXT: Final = ("note", "empty-text")
# enough text to sort windows by length, and little enough for bounded memory
_CHUNK_CHARACTERS = 1 << 17
_CHUNK_DOCUMENTS = 512
_FIRST_DOCUMENTS = 8  # so that the first results come soon: chunks double from here

_T = TypeVar("_T")
_Predict = Callable[[Sequence[Document]], list[Patch]]


class Outcome(NamedTuple):
    """Result for one document: the annotated document, or the error that it caused.

    Attributes:
        given: the input document.
        document: the annotated document; ``None`` after an error.
        error: the error; ``None`` if there is a document.
    """

    given: Document
    document: Document | None = None
    error: Exception | None = None


def chunks(
    documents: Iterable[Document], *, first: int = _CHUNK_DOCUMENTS
) -> Iterator[list[Document]]:
    """Yields consecutive documents in lists, bounded in number and characters (a long document is a
    list of its own).

    Args:
        documents: read only as far as the next chunk needs.
        first: most documents in the first chunk; the limit doubles with each full chunk, up to 512.
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


def portions(documents: Iterable[Document], *, characters: int) -> Iterator[list[Document]]:
    """Yields consecutive documents; each portion ends with the document by which it has at least
    so many characters.
    """
    return group_by_size(documents, lambda document: len(document.text) + 1, least=characters)


def group_by_size(
    items: Iterable[_T], size_of: Callable[[_T], int], *, least: int
) -> Iterator[list[_T]]:
    """Yields consecutive items; each group ends with the item by which it has at least a given
    size.
    """
    group: list[_T] = []
    size = 0
    for item in items:
        group.append(item)
        size += size_of(item)
        if size >= least:
            yield group
            group, size = [], 0
    if group:
        yield group


def stream(
    predict: _Predict,
    documents: Iterable[TextInput],
    *,
    aside: Callable[[InputError], None] | None = None,
    source: str | tuple[str, ...] = "",
    step: str = "patch",
    drops: Collection[str] = (),
) -> Iterator[Document]:
    """Annotates any number of documents in bounded memory, in order.

    Input is read only as needed: a few documents ahead at first, later at most 512 documents or
    131,072 characters.

    Args:
        predict: method ``predict`` of a predictor, or ``run`` of a step.
        documents: texts (with the ids ``text-1`` and so on, by their position), pairs ``(id,
            text)``, or documents.
        aside: function that is called with the error of each document that cannot be annotated,
            before the others continue; by default the error is raised.
        source: see `outcomes`.
        step: see `apply`.
        drops: see `apply`.

    Raises:
        UsageError: one text or document in place of several.
        InputError: something else was given, or a document cannot be annotated.
    """
    for outcome in outcomes(
        predict, to_documents(documents, aside=aside), source=source, step=step, drops=drops
    ):
        if outcome.document is not None:
            yield outcome.document
        elif aside is not None:
            aside(failure_error(outcome))
        elif outcome.error is not None:
            raise outcome.error


@overload
def annotate(
    predict: _Predict, texts: Collection[str], *, source: str | tuple[str, ...] = ""
) -> list[Document]: ...


@overload
def annotate(
    predict: _Predict, texts: Iterator[str], *, source: str | tuple[str, ...] = ""
) -> Iterator[Document]: ...


def annotate(
    predict: _Predict, texts: Iterable[str], *, source: str | tuple[str, ...] = ""
) -> list[Document] | Iterator[Document]:
    """Annotates texts.

    Args:
        predict: method ``predict`` of a predictor.
        texts: one text, or several.
        source: see `outcomes`.

    Returns:
        One document per text, with the ids ``text-1`` and so on: as a list, or, for a generator or
        another iterator, as an iterator that reads the texts lazily.

    Raises:
        InputError: an item is no text.
    """
    check_argument(texts, Iterable, name="texts", means="a text, or a list or stream of texts")
    _refuse_frame(texts)
    inputs = [texts] if isinstance(texts, str) else texts
    results = stream(predict, map(_text, inputs), source=source)
    return results if isinstance(texts, Iterator) else list(results)


def outcomes(
    predict: _Predict,
    documents: Iterable[Document],
    *,
    source: str | tuple[str, ...] = "",
    step: str = "patch",
    drops: Collection[str] = (),
) -> Iterator[Outcome]:
    """Annotates documents, in order, and yields the result for each.

    Earlier mentions of the same source are replaced, since they may come from an older model; an
    event counts them. Another event reports an empty text. If a chunk raises an error, it is halved
    until the document that causes it is alone. Errors that no document can cause (a model that
    cannot be opened, a file that cannot be read) are raised.

    Args:
        predict: of a predictor.
        documents: any number; at most one chunk is read ahead.
        source: source of the predictor's mentions, or several; if empty, as for a step, earlier
            mentions are kept, and empty texts are not reported.
        step: see `apply`.
        drops: see `apply`.
    """
    sources = (source,) if isinstance(source, str) else source
    ready = (_prepared(document, sources) for document in documents)

    def printed(some: Sequence[Document]) -> list[Patch]:
        return list(run_on_printed(predict, some))

    for chunk in chunks(ready, first=_FIRST_DOCUMENTS):
        for original, patch in answer_each(printed, chunk):
            if isinstance(patch, Exception):
                yield Outcome(original, error=patch)
                continue
            try:
                document = apply(original, patch, step=step, drops=drops)
            except ValueError as error:
                yield Outcome(original, error=error)
            else:
                yield Outcome(original, document)


def failure_error(outcome: Outcome) -> InputError:
    """Returns the error of an outcome as one sentence that names the document."""
    error = outcome.error
    why = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    name = outcome.given.id
    return InputError(
        f"document {name!r} could not be annotated ({why})", key=name, code="prediction"
    )


def to_documents(
    texts: Iterable[TextInput], *, aside: Callable[[InputError], None] | None = None
) -> Iterator[Document]:
    """Yields documents made from any input that `stream` takes.

    Args:
        texts: texts (with the ids ``text-1`` and so on, by their position), pairs of an id and a
            text, documents.
        aside: function that is called with the error of any other item; by default the error is
            raised.

    Raises:
        UsageError: one text or document, or an object that is no collection.
        InputError: an item is no text, pair or document.
    """
    _refuse_frame(texts)
    if isinstance(texts, str | bytes | Document | Mapping) or not isinstance(texts, Iterable):
        raise UsageError(
            "documents must be a list or stream of texts, pairs (id, text) or Documents; one "
            f"{type(texts).__name__} "
            "was given: put a text into a list, and give items() of a mapping"
        )
    for number, text in enumerate(texts, start=1):
        try:
            document = to_document(text, number)
        except InputError as error:
            if aside is None:
                raise
            aside(error)
        else:
            yield document


def _refuse_frame(texts: object) -> None:
    """Refuses a data frame, whose items are the names of its columns."""
    if hasattr(texts, "columns"):
        raise UsageError(
            f"documents must be texts; one {type(texts).__name__} was given: give its column of "
            'texts, such as frame["text"], or zip(frame["id"], frame["text"])'
        )


def _prepared(document: Document, sources: tuple[str, ...]) -> Document:
    events: list[Event] = []
    for source in sources:
        earlier = document.layer(source)
        if earlier:
            message = f"replaced: {plural(len(earlier), 'earlier mention')} of {source!r}"
            events.append(Event(step=_STEP, kind="note", code="replaced", message=message))
            mentions = tuple(mention for mention in document.mentions if mention.source != source)
            document = msgspec.structs.replace(document, mentions=mentions)
    if not any(character.isprintable() and not character.isspace() for character in document.text):
        kind, code = EMPTY_TEXT
        message = "the text is empty or of invisible characters alone, so it has no mentions"
        events.append(Event(step=_STEP, kind=kind, code=code, message=message))
    return document.with_events(*events) if events else document


def answer_each(
    predict: Callable[[Sequence[Document]], Sequence[_T]], chunk: Sequence[Document]
) -> Iterator[tuple[Document, _T | Exception]]:
    """Yields each document with its answer, or with the error that it raises alone.

    Args:
        predict: function that returns one answer for each document.
        chunk: some documents; it is halved until the document that raises an error is alone.
    """
    try:
        answers: Sequence[_T | Exception] = predict(chunk)
    except Exception as error:
        if isinstance(error, OSError) or (
            isinstance(error, FascicleError) and not isinstance(error, InputError)
        ):
            raise
        if len(chunk) > 1:
            middle = len(chunk) // 2
            yield from answer_each(predict, chunk[:middle])
            yield from answer_each(predict, chunk[middle:])
            return
        answers = [error]
    yield from zip(chunk, answers, strict=True)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise InputError(
            f"annotate takes texts, got {type(value).__name__}; stream and predict take documents"
        )
    return value

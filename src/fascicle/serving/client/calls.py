"""Requests of clients and the decoding of responses, without network access."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar
from urllib.parse import quote

import msgspec

from fascicle.core import codec
from fascicle.core.document import Document, TextInput
from fascicle.core.stream import to_documents
from fascicle.errors import CODES, FascicleError, InputError, UsageError
from fascicle.serving.records import OLDER, Problem, RawAnswer, RawAnswers, twice_named

_T = TypeVar("_T")
Answer = Document | InputError
_REFUSED: Final = frozenset({429, 503})
_LOST: Final = frozenset({502, 504})
_FAULT: Final = 500
TOO_LARGE: Final = 413
_FIRST_PAUSE: Final = 0.25  # seconds; each later pause may be twice as long
_LONGEST_PAUSE: Final = 30.0
PORTION: Final = 65_536  # characters of text that are sent together
_DOCUMENTS: Final = 64  # that are sent together
_JSON: Final = "application/json"
FILE: Final = "application/octet-stream"


class ServiceError(FascicleError):
    """Error that a service returned in place of the requested result.

    Attributes:
        status: of HTTP; 0 if there was no answer.
    """

    def __init__(self, message: str, *, status: int = 0, code: str = "") -> None:
        """Stores the message, the status and the code."""
        super().__init__(message, code=code if code in CODES else "error")
        self.status = status


@dataclass(frozen=True, kw_only=True)
class Call:
    """HTTP request to a service.

    Attributes:
        method: of HTTP.
        path: below the address of the service.
        params: of the query.
        content: of the request.
        media_type: of the content.
        again: whether it may be sent again when the connection was lost, since it changes nothing.
    """

    method: str
    path: str
    params: dict[str, Any] = field(default_factory=dict)
    content: bytes | None = None
    media_type: str = _JSON
    again: bool = True

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the method ``request`` of a client of HTTP."""
        return {
            "method": self.method,
            "url": self.path,
            "params": self.params,
            "content": self.content,
            "headers": {} if self.content is None else {"Content-Type": self.media_type},
        }


@dataclass(frozen=True, kw_only=True)
class AnnotateOptions:
    """Options of a request for annotation; see ``docs/how-to-serve.md``.

    Attributes:
        pipeline: name; the first one by default.
        threshold: of mentions.
        only: types of mentions; all by default.
        links: whether the steps that only link are done.
        steps: names of the steps that are done; all by default.
    """

    pipeline: str = ""
    threshold: float = 0.0
    only: Sequence[str] = ()
    links: bool = True
    steps: Sequence[str] = ()

    @property
    def params(self) -> dict[str, Any]:
        """Query parameters of the request."""
        values = {
            "pipeline": self.pipeline,
            "threshold": self.threshold or "",
            **{
                name: value if isinstance(value, str) else ",".join(value)
                for name, value in (("only", self.only), ("steps", self.steps))
            },
            "links": "" if self.links else "false",
        }
        return {name: value for name, value in values.items() if value != ""}


def annotate_options(choice: Mapping[str, Any]) -> AnnotateOptions:
    """Makes the options of the arguments of a method; older names of them are read.

    Raises:
        UsageError: an older name, and the newer one.
    """
    if sentence := twice_named(choice):
        raise UsageError(sentence)
    newer = {older: name for name, older in OLDER.items()}
    return AnnotateOptions(**{newer.get(name, name): value for name, value in choice.items()})


def annotate(documents: Sequence[Document], choice: AnnotateOptions) -> Call:
    """Makes the request to annotate documents."""
    content = b'{"documents":[' + b",".join(map(codec.encode, documents)) + b"]}"
    return Call(method="POST", path="/v1/annotate", params=choice.params, content=content)


def write(documents: Sequence[Document], form: str) -> Call:
    """Makes the request to write documents in a format."""
    return replace(
        annotate(documents, AnnotateOptions()), path="/v1/write", params={"format": form}
    )


def concept(curie: str, pipeline: str) -> Call:
    """Makes the request for a concept."""
    return Call(
        method="GET",
        path=f"/v1/concepts/{quote(curie, safe=':')}",
        params=AnnotateOptions(pipeline=pipeline).params,
    )


def why(document: Document, pipeline: str, candidates: int) -> Call:
    """Makes the request to explain the links of the mentions of a document."""
    params = {"candidates": candidates, **AnnotateOptions(pipeline=pipeline).params}
    return Call(method="POST", path="/v1/why", params=params, content=codec.encode(document))


class _Read(msgspec.Struct):
    documents: tuple[msgspec.Raw, ...]


def documents(content: bytes) -> list[Document]:
    """Decodes the documents of a file that the service read."""
    return [codec.decode(bytes(document)) for document in decode_content(content, _Read).documents]


def portions(texts: Iterable[TextInput]) -> Iterator[list[Document]]:
    """Yields portions of documents to send together, limited in number and in total length of
    text.
    """
    portion: list[Document] = []
    size = 0
    for document in to_documents(texts):
        if portion and (size + len(document.text) > PORTION or len(portion) == _DOCUMENTS):
            yield portion
            portion, size = [], 0
        portion.append(document)
        size += len(document.text)
    if portion:
        yield portion


def answers(content: bytes, documents: Sequence[Document]) -> list[Answer]:
    """Decodes the results for documents: each as an annotated document or as an error.

    Raises:
        ServiceError: the response does not match them.
    """
    results = decode_content(content, RawAnswers).documents
    if len(results) != len(documents):
        raise ServiceError(
            f"the service answered {len(results)} documents, and {len(documents)} were sent"
        )
    return [_answer(answer, document) for answer, document in zip(results, documents, strict=True)]


def _answer(answer: RawAnswer, document: Document) -> Answer:
    if isinstance(answer.document, msgspec.Raw):
        return codec.decode(bytes(answer.document))
    why = answer.problem.detail if answer.problem is not None else answer.status
    return InputError(
        f"document {document.id!r} was not annotated: {why}", key=document.id, code="prediction"
    )


def annotated_documents(
    answers: Iterable[Answer], aside: Callable[[InputError], None] | None
) -> Iterator[Document]:
    """Yields the documents among results; errors are passed to ``aside``, or raised."""
    for answer in answers:
        if isinstance(answer, Document):
            yield answer
        elif aside is not None:
            aside(answer)
        else:
            raise answer


def split_portion(documents: list[Document]) -> tuple[list[Document], list[Document]]:
    """Splits a portion that was too large into two."""
    middle = len(documents) // 2
    return documents[:middle], documents[middle:]


def decode_content(content: bytes, kind: type[_T]) -> _T:
    """Decodes the content of a response.

    Raises:
        ServiceError: it is not from a service of Fascicle.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ServiceError(
            f"this answer is not from a Fascicle service ({error}); check the address"
        ) from None


def response_error(status: int, content: bytes) -> ServiceError:
    """Makes the error for a failed response."""
    problem = _problem_of(content)
    if problem is None:
        return ServiceError(
            f"the service answered with the status {status}; check its address", status=status
        )
    return ServiceError(problem.detail, status=status, code=problem.code)


def should_retry(call: Call, status: int, content: bytes) -> bool:
    """True if a failed request is sent again.

    A service that refuses a request has not started it. If a proxy lost the service, the request
    may have been started, so it is sent again only if it is repeatable. An internal error of the
    service would occur again.

    Args:
        call: the request.
        status: of the answer.
        content: of the answer.
    """
    if status in _REFUSED:
        return True
    return call.again and (status in _LOST or (status == _FAULT and _problem_of(content) is None))


def _problem_of(content: bytes) -> Problem | None:
    """Returns the problem in the content of a response; ``None`` if it is not from a service of
    Fascicle.
    """
    try:
        return msgspec.json.decode(content, type=Problem)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def retry_pause(
    attempt: int, retry_after: str, *, draw: Callable[[], float] = random.random
) -> float:
    """Returns the pause in seconds before a request is sent again.

    Args:
        attempt: the attempt that failed, from 1.
        retry_after: value of the header ``Retry-After``, or empty.
        draw: returns a random number from 0 to 1, so that clients refused together do not return
            together.
    """
    own = min(_FIRST_PAUSE * 2.0 ** (attempt - 1), _LONGEST_PAUSE) * (0.5 + draw() / 2)
    seconds = float(retry_after) if retry_after.isascii() and retry_after.isdigit() else 0.0
    return max(own, min(seconds, _LONGEST_PAUSE) * (1 + draw() / 4))

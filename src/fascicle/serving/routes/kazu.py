"""Routes compatible with clients of Kazu's web service, with its documents in and out.

See https://github.com/AstraZeneca/KAZU, ``kazu.web``. Two of its groups of steps exist here: the whole
pipeline, and the pipeline without links.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fascicle.core.document import Document, Section
from fascicle.formats.catalogue import format_named
from fascicle.serving.asked import check_names, json_of
from fascicle.serving.endpoint import JSON, Endpoint, Query
from fascicle.serving.files import write_file
from fascicle.serving.messages import Options
from fascicle.serving.problems import ProblemError
from fascicle.serving.records import KazuDocument
from fascicle.serving.service import Service

_BETWEEN: Final = "\n\n"


class KazuText(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document: its text, or the texts of its sections."""

    text: str | msgspec.UnsetType = msgspec.UNSET
    sections: Annotated[dict[str, str], msgspec.Meta(min_length=1)] | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        """Raises an error unless the document has either a text or sections."""
        if (self.text is msgspec.UNSET) == (self.sections is msgspec.UNSET):
            raise ValueError("a document has either text or sections")

    def as_document(self, name: str) -> Document:
        """Returns the document with an id; its sections are separated by an empty line."""
        if isinstance(self.text, str):
            return Document(id=name, text=self.text)
        assert isinstance(self.sections, dict)
        found, at = list[Section](), 0
        for title, text in self.sections.items():
            found.append(Section(at, at + len(text), title))
            at += len(text) + len(_BETWEEN)
        return Document(id=name, text=_BETWEEN.join(self.sections.values()), sections=tuple(found))


async def ner_and_linking(request: Request, service: Service) -> Response:
    """Annotates with all steps of a pipeline."""
    return await _answer(request, service, Options())


async def ner_only(request: Request, service: Service) -> Response:
    """Annotates with a pipeline, without links."""
    return await _answer(request, service, Options(link=False))


async def _answer(request: Request, service: Service, options: Options) -> Response:
    check_names(request, ("pipeline",))
    pool = service.pool(request.query_params.get("pipeline", ""))
    either: Any = list[KazuText] | KazuText  # no type, for mypy
    given = await json_of(request, service.settings, either)
    texts = given if isinstance(given, list) else [given]
    if len(texts) > service.settings.documents:
        raise ProblemError(413, f"{len(texts):,} documents were sent, and {service.settings.documents:,} are allowed")
    documents = [service.checked(one.as_document(f"text-{at}")) for at, one in enumerate(texts, start=1)]
    answers = await service.annotate(pool, documents, options)
    for one in answers:
        if one.problem is not None:
            raise ProblemError(one.problem.status, f"{one.id}: {one.problem.detail}", code=one.problem.code)
    done = [one.document for one in answers if isinstance(one.document, msgspec.Raw)]
    content, _ = await write_file(service, done, format_named("kazu"))
    return Response(b"[" + b",".join(content.splitlines()) + b"]", media_type=JSON)


_PIPELINE: Final = (Query(name="pipeline", type=str, means="name of the pipeline; by default the first one"),)
ROUTES: Final = tuple(
    Endpoint(
        method="POST",
        path=f"/api/kazu/{handle.__name__}",
        handle=handle,
        means=means,
        query=_PIPELINE,
        body=list[KazuText] | KazuText,
        answers=tuple[KazuDocument, ...],
        problems=(404, 413, 429),
        example={"text": "Lithium can cause tremor."},
    )
    for handle, means in (
        (ner_and_linking, "annotate, for clients of Kazu"),
        (ner_only, "annotate without links, for clients of Kazu"),
    )
)

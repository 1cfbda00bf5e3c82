"""Routes compatible with clients of Kazu's web service, with its documents in and out.

See https://github.com/AstraZeneca/KAZU, ``kazu.web``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Annotated, Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fascicle.core.document import Document, Mention, Section
from fascicle.formats.catalogue import format_named
from fascicle.formats.label_studio_regions import PARTS
from fascicle.serving.content import check_names, query_value, read_json
from fascicle.serving.endpoint import (
    PIPELINE_QUERY,
    Endpoint,
    QueryParameter,
    json_answer,
    pool_of,
    write_file,
)
from fascicle.serving.messages import Options
from fascicle.serving.problems import ProblemError
from fascicle.serving.records import KazuAnnotations, KazuDocument, RawAnswer
from fascicle.serving.service import Service

_BETWEEN: Final = "\n\n"
_LINKING_ONLY: Final = "KAZUAPILinkingOnlyRequest"  # what Kazu calls the source of such mentions
_CLASS: Final = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class KazuText(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document: its text, or the texts of its sections."""

    text: str | msgspec.UnsetType = msgspec.UNSET
    sections: Annotated[dict[str, str], msgspec.Meta(min_length=1)] | msgspec.UnsetType = (
        msgspec.UNSET
    )

    def __post_init__(self) -> None:
        """Raises an error unless the document has either a text or sections."""
        if (self.text is msgspec.UNSET) == (self.sections is msgspec.UNSET):
            raise ValueError("a document has either text or sections")

    def as_document(self, name: str) -> Document:
        """Returns the document with an id; its sections are separated by an empty line."""
        if isinstance(self.text, str):
            return Document(id=name, text=self.text)
        assert isinstance(self.sections, dict)
        sections, at = list[Section](), 0
        for title, text in self.sections.items():
            sections.append(Section(at, at + len(text), title))
            at += len(text) + len(_BETWEEN)
        return Document(
            id=name, text=_BETWEEN.join(self.sections.values()), sections=tuple(sections)
        )


_ANY: Final[Any] = list[KazuText] | KazuText


async def ner_and_linking(request: Request, service: Service) -> Response:
    """Annotates with all steps of a pipeline."""
    return await _answer(request, service, Options())


async def ner_only(request: Request, service: Service) -> Response:
    """Annotates with a pipeline, without links."""
    return await _answer(request, service, Options(links=False))


async def batch(request: Request, service: Service) -> Response:
    """Annotates several documents with all steps of a pipeline."""
    return await _answer(request, service, Options(), kind=list[KazuText])


async def linking_only(request: Request, service: Service) -> Response:
    """Links each section as a whole: it is a mention of the given type."""
    kind: str = query_value(request, "entity_class", _CLASS, "")
    if not kind:
        raise ProblemError(
            422, "the parameter entity_class is missing; give the type of all mentions: Disease"
        )
    return await _answer(request, service, Options(find=False), entity_class=kind)


async def ls_annotations(request: Request, service: Service) -> Response:
    """Annotates one document, and returns it as tasks of Label Studio too."""
    (document,) = await _annotate(request, service, Options(), kind=KazuText)
    tasks = tuple(_tasks(document))
    answer = KazuAnnotations(ls_view=_view(document), ls_tasks=tasks, doc=document)
    return json_answer(answer)


async def welcome(request: Request, service: Service) -> Response:
    """Answers with a sentence, as Kazu does."""
    check_names(request, ())
    return json_answer("Fascicle answers clients of Kazu under /api/kazu.")


async def pipeline_steps(request: Request, service: Service) -> Response:
    """Returns the names of the steps of a pipeline, in order."""
    check_names(request, ("pipeline",))
    facts = pool_of(request, service).facts
    return json_answer([step.name for step in facts.steps] if facts else [])


async def _answer(
    request: Request,
    service: Service,
    options: Options,
    *,
    kind: Any = _ANY,
    entity_class: str = "",
) -> Response:
    documents = await _annotate(request, service, options, kind=kind, entity_class=entity_class)
    return json_answer(documents)


async def _annotate(
    request: Request, service: Service, options: Options, *, kind: Any, entity_class: str = ""
) -> list[KazuDocument]:
    """Annotates the documents of a request.

    Args:
        request: with a content of the class ``kind``.
        service: the service that annotates.
        options: of the annotation.
        kind: `KazuText`, or a list of it, or either.
        entity_class: type of the mentions that all sections are, if they are.

    Raises:
        ProblemError: not all documents are done.
    """
    check_names(request, ("pipeline", "entity_class") if entity_class else ("pipeline",))
    pool = pool_of(request, service)
    steps = pool.facts.steps if pool.facts else ()
    if not options.find and not any(step.gives == ("links",) for step in steps):
        raise ProblemError(
            422, "no step of this pipeline only links; name another one: ?pipeline=NAME"
        )
    texts = await _read_texts(request, service, kind)
    documents = [text.as_document(f"text-{at}") for at, text in enumerate(texts, start=1)]
    if entity_class:
        documents = [_of_one_mention_each(document, entity_class) for document in documents]
    answers = await service.annotate(
        pool, [service.checked(document) for document in documents], options
    )
    for answer in answers:
        if (problem := answer.problem) is not None:
            raise ProblemError(problem.status, f"{answer.id}: {problem.detail}", code=problem.code)
    return await _as_kazu(service, answers)


async def _as_kazu(service: Service, answers: Sequence[RawAnswer]) -> list[KazuDocument]:
    """Returns annotated documents in the form of Kazu."""
    annotated = [answer.document for answer in answers if isinstance(answer.document, msgspec.Raw)]
    content, _ = await write_file(service, annotated, format_named("kazu"))
    return [msgspec.json.decode(line, type=KazuDocument) for line in content.splitlines()]


async def _read_texts(request: Request, service: Service, kind: Any) -> list[KazuText]:
    body = await read_json(request, service.settings, kind)
    texts = body if isinstance(body, list) else [body]
    if len(texts) > service.settings.documents:
        raise ProblemError(
            413,
            f"{len(texts):,} documents were sent, and {service.settings.documents:,} are allowed",
        )
    return texts


def _of_one_mention_each(document: Document, kind: str) -> Document:
    """Returns a document in which each section that is not blank is a mention."""
    spans = [
        (section.start, section.end)
        for section in document.sections or (Section(0, len(document.text)),)
    ]
    mentions = [
        Mention((span,), kind, source=_LINKING_ONLY)
        for span in spans
        if document.text[slice(*span)].strip()
    ]
    return document.having(mentions=tuple(mentions))


def _tasks(document: KazuDocument) -> Iterator[dict[str, Any]]:
    """Yields a task of Label Studio for each section.

    A region is a span of an entity; spans of one entity are joined by relations, and each has the
    concepts.
    """
    for number, section in enumerate(document.sections):
        name = f"{document.idx}_{section['name']}_{number}"
        regions = [
            region
            for at, entity in enumerate(_entities(section))
            for region in _regions(entity, section["text"], at)
        ]
        yield {
            "data": {"text": section["text"], "id": name},
            "annotations": [{"id": name, "result": regions}],
        }


def _regions(entity: Mapping[str, Any], text: str, number: int) -> Iterator[dict[str, Any]]:
    before = ""
    for span in entity["spans"]:
        start, end = span["start"], span["end"]
        place = {"start": start, "end": end, "text": text[start:end]}
        own: dict[str, Any] = {
            "id": f"{number}_{start}_{end}",
            "to_name": "text",
            "origin": "manual",
        }
        label = {**place, "score": 1.0, "labels": [entity["entity_class"]]}
        yield {**own, "from_name": "ner", "type": "labels", "value": label}
        concepts = sorted(_concepts(entity)) or [("None", "unmapped|unmapped")]
        yield {
            **own,
            "from_name": "taxonomy",
            "type": "taxonomy",
            "value": {**place, "taxonomy": concepts},
        }
        if before:
            relation = {
                "from_id": before,
                "to_id": own["id"],
                "direction": "right",
                "labels": [PARTS],
            }
            yield {**relation, "type": "relation"}
        before = own["id"]


def _entities(section: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    entities: Sequence[Mapping[str, Any]] = section.get("entities", ())
    return entities


def _concepts(entity: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Returns the vocabulary of each concept of an entity, with its name and identifier."""
    return {
        (mapping["source"], f"{mapping['default_label']}|{mapping['idx']}")
        for mapping in entity.get("mappings", ())
    }


def _view(document: KazuDocument) -> str:
    """Returns the labelling configuration for the types and concepts of a document."""
    entities = [entity for section in document.sections for entity in _entities(section)]
    labels = "".join(
        _element("Label", kind) for kind in sorted({entity["entity_class"] for entity in entities})
    )
    concepts = sorted({concept for entity in entities for concept in _concepts(entity)})
    by_source: defaultdict[str, str] = defaultdict(str)
    for source, name in concepts:
        by_source[source] += _element("Choice", name)
    choices = "".join(_element("Choice", *choice) for choice in by_source.items())
    return (
        '<View style="display: '
        f'flex;"><View><View><Relations>{_element("Relation", PARTS)}</Relations>'
        f'<Labels name="ner" toName="text" choice="multiple">{labels}</Labels></View>'
        '<View><Text name="text" value="$text"/></View><View>'
        '<Taxonomy visibleWhen="region-selected" name="taxonomy" toName="text" '
        f'perRegion="true">{choices}</Taxonomy>'
        "</View></View></View>"
    )


def _element(name: str, value: str, inside: str = "") -> str:
    return f'<{name} value="{escape(value)}">{inside}</{name}>'


_ENTITY_CLASS: Final = QueryParameter(
    name="entity_class", type=_CLASS, means="type of all mentions", needed=True
)
_ONE: Final = {"text": "Lithium can cause tremor."}
_KAZU_DOCUMENTS: Final = tuple[KazuDocument, ...]
ROUTES: Final = (
    *(
        Endpoint(
            method="POST",
            path=f"/api/kazu/{name}",
            handle=handle,
            means=f"{means}, for clients of Kazu",
            query=(PIPELINE_QUERY, _ENTITY_CLASS) if handle is linking_only else (PIPELINE_QUERY,),
            body=body,
            answers=answers,
            problems=(404, 413, 429),
            example=example,
        )
        for name, handle, means, body, answers, example in (
            ("ner_and_linking", ner_and_linking, "annotate", _ANY, _KAZU_DOCUMENTS, _ONE),
            ("ner_only", ner_only, "annotate without links", _ANY, _KAZU_DOCUMENTS, _ONE),
            ("batch", batch, "annotate several documents", list[KazuText], _KAZU_DOCUMENTS, [_ONE]),
            (
                "linking_only",
                linking_only,
                "link each section as one mention",
                _ANY,
                _KAZU_DOCUMENTS,
                None,
            ),
            (
                "ls-annotations",
                ls_annotations,
                "annotate one document, also as tasks of Label Studio",
                KazuText,
                KazuAnnotations,
                _ONE,
            ),
        )
    ),
    Endpoint(
        method="GET",
        path="/api",
        handle=welcome,
        means="a sentence that says that the service answers, for clients of Kazu",
        answers=str,
    ),
    Endpoint(
        method="GET",
        path="/api/steps",
        handle=pipeline_steps,
        means="names of the steps of a pipeline, for clients of Kazu",
        query=(PIPELINE_QUERY,),
        answers=tuple[str, ...],
        problems=(404,),
    ),
)

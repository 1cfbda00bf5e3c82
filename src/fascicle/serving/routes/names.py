"""Routes for names of term packs: what one is, and what rows of curation would change, in documents
at once, and in a folder of texts as a job.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Annotated, Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.files.atomic import link_file
from fascicle.serving.content import check_names, read_json, rules_of
from fascicle.serving.curation.decisions import Rows
from fascicle.serving.endpoint import PIPELINE_QUERY, Endpoint, json_answer, pool_of
from fascicle.serving.folders import TEXTS
from fascicle.serving.jobs import Job
from fascicle.serving.messages import TriedRules, TryRules
from fascicle.serving.pool import Task
from fascicle.serving.problems import ProblemError
from fascicle.serving.routes.facts import run_task
from fascicle.serving.routes.files import begin_job, own_job
from fascicle.serving.service import Service

_Name = Annotated[str, msgspec.Meta(max_length=1_000)]


class GivenNames(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A name to explain, and rows of curation to try.

    Attributes:
        name: any; empty for none.
        before: rows that hold already, as ``rows``.
        rows: rules, by the columns ``action``, ``surface``, ``source``, ``concept``, ``case`` and
            ``note``.
        documents: in whose texts the changes are searched.
    """

    name: _Name = ""
    before: Rows = ()
    rows: Rows = ()
    documents: tuple[codec.GivenDocument, ...] = ()


class _RawNames(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: _Name = ""
    before: Rows = ()
    rows: Rows = ()
    documents: tuple[msgspec.Raw, ...] = ()


class TriedNames(msgspec.Struct, frozen=True, kw_only=True):
    """What a name is in a pack, and what rows would change.

    Attributes:
        pack: its full name.
        why: terms with the key of the name, and their concepts.
        reason: why the name is not found in texts; empty if it is.
        problems: of the rows, one sentence each.
        counts: how many mentions are added, removed and changed.
        changes: mentions that appear, vanish or get another link, each with its words around.
    """

    pack: str
    why: dict[str, Any]
    reason: str
    problems: tuple[str, ...]
    counts: dict[str, int]
    changes: tuple[dict[str, Any], ...]


async def names(request: Request, service: Service) -> Response:
    """Explains a name, and returns what rows of curation would change in documents."""
    check_names(request, ("pipeline",))
    pool = pool_of(request, service)
    content = await read_json(request, service.settings, _RawNames)
    documents = service.documents(content.documents) if content.documents else []
    characters = sum(len(document.text) + 1 for document in documents)
    task = Task(order=_order(content, documents), characters=characters + 1)
    answer = await run_task(service, pool, task)
    assert isinstance(answer, TriedRules)
    if answer.answer is None:
        raise ProblemError(404, "no step of this pipeline finds the names of a term pack")
    return json_answer(answer.answer)


def _order(content: _RawNames, documents: Sequence[Document] = ()) -> TryRules:
    return TryRules(
        name=content.name,
        before=tuple(rules_of(content.before)),
        rules=tuple(rules_of(content.rows)),
        documents=tuple(msgspec.Raw(codec.encode(document)) for document in documents),
    )


async def names_of_texts(request: Request, service: Service) -> Response:
    """Accepts rows of curation that are tried on the texts of a job; returns the id of another."""
    check_names(request, ("pipeline",))
    source = own_job(request, service)
    if source.kind != "texts":
        raise ProblemError(409, "this job has no texts to try rows on; send files with texts=true")
    texts = service.jobs.result(source.id)
    pipeline = service.name_of(request.query_params.get("pipeline", source.pipeline))
    content = await read_json(request, service.settings, _RawNames)
    if content.documents:
        raise ProblemError(422, "the texts are those of the job; leave the documents out")
    rules = msgspec.json.encode(_order(content))

    async def place(new: Job) -> None:
        path = service.jobs.path_of(new)
        path.write_bytes(rules)
        try:
            if not link_file(texts, path.with_name(TEXTS)):
                shutil.copyfile(texts, path.with_name(TEXTS))
        except FileNotFoundError:
            raise ProblemError(409, "the texts were removed meanwhile; send them again") from None

    new = service.jobs.open(
        pipeline=pipeline,
        file="names.json",
        who=request.state.who.name,
        kind="names",
        source=source.id,
    )
    return await begin_job(service, new, place)


ROUTES: Final = (
    Endpoint(
        method="POST",
        path="/v1/names",
        handle=names,
        means="what a name is in the pack of a pipeline, and what rows of curation would change",
        query=(PIPELINE_QUERY,),
        body=GivenNames,
        answers=TriedNames,
        problems=(404, 413, 429),
        example={
            "name": "tremor",
            "rows": [{"action": "ner_off", "surface": "Tremor"}],
            "documents": [{"id": "a", "text": "Lithium can cause tremor."}],
        },
    ),
    Endpoint(
        method="POST",
        path="/v1/jobs/{id}/names",
        handle=names_of_texts,
        means="try rows of curation on the texts of a job, as another job, whose result is that of "
        "POST /v1/names",
        query=(PIPELINE_QUERY,),
        body=GivenNames,
        answers=Job,
        status=202,
        problems=(404, 409, 413, 429, 501),
    ),
)

"""Routes for curation: documents and decisions in; gold, rules and tasks out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from fascicle.core import codec
from fascicle.core.codec import DocumentRecord, GivenDocument
from fascicle.errors import MissingExtraError
from fascicle.serving.content import (
    check_names,
    find_writable,
    format_suffix,
    plain_name,
    query_value,
    read_json,
    rules_of,
    save_content,
)
from fascicle.serving.curation.decisions import (
    NAMES,
    Decided,
    Step,
    apply_steps,
    rule_row,
)
from fascicle.serving.curation.exchange import Imported, encode_gold, import_gold, rules_table
from fascicle.serving.curation.listing import Asked, Most, Order, Show, Summaries, list_page
from fascicle.serving.curation.store import (
    GivenStep,
    Kept,
    Number,
    Store,
    UnknownDocumentError,
    Who,
)
from fascicle.serving.curation.table import write_decisions
from fascicle.serving.curation.versions import (
    REVIEWED,
    Versions,
    changed_by,
    decided_by,
    own_or_shared_version,
)
from fascicle.serving.endpoint import (
    ANY,
    Endpoint,
    QueryParameter,
    file_answer,
    folder_for_files,
    json_answer,
    read_file,
    required_parameter,
    use_store,
    write_file,
)
from fascicle.serving.problems import ProblemError
from fascicle.serving.service import Service
from fascicle.settings.serving import NamedToken, Project

_What = Literal["gold", "rules", "tasks", "decisions"]
# the formats of tables, with the module that each needs
_TABLES: Final = MappingProxyType(
    {"csv": "csv", "tsv": "csv", "xlsx": "openpyxl", "parquet": "pyarrow"}
)


class About(msgspec.Struct, frozen=True, kw_only=True):
    """Whether decisions are kept, and how many.

    Attributes:
        open: whether they are.
        documents: number of documents that are curated.
        who: name of the token, under which decisions are saved; empty if the curator gives a name.
        role: of the token.
        project: of several curators; ``None`` where all share their decisions.
        uncounted: who has versions in the file, but is no curator of the project, so that they do
            not count; reviewers are told.
        damages: of the file, one sentence each; then nothing more is saved, and damaged documents
            are left out.
        tables: formats in which the table of decisions can be written here.
    """

    open: bool
    documents: int = 0
    who: str = ""
    role: str = ""
    project: Project | None = None
    uncounted: tuple[str, ...] = ()
    damages: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()


class NewDocuments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Documents to curate.

    Attributes:
        documents: with the mentions of their models.
        who: adds them.
    """

    documents: tuple[GivenDocument, ...]
    who: Who


class _RawDocuments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    documents: tuple[msgspec.Raw, ...]
    who: Who


class Curated(msgspec.Struct, frozen=True, kw_only=True):
    """A document that is curated, and the steps about it; in a project, of one version of it."""

    document: DocumentRecord
    steps: tuple[Step, ...]
    version: str | None = None


class CuratedDocuments(msgspec.Struct, frozen=True, kw_only=True):
    """Documents that are curated."""

    documents: tuple[Curated, ...]


class Steps(msgspec.Struct, frozen=True, kw_only=True):
    """Steps that were saved."""

    steps: tuple[Step, ...]


async def about(request: Request, service: Service) -> Response:
    """Returns whether decisions are stored, and of how many documents."""
    check_names(request, ())
    if service.curation is None:
        return json_answer(About(open=False))
    count, who = await use_store(service, Store.count), request.state.who
    facts = About(
        open=True,
        documents=count,
        who=who.name,
        role=who.role,
        project=service.settings.project,
        uncounted=service.uncounted if who.may("reviewer") else (),
        damages=service.curation.damages,
        tables=tuple(name for name, module in _TABLES.items() if find_spec(module)),
    )
    return json_answer(facts)


async def add(request: Request, service: Service) -> Response:
    """Adds documents."""
    check_names(request, ())
    content = await read_json(request, service.settings, _RawDocuments)
    _check_curator(request, content.who)
    project, who = service.settings.project, request.state.who
    if project is not None and not who.may("reviewer"):
        raise ProblemError(
            403, "reviewers add the documents of a project; open one that is assigned to you"
        )
    documents = service.documents(content.documents)
    records = await use_store(service, lambda store: store.add(documents, content.who))
    return json_answer({"documents": [_curated(record, who, project) for record in records]})


async def documents(request: Request, service: Service) -> Response:
    """Returns the progress of some documents."""
    check_names(request, [query.name for query in _LIST])
    who, project = request.state.who, service.settings.project
    page = Asked(
        order=query_value(request, "order", Order, "added"),
        show=query_value(request, "show", Show, "all"),
        mine=who.name or query_value(request, "who", str, ""),
        words=query_value(request, "q", str, ""),
        begin=query_value(request, "from", Number, 0),
        most=query_value(request, "most", Most, 100),
    )
    return json_answer(
        await use_store(service, lambda store: list_page(store, service.listed, page, who, project))
    )


async def document(request: Request, service: Service) -> Response:
    """Returns one document with its steps."""
    check_names(request, ("id", "version"))
    name = required_parameter(request, "id")
    version: str | None = query_value(request, "version", str, None)
    who, project = request.state.who, service.settings.project
    return json_answer(
        await use_store(
            service, lambda store: _curated(store.document(name), who, project, version)
        )
    )


async def names_kept(request: Request, service: Service) -> Response:
    """Returns all steps about names of term packs."""
    check_names(request, ())
    return json_answer(Steps(steps=await use_store(service, Store.names)))


async def step(request: Request, service: Service) -> Response:
    """Saves a step."""
    check_names(request, ())
    new = await read_json(request, service.settings, GivenStep)
    _check_curator(request, new.who)
    who, project = request.state.who, service.settings.project
    new = replace(new, rows=tuple(map(rule_row, rules_of(new.rows))))
    if project is not None and new.version is None and new.document != NAMES:
        # so that the file says that it is of a project
        new = replace(new, version=new.who)

    def view(record: Kept, new: GivenStep) -> Kept:
        return changed_by(record, new, who, project)

    return json_answer(
        Steps(steps=(await use_store(service, lambda store: store.save(new, view)),))
    )


async def export(request: Request, service: Service) -> Response:
    """Returns the decisions as a file."""
    check_names(request, ("what", "format", "finished", "version"))
    what: _What = query_value(request, "what", _What, "gold")
    only: bool = query_value(request, "finished", bool, False)
    version: str | None = query_value(request, "version", str, None)
    who, project = request.state.who, service.settings.project
    _check_export(request, what, version, project)
    versions = await use_store(
        service,
        lambda store: [_version(decided, who, project, version) for decided in store.documents()],
    )
    exported = [
        decided for decided in versions if decided is not None and (decided.finished or not only)
    ]
    counted = () if what == "decisions" else exported  # a table has open mentions, too
    remarks = _export_remarks(service, counted, hidden=versions.count(None))
    if what == "decisions":
        return await _table_answer(request, exported, remarks)
    if what == "rules":
        return file_answer(await asyncio.to_thread(rules_table, exported), "curation.tsv", remarks)
    name = "label-studio" if what == "tasks" else request.query_params.get("format", "jsonl")
    return await _gold_answer(service, exported, what, name, remarks)


async def _gold_answer(
    service: Service, decided: Sequence[Decided], what: _What, name: str, remarks: str
) -> Response:
    form = find_writable(name)
    raw = await asyncio.to_thread(encode_gold, decided, beside=what == "tasks")
    content, losses = await write_file(service, raw, form)
    return file_answer(
        content, f"{what}{format_suffix(form)}", ", ".join(filter(None, (remarks, losses)))
    )


async def _table_answer(request: Request, decided: Sequence[Decided], remarks: str) -> Response:
    name = f"decisions.{request.query_params.get('format', 'csv')}"
    async with folder_for_files() as folder:
        try:
            await asyncio.to_thread(write_decisions, decided, str(folder / name))
        except MissingExtraError as error:
            raise ProblemError(422, str(error)) from None
        content = await asyncio.to_thread((folder / name).read_bytes)
        return file_answer(content, name, remarks)


def _check_export(
    request: Request, what: _What, version: str | None, project: Project | None
) -> None:
    if what not in ("gold", "decisions") and "format" in request.query_params:
        raise ProblemError(
            422,
            f"the parameter format is for what=gold and what=decisions; leave it out with "
            f"what={what}",
        )
    if what == "decisions" and request.query_params.get("format", "csv") not in _TABLES:
        raise ProblemError(422, f"decisions are a table; give format={' or '.join(_TABLES)}")
    if version and version not in (project.curators if project else ()):
        raise ProblemError(
            422,
            f"there is no version {version[:100]!r}; name a curator of the project, or leave it "
            "out",
        )


def _export_remarks(service: Service, exported: Sequence[Decided], *, hidden: int) -> str:
    """Returns the numbers of what is not exported, such as ``"damages=1, hidden=2"``."""
    project, store = service.settings.project, service.curation
    counts = {
        "damages": len(store.damages) if store else 0,
        "hidden": hidden,
        "undecided": sum(len(decided.undecided) for decided in exported) if project else 0,
    }
    return ", ".join(f"{name}={count}" for name, count in counts.items() if count)


async def take_file(request: Request, service: Service) -> Response:
    """Imports gold that was made elsewhere."""
    check_names(request, ("name", "who"))
    name, who = required_parameter(request, "name"), query_value(request, "who", Who, "")
    if not who:
        raise ProblemError(422, "the parameter who is missing; name the curator")
    _check_curator(request, who)
    async with folder_for_files() as folder:
        path = folder / plain_name(name)
        await save_content(request, service.settings, path, most=service.settings.body)
        file = await read_file(service, path, "auto")
    if file.problems:
        raise ProblemError(422, file.problems[0], code="format")
    documents = [codec.decode(bytes(document)) for document in file.documents]
    project = service.settings.project

    def import_into(store: Store) -> Imported:
        if project is not None:
            for document in documents:
                with suppress(UnknownDocumentError):
                    Versions(store.document(document.id), project).check_seen(
                        request.state.who, REVIEWED
                    )
        return import_gold(store, documents, who, project)

    return json_answer(replace(await use_store(service, import_into), notes=file.notes))


def _check_curator(request: Request, curator: str) -> None:
    """Raises an error if a curator is not the one whose token it is.

    Raises:
        ProblemError: decisions would be saved under the name of somebody else.
    """
    name = request.state.who.name
    if name and curator != name:
        raise ProblemError(
            403, f"this token is that of {name!r}; decisions are saved only under this name"
        )


def _curated(
    record: Kept, who: NamedToken, project: Project | None, version: str | None = None
) -> dict[str, Any]:
    """Returns a version of a document, by default that at which somebody works.

    Raises:
        ProblemError: they may not see it, or there is none.
    """
    if project is not None:
        versions = Versions(record, project)
        version = own_or_shared_version(who, versions.curators) if version is None else version
        versions.check_seen(who, version)
        record = versions.shown(version)
    return {
        "document": msgspec.Raw(codec.encode(record.document)),
        "steps": record.steps,
        "version": version,
    }


def _version(
    record: Kept, who: NamedToken, project: Project | None, version: str | None
) -> Decided | None:
    """Returns what is decided in a version of a document, see `_curated`; ``None`` if they may
    not see it.
    """
    if project is None:
        return apply_steps(*record)
    versions = Versions(record, project)
    name = own_or_shared_version(who, versions.curators) if version is None else version
    try:
        versions.check_seen(who, name)
    except ProblemError:
        return None
    return decided_by(record, project, name)[0]


_EXAMPLE: Final = {
    "document": "a",
    "id": "00112233445566778899aabbccddeeff",
    "who": "Ada",
    "edits": [
        {
            "item": '["biomed@3","Chemical",[[0,7]]]',
            "after": {"spans": [[0, 7]], "type": "Chemical"},
        }
    ],
}
_WHO: Final = QueryParameter(name="who", type=Who, means="name of the curator", needed=True)
_VERSION: Final = QueryParameter(
    name="version", type=str, means="in a project: a curator, or empty for what is reviewed"
)
_LIST: Final = (
    QueryParameter(name="order", type=Order, means="added, or uncertainty: the least sure first"),
    QueryParameter(
        name="show",
        type=Show,
        means="all, or those that are open, mine, flagged, or on which curators disagree",
    ),
    QueryParameter(name="q", type=str, means="a part of the id or of the text, in any case"),
    QueryParameter(
        name="who", type=str, means="whose documents are mine, where the token has no name"
    ),
    QueryParameter(
        name="from", type=Number, means="how many documents to leave out at the beginning"
    ),
    QueryParameter(name="most", type=Most, means="documents on a page"),
)
ROUTES: Final[Sequence[Endpoint]] = (
    Endpoint(
        method="GET",
        path="/v1/curation",
        handle=about,
        means="whether decisions are kept",
        answers=About,
    ),
    Endpoint(
        method="POST",
        path="/v1/curation/documents",
        handle=add,
        means="add documents to curate; of those that are there, the steps are answered",
        body=NewDocuments,
        answers=CuratedDocuments,
        problems=(404, 409, 413),
        example={"documents": [{"id": "a", "text": "Lithium can cause tremor."}], "who": "Ada"},
    ),
    Endpoint(
        method="GET",
        path="/v1/curation/documents",
        handle=documents,
        means="how far the curation of documents is, a page at a time",
        query=_LIST,
        answers=Summaries,
        problems=(404,),
    ),
    Endpoint(
        method="GET",
        path="/v1/curation/document",
        handle=document,
        means="a document and the steps about it",
        query=(QueryParameter(name="id", type=str, means="of the document", needed=True), _VERSION),
        answers=Curated,
        problems=(404, 409),
    ),
    Endpoint(
        method="POST",
        path="/v1/curation/steps",
        handle=step,
        means="save what a curator decided or says: edits, undoes, finished, a remark, or, with an "
        "empty document, rows for names of term packs",
        body=GivenStep,
        answers=Steps,
        problems=(404, 409, 413),
        example=_EXAMPLE,
    ),
    Endpoint(
        method="GET",
        path="/v1/curation/names",
        handle=names_kept,
        means="who kept which rows for names of term packs, and who took them back",
        answers=Steps,
        problems=(404, 409),
    ),
    Endpoint(
        method="GET",
        path="/v1/curation/export",
        handle=export,
        means="what was decided, as a file",
        query=(
            QueryParameter(
                name="what",
                type=_What,
                means="gold, rules for term packs, tasks for Label Studio, or decisions: a table "
                "of all mentions, decided or open",
            ),
            QueryParameter(
                name="format",
                type=str,
                means="of gold: one of GET /v1/formats; of decisions: csv, tsv, xlsx or parquet",
            ),
            QueryParameter(
                name="finished", type=bool, means="true: only documents that are finished"
            ),
            _VERSION,
        ),
        answers=bytes,
        gives=(ANY,),
        problems=(404, 409, 413, 429),
    ),
    Endpoint(
        method="POST",
        path="/v1/curation/import",
        handle=take_file,
        role="reviewer",
        means="take complete gold from a file in any format, such as tasks of Label Studio",
        query=(QueryParameter(name="name", type=str, means="name of the file", needed=True), _WHO),
        body=bytes,
        takes=(),
        answers=Imported,
        problems=(404, 409, 413, 429),
    ),
)

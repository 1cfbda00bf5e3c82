"""Routes for curation: documents and decisions in; gold, rules and tasks out."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fascicle.core import codec
from fascicle.core.codec import DocumentRecord, GivenDocument
from fascicle.serving.asked import check_names, json_of, save, value_of
from fascicle.serving.curation.decisions import Decided, Step, by_uncertainty, decided, gold_document
from fascicle.serving.curation.importing import Imported, take
from fascicle.serving.curation.pack_rules import rules_table
from fascicle.serving.curation.rows import DamagedError
from fascicle.serving.curation.store import ConflictError, GivenStep, Kept, Store, UnknownDocumentError, Who
from fascicle.serving.endpoint import ANY, JSON, Endpoint, Query
from fascicle.serving.files import file_answer, folder_for_files, read_file, write_file
from fascicle.serving.naming import plain_name, suffix_of, writable
from fascicle.serving.problems import ProblemError
from fascicle.serving.service import Service

T = TypeVar("T")
Order = Literal["uncertainty", "added"]
What = Literal["gold", "rules", "tasks"]
_ENCODER: Final = msgspec.json.Encoder()


class About(msgspec.Struct, frozen=True, kw_only=True):
    """Whether decisions are kept, and how many.

    Attributes:
        open: whether they are.
        documents: that are curated.
        who: name of the token, under which decisions are saved; empty if the curator gives a name.
        damages: of the file, one sentence each; then nothing more is saved, and damaged documents are left out.
    """

    open: bool
    documents: int = 0
    who: str = ""
    damages: tuple[str, ...] = ()


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
    """A document that is curated, and the steps about it."""

    document: DocumentRecord
    steps: tuple[Step, ...]


class CuratedDocuments(msgspec.Struct, frozen=True, kw_only=True):
    """Documents that are curated."""

    documents: tuple[Curated, ...]


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """How far the curation of a document is.

    Attributes:
        id: of the document.
        mentions: of its models.
        undecided: how many of them nothing was decided about.
        finished: whether a curator says so.
        uncertainty: of what is not decided, in bits for 1,000 characters.
        steps: that count.
    """

    id: str
    mentions: int
    undecided: int
    finished: bool
    uncertainty: float
    steps: int


class Summaries(msgspec.Struct, frozen=True, kw_only=True):
    """All documents that are curated."""

    documents: tuple[Summary, ...]


class Steps(msgspec.Struct, frozen=True, kw_only=True):
    """Steps that were saved."""

    steps: tuple[Step, ...]


async def about(request: Request, service: Service) -> Response:
    """Returns whether decisions are stored, and of how many documents."""
    check_names(request, ())
    if service.curation is None:
        return _json(About(open=False))
    count, who = await _done(service, Store.count), request.state.who.name
    return _json(About(open=True, documents=count, who=who, damages=service.curation.damages))


async def add(request: Request, service: Service) -> Response:
    """Adds documents."""
    check_names(request, ())
    given = await json_of(request, service.settings, _RawDocuments)
    _check_curator(request, given.who)
    documents = service.documents(given.documents)
    kept = await _done(service, lambda store: store.add(documents, given.who))
    return _json({"documents": [_curated(one) for one in kept]})


async def documents(request: Request, service: Service) -> Response:
    """Returns the progress of all documents."""
    check_names(request, ("order",))
    order: Order = value_of(request, "order", Order, "added")
    found = await _done(service, _all)
    ordered = by_uncertainty(found) if order == "uncertainty" else found
    return _json(Summaries(documents=tuple(map(_summary, ordered))))


async def document(request: Request, service: Service) -> Response:
    """Returns one document with its steps."""
    check_names(request, ("id",))
    name = _needed(request, "id")
    return _json(_curated(await _done(service, lambda store: store.document(name))))


async def step(request: Request, service: Service) -> Response:
    """Saves a step."""
    check_names(request, ())
    new = await json_of(request, service.settings, GivenStep)
    _check_curator(request, new.who)
    return _json(Steps(steps=(await _done(service, lambda store: store.save(new)),)))


async def export(request: Request, service: Service) -> Response:
    """Returns the decisions as a file."""
    check_names(request, ("what", "format", "finished"))
    what: What = value_of(request, "what", What, "gold")
    only: bool = value_of(request, "finished", bool, False)
    found = [one for one in await _done(service, _all) if one.finished or not only]
    left = f"damages={len(service.curation.damages)}" if service.curation and service.curation.damages else ""
    if what == "rules":
        return file_answer(rules_table(found).encode(), "curation.tsv", left)
    form = writable("label-studio" if what == "tasks" else request.query_params.get("format", "jsonl"))
    made = [gold_document(one, beside=what == "tasks") for one in found]
    content, losses = await write_file(service, [msgspec.Raw(codec.encode(one)) for one in made], form)
    return file_answer(content, f"{what}{suffix_of(form)}", ", ".join(filter(None, (left, losses))))


async def take_file(request: Request, service: Service) -> Response:
    """Imports gold that was made elsewhere."""
    check_names(request, ("name", "who"))
    name, who = _needed(request, "name"), value_of(request, "who", Who, "")
    if not who:
        raise ProblemError(422, "the parameter who is missing; name the curator")
    _check_curator(request, who)
    async with folder_for_files() as folder:
        path = folder / plain_name(name)
        await save(request, service.settings, path, most=service.settings.body)
        found = await read_file(service, path, "auto")
    if found.problems:
        raise ProblemError(422, found.problems[0], code="format")
    given = [codec.decode(bytes(one)) for one in found.documents]
    taken = await _done(service, lambda store: take(store, given, who))
    return _json(msgspec.structs.replace(taken, notes=found.notes))


def _check_curator(request: Request, given: str) -> None:
    """Raises an error if a curator is not the one whose token it is.

    Raises:
        ProblemError: decisions would be saved under the name of somebody else.
    """
    name = request.state.who.name
    if name and given != name:
        raise ProblemError(403, f"this token is that of {name!r}; decisions are saved under this name alone")


async def _done(service: Service, does: Callable[[Store], T]) -> T:
    """Runs a function with the store, and converts its errors to problems.

    Raises:
        ProblemError: no decisions are kept here, or what was asked for cannot be done.
    """
    store = service.curation
    if store is None:
        raise ProblemError(
            404, "no decisions are kept here; start one service for all curators, with `fascicle serve --curation FILE`"
        )
    try:
        return await asyncio.to_thread(does, store)
    except ConflictError as error:
        raise ProblemError(409, str(error)) from None
    except UnknownDocumentError as error:
        raise ProblemError(404, str(error), code="unknown-name") from None
    except ValueError as error:
        raise ProblemError(422, str(error)) from None
    except DamagedError as error:
        raise ProblemError(409, str(error), code="damaged") from None
    except sqlite3.OperationalError as error:
        raise _not_usable(error) from None
    except sqlite3.DatabaseError as error:
        raise ProblemError(409, f"the file of decisions is damaged ({error}); repair it", code="damaged") from None


def _not_usable(error: sqlite3.OperationalError) -> ProblemError:
    """Makes the problem for a file that cannot be used: it is locked, or its disk is full or read-only."""
    if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
        return ProblemError(
            507, "the disk of the service is full, and nothing was saved; make room, and send this again"
        )
    return ProblemError(
        503,
        f"the file of decisions cannot be used now ({error}), and nothing was saved; send this again later",
        headers={"Retry-After": "5"},
    )


def _all(store: Store) -> list[Decided]:
    return [decided(*kept) for kept in store.documents()]


def _curated(kept: Kept) -> dict[str, Any]:
    return {"document": msgspec.Raw(codec.encode(kept.document)), "steps": kept.steps}


def _summary(one: Decided) -> Summary:
    return Summary(
        id=one.document.id,
        mentions=len(one.document.mentions),
        undecided=len(one.undecided),
        finished=one.finished,
        uncertainty=round(one.uncertainty, 6),
        steps=len(one.steps),
    )


def _needed(request: Request, name: str) -> str:
    if not (found := request.query_params.get(name, "")):
        raise ProblemError(422, f"the parameter {name} is missing")
    return found


def _json(content: Any) -> Response:
    return Response(_ENCODER.encode(content), media_type=JSON)


_EXAMPLE: Final = {
    "document": "a",
    "id": "00112233445566778899aabbccddeeff",
    "who": "Ada",
    "edits": [{"item": '["biomed@1","Chemical",[[0,7]]]', "after": {"spans": [[0, 7]], "type": "Chemical"}}],
}
_WHO: Final = Query(name="who", type=Who, means="name of the curator", needed=True)
ROUTES: Final[Sequence[Endpoint]] = (
    Endpoint(method="GET", path="/v1/curation", handle=about, means="whether decisions are kept", answers=About),
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
        means="how far the curation of each document is",
        query=(Query(name="order", type=Order, means="added, or uncertainty: the least sure first"),),
        answers=Summaries,
        problems=(404,),
    ),
    Endpoint(
        method="GET",
        path="/v1/curation/document",
        handle=document,
        means="a document and the steps about it",
        query=(Query(name="id", type=str, means="of the document", needed=True),),
        answers=Curated,
        problems=(404, 409),
    ),
    Endpoint(
        method="POST",
        path="/v1/curation/steps",
        handle=step,
        means="save what a curator decided: edits, undoes or finished",
        body=GivenStep,
        answers=Steps,
        problems=(404, 409, 413),
        example=_EXAMPLE,
    ),
    Endpoint(
        method="GET",
        path="/v1/curation/export",
        handle=export,
        means="what was decided, as a file",
        query=(
            Query(name="what", type=What, means="gold, rules for term packs, or tasks for Label Studio"),
            Query(name="format", type=str, means="of gold; one of GET /v1/formats"),
            Query(name="finished", type=bool, means="true: only documents that are finished"),
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
        query=(Query(name="name", type=str, means="name of the file", needed=True), _WHO),
        body=bytes,
        takes=(),
        answers=Imported,
        problems=(404, 409, 413, 429),
    ),
)

"""Routes for reviewers of a project: the versions of a document side by side, and how far
curators agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fascicle.core import codec
from fascicle.core.codec import DocumentRecord
from fascicle.core.document import Document, Mention
from fascicle.serving.content import check_names
from fascicle.serving.curation.decisions import After, Item, Remark, Step
from fascicle.serving.curation.store import Store
from fascicle.serving.curation.versions import REVIEWED, Versions, sees_others
from fascicle.serving.endpoint import (
    Endpoint,
    QueryParameter,
    json_answer,
    required_parameter,
    use_store,
)
from fascicle.serving.problems import ProblemError
from fascicle.serving.service import Service
from fascicle.settings.serving import NamedToken, Project


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """Version of a curator.

    Attributes:
        who: the curator.
        finished: whether they say so.
        skipped: whether they leave the document out.
        mentions: the mentions that they confirmed.
        notes: what they say of the document and its mentions.
    """

    who: str
    finished: bool
    skipped: bool
    mentions: tuple[After, ...]
    notes: tuple[Remark, ...] = ()


class Reviewed(msgspec.Struct, frozen=True, kw_only=True):
    """A mention of finished versions.

    Attributes:
        item: its name in steps about the reviewed version.
        who: the curators of these versions.
        state: ``agreed`` if all have it, ``decided`` if a reviewer has decided, or else
            ``disputed``.
    """

    item: str
    who: tuple[str, ...]
    state: str


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """The versions of a document side by side.

    Attributes:
        document: with the mentions of all finished versions; the score of each is the share of
            those who have it.
        steps: about the reviewed version.
        finished: whether nothing is open.
        versions: of each curator who has the document.
        items: the mentions of the document.
    """

    document: DocumentRecord
    steps: tuple[Step, ...]
    finished: bool
    versions: tuple[Version, ...]
    items: tuple[Reviewed, ...]


class Agreements(msgspec.Struct, frozen=True, kw_only=True):
    """Agreement of the curators on the documents that they have finished, with the numbers of
    ``evaluate --agreement``.

    Attributes:
        pairs: of each two curators who have finished a document both.
        alpha: type -> Krippendorff's alpha of all curators.
        alpha_any: the same of any type.
    """

    pairs: tuple[dict[str, Any], ...]
    alpha: dict[str, Any]
    alpha_any: dict[str, Any] | None


async def review(request: Request, service: Service) -> Response:
    """Returns the versions of a document."""
    check_names(request, ("id",))
    name, project, who = required_parameter(request, "id"), _project(service), request.state.who
    versions = Versions(await use_store(service, lambda store: store.document(name)), project)
    versions.check_seen(who, REVIEWED)
    return json_answer(
        {
            "document": msgspec.Raw(codec.encode(versions.united)),
            "steps": versions.steps(REVIEWED),
            "finished": versions.reviewed.finished,
            "versions": [
                Version(
                    who=name,
                    finished=version.finished,
                    skipped=version.skipped,
                    mentions=tuple(map(After.of, version.gold)),
                    notes=version.remarks,
                )
                for name, version in versions.by_curator.items()
            ],
            "items": [
                _item(item, versions) for item in versions.reviewed.items if item.origin is not None
            ],
        }
    )


def _item(item: Item, versions: Versions) -> Reviewed:
    assert item.origin is not None
    state = "decided" if item.who else "agreed" if item.verdict else "disputed"
    key = msgspec.json.encode(item.origin.key).decode()
    return Reviewed(item=key, who=tuple(versions.found[item.origin.key]), state=state)


async def agreement(request: Request, service: Service) -> Response:
    """Returns how far curators agree."""
    check_names(request, ())
    project, who = _project(service), request.state.who
    return json_answer(
        await use_store(service, lambda store: _measure_agreement(store, project, who))
    )


def _finished_by(versions: Sequence[Versions], *names: str) -> list[Document]:
    """Returns the documents that all of these curators have finished."""
    return [each.document for each in versions if each.done.keys() >= set(names)]


def _measure_agreement(store: Store, project: Project, who: NamedToken) -> Agreements:
    """Measures the agreement of curators on the documents that they have finished, of those that
    somebody may see.
    """
    # few services are asked for it
    from fascicle.evaluation.comparison.agreement import agreement, alphas

    every = (Versions(record, project) for record in store.documents())
    visible = [each for each in every if sees_others(who, project, each.curators, each.done)]
    sides = {name: _gold_by_document(name, visible) for name in project.curators}
    pairs = []
    for names in combinations(project.curators, 2):
        if shared := _finished_by(visible, *names):
            numbers = agreement(shared, *(sides[name] for name in names))
            pairs.append({"names": list(names)} | numbers.as_dict())
    several = [each.document for each in visible if len(each.done) > 1]
    alpha = alphas(several, list(sides.values())) if several else {}
    by_type = {name: value.as_dict() for name, value in alpha.items() if name is not None}
    return Agreements(
        pairs=tuple(pairs), alpha=by_type, alpha_any=alpha[None].as_dict() if alpha else None
    )


def _gold_by_document(name: str, documents: Sequence[Versions]) -> dict[str, tuple[Mention, ...]]:
    """Returns the gold of a curator in the documents that they have finished, by id."""
    return {each.document.id: each.done[name].gold for each in documents if name in each.done}


def _project(service: Service) -> Project:
    if service.settings.project is None:
        raise ProblemError(
            404, "there is no project here; start the service with `fascicle serve --project FILE`"
        )
    return service.settings.project


ROUTES: Final[Sequence[Endpoint]] = (
    Endpoint(
        method="GET",
        path="/v1/curation/review",
        handle=review,
        means="the versions of a document side by side",
        query=(QueryParameter(name="id", type=str, means="of the document", needed=True),),
        answers=Review,
        problems=(404, 409),
    ),
    Endpoint(
        method="GET",
        path="/v1/curation/agreement",
        handle=agreement,
        role="reviewer",
        means="how far curators agree: F1 of pairs, and alpha of types, with intervals",
        answers=Agreements,
        problems=(404, 409),
    ),
)

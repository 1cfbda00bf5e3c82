"""List of the curated documents: searched, filtered, ordered, and a page of it at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from fascicle.serving.curation.decisions import After, Decided, apply_steps
from fascicle.serving.curation.store import Kept, Number, Store
from fascicle.serving.curation.versions import (
    REVIEWED,
    Versions,
    own_or_shared_version,
    sees_others,
)
from fascicle.settings.serving import NamedToken, Project

Order = Literal["uncertainty", "added"]
Show = Literal["all", "open", "mine", "flagged", "disagreement"]
_TITLE: Final = 80  # characters
Most = Annotated[int, msgspec.Meta(ge=1, le=1_000)]


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """How far the curation of a document is.

    Attributes:
        id: of the document.
        title: its first words.
        mentions: of its models; in the reviewed version, of those who have finished.
        undecided: how many of them nothing was decided about.
        finished: whether a curator says so.
        uncertainty: of what is not decided, in bits for 1,000 characters.
        steps: number of steps that count.
        flagged: whether the document or a mention is.
        skipped: whether the curator leaves it out.
        notes: about the document and its mentions.
        disputed: mentions about which curators decided differently.
        curators: who have it, in a project; and without one, who decided.
        done: those of them who have finished it.
        waiting: for the reviewed version, how many of them have neither finished nor skipped it.
    """

    id: str
    title: str
    mentions: int
    undecided: int
    finished: bool
    uncertainty: float
    steps: int
    flagged: bool = False
    skipped: bool = False
    notes: int = 0
    disputed: int = 0
    curators: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    waiting: int = 0


class Summaries(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the list.

    Attributes:
        documents: on this page.
        total: documents on all pages.
        next: where the next page begins; ``None`` on the last one.
    """

    documents: tuple[Summary, ...]
    total: int
    next: int | None


_Facts = Mapping[str | None, Summary]
Made = dict[int, tuple[int, _Facts]]


class Asked(NamedTuple):
    """Which documents are asked for.

    Attributes:
        order: as they were added, or the least sure first.
        show: which of them.
        mine: whose documents are asked for with ``show="mine"``.
        words: words in their id or text.
        begin: how many are left out at the beginning.
        most: on a page.
    """

    order: Order = "added"
    show: Show = "all"
    mine: str = ""
    words: str = ""
    begin: Number = 0
    most: Most = 100


def _facts_of(record: Kept, project: Project | None) -> _Facts:
    """Returns the summary of each version of a document; without a project, one of no version
    (``None``).
    """
    if project is None:
        decided = apply_steps(*record)
        who = tuple(dict.fromkeys(step.who for step in decided.steps))
        return {None: _summary(decided, disputed=_count_differences(decided), curators=who)}
    versions = Versions(record, project)
    shared = {
        "disputed": versions.disputed,
        "curators": versions.curators,
        "done": tuple(versions.done),
    }
    summaries: dict[str | None, Summary] = {
        name: _summary(version, **shared) for name, version in versions.by_curator.items()
    }
    own = _summary(versions.reviewed, waiting=versions.waiting, **shared)
    flagged = own.flagged or any(summary.flagged for summary in summaries.values())
    notes = own.notes + sum(summary.notes for summary in summaries.values())
    return {**summaries, REVIEWED: replace(own, flagged=flagged, notes=notes)}


def _visible_to(who: NamedToken, facts: _Facts, project: Project | None) -> Summary | None:
    """Returns what somebody may know of a document; ``None`` for nothing."""
    if project is None:
        return facts[None]
    every = facts[REVIEWED]
    name = own_or_shared_version(who, every.curators)
    if sees_others(who, project, every.curators, every.done):
        return facts[name]
    return None if name == REVIEWED else replace(facts[name], disputed=0, done=())


def list_page(
    store: Store, cache: Made, query: Asked, who: NamedToken, project: Project | None
) -> Summaries:
    """Returns a page of the list.

    Args:
        store: of documents.
        cache: what is known of them already, see `Store.each`.
        query: which documents.
        who: asks.
        project: the project that is curated.
    """
    each = store.each(lambda record: _facts_of(record, project), cache)
    visible = (
        summary for facts in each if (summary := _visible_to(who, facts, project)) is not None
    )
    matches = [summary for summary in visible if _matches(summary, query)]
    if query.words:
        matches = [summary for summary in matches if store.has_words(summary.id, query.words)]
    if query.order == "uncertainty":
        matches.sort(key=lambda summary: -summary.uncertainty)
    end = query.begin + query.most
    return Summaries(
        documents=tuple(matches[query.begin : end]),
        total=len(matches),
        next=end if end < len(matches) else None,
    )


def _matches(summary: Summary, query: Asked) -> bool:
    return {
        "all": True,
        "open": not summary.finished and not summary.skipped,
        "mine": query.mine in summary.curators,
        "flagged": summary.flagged,
        "disagreement": summary.disputed > 0,
    }[query.show]


def _count_differences(decided: Decided) -> int:
    """Returns about how many items curators said different things, who share their decisions."""
    edits: defaultdict[str, dict[str, After | None]] = defaultdict(dict)
    for step in decided.steps:
        for edit in step.edits:
            edits[edit.item][step.who] = edit.after
    return sum(len(set(of.values())) > 1 for of in edits.values())


def _summary(decided: Decided, **facts: Any) -> Summary:
    return Summary(
        id=decided.document.id,
        title=decided.document.text.strip()[:_TITLE].split("\n")[0],
        mentions=len(decided.document.mentions),
        undecided=len(decided.undecided),
        finished=decided.finished,
        uncertainty=round(decided.uncertainty, 6),
        steps=len(decided.steps),
        flagged=any(remark.flagged for remark in decided.remarks),
        skipped=decided.skipped,
        notes=sum(bool(remark.note) for remark in decided.remarks),
        **facts,
    )

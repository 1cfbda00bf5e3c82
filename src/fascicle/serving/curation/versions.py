"""Versions of a document in a project: one of each curator, and the one that is reviewed; and who
may see them.

What a reviewer decides about a mention counts. Without that, a mention is gold if all curators of
the document have finished it, or leave it out, and all who finished have the mention with the same
concepts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from typing import Final

import msgspec

from fascicle.core.document import Document
from fascicle.core.lazy import cached_property
from fascicle.core.mention import Fragments, Mention, MentionKey
from fascicle.serving.curation.decisions import (
    NAMES,
    Decided,
    Item,
    Step,
    active,
    apply_steps,
    decided_ids,
    find_verdict,
)
from fascicle.serving.curation.store import GivenStep, Kept, shared_by_all
from fascicle.serving.problems import ProblemError
from fascicle.settings.serving import NamedToken, Project

REVIEWED: Final = ""  # name of the version that is reviewed


def uncounted(names: Iterable[str], project: Project) -> tuple[str, ...]:
    """Returns who of those who have versions is no curator of a project, so that their decisions
    do not count.
    """
    return tuple(sorted({*names} - {REVIEWED, *project.curators}))


def own_or_shared_version(who: NamedToken, curators: Container[str]) -> str:
    """Returns the version of a document that somebody works at: their own, or the one that is
    reviewed.
    """
    return who.name if who.name in curators else REVIEWED


def sees_others(
    who: NamedToken, project: Project, curators: Container[str], finished: Container[str]
) -> bool:
    """Returns whether somebody may see the versions of others.

    Args:
        who: by their token.
        project: the project that is curated.
        curators: who have the document.
        finished: those of them who have finished it.
    """
    if who.name in curators:
        return not project.private or who.name in finished
    return who.may("reviewer")


class Versions:
    """Versions of one document.

    Attributes:
        document: as it was added.
        project: of which it is.
        curators: who have it: those to whom it is assigned, and those who began when it was.
    """

    def __init__(self, record: Kept, project: Project) -> None:
        """Stores a document with all steps about it."""
        self.document, self._steps = record
        self.project = project
        begun = {step.who if step.version is None else step.version for step in record.steps}
        begun.update(project.assigned(record.document.id))
        self.curators = tuple(name for name in project.curators if name in begun)

    def steps(self, name: str) -> tuple[Step, ...]:
        """Returns the steps about a version."""
        return tuple(
            step
            for step in self._steps
            if name == (step.who if step.version is None else step.version)
        )

    def shown(self, name: str) -> Kept:
        """Returns a version: the document with the mentions that are decided about, and the
        steps.
        """
        return Kept(self.united if name == REVIEWED else self.document, self.steps(name))

    @cached_property
    def by_curator(self) -> dict[str, Decided]:
        """What each curator decided."""
        return {
            name: apply_steps(self.document, self.steps(name))._replace(version=name)
            for name in self.curators
        }

    @cached_property
    def done(self) -> dict[str, Decided]:
        """What those decided who have finished."""
        return {name: version for name, version in self.by_curator.items() if version.finished}

    @property
    def waiting(self) -> int:
        """How many curators have neither finished nor skipped the document."""
        return sum(
            not version.finished and not version.skipped for version in self.by_curator.values()
        )

    @cached_property
    def found(self) -> dict[MentionKey, dict[str, Mention]]:
        """Mentions of those who have finished, each as every one of them has it."""
        mentions: defaultdict[MentionKey, dict[str, Mention]] = defaultdict(dict)
        for name, version in self.done.items():
            for mention in version.gold:
                mentions[mention.key][name] = mention
        return dict(mentions)

    @cached_property
    def united(self) -> Document:
        """The document with all of these mentions; the score of each is the share of those who
        have it.
        """
        mentions = [
            msgspec.structs.replace(next(iter(of.values())), score=len(of) / len(self.done))
            for of in self.found.values()
        ]
        return self.document.having(mentions=tuple(mentions))

    @cached_property
    def reviewed(self) -> Decided:
        """What is decided about these mentions, by reviewers or, which no item names, because
        all agree.
        """
        decided = apply_steps(self.united, self.steps(REVIEWED))
        everyone = bool(self.done) and not self.waiting
        items = tuple(
            self._agreed(item) if everyone and not item.verdict else item for item in decided.items
        )
        finished = decided.finished or (everyone and all(item.verdict for item in items))
        return decided._replace(items=items, finished=finished)

    @property
    def disputed(self) -> int:
        """How many mentions the finished versions do not agree on, and no reviewer has decided."""
        return sum(not item.verdict and self._agreed(item) is item for item in self.reviewed.items)

    def _agreed(self, item: Item) -> Item:
        """Returns a mention as accepted if all finished versions have it with the same concepts,
        or else as it is.
        """
        assert item.origin is not None
        first, *rest = self.found[item.origin.key].values()
        same = len(rest) == len(self.done) - 1 and all(
            decided_ids(mention) == decided_ids(first) for mention in rest
        )
        return Item(item.origin, first, "accepted") if same else item

    @cached_property
    def _changed(self) -> dict[MentionKey, Mention]:
        """Mentions of models that curators confirmed, as reviewed; of several changes, that of
        the first curator.
        """
        gold = {
            item.origin.key: item.now for item in self.reviewed.items if item.origin and item.now
        }
        items = [item for version in reversed(self.done.values()) for item in version.items]
        return {
            to.key: gold[now.key]
            for to, now, *_ in items
            if to is not None and now is not None and now.key in gold
        }

    @cached_property
    def final(self) -> Decided:
        """What is reviewed as decisions about the mentions of models; where it is open, nothing
        is decided.
        """
        gold = {(mention.type, mention.spans): mention for mention in self.reviewed.gold}
        items = [self._item_of(origin, gold) for origin in self.document.mentions]
        places = {(mention.type, mention.spans) for mention in self.document.mentions}
        keys = {item.now.key for item in items if item.now is not None}
        items += [
            Item(None, mention, "added") for mention in gold.values() if mention.key not in keys
        ]
        items += [
            Item(mention)
            for mention in self.reviewed.undecided
            if (mention.type, mention.spans) not in places
        ]
        return Decided(
            self.document,
            tuple(map(self._with_reviewer, items)),
            self.reviewed.finished,
            active(self._steps),
            REVIEWED,
            tuple(self.by_curator.values()),
        )

    def _with_reviewer(self, item: Item) -> Item:
        """Returns an item with the reviewer who decided about it, if one did."""
        mention = item.now or item.origin
        assert mention is not None
        review = self._reviews.get((mention.type, mention.spans)) if item.verdict else None
        return item if review is None else item._replace(who=review.who, number=review.number)

    @cached_property
    def _reviews(self) -> dict[tuple[str, Fragments], Item]:
        """Decisions of reviewers by the type and place of what is confirmed or rejected."""
        items = sorted(self.reviewed.items, key=lambda item: item.number)
        mentions = ((item.now or item.origin, item) for item in items if item.who)
        return {(of.type, of.spans): item for of, item in mentions if of is not None}

    def _item_of(self, origin: Mention, gold: Mapping[tuple[str, Fragments], Mention]) -> Item:
        """Returns what is decided about a mention of a model."""
        place = (origin.type, origin.spans)
        is_open = place in self._open_places
        now = gold.get(place) or (None if is_open else self._changed.get(origin.key))
        if now is not None:
            return Item(origin, now, find_verdict(origin, now))
        if is_open or origin.key not in self._decided_keys or not self.reviewed.finished:
            return Item(origin)
        return Item(origin, None, "rejected")

    @cached_property
    def _open_places(self) -> set[tuple[str, Fragments]]:
        """Types and places of the mentions about which reviewers have not decided."""
        return {(mention.type, mention.spans) for mention in self.reviewed.undecided}

    @cached_property
    def _decided_keys(self) -> set[MentionKey]:
        """Keys of the mentions of models about which a curator who has finished has decided."""
        items = (item for version in self.done.values() for item in version.items)
        return {item.origin.key for item in items if item.verdict and item.origin}

    def check_seen(self, who: NamedToken, name: str) -> None:
        """Raises an error for a version that somebody may not see, or that nobody has.

        Raises:
            ProblemError: the person may not see the version, or nobody has it.
        """
        is_own = name == who.name and name in self.curators
        if not is_own and not sees_others(who, self.project, self.curators, self.done):
            reason = (
                "is assigned to others"
                if who.name not in self.curators
                else "has versions of others, which you see when yours is finished"
            )
            raise ProblemError(
                403, f"the document {self.document.id[:200]!r} {reason}", code="hidden"
            )
        if name not in (REVIEWED, *self.curators):
            raise ProblemError(
                404, f"{name[:100]!r} has no version of this document", code="unknown-name"
            )

    def changed_by(self, who: NamedToken, new: GivenStep) -> Kept:
        """Returns the version that a step of somebody is about.

        Raises:
            ProblemError: they may not change it.
        """
        name = new.who if new.version is None else new.version
        if name == new.who != REVIEWED:
            if name not in self.curators:
                raise ProblemError(403, f"this document is not assigned to {name!r}", code="hidden")
            if self.project.private and name in self.done and new.remark is None:
                raise ProblemError(
                    409,
                    "you have finished this document; a reviewer can open it again",
                    code="finished",
                )
        else:
            self.check_seen(who, name)
            if not who.may("reviewer") or (name != REVIEWED and new.finished is not False):
                raise ProblemError(
                    403, "only reviewers can review, and open versions of others again"
                )
        return self.shown(name)


def changed_by(record: Kept, new: GivenStep, who: NamedToken, project: Project | None) -> Kept:
    """Returns what a step of somebody is about.

    Args:
        record: the document, or the names of term packs, with all steps.
        new: the step.
        who: by their token.
        project: without one, all share their decisions.

    Raises:
        ProblemError: they may not change it.
        ValueError: the step is about a version, and there are none.
    """
    if project is not None and new.document != NAMES:
        return Versions(record, project).changed_by(who, new)
    own = {step.number for step in record.steps if step.who == new.who}
    if new.document == NAMES and not (new.undoes in {None, *own} or who.may("reviewer")):
        raise ProblemError(403, "only reviewers take back rows of others; undo one of yours")
    return shared_by_all(record, new)


def decided_by(record: Kept, project: Project | None, version: str) -> tuple[Decided, ...]:
    """Returns what is decided about a document in a version, as decisions about the mentions of
    models.

    Args:
        record: the document, with all steps about it.
        project: without one, all decisions are of one version.
        version: name of a curator, or ``REVIEWED``.

    Returns:
        Nothing if the curator does not have the document.
    """
    if project is None:
        return (apply_steps(*record),)
    versions = Versions(record, project)
    if version == REVIEWED:
        return (versions.final,)
    return (versions.by_curator[version],) if version in versions.curators else ()

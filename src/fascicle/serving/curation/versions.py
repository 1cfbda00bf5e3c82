"""Versions of a document in a project: one of each curator, and the one that is reviewed; and who
may see them.

What a reviewer decides about a mention counts. Without that, a mention is gold if all curators of
the document have finished it, or leave it out, and all who finished have the mention with the same
concepts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable
from typing import Final

import msgspec

from fascicle.core.document import Document
from fascicle.core.lazy import cached_property
from fascicle.core.mention import Mention, MentionKey
from fascicle.serving.curation.decisions import (
    Decided,
    Item,
    Step,
    active,
    apply_steps,
    decided_ids,
    find_verdict,
)
from fascicle.serving.curation.store import GivenStep, Kept
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
    who: NamedToken, project: Project, curators: Container[str], done: Container[str]
) -> bool:
    """Returns whether somebody may see the versions of others.

    Args:
        who: by their token.
        project: the project that is curated.
        curators: who have the document.
        done: those of them who have finished it.
    """
    if who.name in curators:
        return not project.private or who.name in done
    return who.may("reviewer")


class Versions:
    """Versions of one document.

    Attributes:
        document: as it was added.
        project: of which it is.
        curators: who have it: those to whom it is assigned, and those who began when it was.
    """

    def __init__(self, kept: Kept, project: Project) -> None:
        """Stores a document with all steps about it."""
        self.document, self._steps = kept
        self.project = project
        begun = {step.who if step.version is None else step.version for step in kept.steps}
        begun.update(project.assigned(kept.document.id))
        self.curators = tuple(name for name in project.curators if name in begun)

    def steps(self, name: str) -> tuple[Step, ...]:
        """Returns the steps about a version."""
        return tuple(
            one for one in self._steps if name == (one.who if one.version is None else one.version)
        )

    def shown(self, name: str) -> Kept:
        """Returns a version: the document with the mentions that are decided about, and the
        steps.
        """
        return Kept(self.united if name == REVIEWED else self.document, self.steps(name))

    @cached_property
    def by_curator(self) -> dict[str, Decided]:
        """What each curator decided."""
        return {name: apply_steps(self.document, self.steps(name)) for name in self.curators}

    @cached_property
    def done(self) -> dict[str, Decided]:
        """What those decided who have finished."""
        return {name: one for name, one in self.by_curator.items() if one.finished}

    @property
    def waiting(self) -> int:
        """How many curators have neither finished nor skipped the document."""
        return sum(not one.finished and not one.skipped for one in self.by_curator.values())

    @cached_property
    def found(self) -> dict[MentionKey, dict[str, Mention]]:
        """Mentions of those who have finished, each as every one of them has it."""
        found: defaultdict[MentionKey, dict[str, Mention]] = defaultdict(dict)
        for name, version in self.done.items():
            for mention in version.gold:
                found[mention.key][name] = mention
        return dict(found)

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
        found = apply_steps(self.united, self.steps(REVIEWED))
        everyone = bool(self.done) and not self.waiting
        items = tuple(
            self._agreed(item) if everyone and not item.verdict else item for item in found.items
        )
        finished = found.finished or (everyone and all(item.verdict for item in items))
        return found._replace(items=items, finished=finished)

    @property
    def disputed(self) -> int:
        """How many mentions the finished versions do not agree on, and no reviewer has decided."""
        return sum(not item.verdict and self._agreed(item) is item for item in self.reviewed.items)

    def _agreed(self, item: Item) -> Item:
        """Returns a mention as accepted if all finished versions have it with the same concepts,
        or else as it is.
        """
        assert item.origin is not None
        first, *others = self.found[item.origin.key].values()
        same = len(others) == len(self.done) - 1 and all(
            decided_ids(one) == decided_ids(first) for one in others
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
        said = [item for one in reversed(self.done.values()) for item in one.items]
        return {
            to.key: gold[now.key]
            for to, now, *_ in said
            if to is not None and now is not None and now.key in gold
        }

    @cached_property
    def final(self) -> Decided:
        """What is reviewed as decisions about the mentions of models; where it is open, nothing
        is decided.
        """
        gold = {(one.type, one.spans): one for one in self.reviewed.gold}
        still = {(one.type, one.spans) for one in self.reviewed.undecided}
        said = {
            item.origin.key
            for one in self.done.values()
            for item in one.items
            if item.verdict and item.origin
        }
        items = []
        for origin in self.document.mentions:
            place = (origin.type, origin.spans)
            now = gold.get(place) or (None if place in still else self._changed.get(origin.key))
            if now is not None:
                items.append(Item(origin, now, find_verdict(origin, now)))
            elif place in still or origin.key not in said or not self.reviewed.finished:
                items.append(Item(origin))
            else:
                items.append(Item(origin, None, "rejected"))
        there = {(one.type, one.spans) for one in self.document.mentions}
        named = {item.now.key for item in items if item.now is not None}
        items += [Item(None, one, "added") for one in gold.values() if one.key not in named]
        items += [
            Item(one) for one in self.reviewed.undecided if (one.type, one.spans) not in there
        ]
        return Decided(self.document, tuple(items), self.reviewed.finished, active(self._steps))

    def check_seen(self, who: NamedToken, name: str) -> None:
        """Raises an error for a version that somebody may not see, or that nobody has.

        Raises:
            ProblemError: the person may not see the version, or nobody has it.
        """
        is_own = name == who.name and name in self.curators
        if not is_own and not sees_others(who, self.project, self.curators, self.done):
            told = (
                "is assigned to others"
                if who.name not in self.curators
                else "has versions of others, which you see when yours is finished"
            )
            raise ProblemError(
                403, f"the document {self.document.id[:200]!r} {told}", code="hidden"
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


def decided_by(kept: Kept, project: Project | None, version: str) -> tuple[Decided, ...]:
    """Returns what is decided about a document in a version, as decisions about the mentions of
    models.

    Args:
        kept: the document, with all steps about it.
        project: without one, all decisions are of one version.
        version: name of a curator, or ``REVIEWED``.

    Returns:
        Nothing if the curator does not have the document.
    """
    if project is None:
        return (apply_steps(*kept),)
    versions = Versions(kept, project)
    if version == REVIEWED:
        return (versions.final,)
    return (versions.by_curator[version],) if version in versions.curators else ()

"""Several linkers as one: the linkers of several packs, in an order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import msgspec

from fascicle.core.contracts import Step
from fascicle.core.document import LINKED, Document, Event, Patch
from fascicle.core.mention import Link, MentionKey
from fascicle.core.provenance import STEP
from fascicle.knowledge.linking.linker import Decision, Linker

Found = dict[MentionKey, tuple[Link, ...]]


class Linking(Step, Protocol):
    """What links mentions, as a step: one linker, or several."""

    def covers(self, kind: str) -> bool:
        """Whether a pack has concepts of a type."""

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Links for the mentions without links of each document; see `Linker.predict`."""

    def explained(self, documents: Sequence[Document], *, most: int = 20) -> list[list[Decision]]:
        """What `predict` says, with candidates and reasons; see `Linker.explained`."""


class Linkers:
    """Links each mention by the first linker that covers its type; where that one says NIL, by the next one.

    Attributes:
        parts: the linkers.
    """

    name = STEP
    needs: frozenset[str] = frozenset({"mentions"})
    gives: frozenset[str] = frozenset({"links"})
    drops: frozenset[str] = frozenset()

    def __init__(self, parts: Sequence[Linker]) -> None:
        """Takes the linkers in their order."""
        self.parts = tuple(parts)

    @property
    def fingerprint(self) -> str:
        """Decides, with the release, what it says."""
        return hashlib.sha256(msgspec.json.encode([part.fingerprint for part in self.parts])).hexdigest()

    def covers(self, kind: str) -> bool:
        """Whether a pack has concepts of a type."""
        return any(part.covers(kind) for part in self.parts)

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """As `predict`, for pipelines."""
        return self.predict(documents)

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Links for the mentions without links of each document; see `Linker.predict`."""
        found: list[Found] = [{} for _ in documents]
        events: list[list[Event]] = [[] for _ in documents]
        for _, _, patches in self._said(documents, found):
            for said, patch in zip(events, patches, strict=True):
                said.extend(patch.events)
        return [Patch(links=tuple(own.items()), events=tuple(said)) for own, said in zip(found, events, strict=True)]

    def explained(self, documents: Sequence[Document], *, most: int = 20) -> list[list[Decision]]:
        """For each mention what the first linker says that has an answer, else the first one that covers the type."""
        found: list[Found] = [{} for _ in documents]
        told: list[dict[int, list[Decision]]] = [{} for _ in documents]
        for part, asked, _ in self._said(documents, found):
            for own, said in zip(told, part.explained(asked, most=most), strict=True):
                for mention, several in _by_mention(said).items():
                    if mention not in own or any(one.answer for one in several):
                        own[mention] = several
        return [[one for at in sorted(own) for one in own[at]] for own in told]

    def _said(
        self, documents: Sequence[Document], found: Sequence[Found]
    ) -> Iterator[tuple[Linker, Sequence[Document], list[Patch]]]:
        """Each linker, the documents as it sees them, and its patches; ``found`` gets the links so far."""
        for part in self.parts:
            asked = [_linked(document, own) for document, own in zip(documents, found, strict=True)]
            patches = part.predict(asked)
            yield part, asked, patches
            for own, patch in zip(found, patches, strict=True):
                own.update((key, links) for key, links in patch.links if key not in own or not _is_nil(links))


def unlinked(document: Document, covers: Callable[[str], bool]) -> Document:
    """A document without the links of some mentions; where none is left, nothing says where links are from.

    Args:
        document: with links.
        covers: whether mentions of a type lose theirs.
    """
    mentions = tuple(
        msgspec.structs.replace(one, links=()) if one.links and covers(one.type) else one for one in document.mentions
    )
    linked = any(one.links for one in mentions)
    events = tuple(one for one in document.events if linked or one.code != LINKED)
    return msgspec.structs.replace(document, mentions=mentions, events=events)


def _by_mention(decisions: Sequence[Decision]) -> dict[int, list[Decision]]:
    found: dict[int, list[Decision]] = {}
    for one in decisions:
        found.setdefault(one.mention, []).append(one)
    return found


def _linked(document: Document, found: Found) -> Document:
    """The document with the links so far; mentions that are NIL have none, so that they are asked for again."""
    links = {key: several for key, several in found.items() if not _is_nil(several)}
    if not links:
        return document
    mentions = tuple(
        msgspec.structs.replace(one, links=links[one.key]) if one.key in links else one for one in document.mentions
    )
    return msgspec.structs.replace(document, mentions=mentions)


def _is_nil(links: Sequence[Link]) -> bool:
    return all(link.nil for link in links)

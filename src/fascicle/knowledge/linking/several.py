"""Several linkers as one: the linkers of several packs, in an order."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Protocol

import msgspec

from fascicle.core.contracts import Step
from fascicle.core.document import Document, Event, Patch
from fascicle.core.mention import Link, Mention, MentionKey
from fascicle.core.provenance import STEP
from fascicle.knowledge.linking.linker import Decision, Linker

Found = dict[MentionKey, tuple[Link, ...]]


class Linking(Step, Protocol):
    """What links mentions, as a step: one linker, or several."""

    def covers(self, kind: str) -> bool:
        """Whether a pack has concepts of a type."""

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Links for the mentions without links of each document; see `Linker.predict`."""

    def decisions(
        self, documents: Sequence[Document], mentions: Sequence[Sequence[Mention]], *, most: int = 20
    ) -> list[list[Decision]]:
        """What is said of mentions, with candidates and reasons; see `Linker.decisions`."""


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
        for part in self.parts:
            asked = [_linked(document, own) for document, own in zip(documents, found, strict=True)]
            for own, said, patch in zip(found, events, part.predict(asked), strict=True):
                own.update((key, links) for key, links in patch.links if key not in own or not _is_nil(links))
                said.extend(patch.events)
        return [Patch(links=tuple(own.items()), events=tuple(said)) for own, said in zip(found, events, strict=True)]

    def decisions(
        self, documents: Sequence[Document], mentions: Sequence[Sequence[Mention]], *, most: int = 20
    ) -> list[list[Decision]]:
        """What is said of mentions by the linkers that link them; see `Linker.decisions`."""
        told = [part.decisions(documents, mentions, most=most) for part in self.parts]
        by_mention = [[_by_mention(own) for own in of] for of in told]
        return [
            [
                decision
                for at, mention in enumerate(own)
                for decision in self._deciding(mention, [of[number].get(at, []) for of in by_mention])
            ]
            for number, own in enumerate(mentions)
        ]

    def _deciding(self, mention: Mention, told: Sequence[list[Decision]]) -> list[Decision]:
        """What the first linker says that has an answer, else the first one that covers the type."""
        covering = [one for part, one in zip(self.parts, told, strict=True) if part.covers(mention.type)] or list(told)
        return next((one for one in covering if any(each.answer for each in one)), covering[0])


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

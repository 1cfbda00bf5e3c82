"""Loading of linkers from folders, with their packs; several linkers can be used as one."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import msgspec
from msgspec import Meta

from fascicle.core.document import LINKED, Document, Event, Patch
from fascicle.core.mention import Link, MentionKey
from fascicle.errors import UsageError
from fascicle.linking.decisions import Decision
from fascicle.linking.equivalents import check_ontology
from fascicle.linking.folder import WORDING, LinkerManifest, check_linker, read_manifest
from fascicle.linking.linker import NO_STRATEGIES, Linker, LinkingStep
from fascicle.linking.strategies import check_strategies
from fascicle.settings.base import Settings
from fascicle.settings.folders.described import file_sha256, read_description, write_description
from fascicle.settings.folders.vocabularies import (
    LINKER,
    find_linker,
    find_pack,
    is_pack,
    newer_hint,
    shipped_packs,
)
from fascicle.settings.steps import LinkStrategy
from fascicle.terms.pack.layout import pack_error
from fascicle.terms.pack.pack import Pack
from fascicle.terms.terms import prefix_name

SEVERAL: Final = "linkers.json"  # of a folder with a linker for each of several packs
_FORMAT: Final = 1
_Name = Annotated[str, Meta(pattern="^[A-Za-z0-9_-]+$", max_length=100)]
_Place = str | os.PathLike[str]
Places = _Place | Sequence[_Place]
_Links = dict[MentionKey, tuple[Link, ...]]


class SeveralManifest(Settings, frozen=True, kw_only=True):
    """Manifest of several linkers that are used as one.

    Attributes:
        format: version of the file.
        parts: folder of each in this one -> SHA-256 of its manifest, in order.
    """

    format: int = _FORMAT
    parts: Annotated[dict[_Name, str], Meta(min_length=1, max_length=100)]


class LinkerPart(NamedTuple):
    """Linker and its pack.

    Attributes:
        folder: of the linker.
        manifest: of the linker.
        pack: open.
    """

    folder: Path
    manifest: LinkerManifest
    pack: Pack

    def opened(self, ontology: str, strategies: Mapping[str, LinkStrategy]) -> Linker:
        """Opens the linker; a pack alone links by default weights."""
        if not (self.folder / LINKER).is_file():
            return Linker(self.pack, ontology=ontology, strategies=strategies)
        return Linker.open(*self, ontology=ontology, strategies=strategies)


class LinkerWithPacks(NamedTuple):
    """Linker with its packs, which is opened when it is needed.

    Attributes:
        parts: one for each pack.
        ontology: prefix of the vocabulary in which links are given; packs without it link nothing.
        strategies: of the linker by type.
    """

    parts: tuple[LinkerPart, ...]
    ontology: str = ""
    strategies: Mapping[str, LinkStrategy] = NO_STRATEGIES

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the parts that decide, with the release, all links."""
        parts = [part.manifest.fingerprint for part in self.parts] + (
            [self.ontology] if self.ontology else []
        )
        parts += (
            [msgspec.json.encode(self.strategies, order="sorted").decode()]
            if self.strategies
            else []
        )
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()

    def covered(self, types: Sequence[str]) -> tuple[str, ...]:
        """Returns those types of which a pack has concepts."""
        return tuple(kind for kind in types if any(part.pack.covers(kind) for part in self.parts))

    def opened(self) -> Linking:
        """Opens the linker.

        Raises:
            PackError: a damaged linker.
        """
        opened = [
            part.opened(self.ontology, self.strategies)
            for part in self.parts
            if _has(part.pack, self.ontology)
        ]
        return opened[0] if len(opened) == 1 else Linkers(opened)


def _has(pack: Pack, ontology: str) -> bool:
    return not ontology or ontology in pack.prefixes


def as_places(linker: Places) -> Sequence[_Place]:
    """Returns one linker or several as a sequence."""
    return [linker] if isinstance(linker, str | os.PathLike) else linker


def find(
    linker: Places,
    packs: Sequence[_Place] = (),
    *,
    ontology: str = "",
    strategies: Mapping[str, LinkStrategy] = NO_STRATEGIES,
) -> LinkerWithPacks:
    """Finds a linker and its packs.

    Args:
        linker: the name of a shipped linker, a folder of a linker or of a pack, or several: a
            mention is linked by the first that has its type and a concept for it.
        packs: of the linker; by default they are where they were when it was fitted.
        ontology: prefix of the only vocabulary in which links are given, in any spelling; by
            default each linker knows its own.
        strategies: by type of mentions.

    Raises:
        PackError: there is no such linker, it is damaged, or a pack is not there or another one.
        UsageError: a pack that the linker does not need, or no pack has a concept of the ontology,
            or what a strategy names.
    """
    opened = [Pack.open(pack) for pack in packs]
    homes = list(map(find_linker, as_places(linker)))
    folders = [folder for home in homes for folder in linker_folders(home)]
    parts = tuple(_part(folder, opened, alone=len(folders) == 1) for folder in folders)
    if not parts:
        raise UsageError("no linker was given; give its folder, or the name of a shipped one")
    needed = [part.manifest.pack for part in parts]
    if unused := [pack.full_name for pack in opened if pack.full_name not in needed]:
        raise UsageError(
            f"the linker {' and '.join(map(str, homes))} has no use for the pack {unused[0]}; "
            f"its packs are {', '.join(needed)}"
        )
    if ontology:
        prefixes = [prefix for part in parts for prefix in part.pack.prefixes]
        ontology = prefix_name(ontology, prefixes)
    for part in [part for part in parts if _has(part.pack, ontology)] or parts[:1]:
        check_ontology(part.pack, ontology)
    check_strategies([part.pack for part in parts], strategies)
    return LinkerWithPacks(parts, ontology, strategies)


def linker_folders(folder: Path) -> tuple[Path, ...]:
    """Returns the folders of the linkers in a folder: itself, or one for each of several packs.

    Raises:
        PackError: one of several is not there, or was changed.
    """
    place = folder / SEVERAL
    if not place.is_file():
        return (folder,)
    manifest = read_description(place, SeveralManifest, WORDING, format=_FORMAT)
    for name, sha256 in manifest.parts.items():
        described = folder / name / LINKER
        if not described.is_file() or file_sha256(described) != sha256:
            raise pack_error(
                described, f"{described} is missing or was changed; copy the linker again"
            )
    return tuple(folder / name for name in manifest.parts)


def write_several(folder: Path, names: Sequence[str]) -> SeveralManifest:
    """Combines linkers in subfolders of one folder into one."""
    parts = {name: file_sha256(folder / name / LINKER) for name in names}
    return write_description(folder / SEVERAL, SeveralManifest(parts=parts))


def _part(folder: Path, packs: Sequence[Pack], *, alone: bool) -> LinkerPart:
    """Opens a linker with the one of some packs that it needs, else with the pack at the place
    that it names.
    """
    if not (folder / LINKER).is_file() and is_pack(folder):
        pack = Pack.open(folder)
        return LinkerPart(folder, LinkerManifest(pack=pack.full_name, indexed=False), pack)
    manifest = read_manifest(folder)
    # A linker that is alone takes a pack that does not fit, too, which is refused below.
    fitting = [pack for pack in packs if pack.full_name == manifest.pack] or (
        list(packs) if alone else []
    )
    pack = fitting[0] if fitting else Pack.open(_pack_folder(folder, manifest))
    check_linker(folder, manifest, pack)
    return LinkerPart(folder, manifest, pack)


def _pack_folder(folder: Path, manifest: LinkerManifest) -> Path:
    """Returns the folder of the pack that a linker names."""
    place = (
        find_pack(manifest.place) if manifest.place in shipped_packs() else folder / manifest.place
    )
    if not manifest.place or not is_pack(place) or not place.exists():
        where = f", which is not at {place}" if manifest.place else ""
        message = (
            f"the linker {folder} needs the pack {manifest.pack}{where}; give it with "
            "pack=PACK, or fit it again"
        )
        message += newer_hint(Path(manifest.place))
        raise pack_error(folder, message, "not-found")
    return place


class Linkers(LinkingStep):
    """Links each mention by the first linker that covers its type; if that gives NIL, by the next
    one.

    Attributes:
        parts: the linkers.
    """

    def __init__(self, parts: Sequence[Linker]) -> None:
        """Sets the linkers in their order."""
        self.parts = tuple(parts)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the parts that decide, with the release, all links."""
        return hashlib.sha256(
            msgspec.json.encode([part.fingerprint for part in self.parts])
        ).hexdigest()

    def covers(self, kind: str) -> bool:
        """True if a pack has concepts of a type."""
        return any(part.covers(kind) for part in self.parts)

    def known(self, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Returns those pairs of a name and a type of which a pack has a concept with this name."""
        return {pair for part in self.parts for pair in part.known(pairs)}

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Links those mentions of each document that have no links; see `Linker.predict`."""
        links: list[_Links] = [{} for _ in documents]
        events: list[list[Event]] = [[] for _ in documents]
        for _, _, patches in self._predict_each(documents, links):
            for own_events, patch in zip(events, patches, strict=True):
                own_events.extend(patch.events)
        return [
            Patch(links=tuple(own.items()), events=tuple(own_events))
            for own, own_events in zip(links, events, strict=True)
        ]

    def explained(self, documents: Sequence[Document], *, most: int = 20) -> list[list[Decision]]:
        """Returns for each mention the decisions of the first linker that answers, else of the
        first for its type.
        """
        links: list[_Links] = [{} for _ in documents]
        decisions: list[dict[int, list[Decision]]] = [{} for _ in documents]
        for part, remaining, _ in self._predict_each(documents, links):
            for own, explained in zip(decisions, part.explained(remaining, most=most), strict=True):
                for mention, group in groupby(explained, key=lambda decision: decision.mention):
                    several = list(group)
                    if mention not in own or any(
                        decision.answer or decision.ambiguous for decision in several
                    ):
                        own[mention] = several
        return [[decision for at in sorted(own) for decision in own[at]] for own in decisions]

    def _predict_each(
        self, documents: Sequence[Document], links: Sequence[_Links]
    ) -> Iterator[tuple[Linker, Sequence[Document], list[Patch]]]:
        """Yields each linker, the documents as it sees them, and its patches; ``links`` gets the
        links so far.
        """
        for part in self.parts:
            remaining = [
                _linked(document, own) for document, own in zip(documents, links, strict=True)
            ]
            patches = part.predict(remaining)
            yield part, remaining, patches
            for own, patch in zip(links, patches, strict=True):
                own.update(
                    (key, links)
                    for key, links in patch.links
                    if key not in own or not _is_nil(links)
                )


Linking = Linker | Linkers


def without_links(document: Document, covers: Callable[[str], bool]) -> Document:
    """Returns a document without the links of some mentions; if none is left, the origin of links
    is dropped too.

    Args:
        document: with links.
        covers: whether mentions of a type lose theirs.
    """
    mentions = tuple(
        msgspec.structs.replace(mention, links=())
        if mention.links and covers(mention.type)
        else mention
        for mention in document.mentions
    )
    linked = any(mention.links for mention in mentions)
    events = tuple(mention for mention in document.events if linked or mention.code != LINKED)
    return msgspec.structs.replace(document, mentions=mentions, events=events)


def _linked(document: Document, links: _Links) -> Document:
    """Returns the document with the links so far; NIL mentions have none, so that the next
    linker tries them again.
    """
    answered = {key: own for key, own in links.items() if not _is_nil(own)}
    if not answered:
        return document
    mentions = tuple(
        msgspec.structs.replace(mention, links=answered[mention.key])
        if mention.key in answered
        else mention
        for mention in document.mentions
    )
    return msgspec.structs.replace(document, mentions=mentions)


def _is_nil(links: Sequence[Link]) -> bool:
    return all(link.nil for link in links)

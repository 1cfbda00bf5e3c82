"""Linkers by the folders that they are in, with their packs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, NamedTuple

from msgspec import Meta

from fascicle.errors import PackError, UsageError
from fascicle.knowledge.linking.folder import WORDING, LinkerManifest, read_linker, read_manifest
from fascicle.knowledge.linking.gold import types_of
from fascicle.knowledge.linking.linker import Linker
from fascicle.knowledge.linking.several import Linkers, Linking
from fascicle.knowledge.pack.pack import Pack
from fascicle.knowledge.pack.sets import prefix_numbers
from fascicle.settings.base import Settings
from fascicle.settings.folders.described import file_sha256, read_described, write_described
from fascicle.settings.folders.vocabularies import LINKER, find_linker, find_pack, is_pack, shipped_packs

SEVERAL: Final = "linkers.json"  # of a folder with a linker for each of several packs
FORMAT: Final = 1
Name = Annotated[str, Meta(pattern="^[A-Za-z0-9_-]+$", max_length=100)]


class SeveralManifest(Settings, frozen=True, kw_only=True):
    """Which linkers are used as one.

    Attributes:
        format: version of the file.
        parts: folder of each in this one -> SHA-256 of what it says of itself, in order.
    """

    format: int = FORMAT
    parts: Annotated[dict[Name, str], Meta(min_length=1, max_length=100)]


class Part(NamedTuple):
    """A linker and its pack.

    Attributes:
        folder: of the linker.
        manifest: of the linker.
        pack: open.
    """

    folder: Path
    manifest: LinkerManifest
    pack: Pack


class Found(NamedTuple):
    """A linker with its packs at hand, which is opened when it is needed.

    Attributes:
        parts: one for each pack.
    """

    parts: tuple[Part, ...]

    @property
    def fingerprint(self) -> str:
        """Decides, with the release, what it says."""
        return hashlib.sha256(" ".join(part.manifest.fingerprint for part in self.parts).encode()).hexdigest()

    def covered(self, types: Sequence[str]) -> tuple[str, ...]:
        """Those types of which a pack has concepts."""
        meant = [(types_of(part.pack), part.pack.types) for part in self.parts]
        return tuple(kind for kind in types if any(of(kind) in there for of, there in meant))

    def opened(self, *, ontology: str = "") -> Linking:
        """Opens it.

        Args:
            ontology: prefix of a vocabulary, into which links are taken; packs without it link nothing.

        Raises:
            PackError: a damaged linker.
            UsageError: no pack has a concept of the ontology.
        """
        able = [part for part in self.parts if not ontology or ontology in prefix_numbers(part.pack)[0]]
        opened = [Linker.open(one.folder, one.pack, ontology=ontology) for one in able or self.parts]
        return opened[0] if len(opened) == 1 else Linkers(opened)


def find(linker: str | os.PathLike[str], packs: Sequence[str | os.PathLike[str]] = ()) -> Found:
    """Finds a linker and its packs.

    Args:
        linker: the name of a shipped linker, or a folder.
        packs: of the linker; by default they are where they were when it was fitted.

    Raises:
        PackError: there is no such linker, it is damaged, or a pack is not there or another one.
        UsageError: a pack that the linker does not need.
    """
    folder = find_linker(linker)
    given = [Pack.open(pack) for pack in packs]
    folders = parts_of(folder)
    parts = tuple(_part(one, given, alone=len(folders) == 1) for one in folders)
    needed = [part.manifest.pack for part in parts]
    if unused := [pack.full_name for pack in given if pack.full_name not in needed]:
        raise UsageError(f"the linker {folder} has no use for the pack {unused[0]}; its packs are {', '.join(needed)}")
    return Found(parts)


def parts_of(folder: Path) -> tuple[Path, ...]:
    """The folders of the linkers that a folder has: itself, or one for each of several packs.

    Raises:
        PackError: one of several is not there, or was changed.
    """
    place = folder / SEVERAL
    if not place.is_file():
        return (folder,)
    found = read_described(place, SeveralManifest, WORDING, format=FORMAT)
    for name, sha256 in found.parts.items():
        described = folder / name / LINKER
        if not described.is_file() or file_sha256(described) != sha256:
            raise PackError(
                f"{described} is missing or was changed; copy the linker again", file=str(described), code="damaged"
            )
    return tuple(folder / name for name in found.parts)


def write_several(folder: Path, names: Sequence[str]) -> SeveralManifest:
    """Joins linkers in folders of one folder to one."""
    parts = {name: file_sha256(folder / name / LINKER) for name in names}
    return write_described(folder / SEVERAL, SeveralManifest(parts=parts))


def _part(folder: Path, given: Sequence[Pack], *, alone: bool) -> Part:
    """A linker with that of some packs which it needs, else with the one at the place that it names."""
    manifest = read_manifest(folder)
    fitting = [pack for pack in given if pack.full_name == manifest.pack]
    if fitting or (given and alone):
        pack = (fitting or given)[0]  # one that does not fit is refused below
    else:
        place = find_pack(manifest.place) if manifest.place in shipped_packs() else folder / manifest.place
        if not manifest.place or not is_pack(place):
            where = f", which is not at {place}" if manifest.place else ""
            raise PackError(
                f"the linker {folder} needs the pack {manifest.pack}{where}; give it with pack=PACK",
                file=str(folder),
                code="not-found",
            )
        pack = Pack.open(place)
    return Part(folder, read_linker(folder, pack), pack)

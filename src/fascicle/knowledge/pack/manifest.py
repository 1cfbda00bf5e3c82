"""What a pack says of itself, ``manifest.json``: what it was made from, and size and hash of each of its files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Self

import msgspec
from msgspec import Meta

from fascicle.errors import PackError
from fascicle.files import intact
from fascicle.files.owned import file_facts
from fascicle.settings.base import Settings
from fascicle.settings.folders.described import Wording, read_described, write_described
from fascicle.settings.folders.vocabularies import PACK

FORMAT: Final = 1
KIND: Final = "pack"  # of the folder
_SHOWN: Final = 12  # characters of the hash in the name
WORDING: Final = Wording(
    broken="is not the manifest of a term pack",
    repair="copy the pack again, or build it with fascicle index build",
    renew="build it again with fascicle index build",
    version="pack format",
    error=PackError,
)


class SourceFacts(Settings, frozen=True, kw_only=True):
    """One source of a pack.

    Attributes:
        name: by which terms name it.
        type: of its concepts that have no other.
        sha256: of its files.
        date: of the data.
        reader: that read it.
        url: where it is from.
        licence: of the data.
        attribution: what the licence asks to be said.
        counts: what was read, and what was left out for which reason.
    """

    name: str
    type: str = ""
    sha256: tuple[str, ...] = ()
    date: str = ""
    reader: str = ""
    url: str = ""
    licence: str = ""
    attribution: str = ""
    counts: dict[str, int] = msgspec.field(default_factory=dict)


class FileFacts(Settings, frozen=True, kw_only=True):
    """One file of a pack or of a linker.

    Attributes:
        size: bytes.
        sha256: of the content.
    """

    size: Annotated[int, Meta(ge=0)]
    sha256: str

    @classmethod
    def of(cls, path: Path) -> Self:
        """Those of a file, which is read once."""
        size, sha256 = file_facts(path)
        return cls(size=size, sha256=sha256)


class Manifest(Settings, frozen=True, kw_only=True):
    """A pack.

    Attributes:
        format: version of the files.
        name: that its builder gave it.
        hash: of everything that the pack holds: of this manifest with an empty hash, which has the hashes of all files.
        normaliser: version of the keys.
        sources: in the order of their rank.
        sets: which sources say something together, as numbers of sources; terms and concepts refer to these sets.
        types: names of types, by number.
        languages: codes of languages, by number.
        ranks: ranks of taxa, by number; the first is empty.
        counts: of concepts and terms, and of what was left out for which reason.
        files: all files but this one.
    """

    format: int = FORMAT
    name: str
    hash: str = ""
    normaliser: str
    sources: tuple[SourceFacts, ...]
    sets: tuple[tuple[int, ...], ...]
    types: tuple[str, ...]
    languages: tuple[str, ...]
    ranks: tuple[str, ...]
    counts: dict[str, int]
    files: dict[str, FileFacts]

    @property
    def full_name(self) -> str:
        """The name with the beginning of the hash: two packs of one full name are equal."""
        return f"{self.name}+{self.hash[:_SHOWN]}"


def first_changed(folder: Path, files: Mapping[str, FileFacts]) -> str | None:
    """The name of the first file that is not what was said of it; see `intact.first_changed`."""
    return intact.first_changed(folder, {name: (facts.size, facts.sha256) for name, facts in files.items()})


def content_hash(manifest: Manifest) -> str:
    """The hash that a manifest should have."""
    bare = msgspec.structs.replace(manifest, hash="")
    return hashlib.sha256(msgspec.json.encode(bare, order="deterministic")).hexdigest()


def write_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """Writes the manifest with its hash; returns it."""
    return write_described(folder / PACK, msgspec.structs.replace(manifest, hash=content_hash(manifest)))


def read_manifest(folder: Path) -> Manifest:
    """Reads the manifest of a pack.

    Raises:
        PackError: there is none, it is damaged, or of another format.
    """
    path = folder / PACK
    if not path.is_file():
        raise PackError(
            f"there is no term pack at {folder}; give a folder that fascicle index build wrote",
            file=str(folder),
            code="not-found",
        )
    return read_described(path, Manifest, WORDING, format=FORMAT)

"""Manifest of a pack, and the checks at opening: version, normaliser, and presence, size and hash of every file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final, Self

import msgspec
from msgspec import Meta

from fascicle.core.files import intact
from fascicle.core.files.owned import file_facts
from fascicle.errors import PackError
from fascicle.settings.base import Settings
from fascicle.settings.folders.described import Wording, read_described, write_described
from fascicle.settings.folders.vocabularies import PACK
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import BYTES, HASHES, OFFSETS, ROWS, dtype_of

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
    """Facts about one source of a pack.

    Attributes:
        name: by which terms name it.
        type: of its concepts that have no other.
        sha256: of its files.
        date: of the data.
        reader: that read it.
        url: where it is from.
        licence: of the data.
        attribution: text that the licence requires.
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
    """Size and hash of one file of a pack or of a linker.

    Attributes:
        size: bytes.
        sha256: of the content.
    """

    size: Annotated[int, Meta(ge=0)]
    sha256: str

    @classmethod
    def of(cls, path: Path) -> Self:
        """Returns size and hash of a file, which is read once."""
        size, sha256 = file_facts(path)
        return cls(size=size, sha256=sha256)


class Manifest(Settings, frozen=True, kw_only=True):
    """Manifest of a pack.

    Attributes:
        format: version of the files.
        name: that its builder gave it.
        hash: of everything that the pack holds: of this manifest with an empty hash, which has the hashes of all files.
        normaliser: version of the keys.
        sources: in the order of their rank.
        sets: combinations of sources, as numbers of sources; terms and concepts refer to these sets.
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
        """Name with the beginning of the hash: two packs of one full name are equal."""
        return f"{self.name}+{self.hash[:_SHOWN]}"


def first_changed(folder: Path, files: Mapping[str, FileFacts]) -> str | None:
    """Returns the name of the first file that differs from the manifest; see `intact.first_changed`."""
    return intact.first_changed(folder, {name: (facts.size, facts.sha256) for name, facts in files.items()})


def _content_hash(manifest: Manifest) -> str:
    """Returns the hash that a manifest should have."""
    bare = msgspec.structs.replace(manifest, hash="")
    return hashlib.sha256(msgspec.json.encode(bare, order="deterministic")).hexdigest()


def write_manifest(folder: Path, manifest: Manifest) -> Manifest:
    """Writes the manifest with its hash; returns it."""
    return write_described(folder / PACK, msgspec.structs.replace(manifest, hash=_content_hash(manifest)))


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


_AGAIN: Final = "build it again with fascicle index build, or copy it again"


def check_normaliser(folder: Path, manifest: Manifest, normaliser: str) -> None:
    """Raises an error for a pack with keys of another normaliser version.

    Raises:
        PackError: its keys are of another version.
    """
    if manifest.normaliser != normaliser:
        raise PackError(
            f"{folder} has keys of the normaliser {manifest.normaliser}, and this release has {normaliser}: build it "
            f"again with fascicle index build SOURCES -o {folder} --overwrite",
            file=str(folder),
            code="version",
        )


def check_files(folder: Path, manifest: Manifest) -> None:
    """Raises an error for a pack whose manifest was changed, or whose files are missing or were changed.

    Raises:
        PackError: the manifest or a file was changed, or a file is missing.
    """
    if _content_hash(manifest) != manifest.hash:
        raise PackError(f"the manifest of {folder} was changed; {_AGAIN}", file=str(folder), code="damaged")
    for name, facts in manifest.files.items():
        if not name.isprintable() or "/" in name or "\\" in name or name.startswith("."):
            raise PackError(f"the manifest of {folder} names a file elsewhere, {name!r}; {_AGAIN}", file=str(folder))
        place = folder / name
        if not place.is_file():  # nor a pipe, which would wait for a writer
            raise PackError(f"{folder} has no file {name!r}; {_AGAIN}", file=str(folder), code="damaged")
        size = place.stat().st_size
        if size != facts.size:
            raise PackError(
                f"{folder / name} has {size:,} bytes, where the manifest says {facts.size:,}; {_AGAIN}",
                file=str(folder / name),
                code="damaged",
            )
    sizes = {name: facts.size for name, facts in manifest.files.items()}
    for name, expected in _expected(sizes):
        if sizes.get(name) != expected * dtype_of(name).itemsize:
            raise PackError(f"{folder / name} does not fit to the other files; {_AGAIN}", file=str(folder / name))
    if changed := first_changed(folder, manifest.files):
        place = folder / changed
        raise PackError(f"{place} was changed after the pack was built; {_AGAIN}", file=str(place), code="damaged")


@contextmanager
def damage_as_error(folder: Path) -> Iterator[None]:
    """Turns errors from values outside the files of a pack into a `PackError`; `verifying.verify` finds the place.

    Raises:
        PackError: a value leads outside the files.
    """
    try:
        yield
    except (IndexError, ValueError, msgspec.MsgspecError):
        raise PackError(
            f"{folder} has values that cannot be; fascicle index verify says where, and {_AGAIN}",
            file=str(folder),
            code="damaged",
        ) from None


def _expected(sizes: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yields how many values each file must have, as far as it follows from the sizes of others."""

    def count(name: str) -> int:
        return sizes.get(name, 0) // dtype_of(name).itemsize

    concepts = count(layout.TYPE)
    for name in (layout.FACTS, layout.CURIES):
        yield f"{name}{OFFSETS}", concepts + 1
    for end in (HASHES, ROWS):
        yield f"{layout.CURIES}{end}", concepts
    for name in layout.CONCEPT_COLUMNS:
        yield name, concepts
    if layout.LEAD in sizes:
        yield layout.LEAD, concepts
    for starts, rows in (layout.PARENTS, layout.CHILDREN):
        yield starts, concepts + 1
        yield rows, count(layout.PARENTS[1])
    for name in (layout.TAXA, layout.RULES):
        yield f"{name}{BYTES}", count(f"{name}{BYTES}")
        yield f"{name}{OFFSETS}", max(count(f"{name}{OFFSETS}"), 2)
    for table in (layout.ACTIVE, layout.SILENT):
        own = {name: layout.in_table(table, name) for name in (*layout.COLUMNS, *layout.RULED, *layout.OF_CONCEPT)}
        terms, keys = count(own[layout.CONCEPT]), count(layout.in_table(table, layout.KEYS) + ROWS)
        yield from ((own[name], terms) for name in layout.COLUMNS)
        yield own[layout.OF_CONCEPT[0]], concepts + 1
        yield own[layout.OF_CONCEPT[1]], terms
        yield own[layout.RULED[1]], count(own[layout.RULED[0]])
        yield layout.in_table(table, layout.STARTS), keys + 1
        yield layout.in_table(table, layout.KEYS) + HASHES, keys
        if table == layout.SILENT:
            yield layout.in_table(table, layout.KEYS) + OFFSETS, keys + 1

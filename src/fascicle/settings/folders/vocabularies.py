"""Detection of dictionaries, term packs and linkers; their contents are read by ``terms``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from fascicle.errors import BROKEN, PackError
from fascicle.settings.folders.offered import offered_folder

PACK: Final = "manifest.json"  # description file of a term pack, with the hashes of all other files
LINKER: Final = "linker.json"  # description file of a linker
DEFAULT_LINKER: Final = "basic"  # its pack has the same name
AUTO: Final = "auto"  # instead of a linker: the default one, if it covers a type
_OF_PACKS: Final = ("tokens.table", "names.concept.u4")
_DICTIONARIES: Final = (".tsv", ".csv", ".txt")


def is_dictionary(path: str | os.PathLike[str]) -> bool:
    """True if a path is a file called ``.tsv``, ``.csv`` or ``.txt``, compressed or not."""
    place = Path(path).expanduser()
    return place.is_file() and place.name.lower().removesuffix(".gz").endswith(_DICTIONARIES)


def is_pack(path: str | os.PathLike[str]) -> bool:
    """True if a path is a term pack, perhaps a damaged one; other folders may contain a
    ``manifest.json`` too.

    It is true as well for the name of a pack that only an earlier release shipped: opening it says
    what to give.

    Args:
        path: see `find_pack`.
    """
    folder = find_pack(path)
    is_complete = (folder / PACK).is_file() and any((folder / name).is_file() for name in _OF_PACKS)
    return is_complete or (not folder.exists() and bool(newer_hint(folder)))


def shipped_packs() -> tuple[str, ...]:
    """Returns the names of the packs inside the package, each with its version, e.g.
    ``"basic@2"``.
    """
    return shipped_names("packs", PACK)


def find_pack(pack: str | os.PathLike[str]) -> Path:
    """Returns the folder of a pack: a shipped pack of that name, else the path, else a pack of
    another package.

    Args:
        pack: the name of a pack, with or without version (the newest is taken), or a folder.
            ``./NAME``, and any `Path`, is always a folder.
    """
    return _find_folder(pack, "packs", PACK)


def newer_hint(place: Path) -> str:
    """Returns what to do where the name of a pack that an earlier release shipped is no folder;
    empty for others.
    """
    name, _, version = place.name.partition("@")
    newer = [
        name_with_version
        for name_with_version in shipped_packs()
        if name_with_version.startswith(f"{name}@") and name_with_version != place.name
    ]
    if not newer or not version.isdigit():
        return ""
    return (
        f"; this release ships {newer[-1]} in place of {place.name}: give {name}, or a copy "
        "of the earlier folder"
    )


class _Types(msgspec.Struct):
    """Fields of a manifest that `pack_types` reads."""

    types: tuple[str, ...]


def pack_types(folder: Path) -> tuple[str, ...]:
    """Returns the types of a pack, without reading the rest.

    Raises:
        PackError: the manifest is damaged, or the pack is one that only an earlier release shipped.
    """
    if not folder.exists():
        raise PackError(
            f"there is no term pack at {folder}{newer_hint(folder)}",
            file=str(folder),
            code="not-found",
        )
    try:
        return msgspec.json.decode((folder / PACK).read_bytes(), type=_Types).types
    except (OSError, *BROKEN) as error:
        message = (
            f"{folder / PACK} is not the manifest of a term pack ({error}); copy the pack again"
        )
        raise PackError(message, file=str(folder)) from None


def shipped_linkers() -> tuple[str, ...]:
    """Returns the names of the linkers inside the package; each has the name of its pack, e.g.
    ``"basic@2"``.
    """
    return shipped_names("linkers", LINKER)


def find_linker(linker: str | os.PathLike[str]) -> Path:
    """Returns the folder of a linker: a shipped linker of that name, else the path; see
    `find_pack`.
    """
    return _find_folder(linker, "linkers", LINKER)


def shipped_names(folder: str, described: str) -> tuple[str, ...]:
    """Returns the names of what is inside the package, each with its version.

    Args:
        folder: of `assets`, or empty for `assets` itself.
        described: name of the file that each of them has.
    """
    return tuple(sorted(place.parent.name for place in (assets() / folder).glob(f"*/{described}")))


def _find_folder(path: str | os.PathLike[str], folder: str, described: str) -> Path:
    names = shipped_names(folder, described) if isinstance(path, str) else ()
    versions = versions_of(str(path), names)
    if not versions:
        place = Path(path).expanduser()
        if isinstance(path, str) and path == place.name and not place.exists():
            return offered_folder("fascicle.packs", path) or place
        return place
    return assets() / folder / newest_version(versions)


def versions_of(name: str, names: Iterable[str]) -> list[str]:
    """Returns the names, each with its version, that a name with or without version means."""
    return [each for each in names if name in (each, each.partition("@")[0])]


def newest_version(names: Iterable[str]) -> str:
    """Returns the name with the highest version."""
    return max(names, key=lambda name: int(name.partition("@")[2]))


def demo_pipeline() -> Path:
    """Returns the folder of the demonstration pipeline for services."""
    return assets() / "pipelines" / "demo"


def assets() -> Path:
    """Returns the folder of the package with the shipped files."""
    return Path(__file__).parents[2] / "assets"

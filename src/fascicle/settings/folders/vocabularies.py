"""How dictionaries and term packs are told from models; what is in them is the business of ``knowledge``."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from typing import Final

PACK: Final = "manifest.json"  # of a term pack; it has the hashes of all other files
_OF_PACKS: Final = ("tokens.table", "names.concept.u4")
_DICTIONARIES: Final = (".tsv", ".txt")


def is_dictionary(path: str | os.PathLike[str]) -> bool:
    """Whether this is a file that is called ``.tsv`` or ``.txt``, packed or not."""
    place = Path(path).expanduser()
    return place.is_file() and place.name.lower().removesuffix(".gz").endswith(_DICTIONARIES)


def is_pack(path: str | os.PathLike[str]) -> bool:
    """Whether this is a term pack, perhaps a damaged one: other folders may hold a ``manifest.json`` too.

    Args:
        path: see `find_pack`.
    """
    folder = find_pack(path)
    return (folder / PACK).is_file() and any((folder / name).is_file() for name in _OF_PACKS)


def shipped_packs() -> tuple[str, ...]:
    """Names of the packs inside the package, each with its version, e.g. ``"basic@1"``."""
    return tuple(sorted(place.parent.name for place in _packs().glob(f"*/{PACK}")))


def find_pack(pack: str | os.PathLike[str]) -> Path:
    """The folder of a pack: a shipped pack of that name, else the path.

    Args:
        pack: the name of a shipped pack, with or without version (the newest is taken), or a folder. ``./NAME``, and
            any `Path`, is always a folder.
    """
    versions = [name for name in shipped_packs() if pack in (name, name.partition("@")[0])]
    if not versions:
        return Path(pack).expanduser()
    return _packs() / max(versions, key=lambda name: int(name.partition("@")[2]))


def _packs() -> Path:
    return Path(str(resources.files("fascicle"))) / "assets" / "packs"

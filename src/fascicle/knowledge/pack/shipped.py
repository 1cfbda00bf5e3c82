"""Packs inside the package, which are found by name wherever the folder of a pack is given."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from fascicle.knowledge.pack.manifest import MANIFEST


def shipped_packs() -> tuple[str, ...]:
    """Names of the packs inside the package, each with its version, e.g. ``"basic@1"``."""
    return tuple(sorted(place.parent.name for place in _packs().glob(f"*/{MANIFEST}")))


def find_pack(pack: str | os.PathLike[str]) -> Path:
    """The folder of a pack: a shipped pack of that name, else the path (``./NAME`` is always a path).

    Args:
        pack: the name of a shipped pack, with or without version (the newest is taken), or a folder.
    """
    given = os.fspath(pack)
    versions = [name for name in shipped_packs() if given in (name, name.partition("@")[0])]
    if not versions:
        return Path(given)
    return _packs() / max(versions, key=lambda name: int(name.partition("@")[2]))


def _packs() -> Path:
    return Path(str(resources.files("fascicle"))) / "assets" / "packs"

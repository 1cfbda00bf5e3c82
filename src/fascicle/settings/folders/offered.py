"""Folders that other packages offer by their entry points, each as ``PACKAGE:FOLDER``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def offered_folder(group: str, name: str) -> Path | None:
    """Returns the folder that an installed package offers by a name, with or without its version
    ``@2``.

    Args:
        group: of entry points, such as ``"fascicle.packs"``.
        name: of the folder.

    Returns:
        That of the newest version; ``None`` if no package, or several, offer it.
    """
    # imported late: it takes milliseconds, and few runs need it
    from importlib.metadata import entry_points

    entries = [
        entry
        for entry in entry_points(group=group)
        if name in (entry.name, entry.name.partition("@")[0])
    ]
    newest = max((_version(entry.name) for entry in entries), default=0)
    values = {entry.value for entry in entries if _version(entry.name) == newest}
    return folder_of_package(values.pop()) if len(values) == 1 else None


def folder_of_package(value: str) -> Path | None:
    """Returns the folder inside a package that the value of an entry point names; no code of the
    package runs.
    """
    package, _, inside = value.partition(":")
    spec = find_spec(package) if package.isidentifier() else None
    places = (
        [Path(place) / inside for place in (spec.submodule_search_locations or ()) if inside]
        if spec
        else []
    )
    return next((place for place in places if place.is_dir()), None)


def _version(name: str) -> int:
    version = name.partition("@")[2]
    return int(version) if version.isdecimal() else 0

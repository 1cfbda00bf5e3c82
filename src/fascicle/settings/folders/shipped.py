"""Models inside the package, by their names."""

from __future__ import annotations

import os
from pathlib import Path

from fascicle.settings.folders.vocabularies import assets


def shipped_models() -> tuple[str, ...]:
    """Names of the models inside the package, each with its version, e.g. ``"biomed@2"``."""
    return tuple(sorted(p.parent.name for p in assets().glob("*/model.json")))


def shipped_versions(model: str | os.PathLike[str]) -> list[str]:
    """Returns the shipped models of a name, which may have a version."""
    return [name for name in shipped_models() if str(model) in (name, name.partition("@")[0])]


def find_shipped_model(model: str | os.PathLike[str]) -> Path | None:
    """Returns the folder of the newest shipped model of a name; ``None`` if there is none."""
    versions = shipped_versions(model)
    if not versions:
        return None
    return assets() / max(versions, key=lambda name: int(name.partition("@")[2]))

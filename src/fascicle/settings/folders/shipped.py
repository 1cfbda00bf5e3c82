"""Models inside the package, by their names."""

from __future__ import annotations

import os
from pathlib import Path

from fascicle.settings.folders.vocabularies import (
    assets,
    newest_version,
    shipped_names,
    versions_of,
)


def shipped_models() -> tuple[str, ...]:
    """Names of the models inside the package, each with its version, e.g. ``"biomed@3"``."""
    return shipped_names("", "model.json")


def shipped_versions(model: str | os.PathLike[str]) -> list[str]:
    """Returns the shipped models of a name, which may have a version."""
    return versions_of(str(model), shipped_models())


def find_shipped_model(model: str | os.PathLike[str]) -> Path | None:
    """Returns the folder of the newest shipped model of a name; ``None`` if there is none."""
    versions = shipped_versions(model)
    return assets() / newest_version(versions) if versions else None

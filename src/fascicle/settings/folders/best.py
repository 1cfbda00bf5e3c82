"""Model folders: of a training run, the folder of the model that it kept; detection of Hugging
Face checkpoints.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Final

from fascicle.settings.folders.described import FILTER, RELATIONS, TYPER
from fascicle.settings.folders.manifest import MANIFEST
from fascicle.settings.folders.vocabularies import PACK, is_pack
from fascicle.settings.recipes.ensemble import ENSEMBLE

_DESCRIPTIONS: Final = (ENSEMBLE, FILTER, MANIFEST, RELATIONS, TYPER)
_INSIDE: Final = ("best", "model")  # in the run of a recogniser or a filter, and of a span typer


def description_file(folder: Path) -> Path:
    """Returns the description file of a folder, which has the hashes of its files;
    ``model.json`` if there is none.
    """
    description = next(
        (folder / name for name in _DESCRIPTIONS if (folder / name).is_file()), folder / MANIFEST
    )
    return folder / PACK if not description.is_file() and is_pack(folder) else description


def is_unfinished(folder: Path) -> bool:
    """True if a folder is that of a training run that has not ended."""
    return (folder / "recipe.json").is_file() and not (folder / "scores.json").is_file()


def model_folder(folder: Path) -> Path:
    """Returns the folder of the model itself: for a run folder, that of the model that the run
    kept.

    Args:
        folder: folder of a model, a filter, a span typer, an ensemble, or a run; any other is
            returned unchanged.
    """
    inside = (folder / name for name in ("", *_INSIDE))
    return next((place for place in inside if description_file(place).is_file()), folder)


_HUB_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")  # owner and model


def is_checkpoint(model: str | os.PathLike[str]) -> bool:
    """True if a name is a Hugging Face checkpoint: a folder of one, or a name on the hub that is
    no path.
    """
    place = Path(model).expanduser()
    if not place.is_dir():
        is_path = place.exists() or place.parent.exists()
        return not is_path and _HUB_NAME.fullmatch(os.fspath(model)) is not None
    if description_file(model_folder(place)).is_file() or not (place / "config.json").is_file():
        return False
    try:
        config = json.loads((place / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    architectures = config.get("architectures") if isinstance(config, dict) else None
    return isinstance(architectures, list) and any(
        str(architecture).endswith("ForTokenClassification") for architecture in architectures
    )

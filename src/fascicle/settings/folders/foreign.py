"""Models of other tools: how a Hugging Face checkpoint for token classification is told from what is ours."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Final

from fascicle.settings.folders.best import described_by, model_folder

_HUB_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")  # of an owner and a model


def is_checkpoint(model: str | os.PathLike[str]) -> bool:
    """Whether a name is a Hugging Face checkpoint: a folder of one, or a name of the hub that is no path."""
    place = Path(model).expanduser()
    if not place.is_dir():
        is_path = place.exists() or place.parent.exists()
        return not is_path and _HUB_NAME.fullmatch(os.fspath(model)) is not None
    if described_by(model_folder(place)).is_file() or not (place / "config.json").is_file():
        return False
    try:
        said = json.loads((place / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    named = said.get("architectures") if isinstance(said, dict) else None
    return isinstance(named, list) and any(str(one).endswith("ForTokenClassification") for one in named)

"""What the folder of a run of a grid says of itself: how far it is, and whose it is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from fascicle.errors import OutputError
from fascicle.settings.recipes.any import AnyRecipe
from fascicle.training.experiments.hashes import data_hashes, recipe_hash, recipe_of

State = Literal["done", "complete", "interrupted", "new", "waiting", "unable"]


def conflict_message(folder: Path) -> str:
    """Returns the message for a run folder with another recipe or other data."""
    return (
        f"{folder} holds a run of another recipe or of other data than the grid says; move it away, or give another "
        "runs=FOLDER"
    )


def state_of(folder: Path, recipe: AnyRecipe, *, own: str) -> State:
    """Determines the state of a run folder; compares its recipe and data hashes with those of the recipe.

    Raises:
        OutputError: it is damaged.
    """
    if not (folder / "recipe.json").exists():
        return "new"
    try:
        there = recipe_of(folder)
    except OutputError:
        return "unable"
    facts = json_object(folder / "run.json").get("data")
    # A run that was killed before it had read its corpora has used no data, and will use the current ones.
    data = {name: of["sha256"] for name, of in facts.items()} if facts else data_hashes(recipe)
    if recipe_hash(there, data) != own:
        return "unable"
    return "complete" if (folder / "scores.json").exists() else "interrupted"


def last_epoch(folder: Path) -> int:
    """Returns the last complete epoch of a run folder; 0 before the first."""
    return max((int(line.get("epoch", 0)) for line in metrics_of(folder)), default=0)


def metrics_of(folder: Path) -> list[dict[str, Any]]:
    """Reads the lines of ``metrics.jsonl`` of a run folder.

    Raises:
        OutputError: it is damaged.
    """
    path = folder / "metrics.jsonl"
    return _objects(path, path.read_bytes().splitlines()) if path.exists() else []


def json_object(path: Path) -> dict[str, Any]:
    """Reads the object in a JSON file of a run folder; empty if the file does not exist.

    Raises:
        OutputError: it holds anything else.
    """
    return _objects(path, [path.read_bytes()])[0] if path.exists() else {}


def _objects(path: Path, texts: Iterable[bytes]) -> list[dict[str, Any]]:
    """Parses the JSON objects of a file of a run folder.

    Raises:
        OutputError: it holds anything else.
    """
    try:
        return [msgspec.json.decode(text, type=dict[str, Any]) for text in texts]
    except msgspec.MsgspecError:
        raise OutputError(
            f"the run folder {path.parent} is damaged: {path.name} is no JSON; move the folder away, and the run is "
            "trained anew"
        ) from None

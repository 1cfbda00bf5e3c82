"""What the folder of a run of a grid says of itself: how far it is, and whose it is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from fascicle.errors import OutputError
from fascicle.experiments.hashes import data_hashes, recipe_hash, recipe_of
from fascicle.settings.recipes.any import AnyRecipe

State = Literal["done", "complete", "interrupted", "new", "waiting", "unable"]


def in_the_way(folder: Path) -> str:
    """Why a run cannot be begun in a folder."""
    return (
        f"{folder} holds a run of another recipe or of other data than the grid says; move it away, or give another "
        "runs=FOLDER"
    )


def state_of(folder: Path, recipe: AnyRecipe, *, own: str) -> State:
    """How far a run folder is, and whether it is that of the recipe: by its own account of recipe and data.

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
    # Killed before it had read its corpora, a run has seen no data, and will see those of today.
    data = {name: of["sha256"] for name, of in facts.items()} if facts else data_hashes(recipe)
    if recipe_hash(there, data) != own:
        return "unable"
    return "complete" if (folder / "scores.json").exists() else "interrupted"


def last_epoch(folder: Path) -> int:
    """The last complete epoch of a run folder; 0 before the first."""
    return max((int(line.get("epoch", 0)) for line in metrics_of(folder)), default=0)


def metrics_of(folder: Path) -> list[dict[str, Any]]:
    """The lines of ``metrics.jsonl`` of a run folder.

    Raises:
        OutputError: it is damaged.
    """
    path = folder / "metrics.jsonl"
    return _objects(path, path.read_bytes().splitlines()) if path.exists() else []


def json_object(path: Path) -> dict[str, Any]:
    """The object in a file of a run folder; empty if it is not there.

    Raises:
        OutputError: it holds anything else.
    """
    return _objects(path, [path.read_bytes()])[0] if path.exists() else {}


def _objects(path: Path, texts: Iterable[bytes]) -> list[dict[str, Any]]:
    """The JSON objects of a file of a run folder.

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

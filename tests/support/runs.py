"""Runs of tests: trained to their end, and what their folders say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fascicle.training.run import run_recipe


def finish(recipe: Any, folder: Path, *, resume: bool = False) -> list[Any]:
    """The events of a run of any kind."""
    return list(run_recipe(recipe, folder, resume=resume))


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run, without times."""
    lines = [
        json.loads(line)
        for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]

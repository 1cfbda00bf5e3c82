"""Makes the runs of a grid that differ from a complete run in their decision alone: their training is the same.

usage: python benchmarks/tune_runs.py GRID --runs FOLDER

The folder of the complete run is copied, less its end; ``fascicle bench`` with the same ``--runs`` then makes that end.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import msgspec

from fascicle.recipe.settings import DecisionSettings, Recipe
from fascicle.train.grid import GridRun, read_grid
from fascicle.train.run import recipe_text


def main() -> None:
    """Parses, copies."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("grid")
    parser.add_argument("--runs", type=Path, required=True)
    args = parser.parse_args()
    runs = read_grid(args.grid).runs
    plain = {training_of(run.recipe): run for run in runs if run.recipe.decision.tune == "no"}
    for run in runs:
        twin = plain.get(training_of(run.recipe))
        if run.recipe.decision.tune != "no" and twin is not None:
            copy_without_end(twin, run, args.runs)


def training_of(recipe: Recipe) -> str:
    """Everything of a recipe that decides its training."""
    same = msgspec.structs.replace(recipe, name="any", decision=DecisionSettings())
    return msgspec.json.encode(same).decode("utf-8")


def copy_without_end(twin: GridRun, run: GridRun, runs: Path) -> None:
    """The folder of a complete run under another name, ready to be resumed."""
    source, target = runs / twin.name, runs / run.name
    if target.exists() or not (source / "scores.json").exists():
        return
    shutil.copytree(source, target)
    ended = [target / "scores.json", *(target / "predictions" / f"{part}.tsv" for part in ("dev", "test"))]
    for path in ended:
        path.unlink(missing_ok=True)
    (target / "recipe.json").write_text(recipe_text(run.resolved()), encoding="utf-8")
    print(json.dumps({"trained": twin.name, "to be decided anew": run.name}))


if __name__ == "__main__":
    main()

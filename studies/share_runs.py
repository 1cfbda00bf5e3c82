"""Makes the runs of a grid whose training is that of a complete run, and only their end is another.

usage: python -m studies.share_runs GRID --runs FOLDER [--of GRID2 --in FOLDER2]

Such runs differ in their decision alone (``decision.tune``), or name no test part. The folder of
the complete run is copied, less its end; ``fascicle bench`` with the same ``--runs`` then makes
that end.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import msgspec

from fascicle.settings.recipes.recogniser import DecisionSettings, Recipe
from fascicle.training.engine.folder import recipe_text
from fascicle.training.experiments.grid import GridRun, read_grid


def main() -> None:
    """Parses, copies."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("grid")
    parser.add_argument("--runs", type=Path, required=True, help="the run folders of the grid")
    parser.add_argument("--of", help="the grid whose runs are copied; default: the same")
    parser.add_argument(
        "--in", dest="place", type=Path, help="the run folders of that; default: the same"
    )
    args = parser.parse_args()
    place = args.place or args.runs
    sources = read_grid(args.of or args.grid).runs
    trained = {
        training_of(run): run for run in sources if (place / run.name / "scores.json").exists()
    }
    for run in read_grid(args.grid).runs:
        twin = trained.get(training_of(run))
        if (
            twin is not None
            and not (args.runs / run.name).exists()
            and covers(twin.recipe, run.recipe)
        ):
            copy_without_end(place / twin.name, args.runs / run.name, run)


def training_of(run: GridRun) -> str:
    """Everything of a recipe that decides its training."""
    recipe = run.resolved()
    corpus = msgspec.structs.replace(recipe.corpus, test="") if recipe.corpus else recipe.corpus
    same = msgspec.structs.replace(recipe, name="any", decision=DecisionSettings(), corpus=corpus)
    return msgspec.json.encode(same).decode("utf-8")


def covers(twin: Recipe, recipe: Recipe) -> bool:
    """Whether a run has looked at all data that another one needs."""
    return bool(_test(twin)) or not _test(recipe)


def _test(recipe: Recipe) -> str:
    return recipe.corpus.test if recipe.corpus else ""


def copy_without_end(source: Path, target: Path, run: GridRun) -> None:
    """The folder of a complete run under another name, ready to be resumed."""
    shutil.copytree(source, target)
    for path in (
        target / "scores.json",
        *(p for part in ("dev", "test") for p in target.glob(f"predictions/{part}.*")),
    ):
        path.unlink(missing_ok=True)
    (target / "recipe.json").write_text(recipe_text(run.resolved()), encoding="utf-8")
    facts = json.loads((target / "run.json").read_text(encoding="utf-8"))
    if not _test(run.recipe):
        facts["data"].pop("test", None)
    (target / "run.json").write_text(
        json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    print(json.dumps({"trained": source.name, "ended anew": run.name}))


if __name__ == "__main__":
    main()

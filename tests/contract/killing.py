"""Trains one recipe again and again, and kills it at another moment each time; a program of its own.

``python killing.py RECIPE.json KIND FOLDER``: run ``k`` ends with SIGKILL before its k-th change of a name. What that
leaves is copied to ``FOLDER/killed-K``; then the run goes on in ``FOLDER/run-K``, until one ends unharmed.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import torch

from fascicle.settings.recipes.distil import DistilRecipe
from fascicle.settings.recipes.filter import FilterRecipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.recipes.typer import TyperRecipe
from fascicle.training.run import run_recipe

KINDS = {kind.__name__: kind for kind in (Recipe, DistilRecipe, FilterRecipe, TyperRecipe)}
CHANGES = {"os.rename", "shutil.rmtree"}


def in_a_process_of_its_own(what: Callable[[], object]) -> int:
    """Returns how it ended: 0, or the number of a signal, negative."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            what()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_before(change: int, folder: Path) -> None:
    """Lets this process die before a change of a name in a folder, counted from 0."""
    left = [change]

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if event in CHANGES and str(arguments[0]).startswith(str(folder)):
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1

    sys.addaudithook(watch)


def train(recipe: Recipe | DistilRecipe | FilterRecipe | TyperRecipe, folder: Path) -> None:
    torch.manual_seed(12345)  # whatever else the process did
    complete = (folder / "scores.json").exists()
    resume = (folder / "recipe.json").exists()
    if folder.exists() and not resume:
        shutil.rmtree(folder)
    if not complete:
        list(run_recipe(recipe, folder, resume=resume))


def main() -> None:
    torch.set_num_threads(1)
    recipe = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=KINDS[sys.argv[2]])
    if not isinstance(recipe, TyperRecipe):
        from fascicle.models.encoder import load_pretrained

        named = recipe.teacher if isinstance(recipe, DistilRecipe) else recipe.model
        load_pretrained(named.encoder)  # so that the children need not import what this does
    for change in range(200):
        folder = Path(sys.argv[3]) / f"run-{change}"

        def first(folder: Path = folder, change: int = change) -> None:
            killed_before(change, folder)
            train(recipe, folder)

        ended = in_a_process_of_its_own(first)
        if ended == 0:
            shutil.rmtree(folder)
            return
        assert ended == -signal.SIGKILL, ended
        shutil.copytree(folder, folder.with_name(f"killed-{change}"))
        assert in_a_process_of_its_own(lambda folder=folder: train(recipe, folder)) == 0
    raise AssertionError("the run never ends")


if __name__ == "__main__":
    main()

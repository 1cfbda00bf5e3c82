"""Trains one recipe, and lets it go on from what a kill would leave, at every moment; a program of
its own.

``python killing.py RECIPE.json KIND FOLDER``: one run copies its folder to ``FOLDER/killed-K``
before its k-th change of a name; a kill leaves the same, for the system keeps what a process has
written and drops what is in its buffers. Some runs do end with SIGKILL there; what they leave has
the names and weights of the copy, and takes its place. Each then goes on in ``FOLDER/run-K``.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from itertools import count
from pathlib import Path

import msgspec
import torch

from fascicle.settings.recipes.any import AnyRecipe
from fascicle.settings.recipes.distil import DistilRecipe
from fascicle.settings.recipes.filter import FilterRecipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.recipes.typer import TyperRecipe
from fascicle.training.run import run_recipe

KINDS = {kind.__name__: kind for kind in (Recipe, DistilRecipe, FilterRecipe, TyperRecipe)}
CHANGES = {"os.rename", "shutil.rmtree"}
REAL = 10  # one of so many ends with a kill


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


def before_changes(do: Callable[[int], None], folder: Path) -> None:
    """Lets something happen before every change of a name in a folder; they are counted from 0."""
    done, inside = count(), f"{folder}{os.sep}"

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if event in CHANGES and str(arguments[0]).startswith(inside):
            do(next(done))

    sys.addaudithook(watch)


def copied(recipe: AnyRecipe, folder: Path) -> None:
    """Trains in ``run``, and copies what there is before every change to ``killed-0``,
    ``killed-1``, ...
    """
    before_changes(
        lambda k: shutil.copytree(folder / "run", folder / f"killed-{k}"), folder / "run"
    )
    train(recipe, folder / "run")


def killed(recipe: AnyRecipe, folder: Path, change: int) -> None:
    """Trains in ``real-K``, and dies before a change."""

    def end(k: int) -> None:
        if k == change:
            os.kill(os.getpid(), signal.SIGKILL)

    before_changes(end, folder / f"real-{change}")
    train(recipe, folder / f"real-{change}")


def seen(folder: Path) -> dict[str, str]:
    """What a folder holds under its final names, and the weights by their hashes; the rest tells
    times.
    """
    paths = (path.relative_to(folder) for path in folder.rglob("*"))
    return {
        str(path): sha256((folder / path).read_bytes()).hexdigest()
        if path.suffix == ".safetensors"
        else ""
        for path in paths
        if not any(part.endswith((".fascicle-tmp", ".fascicle-old")) for part in path.parts)
    }


def train(recipe: AnyRecipe, folder: Path) -> None:
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
    folder = Path(sys.argv[3])
    copied(recipe, folder)  # in this process, so that no other need import what it did
    for change in range(len(list(folder.glob("killed-*")))):
        copy, goes_on = folder / f"killed-{change}", folder / f"run-{change}"
        if change % REAL == REAL // 2:
            ended = in_a_process_of_its_own(partial(killed, recipe, folder, change))
            assert ended == -signal.SIGKILL, ended
            assert seen(folder / f"real-{change}") == seen(copy), change
            shutil.rmtree(copy)
            (folder / f"real-{change}").rename(copy)
        shutil.copytree(copy, goes_on)
        assert in_a_process_of_its_own(partial(train, recipe, goes_on)) == 0


if __name__ == "__main__":
    main()

"""Command ``fascicle train``: trains a model from a recipe to a run folder."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from fascicle.core.progress import NOW_AND_THEN
from fascicle.errors import RecipeError
from fascicle.settings.recipes.any import AnyRecipe, changed, kind_of, read_recipe
from fascicle.settings.recipes.strict import merged, read_toml
from fascicle.verbs.console import log, needs_extra
from fascicle.verbs.messages import say
from fascicle.verbs.options import THREADS, fills, natural, option, reads
from fascicle.verbs.trained_text import end_text

if TYPE_CHECKING:
    from fascicle.training.engine.events import Ended, RunEvent, Validated


class Options:
    """Options of ``fascicle train``.

    In Python: ``fascicle.train("recipe.toml", "runs/mine")``

    Attributes:
        recipe: the recipe.
        output: the run folder; default: runs/NAME-sSEED.
        seed: in place of the seed of the recipe.
        set: a setting in place of that of the recipe, e.g. training.batch_size=8; may be repeated; values are TOML,
            paths start at the current folder; the run folder keeps the changed recipe.
        resume: resume from the last checkpoint.
        json: print the scores as JSON.
    """

    recipe: str = option("RECIPE.toml", reads)
    output: str | None = option("-o --output OUTPUT", fills)
    seed: int | None = option("--seed N", natural)
    set: list[str] = option("--set KEY=VALUE ...")
    resume: bool = option("--resume")
    threads: int | None = THREADS
    json: bool = option("--json")


def run(args: Options) -> int:
    """Trains the model of a recipe; returns the exit code."""
    recipe = read_recipe(args.recipe, changes=args.set)
    if args.seed is not None:
        recipe = msgspec.structs.replace(recipe, seed=args.seed)
    folder = Path(args.output) if args.output else None
    ended = _trained(recipe, folder, resume=args.resume, threads=args.threads)
    if args.json:
        sys.stdout.write(json.dumps({"folder": str(ended.folder), **ended.as_dict()}) + "\n")
    shown = end_text(ended, recipe)
    sys.stdout.write("" if args.json else shown.scores)
    for line in shown.notes:
        say(line)
    return 0


def run_kind(args: Options, *, kind: str, table: str, aim: str) -> int:
    """Trains for a command that accepts one kind of recipe; returns the exit code.

    Args:
        args: of the command.
        kind: of its recipes, see ``settings.recipes.any.kind_of``.
        table: required table of such a recipe.
        aim: purpose of the table, after "nothing to".

    Raises:
        RecipeError: the recipe is of another kind.
    """
    values = merged(read_toml(Path(args.recipe)), changed(args.set))
    found = kind_of(values)
    if found != kind and table in values:
        right = {"distil": "distill", "pretraining": "pretrain"}.get(found, "train")
        raise RecipeError(
            f"the recipe has a table [{table}], but is one of another training ({found}); use fascicle {right}",
            at=args.recipe,
        )
    if found != kind:
        raise RecipeError(
            f"the recipe has no table [{table}], so there is nothing to {aim}; add one, or use fascicle train",
            at=args.recipe,
        )
    return run(args)


def _trained(recipe: AnyRecipe, folder: Path | None, *, resume: bool, threads: int | None) -> Ended:
    with needs_extra("train"):
        from tqdm import tqdm

        from fascicle.training.run import train_recipe
    terminal = sys.stderr.isatty()
    with tqdm(unit="step", file=sys.stderr, disable=not terminal, leave=False, dynamic_ncols=True) as bar:
        return train_recipe(recipe, folder, resume=resume, threads=threads, listen=Watch(bar))


class Watch:
    """Shows the progress of training: a bar on a terminal, a line now and then in a log, and a line at each score."""

    def __init__(self, bar: Any, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Starts the clock.

        Args:
            bar: of tqdm; one that is disabled shows nothing, and then lines are written.
            clock: returns the time in seconds.
        """
        self._bar, self._clock, self._said = bar, clock, clock()

    def __call__(self, event: RunEvent) -> None:
        """Moves the progress bar, or writes a line above it."""
        from fascicle.training.engine.events import Note, Validated
        from fascicle.training.engine.loop import StepDone

        if isinstance(event, StepDone):
            self._bar.total = event.steps or self._bar.total
            self._bar.update(event.step - self._bar.n)
            if self._bar.disable and self._clock() - self._said >= NOW_AND_THEN:
                self._log(f"{event.place}: loss {event.loss:.4f}")
        elif isinstance(event, Validated):
            self._bar.total = event.steps
            self._log(_line(event))
        elif isinstance(event, Note):
            log(self._bar, event.text)

    def _log(self, line: str) -> None:
        self._said = self._clock()
        log(self._bar, line)


def _line(event: Validated) -> str:
    best = ", best so far" if event.best else ""
    place = "" if event.at_end_of_epoch else f", step {event.step}"
    facts = f"loss {event.loss:.4f}, {event.figures}, {event.seconds:.0f} s{best}"
    return f"epoch {event.epoch}/{event.epochs}{place}: {facts}"

"""``fascicle train`` with a recipe of a filter: predictions of several systems to a run folder."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from fascicle.commands.console import log, needs_extra, say
from fascicle.core.wording import counted
from fascicle.errors import InputError
from fascicle.formats.tree import is_there
from fascicle.recipe.filter import FilterRecipe
from fascicle.recipe.filter_reader import read_filter_recipe

if TYPE_CHECKING:
    from fascicle.train.filter_events import FilterEpoch, FilterFinished

_NAMES = {"kept": "kept", "half": "kept from 0.5 on", "union": "union"}


def run(args: argparse.Namespace) -> int:
    """Trains a filter; returns the exit code.

    Args:
        args: of ``commands/train.py``.
    """
    recipe = read_filter_recipe(args.recipe)
    if args.seed is not None:
        recipe = msgspec.structs.replace(recipe, seed=args.seed)
    for key, path in recipe.files().items():
        if not is_there(path):
            raise InputError(f"{key} of the recipe is {path}, which does not exist; correct the path")
    folder = Path(args.output or Path("runs") / f"{recipe.name}-s{recipe.seed}")
    finished = _train(recipe, folder, resume=args.resume)
    sys.stdout.write(_as_json(finished) if args.json else "\n".join(_lines(finished)) + "\n")
    say(f"the filter is {folder}; fascicle combine meta PRED... --filter {folder} --texts FILE -o OUT uses it")
    return 0


def _train(recipe: FilterRecipe, folder: Path, *, resume: bool) -> FilterFinished:
    with needs_extra("train"):
        from tqdm import tqdm

        from fascicle.train.events import Note
        from fascicle.train.filter_events import FilterEpoch, FilterFinished
        from fascicle.train.filter_run import run_filter
        from fascicle.train.loop import StepDone
    terminal = sys.stderr.isatty()
    with tqdm(unit="step", file=sys.stderr, disable=not terminal, leave=False, dynamic_ncols=True) as bar:
        for event in run_filter(recipe, folder, resume=resume):
            if isinstance(event, StepDone):
                bar.total = bar.total or int(json.loads((folder / "run.json").read_text(encoding="utf-8"))["steps"])
                bar.update(event.step - bar.n)
            elif isinstance(event, FilterFinished):
                return event
            elif isinstance(event, FilterEpoch):
                log(bar, _epoch_line(event))
            elif isinstance(event, Note):
                log(bar, event.text)
    raise AssertionError("a run ends with its scores")


def _epoch_line(event: FilterEpoch) -> str:
    best = ", best so far" if event.best else ""
    return (
        f"epoch {event.epoch}/{event.epochs}: loss {event.loss:.4f}, held-out accuracy "
        f"{100 * event.held_out.accuracy:.2f} F1 {100 * event.held_out.f1:.2f}, {event.seconds:.0f} s{best}"
    )


def _lines(finished: FilterFinished) -> Iterator[str]:
    judged = finished.held_out
    yield (
        f"held out (epoch {finished.epoch}): accuracy {100 * judged.accuracy:.2f}, F1 {100 * judged.f1:.2f}, rejected "
        f"{judged.tn:,} of {judged.tn + judged.fp:,} incorrect and {judged.fn:,} of {judged.fn + judged.tp:,} correct"
    )
    threshold = finished.threshold
    if not threshold.documents:
        yield f"kept is what has a probability of at least {threshold.value:g}; nothing was chosen"
        return
    yield (
        f"kept is what has a probability of at least {threshold.value:g}, chosen for {threshold.aim} on "
        f"{counted(threshold.documents, 'document')} of dev; there:"
    )
    for name, row in finished.scores.items():
        rates = " ".join(
            f"{short} {100 * row[key]:.2f}" for short, key in (("P", "precision"), ("R", "recall"), ("F1", "f1"))
        )
        yield f"  {_NAMES.get(name, name)}: {rates}"


def _as_json(finished: FilterFinished) -> str:
    from fascicle.train.filter_session import as_dict

    return json.dumps({"folder": str(finished.folder), **as_dict(finished)}) + "\n"

"""``fascicle train``: a recipe to a run folder."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from fascicle.commands import train_filter
from fascicle.commands.console import log, needs_extra, say
from fascicle.commands.parsing import add_json, add_threads, natural
from fascicle.commands.places import fills, reads
from fascicle.evaluate.table import table
from fascicle.recipe.filter_reader import is_filter_recipe
from fascicle.recipe.reader import read_recipe
from fascicle.recipe.settings import Recipe

if TYPE_CHECKING:
    from fascicle.train.events import EpochScored, Finished, HeadScores

HELP = "train a model, or a filter over the predictions of several, as a recipe says"


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument("recipe", type=reads, metavar="RECIPE.toml", help="the recipe")
    parser.add_argument("-o", "--output", type=fills, help="the run folder; default: runs/NAME-sSEED")
    parser.add_argument("--seed", type=natural, metavar="N", help="in place of the seed of the recipe")
    parser.add_argument("--resume", action="store_true", help="go on where dev was scored last")
    add_threads(parser)
    add_json(parser, what="the scores")


def run(args: argparse.Namespace) -> int:
    """Trains; returns the exit code."""
    if args.threads is not None:
        with needs_extra("train"):
            import torch

        torch.set_num_threads(args.threads)
    if is_filter_recipe(args.recipe):
        return train_filter.run(args)
    recipe = read_recipe(args.recipe)
    if args.seed is not None:
        recipe = msgspec.structs.replace(recipe, seed=args.seed)
    folder = Path(args.output or Path("runs") / f"{recipe.name}-s{recipe.seed}")
    finished = _train(recipe, folder, resume=args.resume)
    sys.stdout.write(_as_json(finished) if args.json else _as_text(finished, weak=bool(recipe.distant)))
    for text in filter(None, map(_fitted, (finished.answer, *finished.others))):
        say(text)
    say(f"the model is {folder / 'best'}; fascicle annotate --model {folder / 'best'} uses it")
    for other in finished.others:
        say(f"the same for the head {other.head} is {folder / f'best-{other.head}'}")
    return 0


def _train(recipe: Recipe, folder: Path, *, resume: bool) -> Finished:
    with needs_extra("train"):
        from tqdm import tqdm

        from fascicle.train.corpus import check_data
        from fascicle.train.events import EpochScored, Finished, Note
        from fascicle.train.loop import StepDone
        from fascicle.train.run import run_recipe
    check_data(recipe)
    terminal = sys.stderr.isatty()
    with tqdm(unit="step", file=sys.stderr, disable=not terminal, leave=False, dynamic_ncols=True) as bar:
        for event in run_recipe(recipe, folder, resume=resume):
            if isinstance(event, StepDone):
                bar.total = bar.total or _steps(folder, recipe)
                bar.update(event.step - bar.n)
            elif isinstance(event, Finished):
                return event
            elif isinstance(event, EpochScored):
                log(bar, _epoch_line(event))
            elif isinstance(event, Note):
                log(bar, event.text)
    raise AssertionError("a run ends with its scores")


def _epoch_line(event: EpochScored) -> str:
    rates, best = event.dev.micro, ", best so far" if event.best else ""
    others = "".join(f", {other.head} F1 {100 * other.dev.micro.f1:.2f}" for other in event.others)
    place = "" if event.at_end_of_epoch else f", step {event.step}"
    return (
        f"epoch {event.epoch}/{event.epochs}{place}: loss {event.loss:.4f}, dev P {100 * rates.precision:.2f} "
        f"R {100 * rates.recall:.2f} F1 {100 * rates.f1:.2f}{others}, {event.seconds:.0f} s{best}"
    )


def _steps(folder: Path, recipe: Recipe) -> int:
    """Steps of the whole run, for the bar."""
    windows = int(json.loads((folder / "run.json").read_text(encoding="utf-8"))["windows"])
    batches = -(-windows // recipe.training.batch_size)
    return -(-batches // recipe.training.accumulation) * recipe.training.epochs


def _as_text(finished: Finished, *, weak: bool) -> str:
    against = " against the labels of the dictionary" if weak else ""
    parts = list(_tables(finished.answer, "", against))
    for other in finished.others:
        parts += _tables(other, f" by {other.head}", against)
    return "\n".join(parts)


def _tables(scores: HeadScores, who: str, against: str) -> Iterator[str]:
    yield f"dev{who}{against} (epoch {scores.epoch})\n{table(scores.dev)}"
    if scores.test is not None:
        yield f"test{who}\n{table(scores.test)}"


def _fitted(scores: HeadScores) -> str:
    """What was fitted on dev, as a sentence; empty if nothing was."""
    if not scores.tuned:
        return ""
    chosen, tried = scores.tuned["nothing"], [float(value) for value in scores.tuned["dev_f1_by_nothing"]]
    edge = "; it is the end of what was tried" if chosen in (min(tried), max(tried)) else ""
    return f"decision.nothing = {chosen:g} for the head {scores.head}, fitted on dev{edge}"


def _as_json(finished: Finished) -> str:
    value: dict[str, Any] = {"folder": str(finished.folder), **finished.answer.as_dict()}
    if finished.others:
        value["others"] = {other.head: other.as_dict() for other in finished.others}
    return json.dumps(value) + "\n"

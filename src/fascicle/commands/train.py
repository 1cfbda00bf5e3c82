"""``fascicle train``: a recipe to a run folder."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from fascicle.commands.console import needs_extra, say
from fascicle.commands.parsing import add_json, add_threads, natural
from fascicle.errors import InputError
from fascicle.evaluate.table import table
from fascicle.formats.tree import is_there
from fascicle.recipe.reader import read_recipe
from fascicle.recipe.settings import Recipe

if TYPE_CHECKING:
    from fascicle.train.events import EpochScored, Finished

HELP = "train a model as a recipe says"


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    parser.add_argument("recipe", metavar="RECIPE.toml", help="the recipe")
    parser.add_argument("-o", "--output", help="the run folder; default: runs/NAME-sSEED")
    parser.add_argument("--seed", type=natural, metavar="N", help="in place of the seed of the recipe")
    parser.add_argument("--resume", action="store_true", help="go on after the last complete epoch")
    add_threads(parser)
    add_json(parser, what="the scores")


def run(args: argparse.Namespace) -> int:
    """Trains; returns the exit code."""
    recipe = read_recipe(args.recipe)
    if args.seed is not None:
        recipe = msgspec.structs.replace(recipe, seed=args.seed)
    _check_corpus(recipe)
    folder = Path(args.output or Path("runs") / f"{recipe.name}-s{recipe.seed}")
    if args.threads is not None:
        with needs_extra("train"):
            import torch

        torch.set_num_threads(args.threads)
    fresh = not folder.exists()
    try:
        finished = _train(recipe, folder, resume=args.resume)
    except Exception:
        # A run that never trained is no run: its folder would only refuse the next attempt.
        if fresh and not (folder / "metrics.jsonl").exists():
            shutil.rmtree(folder, ignore_errors=True)
        raise
    sys.stdout.write(_as_json(finished) if args.json else _as_text(finished))
    say(f"the model is {folder / 'best'}; fascicle annotate --model {folder / 'best'} uses it")
    for other in finished.others:
        say(f"the same for the head {other.head} is {folder / f'best-{other.head}'}")
    return 0


def _train(recipe: Recipe, folder: Path, *, resume: bool) -> Finished:
    with needs_extra("train"):
        from tqdm import tqdm

        from fascicle.train.events import EpochScored, Finished, Note
        from fascicle.train.loop import StepDone
        from fascicle.train.run import run_recipe
    terminal = sys.stderr.isatty()
    with tqdm(unit="step", file=sys.stderr, disable=not terminal, leave=False, dynamic_ncols=True) as bar:
        for event in run_recipe(recipe, folder, resume=resume):
            if isinstance(event, StepDone):
                bar.total = bar.total or _steps(folder, recipe)
                bar.update(event.step - bar.n)
            elif isinstance(event, Finished):
                return event
            elif isinstance(event, EpochScored):
                _log(bar, _epoch_line(event))
            elif isinstance(event, Note):
                _log(bar, event.text)
    raise AssertionError("a run ends with its scores")


def _log(bar: Any, line: str) -> None:
    if bar.disable:
        say(line)
    else:
        bar.write(f"fascicle: {line}", file=sys.stderr)


def _epoch_line(event: EpochScored) -> str:
    rates, best = event.dev.micro, ", best so far" if event.best else ""
    others = "".join(f", {other.head} F1 {100 * other.dev.micro.f1:.2f}" for other in event.others)
    return (
        f"epoch {event.epoch}/{event.epochs}: loss {event.loss:.4f}, dev P {100 * rates.precision:.2f} "
        f"R {100 * rates.recall:.2f} F1 {100 * rates.f1:.2f}{others}, {event.seconds:.0f} s{best}"
    )


def _steps(folder: Path, recipe: Recipe) -> int:
    """Steps of the whole run, for the bar."""
    windows = int(json.loads((folder / "run.json").read_text(encoding="utf-8"))["windows"])
    batches = -(-windows // recipe.training.batch_size)
    return -(-batches // recipe.training.accumulation) * recipe.training.epochs


def _check_corpus(recipe: Recipe) -> None:
    for part in ("train", "dev", "test"):
        path = getattr(recipe.corpus, part)
        if path and not is_there(path):
            raise InputError(f"corpus.{part} of the recipe is {path}, which does not exist; correct the path")


def _as_text(finished: Finished) -> str:
    parts = [f"dev (epoch {finished.epoch})\n{table(finished.dev)}"]
    if finished.test is not None:
        parts.append(f"test\n{table(finished.test)}")
    for other in finished.others:
        parts.append(f"dev by {other.head} (epoch {other.epoch})\n{table(other.dev)}")
        if other.test is not None:
            parts.append(f"test by {other.head}\n{table(other.test)}")
    return "\n".join(parts)


def _as_json(finished: Finished) -> str:
    value: dict[str, Any] = {
        "folder": str(finished.folder),
        "epoch": finished.epoch,
        "dev": finished.dev.as_dict(),
        "test": finished.test.as_dict() if finished.test is not None else None,
    }
    if finished.others:
        value["others"] = {other.head: other.as_dict() for other in finished.others}
    return json.dumps(value) + "\n"

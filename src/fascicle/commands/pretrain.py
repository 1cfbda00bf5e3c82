"""``fascicle pretrain``: an encoder learns from raw text."""

from __future__ import annotations

import argparse
from pathlib import Path

from fascicle.commands import train
from fascicle.errors import RecipeError
from fascicle.settings.recipes.any import changed, kind_of
from fascicle.settings.recipes.strict import merged, read_toml


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    train.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Trains; returns the exit code.

    Raises:
        RecipeError: the recipe is of something else.
    """
    given = merged(read_toml(Path(args.recipe)), changed(args.set))
    if kind_of(given) != "pretraining":
        raise RecipeError(
            "the recipe has no table [text], so there is nothing to pretrain on; add one, or use fascicle train",
            at=args.recipe,
        )
    return train.run(args)

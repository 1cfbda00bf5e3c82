"""``fascicle distill``: a small network learns from a large one."""

from __future__ import annotations

import argparse

from fascicle.commands import train
from fascicle.errors import RecipeError
from fascicle.settings.recipes.any import read_recipe
from fascicle.settings.recipes.distil import DistilRecipe


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=run)
    train.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Trains; returns the exit code.

    Raises:
        RecipeError: the recipe is of something else.
    """
    if not isinstance(read_recipe(args.recipe, changes=args.set), DistilRecipe):
        raise RecipeError(
            "the recipe has no table [teacher], so there is nothing to imitate; add one, or use fascicle train",
            at=args.recipe,
        )
    return train.run(args)

"""Training runs of every kind: from a recipe to a run folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec

from fascicle.core.arguments import AnyPath, validate_arguments
from fascicle.settings.base import Positive
from fascicle.settings.recipes.any import AnyRecipe, read_recipe
from fascicle.settings.recipes.distil import DistilRecipe
from fascicle.settings.recipes.filter import FilterRecipe
from fascicle.settings.recipes.pretraining import PretrainingRecipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.recipes.relations import RelationRecipe
from fascicle.settings.recipes.typer import TyperRecipe
from fascicle.training.corpus import check_data
from fascicle.training.distil.prediction import prepare_prediction
from fascicle.training.distil.run import prepare_layers
from fascicle.training.engine.events import Ended, RunEvent
from fascicle.training.engine.folder import use_threads
from fascicle.training.engine.run import Trainee, train
from fascicle.training.filter.run import prepare_filter
from fascicle.training.raw.pretraining import prepare_pretraining
from fascicle.training.recogniser.run import prepare_recogniser
from fascicle.training.relations.run import prepare_relations
from fascicle.training.tracking import open_trackers
from fascicle.training.typer.run import prepare_typer


def prepare_distil(recipe: DistilRecipe, folder: Path, before: Mapping[str, Any]) -> Trainee:
    """Opens the teacher, builds the student and reads the data.

    Args:
        recipe: of the run.
        folder: of the run.
        before: content of ``run.json`` of the same run; empty if the run is new.

    Raises:
        InputError: the corpus cannot be read, or holds no text.
        RecipeError: teacher and student do not fit each other or the recipe.
        ModelError: one of them cannot be loaded.
    """
    return (prepare_prediction if recipe.prediction else prepare_layers)(recipe, folder, before)


_PREPARES: Final[Mapping[type[AnyRecipe], Callable[..., Trainee]]] = MappingProxyType(
    {
        Recipe: prepare_recogniser,
        DistilRecipe: prepare_distil,
        FilterRecipe: prepare_filter,
        TyperRecipe: prepare_typer,
        PretrainingRecipe: prepare_pretraining,
        RelationRecipe: prepare_relations,
    }
)


def _default_folder(recipe: AnyRecipe) -> Path:
    """Returns the default folder of a run: ``runs/NAME-sSEED``."""
    return Path("runs") / f"{recipe.name}-s{recipe.seed}"


def run_recipe(recipe: AnyRecipe, folder: Path, *, resume: bool = False) -> Iterator[RunEvent]:
    """Trains the model of a recipe; see ``training.engine.run.train``.

    Args:
        recipe: of the run.
        folder: of the run; must not exist, unless ``resume``.
        resume: continue from the last scoring of an interrupted run of the same recipe.

    Yields:
        Events, in order; the last one is ``Ended``.

    Raises:
        OutputError: the folder exists, or holds no run of this recipe that could be resumed.
        InputError: data that the recipe names do not exist or cannot be read, or hold nothing to
            train on.
        RecipeError: the recipe does not fit its encoder or its data.
        ModelError: the encoder cannot be loaded, or the tokenizer has a marker already.
    """
    check_data(recipe)
    prepare = partial(_PREPARES[type(recipe)], recipe, folder)
    yield from train(recipe, folder, prepare, resume=resume)


@validate_arguments
def train_recipe(
    recipe: AnyRecipe | AnyPath,
    folder: AnyPath | None = None,
    *,
    resume: bool = False,
    threads: Positive | None = None,
    trackers: Sequence[str] = (),
    listen: Callable[[RunEvent], Any] = lambda event: None,
) -> Ended:
    """Trains from beginning to end; like ``run_recipe`` for callers that need only the result.

    Args:
        recipe: of the run, or its TOML file.
        folder: of the run; by default that of ``_default_folder``.
        resume: see ``run_recipe``.
        threads: CPU threads; all usable cores by default.
        trackers: experiment trackers that get the scores, such as ``"tensorboard"``.
        listen: called with every event when it happens.

    Returns:
        The end of the run.

    Raises:
        FascicleError: see ``run_recipe``.
        UsageError: a tracker that cannot be used.
    """
    if isinstance(recipe, str | os.PathLike):
        recipe = read_recipe(recipe)
    use_threads(threads)
    event: RunEvent | None = None
    place = Path(folder) if folder else _default_folder(recipe)
    config = msgspec.to_builtins(recipe)
    with open_trackers(trackers, place, run=recipe.name, config=config) as track:
        for event in run_recipe(recipe, place, resume=resume):
            listen(event)
            track(event)
    assert isinstance(event, Ended)
    return event

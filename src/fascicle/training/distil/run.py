"""Distillation: from a recipe to a student that the engine trains.

With ``[layers]`` alone the result is an encoder, see ``training.distil.layers_run``. With ``[prediction]`` it is the
run of a recogniser, see ``training.recogniser.run``, whose windows are taught by a teacher.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fascicle.settings.recipes.distil import DistilRecipe
from fascicle.training.distil.imitation import prepare_layers
from fascicle.training.distil.prediction import prepare_prediction
from fascicle.training.engine.run import Trainee


def prepare_distil(recipe: DistilRecipe, folder: Path, before: Mapping[str, Any]) -> Trainee:
    """Opens the teacher, builds the student and reads the data.

    Args:
        recipe: what to do.
        folder: of the run.
        before: what ``run.json`` says of the same run; nothing if it is new.

    Raises:
        InputError: the corpus cannot be read, or holds no text.
        RecipeError: teacher and student do not fit each other or the recipe.
        ModelError: one of them cannot be loaded.
    """
    return (prepare_prediction if recipe.prediction else prepare_layers)(recipe, folder, before)

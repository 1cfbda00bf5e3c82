"""Descriptions of the types of train, for the heads that read them."""

from __future__ import annotations

from collections.abc import Iterator

from fascicle.models.encoder import Pretrained
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.types import TypeDescriptions, check_types, read_types
from fascicle.training.corpus import Parts
from fascicle.training.recogniser.prototypes import DrawSettings, draw_types


def descriptions_of(
    recipe: Recipe, parts: Parts, pretrained: Pretrained
) -> dict[str, TypeDescriptions]:
    """Returns the type descriptions of each head of a recipe that needs them.

    Args:
        recipe: of the run.
        parts: its corpus.
        pretrained: its encoder.

    Raises:
        RecipeError: see ``settings.types.read_types``, ``check_types`` and
            ``prototypes.draw_types``.
    """
    descriptions: dict[str, TypeDescriptions] = {}
    for name, head in recipe.heads().items():
        if head.needs.drawn:
            draw = DrawSettings(
                number=head.needs.drawn, seed=recipe.seed, segmenter=recipe.reading.segmenter
            )
            descriptions[name] = draw_types(parts.train, parts.types, pretrained, draw=draw)
        elif path := head.needs.types:
            descriptions[name] = _read_descriptions(path, recipe, parts)
    return descriptions


def _read_descriptions(path: str, recipe: Recipe, parts: Parts) -> TypeDescriptions:
    """Reads the descriptions of the types of train; others that the file has are left out."""
    described = read_types(path)
    if not set(parts.types) <= set(described.names):  # the message is about what should fit
        names = [name for name in described.names if not _is_left_out(name, recipe, parts)]
        check_types(described.select(names) if names else described, parts.types, origin=path)
    return described.select([name for name in described.names if name in parts.types])


def description_notes(recipe: Recipe, parts: Parts) -> Iterator[str]:
    """Yields a line for each file that describes types without gold in train."""
    for path in filter(None, dict.fromkeys(head.needs.types for head in recipe.heads().values())):
        absent = [
            repr(name)
            for name in read_types(path).names
            if name not in parts.types and not _is_left_out(name, recipe, parts)
        ]
        if absent:
            yield f"{path} describes {', '.join(absent)}, which train has no mention of: left out"


def _is_left_out(name: str, recipe: Recipe, parts: Parts) -> bool:
    """True for a type that corpus.types leaves out, or of which a dictionary has no name."""
    selection = recipe.corpus.types if recipe.corpus else None
    return name in parts.untaught or bool(selection and not selection.keeps(name))

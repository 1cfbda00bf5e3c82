"""The card of an encoder that imitates another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fascicle.settings.recipes.distil import DistilRecipe
from fascicle.version import VERSION


def card_of(recipe: DistilRecipe, facts: Mapping[str, Any], held_out: Mapping[str, float]) -> str:
    """Markdown for the folder of the encoder: what it was made from, and how near it came.

    Args:
        recipe: of the run.
        facts: of ``run.json``: layers, data and their hashes.
        held_out: its losses on held-out text.
    """
    return "\n".join(_lines(recipe, facts, held_out)) + "\n"


def _lines(recipe: DistilRecipe, facts: Mapping[str, Any], held_out: Mapping[str, float]) -> Iterator[str]:
    assert recipe.layers
    yield f"# {recipe.name}\n"
    yield f"An encoder of Fascicle {VERSION}, which learned to imitate layers of another one. It has no head.\n"
    yield f"- Student: {facts['student']}"
    yield f"- Teacher: {facts['teacher']}"
    yield f"- Layers of the teacher, one for each of the student: {', '.join(map(str, facts['layer_map']))}"
    yield f"- Attention: {recipe.layers.compared}; weights: states {recipe.layers.hidden:g}, attention " + (
        f"{recipe.layers.attention:g}; {'means with' if recipe.layers.faithful else 'means without'} padding"
    )
    yield f"- Pieces that the teacher would cut otherwise: {facts['differing_pieces']:.2%}"
    yield f"- Losses on held-out text: {', '.join(f'{name} {value:.4f}' for name, value in held_out.items())}"
    yield f"- Seed: {recipe.seed}\n"
    yield "| data | sha256 |"
    yield "|---|---|"
    for name, of_one in facts["data"].items():
        yield f"| {name} | {of_one['sha256']} |"

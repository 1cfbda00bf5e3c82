"""What both kinds of distillation begin with: losses on layers that fit their recipe, and what a run says of itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from msgspec import UNSET

from fascicle.core.wording import counted
from fascicle.errors import RecipeError
from fascicle.models.encoder import Pretrained
from fascicle.settings.recipes.distil import DistilRecipe
from fascicle.training.distil.pupil import LayerLosses
from fascicle.training.distil.teacher import Teacher, differing_pieces
from fascicle.training.engine.loop import Trainer

_COMPARED: Final = 1000  # documents of which both tokenizers must cut every one into the same pieces
_BEGINNING: Final = 2000  # characters of each


def beginnings(texts: Iterable[str]) -> list[str]:
    """The beginnings of the first texts that are read, for ``layer_losses``."""
    return [text[:_BEGINNING] for text in islice(texts, _COMPARED)]


def layer_losses(
    recipe: DistilRecipe, student: Pretrained, teacher: Pretrained, *, longest: int, texts: Sequence[str]
) -> LayerLosses:
    """The losses on layers of a recipe.

    Args:
        recipe: with ``[layers]``.
        student: encoder that learns.
        teacher: that is imitated.
        longest: pieces in a window.
        texts: some of those that are read.

    Raises:
        RecipeError: they do not fit each other.
    """
    assert recipe.layers is not UNSET
    differing = differing_pieces(texts, student.tokenizer, teacher.tokenizer)
    for who, one in (("student", student), ("teacher", teacher)):
        if longest > one.encoder.longest:
            raise RecipeError(
                f"windows of {longest} pieces are longer than the {counted(one.encoder.longest, 'piece')} that the "
                f"{who} reads; lower {'text.window' if recipe.text else 'reading.max_length'}"
            )
    taught_by = Teacher(teacher, student.tokenizer, attention=recipe.layers.attention > 0)
    return LayerLosses(recipe.layers, pupil=student.encoder, teacher=taught_by, differing=differing)


def facts_of(recipe: DistilRecipe, student: Pretrained, layers: LayerLosses | None, trainer: Trainer) -> dict[str, Any]:
    """What ``run.json`` says of any distillation."""
    compared = {} if layers is None else {"layer_map": list(layers.map), "differing_pieces": layers.differing}
    return {
        "recipe": recipe.name,
        "seed": recipe.seed,
        "student": student.encoder.origin,
        "teacher": recipe.teacher.model or recipe.teacher.encoder,
        **compared,
        "steps": trainer.steps,
        **trainer.precision_facts(),
    }


def told(student: Pretrained, teacher: Pretrained, layers: LayerLosses | None) -> Iterator[str]:
    """What a user should know of both encoders."""
    ours, theirs = (sum(p.numel() for p in one.encoder.parameters()) for one in (student, teacher))
    yield f"the encoder of the student has {ours:,} parameters, that of its teacher {theirs:,}"
    if layers is not None:
        yield f"layers 1 to {len(layers.map)} of the student imitate layers {', '.join(map(str, layers.map))}"
        if layers.differing:
            yield f"{layers.differing:.2%} of the pieces are those of the student: its teacher would cut otherwise"

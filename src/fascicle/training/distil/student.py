"""The encoder that a student begins with."""

from __future__ import annotations

from dataclasses import replace

from msgspec import UNSET

from fascicle.models.encoder import Pretrained, load_pretrained
from fascicle.models.smaller import copied, with_layers, with_size
from fascicle.settings.recipes.distil import StudentSettings


def student_of(settings: StudentSettings, teacher: Pretrained | None) -> Pretrained:
    """Loads or builds it; random weights come from torch's generator.

    Args:
        settings: of the recipe.
        teacher: whose encoder is meant if the settings name none; it stays as it is.

    Raises:
        ModelError: the encoder cannot be loaded.
        RecipeError: it has no such layers.
    """
    if settings.encoder:
        base = load_pretrained(settings.encoder, revision=settings.revision)
    else:
        assert teacher is not None
        base = Pretrained(encoder=copied(teacher.encoder), tokenizer=teacher.tokenizer, special=teacher.special)
    if settings.layers:
        encoder = with_layers(base.encoder, settings.layers)
    elif settings.size is not UNSET:
        encoder = with_size(base.encoder, settings.size)
    else:
        encoder = base.encoder
    return replace(base, encoder=encoder)

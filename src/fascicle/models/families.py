"""What makes the network of each kind of head: a family is a settings class, a record of its kind and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from fascicle.errors import ModelError
from fascicle.models.heads.binder import BinderHead
from fascicle.models.heads.contract import Basis, Head
from fascicle.models.heads.spans import BiaffineSpans, LinearSpans
from fascicle.models.heads.tagger import CrfTagger, MultiLabelTagger, SoftmaxTagger
from fascicle.settings.heads import (
    BiaffineSettings,
    BinderSettings,
    CrfSettings,
    HeadSettings,
    MultiLabelSettings,
    SoftmaxSettings,
    SpanSettings,
)

FAMILIES: Final[Mapping[type[HeadSettings], Callable[..., Head]]] = MappingProxyType(
    {
        BiaffineSettings: BiaffineSpans,
        BinderSettings: BinderHead,
        CrfSettings: CrfTagger,
        MultiLabelSettings: MultiLabelTagger,
        SoftmaxSettings: SoftmaxTagger,
        SpanSettings: LinearSpans,
    }
)


def make_head(settings: HeadSettings, basis: Basis) -> Head:
    """A fresh head.

    Args:
        settings: of the head, with what ``train`` finds; the class itself counts, not what it inherits from.
        basis: what it is built on.

    Raises:
        ModelError: a class that this release has no head for.
        RecipeError: the encoder cannot read what the head reads of the types.
    """
    maker = FAMILIES.get(type(settings))
    if maker is None:
        known = ", ".join(sorted(str(kind.__struct_config__.tag) for kind in FAMILIES))
        raise ModelError(f"the family {settings.family!r} has no head in this release; it knows {known}")
    return maker(settings, basis)

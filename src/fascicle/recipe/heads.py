"""The settings of every family of heads. A family's name in recipes and model files is the tag of its class here."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta

from fascicle.recipe.base import Settings

Level = Literal["word", "piece"]
WIDEST = 256


class HeadSettings(Settings, frozen=True, kw_only=True, tag_field="family"):
    """What all heads have: how piece states become unit states.

    Attributes:
        level: what is labelled, or what spans are made of: each ``"word"`` or each ``"piece"``.
        pooling: how the pieces of a word become one vector; pieces need none.
        specials: whether the special tokens around a text take part in the loss, as nothing (O, None); pieces only.
        dropout: probability of dropping a component of a unit's state.
    """

    level: Level = "word"
    pooling: Literal["first", "max", "mean"] = "first"
    specials: Literal["exclude", "include"] = "exclude"
    dropout: Annotated[float, Meta(ge=0.0, lt=1.0)] = 0.1

    def __post_init__(self) -> None:
        """Refuses combinations that mean nothing."""
        if self.level == "piece" and self.pooling != "first":
            raise ValueError(f'pooling = "{self.pooling}" needs level = "word": a piece has nothing to pool')
        if self.level == "word" and self.specials == "include":
            raise ValueError('specials = "include" needs level = "piece": special tokens are not words')

    @property
    def family(self) -> str:
        """Name of the family."""
        return str(self.__struct_config__.tag)


class TaggerSettings(HeadSettings, frozen=True, kw_only=True):
    """What all taggers have.

    Attributes:
        scheme: tags of training, ``"BIO"`` or ``"IO"``.
        decoding: ``"strict"``, ``"lenient"`` (an orphan I- opens a mention), or ``"viterbi"`` (best legal path).
    """

    scheme: Literal["BIO", "IO"] = "BIO"
    decoding: Literal["strict", "lenient", "viterbi"] = "viterbi"


class SoftmaxSettings(TaggerSettings, frozen=True, kw_only=True, tag="softmax"):
    """A tag for each unit on its own (*comparing-and-combining* §4.1, *bundling-learning* §3.1.2)."""


class CrfSettings(TaggerSettings, frozen=True, kw_only=True, tag="crf"):
    """A linear-chain CRF over the tags (*comparing-and-combining* §4.2).

    Attributes:
        loss: negative log-likelihood of a batch per ``"unit"``, so that it can be mixed with mean losses, or per
            ``"sequence"`` (*bundling-learning* Eq. 10).
    """

    loss: Literal["unit", "sequence"] = "unit"

    def __post_init__(self) -> None:
        """Refuses repairs of what a chain never gives."""
        super().__post_init__()
        if self.decoding != "viterbi":
            raise ValueError(f'decoding = "{self.decoding}" is not allowed with family = "crf": use "viterbi"')


class SpanHeadSettings(HeadSettings, frozen=True, kw_only=True):
    """What all span classifiers have.

    Attributes:
        width: most units in a mention; 0 for the smallest width that covers 99 % of the mentions of train.
        width_embedding: size of a learnt vector for each width; 0 for none.
        negatives: spans that are no mention, drawn anew for each window in every epoch; 0 for all of them.
        decoding: ``"nested"`` (every span stands for itself), or without overlaps: ``"greedy"`` (the most probable span
            first) or ``"optimal"`` (the set with the largest sum of probabilities).
    """

    width: Annotated[int, Meta(ge=0, le=WIDEST)] = 0
    width_embedding: Annotated[int, Meta(ge=0, le=1024)] = 0
    negatives: Annotated[int, Meta(ge=0)] = 0
    decoding: Literal["nested", "greedy", "optimal"] = "greedy"


class SpanSettings(SpanHeadSettings, frozen=True, kw_only=True, tag="span"):
    """A linear layer over the vector of a span.

    SpanPred is *comparing-and-combining* §4.3, SpanNER *bundling-learning* §3.1.3.

    Attributes:
        representation: what the vector holds: ``"boundary"`` (first and last unit), ``"pooling"`` (maximum over the
            units, and the whole text), ``"hybrid"`` (all of these); each with the width embedding, if there is one.
    """

    representation: Literal["boundary", "pooling", "hybrid"] = "boundary"


class BiaffineSettings(SpanHeadSettings, frozen=True, kw_only=True, tag="biaffine"):
    """A bilinear form of the first and the last unit (Yu et al. 2020).

    Attributes:
        hidden: size of the two layers before the form.
    """

    hidden: Annotated[int, Meta(ge=1, le=4096)] = 150


Head = SoftmaxSettings | CrfSettings | SpanSettings | BiaffineSettings

HEADS: dict[str, type[HeadSettings]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Head)}


def decided(head: Head, *, decoding: str) -> Head:
    """The settings of a head with another decoding.

    Raises:
        msgspec.ValidationError: a decoding that the family does not have.
    """
    found: Head = msgspec.convert({**msgspec.to_builtins(head), "decoding": decoding}, Head)
    return found

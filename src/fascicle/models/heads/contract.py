"""Base class of all heads: from unit states to named score tables, and from gold to a loss.

Shapes: B windows, T pieces, U units, d width of the encoder.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from fascicle.core.arrays import Floats32, Ints
from fascicle.core.tags import TagScheme
from fascicle.models.encoder import Encoder
from fascicle.models.nn.pooling import POOLINGS, InputVectors
from fascicle.models.nn.tensors import TensorDict, Tensors
from fascicle.settings.heads import HeadSettings
from fascicle.settings.types import TypeDescriptions
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.targets import NONE_UNKNOWN, HeadLimits
from fascicle.text.windows import FEATURES, Window

IGNORED = -100
Targets = NDArray[Any]
"""What is taught, in a form that ``gold``, ``targets`` and ``loss`` of a head agree on: int64
labels, ``IGNORED`` where
nothing is taught; or soft targets, float32 probabilities of all classes in one more axis, all 0
where nothing is."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Basis:
    """Inputs from which a head is built, beside its settings; most heads need only the first two.

    Attributes:
        types: entity types, in the order of their indices.
        width: of the encoder's states.
        encoder: of the text, for a head that also reads other texts with it; it stays part of the
            model.
        tokenizer: of the encoder.
        descriptions: of the types, where the settings name a file of them.
    """

    types: Sequence[str]
    width: int
    encoder: Encoder | None = None
    tokenizer: PieceTokenizer | None = None
    descriptions: TypeDescriptions | None = None


class Head(nn.Module, ABC):
    """Base class of a head; ``runtime/decoding/decoders.py`` (no torch) turns its scores into
    mentions.
    """

    limits: HeadLimits
    axes: Mapping[str, tuple[str, ...]]
    scheme: TagScheme | None = None  # of a tagger
    imitates: ClassVar[bool] = False
    """Whether it can learn probabilities of labels of single units from a teacher, see
    ``imitation``.
    """

    def __init__(self, settings: HeadSettings) -> None:
        """Builds the layer that makes unit states; subclasses set ``limits`` and ``axes``.

        Args:
            settings: of the head.
        """
        super().__init__()
        self.level = settings.level
        self.units = _UnitStates(settings)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the arrays of the batch that ``scores`` needs at inference."""
        return self.units.inputs

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the score tables, in order; ``axes`` names the axes of each, ``""`` for one
        of fixed size.
        """
        return tuple(self.axes)

    @abstractmethod
    def gold(self, spans: Ints, *, units: int, unknown: Ints = NONE_UNKNOWN) -> Targets:
        """Converts the gold of one document to the form that ``targets`` takes; called once a
        document.

        Args:
            spans: ``(start, end, type index)`` in units, ``[m, 3]``, as ``limits`` allow.
            units: of the document.
            unknown: of weak labels, ranges of units of which nothing is known, ``[r, 2]``, sorted,
                as ``text.targets.unknown_units`` gives them: no negatives are taken there.
                ``spans`` are taught anyway.
        """

    def without(self, gold: Targets, types: Sequence[int]) -> Targets:
        """Returns the gold of one document with some types marked as unknown; see
        ``settings.heads.Needs.masks``.

        Args:
            gold: of ``gold``.
            types: indices of types that people did not look for in the document.

        Raises:
            ValueError: a head that cannot leave types out of its loss.
        """
        raise ValueError("the loss of this head is about all types together")

    def soft_gold(self, probabilities: Floats32) -> Targets:
        """Returns the gold of one document from probabilities of its tags; see
        ``settings.heads.Needs.soft``.

        Args:
            probabilities: of all tags but O, ``[units, C - 1]``; negative where nothing is known.

        Raises:
            ValueError: a head that cannot be taught probabilities.
        """
        raise ValueError("the loss of this head is not about probabilities of tags")

    @abstractmethod
    def targets(
        self, gold: Sequence[Targets], windows: Sequence[Window], *, chance: np.random.Generator
    ) -> Targets:
        """Returns the targets with which ``loss`` compares the scores of a batch.

        Args:
            gold: of each window's document, from ``gold``.
            windows: of the batch.
            chance: for heads that draw.
        """

    @abstractmethod
    def scores(self, states: Tensor, batch: Tensors) -> TensorDict:
        """Returns the score tables of a batch.

        Args:
            states: of the encoder, ``[B, T, d]``.
            batch: arrays of ``text.windows.collate``.
        """

    @abstractmethod
    def loss(self, scores: Tensors, targets: Tensor) -> Tensor:
        """Returns the loss as a mean over the units or spans of the batch, so that losses of heads
        can be mixed.

        Args:
            scores: of ``scores``.
            targets: of ``targets``.
        """

    def imitation(self, scores: Tensors, teacher: Tensor, *, temperature: float = 1.0) -> Tensor:
        """Returns the divergence of the label probabilities of all units from those of a teacher; 0
        if they are equal.

        Args:
            scores: of ``scores``.
            teacher: probabilities of the teacher, ``[B, U, C]``; negative where nothing is known.
            temperature: both are taken of logits divided by this.

        Raises:
            ValueError: a head that does not imitate.
        """
        raise ValueError("this head has no probabilities of labels of single units")

    def look_for(self, basis: Basis) -> None:
        """Replaces the types, in any number, with unchanged weights; see
        ``settings.heads.Needs.fixed``.

        Args:
            basis: with the types, and their descriptions.

        Raises:
            RecipeError: the encoder cannot read the descriptions of the types.
            ValueError: a head whose types are part of its weights.
        """
        raise ValueError("the types of this head are part of its weights")

    def forget(self) -> None:
        """Drops values that the head has cached for speed, because its weights or those of the
        encoder have changed.

        A head keeps nothing in training mode. Whoever changes weights in evaluation mode calls
        this, as ``put_weights`` does.
        """


@contextmanager
def evaluation_mode(*modules: nn.Module) -> Iterator[None]:
    """Sets evaluation mode for the block, and restores the mode afterwards."""
    training = [part for module in modules for part in module.modules() if part.training]
    for part in training:
        part.training = False
    try:
        yield
    finally:
        for part in training:
            part.training = True


@torch.no_grad()
def put_weights(model: nn.Module, weights: Tensors) -> None:
    """Changes weights in place, in any mode, and drops the cached values of the heads.

    Args:
        model: with heads or without.
        weights: of some of its parameters, by name.
    """
    parameters = dict(model.named_parameters())
    for name, tensor in weights.items():
        parameters[name].copy_(tensor)
    for part in model.modules():
        if isinstance(part, Head):
            part.forget()


class _UnitStates(nn.Module):
    """Piece states -> unit states: pooling, input features, dropout; in training also special
    tokens as units.

    Attributes:
        vectors: learnt vectors of the input features of a unit, ``features`` of a batch; ``None``
            without such.
    """

    def __init__(self, settings: HeadSettings) -> None:
        """Builds the pooling; see ``HeadSettings`` for its settings."""
        super().__init__()
        self.pooling = POOLINGS[settings.pooling]()
        self.dropout = nn.Dropout(settings.dropout)
        self.specials = settings.specials == "include"
        self.vectors: InputVectors | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the arrays of the batch that are needed at inference."""
        return (*self.pooling.needs, *self.looked_up)

    @property
    def looked_up(self) -> tuple[str, ...]:
        """Name of the array of input features of units, if they are read."""
        return () if self.vectors is None else (FEATURES,)

    def forward(self, states: Tensor, batch: Tensors) -> Tensor:
        """Pools piece states to unit states.

        Args:
            states: of the encoder, ``[B, T, d]``.
            batch: arrays of ``text.windows.collate``.

        Returns:
            ``[B, U, d]``; with special tokens ``[B, U + 2, d]`` in training: the first one stands
            before the units of a window, the last one after them (*comparing-and-combining* §4.1).
        """
        arrays = {name: batch[name] for name in self.pooling.needs}
        if self.specials and self.training:
            arrays["first_piece"] = _with_specials(batch)
        pooled: Tensor = self.pooling(states, **arrays)
        if self.vectors is not None:
            pooled = pooled + self.feature_vectors(batch)
        return self.dropout(pooled)

    def feature_vectors(self, batch: Tensors) -> Tensor:
        """Returns the vectors of the input features of the units, ``[B, U, d]``; zeros for
        special tokens.
        """
        assert self.vectors is not None, "there are no vectors without inputs"
        around = int(self.specials and self.training)
        features = batch[FEATURES]
        return self.vectors(F.pad(features, (0, 0, around, around)) if around else features)


def _with_specials(batch: Tensors) -> Tensor:
    """Returns the positions of the first special token, the units, and the last special token,
    ``[B, U + 2]``.
    """
    first = F.pad(batch["first_piece"], (1, 1))
    last = batch["attention_mask"].sum(dim=1, keepdim=True) - 1
    return first.scatter(1, batch["unit_count"].unsqueeze(1) + 1, last)

"""Tagger heads: one tag per word or piece, by softmax or by a conditional random field.

Sources: *comparing-and-combining* §4.1 (SEQ) and §4.2 (SeqCRF); *bundling-learning* §3.1.2
(SeqNER). Shapes: B windows, T pieces, U units, C tags.

In the multi-label head each label of a unit has its own logistic function, so types may nest.

Sources: *tinybern2-kazu* §3, which specifies neither the target of the output O from soft labels
(``outside``) nor how pieces are combined at inference (``inference_pooling``). Shapes: B windows, U
units, K types, C = 1 + 2K labels in BIO and 1 + K in IO, in the order of ``core.tags.TagScheme``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from fascicle.core.arrays import Floats32, Ints
from fascicle.core.tags import SCHEMES, TagScheme
from fascicle.models.heads.contract import IGNORED, Basis, Head, Targets
from fascicle.models.nn.crf import LinearChainCrf
from fascicle.models.nn.losses import (
    SETS,
    label_loss,
    members,
    partial_loss,
    set_code,
    set_loss,
    tag_loss,
)
from fascicle.models.nn.pooling import POOLINGS, draw
from fascicle.models.nn.tensors import TensorDict, Tensors
from fascicle.runtime.decoding.kinds import head_limits
from fascicle.settings.heads import CrfSettings, MultiLabelSettings, TaggerSettings
from fascicle.text.targets import NONE_UNKNOWN, covered_mask
from fascicle.text.windows import Window

_EMISSIONS = ("batch", "units", "")
_ANY = -1  # in the targets of a CRF: a unit that may have any tag
# Biases of O and of all other labels before training: probabilities of 0.88 and 0.02. From 0 the
# first epochs are spent on learning how rare labels are (Lin et al. 2017, *Focal Loss* §4.1).
# Biases of 1 and -2 are better at a low rate and worse at a usual one: on 500 sentences, MiniLM,
# one seed, dev F1 after three epochs is 57 against 13 at 5e-5 and 69 against 69 at 2e-4 on
# NCBI-disease, but 34 against 41 at 2e-4 on JNLPBA. A rate for the head mends a low rate.
_USUAL, _RARE = 2.0, -4.0


class SoftmaxTagger(Head):
    """Softmax tagger: pooling, dropout and one linear layer; the loss is the mean cross-entropy
    over units.

    The score of a mention is the geometric mean of its tags' probabilities.
    """

    axes: Mapping[str, tuple[str, ...]] = MappingProxyType({"emissions": _EMISSIONS})
    unknown_tag: ClassVar[int] = IGNORED
    imitates: ClassVar[bool] = True

    def __init__(self, settings: TaggerSettings, basis: Basis) -> None:
        """Builds the layers.

        Args:
            settings: of the head.
            basis: inputs of the head.
        """
        super().__init__(settings)
        self.settings = settings
        self.scheme: TagScheme = SCHEMES[settings.scheme]
        self.limits = head_limits(settings)
        self.labels = self.scheme.labels(basis.types)
        self.linear = nn.Linear(basis.width, len(self.labels))
        draw(self.linear)

    def gold(self, spans: Ints, *, units: int, unknown: Ints = NONE_UNKNOWN) -> Ints:
        """Returns the tag ids of a document, ``[units]``; ``unknown_tag`` for unknown units
        outside mentions.
        """
        tags = self.scheme.encode(map(tuple, spans.tolist()), length=units)
        tags[covered_mask(unknown, units) & ~covered_mask(spans, units)] = self.unknown_tag
        return tags

    def soft_gold(self, probabilities: Floats32) -> Floats32:
        """Returns the probabilities of all tags, ``[units, C]``, from those of a teacher; O gets
        the remainder.

        Args:
            probabilities: of all tags but O, ``[units, C - 1]``; negative where nothing is known.
                Where they sum to more than 1 they are scaled to 1.
        """
        valid = (probabilities >= 0).all(axis=1, keepdims=True)
        scaled = probabilities / np.maximum(probabilities.sum(axis=1, keepdims=True), 1)
        table = np.column_stack([(1 - scaled.sum(axis=1)).clip(min=0), scaled])
        return np.where(valid, table, IGNORED).astype(np.float32)

    def without(self, gold: Ints, types: Sequence[int]) -> Ints:
        """Marks units outside mentions as unknown between O and the tags of these types.

        The loss is then the marginal likelihood of the known tags (Tsuboi et al. 2008), which for a
        tag on its own is the probability of O and these tags together.
        """
        return np.where(gold == 0, set_code(types), gold)

    def targets(
        self, gold: Sequence[Ints], windows: Sequence[Window], *, chance: np.random.Generator
    ) -> Ints:
        """Returns tag ids ``[B, U]``, ``IGNORED`` beyond the units; with special tokens ``[B, U +
        2]``, those tagged O.

        Unknown units have ``unknown_tag``.
        """
        around = int(self.units.specials)
        widest = max(w.units[1] - w.units[0] for w in windows)
        targets = np.full((len(windows), widest + 2 * around), IGNORED, dtype=np.int64)
        for row, (tags, window) in enumerate(zip(gold, windows, strict=True)):
            inner = tags[slice(*window.units)]
            targets[row, : len(inner) + 2 * around] = np.pad(inner, around)
        return targets

    def scores(self, states: Tensor, batch: Tensors) -> TensorDict:
        """Returns ``emissions``, ``[B, U, C]``; arguments as in ``Head``."""
        return {"emissions": self.linear(self.units(states, batch))}

    def loss(self, scores: Tensors, targets: Tensor) -> Tensor:
        """Returns the mean over all known units of the batch, 0 if there is none; arguments as
        in ``Head``.
        """
        emissions, gold = scores["emissions"].float().flatten(0, 1), targets.flatten()
        several = gold <= SETS
        single = gold.masked_fill(several, IGNORED)
        total = F.cross_entropy(emissions, single, ignore_index=IGNORED, reduction="sum")
        if several.any():
            total = (
                total + set_loss(emissions[several], gold[several], width=self.scheme.width).sum()
            )
        return total / (targets != IGNORED).sum().clamp(min=1)

    def imitation(self, scores: Tensors, teacher: Tensor, *, temperature: float = 1.0) -> Tensor:
        """Returns the mean divergence over all known units; arguments as in ``Head``."""
        return tag_loss(scores["emissions"], teacher, temperature=temperature)


class CrfTagger(SoftmaxTagger):
    """CRF tagger: the emissions of the softmax tagger under a linear-chain CRF over the units of a
    window.

    The loss is the negative log-likelihood of the batch divided by its known units, so that it
    stays comparable with a mean cross-entropy, or divided by its windows, as the settings say.
    Where some tags are unknown, or are known to be some of all, it is that of all paths that agree
    (Tsuboi et al. 2008). The score of a mention is the marginal probability of exactly that
    mention.
    """

    axes: Mapping[str, tuple[str, ...]] = MappingProxyType(
        {"emissions": _EMISSIONS, "transitions": ("", ""), "start": ("",), "end": ("",)}
    )
    unknown_tag: ClassVar[int] = _ANY
    # its tags depend on each other, so it cannot be trained on those of single units
    imitates: ClassVar[bool] = False

    def __init__(self, settings: CrfSettings, basis: Basis) -> None:
        """Builds the layers; arguments as in ``SoftmaxTagger``."""
        super().__init__(settings, basis)
        self.per_unit = settings.loss == "unit"
        self.crf = LinearChainCrf(len(self.labels))

    def scores(self, states: Tensor, batch: Tensors) -> TensorDict:
        """Returns emissions ``[B, U, C]``, ``transitions`` ``[C, C]`` (from, to), ``start`` and
        ``end`` ``[C]``.

        If special tokens are part of the chain, they are always O at inference: ``start`` and
        ``end`` are then their transitions.
        """
        tables = super().scores(states, batch)
        start: Tensor = self.crf.start
        end: Tensor = self.crf.end
        if self.units.specials and not self.training:
            start, end = self.crf.transitions[0], self.crf.transitions[:, 0]
        return {**tables, "transitions": self.crf.transitions, "start": start, "end": end}

    def loss(self, scores: Tensors, targets: Tensor) -> Tensor:
        """Returns the negative log-likelihood per known unit or per window; arguments as in
        ``Head``.
        """
        mask, several = targets != IGNORED, targets <= SETS
        observed = mask & (targets >= 0)
        count = (observed | several).sum() if self.per_unit else mask.any(dim=1).sum()
        inside = partial(members, classes=len(self.labels), width=self.scheme.width)
        allowed = inside(targets) | ~several[..., None] if several.any() else None
        tags = targets.clamp(min=0)  # O is in every set
        loss = partial_loss(
            self.crf, scores["emissions"], tags, mask=mask, observed=observed, allowed=allowed
        )
        return loss.sum() / count.clamp(min=1)


class MultiLabelTagger(SoftmaxTagger):
    """Multi-label tagger: pooling, dropout and one linear layer; mean binary cross-entropy over
    units and labels.

    O is one of the labels: it is taught where a unit is in no mention, and decides nothing. The
    score of a mention is the geometric mean over its units of the probability to be in a mention of
    its type.
    """

    def __init__(self, settings: MultiLabelSettings, basis: Basis) -> None:
        """Builds the layers; arguments as in ``SoftmaxTagger``."""
        super().__init__(settings, basis)
        with torch.no_grad():
            self.linear.bias.copy_(torch.tensor([_USUAL] + [_RARE] * (len(self.labels) - 1)))
        self._outside = settings.outside
        self._pooled = settings.inference_pooling != "first"
        self.pieces = POOLINGS[settings.inference_pooling]()

    @property
    def inputs(self) -> tuple[str, ...]:
        """See ``Head``."""
        return tuple(dict.fromkeys((*self.units.inputs, *self.pieces.needs)))

    def gold(self, spans: Ints, *, units: int, unknown: Ints = NONE_UNKNOWN) -> NDArray[Any]:
        """Returns the probability of each label of each unit, ``[units, C]``; ``IGNORED`` where a
        label is unknown.

        Args:
            spans: as in ``Head``.
            units: as in ``Head``.
            unknown: as in ``Head``; of these units only the labels that are gold are taught.
        """
        table = np.zeros(
            (units, (len(self.labels) - 1) // self.scheme.width, self.scheme.width),
            dtype=np.float32,
        )
        for start, end, kind in spans.tolist():
            table[start:end, kind, -1] = 1
            table[start, kind] = np.arange(self.scheme.width) == 0
        table[covered_mask(unknown, units)[:, None, None] & (table < 1)] = IGNORED
        return self.soft_gold(table.reshape(units, len(self.labels) - 1))

    def without(self, gold: Targets, types: Sequence[int]) -> Targets:
        """Marks the labels of the types as unknown; O too, except in a mention of another type,
        where it is 0.
        """
        probabilities = gold[:, 1:].copy()
        probabilities.reshape(len(gold), -1, self.scheme.width)[:, list(types)] = IGNORED
        return self.soft_gold(probabilities)

    def soft_gold(self, probabilities: Floats32) -> Floats32:
        """See ``Head``; O is added by the rule of ``outside``."""
        return np.column_stack(
            [outside_target(probabilities, self._outside), probabilities]
        ).astype(np.float32)

    def targets(
        self, gold: Sequence[Targets], windows: Sequence[Window], *, chance: np.random.Generator
    ) -> Targets:
        """Returns probabilities ``[B, U, C]``, ``IGNORED`` beyond the units; with special tokens
        ``[B, U + 2, C]``.
        """
        around = int(self.units.specials)
        widest = max(w.units[1] - w.units[0] for w in windows) + 2 * around
        targets = np.full((len(windows), widest, len(self.labels)), IGNORED, dtype=np.float32)
        nothing = np.eye(around, len(self.labels), dtype=np.float32)  # of a special token: it is O
        for row, (table, window) in enumerate(zip(gold, windows, strict=True)):
            inner = np.concatenate([nothing, table[slice(*window.units)], nothing])
            targets[row, : len(inner)] = inner
        return targets

    def scores(self, states: Tensor, batch: Tensors) -> TensorDict:
        """Returns ``emissions``, ``[B, U, C]``, as logits; arguments as in ``Head``."""
        if self.training or not self._pooled:
            return super().scores(states, batch)
        emissions = self.pieces(
            self.linear(states), **{name: batch[name] for name in self.pieces.needs}
        )
        # as if each piece had the vectors of its unit: pooling moves with its input
        if self.units.vectors is not None:
            emissions = emissions + F.linear(self.units.feature_vectors(batch), self.linear.weight)
        return {"emissions": emissions}

    def loss(self, scores: Tensors, targets: Tensor) -> Tensor:
        """Returns the mean over all known labels of the units of the batch, 0 if none; arguments as
        in ``Head``.

        The entropy of soft targets is subtracted, which changes no gradient: the loss is a
        Kullback-Leibler divergence and 0 where the probabilities are those of the targets.
        """
        return label_loss(scores["emissions"], targets)

    def imitation(self, scores: Tensors, teacher: Tensor, *, temperature: float = 1.0) -> Tensor:
        """Returns the same loss at another temperature; arguments as in ``Head``."""
        return label_loss(scores["emissions"], teacher, temperature=temperature)


def outside_target(probabilities: Floats32, form: Literal["max", "product", "hard"]) -> Floats32:
    """Computes the target of O from the probabilities of all other labels.

    Args:
        probabilities: ``[units, C - 1]``, negative where nothing is known.
        form: see ``MultiLabelSettings``.

    Returns:
        ``[units]``; ``IGNORED`` where a label is unknown, unless another one is certain: then O is
        0.
    """
    filled = np.where(probabilities >= 0, probabilities, 0)
    largest = filled.max(axis=1, initial=0)
    forms = {"max": 1 - largest, "product": (1 - filled).prod(axis=1), "hard": largest <= 0.5}
    decided = (probabilities >= 0).all(axis=1) | (largest >= 1)
    return np.where(decided, forms[form], IGNORED).astype(np.float32)

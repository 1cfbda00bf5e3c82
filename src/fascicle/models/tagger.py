"""Tagger heads: one tag per word or piece, by softmax or by a conditional random field.

Sources: *comparing-and-combining* §4.1 (SEQ) and §4.2 (SeqCRF); *bundling-learning* §3.1.2 (SeqNER).
Shapes: B windows, T pieces, U units, C tags.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from fascicle.core.tags import SCHEMES
from fascicle.nn.crf import LinearChainCrf
from fascicle.nn.pooling import POOLINGS
from fascicle.recipe.settings import HeadSettings

IGNORED = -100


class SoftmaxTagger(nn.Module):
    """Pooling, dropout and one linear layer; the loss is the mean cross-entropy over units.

    The score of a mention is the geometric mean of its tags' probabilities.
    """

    def __init__(self, settings: HeadSettings, *, types: Sequence[str], width: int) -> None:
        """Builds the layers.

        Args:
            settings: of the head.
            types: entity types.
            width: of the encoder's states.
        """
        super().__init__()
        self.settings = settings
        self.labels = SCHEMES[settings.scheme].labels(types)
        self.pooling = POOLINGS[settings.pooling]()
        self.dropout = nn.Dropout(settings.dropout)
        self.linear = nn.Linear(width, len(self.labels))
        nn.init.normal_(self.linear.weight, std=0.02)
        nn.init.zeros_(self.linear.bias)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Arrays of the batch that ``scores`` needs."""
        return self.pooling.needs

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the score tables, in order."""
        return ("emissions",)

    def scores(self, states: Tensor, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Score tables of a batch.

        Args:
            states: of the encoder, ``[B, T, d]``.
            batch: arrays of ``text.batch.collate``.

        Returns:
            ``emissions``, ``[B, U, C]`` (with max and mean pooling ``[B, T, C]``, rows beyond the units void).
        """
        pooled = self.pooling(states, **{name: batch[name] for name in self.inputs})
        return {"emissions": self.linear(self.dropout(pooled))}

    def loss(self, scores: Mapping[str, Tensor], targets: Tensor) -> Tensor:
        """Mean over all units of the batch.

        Args:
            scores: of ``scores``.
            targets: tag ids ``[B, U]``, ``IGNORED`` beyond the units.
        """
        emissions = scores["emissions"][:, : targets.shape[1]].float()
        return F.cross_entropy(emissions.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)


class CrfTagger(SoftmaxTagger):
    """The same emissions under a linear-chain CRF over the units of a window.

    The loss is the negative log-likelihood of the batch divided by its units, so that it stays comparable with a mean
    cross-entropy. The score of a mention is the marginal probability of exactly that mention.
    """

    def __init__(self, settings: HeadSettings, *, types: Sequence[str], width: int) -> None:
        """Builds the layers; arguments as in ``SoftmaxTagger``."""
        super().__init__(settings, types=types, width=width)
        self.crf = LinearChainCrf(len(self.labels))

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the score tables, in order."""
        return ("emissions", "transitions", "start", "end")

    def scores(self, states: Tensor, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Emissions ``[B, U, C]``, ``transitions`` ``[C, C]`` (from, to), ``start`` and ``end`` ``[C]``.

        Where special tokens take part in the chain they are always O at inference, which the first and last transition
        then stand for.
        """
        tables = super().scores(states, batch)
        start: Tensor = self.crf.start
        end: Tensor = self.crf.end
        if self.settings.specials == "include" and not self.training:
            start, end = self.crf.transitions[0], self.crf.transitions[:, 0]
        return {**tables, "transitions": self.crf.transitions, "start": start, "end": end}

    def loss(self, scores: Mapping[str, Tensor], targets: Tensor) -> Tensor:
        """Negative log-likelihood per unit; arguments as in ``SoftmaxTagger``."""
        emissions = scores["emissions"][:, : targets.shape[1]]
        mask = targets != IGNORED
        return self.crf(emissions, targets.clamp(min=0), mask).sum() / mask.sum().clamp(min=1)

"""The multi-label head: each label of a unit has a logistic function of its own, so types may nest.

Sources: *tinybern2-kazu* §3, which tells neither the target of the output O from soft labels (``outside``) nor how
pieces decide at inference (``inference_pooling``). Shapes: B windows, U units, K types, C = 1 + 2K labels in BIO and
1 + K in IO, in the order of ``core.tags.TagScheme``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from fascicle.core.arrays import Floats32, Ints
from fascicle.models.heads.contract import IGNORED, Basis, Targets
from fascicle.models.heads.tagger import SoftmaxTagger
from fascicle.nn.distil import label_loss
from fascicle.nn.pooling import POOLINGS
from fascicle.settings.heads import MultiLabelSettings
from fascicle.text.targets import NONE_UNKNOWN, covered
from fascicle.text.windows import Window

# Biases of O and of all other labels before training: probabilities of 0.88 and 0.02. From 0 the first epochs are spent
# on learning how rare labels are (Lin et al. 2017, *Focal Loss* §4.1). Biases of 1 and -2 are better at a low rate and
# worse at a usual one: on 500 sentences, MiniLM, one seed, dev F1 after three epochs is 57 against 13 at 5e-5 and 69
# against 69 at 2e-4 on NCBI-disease, but 34 against 41 at 2e-4 on JNLPBA. A rate for the head mends a low rate.
_USUAL, _RARE = 2.0, -4.0


class MultiLabelTagger(SoftmaxTagger):
    """Pooling, dropout and one linear layer; the loss is the mean binary cross-entropy over units and labels.

    O is one of the labels: it is taught where a unit is in no mention, and decides nothing. The score of a mention is
    the geometric mean over its units of the probability to be in a mention of its type.
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
        """The probability of each label of each unit, ``[units, C]``; ``IGNORED`` where nothing is known of a label.

        Args:
            spans: as in ``Head``.
            units: as in ``Head``.
            unknown: as in ``Head``; of these units only the labels that are gold are taught.
        """
        table = np.zeros((units, (len(self.labels) - 1) // self.scheme.width, self.scheme.width), dtype=np.float32)
        for start, end, kind in spans.tolist():
            table[start:end, kind, -1] = 1
            table[start, kind] = np.arange(self.scheme.width) == 0
        table[covered(unknown, units)[:, None, None] & (table < 1)] = IGNORED
        return self.soft_gold(table.reshape(units, len(self.labels) - 1))

    def without(self, gold: Targets, types: Sequence[int]) -> Targets:
        """The labels of the types are unknown; O too, except in a mention of another type, where it is certainly 0."""
        probabilities = gold[:, 1:].copy()
        probabilities.reshape(len(gold), -1, self.scheme.width)[:, list(types)] = IGNORED
        return self.soft_gold(probabilities)

    def soft_gold(self, probabilities: Floats32) -> Floats32:
        """See ``Head``; O is added by the rule of ``outside``."""
        return np.column_stack([outside(probabilities, self._outside), probabilities]).astype(np.float32)

    def targets(self, gold: Sequence[Targets], windows: Sequence[Window], *, chance: np.random.Generator) -> Targets:
        """Probabilities ``[B, U, C]``, ``IGNORED`` beyond the units; with special tokens ``[B, U + 2, C]``."""
        around = int(self.units.specials)
        widest = max(w.units[1] - w.units[0] for w in windows) + 2 * around
        found = np.full((len(windows), widest, len(self.labels)), IGNORED, dtype=np.float32)
        nothing = np.eye(around, len(self.labels), dtype=np.float32)  # of a special token: it is O
        for row, (table, window) in enumerate(zip(gold, windows, strict=True)):
            inner = np.concatenate([nothing, table[slice(*window.units)], nothing])
            found[row, : len(inner)] = inner
        return found

    def scores(self, states: Tensor, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """``emissions``, ``[B, U, C]``, in logits; arguments as in ``Head``."""
        if self.training or not self._pooled:
            return super().scores(states, batch)
        emissions = self.pieces(self.linear(states), **{name: batch[name] for name in self.pieces.needs})
        if self.units.vectors is not None:  # as if each piece had the vectors of its unit: pooling moves with its input
            emissions = emissions + F.linear(self.units.known(batch), self.linear.weight)
        return {"emissions": emissions}

    def loss(self, scores: Mapping[str, Tensor], targets: Tensor) -> Tensor:
        """Mean over all known labels of the units of the batch, 0 if there is none; arguments as in ``Head``.

        Of soft targets their entropy is taken off, which changes no gradient: the loss is a Kullback-Leibler divergence
        and 0 where the probabilities are those of the targets.
        """
        return label_loss(scores["emissions"], targets)

    def imitation(self, scores: Mapping[str, Tensor], wanted: Tensor, *, temperature: float = 1.0) -> Tensor:
        """The same loss at another temperature; arguments as in ``Head``."""
        return label_loss(scores["emissions"], wanted, temperature=temperature)


def outside(probabilities: Floats32, form: Literal["max", "product", "hard"]) -> Floats32:
    """The target of O from those of all other labels.

    Args:
        probabilities: ``[units, C - 1]``, negative where nothing is known.
        form: see ``MultiLabelSettings``.

    Returns:
        ``[units]``; ``IGNORED`` where a label is unknown, unless another one is certain: then O is 0.
    """
    known = np.where(probabilities >= 0, probabilities, 0)
    largest = known.max(axis=1, initial=0)
    forms = {"max": 1 - largest, "product": (1 - known).prod(axis=1), "hard": largest <= 0.5}
    told = (probabilities >= 0).all(axis=1) | (largest >= 1)
    return np.where(told, forms[form], IGNORED).astype(np.float32)

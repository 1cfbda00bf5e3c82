"""Network of masked language modelling: an encoder, and a layer that predicts the hidden pieces.

Shapes: B windows, T pieces, M hidden pieces, V pieces of the vocabulary, d width of the states, e of the embeddings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fascicle.models.encoder import Encoder
from fascicle.models.model import Trainable

NAME: Final = "masked"
LOGITS: Final = "logits"
PLACES: Final = "places"
# Places are padded to a multiple of this number. Each batch has another number of them, and the library for matrix
# products caches code and memory for each number of rows: after some hundred batches more than a gigabyte.
_MULTIPLE: Final = 16
_SPREAD: Final = 0.02  # of the new weights, as in BERT


class MaskedModel(Trainable):
    """Predicts hidden pieces from the states at their positions (BERT §3.1).

    A dense layer, GELU and a normalisation lead to the space of the embeddings. The logit of a piece is the product
    with its embedding, plus a bias of its own. So the embeddings are the weights of the last layer too ("tied").
    """

    def __init__(self, encoder: Encoder) -> None:
        """Draws the new layer from torch's generator.

        Args:
            encoder: with its weights; it becomes part of the model.
        """
        super().__init__()
        self.encoder = encoder
        pieces, width = self.embeddings.shape
        self.transform = nn.Linear(encoder.width, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.bias = nn.Parameter(torch.zeros(pieces))
        nn.init.normal_(self.transform.weight, std=_SPREAD)
        nn.init.zeros_(self.transform.bias)

    @property
    def embeddings(self) -> Tensor:
        """Vectors of the pieces, ``[V, e]``."""
        table: nn.Embedding = self.encoder.network.get_input_embeddings()  # type: ignore[operator]
        return table.weight

    def logits(self, states: Tensor) -> Tensor:
        """Returns the logits of all pieces, ``[M, V]``.

        Args:
            states: of the encoder, ``[M, d]``.
        """
        return F.linear(self.norm(F.gelu(self.transform(states))), self.embeddings, self.bias)

    def forward(self, batch: Mapping[str, Tensor]) -> dict[str, dict[str, Tensor]]:
        """Returns logits only at hidden positions, since the product with all embeddings is expensive.

        Args:
            batch: ``input_ids`` and ``attention_mask`` ``[B, T]``, and ``places`` ``[M]``, counted in ``B * T``.
        """
        states = self.encoder(batch["input_ids"], batch["attention_mask"])
        places = batch[PLACES]
        rows = states.flatten(0, 1)[F.pad(places, (0, -len(places) % _MULTIPLE))]
        return {NAME: {LOGITS: self.logits(rows)[: len(places)]}}

    def loss(self, scores: Mapping[str, Mapping[str, Tensor]], targets: Mapping[str, Tensor]) -> Tensor:
        """Returns the cross-entropy, a mean over the hidden pieces.

        Args:
            scores: of ``forward``.
            targets: ids of the pieces that are hidden, ``[M]``.
        """
        return F.cross_entropy(scores[NAME][LOGITS].float(), targets[NAME])

"""``NerModel``: one encoder, named heads, and the head that answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from fascicle.models.encoder import Encoder
from fascicle.models.heads.contract import Head
from fascicle.text.batch import of_level


class Trainable(nn.Module, ABC):
    """What the training loop trains: an encoder, and something on it that has scores and a loss.

    ``model(batch)`` gives the scores that ``loss`` takes: tables by name, of each head.
    """

    encoder: Encoder

    @abstractmethod
    def loss(self, scores: Mapping[str, Mapping[str, Tensor]], targets: Mapping[str, Tensor]) -> Tensor:
        """A mean over what the heads label.

        Args:
            scores: of ``forward``.
            targets: of each head.
        """


class NerModel(Trainable):
    """One encoder under named heads."""

    def __init__(
        self, encoder: Encoder, heads: Mapping[str, Head], *, answer: str, weights: Mapping[str, float] | None = None
    ) -> None:
        """Puts the parts together.

        Args:
            encoder: pieces to piece states.
            heads: by name.
            answer: the head that answers at inference.
            weights: of the heads' losses in training; all on the answering head by default. A head of weight 0 takes
                no part: the others train as if it were not there.
        """
        super().__init__()
        self.encoder = encoder
        self.heads = nn.ModuleDict(dict(heads))
        self.answer = answer
        given = weights if weights is not None else {answer: 1.0}
        self.weights = {name: weight for name, weight in given.items() if weight > 0}
        self.guidelines: nn.Embedding | None = None

    def follow(self, guidelines: int) -> None:
        """Gives training a vector for each of several guidelines, zero at first; they are no part of the saved model.

        It is added to the embeddings of all pieces of a window, so that the whole encoder can read by it. On the states
        of units it could only make types more or less frequent, for what follows these is one linear layer. Row 0 is of
        no guideline, stays zero, and is what inference reads by.

        Args:
            guidelines: how many.
        """
        rows, width = 1 + guidelines, self.encoder.pieces.embedding_dim
        self.guidelines = nn.Embedding(rows, width, padding_idx=0, _weight=torch.zeros(rows, width))  # draws nothing

    def kept(self) -> dict[str, Tensor]:
        """The tensors of the model without what only training reads."""
        return {name: tensor for name, tensor in self.state_dict().items() if not name.startswith("guidelines.")}

    def head(self, name: str) -> Head:
        """One head."""
        found = self.heads[name]
        assert isinstance(found, Head)  # for the type checker: ModuleDict forgets what it holds
        return found

    def forward(self, batch: Mapping[str, Tensor]) -> dict[str, dict[str, Tensor]]:
        """Score tables of every head that is trained.

        Args:
            batch: of ``text.batch.collate``; with ``guideline``, ``[B]``, what each window is read by, see ``follow``.
        """
        shift = self.guidelines(batch["guideline"]) if self.guidelines is not None and "guideline" in batch else None
        states = self.encoder(batch["input_ids"], batch["attention_mask"], shift)
        return {name: self.head(name).scores(states, of_level(batch, self.head(name).level)) for name in self.weights}

    def answers(self, batch: Mapping[str, Tensor], name: str = "") -> dict[str, Tensor]:
        """Score tables of one head alone, the answering one by default, for a batch in its units."""
        states = self.encoder(batch["input_ids"], batch["attention_mask"])
        return self.head(name or self.answer).scores(states, batch)

    def loss(self, scores: Mapping[str, Mapping[str, Tensor]], targets: Mapping[str, Tensor]) -> Tensor:
        """The losses of the heads, each a mean over its units or spans, mixed by their weights.

        Args:
            scores: of ``forward``.
            targets: of each head.
        """
        first, *others = (self.head(n).loss(scores[n], targets[n]) * w for n, w in self.weights.items())
        return sum(others, first)

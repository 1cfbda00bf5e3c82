"""``NerModel``: one encoder, named heads, and the head that answers."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from fascicle.models.encoder import Encoder
from fascicle.models.head import Head


class NerModel(nn.Module):
    """One encoder under named heads."""

    def __init__(self, encoder: Encoder, heads: Mapping[str, Head], *, answer: str) -> None:
        """Puts the parts together.

        Args:
            encoder: pieces to piece states.
            heads: by name.
            answer: the head that answers at inference.
        """
        super().__init__()
        self.encoder = encoder
        self.heads = nn.ModuleDict(dict(heads))
        self.answer = answer

    def head(self, name: str) -> Head:
        """One head."""
        found = self.heads[name]
        assert isinstance(found, Head)  # for the type checker: ModuleDict forgets what it holds
        return found

    def forward(self, batch: Mapping[str, Tensor]) -> dict[str, dict[str, Tensor]]:
        """Score tables of every head for one batch of ``text.batch.collate``."""
        states = self.encoder(batch["input_ids"], batch["attention_mask"])
        return {name: self.head(name).scores(states, batch) for name in self.heads}

    def answers(self, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Score tables of the answering head alone."""
        states = self.encoder(batch["input_ids"], batch["attention_mask"])
        return self.head(self.answer).scores(states, batch)

    def loss(self, scores: Mapping[str, Mapping[str, Tensor]], targets: Mapping[str, Tensor]) -> Tensor:
        """The loss of the answering head.

        Args:
            scores: of ``forward``.
            targets: of each head.
        """
        return self.head(self.answer).loss(scores[self.answer], targets[self.answer])

"""Network of the finder of relations: reads a text once, and scores pairs of its mentions.

The encoder reads which pieces are mentions of which type, by a vector that is added to their
embeddings. The score of a pair is the sum of a prior, from its types, its distance and how often
its ends are mentioned, and of what is read: the mean states of its two mentions, their product, and
the mean state of what stands between them. Scores of pairs that are evidence of one statement are
added as probabilities are (log-sum-exp).

Its folder holds ``relations.json``, ``model.safetensors``, ``encoder.json`` and ``tokenizer.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fascicle.models.encoder import Encoder
from fascicle.models.model import Answering, check_tensors, read_network, write_network
from fascicle.models.nn.pooling import draw
from fascicle.models.nn.tensors import TensorDict, Tensors
from fascicle.runtime.relations import LOGITS
from fascicle.settings.folders.described import RELATIONS
from fascicle.settings.recipes.relations import RelationManifest, write_relation_manifest
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.relations import FACTS

NAME = "relations"  # name of its only head, in scores and targets
_STD = 0.02  # of tables
_UNRELATED = 3.0  # logit of "not related" at first
_MARKS = 0.02  # of the rate of the other layers: marks are learnt as slowly as the encoder


class _Prior(nn.Module):
    """Logits of a pair before its text is read, from its facts and the types of its mentions."""

    def __init__(self, types: int, width: int, labels: int) -> None:
        super().__init__()
        self.facts = nn.Embedding(FACTS, width)
        self.types = nn.Embedding(types * types, width)
        self.linear = nn.Linear(width, labels)
        self._types = types
        for table in (self.facts, self.types):
            nn.init.normal_(table.weight, std=_STD)
        draw(self.linear)
        # Most pairs are not related. If the layers that read had to learn that, one large state of
        # all pairs would hide the rest.
        with torch.no_grad():
            self.linear.bias[0] = _UNRELATED

    def forward(self, facts: Tensor, types: Tensor) -> Tensor:
        """Returns the logits, ``[P, C]``; facts are ``[P, 3]``, types ``[P, 2]``."""
        pair = self.types(types[:, 0] * self._types + types[:, 1])
        return self.linear(torch.tanh(self.facts(facts).sum(dim=1) + pair))


class RelationModel(Answering):
    """Network over passages of texts -> logits of the labels of each pair, first "not related"."""

    answer = NAME

    def __init__(self, encoder: Encoder, manifest: RelationManifest) -> None:
        """Builds fresh layers on an encoder; draws from torch's generator.

        Args:
            encoder: reads the text.
            manifest: with the settings, the types of mentions and the labels.
        """
        super().__init__()
        settings, types = manifest.model, len(manifest.pairs.of_mentions)
        width = settings.width
        self.encoder = encoder
        # Zero at first, so that the encoder starts as it was trained.
        rows, columns = 1 + types, encoder.pieces.embedding_dim
        zeros = torch.zeros(rows, columns)
        self.marks = nn.Embedding(rows, columns, padding_idx=0, _weight=zeros)
        self.mention = nn.Linear(encoder.width, width)
        self.types = nn.Embedding(types, width)
        self.pair = nn.Linear(3 * width + encoder.width, width)
        self.norm = nn.LayerNorm(width)
        self.prior = _Prior(types, width, 1 + len(manifest.labels))
        self.classifier = nn.Linear(width, 1 + len(manifest.labels), bias=False)
        draw(self.mention)
        draw(self.pair)
        nn.init.normal_(self.types.weight, std=_STD)
        # Zero at first, so that the prior is learnt before the states disturb it.
        nn.init.zeros_(self.classifier.weight)
        self.dropout = nn.Dropout(settings.dropout)

    def logits(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        kinds: Tensor,
        places: Tensor,
        mentions: Tensor,
        pairs: Tensor,
        facts: Tensor,
    ) -> Tensor:
        """Returns the logits of the labels of each pair, ``[P, 1 + L]``.

        Args:
            input_ids: of ``text.relations.pad_passages``, as all arguments.
            attention_mask: see there.
            kinds: see there.
            places: see there.
            mentions: see there.
            pairs: see there.
            facts: see there.
        """
        marks = _MARKS * self.marks(kinds)
        states = self.encoder(input_ids, attention_mask, marks).flatten(0, 1)[places]
        pooled = self.mention(self.dropout(mean_states(states, mentions[:, :2])))
        pooled = torch.tanh(pooled + self.types(mentions[:, 2]))
        first, second = pooled[pairs[:, 0]], pooled[pairs[:, 1]]
        between = mean_states(states, pairs[:, 2:])
        features = self.pair(torch.cat([first, second, first * second, between], dim=1))
        prior = self.prior(facts, mentions[:, 2][pairs[:, :2]])
        return self.classifier(self.dropout(torch.tanh(self.norm(features)))) + prior

    def answers(self, batch: Tensors, name: str = "") -> TensorDict:
        """Scores the pairs of a batch."""
        return {LOGITS: self.logits(**batch)}

    def forward(self, batch: Tensors) -> dict[str, TensorDict]:
        """Returns the scores of the statements of a batch.

        Args:
            batch: see ``logits``; with ``statements``, the statement of each pair, ``[P]``.
        """
        inputs = {name: tensor for name, tensor in batch.items() if name != "statements"}
        logits = self.logits(**inputs).float()
        return {NAME: {LOGITS: add_evidence(logits, batch["statements"])}}

    def loss(self, scores: Mapping[str, Tensors], targets: Tensors) -> Tensor:
        """Returns the cross-entropy of statements.

        Args:
            scores: of ``forward``.
            targets: label of each statement, 0 for "not related", ``[S]``.
        """
        return F.cross_entropy(scores[NAME][LOGITS], targets[NAME])


def mean_states(states: Tensor, ranges: Tensor) -> Tensor:
    """Returns the mean of the states in each range, zero for an empty one, ``[R, d]``.

    Args:
        states: ``[N, d]``.
        ranges: first and one after the last, ``[R, 2]``.
    """
    numbers = torch.arange(states.shape[0], device=states.device)
    inside = (numbers >= ranges[:, :1]) & (numbers < ranges[:, 1:])
    weights = inside.to(states.dtype)
    return weights @ states / weights.sum(dim=1, keepdim=True).clamp(min=1.0)


def add_evidence(logits: Tensor, statements: Tensor) -> Tensor:
    """Returns the log-sum-exp of the logits of the pairs of each statement, ``[S, C]``.

    Args:
        logits: of pairs, ``[P, C]``.
        statements: of each pair, from 0, each at least once, ``[P]``.
    """
    index = statements[:, None].expand_as(logits)
    shape = (int(statements.max()) + 1, logits.shape[1])
    lowest = logits.detach().new_full(shape, -torch.inf)
    highest = lowest.scatter_reduce(0, index, logits.detach(), "amax")
    parts = torch.exp(logits - highest[statements])
    return highest + torch.log(torch.zeros_like(highest).index_add(0, statements, parts))


def save_relations(
    folder: Path, model: RelationModel, *, manifest: RelationManifest, tokenizer: PieceTokenizer
) -> RelationManifest:
    """Writes a finder into an existing, empty folder; returns its manifest as written."""
    write_network(folder, model.state_dict(), model.encoder, tokenizer)
    return write_relation_manifest(folder, msgspec.structs.replace(manifest, runtime="torch"))


def load_relation_model(folder: Path, manifest: RelationManifest) -> RelationModel:
    """Reads a finder of torch in evaluation mode; the tensors of the file must be exactly those
    of the model.

    Raises:
        ModelError: a missing, extra or misshapen tensor, or a damaged file.
    """
    encoder, tensors = read_network(folder, origin=manifest.model.origin, what="folder")
    model = RelationModel(encoder, manifest).eval()
    check_tensors(folder, model, tensors, name=RELATIONS)
    model.load_state_dict(tensors)
    return model

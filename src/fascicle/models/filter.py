"""Network of the learned filter (*comparing-and-combining* §4.6): classifies a mention as right or
wrong.

It has an encoder, a dense layer with tanh over the state of its first special token or over the
mean of all states, and two classes: incorrect, correct. Its folder holds ``filter.json``,
``model.safetensors``, ``encoder.json`` and ``tokenizer.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fascicle.errors import ModelError
from fascicle.models.encoder import Encoder, Pretrained
from fascicle.models.model import Answering, check_tensors, read_network, write_network
from fascicle.models.nn.pooling import draw
from fascicle.models.nn.tensors import TensorDict, Tensors
from fascicle.runtime.filter import LOGITS
from fascicle.settings.folders.described import FILTER
from fascicle.settings.recipes.filter import (
    FilterManifest,
    FilterModelSettings,
    write_filter_manifest,
)
from fascicle.text.pieces import PieceTokenizer

NAME = "filter"  # name of its only head, in scores and targets


class FilterModel(Answering):
    """Filter network: texts with a marked mention -> logits of incorrect and correct."""

    answer = NAME

    def __init__(
        self,
        encoder: Encoder,
        settings: FilterModelSettings,
        *,
        weights: tuple[float, float] | None,
    ) -> None:
        """Builds fresh layers on an encoder; draws from torch's generator.

        Args:
            encoder: whose table of pieces has the markers.
            settings: of the network.
            weights: of incorrect and correct examples in the loss; equal by default.
        """
        super().__init__()
        self.encoder = encoder
        self.pool = settings.pool
        self.pooler = nn.Linear(encoder.width, encoder.width)
        self.classifier = nn.Linear(encoder.width, 2)
        for layer in (self.pooler, self.classifier):
            draw(layer)
        self.dropout = nn.Dropout(settings.dropout)
        self._weights = weights or (1.0, 1.0)

    def logits(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Returns the logits of both classes, ``[B, 2]``.

        Args:
            input_ids: ``[B, T]``.
            attention_mask: 1 where there is a piece, ``[B, T]``.
        """
        states = self.encoder(input_ids, attention_mask)
        if self.pool == "mean":
            real = attention_mask.unsqueeze(-1).to(states.dtype)
            pooled = (states * real).sum(dim=1) / real.sum(dim=1)
        else:
            pooled = states[:, 0]
        return self.classifier(self.dropout(torch.tanh(self.pooler(pooled))))

    def forward(self, batch: Tensors) -> dict[str, TensorDict]:
        """Returns the scores of a batch of ``text.marked.pad_marked``."""
        return {NAME: {LOGITS: self.logits(batch["input_ids"], batch["attention_mask"])}}

    def loss(self, scores: Mapping[str, Tensors], targets: Tensors) -> Tensor:
        """Returns the cross-entropy, a mean weighted by the classes.

        Args:
            scores: of ``forward``.
            targets: 1 for correct, 0 for incorrect, ``[B]``.
        """
        logits = scores[NAME][LOGITS].float()
        return F.cross_entropy(
            logits, targets[NAME], weight=torch.tensor(self._weights, device=logits.device)
        )


@dataclass(frozen=True, kw_only=True)
class UntrainedFilter:
    """Filter before training.

    Attributes:
        model: with fresh layers.
        tokenizer: with the markers.
        marker_ids: start and end.
        notes: sentences on the origin of the layers.
    """

    model: FilterModel
    tokenizer: PieceTokenizer
    marker_ids: tuple[int, int]
    notes: tuple[str, ...]


def make_filter(
    pretrained: Pretrained,
    settings: FilterModelSettings,
    *,
    weights: tuple[float, float] | None = None,
) -> UntrainedFilter:
    """Adds the markers and the layers of a filter to an encoder; draws from torch's generator.

    Args:
        pretrained: the encoder, which becomes part of the model; its table of pieces grows.
        settings: of the network.
        weights: of incorrect and correct examples in the loss.

    Raises:
        ModelError: the tokenizer has one of the markers already.
    """
    markers = (settings.start_marker, settings.end_marker)
    duplicates = [marker for marker in markers if pretrained.tokenizer.id_of(marker) is not None]
    if duplicates:
        raise ModelError(
            f"the tokenizer of {settings.encoder} has the marker {duplicates[0]!r} already, so it "
            "would mean two things; choose others with model.start_marker and model.end_marker, "
            "for example [mention] and [/mention]"
        )
    tokenizer = pretrained.tokenizer.with_tokens(markers)
    start, end = (tokenizer.id_of(marker) for marker in markers)
    assert start is not None
    assert end is not None
    network = pretrained.encoder.network
    rows = max(int(pretrained.encoder.config.vocab_size), tokenizer.size)
    network.resize_token_embeddings(rows, mean_resizing=False)  # type: ignore[operator]
    model = FilterModel(pretrained.encoder, settings, weights=weights)
    note = "the dense layer of the filter is drawn at random: "
    if settings.pool == "mean":
        note += "it reads the mean of all states"
    elif pretrained.pooler is None:
        note += f"{settings.encoder} brings none"
    else:
        model.pooler.load_state_dict(pretrained.pooler)
        note = f"the dense layer of the filter is that of {settings.encoder}"
    return UntrainedFilter(model=model, tokenizer=tokenizer, marker_ids=(start, end), notes=(note,))


def save_filter(
    folder: Path, model: FilterModel, *, manifest: FilterManifest, tokenizer: PieceTokenizer
) -> FilterManifest:
    """Writes a filter into an existing, empty folder; returns its manifest as written."""
    write_network(folder, model.state_dict(), model.encoder, tokenizer)
    return write_filter_manifest(folder, msgspec.structs.replace(manifest, runtime="torch"))


def load_filter_model(folder: Path, manifest: FilterManifest) -> FilterModel:
    """Reads a filter of torch in evaluation mode; the tensors of the file must be exactly those of
    the model.

    Raises:
        ModelError: a missing, extra or misshapen tensor, or a damaged file.
    """
    encoder, tensors = read_network(folder, origin=manifest.model.encoder, what="folder")
    model = FilterModel(encoder, manifest.model, weights=None).eval()
    check_tensors(folder, model, tensors, name=FILTER)
    model.load_state_dict(tensors)
    return model

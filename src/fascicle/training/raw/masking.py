"""Events that a pretraining reports.

Also the card of a pretrained encoder: its text, its settings, and its cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fascicle.core.wording import plural
from fascicle.models.encoder import Encoder, Trainable
from fascicle.models.nn.pooling import draw
from fascicle.models.nn.tensors import TensorDict, Tensors
from fascicle.settings.recipes.pretraining import PretrainingRecipe
from fascicle.training.engine.events import Ended

NAME: Final = "masked"
LOGITS: Final = "logits"
PLACES: Final = "places"
# Places are padded to a multiple of this number. Each batch has another number of them, and the
# library for matrix products caches code and memory for each number of rows: after some hundred
# batches more than a gigabyte.
_MULTIPLE: Final = 16


class MaskedModel(Trainable):
    """Predicts hidden pieces from the states at their positions (BERT §3.1).

    A dense layer, GELU and a normalisation lead to the space of the embeddings. The logit of a
    piece is the product with its embedding, plus a bias of its own. So the embeddings are the
    weights of the last layer too ("tied").
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
        draw(self.transform)

    @property
    def embeddings(self) -> Tensor:
        """Vectors of the pieces, ``[V, e]``."""
        return self.encoder.pieces.weight

    def logits(self, states: Tensor) -> Tensor:
        """Returns the logits of all pieces, ``[M, V]``.

        Args:
            states: of the encoder, ``[M, d]``.
        """
        return F.linear(self.norm(F.gelu(self.transform(states))), self.embeddings, self.bias)

    def forward(self, batch: Tensors) -> dict[str, TensorDict]:
        """Returns logits only at hidden positions, since the product with all embeddings is
        expensive.

        Args:
            batch: ``input_ids`` and ``attention_mask`` ``[B, T]``, and ``places`` ``[M]``, counted
                in ``B * T``.
        """
        states = self.encoder(batch["input_ids"], batch["attention_mask"])
        places = batch[PLACES]
        rows = states.flatten(0, 1)[F.pad(places, (0, -len(places) % _MULTIPLE))]
        return {NAME: {LOGITS: self.logits(rows)[: len(places)]}}

    def loss(self, scores: Mapping[str, Tensors], targets: Tensors) -> Tensor:
        """Returns the cross-entropy, a mean over the hidden pieces.

        Args:
            scores: of ``forward``.
            targets: ids of the pieces that are hidden, ``[M]``.
        """
        return F.cross_entropy(scores[NAME][LOGITS].float(), targets[NAME])


@dataclass(frozen=True, kw_only=True)
class PretrainingFinished(Ended):
    """Event: the end of a pretraining.

    Attributes:
        held_out: final scores on held-out text, see ``raw.pretraining.predict_hidden``; ``None``
            where nothing is.
        step: number of the last step.
        pieces: of the text in all epochs, special tokens not counted.
        cost: seconds of all sessions.
    """

    held_out: Mapping[str, Any] | None
    step: int
    pieces: int
    cost: float

    def as_dict(self) -> dict[str, Any]:
        """See ``Ended``."""
        seconds = round(self.cost, 1)
        return {
            "step": self.step,
            "held_out": self.held_out,
            "pieces": self.pieces,
            "training_seconds": seconds,
        }


def card_lines(
    recipe: PretrainingRecipe, facts: Mapping[str, Any], ended: PretrainingFinished
) -> Iterator[str]:
    """Yields the lines of the card as Markdown.

    Args:
        recipe: of the run.
        facts: ``run.json`` of the run.
        ended: end of the run.
    """
    data, documents = facts["data"], facts["documents"]
    yield f"# {recipe.name}\n"
    yield (
        f"The encoder `{recipe.model.encoder}`, trained further by masked language modelling. It "
        "has no head: name "
        "this folder as `model.encoder` of a recipe.\n"
    )
    yield "| | |\n|---|---|"
    for name, value in _rows(recipe, facts, ended):
        yield f"| {name} | {value} |"
    yield "\n## Text\n"
    for at, path in enumerate(recipe.text.files):
        yield f"- `{Path(path).name}`, sha256 `{data[f'text.files.{at}']['sha256']}`"
    if recipe.text.exclude:
        yield (
            f"- left out by `{Path(recipe.text.exclude).name}`, sha256 "
            f"`{data['text.exclude']['sha256']}`"
        )
    for name, values in documents["facts"].items():
        yield f"- {name}: {', '.join(f'{value} ({count:,})' for value, count in values.items())}"


def _rows(
    recipe: PretrainingRecipe, facts: Mapping[str, Any], ended: PretrainingFinished
) -> Iterator[tuple[str, str]]:
    documents, environment = facts["documents"], facts["environment"]
    learned = facts["windows"]["pieces"]
    yield "pieces", f"{learned:,} in {plural(recipe.training.epochs, 'epoch')}"
    yield "steps", f"{ended.step:,} of {facts['steps']:,}"
    yield (
        "documents",
        f"drawn from {documents['learned']:,}; {documents['held_out']:,} more are held out",
    )
    yield "seed", str(recipe.seed)
    if scores := ended.held_out:
        yield (
            "held-out pseudo-perplexity",
            f"{scores['perplexity']:.3f} ({scores['pieces']:,} hidden pieces)",
        )
    yield (
        "cost",
        f"{ended.cost / 3600:.2f} hours, {environment['threads']} threads, {facts['precision']}",
    )
    yield "processor", str(environment["processor"])
    yield (
        "vocabulary",
        f"{facts['tokenizer']['size']:,} pieces, tokenizer sha256 `{facts['tokenizer']['sha256']}`",
    )
    yield (
        "windows",
        f"{facts['windows']['windows']:,} of {recipe.text.window} pieces, sha256 "
        f"`{facts['windows']['sha256']}`",
    )
    yield "Fascicle", str(environment["packages"]["fascicle"])

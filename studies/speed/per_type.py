"""The rival that reads the text once for each type: a stand-in for MRC-NER, for the comparison of
times only.

In front of the text stands the description of a type, so that one encoder reads both; two linear
layers then say of each word whether a mention of the type begins or ends there (Li et al. 2020).
That takes one pass of the encoder for each type over a longer text, which is what it costs. The
score of each pair of a start and an end, which their model adds, is left out: it is small beside
the passes, and to the favour of the rival. Nothing is claimed about its accuracy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from fascicle.core.document import Document
from fascicle.core.session import length_sorted_batches
from fascicle.models.encoder import Encoder
from fascicle.models.heads.binder import TypeTexts
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import read_documents
from fascicle.text.windows import collate
from fascicle.training.recogniser.data import TrainingSet


class OnePassPerType(nn.Module):
    """The encoder over descriptions and text, and whether a mention begins or ends at each word."""

    def __init__(self, encoder: Encoder, texts: TypeTexts) -> None:
        """Takes an encoder, and one text a type."""
        super().__init__()
        self.encoder = encoder
        self.ends = nn.Linear(encoder.width, 2)
        self.descriptions = [
            torch.from_numpy(row[: int(mask.sum())])
            for row, mask in zip(texts.ids, texts.mask, strict=True)
        ]

    def forward(self, batch: Mapping[str, Tensor], kind: int) -> Tensor:
        """Logits of beginning and ending at each unit, ``[B, U, 2]``, of one type."""
        ahead = self.descriptions[kind]
        rows = len(batch["input_ids"])
        # one special token in front
        ids = torch.cat([ahead.expand(rows, -1), batch["input_ids"][:, 1:]], dim=1)
        mask = torch.cat(
            [torch.ones(rows, len(ahead), dtype=torch.int64), batch["attention_mask"][:, 1:]], dim=1
        )
        states = self.encoder(ids, mask)[:, len(ahead) - 1 :]
        places = [
            batch[name][..., None].expand(-1, -1, states.shape[2])
            for name in ("first_piece", "last_piece")
        ]
        first, last = (self.ends(states.gather(1, at).float()) for at in places)
        return torch.stack([first[..., 0], last[..., 1]], dim=2)


class PerTypePupil:
    """The rival in training, on the batches of the others."""

    def __init__(self, model: OnePassPerType, data: TrainingSet, recipe: Recipe) -> None:
        """Takes the training set of a bi-encoder, whose gold names windows, units and types."""
        self.model = model.train()
        self._data, self._settings, self._seed = data, recipe.training, recipe.seed
        self._optimizer = torch.optim.AdamW(
            model.parameters(), lr=recipe.training.learning_rate, fused=True
        )
        self._batches = self._endless()

    def _endless(self) -> Iterator[tuple[dict[str, Tensor], dict[str, Tensor]]]:
        epoch = 0
        while True:
            yield from self._data.batches(
                size=self._settings.batch_size, seed=self._seed, epoch=epoch
            )
            epoch += 1

    def step(self) -> float:
        """One change of the weights: every type is read, one after the other, and their
        gradients are added up.
        """
        batch, targets = next(self._batches)
        (gold,) = targets.values()
        inside = torch.arange(batch["first_piece"].shape[1]) < batch["unit_count"][:, None]
        total = 0.0
        for kind in range(len(self.model.descriptions)):
            with torch.autocast(
                "cpu", dtype=torch.bfloat16, enabled=self._settings.precision == "bf16"
            ):
                logits = self.model(batch, kind)
            wanted = torch.zeros_like(logits)
            row, first, last, _ = gold[gold[:, 3] == kind].unbind(1)
            wanted[row, first, 0], wanted[row, last, 1] = 1.0, 1.0
            loss = nn.functional.binary_cross_entropy_with_logits(logits[inside], wanted[inside])
            loss.backward()
            total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        return total


def spans_of(
    model: OnePassPerType, documents: Sequence[Document], tokenizer: PieceTokenizer, recipe: Recipe
) -> list[list[tuple[int, int, int]]]:
    """First unit, last unit and type of the mentions of each document: each start with the next
    end.
    """
    read = read_documents(documents, tokenizer, reading=recipe.reading, level="word")
    windows = [w for cut in read.windows for w in cut]
    extra = len(tokenizer.prefix) + len(tokenizer.suffix)
    found: list[list[tuple[int, int, int]]] = [[] for _ in documents]
    for chosen in length_sorted_batches([w.pieces[1] - w.pieces[0] + extra for w in windows]):
        together = [windows[i] for i in chosen]
        batch = {
            name: torch.from_numpy(a)
            for name, a in collate(together, read.pieces, tokenizer).items()
        }
        for kind in range(len(model.descriptions)):
            with torch.inference_mode():
                said = (model(batch, kind) > 0).numpy()
            for row, window in enumerate(together):
                size, at = window.units[1] - window.units[0], window.units[0]
                ends = np.flatnonzero(said[row, :size, 1])
                for start in np.flatnonzero(said[row, :size, 0]).tolist():
                    later = ends[ends >= start]
                    found[window.document] += (
                        [(start + at, int(later[0]) + at, kind)] if len(later) else []
                    )
    return found

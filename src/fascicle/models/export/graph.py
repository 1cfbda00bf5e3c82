"""What is traced: a network as a function of tensors by name.

The encoder of types of a bi-encoder as a graph of its own, so that an export can look for other types.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fascicle.models.export.optimise import RangeRecorder
from fascicle.models.filter import FilterModel
from fascicle.models.heads.binder import BinderHead, TypeEncoder
from fascicle.models.model import NerModel
from fascicle.runtime.filter import LOGITS
from fascicle.runtime.types import TypedScorer
from fascicle.text.windows import TYPE_VECTORS


class Graph(nn.Module):
    """A network as a function of tensors by name, which is what is traced."""

    outputs: tuple[str, ...]

    @abstractmethod
    def example(self, sizes: Mapping[str, int]) -> dict[str, Tensor]:
        """Inputs of given sizes with padding in the last row."""

    @abstractmethod
    def axes(self) -> dict[str, tuple[str, ...]]:
        """Names of the axes of every input and output."""


def texts_of(sizes: Mapping[str, int], *, vocabulary: int) -> tuple[dict[str, Tensor], torch.Generator]:
    """Piece ids with padding in the last row, and the generator to draw more from."""
    batch, pieces = sizes["batch"], sizes["pieces"]
    generator = torch.Generator().manual_seed(0)
    mask = torch.ones(batch, pieces, dtype=torch.long)
    mask[-1, pieces // 2 :] = 0
    ids = torch.randint(0, vocabulary, (batch, pieces), generator=generator)
    return {"input_ids": ids, "attention_mask": mask}, generator


class TypesGraphModule(Graph):
    """Texts about types -> the vectors that a text is compared with, ``[kinds, K, h]``."""

    outputs = (TYPE_VECTORS,)

    def __init__(self, model: NerModel) -> None:
        """Takes the answering head of a model, which must read about its types."""
        super().__init__()
        head = model.head(model.answer)
        assert isinstance(head, BinderHead)  # the caller looked
        assert isinstance(head.types, TypeEncoder)
        self.head, self.types = head, head.types
        self.encoder = self.types.encoder
        self.longest = self.encoder.longest
        # The mean over a text needs no place, and a graph has no input that it does not use.
        self.inputs = ("input_ids", "attention_mask", *(() if self.types.mean else ("place",)))

    def forward(self, input_ids: Tensor, attention_mask: Tensor, place: Tensor | None = None) -> Tensor:
        """The vectors; arguments as in ``TypeEncoder.read_together``."""
        states = self.types.read_together(input_ids, attention_mask, place, each=self.types.each)
        projected = self.head.scorer.project_types(states)
        return torch.stack([projected[kind] for kind in self.head.scorer.kinds]).detach()

    def example(self, sizes: Mapping[str, int]) -> dict[str, Tensor]:
        """See ``Graph``; the batch is of the texts of so many types."""
        texts = {**sizes, "batch": sizes["types"] * self.types.each}
        read, _ = texts_of(texts, vocabulary=int(self.encoder.config.vocab_size))
        tensors = {**read, "place": torch.arange(texts["batch"]) % (sizes["pieces"] // 2)}
        return {name: tensors[name] for name in self.inputs}

    def axes(self) -> dict[str, tuple[str, ...]]:
        """See ``Graph``."""
        read = {name: ("texts",) if name == "place" else ("texts", "pieces") for name in self.inputs}
        return {**read, TYPE_VECTORS: ("", "types", "")}

    def free(self, axes: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """The axes of score tables, the last of which are the types, with a free number of these."""
        return {name: (*names[:-1], "types") for name, names in axes.items()}

    def vectors(self, types: int, generator: torch.Generator) -> Tensor:
        """Vectors of norm 1, drawn."""
        kinds, _, width = self.head.vectors.shape
        return F.normalize(torch.randn(kinds, types, width, generator=generator), dim=-1)

    def beside(self, recorder: RangeRecorder) -> TypedScorer:
        """A scorer that is given the vectors of the model's own types."""
        return TypedScorer(scorer=recorder, vectors=np.asarray(self.head.vectors.detach()))


class AnsweringGraph(Graph):
    """The answering head of a model; with a graph for types, their vectors are an input and their number is free."""

    def __init__(self, model: NerModel, second: TypesGraphModule | None = None) -> None:
        super().__init__()
        self.model = model
        head = model.head(model.answer)
        self.outputs = head.outputs
        self.table_axes = second.free(head.axes) if second else head.axes
        self.second = (second,)  # a tuple, which torch does not look into
        self.inputs = ("input_ids", "attention_mask", *head.inputs, *((TYPE_VECTORS,) if second else ()))
        self._columns = 0 if head.units.vectors is None else len(head.units.vectors.table)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        first_piece: Tensor | None = None,
        last_piece: Tensor | None = None,
        unit_of_piece: Tensor | None = None,
        features: Tensor | None = None,
        type_vectors: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """Score tables, in the order of ``outputs``."""
        given = {
            "input_ids": input_ids,
            "attention_mask": attention_mask,
            "first_piece": first_piece,
            "last_piece": last_piece,
            "unit_of_piece": unit_of_piece,
            "features": features,
            TYPE_VECTORS: type_vectors,
        }
        tables = self.model.answers({name: t for name, t in given.items() if t is not None})
        return tuple(tables[name].detach() for name in self.outputs)

    def example(self, sizes: Mapping[str, int]) -> dict[str, Tensor]:
        """See ``Graph``."""
        batch, pieces, units = sizes["batch"], sizes["pieces"], sizes["units"]
        read, generator = texts_of(sizes, vocabulary=int(self.model.encoder.config.vocab_size))
        unit_of = (torch.arange(pieces) * units // pieces).repeat(batch, 1)
        unit_of[:, 0] = unit_of[:, -1] = -1
        first = torch.randint(0, pieces, (batch, units), generator=generator)
        tensors = {
            **read,
            "first_piece": first,
            "last_piece": (first + 1).clamp(max=pieces - 1),
            "unit_of_piece": unit_of,
            "features": torch.randint(0, 2, (batch, units, self._columns), generator=generator),
        }
        if second := self.second[0]:
            tensors[TYPE_VECTORS] = second.vectors(sizes["types"], generator)
        return {name: tensors[name] for name in self.inputs}

    def axes(self) -> dict[str, tuple[str, ...]]:
        """See ``Graph``."""
        known = {
            "input_ids": ("batch", "pieces"),
            "attention_mask": ("batch", "pieces"),
            "first_piece": ("batch", "units"),
            "last_piece": ("batch", "units"),
            "unit_of_piece": ("batch", "pieces"),
            "features": ("batch", "units", ""),
            TYPE_VECTORS: ("", "types", ""),
        }
        return {name: known[name] for name in self.inputs} | dict(self.table_axes)


class FilterGraph(Graph):
    """A filter."""

    outputs = (LOGITS,)

    def __init__(self, model: FilterModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Logits of each text."""
        return self.model.logits(input_ids, attention_mask).detach()

    def example(self, sizes: Mapping[str, int]) -> dict[str, Tensor]:
        """See ``Graph``."""
        return texts_of(sizes, vocabulary=int(self.model.encoder.config.vocab_size))[0]

    def axes(self) -> dict[str, tuple[str, ...]]:
        """See ``Graph``."""
        return {"input_ids": ("batch", "pieces"), "attention_mask": ("batch", "pieces"), LOGITS: ("batch", "")}

"""Exports networks to ONNX; the traced unit is a network as a function of tensors by name.

The encoder of types of a bi-encoder is exported as a separate graph, so that an export can look for
other types.

A torch module becomes an ONNX graph in float32, equal to it for every size of batch and text.

The graph is traced (``dynamo=False``). On BERT, RoBERTa, ELECTRA, DistilBERT, XLM-RoBERTa, ALBERT,
MPNet, DeBERTa-v2 and ModernBERT both exporters of torch are right within 1e-6; the traced graph is
written ten times sooner, runs a tenth faster as integers, and needs no further package.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fascicle.errors import ModelError
from fascicle.models.export.optimise import RangeRecorder
from fascicle.models.filter import FilterModel
from fascicle.models.heads.binder import BinderHead, TypeEncoder
from fascicle.models.heads.contract import evaluation_mode
from fascicle.models.model import NerModel
from fascicle.models.nn.tensors import TensorDict, Tensors
from fascicle.models.relations import RelationModel
from fascicle.runtime.filter import LOGITS
from fascicle.runtime.inputs import TypedScorer
from fascicle.text.windows import TYPE_VECTORS

_TEXTS = {"input_ids": ("batch", "pieces"), "attention_mask": ("batch", "pieces")}
# The first with a maximum in ScatterElements (18), which max pooling over the pieces of a word
# needs.
_OPSET = 18
_EXAMPLE = {"batch": 3, "pieces": 11, "units": 7, "types": 5}
_OTHER = {"batch": 2, "pieces": 29, "units": 19, "types": 4}


class Graph(nn.Module):
    """Network as a function of tensors by name; this is the unit that is traced."""

    outputs: tuple[str, ...]

    @abstractmethod
    def example(self, sizes: Mapping[str, int]) -> TensorDict:
        """Returns inputs of the given sizes with padding in the last row."""

    @abstractmethod
    def axes(self) -> dict[str, tuple[str, ...]]:
        """Returns the names of the axes of every input and output."""


def _texts_of(sizes: Mapping[str, int], *, vocabulary: int) -> tuple[TensorDict, torch.Generator]:
    """Returns piece ids with padding in the last row, and the generator for further random
    draws.
    """
    batch, pieces = sizes["batch"], sizes["pieces"]
    generator = torch.Generator().manual_seed(0)
    mask = torch.ones(batch, pieces, dtype=torch.long)
    mask[-1, pieces // 2 :] = 0
    ids = torch.randint(0, vocabulary, (batch, pieces), generator=generator)
    return {"input_ids": ids, "attention_mask": mask}, generator


class TypesGraphModule(Graph):
    """Graph of the type encoder: texts about types -> type vectors, ``[kinds, K, h]``."""

    outputs = (TYPE_VECTORS,)

    def __init__(self, model: NerModel) -> None:
        """Takes the answering head of a model, which must read type descriptions."""
        super().__init__()
        head = model.head(model.answer)
        assert isinstance(head, BinderHead)  # the caller has checked this
        assert isinstance(head.types, TypeEncoder)
        self.head, self.types = head, head.types
        self.encoder = self.types.encoder
        self.longest = self.encoder.longest
        # The mean over a text needs no place, and a graph must not have an unused input.
        self.inputs = ("input_ids", "attention_mask", *(() if self.types.mean else ("place",)))

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, place: Tensor | None = None
    ) -> Tensor:
        """Returns the type vectors; arguments as in ``TypeEncoder.read_together``."""
        states = self.types.read_together(input_ids, attention_mask, place, each=self.types.each)
        projected = self.head.scorer.project_types(states)
        return torch.stack([projected[kind] for kind in self.head.scorer.kinds]).detach()

    def example(self, sizes: Mapping[str, int]) -> TensorDict:
        """See ``Graph``; the batch is of the texts of so many types."""
        texts = {**sizes, "batch": sizes["types"] * self.types.each}
        inputs, _ = _texts_of(texts, vocabulary=int(self.encoder.config.vocab_size))
        tensors = {**inputs, "place": torch.arange(texts["batch"]) % (sizes["pieces"] // 2)}
        return {name: tensors[name] for name in self.inputs}

    def axes(self) -> dict[str, tuple[str, ...]]:
        """See ``Graph``."""
        axes = {
            name: ("texts",) if name == "place" else ("texts", "pieces") for name in self.inputs
        }
        return {**axes, TYPE_VECTORS: ("", "types", "")}

    def vectors(self, types: int, generator: torch.Generator) -> Tensor:
        """Draws random vectors of norm 1."""
        kinds, _, width = self.head.vectors.shape
        return F.normalize(torch.randn(kinds, types, width, generator=generator), dim=-1)

    def beside(self, recorder: RangeRecorder) -> TypedScorer:
        """Returns a scorer that receives the vectors of the model's own types as an input."""
        return TypedScorer(scorer=recorder, vectors=np.asarray(self.head.vectors.detach()))


class AnsweringGraph(Graph):
    """Graph of the answering head; with a graph for types, the type vectors are an input of any
    number.
    """

    def __init__(self, model: NerModel, second: TypesGraphModule | None = None) -> None:
        super().__init__()
        self.model = model
        head = model.head(model.answer)
        self.outputs = head.outputs
        self.table_axes = dict(head.axes)
        if second:  # any number of types
            self.table_axes = {name: (*axes[:-1], "types") for name, axes in head.axes.items()}
        self.second = (second,)  # a tuple, so that torch does not register the module
        self.inputs = (
            "input_ids",
            "attention_mask",
            *head.inputs,
            *((TYPE_VECTORS,) if second else ()),
        )
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
        """Returns the score tables, in the order of ``outputs``."""
        inputs = {
            "input_ids": input_ids,
            "attention_mask": attention_mask,
            "first_piece": first_piece,
            "last_piece": last_piece,
            "unit_of_piece": unit_of_piece,
            "features": features,
            TYPE_VECTORS: type_vectors,
        }
        tables = self.model.answers({name: t for name, t in inputs.items() if t is not None})
        return tuple(tables[name].detach() for name in self.outputs)

    def example(self, sizes: Mapping[str, int]) -> TensorDict:
        """See ``Graph``."""
        batch, pieces, units = sizes["batch"], sizes["pieces"], sizes["units"]
        inputs, generator = _texts_of(sizes, vocabulary=int(self.model.encoder.config.vocab_size))
        unit_of = (torch.arange(pieces) * units // pieces).repeat(batch, 1)
        unit_of[:, 0] = unit_of[:, -1] = -1
        first = torch.randint(0, pieces, (batch, units), generator=generator)
        tensors = {
            **inputs,
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
        axes = {
            **_TEXTS,
            "first_piece": ("batch", "units"),
            "last_piece": ("batch", "units"),
            "unit_of_piece": ("batch", "pieces"),
            "features": ("batch", "units", ""),
            TYPE_VECTORS: ("", "types", ""),
        }
        return {name: axes[name] for name in self.inputs} | self.table_axes


class FilterGraph(Graph):
    """Graph of a filter."""

    outputs = (LOGITS,)

    def __init__(self, model: FilterModel) -> None:
        super().__init__()
        self.model = model

    def example(self, sizes: Mapping[str, int]) -> TensorDict:
        """See ``Graph``."""
        return _texts_of(sizes, vocabulary=int(self.model.encoder.config.vocab_size))[0]

    def axes(self) -> dict[str, tuple[str, ...]]:
        """See ``Graph``."""
        return {**_TEXTS, self.outputs[0]: ("batch", "")}

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Returns the logits of each text."""
        return self.model.logits(input_ids, attention_mask).detach()


class RelationGraph(Graph):
    """Graph of a finder of relations."""

    outputs = (LOGITS,)

    def __init__(self, model: RelationModel) -> None:
        super().__init__()
        self.model = model

    def example(self, sizes: Mapping[str, int]) -> TensorDict:
        """See ``Graph``; the types are those of mentions, and a pair is a unit."""
        model, count = self.model, sizes["types"]
        texts, generator = _texts_of(sizes, vocabulary=int(model.encoder.config.vocab_size))

        def drawn(most: int, *shape: int) -> Tensor:
            return torch.randint(0, most, shape, generator=generator)

        states = sizes["batch"] * sizes["pieces"]
        places = torch.arange(0, states, 2)
        starts, gaps = drawn(len(places), count, 1), drawn(len(places), sizes["units"], 1)
        kinds = drawn(model.types.num_embeddings, count, 1)
        return {
            **texts,
            "kinds": drawn(model.marks.num_embeddings, *texts["input_ids"].shape),
            "places": places,
            "mentions": torch.cat([starts, starts + 2, kinds], dim=1),
            "pairs": torch.cat([drawn(count, sizes["units"], 2), gaps, gaps + 3], dim=1),
            "facts": drawn(model.prior.facts.num_embeddings, sizes["units"], 3),
        }

    def axes(self) -> dict[str, tuple[str, ...]]:
        """See ``Graph``."""
        return {
            **_TEXTS,
            "kinds": ("batch", "pieces"),
            "places": ("places",),
            "mentions": ("mentions", ""),
            "pairs": ("pairs", ""),
            "facts": ("pairs", ""),
            self.outputs[0]: ("pairs", ""),
        }

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        kinds: Tensor,
        places: Tensor,
        mentions: Tensor,
        pairs: Tensor,
        facts: Tensor,
    ) -> Tensor:
        """Returns the logits of each pair."""
        inputs = (input_ids, attention_mask, kinds, places, mentions, pairs, facts)
        return self.model.logits(*inputs).detach()


def export_onnx(
    module: nn.Module,
    path: str | Path,
    *,
    example: Tensors,
    dynamic: Mapping[str, tuple[str, ...]],
    outputs: Sequence[str],
) -> None:
    """Writes ``module`` as one ONNX file, in float32, for tensors of any size along the named axes.

    Attention is exported in its ``eager`` form whatever form the module uses, because that is the
    one that can be fused; the module comes back as it was (form of attention, training mode). A
    graph of more than 2 GB does not fit one file and is refused by the exporter.

    Two things a module must respect, since it is traced: no Python branch on the content of a
    tensor, and no ``scatter_reduce(include_self=False)``, which ONNX lacks (fill with the lowest
    number and include it).

    Args:
        module: Takes the tensors of ``example`` as keyword arguments, returns one tensor or a tuple
            of them.
        path: The file to write.
        example: Inputs by name, in the order of the graph. Every named axis must be at least 2
            long, and axes of different names should differ in length, or tracing cannot tell a size
            from a constant.
        dynamic: For every input and output the name of each of its axes, ``""`` for an axis of
            fixed size. Shape of an entry: one name per axis.
        outputs: The names of the tensors that ``module`` returns.

    Raises:
        ValueError: An input or output has no entry in ``dynamic``, or an example is too small to
            trace.
        ModelError: The exporter cannot write this module; the reason follows.
    """
    _check_example(example, dynamic, outputs)
    axes = {
        name: {axis: label for axis, label in enumerate(labels) if label}
        for name, labels in dynamic.items()
    }
    with _ready_to_trace(module), _quietly():
        try:
            torch.onnx.export(
                module,
                (),
                str(path),
                kwargs=dict(example),
                input_names=list(example),
                output_names=list(outputs),
                dynamic_axes=axes,
                opset_version=_OPSET,
                dynamo=False,
            )
        except (torch.onnx.errors.OnnxExporterError, RuntimeError) as error:
            reason = str(error).strip().split("\n", 1)[0]
            raise ModelError(f"This model cannot be written as ONNX: {reason}") from error
    _name_outputs(path, outputs)


def _name_outputs(path: str | Path, outputs: Sequence[str]) -> None:
    """Gives every output its name: the tracer drops the name of an output that it folds into a
    constant.
    """
    import onnx

    model = onnx.load(str(path))
    renamed = [
        (output, name)
        for output, name in zip(model.graph.output, outputs, strict=True)
        if output.name != name
    ]
    for output, name in renamed:
        model.graph.node.append(onnx.helper.make_node("Identity", [output.name], [name]))
        output.name = name
    if renamed:
        onnx.save(model, str(path))


def largest_difference(module: nn.Module, path: str | Path, *, inputs: Tensors) -> float:
    """Returns the largest difference between an exported graph and its module on the same inputs.

    Args:
        module: The exported module.
        path: The ONNX file.
        inputs: Tensors by name; use other sizes than the example of the export.

    Returns:
        The largest absolute difference over all outputs, infinite where one side is not a number.

    Raises:
        ModelError: The file is damaged, or an output has another shape than the module's.
    """
    from fascicle.core.session import OnnxSession

    with _ready_to_trace(module), torch.inference_mode():
        expected = module(**inputs)
    tensors = (expected,) if isinstance(expected, Tensor) else tuple(expected)
    tables = OnnxSession.open(path).run({name: tensor.numpy() for name, tensor in inputs.items()})
    worst = 0.0
    for tensor, (name, table) in zip(tensors, tables.items(), strict=True):
        if tuple(tensor.shape) != table.shape:
            raise ModelError(
                f"The exported graph gives {name} as {table.shape}, the model as "
                f"{tuple(tensor.shape)}"
            )
        gap = np.abs(tensor.numpy().astype(np.float64) - table).max(initial=0.0)
        worst = max(worst, float(gap) if np.isfinite(gap) else float("inf"))
    return worst


@contextmanager
def _ready_to_trace(module: nn.Module) -> Iterator[None]:
    """Sets evaluation mode and eager attention for the block, and restores both afterwards."""
    configs: dict[int, Any] = {
        id(part.config): part.config for part in module.modules() if hasattr(part, "config")
    }
    implementations = (
        (config, getattr(config, "_attn_implementation", None)) for config in configs.values()
    )
    forms = [(config, form) for config, form in implementations if form is not None]
    for config, _ in forms:
        config._attn_implementation = "eager"
    try:
        with evaluation_mode(module):
            yield
    finally:
        for config, form in forms:
            config._attn_implementation = form


@contextmanager
def _quietly() -> Iterator[None]:
    """Keeps the exporter from printing the graph of a failed export, and from warnings about
    every size.
    """
    torch._C._jit_set_onnx_log_output_stream("stderr")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        torch._C._jit_set_onnx_log_output_stream("stdout")


def _check_example(
    example: Tensors, dynamic: Mapping[str, tuple[str, ...]], outputs: Sequence[str]
) -> None:
    names = [*example, *outputs]
    if set(names) != set(dynamic) or len(set(names)) != len(names):
        raise ValueError(
            f"dynamic names {sorted(dynamic)}, but the inputs and outputs are {sorted(names)}"
        )
    for name, tensor in example.items():
        if tensor.dim() != len(dynamic[name]):
            raise ValueError(
                f"{name} has {tensor.dim()} axes, but dynamic names {len(dynamic[name])}: "
                f"{dynamic[name]}"
            )
        for label, size in zip(dynamic[name], tensor.shape, strict=True):
            if label and size < 2:
                raise ValueError(
                    f"axis {label} of {name} must be at least 2 long in the example, got {size}"
                )


def write_graph(graph: Graph, path: Path) -> float:
    """Writes a graph; returns the largest difference between it and torch."""
    export_onnx(
        graph, path, example=graph.example(_EXAMPLE), dynamic=graph.axes(), outputs=graph.outputs
    )
    return largest_difference(graph, path, inputs=graph.example(_OTHER))

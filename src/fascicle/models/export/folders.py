"""A trained model or filter becomes a folder that runs without torch: ONNX graph, tokenizer, manifest, card."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import msgspec
import torch
from torch import Tensor

from fascicle.core.document import Document
from fascicle.core.spans import Span
from fascicle.core.wording import counted
from fascicle.errors import ModelError, UsageError
from fascicle.files.atomic import atomic_folder
from fascicle.models.export.cards import filter_card, model_card
from fascicle.models.export.graph import Graph, TypesGraphModule, texts_of
from fascicle.models.export.onnx import export_onnx, largest_difference
from fascicle.models.export.optimise import RangeRecorder, fix_scales, merge, quantise
from fascicle.models.filter import FilterModel, load_filter_model
from fascicle.models.model import TOKENIZER, NerModel, load_model
from fascicle.runtime.filter import LOGITS, MentionFilter
from fascicle.runtime.inputs import reader_of
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.folders.best import model_folder
from fascicle.settings.folders.described import CARD
from fascicle.settings.folders.manifest import (
    TYPES_GRAPH,
    Manifest,
    TypesGraph,
    check_files,
    check_open_types,
    read_manifest,
    write_manifest,
)
from fascicle.settings.recipes.filter import FILTER, FilterManifest, read_filter_manifest, write_filter_manifest
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.taught import TAUGHT
from fascicle.text.windows import TYPE_VECTORS

GRAPH = "model.onnx"
SAMPLE_CHARACTERS = 100_000
_TOLERANCE = 1e-3  # of a score, fp32 graph against torch; 1e-5 is usual

_EXAMPLE_SIZES = {"batch": 3, "pieces": 11, "units": 7, "types": 5}
_OTHER_SIZES = {"batch": 2, "pieces": 29, "units": 19, "types": 4}

M = TypeVar("M", Manifest, FilterManifest)


def export_model(
    folder: Path,
    target: Path,
    *,
    sample: Sequence[Document] = (),
    int8: bool = True,
    name: str | None = None,
    types_encoder: bool = False,
    overwrite: bool = False,
) -> Manifest:
    """Exports a model folder of torch.

    The fp32 graph is compared with the torch model before anything takes its final name.

    Args:
        folder: with ``model.json`` and ``model.safetensors``; a run folder stands for its ``best``.
        target: folder to write.
        sample: texts like those the model will read, best its training documents: the ranges of 8-bit activations are
            measured on the first ``SAMPLE_CHARACTERS`` of them.
        int8: store weights and embeddings in 8 bits.
        name: of the exported model; the old one by default.
        types_encoder: also write what reads about types, so that the export can look for other ones; in 32 bits, for
            it reads little.
        overwrite: replace an existing folder.

    Returns:
        The manifest as written.

    Raises:
        ModelError: the folder is no torch model, or cannot be written as ONNX.
        UsageError: 8 bits without sample texts, a folder that is an export already, or a model that can look for no
            other types.
        OutputError: the target exists.
    """
    folder = model_folder(folder)
    manifest = read_manifest(folder)
    _check_torch(folder, manifest.runtime, what="model")
    if int8 and not any(d.text.strip() for d in sample):
        raise UsageError("8-bit export needs sample texts to measure activations on; give some with sample=FILE")
    check_files(folder, manifest)
    read = reader_of(folder, manifest)  # which refuses dictionaries that are not among the files
    if types_encoder:
        check_open_types(folder, manifest)
    model = load_model(folder, manifest)
    second = TypesGraphModule(model) if types_encoder else None
    cargo = _Cargo(
        kind="model",
        graph=_AnsweringGraph(model, second),
        second=second,
        manifest=_as_exported(manifest, name or manifest.name, second),
        sample=excerpt(sample, characters=SAMPLE_CHARACTERS) if int8 else [],
        predict=lambda tokenizer, recorder, texts: ModelPredictor(
            manifest, tokenizer, second.beside(recorder) if second else recorder, read=read
        ).predict(texts),
        measured=lambda texts: counted(sum(len(d.text) for d in texts), "character"),
        card=model_card,
        write=write_manifest,
        beside=_copies(manifest),
    )
    return _export(cargo, folder, target, int8=int8, overwrite=overwrite)


def export_filter(
    folder: Path,
    target: Path,
    *,
    sample: Sequence[Document] = (),
    int8: bool = True,
    name: str | None = None,
    overwrite: bool = False,
) -> FilterManifest:
    """Exports a filter of torch, as ``export_model`` does a model.

    Args:
        folder: with ``filter.json`` and ``model.safetensors``; a run folder stands for its ``best``.
        target: folder to write.
        sample: texts with mentions like those that the filter will judge.
        int8: store weights and embeddings in 8 bits.
        name: of the exported filter; the old one by default.
        overwrite: replace an existing folder.

    Returns:
        The manifest as written.

    Raises:
        ModelError: the folder is no filter of torch, or cannot be written as ONNX.
        UsageError: 8 bits without sample mentions, or a folder that is an export already.
        OutputError: the target exists.
    """
    folder = model_folder(folder)
    manifest = read_filter_manifest(folder)
    _check_torch(folder, manifest.runtime, what="filter")
    if int8 and not any(document.mentions for document in sample):
        raise UsageError("8-bit export of a filter needs texts with mentions; give some with sample=FILE")
    check_files(folder, manifest, name=FILTER)
    cargo = _Cargo(
        kind="filter",
        graph=_FilterGraph(load_filter_model(folder, manifest)),
        manifest=msgspec.structs.replace(manifest, runtime="onnx", name=name or manifest.name),
        sample=_with_a_mention(sample) if int8 else [],
        predict=lambda tokenizer, recorder, texts: MentionFilter(manifest, tokenizer, recorder).judge(
            texts, [document.mentions for document in texts]
        ),
        measured=lambda texts: counted(sum(len(document.mentions) for document in texts), "mention"),
        card=filter_card,
        write=write_filter_manifest,
    )
    return _export(cargo, folder, target, int8=int8, overwrite=overwrite)


@dataclass(frozen=True, kw_only=True)
class _Cargo(Generic[M]):
    """What is exported.

    Attributes:
        kind: of the folder.
        graph: of the network.
        manifest: of the export, without hashes.
        sample: texts that 8-bit activations are measured on.
        predict: tokenizer, scorer and texts -> answers, of which only the way to them matters.
        measured: the size of the sample in words.
        card: manifest and facts -> the text of the card.
        write: of the manifest.
        second: what reads about types, as a graph of its own.
        beside: further files of the folder, which stay as they are.
    """

    kind: str
    graph: Graph
    manifest: M
    sample: list[Document]
    predict: Callable[[PieceTokenizer, RangeRecorder, list[Document]], object]
    measured: Callable[[list[Document]], str]
    card: Callable[[M, Sequence[str]], str]
    write: Callable[[Path, M], M]
    second: TypesGraphModule | None = None
    beside: Sequence[str] = ()


def _export(cargo: _Cargo[M], folder: Path, target: Path, *, int8: bool, overwrite: bool) -> M:
    with atomic_folder(target, kind=cargo.kind, overwrite=overwrite) as place:
        plain = place / "plain.onnx"
        gap = _write(cargo.graph, plain)
        facts = [f"largest difference of a score between torch and the fp32 graph: {gap:.1e}"]
        if cargo.second is not None:
            gap = _write(cargo.second, place / TYPES_GRAPH)
            facts.append(f"`{TYPES_GRAPH}` reads about types, in 32 bits; its vectors differ by at most {gap:.1e}")
        if int8:
            facts.append(_quantise(cargo, plain, place / GRAPH, folder))
            plain.unlink()
        else:
            plain.rename(place / GRAPH)  # not merged: other tools can go on with a graph of standard operators alone
        for name in (TOKENIZER, *cargo.beside):
            (place / name).write_bytes((folder / name).read_bytes())
        (place / CARD).write_text(cargo.card(cargo.manifest, facts), encoding="utf-8")
        return cargo.write(place, cargo.manifest)


def _write(graph: Graph, path: Path) -> float:
    """Writes a graph; returns the largest difference between it and torch."""
    example = graph.example(_EXAMPLE_SIZES)
    export_onnx(graph, path, example=example, dynamic=graph.axes(), outputs=list(graph.outputs))
    gap = largest_difference(graph, path, inputs=graph.example(_OTHER_SIZES))
    if gap > _TOLERANCE:
        raise ModelError(f"the ONNX graph differs from the torch model by {gap:.2g}; it was not written")
    return gap


def _quantise(cargo: _Cargo[M], plain: Path, target: Path, folder: Path) -> str:
    """Writes the 8-bit graph with fixed scales; returns what was done, for the card."""
    with tempfile.TemporaryDirectory() as name:
        dynamic = Path(name) / "dynamic.onnx"
        done = quantise(plain, dynamic)
        recorder = RangeRecorder(dynamic, Path(name) / "recorder.onnx")
        tokenizer = PieceTokenizer.from_file(folder / TOKENIZER, pad=cargo.manifest.tokenizer.pad)
        cargo.predict(tokenizer, recorder, cargo.sample)
        scaled = Path(name) / "scaled.onnx"
        fixed = fix_scales(dynamic, scaled, ranges=recorder.ranges)
        merge(scaled, target)
    return (
        f"int8: {done.products} matrix products and {done.tables} embedding tables, {fixed} activations with fixed "
        f"scales measured on {cargo.measured(cargo.sample)}; {done.bytes_before / 1e6:.1f} MB became "
        f"{target.stat().st_size / 1e6:.1f} MB"
    )


def _check_torch(folder: Path, runtime: str, *, what: str) -> None:
    if runtime != "torch":
        raise UsageError(f"{folder} is an exported {what} already; give the folder of a training run")


def _as_exported(manifest: Manifest, name: str, second: TypesGraphModule | None) -> Manifest:
    """The manifest of a graph, which holds no other head than the answering one."""
    answer = manifest.decision.answer
    described = {head: said for head, said in manifest.descriptions.items() if head == answer}
    heads = {answer: manifest.heads[answer]}
    graph = TypesGraph(longest=second.longest) if second else msgspec.UNSET
    return msgspec.structs.replace(
        manifest, runtime="onnx", name=name, heads=heads, descriptions=described, types_graph=graph
    )


def _copies(manifest: Manifest) -> list[str]:
    """The files of the dictionaries that a model reads, and the list of the texts that taught it."""
    given = manifest.inputs.dictionaries if manifest.inputs else ()
    return [name for name in manifest.files if name == TAUGHT or any(one.has(name) for one in given)]


def _with_a_mention(sample: Sequence[Document]) -> list[Document]:
    """The first documents, as many as have ``SAMPLE_CHARACTERS``; at least one with a mention."""
    found: list[Document] = []
    read = 0
    for document in sample:
        if read >= SAMPLE_CHARACTERS and any(one.mentions for one in found):
            break
        found.append(document)
        read += len(document.text)
    return found


def excerpt(documents: Sequence[Document], *, characters: int) -> list[Document]:
    """The first documents, the last of them cut short at the end of a sentence or word, so that no more is read."""
    found: list[Document] = []
    for document in documents:
        if characters <= 0:
            break
        found.append(_cut(document, characters))
        characters -= len(document.text)
    return found


def _cut(document: Document, characters: int) -> Document:
    if len(document.text) <= characters:
        return Document(id=document.id, text=document.text, sentences=document.sentences, words=document.words)

    def inside(ranges: tuple[Span, ...] | None) -> tuple[Span, ...] | None:
        return None if ranges is None else tuple(r for r in ranges if r[1] <= characters)

    return Document(
        id=document.id,
        text=document.text[:characters],
        sentences=inside(document.sentences),
        words=inside(document.words),
    )


class _AnsweringGraph(Graph):
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


class _FilterGraph(Graph):
    """A filter."""

    outputs = (LOGITS,)

    def __init__(self, model: FilterModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        return self.model.logits(input_ids, attention_mask).detach()

    def example(self, sizes: Mapping[str, int]) -> dict[str, Tensor]:
        """See ``Graph``."""
        return texts_of(sizes, vocabulary=int(self.model.encoder.config.vocab_size))[0]

    def axes(self) -> dict[str, tuple[str, ...]]:
        """See ``Graph``."""
        return {"input_ids": ("batch", "pieces"), "attention_mask": ("batch", "pieces"), LOGITS: ("batch", "")}

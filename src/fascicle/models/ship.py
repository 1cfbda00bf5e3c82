"""A trained model becomes a folder that runs without torch: ONNX graph, tokenizer, manifest, card."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import torch
from torch import Tensor, nn

from fascicle.core.document import Document
from fascicle.core.spans import Span
from fascicle.core.wording import counted
from fascicle.errors import ModelError, UsageError
from fascicle.formats.atomic import atomic_folder
from fascicle.models.checkpoint import TOKENIZER, load_model
from fascicle.models.export import export_onnx, largest_difference
from fascicle.models.model import NerModel
from fascicle.recipe.base import Settings
from fascicle.recipe.manifest import CARD, Manifest, check_files, read_manifest, write_manifest
from fascicle.runtime.fixed_scales import RangeRecorder, fix_scales
from fascicle.runtime.optimise import quantise
from fascicle.runtime.predictor import ModelPredictor
from fascicle.text.pieces import PieceTokenizer

GRAPH = "model.onnx"
SAMPLE_CHARACTERS = 100_000
_TOLERANCE = 1e-3  # of an emission, fp32 graph against torch; 1e-5 is usual

_EXAMPLE_SIZES = {"batch": 3, "pieces": 11, "units": 7}
_OTHER_SIZES = {"batch": 2, "pieces": 29, "units": 19}


def export_model(
    folder: Path,
    target: Path,
    *,
    sample: Sequence[Document] = (),
    int8: bool = True,
    name: str | None = None,
    overwrite: bool = False,
) -> Manifest:
    """Exports a model folder of torch.

    The fp32 graph is compared with the torch model before anything takes its final name.

    Args:
        folder: with ``model.json`` and ``model.safetensors``, e.g. ``RUN/best``; a run folder stands for its ``best``.
        target: folder to write.
        sample: texts like those the model will read, best its training documents: the ranges of 8-bit activations are
            measured on the first ``SAMPLE_CHARACTERS`` of them.
        int8: store weights and embeddings in 8 bits.
        name: of the exported model; the old one by default.
        overwrite: replace an existing folder.

    Returns:
        The manifest as written.

    Raises:
        ModelError: the folder is no torch model, or cannot be written as ONNX.
        UsageError: 8 bits without sample texts, or a folder that is an export already.
        OutputError: the target exists.
    """
    if not (folder / "model.json").is_file() and (folder / "best" / "model.json").is_file():
        folder = folder / "best"
    manifest = read_manifest(folder)
    if manifest.runtime != "torch":
        raise UsageError(f"{folder} is an exported model already; give the folder of a training run")
    if int8 and not any(d.text.strip() for d in sample):
        raise UsageError("8-bit export needs sample texts to measure activations on; give some with --calibrate FILE")
    check_files(folder, manifest)
    model = load_model(folder, manifest)
    with atomic_folder(target, kind="model", overwrite=overwrite) as place:
        graph = _AnsweringGraph(model)
        plain = place / "plain.onnx"
        _export(graph, plain)
        gap = largest_difference(graph, plain, inputs=graph.example(_OTHER_SIZES))
        if gap > _TOLERANCE:
            raise ModelError(f"the ONNX graph differs from the torch model by {gap:.2g}; it was not written")
        facts = [f"largest difference of a score between torch and the fp32 graph: {gap:.1e}"]
        if int8:
            facts.append(_quantise(plain, place / GRAPH, manifest, folder, sample))
            plain.unlink()
        else:
            plain.rename(place / GRAPH)
        (place / TOKENIZER).write_bytes((folder / TOKENIZER).read_bytes())
        shipped = _as_exported(manifest, name or manifest.name)
        (place / CARD).write_text(card(shipped, facts), encoding="utf-8")
        return write_manifest(place, shipped)


def _as_exported(manifest: Manifest, name: str) -> Manifest:
    """The manifest of a graph, which holds no other head than the answering one."""
    answer = manifest.decision.answer
    described = {head: said for head, said in manifest.descriptions.items() if head == answer}
    heads = {answer: manifest.heads[answer]}
    return msgspec.structs.replace(manifest, runtime="onnx", name=name, heads=heads, descriptions=described)


def _quantise(plain: Path, target: Path, manifest: Manifest, folder: Path, sample: Sequence[Document]) -> str:
    """Writes the 8-bit graph with fixed scales; returns what was done, for the card."""
    with tempfile.TemporaryDirectory() as name:
        dynamic = Path(name) / "dynamic.onnx"
        done = quantise(plain, dynamic)
        recorder = RangeRecorder(dynamic, Path(name) / "recorder.onnx")
        tokenizer = PieceTokenizer.from_file(folder / TOKENIZER, pad=manifest.tokenizer.pad)
        texts = excerpt(sample, characters=SAMPLE_CHARACTERS)
        ModelPredictor(manifest, tokenizer, recorder).predict(texts)
        fixed = fix_scales(dynamic, target, ranges=recorder.ranges)
    return (
        f"int8: {done.products} matrix products and {done.tables} embedding tables, {fixed} activations with fixed "
        f"scales measured on {counted(sum(len(d.text) for d in texts), 'character')}; "
        f"{done.bytes_before / 1e6:.1f} MB became {target.stat().st_size / 1e6:.1f} MB"
    )


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


def card(manifest: Manifest, facts: Sequence[str]) -> str:
    """The plain card of an exported model: what it is, not how good it is."""
    head, reading = manifest.answering, manifest.reading
    lines = [
        f"# {manifest.name}",
        "",
        f"A named entity recogniser for {', '.join(manifest.types)}, written by Fascicle {manifest.fascicle}.",
        "",
        f"- encoder: `{manifest.encoder}`",
        f"- head: {_listed(head)}",
        f"- reads: {_listed(reading)}",
        *(f"- {fact}" for fact in facts),
        "",
        'Use: `fascicle annotate --model FOLDER`, or `fascicle.load("FOLDER").annotate(text)`.',
    ]
    return "\n".join(lines) + "\n"


def _listed(settings: Settings) -> str:
    return ", ".join(f"{name} {value}" for name, value in msgspec.to_builtins(settings).items())


class _AnsweringGraph(nn.Module):
    """The answering head of a model as a function of tensors by name, which is what is traced."""

    def __init__(self, model: NerModel) -> None:
        super().__init__()
        self.model = model
        head = model.head(model.answer)
        self.outputs = head.outputs
        self.table_axes = head.axes
        self.inputs = ("input_ids", "attention_mask", *head.inputs)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        first_piece: Tensor | None = None,
        last_piece: Tensor | None = None,
        unit_of_piece: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        given = {
            "input_ids": input_ids,
            "attention_mask": attention_mask,
            "first_piece": first_piece,
            "last_piece": last_piece,
            "unit_of_piece": unit_of_piece,
        }
        tables = self.model.answers({name: t for name, t in given.items() if t is not None})
        return tuple(tables[name].detach() for name in self.outputs)

    def example(self, sizes: dict[str, int]) -> dict[str, Tensor]:
        """Inputs of given sizes with padding in the last row."""
        batch, pieces, units = sizes["batch"], sizes["pieces"], sizes["units"]
        generator = torch.Generator().manual_seed(0)
        vocabulary = int(self.model.encoder.config.vocab_size)
        mask = torch.ones(batch, pieces, dtype=torch.long)
        mask[-1, pieces // 2 :] = 0
        unit_of = (torch.arange(pieces) * units // pieces).repeat(batch, 1)
        unit_of[:, 0] = unit_of[:, -1] = -1
        ids = torch.randint(0, vocabulary, (batch, pieces), generator=generator)
        first = torch.randint(0, pieces, (batch, units), generator=generator)
        tensors = {
            "input_ids": ids,
            "attention_mask": mask,
            "first_piece": first,
            "last_piece": (first + 1).clamp(max=pieces - 1),
            "unit_of_piece": unit_of,
        }
        return {name: tensors[name] for name in self.inputs}

    def axes(self) -> dict[str, tuple[str, ...]]:
        """Names of the axes of every input and output."""
        known = {
            "input_ids": ("batch", "pieces"),
            "attention_mask": ("batch", "pieces"),
            "first_piece": ("batch", "units"),
            "last_piece": ("batch", "units"),
            "unit_of_piece": ("batch", "pieces"),
        }
        return {name: known[name] for name in self.inputs} | dict(self.table_axes)


def _export(graph: _AnsweringGraph, path: Path) -> None:
    export_onnx(graph, path, example=graph.example(_EXAMPLE_SIZES), dynamic=graph.axes(), outputs=list(graph.outputs))

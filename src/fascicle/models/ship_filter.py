"""A trained filter becomes a folder that runs without torch: ONNX graph, tokenizer, ``filter.json``, card."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import torch
from torch import Tensor, nn

from fascicle.core.document import Document
from fascicle.core.wording import counted
from fascicle.errors import ModelError, UsageError
from fascicle.formats.atomic import atomic_folder
from fascicle.models.checkpoint import TOKENIZER
from fascicle.models.export import export_onnx, largest_difference
from fascicle.models.filter import FilterModel, load_filter_model
from fascicle.models.ship import GRAPH, SAMPLE_CHARACTERS
from fascicle.recipe.filter import FILTER, FilterManifest, read_filter_manifest, write_filter_manifest
from fascicle.recipe.manifest import CARD, check_files
from fascicle.runtime.filter import LOGITS, MentionFilter
from fascicle.runtime.fixed_scales import RangeRecorder, fix_scales
from fascicle.runtime.optimise import quantise
from fascicle.text.pieces import PieceTokenizer

_TOLERANCE = 1e-3  # of a logit, fp32 graph against torch
_AXES = {"input_ids": ("batch", "pieces"), "attention_mask": ("batch", "pieces"), LOGITS: ("batch", "")}


def export_filter(
    folder: Path,
    target: Path,
    *,
    sample: Sequence[Document] = (),
    int8: bool = True,
    name: str | None = None,
    overwrite: bool = False,
) -> FilterManifest:
    """Exports a filter of torch.

    The fp32 graph is compared with the torch model before anything takes its final name.

    Args:
        folder: with ``filter.json`` and ``model.safetensors``; a run folder stands for its ``best``.
        target: folder to write.
        sample: texts with mentions like those that the filter will judge: the ranges of 8-bit activations are measured
            on the first ``SAMPLE_CHARACTERS`` of them.
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
    if not (folder / FILTER).is_file() and (folder / "best" / FILTER).is_file():
        folder = folder / "best"
    manifest = read_filter_manifest(folder)
    if manifest.runtime != "torch":
        raise UsageError(f"{folder} is an exported filter already; give the folder of a training run")
    if int8 and not any(document.mentions for document in sample):
        raise UsageError("8-bit export of a filter needs texts with mentions; give some with --calibrate FILE")
    check_files(folder, manifest, name=FILTER)
    graph = _Graph(load_filter_model(folder, manifest))
    with atomic_folder(target, kind="filter", overwrite=overwrite) as place:
        plain = place / "plain.onnx"
        export_onnx(graph, plain, example=graph.example(3, 11), dynamic=_AXES, outputs=[LOGITS])
        gap = largest_difference(graph, plain, inputs=graph.example(2, 29))
        if gap > _TOLERANCE:
            raise ModelError(f"the ONNX graph differs from the torch model by {gap:.2g}; it was not written")
        facts = [f"largest difference of a logit between torch and the fp32 graph: {gap:.1e}"]
        if int8:
            facts.append(_quantise(plain, place / GRAPH, manifest, folder, sample))
            plain.unlink()
        else:
            plain.rename(place / GRAPH)
        (place / TOKENIZER).write_bytes((folder / TOKENIZER).read_bytes())
        shipped = msgspec.structs.replace(manifest, runtime="onnx", name=name or manifest.name)
        (place / CARD).write_text(_card(shipped, facts), encoding="utf-8")
        return write_filter_manifest(place, shipped)


def _quantise(plain: Path, target: Path, manifest: FilterManifest, folder: Path, sample: Sequence[Document]) -> str:
    """Writes the 8-bit graph with fixed scales; returns what was done, for the card."""
    texts = _first(sample)
    with tempfile.TemporaryDirectory() as name:
        dynamic = Path(name) / "dynamic.onnx"
        done = quantise(plain, dynamic)
        recorder = RangeRecorder(dynamic, Path(name) / "recorder.onnx")
        tokenizer = PieceTokenizer.from_file(folder / TOKENIZER, pad=manifest.tokenizer.pad)
        MentionFilter(manifest, tokenizer, recorder).judge(texts, [document.mentions for document in texts])
        fixed = fix_scales(dynamic, target, ranges=recorder.ranges)
    mentions = sum(len(document.mentions) for document in texts)
    return (
        f"int8: {done.products} matrix products and {done.tables} embedding tables, {fixed} activations with fixed "
        f"scales measured on {counted(mentions, 'mention')}; {done.bytes_before / 1e6:.1f} MB became "
        f"{target.stat().st_size / 1e6:.1f} MB"
    )


def _first(sample: Sequence[Document]) -> list[Document]:
    """The first documents, as many as have so many characters; at least one with a mention."""
    found: list[Document] = []
    read = 0
    for document in sample:
        if read >= SAMPLE_CHARACTERS and any(one.mentions for one in found):
            break
        found.append(document)
        read += len(document.text)
    return found


def _card(manifest: FilterManifest, facts: Sequence[str]) -> str:
    """The plain card of an exported filter: what it is, not how good it is."""
    threshold = manifest.threshold
    lines = [
        f"# {manifest.name}",
        "",
        f"A filter over mentions of {', '.join(manifest.types)}, written by Fascicle {manifest.fascicle}.",
        "",
        f"- encoder: `{manifest.model.encoder}`",
        f"- reads: the {manifest.reading.unit} of a mention, at most {counted(manifest.reading.max_length, 'piece')}",
        f"- keeps: a probability of at least {threshold.value:g} (chosen for: {threshold.aim})",
        *(f"- {fact}" for fact in facts),
        "",
        "Use: `fascicle combine meta PRED... --filter FOLDER --texts FILE -o OUT`.",
    ]
    return "\n".join(lines) + "\n"


class _Graph(nn.Module):
    """A filter as a function of tensors by name, which is what is traced."""

    def __init__(self, model: FilterModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        return self.model.logits(input_ids, attention_mask).detach()

    def example(self, batch: int, pieces: int) -> dict[str, Tensor]:
        """Inputs of given sizes with padding in the last row."""
        generator = torch.Generator().manual_seed(0)
        vocabulary = int(self.model.encoder.config.vocab_size)
        mask = torch.ones(batch, pieces, dtype=torch.long)
        mask[-1, pieces // 2 :] = 0
        ids = torch.randint(0, vocabulary, (batch, pieces), generator=generator)
        return {"input_ids": ids, "attention_mask": mask}

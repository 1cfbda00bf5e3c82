"""``NerModel``: one encoder, named heads, and the head that answers.

Model folders: ``model.json``, ``model.safetensors``, ``encoder.json``, ``tokenizer.json``. Strict,
and no pickle.

Also finds the device on which a network computes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import torch
from msgspec.structs import replace
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from fascicle.core.arrays import Floats32
from fascicle.errors import ModelError, UsageError
from fascicle.models.encoder import Encoder, Trainable, without_pooler
from fascicle.models.heads.binder import BinderHead
from fascicle.models.heads.contract import Basis, Head
from fascicle.models.heads.spans import BiaffineSpans, LinearSpans
from fascicle.models.heads.tagger import CrfTagger, MultiLabelTagger, SoftmaxTagger
from fascicle.models.nn.pooling import InputVectors
from fascicle.models.nn.tensors import TensorDict, Tensors
from fascicle.runtime.inputs import feature_columns
from fascicle.settings.folders.manifest import MANIFEST, Manifest, write_manifest
from fascicle.settings.heads import (
    BiaffineSettings,
    BinderSettings,
    CrfSettings,
    HeadSettings,
    MultiLabelSettings,
    SoftmaxSettings,
    SpanSettings,
)
from fascicle.settings.types import TypeDescriptions
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.windows import Batch, at_level

FAMILIES: Final[Mapping[type[HeadSettings], Callable[..., Head]]] = MappingProxyType(
    {
        BiaffineSettings: BiaffineSpans,
        BinderSettings: BinderHead,
        CrfSettings: CrfTagger,
        MultiLabelSettings: MultiLabelTagger,
        SoftmaxSettings: SoftmaxTagger,
        SpanSettings: LinearSpans,
    }
)
WEIGHTS = "model.safetensors"
_ENCODER = "encoder.json"
TOKENIZER = "tokenizer.json"


def make_head(settings: HeadSettings, basis: Basis) -> Head:
    """Builds a fresh head.

    Args:
        settings: of the head, with the values that ``train`` fills in; the exact class decides, not
            its bases.
        basis: inputs of the head.

    Raises:
        ModelError: a class that this release has no head for.
        RecipeError: the encoder cannot read the descriptions of the types.
    """
    maker = FAMILIES.get(type(settings))
    if maker is None:
        families = ", ".join(sorted(str(kind.__struct_config__.tag) for kind in FAMILIES))
        raise ModelError(
            f"the family {settings.family!r} has no head in this release; it knows {families}"
        )
    return maker(settings, basis)


class Answering(Trainable):
    """Base class of networks of which one head answers."""

    answer: str  # the head whose tables are the answer

    def answers(self, batch: Tensors, name: str = "") -> TensorDict:
        """Scores a batch with one head alone.

        Args:
            batch: see ``forward``.
            name: of a head; empty for the one that answers.
        """
        return self(batch)[name or self.answer]


class NerModel(Answering):
    """NER model: one encoder under named heads."""

    def __init__(
        self,
        encoder: Encoder,
        heads: Mapping[str, Head],
        *,
        answer: str,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        """Puts the parts together.

        Args:
            encoder: pieces to piece states.
            heads: by name.
            answer: the head that answers at inference.
            weights: of the heads' losses in training; all on the answering head by default. A head
                of weight 0 takes no part: the others train as if it were not there.
        """
        super().__init__()
        self.encoder = encoder
        self.heads = nn.ModuleDict(dict(heads))
        self.answer = answer
        given = weights if weights is not None else {answer: 1.0}
        self.weights = {name: weight for name, weight in given.items() if weight > 0}
        self.guidelines: nn.Embedding | None = None

    def follow(self, guidelines: int) -> None:
        """Adds a trainable vector for each guideline, zero at first; these vectors are not saved
        with the model.

        It is added to the embeddings of all pieces of a window, so that the whole encoder can read
        by it. On the states of units it could only make types more or less frequent, because they
        are followed by one linear layer. Row 0 is for no guideline; it stays zero and is used at
        inference.

        Args:
            guidelines: number of guidelines.
        """
        rows, width = 1 + guidelines, self.encoder.pieces.embedding_dim
        # not random
        self.guidelines = nn.Embedding(rows, width, padding_idx=0, _weight=torch.zeros(rows, width))

    def saved_tensors(self) -> TensorDict:
        """Returns the tensors of the model without those that only training needs."""
        return {
            name: tensor
            for name, tensor in self.state_dict().items()
            if not name.startswith("guidelines.")
        }

    def head(self, name: str) -> Head:
        """Returns one head."""
        head = self.heads[name]
        # for the type checker: ModuleDict does not keep the type of its items
        assert isinstance(head, Head)
        return head

    def forward(self, batch: Tensors) -> dict[str, TensorDict]:
        """Returns the score tables of every head that is trained.

        Args:
            batch: of ``text.windows.collate``; with ``guideline``, ``[B]``, that of each window,
                see ``follow``.
        """
        shift = (
            self.guidelines(batch["guideline"])[:, None]
            if self.guidelines is not None and "guideline" in batch
            else None
        )
        states = self.encoder(batch["input_ids"], batch["attention_mask"], shift)
        return {
            name: self.head(name).scores(states, at_level(batch, self.head(name).level))
            for name in self.weights
        }

    def answers(self, batch: Tensors, name: str = "") -> TensorDict:
        """Returns the score tables of one head alone, by default the answering one, for a batch
        in its units.
        """
        states = self.encoder(batch["input_ids"], batch["attention_mask"])
        return self.head(name or self.answer).scores(states, batch)

    def loss(self, scores: Mapping[str, Tensors], targets: Tensors) -> Tensor:
        """Returns the weighted sum of the losses of the heads, each a mean over its units or spans.

        Args:
            scores: of ``forward``.
            targets: of each head.
        """
        first, *rest = (
            self.head(n).loss(scores[n], targets[n]) * w for n, w in self.weights.items()
        )
        return sum(rest, first)


@dataclass(frozen=True, kw_only=True)
class TorchScorer:
    """Torch model as a scorer (see ``runtime.predictor``).

    Attributes:
        model: in evaluation mode.
        answer: the head that answers; empty for the model's own.
        bf16: compute under bf16 autocast: half the time where the processor has it, scores to three
            digits.
    """

    model: Answering
    answer: str = ""
    bf16: bool = False

    def run(self, inputs: Batch) -> dict[str, Floats32]:
        """Scores one batch, without dropout and without gradients."""
        device = next(self.model.parameters()).device
        with (
            torch.inference_mode(),
            torch.autocast(device.type, dtype=torch.bfloat16, enabled=self.bf16),
        ):
            batch = {n: torch.from_numpy(a).to(device) for n, a in inputs.items()}
            tables = self.model.answers(batch, self.answer)
        return {name: t.detach().float().cpu().numpy() for name, t in tables.items()}


def build_model(
    encoder: Encoder,
    manifest: Manifest,
    *,
    tokenizer: PieceTokenizer,
    weights: Mapping[str, float] | None = None,
) -> NerModel:
    """Builds a model with fresh heads.

    Each head is drawn from the same state of torch's generator, which then continues from its state
    after the head with the largest weight: so a head starts, and the model trains, as if the others
    did not exist.

    Args:
        encoder: of the model.
        manifest: with the settings of the heads, and the descriptions of types that they read.
        tokenizer: of the encoder.
        weights: of their losses, see ``NerModel``.

    Raises:
        RecipeError: the encoder cannot read the descriptions.
    """
    leading = max(
        weights or [manifest.decision.answer], key=lambda name: (weights or {}).get(name, 0.0)
    )
    before, after = torch.get_rng_state(), torch.get_rng_state()
    heads = {}
    for name, settings in manifest.heads.items():
        torch.set_rng_state(before)
        heads[name] = make_head(settings, head_basis(name, manifest, encoder, tokenizer))
        after = torch.get_rng_state() if name == leading else after
        if facts := manifest.inputs:
            blocks = feature_columns(facts).blocks
            heads[name].units.vectors = InputVectors(
                blocks, encoder.width, dropout=facts.dropout, rate=facts.rate
            )
    torch.set_rng_state(after)
    return NerModel(encoder, heads, answer=manifest.decision.answer, weights=weights)


def head_basis(name: str, manifest: Manifest, encoder: Encoder, tokenizer: PieceTokenizer) -> Basis:
    """Returns the basis on which one head of a model is built."""
    return Basis(
        types=manifest.types,
        width=encoder.width,
        encoder=encoder,
        tokenizer=tokenizer,
        descriptions=manifest.descriptions.get(name),
    )


def save_model(
    folder: Path,
    model: NerModel,
    *,
    manifest: Manifest,
    tokenizer: PieceTokenizer,
    dictionaries: Mapping[str, bytes] = MappingProxyType({}),
) -> Manifest:
    """Writes a model into an existing, empty folder.

    Args:
        folder: to write.
        model: to write, with its buffers and tied weights.
        manifest: written with the hashes of the other files filled in.
        tokenizer: of the encoder.
        dictionaries: the files that its inputs name, and their content.

    Returns:
        The manifest as written.
    """
    for name, content in dictionaries.items():
        (folder / name).write_bytes(content)
    write_network(folder, model.saved_tensors(), model.encoder, tokenizer)
    return write_manifest(folder, replace(manifest, runtime="torch"))


def load_model(folder: Path, manifest: Manifest) -> NerModel:
    """Reads a model; the tensors of the file must be exactly those of the model.

    Raises:
        ModelError: a missing, extra or misshapen tensor, or a damaged file.
        RecipeError: descriptions of types that its encoder cannot read.
    """
    encoder, tensors = read_network(folder, origin=manifest.encoder, what="model folder")
    tokenizer = PieceTokenizer.from_file(folder / TOKENIZER, pad=manifest.tokenizer.pad)
    model = build_model(encoder, manifest, tokenizer=tokenizer).eval()
    check_tensors(folder, model, tensors)
    model.load_state_dict(tensors)
    return model


def write_network(
    folder: Path, tensors: Tensors, encoder: Encoder, tokenizer: PieceTokenizer
) -> None:
    """Writes the tensors of a network, its encoder and its tokenizer."""
    save_file(
        {name: t.detach().cpu().clone().contiguous() for name, t in tensors.items()},
        folder / WEIGHTS,
    )
    (folder / _ENCODER).write_text(encoder.config.to_json_string(), encoding="utf-8")
    (folder / TOKENIZER).write_text(tokenizer.content, encoding="utf-8")


def read_network(folder: Path, *, origin: str, what: str) -> tuple[Encoder, TensorDict]:
    """Reads what `write_network` wrote: an encoder whose weights are not set yet, and all tensors.

    Args:
        folder: of the network.
        origin: of the encoder, as its manifest names it.
        what: name of the kind of folder, for error messages.

    Raises:
        ModelError: a damaged file.
    """
    from transformers import AutoConfig, AutoModel

    try:
        values = json.loads((folder / _ENCODER).read_text(encoding="utf-8"))
        config = AutoConfig.for_model(values.pop("model_type"), **values)
        tensors = load_file(folder / WEIGHTS)
        network = AutoModel.from_config(config, **without_pooler(config.model_type))
    except (OSError, ValueError, KeyError, AttributeError, TypeError, SafetensorError) as error:
        raise ModelError(
            f"the {what} {folder} is damaged ({error}); copy or export it again"
        ) from None
    return Encoder(network, origin=origin), tensors


def with_types(
    model: NerModel, manifest: Manifest, *, types: TypeDescriptions, tokenizer: PieceTokenizer
) -> Manifest:
    """Changes the types that the answering head of a model looks for.

    Args:
        model: changed in place.
        manifest: of the model.
        types: new types.
        tokenizer: of the encoder.

    Returns:
        The manifest of the changed model, which has that head alone.

    Raises:
        RecipeError: a type lacks the description that the head reads, or the encoder cannot read
            it.
        ValueError: a head whose types are part of its weights.
    """
    name = manifest.decision.answer
    head, settings = model.head(name), manifest.heads[name]
    descriptions = {name: types} if settings.needs.types else {}
    changed = replace(
        manifest, types=types.names, heads={name: settings}, descriptions=descriptions
    )
    head.look_for(head_basis(name, changed, model.encoder, tokenizer))
    return changed


def check_tensors(
    folder: Path,
    model: nn.Module,
    tensors: Tensors,
    *,
    name: str = MANIFEST,
    advice: str = "copy or export the folder again",
) -> None:
    """Refuses a missing, extra or misshapen tensor.

    Args:
        folder: of the model.
        model: as its manifest describes it.
        tensors: of the folder.
        name: of the manifest.
        advice: for the user, in the error message.

    Raises:
        ModelError: they do not fit.
    """
    expected, actual = _shapes(model.state_dict()), _shapes(tensors)
    for tensor in sorted(expected.keys() | actual.keys()):
        if actual.get(tensor) != expected.get(tensor):
            shapes = [x.get(tensor, "nothing") for x in (actual, expected)]
            raise ModelError(
                f"{folder / WEIGHTS} does not fit its {name}: {tensor} has the shape {shapes[0]}, "
                f"expected is {shapes[1]}; {advice}"
            )


def _shapes(tensors: Tensors) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def find_device(name: str | None) -> torch.device:
    """Returns the device of torch with a given name.

    Args:
        name: ``"cpu"``, ``"cuda"`` or another device name of torch; ``"auto"`` for a GPU where
            there is one; ``None`` for the processor.

    Raises:
        UsageError: there is no such device here.
    """
    device = "cpu" if name is None else name
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        place = torch.device(device)
        torch.empty(0, device=place)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise UsageError(
            f"the device {name!r} cannot be used here; give cpu, auto, or one that torch has, such "
            "as cuda"
        ) from None
    return place

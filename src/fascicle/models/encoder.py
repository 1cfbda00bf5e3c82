"""The pretrained encoder: any Hugging Face name or folder, and its tokenizer file."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from fascicle.errors import MissingExtraError, ModelError
from fascicle.text.pieces import PieceTokenizer


class Encoder(nn.Module):
    """A Hugging Face model, reduced to what heads need: piece states."""

    def __init__(self, network: nn.Module, *, origin: str = "") -> None:
        """Wraps a network.

        Args:
            network: a base model of transformers (without a head of its own).
            origin: where it came from, for model cards.
        """
        super().__init__()
        self.network = network
        self.origin = origin

    @property
    def config(self) -> Any:
        """The network's Hugging Face configuration."""
        return self.network.config

    @property
    def width(self) -> int:
        """Size of a state."""
        return int(self.config.hidden_size)

    @property
    def longest(self) -> int:
        """Most pieces, special tokens included, that the position table allows."""
        positions = int(getattr(self.config, "max_position_embeddings", 1 << 20))
        # RoBERTa and its kin start counting positions after the padding id.
        offset = self.config.pad_token_id + 1 if self.config.model_type in _OFFSET_POSITIONS else 0
        return positions - offset

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """States of the last layer, ``[B, T, d]``."""
        return self.network(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


_OFFSET_POSITIONS = frozenset({"roberta", "xlm-roberta", "camembert", "xlm-roberta-xl"})


@dataclass(frozen=True, kw_only=True)
class Pretrained:
    """An encoder and the tokenizer that belongs to it."""

    encoder: Encoder
    tokenizer: PieceTokenizer


def load_pretrained(name: str, *, revision: str = "") -> Pretrained:
    """Loads an encoder with its weights.

    Args:
        name: a Hugging Face name, a folder, or ``package:NAME/FOLDER`` for a folder inside an installed package.
        revision: branch, tag or commit on the hub.

    Raises:
        ModelError: there is no such model, it cannot be read, or it has no fast tokenizer.
        MissingExtraError: the package in ``package:`` is not installed.
    """
    from transformers import AutoModel, AutoTokenizer

    place = _place(name)
    options = {"revision": revision} if revision else {}
    try:
        network = AutoModel.from_pretrained(
            place, trust_remote_code=False, **_without_pooler(place, options), **options
        )
        fast = AutoTokenizer.from_pretrained(place, trust_remote_code=False, use_fast=True, **options)
    except (OSError, ValueError, KeyError) as error:
        first = str(error).strip().splitlines()[0]
        raise ModelError(
            f"the encoder {name!r} could not be loaded ({first}); give a Hugging Face name or a folder"
        ) from None
    backend = getattr(fast, "backend_tokenizer", None)
    if backend is None:
        raise ModelError(f"the encoder {name!r} has no fast tokenizer, which offsets need; choose another encoder")
    tokenizer = PieceTokenizer(backend, pad=fast.pad_token_id)
    return Pretrained(encoder=Encoder(network.float(), origin=name), tokenizer=tokenizer)


def _without_pooler(place: str, options: dict[str, str]) -> dict[str, bool]:
    """BERT-like models build an unused pooling layer unless told not to."""
    from transformers import AutoConfig

    kind = AutoConfig.from_pretrained(place, trust_remote_code=False, **options).model_type
    return {"add_pooling_layer": False} if kind in _WITH_POOLER else {}


_WITH_POOLER = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "mpnet", "ernie", "longformer"})


def _place(name: str) -> str:
    if not name.startswith("package:"):
        return str(Path(name).expanduser()) if name.startswith("~") else name
    package, _, folder = name.removeprefix("package:").partition("/")
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("dev", package)
    return str(Path(spec.submodule_search_locations[0]) / folder)

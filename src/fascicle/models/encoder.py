"""Loads and saves the pretrained encoder, by Hugging Face name or folder, with its tokenizer file.

Also replaces the vocabulary of an encoder.
"""

from __future__ import annotations

import importlib.util
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from fascicle.errors import MissingExtraError, ModelError
from fascicle.models.nn.tensors import TensorDict, Tensors
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.vocabulary import RewrittenTokenizer

_FEW_CAPITALS = 0.01
_WITH_POOLER = frozenset(
    {"bert", "roberta", "xlm-roberta", "camembert", "mpnet", "ernie", "longformer"}
)
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_PATIENCE = 5.0  # seconds


class Encoder(nn.Module):
    """Hugging Face model reduced to the hidden states of its word pieces, which the heads need."""

    def __init__(self, network: nn.Module, *, origin: str = "") -> None:
        """Wraps a network.

        Args:
            network: a base model of transformers (without a head of its own).
            origin: name or path of its source, for model cards.
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
        """Size of a hidden state."""
        return int(self.config.hidden_size)

    @property
    def pieces(self) -> nn.Embedding:
        """Embedding table of the word pieces of the vocabulary."""
        return self.network.get_input_embeddings()  # type: ignore[operator]

    @property
    def longest(self) -> int:
        """Largest number of pieces, special tokens included, that the position table allows."""
        positions = int(getattr(self.config, "max_position_embeddings", 1 << 20))
        # RoBERTa and similar models start counting positions after that of padding.
        modules = self.network.named_modules()
        tables = (module for name, module in modules if name.endswith(".position_embeddings"))
        padding = getattr(next(tables, None), "padding_idx", None)
        return positions if padding is None else positions - padding - 1

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, shift: Tensor | None = None
    ) -> Tensor:
        """Returns the hidden states of the last layer, ``[B, T, d]``.

        Args:
            input_ids: ``[B, T]``.
            attention_mask: ``[B, T]``.
            shift: added to the embeddings of pieces, ``[B, 1 or T, d of the embeddings]``.
        """
        inputs: TensorDict = {"input_ids": input_ids}
        if shift is not None:
            inputs = {"inputs_embeds": self.pieces(input_ids) + shift}
        return self.network(**inputs, attention_mask=attention_mask).last_hidden_state


@dataclass(frozen=True, kw_only=True)
class Pretrained:
    """Encoder with its tokenizer.

    Attributes:
        encoder: with its weights.
        tokenizer: of the encoder.
        pooler: weights of the dense layer that it was trained with on its first state, if requested
            and present.
        special: names of the special tokens, such as ``"mask_token"``, and the tokens.
    """

    encoder: Encoder
    tokenizer: PieceTokenizer
    pooler: Tensors | None = None
    special: Mapping[str, str] = field(default_factory=dict)


def load_pretrained(name: str, *, revision: str = "", pooler: bool = False) -> Pretrained:
    """Loads an encoder with its weights.

    Args:
        name: a Hugging Face name, a folder, or ``package:NAME/FOLDER`` for a folder inside an
            installed package.
        revision: branch, tag or commit on the hub.
        pooler: also read the weights of its pooling layer.

    Raises:
        ModelError: there is no such model, it cannot be read, lacks weights, or has no fast
            tokenizer of its own.
        MissingExtraError: the package in ``package:`` is not installed.
    """
    from transformers import AutoModel

    def layers(place: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
        return {} if pooler else without_pooler(_kind(place, options))

    network, missing, fast = fetch_network(
        name, AutoModel, what="encoder", revision=revision, more=layers
    )
    tokenizer = find_tokenizer(fast, name, what="encoder")
    lacking = [weight for weight in missing if "pooler" not in weight]
    check_parts(network, lacking, tokenizer, name=f"encoder {name!r}")
    network = network.float()
    pooling = _take_pooler(network, missing) if pooler else None
    return Pretrained(
        encoder=Encoder(network, origin=name),
        tokenizer=tokenizer,
        pooler=pooling,
        special={
            name: str(token)
            for name, token in fast.special_tokens_map.items()
            if isinstance(token, str)
        },
    )


def save_pretrained(folder: Path, pretrained: Pretrained) -> None:
    """Writes an encoder and its tokenizer into an existing folder, which a recipe can name as its
    encoder.

    The files are ``config.json``, ``model.safetensors``, ``tokenizer.json`` and
    ``tokenizer_config.json``, as transformers reads them.
    """
    with _quiet_loading():
        pretrained.encoder.network.save_pretrained(folder)  # type: ignore[operator]
    (folder / "tokenizer.json").write_text(pretrained.tokenizer.content, encoding="utf-8")
    longest = pretrained.encoder.longest
    facts = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": longest,
        **pretrained.special,
    }
    (folder / "tokenizer_config.json").write_text(
        json.dumps(facts, indent=1) + "\n", encoding="utf-8"
    )


def fetch_network(
    name: str,
    kind: Any,
    *,
    what: str,
    more: Callable[[str, Mapping[str, Any]], Mapping[str, Any]],
    revision: str = "",
) -> tuple[Any, Collection[str], Any]:
    """Loads a network by its Hugging Face name or from its folder, with the messages of
    transformers turned off.

    Args:
        name: a Hugging Face name, a folder, or ``package:NAME/FOLDER``.
        kind: class of transformers that reads the network.
        what: kind of thing that is loaded, for messages.
        more: place and options of ``from_pretrained`` -> more options for the network.
        revision: branch, tag or commit on the hub.

    Returns:
        The network, the names of weights that its files lack, and its tokenizer.

    Raises:
        ModelError: there is nothing of this name, or it cannot be read.
        MissingExtraError: the package in ``package:`` is not installed.
    """
    from transformers import AutoTokenizer

    place = _place(name)
    _check_folder(place, name, what=what)
    options: dict[str, Any] = {"revision": revision} if revision else {}
    hub = _unreachable_hub(place)
    if hub:
        # files of an earlier download are used without a request to the hub
        options["local_files_only"] = True
    try:
        with _quiet_loading():
            of_network = {**more(place, options), **options}
            network, loading = kind.from_pretrained(
                place, trust_remote_code=False, output_loading_info=True, **of_network
            )
            fast = AutoTokenizer.from_pretrained(
                place, trust_remote_code=False, use_fast=True, **options
            )
            return network, loading["missing_keys"], fast
    # a foreign file may raise any, also those of a pickle that is refused
    except Exception as error:
        first = str(error).strip().partition("\n")[0]
        if hub:
            raise ModelError(
                f"the {what} {name!r} is neither a folder nor among the models downloaded before, "
                f"and {hub}; give a folder, or connect this machine"
            ) from None
        raise ModelError(
            f"the {what} {name!r} could not be loaded ({first}); give a Hugging Face name or a "
            "folder"
        ) from None


def _check_folder(place: str, name: str, *, what: str) -> None:
    """Refuses a path that can be no name on the hub, and that does not exist."""
    if (place.count("/") > 1 or place.startswith((".", "/"))) and not Path(place).exists():
        raise ModelError(
            f"there is no folder {name}, which is to be the {what}; give a Hugging Face name or a "
            "folder"
        )


def find_tokenizer(fast: Any, name: str, *, what: str) -> PieceTokenizer:
    """Returns the tokenizer of something that was loaded.

    Args:
        fast: of transformers.
        name: the name that was loaded.
        what: kind of thing that was loaded, for messages.

    Raises:
        ModelError: it gives no character offsets, or lower-cases the text for a vocabulary with
            capitals.
    """
    backend = getattr(fast, "backend_tokenizer", None)
    if backend is None:
        raise ModelError(
            f"the {what} {name!r} has no fast tokenizer, which offsets need; choose another {what}"
        )
    _check_case(backend, name)
    return PieceTokenizer(backend, pad=fast.pad_token_id)


def check_parts(
    network: Any, missing: Collection[str], tokenizer: PieceTokenizer, *, name: str
) -> None:
    """Refuses a network whose weights are not all of its files, or with too few pieces.

    Args:
        network: that was loaded.
        missing: names of the weights that its files lack, which are random numbers.
        tokenizer: beside it.
        name: what was loaded, for messages.

    Raises:
        ModelError: says what does not fit.
    """
    if missing:
        raise ModelError(
            f"the {name} lacks the weights {min(missing)}; give a checkpoint that was trained, "
            "with weights named as in transformers"
        )
    # special tokens that no text has may be beyond the table
    ids = (*tokenizer.ordinary()[-1:].tolist(), *tokenizer.prefix, *tokenizer.suffix)
    if max(ids, default=0) >= (rows := network.get_input_embeddings().num_embeddings):
        raise ModelError(
            f"the tokenizer of the {name} has {tokenizer.size:,} pieces, and its network "
            f"{rows:,}; give a folder whose files belong together"
        )


def _take_pooler(network: nn.Module, missing: Collection[str]) -> TensorDict | None:
    """Removes the dense layer over the first state from a network; ``None`` if it has none, or
    an untrained one.
    """
    pooler = getattr(network, "pooler", None)
    if pooler is None:
        return None
    setattr(network, "pooler", None)  # noqa: B010 - what is left is the encoder, as ``without_pooler`` would have it
    dense = getattr(pooler, "dense", None)
    if not isinstance(dense, nn.Linear) or any("pooler.dense" in key for key in missing):
        return None
    return {"weight": dense.weight.detach().clone(), "bias": dense.bias.detach().clone()}


def _check_case(backend: Tokenizer, name: str) -> None:
    """Refuses a tokenizer that lower-cases the text for a vocabulary with capitals.

    Transformers makes such a tokenizer for a cased model whose files do not say that it is cased
    (``vocab.txt`` without ``tokenizer_config.json``): every capital would be lost without a
    warning.
    """
    if backend.normalizer is None or backend.normalizer.normalize_str("A") != "a":
        return
    special = {token.content for token in backend.get_added_tokens_decoder().values()}
    cased = sum(piece != piece.lower() for piece in backend.get_vocab().keys() - special)
    if cased > _FEW_CAPITALS * backend.get_vocab_size():
        raise ModelError(
            f"the tokenizer of {name!r} lower-cases text, but {cased:,} pieces of its vocabulary "
            "have capitals: its files do not say that it is cased; save it with "
            "do_lower_case=False to a folder and give that folder"
        )


def without_pooler(kind: str) -> dict[str, bool]:
    """Returns the option by which a model of this ``model_type`` leaves out its pooling layer;
    no code here uses it.
    """
    return {"add_pooling_layer": False} if kind in _WITH_POOLER else {}


def _unreachable_hub(place: str) -> str:
    """Returns the reason, as half a sentence, why a name cannot be looked up on the hub; empty if
    it can.

    transformers asks many times for each file, and waits ever longer in between: for half a minute
    without a network.
    """
    if Path(place).exists() or not _HUB_NAME.fullmatch(place):
        return ""
    from huggingface_hub import constants, get_session

    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE forbids to ask the hub"
    try:
        get_session().head(constants.ENDPOINT, timeout=_PATIENCE)
    except Exception:  # the error class of the library differs between releases
        return f"{constants.ENDPOINT} cannot be reached"
    return ""


def _kind(place: str, options: Mapping[str, Any]) -> str:
    from transformers import AutoConfig

    return str(AutoConfig.from_pretrained(place, trust_remote_code=False, **options).model_type)


@contextmanager
def _quiet_loading() -> Iterator[None]:
    """Keeps transformers from reporting the heads of the checkpoint, which are left out on
    purpose.
    """
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _place(name: str) -> str:
    if not name.startswith("package:"):
        return str(Path(name).expanduser()) if name.startswith("~") else name
    package, _, folder = name.removeprefix("package:").partition("/")
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("dev", package)
    return str(Path(spec.submodule_search_locations[0]) / folder)


def replace_embeddings(network: nn.Module, vocabulary: RewrittenTokenizer) -> None:
    """Replaces the embedding table of the pieces of a network.

    Args:
        network: a base model of transformers, changed in place.
        vocabulary: new vocabulary; for each piece, the old pieces whose vectors are averaged.
    """
    old: nn.Embedding = network.get_input_embeddings()  # type: ignore[operator]
    new = nn.Embedding(len(vocabulary.sources), old.embedding_dim, padding_idx=old.padding_idx)
    with torch.no_grad():
        for number, source in enumerate(vocabulary.sources):
            new.weight[number] = old.weight[list(source)].mean(dim=0)
    network.set_input_embeddings(new.to(old.weight.device))  # type: ignore[operator]
    config: Any = network.config
    config.vocab_size = len(vocabulary.sources)
    for name in ("bos_token_id", "eos_token_id", "sep_token_id", "cls_token_id"):
        token = getattr(config, name, None)
        if isinstance(token, int) and (token,) in vocabulary.sources:
            setattr(config, name, vocabulary.sources.index((token,)))


class Trainable(nn.Module, ABC):
    """Base class of networks that the training loop trains: an encoder with layers that give scores
    and a loss.

    ``model(batch)`` returns the scores that ``loss`` takes: for each head its tables by name.
    """

    encoder: Encoder

    @abstractmethod
    def loss(self, scores: Mapping[str, Tensors], targets: Tensors) -> Tensor:
        """Returns the loss, a mean over the labelled units, spans or texts.

        Args:
            scores: of ``forward``.
            targets: of each head.
        """

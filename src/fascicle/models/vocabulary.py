"""Another vocabulary for an encoder."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from fascicle.text.vocabulary import Rewritten


def take_vocabulary(network: nn.Module, vocabulary: Rewritten) -> None:
    """Exchanges the table of pieces of a network.

    Args:
        network: a base model of transformers, changed in place.
        vocabulary: says which vectors the vectors of its pieces are means of.
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
        given = getattr(config, name, None)
        if isinstance(given, int) and (given,) in vocabulary.sources:
            setattr(config, name, vocabulary.sources.index((given,)))

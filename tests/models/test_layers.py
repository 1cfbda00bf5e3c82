"""What is read of layers is what the encoders of transformers say of themselves."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers

from fascicle.errors import ModelError
from fascicle.models.encoder import Encoder
from fascicle.models.layers import LayerReader

SIZE: dict[str, Any] = {
    "vocab_size": 50,
    "hidden_size": 12,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "max_position_embeddings": 24,
}
CONFIGS = {
    "bert": transformers.BertConfig(**SIZE),
    "roberta": transformers.RobertaConfig(**SIZE),
    "electra": transformers.ElectraConfig(**SIZE, embedding_size=6),
    "mpnet": transformers.MPNetConfig(**SIZE),
    "distilbert": transformers.DistilBertConfig(
        vocab_size=50, dim=12, n_layers=3, n_heads=2, hidden_dim=16, max_position_embeddings=24
    ),
}


def encoder_of(kind: str) -> Encoder:
    torch.manual_seed(1)
    network = transformers.AutoModel.from_config(CONFIGS[kind], attn_implementation="eager")
    for parameter in network.parameters():
        # scores far from uniform, and a bias of positions that counts
        torch.nn.init.normal_(parameter, std=0.5)
    return Encoder(network.eval(), origin=kind)


@pytest.mark.parametrize("kind", CONFIGS)
def test_states_and_attention_are_those_of_transformers(kind: str) -> None:
    encoder = encoder_of(kind)
    ids = torch.randint(5, 50, (2, 7))
    mask = torch.ones(2, 7, dtype=torch.long)
    mask[1, 5:] = 0
    said = encoder.network(
        input_ids=ids, attention_mask=mask, output_hidden_states=True, output_attentions=True
    )
    reader = LayerReader(encoder)
    with reader.reading() as seen:
        encoder(ids, mask)
    assert (reader.depth, reader.heads) == (3, 2)
    assert len(seen.states) == len(said.hidden_states) == 4
    for ours, theirs in zip(seen.states, said.hidden_states, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-5)
    for layer, theirs in enumerate(said.attentions, 1):
        scores = seen.scores(layer).masked_fill(mask[:, None, None, :] == 0, -torch.inf)
        assert torch.allclose(scores.softmax(-1), theirs, atol=1e-5)


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_what_is_read_does_not_depend_on_how_attention_is_computed(kind: str) -> None:
    eager = encoder_of(kind)
    fused = Encoder(transformers.AutoModel.from_config(CONFIGS[kind]).eval(), origin=kind)
    fused.network.load_state_dict(eager.network.state_dict())
    ids = torch.randint(5, 50, (1, 6))
    found = []
    for encoder in (eager, fused):
        with LayerReader(encoder).reading() as seen:
            encoder(ids, torch.ones_like(ids))
        found.append(seen)
    for layer in (1, 2, 3):
        assert torch.allclose(found[0].scores(layer), found[1].scores(layer), atol=1e-5)


def test_nothing_is_left_behind() -> None:
    encoder = encoder_of("bert")
    reader = LayerReader(encoder)
    with reader.reading() as seen:
        encoder(torch.full((1, 3), 7), torch.ones(1, 3, dtype=torch.long))
    before = len(seen.states)
    encoder(torch.full((1, 3), 7), torch.ones(1, 3, dtype=torch.long))
    assert len(seen.states) == before
    assert not any(module._forward_hooks for module in encoder.network.modules())


def test_an_encoder_without_queries_and_keys_can_be_read_without_attention() -> None:
    config = transformers.ModernBertConfig(
        vocab_size=50,
        hidden_size=12,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        pad_token_id=0,
    )
    encoder = Encoder(transformers.AutoModel.from_config(config).eval(), origin="modern")
    with pytest.raises(ModelError):
        LayerReader(encoder)
    with LayerReader(encoder, attention=False).reading() as seen:
        encoder(torch.full((1, 3), 7), torch.ones(1, 3, dtype=torch.long))
    assert len(seen.states) == 3

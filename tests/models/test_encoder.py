"""Loading a pretrained encoder: what must not happen without a word."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("transformers")

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from fascicle.errors import ModelError
from fascicle.models.encoder import Encoder, load_pretrained, save_pretrained


@pytest.fixture
def with_vocabulary(tiny_encoder: Path, tmp_path: Path) -> Path:
    """The tiny encoder as an old model folder: a ``vocab.txt`` with some cased words, no
    tokenizer files.
    """
    folder = tmp_path / "old"
    shutil.copytree(tiny_encoder, folder)
    vocabulary = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"][
        "vocab"
    ]
    words = sorted(vocabulary, key=vocabulary.__getitem__)
    words[-4:] = ["Lung", "DNA", "##Ag", "X"]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink(missing_ok=True)
    return folder


def test_a_cased_vocabulary_is_never_lower_cased(with_vocabulary: Path) -> None:
    with pytest.raises(
        ModelError,
        match=r"lower-cases text, but 4 pieces of its vocabulary have capitals: .* save it",
    ):
        load_pretrained(str(with_vocabulary))
    (with_vocabulary / "tokenizer_config.json").write_text(
        '{"do_lower_case": false}', encoding="utf-8"
    )
    tokenizer = load_pretrained(str(with_vocabulary)).tokenizer
    ((ids, _),) = tokenizer.encode(["DNA Lung"])
    assert tokenizer.unknown not in ids.tolist()


class Attack:
    """What a pickle may do when it is read."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.place,)


def test_weights_as_a_pickle_run_no_code(tiny_encoder: Path, tmp_path: Path) -> None:
    folder, attacked = tmp_path / "encoder", tmp_path / "attacked"
    shutil.copytree(tiny_encoder, folder)
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    load_pretrained(str(folder))
    torch.save({**weights, "more": Attack(attacked)}, folder / "pytorch_model.bin")
    with pytest.raises(ModelError):
        load_pretrained(str(folder))
    assert not attacked.exists()


def test_an_uncased_vocabulary_may_be(tiny_encoder: Path) -> None:
    ((ids, _),) = load_pretrained(str(tiny_encoder)).tokenizer.encode(["LUNG"])
    assert (
        ids.tolist() == load_pretrained(str(tiny_encoder)).tokenizer.encode(["lung"])[0][0].tolist()
    )


@pytest.mark.parametrize(
    "kind",
    ["bert", "roberta", "mpnet", "longformer", "data2vec-text", "roberta-prelayernorm", "electra"],
)
def test_an_encoder_reads_as_many_pieces_as_it_says_and_no_more(kind: str) -> None:
    import torch
    from transformers import AutoConfig, AutoModel

    sizes = {
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 8,
    }
    more = {"attention_window": [4]} if kind == "longformer" else {}
    config = AutoConfig.for_model(
        kind, vocab_size=20, max_position_embeddings=12, pad_token_id=1, **sizes, **more
    )
    encoder = Encoder(AutoModel.from_config(config)).eval()

    def read(pieces: int) -> torch.Tensor:
        with torch.no_grad():
            return encoder(torch.full((1, pieces), 5), torch.ones(1, pieces, dtype=torch.long))

    assert read(encoder.longest).shape == (1, encoder.longest, 8)
    with pytest.raises((IndexError, RuntimeError)):
        read(encoder.longest + 1)


@pytest.mark.parametrize("lost", ["encoder.layer.1.output.dense.weight", ""])
def test_an_encoder_that_lacks_weights_is_refused(
    tiny_encoder: Path, tmp_path: Path, lost: str
) -> None:
    """One weight, or all where the names have a prefix that transformers does not know."""
    shutil.copytree(tiny_encoder, tmp_path / "encoder")
    weights = load_file(tiny_encoder / "model.safetensors")
    prefix = "" if lost else "module."
    save_file(
        {prefix + name: weight for name, weight in weights.items() if name != lost},
        tmp_path / "encoder" / "model.safetensors",
        metadata={"format": "pt"},
    )
    with pytest.raises(ModelError, match=r"lacks the weights .*; give a checkpoint"):
        load_pretrained(str(tmp_path / "encoder"))


def test_a_tokenizer_with_more_pieces_than_the_network_is_refused(
    tiny_encoder: Path, tmp_path: Path
) -> None:
    pretrained = load_pretrained(str(tiny_encoder))
    save_pretrained(tmp_path, pretrained)
    more = Tokenizer.from_str(pretrained.tokenizer.content)
    more.add_tokens(["another"])
    more.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(ModelError, match="pieces, and its network"):
        load_pretrained(str(tmp_path))


def test_what_is_saved_is_loaded_alike(tiny_encoder: Path, tmp_path: Path) -> None:
    """Also where another class of transformers made the tokenizer."""
    before = load_pretrained(str(tiny_encoder))
    save_pretrained(tmp_path, before)
    after = load_pretrained(str(tmp_path))
    assert after.tokenizer.sha256 == before.tokenizer.sha256
    assert (after.tokenizer.pad, after.special) == (before.tokenizer.pad, before.special)
    states = [one.encoder.network.state_dict() for one in (before, after)]
    assert states[0].keys() == states[1].keys()
    assert all((states[0][name] == states[1][name]).all() for name in states[0])

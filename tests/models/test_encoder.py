"""Loading a pretrained encoder: what must not happen without a word."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("transformers")

from fascicle.errors import ModelError
from fascicle.models.encoder import load_pretrained


@pytest.fixture
def with_vocabulary(tiny_encoder: Path, tmp_path: Path) -> Path:
    """The tiny encoder as an old model folder: a ``vocab.txt`` with some cased words, no tokenizer files."""
    folder = tmp_path / "old"
    shutil.copytree(tiny_encoder, folder)
    vocabulary = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    words = sorted(vocabulary, key=vocabulary.__getitem__)
    words[-4:] = ["Lung", "DNA", "##Ag", "X"]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink(missing_ok=True)
    return folder


def test_a_cased_vocabulary_is_never_lower_cased(with_vocabulary: Path) -> None:
    with pytest.raises(ModelError, match=r"lower-cases text, but 4 pieces of its vocabulary have capitals: .* save it"):
        load_pretrained(str(with_vocabulary))
    (with_vocabulary / "tokenizer_config.json").write_text('{"do_lower_case": false}', encoding="utf-8")
    tokenizer = load_pretrained(str(with_vocabulary)).tokenizer
    ((ids, _),) = tokenizer.encode(["DNA Lung"])
    assert tokenizer.unknown not in ids.tolist()


def test_an_uncased_vocabulary_may_be(tiny_encoder: Path) -> None:
    ((ids, _),) = load_pretrained(str(tiny_encoder)).tokenizer.encode(["LUNG"])
    assert ids.tolist() == load_pretrained(str(tiny_encoder)).tokenizer.encode(["lung"])[0][0].tolist()

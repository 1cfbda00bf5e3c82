"""Weights in 16 bits: their hash is that of the file, and whole numbers stay."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from studies.conventions.halve import MANIFEST, WEIGHTS, halve


def test_weights_are_rounded_and_the_manifest_has_their_hash(tmp_path: Path) -> None:
    model, output = tmp_path / "model", tmp_path / "half"
    model.mkdir()
    weights = {"a": torch.tensor([0.1, 1.0, -3.0]), "ids": torch.tensor([70_001])}
    save_file(weights, model / WEIGHTS)
    (model / MANIFEST).write_text(json.dumps({"name": "x", "files": {WEIGHTS: "0", "b": "1"}}))
    (model / ".written").write_text("of this machine")
    halve(model, output)
    halved = load_file(output / WEIGHTS)
    assert halved["a"].tolist() == [0.0999755859375, 1.0, -3.0]  # 0.1 in 16 bits, IEEE 754
    assert halved["ids"].tolist() == [70_001]
    manifest = json.loads((output / MANIFEST).read_text())
    sha256 = hashlib.sha256((output / WEIGHTS).read_bytes()).hexdigest()
    assert manifest == {"name": "x", "files": {WEIGHTS: sha256, "b": "1"}}
    assert {file.name for file in output.iterdir()} == {WEIGHTS, MANIFEST}

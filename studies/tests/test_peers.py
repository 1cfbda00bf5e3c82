"""Contestants of the comparison of speed."""

from __future__ import annotations

from pathlib import Path

import pytest

from studies.speed import peers


def test_the_whole_encoder_is_exported_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    exported: list[Path] = []

    def write(model: object, path: Path) -> Path:
        exported.append(path)
        return path

    monkeypatch.setattr(peers, "write_graph", write)
    monkeypatch.setattr(peers, "hugging_face", lambda folder: (None, None))
    monkeypatch.setattr(peers, "by_hand", lambda run: run)
    for name in ("first_layers", "quantise", "_onnx_runner"):
        monkeypatch.setattr(peers, name, lambda *given: len)
    makers = peers.makers_of(tmp_path, 1)
    for name in [one for one, (package, _) in makers.items() if package == "onnxruntime"]:
        makers[name][1]()
    assert sorted(path.name for path in exported) == ["few.fp32", "plain.onnx"]

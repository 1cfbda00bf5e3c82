"""Inputs of a run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fascicle.core import codec
from fascicle.core.document import Document

sys.path.insert(0, str(Path(__file__).parent))  # so that workers find the module of poison steps


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Sequence[str]], Path]:
    """Writes texts as documents of one file."""

    def write(texts: Sequence[str]) -> Path:
        path = tmp_path / "in.jsonl"
        lines = [
            codec.encode(Document(id=f"d{at}", text=text)) + b"\n" for at, text in enumerate(texts)
        ]
        path.write_bytes(b"".join(lines))
        return path

    return write


@pytest.fixture(autouse=True)
def _from_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))

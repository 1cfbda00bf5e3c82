"""Batches that run at once: the same answers as one after the other, and what happens to files
and errors.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fascicle.core.document import Document
from fascicle.core.session import OnnxSession, score_batches
from fascicle.loading import load_single
from fascicle.runtime.places import find_model

TEXT = "Lithium may cause nephrogenic diabetes insipidus in patients with hypertension. "
DOCUMENTS = [Document(id=str(n), text=TEXT * (1 + n % 7) + f"Aspirin {n}.") for n in range(120)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the shipped model."""
    return Path(shutil.copytree(find_model("biomed"), tmp_path / "model"))


def counted(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The threads that networks run on."""
    seen: set[int] = set()
    before: Callable[..., Any] = OnnxSession.run

    def run(self: OnnxSession, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        seen.add(threading.get_ident())
        return before(self, inputs)

    monkeypatch.setattr(OnnxSession, "run", run)
    return seen


def test_batches_at_once_answer_as_one_after_the_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = load_single(folder, threads=1).predict(DOCUMENTS)
    assert sum(len(patch.add) for patch in expected) > 500
    seen = counted(monkeypatch)
    model = load_single(folder, threads=2)
    assert model.predict(DOCUMENTS[:1]) == expected[:1]
    assert seen == {threading.get_ident()}
    assert model.predict(DOCUMENTS) == expected
    assert len(seen - {threading.get_ident()}) == 2
    assert model.predict(DOCUMENTS[:1]) == expected[:1]


def test_a_model_whose_file_was_replaced_stays_as_it_was_opened(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = load_single(folder, threads=1).predict(DOCUMENTS)
    model = load_single(folder, threads=2)
    (folder / "model.onnx").unlink()
    (folder / "model.onnx").write_bytes(b"another")
    seen = counted(monkeypatch)
    assert model.predict(DOCUMENTS) == expected
    assert seen == {threading.get_ident()}


def test_an_error_of_one_batch_is_an_error_of_the_call(folder: Path) -> None:
    session = OnnxSession.open(folder / "model.onnx", threads=2)

    def score(chosen: np.ndarray) -> int:
        if 30 in chosen:
            raise ZeroDivisionError
        return len(chosen)

    with pytest.raises(ZeroDivisionError):
        list(score_batches(session, [100] * 40, score=score))


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 5, 100])
def test_every_item_is_scored_once(folder: Path, threads: int, count: int) -> None:
    session = OnnxSession.open(folder / "model.onnx", threads=threads)
    lengths = [1 + 37 * n % 90 for n in range(count)]
    found = list(score_batches(session, lengths, score=lambda chosen: [lengths[i] for i in chosen]))
    assert sorted(i for chosen, _ in found for i in chosen.tolist()) == list(range(count))
    assert [length for _, said in found for length in said] == sorted(lengths)

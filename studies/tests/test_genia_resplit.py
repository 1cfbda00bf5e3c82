"""The paper's split of GENIA: its sizes, and every sentence once, in order."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fascicle.core.document import Document
from fascicle.formats.files import read
from studies.combining import genia_resplit as script


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 7, 18_546])
def test_each_sentence_is_in_one_part_and_in_order(count: int) -> None:
    sentences = [Document(id=str(number), text="x") for number in range(count)]
    parts = script.resplit(sentences)
    assert [*parts["train"], *parts["dev"], *parts["test"]] == sentences
    assert abs(len(parts["dev"]) - len(parts["test"])) <= 1
    assert abs(len(parts["train"]) - len(parts["dev"]) - len(parts["test"])) <= 1


def test_the_parts_of_the_corpus_are_as_large_as_the_papers(
    fascicle_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["genia_resplit.py", str(tmp_path)])
    assert script.main() == 0
    sizes = [sum(1 for _ in read(tmp_path / f"{part}.jsonl")) for part in ("train", "dev", "test")]
    assert sizes == [9_273, 4_636, 4_637]
    assert "train: 9,273 sentences" in capsys.readouterr().out

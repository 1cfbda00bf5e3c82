"""Kazu's way to score: parts of mentions count, and so do only types that a document has
predictions of.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fascicle.core.document import Document, Mention
from fascicle.evaluation.scoring.scores import Counts
from fascicle.formats import write
from fascicle.formats.predictions import make_prediction, write_tsv
from studies.multilabel.kazu_metric import kazu_counts, main

GOLD = (("A", 0, 4), ("A", 5, 9), ("B", 0, 9), ("A", 12, 14))
FOUND = (("A", 3, 6), ("A", 9, 12), ("C", 0, 4))
# one prediction has two gold mentions; B is not looked at
COUNTS = {"A": Counts(tp=2, fn=1, fp=1), "C": Counts(fp=1)}


def mentions(rows: tuple[tuple[str, int, int], ...], source: str) -> tuple[Mention, ...]:
    return tuple(Mention(((start, end),), kind, source=source) for kind, start, end in rows)


def test_parts_count_and_types_without_predictions_do_not() -> None:
    documents = [
        Document(id=name, text="aaaa bbbb cc dd", mentions=mentions(GOLD, "gold"))
        for name in ("one", "unpredicted")
    ]
    assert kazu_counts(documents, {"one": mentions(FOUND, "x")}) == COUNTS


def test_files_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, found = (
        Document(id="one", text="aaaa bbbb cc dd", mentions=mentions(rows, source))
        for rows, source in ((GOLD, "gold"), (FOUND, "x"))
    )
    write(tmp_path / "gold.jsonl", [gold])
    with (tmp_path / "found.tsv").open("wb") as stream:
        write_tsv([make_prediction(found, source="x")], stream)
    monkeypatch.setattr(
        "sys.argv", ["kazu_metric", str(tmp_path / "gold.jsonl"), str(tmp_path / "found.tsv")]
    )
    assert main() == 0
    printed = capsys.readouterr().out
    assert "A\tP 66.67\tR 66.67\tF1 66.67" in printed
    assert "mean F1 33.33" in printed

"""What is measured of evaluation, and its tables; no test asserts a time."""

from __future__ import annotations

from typing import Any

import pytest

from fascicle.core.document import Document, Mention
from fascicle.evaluation.breakdown.layout import read_lexicon
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import score
from studies.speed import evaluate as script
from studies.tables import evaluation as tables

TEXT = "one two three four five six seven eight nine ten"
WORDS = [(start, start + len(word)) for word in TEXT.split() for start in (TEXT.index(word),)]


def gold(count: int) -> list[Document]:
    mentions = tuple(Mention((span,), "AB"[at % 2]) for at, span in enumerate(WORDS))
    return [Document(id=str(n), text=TEXT, mentions=mentions) for n in range(count)]


def test_predictions_err_as_often_as_is_said() -> None:
    documents = gold(400)
    said = script.disturbed(documents, seed=0)
    found = score(layers(documents), said)
    assert found.counts.support == 4000
    assert found.micro.recall == pytest.approx(script.KEPT, abs=0.02)
    assert found.micro.precision == pytest.approx(script.KEPT, abs=0.02)
    loose = score(layers(documents), said, rule="loose")
    assert loose.micro.recall > found.micro.recall + script.CUT / 2
    assert script.disturbed(documents, seed=0) == said != script.disturbed(documents, seed=1)
    script.analyse(documents, said, read_lexicon(documents[:1]))
    script.report_value(
        documents[:20], {d.id: said[d.id] for d in documents[:20]}, read_lexicon(documents[:1])
    )


def test_documents_up_to_a_number_of_mentions() -> None:
    assert len(script.with_mentions(gold(5), 31)) == 4
    with pytest.raises(RuntimeError, match="50 mentions were found where 51 are needed"):
        script.with_mentions(gold(5), 51)


def test_made_systems_are_over_one_gold() -> None:
    first, second = script.made_systems(50, seed=0)
    assert len(first.by_document) == len(second.by_document) == 50
    assert first.counts.support == second.counts.support > 200
    assert len(first.by_type) == 3
    assert first.counts != second.counts


def test_a_process_is_accounted_and_a_failure_is_told() -> None:
    spent = script.process("--version")
    assert spent.cpu > 0
    assert spent.wall > 0
    assert 5e6 < spent.peak < 2e9  # bytes
    with pytest.raises(RuntimeError, match="no-such-file"):
        script.process("evaluate", "no-such-file", "neither")


def test_rows_are_medians() -> None:
    runs = [
        script.Spent(cpu=cpu, wall=wall, peak=peak)
        for cpu, wall, peak in ((3, 9, 10**6), (1, 7, 3 * 10**6), (2, 8, 1))
    ]
    assert script.row(runs, gold=5) == {
        "cpu_s": 2, "wall_s": 8, "runs_cpu_s": [3, 1, 2], "peak_mb": 3, "gold": 5
    }  # fmt: skip
    assert "peak_mb" not in script.row([script.Spent(cpu=1, wall=1)])


def test_every_measured_row_is_in_a_table(monkeypatch: Any) -> None:
    monkeypatch.setenv("FASCICLE_DATA", "/nowhere")
    pytest.importorskip(script.ENCODER[0])
    names = [name for name, _, _ in (*tables.EVALUATION, *tables.DOCTOR)]
    assert names == list(script.measurements())

"""The table for a person."""

from __future__ import annotations

from fascicle.core.document import Mention
from fascicle.evaluate.intervals import bootstrap_f1
from fascicle.evaluate.scores import score
from fascicle.evaluate.table import table

GENE, CELL = Mention(((0, 4),), "Gene"), Mention(((5, 9),), "Cell line")

EXPECTED = """\
type            P       R      F1  gold  predicted  TP  FP  FN
--------------------------------------------------------------
Cell line    0.00    0.00    0.00     0          1   0   1   0
Gene       100.00  100.00  100.00     1          1   1   0   0
--------------------------------------------------------------
micro       50.00  100.00   66.67     1          2   1   1   0
macro      100.00  100.00  100.00

Strict match of document, type and offsets over 2 documents.
Duplicates counted once: 1 in the gold, 0 in the predictions.
Documents without predictions: 1; nothing counts as found in them.
"""


def test_the_table_is_as_drawn() -> None:
    assert table(score({"a": [GENE, GENE], "b": []}, {"a": [GENE, CELL]}, allow_missing=True)) == EXPECTED


def test_the_table_says_its_interval_and_its_rule() -> None:
    scores = score({"a": [GENE]}, {"a": [GENE]}, zero_rule="binder")
    text = table(scores, interval=bootstrap_f1(scores, resamples=10, seed=4))
    assert "Micro F1 100.00, 95% interval 100.00 to 100.00 (bootstrap over documents, 10 draws, seed 4)." in text
    assert "the rule 'binder'" in text


def test_a_table_of_nothing() -> None:
    assert table(score({}, {})).startswith("type")

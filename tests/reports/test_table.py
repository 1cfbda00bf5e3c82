"""The table for a person."""

from __future__ import annotations

from fascicle.core.document import Document, Mention
from fascicle.evaluation.headline import headline_of
from fascicle.evaluation.scoring.scores import score
from fascicle.evaluation.scoring.systems import score_system
from fascicle.reports.table import systems_table, table

GENE, CELL = Mention(((0, 4),), "Gene"), Mention(((5, 9),), "Cell line")

EXPECTED = """\
type            P       R      F1  gold  predicted  TP  FP  FN
--------------------------------------------------------------
Cell line    0.00       -    0.00     0          1   0   1   0
Gene       100.00  100.00  100.00     1          1   1   0   0
--------------------------------------------------------------
micro       50.00  100.00   66.67     1          2   1   1   0
macro      100.00  100.00  100.00

Strict match of document, type and offsets over 2 documents.
Duplicates counted once: 1 in the gold, 0 in the predictions.
Documents without predictions: 1; nothing counts as found in them.
- is undefined: no prediction (P), no gold mention (R), or neither (F1); macro averages take 0 for it.
"""

SEVERAL = """\
F1 by type  gold   first  second
--------------------------------
Cell line      0       -    0.00
Gene           1  100.00    0.00

Strict match of document, type and offsets over 2 documents.
There is 1 gold mention.
From start only to type only: micro F1 under other rules of matching; docs/scores.md defines them.
second: Documents without predictions: 1; nothing counts as found in them.
- is undefined: no prediction (P), no gold mention (R), or neither (F1); macro averages take 0 for it.
"""


def test_the_table_is_as_drawn() -> None:
    assert table(score({"a": [GENE, GENE], "b": []}, {"a": [GENE, CELL]}, allow_missing=True)) == EXPECTED


def test_the_table_says_its_interval_and_its_rule() -> None:
    scores = score({"a": [GENE], "b": [GENE]}, {"a": [GENE], "b": []}, zero_rule="binder")
    text = table(scores, headline=headline_of(scores, resamples=10))
    assert (
        "95% intervals (bootstrap over documents, 10 draws, seed 0): micro P 100.00 to 100.00, micro R 0.00 to 100.00, "
        "micro F1 0.00 to 100.00, macro F1 0.00 to 100.00.\n" in text
    )
    assert "the rule 'binder'" in text


def test_a_table_of_nothing() -> None:
    assert table(score({}, {})).startswith("type")


def test_other_rules_and_no_types() -> None:
    gold, said = {"a": [GENE]}, {"a": [Mention(((0, 5),), "Gene"), CELL]}
    others = [score(gold, said, rule=rule) for rule in ("start", "end", "span")]
    lines = table(score(gold, said), others=others, by_type=False).splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["micro", "macro"]
    assert [line.split() for line in lines[5:8]] == [
        ["start", "only", "50.00", "100.00", "66.67", "1", "2", "1", "1", "0"],
        ["end", "only", "0.00", "0.00", "0.00", "1", "2", "0", "2", "1"],
        ["span", "only", "0.00", "0.00", "0.00", "1", "2", "0", "2", "1"],
    ]
    assert "\nRule 'start only' over 1 document.\n" in table(others[0])


def test_several_systems() -> None:
    documents = [Document(id="a", text="BRCA1 gene", mentions=(GENE,)), Document(id="b", text="x")]
    first = score_system("first", documents, predicted={"a": [GENE], "b": []})
    said = {"a": [CELL, Mention(((0, 5),), "Gene")]}
    second = score_system("second", documents, predicted=said, allow_missing=True)
    top, types = systems_table([first, second]).split("\n\n", 1)
    assert types == SEVERAL
    header, rule, *rows = (line.split("  ") for line in top.splitlines())
    assert [cell.strip() for cell in header if cell.strip()] == [
        "system", "P", "R", "F1", "macro F1", "start only", "end only", "loose", "span only", "type only",
        "predicted", "TP", "FP", "FN",
    ]  # fmt: skip
    assert "".join(rule).strip("-") == ""
    assert [[cell.strip() for cell in row if cell.strip()] for row in rows] == [
        ["first", *["100.00"] * 9, "1", "1", "0", "0"],
        ["second", *["0.00"] * 4, "66.67", "0.00", "66.67", "0.00", "66.67", "2", "0", "2", "1"],
    ]
    headlines = {one.name: headline_of(one.drawn, resamples=100) for one in (first, second)}
    shown = systems_table([first, second], headlines=headlines, by_type=False, unit="sentence")
    assert " 100.00 to 100.00 " in shown
    assert "F1 by type" not in shown
    assert "first: 95% intervals (bootstrap over sentences, 100 draws, seed 0): micro P 100.00 to 100.00" in shown
    empty = headlines["first"].intervals["macro_f1"].undefined
    assert f"first: macro F1 is undefined in {empty} of the 100 draws of sentences, which are left out" in shown
    nothing = score_system("nothing", documents, predicted={"a": [], "b": []})
    shown = table(nothing.strict, headline=headline_of(nothing.drawn, resamples=100))
    assert "micro P - (nothing was predicted), micro R 0.00 to 0.00" in shown


def test_a_type_of_any_length_makes_no_wide_table() -> None:
    found = table(score({"a": [Mention(((0, 1),), "X" * 100_000)]}, {"a": []}))
    assert max(map(len, found.splitlines())) < 150
    assert "…" in found

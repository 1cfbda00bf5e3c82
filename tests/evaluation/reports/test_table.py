"""The table for a person."""

from __future__ import annotations

import re

from fascicle.core.document import Document, Mention
from fascicle.evaluation.report import headline_intervals
from fascicle.evaluation.reports.table import systems_table, table
from fascicle.evaluation.scoring.inputs import score_system
from fascicle.evaluation.scoring.rules import RULES, TITLES
from fascicle.evaluation.scoring.scores import score

GENE, CELL = Mention(((0, 4),), "Gene"), Mention(((5, 9),), "Cell line")


def cells(text: str) -> list[list[str]]:
    """The lines of a table without its rules, cut where columns part."""
    return [re.split(" {2,}", line.strip()) for line in text.splitlines() if line.strip("-")]


def test_a_row_for_each_type_and_what_is_behind_the_numbers() -> None:
    text = table(score({"a": [GENE, GENE], "b": []}, {"a": [GENE, CELL]}, allow_missing=True))
    assert cells(text)[:5] == [
        ["type", "P", "R", "F1", "gold", "predicted", "TP", "FP", "FN"],
        ["Cell line", "0.00", "-", "0.00", "0", "1", "0", "1", "0"],
        ["Gene", "100.00", "100.00", "100.00", "1", "1", "1", "0", "0"],
        ["micro", "50.00", "100.00", "66.67", "1", "2", "1", "1", "0"],
        ["macro", "100.00", "100.00", "100.00"],
    ]
    for told in (
        "over 2 documents",
        "1 in the gold, 0 in the predictions",
        "without predictions: 1;",
        "- is undefined",
    ):
        assert told in text


def test_the_table_says_its_interval_and_its_rule() -> None:
    scores = score({"a": [GENE], "b": [GENE]}, {"a": [GENE], "b": []}, zero_rule="binder")
    text = table(scores, headline=headline_intervals(scores, resamples=10))
    assert (
        "95% intervals (bootstrap over documents, 10 draws, seed 0): micro P 100.00 to 100.00, "
        "micro R 0.00 to 100.00, "
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
    assert cells(types)[:3] == [
        ["F1 by type", "gold", "first", "second"],
        ["Cell line", "0", "-", "0.00"],
        ["Gene", "1", "100.00", "0.00"],
    ]
    for told in (
        "There is 1 gold mention",
        "second: Documents without predictions: 1;",
        "- is undefined",
    ):
        assert told in types
    assert cells(top) == [
        [
            "system",
            "P",
            "R",
            "F1",
            "macro F1",
            *(TITLES[rule] for rule in RULES[1:]),
            "predicted",
            "TP",
            "FP",
            "FN",
        ],
        ["first", *["100.00"] * 9, "1", "1", "0", "0"],
        ["second", *["0.00"] * 4, "66.67", "0.00", "66.67", "0.00", "66.67", "2", "0", "2", "1"],
    ]
    headlines = {one.name: headline_intervals(one.drawn, resamples=100) for one in (first, second)}
    shown = systems_table([first, second], headlines=headlines, by_type=False, unit="sentence")
    assert " 100.00 to 100.00 " in shown
    assert "F1 by type" not in shown
    assert (
        "first: 95% intervals (bootstrap over sentences, 100 draws, seed 0): micro P 100.00 to "
        "100.00" in shown
    )
    empty = headlines["first"].intervals["macro_f1"].undefined
    assert (
        f"first: macro F1 is undefined in {empty} of the 100 draws of sentences, which are left out"
        in shown
    )
    nothing = score_system("nothing", documents, predicted={"a": [], "b": []})
    shown = table(nothing.strict, headline=headline_intervals(nothing.drawn, resamples=100))
    assert "micro P - (nothing was predicted), micro R 0.00 to 0.00" in shown


def test_a_type_of_any_length_makes_no_wide_table() -> None:
    found = table(score({"a": [Mention(((0, 1),), "X" * 100_000)]}, {"a": []}))
    assert max(map(len, found.splitlines())) < 150
    assert "…" in found

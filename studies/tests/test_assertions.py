"""Tests of the scores of facts beside other tools."""

from pathlib import Path

import numpy as np

from studies.assertions.measure import HERE, Text, events_of, ours, rates, score, sentences
from studies.assertions.tables import scores
from studies.tables.grids import NOT_RUN


def test_the_facts_of_all_events_of_a_trigger_are_gold() -> None:
    lines = [
        "T1\tRegulation 0 4\tstop",
        "T2\tRegulation 0 4\tstop",
        "T3\tGrowth 5 8;9 11\tabc de",
        "E1\tRegulation:T1 Theme:E3",
        "E2\tRegulation:T2",
        "E3\tGrowth:T3",
        "M1\tNegation E1",
        "M2\tSpeculation E2",
    ]
    assert events_of("stop abc de", "\n".join(lines)) == Text(
        "stop abc de",
        ((0, 4), (5, 11)),
        ("Regulation", "Growth"),
        (("negated", "uncertain"), ()),
    )


def test_scores_are_those_of_all_mentions() -> None:
    texts = [Text("No a, b.", ((3, 4), (6, 7)), ("X", "X"), (("negated",), ("uncertain",)))]
    facts, _ = ours(texts)
    assert [list(map(list, said)) for said in facts] == [[["negated"], ["negated"]]]
    row = score(texts, {"Fascicle": facts}, ("negated", "uncertain"))["Fascicle"]
    assert row["gold"] == 2  # type: ignore[index]
    assert row["f1"] == [50.0, 50.0, 50.0]  # type: ignore[index]
    assert rates(np.array([1, 2, 4])).round(1).tolist() == [50.0, 25.0, 33.3]


def test_sentences_that_were_read_have_a_mention_each(tmp_path: Path) -> None:
    for name in ("fresh.tsv", "fresh-2.tsv", "fresh-3.tsv"):
        texts = sentences(HERE / name)
        assert len(texts) == 100
        assert all(text.text[slice(*text.mentions[0])] for text in texts)
    assert scores(tmp_path) == NOT_RUN

"""Stored predictions on real corpora: their scores against other libraries, and the laws of
combinations.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.evaluation.test_oracles import Ranges, check_nervaluate, check_seqeval, ours

from fascicle.core.document import Document, Mention
from fascicle.core.files.source import Source
from fascicle.formats.files import read
from fascicle.formats.predictions import read as read_predictions
from studies.common import RESULTS

Cli = Callable[..., Any]


def in_words(document: Document, mentions: Sequence[Mention]) -> Ranges:
    words = document.words or ()
    starts, ends = [a for a, _ in words], [b for _, b in words]
    found = [(bisect_left(starts, m.start), bisect_left(ends, m.end) + 1, m.type) for m in mentions]
    assert all(
        (starts[a], ends[b - 1]) == (m.start, m.end)
        for (a, b, _), m in zip(found, mentions, strict=True)
    )
    return found


@pytest.mark.parametrize(
    ("gold", "predictions", "support"),
    [
        ("bc5cdr/iob/test.tsv", "first/predictions/bc5cdr-crf-s1.test.tsv.gz", 9809),
        ("ncbi-disease/iob/test.tsv", "first/predictions/ncbi-disease-crf-s1.test.tsv.gz", 960),
        (
            "conll04/conll04_test.json",
            "span-heads/predictions/conll04-spanner-hybrid-s1.test.tsv.gz",
            1079,
        ),
    ],
)
def test_real_predictions(fascicle_data: Path, gold: str, predictions: str, support: int) -> None:
    documents = list(read(str(fascicle_data / gold)))
    said = {p.id: p.mentions for p in read_predictions(Source(path=str(RESULTS / predictions)))}
    corpus = [
        (len(d.words or ()), in_words(d, d.mentions), in_words(d, said.get(d.id, ())))
        for d in documents
    ]
    scores = {rule: ours(corpus, rule=rule) for rule in ("strict", "span", "loose")}
    assert scores["strict"].counts.support == support
    assert scores["strict"].counts.tp > support / 2
    check_seqeval(corpus, scores["strict"])
    check_nervaluate(corpus, scores)


def test_combinations(cli: Cli, fascicle_data: Path, tmp_path: Path) -> None:
    """The laws of combinations on the predictions of the results tables."""
    folder = RESULTS / "span-heads" / "predictions"
    names = ("softmax", "crf", "spanpred-tuned")
    files = [folder / f"genia-events-{name}-s1.test.tsv.gz" for name in names]
    gold = [fascicle_data / "genia" / "event-docs.jsonl.gz", "--where", "part=test"]
    value = json.loads(cli("compare", gold[0], *files, *gold[1:], "--json", "--resamples", 20).out)
    recalls = [one["recall"]["estimate"] for one in value["systems"]]
    assert value["union"]["recall"]["estimate"] >= max(recalls)
    by_rule = {
        (one["rule"], len(one["systems"]), *one["systems"]): one for one in value["combinations"]
    }
    for (rule, size, *members), one in by_rule.items():
        if size == 2 and rule == "majority":
            pair = next(p for p in value["pairs"] if {p["first"], p["second"]} == set(members))
            assert one["tp"] == pair["shared_true"]
            assert one["tp"] + one["fp"] == pair["shared"]
    for rule in ("union", "majority"):
        out = tmp_path / f"{rule}.tsv"
        assert cli("combine", rule, *files, "-o", out).code == 0
        scores = json.loads(cli("evaluate", gold[0], out, *gold[1:], "--json").out)["micro"]
        expected = next(
            one for (name, size, *_), one in by_rule.items() if (name, size) == (rule, 3)
        )
        assert {k: scores[k] for k in ("tp", "fp", "fn")} == {
            k: expected[k] for k in ("tp", "fp", "fn")
        }

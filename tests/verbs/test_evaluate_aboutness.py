"""``fascicle evaluate --aboutness``: scores, weights and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.citations import in_xml, linked

from fascicle.formats import write


def test_orders_are_scored(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gold.xml").write_text(in_xml(6), encoding="utf-8")
    write("found.jsonl", [linked(str(number)) for number in range(6)])
    result = cli("evaluate", "gold.xml", "found.jsonl", "--aboutness", "--json")
    assert result.code == 0, result.err
    value = json.loads(result.out)
    assert (value["chosen_on"], value["scored"], value["left_out"]) == (3, 3, 0)
    assert (value["headings"], value["linked"]) == (12, 6)
    areas = {order["name"]: order["area"]["estimate"] for order in value["orders"]}
    # asthma 3, pain 4, fever 2; with the chosen weights asthma is first; then 1, 2, 1; then 1, 0, 0
    assert areas == {
        "weights": 0.5,
        "weights chosen here": 1.0,
        "plain counts": 0.25,
        "title only": 1.0,
    }
    assert {order["precision"]["estimate"] for order in value["orders"]} == {1 / 3}
    table = cli("evaluate", "gold.xml", "found.jsonl", "--aboutness")
    assert "title only" in table.out
    assert "6 of 12 major headings linked" in table.out
    assert "weights chosen on 3 other citations: --weight title=" in table.err
    for wrong, message in (
        (("gold.xml", "found.jsonl", "--interval"), "--interval has no meaning with --aboutness"),
        (("gold.xml",), "--aboutness scores one PRED"),
        (("found.jsonl", "found.jsonl"), "0 citations with both a major MeSH heading"),
    ):
        refused = cli("evaluate", *wrong, "--aboutness")
        assert (refused.code, message in refused.err) == (2, True), refused.err


def test_one_scored_citation_has_no_interval(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gold.xml").write_text(in_xml(2), encoding="utf-8")
    write("found.jsonl", [linked(str(number)) for number in range(2)])
    arguments = ("evaluate", "gold.xml", "found.jsonl", "--aboutness")
    value = json.loads(cli(*arguments, "--json").out)
    assert value["scored"] == 1
    ends = {(order["area"]["low"], order["area"]["undefined"]) for order in value["orders"]}
    assert {undefined for _, undefined in ends} == {1000}
    assert "0.500 (-)" in cli(*arguments).out


def test_a_citation_without_predictions_is_refused_or_counted(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gold.xml").write_text(in_xml(6), encoding="utf-8")
    write("found.jsonl", [linked(str(number)) for number in (0, 2, 3, 4, 7)])
    command = ("evaluate", "gold.xml", "found.jsonl", "--aboutness", "--json")
    refused = cli(*command)
    assert refused.code == 2
    assert "lack 2 documents: '1', '5' of the 6" in refused.err
    result = cli(*command, "--allow-missing")
    value = json.loads(result.out)
    # two major headings of each citation of the gold; one of each predicted citation is linked
    assert (value["missing"], value["headings"], value["linked"]) == (2, 12, 4)
    assert (value["chosen_on"], value["scored"], value["left_out"]) == (2, 2, 2)
    assert "found.jsonl lacks 2 citations" in result.err

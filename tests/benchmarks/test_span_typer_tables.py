"""The table of the span typer: words without a vector are those of test, of which training knows nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.studies.span_typer import tables

RESULT: dict[str, Any] = {
    "published": [64.98, 78.77],
    "taught": {"words_in_mentions": 100, "words_without_vector": 0},
    "cpu_minutes": 3.0,
    "vectors": {"cpu_minutes": 1.0},
    "test": {
        "typing": {"accuracy": 0.5},
        "lookup_accuracy": 0.25,
        "majority_accuracy": 0.2,
        "published_protocol": {"f1": 2 / 3},
        "words": 40,
        "words_without_vector": 15,
    },
}


def row(folder: Path, result: dict[str, Any]) -> list[str]:
    place = folder / "span-typer" / "harem-s1.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps(result))
    text = tables.span_typer(folder)
    (line,) = [line for line in text.splitlines() if line.startswith("| harem")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_row_has_the_words_of_test(tmp_path: Path) -> None:
    cells = row(tmp_path, RESULT)
    assert cells[:7] == ["harem", "1 of 3", "50.00", "25.00", "+25.00", "20.00", "66.67"]
    assert cells[-2:] == ["37.5 %", "3.0 + 1.0"]


def test_a_result_that_does_not_have_them_says_nothing_of_them(tmp_path: Path) -> None:
    old = {key: value for key, value in RESULT["test"].items() if not key.startswith("words")}
    assert row(tmp_path, {**RESULT, "test": old})[-2] == "not measured"


def test_the_speed_is_held_against_the_papers(tmp_path: Path) -> None:
    assert "not measured | not measured | 100" in tables.speed(tmp_path)
    place = tmp_path / "span-typer" / "genia-s1.json"
    place.parent.mkdir()
    place.write_text(json.dumps({**RESULT, "cpu_minutes": 10.0, "minutes": 117_035 / 60}))
    lines = tables.speed(tmp_path).splitlines()
    assert lines[-2:] == ["| of the processor | 10.0 | 195 | 100 |", "| by the clock | 1950.6 | 1 | 100 |"]

"""``fascicle settings``: every key with its default, chosen by names."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from fascicle.cli import main
from fascicle.settings.heads import HEADS
from fascicle.settings.recipes.recogniser import TrainingSettings
from fascicle.settings.recipes.reference import FILTER, PRETRAINING, RECOGNISER, TYPER, tables


def listed(capsys: pytest.CaptureFixture[str], *names: str) -> list[dict[str, Any]]:
    assert main(["settings", "--json", *names]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_every_key_of_every_recipe_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings"]) == 0
    shown = capsys.readouterr().out
    of_tables = {
        name.partition(".")[0] for kind in (RECOGNISER, FILTER, TYPER, PRETRAINING) for name in kind
    }
    count = 0
    for kind in (
        *RECOGNISER.values(),
        *FILTER.values(),
        *TYPER.values(),
        *HEADS.values(),
        *PRETRAINING.values(),
    ):
        for field in msgspec.structs.fields(kind):
            if field.name not in {*of_tables, "types", "head"}:
                count += 1
                assert f"\n  {field.name}: " in shown
    assert count > 100
    assert all(key.meaning for table in tables() for key in table.keys)


def test_a_name_chooses_tables_keys_families_and_recipes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (table,) = listed(capsys, "training.batch_size", "recogniser")
    assert (table["name"], [key["name"] for key in table["keys"]]) == ("training", ["batch_size"])
    default = next(
        f.default for f in msgspec.structs.fields(TrainingSettings) if f.name == "batch_size"
    )
    assert str(default) in table["keys"][0]["default"]
    assert {table["name"] for table in listed(capsys, "[training]")} == {"training"}
    (family,) = listed(capsys, "crf")
    assert (family["name"], family["family"]) == ("model", "crf")
    assert "loss" in [key["name"] for key in family["keys"]]
    assert [key["name"] for table in listed(capsys, "crf", "loss") for key in table["keys"]] == [
        "loss"
    ]
    assert {table["recipe"] for table in listed(capsys, "span typer")} == {"span typer"}
    assert {table["recipe"] for table in listed(capsys, "pretraining")} == {"pretraining"}


def test_a_name_that_no_key_has_is_answered_with_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["settings", "bach_size"]) == 2
    assert "did you mean batch_size" in capsys.readouterr().err

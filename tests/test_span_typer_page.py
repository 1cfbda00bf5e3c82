"""The page of the span typer says what the code does: settings, defaults, the recipe."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import msgspec
import pytest
from tests.pages import blocks

from fascicle.settings.base import Settings
from fascicle.settings.recipes.any import parse_any
from fascicle.settings.recipes.typer import SpanTyperSettings, VectorSettings

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "families" / "span-typer.md").read_text(
    encoding="utf-8"
)


@pytest.mark.parametrize(
    ("table", "settings"), [("typer", SpanTyperSettings), ("vectors", VectorSettings)]
)
def test_the_page_lists_every_setting_with_its_default(
    table: str, settings: type[Settings]
) -> None:
    rows = PAGE.partition(f"| `[{table}]` |")[2].partition("\n\n")[0]
    listed = re.findall(r"^\| `(\w+)` \| (?:`([^|]+)`|required) \|", rows, re.MULTILINE)
    fields = {field.name: field for field in msgspec.structs.fields(settings)}
    assert [name for name, _ in listed] == list(fields)
    for name, value in listed:
        assert fields[name].required if not value else json.loads(value) == fields[name].default


def test_the_recipe_of_the_page_is_one() -> None:
    (snippet,) = blocks(PAGE, "toml")
    assert parse_any(tomllib.loads(snippet), origin="page").typer.updates == 600

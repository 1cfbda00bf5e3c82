"""Names and other short values that a pattern bounds: a line break behind a good one makes a bad
one.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from fascicle.errors import RecipeError
from fascicle.settings.base import RecipeBase
from fascicle.settings.packs import SourceSettings, read_pack_settings
from fascicle.settings.pipeline import PipelineSettings
from fascicle.settings.recipes.filter import FilterRecipe

BREAK = "\n"


@pytest.mark.parametrize(
    ("values", "schema"),
    [
        ({"name": "a"}, RecipeBase),
        ({"name": "a"}, FilterRecipe),
        ({"name": "a"}, PipelineSettings),
        ({"sha256": "0" * 64}, SourceSettings),
        ({"language": "en"}, SourceSettings),
        ({"date": "2024"}, SourceSettings),
    ],
)
def test_a_line_break_behind_a_value_is_refused(
    values: dict[str, str], schema: type[msgspec.Struct]
) -> None:
    (key,) = values
    broken = {key: values[key] + BREAK}
    with pytest.raises(msgspec.ValidationError, match=rf"\$\.{key}"):
        msgspec.convert(broken, schema)


def test_a_line_break_behind_the_name_of_a_pack_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('name = "a\\n"\n[sources.own]\npath = "a"\nreader = "table"\n')
    with pytest.raises(RecipeError, match="name"):
        read_pack_settings(path)

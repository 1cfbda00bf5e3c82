"""The settings of a bi-encoder: what means nothing is refused in one sentence, and paths are
resolved.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.errors import RecipeError
from fascicle.settings.folders.manifest import Manifest
from fascicle.settings.heads import HEADS, BinderSettings
from fascicle.settings.recipes.any import parse_recipe, read_recipe

RECIPE: dict[str, Any] = {"name": "x", "corpus": {"train": "a", "dev": "b"}}

WITH_NEGATIVES = ", ".join(
    name for name, kind in sorted(HEADS.items()) if "negatives" in kind.__struct_fields__
)


def refused(**model: Any) -> str:
    with pytest.raises(RecipeError) as caught:
        parse_recipe(
            {**RECIPE, "model": {"encoder": "e", "family": "binder", **model}}, origin="r.toml"
        )
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ({"pooling": "max"}, 'pooling = "max" is not allowed with family = "binder": leave it out'),
        ({"pooling": "mean", "level": "piece"}, 'pooling = "mean" needs level = "word"'),
        (
            {"specials": "include", "level": "piece"},
            'specials = "include" is not allowed with family = "binder"',
        ),
        (
            {"decoding": "optimal"},
            "model.decoding = 'optimal' is not allowed: allowed are 'nested', 'greedy'",
        ),
        ({"inference": "joint", "positions": False}, 'inference = "joint" needs positions = true'),
        (
            {"inference": "joint", "thresholds": "dev-by-type"},
            'inference = "joint" is not allowed with thresholds = "dev-by-type"',
        ),
        (
            {"inference": "joint", "thresholds": "dev"},
            'inference = "joint" is not allowed with thresholds = "dev"',
        ),
        (
            {"type_view": "description"},
            'type_view = "description" needs a file of descriptions: give its path as types',
        ),
        ({"type_view": "keyword"}, 'type_view = "keyword" needs a file'),
        ({"type_view": "instances"}, 'type_view = "instances" needs a file'),
        (
            {"types": "t.toml"},
            'types = \'t.toml\' is not read with type_view = "name": choose one of "description", ',
        ),
        (
            {"types": "t.toml", "type_view": "atomic"},
            "types = 't.toml' is not read with type_view = \"atomic\"",
        ),
        (
            {"type_view": "atomic", "type_encoder": "own"},
            "type_encoder = 'own' has no effect with type_view = \"atomic\"",
        ),
        (
            {"type_view": "atomic", "type_pool": "mean"},
            "type_pool = 'mean' has no effect with type_view = \"atomic\"",
        ),
        (
            {"type_view": "instances", "types": "t.toml", "type_pool": "mean"},
            "type_pool = 'mean' has no effect with type_view = \"instances\"",
        ),
        (
            {"positions": False, "end_weight": 0.3},
            "end_weight = 0.3 has no effect with positions = false: leave it out",
        ),
        (
            {"thresholds": "dev", "beta": 0.3},
            'beta = 0.3 has no effect with thresholds = "dev": leave it out',
        ),
        ({"span_weight": 0}, "model.span_weight = 0 is not allowed"),
        ({"beta": 1.5}, "model.beta = 1.5 is not allowed"),
        ({"width": 0}, "model.width = 0 is not allowed"),
        ({"negatives": 5}, f"the family 'binder' has no such setting, only {WITH_NEGATIVES}"),
    ],
)
def test_what_means_nothing_is_refused(model: dict[str, Any], said: str) -> None:
    assert said in refused(**model)


def test_windows_are_left_out_for_one_head_only() -> None:
    values = {**RECIPE, "model": {"encoder": "e", "family": "crf"}}
    with pytest.raises(RecipeError, match='windows = "mentions" is not allowed in a bundle'):
        parse_recipe(
            {**values, "bundle": {"family": "binder", "windows": "mentions"}}, origin="r.toml"
        )
    parse_recipe({**values, "bundle": {"family": "binder"}}, origin="r.toml")


TEXT = """name = "x"
[corpus]
train = "a"
dev = "b"
[model]
encoder = "e"
family = "binder"
types = "$FASCICLE_TEST_TYPES/one.toml"
type_view = "description"
[bundle]
family = "binder"
name = "second"
types = "../types/two.toml"
type_view = "keyword"
"""


def test_paths_of_descriptions_are_resolved_as_those_of_corpora(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sub" / "r.toml"
    path.parent.mkdir()
    path.write_text(TEXT, encoding="utf-8")
    with pytest.raises(
        RecipeError, match=r"model\.types = .* names the environment variable FASCICLE_TEST_TYPES"
    ):
        read_recipe(path)
    monkeypatch.setenv("FASCICLE_TEST_TYPES", str(tmp_path / "here"))
    recipe = read_recipe(path)
    files = {
        "model.types": str(tmp_path / "here" / "one.toml"),
        "bundle.types": str(tmp_path / "types" / "two.toml"),
    }
    assert {key: path for key, path in recipe.files().items() if key.endswith(".types")} == files
    assert msgspec.json.decode(msgspec.json.encode(recipe), type=type(recipe)) == recipe


def test_a_manifest_has_the_descriptions_that_its_heads_read() -> None:
    described = {
        "types": [{"name": name, "description": f"A {name}."} for name in ("Chemical", "Disease")]
    }
    reads = BinderSettings(types="t.toml", type_view="description")
    values: dict[str, Any] = {
        "name": "m",
        "fascicle": "0",
        "runtime": "torch",
        "types": ("Chemical", "Disease"),
        "heads": {"binder": {"family": "binder"}},
        "reading": {},
        "tokenizer": {"sha256": "", "prefix": (1,), "suffix": (2,), "pad": 0},
        "decision": {"answer": "binder", "decoding": "greedy"},
    }
    good = {
        **values,
        "heads": {"binder": msgspec.to_builtins(reads)},
        "descriptions": {"binder": described},
    }
    found = msgspec.convert(good, Manifest)
    assert found.descriptions["binder"].names == found.types
    assert msgspec.json.decode(msgspec.json.encode(found), type=Manifest) == found
    for wrong in (
        {**good, "descriptions": {}},
        {**good, "types": ("Chemical",)},
        {**good, "types": ("Disease", "Chemical")},
        {**values, "descriptions": {"binder": described}},
    ):
        with pytest.raises(
            msgspec.ValidationError,
            match="the descriptions for the head 'binder' are not those of the",
        ):
            msgspec.convert(wrong, Manifest)

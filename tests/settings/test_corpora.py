"""Recipes with several corpora: what they say, what is refused in one sentence, and what makes
two of them one.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.errors import RecipeError
from fascicle.settings.heads import HEADS, Needs, SpanHeadSettings
from fascicle.settings.recipes.any import parse_recipe, read_recipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.recipes.strict import merge_tables
from fascicle.training.engine.folder import recipe_text
from fascicle.training.experiments.hashes import all_values, changed_values, recipe_hash

VALUES: dict[str, Any] = {
    "name": "several",
    "parts": {
        "b": {
            "train": ["b1", "b2"],
            "annotates": ["Disease"],
            "types": {"rename": {"D": "Disease"}},
        },
        "a": {
            "train": "a",
            "dev": "a-dev",
            "annotates": ["Gene"],
            "exclude": "list.tsv",
            "weight": 2.0,
        },
    },
    "mixture": {"power": 0.5},
    "model": {"encoder": "tiny", "family": "multilabel"},
}


def made(*, without: tuple[str, ...] = (), **changes: Any) -> Recipe:
    values = {
        key: value
        for key, value in merge_tables(deepcopy(VALUES), changes).items()
        if key not in without
    }
    return parse_recipe(values, origin="test.toml")


def test_what_a_recipe_says_of_its_parts() -> None:
    recipe = made()
    assert recipe.types() == ("Disease", "Gene")
    assert recipe.masks() == {"a": ("Disease",), "b": ("Gene",)}
    assert recipe.files() == {
        "parts.a.train": "a",
        "parts.a.dev": "a-dev",
        "parts.a.exclude": "list.tsv",
        "parts.b.train.0": "b1",
        "parts.b.train.1": "b2",
    }
    assert list(recipe.corpora()) == ["a", "b"]
    assert made(mixture={"unannotated": "absent"}).masks() == {}
    assert made(parts={"b": {"annotates": ["Disease", "Gene"]}}).masks() == {"a": ("Disease",)}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"corpus": {"train": "x", "dev": "y"}}, "corpus and parts exclude each other"),
    ({"distant": {"core": "x"}}, "distant and parts exclude each other"),
    ({"parts": {"a": {"dev": ""}}}, "no part names dev"),
    ({"parts": {"a": 3}}, r"parts\.a = 3 is not a table; begin it with a line \[parts\.a\]"),
    ({"parts": [1]}, "parts"),
    ({"parts": {"a": {"annotates": []}}}, r"parts\.a\.annotates = \[\] is not allowed"),
    ({"parts": {"a": {"annotates": ["Gene", "Gene"]}}}, r"parts\.a: annotates names 'Gene' twice"),
    (
        {"parts": {"a": {"annotates": ["Gene", ""]}}},
        r"parts\.a\.annotates\[1\] = '' is not allowed",
    ),
    ({"parts": {"a": {"types": {}}}}, r"^test\.toml: parts\.a\.types: the table is empty"),
    ({"parts": {"b": {"train": ["x", "x"]}}}, r"parts\.b: train names 'x' twice"),
    ({"parts": {"a": {"weight": 0}}}, r"parts\.a\.weight = 0 is not allowed"),
    (
        {"parts": {"a": {"wieght": 1}}},
        r"unknown key parts\.a\.wieght; did you mean parts\.a\.weight\?",
    ),
    (
        {"parts": {"a": {"types": {"kep": []}}}},
        r"unknown key parts\.a\.types\.kep; did you mean parts\.a\.types\.keep",
    ),
    ({"parts": {"c": {"train": "x"}}}, r"parts\.c: object missing required field `annotates`"),
    (
        {"parts": {"c.d": {"train": "x", "annotates": ["Gene"]}}},
        "^test.toml: parts: a name in it .*letters, digits",
    ),
    ({"mixture": {"power": 1.5}}, r"mixture\.power = 1\.5 is not allowed"),
]


@pytest.mark.parametrize(("changes", "match"), REFUSED)
def test_what_is_refused(changes: dict[str, Any], match: str) -> None:
    with pytest.raises(RecipeError, match=match) as caught:
        made(**changes)
    assert "\n" not in str(caught.value)


def test_a_corpus_or_parts() -> None:
    with pytest.raises(RecipeError, match="no corpus is named"):
        made(without=("parts", "mixture"))
    with pytest.raises(RecipeError, match="mixture is about several corpora"):
        made(without=("parts",), corpus={"train": "x", "dev": "y"})


@pytest.mark.parametrize("bundled", [False, True])
def test_a_family_that_cannot_leave_types_out(
    bundled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SpanHeadSettings, "needs", property(lambda self: Needs(width=True)))
    table = {"bundle" if bundled else "model": {"family": "span"}}
    with pytest.raises(
        RecipeError, match=r'"span" cannot leave .* parts\.a .* \'Disease\': choose .*"multilabel"'
    ) as caught:
        made(**table)
    assert '"biaffine"' not in str(caught.value)
    made(**table, mixture={"unannotated": "absent"})


@pytest.mark.parametrize("family", sorted(HEADS))
def test_every_family_takes_parts_of_the_same_types(family: str) -> None:
    same = {"a": {"annotates": ["X", "Y"]}, "b": {"annotates": ["Y", "X"]}}
    assert made(parts=same, model={"family": family}).masks() == {}
    assert made(mixture={"unannotated": "absent"}, model={"family": family}).masks() == {}


def test_paths_are_resolved_from_the_folder_of_the_recipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACE", str(tmp_path / "data"))
    file = tmp_path / "recipes" / "x.toml"
    file.parent.mkdir()
    file.write_text(
        'name = "x"\nmodel = { encoder = "tiny", family = "multilabel" }\n'
        '[parts.a]\ntrain = ["$PLACE/a", "b"]\ndev = "../dev"\nannotates = ["Gene"]\n'
    )
    recipe = read_recipe(file, changes=["parts.a.weight=3"])
    assert isinstance(recipe, Recipe)
    assert recipe.files() == {
        "parts.a.train.0": str(tmp_path / "data" / "a"),
        "parts.a.train.1": str(tmp_path / "recipes" / "b"),
        "parts.a.dev": str(tmp_path / "dev"),
    }
    assert recipe.corpora()["a"].weight == 3


@pytest.mark.parametrize(("table", "key"), [("text", "files"), ("parts.a", "train")])
def test_a_file_that_is_named_in_two_ways_is_refused(tmp_path: Path, table: str, key: str) -> None:
    beside = 'dev = "d"\nannotates = ["Gene"]\n' if key == "train" else ""
    content = (
        f'name = "a"\n[{table}]\n{key} = ["x", '
        f'"../{tmp_path.name}/x"]\n{beside}[model]\nencoder = "e"\n'
    )
    (tmp_path / "recipe.toml").write_text(content, encoding="utf-8")
    with pytest.raises(RecipeError, match=rf"{key} names .* twice") as caught:
        read_recipe(tmp_path / "recipe.toml")
    assert "\n" not in str(caught.value)


def test_what_makes_two_runs_one() -> None:
    data = {"parts.a.train": "1", "parts.b.train.0": "2"}
    plain = recipe_hash(made(), data)
    elsewhere = made(
        parts={"a": {"train": "/x/a", "dev": "/y"}, "b": {"train": ["/x/b1", "/x/b2"]}}
    )
    assert recipe_hash(elsewhere, data) == plain
    assert recipe_hash(made(parts={"a": {"bare_tags": False}}), data) == plain
    others: list[Mapping[str, Any]] = [
        {"parts": {"a": {"bare_tags": True}}},
        {"parts": {"a": {"weight": 1.0}}},
        {"parts": {"a": {"annotates": ["Protein"]}}},
        {"parts": {"b": {"types": {"rename": {"E": "Disease"}}}}},
        {"mixture": {"power": 1.0}},
        {"mixture": {"guideline": True}},
    ]
    assert len({plain, *(recipe_hash(made(**other), data) for other in others)}) == 1 + len(others)


def test_a_recipe_is_read_back() -> None:
    recipe = made(parts={"head": {"train": "x", "annotates": ["Gene"]}})
    assert msgspec.json.decode(recipe_text(recipe), type=Recipe) == recipe
    assert parse_recipe(changed_values(recipe), origin="again") == recipe
    assert set(all_values(recipe)["parts"]) == {"a", "b", "head"}
    one = made(without=("parts", "mixture"), corpus={"train": "x", "dev": "y"})
    assert not {"parts", "mixture"} & msgspec.json.decode(recipe_text(one)).keys()

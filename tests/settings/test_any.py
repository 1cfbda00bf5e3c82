"""Recipes of every kind from one reader, and settings changed on a command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.errors import FascicleError, RecipeError, UsageError
from fascicle.runtime.places import find_model
from fascicle.settings.recipes.any import parse_any, parse_changes, read_recipe, resolve_paths
from fascicle.settings.recipes.distil import DistilRecipe
from fascicle.settings.recipes.filter import FilterRecipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.recipes.relations import RelationRecipe
from fascicle.settings.recipes.typer import TyperRecipe

CORPUS = '[corpus]\ntrain = "train.tsv"\ndev = "dev.tsv"\n'
TEXTS: dict[type, str] = {
    Recipe: f'name = "a"\n{CORPUS}[model]\nencoder = "e"\n',
    DistilRecipe: f'name = "a"\n{CORPUS}[teacher]\nmodel = "run"\n[prediction]\n',
    FilterRecipe: f'{CORPUS}[members]\ndev = ["run", "b.tsv"]\n[model]\nencoder = "e"\n',
    RelationRecipe: f'{CORPUS}[relations]\nbetween = "concepts"\n[model]\nencoder = "e"\n',
    TyperRecipe: f'name = "a"\n{CORPUS}[vectors]\npath = "v.vec"\ncache = "mapped"\n',
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    found = tmp_path / "sub" / "a.toml"
    found.write_text(TEXTS[Recipe], encoding="utf-8")
    return found


@pytest.mark.parametrize("kind", TEXTS)
def test_the_tables_tell_the_kind_and_every_path_is_of_the_folder(
    tmp_path: Path, kind: type
) -> None:
    file = tmp_path / "a.toml"
    file.write_text(TEXTS[kind], encoding="utf-8")
    recipe = read_recipe(file)
    assert type(recipe) is kind
    assert all(Path(place).parent == tmp_path for place in recipe.places().values())
    assert len(recipe.places()) >= len(recipe.files()) >= 2
    assert resolve_paths(recipe, Path("/other/x.toml")) == recipe  # absolute paths stay


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("training.batch_size=8", {"training": {"batch_size": 8}}),
        ("training.learning_rate = 1e-5", {"training": {"learning_rate": 1e-5}}),
        ("training.precision=fp32", {"training": {"precision": "fp32"}}),
        ('model.encoder="some/encoder"', {"model": {"encoder": "some/encoder"}}),
        ("model.encoder=some/encoder", {"model": {"encoder": "some/encoder"}}),
        ("seed=7", {"seed": 7}),
        ('members.dev=["a", "b"]', {"members": {"dev": ["a", "b"]}}),
        ("training={epochs=2}", {"training": {"epochs": 2}}),
    ],
)
def test_what_a_change_says(change: str, value: dict[str, Any]) -> None:
    assert parse_changes([change]) == value


def test_later_changes_win_and_the_rest_of_a_table_stays(path: Path) -> None:
    recipe = read_recipe(
        path, changes=["training.epochs=2", "training.epochs=3", "training.batch_size=4"]
    )
    assert isinstance(recipe, Recipe)
    assert (recipe.training.epochs, recipe.training.batch_size) == (3, 4)
    assert recipe.model.encoder == "e"
    assert read_recipe(path) == read_recipe(path, changes=[])


def test_paths_of_changes_start_at_the_current_folder(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = read_recipe(path, changes=["corpus.dev=other.tsv"]).files()
    assert files["corpus.dev"] == str(tmp_path / "other.tsv")
    assert files["corpus.train"] == str(path.parent / "train.tsv")


@pytest.mark.parametrize("key", ["model.encoder", "student.encoder"])
def test_a_relative_encoder_begins_at_the_folder_of_the_recipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    kind = Recipe if key.startswith("model") else DistilRecipe
    (tmp_path / "recipes").mkdir()
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "recipes" / "r.toml"
    file.write_text(TEXTS[kind], encoding="utf-8")
    changed = resolve_paths(_with(read_recipe(file), key, "enc"), file)
    assert _of(changed, key) == "enc"  # may be a name on the hub
    Path("enc").mkdir()
    with pytest.raises(RecipeError, match="begins at the folder of the recipe"):
        resolve_paths(_with(read_recipe(file), key, "enc"), file)
    (tmp_path / "recipes" / "enc").mkdir()
    monkeypatch.setenv("ENC", "enc")
    for name in ("enc", "./enc", "$ENC", str(tmp_path / "recipes" / "enc")):
        assert _of(resolve_paths(_with(read_recipe(file), key, name), file), key) == str(
            file.parent / "enc"
        )
    assert (
        _of(resolve_paths(_with(read_recipe(file), key, "package:a/b"), file), key) == "package:a/b"
    )


def _of(recipe: Any, key: str) -> str:
    table, name = key.split(".")
    return str(getattr(getattr(recipe, table), name))


def _with(recipe: Any, key: str, value: str) -> Any:
    table, name = key.split(".")
    return msgspec.structs.replace(
        recipe, **{table: msgspec.structs.replace(getattr(recipe, table), **{name: value})}
    )


@pytest.mark.parametrize(
    ("change", "kind", "named"),
    [
        ("training.batchsize=8", RecipeError, ["training.batchsize=8", "training.batch_size?"]),
        ("trainig.epochs=8", RecipeError, ["trainig", "training?"]),
        ("epochs=8", RecipeError, ["did you mean training.epochs?"]),
        ("training.epochs=two", RecipeError, ["training.epochs = 'two'", "`int`"]),
        ("training.epochs=2.5", RecipeError, ["training.epochs = 2.5", "`int`"]),
        ("training.epochs=0", RecipeError, ["training.epochs = 0", ">= 1"]),
        ("name.x=1", RecipeError, ["name"]),
        ("training.epochs", UsageError, ["KEY=VALUE"]),
        ("=3", UsageError, ["KEY=VALUE"]),
        ("a b=3", UsageError, ["KEY=VALUE"]),
        ("training.epochs=", UsageError, ["training.epochs="]),
        ("members.dev=[1,", UsageError, ["members.dev=[1,"]),
        ("seed=1\nname=2", UsageError, ["seed=1"]),
    ],
)
def test_changes_that_cannot_be(
    path: Path, change: str, kind: type[FascicleError], named: list[str]
) -> None:
    with pytest.raises(kind) as raised:
        read_recipe(path, changes=[change])
    assert all(name in str(raised.value) for name in named), raised.value
    assert "Traceback" not in str(raised.value)


def test_a_change_can_mend_a_recipe(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(CORPUS, encoding="utf-8")
    with pytest.raises(RecipeError):
        read_recipe(tmp_path / "a.toml")
    assert read_recipe(tmp_path / "a.toml", changes=["name=b", "model.encoder=e"]).name == "b"


def test_gold_is_no_name_of_any_kind() -> None:
    import tomllib

    for text in TEXTS.values():
        with pytest.raises(RecipeError, match="human annotation"):
            parse_any({**tomllib.loads(text), "name": "gold"}, origin="x")


@pytest.mark.parametrize("name", ["biomed-fast", "biomed-fast@2"])
def test_a_recipe_starts_from_a_shipped_model_by_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(
        f'name = "further"\n[corpus]\ntrain = "a.tsv"\ndev = "b.tsv"\n[model]\nstart = "{name}"\n',
        encoding="utf-8",
    )
    recipe = read_recipe(path)
    assert isinstance(recipe, Recipe)
    assert recipe.model.start == str(find_model("biomed-fast"))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("biomed", '[model]\nstart = "biomed"\n'),
        ("basic", '[model]\nencoder = "e"\n[inputs]\ndictionaries = ["basic"]\n'),
    ],
)
def test_a_folder_of_the_name_of_a_shipped_one_is_refused(
    tmp_path: Path, name: str, line: str
) -> None:
    path = tmp_path / "recipe.toml"
    text = f'name = "further"\n[corpus]\ntrain = "a.tsv"\ndev = "b.tsv"\n{line}'
    path.write_text(text, encoding="utf-8")
    read_recipe(path)
    (tmp_path / name).mkdir()
    with pytest.raises(RecipeError, match=rf"'{name}' is {name}@\d+ .*; write '\./{name}' for"):
        read_recipe(path)
    path.write_text(text.replace(f'"{name}"', f'"./{name}"'), encoding="utf-8")
    read_recipe(path)


def test_a_path_of_the_name_of_a_shipped_model_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(
        'name = "further"\n[corpus]\ntrain = "a.tsv"\ndev = "b.tsv"\n[model]\nstart = "./biomed"\n',
        encoding="utf-8",
    )
    recipe = read_recipe(path)
    assert isinstance(recipe, Recipe)
    assert recipe.model.start == str(tmp_path / "biomed")

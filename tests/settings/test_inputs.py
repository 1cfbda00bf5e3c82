"""The table ``[inputs]``: what it may say, where its files lie, and what it changes of the
identity of a run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.errors import RecipeError
from fascicle.settings.folders.vocabularies import find_pack, is_pack, shipped_packs
from fascicle.settings.inputs import DictionaryFacts, InputFacts, InputSettings
from fascicle.settings.recipes.any import parse_any, parse_recipe, read_recipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.experiments.hashes import data_hashes, recipe_hash

VALUES: dict[str, Any] = {
    "name": "a",
    "corpus": {"train": "x", "dev": "y"},
    "model": {"encoder": "tiny"},
}


def recipe_of(**tables: Any) -> Recipe:
    return parse_recipe({**VALUES, **tables}, origin="test")


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({}, "names no inputs"),
        ({"shape": False, "dropout": 0.1}, "names no inputs"),
        ({"dictionaries": ["a", "b", "a"]}, "'a' twice"),
        ({"dictionaries": [""]}, "dictionaries"),
        ({"shape": True, "dropout": 1.0}, "dropout"),
        ({"shape": True, "dropout": -0.1}, "dropout"),
        ({"shapes": True}, "did you mean inputs.shape"),
        ({"dictionary": ["a"]}, "did you mean inputs.dictionaries"),
    ],
)
def test_what_is_wrong_is_one_sentence(inputs: dict[str, Any], told: str) -> None:
    with pytest.raises(RecipeError, match=told) as error:
        recipe_of(inputs=inputs)
    assert "\n" not in str(error.value)


def test_the_shipped_pack_is_a_dictionary_by_its_name(tmp_path: Path) -> None:
    text = 'name = "a"\ncorpus = {train = "x", dev = "y"}\nmodel.encoder = "tiny"\n[inputs]\n'
    (tmp_path / "r.toml").write_text(
        f'{text}dictionaries = ["{shipped_packs()[-1]}", "./basic"]\n', encoding="utf-8"
    )
    recipe = read_recipe(tmp_path / "r.toml")
    assert isinstance(recipe, Recipe)
    assert recipe.inputs
    shipped, own = recipe.inputs.dictionaries
    assert Path(shipped) == find_pack("basic")
    assert is_pack(shipped)
    assert own == str(tmp_path / "basic")


def test_paths_are_resolved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMES", str(tmp_path / "elsewhere"))
    text = 'name = "a"\ncorpus = {train = "x", dev = "y"}\nmodel.encoder = "tiny"\n[inputs]\n'
    (tmp_path / "r.toml").write_text(
        f'{text}dictionaries = ["near.tsv", "$NAMES/far.tsv"]\n', encoding="utf-8"
    )
    recipe = read_recipe(tmp_path / "r.toml")
    assert isinstance(recipe, Recipe)
    assert recipe.inputs
    assert recipe.inputs.dictionaries == (
        str(tmp_path / "near.tsv"),
        str(tmp_path / "elsewhere" / "far.tsv"),
    )
    (tmp_path / "r.toml").write_text(
        f'{text}dictionaries = ["near.tsv", "./near.tsv"]\n', encoding="utf-8"
    )
    with pytest.raises(RecipeError, match="twice"):
        read_recipe(tmp_path / "r.toml")


def test_a_recipe_without_inputs_is_what_it_was() -> None:
    recipe = recipe_of()
    assert b"inputs" not in msgspec.json.encode(recipe)
    assert recipe.files() == {"corpus.train": "x", "corpus.dev": "y"}


def test_dictionaries_count_by_their_content(tmp_path: Path) -> None:
    for name in ("x", "y", "a.tsv", "b.tsv"):
        (tmp_path / name).write_text(f"Disease\t{name}\n", encoding="utf-8")
    (tmp_path / "copy.tsv").write_bytes((tmp_path / "a.tsv").read_bytes())
    corpus = {"train": str(tmp_path / "x"), "dev": str(tmp_path / "y")}

    def hashed(*names: str, **settings: Any) -> str:
        inputs = (
            {"inputs": {"dictionaries": [str(tmp_path / n) for n in names], **settings}}
            if names
            else {}
        )
        recipe = recipe_of(corpus=corpus, **inputs)
        return recipe_hash(recipe, data_hashes(recipe))

    assert hashed("a.tsv") == hashed("copy.tsv") == hashed("a.tsv", dropout=0.3)
    others = [hashed(), hashed("b.tsv"), hashed("a.tsv", "b.tsv"), hashed("a.tsv", shape=True)]
    others.append(hashed("a.tsv", dropout=0.1))
    assert len({hashed("a.tsv"), *others}) == 6


def test_a_student_may_have_inputs_if_it_has_a_head() -> None:
    values = {**VALUES, "teacher": {"model": "t"}, "prediction": {}, "inputs": {"shape": True}}
    del values["model"]
    recipe: Any = parse_any(values, origin="test")
    assert recipe.recogniser(
        recipe.head or recipe_of().model.head, encoder="e"
    ).inputs == InputSettings(shape=True)
    layers = {key: value for key, value in values.items() if key != "prediction"} | {"layers": {}}
    with pytest.raises(RecipeError, match=r"\[inputs\] needs \[prediction\]"):
        parse_any(layers, origin="test")


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"types": ("Disease",)},
        {
            "dictionaries": (DictionaryFacts(name="a", sha256="", file="a", names=1),),
            "shapes": "shapes@1",
        },
    ],
)
def test_facts_that_do_not_fit_each_other(facts: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"inputs|types"):
        InputFacts(**facts)

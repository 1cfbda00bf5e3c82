"""Recipes for corpora whose tags are numbers or bare types: read as on the command line, and
part of a hash.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fascicle.cli import main
from fascicle.errors import InputError, RecipeError
from fascicle.formats.files import read
from fascicle.settings.recipes.any import AnyRecipe, parse_recipe, read_recipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.corpus import read_part
from fascicle.training.engine.folder import recipe_text
from fascicle.training.experiments.hashes import data_hashes, recipe_hash
from fascicle.training.recogniser.parts import read_parts

NUMBERS = {"tokens": ["Anna", "went", "to", "New", "York"], "ner_tags": [1, 0, 0, 3, 4]}
NAMES = "O,B-PER,I-PER,B-LOC,I-LOC"
BARE = "Anna\tperson\nwent\tO\n\nNew\tplace\nYork\tplace\n"


def recipe(tmp_path: Path, train: str, **keys: Any) -> AnyRecipe:
    lines = "".join(
        f"{key} = {json.dumps(value)}\n"
        for key, value in {"train": train, "dev": train, **keys}.items()
    )
    path = tmp_path / "recipe.toml"
    path.write_text(f'name = "r"\n[corpus]\n{lines}[model]\nencoder = "e"\n', encoding="utf-8")
    return read_recipe(path)


def identity(given: AnyRecipe) -> str:
    return recipe_hash(given, data_hashes(given))


def found(given: AnyRecipe) -> list[list[tuple[str, str]]]:
    documents = read_part(given.corpus, "train")
    return [
        [(mention.type, mention.text_in(one.text)) for mention in one.mentions] for one in documents
    ]


@pytest.fixture
def numbers(tmp_path: Path) -> str:
    (tmp_path / "numbers.jsonl").write_text(json.dumps(NUMBERS) + "\n", encoding="utf-8")
    return "numbers.jsonl"


@pytest.fixture
def bare(tmp_path: Path) -> str:
    (tmp_path / "bare.tsv").write_text(BARE, encoding="utf-8")
    return "bare.tsv"


def test_names_of_tags_that_are_numbers(tmp_path: Path, numbers: str) -> None:
    (tmp_path / "names.json").write_text(json.dumps(NAMES.split(",")), encoding="utf-8")
    for labels in (NAMES, "names.json"):
        assert found(recipe(tmp_path, numbers, labels=labels)) == [
            [("PER", "Anna"), ("LOC", "New York")]
        ]


def test_bare_tags(tmp_path: Path, bare: str) -> None:
    expected = [[("person", "Anna")], [("place", "New York")]]
    assert (
        found(recipe(tmp_path, bare, bare_tags=True, format="conll", documents="sentence"))
        == expected
    )
    line = json.dumps({"tokens": ["Anna"], "tags": ["person"]})
    (tmp_path / "bare.jsonl").write_text(line + "\n", encoding="utf-8")
    assert found(recipe(tmp_path, "bare.jsonl", bare_tags=True)) == [[("person", "Anna")]]


def test_the_command_line_reads_the_same(tmp_path: Path, numbers: str, bare: str) -> None:
    for name, keys, options in (
        (numbers, {"labels": NAMES}, ["--labels", NAMES]),
        (bare, {"bare_tags": True, "format": "conll"}, ["--bare-tags", "--input-format", "conll"]),
    ):
        out = tmp_path / f"{name}.out.jsonl"
        assert main(["corpus", "convert", str(tmp_path / name), "-o", str(out), *options]) == 0
        assert list(read(out)) == read_part(recipe(tmp_path, name, **keys).corpus, "train")


def test_they_are_part_of_the_identity_of_a_run(tmp_path: Path, numbers: str) -> None:
    names = tmp_path / "names.json"
    names.write_text(json.dumps(NAMES.split(",")), encoding="utf-8")
    silent = recipe(tmp_path, numbers)
    by_file = recipe(tmp_path, numbers, labels="names.json")
    assert by_file.files()["corpus.labels"] == str(names)
    before = identity(by_file)
    assert len({identity(silent), before, identity(recipe(tmp_path, numbers, labels=NAMES))}) == 3
    names.write_text(json.dumps([*NAMES.split(","), "B-X"]), encoding="utf-8")
    assert identity(by_file) != before
    assert identity(recipe(tmp_path, numbers, bare_tags=True)) != identity(silent)


def test_a_recipe_that_does_not_say_them_stays_what_it_was(tmp_path: Path, numbers: str) -> None:
    silent = recipe(tmp_path, numbers)
    assert recipe(tmp_path, numbers, bare_tags=False) == silent
    text = recipe_text(silent)  # type: ignore[arg-type]
    assert not any(f'"{key}"' in text for key in ("labels", "bare_tags"))
    values = {"name": "a", "corpus": {"train": "x", "dev": "y"}, "model": {"encoder": "tiny"}}
    plain = parse_recipe(values, origin="test")
    assert isinstance(plain, Recipe)
    # of a release without these keys
    before = "eaad1e9955bb1606eeb5838ed370654826bd3367759deb79effe4b7531aebcfe"
    assert recipe_hash(plain, {"train": "1", "dev": "2"}) == before


def test_errors_name_the_keys_of_a_recipe(tmp_path: Path, numbers: str, bare: str) -> None:
    with pytest.raises(InputError, match=r'labels = "O,B-PER') as lacking:
        found(recipe(tmp_path, numbers))
    with pytest.raises(
        RecipeError, match=r"in \[corpus\], labels is for files of the format records"
    ):
        found(recipe(tmp_path, bare, labels=NAMES, format="conll"))
    with pytest.raises(RecipeError, match=r"in \[corpus\], labels 'O' cannot be read"):
        found(recipe(tmp_path, numbers, labels="O"))
    with pytest.raises(InputError, match="bare_tags = true") as prefixless:
        found(recipe(tmp_path, bare, format="conll"))
    (tmp_path / "odd.jsonl").write_text(
        '{"text": "Bonn", "markables": [{"begin": 0, "end": 4, "kind": "X"}]}\n', encoding="utf-8"
    )
    with pytest.raises(InputError, match=r'fields = \["entities=markables"') as unread:
        found(recipe(tmp_path, "odd.jsonl"))
    for error in (lacking, prefixless, unread):
        assert "--" not in str(error.value)


def test_training_says_so_too(
    tmp_path: Path, numbers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe(tmp_path, numbers)
    assert main(["train", str(tmp_path / "recipe.toml"), "-o", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert 'labels = "O,B-PER' in said
    assert "--labels" not in said
    assert not (tmp_path / "run").exists()


def test_notes_and_errors_about_encodings_name_keys_of_the_recipe(tmp_path: Path) -> None:
    text = "Caf\u00e9\tB-X\nau\tO\nlait\tO\n\nd\u00e9j\u00e0\tB-X\nvu\tO\n\n" * 3
    (tmp_path / "a.tsv").write_text(text, encoding="windows-1252")
    guessed = recipe(tmp_path, "a.tsv", format="conll", encoding="auto")
    assert isinstance(guessed, Recipe)
    notes = "\n".join(read_parts(guessed.corpus).notes)
    assert 'name another one with encoding = "NAME" in [corpus]' in notes
    with pytest.raises(InputError, match=r'encoding = "NAME" in \[corpus\], or "auto"') as raised:
        read_part(recipe(tmp_path, "a.tsv", format="conll").corpus, "train")
    assert "as encoding in a recipe" not in str(raised.value)

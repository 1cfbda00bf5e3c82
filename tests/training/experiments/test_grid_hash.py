"""What changes the identity of a run, and what does not."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.errors import InputError, OutputError
from fascicle.settings.base import Settings
from fascicle.settings.recipes.any import parse_recipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.experiments.hashes import (
    VERSION,
    _changed,
    all_values,
    changed_values,
    data_hashes,
    read_run_recipe,
    recipe_hash,
)

DATA = {"train": "1" * 64, "dev": "2" * 64}
VALUES: dict[str, Any] = {
    "name": "a",
    "corpus": {"train": "x", "dev": "y"},
    "model": {"encoder": "tiny", "family": "crf"},
    "training": {"epochs": 3, "precision": "bf16"},
}


def hashed(data: dict[str, str] = DATA, **changes: Any) -> str:
    values = {
        k: {**v, **changes.pop(k, {})} if isinstance(v, dict) else v for k, v in VALUES.items()
    }
    return recipe_hash(parse_recipe({**values, **changes}, origin="test"), data)


def test_what_is_hashed() -> None:
    content = {
        "version": VERSION,
        "recipe": {
            "corpus": {},
            "model": {"encoder": "tiny", "family": "crf"},
            "training": {"epochs": 3},
        },
        "seed": 1,
        "data": DATA,
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    assert hashed() == hashlib.sha256(text.encode("ascii")).hexdigest()


@pytest.mark.parametrize(
    "same",
    [
        {"name": "b"},
        {"seed": 1},
        {"corpus": {"train": "/elsewhere/x", "dev": "z"}},
        {"corpus": {"format": "auto", "encoding": "utf-8"}},
        {"model": {"pooling": "first", "dropout": 0.1, "decoding": "viterbi"}},
        {"training": {"batch_size": 16, "learning_rate": 1e-4, "clip": 1}},
        {"reading": {"unit": "sentence", "overlap": 32}},
    ],
)
def test_names_places_and_defaults_change_nothing(same: dict[str, Any]) -> None:
    assert hashed(**same) == hashed()


def test_everything_else_changes_it() -> None:
    others: list[dict[str, Any]] = [
        {},
        {"seed": 2},
        {"data": {**DATA, "train": "3" * 64}},
        {"data": {**DATA, "test": "3" * 64}},
        {"corpus": {"documents": "file"}},
        {"corpus": {"where": "part={part}"}},
        {"model": {"encoder": "other"}},
        {"model": {"family": "softmax"}},
        {"model": {"family": "span"}},
        {"model": {"family": "biaffine"}},
        {"model": {"dropout": 0.2}},
        {"training": {"epochs": 4}},
        {"training": {"learning_rate": 2e-4}},
        {"reading": {"unit": "packed"}},
        {"decision": {"tune": "nothing"}},
        {"bundle": {"family": "softmax"}},
        {"bundle": {"family": "span"}},
        {"bundle": {"family": "span", "width": 3}},
        {"bundle": {"family": "span", "weight": 0.2}},
    ]
    found = [hashed(**other) for other in others]
    assert len(set(found)) == len(others)


class Before(msgspec.Struct, frozen=True, kw_only=True):
    a: int = 1
    b: tuple[str, ...] = ()


class After(Before, frozen=True, kw_only=True):
    c: float = 0.5
    d: Before = Before()


def test_a_setting_that_a_later_release_adds_changes_nothing() -> None:
    assert _changed(Before(a=2), default=None) == _changed(After(a=2), default=None) == {"a": 2}
    assert _changed(After(d=Before(b=("x",))), default=None) == {"d": {"b": ["x"]}}


def test_the_kind_of_a_head_is_told_where_the_default_has_another() -> None:
    model = {"encoder": "tiny", "dropout": 0.2}
    for family, said in (("softmax", {}), ("crf", {"family": "crf"}), ("span", {"family": "span"})):
        recipe = parse_recipe({**VALUES, "model": {**model, "family": family}}, origin="test")
        assert changed_values(recipe)["model"] == {**model, **said}


# Results are compared by hashes that leave defaults out: with another default, a recipe that is
# silent about it means another run under the old hash. So whoever changes a value here changes the
# hash of runs that are kept.
DEFAULTS = {
    "corpus": {
        "test": "",
        "format": "auto",
        "documents": "auto",
        "where": "",
        "columns": "",
        "shape": "auto",
        "fields": [],
        "encoding": "utf-8",
    },
    "reading": {"unit": "sentence", "max_length": 256, "overlap": 32, "segmenter": "rules@1"},
    "model": {
        "revision": "",
        "family": "softmax",
        "level": "word",
        "pooling": "first",
        "specials": "exclude",
        "dropout": 0.1,
        "scheme": "BIO",
        "decoding": "viterbi",
    },
    "decision": {"tune": "no"},
    "training": {
        "epochs": 8,
        "batch_size": 16,
        "accumulation": 1,
        "optimizer": "adamw",
        "learning_rate": 1e-4,
        "head_learning_rate": 0.0,
        "layer_decay": 1.0,
        "weight_decay": 0.01,
        "schedule": "linear",
        "warmup": 0.1,
        "clip": 1.0,
        "hidden_pieces": 0.0,
        "precision": "auto",  # as "bf16" to the hash
        "average": "none",
        "average_decay": 0.995,
        "average_epochs": 3,
        "select": "best-dev",
        "patience_epochs": 0,
    },
}
SPANS = {"level": "word", "width": 0, "width_embedding": 0, "negatives": 0, "decoding": "greedy"}
HEADS = {
    "crf": {
        "level": "word",
        "pooling": "first",
        "specials": "exclude",
        "dropout": 0.1,
        "scheme": "BIO",
    },
    "span": {**SPANS, "representation": "boundary"},
    "biaffine": {**SPANS, "hidden": 150},
}


def test_the_defaults_that_hashes_of_this_version_leave_out() -> None:
    assert VERSION == 1
    silent = {"name": "a", "corpus": {"train": "x", "dev": "y"}, "model": {"encoder": "tiny"}}
    values = all_values(parse_recipe(silent, origin="test"))
    for table, defaults in DEFAULTS.items():
        assert {key: values[table][key] for key in defaults} == defaults
    for family, defaults in HEADS.items():
        model = all_values(
            parse_recipe({**silent, "model": {"encoder": "tiny", "family": family}}, origin="test")
        )
        assert {key: model["model"][key] for key in defaults} == defaults


def test_a_default_that_changed_leaves_the_hashes_of_those_who_said_it() -> None:
    def of(**training: object) -> str:
        recipe = {
            "name": "a",
            "corpus": {"train": "x", "dev": "y"},
            "model": {"encoder": "tiny"},
            "training": training,
        }
        return recipe_hash(parse_recipe(recipe, origin="test"), {"train": "1", "dev": "2"})

    # of a release whose default was bf16
    before = "eaad1e9955bb1606eeb5838ed370654826bd3367759deb79effe4b7531aebcfe"
    assert of(precision="bf16") == before
    assert of() == of(precision="auto") == before
    assert len({of(), of(precision="fp32"), of(epochs=3), of(epochs=3, precision="fp32")}) == 4


def test_every_value_without_folders() -> None:
    recipe = parse_recipe(
        {**VALUES, "corpus": {"train": "/a/b/x.tsv", "dev": "$DATA/y.tsv"}}, origin="test"
    )
    values = all_values(recipe)
    assert values["corpus"]["train"] == "x.tsv"
    assert values["corpus"]["dev"] == "$DATA/y.tsv"
    assert values["corpus"]["encoding"] == "utf-8"
    assert parse_recipe(values, origin="again").training == recipe.training


def test_hashes_of_data(toy_corpus: Path, tmp_path: Path) -> None:
    copy, core = tmp_path / "copy.tsv", tmp_path / "core.tsv"
    shutil.copy(toy_corpus, copy)
    core.write_text("Disease\tpain\n", encoding="utf-8")
    data = {"corpus": {"train": str(copy), "dev": str(toy_corpus)}, "distant": {"core": str(core)}}
    recipe = parse_recipe({**VALUES, **data}, origin="test")
    of_toy, of_core = (hashlib.sha256(path.read_bytes()).hexdigest() for path in (toy_corpus, core))
    known: dict[str, str] = {}
    assert data_hashes(recipe, known) == {"train": of_toy, "dev": of_toy, "distant.core": of_core}
    assert known == {str(copy): of_toy, str(toy_corpus): of_toy, str(core): of_core}
    copy.write_text("the\tO\n", encoding="utf-8")
    assert data_hashes(recipe, known)["train"] == of_toy  # read once
    assert data_hashes(recipe)["train"] != of_toy
    for path, key in ((core, "distant.core"), (copy, "corpus.train")):
        path.unlink()
        with pytest.raises(
            InputError, match=rf"^{key} of the recipe is .*{path.name}, which does not exist"
        ):
            data_hashes(recipe)


def test_of_descriptions_the_content_counts_and_not_the_place(tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("a.toml", "b.toml", "c.toml")}
    for name, text in (("a.toml", "x"), ("b.toml", "x"), ("c.toml", "y")):
        files[name].write_text(text, encoding="utf-8")
    (tmp_path / "corpus.tsv").write_text("a\tO\n", encoding="utf-8")
    part = str(tmp_path / "corpus.tsv")

    def identity(name: str, second: str = "") -> str:
        reads = {"family": "binder", "type_view": "keyword"}
        model = {"model": {"encoder": "tiny", **reads, "types": str(files[name])}}
        bundle = {"bundle": {**reads, "name": "two", "types": str(files[second])}} if second else {}
        corpus = {"corpus": {"train": part, "dev": part}}
        recipe = parse_recipe({**VALUES, **corpus, **model, **bundle}, origin="test")
        return recipe_hash(recipe, data_hashes(recipe))

    assert identity("a.toml") == identity("b.toml")
    assert identity("a.toml", "b.toml") == identity("b.toml", "a.toml")
    told = {
        identity("a.toml"),
        identity("c.toml"),
        identity("a.toml", "c.toml"),
        identity("c.toml", "a.toml"),
    }
    assert len(told) == 4
    files["c.toml"].unlink()
    with pytest.raises(
        InputError, match=r"model\.types of the recipe is .*c\.toml, which does not exist"
    ):
        identity("c.toml")


DISTANT = {**VALUES, "distant": {"core": "core.tsv"}}
OF_CORE = {**DATA, "distant.core": "3" * 64}


def test_a_dictionary_counts_by_its_content_and_its_settings() -> None:
    def weak(data: dict[str, str] = OF_CORE, **more: Any) -> str:
        return recipe_hash(
            parse_recipe({**VALUES, "distant": {"core": "core.tsv", **more}}, origin="test"), data
        )

    assert weak() == weak(core="/elsewhere/core.tsv") == weak(rule="three-casings", type_column=0)
    full = {**OF_CORE, "distant.full": "4" * 64}
    others = [
        hashed(),
        weak(),
        weak(rule="raw"),
        weak(name_column=2),
        weak(type="Disease"),
        weak({**OF_CORE, "distant.core": "5" * 64}),
        weak(full, full="full.tsv"),
        weak({**full, "distant.full": "5" * 64}, full="full.tsv"),
    ]
    assert len(set(others)) == len(others)
    assert weak(full, full="full.tsv") == weak(full, full="elsewhere/full.tsv")
    content = {
        "version": VERSION,
        "recipe": {**VALUES, "corpus": {}, "distant": {}, "training": {"epochs": 3}},
        "seed": 1,
        "data": OF_CORE,
    }
    del content["recipe"]["name"]
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    assert weak() == hashlib.sha256(text.encode("ascii")).hexdigest()


def test_the_defaults_of_weak_labels_that_hashes_of_this_version_leave_out() -> None:
    assert all_values(parse_recipe(DISTANT, origin="test"))["distant"] == {
        "core": "core.tsv",
        "full": "",
        "rule": "three-casings",
        "name_column": 1,
        "type_column": 0,
        "type": "",
        "header": False,
        "encoding": "utf-8",
    }
    assert "distant" not in all_values(parse_recipe(VALUES, origin="test"))


def test_the_recipe_of_a_run_folder(
    tiny_run: Path, tiny_recipe: Callable[..., Recipe], toy_corpus: Path
) -> None:
    assert read_run_recipe(tiny_run) == tiny_recipe(corpus={"test": str(toy_corpus)})


@pytest.mark.parametrize(
    "content", ["{", "[]", "{}", '{"name": "a", "model": {"head": 3}}', "[" * 20_000]
)
def test_a_run_folder_whose_recipe_cannot_be_read(tmp_path: Path, content: str) -> None:
    (tmp_path / "recipe.json").write_text(content, encoding="utf-8")
    with pytest.raises(OutputError, match="holds no recipe that this release can read") as caught:
        read_run_recipe(tmp_path)
    assert "\n" not in str(caught.value)


def test_every_setting_is_compared() -> None:
    """Every field of every table of a recipe has a place in the hash, also those that are added
    later.
    """

    def tables(kind: type[msgspec.Struct], path: str = "") -> dict[str, type[msgspec.Struct]]:
        found = {path: kind}
        for field in msgspec.structs.fields(kind):
            if isinstance(field.type, type) and issubclass(field.type, Settings):
                found |= tables(field.type, f"{path}.{field.name}")
        return found

    recipe = parse_recipe(VALUES, origin="test")
    for path, kind in tables(Recipe).items():
        place: Any = recipe
        for name in path.split(".")[1:]:
            place = getattr(place, name)
        for field in msgspec.structs.fields(kind):
            marked = _changed(_with(place, field.name), default=None)
            assert marked[field.name] == "changed", f"{path}.{field.name}"


def _with(settings: msgspec.Struct, name: str) -> msgspec.Struct:
    copy = msgspec.structs.replace(settings)
    msgspec.structs.force_setattr(copy, name, "changed")
    return copy

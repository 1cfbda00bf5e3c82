"""Recipes: every wrong line is one sentence that names file, key, value and rule."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from fascicle.errors import RecipeError
from fascicle.settings.heads import HEADS, SoftmaxSettings
from fascicle.settings.recipes.any import parse_recipe, read_recipe
from fascicle.settings.recipes.recogniser import DistantSettings, Recipe

GOOD = """\
name = "good"
[corpus]
train = "train.tsv"
dev = "dev.tsv"
[reading]
max_length = 64
overlap = 8
[model]
encoder = "some/encoder"
[training]
epochs = 3
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "r.toml"
    path.write_text(text, encoding="utf-8")
    return path


def message(folder: Path, text: str) -> str:
    path = written(folder, text)
    with pytest.raises(RecipeError) as caught:
        read_recipe(path)
    found = str(caught.value)
    assert "\n" not in found
    assert found.startswith(str(path))
    return found.removeprefix(str(path))


def test_a_good_recipe_and_its_defaults(tmp_path: Path) -> None:
    recipe = read_recipe(written(tmp_path, GOOD))
    assert (recipe.seed, recipe.training.epochs, recipe.training.batch_size) == (1, 3, 16)
    assert recipe.model.head == SoftmaxSettings()
    assert msgspec.json.decode(msgspec.json.encode(recipe), type=Recipe) == recipe


def test_paths_are_resolved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASCICLE_TEST_DATA", str(tmp_path / "da$ta"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    text = GOOD.replace("train.tsv", "$FASCICLE_TEST_DATA/train.tsv").replace(
        '"dev.tsv"', '"../dev.tsv"\ntest = "~/t"'
    )
    (tmp_path / "sub").mkdir()
    corpus = read_recipe(written(tmp_path / "sub", text)).corpus
    assert (corpus.train, corpus.dev, corpus.test) == (
        str(tmp_path / "da$ta" / "train.tsv"),
        str(tmp_path / "dev.tsv"),
        str(tmp_path / "home" / "t"),
    )
    assert read_recipe(written(tmp_path, GOOD)).corpus.test == ""


DISTANT = '\n[distant]\ncore = "$FASCICLE_TEST_DATA/core.tsv"\n'


def test_paths_of_dictionaries_are_resolved_as_those_of_corpora(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FASCICLE_TEST_DATA", str(tmp_path / "data"))
    core = str(tmp_path / "data" / "core.tsv")
    both = read_recipe(written(tmp_path, f'{GOOD}{DISTANT}full = "../full.tsv"\n'))
    assert both.distant == DistantSettings(core=core, full=str(tmp_path.parent / "full.tsv"))
    assert both.files() == {
        "corpus.train": str(tmp_path / "train.tsv"),
        "corpus.dev": str(tmp_path / "dev.tsv"),
        "distant.core": core,
        "distant.full": str(tmp_path.parent / "full.tsv"),
    }
    assert read_recipe(written(tmp_path, GOOD + DISTANT)).distant == DistantSettings(core=core)
    monkeypatch.delenv("FASCICLE_TEST_DATA")
    found = message(tmp_path, GOOD + DISTANT)
    assert all(
        part in found
        for part in ("distant.core = '$FASCICLE_TEST_DATA/core.tsv'", "variable FASCICLE_TEST_DATA")
    )


def test_a_recipe_without_weak_labels_is_written_as_before_there_were_any(tmp_path: Path) -> None:
    recipe = read_recipe(written(tmp_path, GOOD))
    keys = ["name", "seed", "corpus", "reading", "model", "bundle", "training", "decision"]
    assert (
        list(msgspec.json.decode(msgspec.json.encode(recipe)))
        == list(msgspec.to_builtins(recipe))
        == keys
    )
    assert not recipe.distant
    weak = read_recipe(
        written(tmp_path, f'{GOOD}[distant]\ncore = "/d.tsv"\ntype = "Disease"\nname_column = 0\n')
    )
    assert msgspec.json.decode(msgspec.json.encode(weak), type=Recipe) == weak
    assert weak.distant == DistantSettings(core="/d.tsv", type="Disease", name_column=0)


@pytest.mark.parametrize("name", ["$FASCICLE_NOT_SET", "${FASCICLE_NOT_SET}"])
def test_an_unset_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv("FASCICLE_NOT_SET", raising=False)
    found = message(tmp_path, GOOD.replace("train.tsv", f"{name}/train.tsv"))
    assert f"corpus.train = '{name}/train.tsv'" in found
    assert "variable FASCICLE_NOT_SET" in found


NAME, EPOCHS, TABLE = 'name = "good"', "epochs = 3", "[training]"


def model(*lines: str) -> str:
    """Lines at the end of the table before [training], which is that of the model."""
    return "\n".join([*lines, TABLE])


def distant(*lines: str) -> str:
    return model("[distant]", 'core = "d.tsv"', *lines)


WRONG = [  # what is replaced, by what, and what the message names beside the file
    (NAME, 'nmae = "good"', ["key nmae", "mean name?"]),
    (
        NAME,
        f"zzz = 1\n{NAME}",
        ["key zzz", "bundle, corpus, decision, distant, inputs, mixture, model, "],
    ),
    (EPOCHS, "epoch = 3", ["key training.epoch;", "training.epochs?"]),
    (EPOCHS, "encoder = 3", ["key training.encoder", "model.encoder?"]),
    (NAME, f"max_length = 64\n{NAME}", ["key max_length", "reading.max_length?"]),
    (EPOCHS, 'epochs = "3"', ["training.epochs = '3'", "`int`", "`str`"]),
    (EPOCHS, "epochs = true", ["training.epochs = True", "`int`", "`bool`"]),
    (EPOCHS, "epochs = 0", ["training.epochs = 0", ">= 1"]),
    (EPOCHS, "learning_rate = nan", ["training.learning_rate = nan", "> 0"]),
    (EPOCHS, 'precision = "bf61"', ["training.precision = 'bf61'", "'auto', 'fp32', 'bf16'"]),
    (
        TABLE,
        model("[[bundle]]", 'family = "crf"', "[[bundle]]", 'family = "span"'),
        ["list of 2", "[bundle]", "two heads"],
    ),
    (
        f"{TABLE}\n{EPOCHS}",
        "[[training]]\nepochs = 3\n[[training]]\nepochs = 4",
        ["training", "list of 2", "[training]"],
    ),
    ('dev = "dev.tsv"', "", ["corpus", "missing", "`dev`"]),
    ('[model]\nencoder = "some/encoder"', "", ["missing", "`model`"]),
    ('dev = "dev.tsv"', 'dev = ""', ["corpus.dev = ''", "length >= 1"]),
    (NAME, 'name = "a/b"', ["name = 'a/b'"]),
    ("overlap = 8", "overlap = 33", ["overlap = 33", "max_length = 64", "half"]),
    (TABLE, model('level = "piece"', 'pooling = "max"'), ['pooling = "max"', 'level = "word"']),
    (TABLE, model('specials = "include"'), ['specials = "include"', 'level = "piece"']),
    (
        TABLE,
        model('family = "crf"', 'decoding = "strict"'),
        ['decoding = "strict"', 'family = "crf"', '"viterbi"'],
    ),
    (
        TABLE,
        model('family = "sofmax"'),
        ["model.family = 'sofmax'", ", ".join(map(repr, sorted(HEADS))), "'softmax'?"],
    ),
    (
        TABLE,
        model('family = "span"', 'scheme = "IO"'),
        ["key model.scheme", "'span'", "crf, multilabel, softmax"],
    ),
    (TABLE, model('family = "span"', "widht = 3"), ["key model.widht", "model.width?"]),
    (TABLE, model("[model.head]"), ["key model.head"]),
    (TABLE, model('family = "span"', "width = 1000"), ["model.width = 1000", "<= 256"]),
    (TABLE, model("[distant]"), ["distant", "missing", "`core`"]),
    (TABLE, distant('rule = "AutoNER"'), ["distant.rule = 'AutoNER'", "'three-casings', 'raw'"]),
    (TABLE, distant('fulll = "f.tsv"'), ["key distant.fulll", "distant.full?"]),
    (
        TABLE,
        distant('full = "f.tsv"', 'rule = "raw"'),
        ['full = "f.tsv"', 'rule = "three-casings"', '"raw"'],
    ),
    (
        TABLE,
        distant('type = "Disease"', "type_column = 2"),
        ['type = "Disease"', "type_column = 2", "give one"],
    ),
    (TABLE, distant("name_column = 0"), ["name_column and type_column", "both 0"]),
    (TABLE, model("[vectors]", 'path = "v"'), ["key vectors", "span typer"]),
    (EPOCHS, "epochs =", ["TOML"]),
]


@pytest.mark.parametrize(("old", "new", "named"), WRONG)
def test_what_is_wrong_is_one_sentence(
    tmp_path: Path, old: str, new: str, named: list[str]
) -> None:
    assert old in GOOD
    said = message(tmp_path, GOOD.replace(old, new))
    assert all(name in said for name in named), said


def test_a_value_in_place_of_a_table(tmp_path: Path) -> None:
    found = message(tmp_path, "training = 3\n" + GOOD.partition("[training]")[0])
    assert "training = 3" in found
    assert "`int`" in found


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    (tmp_path / "deep.toml").write_text(f"name = {'[' * 9999}", encoding="utf-8")
    (tmp_path / "nul.toml").write_text('[corpus]\ntrain = ["a", "to\\u0000y"]\n', encoding="utf-8")
    (tmp_path / "digits.toml").write_text(f"seed = {'9' * 6000}", encoding="utf-8")
    (tmp_path / "large.toml").write_text("#" * (16 * 2**20 + 1), encoding="utf-8")
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "endless.toml").symlink_to("/dev/zero")
    for path, named in {
        tmp_path / "digits.toml": "too many digits",
        tmp_path / "large.toml": "more than 16 MiB",
        tmp_path / "pipe.toml": "pipe or a device",
        tmp_path / "endless.toml": "pipe or a device",
        tmp_path / "nul.toml": "NUL",
        tmp_path / "absent.toml": r"no recipe at .*absent\.toml",
        tmp_path: "is a folder",
        "": "path is empty",
        ".": "current folder",
        tmp_path / "latin.toml": "TOML",
        tmp_path / "deep.toml": "nested too deeply",
    }.items():
        with pytest.raises(RecipeError, match=named):
            read_recipe(path)


def test_a_byte_order_mark_is_no_part_of_a_recipe(tmp_path: Path) -> None:
    (tmp_path / "plain.toml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "marked.toml").write_text(GOOD, encoding="utf-8-sig")
    assert read_recipe(tmp_path / "marked.toml") == read_recipe(tmp_path / "plain.toml")


def test_plain_values_name_their_origin() -> None:
    with pytest.raises(RecipeError, match=r"^here: object missing required field `name`$"):
        parse_recipe({}, origin="here")

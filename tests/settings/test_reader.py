"""Recipes: every wrong line is one sentence that names file, key, value and rule."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from fascicle.errors import RecipeError
from fascicle.settings.heads import HEADS, SoftmaxSettings
from fascicle.settings.recipes.any import read_recipe
from fascicle.settings.recipes.reader import parse_recipe
from fascicle.settings.recipes.recogniser import DistantSettings, Recipe

RECIPES = sorted((Path(__file__).resolve().parents[2] / "recipes").glob("*.toml"))
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
    text = GOOD.replace("train.tsv", "$FASCICLE_TEST_DATA/train.tsv").replace('"dev.tsv"', '"../dev.tsv"\ntest = "~/t"')
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
    assert found.startswith(": distant.core = '$FASCICLE_TEST_DATA/core.tsv' names the environment variable FASCICLE_T")


def test_a_recipe_without_weak_labels_is_written_as_before_there_were_any(tmp_path: Path) -> None:
    recipe = read_recipe(written(tmp_path, GOOD))
    keys = ["name", "seed", "corpus", "reading", "model", "bundle", "training", "decision"]
    assert list(msgspec.json.decode(msgspec.json.encode(recipe))) == list(msgspec.to_builtins(recipe)) == keys
    assert not recipe.distant
    weak = read_recipe(written(tmp_path, f'{GOOD}[distant]\ncore = "/d.tsv"\ntype = "Disease"\nname_column = 0\n'))
    assert msgspec.json.decode(msgspec.json.encode(weak), type=Recipe) == weak
    assert weak.distant == DistantSettings(core="/d.tsv", type="Disease", name_column=0)


@pytest.mark.parametrize("name", ["$FASCICLE_NOT_SET", "${FASCICLE_NOT_SET}"])
def test_an_unset_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv("FASCICLE_NOT_SET", raising=False)
    found = message(tmp_path, GOOD.replace("train.tsv", f"{name}/train.tsv"))
    assert found == (
        f": corpus.train = '{name}/train.tsv' names the environment variable FASCICLE_NOT_SET, which is not set"
    )


WRONG = {
    "unknown at the top": ('name = "good"', 'nmae = "good"', ": unknown key nmae; did you mean name?"),
    "unknown, nothing near": (
        'name = "good"',
        'zzz = 1\nname = "good"',
        ": unknown key zzz; allowed are bundle, corpus, decision, distant, model, ",
    ),
    "unknown in a table": ("epochs = 3", "epoch = 3", ": unknown key training.epoch; did you mean training.epochs?"),
    "a key in the wrong table": (
        "epochs = 3",
        "encoder = 3",
        ": unknown key training.encoder; did you mean model.encoder?",
    ),
    "a key outside its table": (
        'name = "good"',
        'max_length = 64\nname = "good"',
        ": unknown key max_length; did you mean reading.max_length?",
    ),
    "wrong type": ("epochs = 3", 'epochs = "3"', ": training.epochs = '3' is not allowed: expected `int`, got `str`"),
    "a boolean for a number": (
        "epochs = 3",
        "epochs = true",
        ": training.epochs = True is not allowed: expected `int`, got `bool`",
    ),
    "out of range": ("epochs = 3", "epochs = 0", ": training.epochs = 0 is not allowed: expected `int` >= 1"),
    "not a number": (
        "epochs = 3",
        "learning_rate = nan",
        ": training.learning_rate = nan is not allowed: expected `float` > 0.0",
    ),
    "wrong name": (
        "epochs = 3",
        'precision = "bf61"',
        ": training.precision = 'bf61' is not allowed: allowed are 'auto', 'fp32', 'bf16'",
    ),
    "three heads": (
        "[training]",
        '[[bundle]]\nfamily = "crf"\n[[bundle]]\nfamily = "span"\n[training]',
        ": bundle is a list of 2; write one table, [bundle]; a bundle has two heads, that of [model] and that of "
        "[bundle]",
    ),
    "a table given twice": (
        "[training]\nepochs = 3",
        "[[training]]\nepochs = 3\n[[training]]\nepochs = 4",
        ": training is a list of 2; write one table, [training]",
    ),
    "missing": ('dev = "dev.tsv"', "", ": corpus: object missing required field `dev`"),
    "missing table": ('[model]\nencoder = "some/encoder"', "", ": object missing required field `model`"),
    "empty": ('dev = "dev.tsv"', 'dev = ""', ": corpus.dev = '' is not allowed: expected `str` of length >= 1"),
    "name with a slash": (
        'name = "good"',
        'name = "a/b"',
        ": name = 'a/b' is not allowed: expected `str` matching regex",
    ),
    "too much overlap": (
        "overlap = 8",
        "overlap = 33",
        ": reading: overlap = 33 is too large for max_length = 64: at most half is allowed",
    ),
    "pooling of pieces": (
        "[training]",
        'level = "piece"\npooling = "max"\n[training]',
        ': model: pooling = "max" needs level = "word": a piece has nothing to pool',
    ),
    "special words": (
        "[training]",
        'specials = "include"\n[training]',
        ': model: specials = "include" needs level = "piece": special tokens are not words',
    ),
    "strict CRF": (
        "[training]",
        'family = "crf"\ndecoding = "strict"\n[training]',
        ': model: decoding = "strict" is not allowed with family = "crf": use "viterbi"',
    ),
    "unknown family": (
        "[training]",
        'family = "sofmax"\n[training]',
        f": model.family = 'sofmax' is not allowed: allowed are {', '.join(map(repr, sorted(HEADS)))}; did",
    ),
    "a setting of another family": (
        "[training]",
        'family = "span"\nscheme = "IO"\n[training]',
        ": unknown key model.scheme; the family 'span' has no such setting, only crf, multilabel, softmax have",
    ),
    "a misspelt setting of the head": (
        "[training]",
        'family = "span"\nwidht = 3\n[training]',
        ": unknown key model.widht; did you mean model.width?",
    ),
    "the head as a table": ("[training]", "[model.head]\n[training]", ": unknown key model.head; allowed are"),
    "a width out of range": (
        "[training]",
        'family = "span"\nwidth = 1000\n[training]',
        ": model.width = 1000 is not allowed: expected `int` <= 256",
    ),
    "weak labels without a dictionary": (
        "[training]",
        "[distant]\n[training]",
        ": distant: object missing required field `core`",
    ),
    "an unknown matching rule": (
        "[training]",
        '[distant]\ncore = "d.tsv"\nrule = "AutoNER"\n[training]',
        ": distant.rule = 'AutoNER' is not allowed: allowed are 'three-casings', 'raw'",
    ),
    "a misspelt setting of weak labels": (
        "[training]",
        '[distant]\ncore = "d.tsv"\nfulll = "f.tsv"\n[training]',
        ": unknown key distant.fulll; did you mean distant.full?",
    ),
    "phrases without types under a rule that takes none": (
        "[training]",
        '[distant]\ncore = "d.tsv"\nfull = "f.tsv"\nrule = "raw"\n[training]',
        ': distant: full = "f.tsv" needs rule = "three-casings": "raw" takes names with a type only',
    ),
    "a type beside a column of types": (
        "[training]",
        '[distant]\ncore = "d.tsv"\ntype = "Disease"\ntype_column = 2\n[training]',
        ': distant: type = "Disease" and type_column = 2 exclude each other: give one',
    ),
    "one column for names and types": (
        "[training]",
        '[distant]\ncore = "d.tsv"\nname_column = 0\n[training]',
        ": distant: name_column and type_column are both 0: give each its own, or say type",
    ),
    "a table of a span typer": (
        "[training]",
        '[vectors]\npath = "v"\n[training]',
        ": unknown key vectors; only a recipe of a span typer has it",
    ),
    "not TOML": ("epochs = 3", "epochs =", " is not a readable TOML file: "),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, case: str) -> None:
    old, new, expected = WRONG[case]
    assert old in GOOD
    assert message(tmp_path, GOOD.replace(old, new)).startswith(expected)


def test_a_value_in_place_of_a_table(tmp_path: Path) -> None:
    found = message(tmp_path, "training = 3\n" + GOOD.partition("[training]")[0])
    assert found == ": training = 3 is not allowed: expected `object`, got `int`"


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"there is no recipe at .*absent\.toml; give the path of a TOML file"):
        read_recipe(tmp_path / "absent.toml")
    with pytest.raises(RecipeError, match=r"^\S+ is a folder; give the path of a TOML file$"):
        read_recipe(tmp_path)
    for path in ("", "."):
        with pytest.raises(RecipeError, match=r"^the path is empty, or that of the current folder; give the path of a"):
            read_recipe(path)
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(RecipeError, match="is not a readable TOML file"):
        read_recipe(tmp_path / "latin.toml")
    (tmp_path / "deep.toml").write_text(f"name = {'[' * 9999}", encoding="utf-8")
    with pytest.raises(RecipeError, match="its values are nested too deeply"):
        read_recipe(tmp_path / "deep.toml")


def test_a_byte_order_mark_is_no_part_of_a_recipe(tmp_path: Path) -> None:
    (tmp_path / "plain.toml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "marked.toml").write_text(GOOD, encoding="utf-8-sig")
    assert read_recipe(tmp_path / "marked.toml") == read_recipe(tmp_path / "plain.toml")


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.name)
def test_every_recipe_of_the_repository_parses(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASCICLE_DATA", "/data")
    recipe = read_recipe(path)
    assert recipe.name == path.stem
    assert recipe.corpus.train.startswith("/data/")


def test_there_are_recipes() -> None:
    assert RECIPES


def test_plain_values_name_their_origin() -> None:
    with pytest.raises(RecipeError, match=r"^here: object missing required field `name`$"):
        parse_recipe({}, origin="here")

"""Grid files: which cells they make, and what is refused before anything runs."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.errors import RecipeError
from fascicle.settings.recipes.any import parse_recipe
from fascicle.settings.recipes.strict import merge_tables
from fascicle.training.experiments.grid import read_grid

TEXT = """\
name = "small"
compare = "plain"

[recipe]
model = { encoder = "tiny" }
training.epochs = 2

[corpora.one]
corpus = { train = "one/train.tsv", dev = "$DATA/dev.tsv", test = "/there/test.tsv" }

[corpora.two]
corpus = { train = "a", dev = "b" }
training.epochs = 5

[systems.plain]

[systems.crf]
model = { family = "crf" }
training = { epochs = 7, batch_size = 4 }

[variants.long]
training.epochs = 9

[[run]]
corpora = ["one", "two"]
systems = ["plain", "crf"]
seeds = [2, 1]
tier = "cpu"

[[run]]
corpora = ["two"]
systems = ["crf"]
variants = ["long"]
seeds = [1]
tier = "smoke"
"""
RECIPE = (
    'name = "filed"\nseed = 5\n[corpus]\ntrain = "a"\ndev = "../b"\n[model]\nencoder = "tiny"\n'
)
FILES = '[[run]]\nrecipes = ["recipes/filed.toml"]\nseeds = [3]\ntier = "gpu"\n'
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a grid file beside a folder with one recipe."""
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "filed.toml").write_text(RECIPE, encoding="utf-8")

    def grid(text: str = TEXT, *changes: tuple[str, str]) -> Path:
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        (tmp_path / "small.toml").write_text(text, encoding="utf-8")
        return tmp_path / "small.toml"

    return grid


def test_cells_in_the_order_of_the_file(write: Write) -> None:
    grid = read_grid(write(TEXT + FILES))
    names = [f"{c}-{s}-s{n}" for c in ("one", "two") for s in ("plain", "crf") for n in (2, 1)]
    assert [run.name for run in grid.runs] == [*names, "two-crf-long-s1", "filed-s3"]
    assert {run.tier for run in grid.runs[:-2]} == {"cpu"}
    assert [run.tier for run in grid.runs[-2:]] == ["smoke", "gpu"]
    assert [(r.corpus, r.system, r.variant) for r in grid.runs[-3:]] == [
        ("two", "crf", ""),
        ("two", "crf", "long"),
        ("", "", ""),
    ]
    assert (grid.name, grid.compare) == ("small", "plain")
    assert grid.results == grid.path.parent / "results" / "small"


def test_descriptions_of_types_go_to_the_systems_that_read_them(write: Write) -> None:
    reads = '[systems.plain]\nmodel = { family = "binder", type_view = "keyword" }\n'
    own = '[variants.long]\nmodel.types = "own.toml"\n'
    changed = write(
        TEXT + '[types]\ntwo = "two-types.toml"\n',
        ("[systems.plain]\n", reads),
        ("[variants.long]\n", own),
        ('corpora = ["one", "two"]', 'corpora = ["two"]'),
        ('systems = ["crf"]\nvariants', 'systems = ["plain"]\nvariants'),
    )
    runs = {run.recipe.name: run.recipe for run in read_grid(changed).runs}
    assert runs["two-plain"].files()["model.types"] == "two-types.toml"
    assert runs["two-plain-long"].files()["model.types"] == "own.toml"
    assert "model.types" not in runs["two-crf"].files()
    with pytest.raises(
        RecipeError, match=r"there is no corpus 'tow'; did you mean 'two'\? \(types\)"
    ):
        read_grid(write(TEXT + '[types]\ntow = "x.toml"\n'))


def test_a_cell_is_the_merger_of_its_overlays(write: Write) -> None:
    values = tomllib.loads(TEXT)
    for run in read_grid(write()).runs:
        by_hand: dict[str, Any] = {
            "name": run.recipe.name,
            "seed": run.recipe.seed,
            "model": {},
            "training": {},
        }
        overlays = (
            values["recipe"],
            values["corpora"][run.corpus],
            values["systems"][run.system],
            values["variants"].get(run.variant, {}),
        )
        for overlay in overlays:
            for table, inner in overlay.items():
                by_hand[table] = {**by_hand.get(table, {}), **inner}
        assert run.recipe == parse_recipe(by_hand, origin="by hand")
    epochs = [run.recipe.training.epochs for run in read_grid(write()).runs]
    assert epochs == [2, 2, 7, 7, 5, 5, 7, 7, 9]


TABLES = st.recursive(
    st.integers(0, 3), lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
)
TABLE = st.dictionaries(st.sampled_from("abc"), TABLES, max_size=3)


def leaves(table: dict[str, Any], before: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    found: dict[tuple[str, ...], Any] = {}
    for key, value in table.items():
        found |= (
            leaves(value, (*before, key))
            if isinstance(value, dict) and value
            else {(*before, key): value}
        )
    return found


@given(TABLE, TABLE, TABLE)
def test_merging(base: dict[str, Any], first: dict[str, Any], second: dict[str, Any]) -> None:
    result = merge_tables(base, first)
    said = leaves(first)
    for path, value in leaves(result).items():
        if path in said:
            assert value == said[path]
        elif value != {} or path in leaves(base):
            assert leaves(base)[path] == value
    assert all(path in leaves(result) for path in said if said[path] != {})
    assert merge_tables(base, first, second) == merge_tables(merge_tables(base, first), second)
    assert merge_tables(base, {}) == base == merge_tables({}, base)


def test_paths_are_resolved_from_where_they_are_written(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = read_grid(write(TEXT + FILES))
    first, filed, folder = grid.runs[0], grid.runs[-1], grid.path.parent
    assert first.recipe.corpus.dev == "$DATA/dev.tsv"
    monkeypatch.delenv("DATA", raising=False)
    with pytest.raises(RecipeError, match=r"small\.toml: corpus\.dev = .* DATA, which is not set"):
        first.resolved()
    monkeypatch.setenv("DATA", "/data")
    corpus = first.resolved().corpus
    assert (corpus.train, corpus.dev, corpus.test) == (
        str(folder / "one/train.tsv"),
        "/data/dev.tsv",
        "/there/test.tsv",
    )
    assert filed.resolved().corpus.train == str(folder / "recipes" / "a")
    assert filed.resolved().corpus.dev == str(folder / "b")
    assert filed.recipe.seed == 3


def test_the_same_cell_asked_for_twice_is_there_once(write: Write) -> None:
    again = '[[run]]\ncorpora = ["one"]\nsystems = ["plain"]\nseeds = [1, 4]\ntier = "cpu"\n'
    names = [run.name for run in read_grid(write(TEXT + again)).runs]
    assert names.count("one-plain-s1") == 1
    assert names[-1] == "one-plain-s4"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("compare =", "compares =", "unknown key compares; did you mean compare?"),
        (
            "[recipe]",
            "[nothing]\n[recipe]",
            "unknown key nothing; allowed are name, compare, recipe, ",
        ),
        (
            'corpora = ["two"]',
            'corpus = ["two"]',
            "[[run]] 2: unknown key corpus; did you mean corpora?",
        ),
        (
            '["one", "two"]',
            '["one", "tow"]',
            "[[run]] 1: there is no corpus 'tow'; did you mean 'two'?",
        ),
        (
            '["plain", "crf"]',
            '["plain", "biaffine"]',
            "there is no system 'biaffine'; defined are plain, crf",
        ),
        ('["long"]', '["lnog"]', "[[run]] 2: there is no variant 'lnog'; did you mean 'long'?"),
        (
            'compare = "plain"',
            'compare = "plane"',
            "there is no system 'plane'; did you mean 'plain'? (compare)",
        ),
        ("seeds = [2, 1]", "seeds = []", "[[run]] 1.seeds: expected `array` of length >= 1"),
        ("seeds = [2, 1]", 'seeds = ["2"]', "[[run]] 1.seeds[0]: expected `int`, got `str`"),
        ("seeds = [2, 1]", "seeds = [-2]", "[[run]] 1.seeds[0]: expected `int` >= 0"),
        ("seeds = [2, 1]\n", "", "[[run]] 1: object missing required field `seeds`"),
        ('tier = "smoke"', 'tier = "tpu"', "[[run]] 2.tier: 'tpu' is no tier; give one of smoke"),
        (
            'tier = "smoke"',
            'recipes = ["x.toml"]\ntier = "cpu"',
            "[[run]] 2: recipes exclude corpora, systems",
        ),
        (
            'systems = ["plain", "crf"]\n',
            "",
            "[[run]] 1: a run needs corpora and systems, or recipes",
        ),
        ('name = "small"', 'name = "a/b"', "name: expected text of letters"),
        (
            "training.epochs = 2",
            "training.epoch = 2",
            "one-plain: unknown key training.epoch; did you mean ",
        ),
        (
            "training.epochs = 5",
            'training.epochs = "5"',
            "two-plain: training.epochs = '5' is not allowed",
        ),
        ('family = "crf"', 'family = "cfr"', "one-crf: model.family = 'cfr' is not allowed"),
        (', dev = "b" }', "}", "two-plain: corpus: object missing required field `dev`"),
        ("training.epochs = 9", "seed = 9", "[variants.long]: seed is not allowed here"),
        ('model = { encoder = "tiny" }', 'name = "x"', "[recipe]: name is not allowed here"),
        (
            "[systems.plain]",
            "[systems]\nplain = 3",
            "systems.plain = 3 is not allowed: write a table of a recipe",
        ),
        ("[recipe]", "[recipe", "is not a readable TOML file"),
    ],
)
def test_what_is_refused(write: Write, old: str, new: str, expected: str) -> None:
    path = write(TEXT, (old, new))
    with pytest.raises(RecipeError) as caught:
        read_grid(path)
    said = str(caught.value)
    assert said.startswith(str(path))
    assert expected in said
    assert "\n" not in said


def test_two_contents_under_one_name(write: Write) -> None:
    clash = '[corpora.two-crf]\ncorpus = { train = "c", dev = "d" }\n[systems.long]\n'
    run = '[[run]]\ncorpora = ["two-crf"]\nsystems = ["long"]\nseeds = [8]\ntier = "cpu"\n'
    with pytest.raises(
        RecipeError, match="the cell two-crf-long is defined twice with different contents"
    ):
        read_grid(write(TEXT + clash + run))
    tiers = '[[run]]\ncorpora = ["two"]\nsystems = ["crf"]\nseeds = [1]\ntier = "gpu"\n'
    with pytest.raises(
        RecipeError, match="two-crf-s1 is asked for in the tiers cpu and gpu; choose one"
    ):
        read_grid(write(TEXT + tiers))
    read_grid(write(TEXT + tiers.replace("[1]", "[3]")))  # more seeds on a larger machine


def test_a_text_names_the_seed(write: Write) -> None:
    named = ("training.epochs = 9", 'inputs.dictionaries = ["names-{seed}.tsv"]')
    path = write(
        TEXT, named, ('variants = ["long"]\nseeds = [1]', 'variants = ["long"]\nseeds = [4, 7]')
    )
    read = {run.name: run.recipe.inputs.dictionaries for run in read_grid(path).runs if run.variant}
    assert read == {"two-crf-long-s4": ("names-4.tsv",), "two-crf-long-s7": ("names-7.tsv",)}


def test_recipe_files_that_cannot_be_read(write: Write, tmp_path: Path) -> None:
    with pytest.raises(
        RecipeError,
        match=r"small\.toml: \[\[run\]\] 1: there is no recipe file recipes/field\.toml; did ",
    ):
        read_grid(write('name = "x"\n' + FILES.replace("filed", "field")))
    with pytest.raises(RecipeError, match=r"no recipe file none/zz\.toml; correct the path"):
        read_grid(write('name = "x"\n' + FILES.replace("recipes/filed", "none/zz")))
    (tmp_path / "recipes" / "filed.toml").write_text(RECIPE + "layers = 1\n", encoding="utf-8")
    with pytest.raises(
        RecipeError,
        match=r"small\.toml: \[\[run\]\] 1: recipes/filed\.toml: unknown key model\.layers",
    ):
        read_grid(write('name = "x"\n' + FILES))


def test_no_grid_file(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"there is no grid at .*; give the path of a TOML file"):
        read_grid(tmp_path / "none.toml")
    with pytest.raises(RecipeError, match="is a folder; give the path of a TOML file"):
        read_grid(tmp_path)
    (tmp_path / "empty.toml").touch()
    with pytest.raises(RecipeError, match=r"empty\.toml: object missing required field `name`"):
        read_grid(tmp_path / "empty.toml")

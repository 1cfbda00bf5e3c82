"""``fascicle train``, ``export`` and ``models``."""

from __future__ import annotations

import builtins
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
Refused = Callable[..., str]


@pytest.fixture
def recipe(tiny_encoder: Path, toy_corpus: Path, tmp_path: Path) -> Path:
    path = tmp_path / "toy.toml"
    path.write_text(
        f"""name = "toy"
[corpus]
train = "{toy_corpus}"
dev = "{toy_corpus}"
test = "{toy_corpus}"
[reading]
max_length = 32
overlap = 4
[model]
encoder = "{tiny_encoder}"
[training]
epochs = 2
precision = "fp32"
""",
        encoding="utf-8",
    )
    return path


def test_a_recipe_becomes_a_run(
    cli: Cli, refused: Refused, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = cli("train", recipe, "--seed", "7")
    assert result.code == 0, result.err
    assert (tmp_path / "runs" / "toy-s7" / "best" / "model.json").is_file()
    assert [line for line in result.err.splitlines() if " epoch 2/2: loss " in line]
    assert "cannot be represented" in result.err
    assert result.out.startswith("dev (epoch ")
    assert "\ntest\n" in result.out
    assert "--resume" in refused("train", recipe, "--seed", "7")


def test_scores_as_json(cli: Cli, recipe: Path, tmp_path: Path) -> None:
    result = cli("train", recipe, "-o", tmp_path / "run", "--json")
    assert set(json.loads(result.out)) == {"folder", "epoch", "step", "dev", "test"}


def test_what_is_fitted_on_dev_is_told(cli: Cli, recipe: Path, tmp_path: Path) -> None:
    recipe.write_text(
        recipe.read_text(encoding="utf-8") + '[decision]\ntune = "nothing"\n', encoding="utf-8"
    )
    result = cli("train", recipe, "-o", tmp_path / "run", "--json")
    told = json.loads(result.out)
    assert (
        f"decision.nothing = {told['nothing']:g} for the head softmax, fitted on dev" in result.err
    )
    at_the_end = told["nothing"] in {
        f([float(x) for x in told["dev_f1_by_nothing"]]) for f in (min, max)
    }
    assert ("the end of what was tried" in result.err) is at_the_end


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("epochs = 2", "epoch = 2", "did you mean training.epochs?"),
        ("epochs = 2", 'epochs = "two"', "training.epochs = 'two' is not allowed"),
        ("epochs = 2", "epochs = 0", "training.epochs"),
        ('test = "', 'test = "/no/such', "which does not exist"),
        ('test = "', 'test = "$FASCICLE_NOT_SET', "FASCICLE_NOT_SET"),
        ("[model]", "[model", "TOML"),
    ],
)
def test_wrong_recipes(
    refused: Refused, recipe: Path, tmp_path: Path, old: str, new: str, expected: str
) -> None:
    recipe.write_text(recipe.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    assert expected in refused("train", recipe, "-o", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_that_never_trained_leaves_no_folder(
    refused: Refused, recipe: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.conll"
    bare.write_text("the O\npatient O\n", encoding="utf-8")
    lines = recipe.read_text(encoding="utf-8").splitlines()
    recipe.write_text(
        "\n".join(f'train = "{bare}"' if x.startswith("train") else x for x in lines),
        encoding="utf-8",
    )
    assert "holds no mentions" in refused("train", recipe, "-o", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_no_recipe(refused: Refused, tmp_path: Path) -> None:
    assert "no recipe" in refused("train", tmp_path / "none.toml")
    assert "RECIPE.toml" in refused("train")


def test_without_torch_the_extra_is_named(
    refused: Refused, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("fascicle.training") or name.startswith("fascicle.models"):
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert "fascicle[train]" in refused("train", recipe, "-o", tmp_path / "run")
    assert "fascicle[train]" in refused("export", tmp_path, "-o", tmp_path / "x")


def test_export_needs_a_model_and_a_place(refused: Refused, model: Path, tmp_path: Path) -> None:
    assert "-o" in refused("export", model)
    assert "there is no model" in refused("export", tmp_path / "none", "-o", tmp_path / "x")
    assert "human annotation" in refused("export", model, "-o", tmp_path / "x", "--name", "gold")
    assert "would be lost" in refused("export", model, "-o", model.parent, "--overwrite")
    assert model.is_dir()


@pytest.mark.slow
def test_an_exported_model_annotates_without_torch(cli: Cli, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "exported"
    result = cli("export", model.parent, "-o", out, "--name", "toy@1")
    assert result.code == 0, result.err
    assert "toy@1, types Chemical, Disease" in result.out
    code = (
        "import sys; from fascicle.cli import main\n"
        f"code = main(['annotate', '--model', {str(out)!r}, '--text', 'aspirin caused pain'])\n"
        "loaded = [n for n in ('torch', 'transformers', 'accelerate') if n in sys.modules]\n"
        "sys.exit(code or len(loaded))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert [m["type"] for m in json.loads(done.stdout)["mentions"]] == ["Chemical", "Disease"]


@pytest.mark.parametrize("content", ["{", "{}", "[" * 20_000, "\xff"])
def test_a_damaged_recipe_is_refused(
    refused: Refused, model: Path, tmp_path: Path, content: str
) -> None:
    alone = tmp_path / "alone"
    shutil.copytree(model, alone)
    (alone / "recipe.json").write_text(content, encoding="latin-1")
    assert "recipe.json is damaged" in refused("export", alone, "-o", tmp_path / "b", "--int8")


def test_a_run_of_an_earlier_release_names_its_corpus(
    model: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    from fascicle.verbs.export import _sample

    corpus = {"train": str(toy_corpus), "dev": str(toy_corpus), "documents": "sentence"}
    (tmp_path / "recipe.json").write_text(
        json.dumps({"model": {"family": "crf"}, "corpus": corpus}), encoding="utf-8"
    )
    assert len(_sample(tmp_path / "best", None)) == 10


@pytest.mark.slow
def test_int8_measures_on_the_corpus_of_the_run_or_on_given_texts(
    cli: Cli, refused: Refused, model: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    assert cli("export", model, "-o", tmp_path / "a", "--int8").code == 0
    alone = tmp_path / "alone"
    shutil.copytree(model, alone)
    assert "--calibrate" in refused("export", alone, "-o", tmp_path / "b", "--int8")
    assert not (tmp_path / "b").exists()
    assert cli("export", alone, "-o", tmp_path / "b", "--int8", "--calibrate", toy_corpus).code == 0
    said = [
        cli("annotate", "--model", tmp_path / n, "--text", "aspirin caused pain").out
        for n in ("a", "b")
    ]
    assert said[0] == said[1]


def test_models_are_listed(cli: Cli, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fascicle.verbs.models.shipped_models", lambda: (str(model),))
    assert cli("models").out.startswith(f"{model}  Chemical, Disease  (torch, ")
    assert json.loads(cli("models", "--json").out)[0]["types"] == ["Chemical", "Disease"]
    monkeypatch.setattr("fascicle.verbs.models.shipped_models", lambda: ())
    result = cli("models")
    assert (result.code, "no model comes" in result.err) == (0, True)
    assert all("(term pack, " in line or "(linker, " in line for line in result.out.splitlines())


def test_a_setting_is_changed_on_the_command_line_and_kept(
    cli: Cli, refused: Refused, recipe: Path, tmp_path: Path
) -> None:
    result = cli(
        "train",
        recipe,
        "-o",
        tmp_path / "run",
        "--set",
        "training.batch_size=3",
        "--set",
        "training.epochs=1",
    )
    assert result.code == 0, result.err
    told = json.loads((tmp_path / "run" / "recipe.json").read_text(encoding="utf-8"))
    assert (told["training"]["batch_size"], told["training"]["epochs"]) == (3, 1)
    assert "did you mean training.epochs?" in refused(
        "train", recipe, "-o", tmp_path / "no", "--set", "training.epoch=1"
    )
    assert "training.epochs = 'x'" in refused(
        "train", recipe, "-o", tmp_path / "no", "--set", "training.epochs=x"
    )
    assert not (tmp_path / "no").exists()


def test_a_run_folder_stands_for_its_model(cli: Cli, model: Path, tmp_path: Path) -> None:
    """Wherever a model is taken: what export takes, annotate and load take too."""
    from fascicle.loading import load
    from fascicle.runtime.places import find_model

    run = model.parent
    assert find_model(run) == model
    by_run, by_model = (
        cli("annotate", "--model", folder, "--text", "aspirin caused pain")
        for folder in (run, model)
    )
    assert (by_run.code, by_run.out) == (0, by_model.out), by_run.err
    assert load(run, links=False).manifest == load(model, links=False).manifest
    assert cli("export", run, "-o", tmp_path / "out").code == 0


def test_python_trains_with_one_call(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fascicle.settings.recipes.any import read_recipe
    from fascicle.training.engine.events import Finished, Note
    from fascicle.training.run import train_recipe

    monkeypatch.chdir(tmp_path)
    heard: list[Any] = []
    ended = train_recipe(
        read_recipe(recipe, changes=["training.epochs=1"]), threads=1, listen=heard.append
    )
    assert isinstance(ended, Finished)
    assert heard[-1] is ended
    assert any(isinstance(event, Note) for event in heard)
    assert (
        json.loads((tmp_path / "runs" / "toy-s1" / "scores.json").read_text(encoding="utf-8"))[
            "epoch"
        ]
        == 1
    )

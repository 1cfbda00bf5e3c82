"""``fascicle distill``, and the page about it; ``tests/docs/test_code_blocks.py`` runs the
commands of the page.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from tests.pages import blocks

import fascicle
from fascicle.cli import main

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "distillation"


def test_the_page_shows_the_recipes_of_its_example() -> None:
    shown = [
        tomllib.loads(block)
        for block in blocks((ROOT / "docs" / "how-to-distil.md").read_text(), "toml")
    ]
    assert shown == [
        tomllib.loads((EXAMPLES / f"{name}.toml").read_text()) for name in ("layers", "answers")
    ]


def test_layers_then_answers_give_a_model_that_runs_without_torch(
    tiny_run: Path, toy_corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The way of the page from end to end, with tiny networks; what comes out is exported."""
    common = f"""
        seed = 1
        [teacher]
        model = "{tiny_run}"
        [corpus]
        train = "{toy_corpus}"
        dev = "{toy_corpus}"
        documents = "sentence"
        [reading]
        max_length = 32
        overlap = 4
        [training]
        batch_size = 4
        learning_rate = 1e-2
        precision = "fp32"
    """
    layers, answers = tmp_path / "layers.toml", tmp_path / "answers.toml"
    layers.write_text(f'name = "encoder"\n{common}epochs = 2\n[student]\nlayers = [1]\n[layers]\n')
    encoder = tmp_path / "one" / "encoder"
    answers.write_text(
        f'name = "small"\n{common}epochs = 12\n[student]\nencoder = "{encoder}"\n[prediction]\n'
    )
    assert main(["distill", str(layers), "-o", str(tmp_path / "one"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert set(said["held_out"]) == {"total", "hidden", "attention"}
    assert main(["distill", str(answers), "-o", str(tmp_path / "two"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["dev"]["micro"]["f1"] > 0.8
    assert main(["export", str(tmp_path / "two"), "-o", str(tmp_path / "small")]) == 0
    texts = ["lung cancer caused pain .", "aspirin ibuprofen caused hepatitis ."]
    found = [
        fascicle.load(tmp_path / name, links=False).annotate(texts) for name in ("two", "small")
    ]
    kept = [
        [[(m.type, m.spans) for m in document.mentions] for document in documents]
        for documents in found
    ]
    assert kept[0] == kept[1]
    assert any(kept[0])


def test_a_recipe_without_a_teacher_is_refused(toy_corpus: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "a.toml"
    recipe.write_text(
        f'name = "a"\n[corpus]\ntrain = "{toy_corpus}"\ndev = "{toy_corpus}"\n[model]\nencoder = '
        '"e"\n'
    )
    assert main(["distill", str(recipe), "-o", str(tmp_path / "run")]) == 2
    assert not (tmp_path / "run").exists()


def test_a_distillation_on_text_is_no_pretraining(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = tmp_path / "a.toml"
    recipe.write_text(
        'name = "a"\n[teacher]\nencoder = "e"\n[student]\n[text]\nfiles = ["t.txt"]\n[layers]\n'
    )
    assert main(["pretrain", str(recipe), "-o", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert "distill" in said
    assert "no table" not in said

"""``fascicle train`` on weak labels, from the recipe file to the model, for every family."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
Refused = Callable[..., str]
FAMILIES = {
    "softmax": "",
    "crf": "",
    "span": "negatives = 8",
    "biaffine": "hidden = 8",
    "binder": 'hidden = 16\ntype_encoder = "own"',
}


@pytest.fixture
def recipe(
    tiny_encoder: Path, toy_corpus: Path, toy_dictionary: dict[str, str], tmp_path: Path
) -> Callable[..., Path]:
    """Writes a recipe of a family, its dictionary named through a variable and relative to the
    recipe.
    """

    def write(family: str, core: str = "$FASCICLE_TEST_DICTIONARIES/core.tsv") -> Path:
        (tmp_path / "full.txt").write_bytes(Path(toy_dictionary["full"]).read_bytes())
        path = tmp_path / "toy.toml"
        path.write_text(
            f"""name = "toy"
[corpus]
train = "{toy_corpus}"
dev = "{toy_corpus}"
test = "{toy_corpus}"
documents = "sentence"
[distant]
core = "{core}"
full = "full.txt"
[reading]
max_length = 32
overlap = 4
[model]
encoder = "{tiny_encoder}"
family = "{family}"
{FAMILIES[family]}
[training]
epochs = 3
precision = "fp32"
""",
            encoding="utf-8",
        )
        return path

    return write


@pytest.fixture(autouse=True)
def dictionaries(monkeypatch: pytest.MonkeyPatch, toy_dictionary: dict[str, str]) -> None:
    monkeypatch.setenv("FASCICLE_TEST_DICTIONARIES", str(Path(toy_dictionary["core"]).parent))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_dictionary_becomes_a_model(
    cli: Cli,
    recipe: Callable[..., Path],
    toy_dictionary: dict[str, str],
    tmp_path: Path,
    family: str,
) -> None:
    run = tmp_path / "run"
    result = cli("train", recipe(family), "-o", run, "--threads", "1")
    assert result.code == 0, result.err
    for part in ("train", "dev"):
        labels = (
            "labels by dictionary three-casings rules@1: 12 mentions (5 Chemical, 7 "
            "Disease), 3 unknown"
        )
        assert f"fascicle: {part}: {labels}\n" in result.err
    written = json.loads((run / "recipe.json").read_text(encoding="utf-8"))["distant"]
    assert (written["core"], written["full"]) == (
        toy_dictionary["core"],
        str(tmp_path / "full.txt"),
    )
    assert written["rule"] == "three-casings"
    annotated = cli("annotate", "--model", run, "--text", "aspirin caused pain")
    assert annotated.code == 0, annotated.err


@pytest.mark.parametrize(
    ("core", "expected"),
    [
        ("absent.tsv", "distant.core of the recipe is "),
        ("empty.tsv", "empty.tsv holds no name; give a table with one name in a row"),
        ("names.txt", "names.txt:1: 1 TAB-separated column(s), but 2 are needed"),
        (
            "full.txt",
            "full.txt; set distant.full to another file, with phrases without types, or leave it "
            "out",
        ),
        (
            "$FASCICLE_NOT_SET/core.tsv",
            "names the environment variable FASCICLE_NOT_SET, which is not set",
        ),
    ],
)
def test_wrong_dictionaries(
    refused: Refused, recipe: Callable[..., Path], tmp_path: Path, core: str, expected: str
) -> None:
    (tmp_path / "empty.tsv").touch()
    (tmp_path / "names.txt").write_text("aspirin\n", encoding="utf-8")
    assert expected in refused("train", recipe("softmax", core), "-o", tmp_path / "run")
    assert not (tmp_path / "run").exists()

"""``fascicle train`` on several corpora, from the command line to the scores of each corpus
alone.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.pages import blocks
from tests.support.grids import grid_text

import fascicle
from fascicle.training.experiments.results import read_result

Cli = Callable[..., Any]
Refused = Callable[..., str]
ROOT = Path(__file__).parents[2]
KINDS = ("Chemical", "Disease")


@pytest.fixture
def recipe(tiny_encoder: Path, toy_corpus: Path, tmp_path: Path) -> Path:
    """Two corpora of the same sentences, of which each annotates one of the two types."""
    text = toy_corpus.read_text(encoding="utf-8")
    for kind, other in (KINDS, KINDS[::-1]):
        kept = text.replace(f"B-{other}", "O").replace(f"I-{other}", "O")
        (tmp_path / f"{kind}.tsv").write_text(kept, encoding="utf-8")
    path = tmp_path / "toy.toml"
    path.write_text(
        f"""name = "toy"
[parts.chemicals]
train = "Chemical.tsv"
dev = "Chemical.tsv"
documents = "sentence"
annotates = ["Chemical"]
[parts.diseases]
train = ["Disease.tsv"]
dev = "Disease.tsv"
documents = "sentence"
annotates = ["Disease"]
[mixture]
power = 0.5
guideline = true
[reading]
max_length = 32
overlap = 4
[model]
encoder = "{tiny_encoder}"
family = "multilabel"
[training]
epochs = 16
learning_rate = 1e-2
batch_size = 4
precision = "fp32"
[decision]
tune = "nothing"
""",
        encoding="utf-8",
    )
    return path


def test_one_model_learns_both(cli: Cli, recipe: Path, toy_corpus: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    told = cli("train", recipe, "-o", run, "--json")
    assert told.code == 0, told.err
    assert (
        "chemicals: 10 of 20 windows in an epoch, of 10 that it has; it annotates Chemical"
        in told.err
    )
    scores = json.loads(told.out)
    assert set(scores["dev"]["types"]) == {"chemicals/Chemical", "diseases/Disease"}
    assert scores["dev"]["macro"]["f1"] == 1.0
    # Each corpus has one of the types; unmasked, its text would teach that there is nothing of the
    # other.
    for kind in KINDS:
        found = cli(
            "evaluate",
            tmp_path / f"{kind}.tsv",
            "--model",
            run,
            "--documents",
            "sentence",
            "--json",
        )
        assert found.code == 0, found.err
        row = json.loads(found.out)["types"][kind]
        assert (row["tp"], row["fp"], row["fn"]) == (row["support"], 0, 0)
    annotated = tmp_path / "out.jsonl"
    assert (
        cli("annotate", toy_corpus, "--model", run, "-o", annotated, "--documents", "sentence").code
        == 0
    )
    assert {m.type for d in fascicle.read(annotated) for m in d.layer("toy")} == set(KINDS)


def test_a_grid_of_parts(
    cli: Cli, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kinds = {
        kind: f'{{ train = "{kind}.tsv", dev = "{kind}.tsv", annotates = ["{kind}"] }}'
        for kind in KINDS
    }
    parts = "\n".join(f"parts.{kind.lower()} = {table}" for kind, table in kinds.items())
    model = next(line for line in recipe.read_text().splitlines() if line.startswith("encoder"))
    short = (
        f'model = {{ {model}, family = "multilabel" }}\nreading = {{ max_length = 32, overlap = '
        "4 }\n"
        "training = { epochs = 1 }"
    )
    variants = {"naive": 'mixture.unannotated = "absent"'}
    runs = [{"variants": ["naive"], "tier": "smoke"}, {"tier": "smoke"}]
    text = grid_text(
        "toy",
        recipe=short,
        corpora={"both": parts},
        systems={"plain": ""},
        variants=variants,
        runs=runs,
    )
    (tmp_path / "grid.toml").write_text(text, encoding="utf-8")
    told = cli("bench", "grid.toml", "-o", "results", "--json")
    assert told.code == 0, told.err
    rows = {row["run"]: row for row in json.loads(told.out)["runs"]}
    for name in ("both-plain-s1", "both-plain-naive-s1"):
        result = read_result(tmp_path / "results", name)
        assert set(result["dev"]["types"]) == {"chemical/Chemical", "disease/Disease"}
        assert rows[name]["dev_f1"] == result["dev"]["macro"]["f1"]
        assert result["test"] is None
        assert result["recipe"]["parts"]["disease"]["train"] == "Disease.tsv"
    assert rows["both-plain-s1"]["hash"] != rows["both-plain-naive-s1"]["hash"]


def test_what_a_user_gets_wrong(cli: Cli, refused: Refused, recipe: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    for change, expected in (
        (
            "parts.diseases.annotates=['Disease','Gene']",
            "names 'Gene', of which train has no gold mention",
        ),
        ("parts.diseases.annotates=['Illness']", "which parts.diseases.annotates does not name"),
        ("parts.diseases.train=no-such-file", "which does not exist"),
        ("mixture.windows=1", "nothing is learnt from parts."),
    ):
        assert expected in refused("train", recipe, "-o", run, "--set", change), change
        assert not run.exists()


def test_what_the_page_shows_is_what_the_example_holds() -> None:
    (recipe,) = map(
        tomllib.loads,
        blocks((ROOT / "docs" / "how-to-train-on-several-corpora.md").read_text(), "toml"),
    )
    assert recipe == tomllib.loads(
        (ROOT / "examples" / "several-corpora" / "recipe.toml").read_text(encoding="utf-8")
    )

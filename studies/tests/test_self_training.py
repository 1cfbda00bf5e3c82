"""Labels of a round of self-training: what is sure is taught, the rest is unknown, and a model
learns from them.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fascicle.core.document import GOLD, Document, Mention
from fascicle.formats import read
from fascicle.formats.weak_labels import Header, Labels
from fascicle.settings.recipes.any import parse_any
from fascicle.training.labelling import LABELS, UNKNOWN, unknown_ranges
from fascicle.training.run import run_recipe
from studies.binder.self_training import main, of_answer, sure

HEADER = Header(
    model="m",
    sha256="0",
    release="1",
    types=("Drug",),
    scheme="BIO",
    meaning="marginal",
    segmenter="rules@1",
    floor=0.01,
)


def labels(probabilities: list[list[float]], tags: list[list[int]]) -> Labels:
    """Words of one letter, with one blank between; people marked the first."""
    words = np.array([(2 * at, 2 * at + 1) for at in range(len(tags))])
    document = Document(
        id="d", text=" ".join("a" * len(tags)), mentions=(Mention(((0, 1),), "Other", source=GOLD),)
    )
    return Labels(
        document=document,
        words=words,
        tags=np.array(tags, dtype=bool),
        probabilities=np.array(probabilities, dtype=np.float32),
    )


def test_only_what_is_sure_is_taught() -> None:
    """Words: a sure mention of two, a sure none, a doubtful none, a mention of two whose second
    word is doubtful.
    """
    given = labels(
        [[0.95, 0.0], [0.0, 0.92], [0.05, 0.0], [0.2, 0.0], [0.99, 0.0], [0.0, 0.6]],
        [[1, 0], [0, 1], [0, 0], [0, 0], [1, 0], [0, 1]],
    )
    assert of_answer(given) == pytest.approx([0.95, 0.92, 0.95, 0.8, 0.99, 0.6])
    found = sure(given, HEADER, least=0.9)
    assert [(one.start, one.end, one.type) for one in found.layer(GOLD)] == [(0, 3, "Drug")]
    assert unknown_ranges(found) == ((6, 7), (8, 11))
    assert found.meta[LABELS] == "m, at least 0.9"


def test_all_is_taught_where_nothing_is_asked() -> None:
    found = sure(labels([[0.3, 0.1], [0.1, 0.4]], [[1, 0], [0, 1]]), HEADER, least=0.0)
    assert [(one.start, one.end) for one in found.layer(GOLD)] == [(0, 3)]
    assert not unknown_ranges(found)


def test_a_round_on_a_stand_in(tiny_encoder: Path, toy_corpus: Path, tmp_path: Path) -> None:
    """Dictionary, model, its labels, and a model of these."""
    names = tmp_path / "names.txt"
    names.write_text("Chemical\taspirin\nDisease\tpain\n", encoding="utf-8")
    recipe = {
        "name": "first",
        "corpus": {part: str(toy_corpus) for part in ("train", "dev", "test")}
        | {"documents": "sentence"},
        "distant": {"core": str(names), "rule": "raw"},
        "reading": {"unit": "sentence", "max_length": 64},
        "model": {
            "encoder": str(tiny_encoder),
            "family": "softmax",
            "level": "word",
            "scheme": "BIO",
        },
        "training": {"epochs": 12, "batch_size": 2, "learning_rate": 5e-3, "precision": "fp32"},
    }
    *_, _ = run_recipe(parse_any(recipe, origin="first"), tmp_path / "first")
    given = ["--train", str(toy_corpus), "--dev", str(toy_corpus), "--least", "0.5"]
    assert main([str(tmp_path / "first"), str(tmp_path / "1"), *given]) == 0
    made = list(read(tmp_path / "1" / "train.jsonl"))
    assert any(one.layer(GOLD) for one in made)
    assert all(LABELS in one.meta for one in made)
    assert {one.source for document in made for one in document.mentions} <= {GOLD, UNKNOWN}
    second = {key: value for key, value in recipe.items() if key != "distant"} | {
        "name": "second",
        "corpus": {"train": str(tmp_path / "1/train.jsonl"), "dev": str(tmp_path / "1/dev.jsonl")},
    }
    *_, _ = run_recipe(parse_any(second, origin="second"), tmp_path / "second")
    assert (
        json.loads((tmp_path / "second" / "scores.json").read_text(encoding="utf-8"))["dev"][
            "micro"
        ]["tp"]
        > 0
    )


def test_a_model_that_is_not_there_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = tmp_path / "t.txt"
    texts.write_text("aspirin\n", encoding="utf-8")
    given = ["--train", str(texts), "--dev", str(texts)]
    assert main([str(tmp_path / "none"), str(tmp_path / "1"), *given]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "1").exists()

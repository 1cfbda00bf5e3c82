"""A recipe that leaves out what train needs least: which pieces stay, and what a model with
fewer pieces computes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.support.runs import finish, metrics
from tests.support.tiny_encoder import make_tiny_encoder

from fascicle.core.document import Document
from fascicle.errors import RecipeError
from fascicle.formats import read
from fascicle.loading import load
from fascicle.models.encoder import load_pretrained
from fascicle.models.export.folders import export_model
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.run import run_recipe
from fascicle.training.starting import most_frequent, piece_counts, reduce_vocabulary

Maker = Callable[..., Recipe]
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
LETTERS = "aeinprst"
WORDS = ("aspirin", "pain", "##pain", "as", "##pir", "##in", "rat", "tea", "##ne", "pirate")
TEXTS = ("aspirin rat", "aspirin pain aspirin", "tea tea rat", "asin")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pieces = (*SPECIAL, *LETTERS, *(f"##{letter}" for letter in LETTERS), *WORDS)
    return make_tiny_encoder(tmp_path_factory.mktemp("encoder"), pieces)


def documents(texts: tuple[str, ...] = TEXTS) -> list[Document]:
    return [Document(id=str(number), text=text) for number, text in enumerate(texts)]


@given(counts=st.lists(st.integers(0, 4), min_size=1, max_size=12), most=st.integers(1, 14))
def test_the_most_frequent_stay(counts: list[int], most: int) -> None:
    ranked = sorted(
        (number for number, count in enumerate(counts) if count), key=lambda n: (-counts[n], n)
    )
    assert most_frequent(np.array(counts, dtype=np.int64), most) == ranked[:most]


def test_pieces_are_counted_as_in_a_slow_loop(encoder: Path) -> None:
    tokenizer = load_pretrained(str(encoder)).tokenizer
    many = documents(TEXTS * 200)
    slow = Counter(int(number) for one in many for number in tokenizer.encode([one.text])[0][0])
    assert {n: int(count) for n, count in enumerate(piece_counts(tokenizer, many)) if count} == slow


def test_text_of_pieces_that_stay_is_read_and_computed_as_before(encoder: Path) -> None:
    before = load_pretrained(str(encoder))
    # aspirin, rat, tea
    after, note = reduce_vocabulary(load_pretrained(str(encoder)), documents(), pieces=3)
    assert f"{after.tokenizer.size:,}" in note
    known = set(after.tokenizer.tokens)
    assert known == {
        *SPECIAL,
        *LETTERS,
        *(f"##{letter}" for letter in LETTERS),
        "aspirin",
        "rat",
        "tea",
    }
    ((whole, _),) = before.tokenizer.encode(["pain"])
    ((cut, _),) = after.tokenizer.encode(["pain"])
    assert (len(whole), len(cut)) == (1, 4)
    states = []
    for one in (before, after):
        ((ids, _),) = one.tokenizer.encode(["aspirin tea rat s"])
        read_ids = torch.tensor([[*one.tokenizer.prefix, *ids.tolist(), *one.tokenizer.suffix]])
        with torch.no_grad():
            states.append(one.encoder.eval()(read_ids, torch.ones_like(read_ids)))
    assert torch.equal(states[0], states[1])


def test_a_trained_model_answers_as_before_on_text_whose_pieces_stay(
    tiny_recipe: Maker, toy_corpus: Path, tmp_path: Path
) -> None:
    finish(tiny_recipe(training={"epochs": 3}), tmp_path / "first")
    still = {"epochs": 1, "learning_rate": 1e-30, "weight_decay": 0.0}  # a step changes no weight
    changes: dict[str, Any] = {
        "model": {"encoder": "", "start": str(tmp_path / "first")},
        "training": still,
    }
    finish(tiny_recipe(**changes, vocabulary={"pieces": 10_000}), tmp_path / "second")
    export_model(tmp_path / "second", tmp_path / "exported", int8=False)
    texts = list(read(toy_corpus))
    said = [
        [
            (patch.add, [m.score for m in patch.add])
            for patch in load(tmp_path / name, links=False).predict(texts)
        ]
        for name in ("first", "second")
    ]
    assert said[0] == said[1]
    assert any(found for found, _ in said[0])
    exported = [
        [m.spans for m in patch.add]
        for patch in load(tmp_path / "exported", links=False).predict(texts)
    ]
    assert exported == [[m.spans for m in found] for found, _ in said[1]]


def test_a_run_with_fewer_pieces_goes_on_as_if_nothing_had_happened(
    tiny_recipe: Maker, tmp_path: Path
) -> None:
    recipe = tiny_recipe(training={"epochs": 2}, vocabulary={"pieces": 4})
    finish(recipe, tmp_path / "whole")
    events = run_recipe(recipe, tmp_path / "run")
    for event in events:
        if type(event).__name__ == "Validated":
            break
    events.close()  # type: ignore[attr-defined]
    finish(recipe, tmp_path / "run", resume=True)
    assert metrics(tmp_path / "run") == metrics(tmp_path / "whole")


def test_no_pieces_are_refused(tiny_recipe: Maker) -> None:
    with pytest.raises(RecipeError, match="pieces"):
        tiny_recipe(vocabulary={"pieces": 0})

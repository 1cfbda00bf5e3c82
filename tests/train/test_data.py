"""Batches: every window once in an epoch, in an order that seed and epoch decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from fascicle.models.encoder import load_pretrained
from fascicle.models.tagger import IGNORED
from fascicle.train.corpus import read_part
from fascicle.train.data import TrainingSet, training_set


@pytest.fixture
def data_of(tiny_recipe: Callable[..., Any], tiny_encoder: Path) -> Callable[..., TrainingSet]:
    def make(**changes: Any) -> TrainingSet:
        recipe = tiny_recipe(**changes)
        return training_set(
            read_part(recipe.corpus.train, recipe.corpus),
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

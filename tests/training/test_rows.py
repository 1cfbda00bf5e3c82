"""Gradients of the rows that were read, against the dense gradient that torch makes of them."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from fascicle.models.encoder import load_pretrained
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.engine import optim
from fascicle.training.engine.loop import Trainer
from fascicle.training.engine.optim import RowGradients, clip
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.recogniser.prepare import prepare

SIZE = 5000
PADDING = 3


class Reader(nn.Module):
    """A table that may be read as an embedding and, as a tied output layer would, as a matrix."""

    def __init__(self, *, tied: bool) -> None:
        super().__init__()
        self.table = nn.Embedding(SIZE, 4, padding_idx=PADDING)
        self.tied = tied

    def forward(self, ids: Tensor) -> Tensor:
        states = self.table(ids).square()
        return (states @ self.table.weight.T).square().mean() if self.tied else states.sum()


batches = st.lists(
    st.lists(
        st.lists(st.integers(0, 9) | st.integers(0, SIZE - 1), min_size=1, max_size=6),
        min_size=1,
        max_size=3,
    ),
    min_size=1,
    max_size=5,
)


@given(batches, st.booleans())
def test_every_step_sees_the_dense_gradient(steps: list[list[list[int]]], tied: bool) -> None:
    torch.manual_seed(1)
    plain = Reader(tied=tied)
    ours = deepcopy(plain)
    collected = RowGradients(ours)
    for step in steps:
        for ids in step:  # gradients of several batches add up
            plain(torch.tensor(ids)).backward()
            with collected.collected():
                loss = ours(torch.tensor(ids))
            loss.backward()
        collected.fill()
        expected, found = plain.table.weight.grad, ours.table.weight.grad
        assert expected is not None
        assert found is not None
        assert not found.is_sparse
        torch.testing.assert_close(found, expected)
        for model in (plain, ours):
            model.zero_grad(set_to_none=True)
        collected.clear()


def test_the_dense_gradient_is_kept() -> None:
    model = Reader(tied=False)
    collected, places = RowGradients(model), set[int]()
    for step in range(4):
        with collected.collected():
            loss = model(torch.tensor([step, 7]))
        loss.backward()
        collected.fill()
        assert model.table.weight.grad is not None
        places.add(model.table.weight.grad.data_ptr())
        model.zero_grad(set_to_none=True)
        collected.clear()
    assert len(places) == 1


def test_small_and_frozen_tables_are_left_alone() -> None:
    small, frozen = nn.Embedding(10, 4), nn.Embedding(SIZE, 4)
    frozen.weight.requires_grad_(False)
    model = nn.ModuleList([small, frozen])
    collected = RowGradients(model)
    with collected.collected():
        loss = (small(torch.tensor([1])) + frozen(torch.tensor([1]))).sum()
    loss.backward()
    collected.fill()
    assert small.weight.grad is not None
    assert not small.weight.grad.is_sparse
    assert frozen.weight.grad is None
    collected.clear()


@pytest.mark.parametrize("family", ["softmax", "binder"])
def test_training_is_the_same(
    tiny_recipe: Callable[..., Recipe], monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    weights = []
    for large in (1, 1 << 30):
        monkeypatch.setattr(optim, "_LARGE", large)
        recipe = tiny_recipe(
            model={"family": family}, training={"epochs": 2, "batch_size": 3, "accumulation": 2}
        )
        pretrained = load_pretrained(recipe.model.encoder)
        torch.manual_seed(recipe.seed)
        prepared = prepare(recipe, read_parts(recipe.corpus), pretrained)
        trainer = Trainer(prepared.model, prepared.data, recipe.training, seed=recipe.seed)
        for _ in trainer.run():
            pass
        assert any(dense is not None for dense in trainer._rows._dense) == (large == 1)
        weights.append({name: p.detach().clone() for name, p in trainer.model.named_parameters()})
    for name, weight in weights[0].items():
        torch.testing.assert_close(weight, weights[1][name], rtol=1e-4, atol=1e-5)


@given(batches, st.sampled_from([1e-3, 0.5, 1e3, 1e9]))
def test_clipping_is_that_of_torch(steps: list[list[list[int]]], limit: float) -> None:
    torch.manual_seed(2)
    plain = nn.Sequential(Reader(tied=False), nn.Linear(1, 3))
    ours = deepcopy(plain)
    collected = RowGradients(ours)
    for step in steps:
        for model in (plain, ours):
            for ids in step:
                with collected.collected():
                    loss = (model[1](model[0](torch.tensor(ids)).reshape(1, 1)) ** 2).sum()
                loss.backward()
        torch.nn.utils.clip_grad_norm_(plain.parameters(), limit)
        collected.join()
        clip(ours.parameters(), limit)
        collected.fill()
        for mine, other in zip(ours.parameters(), plain.parameters(), strict=True):
            assert mine.grad is not None
            torch.testing.assert_close(mine.grad, other.grad, rtol=1e-5, atol=1e-30)
            mine.grad = other.grad = None
        collected.clear()


def test_clipping_shows_what_is_not_finite() -> None:
    """As with torch: one bad number makes all gradients bad, and is not passed over in silence."""
    one, other = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
    one.grad, other.grad = torch.tensor([1.0, torch.nan]), torch.ones(2)
    clip([one, other], 1.0)
    assert other.grad.isnan().all()

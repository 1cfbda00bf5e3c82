"""Pooling against loops, and what must never matter."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from fascicle.models.nn.pooling import POOLINGS

WORDS = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=6), min_size=1, max_size=4)
NAIVE = {
    "first": lambda rows: rows[0],
    "max": lambda rows: rows.amax(0),
    "mean": lambda rows: rows.mean(0),
}


def batch_of(rows: list[list[int]]) -> dict[str, Tensor]:
    """Rows as the numbers of pieces of their words; 0 is a piece of no word. One special token
    on either side.
    """
    unit_of = []
    for counts in rows:
        line, unit = [-1], 0
        for count in counts:
            line += [unit] * count or [-1]
            unit += bool(count)
        unit_of.append([*line, -1])
    length = max(map(len, unit_of))
    padded = torch.tensor([line + [-1] * (length - len(line)) for line in unit_of])
    units = [max(line) + 1 for line in unit_of]
    first = torch.zeros(len(rows), max(1, *units), dtype=torch.long)
    for row, line in enumerate(unit_of):
        first[row, : units[row]] = torch.tensor(
            [line.index(u) for u in range(units[row])], dtype=torch.long
        )
    return {"unit_of_piece": padded, "first_piece": first}


def states_for(batch: dict[str, Tensor], seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*batch["unit_of_piece"].shape, 5, generator=generator)


@pytest.mark.parametrize("name", POOLINGS)
@given(rows=WORDS)
def test_pooling_equals_a_loop(name: str, rows: list[list[int]]) -> None:
    batch = batch_of(rows)
    states = states_for(batch)
    pooled = POOLINGS[name]()(states, **batch)
    for row, line in enumerate(batch["unit_of_piece"]):
        for unit in range(int(line.max()) + 1):
            torch.testing.assert_close(pooled[row, unit], NAIVE[name](states[row][line == unit]))
        if name != "first":
            assert not pooled[row, int(line.max()) + 1 :].any()


@pytest.mark.parametrize("value", [1e30, -1e30, float("nan"), float("inf")])
@pytest.mark.parametrize("name", POOLINGS)
def test_what_lies_outside_words_never_matters(name: str, value: float) -> None:
    batch = batch_of([[2, 1, 0, 3], [1], [4, 1]])
    states = states_for(batch)
    void = batch["unit_of_piece"] < 0
    void[:, 0] = False  # where first pooling finds its void rows
    changed = torch.where(void.unsqueeze(-1), value, states)
    used = torch.arange(batch["first_piece"].shape[1]) <= batch["unit_of_piece"].amax(
        1, keepdim=True
    )
    before, after = (
        POOLINGS[name]()(x, **batch)[:, : used.shape[1]][used] for x in (states, changed)
    )
    assert torch.equal(before, after)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", POOLINGS)
def test_gradients_are_finite_and_stay_inside_words(name: str, dtype: torch.dtype) -> None:
    batch = batch_of([[2, 1, 0, 3], [1], [4, 1]])
    states = states_for(batch).to(dtype).requires_grad_()
    pooled = POOLINGS[name]()(states, **batch)
    used = torch.arange(pooled.shape[1]) <= batch["unit_of_piece"].amax(1, keepdim=True)
    pooled[used].float().square().sum().backward()
    assert states.grad is not None
    assert states.grad.isfinite().all()
    assert not states.grad[batch["unit_of_piece"] < 0].any()
    assert states.grad[batch["unit_of_piece"] >= 0].any()


@given(rows=WORDS)
def test_max_pooling_is_bitwise_the_exclusive_maximum(rows: list[list[int]]) -> None:
    batch = batch_of(rows)
    # With ties, but not at 0, where torch's exclusive maximum gives away half of the gradient.
    ours = (states_for(batch).round(decimals=1) + 0.05).requires_grad_()
    theirs = ours.detach().clone().requires_grad_()
    index = batch["unit_of_piece"]
    length = index.shape[1]
    slots = torch.where(index < 0, length, index).unsqueeze(-1).expand(-1, -1, 5)
    zeros = theirs.new_zeros(len(rows), length + 1, 5)
    reference = zeros.scatter_reduce(1, slots, theirs, reduce="amax", include_self=False)[:, :-1]
    pooled = POOLINGS["max"]()(ours, **batch)
    reference = reference[:, : pooled.shape[1]]
    assert torch.equal(pooled, reference)
    weights = torch.linspace(-1, 1, pooled.numel()).view_as(pooled)
    (pooled * weights).sum().backward()
    (reference * weights).sum().backward()
    assert ours.grad is not None
    assert torch.equal(ours.grad, theirs.grad)

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from fascicle.models.nn import crf
from fascicle.models.nn.crf import LinearChainCrf
from fascicle.runtime.decoding.chains import ChainScores, forward_backward

Parts = tuple[Tensor, Tensor, Tensor]


def batch(
    n_tags: int, lengths: list[int], *, scale: float = 2.0, seed: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    steps = max(lengths)
    emissions = scale * torch.randn(
        len(lengths), steps, n_tags, generator=generator, dtype=torch.float64
    )
    tags = torch.randint(n_tags, (len(lengths), steps), generator=generator)
    return emissions, tags, torch.arange(steps) < torch.tensor(lengths)[:, None]


def model(n_tags: int, *, scale: float = 10.0, seed: int = 0) -> LinearChainCrf:
    torch.manual_seed(seed)
    layer = LinearChainCrf(n_tags).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.mul_(scale)
    return layer


def naive(layer: LinearChainCrf, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
    """The definition in log space, row by row, left to autograd."""
    losses = []
    for row, gold, length in zip(emissions, tags, mask.sum(1).tolist(), strict=True):
        if not length:
            losses.append(row.new_zeros(()))
            continue
        alpha, score = layer.start + row[0], layer.start[gold[0]] + row[0, gold[0]]
        for step in range(1, length):
            alpha = row[step] + (alpha[:, None] + layer.transitions).logsumexp(0)
            score = score + row[step, gold[step]] + layer.transitions[gold[step - 1], gold[step]]
        losses.append((alpha + layer.end).logsumexp(0) - score - layer.end[gold[length - 1]])
    return torch.stack(losses)


def gradients(loss: Tensor, layer: LinearChainCrf, emissions: Tensor) -> tuple[Tensor, ...]:
    weights = torch.linspace(0.5, 2.0, len(loss), dtype=loss.dtype)
    return torch.autograd.grad((loss * weights).sum(), [emissions, *layer.parameters()])


def assert_same_as_naive(
    layer: LinearChainCrf, emissions: Tensor, tags: Tensor, mask: Tensor, **close: float
) -> None:
    emissions = emissions.requires_grad_()
    ours, theirs = layer(emissions, tags, mask), naive(layer, emissions, tags, mask)
    torch.testing.assert_close(ours, theirs, **close)
    for mine, other in zip(
        gradients(ours, layer, emissions), gradients(theirs, layer, emissions), strict=True
    ):
        torch.testing.assert_close(mine, other, **close)


@pytest.mark.parametrize("seed", range(3))
def test_likelihoods_of_all_paths_sum_to_one(seed: int) -> None:
    layer = model(3, seed=seed)
    emissions, _, _ = batch(3, [5], seed=seed)
    paths = torch.tensor(list(product(range(3), repeat=5)))
    mask = torch.ones_like(paths, dtype=torch.bool)
    loss = layer(emissions.expand(len(paths), -1, -1), paths, mask)
    assert (loss >= 0).all()
    assert torch.exp(-loss).sum().item() == pytest.approx(1)


@pytest.mark.parametrize("n_tags", [1, 2, 4, 13])
def test_loss_and_gradient_equal_autograd(n_tags: int) -> None:
    assert_same_as_naive(model(n_tags), *batch(n_tags, [6, 1, 0, 3, 6, 2]))


def test_gradcheck() -> None:
    layer = model(3)
    emissions, tags, mask = batch(3, [4, 0, 2])
    parts = (emissions, *(parameter.detach() for parameter in layer.parameters()))
    inputs = tuple(part.clone().requires_grad_() for part in parts)
    assert torch.autograd.gradcheck(
        lambda *x: crf._NegativeLogLikelihood.apply(tags, mask, *x), inputs
    )


def test_emission_gradient_is_marginals_minus_gold() -> None:
    layer = model(4)
    emissions, tags, mask = batch(4, [5, 3])
    emissions.requires_grad_()
    (gradient,) = torch.autograd.grad(layer(emissions, tags, mask).sum(), [emissions])
    parts = {name: value.detach().numpy() for name, value in layer.named_parameters()}
    lattice = forward_backward(
        emissions.detach().numpy(), mask.sum(1).numpy(), ChainScores(**parts)
    )
    gold = functional.one_hot(tags, 4).numpy() * mask.numpy()[:, :, None]
    assert gradient.numpy() == pytest.approx(lattice.token_marginals() - gold)


def test_without_transitions_the_loss_is_cross_entropy() -> None:
    layer = model(5, scale=0.0)
    emissions, tags, mask = batch(5, [6, 4, 1])
    expected = functional.cross_entropy(emissions.transpose(1, 2), tags, reduction="none")
    torch.testing.assert_close(layer(emissions, tags, mask), (expected * mask).sum(1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("junk", [float("nan"), float("inf"), -1e30])
def test_padding_changes_nothing(dtype: torch.dtype, junk: float) -> None:
    layer = model(5).to(dtype)
    emissions, tags, mask = batch(5, [6, 0, 3, 1])
    emissions = emissions.to(dtype)
    dirty = functional.pad(emissions.masked_fill(~mask[:, :, None], junk), (0, 0, 0, 4), value=junk)
    dirty_tags = functional.pad(tags.masked_fill(~mask, -100), (0, 4), value=-100)
    inputs = [(emissions, tags, mask), (dirty, dirty_tags, functional.pad(mask, (0, 4)))]
    results = []
    for scores, gold, inside in inputs:
        scores = scores.clone().requires_grad_()
        loss = layer(scores, gold, inside)
        results.append((loss, *gradients(loss, layer, scores)))
    (clean, clean_input, *clean_rest), (padded, padded_input, *padded_rest) = results
    assert torch.equal(clean, padded)
    assert clean[1] == 0
    assert torch.equal(clean_input, padded_input[:, :6])
    assert not padded_input[:, 6:].any()
    assert not clean_input[~mask].any()
    for mine, other in zip(clean_rest, padded_rest, strict=True):
        torch.testing.assert_close(mine, other)


def test_matches_pytorch_crf() -> None:
    reference_class = pytest.importorskip("torchcrf").CRF
    layer = model(13)
    reference = reference_class(13, batch_first=True).double()
    with torch.no_grad():
        reference.transitions.copy_(layer.transitions)
        reference.start_transitions.copy_(layer.start)
        reference.end_transitions.copy_(layer.end)
    emissions, tags, mask = batch(13, [40, 17, 1, 25])
    emissions.requires_grad_()
    ours, theirs = layer(emissions, tags, mask), -reference(emissions, tags, mask, reduction="none")
    torch.testing.assert_close(ours, theirs)
    parameters = [reference.transitions, reference.start_transitions, reference.end_transitions]
    expected = torch.autograd.grad(theirs.sum(), [emissions, *parameters])
    found = torch.autograd.grad(ours.sum(), [emissions, layer.transitions, layer.start, layer.end])
    for mine, other in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, other)


def test_rare_rows_are_recomputed_exactly() -> None:
    """Emissions thousands apart behind forbidden transitions: probabilities vanish, the loss
    must not.
    """
    layer = model(4)
    with torch.no_grad():
        layer.transitions[0] = -1e4
        layer.transitions[1, 0] = -3e3
        layer.start[2] = -1e4
    emissions, tags, mask = batch(4, [6, 6, 0, 3, 5])
    emissions[1:, :, 0] += 2000
    emissions[1, 3] *= 1e3
    with torch.no_grad():
        scaled = crf._recursion(crf.make_chain(tags, mask, emissions, *layer.parameters()), None)
    assert scaled.exact.tolist()[:3] == [True, False, True]
    assert_same_as_naive(layer, emissions, tags, mask, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("hard", [False, True])
def test_extreme_scores_stay_finite_in_float32(hard: bool) -> None:
    layer = model(5, scale=1.0).float()
    emissions, tags, mask = batch(5, [40, 12, 1], scale=1.0)
    emissions = (1e4 * emissions.sign()).float()
    if hard:
        with torch.no_grad():
            layer.transitions[
                torch.rand(5, 5, generator=torch.Generator().manual_seed(1)) < 0.4
            ] = -1e4
    emissions.requires_grad_()
    loss = layer(emissions, tags, mask)
    assert torch.isfinite(loss).all()
    assert (loss >= -1e-3).all()
    assert all(torch.isfinite(gradient).all() for gradient in gradients(loss, layer, emissions))
    exact = naive(layer.double(), emissions.double(), tags, mask)
    torch.testing.assert_close(loss.double(), exact, rtol=1e-5, atol=1e-2)


def test_half_precision_and_autocast_compute_in_float32() -> None:
    layer = model(5).float()
    emissions, tags, mask = batch(5, [20, 7])
    emissions = emissions.bfloat16()
    expected = layer(emissions.float(), tags, mask)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = emissions.clone().requires_grad_()
        loss = layer(scores, tags, mask)
        loss.sum().backward()
    assert loss.dtype == torch.float32
    assert torch.equal(loss, expected)
    assert scores.grad.dtype == torch.bfloat16
    assert layer.transitions.grad.dtype == torch.float32
    with torch.no_grad():
        assert torch.equal(layer(emissions.float(), tags, mask), expected)


def test_nothing_to_do() -> None:
    layer = LinearChainCrf(3)
    for rows, steps in ((0, 4), (2, 0), (2, 4)):
        emissions = torch.full((rows, steps, 3), float("nan"), requires_grad=True)
        loss = layer(
            emissions,
            torch.zeros(rows, steps, dtype=torch.long),
            torch.zeros(rows, steps, dtype=torch.bool),
        )
        assert loss.shape == (rows,)
        assert not loss.any()
        loss.sum().backward()
        assert not emissions.grad.any()
        assert not layer.transitions.grad.any()


def test_start_is_small_and_input_is_checked() -> None:
    layer = LinearChainCrf(3)
    assert sorted(name for name, _ in layer.named_parameters()) == ["end", "start", "transitions"]
    assert all(np.abs(parameter.detach().numpy()).max() <= 0.1 for parameter in layer.parameters())
    emissions, tags, mask = batch(3, [4, 2])
    with pytest.raises(ValueError, match="expected emissions"):
        layer(emissions[:, :, :2], tags, mask)
    with pytest.raises(ValueError, match="expected emissions"):
        layer(emissions, tags[:, :3], mask)
    with pytest.raises(ValueError, match="prefix of every row"):
        layer(emissions, tags, mask.flip(1))
    with pytest.raises(ValueError, match="at least one tag"):
        LinearChainCrf(0)

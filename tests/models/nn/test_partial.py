"""The likelihood of partly known tags against the sum over every path, path by path."""

from __future__ import annotations

from itertools import product

import pytest

pytest.importorskip("torch")

import torch
from torch import Tensor

from fascicle.models.nn.crf import LinearChainCrf
from fascicle.models.nn.losses import partial_loss

LENGTHS = [4, 1, 0, 3, 4, 2, 4]


def model(n_tags: int, *, scale: float = 10.0) -> LinearChainCrf:
    torch.manual_seed(0)
    layer = LinearChainCrf(n_tags).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.mul_(scale)
    return layer


def batch(n_tags: int, *, share: float, seed: int) -> dict[str, Tensor]:
    """Rows of `LENGTHS` in which about a share of the tags is known."""
    generator = torch.Generator().manual_seed(seed)
    shape = (len(LENGTHS), max(LENGTHS))
    return {
        "emissions": 2 * torch.randn(*shape, n_tags, generator=generator, dtype=torch.float64),
        "tags": torch.randint(n_tags, shape, generator=generator),
        "mask": torch.arange(shape[1]) < torch.tensor(LENGTHS)[:, None],
        "observed": torch.rand(shape, generator=generator) < share,
    }


def score(layer: LinearChainCrf, row: Tensor, path: tuple[int, ...]) -> Tensor:
    found = layer.start[path[0]] + layer.end[path[-1]]
    for step, tag in enumerate(path):
        found = found + row[step, tag]
        if step:
            found = found + layer.transitions[path[step - 1], tag]
    return found


def naive(layer: LinearChainCrf, given: dict[str, Tensor]) -> Tensor:
    """The definition, over every path there is, left to autograd."""
    losses = []
    for row, tags, mask, known in zip(
        *(given[n] for n in ("emissions", "tags", "mask", "observed")), strict=True
    ):
        length = int(mask.sum())
        if not length:
            losses.append(row.new_zeros(()))
            continue
        paths = list(product(range(row.shape[1]), repeat=length))
        agreeing = [
            p for p in paths if all(p[t] == int(tags[t]) for t in range(length) if known[t])
        ]
        every, some = (
            torch.stack([score(layer, row, p) for p in chosen]) for chosen in (paths, agreeing)
        )
        losses.append(every.logsumexp(0) - some.logsumexp(0))
    return torch.stack(losses)


def gradients(loss: Tensor, layer: LinearChainCrf, emissions: Tensor) -> tuple[Tensor, ...]:
    weights = torch.linspace(0.5, 2.0, len(loss), dtype=loss.dtype)
    return torch.autograd.grad((loss * weights).sum(), [emissions, *layer.parameters()])


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("n_tags", [1, 2, 3])
def test_it_is_the_sum_over_all_paths_that_agree(n_tags: int, share: float) -> None:
    layer, given = model(n_tags), batch(n_tags, share=share, seed=n_tags)
    given["emissions"].requires_grad_()
    ours, theirs = partial_loss(layer, **given), naive(layer, given)
    torch.testing.assert_close(ours, theirs)
    for mine, other in zip(
        gradients(ours, layer, given["emissions"]),
        gradients(theirs, layer, given["emissions"]),
        strict=True,
    ):
        torch.testing.assert_close(mine, other)


def test_tags_of_unknown_units_and_padding_do_not_matter() -> None:
    layer, given = model(3), batch(3, share=0.5, seed=1)
    loss = partial_loss(layer, **given)
    given["tags"] = torch.where(given["observed"] & given["mask"], given["tags"], 2 - given["tags"])
    given["observed"] = torch.where(given["mask"], given["observed"], ~given["observed"])
    given["emissions"] = torch.where(given["mask"][:, :, None], given["emissions"], float("nan"))
    torch.testing.assert_close(partial_loss(layer, **given), loss)


def test_known_rows_are_the_crf_alone_to_the_last_bit() -> None:
    layer, given = model(5).float(), batch(5, share=0.5, seed=2)
    given["emissions"] = given["emissions"].float().requires_grad_()
    given["observed"][::2] = True
    plain = layer(given["emissions"], given["tags"], given["mask"])
    assert torch.equal(partial_loss(layer, **given)[::2], plain[::2])
    given["observed"][:] = True
    full = partial_loss(layer, **given)
    assert torch.equal(full, plain)
    for mine, other in zip(
        *(gradients(x, layer, given["emissions"]) for x in (full, plain)), strict=True
    ):
        assert torch.equal(mine, other)


def test_nothing_known_teaches_nothing() -> None:
    layer, given = model(4).float(), batch(4, share=0.0, seed=3)
    given["emissions"] = given["emissions"].float().requires_grad_()
    loss = partial_loss(layer, **given)
    assert float(loss.detach().abs().max()) < 1e-5
    assert all(float(g.abs().max()) < 1e-5 for g in gradients(loss, layer, given["emissions"]))


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_extreme_scores_stay_exact_in_float32(scale: float) -> None:
    """Also where the known tags are the least probable ones, and sums underflow."""
    layer, given = model(3, scale=10 * scale), batch(3, share=0.5, seed=4)
    given["emissions"] *= scale
    expected = naive(layer, given)
    narrow = {**given, "emissions": given["emissions"].float().requires_grad_()}
    loss = partial_loss(layer.float(), **narrow)
    torch.testing.assert_close(loss.double(), expected, rtol=1e-4, atol=1e-4 * scale)
    assert all(bool(g.isfinite().all()) for g in gradients(loss, layer, narrow["emissions"]))


def test_half_precision_is_computed_in_float32() -> None:
    layer, given = model(3).float(), batch(3, share=0.5, seed=5)
    given["emissions"] = given["emissions"].bfloat16()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = partial_loss(layer, **given)
    assert loss.dtype == torch.float32
    assert torch.equal(
        loss, partial_loss(layer, **{**given, "emissions": given["emissions"].float()})
    )

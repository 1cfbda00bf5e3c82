"""Quick dropout: its distribution, and everything else against torch with the masks that were
drawn.
"""

from __future__ import annotations

import itertools

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fascicle.models.nn.dropout import (
    QuickDropout,
    attention,
    dropout,
    dropout_mask,
    round_probability,
)

SHARES = [0.1, 0.25, 0.5, 0.93, 1.0]


def mask_of(seed: int, like: Tensor, share: float) -> Tensor:
    """What is drawn first after a seed."""
    torch.manual_seed(seed)
    return dropout_mask(like, share)


def gain(share: float) -> float:
    return 0.0 if share == 1 else 1 / (1 - round(share * 65536) / 65536)


@pytest.mark.parametrize("share", [0.0, *SHARES, 1 / 65536, 65535 / 65536])
def test_the_share_that_is_dropped(share: float) -> None:
    """Within five deviations of a binomial distribution, over two million components."""
    mask = mask_of(1, torch.empty(2003, 1009), share)
    assert set(mask.unique().tolist()) <= {0.0, 1.0}
    count = mask.numel()
    assert (
        abs(1 - mask.double().mean().item() - share)
        <= 5 * (share * (1 - share) / count) ** 0.5 + 2**-17
    )


def test_no_probability_is_off_by_more_than_half_a_part() -> None:
    assert all(
        abs(round_probability(share) - share) <= 2**-17
        for share in torch.linspace(0, 1, 3001).tolist()
    )


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_components_fall_independently_of_their_neighbours(share: float) -> None:
    """All 16 patterns of four neighbours, which one draw decides, and pairs of neighbouring
    draws: chi-square.
    """
    drops = 1 - mask_of(3, torch.empty(1 << 20), share).reshape(-1, 4)
    for groups in (drops, torch.cat([drops[:-1, 2:], drops[1:, :2]], dim=1)):
        found = torch.bincount(
            (groups @ torch.tensor([8.0, 4, 2, 1])).long(), minlength=16
        ).double()
        p = round_probability(share)
        expected = torch.tensor(
            [
                p ** sum(bits) * (1 - p) ** (4 - sum(bits))
                for bits in itertools.product((0, 1), repeat=4)
            ]
        ).double() * len(groups)
        # chance of more, with 15 degrees: 1 in 10,000
        assert ((found - expected) ** 2 / expected).sum() < 44


def test_a_seed_repeats_what_falls_and_another_does_not() -> None:
    like = torch.empty(50, 7)
    assert mask_of(5, like, 0.3).equal(mask_of(5, like, 0.3))
    assert not mask_of(5, like, 0.3).equal(mask_of(6, like, 0.3))
    torch.manual_seed(5)
    first, state = dropout_mask(like, 0.3), torch.get_rng_state()
    second = dropout_mask(like, 0.3)
    torch.set_rng_state(state)
    assert not first.equal(second)
    assert dropout_mask(like, 0.3).equal(second)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("shape", [(), (1,), (3, 5), (2, 3, 7)])
def test_values_and_gradients_are_those_of_the_mask(share: float, shape: tuple[int, ...]) -> None:
    values = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    factors = mask_of(7, values, share) * gain(share)
    torch.manual_seed(7)
    ours = dropout(values, share)
    torch.testing.assert_close(ours, values.detach() * factors, rtol=1e-15, atol=0)
    upstream = torch.randn(shape, dtype=torch.float64)
    (grad,) = torch.autograd.grad(ours, values, upstream)
    torch.testing.assert_close(grad, upstream * factors, rtol=1e-15, atol=0)


def test_mean_and_variance_are_those_of_dropout() -> None:
    """Of x D / (1 - p): the mean x, and the variance x^2 p / (1 - p)."""
    torch.manual_seed(0)
    found = dropout(torch.full((1 << 20,), 3.0, dtype=torch.float64), 0.2)
    assert found.mean().item() == pytest.approx(3.0, abs=5 * (9 * 0.25 / 2**20) ** 0.5)
    assert found.var().item() == pytest.approx(9 * 0.25, rel=0.02)


def test_nothing_to_drop_is_the_identity_and_draws_nothing() -> None:
    values, before = torch.randn(4, requires_grad=True), torch.get_rng_state()
    assert dropout(values, 0.0) is values
    assert torch.get_rng_state().equal(before)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.bfloat16])
def test_strides_and_types_are_kept(kind: torch.dtype) -> None:
    values = torch.randn(4, 6, 5).to(kind).transpose(0, 2)
    factors = mask_of(2, values, 0.4).double() * gain(0.4)
    torch.manual_seed(2)
    found = dropout(values, 0.4)
    assert found.dtype == kind
    tolerance = (
        {"rtol": 1e-2, "atol": 1e-2} if kind == torch.bfloat16 else {"rtol": 1e-6, "atol": 1e-6}
    )
    torch.testing.assert_close(found.double(), values.double() * factors, **tolerance)


def heads(pieces: int = 5, *, kind: torch.dtype = torch.float64) -> list[Tensor]:
    """Queries, keys and values as a network cuts them, not contiguous."""
    torch.manual_seed(11)
    return [
        torch.randn(2, pieces, 3, 4).to(kind).transpose(1, 2).detach().requires_grad_()
        for _ in range(3)
    ]


def masks(pieces: int = 5) -> dict[str, Tensor | None]:
    allowed = torch.ones(2, 1, pieces, pieces, dtype=torch.bool)
    allowed[1, :, :, 3:] = False
    added = torch.zeros(2, 1, 1, pieces, dtype=torch.float64)
    added[0, ..., 4:] = -1e9
    return {"none": None, "bool": allowed, "added": added}


def literal_attention(
    given: list[Tensor], mask: Tensor | None, factors: Tensor, scale: float
) -> Tensor:
    query, key, value = given
    scores = torch.einsum("bhid,bhjd->bhij", query, key) * scale
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e300) if mask.dtype == torch.bool else scores + mask
    chances = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return torch.einsum("bhij,bhjd->bhid", chances * factors, value)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("factor", [None, 0.3])
@pytest.mark.parametrize("mask", masks())
def test_attention_is_the_literal_one_with_the_mask(
    share: float, factor: float | None, mask: str
) -> None:
    given = heads()
    factors = mask_of(4, torch.empty(2, 3, 5, 5, dtype=torch.float64), share) * gain(share)
    theirs = literal_attention(given, masks()[mask], factors, 0.5 if factor is None else factor)
    torch.manual_seed(4)
    ours = attention(*given, mask=masks()[mask], share=share, factor=factor)
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
    upstream = torch.randn_like(theirs)
    for mine, other in zip(
        torch.autograd.grad(ours, given, upstream),
        torch.autograd.grad(theirs, given, upstream),
        strict=True,
    ):
        torch.testing.assert_close(mine, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("mask", masks())
@pytest.mark.parametrize("kind", [torch.float64, torch.bfloat16])
def test_attention_without_dropout_is_that_of_torch(mask: str, kind: torch.dtype) -> None:
    given, allowed = heads(kind=kind), masks()[mask]
    if allowed is not None and allowed.is_floating_point():
        allowed = allowed.to(kind)
    near = {"rtol": 1e-10, "atol": 1e-12} if kind == torch.float64 else {"rtol": 2e-2, "atol": 2e-2}
    ours = attention(*given, mask=allowed, share=0.0)
    torch.testing.assert_close(
        ours, F.scaled_dot_product_attention(*given, attn_mask=allowed), **near
    )


def test_a_piece_that_may_attend_to_nothing_stays_finite() -> None:
    given = heads()
    found = attention(*given, mask=torch.zeros(2, 1, 5, 5, dtype=torch.bool), share=0.1)
    assert all(grad.isfinite().all() for grad in torch.autograd.grad(found.sum(), given))
    assert found.isfinite().all()


def test_a_network_inside_the_block_is_dropped_out_quickly() -> None:
    layer, values = nn.Dropout(0.3), torch.randn(6, 6)
    factors = mask_of(9, values, 0.3) * gain(0.3)
    torch.manual_seed(9)
    with QuickDropout():
        found = layer(values)
    torch.testing.assert_close(found, values * factors)
    torch.manual_seed(9)
    assert not layer(values).equal(found)  # outside, by torch


def test_attention_inside_the_block() -> None:
    given, allowed = heads(), masks()["bool"]
    torch.manual_seed(9)
    theirs = attention(*given, mask=allowed, share=0.2)
    torch.manual_seed(9)
    with QuickDropout():
        ours = F.scaled_dot_product_attention(*given, attn_mask=allowed, dropout_p=0.2)
        assert ours.equal(theirs)
        plain = F.scaled_dot_product_attention(*given, attn_mask=allowed)
    assert plain.equal(F.scaled_dot_product_attention(*given, attn_mask=allowed))


def test_what_is_left_to_torch_inside_the_block() -> None:
    """Evaluation, in place, causal attention, fewer keys than queries, bad shares: as outside."""
    values, given = torch.randn(5, 5), heads()

    def all_of_it() -> list[Tensor]:
        torch.manual_seed(1)
        return [
            nn.Dropout(0.4).eval()(values),
            F.dropout(values.clone(), 0.4, inplace=True),
            F.scaled_dot_product_attention(*given, dropout_p=0.4, is_causal=True),
            F.scaled_dot_product_attention(
                given[0], *(each[:, :, :2] for each in given[1:]), dropout_p=0.4
            ),
        ]

    outside = all_of_it()
    with QuickDropout():
        inside = all_of_it()
        with pytest.raises(ValueError, match="dropout probability"):
            F.dropout(values, 1.5)
    assert all(mine.equal(other) for mine, other in zip(inside, outside, strict=True))


def test_a_network_of_transformers_is_the_same_without_dropout_and_trains_with_it() -> None:
    from transformers import BertConfig, BertModel

    sizes = {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    ids, mask = torch.randint(50, (3, 7)), torch.ones(3, 7, dtype=torch.long)
    mask[1, 4:] = 0
    network = BertModel(BertConfig(vocab_size=50, **sizes), add_pooling_layer=False)
    resting = network.eval()(ids, attention_mask=mask).last_hidden_state
    with QuickDropout():
        torch.testing.assert_close(network(ids, attention_mask=mask).last_hidden_state, resting)
        network.train()
        first, second = (network(ids, attention_mask=mask).last_hidden_state for _ in range(2))
    assert not first.equal(second)
    first.square().mean().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in network.parameters())

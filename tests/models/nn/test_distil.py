"""Losses of distillation against naive loops, and what must hold for all of them."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from fascicle.errors import RecipeError
from fascicle.models.nn.losses import (
    attention_loss,
    label_loss,
    layer_map,
    soften_logits,
    state_loss,
    tag_loss,
)

shapes = st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(0, 10_000))
COMPARED = ("scores", "probabilities")


def lengths_and_mask(batch: int, longest: int) -> tuple[list[int], Tensor]:
    lengths = torch.randint(1, longest + 1, (batch,)).tolist()
    lengths[0] = longest
    return lengths, torch.tensor([[int(at < n) for at in range(longest)] for n in lengths])


@pytest.mark.parametrize(
    ("teacher", "student", "layers"),
    [
        (12, 4, (3, 6, 9, 12)),
        (12, 6, (2, 4, 6, 8, 10, 12)),
        (6, 6, (1, 2, 3, 4, 5, 6)),
        (12, 1, (12,)),
    ],
)
def test_every_kth_layer_is_imitated(teacher: int, student: int, layers: tuple[int, ...]) -> None:
    assert layer_map(teacher, student) == layers


@pytest.mark.parametrize(("teacher", "student"), [(4, 6), (12, 5), (7, 2)])
def test_layers_that_cannot_be_shared_evenly_are_refused(teacher: int, student: int) -> None:
    with pytest.raises(RecipeError):
        layer_map(teacher, student)


@given(shapes, st.booleans())
def test_the_loss_of_states_is_that_of_a_loop(shape: tuple[int, int, int], faithful: bool) -> None:
    batch, longest, seed = shape
    torch.manual_seed(seed)
    lengths, mask = lengths_and_mask(batch, longest)
    student, teacher = torch.randn(2, batch, longest, 3)
    squares = [
        (float(student[b, t, i]) - float(teacher[b, t, i])) ** 2
        for b in range(batch)
        for t in range(longest if faithful else lengths[b])
        for i in range(3)
    ]
    found = state_loss(student, teacher, mask, faithful=faithful)
    assert float(found) == pytest.approx(sum(squares) / len(squares), rel=1e-4)


def seen_by_loop(scores: Tensor, compared: str, length: int, *, faithful: bool) -> Tensor:
    """One row of scores over keys, as it is compared."""
    places = len(scores)
    values = [
        float(s) + (-1e4 if faithful and at >= length else 0.0) for at, s in enumerate(scores)
    ]
    if compared == "scores":
        return torch.tensor([0.0 if faithful and v <= -100 else v for v in values])
    read = range(places if faithful else length)
    powers = [
        math.exp(v - max(values[:length])) if at in read else 0.0 for at, v in enumerate(values)
    ]
    return torch.tensor([p / sum(powers) for p in powers])


@pytest.mark.parametrize("compared", COMPARED)
@given(shape=shapes, faithful=st.booleans())
def test_the_loss_of_attention_is_that_of_a_loop(
    compared: str, shape: tuple[int, int, int], faithful: bool
) -> None:
    batch, longest, seed = shape
    torch.manual_seed(seed)
    lengths, mask = lengths_and_mask(batch, longest)
    student, teacher = 60 * torch.randn(2, batch, 2, longest, longest)  # some below -100
    squares = []
    for b in range(batch):
        for head in range(2):
            for query in range(longest if faithful else lengths[b]):
                ours, theirs = (
                    seen_by_loop(s[b, head, query], compared, lengths[b], faithful=faithful)
                    for s in (student, teacher)
                )
                keys = longest if faithful else lengths[b]
                squares += (ours - theirs).square()[:keys].tolist()
    found = attention_loss(student, teacher, mask, compared=compared, faithful=faithful)  # type: ignore[arg-type]
    assert float(found) == pytest.approx(sum(squares) / len(squares), rel=1e-4, abs=1e-9)


@given(shapes, st.sampled_from([0.0, 1e6, math.nan, math.inf]), st.integers(1, 4))
def test_padding_changes_no_loss_and_no_gradient(
    shape: tuple[int, int, int], filler: float, more: int
) -> None:
    """Whatever stands in the padding, and however much there is."""
    batch, longest, seed = shape
    torch.manual_seed(seed)
    _, mask = lengths_and_mask(batch, longest)
    states = torch.randn(2, batch, longest, 3)
    scores = torch.randn(2, batch, 2, longest, longest)

    def losses(states: Tensor, scores: Tensor, mask: Tensor) -> tuple[list[float], list[Tensor]]:
        leaves = [states[0].clone().requires_grad_(), scores[0].clone().requires_grad_()]
        found = [state_loss(leaves[0], states[1], mask)]
        found += [attention_loss(leaves[1], scores[1], mask, compared=c) for c in COMPARED]  # type: ignore[arg-type]
        torch.stack(found).sum().backward()  # type: ignore[no-untyped-call]
        return [float(x.detach()) for x in found], [
            leaf.grad for leaf in leaves if leaf.grad is not None
        ]

    total = longest + more
    padded = torch.zeros(batch, total, dtype=mask.dtype)
    padded[:, :longest] = mask
    wide_states = torch.full((2, batch, total, 3), filler)
    wide_scores = torch.full((2, batch, 2, total, total), filler)
    real = mask.bool()
    pair = (real[:, None, :, None] & real[:, None, None, :]).expand(batch, 2, longest, longest)
    wide_states[:, :, :longest] = torch.where(real[..., None], states, filler)
    wide_scores[:, :, :, :longest, :longest] = torch.where(pair, scores, filler)
    plain, gradients = losses(states, scores, mask)
    wide, wide_gradients = losses(wide_states, wide_scores, padded)
    assert wide == pytest.approx(plain, rel=1e-5)
    assert torch.allclose(wide_gradients[0][:, :longest], gradients[0] * real[..., None], atol=1e-6)
    assert torch.allclose(
        wide_gradients[1][..., :longest, :longest], gradients[1] * pair, atol=1e-6
    )
    assert not wide_gradients[0][:, longest:].any()


@given(shapes, st.sampled_from([0.5, 1.0, 3.0]))
def test_soft_cross_entropies_less_the_entropy_are_divergences(
    shape: tuple[int, int, int], temperature: float
) -> None:
    """Equal to loops over units, never negative, 0 only where the probabilities agree."""
    batch, units, seed = shape
    torch.manual_seed(seed)
    student, teacher = 2 * torch.randn(2, batch, units, 4, dtype=torch.float64)
    p, q = ((x / temperature).softmax(-1) for x in (teacher, student))
    expected = float((p * (p / q).log()).sum(-1).mean())
    found = float(tag_loss(student, teacher.softmax(-1), temperature=temperature))
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-5)
    assert found > 1e-4
    assert float(
        tag_loss(teacher + 5, teacher.softmax(-1), temperature=temperature)
    ) == pytest.approx(0, abs=1e-5)
    p, q = ((x / temperature).sigmoid() for x in (teacher, student))
    expected = float((p * (p / q).log() + (1 - p) * ((1 - p) / (1 - q)).log()).mean())
    found = float(label_loss(student, teacher.sigmoid(), temperature=temperature))
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-5)
    assert found > 1e-4
    assert float(label_loss(teacher, teacher.sigmoid(), temperature=temperature)) == pytest.approx(
        0, abs=1e-5
    )


@pytest.mark.parametrize("loss", [tag_loss, label_loss])
def test_what_is_not_known_is_not_learned(loss: object) -> None:
    torch.manual_seed(1)
    logits, wanted = torch.randn(1, 3, 4, requires_grad=True), torch.randn(1, 3, 4).softmax(-1)
    wanted[0, 1] = -100
    found = loss(logits, wanted)  # type: ignore[operator]
    found.backward()
    alone = loss(logits[:, [0, 2]], wanted[:, [0, 2]])  # type: ignore[operator]
    assert float(found.detach()) == pytest.approx(float(alone.detach()))
    assert logits.grad is not None
    assert not logits.grad[0, 1].any()
    assert logits.grad[0, 0].any()


def test_certain_teachers_stay_certain_at_any_temperature() -> None:
    certain = torch.tensor([[0.0, 1.0]])
    for exclusive in (True, False):
        assert torch.equal(soften_logits(certain, 4.0, exclusive=exclusive), certain)

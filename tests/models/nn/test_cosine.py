"""Cosines of span vectors against vectors that are really made, one by one; dropout with the
masks that were drawn.
"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from fascicle.models.nn import cosine
from fascicle.models.nn.cosine import SpanTerms, band_cosines, grid_cosines

H, ROWS_OF_TABLE = 5, 4
EXACT = {"rtol": 1e-9, "atol": 1e-10}


def terms_of(
    rows: int, units: int, *, seed: int = 0, dtype: torch.dtype = torch.float64, hidden: int = H
) -> tuple[SpanTerms, Tensor]:
    """Random terms of units of one to three pieces, and three types."""
    generator = torch.Generator().manual_seed(1000 * seed + 10 * rows + units)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=dtype).requires_grad_()

    last_piece = torch.randint(1, 4, (rows, units), generator=generator).cumsum(1)
    terms = SpanTerms(
        first=draw(rows, units, hidden),
        last=draw(rows, units, hidden),
        width=draw(ROWS_OF_TABLE, hidden),
        first_piece=F.pad(last_piece[:, :-1], (1, 0)) + 1,
        last_piece=last_piece,
    )
    return terms, F.normalize(draw(3, hidden), dim=-1).detach().requires_grad_()


def vector(terms: SpanTerms, row: int, first: int, last: int) -> Tensor:
    """The vector of a span, from its definition."""
    width = int(terms.last_piece[row, last] - terms.first_piece[row, first]) + 1
    place = min(width, len(terms.width)) - 1
    return terms.first[row, first] + terms.last[row, last] + terms.width[place]


def literal(terms: SpanTerms, types: Tensor, spans: list[tuple[int, int, int]]) -> Tensor:
    return torch.stack([F.normalize(vector(terms, *span), dim=0) for span in spans]) @ types.t()


def spans_of(rows: int, units: int, longest: int) -> list[tuple[int, int, int]]:
    return [
        (b, i, j)
        for b in range(rows)
        for i in range(units)
        for j in range(i, min(units, i + longest))
    ]


def cells(grid: Tensor, spans: list[tuple[int, int, int]]) -> Tensor:
    row, first, last = torch.tensor(spans).unbind(1)
    return grid[row, :, first, last]


def gradients(value: Tensor, terms: SpanTerms, types: Tensor) -> tuple[Tensor, ...]:
    return torch.autograd.grad(
        (value * weights(value)).sum(), [terms.first, terms.last, terms.width, types]
    )


def weights(value: Tensor) -> Tensor:
    return torch.randn(value.shape, generator=torch.Generator().manual_seed(1), dtype=value.dtype)


def assert_equal_gradients(ours: Tensor, theirs: Tensor, terms: SpanTerms, types: Tensor) -> None:
    torch.testing.assert_close(
        gradients(ours, terms, types), gradients(theirs, terms, types), **EXACT
    )


@settings(max_examples=25)
@given(
    rows=st.integers(1, 2),
    units=st.integers(1, 6),
    longest=st.one_of(st.none(), st.integers(1, 7)),
    block=st.sampled_from([1, 30, 100, 10_000]),
    seed=st.integers(0, 9),
)
def test_grid_and_gradients_equal_vectors_made_one_by_one(
    rows: int, units: int, longest: int | None, block: int, seed: int
) -> None:
    terms, types = terms_of(rows, units, seed=seed)
    spans = spans_of(rows, units, longest or units)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cosine, "_BLOCK", block)
        grid = grid_cosines(terms, types, longest=longest)
        ours, theirs = cells(grid, spans), literal(terms, types, spans)
        torch.testing.assert_close(ours, theirs, **EXACT)
        assert grid.shape == (rows, 3, units, units)
        assert grid.isfinite().all()
        assert_equal_gradients(ours, theirs, terms, types)


@settings(max_examples=25)
@given(
    rows=st.integers(1, 2),
    units=st.integers(1, 6),
    longest=st.integers(1, 7),
    seed=st.integers(0, 9),
)
def test_band_equals_vectors_made_one_by_one(
    rows: int, units: int, longest: int, seed: int
) -> None:
    terms, types = terms_of(rows, units, seed=seed)
    spans = spans_of(rows, units, longest)
    band = band_cosines(terms, types, longest=longest)
    assert band.shape == (rows, units, longest, 3)
    assert band.isfinite().all()
    row, first, last = torch.tensor(spans).unbind(1)
    torch.testing.assert_close(
        band[row, first, last - first], literal(terms, types, spans), **EXACT
    )


@pytest.mark.parametrize("block", [1, 60, 10_000])
@pytest.mark.parametrize("longest", [None, 2])
def test_dropout_falls_on_each_span_vector(
    monkeypatch: pytest.MonkeyPatch, block: int, longest: int | None
) -> None:
    """The masks that were drawn are put together again and applied to the literal vectors."""
    monkeypatch.setattr(cosine, "_BLOCK", block)
    drawn = []
    draw = cosine._drawn
    monkeypatch.setattr(
        cosine, "_drawn", lambda like, share: drawn.append(draw(like, share)) or drawn[-1]
    )
    terms, types = terms_of(2, 5)
    grid = grid_cosines(terms, types, dropout=0.4, longest=longest)
    assert (len(drawn) == 1) == (block == 10_000)
    spans = spans_of(2, 5, longest or 5)
    dropped = torch.ones(2, 5, 5, H, dtype=torch.bool)
    start = 0
    for mask in drawn:  # blocks of rows, each from its first row's own unit on
        dropped[:, start : start + mask.shape[1], start : start + mask.shape[2]] = mask
        start += mask.shape[1]
    kept = [vector(terms, *span).masked_fill(dropped[span], 0.0) / 0.6 for span in spans]
    theirs = torch.stack([F.normalize(made, dim=0) for made in kept]) @ types.t()
    ours = cells(grid, spans)
    torch.testing.assert_close(ours, theirs, **EXACT)
    assert_equal_gradients(ours, theirs, terms, types)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.93])
def test_the_share_of_dropped_components(share: float) -> None:
    torch.manual_seed(0)
    mask = cosine._drawn(torch.empty(7, 331, 101), share)
    tolerance = 5 * (share * (1 - share) / mask.numel()) ** 0.5
    assert mask.float().mean().item() == pytest.approx(share, abs=tolerance + 2**-17)
    assert mask.shape == (7, 331, 101)
    # No component and no neighbour is special.
    assert mask.flatten()[: mask.numel() // 4 * 4].view(-1, 4).float().mean(
        0
    ).numpy() == pytest.approx(share, abs=0.01)
    both = (mask.flatten()[1:] & mask.flatten()[:-1]).float().mean().item()
    assert both == pytest.approx(share**2, abs=0.01)


def test_dropout_is_drawn_anew_and_follows_the_seed() -> None:
    terms, types = terms_of(1, 6)
    torch.manual_seed(3)
    first, second = (grid_cosines(terms, types, dropout=0.3) for _ in range(2))
    torch.manual_seed(3)
    assert not torch.equal(first, second)
    assert torch.equal(first, grid_cosines(terms, types, dropout=0.3))


def test_single_precision_keeps_its_digits() -> None:
    terms, types = terms_of(2, 24, dtype=torch.float32, hidden=128)
    spans = spans_of(2, 24, 24)
    ours, theirs = cells(grid_cosines(terms, types), spans), literal(terms, types, spans)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-6)
    mine, others = gradients(ours, terms, types), gradients(theirs, terms, types)
    torch.testing.assert_close(mine, others, rtol=1e-5, atol=1e-5)
    band = band_cosines(terms, types, longest=24)
    row, first, last = torch.tensor(spans).unbind(1)
    torch.testing.assert_close(band[row, first, last - first], theirs, rtol=0, atol=1e-6)


@pytest.mark.parametrize("offset", [10.0, 100.0, 1e4])
def test_terms_that_cancel_cost_the_band_digits_and_the_grid_none(offset: float) -> None:
    """With `first` far out on one side and `last` on the other, against the same numbers in
    double precision.
    """
    terms, types = terms_of(2, 12, dtype=torch.float32, hidden=128)
    away = offset * F.normalize(torch.ones(128), dim=0)
    far = SpanTerms(**{**vars(terms), "first": terms.first + away, "last": terms.last - away})
    wide = SpanTerms(
        **{
            key: part.double() if part.is_floating_point() else part
            for key, part in vars(far).items()
        }
    )
    spans = spans_of(2, 12, 12)
    row, first, last = torch.tensor(spans).unbind(1)
    exact = literal(wide, types.double(), spans)
    in_grid = (cells(grid_cosines(far, types), spans) - exact).abs().max()
    in_band = (band_cosines(far, types, longest=12)[row, first, last - first] - exact).abs().max()
    lengths = torch.stack([vector(wide, *span).square().sum() for span in spans])
    parts = 2 * offset**2 + 3 * lengths.max()
    assert in_grid < 1e-6 * (1 + offset / 10)  # that of rounding the sum itself
    assert in_band < 5e-7 * parts / lengths.min()
    assert band_cosines(far, types, longest=12).abs().max() <= 1


def test_a_vector_of_length_0_has_cosine_0_and_no_gradient() -> None:
    terms, types = terms_of(1, 2)
    none = SpanTerms(**{**vars(terms), "last": -terms.first - terms.width[0]})
    with torch.no_grad():
        none.last_piece.copy_(none.first_piece)
    grid = grid_cosines(none, types)
    assert not grid[0, :, 0, 0].any()
    found = torch.autograd.grad(grid[0, :, 0, 0].sum(), [terms.first, terms.width, types])
    assert all(not part.any() for part in found)
    assert band_cosines(none, types, longest=1).isfinite().all()


def test_no_span_vector_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, units, hidden = 2, 40, 64
    monkeypatch.setattr(cosine, "_BLOCK", 10_000)
    terms, types = terms_of(rows, units, dtype=torch.float32, hidden=hidden)
    kept: list[tuple[int, torch.dtype]] = []
    hooks = torch.autograd.graph.saved_tensors_hooks(
        lambda t: kept.append((t.numel(), t.dtype)) or t, lambda t: t
    )
    with hooks:
        grid_cosines(terms, types, dropout=0.1)
    numbers = [size for size, dtype in kept if dtype.is_floating_point]
    assert max(numbers) == rows * 3 * units * units
    masks = sum(size for size, dtype in kept if dtype == torch.bool)
    assert (
        rows * units * (units + 1) // 2 * hidden
        <= masks
        < 1.3 * rows * units * (units + 1) // 2 * hidden
    )


def test_cells_that_are_asked_for_no_gradient_give_none() -> None:
    terms, types = terms_of(2, 4)
    grid = grid_cosines(terms, types)
    found = torch.autograd.grad(cells(grid, spans_of(1, 2, 2)).sum(), [terms.first, terms.last])
    for part in found:
        assert not part[1].any()
        assert not part[0, 2:].any()
        assert part[0, :2].any(1).all()

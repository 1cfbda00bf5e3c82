"""Computes cosines between span vectors and type vectors, for span vectors that are sums of three
terms.

The vector of the span of units `i` to `j`, both included, that covers `w` pieces is

    s[b, i, j] = first[b, i] + last[b, j] + width[w - 1]

which is a linear layer on `[h_i ; h_j ; D(w)]` taken apart by the columns of its weight. Two forms,
both exact:

`grid_cosines`, all spans, for training. Dropout falls on the span vector, one mask per span, as in
*binder*, so each vector has to be made; but only a few at a time, small enough for the cache, and
the backward pass makes them again instead of keeping them. Kept are the cosines, the norms, and the
mask of dropped components.

`band_cosines`, the spans of at most L units, for inference. No span vector is made at all:
numerator and squared norm are sums of entries of small tables of products. A squared norm from
products loses digits where the terms cancel: the error of a cosine is about `1e-7 (|first|^2 +
|last|^2 + |width|^2) / |s|^2`. Training makes the vectors, and has no such loss.

Shape letters: B windows, U units, h width of a vector, N rows of the table of widths, K types, L
largest span width.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from fascicle.models.nn.dropout import random_bits

_BLOCK = 1 << 19  # numbers in the span vectors made at a time: 2 MB of float32
_SHORTEST = 1e-12  # a vector below this norm has cosine 0 and no gradient


@dataclass(frozen=True, kw_only=True, eq=False)
class SpanTerms:
    """Terms of which span vectors are the sums; entries beyond the units of a window may have any
    finite value.

    Attributes:
        first: The term of the first unit, `[B, U, h]`, the bias included.
        last: The term of the last unit, `[B, U, h]`.
        width: The term of each width in pieces, `[N, h]`, row `w - 1` for width `w`; wider spans
            have the last row.
        first_piece: The position of the first piece of each unit, `[B, U]`, int64.
        last_piece: The position of the last piece of each unit, `[B, U]`, int64.
    """

    first: Tensor
    last: Tensor
    width: Tensor
    first_piece: Tensor
    last_piece: Tensor


def grid_cosines(
    terms: SpanTerms, types: Tensor, *, dropout: float = 0.0, longest: int | None = None
) -> Tensor:
    """Returns the cosines of all spans with all types, with a gradient.

    Args:
        terms: Of the spans.
        types: Vectors of norm 1, `[K, h]`.
        dropout: Share of the components of each span vector that is set to 0. Those left are not
            scaled up, since that changes no cosine. On the CPU the share is rounded to 1/65536.
        longest: Units in the longest span that is needed; None for all.

    Returns:
        `[B, K, U, U]` by first and last unit. Cells that are no spans, or too wide, are finite and
        mean nothing.
    """
    first, last = terms.first, terms.last
    index = _width_index(terms.first_piece[:, :, None], terms.last_piece[:, None], len(terms.width))
    plan = _Plan(index=index, dropout=dropout, longest=longest or first.shape[1])
    return _GridCosines.apply(plan, first, last, terms.width, types)  # type: ignore[no-untyped-call]


def band_cosines(terms: SpanTerms, types: Tensor, *, longest: int) -> Tensor:
    """Returns the cosines of the spans of at most L units, without span vectors and without
    dropout.

    Args:
        terms: Of the spans. U may be less than L.
        types: Vectors of norm 1, `[K, h]`.
        longest: L.

    Returns:
        `[B, U, L, K]` by first unit and units - 1, between -1 and 1; cells of spans that end beyond
        U mean nothing.
    """
    first, last, width = terms.first, F.pad(terms.last, (0, 0, 0, longest - 1)), terms.width
    reach = _reach_of(first, longest)
    index = band_widths(terms, longest, rows=width.shape[0])
    squares = _squared_norms(first, last, width, reach=reach, index=index)
    along = (
        table_product(first, types)[:, :, None]
        + table_product(last, types)[:, reach]
        + F.embedding(index, F.linear(width, types))
    )
    return (along * squares.clamp_min(_SHORTEST**2).rsqrt()[..., None]).clamp(-1.0, 1.0)


def _squared_norms(
    first: Tensor, last: Tensor, width: Tensor, *, reach: Tensor, index: Tensor
) -> Tensor:
    """Returns the squared norms of the sums of three terms, `[B, U, L]`, from small tables of
    products.
    """
    rows = (first.shape[0], *reach.shape)
    # of each span's last unit and width in the table [U, N]
    places = (reach * width.shape[0] + index).flatten(1)
    return (
        _squares(first)[:, :, None]
        + _squares(last)[:, reach]
        + _squares(width)[index]
        + 2 * (first @ last.transpose(1, 2)).gather(2, reach.expand(rows))
        + 2 * table_product(first, width).gather(2, index)
        + 2 * table_product(last, width).flatten(1).gather(1, places).view(rows)
    )


def _reach_of(units: Tensor, longest: int) -> Tensor:
    """Returns the last unit of each span by first unit and units - 1, `[U, L]`; it may lie
    beyond U.
    """
    return torch.arange(units.shape[1], device=units.device)[:, None] + torch.arange(
        longest, device=units.device
    )


def band_widths(terms: SpanTerms, longest: int, *, rows: int) -> Tensor:
    """Returns the width - 1 in pieces, at most `rows` - 1, of each span of the band, `[B, U,
    L]`.
    """
    ends = F.pad(terms.last_piece, (0, longest - 1))[:, _reach_of(terms.first_piece, longest)]
    return _width_index(terms.first_piece[:, :, None], ends, rows)


def table_product(vectors: Tensor, table: Tensor) -> Tensor:
    """Returns `vectors @ table^T`, `[B, U, rows]`, for vectors `[B, U, h]` and a table `[rows, h]`.

    The table is expanded, so that in an exported graph it is no constant factor of a product: those
    are stored in 8 bits, and for norms and scores at the very end no later layer corrects the
    rounding.
    """
    return vectors @ table.t().expand(vectors.shape[0], -1, -1)


def _width_index(first_piece: Tensor, last_piece: Tensor, rows: int) -> Tensor:
    return (last_piece - first_piece).clamp(0, rows - 1)


def _squares(vectors: Tensor) -> Tensor:
    return (vectors * vectors).sum(-1)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Plan:
    """Plan of the computation without the vectors: rows of the table of widths `[B, U, U]`, and
    two numbers.
    """

    index: Tensor
    dropout: float
    longest: int

    def blocks(self, hidden: int) -> Iterator[_Block]:
        """Yields blocks of about `_BLOCK` numbers that cover all spans of at most `longest`
        units.
        """
        rows, units, _ = self.index.shape
        start = 0
        while start < units:
            reachable = min(units - start, self.longest)
            stop = min(units, start + max(1, _BLOCK // (rows * reachable * hidden)))
            yield _Block(
                rows=slice(start, stop), columns=slice(start, min(units, stop - 1 + self.longest))
            )
            start = stop


@dataclass(frozen=True, kw_only=True)
class _Block:
    """Block of spans: some first units and all last units that they can reach."""

    rows: slice
    columns: slice

    @property
    def cells(self) -> tuple[slice, slice, slice]:
        """Position of the block in `[B, U, U]`."""
        return slice(None), self.rows, self.columns

    def vectors(self, first: Tensor, last: Tensor, width: Tensor, index: Tensor) -> Tensor:
        """Returns the span vectors, `[B, rows, columns, h]`."""
        vectors = F.embedding(index[self.cells], width)
        return vectors.add_(first[:, self.rows, None]).add_(last[:, None, self.columns])

    def add(self, change: Tensor, sums: Sequence[Tensor], index: Tensor) -> None:
        """Adds the gradient of the span vectors to those of `first`, `last` and `width`."""
        sums[0][:, self.rows] += change.sum(2)
        sums[1][:, self.columns] += change.sum(1)
        sums[2].add_(_sum_by_width(change, index[self.cells], len(sums[2])))


def _drawn(like: Tensor, share: float) -> Tensor:
    """Draws the mask of dropped components; on the CPU by 16 bits each, in a fifth of the time
    of `bernoulli_`.
    """
    if like.device.type != "cpu":
        return torch.rand(like.shape, device=like.device) < share
    return random_bits(like) < round(share * 2**16) - 2**15


def _drop(vectors: Tensor, mask: Tensor | None) -> Tensor:
    """Sets the dropped components to 0, in place."""
    return vectors if mask is None else vectors.masked_fill_(mask, 0.0)


class _GridCosines(torch.autograd.Function):
    """Autograd function of `grid_cosines`: `(plan, first, last, width, types) -> [B, K, U, U]`."""

    @staticmethod
    def forward(
        ctx: Any, plan: _Plan, first: Tensor, last: Tensor, width: Tensor, types: Tensor
    ) -> Tensor:
        rows, units, hidden = first.shape
        cosines = first.new_zeros(rows, len(types), units, units)
        inverse = first.new_zeros(rows, units, units)  # 1 / norm
        dropped = []
        for block in plan.blocks(hidden):
            vectors = block.vectors(first, last, width, plan.index)
            if plan.dropout:
                dropped.append(_drawn(vectors, plan.dropout))
                vectors.masked_fill_(dropped[-1], 0.0)
            norm = torch.linalg.vector_norm(vectors, dim=3)
            scale = torch.where(norm > _SHORTEST, norm.reciprocal(), 0.0)
            along = (vectors @ types.t()).mul_(scale[..., None])
            inverse[block.cells] = scale
            cosines[:, :, block.rows, block.columns] = along.permute(0, 3, 1, 2)
        ctx.plan = plan
        ctx.save_for_backward(first, last, width, types, cosines, inverse, *dropped)
        return cosines

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        first, last, width, types, cosines, inverse, *dropped = ctx.saved_tensors
        sums = [torch.zeros_like(part) for part in (first, last, width, types)]
        with torch.autocast(grad.device.type, enabled=False):
            # The cosine c of s, of norm n, and e changes with s by (e - c s / n) / n.
            along = grad * inverse[:, None]
            radial = (along * cosines).sum(1).mul_(inverse)
            for number, block in enumerate(ctx.plan.blocks(first.shape[2])):
                mask = dropped[number] if dropped else None
                vectors = _drop(block.vectors(first, last, width, ctx.plan.index), mask)
                by_type = along[:, :, block.rows, block.columns].permute(0, 2, 3, 1).contiguous()
                sums[3].addmm_(by_type.flatten(0, 2).t(), vectors.flatten(0, 2))
                change = (by_type @ types).sub_(vectors.mul_(radial[block.cells][..., None]))
                block.add(_drop(change, mask), sums, ctx.plan.index)
        return None, *sums


def _sum_by_width(change: Tensor, index: Tensor, rows: int) -> Tensor:
    """Computes the gradient of an embedding, much faster than `index_add_`."""
    return torch.ops.aten.embedding_dense_backward(change, index, rows, -1, False)

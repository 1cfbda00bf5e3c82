"""Scores all spans up to a width, as small tables whose sum is the logit; also has the loss over
them.

A span `(i, w)` covers the units `i..i+w`, both included. Class 0 is None, entity type `t` is class
`t + 1`. A scorer gives some of four named tables, and

    logits[b, i, w] = starts[b, i] + ends[b, i + w] + widths[w] + spans[b, i, w]

where a table that is not given counts as 0. This is one linear layer on a concatenated span vector,
taken apart by the columns of its weight: a term of one end of a span is computed once per unit, not
once per span, and no span vector is ever built. Exact up to rounding.

Dropout is not in here. A head drops out unit states before it scores them, so that one mask per
unit is shared by all spans through that unit. SpERT instead drops out the concatenated vector, with
a mask per span, which cannot be taken apart. In evaluation mode the two are equal; in training they
are different regularisers.

Shape letters: B rows, U units, d width of a state, L largest span width (index `w` is width - 1), C
classes.

Span scores from products of the two ends: the biaffine scorer.

Source: Yu, Bohnet & Poesio (2020), *Named Entity Recognition as Dependency Parsing* §3, after Dozat
& Manning (2017). Shape letters as in `fascicle.models.nn.spans`, and h, the width of the
feed-forward layers.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from fascicle.models.nn.losses import SETS, set_loss
from fascicle.models.nn.pooling import STD, draw
from fascicle.models.nn.tensors import TensorDict, Tensors

# Parts of the span vector, in the order of the columns of the weight; an embedded width may follow.
REPRESENTATIONS: dict[str, tuple[str, ...]] = {
    "boundary": ("start", "end"),
    "pooling": ("pool", "whole"),
    "hybrid": ("start", "end", "pool", "whole"),
}
_PARTS = REPRESENTATIONS["hybrid"]


class SpanScorer(nn.Module):
    """Base class of span scorers: modules that return the tables named in `outputs`.

    Attributes:
        outputs: The names of the tables, in order, out of `starts`, `ends`, `widths`, `spans`.
    """

    outputs: tuple[str, ...]

    def forward(self, units: Tensor, whole: Tensor) -> TensorDict:
        """Scores all spans.

        Args:
            units: States of the units, `[B, U, d]`, any finite value beyond the units of a row. U
                may be less than L.
            whole: A state of the whole row (that of `[CLS]`), `[B, d]`; ignored by scorers that
                have no use for it.

        Returns:
            `starts` `[B, U, C]`, `ends` `[B, U, C]`, `widths` `[L, C]`, `spans` `[B, U, L, C]`, as
            far as `outputs` names them. Cells of spans that end beyond U are finite and mean
            nothing.
        """
        raise NotImplementedError


class WidthTerm(nn.Module):
    """Term that the width of a span adds to its logits: an embedding of the width, and its
    columns of the weight.
    """

    def __init__(self, *, size: int, longest: int, classes: int) -> None:
        """Draws both from N(0, 0.02^2).

        Args:
            size: Of the embedding.
            longest: The largest width L.
            classes: C.
        """
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(longest, size))
        self.weight = nn.Parameter(torch.empty(classes, size))
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=STD)

    def forward(self) -> Tensor:
        """Returns the table `widths`, `[L, C]`."""
        return F.linear(self.embedding, self.weight)


def make_width_term(size: int, *, longest: int, classes: int) -> WidthTerm | None:
    """Builds the term of the width, see `WidthTerm`; None for a size of 0."""
    return WidthTerm(size=size, longest=longest, classes=classes) if size else None


class LinearSpanScorer(SpanScorer):
    """Span scorer with one linear layer over a span vector that consists of `parts`.

    `("start", "end")` is SpanPred (*comparing-and-combining* §4.3), and with an embedded width the
    boundary representation of *bundling-learning* §3.1.3, whose pooling and hybrid representations
    are the others in `REPRESENTATIONS`. `linear` has the layout of the literal layer on the
    concatenated vector.
    """

    def __init__(
        self,
        *,
        parts: Sequence[str],
        width: int,
        classes: int,
        longest: int,
        width_embedding: int = 0,
    ) -> None:
        """Draws weights from N(0, 0.02^2); biases are 0.

        Args:
            parts: Of the span vector, in order, each at most once: `start` and `end`, the states of
                the first and last unit; `pool`, the elementwise maximum over all units of the span;
                `whole`, the state of the row.
            width: Of a state, d.
            classes: C, None included.
            longest: The largest span width L.
            width_embedding: Size of the embedding of the width that ends the span vector, 0 for
                none.

        Raises:
            ValueError: If there is no part, or an unknown or repeated one.
        """
        super().__init__()
        if not parts or len(set(parts)) != len(parts) or not set(parts) <= set(_PARTS):
            raise ValueError(
                f"parts of a span vector are some of {', '.join(_PARTS)}, each once; got "
                f"{tuple(parts)}"
            )
        self.parts = tuple(parts)
        self.longest = longest
        self.linear = nn.Linear(len(parts) * width, classes)
        draw(self.linear)
        self.width_term = make_width_term(width_embedding, longest=longest, classes=classes)
        presence = {
            "starts": True,
            "ends": "end" in parts,
            "widths": width_embedding > 0,
            "spans": "pool" in parts,
        }
        self.outputs = tuple(name for name, is_present in presence.items() if is_present)

    def forward(self, units: Tensor, whole: Tensor) -> TensorDict:
        """Scores all spans; see `SpanScorer`. The bias and the term of `whole` are part of
        `starts`.
        """
        block = dict(zip(self.parts, self.linear.weight.chunk(len(self.parts), dim=1), strict=True))
        tables = _end_tables(units, block)
        common: Tensor = self.linear.bias
        if "whole" in block:
            common = F.linear(whole, block["whole"], common)[:, None]
        tables["starts"] = tables.get("starts", torch.zeros_like(units[..., :1])) + common
        if self.width_term is not None:
            tables["widths"] = self.width_term()
        if "pool" in block:
            tables["spans"] = _pool_spans(units, block["pool"], self.longest)
        return {name: tables[name] for name in self.outputs}


def _end_tables(units: Tensor, block: Tensors) -> TensorDict:
    """Computes `starts` and `ends`, as far as the weight has blocks for them, by one product, which
    reads the states once.
    """
    ends = [part for part in ("start", "end") if part in block]
    if not ends:
        return {}
    terms = F.linear(units, torch.cat([block[part] for part in ends])).chunk(len(ends), dim=2)
    return {f"{part}s": term for part, term in zip(ends, terms, strict=True)}


def _pool_spans(units: Tensor, weight: Tensor, longest: int) -> Tensor:
    """Computes the table `spans` of pooled units, `[B, U, L, C]`, by `P(i, w) = max(P(i, w - 1),
    e_(i+w))`.

    Each P is projected as soon as it is known. The zeros in place of units beyond U reach only
    cells that are no spans.
    """
    padded = F.pad(units, (0, 0, 0, longest - 1))
    pooled = units
    terms = [F.linear(pooled, weight)]
    for step in range(1, longest):
        pooled = _Maximum.apply(pooled, padded[:, step : (step + 1 - longest) or None])  # type: ignore[no-untyped-call]
        terms.append(F.linear(pooled, weight))
    return torch.stack(terms, dim=2)


class _Maximum(torch.autograd.Function):
    """Maximum as `torch.maximum`, but at a tie the first argument takes the whole gradient.

    Torch splits the gradient, and training on pooled spans then takes more than twice as long.
    """

    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor) -> Tensor:
        if any(ctx.needs_input_grad):
            ctx.save_for_backward(second > first)
        return torch.maximum(first, second)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        (second_wins,) = ctx.saved_tensors
        second = grad * second_wins
        return grad - second, second


def span_loss(tables: Tensors, targets: Tensor, *, ignored: int = -100) -> Tensor:
    """Returns the mean cross-entropy of the chosen spans; 0 with a gradient of 0 where none is
    chosen.

    Computed in float32 (float64 for float64 tables), inside autocast too. Only the chosen cells are
    gathered: no slower than the whole band when all are chosen, and far faster when a hundred per
    row are (sampled negatives).

    Args:
        tables: Of a scorer. Units beyond those of the targets are left out.
        targets: Classes or sets of them (`nn.losses`), int64 `[B, U, L]`; `ignored` for spans that
            are not chosen and cells that are no spans.
        ignored: The target of cells that do not count.

    Returns:
        A scalar.

    Raises:
        ValueError: If the shapes do not agree, or a chosen span ends beyond U.
    """
    _, units, longest = targets.shape
    tables = {
        name: table if name == "widths" else table[:, :units] for name, table in tables.items()
    }
    _check(tables, tuple(targets.shape))
    cells = (targets.flatten() != ignored).nonzero().squeeze(1)
    if (cells // longest % units + cells % longest >= units).any():
        raise ValueError(
            f"a span that ends beyond the {units} units has a target; it must be {ignored}"
        )
    logits = _gather_logits(tables, cells, longest)
    # Classes first: a softmax that runs along many spans is three times as fast as one along a few
    # classes.
    gold = targets.flatten()[cells]
    several = gold <= SETS
    single = gold.masked_fill(several, ignored)
    total = F.cross_entropy(logits.t()[None], single[None], reduction="sum", ignore_index=ignored)
    if several.any():
        total = total + set_loss(logits[several], gold[several]).sum()
    return total / max(1, len(cells))


def _gather_logits(tables: Tensors, cells: Tensor, longest: int) -> Tensor:
    """Returns the logits of some cells of `[B, U, L]`, at least float32."""
    first, step = cells // longest, cells % longest
    rows = {"starts": first, "ends": first + step, "widths": step, "spans": cells}
    dtype = functools.reduce(
        torch.promote_types, (table.dtype for table in tables.values()), torch.float32
    )
    terms = [
        table.flatten(0, -2).to(dtype).index_select(0, rows[name]) for name, table in tables.items()
    ]
    return functools.reduce(torch.add, terms)


def _check(tables: Tensors, sizes: tuple[int, ...]) -> None:
    """Refuses tables that do not fit (B, U, L)."""
    rows, units, longest = sizes
    shapes = {
        "starts": (rows, units),
        "ends": (rows, units),
        "widths": (longest,),
        "spans": (rows, units, longest),
    }
    actual = {name: tuple(table.shape) for name, table in tables.items()}
    classes = {shape[-1] for shape in actual.values()}
    if len(classes) != 1 or any(shapes.get(name) != shape[:-1] for name, shape in actual.items()):
        raise ValueError(
            f"expected tables {shapes}, each with the classes as one more axis; got {actual}"
        )


class BiaffineScorer(SpanScorer):
    """Biaffine span scorer: one feed-forward layer for each end, then a bilinear and a linear term.

    With `s = drop(leaky(F_s e_i))` and `t = drop(leaky(F_e e_j))` the score of class c is
    `s^T U_c t + W_s s + W_e t + b`, and `+ W_l W_len` where widths are embedded. The activation is
    LeakyReLU with slope 0.1, that of Dozat and Manning's parser. This dropout is the scorer's own,
    one mask per unit and end, and comes on top of the dropout of the head on the states.

    The band is computed by one small product per unit, of its start with the L ends it can reach.
    At inference, on one core with 8 rows and h = 150, that takes no longer than the full U x U
    product even for short rows (30 units, L = 10: 1.2 and 1.3 ms; 128 units, L = 10: 5.1 and 8.5
    ms; L = 32: 7.7 and 9.1 ms). So it is the only form.
    """

    def __init__(
        self,
        *,
        width: int,
        classes: int,
        longest: int,
        hidden: int,
        dropout: float,
        width_embedding: int = 0,
    ) -> None:
        """Draws weights from N(0, 0.02^2); biases are 0.

        Args:
            width: Of a state, d.
            classes: C, None included.
            longest: The largest span width L.
            hidden: h.
            dropout: Share of the entries of s and t set to 0 in training.
            width_embedding: Size of the embedding of the width, 0 for none.
        """
        super().__init__()
        self.longest = longest
        self.start = _feed_forward(width, hidden, dropout)
        self.end = _feed_forward(width, hidden, dropout)
        self.start_linear = nn.Linear(hidden, classes)
        self.end_linear = nn.Linear(hidden, classes, bias=False)
        # Row c * h + k is column k of U_c, so that one product gives s^T U_c for all classes.
        self.bilinear = nn.Linear(hidden, classes * hidden, bias=False)
        draw(self)
        self.width_term = make_width_term(width_embedding, longest=longest, classes=classes)
        self.outputs = ("starts", "ends", *(("widths",) if width_embedding else ()), "spans")

    def forward(self, units: Tensor, whole: Tensor) -> TensorDict:
        """Scores all spans; see `SpanScorer`. `whole` is ignored."""
        start, end = self.start(units), self.end(units)
        tables = {
            "starts": self.start_linear(start),
            "ends": self.end_linear(end),
            "spans": self._products(start, end),
        }
        if self.width_term is not None:
            tables["widths"] = self.width_term()
        return {name: tables[name] for name in self.outputs}

    def _products(self, start: Tensor, end: Tensor) -> Tensor:
        """Computes the bilinear term, `[B, U, L, C]`; zeros in place of units beyond U reach
        only void cells.
        """
        rows, count, hidden = end.shape
        reach = torch.arange(count, device=end.device)[:, None] + torch.arange(
            self.longest, device=end.device
        )
        padded = F.pad(end, (0, 0, 0, self.longest - 1))
        within = padded.index_select(1, reach.flatten()).view(rows, count, self.longest, hidden)
        projected = self.bilinear(start).view(rows, count, -1, hidden)  # s^T U_c, [B, U, C, h]
        return within @ projected.transpose(2, 3)


def _feed_forward(width: int, hidden: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, hidden), nn.LeakyReLU(0.1), nn.Dropout(dropout))

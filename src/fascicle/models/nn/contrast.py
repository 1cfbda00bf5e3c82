"""Scores and loss of the contrastive bi-encoder: compares spans, starts and ends with vectors of
the entity types.

Source: *binder* (Zhang et al. 2023) §2. It uses tensors only: states of a text encoder, and one
vector per type, from an encoder of descriptions, a table, or anything else. A score is `exp(t)
cos(x, e_k)` with a temperature `t` of its own for spans, starts and ends. The score of the whole
text in the place of a span (`[CLS]` twice, width 1), start or end is the threshold that a mention
must exceed.

For a window b and a type k let N be the negatives: all spans that are no gold of type k (gold of
other types included), and the threshold. With `Z = logsumexp over N` the losses are

    threshold   Z - s_threshold                     mean over all pairs (b, k), also of types that
                                                    do not occur in b
    mention     log(exp(s_gold) + exp(Z)) - s_gold  mean over all gold of the batch

so one Z serves the threshold and all gold of (b, k). Eq. 5-9 of the paper do not say that the
threshold competes with every mention and that other gold of the type stays out of the sum; the
authors' program does both. By default no width limits the spans of N.

Shape letters: B windows, U units, d width of a state, h of a projection, K types, L largest width
at inference, G gold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fascicle.models.nn.cosine import (
    SpanTerms,
    band_cosines,
    band_widths,
    grid_cosines,
    table_product,
)
from fascicle.models.nn.pooling import draw
from fascicle.models.nn.spans import make_width_term
from fascicle.models.nn.tensors import TensorDict, Tensors

TOO_WIDE = -1e4  # the score of a span with too many pieces: below every threshold
_TEMPERATURE = 0.07


@dataclass(frozen=True, kw_only=True)
class ContrastForm:
    """Configuration of a scorer; the defaults are the numbers of the paper.

    Attributes:
        hidden: Width h of the projections.
        width_embedding: Size of the embedding of a span's width, 0 for none.
        pieces: Rows of the table of widths; wider spans share the last one.
        dropout: Share of the components of a projection that is set to 0 in training, before it is
            brought to norm 1.
        shared: One projection of the text for starts, ends and both ends of a span, and one of the
            types (Table 4).
        positions: Whether starts and ends are scored, not only spans.
        thresholds: `dynamic`, the score of the whole text; `global`, one learnt number per type, at
            first 0, in its place; `dev`, none at inference. With `dev` train with
            `LossWeights.beta` 1; the score of the whole text stays a negative.
    """

    hidden: int = 128
    width_embedding: int = 128
    pieces: int = 512
    dropout: float = 0.1
    shared: bool = False
    positions: bool = True
    thresholds: Literal["dynamic", "global", "dev"] = "dynamic"


@dataclass(frozen=True, kw_only=True, eq=False)
class TextStates:
    """Encoded text; entries beyond the units of a window may have any finite value.

    Attributes:
        starts: The state of each unit's first piece, `[B, U, d]`.
        ends: The state of each unit's last piece, `[B, U, d]`; the same tensor where units are
            pieces.
        whole: The state of the whole text (that of `[CLS]`), `[B, d]`.
        first_piece: The position of each unit's first piece, `[B, U]`, int64.
        last_piece: The position of each unit's last piece, `[B, U]`, int64.
    """

    starts: Tensor
    ends: Tensor
    whole: Tensor
    first_piece: Tensor
    last_piece: Tensor


class ContrastiveScorer(nn.Module):
    """Scorer of the bi-encoder: the projections, the width embedding and the temperatures (*binder*
    §2.2).

    The linear layer on a span's `[h_i ; h_j ; D(w)]` is kept as the blocks of its columns:
    `text.first` with the bias, `text.last` and `width_term`. `w` counts pieces. In training,
    dropout falls on every projected vector before it is brought to norm 1, also on those of types
    and on each span vector by itself.

    Attributes:
        outputs: The names of the tables that `forward` gives, in order.
    """

    def __init__(self, form: ContrastForm, *, width: int, types: int) -> None:
        """Draws weights from N(0, 0.02^2); biases are 0.

        Args:
            form: Configuration.
            width: Of a state and of a type's vector, d.
            types: K; only global thresholds need it, and otherwise K is that of the vectors at
                hand.
        """
        super().__init__()
        self.form = form
        kinds = ("start", "end", "span") if form.positions else ("span",)
        self.kinds = kinds
        text = ("shared",) if form.shared else (*kinds[:-1], "first", "last")
        self.text = _linear_layers(text, width, form.hidden)
        self.types = _linear_layers(("shared",) if form.shared else kinds, width, form.hidden)
        draw(self)
        self.width_term = make_width_term(
            form.width_embedding, longest=form.pieces, classes=form.hidden
        )
        cold = math.log(1 / _TEMPERATURE)
        self.log_scales = nn.ParameterDict(
            {kind: nn.Parameter(torch.tensor(cold)) for kind in kinds}
        )
        self.thresholds = nn.Parameter(torch.zeros(types)) if form.thresholds == "global" else None
        limits = () if form.thresholds == "dev" else tuple(f"{kind}_threshold" for kind in kinds)
        self.outputs: tuple[str, ...] = (*(f"{kind}s" for kind in kinds), *limits)

    def project_types(self, types: Tensor) -> TensorDict:
        """Projects type vectors to the space of the text. In evaluation mode they are constants:
        compute them once.

        Args:
            types: One vector per type, `[K, d]`.

        Returns:
            `start`, `end` (with positions) and `span`, `[K, h]` each, of norm 1, at least float32.
        """
        return {kind: self._unit(_layer(self.types, kind)(types)) for kind in self.kinds}

    def forward(
        self,
        text: TextStates,
        types: Tensors,
        *,
        longest: int,
        pieces: int | None = None,
    ) -> TensorDict:
        """Returns the scores for inference, in evaluation mode.

        Args:
            text: U may be less than L.
            types: Of `project_types`.
            longest: L, in units.
            pieces: Most pieces in a span; None for no such limit. Spans of more have the score
                `TOO_WIDE`.

        Returns:
            `starts` and `ends` `[B, U, K]`, `spans` `[B, U, L, K]` by first unit and units - 1,
            `start_threshold`, `end_threshold` and `span_threshold` `[B, K]`, as far as `outputs`
            names them, at least float32. Cells beyond the units of a window are finite and mean
            nothing.

        Raises:
            RuntimeError: In training mode: these spans are scored without dropout.
        """
        if self.training:
            raise RuntimeError(
                "scores for inference need evaluation mode: call eval() first, or grid() to train"
            )
        terms = self._terms(text)
        tables = self._positions(text, types)
        with _exact(text.whole):
            spans = self._scale("span") * band_cosines(terms, types["span"], longest=longest)
        if pieces is not None:
            narrow = band_widths(terms, longest, rows=pieces + 1) < pieces
            spans = torch.where(narrow[..., None], spans, TOO_WIDE)
        tables |= {"spans": spans, **self._limits(text, types)}
        return {name: tables[name] for name in self.outputs}

    def grid(
        self,
        text: TextStates,
        types: Tensors,
        *,
        counts: Tensor,
        longest: int | None = None,
    ) -> TensorDict:
        """Returns the scores of all spans for the loss, with dropout in training mode.

        Args:
            text: As in `forward`.
            types: Of `project_types`, with its gradient.
            counts: Units of each window, `[B]`, from 0 to U.
            longest: Units in the longest span that can be gold or negative; None, as in the paper,
                for all.

        Returns:
            `starts` and `ends` `[B, K, U]` (with positions) and `spans` `[B, K, U, U]` by first and
            last unit, minus infinity where there is no unit or span; a threshold `[B, K]` for each.
            At least float32, inside autocast too.
        """
        units = text.starts.shape[1]
        dropout = self.form.dropout if self.training else 0.0
        terms = self._terms(text)
        absent = torch.arange(units, device=counts.device) >= counts[:, None]
        tables = {
            name: scores.transpose(1, 2).masked_fill(absent[:, None], -torch.inf)
            for name, scores in self._positions(text, types).items()
        }
        with _exact(text.whole):
            cosines = grid_cosines(terms, types["span"], dropout=dropout, longest=longest)
            spans = self._scale("span") * cosines
        void = _no_span(absent, longest or units)
        return tables | {
            "spans": spans.masked_fill(void[:, None], -torch.inf),
            **self._limits(text, types),
        }

    def _positions(self, text: TextStates, types: Tensors) -> TensorDict:
        """Computes `starts` and `ends`, `[B, U, K]`."""
        states = {"start": text.starts, "end": text.ends}
        return {f"{kind}s": self._compare(kind, states[kind], types) for kind in self.kinds[:-1]}

    def _compare(self, kind: str, states: Tensor, types: Tensors) -> Tensor:
        vectors = self._unit(_layer(self.text, kind)(states))
        with _exact(states):
            return self._scale(kind) * table_product(vectors, types[kind])

    def _limits(self, text: TextStates, types: Tensors) -> TensorDict:
        """Computes the thresholds, `[B, K]` each."""
        whole = text.whole
        if self.thresholds is not None:
            everywhere = _wide(self.thresholds).expand(whole.shape[0], -1)
            return {f"{kind}_threshold": everywhere for kind in self.kinds}
        limits = {
            f"{kind}_threshold": self._compare(kind, whole[:, None], types).squeeze(1)
            for kind in self.kinds[:-1]
        }
        first, last = self._ends(whole, whole)
        vectors = self._unit(first + last + self._widths(whole)[0])[:, None]
        with _exact(whole):
            limits["span_threshold"] = (
                self._scale("span") * table_product(vectors, types["span"])
            ).squeeze(1)
        return limits

    def _terms(self, text: TextStates) -> SpanTerms:
        first, last = self._ends(text.starts, text.ends)
        return SpanTerms(
            first=first,
            last=last,
            width=self._widths(text.whole),
            first_piece=text.first_piece,
            last_piece=text.last_piece,
        )

    def _ends(self, starts: Tensor, ends: Tensor) -> tuple[Tensor, Tensor]:
        """Computes the terms that the two ends add to a span vector; the bias is added once."""
        return _wide(_layer(self.text, "first")(starts)), _wide(
            F.linear(ends, _layer(self.text, "last").weight)
        )

    def _widths(self, like: Tensor) -> Tensor:
        """Computes the term that each width adds to a span vector, `[N, h]`."""
        if self.width_term is None:
            return _wide(like.new_zeros(1, self.form.hidden))
        with _exact(like):
            return _wide(self.width_term())

    def _unit(self, vectors: Tensor) -> Tensor:
        """Applies dropout, then scales to norm 1."""
        return F.normalize(F.dropout(_wide(vectors), self.form.dropout, self.training), dim=-1)

    def _scale(self, kind: str) -> Tensor:
        return self.log_scales[kind].exp()


def _linear_layers(names: Iterable[str], width: int, hidden: int) -> nn.ModuleDict:
    """Builds projections; the bias of a span is that of its first unit, so the last has none."""
    return nn.ModuleDict({name: nn.Linear(width, hidden, bias=name != "last") for name in names})


@dataclass(frozen=True, kw_only=True)
class LossWeights:
    """Weights of the six terms of the loss (*binder* Eq. 8-10).

    Attributes:
        start: Of the starts; 0 leaves them out.
        end: Of the ends; 0 leaves them out.
        span: Of the spans.
        beta: Share of the mentions; the rest is that of the thresholds. 1 leaves these out.
    """

    start: float = 0.2
    end: float = 0.2
    span: float = 0.6
    beta: float = 0.5


def contrastive_loss(
    tables: Tensors,
    gold: Tensor,
    *,
    weights: LossWeights,
    annotated: Tensor | None = None,
) -> Tensor:
    """Returns the loss over a batch; windows and batches without gold have only terms of
    thresholds.

    Args:
        tables: Of `ContrastiveScorer.grid`.
        gold: Window, first unit, last unit (included) and type of each mention, int64 `[G, 4]`, in
            any order. Two types may have the same span. A row that comes twice counts twice.
        weights: Of the terms.
        annotated: True where a type was annotated in a window, bool `[B, K]`; by default all are.
            Others have no terms.

    Returns:
        A scalar, at least float32.

    Raises:
        ValueError: If a mention is no span of its window, or a term with a weight has no table.
    """
    weight_of = {"start": weights.start, "end": weights.end, "span": weights.span}
    kinds = [kind for kind, weight in weight_of.items() if weight]
    if not kinds or any(f"{kind}s" not in tables for kind in kinds):
        raise ValueError(
            f"the loss has the weights {weight_of}, but the tables are {', '.join(tables)}"
        )
    _check(gold, tables)
    row, first, last, kind_of = gold.unbind(1)
    cells = {"start": first, "end": last, "span": first * tables["spans"].shape[2] + last}
    total = tables["spans"].new_zeros(())
    with torch.autocast(gold.device.type, enabled=False):
        for kind in kinds:
            scores, limit = tables[f"{kind}s"].flatten(2), tables[f"{kind}_threshold"]
            mention, threshold = _terms(scores, limit, (row, kind_of, cells[kind]), annotated)
            total = total + weight_of[kind] * weights.beta * mention
            if weights.beta < 1:
                total = total + weight_of[kind] * (1 - weights.beta) * threshold
    return total


def _terms(
    scores: Tensor, limit: Tensor, gold: tuple[Tensor, Tensor, Tensor], annotated: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Computes both terms of one kind from scores `[B, K, M]`, thresholds `[B, K]`, gold indices
    and known types.
    """
    row, kind, cell = gold
    negatives = torch.cat([limit[:, :, None], scores], dim=2)
    negatives[row, kind, cell + 1] = -torch.inf
    rest = negatives.logsumexp(2)  # the threshold is always there: never minus infinity
    mention = -F.logsigmoid(scores[gold] - rest[row, kind]).sum() / max(1, len(row))
    above = rest - limit
    return mention, above.mean() if annotated is None else above[
        annotated
    ].sum() / annotated.sum().clamp(min=1)


def _check(gold: Tensor, tables: Tensors) -> None:
    """Refuses mentions that are no spans of their window."""
    rows, types, units, _ = tables["spans"].shape
    if gold.dim() != 2 or gold.shape[1] != 4 or gold.dtype != torch.int64:
        raise ValueError(f"gold must be int64 [G, 4], got {gold.dtype} {tuple(gold.shape)}")
    within = ((gold >= 0) & (gold < gold.new_tensor([rows, units, units, types]))).all(1)
    row, first, last, kind = gold[within].unbind(1)
    if not within.all() or not tables["spans"][row, kind, first, last].isfinite().all():
        raise ValueError(
            f"every mention must be (window, first unit, last unit, type) of one of {rows} windows "
            f"and {types} types, with units of its window and no wider than the grid allows"
        )


def _layer(layers: nn.ModuleDict, name: str) -> nn.Linear:
    layer = layers["shared"] if "shared" in layers else layers[name]
    # for the type checker: ModuleDict does not keep the type of its items
    assert isinstance(layer, nn.Linear)
    return layer


def _no_span(absent: Tensor, longest: int) -> Tensor:
    """Returns the cells `[B, U, U]` that are no spans of at most `longest` units; `absent` units
    are `[B, U]`.
    """
    place = torch.arange(absent.shape[1], device=absent.device)
    step = place - place[:, None]
    return absent[:, None] | (step < 0) | (step >= longest)


def _wide(values: Tensor) -> Tensor:
    """Converts to at least float32."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def _exact(like: Tensor) -> torch.autocast:
    """Returns a block in which autocast does not reduce the precision."""
    return torch.autocast(like.device.type, enabled=False)

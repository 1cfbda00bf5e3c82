"""How fast are span scores and their loss, taken apart, beside the literal concatenation?

The literal form enumerates the spans of every row, gathers what its vector is made of,
concatenates, and applies one linear layer; biaffine's is the product of all pairs of units, as in
its paper. Both sides have the same weights and are given the same states, and their losses and
gradients are first found equal. They run in one process on one thread, taking turns, so that a busy
machine slows both alike; CPU time is counted, and the ratio is the median of those of neighbouring
runs. Run `python -m studies.speed.spans`; it writes `studies/results/span_speed.json`.
"""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from fascicle.models.nn.spans import (
    REPRESENTATIONS,
    BiaffineScorer,
    LinearSpanScorer,
    SpanScorer,
    span_loss,
)
from studies.common import take_turns, write_result

ROWS, UNITS, WIDTH, CLASSES = 8, 128, 768, 7
NEGATIVES = 100
IGNORED = -100


def widen(tables: Mapping[str, Tensor], *, longest: int | None = None) -> Tensor:
    """The logits of all spans, `[B, U, L, C]`; the cells of spans that end beyond U mean
    nothing.
    """
    width = longest or next(
        tables[name].shape[-2] for name in ("widths", "spans") if name in tables
    )
    wide = dict(tables)
    if "starts" in wide:
        wide["starts"] = wide["starts"][:, :, None]
    if "ends" in wide:
        wide["ends"] = F.pad(wide["ends"], (0, 0, 0, width - 1)).unfold(1, width, 1).transpose(2, 3)
    return functools.reduce(torch.add, wide.values()).expand(-1, -1, width, -1)


def span_mask(counts: Tensor, units: int, longest: int) -> Tensor:
    """Which cells are spans of their row, `[B, U, L]`."""
    last = torch.arange(units)[:, None] + torch.arange(longest)
    return last < counts[:, None, None]


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is scored: states, a scorer, its literal counterpart, and targets for all spans or
    for sampled ones.
    """

    scorer: SpanScorer
    literal: Callable[[Tensor, Tensor, Tensor], Tensor]
    units: Tensor
    whole: Tensor
    targets: Tensor

    @property
    def longest(self) -> int:
        """The largest span width."""
        return self.targets.shape[2]

    def ours(self) -> Tensor:
        """The loss from tables."""
        return span_loss(self.scorer(self.units, self.whole), self.targets)

    def theirs(self) -> Tensor:
        """The loss from span vectors."""
        chosen = (self.targets != IGNORED).nonzero()
        logits = self.literal(self.units, self.whole, chosen)
        return F.cross_entropy(logits, self.targets[self.targets != IGNORED])

    def our_logits(self) -> Tensor:
        """The logits of all spans and of cells that are none, `[B, U, L, C]`."""
        return widen(self.scorer(self.units, self.whole), longest=self.longest)

    def their_logits(self) -> Tensor:
        """The logits of all spans, `[S, C]`."""
        return self.literal(self.units, self.whole, self.spans())

    def spans(self) -> Tensor:
        """Row, first unit and width - 1 of all spans, `[S, 3]`."""
        return span_mask(torch.full((ROWS,), UNITS), UNITS, self.longest).nonzero()

    def gradients(self, loss: Tensor) -> tuple[Tensor, ...]:
        """Of the states and all parameters."""
        return torch.autograd.grad(loss, [self.units, *self.scorer.parameters()])


def linear_case(name: str, *, longest: int, width_embedding: int, sampled: bool = False) -> Case:
    """A representation and its literal concatenation."""
    parts = REPRESENTATIONS[name]
    scorer = LinearSpanScorer(
        parts=parts, width=WIDTH, classes=CLASSES, longest=longest, width_embedding=width_embedding
    )

    def literal(units: Tensor, whole: Tensor, spans: Tensor) -> Tensor:
        row, first, step = spans.unbind(1)
        make = {
            "start": lambda: units[row, first],
            "end": lambda: units[row, first + step],
            "pool": lambda: literal_pool(units, spans, longest),
            "whole": lambda: whole[row],
        }
        pieces = [make[part]() for part in parts]
        weight = scorer.linear.weight
        if scorer.width_term is not None:
            pieces.append(scorer.width_term.embedding[step])
            weight = torch.cat([weight, scorer.width_term.weight], dim=1)
        return F.linear(torch.cat(pieces, dim=1), weight, scorer.linear.bias)

    return case(scorer, literal, longest=longest, sampled=sampled)


def literal_pool(units: Tensor, spans: Tensor, longest: int) -> Tensor:
    """The maximum over the gathered states of every span, `[S, d]`; SpERT masks whole rows,
    which costs more.
    """
    row, first, step = spans.unbind(1)
    offsets = torch.arange(longest)
    gathered = units[row[:, None], (first[:, None] + offsets).clamp(max=units.shape[1] - 1)]
    return gathered.masked_fill((offsets > step[:, None])[:, :, None], -torch.inf).amax(1)


def biaffine_case(*, longest: int, hidden: int) -> Case:
    """The biaffine scorer, without dropout so that both sides agree, and the product of all
    pairs.
    """
    scorer = BiaffineScorer(
        width=WIDTH, classes=CLASSES, longest=longest, hidden=hidden, dropout=0.0
    )

    def literal(units: Tensor, whole: Tensor, spans: Tensor) -> Tensor:
        start, end = scorer.start(units), scorer.end(units)
        row, first, step = spans.unbind(1)
        table = scorer.bilinear.weight.view(CLASSES, hidden, hidden)
        projected = torch.einsum("bih,ckh->bcik", start, table)
        pairs = (projected @ end.transpose(1, 2)[:, None]).permute(0, 2, 3, 1)
        pairs = pairs + scorer.start_linear(start)[:, :, None] + scorer.end_linear(end)[:, None]
        return pairs[row, first, first + step]

    return case(scorer, literal, longest=longest)


def case(
    scorer: SpanScorer,
    literal: Callable[[Tensor, Tensor, Tensor], Tensor],
    *,
    longest: int,
    sampled: bool = False,
) -> Case:
    """Random states, and random targets for all spans or for some of every row."""
    spans = span_mask(torch.full((ROWS,), UNITS), UNITS, longest)
    targets = torch.where(spans, torch.randint(CLASSES, spans.shape), IGNORED)
    if sampled:
        draw = torch.rand(spans.shape).masked_fill(~spans, 2.0).flatten(1)
        kept = torch.zeros_like(draw, dtype=torch.bool).scatter(
            1, draw.topk(NEGATIVES, largest=False).indices, True
        )
        targets = torch.where(kept.view_as(spans), targets, IGNORED)
    units = torch.randn(ROWS, UNITS, WIDTH, requires_grad=True)
    return Case(
        scorer=scorer, literal=literal, units=units, whole=torch.randn(ROWS, WIDTH), targets=targets
    )


def largest_difference(tested: Case) -> float:
    """Between the losses, their gradients, and the logits of both sides."""
    ours, theirs = tested.ours(), tested.theirs()
    pairs = [(ours, theirs), *zip(tested.gradients(ours), tested.gradients(theirs), strict=True)]
    with torch.inference_mode():
        pairs.append((tested.our_logits()[tuple(tested.spans().t())], tested.their_logits()))
    return max(float((mine - other).detach().abs().max()) for mine, other in pairs)


def measure(tested: Case, *, repeats: int) -> dict[str, object]:
    """Equality first, then inference (all logits) and training (loss and gradients of states and
    parameters).
    """
    difference = largest_difference(tested)
    if not difference < 1e-5:
        raise RuntimeError(f"the two forms differ by {difference}")
    with torch.inference_mode():
        inference = take_turns(
            tested.our_logits, tested.their_logits, repeats=repeats, other="literal"
        )
    training = take_turns(
        lambda: tested.gradients(tested.ours()),
        lambda: tested.gradients(tested.theirs()),
        repeats=repeats,
        other="literal",
    )
    return {
        "longest": tested.longest,
        "scored_spans": int((tested.targets != IGNORED).sum()),
        "largest_difference": difference,
        "logits": inference,
        "loss_and_gradients": training,
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(
        description="Span scores and loss beside their literal forms, one thread."
    )
    parser.add_argument("--repeats", type=int, default=20, help="runs of each side (default 20)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    cases = {
        "boundary_32": lambda: linear_case("boundary", longest=32, width_embedding=0),
        "boundary_10": lambda: linear_case("boundary", longest=10, width_embedding=25),
        "pooling_10": lambda: linear_case("pooling", longest=10, width_embedding=25),
        "hybrid_10": lambda: linear_case("hybrid", longest=10, width_embedding=25),
        "biaffine_10": lambda: biaffine_case(longest=10, hidden=150),
        f"boundary_10_sampled_{NEGATIVES}": lambda: linear_case(
            "boundary", longest=10, width_embedding=25, sampled=True
        ),
        f"hybrid_10_sampled_{NEGATIVES}": lambda: linear_case(
            "hybrid", longest=10, width_embedding=25, sampled=True
        ),
    }
    report: dict[str, object] = {
        "what": f"batch {ROWS} x {UNITS} units, width {WIDTH}, {CLASSES} classes, float32, CPU "
        "milliseconds, medians",
        "seed": options.seed,
        "repeats": options.repeats,
        **{name: measure(make(), repeats=options.repeats) for name, make in cases.items()},
    }
    write_result("span_speed", report)
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()

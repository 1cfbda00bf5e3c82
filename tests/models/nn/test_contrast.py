"""Scores against the literal concatenation, and the loss against loops over explicit lists of
negatives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from fascicle.models.nn.contrast import (
    TOO_WIDE,
    ContrastForm,
    ContrastiveScorer,
    LossWeights,
    TextStates,
    contrastive_loss,
)

D, H, TABLE = 5, 6, 4
EXACT = {"rtol": 1e-9, "atol": 1e-9}
FORMS: dict[str, dict[str, Any]] = {
    "paper": {},
    "shared": {"shared": True},
    "no_positions": {"positions": False},
    "no_widths": {"width_embedding": 0},
    "global": {"thresholds": "global"},
    "shared_spans_only": {"shared": True, "positions": False, "width_embedding": 0},
}
each_form = pytest.mark.parametrize("name", FORMS)


def scorer_of(
    name: str = "paper", *, types: int = 3, seed: int = 0, **changes: Any
) -> ContrastiveScorer:
    """In evaluation mode and double precision, with weights, biases and thresholds large enough
    to matter.
    """
    torch.manual_seed(seed)
    form = ContrastForm(
        **{"hidden": H, "width_embedding": 3, "pieces": TABLE, **FORMS[name], **changes}
    )
    scorer = ContrastiveScorer(form, width=D, types=types).double().eval()
    with torch.no_grad():
        for key, parameter in scorer.named_parameters():
            parameter.normal_(std=0.7)
            if key.startswith("log_scales"):
                parameter.abs_().add_(1.0)
    return scorer


@dataclass(frozen=True, kw_only=True)
class Case:
    """Windows with units of one to three pieces, type vectors, counts of units, and gold."""

    text: TextStates
    types: Tensor
    counts: Tensor
    gold: Tensor

    @property
    def leaves(self) -> list[Tensor]:
        return [self.text.starts, self.text.ends, self.text.whole, self.types]


def case_of(
    counts: list[int],
    *,
    types: int = 3,
    mentions: int = 4,
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
) -> Case:
    generator = torch.Generator().manual_seed(seed)
    rows, units = len(counts), max(counts)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=dtype).requires_grad_()

    def below(limit: int) -> int:
        return int(torch.randint(limit, (), generator=generator))

    last = torch.randint(1, 4, (rows, units), generator=generator).cumsum(1)
    gold = []
    for _ in range(mentions):
        row = below(rows)
        if counts[row]:
            first = below(counts[row])
            gold.append([row, first, first + below(counts[row] - first), below(types)])
    text = TextStates(
        starts=draw(rows, units, D),
        ends=draw(rows, units, D),
        whole=draw(rows, D),
        first_piece=F.pad(last[:, :-1], (1, 0)) + 1,
        last_piece=last,
    )
    return Case(
        text=text,
        types=draw(types, D),
        counts=torch.tensor(counts),
        gold=torch.tensor(gold, dtype=torch.int64).view(-1, 4),
    )


# The oracle: every score from the literal layer on a concatenated vector, every loss from an
# explicit list.


def layer(layers: nn.ModuleDict, name: str) -> nn.Linear:
    found = layers["shared"] if "shared" in layers else layers[name]
    assert isinstance(found, nn.Linear)
    return found


class Literal:
    """The scores of a scorer, one at a time."""

    def __init__(self, scorer: ContrastiveScorer, case: Case) -> None:
        self.scorer, self.case = scorer, case

    def score(self, kind: str, vector: Tensor, type_index: int) -> Tensor:
        of_type = layer(self.scorer.types, kind)(self.case.types[type_index])
        cosine = F.normalize(vector, dim=0) @ F.normalize(of_type, dim=0)
        return torch.exp(self.scorer.log_scales[kind]) * cosine

    def start(self, row: int, place: int, kind: int) -> Tensor:
        return self.score(
            "start", layer(self.scorer.text, "start")(self.case.text.starts[row, place]), kind
        )

    def end(self, row: int, place: int, kind: int) -> Tensor:
        return self.score(
            "end", layer(self.scorer.text, "end")(self.case.text.ends[row, place]), kind
        )

    def concatenated(self, first: Tensor, last: Tensor, width: int) -> Tensor:
        columns = [layer(self.scorer.text, "first").weight, layer(self.scorer.text, "last").weight]
        parts = [first, last]
        if self.scorer.width_term is not None:
            columns.append(self.scorer.width_term.weight)
            parts.append(self.scorer.width_term.embedding[min(width, TABLE) - 1])
        return F.linear(
            torch.cat(parts), torch.cat(columns, 1), layer(self.scorer.text, "first").bias
        )

    def span(self, row: int, span: tuple[int, int], kind: int) -> Tensor:
        text, (first, last) = self.case.text, span
        width = int(text.last_piece[row, last] - text.first_piece[row, first]) + 1
        return self.score(
            "span", self.concatenated(text.starts[row, first], text.ends[row, last], width), kind
        )

    def threshold(self, which: str, row: int, kind: int) -> Tensor:
        if self.scorer.thresholds is not None:
            return self.scorer.thresholds[kind]
        whole = self.case.text.whole[row]
        if which == "span":
            return self.score("span", self.concatenated(whole, whole, 1), kind)
        return self.score(which, layer(self.scorer.text, which)(whole), kind)


def loop_loss(literal: Literal, weights: LossWeights, *, longest: int = 99) -> Tensor:
    """Both terms of every kind from lists of negatives, gold by gold."""
    case, total = literal.case, torch.zeros(())
    counts, gold = case.counts.tolist(), case.gold.tolist()
    spans = {
        b: [(i, j) for i in range(n) for j in range(i, min(n, i + longest))]
        for b, n in enumerate(counts)
    }
    units = {b: list(range(n)) for b, n in enumerate(counts)}
    kinds: dict[str, tuple[Any, Any, Any, float]] = {
        "start": (units, lambda first, last: first, literal.start, weights.start),
        "end": (units, lambda first, last: last, literal.end, weights.end),
        "span": (spans, lambda first, last: (first, last), literal.span, weights.span),
    }
    for which, (places, place_of, score, weight) in kinds.items():
        if not weight:
            continue
        negatives: dict[tuple[int, int], list[Tensor]] = {}
        for b in range(len(counts)):
            for k in range(len(case.types)):
                own = {
                    place_of(first, last)
                    for row, first, last, kind in gold
                    if (row, kind) == (b, k)
                }
                negatives[b, k] = [score(b, place, k) for place in places[b] if place not in own]
                negatives[b, k].append(literal.threshold(which, b, k))
        for found in negatives.values():  # the threshold comes last
            total = total + weight * (1 - weights.beta) * -torch.stack(found).log_softmax(0)[
                -1
            ] / len(negatives)
        for row, first, last, kind in gold:
            against = torch.stack([score(row, place_of(first, last), kind), *negatives[row, kind]])
            total = total + weight * weights.beta * -against.log_softmax(0)[0] / len(gold)
    return total


def our_loss(
    scorer: ContrastiveScorer, case: Case, weights: LossWeights, *, longest: int | None = None
) -> Tensor:
    tables = scorer.grid(
        case.text, scorer.project_types(case.types), counts=case.counts, longest=longest
    )
    return contrastive_loss(tables, case.gold, weights=weights)


def gradients(loss: Tensor, scorer: ContrastiveScorer, case: Case) -> list[Tensor]:
    inputs = [*case.leaves, *scorer.parameters()]
    found = torch.autograd.grad(loss, inputs, allow_unused=True)
    return [
        torch.zeros_like(leaf) if part is None else part
        for part, leaf in zip(found, inputs, strict=True)
    ]


PAPER = LossWeights()


def fitting(name: str, weights: LossWeights = PAPER) -> LossWeights:
    """Without weights for what the form does not score."""
    return weights if FORMS[name].get("positions", True) else replace(weights, start=0.0, end=0.0)


@each_form
@settings(max_examples=15)
@given(
    counts=st.lists(st.integers(0, 4), min_size=1, max_size=2).filter(any),
    types=st.integers(1, 3),
    mentions=st.integers(0, 5),
    beta=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    seed=st.integers(0, 99),
)
def test_loss_and_gradients_equal_loops_over_lists(
    name: str, counts: list[int], types: int, mentions: int, beta: float, seed: int
) -> None:
    scorer = scorer_of(name, types=types, seed=seed)
    case = case_of(counts, types=types, mentions=mentions, seed=seed)
    weights = fitting(name, LossWeights(start=0.1, end=0.3, span=0.6, beta=beta))
    ours, theirs = our_loss(scorer, case, weights), loop_loss(Literal(scorer, case), weights)
    torch.testing.assert_close(ours, theirs, check_dtype=False, **EXACT)
    torch.testing.assert_close(
        gradients(ours, scorer, case), gradients(theirs, scorer, case), **EXACT
    )


@pytest.mark.parametrize("which", ["start", "end", "span"])
@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_each_term_alone(which: str, beta: float) -> None:
    weights = LossWeights(**{"start": 0.0, "end": 0.0, "span": 0.0, which: 1.0, "beta": beta})
    scorer, case = scorer_of(), case_of([4, 3], mentions=6, seed=5)
    torch.testing.assert_close(
        our_loss(scorer, case, weights),
        loop_loss(Literal(scorer, case), weights),
        check_dtype=False,
        **EXACT,
    )


@pytest.mark.parametrize("longest", [1, 2, 3])
def test_a_width_limit_leaves_wider_spans_out_of_the_negatives(longest: int) -> None:
    scorer, case = scorer_of(), case_of([5, 2], mentions=0)
    case = replace(case, gold=torch.tensor([[0, 1, longest, 2], [1, 0, 0, 0]]))
    ours = our_loss(scorer, case, PAPER, longest=longest)
    theirs = loop_loss(Literal(scorer, case), PAPER, longest=longest)
    torch.testing.assert_close(ours, theirs, check_dtype=False, **EXACT)
    assert not torch.isclose(ours, our_loss(scorer, case, PAPER), rtol=1e-6)
    torch.testing.assert_close(
        gradients(ours, scorer, case), gradients(theirs, scorer, case), **EXACT
    )


def test_one_sum_serves_all_gold_of_a_type() -> None:
    """The loss of each mention is the log-softmax under a mask of its own, which other gold of
    its type is not in.
    """
    torch.manual_seed(0)
    scores, limit = torch.randn(2, 3, 4, 4).double() * 4, torch.randn(2, 3).double()
    spans = scores.masked_fill(~torch.ones(4, 4, dtype=torch.bool).triu(), -torch.inf)
    gold = torch.tensor([[0, 0, 1, 2], [0, 0, 2, 2], [0, 3, 3, 2], [0, 0, 1, 1], [1, 1, 1, 0]])
    losses = []
    for number, (row, first, last, kind) in enumerate(gold.tolist()):
        mask = torch.ones(4, 4, dtype=torch.bool).triu()
        for other, (b, i, j, k) in enumerate(gold.tolist()):
            mask[i, j] &= (b, k) != (row, kind) or other == number
        options = torch.cat([scores[row, kind][mask], limit[row, kind, None]])
        losses.append(options.logsumexp(0) - scores[row, kind, first, last])
    ours = contrastive_loss(
        {"spans": spans, "span_threshold": limit},
        gold,
        weights=LossWeights(start=0.0, end=0.0, span=1.0, beta=1.0),
    )
    torch.testing.assert_close(ours, torch.stack(losses).mean(), **EXACT)


def test_gold_of_another_type_is_negative_and_other_gold_of_the_type_is_not() -> None:
    spans = torch.zeros(1, 2, 3, 3).masked_fill(
        ~torch.ones(3, 3, dtype=torch.bool).triu(), -torch.inf
    )
    spans.requires_grad_()
    tables = {"spans": spans, "span_threshold": torch.zeros(1, 2)}
    gold = torch.tensor([[0, 0, 0, 0], [0, 0, 1, 0], [0, 2, 2, 1]])
    weights = LossWeights(start=0.0, end=0.0, span=1.0, beta=1.0)
    contrastive_loss(tables, gold, weights=weights).backward()
    assert spans.grad is not None
    # Type 0: four negatives and the threshold against each of two mentions; type 1: five and the
    # threshold.
    expected = torch.zeros(2, 3, 3)
    expected[0][torch.ones(3, 3, dtype=torch.bool).triu()] = 2 / 6 / 3
    expected[0, 0, 0] = expected[0, 0, 1] = -5 / 6 / 3
    expected[1][torch.ones(3, 3, dtype=torch.bool).triu()] = 1 / 7 / 3
    expected[1, 2, 2] = -6 / 7 / 3
    torch.testing.assert_close(spans.grad[0], expected)


@each_form
@pytest.mark.parametrize(("units", "longest"), [(1, 1), (1, 4), (5, 3), (3, 8)])
def test_inference_scores_equal_the_literal_ones_and_the_grid(
    name: str, units: int, longest: int
) -> None:
    scorer, case = scorer_of(name), case_of([units, units])
    literal, vectors = Literal(scorer, case), scorer.project_types(case.types)
    tables = scorer(case.text, vectors, longest=longest)
    grid = scorer.grid(case.text, vectors, counts=case.counts)
    assert tuple(tables) == scorer.outputs
    assert tables["spans"].shape == (2, units, longest, 3)
    for row in range(2):
        for kind in range(3):
            for first in range(units):
                for last in range(first, min(units, first + longest)):
                    ours = tables["spans"][row, first, last - first, kind]
                    torch.testing.assert_close(
                        ours, literal.span(row, (first, last), kind), **EXACT
                    )
                    torch.testing.assert_close(ours, grid["spans"][row, kind, first, last], **EXACT)
            for which in scorer.kinds:
                ours = tables[f"{which}_threshold"][row, kind]
                torch.testing.assert_close(ours, literal.threshold(which, row, kind), **EXACT)
                assert torch.equal(grid[f"{which}_threshold"], tables[f"{which}_threshold"])
    if "starts" in tables:
        for which, one in (("starts", literal.start), ("ends", literal.end)):
            theirs = [
                one(b, place, k) for b in range(2) for place in range(units) for k in range(3)
            ]
            torch.testing.assert_close(tables[which].flatten(), torch.stack(theirs), **EXACT)
            assert torch.equal(grid[which].transpose(1, 2), tables[which])


def test_spans_of_too_many_pieces_are_below_every_threshold() -> None:
    scorer, case = scorer_of(), case_of([6, 6], seed=2)
    vectors = scorer.project_types(case.types)
    every, some = (
        scorer(case.text, vectors, longest=5, pieces=pieces)["spans"] for pieces in (None, 4)
    )
    narrow = 0
    for row in range(2):
        for first in range(6):
            for last in range(first, min(6, first + 5)):
                cell = (row, first, last - first)
                within = (
                    case.text.last_piece[row, last] - case.text.first_piece[row, first] + 1 <= 4
                )
                assert torch.equal(
                    some[cell], every[cell] if within else torch.full_like(every[cell], TOO_WIDE)
                )
                narrow += int(within)
    assert 12 < narrow < 40


@each_form
@pytest.mark.parametrize("value", [0.0, 1e3])
def test_padding_changes_nothing(name: str, value: float) -> None:
    scorer, case = scorer_of(name), case_of([4, 1, 3], mentions=6)
    beyond = torch.arange(6) >= case.counts[:, None]

    def dirty(states: Tensor) -> Tensor:
        wide = F.pad(states.detach(), (0, 0, 0, 2))
        return torch.where(beyond[:, :, None], value, wide).requires_grad_()

    def displaced(pieces: Tensor) -> Tensor:
        return torch.where(beyond, 0 if value else 77, F.pad(pieces, (0, 2)))

    text = replace(
        case.text,
        starts=dirty(case.text.starts),
        ends=dirty(case.text.ends),
        first_piece=displaced(case.text.first_piece),
        last_piece=displaced(case.text.last_piece),
    )
    padded = replace(case, text=text)
    weights = fitting(name)
    loss, clean = our_loss(scorer, padded, weights), our_loss(scorer, case, weights)
    torch.testing.assert_close(loss, clean, **EXACT)
    starts, ends = torch.autograd.grad(loss, [text.starts, text.ends])
    for found, expected in zip((starts, ends), gradients(clean, scorer, case), strict=False):
        assert not found[beyond].any()
        torch.testing.assert_close(found[:, :4] * ~beyond[:, :4, None], expected, **EXACT)

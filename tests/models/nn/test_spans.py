"""Span scores against the literal concatenation, span by span; what must never matter; the same
from the graph.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from fascicle.models.export.graph import export_onnx, largest_difference
from fascicle.models.nn.spans import (
    REPRESENTATIONS,
    BiaffineScorer,
    LinearSpanScorer,
    SpanScorer,
    span_loss,
)

D, CLASSES = 6, 4
EXACT = {"rtol": 1e-9, "atol": 1e-10}


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


def linear(name: str, **changes: int) -> LinearSpanScorer:
    sizes = {"width": D, "classes": CLASSES, "longest": 3, "width_embedding": 0, **changes}
    return LinearSpanScorer(parts=REPRESENTATIONS[name], **sizes)


def biaffine(_: str = "", **changes: int) -> BiaffineScorer:
    sizes = {"width": D, "classes": CLASSES, "longest": 3, "width_embedding": 0, **changes}
    return BiaffineScorer(hidden=5, dropout=0.3, **sizes)


NAMES = [*REPRESENTATIONS, "biaffine"]


def scorer_of(
    name: str, *, seed: int = 0, dtype: torch.dtype = torch.float64, **changes: int
) -> SpanScorer:
    """In evaluation mode, with weights and biases large enough to matter."""
    torch.manual_seed(seed)
    scorer = (biaffine if name == "biaffine" else linear)(name, **changes).to(dtype).eval()
    with torch.no_grad():
        for parameter in scorer.parameters():
            parameter.normal_(std=0.7)
    return scorer


def states(
    rows: int, units: int, *, seed: int = 0, dtype: torch.dtype = torch.float64
) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(100 * rows + units + seed)
    return tuple(  # type: ignore[return-value]
        torch.randn(*shape, generator=generator, dtype=dtype).requires_grad_()
        for shape in ((rows, units, D), (rows, D))
    )


def spans_of(counts: list[int], longest: int) -> Iterator[tuple[int, int, int]]:
    for row, count in enumerate(counts):
        for first in range(count):
            for last in range(first, min(first + longest, count)):
                yield row, first, last - first


def literal(scorer: SpanScorer, units: Tensor, whole: Tensor, span: tuple[int, int, int]) -> Tensor:
    """The logits of one span, from its definition."""
    row, first, step = span
    inside = [units[row, place] for place in range(first, first + step + 1)]
    width = [] if scorer.width_term is None else [scorer.width_term.embedding[step]]
    columns = [] if scorer.width_term is None else [scorer.width_term.weight]
    if isinstance(scorer, BiaffineScorer):
        start = F.leaky_relu(F.linear(inside[0], scorer.start[0].weight, scorer.start[0].bias), 0.1)
        end = F.leaky_relu(F.linear(inside[-1], scorer.end[0].weight, scorer.end[0].bias), 0.1)
        table = scorer.bilinear.weight.view(-1, len(start), len(end)).transpose(
            1, 2
        )  # [C, start, end]
        logits = torch.stack([start @ matrix @ end for matrix in table])
        logits = logits + scorer.start_linear(start) + scorer.end_linear(end)
        return logits + columns[0] @ width[0] if width else logits
    parts = {
        "start": inside[0],
        "end": inside[-1],
        "pool": torch.stack(inside).amax(0),
        "whole": whole[row],
    }
    vector = torch.cat([*(parts[part] for part in scorer.parts), *width])
    return F.linear(vector, torch.cat([scorer.linear.weight, *columns], dim=1), scorer.linear.bias)


def literal_loss(scorer: SpanScorer, units: Tensor, whole: Tensor, targets: Tensor) -> Tensor:
    losses = []
    for span in spans_of([units.shape[1]] * len(units), targets.shape[2]):
        if targets[span] != -100:
            logits = literal(scorer, units, whole, span)
            losses.append(logits.logsumexp(0) - logits[targets[span]])
    return torch.stack(losses).mean()


def random_targets(
    rows: int, units: int, longest: int, *, share: float = 1.0, seed: int = 0
) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    targets = torch.randint(CLASSES, (rows, units, longest), generator=generator)
    kept = torch.rand(targets.shape, generator=generator) < share
    return torch.where(span_mask(torch.full((rows,), units), units, longest) & kept, targets, -100)


def gradients(value: Tensor, scorer: SpanScorer, *inputs: Tensor) -> list[Tensor]:
    found = torch.autograd.grad(value, [*inputs, *scorer.parameters()], allow_unused=True)
    return [torch.zeros(()) if part is None else part for part in found]


def assert_all_close(ours: list[Tensor], theirs: list[Tensor], **close: float) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other, check_dtype=False, **close)


@pytest.mark.parametrize("name", NAMES)
@given(
    embedding=st.sampled_from([0, 3]),
    rows=st.integers(1, 2),
    units=st.integers(1, 5),
    longest=st.integers(1, 4),
    seed=st.integers(0, 9),
)
def test_tables_sum_to_the_literal_logits(
    name: str, embedding: int, rows: int, units: int, longest: int, seed: int
) -> None:
    scorer = scorer_of(name, longest=longest, width_embedding=embedding, seed=seed)
    inputs = states(rows, units, seed=seed)
    tables = scorer(*inputs)
    assert tuple(tables) == scorer.outputs
    logits = widen(tables, longest=longest)
    assert logits.shape == (rows, units, longest, CLASSES)
    assert logits.isfinite().all()
    spans = list(spans_of([units] * rows, longest))
    ours = torch.stack([logits[span] for span in spans])
    theirs = torch.stack([literal(scorer, *inputs, span) for span in spans])
    torch.testing.assert_close(ours, theirs, **EXACT)
    direction = torch.randn(
        ours.shape, generator=torch.Generator().manual_seed(seed), dtype=ours.dtype
    )
    assert_all_close(
        gradients((ours * direction).sum(), scorer, *inputs),
        gradients((theirs * direction).sum(), scorer, *inputs),
        **EXACT,
    )


@pytest.mark.parametrize("name", NAMES)
def test_in_single_precision_too(name: str) -> None:
    scorer = scorer_of(name, longest=4, width_embedding=3, dtype=torch.float32)
    inputs = states(2, 9, dtype=torch.float32)
    targets = random_targets(2, 9, 4)
    ours, theirs = span_loss(scorer(*inputs), targets), literal_loss(scorer, *inputs, targets)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    assert_all_close(
        gradients(ours, scorer, *inputs), gradients(theirs, scorer, *inputs), rtol=1e-5, atol=1e-5
    )


@given(
    name=st.sampled_from(NAMES),
    rows=st.integers(1, 2),
    units=st.integers(1, 5),
    longest=st.integers(1, 4),
    share=st.sampled_from([0.2, 0.6, 1.0]),
    seed=st.integers(0, 9),
)
def test_loss_equals_a_loop(
    name: str, rows: int, units: int, longest: int, share: float, seed: int
) -> None:
    scorer = scorer_of(name, longest=longest, width_embedding=2, seed=seed)
    inputs = states(rows, units, seed=seed)
    targets = random_targets(rows, units, longest, share=share, seed=seed)
    targets[0, 0, 0] = seed % CLASSES  # at least one is chosen
    ours, theirs = span_loss(scorer(*inputs), targets), literal_loss(scorer, *inputs, targets)
    torch.testing.assert_close(ours, theirs, **EXACT)
    assert_all_close(gradients(ours, scorer, *inputs), gradients(theirs, scorer, *inputs), **EXACT)


@given(longest=st.integers(1, 5), share=st.sampled_from([0.3, 1.0]), seed=st.integers(0, 99))
def test_loss_is_cross_entropy_over_the_wide_logits(longest: int, share: float, seed: int) -> None:
    tables = scorer_of("hybrid", longest=longest, width_embedding=2, seed=seed)(
        *states(2, 5, seed=seed)
    )
    targets = random_targets(2, 5, longest, share=share, seed=seed)
    targets[0, 0, 0] = 0
    expected = F.cross_entropy(widen(tables).flatten(0, 2), targets.flatten(), ignore_index=-100)
    torch.testing.assert_close(span_loss(tables, targets), expected)


@given(units=st.integers(1, 8), longest=st.integers(1, 6), seed=st.integers(0, 9))
def test_pooled_spans_are_maxima(units: int, longest: int, seed: int) -> None:
    scorer = LinearSpanScorer(parts=("pool",), width=D, classes=D, longest=longest).double()
    with torch.no_grad():
        scorer.linear.weight.copy_(torch.eye(D))
    inputs = states(2, units, seed=seed)
    logits = widen(scorer(*inputs))
    for row, first, step in spans_of([units, units], longest):
        assert torch.equal(
            logits[row, first, step], inputs[0][row, first : first + step + 1].amax(0)
        )


def test_at_a_tie_the_first_unit_takes_the_gradient() -> None:
    scorer = LinearSpanScorer(parts=("pool",), width=1, classes=1, longest=3)
    with torch.no_grad():
        scorer.linear.weight.fill_(1.0)
    units = torch.tensor([[[1.0], [2.0], [2.0]]], requires_grad=True)
    scorer(units, torch.zeros(1, 1))["spans"][0, 0, 2].sum().backward()
    assert units.grad is not None
    assert units.grad.flatten().tolist() == [0, 1, 0]


@pytest.mark.parametrize("value", [0.0, 1e4, -1e4])
@pytest.mark.parametrize("name", NAMES)
def test_padding_changes_nothing(name: str, value: float) -> None:
    scorer = scorer_of(name, longest=3, width_embedding=2)
    counts, (units, whole) = torch.tensor([4, 1, 2]), states(3, 4)
    beyond = torch.arange(6) >= counts[:, None]
    dirty = torch.where(
        beyond[:, :, None], value, F.pad(units.detach(), (0, 0, 0, 2))
    ).requires_grad_()
    mask, wide_mask = span_mask(counts, 4, 3), span_mask(counts, 6, 3)
    clean, padded = widen(scorer(units, whole)), widen(scorer(dirty, whole))
    assert padded.isfinite().all()
    torch.testing.assert_close(padded[wide_mask], clean[mask], **EXACT)
    targets = torch.where(wide_mask, 1, -100)
    loss = span_loss(scorer(dirty, whole), targets)
    torch.testing.assert_close(loss, span_loss(scorer(units, whole), targets[:, :4]), **EXACT)
    (gradient,) = torch.autograd.grad(loss, [dirty])
    assert not gradient[beyond].any()
    assert gradient[~beyond].any(1).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_row_alone_scores_as_in_company(name: str) -> None:
    scorer = scorer_of(name, longest=4, width_embedding=2)
    units, whole = states(3, 5)
    together = widen(scorer(units, whole))
    alone = widen(scorer(units[1:2, :3], whole[1:2]))
    mask = span_mask(torch.tensor([3]), 3, 4)[0]
    torch.testing.assert_close(together[1, :3][mask], alone[0][mask], **EXACT)


def test_units_beyond_the_targets_are_left_out() -> None:
    scorer = scorer_of("hybrid", longest=3)
    units, whole = states(2, 7)
    targets = random_targets(2, 5, 3)
    ours = span_loss(scorer(units, whole), targets)
    torch.testing.assert_close(ours, span_loss(scorer(units[:, :5], whole), targets), **EXACT)


@pytest.mark.parametrize("name", NAMES)
def test_no_chosen_span_is_no_loss(name: str) -> None:
    scorer = scorer_of(name)
    inputs = states(2, 4)
    loss = span_loss(scorer(*inputs), torch.full((2, 4, 3), -100))
    assert loss.item() == 0
    loss.backward()
    assert inputs[0].grad is not None
    assert not inputs[0].grad.any()
    assert all(
        parameter.grad is None or not parameter.grad.any() for parameter in scorer.parameters()
    )


def test_another_target_may_be_the_ignored_one() -> None:
    tables = scorer_of("boundary")(*states(2, 5))
    targets = random_targets(2, 5, 3, share=0.5)
    other = targets.masked_fill(targets == -100, -1)
    assert torch.equal(span_loss(tables, targets), span_loss(tables, other, ignored=-1))


def test_one_class_is_certain() -> None:
    scorer = scorer_of("boundary", classes=1)
    targets = random_targets(1, 3, 3).clamp(max=0)
    assert span_loss(scorer(*states(1, 3)), targets).item() == 0


def test_equal_logits_cost_the_logarithm_of_the_classes() -> None:
    tables = {"starts": torch.zeros(1, 2, 2), "ends": torch.zeros(1, 2, 2)}
    assert span_loss(tables, torch.tensor([[[1], [0]]])).item() == pytest.approx(math.log(2))


@pytest.mark.parametrize("name", NAMES)
def test_under_autocast_the_loss_is_single_precision(name: str) -> None:
    scorer = scorer_of(name, longest=4, width_embedding=2, dtype=torch.float32)
    inputs = states(2, 30, dtype=torch.float32)
    targets = random_targets(2, 30, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        tables = scorer(*inputs)
        loss = span_loss(tables, targets)
    assert torch.bfloat16 in {table.dtype for table in tables.values()}
    assert loss.dtype == torch.float32
    wide = widen({key: table.float() for key, table in tables.items()}, longest=4)
    expected = F.cross_entropy(wide.flatten(0, 2), targets.flatten(), ignore_index=-100)
    torch.testing.assert_close(loss, expected)
    loss.backward()
    assert all(part.grad is not None and part.grad.isfinite().all() for part in scorer.parameters())
    assert inputs[0].grad is not None
    assert inputs[0].grad.dtype == torch.float32


@pytest.mark.parametrize("name", NAMES)
def test_weights_begin_small_and_biases_at_zero(name: str) -> None:
    torch.manual_seed(0)
    scorer = (
        linear(name, width=300, width_embedding=20) if name != "biaffine" else biaffine(width=300)
    )
    for key, parameter in scorer.named_parameters():
        if key.endswith("bias"):
            assert not parameter.any()
        else:
            assert parameter.std().item() == pytest.approx(0.02, rel=0.5)


def test_biaffine_drops_out_in_training_only() -> None:
    scorer = scorer_of("biaffine")
    inputs = states(1, 5)
    torch.testing.assert_close(widen(scorer(*inputs)), widen(scorer(*inputs)), rtol=0, atol=0)
    scorer.train()
    assert not torch.equal(widen(scorer(*inputs)), widen(scorer(*inputs)))


def test_tables_are_named_in_order() -> None:
    assert linear("boundary").outputs == ("starts", "ends")
    assert linear("boundary", width_embedding=2).outputs == ("starts", "ends", "widths")
    assert linear("pooling", width_embedding=2).outputs == ("starts", "widths", "spans")
    assert linear("hybrid", width_embedding=2).outputs == ("starts", "ends", "widths", "spans")
    assert biaffine().outputs == ("starts", "ends", "spans")
    assert biaffine(width_embedding=2).outputs == ("starts", "ends", "widths", "spans")


@pytest.mark.parametrize("parts", [(), ("start", "start"), ("start", "middle")])
def test_unknown_parts_are_refused(parts: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="parts of a span vector are"):
        LinearSpanScorer(parts=parts, width=D, classes=CLASSES, longest=3)


def test_a_target_beyond_the_units_is_refused() -> None:
    tables = scorer_of("boundary")(*states(2, 4))
    targets = random_targets(2, 4, 3)
    targets[0, 3, 1] = 0  # its end would be the first unit of the next row
    with pytest.raises(ValueError, match="ends beyond the 4 units"):
        span_loss(tables, targets)


@pytest.mark.parametrize(
    "changes",
    [
        {"starts": (2, 4, 3)},
        {"ends": (2, 3, CLASSES)},
        {"ends": (1, 4, CLASSES)},
        {"widths": (2, CLASSES)},
        {"spans": (2, 4, 2, CLASSES)},
        {"middles": (2, 4, CLASSES)},
    ],
)
def test_tables_that_do_not_agree_are_refused(changes: dict[str, tuple[int, ...]]) -> None:
    shapes = {"starts": (2, 4, CLASSES), "ends": (2, 4, CLASSES), **changes}
    tables = {name: torch.zeros(shape) for name, shape in shapes.items()}
    with pytest.raises(ValueError, match="expected tables"):
        span_loss(tables, random_targets(2, 4, 3))


class Tuple(nn.Module):
    """A scorer whose tables come in a tuple, as the exporter wants them; the first state is that of
    the row.
    """

    def __init__(self, scorer: SpanScorer) -> None:
        super().__init__()
        self.scorer = scorer

    def forward(self, states: Tensor) -> tuple[Tensor, ...]:
        tables = self.scorer(states[:, 1:], states[:, 0])
        return tuple(tables[name] for name in self.scorer.outputs)


@pytest.mark.parametrize("name", NAMES)
def test_the_graph_equals_the_module_for_any_shape(name: str, tmp_path: Path) -> None:
    scorer = scorer_of(name, longest=5, width_embedding=3, dtype=torch.float32)
    axes = {
        "starts": ("B", "U", ""),
        "ends": ("B", "U", ""),
        "widths": ("", ""),
        "spans": ("B", "U", "", ""),
    }
    export_onnx(
        Tuple(scorer),
        tmp_path / "spans.onnx",
        example={"states": torch.randn(2, 8, D)},
        dynamic={"states": ("B", "T", ""), **{output: axes[output] for output in scorer.outputs}},
        outputs=scorer.outputs,
    )
    for rows, units in [(1, 1), (3, 2), (1, 4), (2, 5), (4, 6), (1, 40)]:
        inputs = {"states": torch.randn(rows, units + 1, D)}
        assert largest_difference(Tuple(scorer), tmp_path / "spans.onnx", inputs=inputs) < 1e-5

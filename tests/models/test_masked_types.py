"""Types that a text does not annotate: what is taught of the rest, against the sum over all that
may be true.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

import torch

from fascicle.errors import RecipeError
from fascicle.models.heads.contract import IGNORED, Basis
from fascicle.models.model import make_head
from fascicle.models.nn.contrast import LossWeights, contrastive_loss
from fascicle.models.nn.spans import span_loss
from fascicle.settings.heads import (
    HEADS,
    BiaffineSettings,
    BinderSettings,
    CrfSettings,
    HeadSettings,
    SoftmaxSettings,
    SpanSettings,
)
from fascicle.text.windows import Window

TYPES = ("A", "B")


def window(units: int) -> Window:
    return Window(
        document=0, segment=(0, units), units=(0, units), pieces=(0, units), keep=(0, units)
    )


def targets_of(head: Any, *gold: Any) -> torch.Tensor:
    windows = [window(len(one)) for one in gold]
    return torch.from_numpy(head.targets(list(gold), windows, chance=np.random.default_rng(0)))


def scores_of(head: Any, targets: torch.Tensor, seed: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    emissions = 2 * torch.randn(*targets.shape, len(head.labels), generator=generator)
    return {"emissions": emissions.requires_grad_()}


def log_probability(
    head: Any, scores: dict[str, torch.Tensor], row: int, tags: tuple[int, ...]
) -> torch.Tensor:
    """Of one whole path, by the definition of its family."""
    emissions = scores["emissions"][row, : len(tags)]
    if not hasattr(head, "crf"):
        return sum(emissions[i].log_softmax(0)[tag] for i, tag in enumerate(tags))
    mask = torch.ones(1, len(tags), dtype=torch.bool)
    return -head.crf(emissions[None], torch.tensor([tags]), mask)[0]


@pytest.mark.parametrize(
    "kind",
    [SoftmaxSettings(), SoftmaxSettings(scheme="IO"), CrfSettings(), CrfSettings(loss="sequence")],
)
@given(
    rows=st.lists(
        st.lists(st.sampled_from([0, 0, 1]), min_size=1, max_size=4), min_size=1, max_size=2
    ),
    masks=st.lists(st.sampled_from([(), (1,), (0, 1)]), min_size=2, max_size=2),
    seed=st.integers(0, 5),
)
@settings(max_examples=25)
def test_a_tagger_sums_over_the_tags_that_may_be_true(
    kind: HeadSettings, rows: list[list[int]], masks: list[tuple[int, ...]], seed: int
) -> None:
    head: Any = make_head(kind, Basis(types=TYPES, width=4))
    width, gold, expected, units = head.scheme.width, [], [], 0
    for tags, types in zip(rows, masks, strict=False):
        plain = np.array(tags, dtype=np.int64)  # 1 is a mention of A of one unit
        gold.append(head.without(plain, types) if types else plain)
    targets = targets_of(head, *gold)
    scores = scores_of(head, targets, seed)
    for row, (tags, types) in enumerate(zip(rows, masks, strict=False)):
        may_be = [0, *(1 + width * kind + offset for kind in types for offset in range(width))]
        paths = list(product(*([tag] if tag else may_be for tag in tags)))
        expected.append(
            -torch.stack([log_probability(head, scores, row, path) for path in paths]).logsumexp(0)
        )
        units += len(tags)
    total = torch.stack(expected).sum() / (
        len(rows) if getattr(kind, "loss", "unit") == "sequence" else units
    )
    found = head.loss(scores, targets)
    torch.testing.assert_close(found, total, rtol=1e-4, atol=1e-5)
    (mine,), (theirs,) = (
        torch.autograd.grad(loss, scores["emissions"], retain_graph=True) for loss in (found, total)
    )
    torch.testing.assert_close(mine, theirs, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("kind", [SoftmaxSettings(), CrfSettings()])
def test_what_is_unknown_or_outside_stays_so(kind: HeadSettings) -> None:
    head: Any = make_head(kind, Basis(types=TYPES, width=4))
    gold = head.gold(np.array([[0, 2, 0]]), units=6, unknown=np.array([[4, 5]]))
    masked = head.without(gold, [1])
    assert masked[:2].tolist() == gold[:2].tolist() == [1, 2]
    assert masked[4] == gold[4] == head.unknown_tag
    targets = targets_of(head, masked, masked[:2])
    assert (targets[1, 2:] == IGNORED).all()
    assert torch.isfinite(head.loss(scores_of(head, targets, 1), targets))


def test_nothing_to_learn_where_everything_may_be_true() -> None:
    head: Any = make_head(SoftmaxSettings(), Basis(types=TYPES, width=4))
    targets = targets_of(head, head.without(np.zeros(3, dtype=np.int64), [0, 1]))
    assert head.loss(scores_of(head, targets, 1), targets).item() == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("negatives", [0, 4])
@pytest.mark.parametrize("specials", ["exclude", "include"])
@pytest.mark.parametrize("kind", [SpanSettings, BiaffineSettings])
def test_a_span_that_is_no_mention_may_be_of_an_unknown_type(
    kind: Any, specials: Any, negatives: int
) -> None:
    """Span by span: classes are None, A and B."""
    level: Any = "piece" if specials == "include" else "word"
    head: Any = make_head(
        kind(width=2, level=level, specials=specials, negatives=negatives),
        Basis(types=TYPES, width=4),
    )
    plain, chance = head.gold(np.array([[1, 2, 0]]), units=4), np.random.default_rng(3)
    masked = head.without(plain, [1])
    windows = [window(4), window(4)]
    targets = head.targets([masked, plain], windows, chance=np.random.default_rng(1))
    full = head.targets([plain, plain], windows, chance=np.random.default_rng(1))
    assert ((targets == IGNORED) == (full == IGNORED)).all()  # the same spans are drawn
    tables = {"spans": torch.from_numpy(chance.normal(size=(*targets.shape, 3))).float()}
    losses, around = [], int(specials == "include")
    for row, first, width in np.argwhere(full != IGNORED).tolist():
        p = tables["spans"][row, first, width].softmax(0)
        inner = around <= first and first + width < 4 + around
        free = row == 0 and inner and full[row, first, width] == 0
        losses.append(-(p[0] + p[2] if free else p[full[row, first, width]]).log())
    found = head.loss(tables, torch.from_numpy(targets))
    assert found.item() == pytest.approx(float(torch.stack(losses).mean()), rel=1e-5)
    assert torch.equal(
        head.loss(tables, torch.from_numpy(full)), span_loss(tables, torch.from_numpy(full))
    )


def test_a_tagger_of_very_many_types_is_refused() -> None:
    head: Any = make_head(SoftmaxSettings(), Basis(types=[f"T{i:02}" for i in range(70)], width=4))
    head.without(np.zeros(3, dtype=np.int64), [59])
    with pytest.raises(RecipeError, match="60"):
        head.without(np.zeros(3, dtype=np.int64), [60])


BINDER = BinderSettings(hidden=8, width_embedding=0, width=4, type_view="atomic")


def grids(windows: int, types: int, units: int, seed: int) -> dict[str, torch.Tensor]:
    """Tables of a bi-encoder in training, all of whose spans may be mentions."""
    generator = torch.Generator().manual_seed(seed)
    shapes = {"starts": (units,), "ends": (units,), "spans": (units, units)}
    tables = {
        name: torch.randn(windows, types, *shape, generator=generator)
        for name, shape in shapes.items()
    }
    tables |= {
        f"{kind}_threshold": torch.randn(windows, types, generator=generator)
        for kind in ("start", "end", "span")
    }
    return tables


@pytest.mark.parametrize("thresholds", ["dynamic", "dev"])
@given(
    masks=st.lists(st.sets(st.integers(0, 2), max_size=2), min_size=3, max_size=3),
    seed=st.integers(0, 9),
)
@settings(max_examples=25)
def test_a_bi_encoder_has_no_terms_of_what_nobody_looked_for(
    thresholds: Any, masks: list[set[int]], seed: int
) -> None:
    """The loss is that of each window with its own types alone, put together by their numbers of
    mentions and types.
    """
    kind = msgspec.structs.replace(BINDER, thresholds=thresholds)
    types, units = ("A", "B", "C"), 3
    head: Any = make_head(kind, Basis(types=types, width=6))
    tables = {name: table.requires_grad_() for name, table in grids(3, 3, units, seed).items()}
    free = [[t for t in range(3) if t not in mask] for mask in masks]
    spans = [np.array([(0, 2, kinds[0]), (1, 3, kinds[-1])], dtype=np.int64) for kinds in free]
    gold = [head.gold(one, units=units) for one in spans]
    masked = [head.without(one, sorted(mask)) for one, mask in zip(gold, masks, strict=True)]
    windows = [window(units) for _ in masks]
    targets = torch.from_numpy(head.targets(masked, windows, chance=np.random.default_rng(0)))
    found = head.loss(tables, targets)
    alone = []
    for row, kinds in enumerate(free):
        mine = {name: table[row : row + 1, kinds] for name, table in tables.items()}
        wanted = [(0, a, b - 1, kinds.index(t)) for a, b, t in spans[row].tolist()]
        parts = [
            contrastive_loss(mine, torch.tensor(wanted), weights=LossWeights(beta=beta))
            for beta in (1.0, 1e-9)
        ]
        alone.append((parts, len(wanted), len(kinds)))
    beta = 1.0 if thresholds == "dev" else kind.beta
    mention = sum(p[0] * n for p, n, _ in alone) / sum(n for _, n, _ in alone)
    threshold = sum(p[1] * n for p, _, n in alone) / sum(n for *_, n in alone)
    torch.testing.assert_close(found, beta * mention + (1 - beta) * threshold, rtol=1e-4, atol=1e-5)
    found.backward()
    for table in tables.values():
        for row, mask in enumerate(masks):
            if table.grad is not None:
                assert not table.grad[row, sorted(mask)].any()


@pytest.mark.parametrize("family", sorted(HEADS))
def test_a_family_leaves_types_out_exactly_if_it_says_so(family: str) -> None:
    kind = HEADS[family]()
    masks = kind.needs.masks
    if kind.needs.width:
        kind = type(kind)(width=3)
    if family == "binder":
        kind = BINDER  # reads no names of types
    head: Any = make_head(kind, Basis(types=TYPES, width=4))
    gold = head.gold(np.array([[0, 1, 0]]), units=3)
    if masks:
        assert head.without(gold, [1]).tolist() != gold.tolist()
    else:
        with pytest.raises(ValueError, match="all types"):
            head.without(gold, [1])

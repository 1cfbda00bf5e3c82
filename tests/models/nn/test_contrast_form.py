"""The contrastive scorer as a module: what must not matter, dropout, precision, edges, errors, and
the same from the
graph. Its numbers are compared with their definition in `test_contrast.py`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fascicle.models.export.graph import export_onnx, largest_difference
from fascicle.models.nn.contrast import (
    ContrastForm,
    ContrastiveScorer,
    LossWeights,
    TextStates,
    contrastive_loss,
)

D, H, K = 8, 40, 3
EXACT = {"rtol": 1e-9, "atol": 1e-9}
PAPER = LossWeights()


def scorer_of(
    *, dtype: torch.dtype = torch.float64, types: int = K, **changes: Any
) -> ContrastiveScorer:
    """In evaluation mode, freshly drawn."""
    torch.manual_seed(0)
    form = ContrastForm(**{"hidden": H, "width_embedding": 4, "pieces": 16, **changes})
    return ContrastiveScorer(form, width=D, types=types).to(dtype).eval()


def text_of(rows: int, units: int, *, dtype: torch.dtype = torch.float64) -> TextStates:
    """Units of one piece."""
    generator = torch.Generator().manual_seed(10 * rows + units)
    states = torch.randn(rows, units + 1, D, generator=generator, dtype=dtype).requires_grad_()
    places = torch.arange(1, units + 1).expand(rows, units)
    return TextStates(
        starts=states[:, 1:],
        ends=states[:, 1:],
        whole=states[:, 0],
        first_piece=places,
        last_piece=places,
    )


def types_of(count: int = K, *, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(count, D, generator=torch.Generator().manual_seed(count), dtype=dtype)


GOLD = torch.tensor([[0, 0, 1, 0], [0, 0, 3, 2], [1, 2, 2, 1], [1, 0, 2, 1], [1, 2, 2, 0]])


def loss_of(
    scorer: ContrastiveScorer,
    text: TextStates,
    types: Tensor,
    gold: Tensor = GOLD,
    *,
    beta: float = 0.5,
) -> Tensor:
    counts = torch.full((len(text.whole),), text.starts.shape[1])
    tables = scorer.grid(text, scorer.project_types(types), counts=counts)
    return contrastive_loss(tables, gold, weights=LossWeights(beta=beta))


def test_permuted_types_have_permuted_scores_and_the_same_loss() -> None:
    scorer, text, types = scorer_of(), text_of(2, 5), types_of()
    order = torch.tensor([2, 0, 1])
    tables, permuted = (
        scorer(text, scorer.project_types(some), longest=3) for some in (types, types[order])
    )
    for name, table in tables.items():
        torch.testing.assert_close(permuted[name], table[..., order], **EXACT)
    gold = GOLD.clone()
    gold[:, 3] = order.argsort()[GOLD[:, 3]]
    torch.testing.assert_close(
        loss_of(scorer, text, types[order], gold), loss_of(scorer, text, types), **EXACT
    )


def test_a_type_more_or_less_changes_averages_only() -> None:
    scorer, text, types = scorer_of(), text_of(2, 5), types_of()
    others, alone = GOLD[GOLD[:, 3] < 2], GOLD[GOLD[:, 3] == 2] - torch.tensor([0, 0, 0, 2])
    parts = [(types, GOLD), (types[:2], others), (types[2:], alone)]
    tables = [scorer(text, scorer.project_types(some), longest=3) for some, _ in parts]
    for name, table in tables[0].items():
        torch.testing.assert_close(
            table, torch.cat([tables[1][name], tables[2][name]], dim=-1), **EXACT
        )
    thresholds = [loss_of(scorer, text, some, gold, beta=0.0) * len(some) for some, gold in parts]
    mentions = [loss_of(scorer, text, some, gold, beta=1.0) * len(gold) for some, gold in parts]
    for whole, first, second in (thresholds, mentions):
        torch.testing.assert_close(whole, first + second, **EXACT)


def test_no_score_exceeds_its_temperature() -> None:
    scorer, text = scorer_of(), text_of(3, 9)
    with torch.no_grad():
        for number, kind in enumerate(scorer.kinds):
            scorer.log_scales[kind].fill_(1.0 + number)
    types = torch.cat([types_of(), -types_of()])
    tables = scorer(text, scorer.project_types(types), longest=9)
    for number, kind in enumerate(scorer.kinds):
        bound = math.exp(1.0 + number)
        assert tables[f"{kind}s"].abs().max() <= bound + 1e-9
        assert tables[f"{kind}_threshold"].abs().max() <= bound + 1e-9
        torch.testing.assert_close(
            tables[f"{kind}s"][..., :K], -tables[f"{kind}s"][..., K:], **EXACT
        )


def test_longer_states_have_the_same_scores_where_nothing_is_added() -> None:
    scorer, text, types = scorer_of(width_embedding=0), text_of(2, 5), types_of()
    longer = TextStates(
        starts=2 * text.starts,
        ends=2 * text.ends,
        whole=2 * text.whole,
        first_piece=text.first_piece,
        last_piece=text.last_piece,
    )
    vectors, doubled = scorer.project_types(types), scorer.project_types(2 * types)
    ours, theirs = scorer(longer, doubled, longest=4), scorer(text, vectors, longest=4)
    torch.testing.assert_close(ours, theirs, **EXACT)


def test_training_begins_with_the_paper_s_temperature_and_small_weights() -> None:
    torch.manual_seed(0)
    form = ContrastForm(thresholds="global")
    scorer = ContrastiveScorer(form, width=300, types=K)
    assert (form.hidden, form.width_embedding, form.dropout) == (128, 128, 0.1)
    for key, parameter in scorer.named_parameters():
        if key.startswith("log_scales"):
            assert parameter.exp().item() == pytest.approx(1 / 0.07)
        elif key.endswith("bias") or key == "thresholds":
            assert not parameter.any()
        else:
            assert parameter.std().item() == pytest.approx(0.02, rel=0.05)
    assert scorer.text["last"].bias is None  # one bias for the linear layer on both ends
    assert (
        len(
            [
                key
                for key, _ in scorer.named_parameters()
                if key.startswith("types") and "weight" in key
            ]
        )
        == 3
    )


@pytest.mark.parametrize(
    ("changes", "text", "types"),
    [
        ({}, {"start", "end", "first", "last"}, {"start", "end", "span"}),
        ({"positions": False}, {"first", "last"}, {"span"}),
        ({"shared": True}, {"shared"}, {"shared"}),
    ],
)
def test_layers_of_each_form(changes: dict[str, Any], text: set[str], types: set[str]) -> None:
    scorer = scorer_of(**changes)
    assert (set(scorer.text), set(scorer.types)) == (text, types)
    loss = contrastive_loss(
        scorer.grid(text_of(2, 5), scorer.project_types(types_of()), counts=torch.tensor([5, 5])),
        GOLD,
        weights=PAPER if changes != {"positions": False} else LossWeights(start=0.0, end=0.0),
    )
    loss.backward()
    for key, parameter in scorer.named_parameters():
        assert parameter.grad is not None, key
        assert parameter.grad.any(), key


def test_global_thresholds_stand_for_those_of_the_text() -> None:
    scorer, text = scorer_of(thresholds="global"), text_of(2, 5)
    with torch.no_grad():
        scorer.thresholds.copy_(torch.tensor([1.0, -2.0, 3.0]))
    tables = scorer(text, scorer.project_types(types_of()), longest=3)
    for kind in scorer.kinds:
        assert tables[f"{kind}_threshold"].tolist() == [[1.0, -2.0, 3.0]] * 2
    loss = loss_of(scorer, text, types_of())
    (of_whole,) = torch.autograd.grad(loss, [text.whole], allow_unused=True, retain_graph=True)
    assert of_whole is None or not of_whole.any()
    (of_thresholds,) = torch.autograd.grad(loss, [scorer.thresholds])
    assert of_thresholds.all()


def test_thresholds_tuned_later_are_in_no_table_of_inference() -> None:
    scorer, text = scorer_of(thresholds="dev"), text_of(2, 5)
    assert scorer.outputs == ("starts", "ends", "spans")
    assert tuple(scorer(text, scorer.project_types(types_of()), longest=3)) == scorer.outputs
    dynamic = scorer_of()
    torch.testing.assert_close(
        loss_of(scorer, text, types_of(), beta=1.0),
        loss_of(dynamic, text, types_of(), beta=1.0),
        **EXACT,
    )


@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0])
def test_one_unit_one_type_one_window(beta: float) -> None:
    scorer, text, types = scorer_of(types=1), text_of(1, 1), types_of(1)
    loss = loss_of(scorer, text, types, torch.tensor([[0, 0, 0, 0]]), beta=beta)
    tables = scorer(text, scorer.project_types(types), longest=2)
    expected = torch.zeros((), dtype=torch.float64)
    for kind, weight in (("start", 0.2), ("end", 0.2), ("span", 0.6)):
        score = tables[f"{kind}s"].flatten()[0]
        expected = expected + weight * beta * F.softplus(tables[f"{kind}_threshold"][0, 0] - score)
    # the threshold's own term is 0: nothing competes
    torch.testing.assert_close(loss, expected, rtol=1e-7, atol=1e-7)
    assert all(part.isfinite().all() for part in torch.autograd.grad(loss, [*scorer.parameters()]))


@pytest.mark.parametrize("counts", [[0, 0], [5, 0], [5, 2]])
def test_without_gold_thresholds_still_learn(counts: list[int]) -> None:
    scorer, text = scorer_of(), text_of(2, 5)
    tables = scorer.grid(text, scorer.project_types(types_of()), counts=torch.tensor(counts))
    none = torch.zeros(0, 4, dtype=torch.int64)
    loss = contrastive_loss(tables, none, weights=PAPER)
    assert (loss > 0) == any(counts)
    assert contrastive_loss(tables, none, weights=LossWeights(beta=1.0)) == 0
    found = torch.autograd.grad(loss, [*scorer.parameters()])
    assert all(part.isfinite().all() for part in found)
    assert any(part.any() for part in found) == any(counts)


def test_dropout_falls_in_training_only_and_on_types_too() -> None:
    scorer, text, types = scorer_of(dropout=0.4), text_of(2, 5), types_of()
    counts = torch.tensor([5, 5])
    vectors = scorer.project_types(types)
    still = [scorer.grid(text, vectors, counts=counts) for _ in range(2)]
    scorer.train()
    moving = [scorer.grid(text, vectors, counts=counts) for _ in range(2)]
    for name in still[0]:
        assert torch.equal(still[0][name], still[1][name])
        real = still[0][name].isfinite()
        assert (moving[0][name] != moving[1][name])[real].float().mean() > 0.99
    drawn = scorer.project_types(types)
    for kind, vector in drawn.items():
        # of 120 components, dropped with probability 0.4
        assert 0.2 < (vector == 0).double().mean() < 0.6
        torch.testing.assert_close(vector.norm(dim=1), torch.ones(K, dtype=torch.float64))
        assert not torch.equal(vector, vectors[kind])
    with pytest.raises(RuntimeError, match="evaluation mode"):
        scorer(text, vectors, longest=3)


def test_the_loss_equals_the_literal_one_in_single_precision() -> None:
    """The concatenation as a tensor, batch 2 x 40, against the same weights: loss to 1e-4,
    gradients too.
    """
    scorer, text = scorer_of(dtype=torch.float32, pieces=64), text_of(2, 40, dtype=torch.float32)
    types = types_of(dtype=torch.float32).requires_grad_()
    ours = loss_of(scorer, text, types)
    place = torch.arange(40)
    rows, columns = (
        part.expand(2, 40, 40, D) for part in (text.starts[:, :, None], text.ends[:, None])
    )
    width = scorer.width_term.embedding[(place - place[:, None]).clamp(min=0)].expand(2, 40, 40, 4)
    layers = scorer.text
    weight = torch.cat(
        [layers["first"].weight, layers["last"].weight, scorer.width_term.weight], dim=1
    )
    vectors = F.linear(torch.cat([rows, columns, width], dim=3), weight, layers["first"].bias)
    tables = scorer.grid(text, scorer.project_types(types), counts=torch.tensor([40, 40]))
    cosines = F.normalize(vectors, dim=3) @ scorer.project_types(types)["span"].t()
    spans = (scorer.log_scales["span"].exp() * cosines).permute(0, 3, 1, 2)
    void = ~torch.ones(40, 40, dtype=torch.bool).triu()
    theirs = contrastive_loss(
        {**tables, "spans": spans.masked_fill(void, -torch.inf)}, GOLD, weights=PAPER
    )
    torch.testing.assert_close(tables["spans"][..., ~void], spans[..., ~void], rtol=0, atol=1e-5)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-4)
    inputs = [text.starts, types, *scorer.parameters()]
    found, expected = (
        torch.autograd.grad(loss, inputs, retain_graph=True) for loss in (ours, theirs)
    )
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_under_autocast_scores_and_loss_are_single_precision() -> None:
    scorer, text, types = (
        scorer_of(dtype=torch.float32),
        text_of(2, 9, dtype=torch.float32),
        types_of().float(),
    )
    counts = torch.tensor([9, 4])
    plain = scorer.grid(text, scorer.project_types(types), counts=counts)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        tables = scorer.grid(text, scorer.project_types(types), counts=counts)
        band = scorer(text, scorer.project_types(types), longest=4)
        loss = contrastive_loss(tables, GOLD, weights=PAPER)
        loss.backward()  # inside too
    for name, table in [*tables.items(), *band.items()]:
        assert table.dtype == torch.float32, name
    for name, table in tables.items():
        assert torch.equal(table.isinf(), plain[name].isinf())
        torch.testing.assert_close(table, plain[name], rtol=0, atol=0.3)
    assert loss.dtype == torch.float32
    assert loss == contrastive_loss(tables, GOLD, weights=PAPER)
    torch.testing.assert_close(
        loss, contrastive_loss(plain, GOLD, weights=PAPER), rtol=0, atol=0.05
    )
    assert all(part.grad is not None and part.grad.isfinite().all() for part in scorer.parameters())


@pytest.mark.parametrize(
    "mention",
    [
        [0, 3, 4, 0],
        [0, 2, 1, 0],
        [2, 0, 0, 0],
        [0, 0, 0, 3],
        [1, 4, 5, 0],
        [0, -1, 0, 0],
        [0, 0, 0, -1],
        [1, 0, 3, 0],
    ],
)
def test_gold_that_is_no_span_is_refused(mention: list[int]) -> None:
    scorer, text = scorer_of(), text_of(2, 5)
    vectors = scorer.project_types(types_of())
    tables = scorer.grid(text, vectors, counts=torch.tensor([4, 5]), longest=3)
    with pytest.raises(ValueError, match="2 windows and 3 types"):
        contrastive_loss(tables, torch.tensor([[0, 0, 0, 0], mention]), weights=PAPER)


def test_gold_and_weights_that_fit_no_table_are_refused() -> None:
    scorer, text = scorer_of(positions=False), text_of(2, 5)
    tables = scorer.grid(text, scorer.project_types(types_of()), counts=torch.tensor([5, 5]))
    with pytest.raises(ValueError, match="the tables are spans, span_threshold"):
        contrastive_loss(tables, GOLD, weights=PAPER)
    with pytest.raises(ValueError, match=r"int64 \[G, 4\]"):
        contrastive_loss(tables, GOLD[:, :3], weights=LossWeights(start=0.0, end=0.0))
    with pytest.raises(ValueError, match=r"int64 \[G, 4\]"):
        contrastive_loss(tables, GOLD.int(), weights=LossWeights(start=0.0, end=0.0))


class Graph(nn.Module):
    """A scorer and its types as a function of tensors by name, as the exporter wants them."""

    def __init__(self, scorer: ContrastiveScorer, *, pieces: int | None) -> None:
        super().__init__()
        self.scorer, self.pieces = scorer, pieces
        self.kinds = scorer.kinds
        for kind, vectors in scorer.project_types(types_of(40).float()).items():
            self.register_buffer(kind, vectors.detach())

    def forward(
        self, states: Tensor, first_piece: Tensor, last_piece: Tensor
    ) -> tuple[Tensor, ...]:
        def gathered(pieces: Tensor) -> Tensor:
            return states.gather(1, pieces[..., None].expand(-1, -1, states.shape[2]))

        text = TextStates(
            starts=gathered(first_piece),
            ends=gathered(last_piece),
            whole=states[:, 0],
            first_piece=first_piece,
            last_piece=last_piece,
        )
        types = {kind: getattr(self, kind) for kind in self.kinds}
        tables = self.scorer(text, types, longest=5, pieces=self.pieces)
        return tuple(tables[name].detach() for name in self.scorer.outputs)


def inputs_of(rows: int, units: int, pieces: int) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(units)
    cuts = torch.rand(rows, pieces, generator=generator).argsort(1)[:, :units].sort(1).values
    return {
        "states": torch.randn(rows, pieces + 1, D, generator=generator),
        "first_piece": F.pad(cuts[:, :-1] + 1, (1, 0)) + 1,
        "last_piece": cuts + 1,
    }


@pytest.mark.parametrize(
    ("changes", "pieces"),
    [({}, None), ({"thresholds": "global"}, 4), ({"positions": False, "width_embedding": 0}, 4)],
)
def test_the_graph_equals_the_module_for_any_shape(
    changes: dict[str, Any], pieces: int | None, tmp_path: Path
) -> None:
    scorer = scorer_of(dtype=torch.float32, types=40, pieces=33, **changes)
    graph, path = Graph(scorer, pieces=pieces), tmp_path / "contrast.onnx"
    axes = {"starts": ("B", "U", ""), "ends": ("B", "U", ""), "spans": ("B", "U", "", "")}
    export_onnx(
        graph,
        path,
        example=inputs_of(2, 7, 11),
        dynamic={
            "states": ("B", "T", ""),
            "first_piece": ("B", "U"),
            "last_piece": ("B", "U"),
            **{name: axes.get(name, ("B", "")) for name in scorer.outputs},
        },
        outputs=scorer.outputs,
    )
    for rows, units, length in [
        (1, 1, 1),
        (3, 2, 9),
        (1, 4, 6),
        (2, 5, 5),
        (4, 6, 40),
        (1, 40, 60),
    ]:
        assert largest_difference(graph, path, inputs=inputs_of(rows, units, length)) < 1e-5
    model = onnx.load(path)
    constants = {weight.name: tuple(weight.dims) for weight in model.graph.initializer}
    products = [node for node in model.graph.node if node.op_type in ("MatMul", "Gemm")]
    shapes = {constants[node.input[1]] for node in products if node.input[1] in constants}
    # What may become integers: the projections of the text, in both layouts, and that of the width
    # embedding; norms and scores may not, although H, 40 types and 33 widths are enough columns.
    assert {(D, H)} <= shapes <= {(D, H), (H, D), (4, H)}

"""Pooling in an exported graph against pooling in torch, and that the graph moves whole rows."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from fascicle.models.export.graph import export_onnx, largest_difference
from fascicle.models.nn.pooling import POOLINGS

AXES = {
    "states": ("B", "T", ""),
    "first_piece": ("B", "U"),
    "unit_of_piece": ("B", "T"),
    "pooled": ("B", "U", ""),
}
WORDS = [[[2, 1, 3], [1]], [[1]], [[4, 1], [1, 1, 1, 1, 5, 0, 2], [0, 0, 3]], [[0], [2]]]


class Pooled(nn.Module):
    """One pooling as a graph of the inputs that it needs."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.pooling = POOLINGS[name]()

    def forward(
        self, states: Tensor, first_piece: Tensor, unit_of_piece: Tensor | None = None
    ) -> Tensor:
        return self.pooling(states, first_piece=first_piece, unit_of_piece=unit_of_piece)


def batch_of(rows: list[list[int]]) -> dict[str, Tensor]:
    """Rows as the numbers of pieces of their words, 0 for a piece of no word; padded, with a
    special token ahead.
    """
    length = 2 + max(sum(max(1, n) for n in row) for row in rows)
    widest = max(1, *(sum(n > 0 for n in row) for row in rows), 2)
    units, first = (
        torch.full((len(rows), length), -1),
        torch.zeros(len(rows), widest, dtype=torch.long),
    )
    for at, row in enumerate(rows):
        place, unit = 1, 0
        for count in row:
            if count:
                units[at, place : place + count], first[at, unit] = unit, place
            place, unit = place + max(1, count), unit + (count > 0)
    states = torch.randn(len(rows), length, 6, generator=torch.Generator().manual_seed(length))
    return {"states": states, "first_piece": first, "unit_of_piece": units}


@pytest.mark.parametrize("name", POOLINGS)
def test_the_graph_pools_as_torch_does(name: str, tmp_path: Path) -> None:
    import onnx

    path, module = tmp_path / "pooled.onnx", Pooled(name)
    needs = ("states", *module.pooling.needs)
    example = {
        key: value
        for key, value in batch_of([[1, 2, 0, 1, 3], [2, 1], [1]]).items()
        if key in needs
    }
    axes = {key: AXES[key] for key in (*example, "pooled")}
    export_onnx(module, path, example=example, dynamic=axes, outputs=["pooled"])
    for rows in WORDS:
        inputs = {key: value for key, value in batch_of(rows).items() if key in needs}
        assert largest_difference(module, path, inputs=inputs) <= (1e-6 if name == "mean" else 0)
    operators = {node.op_type for node in onnx.load(str(path)).graph.node}
    assert not operators & {"GatherElements", "ScatterElements"}

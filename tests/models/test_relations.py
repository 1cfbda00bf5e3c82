"""The network of the finder of relations: pooling against plain loops, and its graph."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from fascicle.models.relations import add_evidence, mean_states  # noqa: E402

FLOATS = st.floats(-20, 20)


@given(st.lists(st.tuples(FLOATS, FLOATS, st.integers(0, 3)), min_size=1, max_size=12))
def test_evidence_is_added_as_in_plain_loops(rows: list[tuple[float, float, int]]) -> None:
    used = sorted({at for *_, at in rows})
    statements = torch.tensor([used.index(at) for *_, at in rows])
    logits = torch.tensor([row[:2] for row in rows], dtype=torch.float64, requires_grad=True)
    pooled = add_evidence(logits, statements)
    for number, at in enumerate(used):
        for label in range(2):
            own = [row[label] for row in rows if row[2] == at]
            expected = math.log(sum(map(math.exp, own)))
            assert pooled[number, label].item() == pytest.approx(expected, abs=1e-9)
    pooled.sum().backward()
    parts = torch.exp(logits.detach() - pooled.detach()[statements])
    assert torch.allclose(logits.grad, parts)  # each pair has its share of the gradient


def test_the_mean_of_a_range_is_that_of_its_states() -> None:
    states = torch.randn(9, 4, generator=torch.Generator().manual_seed(0))
    ranges = torch.tensor([[0, 9], [2, 3], [5, 5], [7, 9]])
    means = mean_states(states, ranges)
    expected = [states.mean(0), states[2], torch.zeros(4), states[7:].mean(0)]
    assert torch.allclose(means, torch.stack(expected), atol=1e-6)


def test_a_text_without_marks_is_read_as_the_encoder_was_trained(tiny_encoder: Path) -> None:
    from fascicle.models.encoder import load_pretrained

    encoder = load_pretrained(str(tiny_encoder)).encoder.eval()
    ids = torch.tensor([[2, 14, 9, 3], [2, 11, 3, 0]])
    mask = (ids != 0).long()
    zeros = torch.zeros(2, 4, encoder.width)
    with torch.inference_mode():
        plain, marked = encoder(ids, mask), encoder(ids, mask, zeros)
    assert np.allclose(plain, marked, atol=1e-6)

"""The span reader against the plain recurrence, one span at a time, and its loss against a sum
over mentions.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from fascicle.models.nn.span_reader import SpanReader, attend, count_loss, span_batch

strings = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=12)


def batch_of(spans: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.array([len(span) for span in spans])
    words = np.full((len(spans), lengths.max()), 77)  # what lies behind the end must not count
    for row, span in zip(words, spans, strict=True):
        row[: len(span)] = span
    return words, lengths


def one_by_one(reader: SpanReader, table: Tensor, span: list[int]) -> Tensor:
    """As the authors' program: torch's own LSTM on one span, attention in loops."""
    states, (final, _) = reader.lstm(table[span].unsqueeze(0))
    query = torch.cat([final[0, 0], final[1, 0]])
    scores = [torch.dot(state, query) for state in states[0]]
    weights = torch.softmax(torch.stack(scores), dim=0)
    assert weights.sum().item() == pytest.approx(1.0, abs=1e-6)
    return sum(
        (weight * state for weight, state in zip(weights, states[0], strict=True)),
        torch.zeros(query.shape),
    )


@given(strings)
def test_every_span_is_read_as_if_it_were_alone(spans: list[list[int]]) -> None:
    torch.manual_seed(1)
    reader, table = SpanReader(6, 5), torch.randn(4, 6)
    found = reader(table, span_batch(*batch_of(spans)))
    expected = torch.stack([one_by_one(reader, table, span) for span in spans])
    assert torch.allclose(found, expected, atol=1e-6)


def test_a_tree_holds_each_beginning_once() -> None:
    batch = span_batch(*batch_of([[0, 1, 2], [0, 1], [0, 2], [0, 1, 2], [3, 1, 2]]))
    assert list(batch.forward.sizes) == [2, 3, 2]
    assert list(batch.backward.sizes) == [2, 3, 2]  # of 210, 10, 20, 213


def test_a_span_of_one_word_is_its_state() -> None:
    states = torch.randn(3, 1, 8)
    assert torch.allclose(attend(states, 4), states[:, 0])


def test_the_gradient_of_counts_is_that_of_a_loop_over_mentions() -> None:
    torch.manual_seed(2)
    reader, table = SpanReader(6, 5), torch.randn(9, 6)
    classify = torch.nn.Linear(reader.width, 3)
    parameters = [*reader.parameters(), *classify.parameters()]
    chance = np.random.default_rng(2)
    strings_ = [chance.integers(0, 9, chance.integers(1, 6)).tolist() for _ in range(15)]
    mentions = [(strings_[chance.integers(15)], int(chance.integers(3))) for _ in range(120)]

    total = torch.zeros(())
    for span, kind in mentions:  # accumulated mention after mention, as published
        loss = F.cross_entropy(
            classify(one_by_one(reader, table, span)).unsqueeze(0), torch.tensor([kind])
        )
        loss.backward()
        total = total + loss.detach()
    expected = [p.grad.clone() for p in parameters if p.grad is not None]
    for parameter in parameters:
        parameter.grad = None

    distinct = sorted({tuple(span) for span, _ in mentions})
    counts = torch.zeros(len(distinct), 3)
    for span, kind in mentions:
        counts[distinct.index(tuple(span)), kind] += 1
    logits = classify(reader(table, span_batch(*batch_of([list(span) for span in distinct]))))
    loss = count_loss(logits, counts)
    loss.backward()
    assert loss.item() == pytest.approx(float(total), rel=1e-6)
    for parameter, gradient in zip(parameters, expected, strict=True):
        assert parameter.grad is not None
        scale = float(gradient.abs().max())
        assert torch.allclose(parameter.grad, gradient, atol=1e-6 * max(1.0, scale), rtol=1e-5)

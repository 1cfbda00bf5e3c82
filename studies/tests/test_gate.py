"""The gate of the study of speed: its scores, thresholds and what it saves, against loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from studies.speed.gate import LOSSES, Sentence, judged, scores, taught, thresholds

ROWS = 12


def sentence(pieces: list[int], mentions: int) -> Sentence:
    return Sentence(
        pieces=np.unique(np.array(pieces, dtype=np.int64)), length=len(pieces), mentions=mentions
    )


SENTENCES = st.lists(
    st.builds(
        sentence, st.lists(st.integers(0, ROWS + 3), min_size=1, max_size=6), st.integers(0, 3)
    ),
    min_size=1,
    max_size=30,
)


def gate_of(weights: list[float]) -> torch.nn.EmbeddingBag:
    gate = torch.nn.EmbeddingBag(len(weights), 1, mode="sum")
    with torch.no_grad():
        gate.weight[:] = torch.tensor(weights)[:, None]
    return gate


WEIGHTS = st.lists(st.integers(-4, 4).map(float), min_size=ROWS + 1, max_size=ROWS + 1)


@given(SENTENCES, WEIGHTS)
def test_a_score_is_the_sum_of_known_pieces_and_the_bias(
    given: list[Sentence], weights: list[float]
) -> None:
    expected = [
        sum(weights[p] for p in one.pieces.tolist() if p < ROWS) + weights[ROWS] for one in given
    ]
    assert scores(gate_of(weights), given).tolist() == expected


@settings(deadline=None)
@given(SENTENCES, WEIGHTS)
def test_a_threshold_loses_no_more_than_it_may(given: list[Sentence], weights: list[float]) -> None:
    total = sum(one.mentions for one in given)
    if not total:
        return
    gate = gate_of(weights)
    values = scores(gate, given).tolist()
    limits = thresholds(gate, given)
    found = judged(gate, limits, given)
    for most in LOSSES:
        out = [one for one, value in zip(given, values, strict=True) if value < limits[most]]
        lost = sum(one.mentions for one in out) / total
        assert lost <= most
        assert found["gates"][str(most)]["mentions_lost"] == round(lost, 4)
        # the next threshold would lose too many
        higher = [value for value in values if value > limits[most]]
        if higher:
            least = min(higher)
            more = sum(
                one.mentions for one, value in zip(given, values, strict=True) if value < least
            )
            assert more / total > most


def test_what_a_piece_tells_is_learnt() -> None:
    telling = [sentence([1, i % 5 + 2], 1) for i in range(200)] + [
        sentence([i % 5 + 2, 8], 0) for i in range(200)
    ]
    gate = taught(telling)
    found = judged(gate, thresholds(gate, telling), telling)
    assert found["empty_sentences"] == found["pieces_of_empty"] == 0.5
    assert found["gates"]["0.001"] == {"pieces_saved": pytest.approx(0.5), "mentions_lost": 0.0}

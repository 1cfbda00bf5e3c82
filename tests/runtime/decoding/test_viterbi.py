from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.reading import chain_of

from fascicle.core.tags import tag_scheme
from fascicle.runtime.decoding.chains import ChainScores, constrain, viterbi


def path_score(emissions: np.ndarray, path: tuple[int, ...], parts: dict[str, np.ndarray]) -> float:
    pairs = sum(parts["transitions"][a, b] for a, b in pairwise(path))
    units = sum(emissions[step, tag] for step, tag in enumerate(path))
    return float(parts["start"][path[0]] + units + pairs + parts["end"][path[-1]])


@pytest.mark.parametrize("seed", range(6))
def test_score_is_the_maximum_over_all_paths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_tags, lengths = 3 + seed % 2, [5, 1, 0, 3]
    emissions, parts = rng.normal(size=(4, 5, n_tags)), chain_of(rng, n_tags)
    tags, scores = viterbi(emissions, lengths, ChainScores(**parts))
    for row, length in enumerate(lengths):
        assert (tags[row, length:] == -1).all()
        if not length:
            assert scores[row] == 0
            continue
        best = max(
            path_score(emissions[row], path, parts)
            for path in product(range(n_tags), repeat=length)
        )
        assert scores[row] == pytest.approx(best)
        assert path_score(emissions[row], tuple(tags[row, :length]), parts) == pytest.approx(best)


@pytest.mark.parametrize("junk", [np.nan, np.inf, -np.inf, 1e30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_padding_changes_nothing(junk: float, dtype: type) -> None:
    rng = np.random.default_rng(0)
    lengths, parts = np.array([7, 2, 0, 4]), chain_of(rng, 5)
    emissions = rng.normal(size=(4, 7, 5)).astype(dtype)
    padded = np.full((4, 11, 5), junk, dtype=dtype)
    for row, length in enumerate(lengths):
        padded[row, :length] = emissions[row, :length]
    with np.errstate(all="raise"):
        tags, scores = viterbi(emissions, lengths, ChainScores(**parts))
        padded_tags, padded_scores = viterbi(padded, lengths, ChainScores(**parts))
    assert np.array_equal(tags, padded_tags[:, :7])
    assert (padded_tags[:, 7:] == -1).all()
    assert scores.tobytes() == padded_scores.tobytes()
    for row in (0, 1, 3):
        alone, score = viterbi(
            emissions[row : row + 1, : lengths[row]], lengths[row : row + 1], ChainScores(**parts)
        )
        assert np.array_equal(alone[0], tags[row, : lengths[row]])
        assert score[0] == scores[row]


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), coarse=st.booleans())
def test_constraints(seed: int, coarse: bool) -> None:
    """Never an illegal pair; no change where the free path was legal, ties included."""
    rng = np.random.default_rng(seed)
    scheme = tag_scheme("BIO")
    legal, first = scheme.legal(2), scheme.legal_start(2)
    emissions, parts = rng.normal(size=(8, 5, 5)) * 2, chain_of(rng, 5)
    if coarse:  # small integers: many ties
        emissions, parts = (
            np.round(emissions),
            {name: np.round(part) for name, part in parts.items()},
        )
    lengths = rng.integers(1, 6, size=8)
    free, _ = viterbi(emissions, lengths, ChainScores(**parts))
    bound = constrain(ChainScores(**parts), legal=legal, legal_start=first)
    tags, scores = viterbi(emissions, lengths, bound)
    assert np.isfinite(scores).all()
    for row, length in enumerate(lengths):
        path, before = tags[row, :length], free[row, :length]
        assert first[path[0]]
        assert legal[path[:-1], path[1:]].all()
        if first[before[0]] and legal[before[:-1], before[1:]].all():
            assert np.array_equal(path, before)


def test_long_text_and_empty_batches() -> None:
    rng = np.random.default_rng(1)
    parts = chain_of(rng, 3)
    tags, scores = viterbi(rng.normal(size=(1, 5000, 3)), [5000], ChainScores(**parts))
    assert tags.min() >= 0
    assert np.isfinite(scores).all()
    for shape in ((0, 4, 3), (2, 0, 3), (2, 4, 3)):
        tags, scores = viterbi(np.zeros(shape), np.zeros(shape[0], dtype=int), ChainScores(**parts))
        assert tags.shape == shape[:2]
        assert (tags == -1).all()
        assert (scores == 0).all()


def test_shapes_are_checked() -> None:
    parts = chain_of(np.random.default_rng(0), 3)
    with pytest.raises(ValueError, match="do not agree"):
        viterbi(np.zeros((2, 4, 3)), [4], ChainScores(**parts))
    with pytest.raises(ValueError, match="between 0 and 4"):
        viterbi(np.zeros((2, 4, 3)), [4, 5], ChainScores(**parts))

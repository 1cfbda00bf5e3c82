"""Scores of tags, and every way to decide about them."""

from __future__ import annotations

import numpy as np

from fascicle.core.tags import tag_scheme
from fascicle.runtime.decoding.chains import ChainScores
from fascicle.runtime.decoding.tagger import TagDecision


def chain_scores(n_tags: int) -> ChainScores:
    rng = np.random.default_rng(7)
    draw = rng.uniform(-1, 1, size=(n_tags + 2, n_tags)).astype(np.float32)
    return ChainScores(transitions=draw[:-2], start=draw[-2], end=draw[-1])


def texts(count: int, n_tags: int, longest: int = 30) -> list[np.ndarray]:
    rng = np.random.default_rng(11)
    return [
        2 * rng.normal(size=(n, n_tags)).astype(np.float32)
        for n in rng.integers(0, longest, size=count)
    ]


DECISIONS = [
    TagDecision(
        scheme=tag_scheme(name), decoding=decoding, chain=chain_scores(5) if chain else None
    )
    for name in ("BIO", "IO")
    for decoding in ("strict", "lenient", "viterbi")
    for chain in (False, True)
]

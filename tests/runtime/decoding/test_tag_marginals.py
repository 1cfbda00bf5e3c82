"""The probability of each tag at each unit, against the sum over all paths."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.support.tagging import DECISIONS, texts

from fascicle.runtime.decoding.tagger import TagDecision, tag_distributions, tag_marginals


def by_enumeration(text: np.ndarray, decision: TagDecision) -> np.ndarray:
    """The probability of each tag at each unit, from the scores of all paths that the decoding
    searches.
    """
    units, tags = text.shape
    scheme = decision.scheme
    legal, may_start = (
        scheme.legal((tags - 1) // scheme.width),
        scheme.legal_start((tags - 1) // scheme.width),
    )
    found = np.zeros((units, tags))
    for path in itertools.product(range(tags), repeat=units):
        pairs = list(itertools.pairwise(path))
        if decision.decoding == "viterbi" and not (
            may_start[path[0]] and all(legal[pair] for pair in pairs)
        ):
            continue
        score = sum(text[unit, tag] for unit, tag in enumerate(path))
        if decision.chain is not None:
            chain = decision.chain
            score += (
                chain.start[path[0]]
                + chain.end[path[-1]]
                + sum(chain.transitions[pair] for pair in pairs)
            )
        found[range(units), path] += np.exp(score)
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("decision", DECISIONS, ids=str)
def test_marginals_of_tags_are_sums_over_paths(decision: TagDecision) -> None:
    rng = np.random.default_rng(13)
    batch = [2 * rng.normal(size=(n, 5)).astype(np.float32) for n in (1, 4, 0, 3)]
    found = tag_marginals(batch, decision)
    assert [table.shape for table in found] == [text.shape for text in batch]
    for text, table in zip(batch, found, strict=True):
        if len(text):
            np.testing.assert_allclose(
                table, by_enumeration(text.astype(np.float64), decision), atol=1e-6
            )
    assert tag_marginals([], decision) == []


@pytest.mark.parametrize("decision", DECISIONS, ids=str)
def test_a_mention_is_at_most_as_probable_as_its_tags(decision: TagDecision) -> None:
    (text,) = [t for t in texts(8, 5) if len(t) > 8][:1]
    scheme = decision.scheme
    (table,) = tag_marginals([text], decision)
    spans = np.array([(0, start, start + width) for start in range(6) for width in (1, 2)])
    for (_, start, end), row in zip(
        spans.tolist(), tag_distributions([text], spans, decision), strict=True
    ):
        for kind in range(2):
            first = 1 + scheme.width * kind
            here = table[start, [first, first + scheme.width - 1][: scheme.width]].sum()
            assert row[1 + kind] <= here + 1e-9
            assert (
                end - start == 1 or row[1 + kind] <= table[end - 1, first + scheme.width - 1] + 1e-9
            )

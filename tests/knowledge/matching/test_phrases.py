"""The table of phrases against plain loops, the segmentation against every other one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fascicle.knowledge.matching.phrases import best_segmentation, build_table

VOCABULARY = 4
TOKENS = st.lists(st.integers(-1, VOCABULARY - 1), max_size=14)
PHRASES = st.lists(st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=4), max_size=10)
SPANS = st.sets(
    st.tuples(st.integers(0, 9), st.integers(1, 4)).map(lambda pair: (pair[0], pair[0] + pair[1])), max_size=11
).map(sorted)

Spans = list[tuple[int, int]]


def as_spans(spans: Spans) -> np.ndarray:
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


@given(PHRASES, TOKENS)
def test_every_place_of_every_phrase_is_found(phrases: list[list[int]], tokens: list[int]) -> None:
    flat = np.array([token for phrase in phrases for token in phrase], dtype=np.int64)
    table, ends = build_table(flat, np.array([len(p) for p in phrases], dtype=np.int64), vocabulary=VOCABULARY)
    beginnings = {tuple(phrase[:length]) for phrase in phrases for length in range(1, len(phrase) + 1)}
    assert table.nodes == len(beginnings)
    assert table.longest == max(map(len, phrases), default=0)
    ending = np.zeros(table.nodes, dtype=bool)
    ending[ends] = True
    found = table.find(np.array(tokens, dtype=np.int64), ending)
    node_of = {tuple(phrase): node for phrase, node in zip(phrases, ends.tolist(), strict=True)}
    assert len(set(node_of.values())) == len(node_of)
    expected = [
        (start, end, node_of[tuple(tokens[start:end])])
        for start in range(len(tokens))
        for end in range(start + 1, len(tokens) + 1)
        if tuple(tokens[start:end]) in node_of
    ]
    assert [(*span, node) for span, node in zip(found.spans.tolist(), found.nodes.tolist(), strict=True)] == expected


@given(PHRASES.filter(len))
def test_nodes_of_single_tokens(phrases: list[list[int]]) -> None:
    flat = np.array([token for phrase in phrases for token in phrase], dtype=np.int64)
    table, ends = build_table(flat, np.array([len(p) for p in phrases], dtype=np.int64), vocabulary=VOCABULARY)
    nodes = table.first_nodes(np.arange(VOCABULARY))
    assert [node >= 0 for node in nodes.tolist()] == [any(p[0] == t for p in phrases) for t in range(VOCABULARY)]
    assert all(nodes[p[0]] == end for p, end in zip(phrases, ends.tolist(), strict=True) if len(p) == 1)


def test_a_large_vocabulary_does_not_run_over() -> None:
    vocabulary = 3_000_000
    tokens = np.array([vocabulary - 1, vocabulary - 2, vocabulary - 1], dtype=np.int32)
    table, ends = build_table(tokens, np.array([3], dtype=np.int32), vocabulary=vocabulary)
    found = table.find(np.append(5, tokens).astype(np.int64), np.array([False, False, True]))
    assert found.spans.tolist() == [[1, 4]]
    assert found.nodes.tolist() == ends.tolist() == [2]


def segmentations(spans: Spans, end: int) -> Iterator[list[tuple[int, int, bool]]]:
    """Every way to cover the tokens up to an end by spans and single tokens, last part first."""
    if end == 0:
        yield []
        return
    parts = [(end - 1, end, False), *((a, b, True) for a, b in spans if b == end)]
    for part in parts:
        for rest in segmentations(spans, part[0]):
            yield [part, *rest]


def value(parts: list[tuple[int, int, bool]]) -> int:
    return sum((b - a) ** 2 for a, b, matched in parts if matched)


def chosen_of(spans: Spans) -> Spans:
    chosen = best_segmentation(as_spans(spans))
    return [span for span, kept in zip(spans, chosen.tolist(), strict=True) if kept]


@given(SPANS)
def test_the_segmentation_is_the_best_of_all_and_ties_follow_the_rule(spans: Spans) -> None:
    every = list(segmentations(spans, max((end for _, end in spans), default=0)))
    most = max(map(value, every))
    # Of equal sums up to a token, the one whose last part begins earlier.
    first = min((parts for parts in every if value(parts) == most), key=lambda parts: [start for start, _, _ in parts])
    assert chosen_of(spans) == [(a, b) for a, b, matched in reversed(first) if matched]

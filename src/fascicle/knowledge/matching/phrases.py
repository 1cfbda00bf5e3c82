"""Many phrases as one sorted table, looked up exactly, and the best disjoint ones among those found.

The table is a trie by levels. A node is one sequence of tokens that some phrase begins with; the nodes of a level are
one sorted array of ``parent * vocabulary + token``, and the rank in it is the number of the node in its level. So a
phrase costs eight bytes for each token that it does not share, and all positions of a text are followed at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fascicle.core.arrays import Bools, Ints, Ints32

Indices = Ints32 | Ints


@dataclass(frozen=True, kw_only=True)
class Occurrences:
    """Where sequences of the table stand among tokens.

    Attributes:
        spans: first token and one past the last, ``[m, 2]``, sorted.
        nodes: of the table, ``[m]``.
    """

    spans: Ints
    nodes: Ints


class PhraseTable:
    """Sequences of token ids, with a number for each sequence and each beginning of one."""

    def __init__(self, levels: list[Ints], *, vocabulary: int) -> None:
        """Takes the levels; ``build_table`` makes them.

        Args:
            levels: sorted keys of the nodes, by their number of tokens.
            vocabulary: number of token ids.
        """
        self._levels = levels
        self._vocabulary = vocabulary
        self.nodes = sum(map(len, levels))

    @property
    def longest(self) -> int:
        """Tokens of the longest phrase."""
        return len(self._levels)

    def first_nodes(self, ids: Ints) -> Ints:
        """The nodes of sequences of one token; -1 for a token that begins no phrase, ``[n]``."""
        return self._follow(0, np.zeros(len(ids), dtype=np.int64), ids) if self._levels else np.full(len(ids), -1)

    def find(self, ids: Ints, ending: Bools) -> Occurrences:
        """Every place where a phrase stands, those inside others included.

        Args:
            ids: tokens of a text; -1 for one that no phrase has, ``[n]``.
            ending: of each node, whether it is wanted, ``[nodes]``.
        """
        padded = np.append(ids, -1)
        at = np.arange(len(ids), dtype=np.int64)
        parents = np.zeros(len(ids), dtype=np.int64)
        spans, nodes, before = [_no_spans()], [np.zeros(0, dtype=np.int64)], 0
        for depth, level in enumerate(self._levels):
            found = self._follow(depth, parents, padded[at + depth])
            at, parents = at[found >= 0], found[found >= 0]
            if not len(at):
                break
            wanted = ending[parents + before]
            spans.append(np.stack([at[wanted], at[wanted] + depth + 1], axis=1))
            nodes.append(parents[wanted] + before)
            before += len(level)
        together = np.concatenate(spans)
        order = np.lexsort((together[:, 1], together[:, 0]))
        return Occurrences(spans=together[order], nodes=np.concatenate(nodes)[order])

    def _follow(self, depth: int, parents: Ints, tokens: Ints) -> Ints:
        """From nodes of one level to the next, -1 where no phrase goes on so."""
        level = self._levels[depth]
        keys = parents * self._vocabulary + tokens
        place = np.minimum(np.searchsorted(level, keys), len(level) - 1)
        return np.where((tokens >= 0) & (level[place] == keys), place, -1)


def build_table(tokens: Indices, lengths: Indices, *, vocabulary: int) -> tuple[PhraseTable, Ints]:
    """Makes a table of phrases.

    Args:
        tokens: ids of all phrases, one after the other.
        lengths: tokens of each phrase, above 0, ``[n]``.
        vocabulary: number of token ids.

    Returns:
        The table, and the node of each phrase, ``[n]``; equal phrases have the same.
    """
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    ends = np.full(len(lengths), -1, dtype=np.int64)
    alive = np.arange(len(lengths), dtype=np.int64)
    parents = np.zeros(len(lengths), dtype=np.int64)
    levels: list[Ints] = []
    before = 0
    while len(alive):
        depth = len(levels)
        level, nodes = np.unique(parents * vocabulary + tokens[starts[alive] + depth], return_inverse=True)
        last = lengths[alive] == depth + 1
        ends[alive[last]] = nodes[last] + before
        alive, parents = alive[~last], nodes[~last]
        levels.append(level)
        before += len(level)
    return PhraseTable(levels, vocabulary=vocabulary), ends


def best_segmentation(spans: Ints) -> Bools:
    """Which spans are in the disjoint set with the largest sum of squared lengths.

    A text is read from left to right; at each token a sum must be strictly larger to replace what was found there
    first, and parts (spans, or single tokens that are in none) are found in the order of their beginnings. So of equal
    sums up to a token the one whose last part begins earlier is kept, and the choice depends on nothing but the spans.
    Of ``(0, 2)`` and ``(1, 3)`` that is ``(1, 3)``: at the last token it is found before the token alone. The work is
    proportional to the number of spans and of tokens under those that overlap.

    Args:
        spans: first token and one past the last, sorted, none twice, ``[m, 2]``.

    Returns:
        For each span whether it is chosen, ``[m]``.
    """
    chosen = np.ones(len(spans), dtype=bool)
    if not len(spans):
        return chosen
    reach = np.maximum.accumulate(spans[:, 1])
    first = np.concatenate([[True], spans[1:, 0] >= reach[:-1]])
    bounds = np.append(np.flatnonzero(first), len(spans))
    for number in np.flatnonzero(np.diff(bounds) > 1).tolist():
        group = slice(int(bounds[number]), int(bounds[number + 1]))
        chosen[group] = _best_of_group(spans[group].tolist())
    return chosen


def _best_of_group(spans: list[list[int]]) -> list[bool]:
    """The same for spans that hang together, by dynamic programming over the tokens under them."""
    origin = spans[0][0]
    size = max(end for _, end in spans) - origin
    starting: list[list[int]] = [[] for _ in range(size)]
    for index, (start, _) in enumerate(spans):
        starting[start - origin].append(index)
    best = [0] + [-1] * size
    arrived = [-1] * (size + 1)  # the span by which a token is reached, -1 for none
    for token in range(size):
        if best[token] > best[token + 1]:
            best[token + 1], arrived[token + 1] = best[token], -1
        for index in starting[token]:
            end = spans[index][1] - origin
            total = best[token] + (end - token) ** 2
            if total > best[end]:
                best[end], arrived[end] = total, index
    kept = [False] * len(spans)
    token = size
    while token > 0:
        index = arrived[token]
        if index >= 0:
            kept[index] = True
            token = spans[index][0] - origin
        else:
            token -= 1
    return kept


def _no_spans() -> Ints:
    return np.zeros((0, 2), dtype=np.int64)

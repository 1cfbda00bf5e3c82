"""BiLSTM with dot attention over the words of single spans, with the smallest number of exact
matrix products.

A span is read from its own first word, with a zero state: the forward state after ``t`` words
depends on these words alone. So spans with a common beginning share their states, and likewise from
the end for the backward direction. States are computed once for each node of the tree of all
beginnings (`PrefixTree`), level by level, and the products with the input weights once for each
distinct word. Every state, and every gradient, is that of the plain recurrence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from fascicle.core.arrays import Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class PrefixTree:
    """Tree of the distinct beginnings of sequences.

    Attributes:
        sizes: numbers of beginnings of 1, 2, ... items, ``n_1, n_2, ...``; those of one length are
            a level.
        words: the last item of each beginning, level after level, ``[Σ n_t]``.
        continued: for each level but the first, places in the level before of beginnings with a
            continuation, ``[p_t]``.
        parents: for each level but the first, which of these each beginning continues, ``[n_t]``.
        node: for each sequence and place, the beginning that ends there, counted over all levels,
            ``[S, T]``; 0 behind the end of a sequence.
    """

    sizes: list[int]
    words: Tensor
    continued: Sequence[Tensor]
    parents: Sequence[Tensor]
    node: Tensor

    def to(self, device: torch.device) -> PrefixTree:
        """Returns the tree on another device."""
        return PrefixTree(
            sizes=self.sizes,
            words=self.words.to(device),
            continued=[tensor.to(device) for tensor in self.continued],
            parents=[tensor.to(device) for tensor in self.parents],
            node=self.node.to(device),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class SpanBatch:
    """Distinct spans, prepared for the network.

    Attributes:
        forward: tree of their beginnings.
        backward: tree of their ends, from the last word on.
        by_width: for each width that occurs: the width, and the indices of its spans, ``[n_w]``.
    """

    forward: PrefixTree
    backward: PrefixTree
    by_width: Sequence[tuple[int, Tensor]]

    def to(self, device: torch.device) -> SpanBatch:
        """Returns the batch on another device."""
        widths = [(width, rows.to(device)) for width, rows in self.by_width]
        return SpanBatch(
            forward=self.forward.to(device), backward=self.backward.to(device), by_width=widths
        )


def span_batch(words: Ints, lengths: Ints) -> SpanBatch:
    """Builds the trees of spans.

    Args:
        words: words of each span, as places in a table, ``[S, T]``; places after the end are
            ignored.
        lengths: words of each span, from 1 to T, ``[S]``.
    """
    place = np.arange(words.shape[1])
    turned = np.take_along_axis(words, np.maximum(lengths[:, None] - 1 - place, 0), axis=1)
    widths = [(int(w), torch.from_numpy(np.flatnonzero(lengths == w))) for w in np.unique(lengths)]
    return SpanBatch(
        forward=_tree(words, lengths), backward=_tree(turned, lengths), by_width=widths
    )


def _tree(words: Ints, lengths: Ints) -> PrefixTree:
    base = int(words.max(initial=0)) + 1
    node = np.zeros(words.shape, dtype=np.int64)
    # place of each sequence's beginning in the level before
    at = np.zeros(len(words), dtype=np.int64)
    levels, before = list[Ints](), list[Ints]()
    nodes = 0  # of all levels so far
    for t in range(int(lengths.max(initial=0))):
        alive = np.flatnonzero(lengths > t)
        keys, at[alive] = np.unique(at[alive] * base + words[alive, t], return_inverse=True)
        node[alive, t] = nodes + at[alive]
        nodes += len(keys)
        levels.append(keys % base)
        before.append(keys // base)
    links = [np.unique(parents, return_inverse=True) for parents in before[1:]]
    return PrefixTree(
        sizes=list(map(len, levels)),
        words=torch.from_numpy(np.concatenate(levels)),
        continued=[torch.from_numpy(distinct) for distinct, _ in links],
        parents=[torch.from_numpy(parent) for _, parent in links],
        node=torch.from_numpy(node),
    )


class SpanReader(nn.Module):
    """Word vectors of a span -> one vector: BiLSTM, and attention of its final state to its states
    (§2 of the paper).

    ``q = [h_f ; h_b]``, the final states of both directions, ``a_t = softmax_t(O_t · q)``, not
    scaled, and the vector is ``Σ_t a_t O_t``.
    """

    def __init__(self, size: int, hidden: int) -> None:
        """Builds the layer.

        Args:
            size: of a word vector.
            hidden: states of each direction.
        """
        super().__init__()
        self.lstm = nn.LSTM(size, hidden, batch_first=True, bidirectional=True)
        self.width = 2 * hidden

    def forward(self, table: Tensor, batch: SpanBatch) -> Tensor:
        """Computes one vector for each span.

        Args:
            table: the vectors of the words that occur, ``[V, d]``.
            batch: spans over these words.

        Returns:
            ``[S, 2 * hidden]``.
        """
        forward = self._states(table, batch.forward, "l0")
        backward = self._states(table, batch.backward, "l0_reverse")
        # All words are gathered at once: a gather has a gradient as large as the table that it is
        # from.
        ahead = [batch.forward.node[rows, :width].flatten() for width, rows in batch.by_width]
        behind = [
            batch.backward.node[rows, :width].flip(1).flatten() for width, rows in batch.by_width
        ]
        states = torch.cat(
            [_rows(forward, torch.cat(ahead)), _rows(backward, torch.cat(behind))], dim=1
        )
        vectors = [
            part if width == 1 else attend(part.reshape(-1, width, self.width), self.width // 2)
            for part, (width, _) in zip(
                torch.split(states, list(map(len, ahead))), batch.by_width, strict=True
            )
        ]
        order = torch.cat([rows for _, rows in batch.by_width])
        return torch.cat(vectors).index_select(0, torch.argsort(order))

    def _states(self, table: Tensor, tree: PrefixTree, name: str) -> Tensor:
        """Computes the states of every node of a tree, level after level, ``[nodes, hidden]``."""
        w_in, w_hidden, b_in, b_hidden = (
            getattr(self.lstm, f"{part}_{name}")
            for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        inputs = nn.functional.linear(table, w_in, b_in + b_hidden)
        first, *rest = torch.split(_rows(inputs, tree.words), tree.sizes)
        cell, state = _lstm_step(first)
        levels = [state]
        for level, continued, parents in zip(rest, tree.continued, tree.parents, strict=True):
            gates = level + _rows(_rows(state, continued) @ w_hidden.T, parents)
            cell, state = _lstm_step(gates, _rows(_rows(cell, continued), parents))
            levels.append(state)
        return torch.cat(levels)


def _lstm_step(gates: Tensor, before: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Returns the cell and the state after a word; without the cell before it, that is zero."""
    into, forget, fresh, out = gates.chunk(4, dim=1)
    cell = into.sigmoid() * fresh.tanh()
    if before is not None:
        cell = forget.sigmoid() * before + cell
    return cell, out.sigmoid() * cell.tanh()


def attend(states: Tensor, half: int) -> Tensor:
    """Computes attention of the final state of both directions to all states.

    Args:
        states: ``[n, T, 2 * half]``, of both directions, without padding.
        half: size of one direction.

    Returns:
        ``[n, 2 * half]``.
    """
    final = torch.cat([states[:, -1, :half], states[:, 0, half:]], dim=-1)
    weights = torch.softmax((states * final.unsqueeze(1)).sum(-1), dim=1)
    return (weights.unsqueeze(-1) * states).sum(1)


def _rows(table: Tensor, places: Tensor) -> Tensor:
    """Gathers rows of a table; its gradient is a sum in one pass, without the sorting of plain
    indexing.
    """
    return nn.functional.embedding(places, table)


def count_loss(logits: Tensor, counts: Tensor) -> Tensor:
    """Returns the sum of the cross-entropies of all spans, computed from the distinct ones.

    Args:
        logits: of each distinct span, ``[S, C]``.
        counts: how often it is taught as each class, ``[S, C]``.
    """
    return (counts.sum(1) * torch.logsumexp(logits, dim=1)).sum() - (counts * logits).sum()

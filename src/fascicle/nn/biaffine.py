"""Span scores from products of the two ends: the biaffine scorer.

Source: Yu, Bohnet & Poesio (2020), *Named Entity Recognition as Dependency Parsing* §3, after Dozat & Manning (2017).
Shape letters as in `fascicle.nn.spans`, and h, the width of the feed-forward layers.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fascicle.nn.draw import draw
from fascicle.nn.spans import SpanScorer, WidthTerm


class BiaffineScorer(SpanScorer):
    """One feed-forward layer for each end, then a bilinear and a linear term.

    With `s = drop(leaky(F_s e_i))` and `t = drop(leaky(F_e e_j))` the score of class c is
    `s^T U_c t + W_s s + W_e t + b`, and `+ W_l W_len` where widths are embedded. The activation is LeakyReLU with slope
    0.1, that of Dozat and Manning's parser. This dropout is the scorer's own, one mask per unit and end, and comes on
    top of what the head does to the states.

    The band is computed by one small product per unit, of its start with the L ends it can reach. At inference, on one
    core with 8 rows and h = 150, that takes no longer than the full U x U product even for short rows (30 units,
    L = 10: 1.2 and 1.3 ms; 128 units, L = 10: 5.1 and 8.5 ms; L = 32: 7.7 and 9.1 ms). So it is the only form.
    """

    def __init__(
        self, *, width: int, classes: int, longest: int, hidden: int, dropout: float, width_embedding: int = 0
    ) -> None:
        """Draw weights from N(0, 0.02^2); biases are 0.

        Args:
            width: Of a state, d.
            classes: C, None included.
            longest: The largest span width L.
            hidden: h.
            dropout: Share of the entries of s and t set to 0 in training.
            width_embedding: Size of the embedding of the width, 0 for none.
        """
        super().__init__()
        self.longest = longest
        self.start = _feed_forward(width, hidden, dropout)
        self.end = _feed_forward(width, hidden, dropout)
        self.start_linear = nn.Linear(hidden, classes)
        self.end_linear = nn.Linear(hidden, classes, bias=False)
        # Row c * h + k is column k of U_c, so that one product gives s^T U_c for all classes.
        self.bilinear = nn.Linear(hidden, classes * hidden, bias=False)
        draw(self)
        self.width_term = WidthTerm(size=width_embedding, longest=longest, classes=classes) if width_embedding else None
        self.outputs = ("starts", "ends", *(("widths",) if width_embedding else ()), "spans")

    def forward(self, units: Tensor, whole: Tensor) -> dict[str, Tensor]:
        """Score all spans; see `SpanScorer`. `whole` is ignored."""
        start, end = self.start(units), self.end(units)
        tables = {
            "starts": self.start_linear(start),
            "ends": self.end_linear(end),
            "spans": self._products(start, end),
        }
        if self.width_term is not None:
            tables["widths"] = self.width_term()
        return {name: tables[name] for name in self.outputs}

    def _products(self, start: Tensor, end: Tensor) -> Tensor:
        """The bilinear term, `[B, U, L, C]`. The zeros that stand in for units beyond U reach void cells only."""
        rows, count, hidden = end.shape
        reach = torch.arange(count, device=end.device)[:, None] + torch.arange(self.longest, device=end.device)
        padded = F.pad(end, (0, 0, 0, self.longest - 1))
        within = padded.index_select(1, reach.flatten()).view(rows, count, self.longest, hidden)
        projected = self.bilinear(start).view(rows, count, -1, hidden)  # s^T U_c, [B, U, C, h]
        return within @ projected.transpose(2, 3)


def _feed_forward(width: int, hidden: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, hidden), nn.LeakyReLU(0.1), nn.Dropout(dropout))

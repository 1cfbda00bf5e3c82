"""The CRF where only some tags are known: the likelihood of all paths that agree with these.

The marginal likelihood of Tsuboi et al. (2008, *Training Conditional Random Fields Using Incomplete Annotations*),
exactly: the partition sum over all paths, less the one over the paths through the known tags.

Shape letters: B rows, T units, C tags.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

from fascicle.nn.crf import LinearChainCrf

_CLOSED: Final = -1e9  # beside any score, its exponential is exactly 0


def partial_loss(
    crf: LinearChainCrf,
    emissions: Tensor,
    tags: Tensor,
    *,
    mask: Tensor,
    known: Tensor,
    allowed: Tensor | None = None,
) -> Tensor:
    """The negative log-likelihood of the known tags, one number per row; that of the path where all are known.

    `crf` gives a partition sum less the score of one path. With the emissions of all other tags closed at known units
    it gives the partition sum of the paths that agree, less the score of the same path, which drops out of the
    difference. Rows whose tags are all known take the way of `crf` alone, to the last bit.

    Args:
        crf: The transitions.
        emissions: `[B, T, C]`, finite.
        tags: Tag ids `[B, T]`: the known ones, and any of 0 to C - 1 at the other units of the mask.
        mask: Which units exist, see `crf`.
        known: Which tags are known, bool `[B, T]`, any value under the padding.
        allowed: Of the other units the tags that they may have, bool `[B, T, C]`, with that of `tags` among them; all
            by default.

    Returns:
        `[B]`, at least 0 up to rounding; 0 up to rounding for a row of which nothing is known.
    """
    loss: Tensor = crf(emissions, tags, mask)
    rows = (mask & ~known).any(dim=1).nonzero().squeeze(1)
    if not len(rows):
        return loss
    scores, given = emissions[rows], tags[rows]
    others = torch.arange(scores.shape[2], device=tags.device) != given[:, :, None]
    closed = known[rows][:, :, None] & others
    if allowed is not None:
        closed = closed | ~(allowed[rows] | known[rows][:, :, None])
    wide = scores.to(torch.promote_types(scores.dtype, torch.float32)).masked_fill(closed, _CLOSED)
    agreeing: Tensor = crf(wide, given, mask[rows])
    return loss.index_add(0, rows, agreeing, alpha=-1)

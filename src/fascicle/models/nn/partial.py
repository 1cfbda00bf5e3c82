"""Partially known classes: integer codes for sets of possible classes among the targets, and the loss of a set.

Class 0 is no mention; the classes of type k are the next `width` ones for each type before it. A set has class 0 and
the classes of some types. Its loss is the negative logarithm of the probability of all its classes together, the
marginal likelihood of Tsuboi et al. (2008) for one place.

Also a CRF with some known tags: its loss is the likelihood of all paths that agree with them.

The marginal likelihood of Tsuboi et al. (2008, *Training Conditional Random Fields Using Incomplete Annotations*),
exactly: the partition sum over all paths, less the one over the paths through the known tags.

Shape letters: B rows, T units, C tags.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from fascicle.errors import RecipeError
from fascicle.models.nn.crf import LinearChainCrf

SETS: Final = -1000  # the code of a set is this, less a bit for each type
_MOST: Final = 60  # bits


def set_of(types: Iterable[int]) -> int:
    """Returns the code of the set of class 0 and the classes of some types.

    Args:
        types: Indices, each once.

    Raises:
        RecipeError: If an index has no bit.
    """
    listed = list(types)
    if max(listed, default=0) >= _MOST:
        raise RecipeError(
            f"only the first {_MOST} types of a model can be left out of this loss; use fewer, or multilabel"
        )
    return SETS - sum(1 << kind for kind in listed)


def members(codes: Tensor, *, classes: int, width: int = 1) -> Tensor:
    """Returns a mask of the classes in each set.

    Args:
        codes: Of sets, int64 `[...]`.
        classes: Number of classes, C.
        width: Classes of a type.

    Returns:
        Bool `[..., C]`.
    """
    kinds = torch.arange(classes - 1, device=codes.device) // width
    inside = (SETS - codes)[..., None] >> kinds & 1
    return F.pad(inside.bool(), (1, 0), value=True)


def set_loss(logits: Tensor, codes: Tensor, *, width: int = 1) -> Tensor:
    """Returns the negative log-probability of each set.

    Args:
        logits: `[N, C]`.
        codes: Of sets, int64 `[N]`.
        width: Classes of a type.

    Returns:
        `[N]`.
    """
    inside = members(codes, classes=logits.shape[1], width=width)
    return logits.logsumexp(1) - logits.masked_fill(~inside, -torch.inf).logsumexp(1)


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
    """Returns the negative log-likelihood of the known tags, one number per row; of the path where all are known.

    `crf` gives a partition sum less the score of one path. With the emissions of all other tags closed at known units
    it gives the partition sum of the paths that agree, less the score of the same path, which drops out of the
    difference. Rows whose tags are all known get the result of `crf` itself, equal to the last bit.

    Args:
        crf: The transitions.
        emissions: `[B, T, C]`, finite.
        tags: Tag ids `[B, T]`: the known ones, and any of 0 to C - 1 at the other units of the mask.
        mask: True for units that exist, see `crf`.
        known: True where the tag is known, bool `[B, T]`, any value under the padding.
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

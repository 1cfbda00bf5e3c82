"""Classes of which only a set is known: codes for such sets among integer targets, and the loss of one.

Class 0 is no mention; the classes of type k are the next `width` ones for each type before it. A set has class 0 and
the classes of some types. Its loss is the negative logarithm of the probability of all its classes together, the
marginal likelihood of Tsuboi et al. (2008) for one place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from fascicle.errors import RecipeError

SETS: Final = -1000  # the code of a set is this, less a bit for each type
_MOST: Final = 60  # bits


def set_of(types: Iterable[int]) -> int:
    """The code of class 0 with the classes of some types.

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
    """Which classes are in each set.

    Args:
        codes: Of sets, int64 `[...]`.
        classes: How many there are, C.
        width: Classes of a type.

    Returns:
        Bool `[..., C]`.
    """
    kinds = torch.arange(classes - 1, device=codes.device) // width
    inside = (SETS - codes)[..., None] >> kinds & 1
    return F.pad(inside.bool(), (1, 0), value=True)


def set_loss(logits: Tensor, codes: Tensor, *, width: int = 1) -> Tensor:
    """The negative log-probability of each set.

    Args:
        logits: `[N, C]`.
        codes: Of sets, int64 `[N]`.
        width: Classes of a type.

    Returns:
        `[N]`.
    """
    inside = members(codes, classes=logits.shape[1], width=width)
    return logits.logsumexp(1) - logits.masked_fill(~inside, -torch.inf).logsumexp(1)

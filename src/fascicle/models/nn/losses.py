"""Losses of distillation, and losses of partially known classes and tags.

An integer code stands for a set of possible classes among the targets. Class 0 is no mention; each
type has `width` classes, in the order of the types. A set has class 0 and the classes of some
types. Its loss is the negative logarithm of the probability of all its classes together. This is
the marginal likelihood of Tsuboi et al. (2008) for one place.

The loss of a CRF with some known tags is the marginal likelihood of Tsuboi et al. (2008, *Training
Conditional Random Fields Using Incomplete Annotations*): the partition sum over all paths, less the
sum over the paths through the known tags.

Shape letters: B rows, T units, C tags.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from fascicle.errors import RecipeError
from fascicle.models.nn.crf import LinearChainCrf

_Compared = Literal["scores", "probabilities"]
_FAR = -1e4  # the released program of TinyBERT adds this to the scores of padded keys
_LOW = -100.0  # and it sets a score at or below this to 0
SETS: Final = -1000  # the code of a set is this, less a bit for each type
_MOST: Final = 60  # bits
_CLOSED: Final = -1e9  # beside any score, its exponential is exactly 0


def layer_map(teacher: int, student: int) -> tuple[int, ...]:
    """Assigns a layer of a teacher to each layer of a student, evenly: every k-th one with k =
    teacher / student.

    Args:
        teacher: number of layers of the teacher.
        student: of the student.

    Returns:
        For each layer of the student that of the teacher, both counted from 1. Layer 0, the output
        of the embeddings, imitates layer 0.

    Raises:
        RecipeError: the student has more layers, or their numbers do not divide.
    """
    if student > teacher:
        raise RecipeError(
            f"the student has {student} layers and its teacher {teacher}: a student has at most as "
            "many; choose fewer"
        )
    if teacher % student:
        raise RecipeError(
            f"the {teacher} layers of the teacher cannot be shared evenly among {student} of the "
            "student; name one layer of the teacher for each of the student with layers.map"
        )
    step = teacher // student
    return tuple(range(step, teacher + 1, step))


def state_loss(student: Tensor, teacher: Tensor, mask: Tensor, *, faithful: bool = False) -> Tensor:
    """Returns the mean squared difference of states (eq. 8 and 9).

    Args:
        student: projected to the width of the teacher, ``[B, T, d]``.
        teacher: ``[B, T, d]``.
        mask: 1 for pieces, 0 for padding, ``[B, T]``.
        faithful: the mean over all rows, those of the padding included; by default padding has no
            part.
    """
    if faithful:
        return F.mse_loss(student.float(), teacher.float())
    real = mask.bool().unsqueeze(-1)
    squares = _squares(student, teacher, real)
    return squares.sum() / (real.sum() * squares.shape[-1])


def attention_loss(
    student: Tensor,
    teacher: Tensor,
    mask: Tensor,
    *,
    compared: _Compared = "scores",
    faithful: bool = False,
) -> Tensor:
    """Returns the mean squared difference of attention (eq. 7).

    Args:
        student: input of the softmax over keys, without the mask, ``[B, H, T, T]`` (query, key).
        teacher: the same.
        mask: 1 for pieces, 0 for padding, ``[B, T]``.
        compared: ``"scores"`` for this input, or ``"probabilities"`` for the output of the softmax.
        faithful: as the released programs do: the mean over all pairs, those with padding included,
            with a score of 0 for pairs whose key is padding, and for all scores of -100 or less. By
            default only pairs of pieces count.
    """
    real = mask.bool()
    pair = (real[:, None, :, None] & real[:, None, None, :]).expand_as(student)
    keys = real[:, None, None, :]
    if faithful:
        ours, theirs = (_faithful(scores, keys, compared) for scores in (student, teacher))
        return F.mse_loss(ours, theirs)
    if compared == "probabilities":
        student, teacher = (_probabilities(scores, keys, pair) for scores in (student, teacher))
    return _squares(student, teacher, pair).sum() / pair.sum()


def label_loss(logits: Tensor, teacher: Tensor, *, temperature: float = 1.0) -> Tensor:
    """Returns the Kullback-Leibler divergence of labels that do not exclude each other: mean over
    known labels.

    It is the binary cross-entropy with soft targets less their entropy. There is no factor for the
    temperature.

    Args:
        logits: of the student, ``[B, U, C]``.
        teacher: probabilities of the teacher, ``[B, U, C]``; negative where nothing is known.
        temperature: both distributions are those of the logits divided by this.
    """
    valid = teacher >= 0
    target = soften_logits(teacher.float().clamp(min=0), temperature, exclusive=False)
    divergence = F.binary_cross_entropy_with_logits(
        logits.float() / temperature, target, reduction="none"
    )
    divergence = divergence - torch.special.entr(target) - torch.special.entr(1 - target)
    return (divergence * valid).sum() / valid.sum().clamp(min=1)


def tag_loss(logits: Tensor, teacher: Tensor, *, temperature: float = 1.0) -> Tensor:
    """Returns the Kullback-Leibler divergence of tags that exclude each other: mean over the known
    units.

    It is the cross-entropy with soft targets less their entropy. There is no factor for the
    temperature.

    Args:
        logits: of the student, ``[B, U, C]``.
        teacher: probabilities of the teacher, ``[B, U, C]``; negative where nothing is known.
        temperature: both distributions are those of the logits divided by this.
    """
    valid = (teacher >= 0).all(dim=-1)
    target = soften_logits(teacher.float().clamp(min=0), temperature, exclusive=True)
    logs = F.log_softmax(logits.float() / temperature, dim=-1)
    divergence = -(target * logs + torch.special.entr(target)).sum(dim=-1)
    return (divergence * valid).sum() / valid.sum().clamp(min=1)


def soften_logits(probabilities: Tensor, temperature: float, *, exclusive: bool) -> Tensor:
    """Returns the probabilities that the same logits have when they are divided by a temperature.

    Args:
        probabilities: ``[..., C]``.
        temperature: above 1 for softer ones.
        exclusive: whether they sum to 1; else each is the probability of a label on its own.
    """
    if temperature == 1.0:
        return probabilities
    powers = probabilities.pow(1 / temperature)
    if exclusive:
        return powers / powers.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(powers.dtype).tiny)
    return powers / (powers + (1 - probabilities).pow(1 / temperature))


def _probabilities(scores: Tensor, keys: Tensor, pair: Tensor) -> Tensor:
    """Applies the softmax over real keys; rows of padding have no effect, also none on a
    gradient.
    """
    return scores.float().masked_fill(~pair, 0.0).masked_fill(~keys, -torch.inf).softmax(-1)


def _faithful(scores: Tensor, keys: Tensor, compared: _Compared) -> Tensor:
    scores = scores.float() + torch.where(keys, 0.0, _FAR)
    return (
        scores.softmax(-1)
        if compared == "probabilities"
        else scores.masked_fill(scores <= _LOW, 0.0)
    )


def _squares(student: Tensor, teacher: Tensor, real: Tensor) -> Tensor:
    """Returns squared differences, 0 where `real` is false, whatever the values there."""
    return (
        student.float().masked_fill(~real, 0.0) - teacher.float().masked_fill(~real, 0.0)
    ).square()


def set_code(types: Iterable[int]) -> int:
    """Returns the code of the set of class 0 and the classes of some types.

    Args:
        types: Indices, each once.

    Raises:
        RecipeError: If an index has no bit.
    """
    indices = list(types)
    if max(indices, default=0) >= _MOST:
        raise RecipeError(
            f"only the first {_MOST} types of a model can be left out of this loss; use fewer "
            "types, or the family multilabel"
        )
    return SETS - sum(1 << kind for kind in indices)


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


def partial_loss(
    crf: LinearChainCrf,
    emissions: Tensor,
    tags: Tensor,
    *,
    mask: Tensor,
    observed: Tensor,
    allowed: Tensor | None = None,
) -> Tensor:
    """Returns the negative log-likelihood of the known tags, one number per row; of the path where
    all are known.

    `crf` gives a partition sum less the score of one path. With the emissions of all other tags
    closed at known units it gives the partition sum of the paths that agree, less the score of the
    same path, which drops out of the difference. Rows whose tags are all known get the result of
    `crf` itself, equal to the last bit.

    Args:
        crf: The transitions.
        emissions: `[B, T, C]`, finite.
        tags: Tag ids `[B, T]`: the known ones, and any of 0 to C - 1 at the other units of the
            mask.
        mask: True for units that exist, see `crf`.
        observed: True where the tag is known, bool `[B, T]`, any value under the padding.
        allowed: Of the other units the tags that they may have, bool `[B, T, C]`, with that of
            `tags` among them; all by default.

    Returns:
        `[B]`, at least 0 up to rounding; 0 up to rounding for a row of which nothing is known.
    """
    loss: Tensor = crf(emissions, tags, mask)
    rows = (mask & ~observed).any(dim=1).nonzero().squeeze(1)
    if not len(rows):
        return loss
    scores, gold = emissions[rows], tags[rows]
    differs = torch.arange(scores.shape[2], device=tags.device) != gold[:, :, None]
    closed = observed[rows][:, :, None] & differs
    if allowed is not None:
        closed = closed | ~(allowed[rows] | observed[rows][:, :, None])
    wide = scores.to(torch.promote_types(scores.dtype, torch.float32)).masked_fill(closed, _CLOSED)
    agreeing: Tensor = crf(wide, gold, mask[rows])
    return loss.index_add(0, rows, agreeing, alpha=-1)

"""Losses of distillation: between the layers of a small and a large network, and between their answers.

Source: Jiao et al. 2020, *TinyBERT* §3.1, as *tinybern2-kazu* §4 uses it. Shapes: B windows, T pieces, H heads, d width
of a state, U units, C labels.
"""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from fascicle.errors import RecipeError

Compared = Literal["scores", "probabilities"]
_FAR = -1e4  # the released program of TinyBERT adds this to the scores of padded keys
_LOW = -100.0  # and it sets a score at or below this to 0


def layer_map(teacher: int, student: int) -> tuple[int, ...]:
    """Assigns a layer of a teacher to each layer of a student, evenly: every k-th one with k = teacher / student.

    Args:
        teacher: number of layers of the teacher.
        student: of the student.

    Returns:
        For each layer of the student that of the teacher, both counted from 1. Layer 0, the output of the embeddings,
        imitates layer 0.

    Raises:
        RecipeError: the student has more layers, or their numbers do not divide.
    """
    if student > teacher:
        raise RecipeError(
            f"the student has {student} layers and its teacher {teacher}: a student has at most as many; choose fewer"
        )
    if teacher % student:
        raise RecipeError(
            f"the {teacher} layers of the teacher cannot be shared evenly among {student} of the student; name one "
            "layer of the teacher for each of the student with layers.map"
        )
    step = teacher // student
    return tuple(range(step, teacher + 1, step))


def state_loss(student: Tensor, teacher: Tensor, mask: Tensor, *, faithful: bool = False) -> Tensor:
    """Returns the mean squared difference of states (eq. 8 and 9).

    Args:
        student: projected to the width of the teacher, ``[B, T, d]``.
        teacher: ``[B, T, d]``.
        mask: 1 for pieces, 0 for padding, ``[B, T]``.
        faithful: the mean over all rows, those of the padding included; by default padding has no part.
    """
    if faithful:
        return F.mse_loss(student.float(), teacher.float())
    real = mask.bool().unsqueeze(-1)
    squares = _squares(student, teacher, real)
    return squares.sum() / (real.sum() * squares.shape[-1])


def attention_loss(
    student: Tensor, teacher: Tensor, mask: Tensor, *, compared: Compared = "scores", faithful: bool = False
) -> Tensor:
    """Returns the mean squared difference of attention (eq. 7).

    Args:
        student: input of the softmax over keys, without the mask, ``[B, H, T, T]`` (query, key).
        teacher: the same.
        mask: 1 for pieces, 0 for padding, ``[B, T]``.
        compared: ``"scores"`` for this input, or ``"probabilities"`` for the output of the softmax.
        faithful: as the released programs do: the mean over all pairs, those with padding included, with a score of 0
            for pairs whose key is padding, and for all scores of -100 or less. By default only pairs of pieces count.
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


def label_loss(logits: Tensor, wanted: Tensor, *, temperature: float = 1.0) -> Tensor:
    """Returns the Kullback-Leibler divergence of labels that do not exclude each other: mean over known labels.

    It is the binary cross-entropy with soft targets less their entropy. There is no factor for the temperature.

    Args:
        logits: of the student, ``[B, U, C]``.
        wanted: probabilities of the teacher, ``[B, U, C]``; negative where nothing is known.
        temperature: both distributions are those of the logits divided by this.
    """
    known = wanted >= 0
    target = softened(wanted.float().clamp(min=0), temperature, exclusive=False)
    found = F.binary_cross_entropy_with_logits(logits.float() / temperature, target, reduction="none")
    found = found - torch.special.entr(target) - torch.special.entr(1 - target)
    return (found * known).sum() / known.sum().clamp(min=1)


def tag_loss(logits: Tensor, wanted: Tensor, *, temperature: float = 1.0) -> Tensor:
    """Returns the Kullback-Leibler divergence of tags that exclude each other: mean over the known units.

    It is the cross-entropy with soft targets less their entropy. There is no factor for the temperature.

    Args:
        logits: of the student, ``[B, U, C]``.
        wanted: probabilities of the teacher, ``[B, U, C]``; negative where nothing is known.
        temperature: both distributions are those of the logits divided by this.
    """
    known = (wanted >= 0).all(dim=-1)
    target = softened(wanted.float().clamp(min=0), temperature, exclusive=True)
    logs = F.log_softmax(logits.float() / temperature, dim=-1)
    found = -(target * logs + torch.special.entr(target)).sum(dim=-1)
    return (found * known).sum() / known.sum().clamp(min=1)


def softened(probabilities: Tensor, temperature: float, *, exclusive: bool) -> Tensor:
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
    """Applies the softmax over real keys; rows of padding have no effect, also none on a gradient."""
    return scores.float().masked_fill(~pair, 0.0).masked_fill(~keys, -torch.inf).softmax(-1)


def _faithful(scores: Tensor, keys: Tensor, compared: Compared) -> Tensor:
    scores = scores.float() + torch.where(keys, 0.0, _FAR)
    return scores.softmax(-1) if compared == "probabilities" else scores.masked_fill(scores <= _LOW, 0.0)


def _squares(student: Tensor, teacher: Tensor, real: Tensor) -> Tensor:
    """Returns squared differences, 0 where `real` is false, whatever the values there."""
    return (student.float().masked_fill(~real, 0.0) - teacher.float().masked_fill(~real, 0.0)).square()

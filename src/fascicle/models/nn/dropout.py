"""Dropout on the CPU, several times as fast as that of torch.

torch draws one number of its generator for every component, which costs a small encoder a tenth of
a step in training. Here one draw of 64 bits decides four components, by 16 bits each. The
distribution is the same: each component is dropped alone, with the requested probability, rounded
to 1/65536, and those that stay are divided by the exact probability to stay. The bits come from
torch's generator, so a seed repeats them, also in a run that is resumed. The dropped components are
not those that torch's own dropout drops for the same seed.

Attention with dropout (`scaled_dot_product_attention`) has no fast way in torch on a processor
either. Here it is one function with a backward pass of its own.

Shape letters: B windows, H heads, T pieces, d width of a head.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.overrides import TorchFunctionMode

_PARTS = 1 << 16


def round_probability(share: float) -> float:
    """Returns the probability that is used in place of `share`: the nearest multiple of 1/65536."""
    return round(share * _PARTS) / _PARTS


def dropout_mask(like: Tensor, share: float) -> Tensor:
    """Draws the mask of components that stay: 1 or 0, in the shape and type of `like`, on the CPU.

    Args:
        like: Any tensor on the CPU.
        share: Probability to be 0, rounded to 1/65536.
    """
    mask = torch.zeros(like.shape, dtype=like.dtype)
    least = round(share * _PARTS) - _PARTS // 2
    if least == _PARTS // 2:  # larger than any number of 16 bits
        return mask
    return torch.ge(random_bits(like), least, out=mask)


def random_bits(like: Tensor) -> Tensor:
    """Draws random 16 bits for each component, int16 in the shape of `like`, on the CPU."""
    count = like.numel()
    drawn = torch.empty((count + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    return drawn.view(torch.int16)[:count].view(like.shape)


def dropout(values: Tensor, share: float) -> Tensor:
    """Applies dropout as `torch.nn.functional.dropout` does in training, to values on the CPU.

    Args:
        values: Any shape, floating point.
        share: Probability of a component to be dropped, from 0 to 1, rounded to 1/65536.

    Returns:
        In the shape of `values`, which itself is returned if nothing can be dropped.
    """
    if not round_probability(share):
        return values
    return _Dropout.apply(values, share)  # type: ignore[no-untyped-call]


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    mask: Tensor | None = None,
    share: float,
    factor: float | None = None,
) -> Tensor:
    """Computes attention with dropout on its probabilities, in training, on the CPU.

    Args:
        query: `[B, H, T, d]`, floating point.
        key: In the same shape and type.
        value: In the same shape and type.
        mask: True for keys that may be attended to, or numbers to add to the scores; broadcasts to
            `[B, H, T, T]`.
        share: Probability of a component to be dropped, as in `dropout`.
        factor: Of the scores; by default `1 / sqrt(d)`.

    Returns:
        `[B, H, T, d]`. A piece that may attend to nothing attends to all.
    """
    if mask is not None and not mask.is_floating_point():
        lowest = torch.finfo(query.dtype).min
        mask = torch.zeros(mask.shape, dtype=query.dtype).masked_fill_(~mask, lowest)
    scale = 1.0 / math.sqrt(query.shape[-1]) if factor is None else factor
    with torch.autocast("cpu", enabled=False):
        result: Tensor = _Attention.apply(query, key, value, mask, share, scale)  # type: ignore[no-untyped-call]
    return result


class _Dropout(torch.autograd.Function):
    """Autograd function `(values, share) -> values`; some of the result is 0."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, share: float) -> Tensor:
        factors = dropout_mask(values, share).mul_(_gain(share))
        ctx.save_for_backward(factors)
        return values * factors

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (factors,) = ctx.saved_tensors
        return grad * factors, None


class _Attention(torch.autograd.Function):
    """Autograd function `(query, key, value, mask, share, scale) -> [B, H, T, d]`."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        share: float,
        scale: float,
    ) -> Tensor:
        q, k, v = (each.reshape(-1, *each.shape[2:]) for each in (query, key, value))
        shape = *query.shape[:2], query.shape[2], key.shape[2]
        scores = torch.bmm(q, k.transpose(1, 2)).mul_(scale).view(shape)
        if mask is not None:
            scores += mask
        chances = scores.softmax(-1)
        factors = dropout_mask(chances, share).mul_(_gain(share))
        weights = torch.mul(chances, factors, out=scores)
        ctx.scale = scale
        ctx.save_for_backward(q, k, v, chances, factors)
        return torch.bmm(weights.flatten(0, 1), v).view(query.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, chances, factors = ctx.saved_tensors
        shape, flat = grad.shape, grad.reshape(-1, *grad.shape[2:])
        weights = (chances * factors).flatten(0, 1)
        of_value = torch.bmm(weights.transpose(1, 2), flat)
        of_weights = torch.bmm(flat, v.transpose(1, 2)).view(chances.shape).mul_(factors)
        of_scores = torch._softmax_backward_data(of_weights, chances, -1, chances.dtype).flatten(
            0, 1
        )
        of_query = torch.bmm(of_scores, k).mul_(ctx.scale)
        of_key = torch.bmm(of_scores.transpose(1, 2), q).mul_(ctx.scale)
        heads = shape[:2]
        return (
            *(each.view(*heads, *each.shape[1:]) for each in (of_query, of_key, of_value)),
            None,
            None,
            None,
        )


def _gain(share: float) -> float:
    """Returns the factor by which the components that stay are multiplied."""
    survival = 1.0 - round_probability(share)
    return 1.0 / survival if survival else 0.0


class QuickDropout(TorchFunctionMode):
    """Block in which all dropout on the CPU is computed by this module, in any network.

    It takes the place of `torch.nn.functional.dropout`, and so of `nn.Dropout`, and of
    `scaled_dot_product_attention` with dropout. Everything else is left to torch, and so is
    everything without dropout or on another device.
    """

    def __torch_function__(
        self,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """See `torch.overrides`."""
        quick = _QUICK.get(func)
        result = quick(*args, **(kwargs or {})) if quick else None
        return func(*args, **(kwargs or {})) if result is None else result


def _quick_dropout(  # the names are torch's
    input: Tensor,  # noqa: A002
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
) -> Tensor | None:
    """Computes dropout; `None` where torch must do it."""
    if not training or inplace or not 0.0 <= p <= 1.0 or not _is_here(input):
        return None
    return dropout(input, p)


def _quick_attention(  # noqa: PLR0913 - the names are torch's
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor | None:
    """Computes attention with dropout; `None` where torch must do it."""
    if not 0.0 < dropout_p <= 1.0 or is_causal or enable_gqa or not _is_here(query):
        return None
    if not query.shape == key.shape == value.shape or query.dim() != 4:
        return None
    if not query.dtype == key.dtype == value.dtype or (
        attn_mask is not None and attn_mask.requires_grad
    ):
        return None
    return attention(query, key, value, mask=attn_mask, share=dropout_p, factor=scale)


def _is_here(values: Tensor) -> bool:
    return values.device.type == "cpu" and values.is_floating_point()


_QUICK: Mapping[Any, Callable[..., Tensor | None]] = {
    F.dropout: _quick_dropout,
    F.scaled_dot_product_attention: _quick_attention,
}

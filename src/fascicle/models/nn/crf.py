"""Linear-chain conditional random field: the loss in closed form (decoding is
`fascicle.runtime.decoding.chains`).

Autograd through the recursion records a dozen operations per unit. Here one loop runs the forward
and the backward recursion side by side on rescaled probabilities, and the gradient is written down:
expected minus observed counts.

Shape letters: B rows, T units, C tags, D directions (forward; backward, on rows reversed within
their own length).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from fascicle.models.nn.chain import Chain, LogSolution, make_chain, reorder


class LinearChainCrf(nn.Module):
    """Scores tag paths by emissions and by the transitions between neighbours (Lafferty et al.,
    2001).

    The score of a path is `start[y_1] + sum_t E[t, y_t] + sum_t A[y_t-1, y_t] + end[y_n]`, its
    probability the softmax over all paths of the row. No pair of tags is forbidden in training;
    decoding may forbid some.

    Attributes:
        transitions: `A`, `[C, C]` (from, to).
        start: Scores of the first tag, `[C]`.
        end: Scores of the last tag, `[C]`.
    """

    def __init__(self, n_tags: int) -> None:
        """Draws all parameters from U(-0.1, 0.1).

        Args:
            n_tags: The number of tags `C`.

        Raises:
            ValueError: If there are no tags.
        """
        super().__init__()
        if n_tags < 1:
            raise ValueError(f"a CRF needs at least one tag, got {n_tags}")
        self.transitions = nn.Parameter(torch.empty(n_tags, n_tags))
        self.start = nn.Parameter(torch.empty(n_tags))
        self.end = nn.Parameter(torch.empty(n_tags))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws all parameters again."""
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.1, 0.1)

    def forward(self, emissions: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Returns the negative log-likelihood of the given paths: one number per row, not averaged.

        Computed in float32 (float64 for float64 input), inside autocast too. Values and tags under
        the padding, NaN included, change neither loss nor gradient. The gradient cannot be
        differentiated again.

        Args:
            emissions: `[B, T, C]`, finite.
            tags: Gold tag ids `[B, T]`, any value under the padding.
            mask: True for units that exist, bool `[B, T]`; in every row a prefix, possibly empty.

        Returns:
            `[B]`, at least 0 up to rounding; exactly 0 for a row without units.

        Raises:
            ValueError: If the shapes do not agree or a row of the mask is not a prefix.
        """
        _check(emissions, tags, mask, n_tags=len(self.start))
        dtype = torch.promote_types(
            torch.promote_types(emissions.dtype, self.start.dtype), torch.float32
        )
        with torch.autocast(emissions.device.type, enabled=False):
            parts = (part.to(dtype) for part in (emissions, self.transitions, self.start, self.end))
            loss: Tensor = _NegativeLogLikelihood.apply(tags, mask, *parts)  # type: ignore[no-untyped-call]
        return loss


def _check(emissions: Tensor, tags: Tensor, mask: Tensor, *, n_tags: int) -> None:
    """Refuses shapes that do not agree, and masks with holes."""
    if (
        emissions.dim() != 3
        or emissions.shape[2] != n_tags
        or not emissions.shape[:2] == tags.shape == mask.shape
    ):
        shapes = ", ".join(str(tuple(part.shape)) for part in (emissions, tags, mask))
        raise ValueError(
            f"expected emissions [B, T, {n_tags}], tags [B, T] and mask [B, T], got {shapes}"
        )
    if mask.dtype != torch.bool or (mask[:, 1:] & ~mask[:, :-1]).any():
        raise ValueError("the mask must be bool and true on a prefix of every row")


@dataclass(frozen=True, kw_only=True)
class _Scaled:
    """Results of the recursion on rescaled probabilities; D is 1 (forward) or 2 (forward,
    backward).
    """

    columns: Tensor  # [D, C], the maximum taken out of each column of the transitions
    weights: Tensor  # [D, C, C], exp of the rest
    sums: Tensor  # [T, D, B, C], sums that arrive at a tag
    states: Tensor  # [T, D, B, C], the same with the emission, maximum about 1
    growth: Tensor  # [T, D, B], the logarithm of the divisor at each unit
    exact: Tensor  # [B] or [], true where no sum was small enough for underflow to matter


@dataclass(frozen=True, kw_only=True)
class _Gradient:
    """Factors that the backward pass multiplies with the incoming gradient `[B]`."""

    residual: Tensor  # [T, B, C], marginals minus gold
    last: Tensor  # [B]
    weights: Tensor  # [C, C]
    left: Tensor  # [T-1, B, C], expected pair counts are weights * sum(left^T right)
    right: Tensor  # [T-1, B, C]
    gold: Tensor  # [T, B, C], one-hot, 0 under the padding
    rare: Tensor  # [R], rows whose pair counts are in `counts` instead
    counts: Tensor  # [R, C, C]


class _NegativeLogLikelihood(torch.autograd.Function):
    """Autograd function `(tags, mask, emissions, transitions, start, end) -> [B]`; forward
    prepares the gradient.
    """

    @staticmethod
    def forward(
        ctx: Any, tags: Tensor, mask: Tensor, emissions: Tensor, *parameters: Tensor
    ) -> Tensor:
        ctx.gradient = None
        if not mask.any():
            ctx.shapes = [part.shape for part in (emissions, *parameters)]
            return emissions.new_zeros(len(emissions))
        chain = make_chain(tags, mask, emissions, *parameters)
        loss, ctx.gradient = _solve(chain, with_gradient=any(ctx.needs_input_grad))
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        if ctx.gradient is None:
            return None, None, *(grad.new_zeros(shape) for shape in ctx.shapes)
        with torch.autocast(grad.device.type, enabled=False):
            return None, None, *_pull_back(ctx.gradient, grad)


def _solve(chain: Chain, *, with_gradient: bool) -> tuple[Tensor, _Gradient | None]:
    """Computes the loss `[B]` and the factors of its gradient. Rows that underflow are computed
    with logarithms.
    """
    mirror = chain.mirror
    scaled = _recursion(chain, mirror if with_gradient else None)
    loss, mass = _scaled_loss(chain, scaled)
    exact = (mass >= _floor(chain)) & scaled.exact
    gradient = None
    if with_gradient:
        gradient, mass = _scaled_gradient(chain, scaled, mirror)
        exact &= ((mass >= _floor(chain) * len(chain.start)) | ~chain.mask).all(0)
    exact |= ~chain.mask[0]
    if not exact.all():
        rare = (~exact).nonzero().squeeze(1)
        loss[rare], gradient = _patch_rare(chain, rare, gradient)
    return loss, gradient


def _floor(chain: Chain) -> float:
    """Returns a bound for sums of C terms: above it they are exact, since lost terms are below
    `tiny` each.
    """
    limits = torch.finfo(chain.scores.dtype)
    return len(chain.start) * limits.tiny / limits.eps


def _recursion(chain: Chain, mirror: Tensor | None) -> _Scaled:
    """Runs the forward recursion, and the backward one beside it if `mirror` is given.

    Both read `state_t = (state_t-1 @ W) * exp(E_t)`: backward with the transposed transitions,
    `end` in the place of `start`, and reversed rows. Taking the maximum out of each column of W
    first keeps tags that are always hard to enter (START in flair's parametrisation) in range.
    """
    pairs, firsts, scores = _directions(chain, mirror)
    columns = pairs.amax(1)
    weights = (pairs - columns[:, None]).exp()
    potentials = scores + columns[:, None]
    potentials[0] = scores[0] + firsts[:, None]
    peaks = potentials.amax(3, keepdim=True)
    local = (potentials - peaks).exp_()
    sums, states, scales = _steps(local, weights)
    growth = (peaks + scales.log()).squeeze(3)
    # nearly always true, and much cheaper to test than row by row
    exact = sums.amin() >= _floor(chain)
    if not exact:
        exact = ((sums >= _floor(chain)).all(3).all(1) | ~chain.mask).all(0)
        # a row that vanished must not spoil the others
        sums, states = sums.nan_to_num(1.0), states.nan_to_num(1.0)
    return _Scaled(
        columns=columns, weights=weights, sums=sums, states=states, growth=growth, exact=exact
    )


def _directions(chain: Chain, mirror: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Returns transitions `[D, C, C]`, scores of the first tag `[D, C]`, and emissions `[T, D, B,
    C]`.
    """
    if mirror is None:
        return chain.transitions[None], chain.start[None], chain.scores[:, None]
    return (
        torch.stack([chain.transitions, chain.transitions.t()]),
        torch.stack([chain.start, chain.end]),
        torch.stack([chain.scores, reorder(chain.scores, mirror)], dim=1),
    )


def _steps(local: Tensor, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Loops over the units: local `[T, D, B, C]` -> sums and states, of equal shape, and
    divisors `[T, D, B, 1]`.
    """
    sums, states = torch.ones_like(local), local.clone()
    scales = local.new_ones((*local.shape[:3], 1))
    sum_views, state_views, scale_views = sums.unbind(), states.unbind(), scales.unbind()
    state = state_views[0]
    for arrived, following, scale in zip(
        sum_views[1:], state_views[1:], scale_views[1:], strict=True
    ):
        torch.bmm(state, weights, out=arrived)
        following.mul_(arrived)
        torch.amax(following, 2, keepdim=True, out=scale)
        state = following.div_(scale)
    return sums, states, scales


def _scaled_loss(chain: Chain, scaled: _Scaled) -> tuple[Tensor, Tensor]:
    """Computes the loss `[B]` and the last sum `[B]`; a small last sum means that the loss is not
    reliable.

    Partition and gold score are subtracted unit by unit: their totals may be a million times larger
    than their difference, and float32 has seven digits.
    """
    closing = chain.end.amax()
    final = (
        scaled.states[:, 0]
        .gather(0, chain.last[None, :, None].expand(1, -1, len(chain.end)))
        .squeeze(0)
    )
    mass = final @ (chain.end - closing).exp()
    steps = torch.where(chain.mask, scaled.growth[:, 0] - chain.gold_steps(), 0.0)
    loss = steps.sum(0) + mass.log() + (closing - chain.gold_end())
    return torch.where(chain.mask[0], loss, 0.0), mass


def _scaled_gradient(chain: Chain, scaled: _Scaled, mirror: Tensor) -> tuple[_Gradient, Tensor]:
    """Computes the factors of the gradient, and the sums `[T, B]` that normalise them."""
    column = (scaled.columns[0] - scaled.columns[0].amax()).exp()
    onward = reorder(scaled.states[:, 1], mirror)  # emission here and all that follows
    prior = scaled.sums[:, 0] * column
    prior[0] = (chain.start - chain.start.amax()).exp()
    joint = prior * onward
    mass = joint.sum(2)
    # takes the padding out of every product
    share = mass.reciprocal().masked_fill(~chain.mask, 0.0)[:, :, None]
    gold = chain.one_hot()
    gradient = _Gradient(
        residual=(joint * share).sub_(gold),
        last=chain.last,
        weights=scaled.weights[0],
        left=scaled.states[:-1, 0],
        right=(onward[1:] * column).mul_(share[1:]),
        gold=gold,
        rare=chain.tags.new_zeros(0),
        counts=joint.new_zeros((0, *chain.transitions.shape)),
    )
    return gradient, mass


def _patch_rare(
    chain: Chain, rare: Tensor, gradient: _Gradient | None
) -> tuple[Tensor, _Gradient | None]:
    """Computes loss `[R]` and gradient of the rows in which the scaled recursion lost something."""
    dtype = chain.scores.dtype
    solution = LogSolution.of(chain.rows(rare))
    loss = solution.loss().to(dtype)
    if gradient is None:
        return loss, None
    return loss, replace(
        gradient,
        residual=gradient.residual.index_copy(1, rare, solution.residual().to(dtype)),
        left=gradient.left.index_fill(1, rare, 0.0),
        right=gradient.right.index_fill(1, rare, 0.0),
        rare=rare,
        counts=solution.pair_counts().to(dtype),
    )


def _pull_back(gradient: _Gradient, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Computes the gradients of emissions `[B, T, C]`, transitions, start and end, given that of
    the losses `[B]`.
    """
    emissions = gradient.residual * grad[:, None]
    n_tags = emissions.shape[2]
    final = emissions.gather(0, gradient.last[None, :, None].expand(1, -1, n_tags))
    expected = _pair_counts(gradient.left, gradient.right * grad[:, None]) * gradient.weights
    observed = _pair_counts(gradient.gold[:-1], gradient.gold[1:] * grad[:, None])
    transitions = (
        expected - observed + torch.einsum("r,rij->ij", grad[gradient.rare], gradient.counts)
    )
    return emissions.transpose(0, 1), transitions, emissions[0].sum(0), final.sum((0, 1))


def _pair_counts(left: Tensor, right: Tensor) -> Tensor:
    """Returns the sum over units and rows of the outer products, `[C, C]`."""
    return left.flatten(0, 1).t() @ right.flatten(0, 1)

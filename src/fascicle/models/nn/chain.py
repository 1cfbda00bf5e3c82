"""Padded batches of tag chains, and their solution with logarithms.

The logarithms cannot underflow, but they are slow: `fascicle.models.nn.crf` uses them only for rows
in which its recursion on probabilities loses something.

Shape letters: B rows, T units, C tags.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Chain:
    """Padded batch, units first; emissions are shifted to a maximum of 0 per unit, which changes
    no probability.
    """

    scores: Tensor  # [T, B, C], 0 under the padding
    tags: Tensor  # [T, B], 0 under the padding
    mask: Tensor  # [T, B]
    transitions: Tensor  # [C, C]
    start: Tensor  # [C]
    end: Tensor  # [C]

    @property
    def last(self) -> Tensor:
        """Position of the last unit of each row, `[B]`; 0 for an empty row."""
        return (self.mask.sum(0) - 1).clamp_min(0)

    def rows(self, which: Tensor) -> Chain:
        """Returns the chain of some rows only."""
        return replace(
            self, scores=self.scores[:, which], tags=self.tags[:, which], mask=self.mask[:, which]
        )

    def gold_steps(self) -> Tensor:
        """Returns the term that each unit adds to the score of the gold path, `[T, B]`, without
        `end`.
        """
        steps = self.scores.gather(2, self.tags[:, :, None]).squeeze(2)
        steps[0] += self.start[self.tags[0]]
        steps[1:] += self.transitions[self.tags[:-1], self.tags[1:]]
        return steps

    def gold_end(self) -> Tensor:
        """Returns the term that `end` adds to the score of the gold path, `[B]`."""
        return self.end[self.tags.gather(0, self.last[None]).squeeze(0)]

    @property
    def mirror(self) -> Tensor:
        """Positions `[T, B]` that reverse every row within its own length."""
        steps = torch.arange(len(self.mask), device=self.mask.device)[:, None]
        return torch.where(self.mask, self.last - steps, steps)

    def one_hot(self) -> Tensor:
        """Returns the gold path `[T, B, C]`, 0 under the padding."""
        return torch.zeros_like(self.scores).scatter_(
            2, self.tags[:, :, None], self.mask[:, :, None].to(self.scores)
        )

    def in_double(self) -> Chain:
        """Returns the chain in float64, except on the one kind of device without it."""
        if self.scores.device.type == "mps":
            return self
        return replace(
            self,
            scores=self.scores.double(),
            transitions=self.transitions.double(),
            start=self.start.double(),
            end=self.end.double(),
        )


def make_chain(tags: Tensor, mask: Tensor, emissions: Tensor, *parameters: Tensor) -> Chain:
    """Builds the chain of a batch; values under the padding are set to 0."""
    transitions, start, end = parameters
    inside = mask.t()
    scores = emissions.transpose(0, 1).masked_fill(~inside[:, :, None], 0.0)
    return Chain(
        scores=scores - scores.amax(2, keepdim=True),
        tags=tags.t().masked_fill(~inside, 0).long(),
        mask=inside,
        transitions=transitions,
        start=start,
        end=end,
    )


def reorder(values: Tensor, positions: Tensor) -> Tensor:
    """Reorders `[T, B, C]` by positions `[T, B]`."""
    rows = positions.shape[1]
    flat = positions * rows + torch.arange(rows, device=positions.device)
    # faster than gather
    return values.flatten(0, 1).index_select(0, flat.flatten()).view_as(values)


@dataclass(frozen=True, kw_only=True)
class LogSolution:
    """Solution of a chain with logarithms.

    Attributes:
        chain: in double precision where the device has it.
        arrival: log sum over the prefixes that arrive at a tag, without its own emission, `[T, B,
            C]`.
        onward: log sum over the suffixes that begin with a tag, with its own emission, `[T, B, C]`.
        log_partition: log sum over all paths, `[B]`.
    """

    chain: Chain
    arrival: Tensor
    onward: Tensor
    log_partition: Tensor

    @classmethod
    def of(cls, chain: Chain) -> LogSolution:
        """Solves a chain."""
        chain = chain.in_double()
        mirror = chain.mirror
        reverse = replace(
            chain,
            scores=reorder(chain.scores, mirror),
            transitions=chain.transitions.t(),
            start=chain.end,
        )
        arrival = _log_prefixes(chain)
        onward = reorder(_log_prefixes(reverse), mirror) + chain.scores
        return cls(
            chain=chain,
            arrival=arrival,
            onward=onward,
            log_partition=(arrival[0] + onward[0]).logsumexp(1),
        )

    def loss(self) -> Tensor:
        """Returns the negative log-likelihood of the gold path, `[B]`."""
        steps = torch.where(self.chain.mask, self.chain.gold_steps(), 0.0)
        return self.log_partition - steps.sum(0) - self.chain.gold_end()

    def residual(self) -> Tensor:
        """Returns marginals less gold, `[T, B, C]`, 0 under the padding."""
        marginals = (self.arrival + self.onward - self.log_partition[:, None]).exp()
        return torch.where(self.chain.mask[:, :, None], marginals - self.chain.one_hot(), 0.0)

    def pair_counts(self) -> Tensor:
        """Returns the expected counts of neighbouring tags, `[B, C, C]`."""
        chain, total = self.chain, self.log_partition[:, None]
        counts = chain.scores.new_zeros((len(total), *chain.transitions.shape))
        for step in range(1, len(chain.mask)):
            before = (self.arrival[step - 1] + chain.scores[step - 1] - total)[:, :, None]
            pairs = (before + chain.transitions + self.onward[step][:, None]).exp()
            counts += torch.where(chain.mask[step][:, None, None], pairs, 0.0)
        return counts


def _log_prefixes(chain: Chain) -> Tensor:
    """Computes `[T, B, C]`: log sum over the prefixes that arrive at a tag, without its own
    emission.
    """
    arrival = [chain.start.expand_as(chain.scores[0])]
    for score in chain.scores[:-1]:
        arrival.append(((arrival[-1] + score)[:, :, None] + chain.transitions).logsumexp(1))
    return torch.stack(arrival)

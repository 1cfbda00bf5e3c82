"""How fast and how large are the contrastive scores and their loss, beside their literal form?

The literal form is that of *binder*'s authors: the states of all pairs of pieces and the embedding
of their distance are concatenated, a linear layer makes the span vectors, and every mention gets a
copy of the scores of its type under a mask of its own. Masks are true ones (minus infinity) in
both. The weights are the same, and losses and gradients are first found equal. Both run in one
process on one thread, taking turns; CPU time is counted, and the ratio is the median of those of
neighbouring runs. `words` joins pieces to units, of which only the ends can be ends of spans;
`step` puts both under a BERT of the size of MiniLM with random weights and a second one for five
descriptions of 32 pieces.

Peak memory is the growth of the largest resident set of a process of its own, over what it was
before the first step: inputs, weights and libraries do not count, gradients do.

Run `python -m studies.speed.contrast`; it writes `studies/results/contrast_speed.json`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fascicle.models.nn.contrast import (
    ContrastForm,
    ContrastiveScorer,
    LossWeights,
    TextStates,
    contrastive_loss,
)
from studies.common import write_result

ROWS, WIDTH, TYPES, MENTIONS = 8, 384, 5, 10  # mentions of a window
WEIGHTS = LossWeights()
SIDES = ("fascicle", "literal")


@dataclass(frozen=True, kw_only=True)
class Case:
    """Windows of T pieces, the first and last of them special, cut into units, with mentions;
    and a scorer.
    """

    scorer: ContrastiveScorer
    states: Tensor  # [B, T, d]
    types: Tensor  # [K, d]
    first: Tensor  # [B, U], the first piece of each unit
    last: Tensor  # [B, U]
    gold: Tensor  # [G, 4]

    def loss(self, side: str) -> Tensor:
        """Of one side."""
        return our_loss(self, self.states, self.types) if side == "fascicle" else literal_loss(self)

    def step(self, side: str) -> tuple[Tensor, ...]:
        """Loss, and its gradients in states, types and weights."""
        loss = self.loss(side)
        return loss.detach(), *torch.autograd.grad(
            loss, [self.states, self.types, *self.scorer.parameters()]
        )


def case_of(pieces: int, *, words: bool = False, dropout: float = 0.0) -> Case:
    """Random states, units of one piece, or of one to three (1.4 on average), and random
    mentions.
    """
    torch.manual_seed(0)
    form = ContrastForm(pieces=pieces, dropout=dropout)
    inner = pieces - 2
    lengths = torch.tensor([1, 1, 1, 2, 1, 3, 1, 1, 2, 1] * inner)[torch.randperm(10 * inner)]
    ends = lengths.cumsum(0) if words else torch.arange(1, inner + 1)
    last = ends[ends <= inner].expand(ROWS, -1)
    first = F.pad(last[:, :-1], (1, 0)) + 1
    units = last.shape[1]
    start = torch.randint(units, (ROWS * MENTIONS,))
    end = (start + torch.randint(4, start.shape)).clamp(max=units - 1)
    row = torch.arange(ROWS).repeat_interleave(MENTIONS)
    return Case(
        scorer=ContrastiveScorer(form, width=WIDTH, types=TYPES),
        states=torch.randn(ROWS, pieces, WIDTH, requires_grad=True),
        types=torch.randn(TYPES, WIDTH, requires_grad=True),
        first=first,
        last=last,
        gold=torch.stack([row, start, end, torch.randint(TYPES, start.shape)], dim=1).unique(dim=0),
    )


def our_loss(case: Case, states: Tensor, types: Tensor) -> Tensor:
    """By `fascicle.models.nn.contrast`, of other states and types if need be."""

    def gathered(places: Tensor) -> Tensor:
        return states.gather(1, places[..., None].expand(-1, -1, states.shape[2]))

    starts = gathered(case.first)
    text = TextStates(
        starts=starts,
        ends=starts if torch.equal(case.first, case.last) else gathered(case.last),
        whole=states[:, 0],
        first_piece=case.first,
        last_piece=case.last,
    )
    counts = torch.full((len(states),), case.first.shape[1])
    tables = case.scorer.grid(text, case.scorer.project_types(types), counts=counts)
    return contrastive_loss(tables, case.gold, weights=WEIGHTS)


def literal_loss(case: Case, states: Tensor | None = None, types: Tensor | None = None) -> Tensor:
    """As the authors compute it, but for the masks."""
    states, types = (
        case.states if states is None else states,
        case.types if types is None else types,
    )
    scorer, pieces = case.scorer, states.shape[1]
    scores = {
        "start": scorer.text["start"](states)[:, None],
        "end": scorer.text["end"](states)[:, None],
        "span": span_vectors(scorer, states).flatten(1, 2)[:, None],
    }
    for kind, vectors in scores.items():
        of_types = unit(scorer, scorer.types[kind](types))
        scores[kind] = scorer.log_scales[kind].exp() * (
            of_types @ unit(scorer, vectors).squeeze(1).transpose(1, 2)
        )
    row, start, end, type_index = case.gold.unbind(1)
    start, end = case.first[row, start], case.last[row, end]
    cells = {"start": start, "end": end, "span": start * pieces + end}
    total = torch.zeros(())
    for kind, weight in (("start", WEIGHTS.start), ("end", WEIGHTS.end), ("span", WEIGHTS.span)):
        mask = negatives(case, kind, pieces).clone()
        mask[row, type_index, cells[kind]] = False
        threshold = -scores[kind].masked_fill(~mask, -torch.inf).log_softmax(2)[..., 0].mean()
        own = mask[row, type_index]
        own[torch.arange(len(row)), cells[kind]] = True
        each = scores[kind][row, type_index].masked_fill(~own, -torch.inf).log_softmax(1)
        mention = -each[torch.arange(len(row)), cells[kind]].mean()
        total = total + weight * (WEIGHTS.beta * mention + (1 - WEIGHTS.beta) * threshold)
    return total


def span_vectors(scorer: ContrastiveScorer, states: Tensor) -> Tensor:
    """The linear layer on the concatenation, `[B, T, T, h]`."""
    rows, pieces, width = states.shape
    shape = (rows, pieces, pieces, width)
    place = torch.arange(pieces)
    distance = (place - place[:, None]).clamp(0, pieces - 1)
    embedded = F.embedding(distance, scorer.width_term.embedding).expand(rows, -1, -1, -1)
    together = torch.cat(
        [states[:, :, None].expand(shape), states[:, None].expand(shape), embedded], dim=3
    )
    weight = torch.cat(
        [scorer.text["first"].weight, scorer.text["last"].weight, scorer.width_term.weight], dim=1
    )
    return F.linear(together, weight, scorer.text["first"].bias)


def unit(scorer: ContrastiveScorer, vectors: Tensor) -> Tensor:
    """Dropout, then norm 1."""
    return F.normalize(F.dropout(vectors, scorer.form.dropout, scorer.training), dim=-1)


def negatives(case: Case, kind: str, pieces: int) -> Tensor:
    """What may be negative: starts of units, ends of units, spans between them, and place 0;
    `[B, K, M]`.
    """
    starts, ends = (
        torch.zeros(ROWS, pieces, dtype=torch.bool).scatter(1, places, True)
        for places in (case.first, case.last)
    )
    spans = (starts[:, :, None] & ends[:, None]).triu().flatten(1)
    mask = {"start": starts, "end": ends, "span": spans}[kind].clone()
    mask[:, 0] = True
    return mask[:, None].expand(-1, TYPES, -1)


def take_turns(work: dict[str, Callable[[], object]], *, repeats: int) -> dict[str, object]:
    """Median CPU milliseconds of both sides, and median and quartiles of the ratios of
    neighbouring runs.
    """
    times: dict[str, list[float]] = {side: [] for side in work}
    for number in range(repeats + 1):
        for side, run in work.items():
            before = time.process_time()
            run()
            if number:
                times[side].append(1000 * (time.process_time() - before))
    ratios = [other / mine for mine, other in zip(*times.values(), strict=True)]
    return {
        **{f"{side}_ms": round(statistics.median(values), 1) for side, values in times.items()},
        "ratio": round(statistics.median(ratios), 2),
        "ratio_quartiles": [round(value, 2) for value in statistics.quantiles(ratios, n=4)[::2]],
    }


def scoring(case: Case, *, repeats: int) -> dict[str, object]:
    """Equality first (without dropout), then loss and gradients with and without dropout."""
    case.scorer.eval()
    ours, theirs = (case.step(side) for side in SIDES)
    gap = max(
        float((mine - other).abs().max() / other.abs().max())
        for mine, other in zip(ours, theirs, strict=True)
    )
    loss_gap = float((ours[0] - theirs[0]).abs())
    if not (loss_gap < 1e-4 and gap < 1e-3):
        raise RuntimeError(
            f"the two losses differ by {loss_gap}, their gradients by {gap} of the largest"
        )
    report: dict[str, object] = {
        "units": case.first.shape[1],
        "mentions": len(case.gold),
        "loss_difference": loss_gap,
        "gradient_difference": gap,
    }
    for name, training in (("without_dropout", False), ("with_dropout", True)):
        case.scorer.train(training)
        report[name] = take_turns(
            {side: lambda side=side: case.step(side) for side in SIDES}, repeats=repeats
        )
    return report


def whole_step(case: Case, *, repeats: int) -> dict[str, object]:
    """Both under two encoders: forward, backward, and an update by AdamW."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=30522,
        hidden_size=WIDTH,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
    )
    text, types = (BertModel(config, add_pooling_layer=False) for _ in range(2))
    model = nn.ModuleList([text, types, case.scorer]).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-5)
    pieces = torch.randint(30522, case.states.shape[:2])
    descriptions = torch.randint(30522, (TYPES, 32))

    def step(side: str) -> None:
        states = text(pieces).last_hidden_state
        vectors = types(descriptions).last_hidden_state[:, 0]
        loss = (our_loss if side == "fascicle" else literal_loss)(case, states, vectors)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    return take_turns({side: lambda side=side: step(side) for side in SIDES}, repeats=repeats)


def peak(side: str, pieces: int) -> int:
    """Bytes by which a step of scores, loss and gradients raises the peak of this process."""
    case_of(16).step(side)  # loads what is loaded once
    case = case_of(pieces, dropout=0.1)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew
    case.step(side)
    return resident("VmHWM") - before


def resident(field: str) -> int:
    """Bytes, from what Linux says about this process."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (line,) = (line for line in lines if line.startswith(f"{field}:"))
    return 1024 * int(line.split()[1])


def peaks(pieces: int) -> dict[str, object]:
    """Of both sides, each in a fresh process."""
    found = {}
    for side in SIDES:
        command = [
            sys.executable,
            "-m",
            "studies.speed.contrast",
            "--peak",
            side,
            "--pieces",
            str(pieces),
        ]
        found[side] = int(
            subprocess.run(command, check=True, capture_output=True, text=True).stdout
        )
    return {
        **{f"{side}_mb": round(value / 1e6, 1) for side, value in found.items()},
        "share": round(found["fascicle"] / found["literal"], 4),
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(
        description="Contrastive scores and loss beside their literal form, one thread."
    )
    parser.add_argument("--repeats", type=int, default=9, help="runs of each side (default 9)")
    parser.add_argument(
        "--peak", choices=SIDES, help="only print the peak memory of one side, in bytes"
    )
    parser.add_argument(
        "--pieces", type=int, default=128, help="of a window, with --peak (default 128)"
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.peak:
        print(peak(options.peak, options.pieces))
        return
    few = max(3, options.repeats // 3)
    report: dict[str, object] = {
        "what": f"batch {ROWS}, width {WIDTH}, {TYPES} types, float32, CPU milliseconds "
        "(medians) and megabytes (peak)",
        "repeats": options.repeats,
        "repeats_of_256_and_step": few,
        "pieces_128": scoring(case_of(128, dropout=0.1), repeats=options.repeats),
        "words_128": scoring(case_of(128, words=True, dropout=0.1), repeats=options.repeats),
        "pieces_256": scoring(case_of(256, dropout=0.1), repeats=few),
        "step_128": whole_step(case_of(128, dropout=0.1), repeats=few),
        "peak_128": peaks(128),
        "peak_256": peaks(256),
    }
    write_result("contrast_speed", report)
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()

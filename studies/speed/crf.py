"""How fast are the CRF loss and Viterbi beside `pytorch-crf` (package `torchcrf`)?

Both run in one process on one thread, taking turns, so that a busy machine slows both alike; CPU
time is counted, not wall-clock time, and medians are compared. Run `python -m studies.speed.crf`;
it prints the numbers and writes them to `studies/results/crf_speed.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import torch
import torchcrf

from fascicle.models.nn.crf import LinearChainCrf
from fascicle.runtime.decoding.chains import ChainScores, viterbi
from studies.common import RESULTS, take_turns

RESULT = RESULTS / "crf_speed.json"
ROWS, UNITS, TAGS = 32, 128, 13


def layers() -> tuple[LinearChainCrf, torchcrf.CRF]:
    """The two layers with the same parameters."""
    ours, theirs = LinearChainCrf(TAGS), torchcrf.CRF(TAGS, batch_first=True)
    with torch.no_grad():
        theirs.transitions.copy_(ours.transitions)
        theirs.start_transitions.copy_(ours.start)
        theirs.end_transitions.copy_(ours.end)
    return ours, theirs


def compare(lengths: torch.Tensor, *, repeats: int) -> dict[str, dict[str, float]]:
    """Loss with backward pass, and decoding, on one random batch with these lengths."""
    ours, theirs = layers()
    emissions = torch.randn(ROWS, UNITS, TAGS, requires_grad=True)
    tags = torch.randint(TAGS, (ROWS, UNITS))
    mask = torch.arange(UNITS) < lengths[:, None]
    scores, sizes = emissions.detach().numpy(), lengths.numpy()
    parts = {name: value.detach().numpy() for name, value in ours.named_parameters()}
    best, _ = viterbi(scores, sizes, ChainScores(**parts))
    reference = theirs.decode(emissions, mask=mask)
    if any(row[row >= 0].tolist() != path for row, path in zip(best, reference, strict=True)):
        raise RuntimeError("the two decoders disagree")
    return {
        "loss_and_backward": take_turns(
            lambda: ours(emissions, tags, mask).sum().backward(),
            lambda: (-theirs(emissions, tags, mask=mask)).backward(),
            repeats=repeats,
            other="pytorch_crf",
        ),
        "decode": take_turns(
            lambda: viterbi(scores, sizes, ChainScores(**parts)),
            lambda: theirs.decode(emissions, mask=mask),
            repeats=repeats,
            other="pytorch_crf",
        ),
    }


def machine() -> dict[str, object]:
    """What the numbers were measured on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": models[0] if models else platform.processor(),
        "cpu_count": os.cpu_count(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(
        description="CRF loss and Viterbi beside pytorch-crf, one thread, CPU time."
    )
    parser.add_argument("--repeats", type=int, default=50, help="runs of each side (default 50)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, default=RESULT)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    full, ragged = torch.full((ROWS,), UNITS), torch.randint(1, UNITS + 1, (ROWS,))
    ragged[0] = UNITS
    report = {
        "what": f"batch {ROWS} x {UNITS} units x {TAGS} tags, float32, one thread, CPU "
        "milliseconds, medians",
        "date": datetime.now(UTC).date().isoformat(),
        "seed": options.seed,
        "repeats": options.repeats,
        "machine": machine(),
        "full_rows": compare(full, repeats=options.repeats),
        "ragged_rows": compare(ragged, repeats=options.repeats),
    }
    text = json.dumps(report, indent=2) + "\n"
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(text, encoding="utf-8", newline="\n")
    print(text, end="")


if __name__ == "__main__":
    main()

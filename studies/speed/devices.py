"""How many abstracts a second the shipped models read on each device, in turns.

usage: python -m studies.speed.devices TEXTS [--devices cpu cuda] [--rounds N] [--beside TEXT]

TEXTS is a file of abstracts that ``fascicle annotate`` reads; at most 1,000 are taken. ``cuda``
needs ``onnxruntime-gpu`` in place of ``onnxruntime``. Ten minutes are enough on a card. Writes
``results/devices.json``, with how many mentions differ from those of the first device.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from fascicle.core.document import Document
from fascicle.formats import read
from fascicle.loading import load
from studies.common import write_result
from studies.speed.throughput import interleaved

Answers = list[set[tuple[str, int, int]]]


def main(argv: Sequence[str] | None = None) -> None:
    """Measures, writes and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("texts", type=Path)
    parser.add_argument("--devices", nargs="+", default=["cpu", "cuda"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--beside", default="nothing else", help="what else ran meanwhile")
    args = parser.parse_args(argv)
    documents = list(itertools.islice(read(args.texts), 1000))
    models = {
        name: measured(name, documents, args.devices, args.rounds)
        for name in ("biomed", "biomed-fast")
    }
    report = {"texts": len(documents), "beside": args.beside, "models": models}
    write_result("devices", report)
    print(models)


def measured(
    name: str, documents: Sequence[Document], devices: Sequence[str], rounds: int
) -> dict[str, dict[str, float]]:
    """Rate and ratio of each device, and mentions that differ from those of the first."""
    answers: dict[str, Answers] = {}
    contestants = {device: _reading(name, documents, device, answers) for device in devices}
    seconds = interleaved(contestants, rounds)
    base = seconds[devices[0]]
    return {
        device: {
            "texts_per_second": len(documents) / statistics.median(seconds[device]),
            "times_as_fast": statistics.median(
                a / b for a, b in zip(base, seconds[device], strict=True)
            ),
            "mentions_that_differ": _differences(answers[devices[0]], answers[device]),
        }
        for device in devices
    }


def _reading(
    name: str, documents: Sequence[Document], device: str, answers: dict[str, Answers]
) -> Callable[[], object]:
    model = load(name, links=False, device=device)

    def read_all() -> None:
        answers[device] = [
            {(mention.type, mention.start, mention.end) for mention in document.mentions}
            for document in model.stream(documents)
        ]

    return read_all


def _differences(first: Answers, second: Answers) -> int:
    return sum(len(one ^ other) for one, other in zip(first, second, strict=True))


if __name__ == "__main__":
    main()

"""Abstracts a second of an export on a GPU, on the processor, and of the same weights in torch on
the GPU.

usage: python -m studies.speed.gpu RUN [--abstracts 2000] [--rounds 5] [--devices cpu cuda]

``RUN`` is a folder of a training run, which is exported in 32 bits and in 8 bits; ``FASCICLE_DATA``
names the corpora. The contestants take turns. What finds other mentions than the processor is
counted, and the results say how many. Written: ``results/gpu.json``.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fascicle.core.document import Document
from fascicle.core.session import usable_cores
from fascicle.errors import UsageError
from fascicle.loading import load
from fascicle.verbs.export import export
from studies.common import write_result
from studies.speed.citations import ABSTRACTS

Work = Callable[[], Sequence[Any]]


def main() -> None:
    """Measures and writes ``results/gpu.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--abstracts", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--devices", nargs="+", default=["cpu", "cuda"])
    args = parser.parse_args()
    documents = abstracts(args.abstracts)
    with tempfile.TemporaryDirectory() as folder:
        contestants, missing = all_of(args.run, Path(folder), documents, args.devices)
        found = turns(contestants, len(documents), args.rounds)
    report = {
        "abstracts": len(documents),
        "cores": usable_cores(),
        "missing": missing,
        "contestants": found,
    }
    write_result("gpu", report)
    sys.stdout.write(json.dumps(report, indent=1) + "\n")


def abstracts(count: int) -> list[Document]:
    """The first ones with their titles."""
    with gzip.open(Path(os.environ["FASCICLE_DATA"]) / ABSTRACTS, "rt", encoding="utf-8") as stream:
        records = [json.loads(line) for line in itertools.islice(stream, count)]
    return [Document(id=one["id"], text=f"{one['title']}\n{one['abstract']}") for one in records]


def all_of(
    run: Path, folder: Path, documents: Sequence[Document], devices: Sequence[str]
) -> tuple[dict[str, Work], dict[str, str]]:
    """Each form of the model on each device, and why some cannot be had."""
    export(run, folder / "32 bits")
    export(run, folder / "8 bits", int8=True, sample=documents[:64])
    contestants: dict[str, Work] = {}
    missing: dict[str, str] = {}
    for form, device in itertools.product((folder / "32 bits", folder / "8 bits", run), devices):
        name = f"{'torch' if form == run else 'export, ' + form.name} on {device}"
        try:
            model = load(form, device=device)
        except UsageError as error:
            missing[name] = str(error)
            continue
        contestants[name] = lambda model=model: model.predict(documents)
    return contestants, missing


def turns(contestants: Mapping[str, Work], count: int, rounds: int) -> dict[str, Any]:
    """Wall seconds of each in turns, after one round that warms up, and how many documents
    differ from the first.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    answers: dict[str, list[Any]] = {}
    for number in range(rounds + 1):
        for name, work in contestants.items():
            started = time.perf_counter()
            patches = work()
            if number:
                seconds[name].append(time.perf_counter() - started)
            answers[name] = [[(one.type, one.spans) for one in patch.add] for patch in patches]
    first = next(iter(answers.values()))
    return {
        name: {
            "abstracts_per_second": round(count / statistics.median(values), 1),
            "seconds": [round(one, 4) for one in values],
            "documents_that_differ": sum(a != b for a, b in zip(first, answers[name], strict=True)),
        }
        for name, values in seconds.items()
    }


if __name__ == "__main__":
    main()

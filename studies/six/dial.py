"""Speed, size and start-up of exported models that take turns: the dial of sizes.

usage: python -m studies.six.dial NAME=FOLDER [NAME=FOLDER ...] [--pipeline RUN] [--every 4]
[--rounds 5]

All read the same sentences of the BC5CDR test part, with their words, on one core. ``batch 1`` asks
for one sentence after the other, ``batch 32`` for 32 at once, ``bulk`` for all. Quoted is the
median over rounds. Start-up is the time that a new process takes to load the model and answer one
sentence. With ``--pipeline``, the Hugging Face pipeline with the encoder of a run takes turns too,
on one core. The numbers go into ``results/six-dial.json``; models that were measured before, and
not now, stay there as ``earlier``, with the date. It needs an idle machine.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import pipeline

from fascicle.core.document import Document
from fascicle.formats.conll import ConllOptions
from fascicle.formats.files import read
from fascicle.loading import load
from fascicle.runtime.places import find_model
from fascicle.text.annotator import Annotator
from studies.common import result, write_result
from studies.six.rows import stored
from studies.six.tables import dial
from studies.speed.throughput import hugging_face, interleaved

BATCHES = {"1": 1, "32": 32, "bulk": sys.maxsize}
_START = (
    "import sys, fascicle; model = fascicle.load(sys.argv[1], threads=1, links=False); "
    "list(model.annotate(['Lithium caused tremor.']))"
)


def main() -> None:
    """Measures, writes, prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--pipeline", type=Path, metavar="RUN")
    parser.add_argument("--every", type=int, default=4, help="take every n-th sentence")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    torch.set_num_threads(1)  # the pipeline has one core too
    folders = {
        name: find_model(folder)
        for name, _, folder in (given.partition("=") for given in args.models)
    }
    path = Path(os.environ["FASCICLE_DATA"]) / "bc5cdr" / "iob" / "test.tsv"
    documents = list(read(path, format="conll", options=ConllOptions(documents="sentence")))[
        :: args.every
    ]
    work = {
        f"{name} {batch}": reader(load(folder, threads=1, links=False), documents, size)
        for name, folder in folders.items()
        for batch, size in BATCHES.items()
    }
    if args.pipeline:
        model, tokenizer = hugging_face(args.pipeline / "best")
        recogniser = pipeline(
            "token-classification", model=model, tokenizer=tokenizer, aggregation_strategy="simple"
        )
        texts = [d.text for d in documents]
        work["pipeline"] = lambda: [recogniser(text) for text in texts]
    rates = {
        name: [len(documents) / s for s in found]
        for name, found in interleaved(work, args.rounds).items()
    }
    value = {
        "sentences": len(documents),
        "rounds": args.rounds,
        "all_rounds": rates,
        "models": {
            name: of_model(name, folder, rates, rounds=args.rounds)
            for name, folder in folders.items()
        },
    }
    write_result("six-dial", value | {"earlier": earlier(result("six-dial"), folders)})
    sys.stdout.write(dial(stored()) + "\n")


def earlier(before: Mapping[str, Any], now: Collection[str]) -> dict[str, Any]:
    """Models of a results file that are not measured now, with the date of their run."""
    dated = {name: one | {"date": before["date"]} for name, one in before.get("models", {}).items()}
    return {
        name: one for name, one in (before.get("earlier", {}) | dated).items() if name not in now
    }


def reader(model: Annotator, documents: Sequence[Document], size: int) -> Callable[[], object]:
    """Asks a model for so many documents at a time."""
    portions = [documents[at : at + size] for at in range(0, len(documents), size)]
    return lambda: [model.predict(portion) for portion in portions]


def of_model(
    name: str, folder: Path, rates: dict[str, list[float]], *, rounds: int
) -> dict[str, object]:
    """What is measured of one model; the ratio to the pipeline is that of each round."""
    found: dict[str, object] = {
        "megabytes": sum(path.stat().st_size for path in folder.iterdir()) / 1e6,
        "sentences_per_second": {
            batch: statistics.median(rates[f"{name} {batch}"]) for batch in BATCHES
        },
        "start_seconds": statistics.median(start_of(folder) for _ in range(rounds)),
    }
    if "pipeline" in rates:
        found["times_pipeline"] = {
            batch: times(rates[f"{name} {batch}"], rates["pipeline"]) for batch in BATCHES
        }
    return found


def times(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The ratio of two rates: the median of that of each round."""
    return statistics.median(one / other for one, other in zip(ours, theirs, strict=True))


def start_of(folder: Path) -> float:
    """Seconds until a new process has answered."""
    before = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", _START, str(folder)], check=True, stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - before


if __name__ == "__main__":
    main()

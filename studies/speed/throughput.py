"""Sentences per second: the shipped model against the Hugging Face pipeline and a plain torch loop.

usage: python -m studies.speed.throughput RUN [--every 4] [--rounds 5]

All read the same sentences of the BC5CDR test part with the same encoder weights; the contestants
take turns in one process, so that a noisy machine disturbs all alike. Quoted is the median over
rounds, and the median of the ratio within each round.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from transformers import (
    AutoConfig,
    AutoModelForTokenClassification,
    PreTrainedTokenizerFast,
    pipeline,
)

from fascicle.formats.conll import ConllOptions
from fascicle.formats.files import read
from fascicle.loading import load
from fascicle.models.model import load_model
from fascicle.settings.folders.manifest import read_manifest
from studies.common import write_result


def main() -> None:
    """Measures and writes ``results/throughput.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--every", type=int, default=4, help="take every n-th sentence")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    path = Path(os.environ["FASCICLE_DATA"]) / "bc5cdr" / "iob" / "test.tsv"
    documents = list(read(path, format="conll", options=ConllOptions(documents="sentence")))[
        :: args.every
    ]
    shipped = load("biomed", links=False)
    model, tokenizer = hugging_face(args.run / "best")
    recogniser = pipeline(
        "token-classification", model=model, tokenizer=tokenizer, aggregation_strategy="simple"
    )
    texts = [d.text for d in documents]
    contestants: dict[str, Callable[[], object]] = {
        "fascicle": lambda: list(shipped.stream(documents)),
        "pipeline": lambda: [recogniser(text) for text in texts],
        "pipeline_batched": lambda: list(recogniser(texts, batch_size=32)),
        "torch_loop": lambda: torch_loop(model, tokenizer, texts),
    }
    seconds = interleaved(contestants, args.rounds)
    rates = {name: [len(documents) / s for s in values] for name, values in seconds.items()}
    report = {
        "sentences": len(documents),
        "rounds": args.rounds,
        "sentences_per_second": {name: statistics.median(values) for name, values in rates.items()},
        "all_rounds": rates,
        "ratio": {
            name: statistics.median(a / b for a, b in zip(rates["fascicle"], values, strict=True))
            for name, values in rates.items()
            if name != "fascicle"
        },
    }
    write_result("throughput", report)
    print(report["sentences_per_second"], report["ratio"])


def interleaved(
    contestants: dict[str, Callable[[], object]], rounds: int
) -> dict[str, list[float]]:
    """Wall seconds of each contestant in each round, after one round of warm-up."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        for name, work in contestants.items():
            started = time.perf_counter()
            work()
            if number:
                seconds[name].append(time.perf_counter() - started)
    return seconds


def hugging_face(folder: Path) -> tuple[torch.nn.Module, PreTrainedTokenizerFast]:
    """The encoder of a run under a token classification head of transformers, and its tokenizer."""
    manifest = read_manifest(folder)
    ours = load_model(folder, manifest)
    head = ours.head(ours.answer)
    config = AutoConfig.for_model(**ours.encoder.config.to_dict())
    config.id2label = dict(enumerate(head.labels))
    config.label2id = {label: i for i, label in enumerate(head.labels)}
    model = AutoModelForTokenClassification.from_config(config).eval()
    model.base_model.load_state_dict(ours.encoder.network.state_dict(), strict=False)
    model.classifier.load_state_dict(head.linear.state_dict())
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"), pad_token="[PAD]", model_max_length=512
    )
    return model, tokenizer


def torch_loop(
    model: torch.nn.Module, tokenizer: PreTrainedTokenizerFast, texts: Sequence[str]
) -> list[torch.Tensor]:
    """Best tags by a plain fp32 loop over length-sorted batches of 32."""
    encoded = tokenizer(list(texts))["input_ids"]
    order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
    tags: list[torch.Tensor] = [torch.empty(0)] * len(encoded)
    with torch.inference_mode():
        for at in range(0, len(order), 32):
            rows = order[at : at + 32]
            batch = tokenizer.pad({"input_ids": [encoded[i] for i in rows]}, return_tensors="pt")
            best = model(**batch).logits.argmax(-1)
            for row, i in enumerate(rows):
                tags[i] = best[row, : len(encoded[i])]
    return tags


if __name__ == "__main__":
    main()

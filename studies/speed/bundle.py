"""What does a bundle cost beside its slower single model: a training epoch, inference?

usage: python -m studies.speed.bundle [--corpus conll04] [--epochs 2] [--rounds 20]

``FASCICLE_DATA`` names the corpora. The bundle and its two single models are those of
``studies/grids/bundling.toml``, seed 1, trained on the same batches in the same order. They take
turns in one process on one thread, each round in another order, so that a busy machine slows all
alike. An epoch is made of turns of a few steps; quoted is the CPU time of a step, and the median
and the quartiles of the ratios within each round, to the single model that needs more time in all.

Inference is that of exported fp32 graphs on sentences of the test part, from ``Document`` to
``Patch``: the bundle answers by one head, and again by the other. Each is compared with the slower
single model and with the single model of its own head. A head that has learnt too little proposes
hardly any mentions, or very many, which would distort the cost of decoding; so models that propose
less than half as many as there are go on until they do. How many each proposes stands beside its
times.
"""

from __future__ import annotations

import os

os.environ["RAYON_NUM_THREADS"] = "1"  # read by the tokenizer when it is first used

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from fascicle.core.document import Document
from fascicle.errors import UsageError
from fascicle.loading import load
from fascicle.models.encoder import load_pretrained
from fascicle.models.export.folders import export_model
from fascicle.models.model import TorchScorer, save_model
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.folders.manifest import Manifest
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.corpus import Parts
from fascicle.training.engine.loop import Trainer
from fascicle.training.experiments.grid import Grid, read_grid
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.recogniser.prepare import Prepared, prepare, with_answering_head
from studies.bundling.study_tables import GOALS
from studies.common import GRIDS, write_result
from studies.speed.heads import Times, gold_mentions, proposed, take_turns

BUNDLE = "bundle"
TURN = 4  # steps of training in a turn
SYSTEMS = ("softmax", "spanner", BUNDLE)
SINGLE_OF = {"softmax": "softmax", "span": "spanner"}  # head -> system that has it alone


@dataclass(frozen=True, kw_only=True)
class Pupil:
    """A model in training."""

    recipe: Recipe
    prepared: Prepared
    trainer: Trainer
    steps: Iterator[object]

    def turn(self, _: int) -> None:
        """Makes the next batches and trains on them, in whatever round."""
        for _event in islice(self.steps, TURN):
            pass

    def views(self) -> dict[str, Manifest]:
        """The model as each of its heads answers."""
        manifest = self.prepared.manifest
        return {name: with_answering_head(manifest, name) for name in manifest.heads}

    def go_on(self, documents: Sequence[Document]) -> None:
        """Trains until each head proposes half as many mentions as there are, at most to the
        last epoch.
        """
        enough = gold_mentions(documents) / 2
        while self.trainer.epoch < self.recipe.training.epochs:
            self.trainer.model.eval()
            tokenizer = self.prepared.data.tokenizer
            said = [
                proposed(
                    ModelPredictor(
                        m, tokenizer, TorchScorer(model=self.trainer.model, answer=name)
                    ),
                    documents,
                )
                for name, m in self.views().items()
            ]
            if min(said) >= enough:
                return
            self.trainer.model.train()
            for number in range(4):
                self.turn(number)


def pupil(recipe: Recipe, parts: Parts) -> Pupil:
    """An encoder of its own with fresh heads."""
    torch.manual_seed(recipe.seed)
    prepared = prepare(
        recipe, parts, load_pretrained(recipe.model.encoder, revision=recipe.model.revision)
    )
    trainer = Trainer(prepared.model, prepared.data, recipe.training, seed=recipe.seed)
    return Pupil(recipe=recipe, prepared=prepared, trainer=trainer, steps=trainer.run())


def recipes_of(grid: Grid, corpus: str) -> dict[str, Recipe]:
    """The three recipes of a corpus, seed 1.

    Raises:
        UsageError: the grid does not have them.
    """
    found = {
        r.system: r
        for r in grid.runs
        if r.corpus == corpus and not r.variant and r.recipe.seed == 1
    }
    missing = [system for system in SYSTEMS if system not in found]
    if missing:
        known = ", ".join(dict.fromkeys(r.corpus for r in grid.runs))
        raise UsageError(
            f"the grid has no {', '.join(missing)} on {corpus!r} with seed 1; its corpora are "
            f"{known}"
        )
    return {system: found[system].resolved() for system in SYSTEMS}


def training_times(pupils: Mapping[str, Pupil], *, epochs: int) -> dict[str, Any]:
    """CPU time of a step and of an epoch, and the ratio of the bundle to the slower single
    model.
    """
    steps = pupils[BUNDLE].trainer.steps_per_epoch
    rounds = max(2, epochs * steps // TURN)
    times = take_turns({name: each.turn for name, each in pupils.items()}, rounds=rounds, warm_up=2)
    per_step = {name: statistics.median(spent) / TURN for name, spent in times.cpu.items()}
    slower = slower_of(times, [name for name in pupils if name != BUNDLE])
    return {
        "what": f"{rounds} turns of {TURN} steps, after two that do not count; {steps} steps an "
        "epoch",
        "cpu_ms_per_step": {name: round(1000 * spent, 3) for name, spent in per_step.items()},
        "cpu_seconds_per_epoch": {
            name: round(spent * steps, 2) for name, spent in per_step.items()
        },
        "slower": slower,
        "ratio": ratio(times.cpu, BUNDLE, slower),
        "wall_ratio": ratio(times.wall, BUNDLE, slower),
    }


def slower_of(times: Times, names: Sequence[str]) -> str:
    """The one that needed more CPU time in all."""
    return max(names, key=lambda name: sum(times.cpu[name]))


def ratio(times: Mapping[str, Sequence[float]], name: str, base: str) -> dict[str, float]:
    """Median and quartiles of the ratios within each round."""
    ratios = [mine / other for mine, other in zip(times[name], times[base], strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return {"median": round(middle, 3), "low": round(low, 3), "high": round(high, 3)}


def export(pupils: Mapping[str, Pupil], place: Path) -> dict[str, Path]:
    """Exports every model for each of its heads: ``SYSTEM`` or ``bundle.HEAD`` -> folder."""
    folders = {}
    for system, each in pupils.items():
        for head, manifest in each.views().items():
            name = f"{BUNDLE}.{head}" if system == BUNDLE else system
            torch_folder, folders[name] = place / name / "torch", place / name / "fp32"
            torch_folder.mkdir(parents=True)
            tokenizer = each.prepared.data.tokenizer
            save_model(torch_folder, each.trainer.model, manifest=manifest, tokenizer=tokenizer)
            export_model(torch_folder, folders[name], int8=False)
    return folders


def inference_times(
    folders: Mapping[str, Path], documents: Sequence[Document], *, rounds: int
) -> dict[str, Any]:
    """For each head of the bundle the ratios to the slower single model and to the single model
    of that head.
    """
    models = {name: load(folder, threads=1) for name, folder in folders.items()}
    groups = [documents[i::5] for i in range(5)]
    times = take_turns(
        {name: _reader(model, groups) for name, model in models.items()}, rounds=rounds, warm_up=2
    )
    singles = [name for name in folders if name in SINGLE_OF.values()]
    slower = slower_of(times, singles)
    found: dict[str, Any] = {
        "what": f"{rounds} rounds over a fifth of {len(documents)} documents of test, fp32, one "
        "thread",
        "cpu_ms_per_document": {
            name: round(1000 * statistics.median(spent) / len(groups[0]), 3)
            for name, spent in times.cpu.items()
        },
        "mentions": {"gold": gold_mentions(documents)}
        | {name: proposed(m, documents) for name, m in models.items()},
    }
    for head, single in SINGLE_OF.items():
        name = f"{BUNDLE}.{head}"
        own = ratio(times.cpu, name, single)
        found[head] = {
            "slower": slower,
            "ratio": ratio(times.cpu, name, slower),
            "ratio_to_same_head": own,
        }
    return found


def _reader(model: ModelPredictor, groups: Sequence[Sequence[Document]]) -> Callable[[int], object]:
    """Reads one group in each round."""
    return lambda number: model.predict(groups[number % len(groups)])


def missed(report: Mapping[str, Any]) -> Iterator[str]:
    """The goals that were not reached, as sentences; a ratio counts to the two digits that the
    goals have.
    """
    rows = [("training", "training", report["training"])]
    rows += [("inference", f"inference by {head}", report["inference"][head]) for head in SINGLE_OF]
    for goal, title, row in rows:
        if round(row["ratio"]["median"], 2) > GOALS[goal]:
            yield f"{title}: {row['ratio']['median']} times {row['slower']} is above {GOALS[goal]}"


def measure(
    recipes: Mapping[str, Recipe], *, epochs: int, rounds: int, place: Path
) -> dict[str, Any]:
    """Trains, exports, predicts.

    Args:
        recipes: of ``SYSTEMS``, over one corpus, with the paths of this machine.
        epochs: of training that are timed.
        rounds: of prediction.
        place: an empty folder for the models.
    """
    parts = read_parts(recipes[BUNDLE].corpus)
    pupils = {name: pupil(recipe, parts) for name, recipe in recipes.items()}
    training = training_times(pupils, epochs=epochs)
    for each in pupils.values():
        each.go_on(parts.dev[::4])
    inference = inference_times(export(pupils, place), parts.test, rounds=rounds)
    report = {"goals": GOALS, "training": training, "inference": inference}
    return {**report, "missed": list(missed(report))}


def main() -> int:
    """Measures, prints and writes ``results/bundle-cost.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", default="conll04", help="corpus of the grid (default conll04)")
    parser.add_argument(
        "--epochs", type=int, default=2, help="epochs of training that are timed (default 2)"
    )
    parser.add_argument("--rounds", type=int, default=20, help="rounds of prediction (default 20)")
    args = parser.parse_args()
    torch.set_num_threads(1)
    try:
        recipes = recipes_of(read_grid(GRIDS / "bundling.toml"), args.corpus)
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        report = measure(recipes, epochs=args.epochs, rounds=args.rounds, place=Path(folder))
    what = f"the bundle beside its single models: {args.corpus}, one thread; ratios of CPU time"
    write_result("bundle-cost", {"what": what, "corpus": args.corpus, **report})
    print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

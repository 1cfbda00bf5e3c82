"""What does BINDER cost beside taggers, a biaffine head and one pass for each type: a training
step, inference?

usage: python -m studies.speed.binder [--corpus conll04] [--rounds 8] [--sentences 200]

``FASCICLE_DATA`` names the corpora. The systems are those of ``studies/grids/binder.toml``, seed 1,
with the variant ``own`` (a second encoder for the types, as in the paper), a biaffine head, and one
pass of the encoder for each type (``per_type.py``). All stand on the same encoder and are trained
on the same batches in the same order. They take turns in one process on one thread, each round in
another order, so that a busy machine slows all alike; they train in bf16 where the processor has
instructions for it, else in fp32, which the results name. Quoted is CPU time, and the median and
the quartiles of the ratios to the softmax tagger within each round.

The speed table (*binder* Table 7) is words a second, in training and at inference, all in torch,
from documents to mentions. Beside it stands the inference of exported graphs, fp32 and int8,
through ONNX Runtime, which is how a model is used; one pass for each type has no export. Models
that propose less than half as many mentions as there are would distort the cost of decoding, and
are trained on until they do, for six epochs at most. How many each proposes stands beside its
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
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import torch

from fascicle.core.document import Document
from fascicle.errors import UsageError
from fascicle.loading import load
from fascicle.models.encoder import load_pretrained
from fascicle.models.export.folders import export_model
from fascicle.models.heads.binder import tokenise_type_texts
from fascicle.models.model import TorchScorer, head_basis, save_model
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.heads import BiaffineSettings, BinderSettings
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.corpus import Parts
from fascicle.training.engine.loop import StepDone, precision_on
from fascicle.training.experiments.grid import Grid, read_grid
from fascicle.training.recogniser.parts import read_parts
from studies.common import GRIDS, write_result
from studies.speed.heads import (
    BASE,
    Pupil,
    Times,
    gold_mentions,
    proposed,
    pupil,
    ratio,
    take_turns,
)
from studies.speed.per_type import OnePassPerType, PerTypePupil, spans_of

GOALS = {"training": 1.7, "inference": 1.2}  # of `binder`, times the softmax tagger
PER_TYPE = "per_type"
SYSTEMS = (BASE, "crf", "biaffine", "binder", "binder_own")
GRAPHS = ("fp32", "int8")
TURN = 2  # steps of training in a turn
# at most, that the rate falls over: heads stop when they have learnt enough to be timed at
# inference
EPOCHS = 6


def recipes_of(grid: Grid, corpus: str) -> dict[str, Recipe]:
    """The recipes of a corpus, seed 1.

    Raises:
        UsageError: the grid does not have them.
    """
    found = {
        r.system: r.resolved()
        for r in grid.runs
        if r.corpus == corpus and not r.variant and r.recipe.seed == 1
    }
    missing = [system for system in (BASE, "crf", "binder") if system not in found]
    if missing:
        known = ", ".join(dict.fromkeys(r.corpus for r in grid.runs))
        raise UsageError(
            f"the grid has no {', '.join(missing)} on {corpus!r} with seed 1; its corpora are "
            f"{known}"
        )
    replace = msgspec.structs.replace
    binder = found["binder"]
    head = binder.model.head
    assert isinstance(head, BinderSettings)
    own = replace(binder, model=replace(binder.model, head=replace(head, type_encoder="own")))
    biaffine = replace(
        found[BASE], model=replace(binder.model, head=BiaffineSettings(pooling="max"))
    )
    chosen = {
        BASE: found[BASE],
        "crf": found["crf"],
        "biaffine": biaffine,
        "binder": binder,
        "binder_own": own,
    }
    auto = replace(binder.training, precision="auto")
    precision = precision_on(torch.device("cpu"), auto)
    return {
        name: replace(r, training=replace(r.training, epochs=EPOCHS, precision=precision))
        for name, r in chosen.items()
    }


def rival(recipe: Recipe, like: Pupil) -> PerTypePupil:
    """One pass for each type, with the training set and the descriptions of the bi-encoder."""
    torch.manual_seed(recipe.seed)
    pretrained = load_pretrained(recipe.model.encoder, revision=recipe.model.revision)
    manifest = like.prepared.manifest
    head = manifest.answering
    assert isinstance(head, BinderSettings)
    texts = tokenise_type_texts(
        head, head_basis("binder", manifest, pretrained.encoder, pretrained.tokenizer)
    )
    return PerTypePupil(OnePassPerType(pretrained.encoder, texts), like.prepared.data, recipe)


def words_of_steps(like: Pupil, *, turns: int) -> list[int]:
    """Words in the batches of each turn; all are trained on the same ones."""
    counts: list[int] = []
    epoch = 0
    while len(counts) < turns * TURN:
        settings, seed = like.recipe.training, like.recipe.seed
        batches = like.prepared.data.batches(size=settings.batch_size, seed=seed, epoch=epoch)
        counts += [int(batch["unit_count"].sum()) for batch, _ in batches]
        epoch += 1
    return [sum(counts[at : at + TURN]) for at in range(0, turns * TURN, TURN)]


def report(times: Times, words: Sequence[int]) -> dict[str, Any]:
    """Words a second of each, and the ratio of its time to that of the softmax tagger."""
    return {
        name: {
            "words_per_cpu_second": round(
                statistics.median(n / t for n, t in zip(words, spent, strict=True))
            ),
            **({} if name == BASE else {"ratio": ratio(times.cpu, name, BASE)}),
        }
        for name, spent in times.cpu.items()
    }


def one_step(each: Pupil) -> None:
    """One change of the weights."""
    while not isinstance(next(each.steps), StepDone):
        pass


def training_times(
    pupils: Mapping[str, Pupil], other: PerTypePupil, *, rounds: int
) -> dict[str, Any]:
    """A few steps of each in turn."""
    warm_up = 1
    words = words_of_steps(pupils["binder"], turns=rounds + warm_up)[warm_up:]

    def turn(step: Callable[[], object]) -> Callable[[int], object]:
        return lambda _: [step() for _step in range(TURN)]

    works = {name: turn(partial(one_step, each)) for name, each in pupils.items()}
    times = take_turns({**works, PER_TYPE: turn(other.step)}, rounds=rounds, warm_up=warm_up)
    return {
        "what": f"{rounds} turns of {TURN} steps, after one that does not count",
        **report(times, words),
    }


def inference_times(
    models: Mapping[str, ModelPredictor],
    documents: Sequence[Document],
    *,
    rounds: int,
    other: Callable[..., Any] | None,
) -> dict[str, Any]:
    """From documents to mentions, a fifth of them in each round."""
    groups = [documents[i::5] for i in range(5)]

    def reader(read: Callable[[Sequence[Document]], object]) -> Callable[[int], object]:
        return lambda number: read(groups[number % len(groups)])

    works = {name: reader(model.predict) for name, model in models.items()}
    times = take_turns(
        works | ({PER_TYPE: reader(other)} if other else {}), rounds=rounds, warm_up=1
    )
    words = [
        sum(len(d.words or ()) for d in groups[number % len(groups)]) for number in range(rounds)
    ]
    return {
        "what": f"{rounds} rounds over a fifth of {len(documents)} documents of test",
        **report(times, words),
        "mentions": {"gold": gold_mentions(documents)}
        | {name: proposed(m, documents) for name, m in models.items()},
    }


def exported(
    pupils: Mapping[str, Pupil], place: Path, sample: Sequence[Document]
) -> dict[str, dict[str, Path]]:
    """Graph -> system -> folder."""
    folders: dict[str, dict[str, Path]] = {graph: {} for graph in GRAPHS}
    for name, each in pupils.items():
        torch_folder = place / name / "torch"
        torch_folder.mkdir(parents=True)
        manifest, tokenizer = each.prepared.manifest, each.prepared.data.tokenizer
        save_model(torch_folder, each.trainer.model, manifest=manifest, tokenizer=tokenizer)
        for graph in GRAPHS:
            folders[graph][name] = place / name / graph
            export_model(torch_folder, folders[graph][name], sample=sample, int8=graph == "int8")
    return folders


def missed(training: Mapping[str, Any], inference: Mapping[str, Any]) -> Iterator[str]:
    """The goals that were not reached, as sentences."""
    rows = [("training", "training", training)]
    rows += [("inference", f"inference, {graph}", of) for graph, of in inference.items()]
    for goal, title, of in rows:
        median = of["binder"]["ratio"]["median"]
        if round(median, 2) > GOALS[goal]:
            yield f"{title}: {median} times {BASE} is above {GOALS[goal]}"


def measure(
    recipes: Mapping[str, Recipe], parts: Parts, *, rounds: int, sentences: int, place: Path
) -> dict[str, Any]:
    """Trains, exports, predicts.

    Args:
        recipes: of ``SYSTEMS``, over one corpus, with the paths of this machine.
        parts: the corpus.
        rounds: of training; there are twice as many of inference.
        sentences: documents of test that are read.
        place: an empty folder for the models.
    """
    pupils = {name: pupil(recipe, parts) for name, recipe in recipes.items()}
    other = rival(recipes["binder"], pupils["binder"])
    training = training_times(pupils, other, rounds=rounds)
    for each in pupils.values():
        each.go_on(parts.dev[::8])
    documents = parts.test[:: max(1, len(parts.test) // sentences)][:sentences]
    tokenizer = pupils["binder"].prepared.data.tokenizer
    for each in pupils.values():
        each.trainer.model.eval()
    other.model.eval()
    torch_models = {
        name: ModelPredictor(p.prepared.manifest, tokenizer, TorchScorer(model=p.trainer.model))
        for name, p in pupils.items()
    }
    inference = {
        "torch": inference_times(
            torch_models,
            documents,
            rounds=2 * rounds,
            other=lambda given: spans_of(other.model, given, tokenizer, recipes["binder"]),
        )
    }
    for graph, folders in exported(pupils, place, parts.train[:100]).items():
        models = {name: load(folder, threads=1, links=False) for name, folder in folders.items()}
        inference[graph] = inference_times(models, documents, rounds=2 * rounds, other=None)
    precision = pupils[BASE].trainer.precision
    found = {
        "goals": GOALS,
        "types": len(parts.types),
        "precision": precision,
        "training": training,
        "inference": inference,
    }
    return {**found, "missed": list(missed(training, inference))}


def main() -> int:
    """Measures, prints and writes ``results/binder_cost.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", default="conll04", help="corpus of the grid (default conll04)")
    parser.add_argument("--rounds", type=int, default=8, help="rounds of training (default 8)")
    parser.add_argument(
        "--sentences", type=int, default=200, help="documents of test (default 200)"
    )
    args = parser.parse_args()
    torch.set_num_threads(1)
    try:
        recipes = recipes_of(read_grid(GRIDS / "binder.toml"), args.corpus)
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        parts = read_parts(recipes["binder"].corpus)
        found = measure(
            recipes, parts, rounds=args.rounds, sentences=args.sentences, place=Path(folder)
        )
    what = (
        f"BINDER beside other heads and one pass for each type: {args.corpus}, one thread; "
        "ratios of CPU time"
    )
    write_result("binder_cost", {"what": what, "corpus": args.corpus, **found})
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

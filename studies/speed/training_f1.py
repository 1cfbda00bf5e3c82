"""Does the quick dropout change what is learnt? Small trainings with it and with torch's, the same
seeds.

usage: python -m studies.speed.training_f1 [--sentences 800] [--epochs 2] [--seeds 3]

``FASCICLE_DATA`` names the corpora. The softmax tagger on all-MiniLM-L6-v2 is trained on sentences
of NCBI-disease, and scored on its dev part. Both kinds of dropout draw other numbers for one seed,
so F1 differs as between two seeds; what is to be equal is the mean.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from unittest.mock import patch

import msgspec
import torch

from fascicle.core.document import GOLD
from fascicle.evaluation.scoring.scores import score
from fascicle.models.model import TorchScorer
from fascicle.models.nn.dropout import QuickDropout
from fascicle.runtime.predictor import ModelPredictor
from fascicle.training.corpus import Parts
from fascicle.training.engine import loop
from fascicle.training.recogniser.parts import read_parts
from studies.common import write_result
from studies.speed.bundle import pupil
from studies.speed.heads import BASE, recipe_of

KINDS = {"torch": nullcontext, "quick": QuickDropout}


def f1_of(kind: str, parts: Parts, *, seed: int, epochs: int) -> float:
    """Micro F1 on dev, in percent, of one training."""
    recipe = recipe_of(BASE)
    settings = msgspec.structs.replace(recipe.training, epochs=epochs, precision="fp32")
    each = pupil(msgspec.structs.replace(recipe, seed=seed, training=settings), parts)
    with patch.object(loop, "QuickDropout", KINDS[kind]):
        for _ in each.steps:
            pass
    each.trainer.model.eval()
    scorer = TorchScorer(model=each.trainer.model)
    predictor = ModelPredictor(each.prepared.manifest, each.prepared.data.tokenizer, scorer)
    found = {
        d.id: patched.add
        for d, patched in zip(parts.dev, predictor.predict(parts.dev), strict=True)
    }
    scores = score({d.id: d.layer(GOLD) for d in parts.dev}, found)
    return round(100 * scores.micro.f1, 2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Trains, prints and writes ``results/training-f1.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sentences", type=int, default=800, help="of train (default 800)")
    parser.add_argument("--epochs", type=int, default=2, help="default 2")
    parser.add_argument("--seeds", type=int, default=3, help="default 3")
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    whole = read_parts(recipe_of(BASE).corpus)
    parts = replace(
        whole, train=whole.train[: args.sentences], dev=whole.dev[::2], test=whole.test[:10]
    )
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for seed in range(1, args.seeds + 1):
        for kind, scores in found.items():
            scores.append(f1_of(kind, parts, seed=seed, epochs=args.epochs))
            print(kind, seed, scores[-1], flush=True)
    means = {kind: round(statistics.mean(scores), 2) for kind, scores in found.items()}
    facts = {
        "sentences": args.sentences,
        "epochs": args.epochs,
        "dev": len(parts.dev),
        "f1": found,
        "mean": means,
    }
    write_result(
        "training-f1", {"what": "dev F1 with the dropout of torch and with the quick one", **facts}
    )
    print(json.dumps(means))
    return 0


if __name__ == "__main__":
    sys.exit(main())

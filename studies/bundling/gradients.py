"""Do the two losses of a bundle pull the shared encoder in one direction? Their gradients over the
course of training.

usage: python -m studies.bundling.gradients [--corpora conll04 ...] [--seed 1] [--batches 8]
       [--threads 1] [--precision fp32]

``FASCICLE_DATA`` names the corpora. Trains the bundle of ``studies/grids/bundling.toml`` as a run
of that grid does, and looks at it before training and after every epoch. Looking changes nothing:
dropout is off, no number is drawn from torch's generator, and the weights that come out are those
of the run.

What is looked at are always the same batches, in an order (and with spans drawn as no mention) that
no epoch of training uses. Of each batch the loss of each head alone, without its weight, is
differentiated with respect to all parameters of the encoder, in fp32. Given are

- ``cosine`` and ``norm_ratio`` (second head to first) of the two gradients averaged over the
  batches: that of the encoder as a whole, of the embeddings, and of each layer. Single batches are
  noisy, and noise makes gradients orthogonal.
- ``batch_cosines``: the cosine of each batch by itself, which is what a training step sees.
- ``pull``: norm ratio times the ratio of the weights: how strongly the second head moves the
  encoder beside the first.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import torch
from torch import Tensor

from fascicle.errors import FascicleError, UsageError
from fascicle.models.encoder import load_pretrained
from fascicle.models.model import NerModel
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.engine.loop import EpochDone, Trainer
from fascicle.training.experiments.grid import GridRun, read_grid
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.recogniser.prepare import prepare
from studies.common import GRIDS, write_result

WHOLE = "encoder"
BELOW = "embeddings"  # whatever is in no layer
_LAYER = re.compile(r"\.(?:layers?|blocks?|h)\.(\d+)\.")
Batch = tuple[Mapping[str, Tensor], Mapping[str, Tensor]]
Gradients = dict[str, Tensor]  # name of a parameter -> gradient


@dataclass(frozen=True, kw_only=True)
class Products:
    """Inner products of two gradients: with each other, and each with itself."""

    mixed: float = 0.0
    first: float = 0.0
    second: float = 0.0

    def __add__(self, other: Products) -> Products:
        return Products(
            mixed=self.mixed + other.mixed,
            first=self.first + other.first,
            second=self.second + other.second,
        )

    @property
    def cosine(self) -> float | None:
        """Of the angle; ``None`` if a gradient is zero."""
        return (
            self.mixed / math.sqrt(self.first * self.second) if self.first and self.second else None
        )

    @property
    def norm_ratio(self) -> float | None:
        """Norm of the second to that of the first; ``None`` if the first is zero."""
        return math.sqrt(self.second / self.first) if self.first else None


def head_gradients(model: NerModel, batch: Batch) -> dict[str, tuple[float, Gradients]]:
    """Of each head its loss on a batch, without its weight, and the gradient of that in the
    encoder.

    Args:
        model: in evaluation mode, with all heads trained.
        batch: arrays and targets of ``TrainingSet.batches``, where the model is.
    """
    scores = model(batch[0])
    named = dict(model.encoder.named_parameters())
    found = {}
    for name in model.weights:
        loss = model.head(name).loss(scores[name], batch[1][name])
        # The graph of the encoder is needed again by the next head.
        parts = torch.autograd.grad(
            loss, list(named.values()), retain_graph=True, allow_unused=True
        )
        pairs = zip(named.items(), parts, strict=True)
        gradients = {n: torch.zeros_like(p) if part is None else part for (n, p), part in pairs}
        found[name] = (float(loss.detach()), gradients)
    return found


def products(first: Gradients, second: Gradients) -> dict[str, Products]:
    """Inner products by part of the encoder: ``WHOLE``, ``BELOW``, and each layer from 1."""
    found: dict[str, Products] = {WHOLE: Products()}
    for name, a in first.items():
        x, y = a.flatten().double(), second[name].flatten().double()
        of = Products(mixed=float(x @ y), first=float(x @ x), second=float(y @ y))
        found[part_of(name)] = found.get(part_of(name), Products()) + of
        found[WHOLE] = found[WHOLE] + of
    return found


def part_of(parameter: str) -> str:
    """The part of the encoder that a parameter belongs to."""
    layer = _LAYER.search(f".{parameter}")
    return f"layer {int(layer[1]) + 1}" if layer else BELOW


def look(trainer: Trainer, batches: Sequence[Batch]) -> dict[str, Any]:
    """Losses and gradients of the two heads as the model stands; the model is left as it was."""
    first, second = trainer.model.weights
    training = trainer.model.training
    trainer.model.eval()
    losses: dict[str, list[float]] = {first: [], second: []}
    sums: dict[str, Gradients] = {}
    cosines = []
    for batch in batches:
        found = head_gradients(trainer.model, batch)
        for name, (loss, gradients) in found.items():
            losses[name].append(loss)
            sums[name] = (
                {n: g + sums[name][n] for n, g in gradients.items()} if name in sums else gradients
            )
        cosines.append(products(found[first][1], found[second][1])[WHOLE].cosine)
    trainer.model.train(training)
    of_means = products(sums[first], sums[second])
    weights = trainer.model.weights
    ratio = of_means[WHOLE].norm_ratio
    return {
        "losses": {name: sum(values) / len(values) for name, values in losses.items()},
        "pull": None if ratio is None else ratio * weights[second] / weights[first],
        "parts": {
            part: {"cosine": p.cosine, "norm_ratio": p.norm_ratio} for part, p in of_means.items()
        },
        "batch_cosines": cosines,
    }


def fixed_batches(trainer: Trainer, *, seed: int, count: int) -> list[Batch]:
    """The first batches of the epoch after the last one."""
    settings = trainer.settings
    drawn = trainer.data.batches(size=settings.batch_size, seed=seed, epoch=settings.epochs)
    return [
        (
            {n: t.to(trainer.device) for n, t in arrays.items()},
            {n: t.to(trainer.device) for n, t in targets.items()},
        )
        for arrays, targets in itertools.islice(drawn, count)
    ]


def follow(recipe: Recipe, *, count: int) -> Iterator[dict[str, Any]]:
    """Trains a bundle, and looks at it before training (epoch 0) and after every epoch.

    Args:
        recipe: with the paths of its corpora on this machine.
        count: batches to look at.

    Raises:
        UsageError: no bundle in which both heads are trained.
    """
    if len([weight for weight in recipe.weights().values() if weight]) != 2:
        raise UsageError(
            f"{recipe.name} does not train two heads; give a bundle with a weight between 0 and 1"
        )
    parts, pretrained = (
        read_parts(recipe.corpus),
        load_pretrained(recipe.model.encoder, revision=recipe.model.revision),
    )
    torch.manual_seed(recipe.seed)
    prepared = prepare(recipe, parts, pretrained)
    trainer = Trainer(prepared.model, prepared.data, recipe.training, seed=recipe.seed)
    batches = fixed_batches(trainer, seed=recipe.seed, count=count)
    yield {"epoch": 0, **look(trainer, batches)}
    for event in trainer.run():
        if isinstance(event, EpochDone):
            yield {"epoch": event.epoch, **look(trainer, batches)}


def runs_of(corpora: Iterable[str], *, seed: int) -> list[GridRun]:
    """The runs of the plain bundle in the grid.

    Raises:
        UsageError: the grid plans none for a corpus and this seed.
    """
    planned = {
        (run.corpus, run.recipe.seed): run
        for run in read_grid(GRIDS / "bundling.toml").runs
        if run.system == "bundle" and not run.variant
    }
    for corpus in corpora:
        if (corpus, seed) not in planned:
            known = ", ".join(f"{name} {number}" for name, number in planned)
            raise UsageError(
                f"the grid has no bundle on {corpus} with seed {seed}; corpora and seeds are "
                f"{known}"
            )
    return [planned[corpus, seed] for corpus in corpora]


def in_precision(recipe: Recipe, precision: str | None) -> Recipe:
    """A recipe whose training has another precision."""
    if precision is None:
        return recipe
    training = msgspec.structs.replace(recipe.training, precision=precision)
    return msgspec.structs.replace(recipe, training=training)


def main() -> int:
    """Trains, prints and writes ``results/bundling-gradients.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--corpora", nargs="+", default=["conll04"], help="corpora of the grid (default conll04)"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the runs (default 1)")
    parser.add_argument("--batches", type=int, default=8, help="batches to look at (default 8)")
    parser.add_argument("--threads", type=int, default=1, help="of torch (default 1)")
    parser.add_argument(
        "--precision", choices=("bf16", "fp32"), help="of training, if not that of the grid"
    )
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    found: dict[str, Any] = {}
    try:
        for run in runs_of(args.corpora, seed=args.seed):
            recipe, epochs = in_precision(run.resolved(), args.precision), []
            for line in follow(recipe, count=args.batches):
                epochs.append(line)
                print(json.dumps({"run": run.name, **line}), flush=True)
            found[run.name] = {
                "corpus": run.corpus,
                "precision": recipe.training.precision,
                "weights": recipe.weights(),
                "epochs": epochs,
            }
    except FascicleError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    what = (
        f"gradients of the two losses in the encoder, {args.batches} batches, fp32, without dropout"
    )
    write_result("bundling-gradients", {"what": what, "runs": found})
    return 0


if __name__ == "__main__":
    sys.exit(main())

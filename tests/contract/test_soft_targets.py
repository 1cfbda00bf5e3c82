"""A head may be taught probabilities in place of labels: the contract, held by a tagger that is none of the package."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from fascicle.core.arrays import Ints
from fascicle.core.patches import apply
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import score
from fascicle.models.checkpoint import TorchScorer
from fascicle.models.encoder import load_pretrained
from fascicle.models.heads.contract import IGNORED, Basis, Targets
from fascicle.models.heads.tagger import CrfTagger, SoftmaxTagger
from fascicle.models.model import NerModel
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.heads import CrfSettings, SoftmaxSettings
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.text.targets import NONE_UNKNOWN
from fascicle.text.windows import Window
from fascicle.training.engine.loop import Trainer
from fascicle.training.recogniser.data import training_set
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.recogniser.prepare import prepare

TYPES = ("Chemical", "Disease")


class SoftTagger(SoftmaxTagger):
    """Taught how probable each tag is: the tag of the gold, and a share of all others."""

    share = 0.0

    def gold(self, spans: Ints, *, units: int, unknown: Ints = NONE_UNKNOWN) -> Targets:
        tags = super().gold(spans, units=units, unknown=unknown)
        table = (1 - self.share) * np.eye(len(self.labels)) + self.share / len(self.labels)
        return np.where((tags == IGNORED)[:, None], 0, table[tags.clip(min=0)]).astype(np.float32)

    def targets(self, gold: Sequence[Targets], windows: Sequence[Window], *, chance: np.random.Generator) -> Targets:
        widest = max(w.units[1] - w.units[0] for w in windows)
        found = np.zeros((len(windows), widest, len(self.labels)), dtype=np.float32)
        for row, (table, window) in enumerate(zip(gold, windows, strict=True)):
            found[row, : window.units[1] - window.units[0]] = table[slice(*window.units)]
        return found

    def loss(self, scores: Mapping[str, Tensor], targets: Tensor) -> Tensor:
        total = -(targets * F.log_softmax(scores["emissions"].float(), dim=-1)).sum()
        return total / (targets.sum(-1) > 0).sum().clamp(min=1)


class SmoothTagger(SoftTagger):
    """With less than all on the tag of the gold."""

    share = 0.1


def windows_over(units: int) -> list[Window]:
    whole = (0, units)
    return [Window(document=0, segment=whole, units=whole, pieces=whole, keep=whole)]


def test_certain_probabilities_teach_what_labels_teach() -> None:
    """The loss of one-hot tables is that of the labels, also where some units are unknown."""
    torch.manual_seed(1)
    soft, hard = (kind(SoftmaxSettings(), Basis(types=TYPES, width=4)) for kind in (SoftTagger, SoftmaxTagger))
    spans, unknown = np.array([[0, 2, 1], [3, 4, 0]]), np.array([[5, 7]])
    scores = {"emissions": torch.randn(1, 8, len(soft.labels))}
    losses = []
    for head in (soft, hard):
        gold = head.gold(spans, units=8, unknown=unknown)
        targets = head.targets([gold], windows_over(8), chance=np.random.default_rng(0))
        losses.append(float(head.loss(scores, torch.from_numpy(targets))))
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


def test_probabilities_are_learnt_beside_a_head_with_labels(tiny_recipe: Callable[..., Recipe]) -> None:
    """A batch holds a float table for one head and labels for the other; both heads learn ten sentences."""
    recipe = tiny_recipe(model={"family": "softmax"}, training={"epochs": 30})
    pretrained = load_pretrained(recipe.model.encoder)
    torch.manual_seed(recipe.seed)
    parts = read_parts(recipe.corpus)
    prepared = prepare(recipe, parts, pretrained)
    basis = Basis(types=parts.types, width=pretrained.encoder.width)
    heads = {"softmax": SmoothTagger(SoftmaxSettings(), basis), "crf": CrfTagger(CrfSettings(), basis)}
    model = NerModel(pretrained.encoder, heads, answer="softmax", weights={"softmax": 0.5, "crf": 0.5})
    data = training_set(parts.train, pretrained.tokenizer, types=parts.types, reading=recipe.reading, heads=heads)
    batch, targets = next(data.batches(size=4, seed=1, epoch=0))
    assert {name: t.dtype for name, t in targets.items()} == {"softmax": torch.float32, "crf": torch.int64}
    rows, units = batch["first_piece"].shape
    assert targets["softmax"].shape == (rows, units, len(heads["softmax"].labels))
    known = targets["softmax"].sum(-1)
    assert torch.equal(known.round(decimals=5), (torch.arange(units) < batch["unit_count"][:, None]).float())
    for _ in Trainer(model, data, recipe.training, seed=recipe.seed).run():
        pass
    scorer = TorchScorer(model=model.eval())
    patches = ModelPredictor(prepared.manifest, pretrained.tokenizer, scorer).predict(parts.train)
    found = [apply(d, p) for d, p in zip(parts.train, patches, strict=True)]
    assert score(layers(parts.train), layers(found, source=recipe.name)).micro.f1 == 1.0
    scores = [m.score or 0.0 for d in found for m in d.layer(recipe.name)]
    assert max(scores) < 0.99  # what was taught is never certain, so neither is what is learnt

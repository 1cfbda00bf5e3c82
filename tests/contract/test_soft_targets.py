"""A head may be taught probabilities in place of labels, beside a head that is taught labels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from fascicle.core.arrays import Ints
from fascicle.core.patches import apply
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import score
from fascicle.models.encoder import load_pretrained
from fascicle.models.heads.contract import Basis, Targets
from fascicle.models.heads.tagger import CrfTagger, MultiLabelTagger
from fascicle.models.model import NerModel, TorchScorer
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.heads import CrfSettings, MultiLabelSettings
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.text.targets import NONE_UNKNOWN
from fascicle.training.engine.loop import Trainer
from fascicle.training.recogniser.data import training_set
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.recogniser.prepare import prepare


class SmoothTagger(MultiLabelTagger):
    """Taught how probable each label is: never 0, and never 1."""

    def gold(self, spans: Ints, *, units: int, unknown: Ints = NONE_UNKNOWN) -> Targets:
        return self.soft_gold(
            (0.05 + 0.9 * super().gold(spans, units=units)[:, 1:]).astype(np.float32)
        )


def test_probabilities_are_learnt_beside_a_head_with_labels(
    tiny_recipe: Callable[..., Recipe],
) -> None:
    """A batch holds a float table for one head and labels for the other; ten sentences are
    learnt.
    """
    recipe = tiny_recipe(model={"family": "multilabel"}, training={"epochs": 40})
    pretrained = load_pretrained(recipe.model.encoder)
    torch.manual_seed(recipe.seed)
    parts = read_parts(recipe.corpus)
    prepared = prepare(recipe, parts, pretrained)
    basis = Basis(types=parts.types, width=pretrained.encoder.width)
    heads = {
        "multilabel": SmoothTagger(MultiLabelSettings(), basis),
        "crf": CrfTagger(CrfSettings(), basis),
    }
    model = NerModel(
        pretrained.encoder, heads, answer="multilabel", weights={"multilabel": 0.5, "crf": 0.5}
    )
    data = training_set(
        parts.train, pretrained.tokenizer, types=parts.types, reading=recipe.reading, heads=heads
    )
    batch, targets = next(data.batches(size=4, seed=1, epoch=0))
    assert {name: t.dtype for name, t in targets.items()} == {
        "multilabel": torch.float32,
        "crf": torch.int64,
    }
    known = torch.arange(batch["first_piece"].shape[1]) < batch["unit_count"][:, None]
    assert targets["multilabel"].shape == (*known.shape, len(heads["multilabel"].labels))
    assert set(targets["multilabel"][known][:, 1:].unique().tolist()) == {
        np.float32(0.05),
        np.float32(0.95),
    }
    for _ in Trainer(model, data, recipe.training, seed=recipe.seed).run():
        pass
    scorer = TorchScorer(model=model.eval())
    patches = ModelPredictor(prepared.manifest, pretrained.tokenizer, scorer).predict(parts.train)
    found = [apply(d, p) for d, p in zip(parts.train, patches, strict=True)]
    assert score(layers(parts.train), layers(found, source=recipe.name)).micro.f1 == 1.0
    scores = [m.score or 0.0 for d in found for m in d.layer(recipe.name)]
    assert max(scores) < 0.99  # what was taught is never certain, so neither is what is learnt

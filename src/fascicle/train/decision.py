"""How scores become mentions, fitted on development data: the network runs once, decoding as often as it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from fascicle.core.document import Document
from fascicle.recipe.manifest import Decision, Manifest
from fascicle.runtime.decoders import Tables
from fascicle.runtime.predictor import ModelPredictor, Scorer
from fascicle.text.batch import Batch
from fascicle.text.pieces import PieceTokenizer
from fascicle.train.distant import score_known

# Logits; a head that saw one in ten of the spans that are no mention is about log(10) = 2.3 too eager.
BIASES: Final = tuple(float(x) for x in np.arange(-2.0, 4.01, 0.25))


class ReplayedScorer:
    """Runs a network once over a list of documents, and then answers from memory, batch after batch."""

    def __init__(self, scorer: Scorer) -> None:
        """Wraps a scorer that gives the same tables for the same batch."""
        self._scorer = scorer
        self._known: list[Tables] = []
        self._at = 0

    def rewind(self) -> None:
        """The next batch is the first one again."""
        self._at = 0

    def run(self, inputs: Batch) -> Tables:
        """Scores one batch; see ``runtime.predictor.Scorer``."""
        if self._at == len(self._known):
            self._known.append(self._scorer.run(inputs))
        self._at += 1
        return self._known[self._at - 1]


def fit_nothing(
    manifest: Manifest, tokenizer: PieceTokenizer, scorer: Scorer, dev: Sequence[Document]
) -> tuple[Decision, dict[str, float]]:
    """Chooses ``Decision.nothing`` by dev F1; of equally good values the one nearest to 0.

    Args:
        manifest: of the model, with the decision to change.
        tokenizer: of the model.
        scorer: the network.
        dev: development documents with gold.

    Returns:
        The decision, and dev F1 for each value that was tried.
    """
    replayed = ReplayedScorer(scorer)
    found: dict[str, float] = {}
    best = (-1.0, 0.0, manifest.decision)
    for value in sorted(BIASES, key=abs):
        decision = msgspec.structs.replace(manifest.decision, nothing=value)
        predictor = ModelPredictor(msgspec.structs.replace(manifest, decision=decision), tokenizer, replayed)
        replayed.rewind()
        patches = predictor.predict(dev)
        f1 = score_known(dev, {d.id: p.add for d, p in zip(dev, patches, strict=True)}).micro.f1
        found[str(value)] = f1
        best = max(best, (f1, -abs(value), decision), key=lambda row: row[:2])
    return best[2], found

"""The marked form: one pass of the network of the filter for each pair of concepts; see
``plan.md``.

usage: python -m studies.relations.marked RECIPE [--seed N] [--most N]

RECIPE is that of a finder between concepts, and says corpus, pairs and start. All mentions of both
concepts are marked in the abstract, behind their names. Written: ``results/relations-marked.json``.
"""

from __future__ import annotations

import argparse
import json
import resource
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np
import torch
from msgspec.structs import replace

from fascicle.core.arrays import Floats, Ints
from fascicle.core.document import GOLD, Document
from fascicle.evaluation.calibration.reliability import best_threshold, precision_recall
from fascicle.evaluation.scoring.relations import score_relations
from fascicle.evaluation.uncertainty.intervals import bootstrap_f1
from fascicle.models.filter import UntrainedFilter, make_filter
from fascicle.models.model import TorchScorer
from fascicle.runtime.filter import MentionFilter
from fascicle.runtime.relations import make_relation, read_pairs
from fascicle.settings.recipes.any import read_recipe
from fascicle.settings.recipes.filter import FilterManifest, FilterModelSettings, FilterReading
from fascicle.settings.recipes.recogniser import TrainingSettings
from fascicle.settings.recipes.relations import RelationManifest, RelationRecipe
from fascicle.text.marked import EncodedMention, InputForm, MarkedMention, encode_candidates
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.relations import MentionPairs
from fascicle.training.engine.loop import StepDone, Trainer
from fascicle.training.filter.data import FilterSet
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.relations.data import GoldLabels, gold_relations, learnable
from fascicle.training.starting import open_start
from fascicle.version import VERSION
from studies.common import result, write_result

_LONGEST: Final = 192  # pieces; of longer texts the middle of what stands between mentions is cut
_TRAINING: Final = TrainingSettings(epochs=3, batch_size=16, learning_rate=1e-4)


def main(argv: Sequence[str] | None = None) -> None:
    """Trains, scores, writes and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, help="documents of each part; for a trial")
    args = parser.parse_args(argv)
    torch.set_num_threads(1)
    recipe = read_recipe(args.recipe)
    assert isinstance(recipe, RelationRecipe)
    row = measure(replace(recipe, seed=args.seed), most=args.most)
    print(json.dumps(row))
    if args.most is None:
        name = f"{recipe.name}-s{args.seed}"
        rows = {**result("relations-marked").get("rows", {}), name: row}
        write_result("relations-marked", {"rows": rows})


def measure(recipe: RelationRecipe, *, most: int | None = None) -> dict[str, Any]:
    """Trains on train, chooses the threshold on dev, and scores test.

    Args:
        recipe: of a finder between concepts with one type.
        most: documents of each part; all by default.
    """
    parts = read_parts(recipe.corpus)
    train, dev, test = (part[:most] for part in (parts.train, parts.dev, parts.test))
    _, pretrained = open_start(recipe.model)
    finder = _finder(recipe, train, pretrained.tokenizer)
    torch.manual_seed(recipe.seed)
    settings = FilterModelSettings(encoder=recipe.model.start, pool="mean")
    reader = _Reader(finder, make_filter(pretrained, settings))
    started = process_time()
    losses = _train(reader, train, seed=recipe.seed)
    trained = process_time()
    f1, threshold = reader.best(dev)
    return {
        "dev": f1,
        "threshold": threshold,
        "losses": losses,
        "seconds": trained - started,
        "peak_rss_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        **_scores(test, [reader.relate(document, threshold) for document in test]),
    }


class _Reader:
    """Network of the filter over pairs of concepts.

    Attributes:
        fresh: the network and its tokenizer.
        bf16: scores in the arithmetic of training.
    """

    bf16 = False

    def __init__(self, finder: RelationManifest, fresh: UntrainedFilter) -> None:
        """Puts the parts together; the tokenizer has the markers, the finder says the pairs."""
        self.fresh = fresh
        self._finder = finder
        self._form = InputForm(
            start=fresh.marker_ids[0], end=fresh.marker_ids[1], max_length=_LONGEST
        )
        manifest = FilterManifest(
            name="marked",
            fascicle=VERSION,
            runtime="torch",
            types=(),
            marker_ids=fresh.marker_ids,
            model=FilterModelSettings(encoder="start", pool="mean"),
            reading=FilterReading(max_length=_LONGEST),
            tokenizer=fresh.tokenizer.facts,
        )
        self._manifest = manifest

    def read(self, document: Document) -> tuple[MentionPairs, list[EncodedMention], Ints]:
        """The pairs of a document, the input of each statement, and whether it is gold."""
        tokenizer = self.fresh.tokenizer
        pairs, _ = read_pairs(document, document.layer(GOLD), self._finder, tokenizer)
        texts = [marked(document, pairs, at) for at in range(len(pairs.ends))]
        gold = GoldLabels(self._finder.labels).of(document, pairs)
        return pairs, encode_candidates(texts, tokenizer, form=self._form), gold

    def chances(self, inputs: Sequence[EncodedMention]) -> Floats:
        """The probability of each statement."""
        scorer = TorchScorer(model=self.fresh.model.eval(), bf16=self.bf16)
        return MentionFilter(self._manifest, self.fresh.tokenizer, scorer).probabilities(inputs)

    def best(self, documents: Sequence[Document]) -> tuple[float, float]:
        """The best F1 and its threshold."""
        parts = [self.read(document) for document in documents]
        scores = np.concatenate([self.chances(inputs) for _, inputs, _ in parts])
        right = np.concatenate([gold for _, _, gold in parts]) > 0
        relations = sum(len(gold_relations(document)) for document in documents)
        best = best_threshold(precision_recall(scores, right, gold=relations))
        return best.f1, best.threshold

    def relate(self, document: Document, threshold: float) -> Document:
        """The document with the relations from a threshold on."""
        pairs, inputs, _ = self.read(document)
        chances = self.chances(inputs)
        (label,) = self._finder.labels
        kept = np.flatnonzero(chances >= threshold).tolist()
        relations = [make_relation(pairs, at, label, score=float(chances[at])) for at in kept]
        return document.having(relations=tuple(relations))


def _finder(
    recipe: RelationRecipe, train: Sequence[Document], tokenizer: PieceTokenizer
) -> RelationManifest:
    """The pairs and labels of a finder of the recipe."""
    manifest = RelationManifest(
        name=recipe.name,
        fascicle=VERSION,
        runtime="torch",
        labels=(),
        pairs=recipe.relations,
        model=recipe.model,
        reading=recipe.reading,
        tokenizer=tokenizer.facts,
    )
    learnt = learnable(train, manifest, tokenizer)
    return replace(manifest, pairs=learnt.pairs, labels=learnt.labels)


def _train(reader: _Reader, train: Sequence[Document], *, seed: int) -> list[float]:
    """Trains the network; returns the mean loss of each epoch."""
    parts = [reader.read(document) for document in train]
    data = FilterSet(
        inputs=[one for _, inputs, _ in parts for one in inputs],
        labels=np.concatenate([gold for _, _, gold in parts]),
        pad=reader.fresh.tokenizer.pad,
    )
    trainer = Trainer(reader.fresh.model, data, _TRAINING, seed=seed)
    trainer.settle_precision()
    reader.bf16 = trainer.bf16
    losses: list[list[float]] = [[]]
    for event in trainer.run():
        if isinstance(event, StepDone):
            losses[-1].append(event.loss)
            if event.step % 20 == 0:
                print(event.place, f"loss {np.mean(losses[-1][-20:]):.4f}", flush=True)
        else:
            losses.append([])
    return [float(np.mean(epoch)) for epoch in losses[:-1]]


def marked(document: Document, pairs: MentionPairs, at: int) -> MarkedMention:
    """A statement as the network reads it: the names of both concepts, and the text in which all
    their mentions are marked.
    """
    own = pairs.rows[pairs.rows[:, 2] == at]
    sides = [[pairs.mentions[row] for row in np.unique(side).tolist()] for side in own[:, :2].T]
    names = [side[0].text_in(document.text) for side in sides]
    spans = sorted(span for side in sides for mention in side for span in mention.spans)
    apart = [spans[0]]
    for start, end in spans[1:]:
        if start >= apart[-1][1]:
            apart.append((start, end))
    return MarkedMention(text=document.text, spans=tuple(apart), type=" and ".join(names))


def _scores(gold: Sequence[Document], related: Sequence[Document]) -> dict[str, Any]:
    scores = score_relations(gold, related, source=GOLD)
    rates = scores.counts.rates()
    f1 = bootstrap_f1(scores).as_dict()
    return {"strict": {"precision": rates.precision, "recall": rates.recall, "f1": f1}}


if __name__ == "__main__":
    main()

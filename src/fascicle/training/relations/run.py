"""Runs of finders of relations: from a recipe to a run folder.

::

    RUN/recipe.json         the resolved recipe
    RUN/run.json            versions, machine, hashes of the data, counts of pairs and relations
    RUN/metrics.jsonl       one line an epoch
    RUN/best/               the chosen finder, with its calibration and threshold
    RUN/state/              state for ``resume``; removed at the end
    RUN/scores.json         relations of dev and test, between gold mentions
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from msgspec.structs import replace

from fascicle.core.document import GOLD, Document
from fascicle.core.files.atomic import rewritable_folder
from fascicle.core.owners import gold_relations
from fascicle.core.wording import plural
from fascicle.errors import InputError, RecipeError
from fascicle.evaluation.calibration.fitting import fit_temperature
from fascicle.evaluation.calibration.reliability import best_threshold, precision_recall
from fascicle.evaluation.scoring.relations import score_relations
from fascicle.evaluation.scoring.scores import Scores
from fascicle.formats.sources import source_sha256
from fascicle.models.encoder import Pretrained
from fascicle.models.model import TorchScorer
from fascicle.models.relations import RelationModel, load_relation_model, save_relations
from fascicle.runtime.relations import RelationFinder, read_pairs
from fascicle.settings.recipes.filter import ThresholdFacts
from fascicle.settings.recipes.relations import RelationManifest, RelationRecipe
from fascicle.text.pieces import PieceTokenizer
from fascicle.training.corpus import Parts, data_facts
from fascicle.training.engine.events import Ended, KeptModel, Line, Note, Point, Selection
from fascicle.training.engine.loop import Trainer
from fascicle.training.engine.run import Facts, PointResult, Trainee
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.relations.data import (
    GoldLabels,
    Learnable,
    judge_statements,
    learnable,
    missed_notes,
)
from fascicle.training.starting import open_start
from fascicle.version import VERSION

_BEST = "best"


@dataclass(frozen=True, kw_only=True)
class RelationsFinished(Ended):
    """Event: the end of the run of a finder of relations.

    Attributes:
        epoch: the epoch that was chosen.
        manifest: of the finder.
        scores: part -> scores of its relations between gold mentions: strict, and by ends alone.
    """

    epoch: int
    manifest: RelationManifest
    scores: Mapping[str, tuple[Scores, Scores]]

    def as_dict(self) -> dict[str, Any]:
        """See ``Ended``."""
        curve = self.manifest.calibration
        return {
            "epoch": self.epoch,
            "threshold": self.manifest.threshold.value,
            "temperature": curve.temperature if curve else None,
            **{
                part: {**strict.as_dict(), "ends": ends.as_dict()["micro"]}
                for part, (strict, ends) in self.scores.items()
            },
        }


def prepare_relations(
    recipe: RelationRecipe, folder: Path, before: Mapping[str, Any]
) -> _RelationTrainee:
    """Reads the data of a recipe, and builds its finder.

    Args:
        recipe: of the run.
        folder: of the run.
        before: content of ``run.json`` of the same run; empty if the run is new.

    Raises:
        InputError: the corpus cannot be used, or has no relation that can be learnt.
        RecipeError: the recipe does not fit the encoder.
    """
    parts = read_parts(recipe.corpus)
    pretrained = _open_encoder(recipe)
    tokenizer = pretrained.tokenizer
    manifest = _manifest(recipe, tokenizer)
    learnt = learnable(parts.train, manifest, tokenizer)
    manifest = replace(manifest, pairs=learnt.pairs, labels=learnt.labels)
    missed = _missed(parts, manifest, tokenizer)
    torch.manual_seed(recipe.seed)
    model = RelationModel(pretrained.encoder, manifest)
    trainer = Trainer(model, learnt.data, recipe.training, seed=recipe.seed)
    trainer.settle_precision(before.get("precision"))
    facts = Facts(
        data=data_facts(recipe),
        more={"counts": learnt.facts, "missed": {"train": learnt.missed, "dev": missed}}
        | trainer.facts(),
        notes=[*trainer.notes(), *parts.notes, *_notes(learnt), *missed_notes("dev", missed)],
    )
    return _RelationTrainee(
        folder=folder,
        recipe=recipe,
        manifest=manifest,
        parts=parts,
        tokenizer=tokenizer,
        loop=trainer,
        facts=facts,
    )


def _manifest(recipe: RelationRecipe, tokenizer: PieceTokenizer) -> RelationManifest:
    return RelationManifest(
        name=recipe.name,
        fascicle=VERSION,
        runtime="torch",
        labels=(),
        pairs=recipe.relations,
        model=recipe.model,
        reading=recipe.reading,
        tokenizer=tokenizer.facts,
    )


def _notes(learnt: Learnable) -> Iterator[str]:
    counts = ", ".join(f"{count:,} {name}" for name, count in learnt.facts.items())
    types = ", ".join(" and ".join(pair) for pair in learnt.pairs.types)
    yield f"train has {counts}, of mentions of the types {types}"
    yield from missed_notes("train", learnt.missed)


def _open_encoder(recipe: RelationRecipe) -> Pretrained:
    _, pretrained = open_start(recipe.model)
    longest = pretrained.encoder.longest
    if recipe.reading.max_length > longest:
        raise RecipeError(
            f"reading.max_length = {recipe.reading.max_length} is more than the "
            f"{plural(longest, 'piece')} that {recipe.model.origin} reads; lower it (longer texts "
            "are read in several windows)"
        )
    return pretrained


def _missed(
    parts: Parts, manifest: RelationManifest, tokenizer: PieceTokenizer
) -> Mapping[str, int]:
    """Returns why relations of dev are among no statements -> how many.

    Raises:
        InputError: dev has no relations, or none that an answer can be.
    """
    gold = GoldLabels(manifest.labels)
    for document in parts.dev:
        gold.of(document, read_pairs(document, document.layer(GOLD), manifest, tokenizer)[0])
    if gold.missed.total() == sum(len(document.relations) for document in parts.dev):
        reasons = "; ".join(missed_notes("dev", gold.missed)) or "there are none"
        raise InputError(
            f"dev holds no relations that an answer can be ({reasons}), on which the epoch and the "
            "threshold are chosen; give a dev part with relations like those of train"
        )
    return gold.missed


@dataclass(kw_only=True, eq=False)
class _RelationTrainee(Trainee):
    """Trainee: a finder of relations, scored on dev; see `prepare_relations`."""

    folder: Path
    recipe: RelationRecipe
    manifest: RelationManifest
    parts: Parts
    tokenizer: PieceTokenizer
    loop: Trainer
    facts: Facts

    def __post_init__(self) -> None:
        """Sets the criterion by which the epoch is chosen."""
        training = self.recipe.training
        best = KeptModel(folder=_BEST, merit=lambda line: float(line["dev"]["f1"]))
        self.choice = Selection.of(
            training, best, aim=f"F1 on dev for {training.patience_epochs} epochs"
        )

    @property
    def _model(self) -> RelationModel:
        assert isinstance(self.loop.model, RelationModel)
        return self.loop.model

    def judge(self, point: Point) -> PointResult:
        """Scores the relations of dev at the best threshold."""
        scorer = TorchScorer(model=self._model.eval(), bf16=self.loop.bf16)
        judged, _ = judge_statements(
            RelationFinder(self.manifest, self.tokenizer, scorer), self.parts.dev
        )
        best = best_threshold(
            precision_recall(judged.scores, judged.right, gold=sum(judged.gold.values()))
        )
        figures = f"dev F1 {100 * best.f1:.2f} from a probability of {best.threshold:.2f} on"
        return PointResult(lines=[point.line(dev={"f1": best.f1, **vars(best)})], figures=figures)

    def keep(self, place: Path, model: KeptModel) -> None:
        """Writes the folder of the finder."""
        save_relations(place, self._model, manifest=self.manifest, tokenizer=self.tokenizer)

    def finish(self, lines: Sequence[Line]) -> Iterator[Note | Ended]:
        """Fits calibration and threshold of the best epoch on dev, and scores dev and test."""
        (best,) = lines
        model = load_relation_model(self.folder / _BEST, self.manifest)
        scorer = TorchScorer(model=model.to(self.loop.device))
        manifest = self._fitted(RelationFinder(self.manifest, self.tokenizer, scorer))
        with rewritable_folder(self.folder / _BEST, kind="run") as place:
            save_relations(place, model, manifest=manifest, tokenizer=self.tokenizer)
        finder = RelationFinder(manifest, self.tokenizer, scorer)
        yield RelationsFinished(
            folder=self.folder,
            epoch=best["epoch"],
            manifest=manifest,
            scores={
                part: _scores(finder, documents)
                for part, documents in (("dev", self.parts.dev), ("test", self.parts.test))
                if documents
            },
        )

    def _fitted(self, finder: RelationFinder) -> RelationManifest:
        judged, related = judge_statements(finder, self.parts.dev)
        fitted = fit_temperature(dataclasses.replace(judged, right=related))
        manifest = self.manifest
        if not fitted.at_bound:
            manifest = replace(manifest, calibration=fitted.curve())
        scores = RelationFinder(manifest, self.tokenizer, finder.scorer).calibrated(judged.scores)
        curve = precision_recall(scores, judged.right, gold=sum(judged.gold.values()))
        facts = ThresholdFacts(
            value=best_threshold(curve).threshold,
            aim="f1",
            chosen_on=source_sha256(self.recipe.corpus.dev),
            documents=len(self.parts.dev),
        )
        return replace(manifest, threshold=facts)


def _scores(finder: RelationFinder, documents: Sequence[Document]) -> tuple[Scores, Scores]:
    patches = finder.relate(documents, [document.layer(GOLD) for document in documents])
    predicted = [
        document.having(relations=patch.relations)
        for document, patch in zip(documents, patches, strict=True)
    ]
    gold = [document.having(relations=gold_relations(document)) for document in documents]
    strict = score_relations(gold, predicted, source=GOLD)
    return strict, score_relations(gold, predicted, source=GOLD, ends_only=True)

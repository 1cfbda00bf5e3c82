"""Recogniser runs of the engine: scored on dev; the best model of each head is kept and scored on
dev and test.

::

    RUN/recipe.json         the resolved recipe
    RUN/run.json            versions, machine, hashes of the data, entity types, gold that the model
    cannot represent RUN/metrics.jsonl       one line each time that dev was scored: after every
                            epoch, or every few steps; of several corpora, the types of its scores
                            are those of each, as PART/TYPE
    RUN/predictions/        dev-epoch-01.tsv ... or dev-step-000050.tsv ..., dev.tsv, test.tsv:
    text-free RUN/best/               the chosen model; of a bundle, that of the answering head
    RUN/best-HEAD/          of a bundle, the model that is best for its other head; so for
    predictions: dev.HEAD.tsv ... RUN/state/              state for ``resume``; removed at the end
    RUN/scores.json         the chosen model on dev and test
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import torch

from fascicle.core.document import Document
from fascicle.core.files.atomic import atomic_writer, rewritable_folder
from fascicle.core.lazy import cached_property
from fascicle.errors import RecipeError
from fascicle.evaluation.scoring.scores import Scores
from fascicle.formats.predictions import Prediction, write_tsv
from fascicle.models.encoder import Pretrained
from fascicle.models.model import NerModel, TorchScorer, load_model, save_model
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.folders.best import model_folder
from fascicle.settings.folders.manifest import Manifest
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.types import read_types
from fascicle.terms.abbreviations.resolving import FittedRules, Found, fit_rules
from fascicle.text.reading import CachedReader
from fascicle.text.segment import SEGMENTERS, segmenter
from fascicle.text.taught import TAUGHT, all_sentence_hashes, pack_hashes, unpack_hashes
from fascicle.training.corpus import Parts
from fascicle.training.engine.events import Finished, HeadScores, KeptModel, Line, Point, Selection
from fascicle.training.engine.loop import Trainer
from fascicle.training.engine.run import Facts, PointResult, Trainee
from fascicle.training.recogniser.data import TrainingSet
from fascicle.training.recogniser.judging import Judge, SeveralCorpora, fit_threshold, is_unfitted
from fascicle.training.recogniser.parts import read_data, representation_notes
from fascicle.training.recogniser.prepare import (
    Prepared,
    check_encoder,
    prepare,
    with_answering_head,
)
from fascicle.training.starting import open_start, reduce_vocabulary


def prepare_recogniser(recipe: Recipe, folder: Path, before: Mapping[str, Any]) -> Recogniser:
    """Reads the data of a recipe and builds its model.

    Args:
        recipe: of the run.
        folder: of the run, for predictions.
        before: content of ``run.json`` of the same run; empty if the run is new.

    Raises:
        InputError: corpus or dictionary cannot be read, or the corpus holds no mentions.
        RecipeError: the recipe does not fit encoder or corpus, or its descriptions of types do not.
    """
    check_names(recipe)
    for key, path in recipe.files().items():
        if key.endswith(".types"):
            read_types(path)  # its errors are reported before a corpus is read
    parts = read_data(recipe)
    trained, pretrained = open_start(recipe.model)
    notes = list[str]()
    if recipe.vocabulary:
        pretrained, note = reduce_vocabulary(
            pretrained, parts.train, pieces=recipe.vocabulary.pieces
        )
        notes.append(note)
    check_encoder(recipe, pretrained)
    torch.manual_seed(recipe.seed)
    prepared = prepare(recipe, parts, pretrained)
    if trained:
        notes += trained.hand_on(prepared.model, prepared.manifest)
    prepared = replace(prepared, notes=(*prepared.notes, *notes))
    trainer = Trainer(prepared.model, prepared.data, recipe.training, seed=recipe.seed)
    trainer.settle_precision(before.get("precision"))
    return Recogniser(
        folder=folder,
        recipe=recipe,
        parts=parts,
        prepared=prepared,
        pretrained=pretrained,
        loop=trainer,
    )


@dataclass(frozen=True, kw_only=True)
class _View:
    """Model with one of its heads as the answering one, and the place for the best model of that
    head.
    """

    name: str
    manifest: Manifest
    suffix: str = ""  # of names of files; empty for the answering head

    @classmethod
    def of(cls, name: str, manifest: Manifest) -> _View:
        """Returns the view of a head."""
        if name == manifest.decision.answer:
            return cls(name=name, manifest=manifest)
        return cls(name=name, manifest=with_answering_head(manifest, name), suffix=f".{name}")

    @property
    def folder(self) -> str:
        """Folder of the model that is best for this head."""
        return f"best-{self.name}" if self.suffix else "best"

    @property
    def key(self) -> str:
        """Key of its dev scores in a line."""
        return f"dev{self.suffix}"

    def f1(self, line: Line) -> float:
        """Returns the value by which its model is chosen."""
        scores = line[self.key]
        return float(scores[scores.get("average", "micro")]["f1"])

    def deciding(self, **changes: Any) -> _View:
        """Returns the view with another decision."""
        decision = msgspec.structs.replace(self.manifest.decision, **changes)
        return replace(self, manifest=msgspec.structs.replace(self.manifest, decision=decision))


@dataclass(kw_only=True, eq=False)
class Recogniser(Trainee):
    """Trainee: a model of one or two heads; see ``prepare_recogniser``."""

    folder: Path
    recipe: Recipe
    parts: Parts
    prepared: Prepared
    pretrained: Pretrained
    loop: Trainer

    def __post_init__(self) -> None:
        """Sets the criterion by which the model is chosen, and the facts about the run."""
        manifest = self.prepared.manifest
        several = {part.name: part.annotates for part in self.parts.several}
        self._judge = SeveralCorpora(annotates=several) if several else Judge()
        # Dev is cut once, because it is used at every scoring and for every value of a decision.
        self._reader = CachedReader(self.parts.dev, reader=self.prepared.inputs.reader)
        answer = manifest.decision.answer
        names = (answer, *(name for name in manifest.heads if name != answer))
        views = [_View.of(name, manifest) for name in names]
        self._views = {view.folder: view for view in views}
        self._fitted = dict[str, _View]()
        training = self.recipe.training
        times = f"{training.patience_epochs} epochs" if training.patience_epochs else ""
        aim = f"dev F1 for {times or f'{training.patience_validations} times that dev was scored'}"
        models = (KeptModel(folder=view.folder, merit=view.f1) for view in self._views.values())
        self.choice = Selection.of(training, *models, aim=aim)
        self.facts = self._make_facts()

    def _make_facts(self) -> Facts:
        recipe, data = self.recipe, self.prepared.data
        return Facts(
            data=self.parts.facts(recipe),
            more={
                "types": self.parts.types,
                "not_representable": {name: dict(reasons) for name, reasons in data.lost.items()},
                "windows": len(data.windows),
                "steps": self.loop.steps,
                **({"parts": several} if (several := _parts_facts(self.parts, data)) else {}),
                **self.loop.precision_facts(),
            },
            notes=self._notes(),
        )

    def _notes(self) -> Iterator[str]:
        recipe = self.recipe
        yield from self.prepared.notes
        if recipe.weights()[recipe.answer()] == 0:
            yield (
                f"the head {recipe.answer()!r} answers and has the weight 0: it learns nothing, "
                "and its scores are chance; set bundle.answer to the other head, or another "
                "bundle.weight"
            )
        yield from self.parts.notes
        yield from representation_notes(
            self.parts, self.prepared.data, recipe, self.pretrained.tokenizer, self._reader
        )
        yield from self.loop.notes()

    def judge(self, point: Point) -> PointResult:
        """Scores dev by each head, and writes its predictions."""
        name = f"dev-step-{point.step:06d}" if self.choice.every else f"dev-epoch-{point.epoch:02d}"
        self._fitted = {folder: self._with_threshold(view) for folder, view in self._views.items()}
        views = tuple(self._fitted.values())
        scores = [
            self._predict_and_score(self.prepared.model, view, self.parts.dev, name, live=True)
            for view in views
        ]
        line = point.line(
            **{view.key: of_one.as_dict() for view, of_one in zip(views, scores, strict=True)}
        )
        figures = self._figures(dict(zip((view.name for view in views), scores, strict=True)))
        return PointResult(lines=[line], figures=figures)

    def _figures(self, scores: Mapping[str, Scores]) -> str:
        """Returns precision, recall and F1 on dev of the answering head, in percent, and F1 of
        the other heads.
        """
        (_, own), *rest = ((name, self._judge.rates(of_one)) for name, of_one in scores.items())
        heads = "".join(f", {name} F1 {100 * rates.f1:.2f}" for name, rates in rest)
        dev = "dev" if self._judge.average == "micro" else "dev macro"
        return (
            f"{dev} P {100 * own.precision:.2f} R {100 * own.recall:.2f} F1 "
            f"{100 * own.f1:.2f}{heads}"
        )

    def keep(self, place: Path, model: KeptModel) -> None:
        """Writes the model folder of one head."""
        view = self._fitted.get(model.folder) or self._with_threshold(self._views[model.folder])
        self._save(place, self.prepared.model, view)

    def _save(self, place: Path, model: NerModel, view: _View) -> None:
        beside = {**self.prepared.inputs.files, **self._sentence_hashes}
        save_model(
            place,
            model,
            manifest=view.manifest,
            tokenizer=self.pretrained.tokenizer,
            dictionaries=beside,
        )

    @cached_property
    def _sentence_hashes(self) -> dict[str, bytes]:
        """Hashes of the training texts as a file; none where the start model has no such file."""
        hashes = all_sentence_hashes(
            self.parts.train, segmenter(self.prepared.manifest.reading.segmenter).sentences
        )
        if not (start := self.recipe.model.start):
            return {TAUGHT: pack_hashes(hashes)}
        before = model_folder(Path(start)) / TAUGHT
        return (
            {TAUGHT: pack_hashes(hashes | unpack_hashes(before.read_bytes()))}
            if before.is_file()
            else {}
        )

    def finish(self, lines: Sequence[Line]) -> Iterator[Finished]:
        """Scores the chosen models in fp32 on dev and test."""
        views = self._views.values()
        answered, *other_heads = (
            self._final(view, line) for view, line in zip(views, lines, strict=True)
        )
        yield Finished(folder=self.folder, answer=answered, other_heads=tuple(other_heads))

    def _final(self, view: _View, line: Line) -> HeadScores:
        """Scores the best model of a head, and first fits its decision as the recipe asks."""
        device = next(self.prepared.model.parameters()).device
        model = load_model(self.folder / view.folder, view.manifest).to(device)
        view, tuned = self._fit_decision(model, view)
        if tuned:
            with rewritable_folder(self.folder / view.folder, kind="run") as place:
                self._save(place, model, view)
        dev = self._predict_and_score(model, view, self.parts.dev, "dev")
        test = None
        if self.parts.test:
            test = self._predict_and_score(model, view, self.parts.test, "test")
        return HeadScores(
            head=view.name,
            epoch=line["epoch"],
            step=line.get("step"),
            dev=dev,
            test=test,
            tuned=tuned,
        )

    def _fit_decision(self, model: NerModel, view: _View) -> tuple[_View, dict[str, Any]]:
        """Returns the view with its decision fitted on dev, and the fitted values for
        ``scores.json``.
        """
        tuned: dict[str, Any] = {}
        if self.recipe.decision.tune == "nothing" or is_unfitted(view.manifest):
            view, tried = self._tuned(TorchScorer(model=model.eval(), answer=view.name), view)
            decision = view.manifest.decision
            tuned = {"nothing": decision.nothing, "dev_f1_by_nothing": tried}
            if own := decision.nothing_by_type:
                tuned["nothing_by_type"] = dict(zip(view.manifest.types, own, strict=True))
        if self.recipe.decision.abbreviations == "fit":
            view, fitted = self._with_rules(model, view)
            tuned["abbreviations"] = fitted.as_dict()
        return view, tuned

    def _with_rules(self, model: NerModel, view: _View) -> tuple[_View, FittedRules]:
        """Returns the view with rules for abbreviations that were chosen on dev."""
        predicted = self._predict(
            TorchScorer(model=model.eval(), answer=view.name), view, self.parts.dev
        )

        def merit(changed: Found) -> float:
            return self._judge.rates(self._judge.scores(self.parts.dev, changed)).f1

        decision = view.manifest.decision
        fitted = fit_rules(
            self.parts.dev,
            predicted,
            merit=merit,
            chosen_on=decision.chosen_on,
            apart=decision.apart or (),
        )
        return view.deciding(abbreviations=fitted.rules), fitted

    def _with_threshold(self, view: _View) -> _View:
        """Returns the view with a threshold for the current weights, if its head has no
        threshold of its own.
        """
        if not is_unfitted(view.manifest):
            return view
        return self._tuned(
            TorchScorer(model=self.prepared.model.eval(), answer=view.name, bf16=self.loop.bf16),
            view,
        )[0]

    def _tuned(self, scorer: TorchScorer, view: _View) -> tuple[_View, dict[str, float]]:
        """Returns the view with its decision fitted on dev, and dev F1 of all values that were
        tried.
        """
        decision, tried = fit_threshold(
            view.manifest,
            self.pretrained.tokenizer,
            scorer,
            self.parts.dev,
            reader=self._reader,
            judge=self._judge,
        )
        return view.deciding(
            nothing=decision.nothing, nothing_by_type=decision.nothing_by_type
        ), tried

    def _predict_and_score(
        self,
        model: NerModel,
        view: _View,
        documents: Sequence[Document],
        name: str,
        *,
        live: bool = False,
    ) -> Scores:
        """Predicts, writes the predictions, and scores them; a live model uses the arithmetic of
        training.
        """
        scorer = TorchScorer(model=model.eval(), answer=view.name, bf16=live and self.loop.bf16)
        predicted = self._predict(scorer, view, documents)
        with atomic_writer(
            self.folder / "predictions" / f"{name}{view.suffix}.tsv", overwrite=True
        ) as stream:
            write_tsv(
                (
                    Prediction(id=i, sha256=None, mentions=m, events=())
                    for i, m in predicted.items()
                ),
                stream,
            )
        return self._judge.scores(documents, predicted)

    def _predict(self, scorer: TorchScorer, view: _View, documents: Sequence[Document]) -> Found:
        """Returns document id -> mentions."""
        predictor = ModelPredictor(
            view.manifest, self.pretrained.tokenizer, scorer, read=self._reader
        )
        return {d.id: p.add for d, p in zip(documents, predictor.predict(documents), strict=True)}


def _parts_facts(parts: Parts, data: TrainingSet) -> dict[str, Any]:
    """Returns the facts about each of several corpora, for ``run.json``."""
    windows = data.mixture.quotas if data.mixture else ()
    return {
        part.name: {
            "annotates": part.annotates,
            "train": {
                "documents": len(part.train),
                "mentions": part.mentions,
                "excluded": part.excluded,
            },
            "dev": {"documents": len(part.dev)},
            "windows_an_epoch": quota,
        }
        for part, quota in zip(parts.several, windows, strict=True)
    }


def check_names(recipe: Recipe) -> None:
    """Refuses names of parts that this release does not have."""
    name = recipe.reading.segmenter
    if name not in SEGMENTERS:
        allowed = ", ".join(map(repr, SEGMENTERS))
        raise RecipeError(f"reading.segmenter = {name!r} is not allowed: allowed are {allowed}")

"""A training run: from a recipe to a folder that holds everything it gave.

::

    RUN/recipe.json         the resolved recipe
    RUN/run.json            versions, machine, hashes of the data, entity types, what the model cannot represent
    RUN/metrics.jsonl       one line per epoch
    RUN/predictions/        dev-epoch-01.tsv ..., dev.tsv, test.tsv: text-free
    RUN/best/               the chosen model
    RUN/state/              what ``resume`` needs; removed at the end
    RUN/scores.json         the chosen model on dev and test
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor

from fascicle.core.document import Document
from fascicle.errors import OutputError, RecipeError
from fascicle.evaluate.inputs import layers
from fascicle.evaluate.scores import Scores, score
from fascicle.formats.atomic import atomic_folder, atomic_text_writer, atomic_writer
from fascicle.formats.predictions import Prediction, write_tsv
from fascicle.models.checkpoint import TorchScorer, load_model, save_model
from fascicle.models.encoder import Pretrained, load_pretrained
from fascicle.models.model import NerModel
from fascicle.recipe.manifest import Manifest, write_manifest
from fascicle.recipe.settings import Recipe
from fascicle.runtime.predictor import ModelPredictor
from fascicle.text.segment import SEGMENTERS
from fascicle.train.data import TrainingSet
from fascicle.train.decision import fit_nothing
from fascicle.train.environment import describe_environment
from fascicle.train.loop import EpochDone, StepDone, Trainer
from fascicle.train.parts import Parts, read_parts, representable
from fascicle.train.prepare import check_encoder, prepare
from fascicle.train.state import restore_state, save_state


@dataclass(frozen=True, kw_only=True)
class Note:
    """Something to tell the user, as one sentence."""

    text: str


@dataclass(frozen=True, kw_only=True)
class EpochScored:
    """An epoch with its development scores."""

    epoch: int
    epochs: int
    loss: float
    seconds: float
    dev: Scores
    best: bool


@dataclass(frozen=True, kw_only=True)
class Finished:
    """The end of a run: the chosen epoch, its dev scores, and test scores if the recipe names a test part."""

    folder: Path
    epoch: int
    dev: Scores
    test: Scores | None


RunEvent = Note | StepDone | EpochScored | Finished


def run_recipe(recipe: Recipe, folder: Path, *, resume: bool = False) -> Iterator[RunEvent]:
    """Trains, scores every epoch on dev, keeps the chosen model, scores it on test.

    Args:
        recipe: what to do.
        folder: of the run; must not exist, unless ``resume``.
        resume: go on after the last complete epoch of an interrupted run of the same recipe.

    Yields:
        Events, in order; the last one is ``Finished``.

    Raises:
        OutputError: the folder exists, or holds no run of this recipe that could be resumed.
        InputError: the corpus cannot be read or holds no mentions.
        RecipeError: the recipe does not fit encoder or corpus.
    """
    _check_folder(folder, recipe, resume=resume)
    _check_names(recipe)
    started = time.perf_counter()
    parts = read_parts(recipe.corpus)
    pretrained = load_pretrained(recipe.model.encoder, revision=recipe.model.revision)
    check_encoder(recipe, pretrained)
    _start_folder(folder, recipe)
    torch.manual_seed(recipe.seed)
    prepared = prepare(recipe, parts, pretrained)
    manifest, model, data = prepared.manifest, prepared.model, prepared.data
    yield from (Note(text=text) for text in prepared.notes)
    for text in (*parts.notes, *representable(parts, data, recipe, pretrained.tokenizer)):
        yield Note(text=text)
    facts = parts.facts(recipe.corpus)
    if resume:
        _check_data(folder, facts)
    _write_json(folder / "run.json", _facts(recipe, parts, data, facts))
    session = _Session(folder=folder, recipe=recipe, manifest=manifest, pretrained=pretrained, model=model, parts=parts)
    trainer = Trainer(model, data, recipe.training, seed=recipe.seed)
    if resume and (folder / "state").exists():
        restore_state(folder / "state", trainer)
        session.rewind(trainer.epoch)
        yield Note(text=f"resumed after epoch {trainer.epoch}")
    elif resume and session.is_trained():
        trainer.epoch = recipe.training.epochs
        yield Note(text="all epochs are there; only the end of the run is made again")
    yield from session.train(trainer)
    yield session.finish(time.perf_counter() - started)


class _Session:
    """The consumer of the training loop: scores, writes, chooses, stops."""

    def __init__(
        self,
        *,
        folder: Path,
        recipe: Recipe,
        manifest: Manifest,
        pretrained: Pretrained,
        model: NerModel,
        parts: Parts,
    ) -> None:
        self._folder = folder
        self._recipe = recipe
        self._manifest = manifest
        self._tokenizer = pretrained.tokenizer
        self._model = model
        self._parts = parts
        self._lines: list[dict[str, Any]] = []

    def is_trained(self) -> bool:
        """Whether the folder holds all epochs, and what they gave."""
        if not ((self._folder / "best").exists() and (self._folder / "metrics.jsonl").exists()):
            return False
        self.rewind(self._recipe.training.epochs)
        done = bool(self._lines) and self._lines[-1]["epoch"] == self._recipe.training.epochs
        if not done and not self._stop():
            self._lines = []
        return bool(self._lines)

    def rewind(self, epoch: int) -> None:
        """Forgets what was written after the state that training goes on from."""
        text = (self._folder / "metrics.jsonl").read_text(encoding="utf-8")
        self._lines = [line for line in map(json.loads, text.splitlines()) if line["epoch"] <= epoch]

    def train(self, trainer: Trainer) -> Iterator[RunEvent]:
        """Runs the loop to its end or until patience is over."""
        if self._stop():
            return
        for event in trainer.run():
            if isinstance(event, StepDone):
                yield event
                continue
            yield self._after_epoch(event, trainer)
            if self._stop():
                yield Note(text=f"stopped early: no better dev F1 for {self._recipe.training.patience_epochs} epochs")
                return

    def finish(self, seconds: float) -> Finished:
        """Scores the chosen model in fp32 on dev and test, and clears what only ``resume`` needed."""
        chosen = self._best()
        model = load_model(self._folder / "best", self._manifest).to(next(self._model.parameters()).device)
        tuned = self._tune(model)
        dev = self._predict_and_score(model, self._parts.dev, "dev.tsv")
        test = self._predict_and_score(model, self._parts.test, "test.tsv") if self._parts.test else None
        _write_json(
            self._folder / "scores.json",
            {
                "epoch": chosen["epoch"],
                "dev": dev.as_dict(),
                "test": test.as_dict() if test else None,
                "seconds": round(seconds, 1),
                **tuned,
            },
        )
        shutil.rmtree(self._folder / "state", ignore_errors=True)
        return Finished(folder=self._folder, epoch=chosen["epoch"], dev=dev, test=test)

    def _tune(self, model: NerModel) -> dict[str, Any]:
        """Fits the decision of the chosen model on dev, if the recipe asks for it; returns what to write down."""
        if self._recipe.decision.tune == "no":
            return {}
        scorer = TorchScorer(model=model.eval())
        decision, tried = fit_nothing(self._manifest, self._tokenizer, scorer, self._parts.dev)
        self._manifest = msgspec.structs.replace(self._manifest, decision=decision)
        write_manifest(self._folder / "best", self._manifest)
        return {"nothing": decision.nothing, "dev_f1_by_nothing": tried}

    def _after_epoch(self, event: EpochDone, trainer: Trainer) -> EpochScored:
        weights = trainer.average.weights()
        with _weights(self._model, weights):
            dev = self._predict_and_score(
                self._model, self._parts.dev, f"dev-epoch-{event.epoch:02d}.tsv", bf16=trainer.bf16
            )
            line = {"epoch": event.epoch, "loss": event.loss, "seconds": round(event.seconds, 2), "dev": dev.as_dict()}
            self._lines.append(line)
            best = self._best() is line
            if best:
                with atomic_folder(self._folder / "best", overwrite=True) as place:
                    save_model(place, self._model, manifest=self._manifest, tokenizer=self._tokenizer)
        with atomic_text_writer(self._folder / "metrics.jsonl", overwrite=True) as stream:
            stream.writelines(json.dumps(x) + "\n" for x in self._lines)
        with atomic_folder(self._folder / "state", overwrite=True) as place:
            save_state(place, trainer)
        return EpochScored(
            epoch=event.epoch,
            epochs=self._recipe.training.epochs,
            loss=event.loss,
            seconds=event.seconds,
            dev=dev,
            best=best,
        )

    def _predict_and_score(
        self, model: NerModel, documents: Sequence[Document], name: str, *, bf16: bool = False
    ) -> Scores:
        scorer = TorchScorer(model=model.eval(), bf16=bf16)
        predictor = ModelPredictor(self._manifest, self._tokenizer, scorer)
        patches = predictor.predict(documents)
        found = {d.id: p.add for d, p in zip(documents, patches, strict=True)}
        with atomic_writer(self._folder / "predictions" / name, overwrite=True) as stream:
            write_tsv((Prediction(id=i, sha256=None, mentions=m, events=()) for i, m in found.items()), stream)
        return score(layers(documents), found)

    def _best(self) -> dict[str, Any]:
        if self._recipe.training.select == "last":
            return self._lines[-1]
        return self._best_on_dev()

    def _best_on_dev(self) -> dict[str, Any]:
        return max(self._lines, key=lambda line: (line["dev"]["micro"]["f1"], -line["epoch"]))

    def _stop(self) -> bool:
        patience = self._recipe.training.patience_epochs
        return bool(self._lines and patience and self._lines[-1]["epoch"] - self._best_on_dev()["epoch"] >= patience)


@contextmanager
def _weights(model: NerModel, weights: Mapping[str, Tensor]) -> Iterator[None]:
    """Puts other weights into a model for a while."""
    parameters = dict(model.named_parameters())
    live = {n: p.detach().clone() for n, p in parameters.items() if weights[n].data_ptr() != p.data_ptr()}
    with torch.no_grad():
        for name in live:
            parameters[name].copy_(weights[name])
    try:
        yield
    finally:
        with torch.no_grad():
            for name, tensor in live.items():
                parameters[name].copy_(tensor)


def _check_folder(folder: Path, recipe: Recipe, *, resume: bool) -> None:
    """Refuses a folder that holds anything but the run to resume."""
    if not folder.exists():
        if resume:
            raise OutputError(f"there is no run at {folder} to resume; name its folder with -o")
        return
    if not resume:
        raise OutputError(f"the run folder {folder} exists already; choose another, or continue it with --resume")
    resolved = folder / "recipe.json"
    if not resolved.is_file():
        raise OutputError(f"{folder} holds no run to resume; choose another folder")
    if resolved.read_text(encoding="utf-8") != _content(recipe):
        raise OutputError(f"the run in {folder} was started from another recipe; resume it with its own")
    if (folder / "scores.json").exists():
        raise OutputError(f"the run in {folder} is complete; choose another folder for a new one")


def _start_folder(folder: Path, recipe: Recipe) -> None:
    try:
        (folder / "predictions").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"the run folder {folder} cannot be made: {error.strerror}; give another place") from None
    with atomic_text_writer(folder / "recipe.json", overwrite=True) as stream:
        stream.write(_content(recipe))


def _content(recipe: Recipe) -> str:
    return msgspec.json.format(msgspec.json.encode(recipe)).decode("utf-8")


def _check_names(recipe: Recipe) -> None:
    """Refuses names of parts that this release does not have."""
    given = recipe.reading.segmenter
    if given not in SEGMENTERS:
        allowed = ", ".join(map(repr, SEGMENTERS))
        raise RecipeError(f"reading.segmenter = {given!r} is not allowed: allowed are {allowed}")


def _check_data(folder: Path, facts: dict[str, Any]) -> None:
    """Refuses to go on with other data than the run began with."""
    before = folder / "run.json"
    if before.is_file() and json.loads(before.read_text(encoding="utf-8"))["data"] != facts:
        raise OutputError(f"the corpus has changed since the run in {folder} began; start a new run")


def _facts(recipe: Recipe, parts: Parts, data: TrainingSet, of_data: dict[str, Any]) -> dict[str, Any]:
    return {
        "recipe": recipe.name,
        "seed": recipe.seed,
        "types": parts.types,
        "data": of_data,
        "not_representable": {name: dict(reasons) for name, reasons in data.lost.items()},
        "windows": len(data.windows),
        "environment": describe_environment(),
    }


def _write_json(path: Path, value: object) -> None:
    with atomic_text_writer(path, overwrite=True) as stream:
        stream.write(json.dumps(value, indent=1, ensure_ascii=False) + "\n")

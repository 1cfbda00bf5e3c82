"""The consumer of the training loop: it scores on dev what was reached, keeps what is best, and scores that on test."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any

import msgspec
from torch import Tensor, nn

from fascicle.core.document import Document
from fascicle.evaluate.scores import Scores
from fascicle.formats.atomic import atomic_text_writer, atomic_writer, renewed_folder
from fascicle.formats.owned import Ledger, remove_owned
from fascicle.formats.predictions import Prediction, write_tsv
from fascicle.models.checkpoint import TorchScorer, load_model, save_model
from fascicle.models.head import put_weights
from fascicle.models.model import NerModel
from fascicle.recipe.manifest import MANIFEST, Manifest, read_manifest, write_manifest
from fascicle.recipe.settings import Recipe
from fascicle.runtime.predictor import ModelPredictor
from fascicle.text.pieces import PieceTokenizer
from fascicle.train.decision import fit_nothing, is_unfitted
from fascicle.train.distant import score_known
from fascicle.train.events import EpochScored, Finished, HeadScores, Note, RunEvent
from fascicle.train.loop import StepDone, Trainer
from fascicle.train.parts import Parts
from fascicle.train.prepare import decision_for
from fascicle.train.state import save_state


@dataclass(frozen=True, kw_only=True)
class _View:
    """The model as one of its heads answers: with a place for what is best for that head."""

    name: str
    manifest: Manifest
    suffix: str = ""  # of names of files; empty for the answering head

    @classmethod
    def of(cls, name: str, manifest: Manifest, recipe: Recipe) -> _View:
        """The view of a head that is not the answering one."""
        decision = decision_for(name, manifest.heads, recipe)
        return cls(name=name, manifest=msgspec.structs.replace(manifest, decision=decision), suffix=f".{name}")

    @property
    def folder(self) -> str:
        """Of the model that is best for this head."""
        return f"best-{self.name}" if self.suffix else "best"

    @property
    def key(self) -> str:
        """Of its dev scores in the line of an epoch."""
        return f"dev{self.suffix}"


class _Stretch:
    """The steps since dev was scored before."""

    def __init__(self) -> None:
        self._started, self._losses = time.perf_counter(), list[float]()

    def add(self, loss: float) -> None:
        """One more step."""
        self._losses.append(loss)

    def facts(self) -> dict[str, Any]:
        """Mean loss and time."""
        mean = sum(self._losses) / max(1, len(self._losses))
        return {"loss": mean, "seconds": round(time.perf_counter() - self._started, 2)}


class Session:
    """The consumer of the training loop: scores, writes, chooses, stops."""

    def __init__(
        self,
        *,
        folder: Path,
        recipe: Recipe,
        manifest: Manifest,
        tokenizer: PieceTokenizer,
        model: NerModel,
        parts: Parts,
    ) -> None:
        self._folder = folder
        self._recipe = recipe
        self._manifest = manifest
        self._tokenizer = tokenizer
        self._model = model
        self._parts = parts
        answer = manifest.decision.answer
        others = (name for name in manifest.heads if name != answer)
        self._views = [_View(name=answer, manifest=manifest), *(_View.of(name, manifest, recipe) for name in others)]
        self._lines: list[dict[str, Any]] = []

    def is_trained(self, trainer: Trainer) -> bool:
        """Whether the folder holds all that the trainer would do, and what it gave."""
        if not ((self._folder / "best").exists() and (self._folder / "metrics.jsonl").exists()):
            return False
        epochs = self._recipe.training.epochs
        self.rewind(epoch=epochs, step=trainer.steps)
        done = bool(self._lines) and _place(self._lines[-1], trainer.steps) == (epochs, trainer.steps)
        if not done and not self._stop():
            self._lines = []
        return bool(self._lines)

    def rewind(self, *, epoch: int, step: int) -> None:
        """Forgets what was written after the state that training goes on from.

        Args:
            epoch: complete epochs.
            step: steps, those of the next epoch included.
        """
        text = (self._folder / "metrics.jsonl").read_text(encoding="utf-8")
        lines = list(map(json.loads, text.splitlines()))
        # Releases before `validate_every_steps` wrote no steps.
        self._lines = [x for x in lines if (x["step"] <= step if "step" in x else x["epoch"] <= epoch)]

    def train(self, trainer: Trainer) -> Iterator[RunEvent]:
        """Runs the loop to its end or until patience is over."""
        if self._stop():
            return
        every, stretch = self._recipe.training.validate_every_steps, _Stretch()
        for event in trainer.run():
            if isinstance(event, StepDone):
                stretch.add(event.loss)
                yield event
                due = bool(every) and event.step % every == 0
            else:
                due = not every or self._is_unscored_end(trainer)
            if not due:
                continue
            yield self._scored(trainer, stretch)
            stretch = _Stretch()
            if self._stop():
                yield Note(text=f"stopped early: no better dev F1 for {self._patience()}")
                return

    def _is_unscored_end(self, trainer: Trainer) -> bool:
        """Whether this is the end of the last epoch, and dev was not scored there yet."""
        last = self._lines[-1].get("step") if self._lines else None
        return trainer.epoch == self._recipe.training.epochs and last != trainer.step

    def finish(self, seconds: float) -> Finished:
        """Scores the chosen model in fp32 on dev and test, and clears what only ``resume`` needed."""
        answered, *others = (self._final(view) for view in self._views)
        said: dict[str, Any] = {"seconds": round(seconds, 1)} | (
            {"others": {o.head: o.as_dict() for o in others}} if others else {}
        )
        write_json(self._folder / "scores.json", answered.as_dict() | said)
        remove_owned(self._folder / "state", kind="run")
        return Finished(folder=self._folder, answer=answered, others=tuple(others))

    def _final(self, view: _View) -> HeadScores:
        model = load_model(self._folder / view.folder, view.manifest).to(next(self._model.parameters()).device)
        chosen = self._best(view)
        tuned: dict[str, Any] = {}
        if self._recipe.decision.tune == "nothing" or is_unfitted(view.manifest):
            view, tuned = self._tuned(model, view)
        dev = self._predict_and_score(model, view, self._parts.dev, "dev")
        test = self._predict_and_score(model, view, self._parts.test, "test") if self._parts.test else None
        return HeadScores(
            head=view.name, epoch=chosen["epoch"], step=chosen.get("step"), dev=dev, test=test, tuned=tuned
        )

    def _tuned(self, model: NerModel, view: _View) -> tuple[_View, dict[str, Any]]:
        """The view with its decision fitted on dev, in its folder too, and what to write down of it."""
        scorer = TorchScorer(model=model.eval(), answer=view.name)
        decision, tried = fit_nothing(view.manifest, self._tokenizer, scorer, self._parts.dev)
        manifest = msgspec.structs.replace(view.manifest, decision=decision)
        place = self._folder / view.folder
        write_manifest(place, manifest, names=read_manifest(place).files)
        Ledger(place, kind="run").note(MANIFEST)
        return replace(view, manifest=manifest), {"nothing": decision.nothing, "dev_f1_by_nothing": tried}

    def _with_threshold(self, view: _View, *, bf16: bool) -> _View:
        """The view with a threshold for the weights of this epoch, if its head has none of its own."""
        if not is_unfitted(view.manifest):
            return view
        scorer = TorchScorer(model=self._model.eval(), answer=view.name, bf16=bf16)
        decision, _ = fit_nothing(view.manifest, self._tokenizer, scorer, self._parts.dev)
        return replace(view, manifest=msgspec.structs.replace(view.manifest, decision=decision))

    def _scored(self, trainer: Trainer, stretch: _Stretch) -> EpochScored:
        """Scores the model as it stands, and keeps it if it is the best; and what is needed to go on from here."""
        facts, step = stretch.facts(), trainer.step
        epoch = max(trainer.epoch, -(-step // max(1, trainer.steps_per_epoch)))
        with weights_in(self._model, trainer.average.weights()):
            every, bf16 = self._recipe.training.validate_every_steps, trainer.bf16
            name = f"dev-step-{step:06d}" if every else f"dev-epoch-{epoch:02d}"
            views = [self._with_threshold(view, bf16=bf16) for view in self._views]
            dev = [self._predict_and_score(self._model, v, self._parts.dev, name, bf16=bf16) for v in views]
            line: dict[str, Any] = {"epoch": epoch, "step": step, **facts}
            line |= {view.key: scores.as_dict() for view, scores in zip(views, dev, strict=True)}
            self._lines.append(line)
            best = [self._best(view) is line for view in views]
            for view in compress(views, best):
                with renewed_folder(self._folder / view.folder, kind="run") as place:
                    save_model(place, self._model, manifest=view.manifest, tokenizer=self._tokenizer)
        with atomic_text_writer(self._folder / "metrics.jsonl", overwrite=True) as stream:
            stream.writelines(json.dumps(x) + "\n" for x in self._lines)
        with renewed_folder(self._folder / "state", kind="run") as place:
            save_state(place, trainer)
        return EpochScored(
            epoch=epoch,
            epochs=self._recipe.training.epochs,
            step=step,
            steps=trainer.steps,
            loss=facts["loss"],
            seconds=facts["seconds"],
            dev=dev[0],
            best=best[0],
            others=tuple(
                HeadScores(head=view.name, epoch=epoch, step=step, dev=scores, test=None)
                for view, scores in zip(self._views[1:], dev[1:], strict=True)
            ),
        )

    def _predict_and_score(
        self, model: NerModel, view: _View, documents: Sequence[Document], name: str, *, bf16: bool = False
    ) -> Scores:
        scorer = TorchScorer(model=model.eval(), answer=view.name, bf16=bf16)
        predictor = ModelPredictor(view.manifest, self._tokenizer, scorer)
        patches = predictor.predict(documents)
        found = {d.id: p.add for d, p in zip(documents, patches, strict=True)}
        with atomic_writer(self._folder / "predictions" / f"{name}{view.suffix}.tsv", overwrite=True) as stream:
            write_tsv((Prediction(id=i, sha256=None, mentions=m, events=()) for i, m in found.items()), stream)
        return score_known(documents, found)

    def _best(self, view: _View) -> dict[str, Any]:
        if self._recipe.training.select == "last":
            return self._lines[-1]
        return self._best_on_dev(view)

    def _best_on_dev(self, view: _View) -> dict[str, Any]:
        """The line with the highest F1, of several the first."""
        return max(self._lines, key=lambda line: float(line[view.key]["micro"]["f1"]))

    def _stop(self) -> bool:
        """Whether no head has become better for as long as the recipe has patience."""
        given = self._recipe.training
        patience = given.patience_epochs or given.patience_validations  # a line an epoch, where epochs are counted
        if not self._lines or not patience:
            return False
        best = max(self._lines.index(self._best_on_dev(view)) for view in self._views)
        return len(self._lines) - 1 - best >= patience

    def _patience(self) -> str:
        given = self._recipe.training
        if given.patience_epochs:
            return f"{given.patience_epochs} epochs"
        return f"{given.patience_validations} times that dev was scored"


def _place(line: Mapping[str, Any], steps: int) -> tuple[int, int]:
    """Epoch and step of a line; of a run in which no steps were written, epochs alone count."""
    return line["epoch"], line.get("step", steps)


@contextmanager
def weights_in(model: nn.Module, weights: Mapping[str, Tensor]) -> Iterator[None]:
    """Puts other weights into a model for a while.

    Args:
        model: changed in place, and back.
        weights: of each of its parameters.
    """
    parameters = dict(model.named_parameters())
    live = {n: p.detach().clone() for n, p in parameters.items() if weights[n].data_ptr() != p.data_ptr()}
    put_weights(model, {name: weights[name] for name in live})
    try:
        yield
    finally:
        put_weights(model, live)


def write_json(path: Path, value: object) -> None:
    """Writes a JSON file as a whole, or not at all."""
    with atomic_text_writer(path, overwrite=True) as stream:
        stream.write(json.dumps(value, indent=1, ensure_ascii=False) + "\n")

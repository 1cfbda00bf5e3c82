"""The consumer of the loop that trains a filter: it judges held-out examples, keeps the best, fits the threshold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from fascicle.core.arrays import Ints
from fascicle.core.document import GOLD, Document, Mention
from fascicle.errors import InputError
from fascicle.evaluate.calibration import Threshold, best_threshold, judged, precision_recall, threshold_for
from fascicle.evaluate.scores import score
from fascicle.formats.atomic import atomic_text_writer, renewed_folder
from fascicle.formats.owned import Ledger, remove_owned
from fascicle.models.filter import FilterModel, TorchFilter, load_filter_model, save_filter
from fascicle.recipe.filter import (
    FILTER,
    FilterManifest,
    FilterRecipe,
    FilterSettings,
    ThresholdFacts,
    read_filter_manifest,
    write_filter_manifest,
)
from fascicle.runtime.filter import MentionFilter
from fascicle.text.marked import Marked
from fascicle.text.pieces import PieceTokenizer
from fascicle.train.corpus import part_sha256
from fascicle.train.events import Note
from fascicle.train.filter_events import FilterEpoch, FilterEvent, FilterFinished, Verdict
from fascicle.train.filter_members import ROWS, Member
from fascicle.train.loop import EpochDone, StepDone, Trainer
from fascicle.train.session import weights_in, write_json
from fascicle.train.state import save_state

Found = Mapping[str, Sequence[Mention]]


@dataclass(frozen=True, kw_only=True)
class Exam:
    """What a filter is judged on.

    Attributes:
        inputs: held-out examples.
        labels: 1 for correct, ``[n]``.
        documents: that the threshold is chosen on.
        members: what the systems predict when they are used.
    """

    inputs: Sequence[Marked]
    labels: Ints
    documents: Sequence[Document]
    members: Sequence[Member]


class FilterSession:
    """Judges, writes, chooses, stops."""

    def __init__(
        self, *, folder: Path, recipe: FilterRecipe, manifest: FilterManifest, tokenizer: PieceTokenizer, exam: Exam
    ) -> None:
        self._folder = folder
        self._recipe = recipe
        self._manifest = manifest
        self._tokenizer = tokenizer
        self._exam = exam
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

    def train(self, trainer: Trainer) -> Iterator[FilterEvent]:
        """Runs the loop to its end or until patience is over."""
        if self._stop():
            return
        for event in trainer.run():
            if isinstance(event, StepDone):
                yield event
                continue
            yield self._after_epoch(event, trainer)
            if self._stop():
                patience, aim = self._recipe.training.patience_epochs, self._recipe.filter.select
                yield Note(text=f"stopped early: no better {aim} on held-out documents for {patience} epochs")
                return

    def finish(self, seconds: float) -> Iterator[FilterEvent]:
        """Chooses the threshold for the best epoch, and clears what only ``resume`` needed."""
        best = self._best()
        model = load_filter_model(self._folder / "best", self._manifest)
        judge = MentionFilter(self._manifest, self._tokenizer, TorchFilter(model=model))
        facts, scores, note = self._threshold(judge)
        if note:
            yield Note(text=note)
        place = self._folder / "best"
        names = read_filter_manifest(place).files
        write_filter_manifest(place, msgspec.structs.replace(self._manifest, threshold=facts), names=names)
        Ledger(place, kind="run").note(FILTER)
        finished = FilterFinished(
            folder=self._folder,
            epoch=best["epoch"],
            held_out=Verdict(**{name: best["held_out"][name] for name in ("tp", "fp", "fn", "tn")}),
            threshold=facts,
            scores=scores,
        )
        write_json(self._folder / "scores.json", as_dict(finished) | {"seconds": round(seconds, 1)})
        remove_owned(self._folder / "state", kind="run")
        yield finished

    def _after_epoch(self, event: EpochDone, trainer: Trainer) -> FilterEpoch:
        model = trainer.model
        assert isinstance(model, FilterModel)
        with weights_in(model, trainer.average.weights()):
            judge = MentionFilter(self._manifest, self._tokenizer, TorchFilter(model=model.eval(), bf16=trainer.bf16))
            verdict = Verdict.of(judge.probabilities(self._exam.inputs), self._exam.labels)
            line = {"epoch": event.epoch, "loss": event.loss, "seconds": round(event.seconds, 2)}
            self._lines.append({**line, "held_out": verdict.as_dict()})
            is_best = self._best() is self._lines[-1]
            if is_best:
                with renewed_folder(self._folder / "best", kind="run") as place:
                    save_filter(place, model, manifest=self._manifest, tokenizer=self._tokenizer)
        with atomic_text_writer(self._folder / "metrics.jsonl", overwrite=True) as stream:
            stream.writelines(json.dumps(one) + "\n" for one in self._lines)
        with renewed_folder(self._folder / "state", kind="run") as place:
            save_state(place, trainer)
        return FilterEpoch(
            epoch=event.epoch,
            epochs=self._recipe.training.epochs,
            loss=event.loss,
            seconds=event.seconds,
            held_out=verdict,
            best=is_best,
        )

    def _threshold(self, judge: MentionFilter) -> tuple[ThresholdFacts, dict[str, dict[str, Any]], str]:
        """The threshold, what it and the members give on the documents it was chosen on, and what went wrong."""
        settings, documents = self._recipe.filter, self._exam.documents
        if not documents:
            return ThresholdFacts(), {}, ""
        gold = {d.id: d.layer(GOLD) for d in documents}
        systems = {member.name: _of(member.chosen or {}, documents) for member in self._exam.members}
        union = _union(systems.values(), documents)
        flat = [(d, mention) for d in documents for mention in union[d.id]]
        chances = iter([chance for chance, _ in judge.chances(documents, [union[d.id] for d in documents])])
        scored: dict[str, list[Mention]] = {d.id: [] for d in documents}
        for document, mention in flat:
            scored[document.id].append(msgspec.structs.replace(mention, score=next(chances)))
        value, note = _chosen(gold, scored, settings)
        facts = ThresholdFacts(
            value=value,
            aim=settings.threshold,
            floor=settings.floor,
            chosen_on=part_sha256(self._recipe.corpus.dev),
            documents=len(documents),
        )
        beside = dict(zip(ROWS, (union, _from(scored, 0.5), _from(scored, value)), strict=True))
        found = {**systems, **beside}
        return facts, {name: _row(gold, said) for name, said in found.items()}, note

    def _best(self) -> dict[str, Any]:
        if self._recipe.training.select == "last":
            return self._lines[-1]
        return self._best_held_out()

    def _best_held_out(self) -> dict[str, Any]:
        aim = self._recipe.filter.select
        return max(self._lines, key=lambda line: (line["held_out"][aim], -line["epoch"]))

    def _stop(self) -> bool:
        """Whether the held-out examples were judged no better for as many epochs as the recipe has patience."""
        patience = self._recipe.training.patience_epochs
        if not self._lines or not patience:
            return False
        return bool(self._lines[-1]["epoch"] - self._best_held_out()["epoch"] >= patience)


def as_dict(finished: FilterFinished) -> dict[str, Any]:
    """The end of a run for JSON, without its folder."""
    return {
        "epoch": finished.epoch,
        "held_out": finished.held_out.as_dict(),
        "threshold": msgspec.to_builtins(finished.threshold),
        "on_threshold_documents": finished.scores,
    }


def _chosen(gold: Found, scored: Found, settings: FilterSettings) -> tuple[float, str]:
    """The threshold, and why it is not the one that was asked for, where that cannot be."""
    try:
        all_ = judged(gold, scored)
        curve = precision_recall(all_.scores, all_.right, gold=sum(all_.gold.values()))
        return _by_aim(curve, settings).threshold, ""
    except InputError as error:
        return 0.5, f"the threshold stays 0.5, for none could be chosen: {error}"


def _by_aim(curve: Any, settings: FilterSettings) -> Threshold:
    if settings.threshold == "precision":
        return threshold_for(curve, precision=settings.floor)
    if settings.threshold == "recall":
        return threshold_for(curve, recall=settings.floor)
    return best_threshold(curve)


def _of(said: Found, documents: Sequence[Document]) -> dict[str, list[Mention]]:
    return {d.id: [Mention(m.spans, m.type) for m in said.get(d.id, ())] for d in documents}


def _union(systems: Any, documents: Sequence[Document]) -> dict[str, list[Mention]]:
    listed = list(systems)
    return {d.id: list(dict.fromkeys(m for said in listed for m in said[d.id])) for d in documents}


def _from(scored: Found, value: float) -> dict[str, list[Mention]]:
    return {i: [m for m in mentions if m.score is not None and m.score >= value] for i, mentions in scored.items()}


def _row(gold: Found, said: Found) -> dict[str, Any]:
    found = score(gold, said)
    rates = found.micro
    return {
        "precision": rates.precision,
        "recall": rates.recall,
        "f1": rates.f1,
        "tp": found.counts.tp,
        "fp": found.counts.fp,
        "fn": found.counts.fn,
    }

"""Distillation of layers alone, as a run of the engine: from a recipe to a student.

The result is an encoder:

::

    RUN/recipe.json      the resolved recipe
    RUN/run.json         versions, machine, hashes of the data and the teacher, which layers are
    compared RUN/metrics.jsonl    one line each time that the held-out text was compared
    RUN/encoder/         the chosen encoder; any recipe can name it as its ``encoder``
    RUN/state/           state for ``resume``; removed at the end
    RUN/scores.json      its losses on held-out text
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from fascicle.errors import InputError
from fascicle.formats.report import ReadReport
from fascicle.models.encoder import Pretrained, save_pretrained
from fascicle.models.nn.tensors import move_tensors
from fascicle.settings.folders.described import CARD
from fascicle.settings.heads import MultiLabelSettings
from fascicle.settings.recipes.corpora import TextSettings
from fascicle.settings.recipes.distil import DistilRecipe
from fascicle.training.corpus import Parts, data_facts, read_part, reading_notes
from fascicle.training.distil.student import LAYERS, Student, StudentAndTeacher
from fascicle.training.engine.events import Ended, KeptModel, Line, Point, Selection
from fascicle.training.engine.loop import Batches, Trainer
from fascicle.training.engine.run import Facts, PointResult, Trainee
from fascicle.training.raw.documents import raw_documents
from fascicle.training.raw.windows import RawSet, read_windows
from fascicle.training.recogniser.data import training_set
from fascicle.training.recogniser.parts import read_data
from fascicle.training.several import without_excluded
from fascicle.version import VERSION

_ENCODER: Final = "encoder"


def _card_of(
    recipe: DistilRecipe, facts: Mapping[str, Any], held_out: Mapping[str, float]
) -> Iterator[str]:
    """Yields the lines of the card of the encoder as Markdown: its origin, and its losses on
    held-out text.

    Args:
        recipe: of the run.
        facts: of ``run.json``: layers, data and their hashes.
        held_out: its losses on held-out text.
    """
    assert recipe.layers
    yield f"# {recipe.name}\n"
    yield (
        f"An encoder of Fascicle {VERSION}, which learned to imitate layers of another one. It "
        "has no head.\n"
    )
    yield f"- Student: {facts['student']}"
    yield f"- Teacher: {facts['teacher']}"
    yield (
        "- Layers of the teacher, one for each of the student: "
        f"{', '.join(map(str, facts['layer_map']))}"
    )
    yield (
        f"- Attention: {recipe.layers.compared}; weights: states {recipe.layers.hidden:g}, "
        "attention "
        + (
            f"{recipe.layers.attention:g}; "
            f"{'means with' if recipe.layers.faithful else 'means without'} padding"
        )
    )
    yield f"- Pieces that the teacher would cut otherwise: {facts['differing_pieces']:.2%}"
    yield f"- Losses on held-out text: {_format_losses(held_out)}"
    yield f"- Seed: {recipe.seed}\n"
    yield "| data | sha256 |"
    yield "|---|---|"
    for name, of_one in facts["data"].items():
        yield f"| {name} | {of_one['sha256']} |"


_Losses = Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class LayersFinished(Ended):
    """Event: the end of a run.

    Attributes:
        epoch: of the chosen encoder.
        step: of the chosen encoder.
        held_out: its losses: ``total``, and the parts of it.
    """

    epoch: int
    step: int
    held_out: _Losses

    @property
    def encoder(self) -> Path:
        """Folder of the encoder."""
        return self.folder / _ENCODER

    def as_dict(self) -> dict[str, Any]:
        """See ``Ended``."""
        return {"epoch": self.epoch, "step": self.step, "held_out": dict(self.held_out)}


def _format_losses(losses: _Losses) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in losses.items())


@dataclass(kw_only=True, eq=False)
class _LayerTrainee(Trainee):
    """Trainee: an encoder that imitates layers; the best one on held-out text is kept.

    Attributes:
        folder: of the run.
        recipe: of the run.
        student: whose encoder is trained.
        loop: trains a ``Student`` with losses on layers.
        held_out: batches that are not trained on.
        facts: of the run.
        losses: of the weights that were judged last.
    """

    folder: Path
    recipe: DistilRecipe
    student: Pretrained
    loop: Trainer
    held_out: Sequence[Mapping[str, Tensor]]
    facts: Facts
    losses: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Sets the criterion by which the encoder is chosen."""
        best = KeptModel(folder=_ENCODER, merit=lambda line: -float(line["held_out"]["total"]))
        choice = Selection.of(self.loop.settings, best)
        self.choice = replace(
            choice, aim=f"loss on held-out text for {choice.patience} times that it was scored"
        )

    def judge(self, point: Point) -> PointResult:
        """Compares the layers on held-out text."""
        self.losses = losses = self._compared()
        return PointResult(
            lines=[point.line(held_out=losses)], figures="held out " + _format_losses(losses)
        )

    @torch.no_grad()
    def _compared(self) -> dict[str, float]:
        """Returns means over all pieces of the held-out text, the total first."""
        student, device = self.loop.model.eval(), self.loop.device
        assert isinstance(student, Student)
        assert student.layers is not None
        total, pieces = defaultdict[str, float](float), 0
        for inputs in self.held_out:
            batch = move_tensors(inputs, device)
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=self.loop.bf16):
                losses = student(batch)[LAYERS]
            weight = int(batch["attention_mask"].sum())
            pieces += weight
            for name, loss in {"total": student.layers.total(losses), **losses}.items():
                total[name] += float(loss) * weight
        return {name: value / pieces for name, value in total.items()}

    def keep(self, place: Path, model: KeptModel) -> None:
        """Writes the encoder and its card."""
        save_pretrained(place, self.student)
        facts = {**self.facts.more, "data": self.facts.data}
        card = _card_of(self.recipe, facts, self.losses or self._compared())
        (place / CARD).write_text("\n".join(card) + "\n", encoding="utf-8")

    def finish(self, lines: Sequence[Line]) -> Iterator[Ended]:
        """Yields the end of the run with the losses of the chosen encoder."""
        (line,) = lines
        yield LayersFinished(
            folder=self.folder,
            epoch=line["epoch"],
            step=line["step"],
            held_out=dict(line["held_out"]),
        )


@dataclass(frozen=True, kw_only=True)
class _LayerData:
    """Data for the losses on layers alone: windows to learn from, windows to compare on, and
    notes for the user.
    """

    learned: Batches
    held_out: Batches
    notes: tuple[str, ...]
    # in addition to the hashes of the files
    data: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)


def prepare_layers(recipe: DistilRecipe, folder: Path, before: Mapping[str, Any]) -> _LayerTrainee:
    """Opens the teacher, builds the student and reads the texts.

    Args:
        recipe: with ``[layers]`` alone.
        folder: of the run.
        before: content of ``run.json`` of the same run; empty if the run is new.

    Raises:
        InputError: the texts cannot be read, or there are none.
        RecipeError: teacher and student do not fit each other or the recipe.
        ModelError: one of them cannot be loaded.
    """
    pair = StudentAndTeacher.of(recipe)
    data = _read_texts(recipe, pair)
    student = Student(pair.student.encoder, layers=pair.layers)
    trainer = Trainer(student, data.learned, recipe.training, seed=recipe.seed)
    trainer.settle_precision(before.get("precision"))
    facts = Facts(
        data={**data_facts(recipe), **data.data},
        more={**pair.facts(), **trainer.facts(), **data.more},
        notes=[*data.notes, *pair.notes(), *trainer.notes()],
    )
    batches = data.held_out.batches(size=recipe.training.batch_size, seed=0, epoch=0)
    return _LayerTrainee(
        folder=folder,
        recipe=recipe,
        student=pair.student,
        loop=trainer,
        held_out=[batch for batch, _ in batches],
        facts=facts,
    )


def _read_texts(recipe: DistilRecipe, pair: StudentAndTeacher) -> _LayerData:
    """Reads the texts of a recipe; builds the losses of the pair on them."""
    if recipe.text:
        pair.compare(document.text for document in raw_documents(recipe.text, seed=recipe.seed))
        return _raw_windows(recipe.text, pair.student, seed=recipe.seed)
    parts = _documents(recipe)
    pair.compare(document.text for document in parts.train)
    return _corpus_windows(parts, recipe, pair.student)


def _documents(recipe: DistilRecipe) -> Parts:
    """Reads the documents of train, without those of exclusion lists, and of dev; labels of one
    corpus are not read.
    """
    if not recipe.corpus:
        return read_data(recipe.recogniser(MultiLabelSettings(), encoder="student"))
    report = ReadReport()
    train, dev = (read_part(recipe.corpus, part, report=report) for part in ("train", "dev"))
    train, left_out = without_excluded(train, recipe.corpus)
    notes = (*reading_notes(report), *left_out)
    return Parts(train=train, dev=dev, test=[], types=(), notes=notes)


def _corpus_windows(parts: Parts, recipe: DistilRecipe, student: Pretrained) -> _LayerData:
    """Builds the windows of train and dev."""
    learned, held_out = (
        training_set(documents, student.tokenizer, types=(), reading=recipe.reading, heads={})
        for documents in (parts.train, parts.dev)
    )
    for name, data in (("train", learned), ("dev", held_out)):
        if not data.windows:
            raise InputError(
                f"{name} holds no text, so there is nothing to compare on; give texts with words"
            )
    return _LayerData(
        learned=learned,
        held_out=held_out,
        notes=parts.notes,
        more={"windows": len(learned.windows)},
    )


def _raw_windows(settings: TextSettings, student: Pretrained, *, seed: int) -> _LayerData:
    """Builds the windows of raw text."""
    text = read_windows(settings, student.tokenizer, seed=seed)
    if not len(text.held_out):
        raise InputError(
            f"text.held_out = {settings.held_out:g} holds out no document of the text, so nothing "
            "can be chosen; raise it, or give more documents"
        )
    return _LayerData(
        learned=RawSet(windows=text.learned),
        held_out=RawSet(windows=text.held_out),
        notes=tuple(text.notes(settings)),
        data=text.facts(),
        more={"documents": text.counts.as_dict()},
    )

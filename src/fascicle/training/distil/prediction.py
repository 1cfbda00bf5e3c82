"""Distillation by answers: trains a recogniser on the answers of a teacher, and optionally also on
the gold.

The run is that of a recogniser (``training/recogniser/run.py``) with two differences: batches hold
the answers too (`_TaughtSet`), and the loss compares with them (`AnswerLoss` in ``student.py``).
The answers come from ``answers.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from fascicle.core.arrays import Ints
from fascicle.errors import RecipeError
from fascicle.formats.sources import source_sha256
from fascicle.loading import load_all_types
from fascicle.models.encoder import Pretrained
from fascicle.models.heads.contract import IGNORED
from fascicle.models.heads.tagger import SoftmaxTagger
from fascicle.models.model import FAMILIES, NerModel
from fascicle.runtime.places import find_model
from fascicle.settings.folders.best import description_file
from fascicle.settings.folders.manifest import MANIFEST, read_manifest
from fascicle.settings.heads import AnyHead, MultiLabelSettings
from fascicle.settings.recipes.distil import DistilRecipe, PredictionSettings
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.text.annotator import Annotator
from fascicle.text.windows import Batch
from fascicle.training.corpus import Parts
from fascicle.training.distil.answers import FILE, AnswerLabels, TeacherAnswers, teacher_answers
from fascicle.training.distil.student import TAUGHT, AnswerLoss, Student, StudentAndTeacher
from fascicle.training.engine.events import Finished, Line, Point
from fascicle.training.engine.loop import Trainer
from fascicle.training.engine.run import PointResult
from fascicle.training.recogniser.data import TrainingSet
from fascicle.training.recogniser.parts import read_data
from fascicle.training.recogniser.prepare import Prepared, check_encoder, prepare
from fascicle.training.recogniser.run import Recogniser, check_names


@dataclass(frozen=True, kw_only=True)
class _TaughtSet(TrainingSet):
    """Training set whose batches also hold the answers of a teacher, as ``TAUGHT``.

    Attributes:
        answers: for the units of each document.
        head: that learns them.
    """

    answers: TeacherAnswers
    head: SoftmaxTagger

    def _arrays(self, indices: Ints) -> Batch:
        batch = super()._arrays(indices)
        shape = (*batch["first_piece"].shape, len(self.head.labels))
        taught = np.full(shape, IGNORED, dtype=np.float32)
        for row, index in enumerate(indices):
            window = self.windows[index]
            first, last = window.units
            answers = self.answers.tables[window.document][first:last].astype(np.float32)
            taught[row, : last - first] = self.head.soft_gold(answers)
        return {**batch, TAUGHT: taught}


@dataclass(kw_only=True, eq=False)
class _DistilledRecogniser(Recogniser):
    """Recogniser that learns from the answers of a teacher; its folder keeps them until the end of
    the run.

    Attributes:
        answers: of the teacher.
        more: for ``run.json``.
        notes: for the user, before those of a recogniser.
    """

    answers: TeacherAnswers
    more: Mapping[str, Any]
    notes: Sequence[str]

    def __post_init__(self) -> None:
        """Prepares the recogniser, and adds the facts about its teacher."""
        super().__post_init__()
        facts = self.facts
        data = {**facts.data, "teacher.model": {"sha256": self.more["teacher_sha256"]}}
        notes = chain(self.notes, facts.notes)
        self.facts = replace(facts, data=data, more={**facts.more, **self.more}, notes=notes)

    def judge(self, point: Point) -> PointResult:
        """Scores dev as a recogniser does, and first writes the answers into the run folder,
        which now exists.
        """
        self.answers.save(self.folder)
        return super().judge(point)

    def finish(self, lines: Sequence[Line]) -> Iterator[Finished]:
        """Finishes as a recogniser does, and removes the answers, which only resuming needs."""
        yield from super().finish(lines)
        (self.folder / FILE).unlink(missing_ok=True)


def prepare_prediction(
    recipe: DistilRecipe, folder: Path, before: Mapping[str, Any]
) -> _DistilledRecogniser:
    """Computes the answers of the teacher, and builds the student and its training set.

    Args:
        recipe: with ``[prediction]``.
        folder: of the run.
        before: content of ``run.json`` of the same run; empty if the run is new.

    Raises:
        InputError: the corpus cannot be read, or holds no mentions.
        RecipeError: teacher, student and corpus do not fit each other or the recipe.
        ModelError: teacher or student cannot be loaded.
    """
    assert recipe.prediction
    teacher = _open_teacher(recipe.teacher.model)
    pair = StudentAndTeacher.of(recipe)
    own = _student_recipe(recipe, teacher, pair.student)
    parts = _with_types(read_data(own), teacher, gold=recipe.prediction.gold)
    prepared = prepare(own, parts, pair.student)
    data = _taught_set(prepared, parts, teacher, recipe.prediction, folder=folder)
    pair.compare(document.text for document in parts.train)
    answers = AnswerLoss(recipe.prediction, prepared.model)
    trainer = _trainer(recipe, own, pair, data, answers)
    trainer.settle_precision(before.get("precision"))
    return _DistilledRecogniser(
        answers=data.answers,
        more={**pair.facts(), "teacher_sha256": source_sha256(recipe.teacher.model)},
        notes=[data.answers.note(), *pair.notes()],
        folder=folder,
        recipe=own,
        parts=parts,
        prepared=replace(prepared, data=data),
        pretrained=pair.student,
        loop=trainer,
    )


def _trainer(
    recipe: DistilRecipe,
    own: Recipe,
    pair: StudentAndTeacher,
    data: _TaughtSet,
    answers: AnswerLoss,
) -> Trainer:
    student = Student(pair.student.encoder, layers=pair.layers, answers=answers)
    return Trainer(student, data, own.training, seed=recipe.seed)


def _taught_set(
    prepared: Prepared,
    parts: Parts,
    teacher: Annotator,
    settings: PredictionSettings,
    *,
    folder: Path,
) -> _TaughtSet:
    """Adds the answers of the teacher to a training set."""
    head = _learning_head(prepared.model, teacher)
    labels = AnswerLabels(types=parts.types, scheme=head.scheme.name, megabytes=settings.megabytes)
    answers = teacher_answers(
        teacher, parts.train, prepared.data.pieces, labels=labels, folder=folder
    )
    return _TaughtSet(**vars(prepared.data), answers=answers, head=head)


def _student_recipe(recipe: DistilRecipe, teacher: Annotator, student: Pretrained) -> Recipe:
    """Returns the recipe of the student as a recogniser, with the head of its teacher and the types
    that the teacher reports only on request, unless the recipe sets others.

    Raises:
        RecipeError: names that no recipe may have, or a head that the encoder cannot serve.
    """
    own = recipe.recogniser(recipe.head or _head_like(recipe), encoder=student.encoder.origin)
    if not own.decision.apart:
        decision = msgspec.structs.replace(own.decision, apart=teacher.apart)
        own = msgspec.structs.replace(own, decision=decision)
    check_names(own)
    check_encoder(own, student)
    return own


def _open_teacher(model: str) -> Annotator:
    """Returns the teacher.

    Raises:
        RecipeError: it has no probabilities, as a dictionary.
    """
    teacher = load_all_types(model)
    if teacher.tag_space.meaning == "none":
        raise RecipeError(
            f"teacher.model = {model!r} gives answers without probabilities, as a dictionary "
            "does; give a model or an ensemble, or let fascicle label write the answers and train "
            "on them",
            key="teacher.model",
        )
    return teacher


def _head_like(recipe: DistilRecipe) -> AnyHead:
    """Returns the settings of the teacher's head if that can imitate, else those of a
    multi-label tagger.
    """
    folder = find_model(recipe.teacher.model)
    if description_file(folder).name == MANIFEST:
        head = read_manifest(folder).answering
        if head.level == "word" and getattr(FAMILIES.get(type(head)), "imitates", False):
            return head
    return MultiLabelSettings()


def _learning_head(model: NerModel, teacher: Annotator) -> SoftmaxTagger:
    """Returns the head that learns.

    Raises:
        RecipeError: it cannot imitate, or not this teacher.
    """
    head = model.head(model.answer)
    if not isinstance(head, SoftmaxTagger) or not head.imitates or head.level != "word":
        raise RecipeError(
            f"the head {model.answer!r} of the student, over {head.level}s, cannot imitate "
            "answers; give [head] with "
            'family = "multilabel" or "softmax" and level = "word"'
        )
    if teacher.tag_space.meaning == "sigmoid" and not head.limits.across_types:
        raise RecipeError(
            "the labels of the teacher do not exclude each other, but those of the head "
            f"{model.answer!r} do; give "
            '[head] with family = "multilabel"'
        )
    return head


def _with_types(parts: Parts, teacher: Annotator, *, gold: float) -> Parts:
    """Returns the parts with the types of the teacher, in its order.

    Raises:
        RecipeError: train has a type that the teacher does not look for, or train lacks a type of
            the teacher and the gold would teach that there are no mentions of it.
    """
    lacking = sorted(set(teacher.types) - set(parts.types))
    if lacking and gold:
        raise RecipeError(
            f"train has no mention of the type {lacking[0]!r}, which the teacher looks for, so the "
            "student would learn from gold that there is none: set prediction.gold = 0, or add a "
            "corpus that annotates it"
        )
    strange = sorted(set(parts.types) - set(teacher.types))
    if strange:
        raise RecipeError(
            f"train has mentions of the type {strange[0]!r}, which the teacher does not look for; "
            "leave them out, or map them to a type of the teacher, in [corpus.types]"
        )
    return replace(parts, types=tuple(teacher.types))

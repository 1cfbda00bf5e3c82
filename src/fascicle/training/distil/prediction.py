"""Distillation by answers: trains a recogniser on the answers of a teacher, and optionally also on the gold.

The run folder is that of a recogniser. During training it also holds ``answers.safetensors``: the answers of the
teacher for the words of train.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from fascicle.core.wording import counted
from fascicle.errors import RecipeError
from fascicle.formats.sources import source_sha256
from fascicle.loading import load_whole
from fascicle.models.heads.tagger import SoftmaxTagger
from fascicle.models.model import FAMILIES, NerModel
from fascicle.runtime.places import find_model
from fascicle.settings.folders.best import described_by
from fascicle.settings.folders.manifest import MANIFEST, read_manifest
from fascicle.settings.heads import AnyHead, MultiLabelSettings
from fascicle.settings.recipes.distil import DistilRecipe
from fascicle.text.annotator import Annotator
from fascicle.training.distil.data import FILE, AnswerLabels, Answers, TaughtSet, answers_of
from fascicle.training.distil.pupil import AnswerLoss, Pair, Student
from fascicle.training.engine.events import Finished, Line, Point
from fascicle.training.engine.loop import Trainer
from fascicle.training.engine.run import PointResult
from fascicle.training.recogniser.parts import Parts, read_data
from fascicle.training.recogniser.prepare import check_encoder, prepare
from fascicle.training.recogniser.run import Recogniser, check_names


@dataclass(kw_only=True, eq=False)
class DistilledRecogniser(Recogniser):
    """Recogniser that learns from the answers of a teacher; its folder keeps them until the end of the run.

    Attributes:
        answers: of the teacher.
        more: for ``run.json``.
        notes: for the user, before those of a recogniser.
    """

    answers: Answers
    more: Mapping[str, Any]
    notes: Sequence[str]

    def __post_init__(self) -> None:
        """Prepares the recogniser, and adds the facts about its teacher."""
        super().__post_init__()
        known = self.facts
        data = {**known.data, "teacher.model": {"sha256": self.more["teacher_sha256"]}}
        notes = chain(self.notes, known.notes)
        self.facts = replace(known, data=data, more={**known.more, **self.more}, notes=notes)

    def judge(self, point: Point) -> PointResult:
        """Scores dev as a recogniser does, and first writes the answers into the run folder, which now exists."""
        self.answers.save(self.folder)
        return super().judge(point)

    def finish(self, chosen: Sequence[Line]) -> Iterator[Finished]:
        """Finishes as a recogniser does, and removes the answers, which only resuming needs."""
        yield from super().finish(chosen)
        (self.folder / FILE).unlink(missing_ok=True)


def prepare_prediction(recipe: DistilRecipe, folder: Path, before: Mapping[str, Any]) -> DistilledRecogniser:
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
    teacher = load_whole(recipe.teacher.model)
    _check_answers(teacher, recipe.teacher.model)
    pair = Pair.of(recipe)
    student = pair.student
    own = recipe.recogniser(recipe.head or _head_like(recipe), encoder=student.encoder.origin)
    check_names(own)
    check_encoder(own, student)
    parts = _with_types(read_data(own), teacher, gold=recipe.prediction.gold)
    prepared = prepare(own, parts, student)
    head = _checked_head(prepared.model, teacher)
    wanted = AnswerLabels(types=parts.types, scheme=head.scheme.name, megabytes=recipe.prediction.megabytes)
    answers = answers_of(teacher, parts.train, prepared.data.pieces, wanted=wanted, folder=folder)
    data = TaughtSet(**vars(prepared.data), answers=answers.tables, head=head)
    pair.compare(document.text for document in parts.train)
    pupil = Student(student.encoder, layers=pair.layers, answers=AnswerLoss(recipe.prediction, prepared.model))
    trainer = Trainer(pupil, data, own.training, seed=recipe.seed)
    trainer.settle_precision(before.get("precision"))
    return DistilledRecogniser(
        answers=answers,
        more={**pair.facts(), "teacher_sha256": source_sha256(recipe.teacher.model)},
        notes=[_told(answers), *pair.notes()],
        folder=folder,
        recipe=own,
        parts=parts,
        prepared=replace(prepared, data=data),
        pretrained=student,
        loop=trainer,
    )


def _check_answers(teacher: Annotator, given: str) -> None:
    """Refuses a teacher that has no probabilities.

    Raises:
        RecipeError: a dictionary.
    """
    if teacher.tag_space.meaning == "none":
        raise RecipeError(
            f"teacher.model = {given!r} gives answers without probabilities, as a dictionary does; give a model or an "
            "ensemble, or let fascicle label write the answers and train on them",
            key="teacher.model",
        )


def _head_like(recipe: DistilRecipe) -> AnyHead:
    """Returns the settings of the teacher's head if that can imitate, else those of a multi-label tagger."""
    folder = find_model(recipe.teacher.model)
    if described_by(folder).name == MANIFEST:
        head = read_manifest(folder).answering
        if head.level == "word" and getattr(FAMILIES.get(type(head)), "imitates", False):
            return head
    return MultiLabelSettings()


def _checked_head(model: NerModel, teacher: Annotator) -> SoftmaxTagger:
    """Returns the head that learns.

    Raises:
        RecipeError: it cannot imitate, or not this teacher.
    """
    head = model.head(model.answer)
    if not isinstance(head, SoftmaxTagger) or not head.imitates or head.level != "word":
        raise RecipeError(
            f"the head {model.answer!r} of the student, over {head.level}s, cannot imitate answers; give [head] with "
            'family = "multilabel" or "softmax" and level = "word"'
        )
    if teacher.tag_space.meaning == "sigmoid" and not head.limits.across_types:
        raise RecipeError(
            f"the labels of the teacher do not exclude each other, but those of the head {model.answer!r} do; give "
            '[head] with family = "multilabel"'
        )
    return head


def _with_types(parts: Parts, teacher: Annotator, *, gold: float) -> Parts:
    """Returns the parts with the types of the teacher, in its order.

    Raises:
        RecipeError: train has a type that the teacher does not look for, or train lacks a type of the teacher and the
            gold would teach that there are no mentions of it.
    """
    lacking = sorted(set(teacher.types) - set(parts.types))
    if lacking and gold:
        raise RecipeError(
            f"train has no mention of the type {lacking[0]!r}, which the teacher looks for, so its gold would teach "
            "that there is none: set prediction.gold = 0, or add a corpus that annotates it"
        )
    strange = sorted(set(parts.types) - set(teacher.types))
    if strange:
        raise RecipeError(
            f"train has mentions of the type {strange[0]!r}, which the teacher does not look for; leave them out, or "
            "give them its name, in [corpus.types]"
        )
    return replace(parts, types=tuple(teacher.types))


def _told(answers: Answers) -> str:
    units = sum(map(len, answers.tables))
    unseen = f"; it does not see {answers.unseen:,} of them as such" if answers.unseen else ""
    return f"the teacher answers for {counted(units, 'word')} of train{unseen}"

"""Distillation: from a recipe to a student that the engine trains.

With ``[layers]`` alone the result is an encoder, see ``training.distil.layers_run``. With ``[prediction]`` it is the
run of a recogniser, see ``training.recogniser.run``, whose windows are taught by a teacher.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from msgspec import UNSET

from fascicle.core.document import Document
from fascicle.core.wording import counted
from fascicle.errors import InputError, RecipeError
from fascicle.formats.report import ReadReport
from fascicle.models.encoder import Pretrained
from fascicle.settings.recipes.distil import DistilRecipe
from fascicle.training.corpus import data_name, part_sha256, read_part
from fascicle.training.distil.data import in_order, text_set
from fascicle.training.distil.layers_run import LayerTrainee
from fascicle.training.distil.pupil import LayerLosses, Pupil
from fascicle.training.distil.student import student_of
from fascicle.training.distil.teacher import Teacher, check_same_pieces, open_encoder
from fascicle.training.engine.environment import describe_environment
from fascicle.training.engine.loop import Trainer
from fascicle.training.engine.precision import slow_precision
from fascicle.training.engine.run import Facts, Trainee

_COMPARED = 1000  # documents of which both tokenizers must cut every one into the same pieces


def prepare_distil(recipe: DistilRecipe, folder: Path, before: Mapping[str, Any]) -> Trainee:
    """Opens the teacher, builds the student and reads the data.

    Args:
        recipe: what to do.
        folder: of the run.
        before: what ``run.json`` says of the same run; nothing if it is new.

    Raises:
        InputError: the corpus cannot be read, or holds no text.
        RecipeError: teacher and student do not fit each other or the recipe.
        ModelError: one of them cannot be loaded.
    """
    return _prepare_layers(recipe, folder, before)


def _prepare_layers(recipe: DistilRecipe, folder: Path, before: Mapping[str, Any]) -> LayerTrainee:
    assert recipe.layers is not UNSET
    report = ReadReport()
    train, dev = (read_part(recipe.corpus, part, report=report) for part in ("train", "dev"))
    taught_by = open_encoder(recipe.teacher)
    torch.manual_seed(recipe.seed)
    student = student_of(recipe.student, taught_by)
    layers = layer_losses(recipe, student, taught_by, train)
    learned, held_out = (text_set(part, student.tokenizer, reading=recipe.reading) for part in (train, dev))
    for name, data in (("train", learned), ("dev", held_out)):
        if not data.windows:
            raise InputError(f"corpus.{name} holds no text, so there is nothing to compare on; give texts with words")
    trainer = Trainer(Pupil(student.encoder, layers=layers), learned, recipe.training, seed=recipe.seed)
    trainer.settle_precision(before.get("precision"))
    facts = Facts(
        data={
            data_name(key): {"sha256": part_sha256(path)}
            for key, path in recipe.files().items()
            if key != "corpus.test"
        },
        environment=describe_environment(),
        more=facts_of(recipe, student, layers, trainer) | {"windows": len(learned.windows)},
        notes=[*report.lines(), *_notes(student, taught_by), *filter(None, [_slow(trainer, recipe)])],
    )
    return LayerTrainee(
        folder=folder,
        student=student,
        loop=trainer,
        held_out=list(in_order(held_out, size=recipe.training.batch_size)),
        facts=facts,
    )


def layer_losses(
    recipe: DistilRecipe, student: Pretrained, teacher: Pretrained, documents: list[Document]
) -> LayerLosses:
    """The losses on layers of a recipe.

    Args:
        recipe: with ``[layers]``.
        student: encoder that learns.
        teacher: that is imitated.
        documents: that are read, of which some are cut into pieces by both.

    Raises:
        RecipeError: they do not fit each other.
    """
    assert recipe.layers is not UNSET
    check_same_pieces((d.text for d in documents[:_COMPARED]), student.tokenizer, teacher.tokenizer)
    for who, one in (("student", student), ("teacher", teacher)):
        if recipe.reading.max_length > one.encoder.longest:
            raise RecipeError(
                f"reading.max_length = {recipe.reading.max_length} is more than the "
                f"{counted(one.encoder.longest, 'piece')} that the {who} reads; lower it"
            )
    taught_by = Teacher(teacher, student.tokenizer, attention=recipe.layers.attention > 0)
    return LayerLosses(recipe.layers, pupil=student.encoder, teacher=taught_by)


def facts_of(recipe: DistilRecipe, student: Pretrained, layers: LayerLosses | None, trainer: Trainer) -> dict[str, Any]:
    """What ``run.json`` says of any distillation."""
    return {
        "recipe": recipe.name,
        "seed": recipe.seed,
        "student": student.encoder.origin,
        "teacher": recipe.teacher.model or recipe.teacher.encoder,
        "layer_map": list(layers.map) if layers is not None else [],
        "steps": trainer.steps,
        **trainer.precision_facts(),
    }


def _slow(trainer: Trainer, recipe: DistilRecipe) -> str:
    return slow_precision(trainer.device, recipe.training)


def _notes(student: Pretrained, teacher: Pretrained) -> Iterator[str]:
    ours, theirs = (sum(p.numel() for p in one.encoder.parameters()) for one in (student, teacher))
    yield f"the student has {ours:,} parameters, its teacher {theirs:,}"

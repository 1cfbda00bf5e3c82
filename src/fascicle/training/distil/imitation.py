"""Reads what layers are compared on, and builds the student that imitates them; see ``training.distil.layers_run``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from fascicle.core.document import Document
from fascicle.errors import InputError
from fascicle.formats.report import ReadReport
from fascicle.formats.sources import source_sha256
from fascicle.models.encoder import Pretrained
from fascicle.settings.heads import MultiLabelSettings
from fascicle.settings.recipes.distil import DistilRecipe
from fascicle.training.corpus import data_name, read_part
from fascicle.training.distil.data import RawSet, in_order, text_set
from fascicle.training.distil.layers_run import LayerTrainee
from fascicle.training.distil.lessons import beginnings, facts_of, layer_losses, told
from fascicle.training.distil.pupil import Pupil
from fascicle.training.distil.student import student_of
from fascicle.training.distil.teacher import open_encoder
from fascicle.training.engine.environment import describe_environment
from fascicle.training.engine.loop import Batches, Trainer
from fascicle.training.engine.precision import slow_precision
from fascicle.training.engine.run import Facts
from fascicle.training.exclusion import without_excluded
from fascicle.training.raw.documents import raw_documents
from fascicle.training.raw.windows import read_windows
from fascicle.training.recogniser.parts import read_data


@dataclass(frozen=True, kw_only=True)
class _Read:
    """What is read for layers alone: windows to learn from and to compare on, and what a user should know of them."""

    learned: Batches
    held_out: Batches
    notes: tuple[str, ...]
    data: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # beside the files
    more: Mapping[str, Any] = field(default_factory=dict)


def prepare_layers(recipe: DistilRecipe, folder: Path, before: Mapping[str, Any]) -> LayerTrainee:
    """Opens the teacher, builds the student and reads the texts.

    Args:
        recipe: with ``[layers]`` alone.
        folder: of the run.
        before: what ``run.json`` says of the same run; nothing if it is new.

    Raises:
        InputError: the texts cannot be read, or there are none.
        RecipeError: teacher and student do not fit each other or the recipe.
        ModelError: one of them cannot be loaded.
    """
    taught_by = open_encoder(recipe.teacher)
    torch.manual_seed(recipe.seed)
    student = student_of(recipe.student, taught_by)
    longest = recipe.text.window if recipe.text else recipe.reading.max_length
    layers = layer_losses(recipe, student, taught_by, longest=longest, texts=_some_texts(recipe))
    read = (_of_text if recipe.text else _of_corpus)(recipe, student)
    trainer = Trainer(Pupil(student.encoder, layers=layers), read.learned, recipe.training, seed=recipe.seed)
    trainer.settle_precision(before.get("precision"))
    facts = Facts(
        data={**data_facts(recipe), **read.data},
        environment=describe_environment(),
        more={**facts_of(recipe, student, layers, trainer), **read.more},
        notes=[
            *read.notes,
            *told(student, taught_by, layers),
            *filter(None, [slow_precision(trainer.device, recipe.training)]),
        ],
    )
    held_out = list(in_order(read.held_out, size=recipe.training.batch_size))
    return LayerTrainee(folder=folder, recipe=recipe, student=student, loop=trainer, held_out=held_out, facts=facts)


def _some_texts(recipe: DistilRecipe) -> list[str]:
    """The first texts that are read."""
    if recipe.text:
        return beginnings(one.text for one in raw_documents(recipe.text, seed=recipe.seed))
    return beginnings(one.text for one in _documents(recipe).train)


@dataclass(frozen=True, kw_only=True)
class _Documents:
    """Train without what exclusion lists name, and dev; no label of them is read."""

    train: list[Document]
    dev: list[Document]
    notes: tuple[str, ...]


def _documents(recipe: DistilRecipe) -> _Documents:
    """Of one corpus, or of several together."""
    if not recipe.corpus:
        several = read_data(recipe.recogniser(MultiLabelSettings(), encoder="student"))
        return _Documents(train=several.train, dev=several.dev, notes=several.notes)
    report = ReadReport()
    train, dev = (read_part(recipe.corpus, part, report=report) for part in ("train", "dev"))
    train, left_out = without_excluded(train, recipe.corpus)
    return _Documents(train=train, dev=dev, notes=(*report.lines(), *left_out))


def _of_corpus(recipe: DistilRecipe, student: Pretrained) -> _Read:
    """The windows of train and dev."""
    given = _documents(recipe)
    learned, held_out = (
        text_set(documents, student.tokenizer, reading=recipe.reading) for documents in (given.train, given.dev)
    )
    for name, data in (("train", learned), ("dev", held_out)):
        if not data.windows:
            raise InputError(f"{name} holds no text, so there is nothing to compare on; give texts with words")
    return _Read(learned=learned, held_out=held_out, notes=given.notes, more={"windows": len(learned.windows)})


def _of_text(recipe: DistilRecipe, student: Pretrained) -> _Read:
    """The windows of raw text."""
    assert recipe.text
    read = read_windows(recipe.text, student.tokenizer, seed=recipe.seed)
    if not len(read.held_out):
        raise InputError(
            f"text.held_out = {recipe.text.held_out:g} holds out no document of the text, so nothing can be chosen; "
            "raise it, or give more documents"
        )
    return _Read(
        learned=RawSet(windows=read.learned),
        held_out=RawSet(windows=read.held_out),
        notes=tuple(read.notes(recipe.text)),
        data={
            name: {"sha256": windows.sha256(), "windows": len(windows), "pieces": windows.pieces}
            for name, windows in (("windows", read.learned), ("held_out", read.held_out))
        },
        more={"documents": read.counts.as_dict()},
    )


def data_facts(recipe: DistilRecipe) -> dict[str, dict[str, Any]]:
    """Hash of all data that layers are compared on, and of the teacher."""
    return {data_name(key): {"sha256": source_sha256(path)} for key, path in recipe.files().items()}

"""Distillation by answers: trains a recogniser on the answers of a teacher, and optionally also on
the gold.

The run folder is that of a recogniser. During training it also holds ``answers.safetensors``: the
answers of the teacher for the words of train.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from fascicle.core.arrays import Floats, Ints
from fascicle.core.document import Document
from fascicle.core.files.atomic import atomic_writer
from fascicle.core.stream import chunks
from fascicle.core.wording import plural
from fascicle.errors import RecipeError
from fascicle.formats.sources import source_sha256
from fascicle.loading import load_all_types
from fascicle.models.heads.contract import IGNORED
from fascicle.models.heads.tagger import SoftmaxTagger
from fascicle.models.model import FAMILIES, NerModel
from fascicle.runtime.places import find_model
from fascicle.settings.folders.best import description_file
from fascicle.settings.folders.manifest import MANIFEST, read_manifest
from fascicle.settings.heads import AnyHead, MultiLabelSettings
from fascicle.settings.recipes.distil import DistilRecipe
from fascicle.text.annotator import Annotator, bio_to_io
from fascicle.text.pieces import Pieces
from fascicle.text.windows import Batch
from fascicle.training.corpus import Parts
from fascicle.training.distil.student import TAUGHT, AnswerLoss, Student, StudentAndTeacher
from fascicle.training.engine.events import Finished, Line, Point
from fascicle.training.engine.loop import Trainer
from fascicle.training.engine.run import PointResult
from fascicle.training.recogniser.data import TrainingSet
from fascicle.training.recogniser.parts import read_data
from fascicle.training.recogniser.prepare import check_encoder, prepare
from fascicle.training.recogniser.run import Recogniser, check_names

FILE: Final = "answers.safetensors"
_MEGABYTE: Final = 1 << 20
_Table = NDArray[np.float16]


@dataclass(frozen=True, kw_only=True, eq=False)
class _TeacherAnswers:
    """Probabilities of all labels except O for the units of each document.

    Attributes:
        tables: ``[units, C - 1]``; negative where the teacher has no word with the same range.
        key: hash of everything that affects them.
    """

    tables: Sequence[_Table]
    key: str

    @property
    def unseen(self) -> int:
        """Number of units without an answer."""
        return sum(int((table < 0).any(axis=1).sum()) for table in self.tables)

    def save(self, folder: Path) -> None:
        """Writes the answers into a run folder, unless they are there already."""
        if _read(folder, self.key) is None:
            found = np.concatenate(self.tables)
            with atomic_writer(folder / FILE, overwrite=True) as stream:
                stream.write(
                    save({"answers": found}, metadata={"key": self.key, "sha256": _sha256(found)})
                )


@dataclass(frozen=True, kw_only=True)
class AnswerLabels:
    """Labels for which the answers are computed.

    Attributes:
        types: of the student, in their order; the teacher looks for all of them.
        scheme: ``"BIO"`` or ``"IO"``.
        megabytes: largest size of the answers.
    """

    types: tuple[str, ...]
    scheme: str
    megabytes: int


def teacher_answers(
    teacher: Annotator,
    documents: Sequence[Document],
    pieces: Sequence[Pieces],
    *,
    wanted: AnswerLabels,
    folder: Path,
) -> _TeacherAnswers:
    """Computes the answers of a teacher, or reads the same answers from a run folder.

    Args:
        teacher: any predictor.
        documents: of the corpus.
        pieces: of each document, whose units are words.
        wanted: labels of the answers.
        folder: of the run, which may not exist yet.

    Raises:
        RecipeError: the teacher has another scheme, or there are more answers than allowed.
    """
    width = len(wanted.types) * _WIDTHS[wanted.scheme]
    units = [len(p.units) for p in pieces]
    size = 2 * width * sum(units)
    if size > wanted.megabytes * _MEGABYTE:
        raise RecipeError(
            f"the answers of the teacher take {size / _MEGABYTE:,.0f} megabytes, and "
            "prediction.megabytes allows "
            f"{wanted.megabytes:,}: raise it, or let fascicle label write them"
        )
    key = _key(teacher, documents, pieces, wanted)
    kept = _read(folder, key)
    if kept is not None and len(kept) == sum(units):
        return _TeacherAnswers(tables=np.split(kept, np.cumsum(units)[:-1]), key=key)
    tables: list[_Table] = []
    for chunk in chunks(documents):
        for tagged in teacher.tag(chunk):
            rows = _columns(tagged.probabilities, teacher, wanted)
            at = len(tables)
            tables.append(_at_units(pieces[at].units, tagged.words, rows))
    return _TeacherAnswers(tables=tables, key=key)


_WIDTHS: Final = {"BIO": 2, "IO": 1}


def _columns(table: Floats, teacher: Annotator, wanted: AnswerLabels) -> Floats:
    """Returns the probabilities for the types and the scheme of the student."""
    given = teacher.tag_space.scheme
    if given != wanted.scheme:
        if given == "IO":
            raise RecipeError(
                'the teacher answers in IO, which does not tell B from I; set head.scheme = "IO"'
            )
        table = bio_to_io(table)
    width = _WIDTHS[wanted.scheme]
    chosen = [
        width * teacher.types.index(name) + at for name in wanted.types for at in range(width)
    ]
    return table[:, chosen]


def _at_units(units: Ints, words: Ints, rows: Floats) -> _Table:
    """Returns for each unit the row of the word with the same range."""
    found = np.full((len(units), rows.shape[1]), IGNORED, dtype=np.float16)
    if not len(words):
        return found
    at = np.minimum(np.searchsorted(words[:, 0], units[:, 0]), len(words) - 1)
    same = (words[at] == units).all(axis=1)
    found[same] = rows[at[same]].clip(0, 1)
    return found


def _key(
    teacher: Annotator,
    documents: Sequence[Document],
    pieces: Sequence[Pieces],
    wanted: AnswerLabels,
) -> str:
    digest = hashlib.sha256(f"{teacher.fingerprint}\n{wanted.types}\n{wanted.scheme}\n".encode())
    for document, of_one in zip(documents, pieces, strict=True):
        digest.update(
            document.text.encode("utf-8", "surrogatepass") + b"\0" + of_one.units.tobytes()
        )
    return digest.hexdigest()


def _read(folder: Path, key: str) -> _Table | None:
    """Reads the answers in a run folder; ``None`` if there are none, or others, or damaged ones."""
    try:
        with safe_open(folder / FILE, framework="numpy") as file:
            said = file.metadata() or {}
            if said.get("key") != key:
                return None
            found: _Table = file.get_tensor("answers")
    except (OSError, SafetensorError):
        return None
    return found if said.get("sha256") == _sha256(found) else None


def _sha256(table: _Table) -> str:
    return hashlib.sha256(np.ascontiguousarray(table).data).hexdigest()


@dataclass(frozen=True, kw_only=True)
class _TaughtSet(TrainingSet):
    """Training set whose batches also hold the answers of a teacher, as ``TAUGHT``.

    Attributes:
        answers: probabilities of all labels but O of the units of each document, ``[units, C -
            1]``, in half precision as they were kept; negative where the teacher gives no answer.
        head: name of the head that learns them.
    """

    answers: Sequence[NDArray[np.float16]]
    head: SoftmaxTagger

    def _arrays(self, chosen: Ints) -> Batch:
        batch = super()._arrays(chosen)
        found = np.full(
            (*batch["first_piece"].shape, len(self.head.labels)), IGNORED, dtype=np.float32
        )
        for row, at in enumerate(chosen):
            window = self.windows[at]
            first, last = window.units
            told = self.answers[window.document][first:last].astype(np.float32)
            found[row, : last - first] = self.head.soft_gold(told)
        return {**batch, TAUGHT: found}


@dataclass(kw_only=True, eq=False)
class _DistilledRecogniser(Recogniser):
    """Recogniser that learns from the answers of a teacher; its folder keeps them until the end of
    the run.

    Attributes:
        answers: of the teacher.
        more: for ``run.json``.
        notes: for the user, before those of a recogniser.
    """

    answers: _TeacherAnswers
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
        """Scores dev as a recogniser does, and first writes the answers into the run folder,
        which now exists.
        """
        self.answers.save(self.folder)
        return super().judge(point)

    def finish(self, chosen: Sequence[Line]) -> Iterator[Finished]:
        """Finishes as a recogniser does, and removes the answers, which only resuming needs."""
        yield from super().finish(chosen)
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
    teacher = load_all_types(recipe.teacher.model)
    _check_answers(teacher, recipe.teacher.model)
    pair = StudentAndTeacher.of(recipe)
    student = pair.student
    own = recipe.recogniser(recipe.head or _head_like(recipe), encoder=student.encoder.origin)
    if not own.decision.apart:
        kept = msgspec.structs.replace(own.decision, apart=teacher.apart)
        own = msgspec.structs.replace(own, decision=kept)
    check_names(own)
    check_encoder(own, student)
    parts = _with_types(read_data(own), teacher, gold=recipe.prediction.gold)
    prepared = prepare(own, parts, student)
    head = _checked_head(prepared.model, teacher)
    wanted = AnswerLabels(
        types=parts.types, scheme=head.scheme.name, megabytes=recipe.prediction.megabytes
    )
    answers = teacher_answers(
        teacher, parts.train, prepared.data.pieces, wanted=wanted, folder=folder
    )
    data = _TaughtSet(**vars(prepared.data), answers=answers.tables, head=head)
    pair.compare(document.text for document in parts.train)
    trainable = Student(
        student.encoder, layers=pair.layers, answers=AnswerLoss(recipe.prediction, prepared.model)
    )
    trainer = Trainer(trainable, data, own.training, seed=recipe.seed)
    trainer.settle_precision(before.get("precision"))
    return _DistilledRecogniser(
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
            f"teacher.model = {given!r} gives answers without probabilities, as a dictionary "
            "does; give a model or an "
            "ensemble, or let fascicle label write the answers and train on them",
            key="teacher.model",
        )


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


def _checked_head(model: NerModel, teacher: Annotator) -> SoftmaxTagger:
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
            f"train has no mention of the type {lacking[0]!r}, which the teacher looks for, so "
            "the student would "
            "learn from gold that there is none: set prediction.gold = 0, or add a corpus that "
            "annotates it"
        )
    strange = sorted(set(parts.types) - set(teacher.types))
    if strange:
        raise RecipeError(
            f"train has mentions of the type {strange[0]!r}, which the teacher does not look "
            "for; leave them out, or "
            "map them to a type of the teacher, in [corpus.types]"
        )
    return replace(parts, types=tuple(teacher.types))


def _told(answers: _TeacherAnswers) -> str:
    units = sum(map(len, answers.tables))
    unseen = f"; it does not see {answers.unseen:,} of them as such" if answers.unseen else ""
    return f"the teacher answers for {plural(units, 'word')} of train{unseen}"

"""Answers of a teacher for the words of a training corpus.

They are computed once. During training the run folder keeps them in ``answers.safetensors``, so
that a resumed run reads them again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from fascicle.core.arrays import Floats, Ints
from fascicle.core.document import Document
from fascicle.core.files.atomic import atomic_writer
from fascicle.core.stream import chunks
from fascicle.core.tags import SCHEMES
from fascicle.core.wording import plural
from fascicle.errors import RecipeError
from fascicle.models.heads.contract import IGNORED
from fascicle.text.annotator import Annotator, bio_to_io
from fascicle.text.pieces import Pieces

FILE: Final = "answers.safetensors"
_MEGABYTE: Final = 1 << 20
Table = NDArray[np.float16]


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

    @property
    def width(self) -> int:
        """Labels of a type."""
        return SCHEMES[self.scheme].width


@dataclass(frozen=True, kw_only=True, eq=False)
class TeacherAnswers:
    """Probabilities of all labels except O for the units of each document.

    Attributes:
        tables: ``[units, C - 1]``; negative where the teacher has no word with the same range.
        key: hash of everything that affects them.
    """

    tables: Sequence[Table]
    key: str

    @property
    def unseen(self) -> int:
        """Number of units without an answer."""
        return sum(int((table < 0).any(axis=1).sum()) for table in self.tables)

    def note(self) -> str:
        """Returns a sentence on their number."""
        words = plural(sum(map(len, self.tables)), "word")
        unseen = f"; it does not see {self.unseen:,} of them as such" if self.unseen else ""
        return f"the teacher answers for {words} of train{unseen}"

    def save(self, folder: Path) -> None:
        """Writes the answers into a run folder, unless it has them already."""
        if _read_answers(folder, self.key) is None:
            answers = np.concatenate(self.tables)
            metadata = {"key": self.key, "sha256": _sha256(answers)}
            with atomic_writer(folder / FILE, overwrite=True) as stream:
                stream.write(save({"answers": answers}, metadata=metadata))


def teacher_answers(
    teacher: Annotator,
    documents: Sequence[Document],
    pieces: Sequence[Pieces],
    *,
    labels: AnswerLabels,
    folder: Path,
) -> TeacherAnswers:
    """Computes the answers of a teacher, or reads the same answers from a run folder.

    Args:
        teacher: any predictor.
        documents: of the corpus.
        pieces: of each document, whose units are words.
        labels: of the answers.
        folder: of the run, which may not exist yet.

    Raises:
        RecipeError: the teacher has another scheme, or there are more answers than allowed.
    """
    counts = [len(p.units) for p in pieces]
    size = np.float16().itemsize * len(labels.types) * labels.width * sum(counts)
    if size > labels.megabytes * _MEGABYTE:
        raise RecipeError(
            f"the answers of the teacher take {size / _MEGABYTE:,.0f} megabytes, and "
            f"prediction.megabytes allows {labels.megabytes:,}: raise it, or let fascicle label "
            "write them"
        )
    key = _key(teacher, documents, pieces, labels)
    stored = _read_answers(folder, key)
    if stored is not None and len(stored) == sum(counts):
        return TeacherAnswers(tables=np.split(stored, np.cumsum(counts)[:-1]), key=key)

    tables: list[Table] = []
    for chunk in chunks(documents):
        for tagged in teacher.tag(chunk):
            rows = _select_labels(tagged.probabilities, teacher, labels)
            tables.append(_answers_of_units(pieces[len(tables)].units, tagged.words, rows))
    return TeacherAnswers(tables=tables, key=key)


def _select_labels(table: Floats, teacher: Annotator, labels: AnswerLabels) -> Floats:
    """Returns the probabilities for the types and the scheme of the student."""
    scheme = teacher.tag_space.scheme
    if scheme != labels.scheme:
        if scheme == "IO":
            raise RecipeError(
                'the teacher answers in IO, which does not tell B from I; set head.scheme = "IO"'
            )
        table = bio_to_io(table)
    first = [labels.width * teacher.types.index(name) for name in labels.types]
    return table[:, [column + offset for column in first for offset in range(labels.width)]]


def _answers_of_units(units: Ints, words: Ints, rows: Floats) -> Table:
    """Returns for each unit the row of the word with the same range."""
    answers = np.full((len(units), rows.shape[1]), IGNORED, dtype=np.float16)
    if len(words):
        word = np.minimum(np.searchsorted(words[:, 0], units[:, 0]), len(words) - 1)
        same = (words[word] == units).all(axis=1)
        answers[same] = rows[word[same]].clip(0, 1)
    return answers


def _key(
    teacher: Annotator,
    documents: Sequence[Document],
    pieces: Sequence[Pieces],
    labels: AnswerLabels,
) -> str:
    digest = hashlib.sha256(f"{teacher.fingerprint}\n{labels.types}\n{labels.scheme}\n".encode())
    for document, cut in zip(documents, pieces, strict=True):
        digest.update(document.text.encode("utf-8", "surrogatepass") + b"\0")
        digest.update(cut.units.tobytes())
    return digest.hexdigest()


def _read_answers(folder: Path, key: str) -> Table | None:
    """Reads the answers in a run folder; ``None`` if it has none, or others, or damaged ones."""
    try:
        with safe_open(folder / FILE, framework="numpy") as file:
            metadata = file.metadata() or {}
            if metadata.get("key") != key:
                return None
            answers: Table = file.get_tensor("answers")
    except (OSError, SafetensorError):
        return None
    return answers if metadata.get("sha256") == _sha256(answers) else None


def _sha256(table: Table) -> str:
    return hashlib.sha256(np.ascontiguousarray(table).data).hexdigest()

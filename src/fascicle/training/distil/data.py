"""Answers of a teacher over a corpus: the probability of each label of each word, computed once and kept.

Answers need little room, unlike layers: two bytes for each label of each word. So the teacher may be any predictor,
with pieces, windows and units of its own. They are rounded to half precision before the first use: a resumed run
learns from the same numbers, whether it finds them in its folder or computes them again.

Also the training data of a student: windows of a corpus, with or without the answers of its teacher, or of raw text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from fascicle.core.arrays import Floats, Ints
from fascicle.core.document import Document
from fascicle.core.files.atomic import atomic_writer
from fascicle.core.stream import chunks
from fascicle.errors import RecipeError
from fascicle.models.heads.contract import IGNORED
from fascicle.models.heads.tagger import SoftmaxTagger
from fascicle.text.annotator import Annotator, without_b
from fascicle.text.pieces import Pieces
from fascicle.text.windows import Batch
from fascicle.training.distil.pupil import TAUGHT
from fascicle.training.engine.loop import Taught
from fascicle.training.raw.windows import TextWindows
from fascicle.training.recogniser.data import TrainingSet

FILE: Final = "answers.safetensors"
_MEGABYTE: Final = 1 << 20
Table = NDArray[np.float16]


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
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

    def save(self, folder: Path) -> None:
        """Writes the answers into a run folder, unless they are there already."""
        if _read(folder, self.key) is None:
            found = np.concatenate(self.tables)
            with atomic_writer(folder / FILE, overwrite=True) as stream:
                stream.write(save({"answers": found}, metadata={"key": self.key, "sha256": _sha256(found)}))


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


def answers_of(
    teacher: Annotator, documents: Sequence[Document], pieces: Sequence[Pieces], *, wanted: AnswerLabels, folder: Path
) -> Answers:
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
            f"the answers of the teacher take {size / _MEGABYTE:,.0f} megabytes, and prediction.megabytes allows "
            f"{wanted.megabytes:,}: raise it, or let fascicle label write them"
        )
    key = _key(teacher, documents, pieces, wanted)
    kept = _read(folder, key)
    if kept is not None and len(kept) == sum(units):
        return Answers(tables=np.split(kept, np.cumsum(units)[:-1]), key=key)
    tables: list[Table] = []
    for chunk in chunks(documents):
        for tagged in teacher.tag(chunk):
            rows = _columns(tagged.probabilities, teacher, wanted)
            at = len(tables)
            tables.append(_at_units(pieces[at].units, tagged.words, rows))
    return Answers(tables=tables, key=key)


_WIDTHS: Final = {"BIO": 2, "IO": 1}


def _columns(table: Floats, teacher: Annotator, wanted: AnswerLabels) -> Floats:
    """Returns the probabilities for the types and the scheme of the student."""
    given = teacher.tag_space.scheme
    if given != wanted.scheme:
        if given == "IO":
            raise RecipeError('the teacher answers in IO, which does not tell B from I; set head.scheme = "IO"')
        table = without_b(table)
    width = _WIDTHS[wanted.scheme]
    chosen = [width * teacher.types.index(name) + at for name in wanted.types for at in range(width)]
    return table[:, chosen]


def _at_units(units: Ints, words: Ints, rows: Floats) -> Table:
    """Returns for each unit the row of the word with the same range."""
    found = np.full((len(units), rows.shape[1]), IGNORED, dtype=np.float16)
    if not len(words):
        return found
    at = np.minimum(np.searchsorted(words[:, 0], units[:, 0]), len(words) - 1)
    same = (words[at] == units).all(axis=1)
    found[same] = rows[at[same]].clip(0, 1)
    return found


def _key(teacher: Annotator, documents: Sequence[Document], pieces: Sequence[Pieces], wanted: AnswerLabels) -> str:
    digest = hashlib.sha256(f"{teacher.fingerprint}\n{wanted.types}\n{wanted.scheme}\n".encode())
    for document, of_one in zip(documents, pieces, strict=True):
        digest.update(document.text.encode("utf-8", "surrogatepass") + b"\0" + of_one.units.tobytes())
    return digest.hexdigest()


def _read(folder: Path, key: str) -> Table | None:
    """Reads the answers in a run folder; ``None`` if there are none, or others, or damaged ones."""
    try:
        with safe_open(folder / FILE, framework="numpy") as file:
            said = file.metadata() or {}
            if said.get("key") != key:
                return None
            found: Table = file.get_tensor("answers")
    except (OSError, SafetensorError):
        return None
    return found if said.get("sha256") == _sha256(found) else None


def _sha256(table: Table) -> str:
    return hashlib.sha256(np.ascontiguousarray(table).data).hexdigest()


@dataclass(frozen=True, kw_only=True)
class TaughtSet(TrainingSet):
    """Training set whose batches also hold the answers of a teacher, as ``TAUGHT``.

    Attributes:
        answers: probabilities of all labels but O of the units of each document, ``[units, C - 1]``, in half precision
            as they were kept; negative where the teacher gives no answer.
        head: name of the head that learns them.
    """

    answers: Sequence[NDArray[np.float16]]
    head: SoftmaxTagger

    def _arrays(self, chosen: Ints) -> Batch:
        batch = super()._arrays(chosen)
        found = np.full((*batch["first_piece"].shape, len(self.head.labels)), IGNORED, dtype=np.float32)
        for row, at in enumerate(chosen):
            window = self.windows[at]
            first, last = window.units
            told = self.answers[window.document][first:last].astype(np.float32)
            found[row, : last - first] = self.head.soft_gold(told)
        return {**batch, TAUGHT: found}


@dataclass(frozen=True, kw_only=True)
class RawSet:
    """Windows of raw text as batches.

    Attributes:
        windows: of the text.
    """

    windows: TextWindows

    def batches(self, *, size: int, seed: int, epoch: int, hidden: float = 0.0) -> Iterator[Taught]:
        """Yields one epoch of batches, see ``training.engine.loop.Batches``; no piece is hidden."""
        order = self.windows.order(seed=seed, epoch=epoch)
        for at in range(0, len(order), size):
            read = self.windows.batch(order[at : at + size])
            arrays = {"input_ids": read.ids, "attention_mask": read.attention_mask}
            yield {name: torch.from_numpy(array) for name, array in arrays.items()}, {}

    def count(self, size: int) -> int:
        """Returns the number of batches in an epoch."""
        return -(-len(self.windows) // size)

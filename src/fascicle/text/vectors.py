"""Files of word vectors: the text formats of GloVe and word2vec, and a copy that later reads map
into memory.

GloVe writes one row for each word, the word and its numbers separated by blanks; word2vec writes
the same below a line with the number of rows and the dimension. A word may contain blanks itself,
as in the largest files of GloVe.
"""

from __future__ import annotations

import codecs
import gzip
import json
import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import msgspec
import numpy as np

from fascicle.core.arrays import Floats32, Ints
from fascicle.core.files.atomic import atomic_folder, check_folder, open_output
from fascicle.core.files.intact import first_changed
from fascicle.core.files.owned import Ledger, file_facts
from fascicle.core.files.source import GZIP
from fascicle.core.lazy import cached_property
from fascicle.core.wording import plural
from fascicle.errors import FormatError, InputError, Place

# names that tools give to the row of unknown words
_UNKNOWN_WORDS: Final = ("<unk>", "<UNK>", "[UNK]", "UNK", "unk")


@dataclass(frozen=True, kw_only=True)
class VectorReport:
    """Counts of rows read and left out while reading a file of vectors.

    Attributes:
        rows: words with a vector.
        duplicates: rows left out because an earlier row has their word.
        not_utf8: rows left out because their word is no UTF-8.
        first_duplicate: line number of the first duplicate, from 1; 0 for none.
        first_not_utf8: line number of the first such row, from 1; 0 for none.
        announced: number of rows in the first line, if it differs from the rows of the file; else
            0.
    """

    rows: int
    duplicates: int = 0
    not_utf8: int = 0
    first_duplicate: int = 0
    first_not_utf8: int = 0
    announced: int = 0

    def sentences(self) -> list[str]:
        """Returns messages for the user; empty if all rows were read."""
        sentences = []
        if self.duplicates:
            sentences.append(
                f"left out: {plural(self.duplicates, 'row')} of vectors with a word that was there "
                f"before (the first in line {self.first_duplicate:,})"
            )
        if self.not_utf8:
            sentences.append(
                f"left out: {plural(self.not_utf8, 'row')} of vectors with a word that is no UTF-8 "
                f"(the first in line {self.first_not_utf8:,})"
            )
        if self.announced:
            total = self.rows + self.duplicates + self.not_utf8
            sentences.append(
                f"the first line of the file of vectors says {plural(self.announced, 'row')}, but "
                f"it has {total:,}: it may be cut off"
            )
        return sentences


@dataclass(frozen=True, kw_only=True, eq=False)
class StaticVectors:
    """Words and their vectors.

    Attributes:
        words: words, all different.
        matrix: vector of each word, ``[n, d]``; may be mapped from a file.
        report: report of the reading.
    """

    words: Sequence[str]
    matrix: Floats32
    report: VectorReport = field(default_factory=lambda: VectorReport(rows=0))

    def __post_init__(self) -> None:
        """Checks the shape of the table.

        Raises:
            InputError: there is no word, or not one row for each word.
        """
        if self.matrix.ndim != 2 or len(self.words) != len(self.matrix) or not self.matrix.size:
            raise InputError(
                f"{plural(len(self.words), 'word')} and vectors of the shape {self.matrix.shape} "
                "are not a table of vectors; give one row for each word"
            )

    @property
    def dimension(self) -> int:
        """Number of components of a vector."""
        return int(self.matrix.shape[1])

    @cached_property
    def index(self) -> dict[str, int]:
        """Row of each word."""
        return {word: row for row, word in enumerate(self.words)}

    @cached_property
    def unknown_word(self) -> str:
        """Word whose row is used for unknown words; empty if there is none, and their mean is
        used.
        """
        return next((word for word in _UNKNOWN_WORDS if word in self.index), "")

    @cached_property
    def unknown(self) -> Floats32:
        """Vector of a word without a row, ``[d]``: the row of ``unknown_word``, else the mean of
        all rows.
        """
        if self.unknown_word:
            return np.array(self.matrix[self.index[self.unknown_word]], dtype=np.float32)
        return np.asarray(self.matrix.mean(axis=0, dtype=np.float64), dtype=np.float32)

    def rows(self, words: Iterable[str]) -> Ints:
        """Returns the row of each word, -1 for a word without one."""
        index = self.index
        return np.fromiter((index.get(word, -1) for word in words), dtype=np.int64)

    def vectors(self, words: Iterable[str]) -> Floats32:
        """Returns the vector of each word, ``[m, d]``; that of unknown words for a word without
        a row.
        """
        rows = self.rows(words)
        vectors = np.array(self.matrix[np.maximum(rows, 0)], dtype=np.float32)
        vectors[rows < 0] = self.unknown
        return vectors


_CACHE_SUFFIX: Final = ".mapped"
_MATRIX, _WORDS, _FACTS = "matrix.npy", "words.json", "facts.json"
_FORMAT: Final = 2
_KIND: Final = "vectors"
_DIGITS: Final = "%.6g"
_LONGEST_ROW: Final = 1 << 20  # bytes


class _Facts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Facts about the source file of a mapped copy."""

    format: int
    size: int
    modified: int
    sha256: str
    report: VectorReport
    # size and hash of those of the copy
    files: dict[str, tuple[int, str]] = msgspec.field(default_factory=dict)


def read_vectors(
    path: str | Path, *, dimension: int | None = None, cache: Path | None = None
) -> StaticVectors:
    """Reads the vectors of a GloVe or word2vec text file, gzip or not.

    A row with the word of an earlier row, or with a word that is not UTF-8, is left out and
    counted.

    Args:
        path: the file.
        dimension: required dimension of the vectors; any by default.
        cache: folder for a copy that later calls map into memory in place of reading the text
            again; none by default. `cache_folder` names one beside the file. A copy counts as long
            as the file has its size and its time of change, or else its hash.

    Raises:
        InputError: no such file, or no row in it.
        FormatError: a row without a word, with too few or too many numbers, or with something else
            than finite numbers; another dimension than ``dimension``.
        OutputError: the copy cannot be written there, or other files lie there.
    """
    path = Path(path)
    if not path.is_file():
        message = f"there is no file of vectors at {path}; give a GloVe or word2vec text file"
        raise InputError(message, file=str(path), code="not-found")
    cached = _mapped(path, cache) if cache is not None else None
    if cached is None:
        if cache is not None:
            _adopt(cache)
            check_folder(cache, kind=_KIND, overwrite=True)
        cached = _parsed(path)
        if cache is not None:
            _store(path, cache, cached)
            cached = _mapped(path, cache) or cached
    if dimension is not None and cached.dimension != dimension:
        raise FormatError(
            f"the vectors of {path} have {plural(cached.dimension, 'number')} each, where "
            f"{dimension} are asked for; give another file, or the dimension of this one"
        )
    return cached


def cache_folder(path: str | Path) -> Path:
    """Returns the folder for a mapped copy beside a file of vectors."""
    return Path(f"{path}{_CACHE_SUFFIX}")


def write_vectors(path: str | Path, vectors: StaticVectors, *, overwrite: bool = False) -> None:
    """Writes vectors in the format of GloVe, with six significant digits; a name ending in ``.gz``
    is compressed.

    Raises:
        InputError: a word with white space, which the file could not keep apart from numbers, or a
            byte order mark at the beginning of the first word, which reading takes for that of the
            file.
        OutputError: the file exists, or the place cannot be written.
    """
    for word in vectors.words:
        if not word or word.split() != [word]:
            raise InputError(
                f"the word {word!r} cannot be in a file of vectors: it is empty or holds white "
                "space"
            )
    if vectors.words and vectors.words[0].startswith("\ufeff"):
        message = (
            f"the word {vectors.words[0]!r} cannot be the first of a file: it begins with "
            "a byte order mark"
        )
        raise InputError(message)
    with open_output(path, overwrite=overwrite) as stream:
        for word, row in zip(vectors.words, vectors.matrix, strict=True):
            stream.write(f"{word} {' '.join(_DIGITS % value for value in row)}\n".encode())


def _parsed(path: Path) -> StaticVectors:
    words: dict[str, None] = {}
    numbers = bytearray()
    duplicates, not_utf8 = list[int](), list[int]()  # lines
    announced = dimension = 0
    for number, line in _lines(path):
        parts = line.split(b" ")
        if number == 1 and _is_header(parts):
            announced, dimension = map(int, parts)
            continue
        dimension = dimension or len(parts) - 1
        name, row = _row(parts, dimension, Place(path, number))
        try:
            word = name.decode("utf-8")
        except UnicodeDecodeError:
            not_utf8.append(number)
            continue
        if word in words:
            duplicates.append(number)
            continue
        words[word] = None
        numbers += row.tobytes()
    if not words:
        raise InputError(
            f"{path} holds no vector; give a GloVe or word2vec text file", file=str(path)
        )
    matrix = np.frombuffer(numbers, dtype=np.float32).reshape(len(words), dimension)
    report = _report(len(words), duplicates, not_utf8, announced=announced)
    return StaticVectors(words=tuple(words), matrix=matrix, report=report)


def _is_header(parts: Sequence[bytes]) -> bool:
    """True for the first line of word2vec: how many words and numbers there are."""
    return len(parts) == 2 and all(part.isdigit() for part in parts)


def _report(
    rows: int, duplicates: Sequence[int], not_utf8: Sequence[int], *, announced: int
) -> VectorReport:
    """Returns what happened to the lines of a file.

    Args:
        rows: words that were read.
        duplicates: lines whose word was there before.
        not_utf8: lines whose word is no UTF-8.
        announced: rows that the first line states; 0 if it states none.
    """
    is_right = announced == rows + len(duplicates) + len(not_utf8)
    return VectorReport(
        rows=rows,
        duplicates=len(duplicates),
        not_utf8=len(not_utf8),
        first_duplicate=next(iter(duplicates), 0),
        first_not_utf8=next(iter(not_utf8), 0),
        announced=0 if is_right else announced,
    )


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields numbered lines without their ends; blank ones are left out."""
    with path.open("rb") as raw:
        packed = raw.read(len(GZIP)) == GZIP
        raw.seek(0)
        stream = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw
        number = 0
        try:
            while line := stream.readline(_LONGEST_ROW):
                number += 1
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                if len(line) == _LONGEST_ROW:
                    raise FormatError(
                        f"a row of more than {_LONGEST_ROW:,} bytes is not a vector",
                        at=Place(path, number),
                    )
                if line := line.rstrip(b"\r\n \t"):
                    yield number, line
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            message = f"{path} is a damaged gzip file ({error}); copy it again"
            raise FormatError(message, file=str(path), code="damaged") from None


def _row(parts: list[bytes], dimension: int, place: str) -> tuple[bytes, Floats32]:
    """Parses a row; returns its word and its numbers."""
    if dimension < 1:
        raise FormatError(
            "a row without numbers, or with other marks than blanks between them; a row is a word "
            "and its numbers, with one blank between any two",
            at=place,
        )
    if len(parts) < dimension + 1:
        raise FormatError(
            f"a row has {plural(len(parts) - 1, 'number')}, but the vectors of this file have "
            f"{dimension}; give each word one row with all its numbers",
            at=place,
        )
    name, numbers = b" ".join(parts[: len(parts) - dimension]), parts[len(parts) - dimension :]
    if not name.strip():
        raise FormatError(
            "a row without a word; a row begins with its word, then come its numbers", at=place
        )
    if b" " in name and _is_number(name.rpartition(b" ")[2]):
        raise FormatError(
            f"a row with more than {plural(dimension, 'number')}, which the vectors of this file "
            "have; give each word one row with all its numbers",
            at=place,
        )
    try:
        # what is too large for float32 is not finite, and refused below
        with np.errstate(over="ignore"):
            row = np.array([float(value) for value in numbers], dtype=np.float32)
    except ValueError:
        message = f"a row holds something else than a word and {plural(dimension, 'number')}"
        raise FormatError(message, at=place) from None
    if not np.isfinite(row).all():
        raise FormatError("a vector with a number that is not finite; repair the file", at=place)
    return name, row


def _is_number(text: bytes) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _mapped(path: Path, cache: Path) -> StaticVectors | None:
    """Opens the mapped copy, if it exists, is complete, and is of this file; else returns
    ``None``.
    """
    try:
        facts = msgspec.json.decode((cache / _FACTS).read_bytes(), type=_Facts)
        if (
            not _is_of(path, facts)
            or facts.files.keys() != {_MATRIX, _WORDS}
            or first_changed(cache, facts.files)
        ):
            return None
        words = msgspec.json.decode((cache / _WORDS).read_bytes(), type=list[str])
        matrix = np.load(cache / _MATRIX, mmap_mode="r", allow_pickle=False)
        if matrix.dtype != np.float32 or len(words) != facts.report.rows:
            return None
        return StaticVectors(words=tuple(words), matrix=matrix, report=facts.report)
    except (OSError, ValueError, EOFError, msgspec.MsgspecError, InputError):
        return None  # missing or damaged: the copy is made again


def _is_of(path: Path, facts: _Facts) -> bool:
    stat = path.stat()
    if facts.format != _FORMAT or facts.size != stat.st_size:
        return False
    return facts.modified == stat.st_mtime_ns or facts.sha256 == file_facts(path)[1]


def _adopt(cache: Path) -> None:
    """Marks a copy with valid facts as own, even if it is damaged or of an older release without
    a record.
    """
    try:
        msgspec.json.decode((cache / _FACTS).read_bytes(), type=_Facts)
    except (OSError, msgspec.MsgspecError, ValueError):
        return
    ledger = Ledger(cache, kind=_KIND)
    for name in (_MATRIX, _WORDS, _FACTS):
        if (cache / name).is_file():
            ledger.note(name)


def _store(path: Path, cache: Path, vectors: StaticVectors) -> None:
    stat = path.stat()
    facts: dict[str, Any] = {"format": _FORMAT, "size": stat.st_size, "modified": stat.st_mtime_ns}
    facts |= {"sha256": file_facts(path)[1], "report": asdict(vectors.report)}
    with atomic_folder(cache, kind=_KIND, overwrite=True) as folder:
        np.save(folder / _MATRIX, vectors.matrix, allow_pickle=False)
        (folder / _WORDS).write_bytes(msgspec.json.encode(list(vectors.words)))
        facts["files"] = {name: file_facts(folder / name) for name in (_MATRIX, _WORDS)}
        (folder / _FACTS).write_text(json.dumps(facts), encoding="utf-8")

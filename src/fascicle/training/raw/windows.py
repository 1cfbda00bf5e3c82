"""Windows of pieces of raw text: drawn by the seed, packed, and kept in a file instead of in
memory.

The text is read once. Its pieces are written to a temporary file without a name, which the system
removes when the process ends. A run that is resumed after a kill reads the text again and gets the
same windows: text, tokenizer, settings and seed determine them.
"""

from __future__ import annotations

import errno
import hashlib
import heapq
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from fascicle.core.arrays import Bools, Ints
from fascicle.core.wording import plural
from fascicle.errors import InputError, OutputError
from fascicle.settings.recipes.corpora import TextSettings
from fascicle.text.pieces import PieceTokenizer
from fascicle.training.engine.loop import BatchTensors
from fascicle.training.raw.documents import RawDocument, TextCounts, raw_documents

_Stored = NDArray[np.uint32]
_BEGINS: Final = np.uint32(1 << 31)  # of a stored piece: a word begins here
_SPECIAL: Final = np.uint32(1 << 30)  # it is a special token, or padding
_OPENS: Final = np.uint32(1 << 29)  # a document begins here
_PADDING: Final = np.uint32(0xFFFFFFFF)
_IDS: Final = np.uint32((1 << 29) - 1)
# characters that are tokenised in one piece: a longer paragraph is cut at a blank
_LONGEST: Final = 10_000
_TOGETHER: Final = 200_000  # characters of documents that are tokenised in one call
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_ROWS: Final = 4096  # windows that are hashed at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class TextBatch:
    """Batch of windows, padded to the longest of them.

    Attributes:
        ids: of pieces, ``[B, T]``.
        attention_mask: 0 for padding, ``[B, T]``.
        begins: whether a word begins with a piece, ``[B, T]``.
        opens: whether a document begins with a piece, ``[B, T]``. In the order of their numbers,
            windows hold one document after the other.
        special: whether a place is a special token (an unknown piece counts as one) or padding,
            ``[B, T]``.
    """

    ids: Ints
    attention_mask: Ints
    begins: Bools
    opens: Bools
    special: Bools


@dataclass(frozen=True, kw_only=True, eq=False)
class TextWindows:
    """Windows of pieces.

    Attributes:
        rows: pieces, mapped into memory, ``[n, window]``.
        pad: id of the padding token.
        pieces: number in the text, without special tokens. Windows with only unknown pieces are
            left out.
    """

    rows: _Stored
    pad: int
    pieces: int

    def __len__(self) -> int:
        """Returns the number of windows."""
        return len(self.rows)

    def sha256(self) -> str:
        """Returns the hash of the pieces of all windows, in their order, and of the beginnings
        of words.
        """
        digest = hashlib.sha256()
        for at in range(0, len(self), _ROWS):
            rows = np.asarray(self.rows[at : at + _ROWS])
            digest.update(np.where(rows == _PADDING, rows, rows & ~_OPENS).tobytes())
        return digest.hexdigest()

    def order(self, *, seed: int, epoch: int) -> Ints:
        """Returns the windows in the order of one epoch, the same for the same arguments, ``[n]``.

        A place in the text is an index into this order, so a run can be resumed from this index
        alone.
        """
        return np.random.default_rng((seed, epoch)).permutation(len(self))

    def batch(self, numbers: Sequence[int] | Ints) -> TextBatch:
        """Returns some windows as a batch.

        Args:
            numbers: their numbers, at least one.
        """
        stored = np.asarray(self.rows[np.asarray(numbers)])
        real = stored != _PADDING
        longest = int(real.sum(axis=1).max())
        stored, real = stored[:, :longest], real[:, :longest]
        return TextBatch(
            ids=np.where(real, stored & _IDS, self.pad).astype(np.int64),
            attention_mask=real.astype(np.int64),
            begins=real & (stored & _BEGINS != 0),
            opens=real & (stored & _OPENS != 0),
            special=stored & _SPECIAL != 0,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class RawText:
    """Raw text of a recipe as windows.

    Attributes:
        learned: windows for training.
        held_out: windows that are not trained on; empty if nothing is held out.
        counts: of the documents.
    """

    learned: TextWindows
    held_out: TextWindows
    counts: TextCounts

    def facts(self) -> dict[str, dict[str, Any]]:
        """Returns the hash and the sizes of both kinds of windows, for ``run.json``."""
        return {
            name: {"sha256": windows.sha256(), "windows": len(windows), "pieces": windows.pieces}
            for name, windows in (("windows", self.learned), ("held_out", self.held_out))
        }

    def notes(self, settings: TextSettings) -> Iterator[str]:
        """Yields notes for the user, as sentences.

        Args:
            settings: the settings that it was read with.
        """
        learned, counts = self.learned, self.counts
        size = f"{learned.pieces:,} pieces in {plural(len(learned), 'window')}"
        yield f"text: {size}, drawn from {plural(counts.learned, 'document')}"
        if settings.pieces > learned.pieces:
            yield (
                f"the text has fewer pieces than text.pieces = {settings.pieces:,} allows; all of "
                "them are read"
            )
        if counts.held_out:
            yield (
                f"held out: {self.held_out.pieces:,} pieces of "
                f"{plural(counts.held_out, 'document')}"
            )
        for reason, count in sorted(counts.left_out.items()):
            yield f"left out by {reason}: {plural(count, 'document')}"
        if settings.exclude and not counts.left_out["exclude"]:
            yield f"the exclusion list {settings.exclude} names no document of this text"
        for name, values in counts.facts.items():
            listing = ", ".join(f"{value} {count:,}" for value, count in values.most_common())
            yield f"{name}: {listing}"


def read_windows(settings: TextSettings, tokenizer: PieceTokenizer, *, seed: int) -> RawText:
    """Reads raw text once, and cuts it into windows.

    Documents are taken in the order of their keys, see `RawDocument`, until there are ``pieces`` of
    them; the last one is cut off there. So a smaller sample is the beginning of a larger one, and
    the order of the files has no effect.

    Args:
        settings: of the text, and of its windows.
        tokenizer: makes the pieces.
        seed: determines the drawn documents and their order.

    Raises:
        RecipeError: a window that has no room beside the special tokens, or see `raw_documents`.
        InputError: see `raw_documents`; nothing is left to learn from.
        OutputError: the folder of temporary files has no room.
    """
    counts = TextCounts()
    with (
        _room(),
        tempfile.TemporaryFile() as learned_file,
        tempfile.TemporaryFile() as held_out_file,
    ):
        learned, held_out = (
            _Drawn(learned_file, settings.pieces),
            _Drawn(held_out_file, settings.held_out_pieces),
        )
        stream = raw_documents(settings, seed=seed, counts=counts)
        while portion := list(_portion(stream)):
            needed = [d for d in portion if (held_out if d.held_out else learned).wants(d.key)]
            for document, pieces in zip(needed, _pieces(needed, tokenizer), strict=True):
                (held_out if document.held_out else learned).add(document.key, pieces)
        text = RawText(
            learned=learned.packed(tokenizer, settings.window),
            held_out=held_out.packed(tokenizer, settings.window),
            counts=counts,
        )
    if not len(text.learned):
        raise InputError(_nothing_left(settings, counts))
    return text


@contextmanager
def _room() -> Iterator[None]:
    """Converts errors of a full disk in the block to an error about the folder of temporary
    files.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise OutputError(
            f"the pieces of the text do not fit into {tempfile.gettempdir()}, the folder of "
            f"temporary files: {error.strerror}; name another one with TMPDIR, or lower text.pieces"
        ) from error


class _Drawn:
    """Documents with the smallest keys that together have a given number of pieces, in a file."""

    def __init__(self, file: IO[bytes], most: int) -> None:
        """Starts without documents.

        Args:
            file: empty, to read and to write.
            most: pieces; 0 for all.
        """
        self._most = most
        self._file = file
        # a heap of (-key, place in the file, pieces): largest key first
        self._heap: list[tuple[int, int, int]] = []
        self._written = self._total = 0

    def wants(self, key: int) -> bool:
        """True if a document with this key may be kept."""
        return not self._is_full or key < -self._heap[0][0]

    @property
    def _is_full(self) -> bool:
        return bool(self._most) and self._total >= self._most

    def add(self, key: int, pieces: _Stored) -> None:
        """Adds the pieces of a document, and drops documents that are no longer needed."""
        if not len(pieces) or not self.wants(key):
            return
        self._file.write(pieces.tobytes())
        heapq.heappush(self._heap, (-key, self._written, len(pieces)))
        self._written += len(pieces)
        self._total += len(pieces)
        while self._most and self._total - self._heap[0][2] >= self._most:
            self._total -= heapq.heappop(self._heap)[2]

    def packed(self, tokenizer: PieceTokenizer, length: int) -> TextWindows:
        """Returns windows of the kept documents, in the order of the keys."""
        packer, pieces = _Packer(tokenizer, length), 0
        with tempfile.TemporaryFile() as rows:
            for document in self._documents():
                pieces += len(document)
                rows.write(packer.add(document).tobytes())
            rows.write(packer.close().tobytes())
            return TextWindows(
                rows=_mapped(rows).reshape(-1, length), pad=tokenizer.pad, pieces=pieces
            )

    def _documents(self) -> Iterator[_Stored]:
        stored, remaining = _mapped(self._file), self._most or self._total
        for _, start, size in sorted(self._heap, key=lambda entry: (-entry[0], entry[1])):
            yield np.asarray(stored[start : start + min(size, remaining)])
            remaining -= size


class _Packer:
    """Packs documents into windows, one after the other."""

    def __init__(self, tokenizer: PieceTokenizer, length: int) -> None:
        """Starts with an empty window."""
        self._prefix, self._suffix = (
            np.array(ids, dtype=np.uint32) | _SPECIAL
            for ids in (tokenizer.prefix, tokenizer.suffix)
        )
        self._length = length
        self._open: list[_Stored] = []
        self._room = self._most = length - len(self._prefix) - len(self._suffix)

    def add(self, document: _Stored) -> _Stored:
        """Adds a document; returns the windows that are now full, ``[n, length]``."""
        full, at = list[_Stored](), 0
        if self._open:
            self._room -= len(self._suffix)
            if self._room > 0:
                self._open.append(self._suffix)
            else:
                full.append(self._closed())
        while at < len(document):
            end = self._end(document, at)
            if end > at:
                self._open.append(document[at:end])
                self._room -= end - at
            if end < len(document) or not self._room:
                full.append(self._closed())
            at = end
        return np.concatenate([np.zeros((0, self._length), np.uint32), *full])

    def close(self) -> _Stored:
        """Returns the last window, ``[1, length]``, or none."""
        return self._closed() if self._open else np.zeros((0, self._length), np.uint32)

    def _end(self, document: _Stored, at: int) -> int:
        """Returns the place in a document where the open window ends: before a word, unless the
        word is too long.
        """
        end = min(len(document), at + self._room)
        if end == len(document) or document[end] & _BEGINS:
            return end
        words = np.flatnonzero(document[at:end] & _BEGINS)
        last = at + int(words[-1]) if len(words) else at
        return last if last > at or self._room < self._most else end

    def _closed(self) -> _Stored:
        """Returns the open window, ``[1, length]``; none if all its pieces are unknown."""
        if self._open[-1] is self._suffix:  # no part of the next document fitted
            self._open.pop()
        row = np.full((1, self._length), _PADDING, dtype=np.uint32)
        content = np.concatenate([self._prefix, *self._open, self._suffix])
        row[0, : len(content)] = content
        self._open, self._room = [], self._most
        return row[: int((content & _SPECIAL == 0).any())]


def _portion(stream: Iterator[RawDocument]) -> Iterator[RawDocument]:
    """Returns the next documents, as many as are tokenised in one call."""
    size = 0
    for document in stream:
        yield document
        size += len(document.text)
        if size >= _TOGETHER:
            return


def _pieces(documents: Sequence[RawDocument], tokenizer: PieceTokenizer) -> Iterator[_Stored]:
    """Yields the pieces of each document in their stored form."""
    parts = [list(_parts(document.text)) for document in documents]
    encoded = iter(tokenizer.encode_words([part for of_one in parts for part in of_one]))
    unknown = -1 if tokenizer.unknown is None else tokenizer.unknown
    for of_one in parts:
        stored = [_stored(ids, begins, unknown) for ids, begins in islice(encoded, len(of_one))]
        pieces = np.concatenate([np.zeros(0, np.uint32), *stored])
        pieces[:1] |= _OPENS
        yield pieces


def _stored(ids: Ints, begins: Bools, unknown: int) -> _Stored:
    """Returns ids with their flags; an unknown piece counts as a special token."""
    marks = np.where(begins, _BEGINS, np.uint32(0)) | np.where(
        ids == unknown, _SPECIAL, np.uint32(0)
    )
    return ids.astype(np.uint32) | marks


def _parts(text: str) -> Iterator[str]:
    """Yields the lines of a text that are not blank, cut where they are very long."""
    for line in text.splitlines():
        while len(line) > _LONGEST:
            cut = line.rfind(" ", 1, _LONGEST)
            cut = cut if cut > 0 else _LONGEST
            yield line[:cut]
            line = line[cut:]
        if line and not line.isspace():
            yield line


def _mapped(file: IO[bytes]) -> _Stored:
    """Maps the content of a file into memory; the mapping stays valid after the file is closed."""
    file.flush()
    if not file.tell():
        return np.zeros(0, np.uint32)
    return np.memmap(file, dtype=np.uint32, mode="r")


def _nothing_left(settings: TextSettings, counts: TextCounts) -> str:
    reasons = "".join(
        f", {count:,} left out by {name}" for name, count in sorted(counts.left_out.items())
    )
    files = ", ".join(settings.files)
    if counts.learned:
        return (
            f"the tokenizer of the encoder knows nothing of the text of {files}; give more text, "
            "or another encoder"
        )
    return (
        f"no text is left to learn from: no document of {files} may be learned from, "
        f"{counts.held_out:,} are held out{reasons}; give more text, or leave out less"
    )


@dataclass(frozen=True, kw_only=True)
class RawSet:
    """Windows of raw text as batches.

    Attributes:
        windows: of the text.
    """

    windows: TextWindows

    def batches(
        self, *, size: int, seed: int, epoch: int, hidden: float = 0.0
    ) -> Iterator[BatchTensors]:
        """Yields one epoch of batches, see ``training.engine.loop.Batches``; no piece is hidden."""
        order = self.windows.order(seed=seed, epoch=epoch)
        for at in range(0, len(order), size):
            batch = self.windows.batch(order[at : at + size])
            arrays = {"input_ids": batch.ids, "attention_mask": batch.attention_mask}
            yield {name: torch.from_numpy(array) for name, array in arrays.items()}, {}

    def count(self, size: int) -> int:
        """Returns the number of batches in an epoch."""
        return -(-len(self.windows) // size)

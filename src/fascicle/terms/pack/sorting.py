"""External sort of rows of bytes, for packs that do not fit into memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

# bytes that a row takes beside its content: the object, its place in a list, and rounding
_OVERHEAD: Final = 72
_LEAST_BLOCK: Final = 1 << 16
_BATCH: Final = 1 << 14  # rows


class SortedSpill:
    """External sort of rows of bytes; rows that do not fit into memory are kept in a temporary
    folder.

    Rows that are equal come back as often as they were added.
    """

    def __init__(self, folder: Path, *, memory: int) -> None:
        """Starts without rows.

        Args:
            folder: for the runs; it is made when it is needed, and removed when all rows were given
                back.
            memory: bytes for rows, about.
        """
        self._folder, self._memory = folder, memory
        self._rows: list[bytes] = []
        self._size = 0
        self._runs: list[Path] = []

    def add(self, row: bytes) -> None:
        """Adds a row."""
        self._rows.append(row)
        self._size += len(row) + _OVERHEAD
        if self._size > self._memory:
            self._spill()

    def batches(self, *, again: bool = False) -> Iterator[list[bytes]]:
        """Yields all rows in order, some thousand at a time; to be called after the last row.

        Args:
            again: whether they will be read once more; the last time frees memory and disk.
        """
        if not self._runs:
            rows = self._rows
            rows.sort()
            self._rows = rows if again else []
            for start in range(0, len(rows), _BATCH):
                yield rows[start : start + _BATCH]
            return
        if self._rows:
            self._spill()
        block = max(_LEAST_BLOCK, self._memory // (3 * len(self._runs)))
        yield from _merge_runs([_blocks(run, block) for run in self._runs])
        if not again:
            for run in self._runs:
                run.unlink()
            self._folder.rmdir()

    def _spill(self) -> None:
        self._folder.mkdir(exist_ok=True)
        path = self._folder / f"{len(self._runs)}.run"
        self._rows.sort()
        with path.open("wb") as stream:
            for start in range(0, len(self._rows), _BATCH):
                rows = self._rows[start : start + _BATCH]
                lengths = np.fromiter(map(len, rows), dtype="<u4", count=len(rows))
                stream.write(np.array([len(rows), int(lengths.sum())], dtype="<u8").tobytes())
                stream.write(lengths.tobytes())
                stream.write(b"".join(rows))
        self._runs.append(path)
        self._rows, self._size = [], 0


def _blocks(path: Path, least: int) -> Iterator[list[bytes]]:
    """Yields the rows of a run in pieces of at least so many bytes; no file stays open, for
    there may be many runs.
    """
    place, end = 0, path.stat().st_size
    while place < end:
        rows: list[bytes] = []
        size = 0
        with path.open("rb") as stream:
            stream.seek(place)
            while place < end and size < least:
                count, length = np.frombuffer(stream.read(16), dtype="<u8").tolist()
                ends = np.cumsum(
                    np.frombuffer(stream.read(4 * count), dtype="<u4"), dtype=np.int64
                ).tolist()
                content = stream.read(length)
                rows += [content[a:b] for a, b in zip([0, *ends], ends, strict=False)]
                place, size = stream.tell(), size + length + _OVERHEAD * count
        yield rows


def _merge_runs(runs: list[Iterator[list[bytes]]]) -> Iterator[list[bytes]]:
    """Merges by pieces: of each run what is not above the least last row in memory; sorting such
    a piece is a merge.
    """
    streams = [(rows, run) for run in runs if (rows := next(run, None))]
    while streams:
        pivot = min(rows[-1] for rows, _ in streams)
        piece: list[bytes] = []
        remaining = []
        for rows, run in streams:
            cut = bisect_right(rows, pivot)
            piece += rows[:cut]
            rest = rows[cut:] if cut < len(rows) else next(run, None)
            if rest:
                remaining.append((rest, run))
        streams = remaining
        piece.sort()
        yield piece

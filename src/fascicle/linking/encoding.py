"""Encoder of names as vectors, in exported form; it runs without torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Floats, Ints
from fascicle.core.lazy import cached_property
from fascicle.core.session import OnnxSession
from fascicle.errors import ModelError
from fascicle.terms.pack.arrays import Array
from fascicle.text.pieces import PieceTokenizer

LONGEST: Final = 64  # pieces of a name, special tokens included; what is behind them is not read
_OUTPUT: Final = "vectors"
_Vectors = NDArray[np.float32]
WIDEST: Final = 4096  # numbers of a vector
_BLOCK: Final = 4096  # rows that are made float32 together
_TOGETHER: Final = 64  # queries that share a pass over the array
# Twice the largest error of a product in float32 of two vectors of length 1: 2 * WIDEST * 2**-24 =
# 4.9e-4.
_MARGIN: Final = 1e-3


class NameEncoder:
    """Encodes names as vectors; for one thread."""

    def __init__(self, tokenizer: PieceTokenizer, session: OnnxSession) -> None:
        """Sets the parts; the graph computes ``vectors`` from ``input_ids`` and
        ``attention_mask``.
        """
        self._tokenizer, self._session = tokenizer, session

    @classmethod
    def open(cls, graph: Path, tokenizer: Path, *, pad: int, threads: int | None = None) -> Self:
        """Opens the files.

        Args:
            graph: ONNX.
            tokenizer: its ``tokenizer.json``.
            pad: id of the padding token.
            threads: number of threads of one run; by default, the number of cores that this process
                may use.

        Raises:
            ModelError: a file is missing or damaged.
        """
        return cls(
            PieceTokenizer.from_file(tokenizer, pad=pad), OnnxSession.open(graph, threads=threads)
        )

    @cached_property
    def width(self) -> int:
        """Number of dimensions of a vector."""
        return int(self.together(["a"]).shape[1])

    def together(self, names: Sequence[str]) -> _Vectors:
        """Returns the vectors of names as one batch; their last digits depend on the batch.

        Returns:
            Of length 1, ``[names, width]``.

        Raises:
            ModelError: the encoder gives values that are no numbers.
        """
        pieces = [self._pieces(ids.tolist()) for ids, _ in self._tokenizer.encode(names)]
        longest = max(map(len, pieces))
        ids = np.full((len(pieces), longest), self._tokenizer.pad, dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, own in enumerate(pieces):
            ids[row, : len(own)] = own
            mask[row, : len(own)] = 1
        vectors: _Vectors = self._session.run({"input_ids": ids, "attention_mask": mask})[_OUTPUT]
        if not np.isfinite(vectors).all():
            raise ModelError(
                f"{self._session.path} gives values that are not numbers; choose another encoder"
            )
        return vectors

    def alone(self, names: Sequence[str]) -> _Vectors:
        """Returns the vectors of names, encoded one by one, so that none depends on the others."""
        return np.concatenate([self.together([name]) for name in names])

    def _pieces(self, ids: list[int]) -> list[int]:
        before, behind = self._tokenizer.prefix, self._tokenizer.suffix
        return [*before, *ids[: LONGEST - len(before) - len(behind)], *behind]


class Largest(NamedTuple):
    """Best rows for one query.

    Attributes:
        rows: by falling product, of equal ones the first, ``[n]``.
        values: products, ``[n]``.
    """

    rows: Ints
    values: Floats


def largest(vectors: Array, queries: Array, *, most: int, least: float) -> list[Largest]:
    """Returns the rows with the largest products, in float64.

    Blocks of rows are multiplied in float32 with all queries at once; rows that may be among the
    largest are multiplied again in float64, each pair by itself, so that no result depends on the
    other queries.

    Args:
        vectors: of a length of about 1, float16, ``[rows, width]``; one block at a time is in
            memory.
        queries: queries of a length of about 1, float32, ``[queries, width]``.
        most: rows of each query.
        least: product of a row that is found.

    Raises:
        ValueError: the vectors are too wide.
    """
    if queries.shape[1] > WIDEST:
        raise ValueError(f"vectors of at most {WIDEST} numbers can be compared")
    nearest: list[Largest] = []
    for start in range(0, len(queries), _TOGETHER):
        nearest += _largest(vectors, queries[start : start + _TOGETHER], most, least)
    return nearest


def _largest(vectors: Array, queries: Array, most: int, least: float) -> list[Largest]:
    exact = queries.astype(np.float64)
    nearest = [Largest(np.empty(0, np.int64), np.empty(0)) for _ in queries]
    needed = np.full(len(queries), least)  # of a row that may still be among the largest
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK].astype(np.float32)
        for number, rows in _likely_rows(block, queries, needed, most):
            values = (block[rows].astype(np.float64) * exact[number]).sum(axis=1)
            merged = _merge(nearest[number], Largest(start + rows, values), most, least)
            nearest[number] = merged
            if len(merged.rows) == most:
                needed[number] = merged.values[-1]
    return nearest


def _likely_rows(
    block: Array, queries: Array, needed: Floats, most: int
) -> Iterator[tuple[int, Ints]]:
    """Yields each query, and the rows of a block that may be among its largest, by products in
    float32.
    """
    rough = queries @ block.T
    floor = needed
    if len(block) > most:
        floor = np.maximum(floor, np.partition(rough, -most, axis=1)[:, -most])
    floor = floor - _MARGIN
    for number in np.flatnonzero(rough.max(axis=1) >= floor).tolist():
        yield number, np.flatnonzero(rough[number] >= floor[number])


def _merge(first: Largest, second: Largest, most: int, least: float) -> Largest:
    rows, values = (np.concatenate(pair) for pair in zip(first, second, strict=True))
    order = np.lexsort((rows, -values))[:most]
    order = order[values[order] >= least]
    return Largest(rows[order], values[order])

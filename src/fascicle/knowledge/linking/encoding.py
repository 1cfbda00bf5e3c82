"""Names as vectors, by an encoder that was exported for it; it runs without torch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from fascicle.errors import ModelError
from fascicle.runtime.session import OnnxSession
from fascicle.text.pieces import PieceTokenizer

LONGEST: Final = 64  # pieces of a name, special tokens included; what is behind them is not read
OUTPUT: Final = "vectors"
Vectors = NDArray[np.float32]


class NameEncoder:
    """Makes vectors of names; for one thread."""

    def __init__(self, tokenizer: PieceTokenizer, session: OnnxSession) -> None:
        """Takes the parts; the graph gives ``vectors`` of ``input_ids`` and ``attention_mask``."""
        self._tokenizer, self._session = tokenizer, session

    @classmethod
    def open(cls, graph: Path, tokenizer: Path, *, pad: int, threads: int | None = None) -> Self:
        """Opens the files.

        Args:
            graph: ONNX.
            tokenizer: its ``tokenizer.json``.
            pad: id of the padding token.
            threads: that one run may use; without it, as many as this process may use cores.

        Raises:
            ModelError: a file is missing or damaged.
        """
        return cls(PieceTokenizer.from_file(tokenizer, pad=pad), OnnxSession.open(graph, threads=threads))

    @cached_property
    def width(self) -> int:
        """Numbers of a vector."""
        return int(self.together(["a"]).shape[1])

    def together(self, names: Sequence[str]) -> Vectors:
        """The vectors of names that are read as one batch; their last digits depend on the batch.

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
        found: Vectors = self._session.run({"input_ids": ids, "attention_mask": mask})[OUTPUT]
        if not np.isfinite(found).all():
            raise ModelError(f"{self._session.path} gives values that are no numbers; choose another encoder")
        return found

    def alone(self, names: Sequence[str]) -> Vectors:
        """The vectors of names each of which is read by itself, so that none depends on the others."""
        return np.concatenate([self.together([one]) for one in names])

    def _pieces(self, ids: list[int]) -> list[int]:
        before, behind = self._tokenizer.prefix, self._tokenizer.suffix
        return [*before, *ids[: LONGEST - len(before) - len(behind)], *behind]

"""Documents as a network reads them: pieces and windows, the same in training and at inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fascicle.core.document import Document
from fascicle.recipe.settings import ReadingSettings
from fascicle.text.pieces import Pieces, PieceTokenizer, encode_documents
from fascicle.text.windows import Context, Window, windows_of


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Documents cut for a network.

    Attributes:
        pieces: of each document.
        windows: of each document.
        capacity: most pieces of a window, special tokens not counted.
    """

    pieces: list[Pieces]
    windows: list[list[Window]]
    capacity: int


def read_documents(
    documents: Sequence[Document],
    tokenizer: PieceTokenizer,
    *,
    reading: ReadingSettings,
    level: Literal["word", "piece"],
) -> Reading:
    """Cuts documents into pieces and windows.

    Args:
        documents: any number.
        tokenizer: of the model.
        reading: what the network reads at a time.
        level: what a unit is.
    """
    capacity = reading.max_length - len(tokenizer.prefix) - len(tokenizer.suffix)
    pieces = encode_documents(documents, tokenizer, segmenter=reading.segmenter, level=level)
    windows = [
        windows_of(
            p,
            document=i,
            unit=reading.unit,
            capacity=capacity,
            overlap=reading.overlap,
            context=Context.of(reading),
        )
        for i, p in enumerate(pieces)
    ]
    return Reading(pieces=pieces, windows=windows, capacity=capacity)

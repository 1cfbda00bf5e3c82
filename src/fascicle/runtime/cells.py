"""Cells of tables, read as texts of their own."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

import msgspec

from fascicle.core.document import Document, Mention, Patch, canonical
from fascicle.core.spans import Span
from fascicle.decoding.document.cells import cells_of
from fascicle.settings.document import NameDecision

Predicts = Callable[[Sequence[Document]], Sequence[Patch]]


def with_cells(
    documents: Sequence[Document], patches: Sequence[Patch], *, rules: NameDecision, predict: Predicts
) -> list[Patch]:
    """Answers in which the mentions of short cells are those of the cells alone.

    Args:
        documents: of any kind; most have no cells.
        patches: the answer for each.
        rules: which cells.
        predict: answers for texts.
    """
    found = list(patches)
    cells = {at: spans for at, one in enumerate(documents) if (spans := cells_of(one, rules))}
    texts = list(dict.fromkeys(documents[at].text[slice(*span)] for at, spans in cells.items() for span in spans))
    if not texts:
        return found
    said = dict(zip(texts, predict([Document(id="", text=text) for text in texts]), strict=True))
    for at, spans in cells.items():
        text = documents[at].text
        inside = [_moved(one, start) for start, end in spans for one in said[text[start:end]].add]
        outside = [one for one in found[at].add if not _touches(one, spans)]
        found[at] = msgspec.structs.replace(found[at], add=canonical([*outside, *inside]))
    return found


def _moved(mention: Mention, by: int) -> Mention:
    spans = tuple((start + by, end + by) for start, end in mention.spans)
    return msgspec.structs.replace(mention, spans=spans)


def _touches(mention: Mention, cells: Sequence[Span]) -> bool:
    """Whether a mention lies in a cell, or in part of one; cells are in order, and apart."""
    before = bisect_left(cells, (mention.end, 0)) - 1
    return before >= 0 and cells[before][1] > mention.start

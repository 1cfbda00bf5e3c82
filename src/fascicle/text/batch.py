"""Windows -> the padded arrays that a network takes, the same for torch and for ONNX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

import numpy as np

from fascicle.core.arrays import Ints
from fascicle.text.inputs import UnitInputs
from fascicle.text.pieces import Pieces, PieceTokenizer
from fascicle.text.windows import Window

Batch = dict[str, Ints]


def collate(windows: Sequence[Window], documents: Sequence[Pieces], tokenizer: PieceTokenizer) -> Batch:
    """Pads windows into one batch.

    Args:
        windows: at least one.
        documents: what ``Window.document`` counts in.
        tokenizer: for the special tokens and the padding id.

    Returns:
        ``input_ids`` and ``attention_mask`` ``[B, T]``; ``first_piece`` and ``last_piece`` ``[B, U]``, the positions of
        each unit's first piece and of the last one inside the window, 0 beyond ``unit_count`` ``[B]``;
        ``unit_of_piece`` ``[B, T]``, counted from the window's first unit, -1 for special tokens, padding and pieces of
        no unit; where something was looked up about the documents, also ``features`` ``[B, U, F]``, what is known of
        each unit, 0 beyond the units.
    """
    ahead, extra = len(tokenizer.prefix), len(tokenizer.prefix) + len(tokenizer.suffix)
    length = max(w.pieces[1] - w.pieces[0] for w in windows) + extra
    widest = max(w.units[1] - w.units[0] for w in windows)
    size = len(windows)
    ids = np.full((size, length), tokenizer.pad, dtype=np.int64)
    mask = np.zeros((size, length), dtype=np.int64)
    first = np.zeros((size, widest), dtype=np.int64)
    last = np.zeros((size, widest), dtype=np.int64)
    unit_of = np.full((size, length), -1, dtype=np.int64)
    for row, window in enumerate(windows):
        a, b = window.pieces
        u, v = window.units
        source = documents[window.document]
        end = ahead + b - a
        ids[row, :ahead] = tokenizer.prefix
        ids[row, ahead:end] = source.ids[a:b]
        ids[row, end : end + len(tokenizer.suffix)] = tokenizer.suffix
        mask[row, : end + len(tokenizer.suffix)] = 1
        first[row, : v - u] = source.first[u:v] - a + ahead
        numbers = source.unit_of[a:b]
        unit_of[row, ahead:end] = np.where((numbers >= u) & (numbers < v), numbers - u, -1)
        members = np.flatnonzero(unit_of[row] >= 0)
        last[row, unit_of[row, members]] = members  # the last one of each unit remains
    counts = np.array([w.units[1] - w.units[0] for w in windows], dtype=np.int64)
    known = [documents[w.document].inputs for w in windows]
    looked_up = {FEATURES: _features(windows, [one for one in known if one is not None], widest)} if known[0] else {}
    return {
        "input_ids": ids,
        "attention_mask": mask,
        "first_piece": first,
        "last_piece": last,
        "unit_of_piece": unit_of,
        "unit_count": counts,
        **looked_up,
    }


def _features(windows: Sequence[Window], known: Sequence[UnitInputs], widest: int) -> Ints:
    """What is known of the units of each window; documents that are read together are looked up together."""
    found = np.zeros((len(windows), widest, known[0].rows.shape[1]), dtype=np.int64)
    for row, (window, inputs) in enumerate(zip(windows, known, strict=True)):
        u, v = window.units
        found[row, : v - u] = inputs.rows[u:v]
    return found


T = TypeVar("T")
FEATURES: Final = "features"
TYPE_VECTORS: Final = "type_vectors"  # what a text is compared with, where that is no part of the network
_OF_UNITS: Final = ("first_piece", "last_piece", "unit_of_piece", "unit_count", FEATURES)


def with_level(batch: Batch, other: Batch, level: str) -> Batch:
    """A batch with the units of another level beside its own, for the same windows.

    Args:
        batch: of ``collate``.
        other: the same windows, cut into other units.
        level: what these are.
    """
    return {**batch, **{f"{level}/{name}": other[name] for name in _OF_UNITS if name in other}}


def of_level(batch: Mapping[str, T], level: str) -> Mapping[str, T]:
    """The batch as a head of a level sees it: with its own units, if the batch has several."""
    own = {name: batch[f"{level}/{name}"] for name in _OF_UNITS if f"{level}/{name}" in batch}
    return {**batch, **own} if own else batch

"""The logits of all spans of a text, cell by cell as the tables of a span head define them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

# in the order in which the terms of a logit are added
NAMES = ("starts", "ends", "widths", "spans")


def wide_logits(tables: Mapping[str, np.ndarray], *, longest: int) -> np.ndarray:
    """``[B, U, L, C]`` in at least single precision; minus infinity where a span ends too late."""
    rows, units = next(
        tables[name].shape[:2] for name in ("starts", "ends", "spans") if name in tables
    )
    widths = next(
        (tables[name].shape[-2] for name in ("widths", "spans") if name in tables), longest
    )
    classes = next(iter(tables.values())).shape[-1]
    kind = np.result_type(np.float32, *(table.dtype for table in tables.values()))
    found = np.full((rows, units, widths, classes), -np.inf, dtype=kind)
    for row, first, step in np.ndindex(rows, units, widths):
        if first + step < units:
            places = {
                "starts": (row, first),
                "ends": (row, first + step),
                "widths": (step,),
                "spans": (row, first, step),
            }
            total = np.zeros(classes, dtype=kind)
            for name in (name for name in NAMES if name in tables):
                total = total + tables[name][places[name]].astype(kind)
            found[row, first, step] = total
    return found

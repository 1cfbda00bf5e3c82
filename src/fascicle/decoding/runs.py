"""Tag ids into spans: maximal runs, found without a loop over the units."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.core.tags import TagScheme

Repair = Literal["strict", "lenient"]


def tag_runs(
    tags: Ints,
    scheme: TagScheme,
    *,
    repair: Repair = "strict",
    borders: Ints | None = None,
) -> Ints:
    """Read the spans of a tag sequence, or of many laid end to end.

    B opens a span, I of the open type extends it, anything else closes it. The two rules differ in an I that has
    nothing to extend: *strict* drops it and the run of I that hangs on it (Verma et al., the SEQ decoder), *lenient*
    lets it open a span (the rule of `fascicle.core.tags.decode_tags`). In IO every run of one type is a span, under
    both rules.

    Args:
        tags: Tag ids as numbered by the scheme, `[n]`.
        scheme: The scheme of the ids.
        repair: `"strict"` or `"lenient"`.
        borders: Positions at which a new text begins; no span reaches over one. 0 and `n` may be among them.

    Returns:
        `(start, end, type index)` per span, `[m, 3]`, half-open, in order, never overlapping.

    Raises:
        ValueError: If the rule is unknown.
    """
    if repair not in ("strict", "lenient"):
        raise ValueError(f"unknown repair rule {repair!r}; choose 'strict' or 'lenient'")
    named = tags > 0
    kind, place = (tags - 1) // scheme.width, (tags - 1) % scheme.width
    linked = np.zeros(len(tags), dtype=np.bool_)  # does the unit continue the one before it?
    linked[1:] = named[1:] & named[:-1] & (kind[1:] == kind[:-1]) & (place[1:] == scheme.width - 1)
    if borders is not None:
        linked[borders[borders < len(tags)]] = False
    heads = np.flatnonzero(~linked)
    ends = np.append(heads[1:], len(tags))
    keep = named[heads] if repair == "lenient" else named[heads] & (place[heads] == 0)
    starts = heads[keep]
    return np.stack([starts, ends[: len(heads)][keep], kind[starts]], axis=1)


def parted(spans: Ints, scores: Floats, broken: Bools) -> tuple[Ints, Floats]:
    """Cut spans at units that no span may have: what is left of a span are spans with its score.

    Args:
        spans: `(start, end, type index)`, `[m, 3]`.
        scores: `[m]`.
        broken: Which units of the text no span may have, `[units]`.

    Returns:
        The parts of each span, in order, and their scores.
    """
    found: list[tuple[int, int, int]] = []
    owners: list[int] = []
    for number, (start, end, kind) in enumerate(spans.tolist()):
        borders = [start - 1, *(start + np.flatnonzero(broken[start:end])).tolist(), end]
        parts = [(a + 1, b, kind) for a, b in pairwise(borders) if a + 1 < b]
        found += parts
        owners += [number] * len(parts)
    return np.array(found, dtype=np.int64).reshape(-1, 3), scores[np.array(owners, dtype=np.int64)]

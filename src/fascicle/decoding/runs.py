"""Tag ids into spans: maximal runs, found without a loop over the units.

Scores of a multi-label tagger into spans: runs of units for each type alone, so that types may nest.

Source: *tinybern2-kazu* §3. Each type is read like a tag sequence of its own, so mentions are flat within a type and
free across types. Shapes: `n` units, `K` types, `p` labels of a type (BIO: B and I; IO: I alone).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.core.tags import TagScheme
from fascicle.decoding.chains import geometric_mean

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


def decode_labels(texts: Sequence[NDArray[Any]], scheme: TagScheme, *, repair: Repair) -> list[tuple[Ints, Floats]]:
    """Decode many texts; the result of a text does not depend on the others.

    A unit is in a mention of a type if a label of the type has a margin above 0. In BIO it begins a mention if B has
    the larger margin (or an equal one), otherwise it continues one.

    Args:
        texts: Margins of each text over the thresholds, in logits, `[n_i, p K]`: the labels of the first type first.
        scheme: Of the labels.
        repair: What becomes of an I that continues nothing, see `fascicle.decoding.runs.tag_runs`.

    Returns:
        For each text its spans `(start, end, type index)`, `[m, 3]`, in order, and their scores `[m]`: the geometric
        mean over the units of the probability to be in a mention of the type, see `label_distributions`.
    """
    if not texts:
        return []
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    starts, total = np.cumsum(lengths) - lengths, int(lengths.sum())
    margins = np.concatenate(texts).reshape(total, texts[0].shape[1] // scheme.width, scheme.width)
    inside = margins.max(axis=2)
    tags = np.where(inside > 0, 1 + margins.argmax(axis=2), 0).T.ravel()  # the texts of the first type come first
    borders = (np.arange(inside.shape[1])[:, None] * total + starts).ravel()
    spans = tag_runs(tags, scheme, repair=repair, borders=borders)
    margin = inside.T.ravel()
    scores = geometric_mean(np.stack([np.zeros_like(margin), margin], axis=1), tags.clip(max=1), spans=spans)
    spans[:, 2] = spans[:, 0] // max(total, 1)
    spans[:, :2] -= spans[:, 2:] * total
    owners = np.searchsorted(starts, spans[:, 0], side="right") - 1
    spans[:, :2] -= starts[owners, None]
    order = np.lexsort((spans[:, 2], spans[:, 1], spans[:, 0], owners))
    cuts = np.searchsorted(owners[order], np.arange(len(texts) + 1)).tolist()
    return [(spans[order[a:b]], scores[order[a:b]]) for a, b in pairwise(cuts)]


def label_distributions(texts: Sequence[NDArray[Any]], spans: Ints, scheme: TagScheme) -> Floats:
    """How sure a multi-label tagger is that all units of given spans are in mentions of each type.

    That of a type is the geometric mean over the units of the logistic function of the larger margin of its labels. It
    contains no information on whether a mention begins and ends there. That of none is the product of what each type
    leaves, as if the types were independent.

    Args:
        texts: As in `decode_labels`.
        spans: `(text, start, end)` in units, `[m, 3]`, half-open, none empty, inside their texts; they may overlap.
        scheme: Of the labels.

    Returns:
        `[m, 1 + K]`, none first; the numbers of a span do not sum to 1.
    """
    types = texts[0].shape[1] // scheme.width
    inside = {text: texts[text].reshape(-1, types, scheme.width).max(axis=2) for text in set(spans[:, 0].tolist())}
    logs = {text: -np.logaddexp(0.0, -table.astype(np.float64)) for text, table in inside.items()}
    means = [logs[text][start:end].mean(axis=0) for text, start, end in spans.tolist()]
    numbers = np.exp(np.array(means, dtype=np.float64).reshape(-1, types))
    return np.column_stack([(1.0 - numbers).prod(axis=1), numbers])

"""Scores of a multi-label tagger into spans: runs of units for each type alone, so that types may
nest.

Source: *tinybern2-kazu* §3. Each type is read like a tag sequence of its own, so mentions are flat
within a type and free across types. Shapes: `n` units, `K` types, `p` labels of a type (BIO: B and
I; IO: I alone).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Floats, Ints, lengths_of
from fascicle.core.tags import TagScheme
from fascicle.runtime.decoding.chains import geometric_mean
from fascicle.runtime.decoding.tagger import Repair, divide_by_text, tag_runs


def decode_labels(
    texts: Sequence[NDArray[Any]], scheme: TagScheme, *, repair: Repair
) -> list[tuple[Ints, Floats]]:
    """Decode many texts; the result of a text does not depend on the others.

    A unit is in a mention of a type if a label of the type has a margin above 0. In BIO it begins a
    mention if B has the larger margin (or an equal one), otherwise it continues one.

    Args:
        texts: Margins of each text over the thresholds, in logits, `[n_i, p K]`: the labels of the
            first type first.
        scheme: Of the labels.
        repair: What becomes of an I that continues nothing, see
            `fascicle.runtime.decoding.tagger.tag_runs`.

    Returns:
        For each text its spans `(start, end, type index)`, `[m, 3]`, in order, and their scores
        `[m]`: the geometric mean over the units of the probability to be in a mention of the type,
            see `label_distributions`.
    """
    if not texts:
        return []
    lengths = lengths_of(texts)
    starts, total = np.cumsum(lengths) - lengths, int(lengths.sum())
    margins = np.concatenate(texts).reshape(total, texts[0].shape[1] // scheme.width, scheme.width)
    spans, scores = _label_runs(margins, starts, scheme, repair)
    # from the lines of the types back to the units of all texts
    spans[:, 2] = spans[:, 0] // max(total, 1)
    spans[:, :2] -= spans[:, 2:] * total
    owners = np.searchsorted(starts, spans[:, 0], side="right") - 1
    spans[:, :2] -= starts[owners, None]
    order = np.lexsort((spans[:, 2], spans[:, 1], spans[:, 0], owners))
    return divide_by_text(spans[order], scores[order], owners[order], texts=len(texts))


def _label_runs(
    margins: NDArray[Any], starts: Ints, scheme: TagScheme, repair: Repair
) -> tuple[Ints, Floats]:
    """Finds the runs of each type, all units of the first type first, and their scores."""
    inside = margins.max(axis=2)
    tags = np.where(inside > 0, 1 + margins.argmax(axis=2), 0).T.ravel()
    borders = (np.arange(inside.shape[1])[:, None] * len(inside) + starts).ravel()
    spans = tag_runs(tags, scheme, repair=repair, borders=borders)
    margin = inside.T.ravel()
    logits = np.stack([np.zeros_like(margin), margin], axis=1)
    return spans, geometric_mean(logits, tags.clip(max=1), spans=spans)


def label_distributions(texts: Sequence[NDArray[Any]], spans: Ints, scheme: TagScheme) -> Floats:
    """Returns probabilities of a multi-label tagger that all units of given spans are in mentions
    of each type.

    That of a type is the geometric mean over the units of the logistic function of the larger
    margin of its labels. It contains no information on whether a mention begins and ends there.
    That of none is the product of what each type leaves, as if the types were independent.

    Args:
        texts: As in `decode_labels`.
        spans: `(text, start, end)` in units, `[m, 3]`, half-open, none empty, inside their texts;
            they may overlap.
        scheme: Of the labels.

    Returns:
        `[m, 1 + K]`, none first; the numbers of a span do not sum to 1.
    """
    types = texts[0].shape[1] // scheme.width
    inside = {
        text: texts[text].reshape(-1, types, scheme.width).max(axis=2)
        for text in set(spans[:, 0].tolist())
    }
    logs = {text: -np.logaddexp(0.0, -table.astype(np.float64)) for text, table in inside.items()}
    means = [logs[text][start:end].mean(axis=0) for text, start, end in spans.tolist()]
    numbers = np.exp(np.array(means, dtype=np.float64).reshape(-1, types))
    return np.column_stack([(1.0 - numbers).prod(axis=1), numbers])

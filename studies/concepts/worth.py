"""Figures of concepts: of documents, and of links with a probability."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from fascicle.core.arrays import Floats
from fascicle.core.document import Document
from fascicle.core.mention import AMBIGUOUS, Link, Mention
from fascicle.evaluation.uncertainty.intervals import draw_weights, make_interval
from fascicle.verbs.tasks.link_cases import counted_identifier, mention_concepts

RESAMPLES: Final = 1000
SURE: Final = 0.9
_TENTHS: Final = (0.5, 0.6, 0.7, 0.8, 0.9)
_BINS: Final = 10


class Said(NamedTuple):
    """A link.

    Attributes:
        document: number of its document.
        curie: of the concept.
        score: its probability, or not a number.
        right: whether the concept is in the gold set of the document.
    """

    document: int
    curie: str
    score: float
    right: bool


def concepts(documents: Iterable[Document], kind: str) -> list[frozenset[str]]:
    """The set of concepts of a type of each document."""
    return [
        frozenset(
            curie
            for one in document.mentions
            if one.type == kind
            for curie in mention_concepts(one)
        )
        for document in documents
    ]


def links(
    mentions: Iterable[Sequence[Mention]], gold: Sequence[frozenset[str]], kind: str
) -> list[Said]:
    """The links of mentions of a type, each by the identifier that gold has, if it has one of
    them; an ambiguous answer is none, as in ``evaluate --links``.
    """
    return [
        Said(number, curie, np.nan if link.score is None else link.score, curie in gold[number])
        for number, several in enumerate(mentions)
        for mention in several
        if mention.type == kind
        for link in mention.links
        if not link.nil and link.tier != AMBIGUOUS
        for curie in (as_gold(link, gold[number]),)
    ]


def as_gold(link: Link, gold: Collection[str]) -> str:
    """The identifier of a link that the gold has, else its own."""
    return counted_identifier((link.curie or link.id, *link.same), gold)


def figures(gold: Sequence[frozenset[str]], said: Sequence[Said]) -> dict[str, Any]:
    """Precision, recall and F1 of concepts of documents with intervals, and what probabilities
    are worth.
    """
    answers: list[set[str]] = [set() for _ in gold]
    for one in said:
        answers[one.document].add(one.curie)
    counts = np.array(
        [(len(a & g), len(a), len(g)) for a, g in zip(answers, gold, strict=True)], dtype=np.int64
    )
    drawn = [
        _rates(weights @ counts) for weights in draw_weights(len(gold), resamples=RESAMPLES, seed=0)
    ]
    spread, now = np.concatenate(drawn, axis=1), _rates(counts.sum(axis=0))
    return {
        "gold": int(counts[:, 2].sum()),
        "found": int(counts[:, 1].sum()),
        **{
            name: make_interval(float(value), column, level=0.95, seed=0).as_dict()
            for name, value, column in zip(("precision", "recall", "f1"), now, spread, strict=True)
        },
        "links": stated(said),
    }


def stated(said: Sequence[Said]) -> Mapping[str, Any]:
    """Links with a probability: by tenths, at `SURE` or more, and the expected calibration
    error.
    """
    scores = np.array([one.score for one in said], dtype=np.float64)
    right = np.array([one.right for one in said], dtype=np.float64)
    kept = ~np.isnan(scores)
    scores, right = scores[kept], right[kept]
    sure = scores >= SURE
    tenth = np.minimum((scores * _BINS + 1e-9).astype(np.int64), _BINS - 1)
    distance = np.bincount(tenth, weights=scores - right, minlength=_BINS)
    return {
        "links": len(scores),
        "sure": int(sure.sum()),
        "sure_right": int(right[sure].sum()),
        "calibration_error": float(np.abs(distance).sum() / len(scores)) if len(scores) else None,
        "tenths": {
            f"{low:g}": [
                int((tenth == round(low * _BINS)).sum()),
                int(right[tenth == round(low * _BINS)].sum()),
            ]
            for low in _TENTHS
        },
    }


def _rates(sums: Floats) -> Floats:
    """Precision, recall and F1 of sums ``[..., 3]``, as ``[3, ...]``."""
    right, found, gold = np.moveaxis(np.asarray(sums, dtype=np.float64), -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.stack([right / found, right / gold, 2 * right / (found + gold)])

"""Scores of links: measures with their uncertainty, and counts of wrong links by reason.

The identifiers of gold and answers are CURIEs in one spelling. A mention is right if its set of
concepts is that of gold, and half right if only some are. Every figure is a share, counted document
by document, so that documents can be drawn for intervals and tests.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, Literal, NamedTuple, Protocol, get_args

import msgspec
import numpy as np

from fascicle.core.arrays import Floats, Ints, int_array
from fascicle.errors import InputError
from fascicle.evaluation.calibration.reliability import BINS, assign_bins
from fascicle.evaluation.uncertainty.intervals import (
    Difference,
    Interval,
    draw_weights,
    make_difference,
    make_interval,
    ratios,
)
from fascicle.evaluation.uncertainty.significance import swap_p_value

_RANKS: Final = (1, 5, 20)
FIGURES: Final = (
    *(f"recall@{rank}" for rank in _RANKS),
    "half",
    "ceiling",
    "precision",
    "recall",
    "f1",
    "concept_precision",
    "concept_recall",
    "concept_f1",
    "nil_precision",
    "nil_recall",
)
ALONE: Final = ", unambiguous"  # behind a tier
_Counted = tuple[str, int, int]  # figure, part, whole
CALIBRATION: Final = "calibration_error"
COMPARED: Final = ("recall@1", "f1", "concept_f1")


class _ErrorCount(NamedTuple):
    """Number of wrong answers with one reason.

    Attributes:
        wrong: how often.
        among: of these, how often all gold concepts are among the candidates.
    """

    wrong: int
    among: int


@dataclass(frozen=True, kw_only=True)
class LinkScores:
    """Scores of links.

    The figures, each a share of mentions if it is not said otherwise:

    - ``recall@1``, ``@5``, ``@20``: of those with gold concepts, those whose concepts are among the
      first candidates.
    - ``half``: of these, those that are half right at the first rank.
    - ``ceiling``: of these, those whose concepts are all in the vocabulary.
    - ``recall``, ``precision``: those that got exactly the concepts of gold, of those with gold
      concepts, and of those that got concepts; ``f1`` is their harmonic mean. A mention that only
      one side has is wrong there.
    - ``concept_precision``, ``concept_recall``, ``concept_f1``: of the sets of concepts of
      documents.
    - ``nil_precision``: of the mentions of gold that got no concept, those that have none in the
      vocabulary.
    - ``nil_recall``: of those that have none in the vocabulary, those that got none.

    Attributes:
        documents: ids, also of documents without mentions.
        figures: part and whole of each figure by document, ``[documents, 2]``.
        tiers: by tier, and by tier and `ALONE` for answers without another candidate of their tier:
            right answers, answers, and mentions of gold by document, ``[documents, 3]``.
        bins: answers with a probability in each of `BINS` ranges, the sum of the probabilities, and
            how many of them are right, ``[documents, BINS, 3]``.
        errors: how often an answer is wrong, by why.
    """

    documents: tuple[str, ...] = field(repr=False)
    figures: Mapping[str, Ints] = field(repr=False)
    tiers: Mapping[str, Ints] = field(repr=False)
    bins: Floats = field(repr=False)
    errors: Mapping[_LinkError, _ErrorCount]

    def counts(self, name: str) -> tuple[int, int]:
        """Returns numerator and denominator of a measure."""
        part, whole = self.figures[name].sum(axis=0).tolist()
        return part, whole

    def value(self, name: str) -> float | None:
        """Returns the value of a measure; ``None`` if its denominator is 0."""
        part, whole = self.counts(name)
        return part / whole if whole else None

    @property
    def calibration_error(self) -> float | None:
        """The expected distance of probabilities from the share that is right (Naeini et al.,
        2015).

        ``None`` without probabilities.
        """
        error = float(_calibration_errors(self.bins.sum(axis=0)))
        return None if np.isnan(error) else error


def score_links(
    cases: Iterable[LinkCase], documents: Sequence[str], concepts: KnowsConcepts
) -> LinkScores:
    """Scores links.

    Args:
        cases: mentions with gold concepts and answers.
        documents: ids of all documents, without duplicates.
        concepts: of the vocabulary.
    """
    mentions = list(cases)
    rows = {identifier: row for row, identifier in enumerate(documents)}
    return LinkScores(
        documents=tuple(documents),
        figures=_figure_tables(mentions, rows),
        tiers=_tier_tables(mentions, rows),
        bins=_bins(mentions, rows),
        errors=_count_errors(mentions, concepts),
    )


def _figure_tables(cases: Sequence[LinkCase], rows: Mapping[str, int]) -> dict[str, Ints]:
    counts: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for case in cases:
        for name, part, whole in _count_case(case):
            counts[name].append((rows[case.document], part, whole))
    for document, name, part, whole in _count_concepts(cases):
        counts[name].append((rows[document], part, whole))
    return {name: _table(counts[name], len(rows)) for name in FIGURES}


def _tier_tables(cases: Sequence[LinkCase], rows: Mapping[str, int]) -> dict[str, Ints]:
    answers: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for case in cases:
        if case.answer and case.tier:
            for tier in (case.tier, f"{case.tier}{ALONE}")[: 1 + case.alone]:
                answers[tier].append((rows[case.document], case.answered_right, 1))
    in_gold = [(rows[case.document], 1, 0) for case in cases if case.where != "spurious"]
    mentions = _table(in_gold, len(rows))[:, :1]
    return {
        tier: np.hstack([_table(answers[tier], len(rows)), mentions]) for tier in sorted(answers)
    }


def _count_errors(
    cases: Iterable[LinkCase], concepts: KnowsConcepts
) -> dict[_LinkError, _ErrorCount]:
    wrong, among = Counter[_LinkError](), Counter[_LinkError]()
    for case in cases:
        if error := link_error(case, concepts):
            wrong[error] += 1
            among[error] += bool(case.gold) and case.gold.issubset(chain(*case.parts))
    return {
        error: _ErrorCount(wrong[error], among[error]) for error in _LINK_ERRORS if wrong[error]
    }


def _calibration_errors(bins: Floats) -> Floats:
    """Computes expected calibration errors from sums of `LinkScores.bins`.

    Args:
        bins: ``[..., BINS, 3]``.

    Returns:
        ``[...]``; not a number where there is no answer.
    """
    return ratios(np.abs(bins[..., 1] - bins[..., 2]).sum(axis=-1), bins[..., 0].sum(axis=-1))


def _count_case(case: LinkCase) -> Iterator[_Counted]:
    """Yields what a mention adds to the counts of each measure of mentions."""
    right = case.answered_right
    if case.gold:
        yield from ((f"recall@{rank}", case.right(rank), 1) for rank in _RANKS)
        yield from (("half", case.half, 1), ("ceiling", case.known, 1), ("recall", right, 1))
    if case.answer:
        yield "precision", right, 1
    yield "f1", 2 * right, bool(case.gold) + bool(case.answer)
    if case.where == "matched" and not case.answer:
        yield "nil_precision", case.is_nil, 1
    if case.is_nil and case.where == "matched":
        yield "nil_recall", not case.answer, 1


def _count_concepts(cases: Iterable[LinkCase]) -> Iterator[tuple[str, str, int, int]]:
    """Yields what the sets of concepts of each document add to the counts of each measure."""
    sets: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for case in cases:
        gold, answers = sets[case.document]
        gold.update(case.gold)
        answers.update(case.answer)
    for document, (gold, answers) in sets.items():
        right = len(gold & answers)
        yield document, "concept_precision", right, len(answers)
        yield document, "concept_recall", right, len(gold)
        yield document, "concept_f1", 2 * right, len(gold) + len(answers)


def _table(rows: Sequence[tuple[int, int, int]], documents: int) -> Ints:
    """Sums of two columns by document."""
    table = np.zeros((documents, 2), dtype=np.int64)
    if rows:
        numbers = int_array(rows)
        np.add.at(table, numbers[:, 0], numbers[:, 1:])
    return table


def _bins(cases: Iterable[LinkCase], rows: Mapping[str, int]) -> Floats:
    table = np.zeros((len(rows), BINS, 3))
    for case in cases:
        if case.answer and case.score is not None:
            table[rows[case.document], assign_bins(np.array(case.score))] += (
                1,
                case.score,
                case.answered_right,
            )
    return table


def link_intervals(
    scores: LinkScores, *, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> dict[str, Interval]:
    """The intervals of all figures that are defined, and of the calibration error, over the same
    draws of documents.

    Args:
        scores: of one system.
        resamples: number of draws.
        level: share of the draws that the intervals hold.
        seed: of the random numbers.

    Raises:
        InputError: there is no document.
    """
    values = {
        name: float(value) for name in scores.figures if (value := scores.value(name)) is not None
    }
    draws: dict[str, list[Floats]] = defaultdict(list)
    flat = scores.bins.reshape(len(scores.bins), -1)
    for weights in _weights(scores, resamples=resamples, seed=seed):
        for name in values:
            draws[name].append(_rates(weights @ scores.figures[name]))
        draws[CALIBRATION].append(
            _calibration_errors((weights @ flat).reshape(-1, *scores.bins.shape[1:]))
        )
    if scores.calibration_error is not None:
        values[CALIBRATION] = scores.calibration_error
    return {
        name: make_interval(value, np.concatenate(draws[name]), level=level, seed=seed)
        for name, value in values.items()
    }


def link_difference(
    first: LinkScores,
    second: LinkScores,
    name: str,
    *,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Difference:
    """Computes the difference of a measure of two systems, with its paired interval and the p-value
    of randomisation.

    Args:
        first: of one system.
        second: of another, on the same gold.
        name: of the figure.
        resamples: number of draws, and of shuffles.
        level: share of the draws that the interval holds.
        seed: of the random numbers.

    Raises:
        InputError: other documents, or the figure is undefined for one of the two.
    """
    values = (first.value(name), second.value(name))
    if first.documents != second.documents or values[0] is None or values[1] is None:
        raise InputError(
            f"the figure {name} of two systems was to be compared; both need the same documents, "
            "and something to count"
        )
    ours, theirs = first.figures[name], second.figures[name]
    parts = [
        _rates(weights @ ours) - _rates(weights @ theirs)
        for weights in _weights(first, resamples=resamples, seed=seed)
    ]
    difference = make_difference(
        values[0] - values[1], np.concatenate(parts), level=level, seed=seed
    )
    p_value = swap_p_value(
        ours, theirs, figure=lambda sums: np.nan_to_num(_rates(sums)), shuffles=resamples, seed=seed
    )
    return Difference(**{**difference.as_dict(), "p_value": p_value})  # type: ignore[arg-type]


def _rates(sums: Ints | Floats) -> Floats:
    """Divides part by whole, for sums of shape ``[..., 2]``; NaN where the whole is 0."""
    return ratios(*np.moveaxis(sums, -1, 0))


def _weights(scores: LinkScores, *, resamples: int, seed: int) -> Iterator[Floats]:
    if not scores.documents:
        raise InputError("links of no document were given; an interval needs at least one")
    return draw_weights(len(scores.documents), resamples=resamples, seed=seed)


_Where = Literal["matched", "missed", "spurious"]
_LinkError = Literal[
    "not recognised",
    "no such mention",
    "not in the vocabulary",
    "no concept",
    "composite",
    "no answer",
    "wrong species",
    "too general",
    "too specific",
    "ambiguous abbreviation",
    "other concept",
]
_LINK_ERRORS: Final[tuple[_LinkError, ...]] = get_args(_LinkError)
_SHORT: Final = 5  # letters and digits of an abbreviation


class LinkCase(msgspec.Struct, frozen=True, kw_only=True):
    """Mention with its gold concepts, and the candidates and answer of a system.

    Attributes:
        document: its id.
        start: first character.
        type: of the mention.
        surface: its words.
        gold: CURIEs; empty where gold says that no concept fits, and for a mention that gold does
            not have.
        parts: for each thing that the mention names, the candidates, the best first.
        answer: CURIEs that the system gives; empty for NIL.
        score: probability of the answer, or ``None``.
        tier: of the answer; empty for NIL.
        alone: whether the candidate that was answered is the only one of its tier.
        known: whether all gold concepts are in the vocabulary.
        seen_surface: whether the surface is that of a mention of the training corpus.
        seen_concepts: whether all gold concepts are.
        where: ``"matched"`` if gold and the system have the mention, ``"missed"`` if only gold has
            it, ``"spurious"`` if only the system has it.
    """

    document: str
    type: str
    surface: str
    gold: frozenset[str]
    start: int = 0
    parts: tuple[tuple[str, ...], ...] = ()
    answer: frozenset[str] = frozenset()
    score: float | None = None
    tier: str = ""
    alone: bool = False
    known: bool = True
    seen_surface: bool = False
    seen_concepts: bool = False
    where: _Where = "matched"

    def right(self, rank: int = 1) -> bool:
        """True if the gold concepts are those ranked first, or are all among the first
        candidates of the parts.
        """
        candidates = {curie for part in self.parts for curie in part[:rank]}
        return bool(self.gold) and (
            candidates == self.gold if rank == 1 else self.gold <= candidates
        )

    @property
    def answered_right(self) -> bool:
        """True if the answer is exactly the gold concepts, of which there is at least one."""
        return bool(self.gold) and self.answer == self.gold

    @property
    def half(self) -> bool:
        """True if the candidates ranked first include some of the gold concepts, but `right` is
        false.
        """
        return not self.right() and any(part[0] in self.gold for part in self.parts if part)

    @property
    def is_nil(self) -> bool:
        """True if no concept of the vocabulary is right for the mention."""
        return self.where != "spurious" and (not self.gold or not self.known)


class KnowsConcepts(Protocol):
    """Protocol of a vocabulary that can explain errors: facts about concepts."""

    def taxon(self, curie: str) -> str:
        """Returns the species of a concept; empty for none."""

    def ancestors(self, curie: str) -> Collection[str]:
        """Returns all concepts above one."""

    def label(self, curie: str) -> str:
        """Returns the preferred name of a concept; empty if it is unknown."""


def link_error(case: LinkCase, concepts: KnowsConcepts) -> _LinkError | None:
    """Returns why the answer differs from the gold; ``None`` if it does not."""
    if case.where == "spurious":
        return "no such mention" if case.answer else None
    if case.answer == case.gold:
        return None
    if case.where == "missed":
        return "not recognised"
    if not case.gold:
        return "no concept"
    if not case.known:
        return "not in the vocabulary"
    if len(case.gold) > 1 or len(case.answer) > 1:
        return "composite"
    if not case.answer:
        return "no answer"
    (gold,), (answer,) = case.gold, case.answer
    return _wrong(case.surface, gold, answer, concepts)


def _wrong(surface: str, gold: str, answer: str, concepts: KnowsConcepts) -> _LinkError:
    if concepts.taxon(gold) != concepts.taxon(answer):
        return "wrong species"
    if answer in concepts.ancestors(gold):
        return "too general"
    if gold in concepts.ancestors(answer):
        return "too specific"
    bare = "".join(filter(str.isalnum, surface))
    return "ambiguous abbreviation" if len(bare) <= _SHORT and bare.isupper() else "other concept"

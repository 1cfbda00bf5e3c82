"""Comparison of several systems: the mentions that each one finds and the others do not.

Everything is counted in sets of ``(document id, type, spans)``. The recall of the union is the
ceiling of every combination: no rule, and no filter behind the union, finds more
(*comparing-and-combining* §4.5). Intervals come from one bootstrap over documents that all systems
share, so that differences are paired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np

from fascicle.core.arrays import Bools, Floats, Ints, int_array
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.scoring.scores import Counts, Scores
from fascicle.evaluation.uncertainty.intervals import (
    Difference,
    Interval,
    draw_documents,
    make_difference,
    make_interval,
    ratios,
)
from fascicle.evaluation.uncertainty.significance import holm_correction, randomisation_p_value
from fascicle.runtime.combination.align import System, Votes, align, some_documents

LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Counts with the intervals of their rates.

    Attributes:
        counts: on the documents as they are.
        precision: with its interval.
        recall: with its interval.
        f1: with its interval.
    """

    counts: Counts
    precision: Interval
    recall: Interval
    f1: Interval


@dataclass(frozen=True, kw_only=True)
class SystemRow:
    """One system.

    Attributes:
        name: of the system.
        measured: its scores.
        by_type: type -> counts.
        unique_true: gold mentions that it alone found.
        unique_false: false positives that only it has.
    """

    name: str
    measured: Measured
    by_type: Mapping[str, Counts]
    unique_true: int
    unique_false: int


@dataclass(frozen=True, kw_only=True)
class SystemPair:
    """Two systems.

    Attributes:
        first: a name.
        second: another.
        agreement: F1 of one against the other; it is the same both ways.
        shared: mentions that both predicted.
        shared_true: gold mentions among them.
        difference: F1 of the first less F1 of the second, with its paired bootstrap interval and
            p-value.
        bootstrap_p: p-value of ``difference``, corrected for all pairs.
        randomisation_p: p-value by approximate randomisation.
        randomisation_p_corrected: ``randomisation_p``, corrected for all pairs.
    """

    first: str
    second: str
    agreement: float
    shared: int
    shared_true: int
    difference: Difference
    bootstrap_p: float
    randomisation_p: float
    randomisation_p_corrected: float

    def differ(self) -> bool:
        """True if both corrected tests find a difference at a level of error."""
        return max(self.bootstrap_p, self.randomisation_p_corrected) < 1 - LEVEL


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Several systems on one gold.

    Attributes:
        documents: number of documents.
        gold: number of gold mentions.
        unit: what a document is: ``"document"`` or ``"sentence"``.
        rows: one for each system, in the order given.
        pairs: every two of them.
        union: all that any system predicted; its recall is the ceiling of all combinations.
        intersection: what all predicted.
        found_by: ``[i][j]``: gold mentions that system i misses and system j finds.
        avoided_by: ``[i][j]``: false positives of system i that system j does not have.
        types: type -> counts of the union, for the types of the gold and of the systems.
        unique_by_type: type -> for each system, gold mentions that it alone found.
        resamples: number of bootstrap draws, and of shuffles.
        seed: of the random numbers.
    """

    documents: int
    gold: int
    rows: tuple[SystemRow, ...]
    pairs: tuple[SystemPair, ...]
    union: Measured
    intersection: Measured
    found_by: tuple[tuple[int, ...], ...]
    avoided_by: tuple[tuple[int, ...], ...]
    types: Mapping[str, Counts]
    unique_by_type: Mapping[str, tuple[int, ...]]
    resamples: int
    seed: int
    unit: str = "document"

    @property
    def oracle_f1(self) -> float:
        """F1 of a filter that keeps exactly what is right of the union."""
        return Counts(tp=self.union.counts.tp, fn=self.union.counts.fn).rates().f1


def compare(cells: Cells, drawn: Ints, *, seed: int = 0, unit: str = "document") -> Comparison:
    """Compares the systems of a table of cells.

    Args:
        cells: the systems and the gold.
        drawn: cells of bootstrap draws, from ``cells.drawn`` with the same seed, ``[R, C]``.
        seed: of the random numbers.
        unit: what a document is, for a person.

    Raises:
        UsageError: fewer than two systems.
    """
    count = len(cells.systems)
    if count < 2:
        raise UsageError(f"{count} systems were to be compared; give at least two")
    votes, totals, types = cells.predicted.sum(axis=1), cells.totals(), cells.by_type()
    gold = cells.gold[:, None]
    alone = cells.predicted & (votes == 1)[:, None] & gold
    scores = [cells.scores(number) for number in range(count)]
    rows = (_row(cells, drawn, at, scores=own, seed=seed) for at, own in enumerate(scores))
    return Comparison(
        documents=len(cells.documents),
        gold=int(totals[cells.gold].sum()),
        rows=tuple(rows),
        pairs=_pairs(cells, drawn, scores, seed=seed),
        union=measure(cells, drawn, votes > 0, seed=seed),
        intersection=measure(cells, drawn, votes == count, seed=seed),
        found_by=_matrix(~cells.predicted & gold, cells.predicted, totals),
        avoided_by=_matrix(cells.predicted & ~gold, ~cells.predicted, totals),
        types={name: _counts_of(row, votes > 0, cells.gold) for name, row in types.items()},
        unique_by_type={name: tuple((row @ alone).tolist()) for name, row in types.items()},
        resamples=len(drawn),
        seed=seed,
        unit=unit,
    )


def measure(cells: Cells, drawn: Ints, selection: Bools, *, seed: int) -> Measured:
    """Scores and intervals of what is in some of the cells.

    Args:
        cells: the systems and the gold.
        drawn: cells of bootstrap draws, ``[R, C]``.
        selection: ``[C]``.
        seed: of the draws.
    """
    counts = cells.counts(selection)
    draws = rates_of_draws(cells, drawn, selection[:, None])
    precision, recall, f1 = (
        make_interval(value, draw[:, 0], level=LEVEL, seed=seed)
        for value, draw in zip(vars(counts.rates()).values(), draws, strict=True)
    )
    return Measured(counts=counts, precision=precision, recall=recall, f1=f1)


def rates_of_draws(cells: Cells, drawn: Ints, selection: Bools) -> tuple[Floats, Floats, Floats]:
    """Computes precision, recall and F1 of K choices of cells on R draws, each ``[R, K]``; NaN
    where undefined.

    Args:
        cells: the systems and the gold.
        drawn: cells of the draws, ``[R, C]``.
        selection: ``[C, K]``.
    """
    table = drawn.astype(np.float64)  # counts are far below 2^53, so the products are exact
    true = table @ (selection & cells.gold[:, None]).astype(np.float64)
    predicted = table @ selection.astype(np.float64)
    gold = (table @ cells.gold.astype(np.float64))[:, None]
    return (
        ratios(true, predicted),
        ratios(true, np.broadcast_to(gold, true.shape)),
        ratios(2 * true, predicted + gold),
    )


def _row(cells: Cells, drawn: Ints, at: int, *, scores: Scores, seed: int) -> SystemRow:
    counts = cells.counts(cells.predicted[:, at] & (cells.predicted.sum(axis=1) == 1))
    return SystemRow(
        name=cells.systems[at],
        measured=measure(cells, drawn, cells.predicted[:, at], seed=seed),
        by_type=scores.by_type,
        unique_true=counts.tp,
        unique_false=counts.fp,
    )


def _pairs(cells: Cells, drawn: Ints, scores: list[Scores], *, seed: int) -> tuple[SystemPair, ...]:
    """Compares every two systems; p-values are corrected for their number."""
    f1 = rates_of_draws(cells, drawn, cells.predicted)[2]
    indices = list(combinations(range(len(scores)), 2))
    differences = [
        make_difference(
            scores[a].micro.f1 - scores[b].micro.f1, f1[:, a] - f1[:, b], level=LEVEL, seed=seed
        )
        for a, b in indices
    ]
    shuffled = [
        randomisation_p_value(scores[a], scores[b], shuffles=len(drawn), seed=seed)
        for a, b in indices
    ]
    bootstrap_p = holm_correction([difference.p_value for difference in differences])
    shuffled_corrected = holm_correction(shuffled)
    return tuple(
        SystemPair(
            first=cells.systems[a],
            second=cells.systems[b],
            **_shared(cells, a, b),
            difference=differences[number],
            bootstrap_p=bootstrap_p[number],
            randomisation_p=shuffled[number],
            randomisation_p_corrected=shuffled_corrected[number],
        )
        for number, (a, b) in enumerate(indices)
    )


def _shared(cells: Cells, a: int, b: int) -> dict[str, Any]:
    """Returns how many mentions two systems share, in all and of the gold, and their agreement."""
    totals = cells.totals()
    in_common = cells.predicted[:, a] & cells.predicted[:, b]
    size = int((totals @ cells.predicted[:, [a, b]]).sum())
    shared = int(totals[in_common].sum())
    return {
        "agreement": 2 * shared / size if size else 0.0,
        "shared": shared,
        "shared_true": int(totals[in_common & cells.gold].sum()),
    }


def _matrix(rows: Bools, right: Bools, totals: Ints) -> tuple[tuple[int, ...], ...]:
    """``[i][j]``: mentions in cells that are in column i of one and in column j of the other."""
    counts = (rows * totals[:, None]).T @ right.astype(np.int64)
    return tuple(tuple(row) for row in counts.tolist())


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """Distinct mentions by cell: which systems predicted them, and whether they are gold.

    There are n systems, M mentions, and C cells that occur, of at most 2^(n + 1) - 1. Whatever is
    asked about unions, votes and pairs is a sum over some cells, on a bootstrap draw of documents
    too: so every subset of the systems under every rule costs one product of two small matrices.

    Attributes:
        systems: names, n of them.
        documents: ids, in the order of the gold.
        types: of all mentions, sorted.
        predicted: which systems predicted what is in a cell, bool ``[C, n]``.
        gold: whether a cell is gold, bool ``[C]``.
        document: index of the document of each mention, ``[M]``.
        type: index of its type, ``[M]``.
        cell: index of its cell, ``[M]``.
        missing: system -> gold documents that it does not list, which count as read without a find.
        duplicates: mentions that one side had more than once, beyond the first.
    """

    systems: tuple[str, ...]
    documents: tuple[str, ...]
    types: tuple[str, ...]
    predicted: Bools
    gold: Bools
    document: Ints
    type: Ints
    cell: Ints
    missing: dict[str, tuple[str, ...]]
    duplicates: int

    def totals(self) -> Ints:
        """Mentions of each cell, ``[C]``."""
        return np.bincount(self.cell, minlength=len(self.gold))

    def by_type(self) -> dict[str, Ints]:
        """Type -> mentions of each cell, ``[C]``."""
        shape = len(self.types), len(self.gold)
        counts = np.bincount(
            self.type * shape[1] + self.cell, minlength=shape[0] * shape[1]
        ).reshape(shape)
        return dict(zip(self.types, counts, strict=True))

    def counts(self, selection: Bools) -> Counts:
        """Counts right and wrong mentions if those of the chosen cells, ``[C]``, are predicted."""
        return _counts_of(self.totals(), selection, self.gold)

    def scores(self, system: int) -> Scores:
        """The scores of one system, as `evaluation.scoring.scores.score` gives them under the
        rule ``"zero"``.
        """
        selection = self.predicted[:, system]
        parts = (selection & self.gold, selection & ~self.gold, ~selection & self.gold)
        sums = [
            np.bincount(self.document[part[self.cell]], minlength=len(self.documents))
            for part in parts
        ]
        by_type = {
            name: _counts_of(row, selection, self.gold) for name, row in self.by_type().items()
        }
        rows = zip(self.documents, *(column.tolist() for column in sums), strict=True)
        return Scores(
            counts=self.counts(selection),
            by_type={
                name: counts
                for name, counts in by_type.items()
                if counts.support or counts.predicted
            },
            by_document={
                identifier: Counts(tp=tp, fp=fp, fn=fn) for identifier, tp, fp, fn in rows
            },
            missing=self.missing.get(self.systems[system], ()),
        )

    def drawn(self, *, resamples: int, seed: int) -> Ints:
        """Mentions of each cell, ``[resamples, C]``, in the draws of `intervals.draw_documents`.

        Draws of a single document would always be that document; they are empty, so that nothing
        has an interval.
        """
        counts = np.zeros((resamples, len(self.gold)), dtype=np.int64)
        if len(self.documents) < 2:
            return counts
        blocks = draw_documents(len(self.documents), resamples=resamples, seed=seed)
        for number, documents in enumerate(chain.from_iterable(blocks)):
            weights = np.bincount(documents, minlength=len(self.documents))
            counts[number] = np.bincount(
                self.cell, weights=weights[self.document], minlength=len(self.gold)
            )
        return counts


def make_cells(gold: System, systems: Sequence[System], *, allow_missing: bool = False) -> Cells:
    """Puts systems beside the gold.

    Args:
        gold: the truth.
        systems: at least one, with distinct names.
        allow_missing: take gold documents that a system does not list for documents in which it
            found nothing. Without it, only those of systems that cannot list documents without
            mentions are.

    Raises:
        UsageError: two systems with one name.
        InputError: no gold mention; documents that the gold does not have, or that a system lacks;
            other texts; mentions beyond the text.
    """
    if not any(gold.mentions.values()):
        raise InputError(
            "the gold holds no mention, so nothing can be compared with it; give an annotated "
            "corpus"
        )
    missing = {}
    for system in systems:
        lacking = _check_documents(gold, system, allow_missing=allow_missing)
        if lacking:
            missing[system.name] = lacking
    votes = align([gold, *systems], missing="empty")
    rest = [identifier for identifier in votes.documents if identifier not in gold.mentions]
    return _cells(votes, (*gold.mentions, *rest), missing)


def _cells(votes: Votes, documents: tuple[str, ...], missing: dict[str, tuple[str, ...]]) -> Cells:
    patterns, cell = np.unique(votes.predicted, axis=0, return_inverse=True)
    places = {identifier: place for place, identifier in enumerate(documents)}
    order = int_array([places[identifier] for identifier in votes.documents])
    names = [votes.entries[at].type for at in votes.bounds[:-1].tolist()]
    types = {name: number for number, name in enumerate(sorted(set(names)))}
    return Cells(
        systems=votes.systems[1:],
        documents=documents,
        types=tuple(types),
        predicted=patterns[:, 1:],
        gold=patterns[:, 0],
        document=order[votes.document],
        type=int_array([types[name] for name in names]),
        cell=cell.reshape(-1).astype(np.int64),
        missing=missing,
        duplicates=votes.duplicates,
    )


def _check_documents(gold: System, system: System, *, allow_missing: bool) -> tuple[str, ...]:
    """Refuses a system that is not about the documents of the gold; returns those that it does
    not list.
    """
    extra = [identifier for identifier in system.mentions if identifier not in gold.mentions]
    lacking = tuple(identifier for identifier in gold.mentions if identifier not in system.mentions)
    if len(lacking) == len(gold.mentions):
        raise InputError(
            f"{gold.name} ({some_documents(lacking)}) and {system.name} "
            f"({some_documents(extra)}) have no document in "
            "common; give predictions for the same corpus, with the same document ids"
        )
    if extra and gold.lists_all:
        raise InputError(
            f"{system.name} names {some_documents(extra)} that {gold.name} does not have; give the "
            "gold of these documents too, or predictions for the gold documents only"
        )
    if lacking and system.lists_all and not allow_missing:
        raise InputError(
            f"{system.name} lacks {some_documents(lacking)} of the {len(gold.mentions):,} in "
            f"{gold.name}; predict "
            "these too, or give allow_missing=True, and nothing counts as found in them"
        )
    return lacking


def _counts_of(totals: Ints, selection: Bools, gold: Bools) -> Counts:
    """Counts true positives, false positives and false negatives if the mentions of the chosen
    cells are predicted.
    """
    tp, fp, fn = (
        int(totals[cells].sum())
        for cells in (selection & gold, selection & ~gold, ~selection & gold)
    )
    return Counts(tp=tp, fp=fp, fn=fn)

"""Several systems and the gold as a table of cells: which systems predicted a mention, and whether it is gold.

With n systems there are at most 2^(n + 1) - 1 cells. Whatever is asked about unions, votes and pairs of systems is a
sum over some of the cells, and on a bootstrap draw of documents it is the same sum over the counts of that draw: so
every subset of the systems under every rule costs one product of two small matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from fascicle.core.arrays import Bools, Ints
from fascicle.errors import InputError
from fascicle.evaluation.scoring.scores import Counts, Scores
from fascicle.evaluation.uncertainty.intervals import drawn_documents
from fascicle.runtime.combination.align import System, Votes, align, some_documents


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """Distinct mentions by cell; n systems, C cells that occur, M mentions.

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

    def by_type(self) -> Ints:
        """Mentions of each type and cell, ``[types, C]``."""
        shape = len(self.types), len(self.gold)
        return np.bincount(self.type * shape[1] + self.cell, minlength=shape[0] * shape[1]).reshape(shape)

    def counts(self, chosen: Bools) -> Counts:
        """Counts true positives, false positives and false negatives if the mentions of the chosen cells are predicted.

        Args:
            chosen: ``[C]``.
        """
        return counts_of(self.totals(), chosen, self.gold)

    def scores(self, system: int) -> Scores:
        """The scores of one system, as `evaluation.scoring.scores.score` gives them under the rule ``"zero"``."""
        chosen = self.predicted[:, system]
        parts = (chosen & self.gold, chosen & ~self.gold, ~chosen & self.gold)
        sums = [np.bincount(self.document[part[self.cell]], minlength=len(self.documents)) for part in parts]
        by_type = {
            name: counts_of(row, chosen, self.gold) for name, row in zip(self.types, self.by_type(), strict=True)
        }
        rows = zip(self.documents, *(column.tolist() for column in sums), strict=True)
        return Scores(
            counts=self.counts(chosen),
            by_type={name: counts for name, counts in by_type.items() if counts.support or counts.predicted},
            by_document={identifier: Counts(tp=tp, fp=fp, fn=fn) for identifier, tp, fp, fn in rows},
            missing=self.missing.get(self.systems[system], ()),
        )

    def drawn(self, *, resamples: int, seed: int) -> Ints:
        """Mentions of each cell in bootstrap draws of documents, ``[resamples, C]``.

        Args:
            resamples: number of draws.
            seed: of the random numbers; draws are those of `fascicle.evaluation.uncertainty.intervals.bootstrap_f1`.
        """
        found = np.empty((resamples, len(self.gold)), dtype=np.int64)
        blocks = drawn_documents(len(self.documents), resamples=resamples, seed=seed)
        for number, documents in enumerate(chain.from_iterable(blocks)):
            weights = np.bincount(documents, minlength=len(self.documents))
            found[number] = np.bincount(self.cell, weights=weights[self.document], minlength=len(self.gold))
        return found


def cells_of(gold: System, systems: Sequence[System], *, allow_missing: bool = False) -> Cells:
    """Puts systems beside the gold.

    Args:
        gold: the truth.
        systems: at least one, with distinct names.
        allow_missing: take gold documents that a system does not list for documents in which it found nothing. Without
            it, only those of systems that cannot list documents without mentions are.

    Raises:
        UsageError: two systems with one name.
        InputError: no gold mention; documents that the gold does not have, or that a system lacks; other texts;
            mentions beyond the text.
    """
    if not any(gold.mentions.values()):
        raise InputError("the gold holds no mention, so nothing can be compared with it; give an annotated corpus")
    missing = {}
    for system in systems:
        lacking = _check_documents(gold, system, allow_missing=allow_missing)
        if lacking:
            missing[system.name] = lacking
    votes = align([gold, *systems], missing="empty")
    others = [identifier for identifier in votes.documents if identifier not in gold.mentions]
    return _cells(votes, (*gold.mentions, *others), missing)


def _cells(votes: Votes, documents: tuple[str, ...], missing: dict[str, tuple[str, ...]]) -> Cells:
    patterns, cell = np.unique(votes.predicted, axis=0, return_inverse=True)
    places = {identifier: place for place, identifier in enumerate(documents)}
    order = np.array([places[identifier] for identifier in votes.documents], dtype=np.int64)
    names = [votes.entries[at].type for at in votes.bounds[:-1].tolist()]
    types = {name: number for number, name in enumerate(sorted(set(names)))}
    return Cells(
        systems=votes.systems[1:],
        documents=documents,
        types=tuple(types),
        predicted=patterns[:, 1:],
        gold=patterns[:, 0],
        document=order[votes.document],
        type=np.array([types[name] for name in names], dtype=np.int64),
        cell=cell.reshape(-1).astype(np.int64),
        missing=missing,
        duplicates=votes.duplicates,
    )


def _check_documents(gold: System, system: System, *, allow_missing: bool) -> tuple[str, ...]:
    """Refuses a system that is not about the documents of the gold; returns those that it does not list."""
    extra = [identifier for identifier in system.mentions if identifier not in gold.mentions]
    lacking = tuple(identifier for identifier in gold.mentions if identifier not in system.mentions)
    if len(lacking) == len(gold.mentions):
        raise InputError(
            f"{gold.name} ({some_documents(lacking)}) and {system.name} ({some_documents(extra)}) have no document in "
            "common; give predictions for the same corpus, with the same document ids"
        )
    if extra and gold.lists_all:
        raise InputError(
            f"{system.name} names {some_documents(extra)} that {gold.name} does not have; give the gold of these "
            "documents too, or predictions for the gold documents only"
        )
    if lacking and system.lists_all and not allow_missing:
        raise InputError(
            f"{system.name} lacks {some_documents(lacking)} of the {len(gold.mentions):,} in {gold.name}; predict "
            "these too, or give allow_missing=True, and nothing counts as found in them"
        )
    return lacking


def counts_of(totals: Ints, chosen: Bools, gold: Bools) -> Counts:
    """Counts true positives, false positives and false negatives if the mentions of the chosen cells are predicted."""
    tp, fp, fn = (int(totals[cells].sum()) for cells in (chosen & gold, chosen & ~gold, ~chosen & gold))
    return Counts(tp=tp, fp=fp, fn=fn)

"""Choice of the identifier that a link gives, for a set of equal concepts in several vocabularies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from fascicle.core.arrays import Ints, different
from fascicle.core.mention import Link
from fascicle.core.wording import near_hint
from fascicle.errors import UsageError
from fascicle.terms.pack import layout
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.sets import prefix_numbers

_DIGITS: Final = 6  # of a score, as everywhere


class Answers:
    """Maps the leading concepts of sets to the answered ones.

    Attributes:
        ontology: prefix of the only vocabulary that is answered; empty for any.
    """

    def __init__(self, pack: Pack, *, order: Sequence[str] = (), ontology: str = "") -> None:
        """Sets the open pack.

        Args:
            pack: that has the sets.
            order: prefixes of vocabularies, the best first; a set without any of them has its leading concept.
            ontology: prefix of the only vocabulary that is answered, in place of the order.

        Raises:
            UsageError: the pack has no concept of the ontology, or no sets.
        """
        self._pack, self.ontology = pack, ontology
        self._rows: Ints | None = None  # of the answer of each concept that leads a set
        wanted = (ontology,) if ontology else tuple(order)
        if not wanted:
            return
        check_ontology(pack, ontology)
        names, numbers = prefix_numbers(pack)
        self._rows = np.arange(len(pack))
        for prefix in reversed([one for one in wanted if one in names]):
            rows = np.flatnonzero(numbers == names.index(prefix))
            self._rows[pack.leads.of(rows)] = rows

    def told(self, leads: Ints, terms: Ints) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Yields CURIE, label and other CURIEs of answers.

        Args:
            leads: rows of the concepts that lead.
            terms: by which they were found, or -1.
        """
        rows = leads if self._rows is None else self._rows[leads]
        curies = self._pack.curies.strings.take(rows)
        return zip(curies, self._labels(rows, leads, terms), self._same(leads, rows), strict=True)

    def _labels(self, rows: Ints, leads: Ints, terms: Ints) -> list[str]:
        """Returns the labels of answers; one without has that of the leading concept, or of the concept of the term."""
        labels = self._pack.label_rows
        named = np.where(labels[rows] == layout.NONE, leads, rows)
        lacks = np.flatnonzero((labels[named] == layout.NONE) & (terms >= 0))
        named[lacks] = self._pack.active.concept[terms[lacks]]
        return self._pack.labels_at(named)

    def _same(self, leads: Ints, rows: Ints) -> list[tuple[str, ...]]:
        """Returns the CURIEs of the other concepts of sets than the answers, the leading one first."""
        places, led = self._pack.leads.led(leads)
        found: list[tuple[str, ...]] = [()] * len(leads)
        if not len(places):
            return found
        starts = np.searchsorted(places, np.arange(len(leads) + 1)).tolist()
        curies = self._pack.curies.strings.take(led)
        for place in different(places).tolist():
            row, others = int(rows[place]), range(starts[place], starts[place + 1])
            first = () if row == leads[place] else (self._pack.curie(int(leads[place])),)
            found[place] = (*first, *(curies[at] for at in others if led[at] != row))
        return found


def check_ontology(pack: Pack, ontology: str) -> None:
    """Raises an error for a vocabulary in which a pack cannot give links; an empty name is allowed.

    Raises:
        UsageError: the pack has no concept of it, or no sets.
    """
    if ontology and ontology not in (names := prefix_numbers(pack)[0]):
        raise UsageError(
            f"the pack {pack.folder} has no concept of {ontology!r}{near_hint(ontology, names)}; give one of its "
            f"vocabularies: {', '.join(names)}"
        )
    if ontology and layout.LEAD not in pack.manifest.files:
        raise UsageError(
            f"the pack {pack.folder} does not say which of its concepts are the same, so links cannot be taken to "
            f"{ontology}; leave out the argument ontology, or build the pack again with fascicle index build"
        )


def link_to(curie: str, label: str, tier: str, score: float | None, same: tuple[str, ...]) -> Link:
    """Returns a link to a concept."""
    prefix, _, local = curie.partition(":")
    return Link(id=local, ontology=prefix, name=label, score=_rounded(score), tier=tier, curie=curie, same=same)


def nil_link(score: float | None, ontology: str = "") -> Link:
    """Returns a NIL link: no concept fits, of one vocabulary or of any."""
    return Link(id="", ontology=ontology, nil=True, score=_rounded(score))


def _rounded(score: float | None) -> float | None:
    return None if score is None else min(1.0, round(score, _DIGITS))


def distinct(several: Sequence[Link]) -> tuple[Link, ...]:
    """Returns the links of a mention: each concept once, or NIL if no part has one."""
    if len(several) == 1:  # as of nearly all mentions
        return tuple(several)
    named = {link.curie: link for link in reversed(several) if not link.nil}
    return tuple(reversed(named.values())) if named else (several[0],)

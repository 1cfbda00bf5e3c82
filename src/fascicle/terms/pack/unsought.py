"""Preferred names of a pack and of its sources that are not searched in texts, each with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from fascicle.core.arrays import Bools
from fascicle.settings.recognition import RecognitionSettings
from fascicle.terms.pack import layout
from fascicle.terms.pack.keying import KeyReader
from fascicle.terms.pack.pack import Pack
from fascicle.terms.sources.report import LostLabel
from fascicle.terms.terms import NAME_KINDS

COLUMNS: Final = ("concept", "label", "reason")
_LABEL: Final = NAME_KINDS.index("label")
_DIGITS: Final = 6  # of a score, as everywhere


class NotSearched(NamedTuple):
    """Label that is not searched in texts.

    Attributes:
        concept: CURIE.
        label: the name.
        reason: that of a `SourceReport`; ``"curation"`` for a rule; or ``"unlikely"`` for a common word, or a name so
            short, that it is hardly ever meant. An unlikely label is still linked.
    """

    concept: str
    label: str
    reason: str


def unsought(
    pack: Pack, lost: Iterable[LostLabel] = (), *, settings: RecognitionSettings | None = None
) -> Iterator[NotSearched]:
    """Yields the labels that are not searched: those that the build left out, and those of the pack.

    Args:
        pack: that was built.
        lost: labels that its sources have and the build left out; one that another source brought in is not lost.
        settings: how names are looked for.
    """
    sought = _sought(pack, settings or RecognitionSettings())
    for one in _missing(pack, list(dict.fromkeys(lost)), sought):
        yield NotSearched(*one)
    for names, chosen in (
        (pack.active, ~sought),
        (pack.silent, (pack.silent.flags[:] & layout.DROPPED) != 0),
    ):
        for row in np.flatnonzero((names.kind[:] == _LABEL) & chosen).tolist():
            term = pack.term(names, row)
            yield NotSearched(term.concept, term.surface, "curation" if term.off or term.silent else "unlikely")


def _missing(pack: Pack, lost: Sequence[LostLabel], sought: Bools) -> Iterator[LostLabel]:
    """Yields the lost labels whose concept has no searched name of the same key."""
    places, terms = pack.rows(KeyReader()([one.surface for one in lost]))
    concepts = pack.concept_rows([one.concept for one in lost])
    own = (pack.active.concept[terms] == concepts[places]) & sought[terms]
    there = np.zeros(len(lost), dtype=np.bool_)
    there[places[own]] = True
    return (one for one, found in zip(lost, there.tolist(), strict=True) if not found)


def _sought(pack: Pack, settings: RecognitionSettings) -> Bools:
    """Returns whether each active term is searched: its key is likely enough to mean a concept of its type."""
    active = pack.active
    concepts = active.concept[:].astype(np.int64)
    keys = np.repeat(np.arange(len(active.starts) - 1), np.diff(active.starts[:]))
    pairs, owners = np.unique(keys << 32 | concepts, return_inverse=True)
    highest = np.zeros(len(pairs))
    np.maximum.at(highest, owners, active.prior[:].astype(np.float64))
    kinds = (pairs >> 32) * (len(pack.types) + 1) + pack.type_rows[pairs & 0xFFFFFFFF]
    _, meanings = np.unique(kinds, return_inverse=True)
    likely = np.bincount(meanings, weights=highest).round(_DIGITS) >= settings.threshold
    found: Bools = likely[meanings][owners] & ((active.flags[:] & layout.OFF) == 0)
    return found

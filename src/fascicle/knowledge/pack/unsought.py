"""The preferred names of a pack, and of its sources, that are not looked for in texts, each with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np

from fascicle.core.arrays import Bools
from fascicle.knowledge.keys.key import key
from fascicle.knowledge.pack import layout
from fascicle.knowledge.pack.pack import Pack
from fascicle.knowledge.sources.report import LostLabel
from fascicle.knowledge.terms import NAME_KINDS
from fascicle.settings.recognition import RecognitionSettings

COLUMNS: Final = ("concept", "label", "reason")
_LABEL: Final = NAME_KINDS.index("label")
_DIGITS: Final = 6  # of a score, as everywhere


class Unsought(NamedTuple):
    """A label that is not looked for.

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
) -> Iterator[Unsought]:
    """The labels that are not looked for: those that the build left out, and those of the pack.

    Args:
        pack: that was built.
        lost: labels that its sources have and the build left out; one that another source brought in is not lost.
        settings: how names are looked for.
    """
    sought = _sought(pack, settings or RecognitionSettings())
    for concept, surface, reason in dict.fromkeys(lost):
        terms = pack.rows([key(surface, 2)])[1]
        own = terms[pack.active.concept[terms] == pack.concept_rows([concept])[0]]
        if not sought[own].any():
            yield Unsought(concept, surface, reason)
    for names, chosen in (
        (pack.active, ~sought),
        (pack.silent, (pack.silent.flags[:] & layout.DROPPED) != 0),
    ):
        for row in np.flatnonzero((names.kind[:] == _LABEL) & chosen).tolist():
            term = pack.term(names, row)
            yield Unsought(term.concept, term.surface, "curation" if term.off or term.silent else "unlikely")


def _sought(pack: Pack, settings: RecognitionSettings) -> Bools:
    """Whether each active term is looked for: its key is likely enough to mean a concept of its type."""
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

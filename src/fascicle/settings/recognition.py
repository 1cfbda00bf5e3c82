"""Settings of the recognition of names of term packs as mentions."""

from __future__ import annotations

from typing import Literal

from fascicle.settings.base import Name, Settings

Overlaps = Literal["longest", "nested", "all"]
Hyphens = Literal["open", "before", "closed"]
Case = Literal["auto", "exact", "any"]
"""In which capitals a name of a user's own list is found. ``auto``: in any, but a symbol only as it is written, see
`fascicle.terms.matching.names`; ``exact``: every name only as it is written; ``any``: every name in any."""


class RecognitionSettings(Settings, frozen=True, kw_only=True):
    """How names of packs become mentions.

    Attributes:
        overlaps: ``"longest"``: of names that overlap, the longest, with one type; ``"nested"``: also those inside it,
            and all types; ``"all"``: also those that cross.
        threshold: a type whose names have a lower sum of priors at a place is no mention there.
        case: whether the case policies of names count.
        hyphens: ``"open"``: a name may begin and end at a hyphen within a word, as in ``anti-EGFR`` and
            ``ALK-positive``; ``"before"``: it may only end there; ``"closed"``: neither.
        inside_words: whether a name may begin or end inside a word, as ``IL`` in ``IL2``.
        types: that are looked for; all of a pack by default.
        links: whether a mention is linked whose best tier of names belongs to one concept.
    """

    overlaps: Overlaps = "longest"
    threshold: float = 0.3
    case: bool = True
    hyphens: Hyphens = "open"
    inside_words: bool = False
    types: tuple[Name, ...] = ()
    links: bool = True

    def __post_init__(self) -> None:
        """Refuses a threshold that is no probability.

        Raises:
            ValueError: a threshold outside 0 to 1.
        """
        if not 0.0 <= self.threshold <= 1.0:
            raise ValueError(f"threshold = {self.threshold!r} is not allowed; give a probability from 0 to 1")

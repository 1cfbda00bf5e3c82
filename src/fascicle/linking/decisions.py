"""Decisions of a linker about mentions, with their reasons, and the links that state them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from fascicle.core.mention import ABSENT, AMBIGUOUS, Link

_DIGITS: Final = 6  # of a score, as everywhere


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """Concept that a mention may mean.

    Attributes:
        curie: of the concept.
        label: its preferred name.
        name: of the pack by which it was found; empty for one that annotated texts gave.
        tier: how it was found.
        ways: what of the mention led to it: its own words, its long or short form, and so on.
        probability: or ``None`` without a fitted ranker; of an ambiguous mention its share, then.
        features: the features that are not 0.
        parts: of its score, weight times feature; empty without a fitted ranker.
        date: of the vocabulary in the pack, empty if its source states none.
        same: CURIEs of the same concept in other vocabularies.
    """

    curie: str
    label: str
    name: str
    tier: str
    ways: tuple[str, ...]
    probability: float | None
    features: dict[str, float]
    parts: dict[str, float]
    date: str
    same: tuple[str, ...] = ()


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """Decision of the linker about one thing that a mention names.

    Attributes:
        mention: number of the mention in the document.
        part: number of the thing in the mention.
        surface: its words.
        type: of the mention.
        pack: name of the pack of the candidates.
        candidates: the best first.
        nil: probability that no concept of the pack fits; ``None`` without a fitted ranker, and
            without candidates.
        answer: whether the first candidate is the answer; else it is NIL, or ambiguous.
        ambiguous: how many of the first candidates are the answer because they cannot be told
            apart; else 0.
    """

    mention: int
    part: int
    surface: str
    type: str
    pack: str
    candidates: tuple[Candidate, ...]
    nil: float | None
    answer: bool
    ambiguous: int = 0

    @property
    def link(self) -> Link:
        """Answer as a link; the first one of an ambiguous answer."""
        return self.links[0]

    @property
    def links(self) -> tuple[Link, ...]:
        """Answer as links; an ambiguous answer has several."""
        if not self.answer and not self.ambiguous:
            return (nil_link(self.nil, absent=not self.candidates),)
        first = self.candidates[: self.ambiguous or 1]
        tiers = [AMBIGUOUS if self.ambiguous else candidate.tier for candidate in first]
        return tuple(
            link_to(candidate.curie, candidate.label, tier, candidate.probability, candidate.same)
            for candidate, tier in zip(first, tiers, strict=True)
        )


@lru_cache(maxsize=1 << 12)  # a document names a concept again and again
def link_to(curie: str, label: str, tier: str, score: float | None, same: tuple[str, ...]) -> Link:
    """Returns a link to a concept."""
    prefix, _, local = curie.partition(":")
    return Link(
        id=local,
        ontology=prefix,
        name=label,
        score=_rounded(score),
        tier=tier,
        curie=curie,
        same=same,
    )


def nil_link(score: float | None, ontology: str = "", *, absent: bool = False) -> Link:
    """Returns a NIL link: no concept fits, of one vocabulary or of any; ``absent``: there was no
    candidate.
    """
    return Link(
        id="", ontology=ontology, nil=True, score=_rounded(score), tier=ABSENT if absent else ""
    )


def _rounded(score: float | None) -> float | None:
    return None if score is None else min(1.0, round(score, _DIGITS))


def distinct(several: Sequence[Link]) -> tuple[Link, ...]:
    """Returns the links of a mention: each concept once, or NIL if no part has one."""
    if len(several) == 1:  # as of nearly all mentions
        return tuple(several)
    by_curie = {link.curie: link for link in reversed(several) if not link.nil}
    return tuple(reversed(by_curie.values())) if by_curie else (several[0],)

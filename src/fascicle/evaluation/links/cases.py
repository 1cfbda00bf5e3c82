"""Case of linking: one mention with its gold concepts and the answer of a system; scores of links count these."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal, Protocol, get_args

import msgspec

Where = Literal["matched", "missed", "spurious"]
LinkError = Literal[
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
LINK_ERRORS: Final[tuple[LinkError, ...]] = get_args(LinkError)
_SHORT: Final = 5  # letters and digits of an abbreviation


class LinkCase(msgspec.Struct, frozen=True, kw_only=True):
    """Mention with its gold concepts, and the candidates and answer of a system.

    Attributes:
        document: its id.
        start: first character.
        type: of the mention.
        surface: its words.
        gold: CURIEs; empty where gold says that no concept fits, and for a mention that gold does not have.
        parts: for each thing that the mention names, the candidates, the best first.
        answer: CURIEs that the system gives; empty for NIL.
        score: probability of the answer, or ``None``.
        tier: of the answer; empty for NIL.
        alone: whether the candidate that was answered is the only one of its tier.
        known: whether all gold concepts are in the vocabulary.
        seen_surface: whether the surface is that of a mention of the training corpus.
        seen_concepts: whether all gold concepts are.
        where: ``"matched"`` if gold and the system have the mention, ``"missed"`` if only gold has it, ``"spurious"``
            if only the system has it.
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
    where: Where = "matched"

    def right(self, rank: int = 1) -> bool:
        """True if the gold concepts are those ranked first, or are all among the first candidates of the parts."""
        found = {one for part in self.parts for one in part[:rank]}
        return bool(self.gold) and (found == self.gold if rank == 1 else self.gold <= found)

    @property
    def answered_right(self) -> bool:
        """True if the answer is exactly the gold concepts, of which there is at least one."""
        return bool(self.gold) and self.answer == self.gold

    @property
    def half(self) -> bool:
        """True if the candidates ranked first include some of the gold concepts, but `right` is false."""
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


def link_error(case: LinkCase, concepts: KnowsConcepts) -> LinkError | None:
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


def _wrong(surface: str, gold: str, answer: str, concepts: KnowsConcepts) -> LinkError:
    if concepts.taxon(gold) != concepts.taxon(answer):
        return "wrong species"
    if answer in concepts.ancestors(gold):
        return "too general"
    if gold in concepts.ancestors(answer):
        return "too specific"
    bare = "".join(filter(str.isalnum, surface))
    return "ambiguous abbreviation" if len(bare) <= _SHORT and bare.isupper() else "other concept"

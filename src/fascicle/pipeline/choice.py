"""Which mentions of several layers may stand beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fascicle.core.document import Document, Mention, Patch, overlapping_mentions
from fascicle.settings.steps import Keep


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Goes through the mentions by rank; each stays that may stand beside all that stayed before it.

    Attributes:
        name: of the step.
        layers: sources among which is chosen, in the order of their say.
        keep: ``"all"``, ``"nested"`` or ``"flat"``, see `fascicle.settings.steps.ChoiceStep`.
        types: type -> what is kept of it; these types compete with no other.
    """

    name: str
    layers: tuple[str, ...]
    keep: Keep = "nested"
    types: Mapping[str, Keep] = field(default_factory=dict)
    fingerprint: str = ""
    needs: frozenset[str] = frozenset({"mentions"})
    gives: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()

    @property
    def drops(self) -> frozenset[str]:
        """The layers."""
        return frozenset(self.layers)

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """One patch for each document."""
        return [Patch(drop=tuple(one.key for one in self._losers(document))) for document in documents]

    def _losers(self, document: Document) -> list[Mention]:
        mentions = [mention for mention in document.mentions if mention.source in self.layers]
        rivals: list[list[int]] = [[] for _ in mentions]
        for (left, first), (right, second) in overlapping_mentions(mentions):
            if self._exclude(first, second):
                rivals[left].append(right)
                rivals[right].append(left)
        stays: set[int] = set()
        for at in sorted(range(len(mentions)), key=lambda number: self._rank(mentions[number])):
            if not stays.intersection(rivals[at]):
                stays.add(at)
        return [mention for at, mention in enumerate(mentions) if at not in stays]

    def _exclude(self, first: Mention, second: Mention) -> bool:
        """Whether two mentions that share a character may not both stay."""
        own = {first.type, second.type} & self.types.keys()
        if own and first.type != second.type:
            return False
        keep = self.types.get(first.type, self.keep)
        if keep != "nested":
            return keep == "flat"
        if first.spans == second.spans:
            return first.type == second.type
        return not (_within(first, second) or _within(second, first))

    def _rank(self, mention: Mention) -> tuple[float, int, int, int, str]:
        return *mention.rank, self.layers.index(mention.source), mention.type


def _within(inner: Mention, outer: Mention) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end

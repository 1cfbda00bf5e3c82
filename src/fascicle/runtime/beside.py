"""A predictor with another one beside it: what both find, or, of a user's own names, the names first."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from fascicle.core.document import Document, Event, Patch, canonical, overlapping_mentions
from fascicle.core.wording import counted
from fascicle.runtime.linked import Keep, all_of
from fascicle.runtime.wrapped import Wrapped
from fascicle.text.annotator import Annotator, TagSpace


class Beside(Wrapped):
    """Mentions of two predictors; each mention keeps its source."""

    def __init__(self, predictor: Annotator, other: Annotator, *, keep: Keep = all_of) -> None:
        """Takes the predictor, which gives the name, the one beside it, and what is kept of the links of that one."""
        super().__init__(predictor)
        self._other, self._keep = other, keep
        self.gives = predictor.gives | other.gives

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources of both."""
        return tuple(dict.fromkeys((*self._predictor.sources, *self._other.sources)))

    @property
    def types(self) -> tuple[str, ...]:
        """Types of the predictor, and then those that the other one alone has."""
        return tuple(dict.fromkeys((*self._predictor.types, *self._other.types)))

    @property
    def apart(self) -> tuple[str, ...]:
        """Types that the predictor keeps apart, but for those of the other one."""
        return tuple(kind for kind in self._predictor.apart if kind not in self._other.types)

    @property
    def kind(self) -> str:
        """Kind of the predictor, and the sources of the other one."""
        return f"{self._predictor.kind}, beside {', '.join(self._other.sources)}"

    @property
    def fingerprint(self) -> str:
        """Fingerprints of both."""
        return f"{self._predictor.fingerprint} also {self._other.fingerprint}"

    @property
    def tag_space(self) -> TagSpace:
        """The scores of mentions: the other one has no probabilities of tags."""
        return TagSpace()

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions and events of both for each document; see `Annotator.predict`."""
        documents = list(documents)
        pairs = zip(self._predictor.predict(documents), self._other.predict(documents), strict=True)
        return [self.joined(first, second) for first, second in pairs]

    def joined(self, first: Patch, second: Patch) -> Patch:
        """Joins what the predictor and the other one found in a document."""
        added = (msgspec.structs.replace(one, links=self._keep(one.links)) for one in second.add)
        return msgspec.structs.replace(first, add=(*first.add, *added), events=(*first.events, *second.events))


class OwnNames(Beside):
    """Predictor with a user's own names beside it: a list or term packs.

    Every name that a text contains is a mention. Mentions of the predictor that overlap one are left out; an event
    counts those with another type or other ends.
    """

    def joined(self, first: Patch, second: Patch) -> Patch:
        """Joins what the predictor found with the names in a document."""
        mine = {mention.key for mention in second.add}
        named = {(mention.type, mention.spans) for mention in second.add}
        rest = {mention.key: mention for mention in first.add if mention.key not in mine}
        gone = set()
        for (_, one), (_, other) in overlapping_mentions(canonical((*second.add, *rest.values()))):
            if (one.key in mine) != (other.key in mine):
                gone.add(other.key if one.key in mine else one.key)
        kept = tuple(mention for key, mention in rest.items() if key not in gone)
        events = (*first.events, *second.events)
        if others := [key for key in gone if (rest[key].type, rest[key].spans) not in named]:
            message = f"left out: {counted(len(others), 'mention')} of {self.name} that names of the list overlap"
            events += (Event(step=self._other.name, kind="note", code="overlap", message=message),)
        return msgspec.structs.replace(first, add=(*second.add, *kept), events=events)

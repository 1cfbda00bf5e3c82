"""A user's own names beside a model: where the two overlap, the names answer."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from fascicle.core.document import Document, Event, Patch, canonical, overlapping_mentions
from fascicle.core.wording import counted
from fascicle.runtime.wrapped import Wrapped
from fascicle.text.annotator import Annotator, TagSpace


class Beside(Wrapped):
    """Predictor with names beside it.

    Every name that stands in a text is a mention. Mentions of the predictor that overlap one give way; an event counts
    those that said something else.
    """

    def __init__(self, predictor: Annotator, names: Annotator) -> None:
        """Takes the predictor, and the names: a list or term packs."""
        super().__init__(predictor)
        self._names = names

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources of the predictor, and of the names."""
        return tuple(dict.fromkeys((*self._predictor.sources, *self._names.sources)))

    @property
    def types(self) -> tuple[str, ...]:
        """Types of the predictor, and then those that the names alone have."""
        return tuple(dict.fromkeys((*self._predictor.types, *self._names.types)))

    @property
    def apart(self) -> tuple[str, ...]:
        """Types that the predictor keeps apart, but for those of the names."""
        return tuple(kind for kind in self._predictor.apart if kind not in self._names.types)

    @property
    def kind(self) -> str:
        """Kind of the predictor, and what is beside it."""
        return f"{self._predictor.kind}, beside the names of {', '.join(self._names.sources)}"

    @property
    def fingerprint(self) -> str:
        """Fingerprints of the predictor and of the names."""
        return f"{self._predictor.fingerprint} also {self._names.fingerprint}"

    @property
    def tag_space(self) -> TagSpace:
        """The scores of mentions: names have no probabilities of tags."""
        return TagSpace()

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions and events for each document; see `Annotator.predict`."""
        documents = list(documents)
        answers = zip(self._predictor.predict(documents), self._names.predict(documents), strict=True)
        return [self._joined(patch, own) for patch, own in answers]

    def _joined(self, patch: Patch, own: Patch) -> Patch:
        mine = {mention.key for mention in own.add}
        said = {(mention.type, mention.spans) for mention in own.add}
        rest = {mention.key: mention for mention in patch.add if mention.key not in mine}
        gone = set()
        for (_, one), (_, other) in overlapping_mentions(canonical((*own.add, *rest.values()))):
            if (one.key in mine) != (other.key in mine):
                gone.add(other.key if one.key in mine else one.key)
        kept = tuple(mention for key, mention in rest.items() if key not in gone)
        events = (*patch.events, *own.events)
        if others := [key for key in gone if (rest[key].type, rest[key].spans) not in said]:
            message = f"left out: {counted(len(others), 'mention')} of {self.name} that names of the list overlap"
            events += (Event(step=self._names.name, kind="note", code="overlap", message=message),)
        return msgspec.structs.replace(patch, add=(*own.add, *kept), events=events)

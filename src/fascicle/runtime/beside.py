"""A predictor with another one beside it, whose mentions are added to its own."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from fascicle.core.document import Document, Patch
from fascicle.runtime.linked import Keep, all_of
from fascicle.runtime.wrapped import Wrapped
from fascicle.text.annotator import Annotator


class Beside(Wrapped):
    """What two predictors find; each keeps its source."""

    def __init__(self, predictor: Annotator, other: Annotator, *, keep: Keep = all_of) -> None:
        """Takes the predictor, which gives the name, the one beside it, and what is kept of the links of that one."""
        super().__init__(predictor)
        self._other, self._keep = other, keep
        self.gives = predictor.gives | other.gives

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources of both."""
        return (*self._predictor.sources, *self._other.sources)

    @property
    def types(self) -> tuple[str, ...]:
        """Types of both."""
        return tuple(dict.fromkeys((*self._predictor.types, *self._other.types)))

    @property
    def fingerprint(self) -> str:
        """Fingerprints of both."""
        return f"{self._predictor.fingerprint} {self._other.fingerprint}"

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions and events of both for each document; see `Annotator.predict`."""
        pairs = zip(self._predictor.predict(documents), self._other.predict(documents), strict=True)
        return [self._joined(first, second) for first, second in pairs]

    def _joined(self, first: Patch, second: Patch) -> Patch:
        added = (msgspec.structs.replace(one, links=self._keep(one.links)) for one in second.add)
        return msgspec.structs.replace(first, add=(*first.add, *added), events=(*first.events, *second.events))

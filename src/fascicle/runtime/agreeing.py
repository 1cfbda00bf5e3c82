"""A predictor whose mentions of some types stay only if a second model has them too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from fascicle.core.document import Document, Event, Mention, Patch
from fascicle.core.mention import PlacedSpans
from fascicle.core.wording import plural
from fascicle.errors import UsageError
from fascicle.runtime.choice import unknown_type
from fascicle.runtime.wrapped import WrappedPredictor
from fascicle.text.annotator import Annotator

_FIRST: Final = "biomed"
_SECOND: Final = "biomed-fast"


class AgreedPredictor(WrappedPredictor):
    """Predictor whose mentions of some types stay only if a second model has a mention of the
    same type there, whose characters it shares.

    The answer of the second model includes what its own rules add, such as formulas and symbols
    behind species: mentions that both models add by the same rule confirm each other.
    """

    def __init__(self, predictor: Annotator, second: Annotator, types: Sequence[str]) -> None:
        """Checks the types.

        Args:
            predictor: finds the mentions.
            second: confirms them; both have the types.
            types: whose mentions are confirmed; others stay as they are.

        Raises:
            UsageError: a type that one of the two does not look for.
        """
        for model in (predictor, second):
            if missing := [name for name in types if name not in model.types]:
                raise UsageError(unknown_type(missing[0], model))
        super().__init__(predictor)
        self._second = second
        self._types = frozenset(types)

    @property
    def part(self) -> str:
        """The second model and the types that it confirms."""
        return f"confirm {', '.join(sorted(self._types))} by {self._second.name}"

    @property
    def apart(self) -> tuple[str, ...]:
        """Types that the predictor keeps apart."""
        return self._predictor.apart

    @property
    def fingerprint(self) -> str:
        """Fingerprints of both, and the types."""
        own = f"{sorted(self._types)} by {self._second.fingerprint}"
        return f"{self._predictor.fingerprint} confirmed {own}"

    def reason_to_drop(self, mention: Mention, mentions: Sequence[Mention]) -> str:
        """Names the second model."""
        return f"{self._second.name} has no {mention.type} there"

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions and events for each document; see `Annotator.predict`."""
        documents = list(documents)
        patches = zip(
            self._predictor.predict(documents), self._second.predict(documents), strict=True
        )
        return [self._confirm(patch, other) for patch, other in patches]

    def _confirm(self, patch: Patch, other: Patch) -> Patch:
        places = {
            name: PlacedSpans([span for m in other.add if m.type == name for span in m.spans])
            for name in self._types
        }
        confirmed = tuple(
            mention
            for mention in patch.add
            if mention.type not in places
            or any(any(places[mention.type].overlapping(span)) for span in mention.spans)
        )
        if not (count := len(patch.add) - len(confirmed)):
            return patch
        event = Event(
            step="choose",
            kind="note",
            code="not-confirmed",
            message=f"left out: {plural(count, 'mention')} that {self._second.name} does not have",
        )
        return msgspec.structs.replace(patch, add=confirmed, events=(*patch.events, event))


def confirm_types(
    predictor: Annotator, *, types: Sequence[str], open_model: Callable[[str], Annotator]
) -> Annotator:
    """Returns the predictor whose mentions of some types ``biomed-fast`` confirms, or ``biomed`` if
    it is ``biomed-fast`` itself.

    Args:
        predictor: finds the mentions.
        types: of mentions that are confirmed.
        open_model: opens a shipped model by its name.

    Raises:
        UsageError: see `AgreedPredictor`.
    """
    is_second = predictor.name.partition("@")[0] == _SECOND
    return AgreedPredictor(predictor, open_model(_FIRST if is_second else _SECOND), types)

"""Selection of the mentions that a predictor returns: corrected ends of names, chosen types,
scores above a limit.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import msgspec
from msgspec.structs import replace

from fascicle.core.document import Document, Event, Mention, Patch
from fascicle.core.tags import SCHEMES
from fascicle.core.wording import plural
from fascicle.errors import UsageError
from fascicle.runtime.predictor import ModelPredictor
from fascicle.runtime.ruled import RuledPredictor
from fascicle.runtime.wrapped import OwnNamesPredictor, WrappedPredictor
from fascicle.settings.decision import Ends
from fascicle.text.annotator import Annotator, Tagged

_STEP = "choose"
Confirm = Callable[[Annotator], Annotator]


def filter_answers(
    predictor: Annotator,
    *,
    also: Sequence[Annotator] = (),
    confirm: Confirm | None = None,
    ends: Ends | None = None,
    only: Sequence[str] = (),
    threshold: float | Mapping[str, float] = 0.0,
    beside: Sequence[str] = (),
) -> Annotator:
    """Returns the predictor with the user's choices applied, or itself without any.

    Args:
        predictor: finds the mentions.
        also: names that answer before it, see `OwnNamesPredictor`; of several the first.
        confirm: returns a predictor whose mentions a second model confirms, see
            `fascicle.runtime.agreeing.AgreedPredictor`.
        ends: see `with_end_rule`; ``"corpus"`` asks for the types that a model keeps apart too.
        only: types to keep; by default all that the predictor does not keep apart.
        threshold: see `FilteredPredictor`.
        beside: see `FilteredPredictor`.

    Raises:
        UsageError: a threshold for a type that is not given out; see also `with_end_rule` and
            `FilteredPredictor`.
    """
    predictor = with_end_rule(predictor, ends)
    hidden = (
        ()
        if ends == "corpus" and not only
        else [kind for kind in predictor.apart if kind not in only]
    )
    if hidden and isinstance(predictor, ModelPredictor):
        predictor = predictor.hiding(hidden)
    predictor = confirm(predictor) if confirm else predictor
    predictor = reduce(OwnNamesPredictor, reversed(also), predictor)
    least = threshold if isinstance(threshold, Mapping) else {}
    if silent := next((kind for kind in hidden if kind in least and kind in predictor.apart), None):
        raise UsageError(
            f"{predictor.name} gives the type {silent!r} out only if it is asked for, so that "
            "its threshold does "
            "nothing; name all types that you want with only, or leave this threshold out"
        )
    if hidden and not only:
        only = tuple(kind for kind in predictor.types if kind not in predictor.apart)
    return (
        FilteredPredictor(predictor, only=only, threshold=threshold, beside=beside)
        if only or threshold
        else predictor
    )


def with_end_rule(predictor: Annotator, ends: Ends | None) -> Annotator:
    """Returns the same predictor with another rule for the ends of names.

    Args:
        predictor: a model with a decision of documents, or an ensemble with one of its own.
        ends: for all types; ``None`` leaves the predictor as it is.

    Raises:
        UsageError: another predictor, which has no such choice.
    """
    if ends is None:
        return predictor
    if isinstance(predictor, RuledPredictor) and (rules := predictor.rules.document):
        return predictor.with_document(rules.with_ends(ends))
    raise UsageError(
        f"{predictor.name} has no decision for documents, so it has no choice {ends!r}; leave out "
        "ends, or give a model with such a decision"
    )


class FilteredPredictor(WrappedPredictor):
    """A predictor that leaves out a part of what another one finds; an event counts what was
    left out.
    """

    def __init__(
        self,
        predictor: Annotator,
        *,
        only: Sequence[str] = (),
        threshold: float | Mapping[str, float] = 0.0,
        beside: Sequence[str] = (),
    ) -> None:
        """Checks the choice.

        Args:
            predictor: finds the mentions.
            only: types to keep; all by default.
            threshold: mentions with a lower score are left out; those without a score stay. One
                number, or one for each of some types.
            beside: types that ``only`` may name too, since something beside this predictor finds
                them.

        Raises:
            UsageError: a type that the predictor does not look for, or a score outside 0 to 1.
        """
        least = (
            threshold
            if isinstance(threshold, Mapping)
            else dict.fromkeys(predictor.types, threshold)
        )
        for name in (*only, *least):
            if name not in (*predictor.types, *beside):
                raise UsageError(unknown_type(name, predictor))
        if wrong := next((value for value in least.values() if not 0 <= value <= 1), None):
            raise UsageError(f"the threshold {wrong} is not allowed; scores are between 0 and 1")
        super().__init__(predictor)
        self._only = frozenset(only)
        self._least = dict(least)
        self._limit = (
            f"{threshold:g}" if not isinstance(threshold, Mapping) else "the threshold of its type"
        )

    @property
    def types(self) -> tuple[str, ...]:
        """The chosen types, in the order of the predictor."""
        return tuple(kind for kind in self._predictor.types if not self._only or kind in self._only)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the predictor and of the choice."""
        return f"{self._predictor.fingerprint} {sorted(self._only)} {sorted(self._least.items())!r}"

    @property
    def part(self) -> str:
        """The types and the lowest scores that are kept."""
        types = ", ".join(sorted(self._only))
        by_type = {name: score for name, score in self._least.items() if score}
        least = ", ".join(f"{name} {score:g}" for name, score in by_type.items())
        if len(set(by_type.values())) == 1 and len(by_type) == len(self._predictor.types):
            least = f"{next(iter(by_type.values())):g}"
        return "keep" + (f" {types}" if types else "") + (f" from {least}" if least else "")

    def reason_to_drop(self, mention: Mention, mentions: Sequence[Mention]) -> str:
        """Names the type or the score."""
        if self._only and mention.type not in self._only:
            return f"the type {mention.type} was not chosen"
        return f"its score {mention.score:.3f} is below {self._least[mention.type]:g}"

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions and events for each document; see `Annotator.predict`."""
        if not self.types:  # all that is asked for comes from beside it
            return [Patch() for _ in documents]
        return list(map(self._choose, self._predictor.predict(documents)))

    def tag(self, documents: Sequence[Document]) -> list[Tagged]:
        """Tags as the predictor does, for the chosen types; the lowest score applies to mentions
        only.
        """
        width = SCHEMES[self.tag_space.scheme].width
        every = self._predictor.types
        columns = [width * every.index(kind) + at for kind in self.types for at in range(width)]
        return [
            replace(
                answer,
                patch=self._choose(answer.patch),
                probabilities=answer.probabilities[:, columns],
            )
            for answer in self._predictor.tag(documents)
        ]

    def _choose(self, patch: Patch) -> Patch:
        typed = tuple(
            mention for mention in patch.add if not self._only or mention.type in self._only
        )
        sure = tuple(
            mention
            for mention in typed
            if mention.score is None or mention.score >= self._least.get(mention.type, 0)
        )
        other_types = sum(1 for mention in patch.add if mention.type not in self._only)
        counts = {
            "other-type": (other_types if self._only else 0, "of another type than was asked for"),
            "low-score": (len(typed) - len(sure), f"with a score below {self._limit}"),
        }
        events = tuple(
            Event(
                step=_STEP,
                kind="note",
                code=code,
                message=f"left out: {plural(count, 'mention')} {what}",
            )
            for code, (count, what) in counts.items()
            if count
        )
        return msgspec.structs.replace(patch, add=sure, events=patch.events + events)


def unknown_type(name: str, predictor: Annotator) -> str:
    """Returns the message for a type that a predictor does not look for, with the nearest one."""
    by_lower = {kind.lower(): kind for kind in predictor.types}
    near = difflib.get_close_matches(name.lower(), list(by_lower), n=1)
    hint = f" (did you mean {by_lower[near[0]]!r}?)" if near else ""
    types = ", ".join(predictor.types[:20]) + (", ..." if len(predictor.types) > 20 else "")
    return f"{predictor.name} does not look for the type {name!r}{hint}; its types are {types}"

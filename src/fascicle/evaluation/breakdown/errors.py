"""Every false positive and every false negative in exactly one class, by what it touches on the
other side.

Let a *partner* of a false positive be a gold mention of the document that shares a character with
it, and a partner of a false negative such a predicted mention; a partner may itself be right. An
*error* is a false positive or a false negative. The classes, of which the first that fits is taken:

1. **type**: a partner has the same spans (and so another type).
2. **merged**: a false positive that at least two disjoint false negatives of its type lie properly
   inside of; and these false negatives.
3. **split**: a false negative that at least two disjoint false positives of its type lie properly
   inside of; and these false positives.
4. **boundary**: a partner has the same type. The deciding one says on which side: **boundary-left**
   if only the first characters differ, **boundary-right** if only the last, **boundary-both**, or
   **boundary-inside** if neither does, for a discontinuous mention with other fragments.
5. **boundary-and-type**: there is a partner, of another type and with other spans.
6. **spurious** (of false positives), **missed** (of false negatives): there is no partner.

Of several partners that would do, one decides: errors before mentions that are right, then the one
with the largest share of common characters (intersection over union), then the first in the text.

The two sides are judged separately: a pair of one false positive and one false negative need not
have one class, as when the false negative has a nearer partner. With ``TE`` for class 1, ``BE`` for
classes 2 to 5 and ``SPURIOUS`` or ``MISSED`` for class 6, ``TE + BE + SPURIOUS = FP`` and ``TE + BE
+ MISSED = FN``, for each type of the mentions too.

What shares a *character* is a partner, not what shares a token: there need be no tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from fascicle.core.document import Mention
from fascicle.core.mention import Fragments, fragments_overlap
from fascicle.evaluation.scoring.rules import (
    count_characters,
    find_overlapping,
    properly_inside,
    shared_characters,
)

_Side = Literal["fp", "fn"]
_ALONE: Final = ("spurious", "missed")
BOUNDARY: Final = ("boundary-left", "boundary-right", "boundary-both", "boundary-inside")
CLASSES: Final = ("type", "merged", "split", *BOUNDARY, "boundary-and-type", *_ALONE)
_OTHER: Final[Mapping[_Side, _Side]] = MappingProxyType({"fp": "fn", "fn": "fp"})
# A false positive that holds several false negatives has merged them; a false negative that holds
# some was split.
_HOLDERS: Final[tuple[tuple[str, _Side], ...]] = (("merged", "fp"), ("split", "fn"))


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """One false positive or false negative.

    Attributes:
        document: its id.
        side: ``"fp"`` or ``"fn"``.
        kind: one of ``CLASSES``.
        mention: the predicted mention of a false positive, the gold mention of a false negative.
        partner: the mention of the other side that decided the class; ``None`` if there is none.
        partner_right: whether the partner is itself a true positive, so that the mistake is one
            beside a mention that was found: nothing that is wrong on the other side explains it.
    """

    document: str
    side: _Side
    kind: str
    mention: Mention
    partner: Mention | None = None
    partner_right: bool = False

    @property
    def score(self) -> float | None:
        """Score of the predicted mention that causes the error; ``None`` without such a mention
        or without a score.
        """
        predicted = self.mention if self.side == "fp" else self.partner
        return None if predicted is None else predicted.score


def distinct(mentions: Iterable[Mention]) -> list[Mention]:
    """Returns one mention for each type and spans: the one with the highest score, in order of
    position.
    """
    best: dict[tuple[Fragments, str], Mention] = {}
    for mention in mentions:
        key = (mention.spans, mention.type)
        before = best.get(key)
        if before is None or (
            mention.score is not None and (before.score is None or mention.score > before.score)
        ):
            best[key] = mention
    return [best[key] for key in sorted(best)]


def find_mistakes(
    gold: Mapping[str, Iterable[Mention]], predicted: Mapping[str, Iterable[Mention]]
) -> list[Mistake]:
    """Classifies what went wrong.

    Args:
        gold: document id -> its gold mentions.
        predicted: the same of one system; a document without an entry has none.

    Returns:
        First the false positives and then the false negatives of each document, in order of place.
    """
    mistakes: list[Mistake] = []
    for identifier, mentions in gold.items():
        mistakes += _Page(
            identifier, distinct(mentions), distinct(predicted.get(identifier, ()))
        ).mistakes()
    return mistakes


class _Layer:
    """The mentions of one side of a document, and which of them are right."""

    def __init__(self, mentions: list[Mention], opposite: list[Mention]) -> None:
        self.mentions = mentions
        self.spans = [m.spans for m in mentions]
        keys = {(m.type, m.spans) for m in opposite}
        self.right = [(m.type, m.spans) in keys for m in mentions]


class _Page:
    """Both sides of a document, what touches what, and what was merged or split."""

    def __init__(self, identifier: str, gold: list[Mention], predicted: list[Mention]) -> None:
        self._id = identifier
        self._layers: dict[_Side, _Layer] = {
            "fp": _Layer(predicted, gold),
            "fn": _Layer(gold, predicted),
        }
        self._partners: dict[_Side, list[list[int]]] = {
            "fp": find_overlapping(self._layers["fp"].spans, self._layers["fn"].spans),
            "fn": [[] for _ in gold],
        }
        for number, partners in enumerate(self._partners["fp"]):
            for partner in partners:
                self._partners["fn"][partner].append(number)
        self._held = {side: self._holders(side) for side in self._layers}

    def mistakes(self) -> Iterator[Mistake]:
        """Returns all errors of the document."""
        for side, layer in self._layers.items():
            opposite = self._layers[_OTHER[side]]
            for at, mention in enumerate(layer.mentions):
                if layer.right[at]:
                    continue
                kind, partner = self._classified(side, at)
                yield Mistake(
                    document=self._id,
                    side=side,
                    kind=kind,
                    mention=mention,
                    partner=None if partner is None else opposite.mentions[partner],
                    partner_right=partner is not None and opposite.right[partner],
                )

    def _holders(self, side: _Side) -> dict[int, set[int]]:
        """Errors of a side that at least two disjoint errors of the other side and their type lie
        properly inside of.

        Returns:
            Place of the holder -> places of those inside, only those that another one inside is
            disjoint from.
        """
        layer, opposite = self._layers[side], self._layers[_OTHER[side]]
        holders: dict[int, set[int]] = {}
        for number, partners in enumerate(self._partners[side]):
            if layer.right[number] or len(partners) < 2:
                continue
            inside = [
                o
                for o in partners
                if not opposite.right[o]
                and opposite.mentions[o].type == layer.mentions[number].type
                and properly_inside(opposite.spans[o], layer.spans[number])
            ]
            apart = _find_disjoint([opposite.spans[o] for o in inside])
            if any(apart):
                holders[number] = {o for o, is_apart in zip(inside, apart, strict=True) if is_apart}
        return holders

    def _classified(self, side: _Side, number: int) -> tuple[str, int | None]:
        """Returns the class of an error, and the partner that decides it."""
        layer, opposite = self._layers[side], self._layers[_OTHER[side]]
        spans, type_ = layer.spans[number], layer.mentions[number].type
        # A partner that is itself wrong explains more than one that is right; then the nearest,
        # then the first.
        near = sorted(
            self._partners[side][number],
            key=lambda o: (opposite.right[o], -_nearness(spans, opposite.spans[o]), o),
        )
        if not near:
            return ("spurious" if side == "fp" else "missed"), None
        for other in near:
            if opposite.spans[other] == spans:
                return "type", other
        for kind, holder in _HOLDERS:
            holders = self._held[holder]
            candidates = (
                holders.get(number, set())
                if side == holder
                else {o for o in near if number in holders.get(o, ())}
            )
            if candidates:
                return kind, next(o for o in near if o in candidates)
        for other in near:
            if opposite.mentions[other].type == type_:
                return _boundary(spans, opposite.spans[other]), other
        return "boundary-and-type", near[0]


def _find_disjoint(mentions: Sequence[Fragments]) -> list[bool]:
    """Returns for each mention whether another one shares no character with it."""
    if mentions and all(len(spans) == 1 for spans in mentions):
        first_end = min(spans[0][1] for spans in mentions)
        last_start = max(spans[0][0] for spans in mentions)
        return [spans[0][0] >= first_end or spans[0][1] <= last_start for spans in mentions]
    return [any(not fragments_overlap(a, b) for b in mentions) for a in mentions]


def _boundary(spans: Fragments, partner: Fragments) -> str:
    starts_differ, ends_differ = spans[0][0] != partner[0][0], spans[-1][1] != partner[-1][1]
    if starts_differ and ends_differ:
        return "boundary-both"
    return (
        "boundary-left" if starts_differ else "boundary-right" if ends_differ else "boundary-inside"
    )


def _nearness(a: Fragments, b: Fragments) -> float:
    common = shared_characters(a, b)
    return common / (count_characters(a) + count_characters(b) - common)


def error_rates(mistakes: Iterable[Mistake], *, same_type: bool = False) -> dict[str, Any]:
    """Counts type and boundary errors as *bundling-learning* §4.3.2 does, each false positive at
    most once.

    The paper defines a type error as a predicted mention with the boundaries of a gold mention and
    another type, a boundary error as one that has more or fewer tokens than a gold mention, and
    divides their numbers by FP + FN. Three things to know before such rates are compared:

    * They are *shares* of the errors: a system with fewer errors can have higher rates. Read the
      counts beside them.
    * One mention with the wrong type is one false positive and one false negative, so the TE-Rate
      is at most 0.5 where no span has two types. The BE-Rate can be higher, as when one gold
      mention is split into three. Counted over pairs of mentions, as the paper may have done, one
      prediction over two gold mentions would count twice.
    * A boundary error here shares a character with a gold mention of any type, or only of its own
      type if ``same_type``.

    Args:
        mistakes: all of a system.
        same_type: a false positive that only touches gold mentions of other types is spurious.

    Returns:
        Ready for JSON: ``"type_errors"``, false positives with the spans of a gold mention of
        another type; ``"boundary_errors"``, others that share a character with a gold mention;
        ``"spurious"``, the remaining ones; ``"errors"``, FP + FN; ``"type_rate"`` and
        ``"boundary_rate"``, TE-Rate and BE-Rate from 0 to 1, or ``None`` without errors, with the
        reason under ``"undefined"``.
    """
    kinds = Counter((mistake.side, mistake.kind) for mistake in mistakes)
    wrong = Counter({kind: count for (side, kind), count in kinds.items() if side == "fp"})
    alone = wrong["spurious"] + (wrong["boundary-and-type"] if same_type else 0)
    typed, bounded, errors = wrong["type"], wrong.total() - wrong["type"] - alone, kinds.total()
    value: dict[str, Any] = {
        "type_errors": typed,
        "boundary_errors": bounded,
        "spurious": alone,
        "errors": errors,
    }
    if not errors:
        return value | {"type_rate": None, "boundary_rate": None, "undefined": "there is no error"}
    return value | {"type_rate": typed / errors, "boundary_rate": bounded / errors}

"""Mentions with their edges in order; of two that come to meet by that, one is left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from msgspec.structs import replace

from fascicle.core.document import Mention
from fascicle.core.lazy import cached_property
from fascicle.core.mention import PlacedMentions, Span, fragments_overlap
from fascicle.runtime.decoding.edges import neutral_span


def score_of(mention: Mention) -> float:
    """Returns the score of a mention; 1 for one without a score."""
    return 1.0 if mention.score is None else mention.score


def with_neutral_edges(text: str, mentions: Iterable[Mention]) -> dict[str, list[Mention]]:
    """Returns the mentions by type with their edges in order, better scores first.

    A mention without a name goes. Two that come to meet are joined if both together are one name,
    such as parts around ``-1,3-``; else the better one is left.

    Args:
        text: of the document, with plain characters.
        mentions: of any types; those in several pieces keep their edges.
    """
    layers: dict[str, _TypeLayer] = defaultdict(lambda: _TypeLayer(text))
    changes: list[tuple[Mention, Mention]] = []
    for mention in mentions:
        is_whole = len(mention.spans) == 1
        span = neutral_span(text, mention.spans[0], kind=mention.type) if is_whole else None
        if not is_whole or span == mention.spans[0]:
            layers[mention.type].keep(mention)
        elif span is not None:
            changes.append((mention, replace(mention, spans=(span,))))

    for before, after in sorted(changes, key=lambda change: _rank(change[1])):
        layers[after.type].add(before, after)
    return {kind: layer.ranked() for kind, layer in layers.items()}


class _TypeLayer:
    """Mentions of one type, each as it was and with its edges in order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._before: list[Mention] = []
        self._after: list[Mention] = []

    @cached_property
    def _places(self) -> PlacedMentions:
        return PlacedMentions(self._after)

    def keep(self, mention: Mention) -> None:
        """Takes a mention that stays as it is; all such come before the others."""
        self._before.append(mention)
        self._after.append(mention)

    def add(self, before: Mention, after: Mention) -> None:
        """Takes a mention with new edges, joins it with the one that it has come to meet, or
        leaves it out.
        """
        rivals = [at for at in self._places.beside(after) if self._come_to_meet(at, before, after)]
        if not rivals:
            self._places.put(len(self._after), after)
            self._before.append(before)
            self._after.append(after)
        elif len(rivals) == 1 and (whole := self._join(self._after[rivals[0]], after)):
            self._places.put(rivals[0], whole, before=self._after[rivals[0]])
            self._after[rivals[0]] = whole

    def ranked(self) -> list[Mention]:
        """Returns the mentions with their edges in order, better scores first."""
        return sorted(self._after, key=_rank)

    def _come_to_meet(self, at: int, before: Mention, after: Mention) -> bool:
        return fragments_overlap(after.spans, self._after[at].spans) and not fragments_overlap(
            before.spans, self._before[at].spans
        )

    def _join(self, mention: Mention, other: Mention) -> Mention | None:
        """Joins two mentions whose joint range is one name; ``None`` if it is none."""
        if len(mention.spans) > 1:
            return None
        span = min(mention.start, other.start), max(mention.end, other.end)
        is_name = neutral_span(self._text, span, kind=mention.type) == span
        return replace(mention, spans=(span,)) if is_name else None


def _rank(mention: Mention) -> tuple[float, tuple[Span, ...]]:
    return -score_of(mention), mention.spans

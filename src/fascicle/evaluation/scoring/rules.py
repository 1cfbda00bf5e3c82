"""Rules of matching: when a predicted and a gold mention of one document count as the same.

======  ==========================================  ===========================================
rule    a pair matches if it has                    elsewhere
======  ==========================================  ===========================================
strict  the same type and the same spans            S-F1 span (BINDER), seqeval and nervaluate
                                                    ``strict``
start   the same type and the same first character  S-F1 start (BINDER)
end     the same type and the same last character   S-F1 end (BINDER)
loose   the same type and a character in common     L-F1 (BINDER); nervaluate ``ent_type``, see
                                                    below
span    the same spans, whatever the types          nervaluate ``exact``
type    the same type, wherever it stands           ceiling of what better boundaries could give
======  ==========================================  ===========================================

**One to one.** Under every rule a mention matches at most one mention of the other side, and as
many pairs are made as possible: the true positives are the size of a maximum matching. So precision
and recall share one number of true positives, the order of mentions plays no part, and neither one
long prediction over many gold mentions nor many small ones inside one gold mention earns more than
once. nervaluate pairs greedily in the order of the predictions, so its ``ent_type`` counts at most
as many.

A pair that matches under ``strict`` matches under every rule, one under ``start`` or ``end`` also
under ``loose``, and one under ``loose`` also under ``type``; the true positives grow in that order.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from fascicle.core.document import GOLD, Document, Identity, Mention, identities
from fascicle.core.mention import Fragments, fragments_contain, fragments_overlap
from fascicle.errors import InputError


def join_touching(spans: Fragments) -> Fragments:
    """Joins fragments that touch, so that the same characters are in as few fragments as
    possible.
    """
    if len(spans) == 1:
        return spans
    parts = [spans[0]]
    for start, end in spans[1:]:
        if start == parts[-1][1]:
            parts[-1] = (parts[-1][0], end)
        else:
            parts.append((start, end))
    return tuple(parts)


def properly_inside(inner: Fragments, outer: Fragments) -> bool:
    """True if all characters of one mention belong to another mention that has more."""
    outer = join_touching(outer)
    return fragments_contain(outer, inner) and join_touching(inner) != outer


def find_overlapping(first: Sequence[Fragments], second: Sequence[Fragments]) -> list[list[int]]:
    """Finds the mentions of two lists that overlap.

    Takes the time of sorting, plus that of comparing each mention with those of the other side that
    are open where it starts.

    Args:
        first: spans of mentions of a document.
        second: spans of others.

    Returns:
        For each of the first, the places of those of the second that share a character with it, in
        rising order.
    """
    overlaps: list[list[int]] = [[] for _ in first]
    if not first or not second:
        return overlaps
    sides = (first, second)
    still_open: tuple[list[int], list[int]] = ([], [])
    for start, side, number in _starts(*sides):
        spans, opposite = sides[side][number], sides[1 - side]
        reaching = [place for place in still_open[1 - side] if opposite[place][-1][1] > start]
        still_open[1 - side][:] = reaching
        for place in reaching:
            if fragments_overlap(spans, opposite[place]):
                pair = (number, place) if side == 0 else (place, number)
                overlaps[pair[0]].append(pair[1])
        still_open[side].append(number)
    for places in overlaps:
        places.sort()
    return overlaps


def _starts(*sides: Sequence[Fragments]) -> list[tuple[int, int, int]]:
    """Returns the start, side and number of all mentions, in the order of the text."""
    return sorted(
        (spans[0][0], side, number)
        for side, mentions in enumerate(sides)
        for number, spans in enumerate(mentions)
    )


def shared_characters(a: Fragments, b: Fragments) -> int:
    """Counts the characters that two mentions share."""
    return sum(max(0, min(x[1], y[1]) - max(x[0], y[0])) for x in a for y in b)


def count_characters(spans: Fragments) -> int:
    """Counts the characters of a mention."""
    return sum(end - start for start, end in spans)


RuleName = Literal["strict", "start", "end", "loose", "span", "type"]

# Pairs with equal keys match. The first part is what they are counted under: the type, if the rule
# looks at it.
_KEYS: Final[Mapping[str, Callable[[str, Fragments], tuple[str, Hashable]]]] = MappingProxyType(
    {
        "strict": lambda type_, spans: (type_, spans),
        "start": lambda type_, spans: (type_, spans[0][0]),
        "end": lambda type_, spans: (type_, spans[-1][1]),
        "span": lambda _, spans: ("", spans),
        "type": lambda type_, _: (type_, None),
    }
)
RULES: Final[tuple[RuleName, ...]] = ("strict", "start", "end", "loose", "span", "type")
TITLES: Final = MappingProxyType(
    {rule: rule if rule in ("strict", "loose") else f"{rule} only" for rule in RULES}
)


def compares_types(rule: RuleName) -> bool:
    """True if only mentions of the same type match, so that there are counts per type."""
    return rule != "span"


def count_matches(
    gold: Collection[Identity], predicted: Collection[Identity], *, rule: RuleName
) -> Counter[str]:
    """Counts the pairs of mentions that match in one document.

    Args:
        gold: identities of the gold mentions, each once.
        predicted: the same of the predictions.
        rule: see the table above.

    Returns:
        Type -> pairs; for the rule ``"span"`` all pairs are under the empty string.
    """
    if rule == "loose":
        return _loose(gold, predicted)
    key = _KEYS[rule]
    sides = [Counter(key(type_, spans) for _, type_, spans in side) for side in (gold, predicted)]
    matches: Counter[str] = Counter()
    for (name, _), count in (sides[0] & sides[1]).items():
        matches[name] += count
    return matches


def _loose(gold: Collection[Identity], predicted: Collection[Identity]) -> Counter[str]:
    sides: tuple[dict[str, list[Fragments]], dict[str, list[Fragments]]] = ({}, {})
    for side, mentions in zip(sides, (gold, predicted), strict=True):
        for _, type_, spans in mentions:
            side.setdefault(type_, []).append(spans)
    pairs = {
        type_: overlapping_pairs(spans, sides[1].get(type_, []))
        for type_, spans in sides[0].items()
    }
    return Counter({type_: count for type_, count in pairs.items() if count})


def overlapping_pairs(first: Sequence[Fragments], second: Sequence[Fragments]) -> int:
    """Returns the most pairs, one from each side, that share a character and use no mention twice.

    Args:
        first: spans of mentions.
        second: spans of others.
    """
    if not first or not second:
        return 0
    if all(len(spans) == 1 for spans in (*first, *second)):
        return _sweep(first, second)
    return _augment(first, second)


def _sweep(first: Sequence[Fragments], second: Sequence[Fragments]) -> int:
    """Matches mentions without gaps from left to right, in ``O(n log n)``.

    Of the mentions left, take the one that ends first. All it overlaps reach over its last
    character, so of these, one that ends earlier overlaps nothing that one that ends later does
    not: pairing it with the one that ends first is never worse than another choice.
    """
    ends = [_first_ends(first), _first_ends(second)]
    by_start = deque(_starts(first, second))
    by_end = sorted(by_start, key=lambda mention: ends[mention[1]][mention[2]])
    waiting: list[list[tuple[int, int]]] = [[], []]
    used: list[set[int]] = [set(), set()]
    pairs = 0
    for _, side, number in by_end:
        while by_start and by_start[0][0] < ends[side][number]:
            _, other_side, other = by_start.popleft()
            heapq.heappush(waiting[other_side], (ends[other_side][other], other))
        if number in used[side]:
            continue
        used[side].add(number)
        partner = _first_free(waiting[1 - side], used[1 - side])
        if partner is not None:
            used[1 - side].add(partner)
            pairs += 1
    return pairs


def _first_ends(mentions: Sequence[Fragments]) -> list[int]:
    """Returns where the first fragment of each mention ends."""
    return [spans[0][1] for spans in mentions]


def _first_free(waiting: list[tuple[int, int]], used: Collection[int]) -> int | None:
    """Takes mentions from a heap until one has no partner; returns its number."""
    while waiting:
        _, number = heapq.heappop(waiting)
        if number not in used:
            return number
    return None


def _augment(first: Sequence[Fragments], second: Sequence[Fragments]) -> int:
    """Matches any mentions: a maximum matching by augmenting paths, breadth first."""
    edges = find_overlapping(first, second)
    partner: dict[int, int] = {}  # of the second side
    pairs = 0
    for root in range(len(first)):
        came_from: dict[int, int] = {}  # of the second side -> from which of the first
        before: dict[int, int] = {}  # of the first side -> over which of the second
        queue = deque([root])
        end = None
        while queue and end is None:
            at = queue.popleft()
            for other in edges[at]:
                if other in came_from:
                    continue
                came_from[other] = at
                if other not in partner:
                    end = other
                    break
                before[partner[other]] = other
                queue.append(partner[other])
        if end is None:
            continue
        pairs += 1
        step: int | None = end
        while step is not None:
            at = came_from[step]
            partner[step], step = at, before.get(at)
    return pairs


Surfaces = frozenset[tuple[str, str]]
_OF_TRAIN: Final = ("seen", "unseen")
SUBSETS: Final = (
    *_OF_TRAIN,
    "outermost",
    "inner",
    "nested",
    "same_span",
    "continuous",
    "discontinuous",
)


@dataclass(frozen=True, kw_only=True)
class Recall:
    """Recall on a subset of the gold.

    Attributes:
        gold: mentions of the subset.
        found: those among them that were predicted.
    """

    gold: int
    found: int

    @property
    def recall(self) -> float | None:
        """Recall from 0 to 1; ``None`` for an empty subset."""
        return self.found / self.gold if self.gold else None

    def as_dict(self) -> dict[str, float | int | None]:
        """Counts and recall, ready for JSON."""
        return {"gold": self.gold, "found": self.found, "recall": self.recall}


def gold_surfaces(documents: Iterable[Document]) -> Surfaces:
    """Returns the ``(surface, type)`` pairs of the gold of some documents, those of training."""
    return frozenset(
        (m.text_in(document.text), m.type) for document in documents for m in document.layer(GOLD)
    )


def _is_seen(mention: Mention, text: str, surfaces: Surfaces) -> bool:
    """True if a mention's surface and type occur in the training gold.

    Args:
        mention: of a document.
        text: of that document.
        surfaces: see ``gold_surfaces``.
    """
    return (mention.text_in(text), mention.type) in surfaces


def nested_spans(mentions: Iterable[Mention]) -> tuple[frozenset[Fragments], frozenset[Fragments]]:
    """Returns the spans of those mentions that lie properly inside another of them, and of those
    that hold another.

    Takes the time of sorting, plus that of comparing each mention with those that are open where it
    starts.
    """
    spellings: dict[Fragments, set[Fragments]] = {}
    for mention in mentions:
        spellings.setdefault(join_touching(mention.spans), set()).add(mention.spans)
    inner: set[Fragments] = set()
    outer: set[Fragments] = set()
    still_open: list[Fragments] = []
    for spans in sorted(spellings, key=lambda spans: (spans[0][0], -spans[-1][1])):
        still_open = [other for other in still_open if other[-1][1] > spans[0][0]]
        for other in still_open:
            # The second case: the same ends, sorted first, but with gaps.
            for inside, around in ((spans, other), (other, spans)):
                if properly_inside(inside, around):
                    inner |= spellings[inside]
                    outer |= spellings[around]
        still_open.append(spans)
    return frozenset(inner), frozenset(outer)


def _same_spans(mentions: Sequence[Mention]) -> frozenset[Fragments]:
    """Returns the spans whose characters are those of several mentions, of different types."""
    types: dict[Fragments, set[str]] = {}
    for mention in mentions:
        types.setdefault(join_touching(mention.spans), set()).add(mention.type)
    return frozenset(
        mention.spans for mention in mentions if len(types[join_touching(mention.spans)]) > 1
    )


def subset_recall(
    documents: Iterable[Document],
    predicted: Mapping[str, Iterable[Mention]],
    *,
    known: Surfaces | None,
) -> dict[str, Recall]:
    """Computes recall on every subset of the gold.

    A gold mention is **seen** if its ``(surface, type)`` is that of a gold mention of the training
    documents, else **unseen**. The surface is the text of the mention as it stands, case included;
    the fragments of a discontinuous mention are joined by one space.

    It is **inner** if all its characters belong to another gold mention of the document that has
    more of them, of whatever type; else it is **outermost**. A mention that is inner, or that holds
    an inner one, is **nested**. Two mentions of different types over the same characters are not
    inside each other; they are **same span**.

    A mention of several fragments is **discontinuous**, else **continuous**.

    A mention is found if document, type and every offset are the same. Only recall is defined: a
    false prediction belongs to no subset of the gold.

    Args:
        documents: with gold mentions.
        predicted: document id -> the mentions of one system; an empty entry where it found none.
        known: of the training documents, see ``gold_surfaces``; ``None`` leaves out seen and
            unseen.

    Returns:
        ``"seen"``, ``"unseen"``, ``"outermost"``, ``"inner"``, ``"nested"``, ``"same_span"``,
        ``"continuous"`` and ``"discontinuous"`` -> counts. Seen and unseen make up the gold, and so
        do outermost and inner, and continuous and discontinuous.

    Raises:
        InputError: a document without an entry among the predictions.
    """
    counts = {name: [0, 0] for name in SUBSETS if known is not None or name not in _OF_TRAIN}
    for document in documents:
        if document.id not in predicted:
            raise InputError(
                f"the predictions lack the document {document.id!r}; give an empty entry if it has "
                "none"
            )
        predicted_keys = identities(document.id, predicted[document.id])
        for mention, names in _subsets(document, known):
            hit = (document.id, mention.type, mention.spans) in predicted_keys
            for name in names:
                counts[name][0] += 1
                counts[name][1] += hit
    return {
        name: Recall(gold=gold, found=predicted_keys)
        for name, (gold, predicted_keys) in counts.items()
    }


def _subsets(document: Document, surfaces: Surfaces | None) -> Iterator[tuple[Mention, list[str]]]:
    """Yields every gold mention with the names of its subsets."""
    gold = document.layer(GOLD)
    (inner, outer), same = nested_spans(gold), _same_spans(gold)
    for mention in gold:
        names = (
            []
            if surfaces is None
            else ["seen" if _is_seen(mention, document.text, surfaces) else "unseen"]
        )
        names.append("inner" if mention.spans in inner else "outermost")
        if mention.spans in inner or mention.spans in outer:
            names.append("nested")
        if mention.spans in same:
            names.append("same_span")
        names.append("discontinuous" if len(mention.spans) > 1 else "continuous")
        yield mention, names

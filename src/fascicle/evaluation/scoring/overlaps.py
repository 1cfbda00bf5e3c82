"""Which mentions of two layers of a document touch, and which lie inside which, as sets of characters."""

from __future__ import annotations

from collections.abc import Sequence

from fascicle.core.spans import Fragments, fragments_contain, fragments_overlap


def joined(spans: Fragments) -> Fragments:
    """The same characters in as few fragments as possible: one that begins where another ends goes on with it."""
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
    """Whether all characters of one mention belong to another that has more."""
    outer = joined(outer)
    return fragments_contain(outer, inner) and joined(inner) != outer


def touching(first: Sequence[Fragments], second: Sequence[Fragments]) -> list[list[int]]:
    """What overlaps what.

    Takes the time of sorting, plus that of comparing each mention with those of the other side that are open where it
    starts.

    Args:
        first: spans of mentions of a document.
        second: spans of others.

    Returns:
        For each of the first, the places of those of the second that share a character with it, in rising order.
    """
    found: list[list[int]] = [[] for _ in first]
    if not first or not second:
        return found
    both = sorted(
        [(spans[0][0], 0, at) for at, spans in enumerate(first)]
        + [(spans[0][0], 1, at) for at, spans in enumerate(second)]
    )
    still_open: tuple[list[int], list[int]] = ([], [])
    sides = (first, second)
    for start, side, at in both:
        spans = sides[side][at]
        other = sides[1 - side]
        still_open[1 - side][:] = [o for o in still_open[1 - side] if other[o][-1][1] > start]
        for o in still_open[1 - side]:
            if fragments_overlap(spans, other[o]):
                found[at if side == 0 else o].append(o if side == 0 else at)
        still_open[side].append(at)
    for places in found:
        places.sort()
    return found


def overlap(a: Fragments, b: Fragments) -> int:
    """How many characters two mentions share."""
    return sum(max(0, min(x[1], y[1]) - max(x[0], y[0])) for x in a for y in b)


def size(spans: Fragments) -> int:
    """How many characters a mention has."""
    return sum(end - start for start, end in spans)

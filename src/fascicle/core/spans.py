"""Span algebra: half-open ranges of Unicode code points, and fragments of them.

A *span* is ``(start, end)`` with ``0 <= start < end``; adjacent spans (``(0, 5)`` and ``(5, 8)``) do not overlap. The
spans of one mention are a sorted tuple of disjoint spans, its *fragments*; most mentions have one.
"""

from __future__ import annotations

from collections.abc import Iterable

from fascicle.core.wording import counted

Span = tuple[int, int]
Fragments = tuple[Span, ...]


def overlaps(a: Span, b: Span) -> bool:
    """True if two spans share at least one character (symmetric; adjacent spans do not overlap)."""
    return a[0] < b[1] and b[0] < a[1]


def contains(outer: Span, inner: Span) -> bool:
    """True if ``inner`` lies wholly inside ``outer`` (a span contains itself)."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def fragments_overlap(a: Fragments, b: Fragments) -> bool:
    """True if any fragment of ``a`` overlaps any fragment of ``b``."""
    return any(overlaps(x, y) for x in a for y in b)


def fragments_contain(outer: Fragments, inner: Fragments) -> bool:
    """True if every fragment of ``inner`` lies inside some fragment of ``outer``."""
    return all(any(contains(o, i) for o in outer) for i in inner)


def check_fragments(fragments: Fragments) -> None:
    """Raises ``ValueError`` unless the fragments are sorted, disjoint, not empty and not negative."""
    if not fragments:
        raise ValueError("a mention needs at least one span")
    previous = 0
    for start, end in fragments:
        if start < previous or end <= start:
            raise ValueError(f"spans {fragments} are not allowed: each must be 0 <= start < end, sorted and disjoint")
        previous = end


def are_tuples(fragments: object) -> bool:
    """True if fragments are tuples, which sets of mentions need; lists (as from JSON) cannot be hashed."""
    return isinstance(fragments, tuple) and all(isinstance(span, tuple) for span in fragments)


def check_ranges(ranges: Iterable[Span], *, length: int, name: str) -> None:
    """Raises ``ValueError`` unless ranges are sorted, disjoint, not empty and inside ``length`` characters."""
    previous = 0
    for start, end in ranges:
        if not previous <= start < end <= length:
            raise ValueError(
                f"{name} ({start}, {end}) is not allowed in a text of {counted(length, 'character')}: "
                "ranges must be sorted, disjoint, not empty and inside the text"
            )
        previous = end

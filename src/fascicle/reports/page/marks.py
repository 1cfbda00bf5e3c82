"""A text with mentions marked in it: a line below each, further down the more it holds, and its type behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from fascicle.core.spans import Fragments, Span
from fascicle.reports.page.html import Html, join, tag, text, user

_RIGHT: Final = "✓"
_WRONG: Final = "✗"


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A mention to mark.

    Attributes:
        spans: in characters of the text; what lies outside it is cut off.
        type: of the mention.
        right: whether the other side has the same mention; ``None`` where that is not known.
        focus: whether it is the one that the text is shown for, ``"mention"``, or what is on the other side of it,
            ``"partner"``; else empty.
    """

    spans: Fragments
    type: str
    right: bool | None = None
    focus: str = ""


@dataclass(frozen=True, kw_only=True)
class _Placed:
    """A mark with its fragments inside the text, and how far below the text its line is."""

    mark: Mark
    spans: tuple[Span, ...]
    lane: int
    number: int  # among the discontinuous ones, from 1; 0 for others

    @property
    def hull(self) -> Span:
        return self.spans[0][0], self.spans[-1][1]


def marked(shown: str, marks: Sequence[Mark]) -> Html:
    """A text with mentions marked in it.

    A mention has a line below its words; one that lies inside another is nearer to the text. The fragments of a
    discontinuous mention have a dotted line between them, and tags that number the mention and its parts.

    Args:
        shown: the text.
        marks: the mentions, in any order.

    Returns:
        The text, whose words and their order are unchanged, with tags between them.
    """
    placed = _lanes(shown, marks)
    cuts = sorted({0, len(shown), *(end for one in placed for span in one.spans for end in span)})
    parts: list[Html] = []
    for start, end in pairwise(cuts):
        over = [one for one in placed if one.hull[0] <= start and end <= one.hull[1]]
        parts.append(_lined(text(shown[start:end]), over, start))
        ending = [_tag(one, end) for one in over if any(span[1] == end for span in one.spans)]
        # A mention that goes on goes on below the tags, too.
        parts.append(_lined(join(*ending), [one for one in over if one.hull[1] > end], end))
    deepest = max((one.lane for one in placed), default=-1)
    return tag("span", *parts, class_="marked", style=f"--lanes:{deepest + 1}")


def _lanes(shown: str, marks: Sequence[Mark]) -> list[_Placed]:
    """Short mentions next to the text, and below each what overlaps it and is longer."""
    placed: list[_Placed] = []
    discontinuous = 0
    for mark in sorted(marks, key=lambda m: (m.spans[-1][1] - m.spans[0][0], m.spans, m.type)):
        spans = tuple((max(a, 0), min(b, len(shown))) for a, b in mark.spans if b > 0 and a < len(shown))
        if not spans:
            continue
        low, high = spans[0][0], spans[-1][1]
        below = [one.lane for one in placed if one.hull[0] < high and low < one.hull[1]]
        discontinuous += len(mark.spans) > 1
        number = discontinuous if len(mark.spans) > 1 else 0
        placed.append(_Placed(mark=mark, spans=spans, lane=max(below, default=-1) + 1, number=number))
    return placed


def _lined(inner: Html, over: Sequence[_Placed], at: int) -> Html:
    """Words or tags with the lines of some mentions below them, as those are at one character."""
    if not inner:
        return inner
    for one in over:
        inside = any(low <= at < high for low, high in one.spans)
        kind = "line" if inside else "gap"
        focus = f" {one.mark.focus}" if one.mark.focus and inside else ""
        inner = tag("span", inner, class_=f"{kind}{focus}", style=f"--lane:{one.lane}")
    return inner


def _tag(one: _Placed, end: int) -> Html:
    """What stands behind a fragment: type, whether it is right, and which part of which mention it is."""
    mark = one.mark
    sign = "" if mark.right is None else f"\u00a0{_RIGHT if mark.right else _WRONG}"
    part = ""
    if one.number:
        at = next(i for i, span in enumerate(mark.spans, start=1) if span[1] >= end)
        part = f" #{one.number}, part {at} of {len(mark.spans)}"
    told = join(user(mark.type), part, sign)
    return tag("span", told, class_=f"tag {mark.focus}".strip())

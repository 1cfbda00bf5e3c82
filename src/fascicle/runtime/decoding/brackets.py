"""Brackets at the edges of names: pairs are kept, and single halves are closed or cut."""

from __future__ import annotations

from typing import Final

from fascicle.core.mention import Span

OTHER_HALF: Final = {"(": ")", "[": "]", "{": "}"}
CLOSING: Final = {closing: opening for opening, closing in OTHER_HALF.items()}
_REACH: Final = 20  # characters in which the other half is sought


def balance(text: str, span: Span) -> Span:
    """Returns a range with each unpaired bracket closed or cut."""
    while alone := unpaired(text, span):
        at = min(alone)
        span = _close(text, span, at) or _cut(text, span, at)
    return span


def unpaired(text: str, span: Span) -> frozenset[int]:
    """Places of the brackets of a range that lack their other half."""
    waiting: dict[str, list[int]] = {close: [] for close in CLOSING}
    closing: list[int] = []
    for at in range(*span):
        character = text[at]
        if character in OTHER_HALF:
            waiting[OTHER_HALF[character]].append(at)
        elif character in CLOSING:
            if waiting[character]:
                waiting[character].pop()
            else:
                closing.append(at)
    return frozenset(closing).union(*waiting.values())


def _close(text: str, span: Span, at: int) -> Span | None:
    """Extends a range to the other half of a bracket, if that directly follows and no other
    bracket is between.
    """
    start, end = span
    if text[at] in OTHER_HALF:
        half = _next_bracket(text[end : end + _REACH], OTHER_HALF[text[at]])
        is_glued = at == start or not text[at - 1].isspace()
        return (start, end + half + 1) if is_glued and half is not None else None
    half = _next_bracket(text[max(0, start - _REACH) : start][::-1], CLOSING[text[at]])
    return None if half is None else (start - half - 1, end)


def _next_bracket(text: str, bracket: str) -> int | None:
    """Returns the place of a bracket if neither a blank nor another bracket is before it."""
    for place, character in enumerate(text):
        if character.isspace() or character in OTHER_HALF or character in CLOSING:
            return place if character == bracket else None
    return None


def _cut(text: str, span: Span, at: int) -> Span:
    """Returns the side of a bracket that has more letters; the first of two with as many."""
    sides = (span[0], at), (at + 1, span[1])
    return max(sides, key=lambda side: sum(map(str.isalpha, text[slice(*side)])))

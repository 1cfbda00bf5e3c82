"""Brackets of a text, each with its partner."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

_BRACKET: Final = re.compile(r"[()\[\]{}]")
_OPENED_BY: Final = {")": "(", "]": "[", "}": "{"}


class Bracket(NamedTuple):
    """Two brackets that belong together.

    Attributes:
        start: where the first one stands.
        end: where the second one stands.
        floor: behind the nearest bracket to the left that is still open at ``start``, or behind the nearest pair to the
            left that stands alone, whichever is later; 0 if there is none.
    """

    start: int
    end: int
    floor: int


def brackets(text: str) -> Iterator[Bracket]:
    """The pairs of a text, inner pairs before outer ones, in linear time.

    A closing bracket without a partner counts as an ordinary character. One that closes an outer bracket leaves the
    inner ones without partners. A pair stands alone if no letter or digit touches it from outside and no hyphen comes
    after it, in contrast to that of ``poly(ethylene)`` and ``(AIDS)-related``.
    """
    opened: list[tuple[str, int, int]] = []  # bracket, place, floor
    counts: Counter[str] = Counter()
    alone = 0
    for match in _BRACKET.finditer(text):
        at, character = match.start(), match[0]
        partner = _OPENED_BY.get(character)
        if partner is None:
            floor = opened[-1][1] + 1 if opened else 0
            opened.append((character, at, max(floor, alone)))
            counts[character] += 1
        elif counts[partner]:
            while True:  # each step takes one bracket away for good
                found, start, floor = opened.pop()
                counts[found] -= 1
                if found == partner:
                    break
            yield Bracket(start, at, floor)
            if _stands_alone(text, start, at):
                alone = at + 1


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end + 1 : end + 2]
    return not (before.isalnum() or before == "-") and not after.isalnum() and after != "-"

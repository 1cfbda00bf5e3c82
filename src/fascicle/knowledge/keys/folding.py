"""Whole texts without what does not count, and where in the source each character stood."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from fascicle.knowledge.keys.characters import extends, folded

_CONTROL: Final = re.compile(r"[\0-\x1f\x7f]")


class Folded(NamedTuple):
    """A folded text with a map to its source.

    Attributes:
        text: folded.
        starts: for each of its characters, where what it comes from starts in the source, in code points.
        ends: and one past where that ends; a letter and the marks on it are one.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def fold(text: str) -> Folded:
    """Folds a text character by character, each together with the marks on it.

    Several folded characters may come from one place (``β`` is ``beta``), and a place may give none.
    """
    if text.isascii():
        plain = _CONTROL.sub(" ", text.lower()).replace("`", "'")
        return Folded(plain, range(len(text)), range(1, len(text) + 1))
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    while at < len(text):
        end = at + 1
        while end < len(text) and not text[end].isascii() and extends(text[end]):
            end += 1
        part = folded(text[at:end])
        parts.append(part)
        starts += [at] * len(part)
        ends += [end] * len(part)
        at = end
    return Folded("".join(parts), starts, ends)

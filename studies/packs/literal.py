"""Literal matching as Kazu does it: names in lower case, found where they stand letter by
letter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fascicle.core.mention import Span


class Literal:
    """Finds names between borders of tokens. No folding, no case flags, no priors; of names that
    overlap, the longest.

    A border is where not two letters or digits meet, so a name also stands beside a hyphen. What an
    Aho-Corasick automaton over the names would find between borders is found by asking a set for
    the text of each length that a name with this first token has.
    """

    def __init__(self, names: Iterable[str], *, shortest: int = 1) -> None:
        """Puts the names into lower case.

        Args:
            names: as the sources write them.
            shortest: characters that a name has at least.
        """
        self._names = {name for name in map(lowered, names) if len(name) >= shortest}
        lengths: dict[str, set[int]] = {}
        for name in self._names:
            lengths.setdefault(_first(name, 0), set()).add(len(name))
        self._lengths = {first: sorted(found) for first, found in lengths.items()}

    def find(self, text: str) -> list[Span]:
        """The places of names, in the order of the text: the longest first, then the first in
        the text.
        """
        kept: list[Span] = []
        taken = bytearray(len(text))
        for start, end in sorted(self.all(text), key=lambda span: (span[0] - span[1], span[0])):
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                kept.append((start, end))
        return sorted(kept)

    def all(self, text: str) -> Iterator[Span]:
        """All places of all names."""
        text = lowered(text)
        start = 0
        while start < len(text):
            first = _first(text, start)
            for length in self._lengths.get(first, ()):
                end = start + length
                if end > len(text):
                    break
                inside = end < len(text) and text[end].isalnum() and text[end - 1].isalnum()
                if not inside and text[start:end] in self._names:
                    yield start, end
            start += len(first)


def lowered(text: str) -> str:
    """A text in lower case, character by character, so that no offset moves (Kazu's do behind
    ``İ``).
    """
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(small if len(small := one.lower()) == 1 else one for one in text)


def _first(text: str, start: int) -> str:
    """The run of letters and digits that begins here, or one other character."""
    end = start
    while end < len(text) and text[end].isalnum():
        end += 1
    return text[start : max(end, start + 1)]

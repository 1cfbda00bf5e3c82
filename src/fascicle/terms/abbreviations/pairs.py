"""Which mentions of a document are a form of a defined pair: a long form with its short forms,
which mean one thing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from fascicle.core.document import Abbreviation, Document
from fascicle.core.lazy import cached_property
from fascicle.core.mention import Span
from fascicle.terms.abbreviations.finder import abbreviations_of
from fascicle.terms.keys.key import key

# short forms of a long one; a text that defines more cannot make each mention slow
_MOST: Final = 20
_LINKS: Final = frozenset(("of", "and", "the", "in", "for", "to"))
_CLOSING: Final = ")]}"
_TELLING: Final = 5  # letters and digits of a short form that is hardly short for anything else
_TELLING_WITH_DIGIT: Final = 4


class Pair(NamedTuple):
    """Long form with its short forms.

    Attributes:
        long: the words of the long form, as in its first definition.
        shorts: short forms, in the order of their definitions.
    """

    long: str
    shorts: tuple[str, ...]


class _Definition(NamedTuple):
    begins: int
    short: str
    long: str


class Pairs:
    """Abbreviation pairs that a document states, or else those that its text defines.

    Of several long forms of a short one, that of the last definition before a place counts there. A
    long form that is itself a short one is replaced by the long form of that. A mention is a form
    only as a whole: one that has a form among other words keeps its own words.
    """

    def __init__(self, document: Document, *, at: Collection[int] | None = None) -> None:
        """Reads the definitions; see `find_abbreviations`."""
        self._text = document.text
        stated = [
            (definition, place)
            for place in abbreviations_of(document, at=at)
            if (definition := self._definition(place))
        ]
        definitions = sorted(stated, key=lambda pair: (pair[0].begins, pair[1]))
        self._of_short: dict[str, list[_Definition]] = defaultdict(list)
        for definition, _ in definitions:
            self._of_short[_singular(definition.short)].append(definition)
        # of the forms in definitions: key of the pair, and its start
        self._places: dict[Span, tuple[str, int]] = {}
        self._pairs = self._unite(definitions)
        # of keys; that of an ASCII name is as long as the name
        self._lengths = frozenset(map(len, self._pairs))

    def _unite(self, definitions: Sequence[tuple[_Definition, Abbreviation]]) -> dict[str, Pair]:
        """Returns key of a long form -> the pair of all its definitions; notes their places."""
        longs: dict[str, str] = {}
        shorts: dict[str, dict[str, None]] = defaultdict(dict)
        for definition, (short, long) in definitions:
            name = self._root(definition)
            simple = key(name, 1)
            shorts[simple][definition.short] = None
            longs.setdefault(simple, name)
            for place in (short, long, self._whole(short, long)):
                self._places.setdefault(place, (simple, long[0]))
        return {simple: Pair(long, tuple(shorts[simple])[:_MOST]) for simple, long in longs.items()}

    def __len__(self) -> int:
        """Returns the number of pairs."""
        return len(self._pairs)

    def of(self, surface: str, *spans: Span) -> tuple[Pair | None, int]:
        """Returns the pair of which a mention is a form, if any, and the place where the context of
        the mention is.

        The forms of one definition are at one place.

        Args:
            surface: the words of the mention, with a blank between two of them.
            spans: of the mention, in the order of the text.
        """
        start = spans[0][0]
        if len(spans) == 1 and (place := self._places.get(spans[0])):
            return self._pairs[place[0]], place[1]
        if several := self._of_short.get(_singular(surface) if surface[-1:] == "s" else surface):
            return self._pairs[key(self._root(_last(several, start)), 1)], start
        if surface.isascii() and len(surface) not in self._lengths:
            return None, start
        return self._pairs.get(key(surface, 1)), start

    def meaning(self, name: str, place: int) -> str:
        """Returns the key of the long form that a name has at a place, if the text plainly defines
        the name, by initials or one word; it may have others elsewhere. Else an empty string.
        """
        plain = self._plain.get(_singular(name))
        return key(_last(plain, place).long, 2) if plain else ""

    @cached_property
    def _plain(self) -> dict[str, list[_Definition]]:
        """The plain definitions of short forms: by ``mass spectrometry`` of MS, and not by ``median
        age, 67 years`` of MDS.
        """
        plain = {
            short: list(filter(_is_plain, several))
            for short, several in self._of_short.items()
            if len(several) > 1
        }
        return {short: several for short, several in plain.items() if several}

    def _definition(self, places: Abbreviation) -> _Definition | None:
        short, long = (" ".join(self._text[start:end].split()) for start, end in places)
        return (
            _Definition(min(start for start, _ in places), short, long) if short and long else None
        )

    def _root(self, definition: _Definition) -> str:
        """Returns the long form that is no short form itself; each step leads to a longer one,
        so the loop ends.
        """
        long = definition.long
        while several := self._of_short.get(_singular(long)):
            above = _last(several, definition.begins).long
            if (len(above), above) <= (len(long), long):
                break
            long = above
        return long

    def _whole(self, short: Span, long: Span) -> Span:
        """Returns both forms of a definition with the bracket of the second one."""
        end = max(short[1], long[1])
        return min(short[0], long[0]), end + (self._text[end : end + 1] in _CLOSING)


def is_distinctive(short: str) -> bool:
    """True if a short form is rarely ambiguous: it has five letters or digits, or four with a
    digit.
    """
    solid = [character for character in short if character.isalnum()]
    return len(solid) >= (_TELLING_WITH_DIGIT if any(map(str.isdigit, solid)) else _TELLING)


def _is_plain(definition: _Definition) -> bool:
    """True if a long form has the letters of its short form as initials, or is a plain word."""
    words = re.findall(r"[^\W_]+", definition.long.lower())
    letters = "".join(filter(str.isalnum, _singular(definition.short))).lower()
    is_word = definition.long.isalpha() and definition.long[1:].islower()
    return is_word or letters == "".join(word[0] for word in words if word not in _LINKS)


def _singular(short: str) -> str:
    """Returns a short form without the ``s`` of a plural, as ``AR`` of ``ARs``."""
    return short[:-1] if len(short) > 2 and short[-1] == "s" and not short[-2].islower() else short


def _last(several: Sequence[_Definition], place: int) -> _Definition:
    """Returns the last definition that begins at or before a place, or else the first one."""
    return several[
        max(0, bisect_right(several, place, key=lambda definition: definition.begins) - 1)
    ]

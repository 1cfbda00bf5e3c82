"""Which mentions of a document are a form of a defined pair: a long form with its short forms,
which mean one thing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from fascicle.core.document import Abbreviation, Document
from fascicle.core.mention import Span
from fascicle.terms.abbreviations.definitions import (
    FormDefinition,
    by_short_form,
    last_definition,
    read_definitions,
    singular,
)
from fascicle.terms.abbreviations.finder import abbreviations_of
from fascicle.terms.keys.key import key

# short forms of a long one; a text that defines more cannot make each mention slow
_MOST: Final = 20
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


class Pairs:
    """Abbreviation pairs that a document states, or else those that its text defines.

    Of several long forms of a short one, that of the last definition before a place counts there. A
    long form that is itself a short one is replaced by the long form of that. A mention is a form
    only as a whole: one that has a form among other words keeps its own words.
    """

    def __init__(self, document: Document, *, at: Collection[int] | None = None) -> None:
        """Reads the definitions; see `find_abbreviations`."""
        self._text = document.text
        definitions = read_definitions(self._text, abbreviations_of(document, at=at))
        self._of_short = by_short_form(definitions)
        # of the forms in definitions: key of the pair, and its start
        self._places: dict[Span, tuple[str, int]] = {}
        self._pairs = self._unite(definitions)
        # of keys; that of an ASCII name is as long as the name
        self._lengths = frozenset(map(len, self._pairs))

    def _unite(self, definitions: Sequence[tuple[FormDefinition, Abbreviation]]) -> dict[str, Pair]:
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
        if several := self._of_short.get(singular(surface) if surface[-1:] == "s" else surface):
            return self._pairs[key(self._root(last_definition(several, start)), 1)], start
        if surface.isascii() and len(surface) not in self._lengths:
            return None, start
        return self._pairs.get(key(surface, 1)), start

    def _root(self, definition: FormDefinition) -> str:
        """Returns the long form that is no short form itself; each step leads to a longer one,
        so the loop ends.
        """
        long = definition.long
        while several := self._of_short.get(singular(long)):
            above = last_definition(several, definition.begins).long
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

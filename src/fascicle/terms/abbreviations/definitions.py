"""Definitions of short forms, and what a form that a text defines twice means at a place."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from fascicle.core.document import Abbreviation, Document
from fascicle.core.lazy import cached_property
from fascicle.core.mention import Span
from fascicle.terms.abbreviations.finder import abbreviations_of

_LINKS: Final = frozenset(("of", "and", "the", "in", "for", "to"))
_WORD: Final = re.compile(r"[^\W_]+")


class FormDefinition(NamedTuple):
    """A definition of a short form.

    Attributes:
        begins: place of its first character.
        short: the short form.
        long: the long form.
    """

    begins: int
    short: str
    long: str


class FormMeanings:
    """FormMeanings of the short forms that a document defines twice or more."""

    def __init__(self, document: Document) -> None:
        """Sets the document, which is read when a meaning is first asked for."""
        self._document = document

    def at(self, name: str, place: int) -> str:
        """Returns the long form that a name has at a place, if the text plainly defines the name,
        by initials or one word; it may have others elsewhere. Else an empty string.
        """
        plain = self._plain.get(singular(name))
        return " ".join(_words(last_definition(plain, place).long)) if plain else ""

    @cached_property
    def _plain(self) -> Mapping[str, Sequence[FormDefinition]]:
        """The plain definitions of short forms: by ``mass spectrometry`` of MS, and not by ``median
        age, 67 years`` of MDS.
        """
        places = abbreviations_of(self._document)
        definitions = read_definitions(self._document.text, places)
        plain: dict[str, list[FormDefinition]] = {}
        for short, several in by_short_form(definitions).items():
            if len(several) > 1 and any(map(_is_plain, several)):
                plain[short] = list(filter(_is_plain, several))
        return plain


def abbreviations_in_capitals(document: Document, capitals: Document) -> tuple[Abbreviation, ...]:
    """Returns the abbreviations of a text that is read in capitals.

    A word such as ``group`` is a short form only if the text as it is written defines it, or in
    brackets behind no more words than it has letters: it is none in ``the gisen group (gruppo
    italiano di studi epidemiologici in nefrologia)``.

    Args:
        document: as it is written.
        capitals: the same, with capitals in place of its letters.
    """
    written = frozenset(abbreviations_of(document))
    return tuple(
        place
        for place in abbreviations_of(capitals)
        if place in written or _is_likely(document.text, *place)
    )


def _is_likely(text: str, short: Span, long: Span) -> bool:
    form, words = text[slice(*short)].lower(), text[slice(*long)].split()
    is_behind = long < short and len(words) <= len(form)
    # imported here, since only texts without capitals need the words of packs
    from fascicle.terms.pack.priors import common_words

    return is_behind or common_words().keys().isdisjoint(form.split())


def read_definitions(
    text: str, places: Iterable[Abbreviation]
) -> list[tuple[FormDefinition, Abbreviation]]:
    """Returns definitions with the places of both forms, in the order of the text."""
    stated = []
    for place in places:
        short, long = (" ".join(text[start:end].split()) for start, end in place)
        if short and long:
            stated.append((FormDefinition(min(start for start, _ in place), short, long), place))
    return sorted(stated, key=lambda pair: (pair[0].begins, pair[1]))


def by_short_form(
    definitions: Iterable[tuple[FormDefinition, Abbreviation]],
) -> dict[str, list[FormDefinition]]:
    """Returns the definitions of each short form, without the ``s`` of a plural."""
    forms: dict[str, list[FormDefinition]] = defaultdict(list)
    for definition, _ in definitions:
        forms[singular(definition.short)].append(definition)
    return forms


def singular(short: str) -> str:
    """Returns a short form without the ``s`` of a plural, as ``AR`` of ``ARs``."""
    return short[:-1] if len(short) > 2 and short[-1] == "s" and not short[-2].islower() else short


def last_definition(several: Sequence[FormDefinition], place: int) -> FormDefinition:
    """Returns the last definition that begins at or before a place, or else the first one."""
    return several[
        max(0, bisect_right(several, place, key=lambda definition: definition.begins) - 1)
    ]


def _is_plain(definition: FormDefinition) -> bool:
    """True if a long form has the letters of its short form as initials, or is a plain word."""
    letters = "".join(filter(str.isalnum, singular(definition.short))).lower()
    is_word = definition.long.isalpha() and definition.long[1:].islower()
    initials = (word[0] for word in _words(definition.long) if word not in _LINKS)
    return is_word or letters == "".join(initials)


def _words(name: str) -> list[str]:
    return _WORD.findall(name.lower())

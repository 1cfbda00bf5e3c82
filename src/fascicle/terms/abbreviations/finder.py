"""Finds where texts define short forms, in linear time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from fascicle.core.document import Abbreviation, Document, Patch, to_document
from fascicle.core.lazy import cached_property
from fascicle.core.mention import Span
from fascicle.terms.abbreviations.forms import (
    LONGEST_SHORT,
    can_be_short,
    fold_letters,
    is_allowed,
    long_form,
    most_words,
)

_BRACKET: Final = re.compile(r"[()\[\]{}]")
_OPENED_BY: Final = {")": "(", "]": "[", "}": "{"}
_REACH: Final = 300  # characters: no long form is longer, which bounds the work at a bracket
_KEPT: Final = 20_000  # characters of a text whose definitions are kept for the next step
_PART: Final = re.compile(r"[,;:]\s|\s(?:or|and)\s")
_STOP: Final = re.compile(r"[.?!][\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9])|;\s|\n\s*\n")
_NO_STOP: Final = re.compile(r"\b(?:[A-Z]|vs|cf|sp|spp|St|Dr|no|ca|approx|i\.e|e\.g)$")
_QUOTES: Final = "\"'“”‘’«»"
_AROUND: Final = _QUOTES + ",;:"
# before a long form in a bracket
_LEADING: Final = re.compile(r"\s*(?:(?:standing for|for|the|an?|or|i\.e\.,?)\s+)+")
_JOINS: Final = re.compile(r",?\s+(?:and|or)\s+|\s*[/+&]\s*|,\s+")
_CAPITALS: Final = re.compile(r"(?:[^A-Z\s]*[A-Z]){2}")
_MOST_SEVERAL: Final = 4  # short forms in one bracket
_DOSE: Final = re.compile(r"\s+\d[\d.,]*\s*(?:[mµμ]?g|mcg|ml|%)\Z")
# What is before a name and no part of it, unless its first letter is in the short form.
_PREFIX: Final = re.compile(
    r"(?ai:anti|non|post|pre|peri|co)[-\u2010\u2011]|[A-Z]{3,5}[-\u2010\u2011]"
)
_TOKEN: Final = re.compile(r"\S+")


class Bracket(NamedTuple):
    """Pair of matching brackets.

    Attributes:
        start: place of the first one.
        end: place of the second one.
        floor: behind the nearest bracket to the left that is still open at ``start``, or behind the
            nearest pair to the left that stands alone, whichever is later; 0 if there is none.
    """

    start: int
    end: int
    floor: int


def brackets(text: str) -> Iterator[Bracket]:
    """Yields the bracket pairs of a text, inner pairs before outer ones, in linear time.

    A closing bracket without a partner counts as an ordinary character. One that closes an outer
    bracket leaves the inner ones without partners. A pair stands alone if no letter or digit
    touches it from outside and no hyphen comes after it, in contrast to that of ``poly(ethylene)``
    and ``(AIDS)-related``.
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
                character_opened, start, floor = opened.pop()
                counts[character_opened] -= 1
                if character_opened == partner:
                    break
            yield Bracket(start, at, floor)
            if _stands_alone(text, start, at):
                alone = at + 1


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end + 1 : end + 2]
    return not (before.isalnum() or before == "-") and not after.isalnum() and after != "-"


class AbbreviationFinder:
    """Step that records where documents define short forms."""

    name = "abbreviations"
    needs: frozenset[str] = frozenset()
    gives = frozenset({"abbreviations"})
    drops: frozenset[str] = frozenset()
    fingerprint = "abbreviations@5"

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns one patch for each document with the definitions of its text, beside those
        that it has.
        """
        return [Patch(abbreviations=find_abbreviations(document)) for document in documents]


def find_abbreviations(text: Document | str) -> tuple[Abbreviation, ...]:
    """Finds where a text defines short forms: ``long form (SF)``, ``SF (long form)`` and ``(long
    form, SF)``.

    The algorithm is that of Schwartz and Hearst (PSB 2003), with repairs.

    Args:
        text: a text or a document; no definition reaches over the border of a section of a
            document.

    Returns:
        The ranges of each short form and its long form in the text, half-open and in code points,
        in order.

    Raises:
        InputError: neither a text nor a document.
    """
    return _find_definitions(to_document(text, 1))


def _find_definitions(
    document: Document, at: Collection[int] | None = None
) -> tuple[Abbreviation, ...]:
    borders = {
        border for section in document.sections or () for border in (section.start, section.end)
    }
    cuts = tuple(sorted({0, len(document.text), *borders}))
    if at is None and len(document.text) <= _KEPT:
        return _find_cached(document.text, cuts)
    return _within_parts(document.text, cuts, at)


# the steps of a pipeline ask one after the other, each for all documents of a batch
@lru_cache(maxsize=512)
def _find_cached(text: str, cuts: tuple[int, ...]) -> tuple[Abbreviation, ...]:
    return _within_parts(text, cuts, None)


def _within_parts(
    text: str, cuts: Sequence[int], at: Collection[int] | None
) -> tuple[Abbreviation, ...]:
    return tuple(
        sorted(
            ((short[0] + start, short[1] + start), (long[0] + start, long[1] + start))
            for start, end in pairwise(cuts)
            for short, long in _Part(text[start:end]).definitions(at, start)
        )
    )


def abbreviations_of(
    document: Document, *, at: Collection[int] | None = None
) -> tuple[Abbreviation, ...]:
    """Returns the abbreviations that a document states, else those that its text defines.

    Args:
        document: see `find_abbreviations`.
        at: of those that its text defines only those whose first or second bracket is there; all by
            default.
    """
    return (
        _find_definitions(document, at)
        if document.abbreviations is None
        else document.abbreviations
    )


def _may_be_several(forms: Sequence[str]) -> bool:
    """True if the parts of a bracket may be a short form each."""
    return all(_CAPITALS.match(form) and can_be_short(form) for form in forms)


class _Part:
    """Part of a text in which definitions are searched."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def folded(self) -> str:
        """Text of the part in which interchangeable letters are equal."""
        return fold_letters(self.text)

    def definitions(self, at: Collection[int] | None, begin: int) -> Iterator[Abbreviation]:
        """Yields the ranges of short and long forms; inner brackets come before outer ones.

        Args:
            at: places in the whole text; only definitions with a bracket at one of them are wanted,
                or all.
            begin: place of the part in the whole text.
        """
        for bracket in brackets(self.text):
            first, last = begin + bracket.start, begin + bracket.end
            if last - first > _REACH or not (at is None or first in at or last in at):
                continue
            several = self._several(bracket)
            if several is not None:
                yield from several
            elif (
                definition := self._before(bracket)
                or self._behind(bracket)
                or self._within(bracket)
            ):
                yield definition

    def _several(self, bracket: Bracket) -> list[Abbreviation] | None:
        """Returns the definitions of ``A and B (SA and SB)``, paired in order; ``None`` for a
        bracket of another form.

        What is before the bracket has as many parts. Of words such as ``A 2 and 9`` the last part
        has no long form. Commas and slashes are also within one short form or before a remark, so
        that all parts must fit there.
        """
        parts = self._split(bracket.start + 1, bracket.end)
        if not 2 <= len(parts) <= _MOST_SEVERAL:
            return None
        shorts = [self._trim(*span) for span in parts]
        forms = [self.text[slice(*short)] for short in shorts]
        spans = self._names_before(bracket, forms) if _may_be_several(forms) else None
        if spans is None:
            return None
        pairs = []
        for number, (short, span) in enumerate(zip(shorts, spans, strict=True)):
            long = self._long(short, self._without_dose(span))
            if long and (number == 0 or long[0] == span[0]):
                pairs.append((short, long))
        words = self.text[bracket.start : bracket.end]
        if len(pairs) < len(shorts) and any(sign in words for sign in ",/"):
            return None
        return pairs

    def _names_before(self, bracket: Bracket, forms: Sequence[str]) -> list[Span] | None:
        """Returns the parts of what is before a bracket, one for each short form, if there are as
        many.
        """
        floor = self._floor(bracket, sum(map(most_words, forms)) + len(forms))
        spans = self._split(*self._trim(floor, bracket.start))
        extra = len(spans) - len(forms)  # what is before the first part may have separators too
        if extra < 0:  # one name before two short forms: polymerase chain reaction (PCR and RT-PCR)
            return None
        return [(spans[0][0], spans[extra][1]), *spans[extra + 1 :]]

    def _split(self, start: int, end: int) -> list[Span]:
        """Returns the ranges between words and signs that coordinate."""
        cuts = [match.span() for match in _JOINS.finditer(self.text, start, end)]
        starts, ends = [start, *(cut[1] for cut in cuts)], [*(cut[0] for cut in cuts), end]
        return list(zip(starts, ends, strict=True))

    def _without_dose(self, span: Span) -> Span:
        dose = _DOSE.search(self.text, *span)
        return span[0], dose.start() if dose else span[1]

    def _before(self, bracket: Bracket) -> Abbreviation | None:
        """Returns the definition of the form ``long form (SF)`` or ``long form (SF, more)``, if
        there is one.
        """
        end = next((cut.start() for cut in self._parts(bracket)), bracket.end)  # of the first part
        short = self._trim(bracket.start + 1, end)
        if not can_be_short(self.text[slice(*short)]):
            return None
        most = most_words(self.text[slice(*short)])
        long = self._long(short, self._trim(self._floor(bracket, most), bracket.start))
        if long is None or (self._is_glued(bracket) and _BRACKET.search(self.text, *long)):
            return None
        return short, long

    def _behind(self, bracket: Bracket) -> Abbreviation | None:
        """Returns the definition ``SF (long form)``, if any; SF has two words if it starts with
        no small letter.
        """
        if self._is_glued(bracket):
            return None
        end = self._trim(max(0, bracket.start - _REACH), bracket.start)[1]
        tokens = list(_TOKEN.finditer(self.text, max(bracket.floor, end - 2 * LONGEST_SHORT), end))[
            -2:
        ]
        shorts = [
            self._trim(token.start(), end)
            for token in tokens
            if token is tokens[-1] or not (token[0].islower() and token[0].isalpha())
        ]
        shorts = [short for short in shorts if can_be_short(self.text[slice(*short)])]
        for cut in self._ends(bracket) if shorts else ():
            leading = _LEADING.match(self.text, bracket.start + 1, cut)
            long = self._trim(leading.end() if leading else bracket.start + 1, cut)
            for short in shorts:
                if self._is_defined(short, long):
                    return short, long
        return None

    def _is_defined(self, short: Span, long: Span) -> bool:
        """True if a range, which can be a short form, has another one as its long form, as a
        whole.
        """
        form = self.text[slice(*short)]
        words = len(self.text[slice(*long)].split())
        # an ordinary word: no initials
        if len(form) > 2 * words and form.isalpha() and form.islower():
            return False
        return words <= most_words(form) and self._long(short, long) == long

    def _within(self, bracket: Bracket) -> Abbreviation | None:
        """Returns the definition of the form ``(long form, SF)``, if there is one."""
        parts = list(self._parts(bracket))
        if not parts:
            return None
        cut = parts[-1]
        long, short = (
            self._trim(bracket.start + 1, cut.start()),
            self._trim(cut.end(), bracket.end),
        )
        return (
            (short, long)
            if can_be_short(self.text[slice(*short)]) and self._long(short, long) == long
            else None
        )

    def _long(self, short: Span, window: Span) -> Span | None:
        """Returns the tail of a window that is the long form of a short form; it begins with a
        word.
        """
        form = self.text[slice(*short)]
        at = long_form(
            self.folded[slice(*short)], self.folded[slice(*window)], initials=form.islower()
        )
        if at is None:
            return None
        long = self._trim(self._start_of_word(window[0], window[0] + at), window[1])
        return long if is_allowed(self.text[slice(*long)], form) else None

    def _is_glued(self, bracket: Bracket) -> bool:
        before = self.text[bracket.start - 1 : bracket.start]
        return not before.isspace() and before not in _QUOTES

    def _parts(self, bracket: Bracket) -> Iterator[re.Match[str]]:
        """Yields the separators between the parts of the words in a bracket."""
        return _PART.finditer(self.text, bracket.start + 1, bracket.end)

    def _ends(self, bracket: Bracket) -> Iterator[int]:
        """Yields where a long form in a bracket may end: after the first part, after more parts, at
        the bracket.

        "and" occurs in FDA (Food and Drug Administration), and between two long forms. A list ends
        with its bracket.
        """
        for number, cut in enumerate(self._parts(bracket)):
            if number == 0 or not cut[0].startswith(","):
                yield cut.start()
        yield bracket.end

    def _floor(self, bracket: Bracket, most: int) -> int:
        """Returns where the search for a long form begins: in the same sentence, and at most so
        many words before.
        """
        floor = max(bracket.floor, bracket.start - _REACH)
        for stop in _STOP.finditer(self.text, floor, bracket.start):
            if not _NO_STOP.search(self.text, max(floor, stop.start() - 8), stop.start()):
                floor = stop.end()
        starts = [token.start() for token in _TOKEN.finditer(self.text, floor, bracket.start)]
        return starts[-most] if len(starts) > most else floor

    def _start_of_word(self, floor: int, at: int) -> int:
        start = at
        while start > floor and not self.text[start - 1].isspace() and self.text[start - 1] != "/":
            start -= 1
        dash = self.text.rfind("--", start, at)
        if dash < 0 and (prefix := _PREFIX.match(self.text, start, at)) and prefix.end() == at:
            # anti-vascular endothelial growth factor (VEGF), but non-small cell lung cancer (NSCLC)
            return at
        return start if dash < 0 else dash + 2

    def _trim(self, start: int, end: int) -> Span:
        """Returns a range without white space, quotation marks and commas at its ends."""
        while start < end and (self.text[start].isspace() or self.text[start] in _AROUND):
            start += 1
        while end > start and (self.text[end - 1].isspace() or self.text[end - 1] in _AROUND):
            end -= 1
        return start, end

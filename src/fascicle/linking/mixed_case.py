"""Short forms in small and capital letters, and names of their keys that are written otherwise."""

from __future__ import annotations

import re
from collections.abc import Set
from itertools import chain
from typing import Final

import numpy as np

from fascicle.core.lazy import cached_property
from fascicle.linking.candidates import FAMILY_TYPES
from fascicle.terms.keys.characters import cased_letters, is_mixed
from fascicle.terms.keys.key import KeyReader
from fascicle.terms.pack.layout import Names
from fascicle.terms.pack.priors import common_words

# types of symbols, which have other cases in other species, and of short forms of atlases: SNr
_SYMBOLS: Final = frozenset(["Anatomy", *chain(*FAMILY_TYPES.items())])
_SHORT: Final = 6  # bytes of a name, to see whether names of a pack have mixed case
_PLURAL: Final = re.compile("[A-Z]{2,}s")
_HUMPED: Final = re.compile("[A-Z][a-z][A-Z]")


class MixedCase:
    """Tells which names of its key a short form such as ``tPA`` cannot mean; for one thread."""

    def __init__(self, names: Names, reader: KeyReader) -> None:
        """Sets the names of a pack, and the reader of keys."""
        self._names, self._reader = names, reader

    def fits(self, text: str, kind: str, term: int, name: str) -> bool:
        """True if a text can be a name of its key, as far as its small and capital letters tell.

        Something must speak against the name. It is a common word, or another concept has it as a
        symbol in capitals: the ``Ache`` is not ``AChE``. Another concept of any type has the form
        of the text, or its singular: ``TPA`` is not ``tPA``, nor ``AEDS`` the plural ``AEDs``. Or
        it has only the capitals of a form like ``CaP``. A name with a digit always fits, and any
        name of a pack whose names do not have mixed case.

        Args:
            text: in a text, or given.
            kind: type that the concept must have.
            term: row of the name.
            name: with the key of the text.
        """
        letters, other = cased_letters(text), cased_letters(name)
        if letters == other or not other.isalpha() or not is_mixed(text) or not self._is_cased:
            return True
        if _is_other_case(letters, other, kind):
            return True
        forms, singular = {text}, letters.removesuffix("s")
        if _PLURAL.fullmatch(letters):
            forms.add(text.removesuffix("s"))
        if other[1:].islower() and not singular[-1].islower():
            word = other.lower()
            if not common_words().keys().isdisjoint([word, word.removesuffix("s")]):
                return False
            forms.add(text.upper())
        if _HUMPED.fullmatch(singular) and other == singular.upper():
            return False
        return not self._is_of_others(int(self._names.concept[term]), forms)

    def _is_of_others(self, concept: int, forms: Set[str]) -> bool:
        """True if other concepts have one of the forms in its case, and the concept has none."""
        names, letters = self._names, set(map(cased_letters, forms))
        _, terms = names.of_keys(self._reader(list(forms)))
        surfaces = map(cased_letters, names.surfaces.take(names.surface[terms]))
        concepts = {
            owner
            for owner, surface in zip(names.concept[terms].tolist(), surfaces, strict=True)
            if surface in letters
        }
        return bool(concepts) and concept not in concepts

    @cached_property
    def _is_cased(self) -> bool:
        """True if a short name of the pack has mixed case."""
        surfaces = self._names.surfaces
        short = np.flatnonzero(np.diff(surfaces.offsets) <= _SHORT)
        return any(is_mixed(str(raw, "utf-8")) for raw in surfaces.raws(short))


def _is_other_case(letters: str, name: str, kind: str) -> bool:
    """True if a name may differ from a form in its case: ``CAR`` is the singular of ``CARs``,
    ``ApoB`` starts a sentence, and symbols differ between species.
    """
    if _PLURAL.fullmatch(letters):
        return name.lower() != letters.lower()
    return kind in _SYMBOLS or (is_mixed(name) and letters[1:] == name[1:])

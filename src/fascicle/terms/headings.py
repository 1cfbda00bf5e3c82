"""Headings of a list of names, and lists whose columns are not what they are read as."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from fascicle.core.mention import AMBIGUOUS, Link
from fascicle.errors import InputError
from fascicle.terms.dictionary import DictionaryEntry, composed
from fascicle.terms.terms import curie

HEADINGS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "name": frozenset(("name", "term", "label", "surface", "synonym")),
        "type": frozenset(("type", "category", "class")),
        "concept": frozenset(("id", "identifier", "concept", "curie")),
    }
)
_CURIE: Final = re.compile(r"[A-Za-z][\w.]*:[^\s:]+")
_REMEDY: Final = "begin the list with a row of headings, such as type, name and id"
_MOST: Final = 1000  # types and names that are compared
_FEW: Final = 5  # rows of a list that may have a type each


def read_headings(cells: Sequence[str]) -> dict[str, int]:
    """Returns the column of each of `HEADINGS`; nothing if this row does not name those of names
    and types.

    Args:
        cells: of the first row.
    """
    plain = [cell.strip().lower() for cell in cells]
    places_of = {
        what: [at for at, cell in enumerate(plain) if cell in names]
        for what, names in HEADINGS.items()
    }
    columns = {what: places[0] for what, places in places_of.items() if len(places) == 1}
    return columns if {"name", "type"} <= columns.keys() else {}


def check_types(entries: Iterable[DictionaryEntry], path: str) -> Iterator[DictionaryEntry]:
    """Yields names, and raises an error where their types cannot be types: identifiers, or another
    one in each row.

    Args:
        entries: of a list.
        path: of it.

    Raises:
        InputError: the columns are others than those that were read.
    """
    types, names, rows = set[str](), set[str](), 0
    for entry in entries:
        rows += 1
        if _CURIE.fullmatch(entry.type):
            raise InputError(
                f"{path} has {entry.type!r} as a type, which is an identifier; {_REMEDY}", file=path
            )
        if len(types) < _MOST:
            types.add(entry.type)
            names.add(entry.name)
        yield entry
    if 1 < rows == len(types) and (rows >= _FEW or len(names) < rows):
        some = ", ".join(map(repr, sorted(types)[:3]))
        raise InputError(
            f"{path} has another type in each row, such as {some}; {_REMEDY}", file=path
        )


class NameLinks:
    """Identifiers of the names of a list, as links.

    Attributes:
        size: how many names were read.
    """

    def __init__(self) -> None:
        self.size = 0
        self._concepts: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)

    def __len__(self) -> int:
        """Returns how many names have identifiers."""
        return len(self._concepts)

    def remember(self, entries: Iterable[DictionaryEntry]) -> Iterator[DictionaryEntry]:
        """Yields entries, and keeps their identifiers."""
        for entry in entries:
            self.size += 1
            if entry.concept:
                self._concepts[entry.type, _plain(entry.name)][entry.concept] = None
            yield entry

    def of(self, kind: str, words: str) -> tuple[Link, ...]:
        """Returns the links of a name: one for each identifier, *ambiguous* if there are
        several.
        """
        identifiers = self._concepts.get((kind, _plain(words)), ()) if self._concepts else ()
        tier = AMBIGUOUS if len(identifiers) > 1 else "exact"
        return tuple(
            Link(
                id=normalised.partition(":")[2],
                ontology=normalised.partition(":")[0],
                curie=normalised,
                tier=tier,
            )
            if (normalised := curie(identifier))
            else Link(id=identifier, tier=tier)
            for identifier in identifiers
        )


def _plain(name: str) -> str:
    return " ".join(composed(name).casefold().split())

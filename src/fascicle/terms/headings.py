"""Headings of a list of names, and lists whose columns are not what they are read as."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from fascicle.core.mention import AMBIGUOUS, Link
from fascicle.errors import InputError
from fascicle.terms.dictionary import Entry, composed
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
    found = {
        what: [at for at, cell in enumerate(plain) if cell in names]
        for what, names in HEADINGS.items()
    }
    columns = {what: places[0] for what, places in found.items() if len(places) == 1}
    return columns if {"name", "type"} <= columns.keys() else {}


def check_types(entries: Iterable[Entry], path: str) -> Iterator[Entry]:
    """Yields names, and raises an error where their types cannot be types: identifiers, or another
    one in each row.

    Args:
        entries: of a list.
        path: of it.

    Raises:
        InputError: the columns are others than those that were read.
    """
    types, names, rows = set[str](), set[str](), 0
    for one in entries:
        rows += 1
        if _CURIE.fullmatch(one.type):
            raise InputError(
                f"{path} has {one.type!r} as a type, which is an identifier; {_REMEDY}", file=path
            )
        if len(types) < _MOST:
            types.add(one.type)
            names.add(one.name)
        yield one
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

    def remember(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yields entries, and keeps their identifiers."""
        for one in entries:
            self.size += 1
            if one.concept:
                self._concepts[one.type, _plain(one.name)][one.concept] = None
            yield one

    def of(self, kind: str, words: str) -> tuple[Link, ...]:
        """Returns the links of a name: one for each identifier, *ambiguous* if there are
        several.
        """
        given = self._concepts.get((kind, _plain(words)), ()) if self._concepts else ()
        tier = AMBIGUOUS if len(given) > 1 else "exact"
        return tuple(
            Link(
                id=known.partition(":")[2], ontology=known.partition(":")[0], curie=known, tier=tier
            )
            if (known := curie(one))
            else Link(id=one, tier=tier)
            for one in given
        )


def _plain(name: str) -> str:
    return " ".join(composed(name).casefold().split())

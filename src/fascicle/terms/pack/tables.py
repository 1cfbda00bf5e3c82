"""Reader of the two tables of names of a pack: terms, by key and by concept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np

from fascicle.core.arrays import Ints
from fascicle.errors import FormatError, PackError
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import Array, Lists, Lookup, Strings, mapped, spread
from fascicle.terms.pack.layout import in_table
from fascicle.terms.scanning.layout import open_arrays


class Names:
    """Table of names. A term is a name of a concept in one language; terms are sorted by key, surface and concept.

    All columns are arrays over terms, mapped from the files.

    Attributes:
        table: `layout.ACTIVE` or `layout.SILENT`.
        keys: rows of keys.
        surfaces: names as the sources write them.
        starts: of each key its first term, and the number of terms at the end.
        concept: row of the concept.
        surface: row of the surface.
        kind: number in `NAME_KINDS`.
        language: number in the manifest.
        flags: see `layout`.
        sources: number of the set of sources in the manifest.
        prior: probability that the name means the concept where it occurs in a text.
        of_concept: the terms of each concept.
        ruled: terms that a rule of curation touched, and the number of the rule.
    """

    def __init__(self, folder: Path, table: str) -> None:
        """Maps the files."""
        self.table = table
        self.keys = _keys(folder, table)
        self.surfaces = Strings.open(folder, in_table(table, layout.SURFACES))
        self.starts = mapped(folder / in_table(table, layout.STARTS))
        self.concept, self.surface, self.kind, self.language, self.flags, self.sources, self.prior = (
            mapped(folder / in_table(table, name)) for name in layout.COLUMNS
        )
        starts, rows = (mapped(folder / in_table(table, name)) for name in layout.OF_CONCEPT)
        self.of_concept = Lists(starts, rows)
        terms, rules = (mapped(folder / in_table(table, name)) for name in layout.RULED)
        self.ruled: tuple[Array, Array] = (terms, rules)

    def __len__(self) -> int:
        """Returns the number of terms."""
        return len(self.concept)

    def of_key_rows(self, rows: Ints) -> tuple[Ints, Ints]:
        """Returns the terms of keys.

        Args:
            rows: of keys, such as the scan gives them.

        Returns:
            For each term the place in ``rows`` of its key, and the term.
        """
        ends = self.starts[rows + 1].astype(np.int64)
        if ends.max(initial=0) > len(self):
            raise IndexError("a key has terms that are not there")
        return spread(self.starts[rows].astype(np.int64), ends)

    def of_keys(self, keys: Sequence[str]) -> tuple[Ints, Ints]:
        """Returns the terms of keys that may be there.

        Args:
            keys: any strings.

        Returns:
            For each term the place in ``keys`` of its key, and the term.
        """
        rows = self.keys.find(keys)
        known = np.flatnonzero(rows >= 0)
        places, terms = self.of_key_rows(rows[known])
        return known[places], terms

    def key_of(self, term: int) -> str:
        """Returns the key of a term."""
        return self.keys.strings[int(np.searchsorted(self.starts, term, side="right")) - 1]

    def rule_of(self, term: int) -> int:
        """Returns the number of the rule of curation that touched a term; 0 for none."""
        at = int(np.searchsorted(self.ruled[0], term))
        return int(self.ruled[1][at]) if at < len(self.ruled[0]) and self.ruled[0][at] == term else 0

    @classmethod
    def both(cls, folder: Path) -> tuple[Self, Self]:
        """Returns the names that are found, and those that are excluded."""
        return cls(folder, layout.ACTIVE), cls(folder, layout.SILENT)


def _keys(folder: Path, table: str) -> Lookup:
    """Returns rows of keys; those that are found in texts lie in the table of tokens."""
    name = in_table(table, layout.KEYS)
    if table == layout.SILENT:
        return Lookup.open(folder, name)
    place = folder / layout.TABLE
    try:
        _, arrays = open_arrays(place)
    except (FormatError, ValueError):
        raise PackError(
            f"{place} is no table of tokens that this release reads; build the pack again with fascicle index build",
            file=str(place),
            code="damaged",
        ) from None
    return Lookup.open(folder, name, strings=Strings(arrays["keys"], arrays["starts"]))

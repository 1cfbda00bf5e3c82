"""Names and meanings of the files of a pack, and the reader of its tables of names: terms, by key and by concept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

import msgspec
import numpy as np

from fascicle.core.arrays import Ints
from fascicle.errors import FormatError, PackError
from fascicle.terms.pack.arrays import Array, Lists, Lookup, Strings, mapped, spread
from fascicle.terms.scanning.building import open_arrays

NONE: Final = (1 << 32) - 1  # in place of a number of a row
LIMIT: Final = 1 << 31  # rows of names that a pack can have; the bit above says which table a label is in

# Tables of names: those that are found, and those that are kept out and only answer why.
ACTIVE: Final = "names"
SILENT: Final = "silent"
KEYS: Final = "keys"  # strings with hashes, sorted
SURFACES: Final = "surfaces"  # strings, in the order of the terms
STARTS: Final = "starts.u4"  # of the terms of each key
CONCEPT: Final = "concept.u4"
SURFACE: Final = "surface.u4"
NAME_KIND: Final = "kind.u1"  # number in NAME_KINDS
LANGUAGE: Final = "language.u1"  # number in the manifest
FLAGS: Final = "flags.u1"
SET: Final = "set.u2"  # number in the manifest
PRIOR: Final = "prior.f4"
OF_CONCEPT: Final = ("of-concept.starts.u4", "of-concept.rows.u4")  # lists of terms
RULED: Final = ("ruled.u4", "rule.u4")  # terms that a rule of curation touched, sorted, and the last of these rules
CASE: Final = 3  # bits of the flags: the case policy; on their way into a pack, all of them for that of the name
OFF: Final = 4  # not looked for in texts, but linked
PREFERRED: Final = 8  # a rule says that this concept is meant
STYLE: Final = 32 | 64  # bits, on its way into a pack: how names of its type look
STYLE_UNIT: Final = 32  # the lowest of these bits
DROPPED: Final = 16  # of a silent term: a rule dropped it; else its concept is obsolete

CURIES: Final = "concepts.curies"  # strings with hashes, sorted
LABEL: Final = "concepts.label.u4"  # number of the surface; the highest bit: that of the silent table
TYPE: Final = "concepts.type.u2"  # number in the manifest
TAXON: Final = "concepts.taxon.u4"  # number in the strings of taxa; the first is empty
RANK: Final = "concepts.rank.u1"  # number in the manifest
CONCEPT_FLAGS: Final = "concepts.flags.u1"
CONCEPT_SET: Final = "concepts.set.u2"
LEAD: Final = "concepts.lead.u4"  # row of the concept that leads the set of each; packs of older releases have none
OBSOLETE: Final = 1
FACTS: Final = "concepts.facts"  # strings of msgpack, see `Facts`; empty where there are none
PARENTS: Final = ("parents.starts.u4", "parents.rows.u4")  # lists of concepts
CHILDREN: Final = ("children.starts.u4", "children.rows.u4")
TAXA: Final = "taxa"
RULES: Final = "rules"  # the text of each rule of curation that touched something; the first is empty
TABLE: Final = "tokens.table"  # by which texts are scanned; row i is key i of the active table
COLUMNS: Final = (CONCEPT, SURFACE, NAME_KIND, LANGUAGE, FLAGS, SET, PRIOR)  # one value for each term
CONCEPT_COLUMNS: Final = (LABEL, TYPE, TAXON, RANK, CONCEPT_FLAGS, CONCEPT_SET)  # one value for each concept


class Facts(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """Rarely used fields of a concept.

    Attributes:
        definition: one text.
        replaced_by: CURIEs of what took the place of an obsolete concept.
        references: CURIEs of other vocabularies under the predicate of each.
    """

    definition: str = ""
    replaced_by: tuple[str, ...] = ()
    references: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)


def in_table(table: str, name: str) -> str:
    """Returns the name of a file of one of the two tables."""
    return f"{table}.{name}"


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
        self.surfaces = Strings.open(folder, in_table(table, SURFACES))
        self.starts = mapped(folder / in_table(table, STARTS))
        self.concept, self.surface, self.kind, self.language, self.flags, self.sources, self.prior = (
            mapped(folder / in_table(table, name)) for name in COLUMNS
        )
        starts, rows = (mapped(folder / in_table(table, name)) for name in OF_CONCEPT)
        self.of_concept = Lists(starts, rows)
        terms, rules = (mapped(folder / in_table(table, name)) for name in RULED)
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
        return cls(folder, ACTIVE), cls(folder, SILENT)


def _keys(folder: Path, table: str) -> Lookup:
    """Returns rows of keys; those that are found in texts lie in the table of tokens."""
    name = in_table(table, KEYS)
    if table == SILENT:
        return Lookup.open(folder, name)
    place = folder / TABLE
    try:
        _, arrays = open_arrays(place)
    except (FormatError, ValueError):
        raise PackError(
            f"{place} is no table of tokens that this release reads; build the pack again with fascicle index build",
            file=str(place),
            code="damaged",
        ) from None
    return Lookup.open(folder, name, strings=Strings(arrays["keys"], arrays["starts"]))

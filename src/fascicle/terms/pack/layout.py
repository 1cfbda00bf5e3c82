"""Names and meanings of the files of a pack, for its writer and its reader."""

from __future__ import annotations

from typing import Final

import msgspec

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

"""Data model of vocabularies: concepts with their names, as readers of sources give them and as packs keep them."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args

import msgspec

NameKind = Literal["label", "exact", "related", "broad", "narrow", "abbreviation", "generated"]
NAME_KINDS: Final[tuple[NameKind, ...]] = get_args(NameKind)
# Predicates for equal concepts of two vocabularies.
SAME: Final = frozenset({"skos:exactMatch", "owl:equivalentClass", "owl:sameAs"})
REFERS: Final = "oboInOwl:hasDbXref"  # says that they belong together, and mostly that they are the same


# ``gc=False``: no cycle can go through a name or a record, and a build makes millions of them.
class Name(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Name of a concept.

    Attributes:
        surface: as the source writes it, without blanks at its ends.
        kind: ``"label"`` is the preferred name, of which a concept has one in each language; ``"exact"`` to
            ``"narrow"`` are synonyms by their scope in OBO; ``"generated"`` names were made by a rule.
        language: ISO 639-1 code.
    """

    surface: str
    kind: NameKind = "exact"
    language: str = "en"


class Cross(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Cross-reference from a concept to a concept of another vocabulary.

    Attributes:
        curie: of the other concept.
        predicate: CURIE of the relation, as in SSSOM; ``"oboInOwl:hasDbXref"`` where a source only says that there is
            one.
    """

    curie: str
    predicate: str = REFERS


class ConceptRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Record of one concept from one place of a source.

    Records of one concept are merged: names, parents and references are united; of the other fields the first value
    that is not empty counts, in the order of the sources.

    Attributes:
        curie: the one spelling of its identifier, ``prefix:local`` with a prefix of the Bioregistry.
        type: canonical name of a type (`fascicle.core.type_names`); empty where the source list gives one type to all.
        names: in the order of the source.
        taxon: CURIE of the species that a gene or cell line belongs to.
        rank: rank of a taxon, such as ``"species"``.
        parents: CURIEs of the concepts above it.
        obsolete: such a concept never matches, but is explained.
        replaced_by: CURIEs of what took its place.
        definition: one text.
        references: to other vocabularies.
        label: which of the names of other records is shown for the concept; empty if that of kind ``label`` is.
    """

    curie: str
    type: str = ""
    names: tuple[Name, ...] = ()
    taxon: str = ""
    rank: str = ""
    parents: tuple[str, ...] = ()
    obsolete: bool = False
    replaced_by: tuple[str, ...] = ()
    definition: str = ""
    references: tuple[Cross, ...] = ()
    label: str = ""


class ShortTerm(NamedTuple):
    """Name of a concept, with the fields needed for search in texts.

    Attributes:
        surface: as the sources write it.
        concept: unique key of the concept, such as its CURIE.
        case: a `keys.characters.CasePolicy`.
        off: whether it is not looked for in texts.
        prior: probability that the name means the concept where it occurs in a text.
    """

    surface: str
    concept: str
    case: int
    off: bool
    prior: float

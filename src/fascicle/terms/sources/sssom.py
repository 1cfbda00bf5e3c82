"""SSSOM: mappings between vocabularies, a mapping in a row.

Specification: https://mapping-commons.github.io/sssom/. A mapping gives a reference to both of its concepts, with the
inverse predicate to the second one. It never makes two concepts one. A row with the modifier ``Not`` says that two
concepts are not the same: it gives no reference and is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from fascicle.settings.packs import SourceSettings
from fascicle.terms.sources.curies import curie
from fascicle.terms.sources.drafts import SourceReport
from fascicle.terms.sources.tables import open_table
from fascicle.terms.terms import ConceptRecord, Cross

_INVERSE: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{f"skos:{word}": f"skos:{word}" for word in ("exactMatch", "closeMatch", "relatedMatch")},
        "skos:broadMatch": "skos:narrowMatch",
        "skos:narrowMatch": "skos:broadMatch",
        "owl:equivalentClass": "owl:equivalentClass",
        "owl:sameAs": "owl:sameAs",
        "oboInOwl:hasDbXref": "oboInOwl:hasDbXref",
        "semapv:crossSpeciesExactMatch": "semapv:crossSpeciesExactMatch",
    }
)
_ADDRESSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "http://www.w3.org/2004/02/skos/core#": "skos:",
        "http://www.w3.org/2002/07/owl#": "owl:",
        "http://www.geneontology.org/formats/oboInOwl#": "oboInOwl:",
    }
)
_NEEDED: Final = ("subject_id", "predicate_id", "object_id")


def read_sssom(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the references of a mapping set, without names.

    Raises:
        FormatError: no header of SSSOM.
    """
    table = open_table(settings, report, needed=_NEEDED, wished=("predicate_modifier",))
    modifier = table.at.get("predicate_modifier")
    for row in table.rows:
        subject, predicate, other = (row.cells[table.at[column]] for column in _NEEDED)
        first, second = curie(subject, settings.prefix), curie(other, settings.prefix)
        predicate = _contracted(predicate)
        if modifier is not None and row.cells[modifier]:
            report.lose("negated", row.place)
        elif not first or not second or first == second:
            report.lose("identifier", row.place)
        elif predicate not in _INVERSE:
            report.lose("relation", row.place)
        else:
            report.used += 1
            yield ConceptRecord(curie=first, references=(Cross(second, predicate),))
            yield ConceptRecord(curie=second, references=(Cross(first, _INVERSE[predicate]),))


def _contracted(predicate: str) -> str:
    for address, prefix in _ADDRESSES.items():
        if predicate.startswith(address):
            return prefix + predicate.removeprefix(address)
    return predicate

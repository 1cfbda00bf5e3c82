"""Mappings between vocabularies as SSSOM, a mapping in a row:
https://mapping-commons.github.io/sssom/.

A mapping gives a reference to both of its concepts, with the inverse predicate to the second one.
It never makes two concepts one. A row with the modifier ``Not`` before a predicate of equal
concepts says that they are different, which forbids that a set has both; before others it gives
nothing. Rows that say that no concept was found give nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from types import MappingProxyType
from typing import Final, NamedTuple

from fascicle.settings.packs import SourceSettings
from fascicle.terms.sources.drafts import SourceReport, numbered_lines
from fascicle.terms.sources.rows import open_table
from fascicle.terms.terms import DIFFERENT, SAME, ConceptRecord, CrossReference, curie

_SYMMETRIC: Final = (
    *(
        "skos:exactMatch",
        "skos:closeMatch",
        "skos:relatedMatch",
        "owl:equivalentClass",
        "owl:sameAs",
    ),
    *("oboInOwl:hasDbXref", "semapv:crossSpeciesExactMatch"),
)
_INVERSE: Final = MappingProxyType(
    {
        **{predicate: predicate for predicate in _SYMMETRIC},
        "skos:broadMatch": "skos:narrowMatch",
        "skos:narrowMatch": "skos:broadMatch",
    }
)
_PREDICATES: Final = MappingProxyType(
    {predicate.partition(":")[2]: predicate for predicate in _INVERSE}
)
_NEEDED: Final = ("subject_id", "predicate_id", "object_id")
_WISHED: Final = ("predicate_modifier", "mapping_cardinality", "confidence")
_NOTHING: Final = "NoTermFound"
_LEAST: Final = 0.5  # confidence of a mapping that counts
_PREFIX: Final = re.compile(
    r"#\s+[\"']?([\w.-]+)[\"']?\s*:\s+[\"']?(\S+?)[\"']?(?:\s+#.*)?\s*", re.ASCII
)
_INLINE: Final = re.compile(r"[{,]\s*[\"']?([\w.-]+)[\"']?\s*:\s+[\"']?([^\s,\"'}]+)", re.ASCII)


def read_sssom(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the references of a mapping set, without names; prefixes are those of its
    ``curie_map``.

    Raises:
        FormatError: no header of SSSOM.
    """
    addresses = _curie_map(settings)
    at, rows = open_table(settings, report, needed=_NEEDED, wished=_WISHED)
    for place, cells in rows:
        mapping = _Mapping(*(cells[at[name]] if name in at else "" for name in _NEEDED + _WISHED))
        first = _concept(mapping.subject, addresses, settings.prefix)
        second = _concept(mapping.object, addresses, settings.prefix)
        predicate = mapping.known_predicate
        if reason := _find_loss(mapping, first, second, predicate):
            report.lose(reason, place)
            continue
        report.used += 1
        back = _INVERSE[predicate]
        if mapping.modifier:
            predicate = back = DIFFERENT
        yield ConceptRecord(curie=first, references=(CrossReference(second, predicate),))
        yield ConceptRecord(curie=second, references=(CrossReference(first, back),))


class _Mapping(NamedTuple):
    """Row of a mapping set, in the order of the columns."""

    subject: str
    predicate: str
    object: str
    modifier: str
    cardinality: str
    confidence: str

    @property
    def known_predicate(self) -> str:
        """CURIE of the predicate, which may be an address; as it is written if it is unknown."""
        return _PREDICATES.get(re.split("[#:/]", self.predicate)[-1], self.predicate)


def _find_loss(mapping: _Mapping, first: str, second: str, predicate: str) -> str:
    """Returns the reason why a mapping gives nothing; empty if it does."""
    if (
        _NOTHING in mapping.subject
        or _NOTHING in mapping.object
        or "0" in mapping.cardinality.split(":")
    ):
        return "no-term"
    if not first or not second or first == second:
        return "identifier"
    if predicate not in _INVERSE:
        return "relation"
    if mapping.modifier and predicate not in SAME:
        return "negated"
    return "unsure" if _number(mapping.confidence) < _LEAST else ""


def _curie_map(settings: SourceSettings) -> Mapping[str, str]:
    """Returns prefix -> beginning of addresses, as the header says."""
    lines = (str(line).rstrip() for _, line in numbered_lines(settings.path, settings.encoding))
    addresses: dict[str, str] = {}
    inside = False
    for line in takewhile(lambda line: line.startswith("#"), lines):
        if inside and (row := _PREFIX.fullmatch(line)):
            addresses[row[1]] = row[2]
        else:
            inside = line.lstrip("# ").startswith("curie_map:")
            addresses.update(_INLINE.findall(line) if inside else ())
    return addresses


def _concept(text: str, addresses: Mapping[str, str], prefix: str) -> str:
    """Returns the CURIE of a concept, by the address of its prefix if that is known."""
    before, colon, local = text.partition(":")
    address = addresses.get(before, "") if colon else ""
    identifier = curie(f"{address}{local}") if address else ""
    return (
        identifier
        if identifier and not identifier.startswith(f"{before}:")
        else curie(text, prefix)
    )


def _number(text: str) -> float:
    """Returns a confidence; 1 where none is stated, or none that is a number."""
    try:
        return float(text or 1)
    except ValueError:
        return 1.0

"""MeSH in its four formats: descriptors and supplementary records as XML and as ASCII, and tables
of names.

Formats: https://www.nlm.nih.gov/mesh/xmlmesh.html and https://www.nlm.nih.gov/mesh/meshascii.html.

A concept here is a *record* of MeSH (``D...``, ``C...``), which annotation uses. Terms of a concept
of the record that is not its preferred one keep their relation: narrower, broader or related. The
parents of a descriptor follow from its tree numbers; the parents of a supplementary record are the
descriptors that it is mapped to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final
from xml.etree.ElementTree import Element

import msgspec
from msgspec.structs import replace

from fascicle.core.files.elements import elements
from fascicle.core.files.encodings import AUTO
from fascicle.core.files.source import Source
from fascicle.errors import FormatError, Place
from fascicle.settings.packs import SourceSettings, TableSettings
from fascicle.terms.sources.drafts import Draft, SourceReport, numbered_lines
from fascicle.terms.sources.releases import read_published
from fascicle.terms.sources.rows import open_table
from fascicle.terms.terms import ConceptRecord, NameKind, curie

_COLUMNS: Final = (("id", "tree_number"), ("mesh_id", "mesh_tree_number"))
_MAPPED: Final = "HeadingMappedToList/HeadingMappedTo/DescriptorReferredTo/DescriptorUI"
_RELATIONS: Final[Mapping[str, NameKind]] = MappingProxyType(
    {"NRW": "narrow", "BRD": "broad", "REL": "related", "EQV": "exact"}
)
_SHORT: Final = frozenset({"ABB", "ACR"})  # lexical tags: abbreviation, acronym
_ENTRIES: Final = frozenset({"ENTRY", "PRINT ENTRY", "SY"})
# of ASCII
_FIELDS: Final = MappingProxyType({"UI": "ui", "MS": "definition", "NO": "definition"})


class _Trees:
    """Tree numbers of descriptors."""

    def __init__(self) -> None:
        """Starts without tree numbers."""
        self._of: dict[str, list[str]] = {}
        self._at: dict[str, str] = {}

    def add(self, descriptor: str, number: str) -> None:
        """Adds a tree number of a descriptor, which is given by its CURIE."""
        self._of.setdefault(descriptor, []).append(number)
        self._at.setdefault(number, descriptor)

    def parents(self, descriptor: str) -> tuple[str, ...]:
        """Returns the descriptors above one, each once."""
        above = (self._at.get(number.rpartition(".")[0]) for number in self._of.get(descriptor, ()))
        return tuple(dict.fromkeys(parent for parent in above if parent and parent != descriptor))

    def keeps(self, descriptor: str, branches: Sequence[str]) -> bool:
        """True if a descriptor lies in one of the branches, or if no branches are given."""
        numbers = self._of.get(descriptor, ())
        return not branches or any(_in(number, branch) for number in numbers for branch in branches)


def _read_trees(settings: SourceSettings, report: SourceReport) -> _Trees:
    """Reads a table of tree numbers, the hierarchy of a source.

    Raises:
        FormatError: the table has no columns for descriptors and tree numbers.
    """
    trees = _Trees()
    settings = replace(settings, path=settings.hierarchy, table=TableSettings())
    for columns in _COLUMNS:
        try:
            at, rows = open_table(settings, report, needed=columns)
        except FormatError:
            if columns == _COLUMNS[-1]:
                raise
            continue
        for place, cells in rows:
            identifier, number = (cells[at[column]] for column in columns)
            descriptor = curie(identifier, "MESH")
            if not descriptor or not number:
                report.lose("identifier", place)
                continue
            report.used += 1
            trees.add(descriptor, number)
        return trees
    return trees


def _in(number: str, branch: str) -> bool:
    """True if a number is in a branch: ``C10`` is in ``C`` and ``C10``; ``C10.2`` in ``C10``
    too, but not in ``C1``.
    """
    if not number.startswith(branch):
        return False
    return len(branch) == 1 or number[len(branch) :][:1] in ("", ".")


def read_mesh_xml(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the records of ``desc*.xml`` or ``supp*.xml``; the parents of descriptors come at the
    end.

    Permuted terms (``Acid, Docosahexaenoic``) are left out and counted, for no text has them.

    Raises:
        FormatError: see `elements`; or no record of MeSH.
    """
    records = elements(
        Source(path=settings.path, encoding=AUTO), ("DescriptorRecord", "SupplementalRecord")
    )
    yield from _read_records(
        settings, report, ((place, _xml_record(element)) for place, element in records)
    )


def read_mesh_ascii(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the records of ``d*.bin`` or ``c*.bin``; the parents of descriptors come at the end.

    An ``ENTRY`` without further fields is a permuted term: it is left out and counted, as in the
    XML.

    Raises:
        FormatError: no record of MeSH.
    """
    yield from _read_records(settings, report, _ascii_records(settings, report))


def read_mesh_names(
    settings: SourceSettings, report: SourceReport, *, name: str = "mesh_names"
) -> Iterator[ConceptRecord]:
    """Streams a table of names of MeSH; with a table of tree numbers as its hierarchy, parents
    too.
    """
    if not settings.hierarchy:
        yield from read_published(settings, report, name=name)
        return
    trees = _read_trees(settings, report)
    for record in read_published(settings, report, name=name):
        if trees.keeps(record.curie, settings.branches):
            yield replace(record, parents=(*record.parents, *trees.parents(record.curie)))
        else:
            report.lose("below", Place(settings.path, shown=f"{settings.path}, {record.curie}"))


class _Record(msgspec.Struct, kw_only=True):
    """Record of MeSH before cleaning: names with their kinds, tree numbers, and mapped concepts."""

    ui: str = ""
    names: list[tuple[str, NameKind]] = []
    permuted: int = 0
    trees: list[str] = []
    mapped: list[str] = []
    definition: str = ""


def _read_records(
    settings: SourceSettings, report: SourceReport, records: Iterator[tuple[Place, _Record]]
) -> Iterator[ConceptRecord]:
    trees = _Trees()
    identifiers: list[str] = []
    for place, record in records:
        report.rows += 1
        identifier = curie(record.ui, "MESH")
        if not identifier or not any(name.strip() for name, _ in record.names):
            report.lose("no-name" if identifier else "identifier", place)
            continue
        report.used += 1
        for number in record.trees:
            trees.add(identifier, number)
        if settings.branches and not trees.keeps(identifier, settings.branches):
            report.lose("below", place)
            continue
        identifiers.append(identifier)
        yield _draft(record, identifier, settings, report, place=place).record()
    if not report.rows:
        raise FormatError("the file has no record of MeSH", at=settings.path)
    for identifier in identifiers:
        if parents := trees.parents(identifier):
            yield ConceptRecord(curie=identifier, parents=parents)


def _draft(
    record: _Record,
    identifier: str,
    settings: SourceSettings,
    report: SourceReport,
    *,
    place: Place,
) -> Draft:
    draft = Draft(
        settings=settings,
        report=report,
        place=place,
        curie=identifier,
        definition=record.definition,
    )
    for name, kind in record.names:
        draft.name(name, kind)
    for _ in range(record.permuted):
        report.lose("permuted", place)
    for descriptor in record.mapped:
        draft.above(f"MESH:{descriptor.removeprefix('*')}")
    return draft


def _xml_record(element: Element) -> _Record:
    which = element.tag.removesuffix("Record")
    record = _Record(ui=_text_at(element, f"{which}RecordUI") or _text_at(element, f"{which}UI"))
    name = _text_at(element, f"{which}RecordName/String") or _text_at(
        element, f"{which}Name/String"
    )
    record.names.append((name, "label"))
    record.trees = [tree.text or "" for tree in element.iterfind("TreeNumberList/TreeNumber")]
    record.mapped = [_text_at(descriptor, ".") for descriptor in element.iterfind(_MAPPED)]
    concepts = element.findall("ConceptList/Concept")
    relations = _relations(concepts)
    for concept in concepts:
        if concept.get("PreferredConceptYN") == "Y":
            record.definition = _text_at(concept, "ScopeNote")
            _take_terms(record, concept, "exact")
        else:
            _take_terms(record, concept, relations.get(_text_at(concept, "ConceptUI"), "related"))
    return record


def _take_terms(record: _Record, concept: Element, kind: NameKind) -> None:
    """Adds the terms of a concept in XML to its record."""
    for term in concept.iterfind("TermList/Term"):
        if term.get("IsPermutedTermYN") == "Y":
            record.permuted += 1
        elif (name := _text_at(term, "String")) != record.names[0][0]:
            short = kind == "exact" and term.get("LexicalTag") in _SHORT
            record.names.append((name, "abbreviation" if short else kind))


def _relations(concepts: list[Element]) -> dict[str, NameKind]:
    """Returns concept -> how its terms relate to the record: the relations lead from the
    preferred concept.
    """
    kinds: dict[str, NameKind] = {}
    for concept in concepts:
        if concept.get("PreferredConceptYN") == "Y":
            for relation in concept.iterfind("ConceptRelationList/ConceptRelation"):
                kind = _RELATIONS.get(relation.get("RelationName", ""), "related")
                kinds[_text_at(relation, "Concept2UI")] = kind
    return kinds


def _text_at(element: Element, path: str) -> str:
    return element.findtext(path, "").strip()


def _ascii_records(
    settings: SourceSettings, report: SourceReport
) -> Iterator[tuple[Place, _Record]]:
    record: _Record | None = None
    begun = Place(settings.path, 1)
    for place, line in numbered_lines(settings.path, settings.encoding):
        if isinstance(line, FormatError):
            report.lose("line", place)
        elif line.startswith("*NEWRECORD"):
            if record is not None:
                yield begun, record
            record, begun = _Record(), place
        elif line.strip():
            field, equals, value = line.partition(" = ")
            if record is None or not equals:
                report.lose("tag", place)
            else:
                _take(record, field, value.strip())
    if record is not None:
        yield begun, record


def _take(record: _Record, field: str, value: str) -> None:
    """Adds a field of a record in ASCII; most fields say nothing that is kept."""
    if field in _FIELDS:
        setattr(record, _FIELDS[field], value)
    elif field in ("MH", "NM"):
        record.names.insert(0, (value, "label"))
    elif field == "MN":
        record.trees.append(value)
    elif field == "HM":  # names headings, which draft.above counts as no identifiers
        record.mapped.append(value)
    elif field == "ENTRY" and "|" not in value:
        record.permuted += 1
    elif field in _ENTRIES:
        record.names.append(_entry(value))


def _entry(value: str) -> tuple[str, NameKind]:
    """Returns a synonym; letters of its last part name the others: ``c`` the lexical tag, ``d``
    the relation.
    """
    name, *parts = value.split("|")
    fields = dict(zip(parts[-1][1:], parts[:-1], strict=False)) if parts else {}
    kind = _RELATIONS.get(fields.get("d", ""), "exact")
    return name, "abbreviation" if kind == "exact" and fields.get("c") in _SHORT else kind

"""OBO-Graph JSON: nodes, and edges between them.

Schema: https://github.com/geneontology/obographs. Nodes and edges are read one by one, so a file may have any size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeVar

import msgspec

from fascicle.core.files.elements import JsonParts
from fascicle.core.files.source import Source
from fascicle.errors import FormatError, Place
from fascicle.settings.packs import SourceSettings
from fascicle.terms.sources.curies import curie
from fascicle.terms.sources.drafts import Draft, hidden
from fascicle.terms.sources.report import SourceReport
from fascicle.terms.terms import ConceptRecord, NameKind

_PREDICATES: Final[Mapping[str, NameKind]] = MappingProxyType(
    {
        "hasExactSynonym": "exact",
        "hasRelatedSynonym": "related",
        "hasBroadSynonym": "broad",
        "hasNarrowSynonym": "narrow",
    }
)
T = TypeVar("T")
_REPLACED: Final = "IAO_0100001"
_NAMESPACE: Final = "hasOBONamespace"
_ALIAS: Final = "hasAlternativeId"


class _Text(msgspec.Struct):
    val: str = ""


class _Synonym(msgspec.Struct):
    val: str = ""
    pred: str = ""
    synonym_type: str = msgspec.field(default="", name="synonymType")


class _Property(msgspec.Struct):
    pred: str = ""
    val: str = ""


class _Meta(msgspec.Struct):
    definition: _Text | None = None
    synonyms: list[_Synonym] = []
    xrefs: list[_Text] = []
    properties: list[_Property] = msgspec.field(default_factory=list, name="basicPropertyValues")
    deprecated: bool = False


class _Node(msgspec.Struct):
    id: str = ""
    lbl: str | None = None
    type: str | None = None
    meta: _Meta | None = None


class _Edge(msgspec.Struct):
    sub: str = ""
    pred: str = ""
    obj: str = ""


class _Reading:
    """State of reading one file: data about its concepts, beside the records that were returned."""

    def __init__(self, settings: SourceSettings, report: SourceReport) -> None:
        self._settings, self._report = settings, report
        self.aliases: dict[str, list[str]] = {}
        self.live: set[str] = set()

    def records(self, parts: JsonParts) -> Iterator[ConceptRecord]:
        """Yields the records of all graphs, in the order of the file."""
        there = False
        for name in parts.fields():
            if name != "graphs":
                parts.skip()
                continue
            there = True
            for _ in parts.elements():
                for of_graph in parts.fields():
                    if of_graph not in ("nodes", "edges"):
                        parts.skip()
                        continue
                    read = self._of_node if of_graph == "nodes" else self._of_edge
                    for number, _ in enumerate(parts.elements(), 1):
                        shown = f"{self._settings.path}, {of_graph[:-1]} {number}"
                        yield from read(parts.text(), Place(self._settings.path, shown=shown))
        parts.close()
        if not there:
            raise FormatError("the file is no OBO-Graph JSON, for it has no graphs", at=self._settings.path)

    def _of_node(self, raw: str, place: Place) -> Iterator[ConceptRecord]:
        node = _decoded(raw, _Node)
        if node is not None and node.type not in (None, "CLASS"):
            return
        self._report.rows += 1
        if node is None:
            self._report.lose("structure", place)
        elif (draft := _draft(node, place, self._settings, self._report, self.aliases)) is not None:
            self._report.used += 1
            self.live.add(draft.curie)
            yield draft.record()

    def _of_edge(self, raw: str, place: Place) -> Iterator[ConceptRecord]:
        self._report.rows += 1
        edge = _decoded(raw, _Edge)
        if edge is None:
            self._report.lose("structure", place)
            return
        if _last(edge.pred) not in ("is_a", "subClassOf"):
            self._report.lose("relation", place)
            return
        below, above = curie(edge.sub, self._settings.prefix), curie(edge.obj, self._settings.prefix)
        if below and above and below != above:
            self._report.used += 1
            yield ConceptRecord(curie=below, parents=(above,))
        else:
            self._report.lose("identifier", place)


def read_obograph(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Yields the classes of an OBO-Graph file, and their ``is_a`` edges in records of their own.

    Places are numbers of nodes and edges in their graph, from 1.

    Raises:
        FormatError: no JSON of this form.
    """
    reading = _Reading(settings, report)
    with Source(path=settings.path).open() as stream:
        yield from reading.records(JsonParts(stream, at=settings.path))
    yield from hidden(reading.aliases, reading.live)


def _decoded(raw: str, kind: type[T]) -> T | None:
    """Returns a part of the file; ``None`` if it has another form."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _draft(
    node: _Node, place: Place, settings: SourceSettings, report: SourceReport, aliases: dict[str, list[str]]
) -> Draft | None:
    identifier = curie(node.id, settings.prefix)
    if not identifier:
        report.lose("identifier", place)
        return None
    meta = node.meta or _Meta()
    draft = Draft(settings=settings, report=report, place=place, curie=identifier, obsolete=meta.deprecated)
    draft.definition = meta.definition.val if meta.definition else ""
    if node.lbl is not None:
        draft.name(node.lbl, "label")
    for synonym in meta.synonyms:
        kind = _PREDICATES.get(_last(synonym.pred), "related")
        short = any(word in synonym.synonym_type.lower() for word in ("abbreviation", "acronym", "omo_0003000"))
        draft.name(synonym.val, "abbreviation" if short and kind in ("exact", "related") else kind)
    for xref in meta.xrefs:
        draft.reference(xref.val)
    for fact in meta.properties:
        told = _last(fact.pred)
        if told == _REPLACED:
            draft.replaced(fact.val)
        elif told == _NAMESPACE:
            draft.type = settings.types.get(fact.val, draft.type)
        elif told == _ALIAS and (alias := curie(fact.val, settings.prefix)) and alias != identifier:
            aliases.setdefault(alias, []).append(identifier)
    return draft


def _last(address: str) -> str:
    return address.replace("#", "/").rpartition("/")[2]

"""OBO-Graph JSON: nodes, and edges between them.

Schema: https://github.com/geneontology/obographs. The bytes of the file are held in memory, its nodes are decoded one
by one; a file may have `MAX_FILE` bytes unpacked. Larger ontologies are published as OBO too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from fascicle.errors import FormatError, Place
from fascicle.files.source import MAX_FILE, Source
from fascicle.knowledge.sources.curies import curie
from fascicle.knowledge.sources.drafts import Draft, hidden
from fascicle.knowledge.sources.report import SourceReport
from fascicle.knowledge.terms import ConceptRecord, NameKind
from fascicle.settings.packs import SourceSettings

_PREDICATES: Final[Mapping[str, NameKind]] = MappingProxyType(
    {
        "hasExactSynonym": "exact",
        "hasRelatedSynonym": "related",
        "hasBroadSynonym": "broad",
        "hasNarrowSynonym": "narrow",
    }
)
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


class _Graph(msgspec.Struct):
    nodes: list[msgspec.Raw] = []
    edges: list[msgspec.Raw] = []


class _File(msgspec.Struct):
    graphs: list[_Graph]


def read_obograph(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """The classes of an OBO-Graph file, with their ``is_a`` edges in records of their own behind them.

    Places are numbers of nodes and edges in their graph, from 1.

    Raises:
        FormatError: no JSON of this form, or a file that is too large.
    """
    file = _decoded(settings)
    aliases: dict[str, list[str]] = {}
    live: set[str] = set()
    for graph in file.graphs:
        for number, raw in enumerate(graph.nodes, 1):
            place = Place(settings.path, shown=f"{settings.path}, node {number}")
            try:
                node = msgspec.json.decode(raw, type=_Node)
            except (msgspec.DecodeError, UnicodeDecodeError):
                report.rows += 1
                report.lose("structure", place)
                continue
            if node.type not in (None, "CLASS"):
                continue
            report.rows += 1
            draft = _draft(node, place, settings, report, aliases)
            if draft is not None:
                report.used += 1
                live.add(draft.curie)
                yield draft.record()
        yield from _edges(graph, settings, report)
    yield from hidden(aliases, live)


def _decoded(settings: SourceSettings) -> _File:
    with Source(path=settings.path).open() as stream:
        data = stream.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        raise FormatError(
            f"the file has more than {MAX_FILE:,} bytes; take the OBO file of this ontology",
            at=settings.path,
            code="too-large",
        )
    try:
        return msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"the file is no OBO-Graph JSON ({error}); fetch it again", at=settings.path) from None


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


def _edges(graph: _Graph, settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    for number, raw in enumerate(graph.edges, 1):
        place = Place(settings.path, shown=f"{settings.path}, edge {number}")
        report.rows += 1
        try:
            edge = msgspec.json.decode(raw, type=_Edge)
        except (msgspec.DecodeError, UnicodeDecodeError):
            report.lose("structure", place)
            continue
        if _last(edge.pred) not in ("is_a", "subClassOf"):
            report.lose("relation", place)
            continue
        below, above = curie(edge.sub, settings.prefix), curie(edge.obj, settings.prefix)
        if below and above and below != above:
            report.used += 1
            yield ConceptRecord(curie=below, parents=(above,))
        else:
            report.lose("identifier", place)


def _last(address: str) -> str:
    return address.replace("#", "/").rpartition("/")[2]

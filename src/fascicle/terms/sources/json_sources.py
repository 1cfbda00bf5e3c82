"""Vocabularies as JSON: OBO-Graph, and the diseases, targets and molecules of the Open Targets
Platform.

OBO-Graph has nodes, and edges between them (https://github.com/geneontology/obographs). They are
read one by one, so a file may have any size. Data of Open Targets are JSON Lines or Parquet, a file
or a folder of parts, as in the schemas of the data sets on the download page of the platform, of
2023 and of 2025.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

import msgspec

from fascicle.core.files.elements import JsonParts
from fascicle.core.files.source import Source
from fascicle.errors import FormatError, Place
from fascicle.settings.packs import SourceSettings
from fascicle.terms.sources.drafts import (
    EXACT_MATCH,
    Draft,
    SourceReport,
    counted_lines,
    finish_records,
)
from fascicle.terms.sources.parquet_rows import parquet_rows, parts_of
from fascicle.terms.sources.predicates import (
    is_short,
    language_of_type,
    last_part,
    predicate_meaning,
)
from fascicle.terms.terms import ConceptRecord, CrossReference, NameKind, curie

_SYNONYMS: Final[tuple[NameKind, ...]] = ("exact", "related", "broad", "narrow")
_NAMES: Final[Mapping[str, NameKind]] = MappingProxyType(
    {
        **dict.fromkeys(("name", "approvedSymbol"), "label"),
        **dict.fromkeys(
            ("approvedName", "synonyms", "symbolSynonyms", "nameSynonyms", "tradeNames"), "exact"
        ),
        **{
            name: kind
            for kind in _SYNONYMS
            for name in (f"has{kind.title()}Synonym", f"{kind}Synonyms")
        },
        **dict.fromkeys(("obsoleteSymbols", "obsoleteNames"), "previous"),
    }
)
# of identifiers that have none
_PREFIXES: Final = (("ENSG", "ensembl"), ("CHEMBL", "chembl.compound"))
_T = TypeVar("_T")
_ReadPart = Callable[[str, Place], Iterator[Draft | ConceptRecord]]


class _Text(msgspec.Struct):
    val: str = ""
    lang: str | None = None
    meta: _Meta | None = None

    @property
    def language(self) -> str:
        """Code of the language, which is a field of its own or a fact about the text; empty if
        none is stated.
        """
        facts = self.meta.properties if self.meta else []
        language = self.lang or next(
            (fact.val for fact in facts if last_part(fact.pred) in ("lang", "language")), ""
        )
        return language.partition("-")[0].lower()

    @property
    def qualifiers(self) -> str:
        """What the file says of this reference: its own references, and the values of its
        properties.
        """
        facts = [*self.meta.xrefs, *self.meta.properties] if self.meta else []
        return " ".join(fact.val for fact in facts)


class _Property(_Text):
    pred: str = ""


class _Synonym(_Property):
    synonym_type: str = msgspec.field(default="", name="synonymType")


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


class _Equals(msgspec.Struct):
    nodes: list[str] = msgspec.field(default_factory=list, name="nodeIds")


class _Reading:
    """Reader of one file."""

    def __init__(self, settings: SourceSettings, report: SourceReport) -> None:
        self._settings, self._report = settings, report

    def drafts(self, parts: JsonParts) -> Iterator[Draft | ConceptRecord]:
        """Yields the records of all graphs, in the order of the file."""
        has_graphs = False
        for name in parts.fields():
            if name != "graphs":
                parts.skip()
                continue
            has_graphs = True
            for _ in parts.elements():
                for of_graph in parts.fields():
                    readers: dict[str, _ReadPart] = {
                        "nodes": self._read_node,
                        "edges": self._read_edge,
                        "equivalentNodesSets": self._read_equals,
                    }
                    if of_graph not in readers:
                        parts.skip()
                        continue
                    read_part = readers[of_graph]
                    for number, _ in enumerate(parts.elements(), 1):
                        place = f"{self._settings.path}, {of_graph[:-1]} {number}"
                        yield from read_part(parts.text(), Place(self._settings.path, shown=place))
        parts.close()
        if not has_graphs:
            raise FormatError(
                "the file is not OBO-Graph JSON, because it has no graphs; save a list of names as "
                "CSV",
                at=self._settings.path,
            )

    def _read_node(self, raw: str, place: Place) -> Iterator[Draft]:
        node = _decode(raw, _Node)
        if node is not None and node.type not in (None, "CLASS"):
            return
        self._report.rows += 1
        if node is None:
            self._report.lose("structure", place)
        else:
            yield self._draft(node, place)

    def _draft(self, node: _Node, place: Place) -> Draft:
        identifier = curie(node.id, self._settings.prefix)
        meta = node.meta or _Meta()
        draft = Draft(
            settings=self._settings,
            report=self._report,
            place=place,
            curie=identifier,
            obsolete=meta.deprecated,
        )
        if not identifier:
            return draft
        if meta.definition and meta.definition.language in ("", self._settings.language):
            draft.definition = meta.definition.val
        if node.lbl is not None:
            draft.name(node.lbl, "label")
        for synonym in meta.synonyms:
            _add_synonym(draft, synonym)
        for xref in meta.xrefs:
            draft.reference(xref.val, qualifiers=xref.qualifiers)
        for fact in meta.properties:
            part, kind = predicate_meaning(fact.pred)
            draft.state(part, kind, fact.val, language=fact.language)
        return draft

    def _read_edge(self, raw: str, place: Place) -> Iterator[ConceptRecord]:
        self._report.rows += 1
        edge = _decode(raw, _Edge)
        if edge is None:
            self._report.lose("structure", place)
            return
        if last_part(edge.pred) not in ("is_a", "subClassOf"):
            self._report.lose("relation", place)
            return
        below, above = (
            curie(edge.sub, self._settings.prefix),
            curie(edge.obj, self._settings.prefix),
        )
        if below and above and below != above:
            self._report.used += 1
            yield ConceptRecord(curie=below, parents=(above,))
        else:
            self._report.lose("identifier", place)

    def _read_equals(self, raw: str, place: Place) -> Iterator[ConceptRecord]:
        self._report.rows += 1
        equals = _decode(raw, _Equals)
        concepts = [curie(node, self._settings.prefix) for node in equals.nodes] if equals else []
        if len(concepts) < 2 or not all(concepts):
            self._report.lose("identifier" if equals else "structure", place)
            return
        self._report.used += 1
        for concept in concepts:
            references = tuple(
                CrossReference(node, EXACT_MATCH) for node in concepts if node != concept
            )
            yield ConceptRecord(curie=concept, references=references)


def read_obograph(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Yields the classes of an OBO-Graph file, and their ``is_a`` edges in records of their own.

    Places are numbers of nodes and edges in their graph, from 1.

    Raises:
        FormatError: no JSON of this form.
    """
    reading = _Reading(settings, report)
    with Source(path=settings.path).open() as stream:
        yield from finish_records(reading.drafts(JsonParts(stream, at=settings.path)), report)


def _add_synonym(draft: Draft, synonym: _Synonym) -> None:
    part, kind = predicate_meaning(synonym.pred)
    kind = kind if part == "name" else "related"
    if kind in ("exact", "related") and is_short(synonym.synonym_type):
        kind = "abbreviation"
    language = synonym.language or language_of_type(synonym.synonym_type)
    draft.name(synonym.val, kind, language=language, types=[synonym.synonym_type])


def _decode(raw: str, kind: type[_T]) -> _T | None:
    """Returns a part of the file; ``None`` if it has another form."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def read_open_targets(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the concepts; identifiers that were merged into others come at the end.

    ``types`` maps a ``biotype`` or ``drugType`` to a type; concepts of others are left out, unless
    there is a ``type``.

    Raises:
        InputError: the file or a part cannot be opened.
        MissingExtraError: Parquet, but pyarrow is not installed.
        FormatError: a file is no Parquet.
    """
    yield from finish_records(_targets(settings, report), report)


def _targets(settings: SourceSettings, report: SourceReport) -> Iterator[Draft]:
    for place, row in _rows(settings, report):
        identifier = str(row.get("id") or "")
        prefix = next(
            (prefix for start, prefix in _PREFIXES if identifier.startswith(start)), settings.prefix
        )
        draft = Draft(
            settings=settings, report=report, place=place, curie=curie(identifier, prefix)
        )
        if draft.curie:
            _fill(draft, row, prefix)
            if settings.types and not (settings.type or draft.type):
                report.used += 1
                report.lose("type", place)
                continue
        yield draft


def _fill(draft: Draft, row: Mapping[str, Any], prefix: str) -> None:
    """Adds what a row says of a concept; the prefix is that of its parents too, where they have
    none.
    """
    draft.type = draft.settings.types.get(str(row.get("biotype") or row.get("drugType") or ""), "")
    draft.definition = next(_texts(row.get("description")), "")
    synonyms = row.get("synonyms")
    fields = {**row, "synonyms": None, **synonyms} if isinstance(synonyms, dict) else row
    for key, kind in _NAMES.items():
        for text in _texts(fields.get(key)):
            draft.name(text, kind)
    for text in (*_texts(row.get("parents")), *_texts(row.get("parentId"))):
        draft.above(curie(text, prefix) or text)
    for key in ("dbXRefs", "dbXrefs", "proteinIds"):
        for text in _references(row.get(key)):
            draft.reference(text)
    for text in _texts(row.get("obsoleteTerms")):
        draft.alias(text)


def _texts(value: Any) -> Iterator[str]:
    """Yields the texts of a value: a text, a name with its source, or a list of them; ``""`` for
    what is none.
    """
    for part in value if isinstance(value, list) else [value]:
        text = part.get("label") if isinstance(part, dict) else part
        if part is not None:
            yield text if isinstance(text, str) else ""


def _references(value: Any) -> Iterator[str]:
    """Yields the references of a value: texts, or identifiers with their vocabularies."""
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, dict):
            yield f"{part.get('source') or ''}".partition("_")[0] + f":{part.get('id') or ''}"
        else:
            yield from _texts(part)


def _rows(settings: SourceSettings, report: SourceReport) -> Iterator[tuple[Place, dict[str, Any]]]:
    for path in map(str, parts_of(Path(settings.path))):
        yield from (
            parquet_rows(path, report)
            if path.endswith(".parquet")
            else _json_rows(path, settings, report)
        )


def _json_rows(
    path: str, settings: SourceSettings, report: SourceReport
) -> Iterator[tuple[Place, dict[str, Any]]]:
    for place, line in counted_lines(path, settings.encoding, report):
        try:
            yield place, msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.MsgspecError, RecursionError):
            report.lose("structure", place)

"""OBO: stanzas of ``tag: value`` lines.

Format: The OBO Flat File Format Specification 1.4 (Mungall and others), with the tags of 1.0 for
synonyms. Cellosaurus is the same with bare identifiers, its species among the cross-references, and
cell lines that derive from others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from fascicle.errors import FormatError, Place
from fascicle.settings.packs import SourceSettings
from fascicle.terms.sources.drafts import Draft, SourceReport, finish_records, numbered_lines
from fascicle.terms.sources.predicates import is_short, language_of_type, predicate_meaning
from fascicle.terms.terms import ConceptRecord, NameKind, curie

_Tags = list[tuple[str, str, Place]]  # of a stanza: tag, value and place of each line
# of a stanza: more than any has, so that a damaged file does not fill the memory
_MAX_TAGS: Final = 200_000
_TAG: Final = re.compile(r"([A-Za-z_][\w.\-]*)\s*:\s*(.*)", re.ASCII | re.DOTALL)
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"(.*)', re.DOTALL)
_BEHIND: Final = re.compile(r'(?:[\s@][^"\[{]*)?(?:[\[{]|\Z)')
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_MEANS: Final = MappingProxyType({"n": "\n", "t": "\t", "W": " "})
_SYNONYMS: Final[tuple[NameKind, ...]] = ("exact", "related", "broad", "narrow")
_SCOPES: Final[Mapping[str, NameKind]] = MappingProxyType(
    {kind.upper(): kind for kind in _SYNONYMS}
)
_TYPE: Final = re.compile(rf'synonymtypedef:\s*(\S+)\s+"(?:[^"\\]|\\.)*"\s+({"|".join(_SCOPES)})\b')
_OLD: Final[Mapping[str, NameKind]] = MappingProxyType(
    {f"{kind}_synonym": kind for kind in _SYNONYMS}
)
_RANK: Final = "has_rank"  # of a taxon, in the taxonomy of NCBI as OBO
_SOURCE: Final = re.compile(r'\bsource="((?:[^"\\]|\\.)*)"')  # of a modifier
_MODIFIERS: Final = re.compile(r'\s\{\s*[\w.:\-]+=(?:"(?:[^"\\]|\\.)*"|[^{}"])*\}\s*$')
# Behind a text: a tag as in RDF, or a modifier.
_LANGUAGE: Final = re.compile(
    r'^@([A-Za-z]{2,3})\b|[{,]\s*(?:xml:)?lang(?:uage)?="([A-Za-z]{2,3})\b'
)


@dataclass(frozen=True, kw_only=True)
class _Dialect:
    """Settings for the variant of OBO that a source writes.

    Attributes:
        above: relations to concepts that count as parents, beside ``is_a``.
        taxon: prefix of the cross-reference that is the species; empty for none.
        scopes: types of synonyms -> the scope that the header declares for them.
    """

    above: Collection[str] = ()
    taxon: str = ""
    scopes: Mapping[str, NameKind] = field(default_factory=dict)


_OBO: Final = _Dialect()
CELLOSAURUS: Final = _Dialect(above=("derived_from",), taxon="NCBI_TaxID:")


def read_obo(
    settings: SourceSettings, report: SourceReport, *, dialect: _Dialect = _OBO
) -> Iterator[ConceptRecord]:
    """Streams the terms of an OBO file; identifiers that were merged into others come at its end.

    Raises:
        FormatError: the file has no stanza.
    """
    yield from finish_records(_terms(settings, report, dialect), report)


def _terms(settings: SourceSettings, report: SourceReport, dialect: _Dialect) -> Iterator[Draft]:
    empty, scopes = True, dict[str, NameKind]()
    dialect = replace(dialect, scopes=scopes)
    for kind, place, tags in _stanzas(settings, report, scopes):
        empty = False
        if kind == "Term":
            report.rows += 1
            yield _Stanza.of(tags, place, settings, report, dialect)
    if empty:
        raise FormatError("the file has no stanza, such as [Term]; is it OBO?", at=settings.path)


def _stanzas(
    settings: SourceSettings, report: SourceReport, scopes: dict[str, NameKind]
) -> Iterator[tuple[str, Place, _Tags]]:
    kind, at, tags = "", Place(settings.path, 1), list[tuple[str, str, Place]]()
    for place, line in _whole_lines(settings, report):
        if not kind:
            _take_header(line, place, report, scopes)
        if line.startswith("[") and line.rstrip().endswith("]"):
            if kind:
                yield kind, at, tags
            kind, at, tags = line.strip()[1:-1], place, []
        elif match := _TAG.match(line):
            if kind == "Term" and len(tags) < _MAX_TAGS:
                tags.append((match[1], match[2], place))
        elif line.strip() and not line.lstrip().startswith("!"):
            report.lose("tag", place)
    if kind:
        yield kind, at, tags


def _take_header(
    line: str, place: Place, report: SourceReport, scopes: dict[str, NameKind]
) -> None:
    """Notes the scope that a line of the header declares, or what it says in vain."""
    if declared := _TYPE.match(line):
        scopes[declared[1]] = _SCOPES[declared[2]]
    elif line.startswith("treat-xrefs-as-"):
        report.lose("header", place)
    elif line.startswith("import:"):
        imported = f"{place}, {line.removeprefix('import:').strip()}"
        report.lose("import", Place(place.file, place.line, shown=imported))


def _whole_lines(settings: SourceSettings, report: SourceReport) -> Iterator[tuple[Place, str]]:
    r"""Yields lines, those that end with ``\`` joined with the next."""
    begun, at = "", None
    for place, line in numbered_lines(settings.path, settings.encoding):
        if isinstance(line, FormatError):
            report.lose("line", place)
            continue
        if line.endswith("\\") and not line.endswith("\\\\") and len(begun) < 2**20:
            begun, at = begun + line[:-1], at or place
            continue
        yield at or place, begun + line
        begun, at = "", None
    if at:
        yield at, begun


@dataclass(kw_only=True)
class _Stanza:
    """Term that is built tag by tag."""

    draft: Draft
    dialect: _Dialect

    @classmethod
    def of(
        cls,
        tags: _Tags,
        place: Place,
        settings: SourceSettings,
        report: SourceReport,
        dialect: _Dialect,
    ) -> Draft:
        """Returns the term, an empty one if it has no identifier."""
        first = next((value for tag, value, _ in tags if tag == "id"), "")
        identifier = curie(_plain(first), settings.prefix)
        draft = Draft(settings=settings, report=report, place=place, curie=identifier)
        stanza = cls(draft=draft, dialect=dialect)
        for tag, value, where in tags if identifier else ():
            if take := _TAKES.get(tag):
                take(stanza, tag, value, where)
        return draft

    def take_synonym(self, tag: str, value: str, place: Place) -> None:
        quoted = _QUOTED.match(value)
        # a quote inside of the text ends it nowhere
        if quoted is None or not _BEHIND.match(quoted[2]):
            self.draft.report.lose("tag", place)
            return
        words = quoted[2].partition("[")[0].split()
        scopes = _SCOPES if any(word in _SCOPES for word in words) else self.dialect.scopes
        scope: NameKind = next((scopes[word] for word in words if word in scopes), "related")
        kind = _OLD.get(tag, scope)
        if kind in ("exact", "related") and any(
            is_short(word) for word in words if word not in _SCOPES
        ):
            kind = "abbreviation"
        language = _language(quoted[2]) or next(filter(None, map(language_of_type, words)), "")
        self.draft.name(_unescape(quoted[1]), kind, language=language, place=place, types=words)

    def take_definition(self, tag: str, value: str, place: Place) -> None:
        quoted = _QUOTED.match(value)
        if quoted is None:
            self.draft.report.lose("tag", place)
        elif _language(quoted[2]) in ("", self.draft.settings.language):
            self.draft.definition = self.draft.definition or _unescape(quoted[1])

    def take_xref(self, tag: str, value: str, place: Place) -> None:
        if self.dialect.taxon and value.startswith(self.dialect.taxon):
            self.draft.taxon = self.draft.taxon or curie(_plain(value))
        else:
            self.draft.reference(
                _plain(value), place=place, qualifiers=" ".join(_SOURCE.findall(value))
            )

    def take_relation(self, tag: str, value: str, place: Place) -> None:
        relation, _, other = value.partition(" ")
        if relation in self.dialect.above:
            self.draft.above(_plain(other), place=place)

    def take_obsolete(self, tag: str, value: str, place: Place) -> None:
        self.draft.state("obsolete", "", _plain(value), place=place)

    def take_property(self, tag: str, value: str, place: Place) -> None:
        relation, _, other = value.partition(" ")
        quoted = _QUOTED.match(other)
        text = _unescape(quoted[1]) if quoted else _plain(other).strip('"')
        part, kind = predicate_meaning(relation)
        self.draft.state(
            part, kind, text, language=_language(quoted[2]) if quoted else "", place=place
        )
        if relation == _RANK:
            self.draft.rank = self.draft.rank or _plain(other).rpartition(":")[2].replace("_", " ")

    def take_namespace(self, tag: str, value: str, place: Place) -> None:
        self.draft.type = self.draft.settings.types.get(_plain(value), self.draft.type)


_TAKES: Final[Mapping[str, Callable[[_Stanza, str, str, Place], object]]] = MappingProxyType(
    {
        "name": lambda stanza, _tag, value, place: stanza.draft.name(
            _text(value), "label", language=_language(value), place=place
        ),
        "synonym": _Stanza.take_synonym,
        **dict.fromkeys(_OLD, _Stanza.take_synonym),
        "def": _Stanza.take_definition,
        "xref": _Stanza.take_xref,
        "xref_analog": _Stanza.take_xref,
        "xref_unk": _Stanza.take_xref,
        "equivalent_to": lambda stanza, tag, value, place: stanza.take_property(
            tag, f"exactMatch {value}", place
        ),
        "is_a": lambda stanza, _tag, value, place: stanza.draft.above(_plain(value), place=place),
        "relationship": _Stanza.take_relation,
        "is_obsolete": _Stanza.take_obsolete,
        "replaced_by": lambda stanza, _tag, value, place: stanza.draft.replaced(
            _plain(value), place=place
        ),
        "alt_id": lambda stanza, _tag, value, place: stanza.draft.alias(_plain(value), place=place),
        "property_value": _Stanza.take_property,
        "namespace": _Stanza.take_namespace,
    }
)


def _plain(value: str) -> str:
    """Returns an identifier or a word without the description, comment or modifiers behind it."""
    words = value.split(None, 1)
    return _unescape(words[0]) if words and not words[0].startswith("!") else ""


def _language(rest: str) -> str:
    """Returns the language that ``@fr`` or ``{xml:lang="fr"}`` states behind a text; empty for
    none.
    """
    match = _LANGUAGE.search(rest.lstrip())
    return (match[1] or match[2]).lower() if match else ""


def _text(value: str) -> str:
    """Returns a text without quotes, and without comment and modifiers in braces at its end."""
    end = re.search(r"(?<!\\)\s!\s", value)
    text = value[: end.start()] if end else value
    modifiers = _MODIFIERS.search(text)
    return _unescape(text[: modifiers.start()] if modifiers else text)


def _unescape(text: str) -> str:
    return (
        _ESCAPE.sub(lambda escape: _MEANS.get(escape[1], escape[1]), text) if "\\" in text else text
    )

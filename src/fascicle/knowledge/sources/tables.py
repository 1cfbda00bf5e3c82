"""Tables with a map of columns: one name in a row, or all names of a concept in one row."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, TypeVar

import msgspec

from fascicle.errors import RecipeError
from fascicle.knowledge.sources.curies import curie
from fascicle.knowledge.sources.drafts import EXACT_MATCH, XREF, Draft
from fascicle.knowledge.sources.report import SourceReport
from fascicle.knowledge.sources.rows import Row, open_table
from fascicle.knowledge.terms import NAME_KINDS, ConceptRecord, NameKind
from fascicle.settings.packs import Column, ColumnSettings, SourceSettings, TableSettings

# What tables call kinds of names, without case, blanks and what is before a colon.
_KINDS: Final[Mapping[str, NameKind]] = MappingProxyType(
    {
        **{kind: kind for kind in NAME_KINDS},
        **dict.fromkeys(("name", "preferred", "preferredname", "symbol", "scientificname", "preflabel"), "label"),
        **dict.fromkeys(("synonym", "hasexactsynonym", "fullname", "altlabel", "alias", "commonname"), "exact"),
        **dict.fromkeys(("hasrelatedsynonym", "other", "oldsymbol", "oldname", "previous"), "related"),
        **dict.fromkeys(("hasbroadsynonym", "broader"), "broad"),
        **dict.fromkeys(("hasnarrowsynonym", "narrower"), "narrow"),
        **dict.fromkeys(("acronym", "abbr", "omo0003000"), "abbreviation"),
    }
)
_LISTS: Final[tuple[NameKind, ...]] = ("label", "exact", "abbreviation", "narrow", "broad", "related")
_PREDICATE: Final = re.compile("[A-Za-z]+:[A-Za-z]+")  # in front of a reference
_REMEMBERED: Final = 1_000
_TRUE: Final = frozenset({"true", "1", "yes", "y"})


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What a reader knows of the tables of one maker.

    Attributes:
        columns: what its columns are.
        table: how it is cut.
        prefix: of identifiers without one.
        equal: whether its references are to equal concepts.
        entities: whether its cells have entities of HTML.
        placeholders: names of rows that stand for nothing.
    """

    columns: ColumnSettings = field(default_factory=ColumnSettings)
    table: TableSettings = field(default_factory=TableSettings)
    prefix: str = ""
    equal: bool = False
    entities: bool = False
    placeholders: frozenset[str] = frozenset()

    def of(self, settings: SourceSettings) -> Layout:
        """The layout with what the settings of a source say otherwise.

        Raises:
            RecipeError: nobody says which column is the identifier.
        """
        columns = _over(self.columns, settings.columns) if settings.columns != ColumnSettings() else self.columns
        if columns.id is None:
            raise RecipeError(
                f"the columns of {settings.path} are not known: give columns.id and those of its names",
                key="columns.id",
            )
        return replace(self, columns=columns, table=_over(self.table, settings.table))


S = TypeVar("S", bound=msgspec.Struct)
GENERIC: Final = Layout()


def read_table(settings: SourceSettings, report: SourceReport, *, layout: Layout = GENERIC) -> Iterator[ConceptRecord]:
    """Streams the concepts of a table; rows of one concept that follow each other are one record.

    Raises:
        FormatError: no header with the columns that are needed, or none of the columns that the settings name.
        RecipeError: the columns are not known.
    """
    asked = settings.columns.given().values()
    layout = layout.of(settings)
    settings = msgspec.structs.replace(settings, table=layout.table, prefix=settings.prefix or layout.prefix)
    columns = layout.columns
    assert columns.id is not None
    needed = [columns.id] if columns.name is None else [columns.id, columns.name]
    wished = [column for column in columns.given().values() if column not in needed]
    table = open_table(settings, report, needed=needed, wished=wished, asked=asked)
    reading = _Rows(layout=layout, settings=settings, report=report, at=table.at)
    draft: Draft | None = None
    id_at, last = table.at[columns.id], ("", "")
    for row in table.rows:
        if row.cells[id_at] != last[0]:
            last = row.cells[id_at], curie(row.cells[id_at], settings.prefix)
        identifier = last[1]
        if not identifier:
            report.lose("identifier", row.place)
            continue
        if draft is not None and draft.curie != identifier:
            yield draft.record()
            draft = None
        new = draft or Draft(settings=settings, report=report, place=row.place, curie=identifier)
        if reason := reading.take(row, new):
            report.lose(reason, row.place)
            continue
        report.used += 1
        draft = new
    if draft is not None:
        yield draft.record()


class _Rows:
    """Adds rows to drafts; where which column is was looked up before."""

    def __init__(
        self, *, layout: Layout, settings: SourceSettings, report: SourceReport, at: Mapping[Column, int]
    ) -> None:
        columns = layout.columns
        self._layout, self._settings, self._report, self._columns = layout, settings, report, columns
        self._name = at[columns.name] if columns.name is not None else None
        self._one = {
            key: at[column]
            for key in ("kind", "tag", "language", "definition", "taxon", "rank", "type", "obsolete")
            if (column := getattr(columns, key)) in at
        }
        self._lists = [(kind, at[column]) for kind in _LISTS for column in getattr(columns, kind) if column in at]
        self._relations = [
            (key, at[column])
            for key in ("parents", "replaced_by", "references")
            for column in getattr(columns, key)
            if column in at
        ]
        self._kinds: dict[tuple[str, str], NameKind] = {}

    def take(self, row: Row, draft: Draft) -> str:
        """Adds what a row says; returns the reason if it says nothing.

        One with neither a name nor a kind of name is about the concept alone.
        """
        draft.place, cells = row.place, row.cells
        if self._layout.placeholders and not self._layout.placeholders.isdisjoint(cells):
            return "placeholder"
        one = self._one
        if self._name is not None and not cells[self._name]:
            if "kind" not in one or cells[one["kind"]]:
                return "no-name"
        elif self._name is not None:
            kind = self._kind(cells[one["kind"]] if "kind" in one else "", cells[one["tag"]] if "tag" in one else "")
            language = cells[one["language"]].lower() if "language" in one else ""
            draft.name(self._text(cells[self._name]), kind, language=language)
        for kind, column in self._lists:
            for text in self._several(cells[column]):
                draft.name(self._text(text), kind)
        for key, column in self._relations:
            for text in self._several(cells[column]):
                self._relate(key, text, draft)
        self._describe(cells, draft)
        return ""

    def _relate(self, key: str, text: str, draft: Draft) -> None:
        if key == "parents":
            draft.above(text)
        elif key == "replaced_by":
            draft.replaced(text)
        else:
            said, _, other = text.rpartition(" ")
            if not _PREDICATE.fullmatch(said):
                said, other = EXACT_MATCH if self._layout.equal else XREF, text
            draft.reference(other, said, prefix=self._layout.table.reference_prefix)

    def _describe(self, cells: list[str], draft: Draft) -> None:
        for key, column in self._one.items():
            text = cells[column]
            if not text or key in ("kind", "tag", "language"):
                continue
            if key == "obsolete":
                draft.obsolete = draft.obsolete or text.lower() in _TRUE
            elif not getattr(draft, key):
                setattr(draft, key, self._said(key, text))

    def _said(self, key: str, text: str) -> str:
        if key == "taxon":
            return curie(text, "NCBITaxon")
        return self._settings.types.get(text, "") if key == "type" else text

    def _kind(self, given: str, tag: str) -> NameKind:
        """The kind of a name; the few values that a table has are remembered."""
        found = self._kinds.get((given, tag))
        if found is None:
            found = self._layout.table.kind_names.get(given) or _KINDS.get(_word(given), "exact")
            if found in ("exact", "related") and _KINDS.get(_word(tag)) == "abbreviation":
                found = "abbreviation"
            if len(self._kinds) < _REMEMBERED:
                self._kinds[given, tag] = found
        return found

    def _several(self, cell: str) -> Iterator[str]:
        """The parts of a cell."""
        table = self._layout.table
        if cell:
            for part in cell.split(table.split) if table.split else (cell,):
                if (text := part.strip()) and text not in table.empty:
                    yield text

    def _text(self, text: str) -> str:
        return html.unescape(text) if self._layout.entities and "&" in text else text


def _word(text: str) -> str:
    plain = text.lower()
    for sign in " _-:":
        plain = plain.replace(sign, "")
    return plain.removeprefix("oboinowl").removeprefix("rdfs").removeprefix("skos")


def _over(base: S, given: S) -> S:
    """Settings with those of another put over them that are not the default."""
    default = type(given)()
    changed = {f: value for f in given.__struct_fields__ if (value := getattr(given, f)) != getattr(default, f)}
    return msgspec.structs.replace(base, **changed)

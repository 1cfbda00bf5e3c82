"""Tables with a map of columns, as text or Parquet: one name in a row, or all names of a concept
in one row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from fascicle.errors import Place, RecipeError
from fascicle.settings.base import Settings
from fascicle.settings.packs import Column, ColumnSettings, SourceSettings, TableSettings
from fascicle.terms.sources.drafts import EXACT_MATCH, XREF, Draft, SourceReport
from fascicle.terms.sources.rows import BETWEEN, Rows, open_table
from fascicle.terms.terms import NAME_KINDS, ConceptRecord, NameKind, curie

# What tables call kinds of names, without case, blanks and what is before a colon.
_KINDS: Final[Mapping[str, NameKind]] = MappingProxyType(
    {
        **{kind: kind for kind in NAME_KINDS},
        **dict.fromkeys(
            ("name", "preferred", "preferredname", "symbol", "scientificname", "preflabel"), "label"
        ),
        **dict.fromkeys(
            ("synonym", "hasexactsynonym", "fullname", "altlabel", "alias", "commonname"), "exact"
        ),
        **dict.fromkeys(("hasrelatedsynonym", "other", "oldname"), "related"),
        **dict.fromkeys(("oldsymbol", "previous", "previoussymbol"), "previous"),
        **dict.fromkeys(("hasbroadsynonym", "broader"), "broad"),
        **dict.fromkeys(("hasnarrowsynonym", "narrower"), "narrow"),
        **dict.fromkeys(("acronym", "abbr", "omo0003000"), "abbreviation"),
    }
)
_LISTS: Final[tuple[NameKind, ...]] = (
    "label",
    "exact",
    "abbreviation",
    "narrow",
    "broad",
    "related",
    "previous",
)
_RELATIONS: Final = ("parents", "replaced_by", "references")
# columns that have one value
_SINGLE: Final = ("kind", "tag", "language", "definition", "taxon", "rank", "type", "obsolete")
VERSION: Final = ("id", "effectiveTime")  # columns of a release that name a row and its version
_PREDICATE: Final = re.compile("[A-Za-z]+:[A-Za-z]+")  # in front of a reference
_REMEMBERED: Final = 1_000
_NOTHING: Final = frozenset({"", "-"})  # parts of a cell; ``NaN`` is a gene beside others
_TRUE: Final = frozenset({"true", "1", "yes", "y"})
_S = TypeVar("_S", bound=msgspec.Struct)
_K = TypeVar("_K", bound=str)


class Layout(Settings, frozen=True, kw_only=True):
    """Format of the tables of one publisher.

    Attributes:
        columns: what its columns are.
        table: how it is cut.
        prefix: of identifiers without one.
        equal: whether its references are to equal concepts.
        placeholders: names of rows without a meaning.
        unnamed: regular expression for names that say nothing.
        languages: what it calls languages -> as we do.
        tag: regular expression for what names of the kind ``tagged`` end with that is no part of
            them.
        tagged: value of the column ``kind``.
        preferred: places of columns, each with its value in the row of a preferred name; other
            labels count only where a concept has none.
    """

    columns: ColumnSettings = ColumnSettings()
    table: TableSettings = TableSettings()
    prefix: str = ""
    equal: bool = False
    placeholders: frozenset[str] = frozenset()
    unnamed: str = ""
    languages: dict[str, str] = msgspec.field(default_factory=dict)
    tag: str = ""
    tagged: str = ""
    preferred: tuple[tuple[int, str], ...] = ()

    def of(self, settings: SourceSettings) -> Layout:
        """Returns the layout with the settings of a source that differ from it.

        Raises:
            RecipeError: the column of the identifier is not given.
        """
        columns = (
            _over(self.columns, settings.columns)
            if settings.columns != ColumnSettings()
            else self.columns
        )
        if columns.id is None:
            raise RecipeError(
                f"the columns of {settings.path} are not known: give columns.id and those of its "
                "names",
                key="columns.id",
            )
        return replace(self, columns=columns, table=_over(self.table, settings.table))

    def read(self, settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
        """Streams the concepts of a table of this layout; see `read_table`."""
        return read_table(settings, report, layout=self)


_GENERIC: Final = Layout()


def read_table(
    settings: SourceSettings,
    report: SourceReport,
    *,
    layout: Layout = _GENERIC,
    superseded: Collection[tuple[str, ...]] = (),
    identify: Callable[[str, str], str] = curie,
) -> Iterator[ConceptRecord]:
    """Streams the concepts of a table; rows of one concept that follow each other are one record.

    Args:
        settings: of the source.
        report: receives what is lost.
        layout: of the table.
        superseded: values of the columns `VERSION` of rows that later ones replaced.
        identify: gives the CURIE of a cell with an identifier, and the prefix; empty for none.

    Raises:
        FormatError: no header with the columns that are needed, or none of the columns that the
            settings name.
        RecipeError: the columns are not known.
    """
    required = settings.columns.given().values()
    layout = layout.of(settings)
    settings = replace(settings, table=layout.table, prefix=settings.prefix or layout.prefix)
    columns = layout.columns
    assert columns.id is not None
    needed = [column for column in (columns.id, columns.name) if column is not None]
    wished = [column for column in columns.given().values() if column not in needed]
    wished += VERSION if superseded else ()
    at, rows = open_table(settings, report, needed=needed, wished=wished, required=required)
    if superseded:
        rows = _drop_superseded(rows, superseded, at, report)
    reading = _Rows(layout=layout, settings=settings, report=report, at=at)
    yield from reading.records(_identify(rows, at[columns.id], settings, report, identify))


def _drop_superseded(
    rows: Rows,
    superseded: Collection[tuple[str, ...]],
    at: Mapping[Column, int],
    report: SourceReport,
) -> Rows:
    for place, cells in rows:
        if tuple(cells[at[column]] for column in VERSION) in superseded:
            report.lose("superseded", place)
        else:
            yield place, cells


def _identify(
    rows: Rows,
    column: int,
    settings: SourceSettings,
    report: SourceReport,
    identify: Callable[[str, str], str],
) -> Iterator[tuple[Place, str, list[str]]]:
    """Yields rows with the CURIEs of their concepts, which follow from the cells of a column."""
    last, identifier = "", ""
    for place, cells in rows:
        if cells[column] != last:
            last = cells[column]
            identifier = identify(last, settings.prefix)
        if identifier:
            yield place, identifier, cells
        else:
            report.lose("identifier", place)


class _Rows:
    """Adds rows to drafts; the places of the columns are known from the header."""

    def __init__(
        self,
        *,
        layout: Layout,
        settings: SourceSettings,
        report: SourceReport,
        at: Mapping[Column, int],
    ) -> None:
        self._layout, self._settings, self._report = layout, settings, report
        self._tag, self._unnamed = re.compile(layout.tag), re.compile(layout.unnamed)
        columns = layout.columns
        self._name = at[columns.name] if columns.name is not None else None
        self._single = {
            key: at[column] for key in _SINGLE if (column := getattr(columns, key)) in at
        }
        self._lists = _columns_of(columns, _LISTS, at)
        self._relations = _columns_of(columns, _RELATIONS, at)
        self._kind = lru_cache(maxsize=_REMEMBERED)(self._kind_of)

    def records(self, rows: Iterable[tuple[Place, str, list[str]]]) -> Iterator[ConceptRecord]:
        """Yields the records of rows, given the CURIE of each."""
        settings, report = self._settings, self._report
        draft: Draft | None = None
        for place, identifier, cells in rows:
            if draft is not None and draft.curie != identifier:
                yield draft.record()
                draft = None
            new = draft or Draft(settings=settings, report=report, place=place, curie=identifier)
            if reason := self._take(place, cells, new):
                report.lose(reason, place)
                continue
            report.used += 1
            draft = new
        if draft is not None:
            yield draft.record()

    def _take(self, place: Place, cells: list[str], draft: Draft) -> str:
        """Adds the data of a row; returns the reason if it has none.

        One with neither a name nor a kind of name is about the concept alone.
        """
        draft.place = place
        if self._layout.placeholders and not self._layout.placeholders.isdisjoint(cells):
            return "placeholder"
        if self._name is not None:
            if cells[self._name]:
                self._take_name(cells[self._name], cells, draft)
            elif "kind" not in self._single or self._cell(cells, "kind"):
                return "no-name"
        for kind, column in self._lists:
            for text in self._several(cells[column]):
                if self._layout.unnamed and self._unnamed.fullmatch(text):
                    self._report.lose("unnamed", place)
                else:
                    draft.name(text, kind)
        for key, column in self._relations:
            for text in self._several(cells[column]):
                self._relate(key, text, draft)
        self._describe(cells, draft)
        return ""

    def _cell(self, cells: list[str], key: str) -> str:
        return cells[self._single[key]] if key in self._single else ""

    def _take_name(self, name: str, cells: list[str], draft: Draft) -> None:
        word, layout = self._cell(cells, "kind"), self._layout
        kind = self._kind(word, self._cell(cells, "tag"))
        preferred = bool(layout.preferred) and all(
            cells[at] == value for at, value in layout.preferred
        )
        language = self._cell(cells, "language").lower()
        if layout.tag and word == layout.tagged:
            name = self._tag.sub("", name)
        draft.name(
            name,
            "label" if preferred else kind,
            language=layout.languages.get(language, language),
            first=preferred,
        )

    def _relate(self, key: str, text: str, draft: Draft) -> None:
        if key == "parents":
            draft.above(text)
        elif key == "replaced_by":
            draft.replaced(text)
        else:
            predicate, _, other = text.rpartition(" ")
            if not _PREDICATE.fullmatch(predicate):
                predicate, other = EXACT_MATCH if self._layout.equal else XREF, text
            draft.reference(other, predicate, prefix=self._layout.table.reference_prefix)

    def _describe(self, cells: list[str], draft: Draft) -> None:
        for key, column in self._single.items():
            text = cells[column]
            if not text or key in ("kind", "tag", "language"):
                continue
            if key == "obsolete":
                draft.obsolete = draft.obsolete or text.lower() in _TRUE
            elif not getattr(draft, key):
                setattr(draft, key, self._convert(key, text))

    def _convert(self, key: str, text: str) -> str:
        if key == "taxon":
            return curie(text, "NCBITaxon")
        return self._settings.types.get(text, "") if key == "type" else text

    def _kind_of(self, word: str, tag: str) -> NameKind:
        """Returns the kind of a name."""
        kind: NameKind = self._layout.table.kind_names.get(word) or _KINDS.get(_word(word), "exact")
        short = kind in ("exact", "related") and _KINDS.get(_word(tag)) == "abbreviation"
        return "abbreviation" if short else kind

    def _several(self, cell: str) -> Iterator[str]:
        """Yields the parts of a cell."""
        table = self._layout.table
        if cell:
            split = BETWEEN if BETWEEN in cell else table.split
            for part in cell.split(split) if split else (cell,):
                if (text := part.strip()) and text not in _NOTHING:
                    yield text


def _columns_of(
    columns: ColumnSettings, keys: Iterable[_K], at: Mapping[Column, int]
) -> list[tuple[_K, int]]:
    """Returns the keys of settings that name several columns, each with the place of a column."""
    return [(key, at[column]) for key in keys for column in getattr(columns, key) if column in at]


def _word(text: str) -> str:
    plain = text.lower()
    for sign in " _-:":
        plain = plain.replace(sign, "")
    return plain.removeprefix("oboinowl").removeprefix("rdfs").removeprefix("skos")


def _over(base: _S, changes: _S) -> _S:
    """Returns settings, overridden by those values of another that are not the default."""
    default = type(changes)()
    changed = {
        f: value
        for f in changes.__struct_fields__
        if (value := getattr(changes, f)) != getattr(default, f)
    }
    return replace(base, **changed)

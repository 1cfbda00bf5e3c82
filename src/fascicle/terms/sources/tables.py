"""Tables with a map of columns, as text or Parquet: one name in a row, or all names of a concept in one row."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

import msgspec

from fascicle.core.files.source import Line
from fascicle.errors import FormatError, Place, RecipeError
from fascicle.settings.base import Settings
from fascicle.settings.packs import Column, ColumnSettings, SourceSettings, TableSettings
from fascicle.terms.sources.drafts import EXACT_MATCH, XREF, Draft, SourceReport, numbered_lines
from fascicle.terms.sources.parquet_rows import parquet_columns, parquet_rows, parts_of
from fascicle.terms.terms import NAME_KINDS, ConceptRecord, NameKind, curie

_Numbered = Iterator[tuple[Place, Line]]
Rows = Iterator[tuple[Place, list[str]]]  # place of each, and its cells: without blanks at their ends, empty for none
_LOOKED_AT: Final = 200  # lines at the beginning, among which the header is
_SEPARATORS: Final = ("\t", ";", ",")
_BETWEEN: Final = "\ud800"  # a half of a surrogate pair, between the parts of a list of Parquet
_NUMBER: Final = re.compile("[0-9]{1,4}")  # of a column


def open_table(
    settings: SourceSettings,
    report: SourceReport,
    *,
    needed: Sequence[Column],
    wished: Sequence[Column] = (),
    asked: Collection[Column] = (),
) -> tuple[Mapping[Column, int], Rows]:
    """Opens a table and reads its header.

    The header is the first line that has all needed columns; a ``#`` in front of it is left out, and so are lines
    before it. Where columns are numbers there is no header. A row ends with its line: quotes go over no line break.

    Args:
        settings: of the source; a column of ``where`` or ``unless`` that is not there is refused.
        report: receives what is lost.
        needed: columns without which nothing can be read.
        wished: columns that may be missing.
        asked: those of them that may not: a user named them.

    Returns:
        Column as it was requested -> its place, the same numbers where there is no header; and the rows, each with all
        cells that the table needs.

    Raises:
        FormatError: no header with these columns; where there is none, the rows say at their end that none has one.
        RecipeError: ``where`` or ``unless`` name a column that is not there.
    """
    filters = {**settings.table.where, **settings.table.unless}
    numbers = all(isinstance(column, int) for column in needed)
    if settings.path.endswith(".parquet") or Path(settings.path).is_dir():
        at, rows = _parquet(settings, report, [*needed], [*wished, *filters])
    else:
        lines: _Numbered = islice(numbered_lines(settings.path, settings.encoding), settings.table.skip, None)
        if numbers:
            separator, at = settings.table.separator.replace("auto", "\t"), {}
        else:
            at, separator, lines = _header(settings, lines, [*map(str, needed)], [*map(str, (*wished, *filters))])
        rows = _cut_lines(lines, _cutter(separator), report)
    if numbers:
        at = {column: int(column) for column in (*needed, *wished)}
        at |= {column: int(column) for column in filters if _NUMBER.fullmatch(column)}
    if missing := [column for column in filters if column not in at]:
        raise RecipeError(
            f"there is no column {missing[0]!r} in {settings.path}; correct where or unless", key=missing[0]
        )
    if absent := [column for column in asked if column not in at]:
        raise FormatError(f"there is no column {absent[0]!r}; correct columns", at=settings.path)
    width = 1 + max(at[column] for column in needed)
    last = max((at[column] for column in asked), default=0)
    return at, _rows(settings, report, rows=rows, width=width, at=at, last=last)


def _header(
    settings: SourceSettings, lines: _Numbered, needed: list[str], wished: list[str]
) -> tuple[dict[Column, int], str, _Numbered]:
    """Returns the places of the columns, the separator, and the lines after the header."""
    given = settings.table.separator
    shown = ""
    for _, line in islice(lines, _LOOKED_AT):
        if isinstance(line, FormatError):
            continue
        bare = line.lstrip("#").strip(" ")
        shown = shown or (bare if not line.startswith("#") else "")
        for separator in _SEPARATORS if given == "auto" else (given,):
            try:
                cells = [cell.strip() for cell in _cutter(separator)(bare)]
            except csv.Error:
                continue
            if all(column in cells for column in needed):
                known = [column for column in (*needed, *wished) if column in cells]
                found: dict[Column, int] = {column: cells.index(column) for column in known}
                return found, separator, lines
    columns = " and ".join(map(repr, needed))
    raise FormatError(
        f"no line has the columns {columns}; the first row is {shown[:100]!r}; name the columns of this table",
        at=settings.path,
    )


def _parquet(
    settings: SourceSettings, report: SourceReport, needed: list[Column], wished: list[Column]
) -> tuple[dict[Column, int], Rows]:
    """Returns the places of the columns of Parquet, a file or a folder of parts, and its rows."""
    paths = [str(path) for path in parts_of(Path(settings.path))]
    names = parquet_columns(paths[0])
    if missing := [column for column in needed if isinstance(column, str) and column not in names]:
        shown = ", ".join(names)[:200]
        raise FormatError(f"there is no column {missing[0]!r}; the columns are {shown}; correct columns", at=paths[0])
    rows = (
        (place, [_cell(row.get(name)) for name in names]) for path in paths for place, row in parquet_rows(path, report)
    )
    return {column: names.index(str(column)) for column in (*needed, *wished) if column in names}, rows


def _cell(value: Any) -> str:
    """Returns a value of Parquet as text; the parts of a list keep apart by a sign that no text has."""
    if isinstance(value, list):
        return "".join(_cell(one) + _BETWEEN for one in value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a number in a column with missing ones
    return "" if value is None else str(value)


def _cut_lines(lines: _Numbered, cut: Callable[[str], list[str]], report: SourceReport) -> Rows:
    """Yields the cells of lines, and counts those that cannot be cut."""
    inside = False  # of a cell with a line break
    for place, line in lines:
        if isinstance(line, FormatError):
            report.rows += 1
            report.lose("encoding", place)
            continue
        if not line.strip("# \t"):
            continue
        report.rows += 1
        odd = line.count('"') % 2 == 1
        try:
            cells = [] if inside and odd else cut(line)
        except csv.Error:
            cells = []
        if cells:
            yield place, cells
        else:
            inside = odd and not inside
            report.lose("quotes", place)


def _rows(
    settings: SourceSettings, report: SourceReport, *, rows: Rows, width: int, at: Mapping[Column, int], last: int
) -> Rows:
    empty = frozenset(settings.table.empty)
    filters = [(at[column], frozenset(values), True) for column, values in settings.table.where.items()]
    filters += [(at[column], frozenset(values), False) for column, values in settings.table.unless.items()]
    size, widest = 1 + max(at.values()), 0
    for place, cells in rows:
        if len(cells) < width:
            report.lose("columns", place)
            continue
        widest = max(widest, len(cells))
        written = [cell.strip() for cell in cells] + [""] * (size - len(cells))
        cells = [text if text not in empty else "" for text in written]
        if any(({written[column], cells[column]} & values == set()) is kept for column, values, kept in filters):
            report.lose("where", place)
            continue
        yield place, cells
    if 0 < widest <= last:
        raise FormatError(
            f"there is no column {last}, counted from 0: the longest row has {widest} columns; correct columns",
            at=settings.path,
        )


def _cutter(separator: str) -> Callable[[str], list[str]]:
    def cut_plain(line: str) -> list[str]:
        cells = line.split(separator)
        return [_unquoted(cell) for cell in cells] if '"' in line else cells

    def cut_csv(line: str) -> list[str]:
        return next(csv.reader([line], delimiter=separator, strict=True)) if '"' in line else line.split(separator)

    return cut_csv if separator in ",;" else cut_plain


def _unquoted(cell: str) -> str:
    """Returns a cell without the quotes around it; other quotes are kept."""
    if len(cell) < 2 or cell[0] != '"' or cell[-1] != '"' or '"' in cell[1:-1].replace('""', ""):
        return cell
    return cell[1:-1].replace('""', '"')


# What tables call kinds of names, without case, blanks and what is before a colon.
_KINDS: Final[Mapping[str, NameKind]] = MappingProxyType(
    {
        **{kind: kind for kind in NAME_KINDS},
        **dict.fromkeys(("name", "preferred", "preferredname", "symbol", "scientificname", "preflabel"), "label"),
        **dict.fromkeys(("synonym", "hasexactsynonym", "fullname", "altlabel", "alias", "commonname"), "exact"),
        **dict.fromkeys(("hasrelatedsynonym", "other", "oldname"), "related"),
        **dict.fromkeys(("oldsymbol", "previous", "previoussymbol"), "previous"),
        **dict.fromkeys(("hasbroadsynonym", "broader"), "broad"),
        **dict.fromkeys(("hasnarrowsynonym", "narrower"), "narrow"),
        **dict.fromkeys(("acronym", "abbr", "omo0003000"), "abbreviation"),
    }
)
_LISTS: Final[tuple[NameKind, ...]] = ("label", "exact", "abbreviation", "narrow", "broad", "related", "previous")
_PREDICATE: Final = re.compile("[A-Za-z]+:[A-Za-z]+")  # in front of a reference
_REMEMBERED: Final = 1_000
_NOTHING: Final = frozenset({"", "-"})  # parts of a cell; ``NaN`` is a gene beside others
_TRUE: Final = frozenset({"true", "1", "yes", "y"})


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
        tag: regular expression for what labels end with that is no part of them.
    """

    columns: ColumnSettings = ColumnSettings()
    table: TableSettings = TableSettings()
    prefix: str = ""
    equal: bool = False
    placeholders: frozenset[str] = frozenset()
    unnamed: str = ""
    languages: dict[str, str] = msgspec.field(default_factory=dict)
    tag: str = ""

    def of(self, settings: SourceSettings) -> Layout:
        """Returns the layout with the settings of a source that differ from it.

        Raises:
            RecipeError: the column of the identifier is not given.
        """
        columns = _over(self.columns, settings.columns) if settings.columns != ColumnSettings() else self.columns
        if columns.id is None:
            raise RecipeError(
                f"the columns of {settings.path} are not known: give columns.id and those of its names",
                key="columns.id",
            )
        return msgspec.structs.replace(self, columns=columns, table=_over(self.table, settings.table))

    def read(self, settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
        """Streams the concepts of a table of this layout; see `read_table`."""
        return read_table(settings, report, layout=self)


_S = TypeVar("_S", bound=msgspec.Struct)
_GENERIC: Final = Layout()


VERSION: Final = ("id", "effectiveTime")  # columns of a release that name a row and its version


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
    wished += VERSION if superseded else ()
    at, rows = open_table(settings, report, needed=needed, wished=wished, asked=asked)
    reading = _Rows(layout=layout, settings=settings, report=report, at=at)
    draft: Draft | None = None
    id_at, last = at[columns.id], ("", "")
    for place, cells in rows:
        if superseded and tuple(cells[at[column]] for column in VERSION) in superseded:
            report.lose("superseded", place)
            continue
        if cells[id_at] != last[0]:
            last = cells[id_at], identify(cells[id_at], settings.prefix)
        identifier = last[1]
        if not identifier:
            report.lose("identifier", place)
            continue
        if draft is not None and draft.curie != identifier:
            yield draft.record()
            draft = None
        new = draft or Draft(settings=settings, report=report, place=place, curie=identifier)
        if reason := reading.take(place, cells, new):
            report.lose(reason, place)
            continue
        report.used += 1
        draft = new
    if draft is not None:
        yield draft.record()


class _Rows:
    """Adds rows to drafts; the places of the columns are known from the header."""

    def __init__(
        self, *, layout: Layout, settings: SourceSettings, report: SourceReport, at: Mapping[Column, int]
    ) -> None:
        columns = layout.columns
        self._layout, self._settings, self._report, self._columns = layout, settings, report, columns
        self._tag, self._unnamed = re.compile(layout.tag), re.compile(layout.unnamed)
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
        self._kind = lru_cache(maxsize=_REMEMBERED)(self._kind_of)

    def take(self, place: Place, cells: list[str], draft: Draft) -> str:
        """Adds the data of a row; returns the reason if it has none.

        One with neither a name nor a kind of name is about the concept alone.
        """
        draft.place = place
        if self._layout.placeholders and not self._layout.placeholders.isdisjoint(cells):
            return "placeholder"
        one = self._one
        if self._name is not None and not cells[self._name]:
            if "kind" not in one or cells[one["kind"]]:
                return "no-name"
        elif self._name is not None:
            kind = self._kind(cells[one["kind"]] if "kind" in one else "", cells[one["tag"]] if "tag" in one else "")
            language = cells[one["language"]].lower() if "language" in one else ""
            name = cells[self._name]
            name = self._tag.sub("", name) if self._layout.tag and kind == "label" else name
            draft.name(name, kind, language=self._layout.languages.get(language, language))
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

    def _kind_of(self, given: str, tag: str) -> NameKind:
        """Returns the kind of a name."""
        found: NameKind = self._layout.table.kind_names.get(given) or _KINDS.get(_word(given), "exact")
        short = found in ("exact", "related") and _KINDS.get(_word(tag)) == "abbreviation"
        return "abbreviation" if short else found

    def _several(self, cell: str) -> Iterator[str]:
        """Yields the parts of a cell."""
        table = self._layout.table
        if cell:
            split = _BETWEEN if _BETWEEN in cell else table.split
            for part in cell.split(split) if split else (cell,):
                if (text := part.strip()) and text not in _NOTHING:
                    yield text


def _word(text: str) -> str:
    plain = text.lower()
    for sign in " _-:":
        plain = plain.replace(sign, "")
    return plain.removeprefix("oboinowl").removeprefix("rdfs").removeprefix("skos")


def _over(base: _S, given: _S) -> _S:
    """Returns settings, overridden by those values of another that are not the default."""
    default = type(given)()
    changed = {f: value for f in given.__struct_fields__ if (value := getattr(given, f)) != getattr(default, f)}
    return msgspec.structs.replace(base, **changed)

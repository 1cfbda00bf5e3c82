"""Settings for building a term pack: the file ``sources.toml``, with one table for each
vocabulary.
"""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, field
from msgspec.structs import replace

from fascicle.errors import RecipeError
from fascicle.settings.base import Name, Natural, PackName, Positive, Settings
from fascicle.settings.recipes.strict import convert_values, read_toml, refuse_unknown, resolve_path

# name in the header, or number from 0 without a header
Column = Name | Annotated[int, Meta(ge=0, le=9_999)]
_NameKinds = Literal[
    "label", "exact", "related", "broad", "narrow", "abbreviation", "generated", "previous"
]
_ABSENT: Mapping[str, Any] = {}


class ColumnSettings(Settings, frozen=True, kw_only=True):
    """Which column of a table says what. Columns are given by name, or all by number from 0 if
    there is no header.

    Attributes:
        id: identifier of the concept; required where the reader does not know it.
        name: one name in a row.
        kind: what kind of name that is, see ``kind_names``.
        tag: a second column about the name; an abbreviation is told by it.
        language: ISO 639-1 code of the name.
        label: preferred names; one cell may hold several names, as in the lists below, see
            ``split``.
        exact: synonyms.
        related: synonyms that are near.
        broad: synonyms that mean more.
        narrow: synonyms that mean less.
        abbreviation: short forms.
        previous: names that others replaced, such as former symbols of genes.
        parents: identifiers of the concepts above.
        references: identifiers in other vocabularies; a predicate and a blank may stand before
            each, such as ``skos:exactMatch DOID:1``.
        definition: one text.
        taxon: identifier of the species, with or without its prefix.
        rank: rank of a taxon.
        type: what kind of thing the concept is, see ``types`` of the source.
        obsolete: whether it is obsolete: ``true``, ``1``, ``yes`` or ``y``.
        replaced_by: identifiers of what took its place.
    """

    id: Column | None = None
    name: Column | None = None
    kind: Column | None = None
    tag: Column | None = None
    language: Column | None = None
    label: tuple[Column, ...] = ()
    exact: tuple[Column, ...] = ()
    related: tuple[Column, ...] = ()
    broad: tuple[Column, ...] = ()
    narrow: tuple[Column, ...] = ()
    abbreviation: tuple[Column, ...] = ()
    previous: tuple[Column, ...] = ()
    parents: tuple[Column, ...] = ()
    references: tuple[Column, ...] = ()
    definition: Column | None = None
    taxon: Column | None = None
    rank: Column | None = None
    type: Column | None = None
    obsolete: Column | None = None
    replaced_by: tuple[Column, ...] = ()

    def given(self) -> dict[str, Column]:
        """Returns every given column, by its key and, in a list, its index."""
        columns: dict[str, Column] = {}
        for key in self.__struct_fields__:
            value = getattr(self, key)
            if isinstance(value, tuple):
                columns |= {f"{key}.{at}": column for at, column in enumerate(value)}
            elif value is not None:
                columns[key] = value
        return columns

    @property
    def numbered(self) -> bool:
        """True if the columns are given by number."""
        return all(isinstance(column, int) for column in self.given().values())

    def __post_init__(self) -> None:
        """Refuses a mixture of names and numbers."""
        kinds = {type(column) for column in self.given().values()}
        if len(kinds) > 1:
            raise ValueError(
                "some columns are given by name and some by number: give all in one way"
            )


class TableSettings(Settings, frozen=True, kw_only=True):
    """How a table is cut.

    Attributes:
        separator: between columns, such as ``"$"``; ``"auto"`` is the first of TAB, ``;`` and ``,``
            that cuts the header into the columns that are needed, and TAB where there is no header.
            Only ``;`` and ``,`` may stand inside quotes.
        split: between several values in one cell; blanks around it do not count.
        empty: cells that say nothing, those that programs write for a missing value among them.
        skip: rows before the first one, or before the header, that are no part of the table.
        kind_names: value of the column ``kind`` -> kind of name, beside the usual ones.
        where: column -> values; rows with others are left out.
        unless: column -> values; rows with these are left out.
        reference_prefix: of references without a prefix.
    """

    separator: Annotated[str, Meta(min_length=1, max_length=10)] = "auto"
    split: str = "|"
    empty: tuple[str, ...] = (
        *("", "-", "NA", "N/A", "<NA>", "NaN", "nan", "None", "null", "NULL", "\\N"),
    )
    skip: Natural = 0
    kind_names: dict[Name, _NameKinds] = field(default_factory=dict)
    where: dict[Name, tuple[str, ...]] = field(default_factory=dict)
    unless: dict[Name, tuple[str, ...]] = field(default_factory=dict)
    reference_prefix: str = ""


class SourceSettings(Settings, frozen=True, kw_only=True):
    """One vocabulary: where it is, how it is read, whose it is, and what is taken of it.

    Attributes:
        path: of the file; ``$NAME`` is an environment variable, and a relative path starts at the
            folder of this file.
        reader: name of a reader, see ``terms/sources/reading.py``.
        hierarchy: a second file of the vocabulary with what is above what: MeSH tree numbers, or
            ``nodes.dmp``.
        type: type of all concepts; empty where the vocabulary says it.
        types: value in the vocabulary (the column ``type``, the namespace in OBO) -> type of the
            concept.
        prefix: of identifiers that have none; empty for that of the reader.
        encoding: of the file.
        licence: of the content, e.g. ``"CC0-1.0"``.
        attribution: the sentence that the licence asks for, or that names the makers.
        url: where it is from.
        date: of the vocabulary, as exactly as it is known: ``2024``, ``2024-03`` or ``2024-03-15``.
        sha256: of the file as it is; empty for no check.
        hierarchy_sha256: the same of ``hierarchy``.
        language: of names that do not say it.
        languages: those kept; empty for all.
        kinds: kinds of names that are kept; empty for all.
        drop_types: types of synonyms of ontologies that are left out, such as ``"DEPRECATED"``, in
            any case.
        predicates: address of a predicate of RDF -> kind of the names that it gives, beside those
            that are known.
        keep: beginnings of CURIEs, such as ``"MESH:C"``; other concepts are left out.
        drop: beginnings of CURIEs of concepts that are left out.
        below: CURIEs; only these concepts and those below them are kept.
        not_below: CURIEs; these concepts and those below them are left out.
        branches: beginnings of MeSH tree numbers, such as ``"C"`` or ``"F03"``; other concepts are
            left out.
        taxa: CURIEs of species; concepts of other species are left out.
        taxon: CURIE of the species of concepts of which the source does not say it, such as genes
            of one species.
        references: beginnings of CURIEs of references that are kept; all by default, none for an
            empty list.
        definitions: whether definitions are kept.
        obsolete: whether obsolete concepts are kept, which are not found but explained.
        adds: whether it only adds names and facts to concepts of other sources, which have a type;
            leave ``type`` out.
        shows: whether its labels only say which of the names of other sources is shown for a
            concept; it adds no names.
        max_tokens: words, numbers and signs that a name has at most, as its key counts them; see
            ``without``.
        without: regular expressions; a name in which one of them is found is left out, such as one
            in another order of words (``", "``). A label that these two would leave out stays with
            a record that has enough other names.
        min_names: names that a record has at least, if it has any, not counting such a label; rare
            concepts have one.
        min_length: characters that a name has at least.
        max_length: characters that a name has at most.
        columns: of a table.
        table: how a table is cut.
    """

    path: Name
    reader: Name
    hierarchy: str = ""
    type: str = ""
    types: dict[Name, Name] = field(default_factory=dict)
    prefix: str = ""
    encoding: Name = "utf-8"
    licence: str = ""
    attribution: str = ""
    url: str = ""
    date: Annotated[str, Meta(pattern=r"^(\d{4}(-\d{2}(-\d{2})?)?)?\Z")] = ""
    sha256: Annotated[str, Meta(pattern=r"^([0-9a-f]{64})?\Z")] = ""
    hierarchy_sha256: Annotated[str, Meta(pattern=r"^([0-9a-f]{64})?\Z")] = ""
    language: Annotated[str, Meta(pattern=r"^[a-z]{2,3}\Z")] = "en"
    languages: tuple[Name, ...] = ()
    kinds: tuple[_NameKinds, ...] = ()
    drop_types: tuple[Name, ...] = ()
    predicates: dict[Name, _NameKinds] = field(default_factory=dict)
    keep: tuple[Name, ...] = ()
    drop: tuple[Name, ...] = ()
    below: tuple[Name, ...] = ()
    not_below: tuple[Name, ...] = ()
    branches: tuple[Name, ...] = ()
    taxa: tuple[Name, ...] = ()
    taxon: str = ""
    references: tuple[Name, ...] | None = None
    definitions: bool = True
    obsolete: bool = True
    adds: bool = False
    shows: bool = False
    max_tokens: Positive = 1_000
    without: tuple[Name, ...] = ()
    min_names: Positive = 1
    min_length: Positive = 1
    max_length: Positive = 1_000
    columns: ColumnSettings = ColumnSettings()
    table: TableSettings = TableSettings()

    def __post_init__(self) -> None:
        """Refuses contradictory settings."""
        if self.min_length > self.max_length:
            raise ValueError(
                f"min_length = {self.min_length} is more than max_length = {self.max_length}"
            )
        if self.adds and (self.type or self.types):
            raise ValueError(
                "a source that adds to the concepts of others has no type: leave type and types out"
            )
        if self.branches and not self.hierarchy and not self.reader.startswith("mesh"):
            raise ValueError("branches are those of MeSH: use a reader of MeSH, or below")
        if self.predicates and self.reader != "rdf":
            raise ValueError(
                "predicates are those of RDF: use the reader rdf, or leave predicates out"
            )
        if odd := [kind for kind in (self.type, *self.types.values()) if not kind.isprintable()]:
            raise ValueError(
                f"the type {odd[0]!r} has a line break or a control character in it: remove it"
            )
        self._check_date()
        for pattern in self.without:
            try:
                re.compile(pattern)
            except (re.error, OverflowError, RecursionError) as error:
                raise ValueError(
                    f"without has {pattern!r}, which is not a regular expression: {error}"
                ) from None

    def _check_date(self) -> None:
        try:
            datetime.date.fromisoformat(f"{self.date}-01-01"[:10] if self.date else "2024-01-01")
        except ValueError:
            raise ValueError(
                f"date = {self.date!r} is not a day of the calendar: write 2024, 2024-03 or "
                "2024-03-15"
            ) from None


class _Top(Settings, frozen=True, kw_only=True):
    """`PackSettings` without its sources, which are converted one by one, so that an error names
    the source.
    """

    name: PackName
    description: str = ""
    curation: tuple[Name, ...] = ()
    careful: bool = False
    qualities: bool = False
    vocabularies: tuple[Name, ...] = ()
    sources: dict[str, Any] = field(default_factory=dict)


class PackSettings(_Top, frozen=True, kw_only=True):
    """What a pack is made of.

    Attributes:
        name: of the pack, such as ``"basic@2"``.
        description: one sentence.
        curation: tables of rules, applied in this order; paths as in ``sources``.
        careful: whether a preferred name may be too common or too short to be looked for; by
            default all are.
        qualities: whether names composed of a quality and an entity, such as "increased blood
            glucose", also match where the two are apart, or another word for the quality is used.
        vocabularies: prefixes of CURIEs that lead sets of equal concepts, in this order; others
            follow in the order of the sources.
        sources: name -> vocabulary. Their order decides where records of one concept differ: the
            first one counts.
    """

    sources: Annotated[dict[Name, SourceSettings], Meta(min_length=1)]


def read_pack_settings(path: str | os.PathLike[str]) -> PackSettings:
    """Reads a ``sources.toml``.

    Args:
        path: path of the file.

    Returns:
        The settings, with absolute paths.

    Raises:
        RecipeError: no such file, not TOML, an unknown key (the nearest valid one is named), a
            wrong type, a value that is not allowed, an environment variable that is not set.
    """
    path = Path(path)
    settings = _parse_pack_settings(read_toml(path, what="list of sources"), origin=str(path))
    rules = tuple(resolve_path(file, path, key="curation") for file in settings.curation)
    sources = {name: _resolve(source, path, name) for name, source in settings.sources.items()}
    return replace(settings, curation=rules, sources=sources)


def _parse_pack_settings(values: Mapping[str, Any], *, origin: str) -> PackSettings:
    """Converts plain values to settings; paths are kept as written.

    Args:
        values: values of a TOML file.
        origin: name of the file, for messages.

    Raises:
        RecipeError: see ``read_pack_settings``.
    """
    refuse_unknown(
        {key: value for key, value in values.items() if key != "sources"}, _Top, origin=origin
    )
    section = values.get("sources", _ABSENT)
    if not isinstance(section, Mapping):
        raise RecipeError(
            "sources is not a table; begin each vocabulary with [sources.NAME]",
            at=origin,
            key="sources",
        )
    sources = {}
    for name, table in section.items():
        place = f"sources.{name}"
        if not isinstance(table, Mapping):
            raise RecipeError(
                f"{place} = {table!r} is not a table; begin it with [{place}]", at=origin, key=place
            )
        if not name.isprintable():
            raise RecipeError(
                f"the name of the source {name!r} has a control character in it",
                at=origin,
                key="sources",
            )
        sources[name] = convert_values(_dated(table), SourceSettings, origin=origin, place=place)
    if not sources:
        raise RecipeError(
            "there is no source; add a table [sources.NAME] with path and reader", at=origin
        )
    top = convert_values({**values, "sources": {}}, _Top, origin=origin)
    return PackSettings(**{**msgspec.structs.asdict(top), "sources": sources})


def _dated(table: Mapping[str, Any]) -> dict[str, Any]:
    """Converts a TOML date, or a year given as a number, to text."""
    date = table.get("date")
    if type(date) is int and datetime.MINYEAR <= date <= datetime.MAXYEAR:
        return {**table, "date": f"{date:04}"}
    if isinstance(date, datetime.date) and not isinstance(date, datetime.datetime):
        return {**table, "date": date.isoformat()}
    return dict(table)


def _resolve(source: SourceSettings, path: Path, name: str) -> SourceSettings:
    paths = {key: getattr(source, key) for key in ("path", "hierarchy") if getattr(source, key)}
    resolved = {
        key: resolve_path(file, path, key=f"sources.{name}.{key}") for key, file in paths.items()
    }
    return replace(source, **resolved)

"""Headings of a list of names, and lists whose columns are not what they are read as."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Final

from fascicle.core.files.encodings import stated_separator
from fascicle.core.files.source import Source, read_lines
from fascicle.core.mention import AMBIGUOUS, Link
from fascicle.core.type_names import read_vocabulary
from fascicle.errors import FormatError, InputError
from fascicle.terms.dictionary import DictionaryEntry
from fascicle.terms.terms import curie

HEADINGS: Final = MappingProxyType(
    {
        what: frozenset(names.split(", "))
        for what, names in {
            "name": "name, term, label, surface, concept name, entity name, preferred name, "
            "preferred label, preferred term, pref label, preflabel, canonical name, main name, "
            "str",
            "type": "type, category, class, entity type, semantic type, sty",
            "concept": "id, identifier, concept, curie, concept id, class id, code, cui",
            "synonyms": "synonym, synonyms, synonym s, exact synonym, exact synonyms, alias, "
            "aliases, alias es, aka, also known as, alternative name, alternative names, "
            "alternate name, alternate names, alternative label, alternative labels, alt name, "
            "alt names, alt label, alt labels, altlabel, altlabels, other name, other names",
        }.items()
    }
)
_JSON: Final = re.compile(r'\s*(?:\[\s*)?\{\s*(?:"|$)|\s*\[\s*$')
_SIGNS: Final = re.compile(r"[\W_]+")
_CURIE: Final = re.compile(r"[A-Za-z][\w.]*:[^\s:]+")
# of UMLS or MeSH; a type may have a short number, such as T047
_IDENTIFIER: Final = re.compile(rf"{_CURIE.pattern}|[A-Za-z]{{0,5}}[_-]?\d{{5,}}")
_COMMENT: Final = "#"
_REMEDY: Final = "begin the list with a row of headings, such as type, name and id"
_PLAIN: Final = {"type": [0], "name": [1]}  # columns of a list without headings
_TWO: Final = 2
_MOST: Final = 1000  # rows, types and names that are compared
_FEW: Final = 5  # rows of a list that may have a type each


def read_headings(cells: Sequence[str]) -> dict[str, list[int]]:
    """Returns the columns of each of `HEADINGS`, of names one, whose others are synonyms; nothing
    if this row does not name that of names and another.

    Args:
        cells: of the first row.
    """
    plain = [_SIGNS.sub(" ", cell.lower()).strip() for cell in cells]
    columns = {
        what: [at for at, cell in enumerate(plain) if cell in headings]
        for what, headings in HEADINGS.items()
    }
    names = columns["name"] + columns["synonyms"]
    columns |= {"name": names[:1], "synonyms": names[1:]}
    columns = {what: places for what, places in columns.items() if places}
    return columns if "name" in columns and len(columns) > 1 else {}


def refuse_json(row: str, path: str) -> None:
    """Raises an error for the first row of a file of JSON, whatever the file is called."""
    if _JSON.match(row):
        raise FormatError(f"{path} is JSON; save a list of names as CSV", file=path)


def first_rows(path: str) -> tuple[str, list[list[str]]]:
    """Returns the separator and the first rows of a list, a TSV or CSV.

    Raises:
        InputError: the file cannot be opened.
        FormatError: a binary file, JSON, another encoding.
    """
    lines = [line for _, line in islice(read_lines(Source(path=path)), _MOST) if line.strip()]
    refuse_json("".join(lines[:1]), path)
    signs = "\t;," if path.lower().removesuffix(".gz").endswith(".csv") else "\t"
    if separator := stated_separator(lines[0]) if lines else "":
        del lines[0]
    else:
        first = next((line for line in lines if not is_comment(line, signs)), "")
        separator = next((sign for sign in signs if sign in first), "\t")
    rows = [row for row in lines if not is_comment(row, separator)]
    # a first row with # may have headings, or be commented out as later ones
    rows = [row.removeprefix(_COMMENT) for row in rows[:1]] + [
        row for row in rows[1:] if not row.startswith(_COMMENT)
    ]
    return separator, [list(map(str.strip, split_cells(row, separator))) for row in rows]


def lacks_prefix(identifier: str) -> bool:
    """True if an identifier has no prefix of a vocabulary, and is no address."""
    return not curie(identifier) and ":" not in identifier


def is_comment(row: str, separators: str) -> bool:
    """True if a row of a list is a remark: it begins with ``#`` and has one cell."""
    return row.startswith(_COMMENT) and not any(sign in row for sign in separators)


def split_cells(row: str, separator: str = "\t") -> list[str]:
    """Returns the cells of a row, without the quotes that R writes around each; none if a quote
    does not end in its row.
    """
    if separator != "\t":
        try:
            return next(csv.reader([row], delimiter=separator, strict=True), [])
        except csv.Error:
            return []
    cells = row.split("\t")
    if not row.startswith('"'):
        return cells
    are_quoted = all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells)
    return [cell[1:-1].replace('""', '"') for cell in cells] if are_quoted else cells


def list_columns(rows: Sequence[Sequence[str]], path: str) -> tuple[dict[str, list[int]], bool]:
    """Returns the columns of a list of names, and whether its first row has headings: `HEADINGS`,
    or others where only the rows below tell what the columns are; else a type and a name.

    Args:
        rows: the first ones.
        path: of the list.

    Raises:
        InputError: names or identifiers without a column of types, or headings that contradict the
            rows below.
    """
    headings = read_headings(rows[0]) if rows else {}
    below = _columns_by_content(rows[1:])
    columns = headings or _columns_by_content(rows)
    if {"name", "type"} <= columns.keys():
        _refuse_swapped(rows, headings, below, path)
        return columns, bool(headings)
    if headings or "concept" in columns:
        raise InputError(f"{path} has no column of types; {_REMEDY}", file=path)
    is_plain = below == _PLAIN or any(map(_CURIE.fullmatch, rows[0] if rows else ()))
    if {"name", "type"} <= below.keys() and not is_plain:
        return below, True
    return _PLAIN, False


def _refuse_swapped(
    rows: Sequence[Sequence[str]],
    headings: Mapping[str, list[int]],
    below: Mapping[str, list[int]],
    path: str,
) -> None:
    """Raises an error for headings of names over types, and of types over names."""
    swapped = {"name": headings.get("type"), "type": headings.get("name")}
    if headings and swapped.items() <= below.items() and len(rows) > _TWO:
        title = rows[0][headings["type"][0]]
        raise InputError(
            f"{path} has headings that do not fit: the column {title} has names, and types are in "
            "the column of names; correct the row of headings",
            file=path,
        )


def drop_header(
    lines: Iterable[tuple[int, str]], *, header: bool, remarks: str
) -> Iterator[tuple[int, str]]:
    """Yields numbered lines without remarks, where they have this separator, without a first one
    that states the separator, and without the first one that is not empty, if it is a header.
    """
    for number, line in lines:
        if (number == 1 and stated_separator(line)) or (remarks and is_comment(line, remarks)):
            continue
        if header and line.strip():
            header = False
            continue
        yield number, line


def unread_titles(
    header: Sequence[Sequence[str]], columns: Mapping[str, Sequence[int]], *, titled: bool
) -> tuple[str, ...]:
    """Returns the titles, or else the numbers from 1, of the columns of a list that are not read.

    Args:
        header: the first row, if any.
        columns: see `list_columns`; of types and identifiers the first one is read.
        titled: whether the first row has titles.
    """
    used = {*columns.get("synonyms", ()), *(places[0] for places in columns.values())}
    taken = (
        f"the first row, as headings ({', '.join(row)})"
        for row in header
        if titled and not read_headings(row)
    )
    return *taken, *(
        f"the column {title if titled else at + 1}"
        for row in header
        for at, title in enumerate(row)
        if at not in used
    )


def _columns_by_content(rows: Sequence[Sequence[str]]) -> dict[str, list[int]]:
    """Returns the columns of `HEADINGS` in rows without any: names of known types, identifiers, and
    names in the only other column; nothing if the rows do not tell.

    Args:
        rows: the first ones of a list.
    """
    if len({len(row) for row in rows}) != 1:
        return {}
    columns = defaultdict[str, list[int]](list)
    for at, cells in enumerate(zip(*rows, strict=True)):
        columns[_content(cells)].append(at)
    return columns if all(len(places) == 1 for places in columns.values()) else {}


def _content(cells: Sequence[str]) -> str:
    identifiers = [part for cell in cells for part in split_identifiers(cell)]
    if identifiers and all(map(_CURIE.fullmatch, identifiers)):
        return "concept"
    return "type" if all(map(read_vocabulary().candidates, cells)) else "name"


def split_cell(cell: str) -> Iterator[str]:
    """Yields the names in a cell, with ``|`` or else ``;`` between them."""
    for part in cell.split("|" if "|" in cell else ";"):
        if text := part.strip():
            yield text


def split_identifiers(cell: str) -> list[str]:
    """Returns the identifiers in a cell, with ``|`` between them, or ``;`` if all are CURIEs: an
    InChI has one.
    """
    identifiers = list(split_cell(cell))
    is_list = "|" in cell or all(map(_CURIE.fullmatch, identifiers))
    return identifiers if is_list else [cell.strip()]


def check_types(entries: Iterable[DictionaryEntry], path: str) -> Iterator[DictionaryEntry]:
    """Yields names, and raises an error where their types cannot be types: identifiers, or another
    one in each row.

    Args:
        entries: of a list.
        path: of it.

    Raises:
        InputError: the columns are others than those that were read.
    """
    types, names, rows = set[str](), set[str](), 0
    for entry in entries:
        rows += 1
        if entry.type not in types and _IDENTIFIER.fullmatch(entry.type):
            raise InputError(
                f"{path} has {entry.type!r} as a type, which is an identifier; {_REMEDY}", file=path
            )
        if len(types) < _MOST:
            types.add(entry.type)
            names.add(entry.name)
        yield entry
    if 1 < rows == len(types) and (rows >= _FEW or len(names) < rows):
        some = ", ".join(map(repr, sorted(types)[:3]))
        raise InputError(
            f"{path} has another type in each row, such as {some}; {_REMEDY}", file=path
        )


def name_links(identifiers: Collection[str]) -> tuple[Link, ...]:
    """Returns the links of a name of a list: one for each identifier, *ambiguous* if there are
    several.
    """
    tier = AMBIGUOUS if len(identifiers) > 1 else "exact"
    return tuple(
        Link(
            id=normalised.partition(":")[2],
            ontology=normalised.partition(":")[0],
            curie=normalised,
            tier=tier,
        )
        if (normalised := curie(identifier))
        else Link(id=identifier, tier=tier)
        for identifier in identifiers
    )

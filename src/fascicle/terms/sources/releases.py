"""Vocabularies in the files of their publishers: layouts of tables, UMLS, SNOMED CT, ChEMBL,
MedDRA, MEDIC, taxa.

Descriptions: the Rich Release Format in the UMLS Reference Manual (NLM), Release Format 2 in the
SNOMED CT Release File Specification, the MedDRA Distribution File Format Document, and
ftp.ncbi.nlm.nih.gov/pub/taxonomy/taxdump_readme.txt: ``names.dmp`` with ``nodes.dmp``, and
``merged.dmp``, whose fields end with ``TAB | TAB``. MEDIC is read as BioSyn distributes it:
``id|id2||name|synonym...`` with bare identifiers of MeSH and OMIM, July 2012. Its newer form,
``CTD_diseases.tsv``, is a table like others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from fascicle.core.wording import unescape_html
from fascicle.errors import Place
from fascicle.settings.packs import ColumnSettings, SourceSettings, TableSettings
from fascicle.terms.sources.drafts import EXACT_MATCH, Draft, SourceReport, counted_lines
from fascicle.terms.sources.rows import open_table
from fascicle.terms.sources.tables import VERSION, Layout, read_table
from fascicle.terms.terms import ConceptRecord, NameKind, curie

_CUI: Final = re.compile(r"C\d{7}", re.ASCII)
_CUIS: Final = 10**7
_PREFIX: Final = "NCBITaxon"
_CLASSES: Final[Mapping[str, NameKind]] = MappingProxyType(
    {
        "scientific name": "label",
        **dict.fromkeys(("synonym", "equivalent name", "genbank synonym"), "exact"),
        **dict.fromkeys(("common name", "genbank common name"), "exact"),
        **dict.fromkeys(("anamorph", "genbank anamorph", "teleomorph"), "exact"),
        **dict.fromkeys(("acronym", "genbank acronym"), "abbreviation"),
        **dict.fromkeys(("blast name", "in-part"), "broad"),
        "includes": "narrow",
        **dict.fromkeys(("authority", "misspelling", "misnomer"), "related"),
    }
)
# root, and what is not classified
_NO_TAXA: Final = frozenset({"1", "131567", "12908", "28384", "2787823", "2787854"})
_SCIENTIFIC: Final = frozenset({"scientific name", "synonym", "equivalent name", "genbank synonym"})
_BINOMIAL: Final = re.compile(r"([A-Z])[a-z-]+( [a-z][a-z-]{2,})")


@cache
def _layouts() -> Mapping[str, Layout]:
    """Returns the layouts of the tables of known publishers, by the names of their readers."""
    content = Path(__file__).with_name("layouts.toml").read_bytes()
    return MappingProxyType(msgspec.toml.decode(content, type=dict[str, Layout]))


def read_published(
    settings: SourceSettings, report: SourceReport, *, name: str
) -> Iterator[ConceptRecord]:
    """Streams the concepts of a table of a known publisher."""
    return _layouts()[name].read(settings, report)


def read_umls(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the concepts of ``MRCONSO.RRF``, with their semantic types from ``MRSTY.RRF`` as its
    hierarchy.

    ``types`` maps semantic types (names or ``T047``) to types; concepts of others are left out. A
    choice of vocabularies is ``table.where = { "11" = ["MSH", "SNOMEDCT_US"] }``.

    Raises:
        InputError: a file cannot be opened.
    """
    kinds: list[str] = [""]
    types = _semantic_types(settings, report, kinds) if settings.hierarchy else None
    for record in read_table(settings, report, layout=_layouts()["umls"]):
        if types is None:
            yield record
        elif kind := kinds[types[int(record.curie.rpartition("C")[2])]]:
            yield replace(record, type=kind)
        else:
            report.lose("type", Place(settings.path, shown=f"{settings.path}, {record.curie}"))


def _semantic_types(
    settings: SourceSettings, report: SourceReport, kinds: list[str]
) -> NDArray[np.uint8]:
    """Returns the place in ``kinds`` of the type of each concept, by the number of its CUI:
    ``[10**7]``, 0 for none.
    """
    numbers = np.zeros(_CUIS, dtype=np.uint8)
    for place, line in counted_lines(settings.hierarchy, settings.encoding, report):
        cells = line.split("|")
        if len(cells) < 4 or not _CUI.fullmatch(cells[0]):
            report.lose("identifier" if len(cells) >= 4 else "columns", place)
            continue
        report.used += 1
        kind = settings.types.get(cells[1]) or settings.types.get(cells[3], "")
        if kind and kind not in kinds:
            kinds.append(kind)
        if kind and not numbers[int(cells[0][1:])]:
            numbers[int(cells[0][1:])] = kinds.index(kind)
    return numbers


def read_snomed(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the names of a Description file of RF2, without the tags of full names, such as
    ``(disorder)``.

    With a Relationship file as hierarchy, it gives what is above what, so that ``below`` can
    choose. A file may be a Snapshot or Full, which has all versions of a row: the latest one
    counts.

    Raises:
        FormatError: a file is none of RF2.
    """
    for path, layout in ((settings.hierarchy, "snomed_above"), (settings.path, "snomed")):
        if path:
            own = replace(settings, path=path)
            yield from read_table(
                own, report, layout=_layouts()[layout], superseded=_find_superseded(own)
            )


def _find_superseded(settings: SourceSettings) -> Collection[tuple[str, ...]]:
    """Returns identifier and time of those rows of a file of RF2 that a later row replaced."""
    at, rows = open_table(
        replace(settings, table=TableSettings(separator="\t")),
        SourceReport(),
        needed=VERSION[:1],
        wished=VERSION[1:],
    )
    latest: dict[str, str] = {}
    replaced = set()
    for _, cells in rows if len(at) == len(VERSION) else ():
        row, time = (cells[at[column]] for column in VERSION)
        if (before := latest.setdefault(row, time)) != time:
            latest[row] = max(before, time)
            replaced.add((row, min(before, time)))
    return replaced


def read_chembl(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the molecules of ``molecule_dictionary``, and their names of ``molecule_synonyms``,
    its hierarchy.

    ``types`` maps a ``molecule_type`` to a type.

    Raises:
        FormatError: a table lacks a column.
    """
    yield from read_table(settings, report, layout=_layouts()["chembl"])
    if settings.hierarchy:
        numbers = _molecules(settings)
        yield from read_table(
            replace(settings, path=settings.hierarchy, columns=ColumnSettings()),
            report,
            layout=_layouts()["chembl_names"],
            identify=lambda number, prefix: curie(numbers.get(number, ""), prefix),
        )


def _molecules(settings: SourceSettings) -> Mapping[str, str]:
    """Returns the numbers of the molecules that have synonyms, few of millions -> their
    identifiers.
    """
    names = replace(settings, path=settings.hierarchy)
    numbers = {number for (number,) in _cells(names, "molregno")}
    return {
        number: identifier
        for number, identifier in _cells(settings, "molregno", "chembl_id")
        if number in numbers
    }


def _cells(settings: SourceSettings, *columns: str) -> Iterator[list[str]]:
    table = TableSettings(separator=settings.table.separator)
    at, rows = open_table(replace(settings, table=table), SourceReport(), needed=columns)
    yield from ([cells[at[column]] for column in columns] for _, cells in rows)


def read_meddra(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the four upper levels of ``mdhier.asc``, and the lowest terms of ``llt.asc``, its
    hierarchy, as names.

    Raises:
        InputError: a file cannot be opened.
    """
    for level in range(4):
        yield from read_table(settings, report, layout=_layouts()[f"meddra_{level}"])
    if settings.hierarchy:
        yield from read_table(
            replace(settings, path=settings.hierarchy),
            report,
            layout=_layouts()["meddra_lowest"],
        )


def read_medic(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the diseases; the first identifier is the concept, the others are equal ones."""
    for place, line in counted_lines(settings.path, settings.encoding, report):
        ids, bars, names = line.partition("||")
        identifiers = [_curie(text) for text in ids.split("|")]
        if not bars or not identifiers[0]:
            report.lose("identifier" if bars else "columns", place)
            continue
        draft = Draft(settings=settings, report=report, place=place, curie=identifiers[0])
        label, *synonyms = names.split("|")
        draft.name(unescape_html(label), "label")
        for synonym in synonyms:
            draft.name(unescape_html(synonym))
        if not draft.names:
            report.lose("no-name", place)
            continue
        for other in identifiers[1:]:
            draft.reference(other, EXACT_MATCH)
        report.used += 1
        yield draft.record()


def _curie(text: str) -> str:
    return curie(text, "OMIM" if text.strip().isdigit() else "MESH")


def _forms(name: str) -> Iterator[tuple[str, NameKind]]:
    """Yields the forms of a scientific name that texts use: ``[Exempli] dubia`` without
    brackets, and ``E. dubia``.
    """
    plain = name.replace("[", "").replace("]", "")
    if plain != name:
        yield plain, "exact"
    if (parts := _BINOMIAL.fullmatch(plain)) and "virus" not in name:
        yield f"{parts[1]}.{parts[2]}", "generated"


def read_taxa(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the taxa of ``names.dmp``, and of ``nodes.dmp`` if it is given as the hierarchy."""
    draft: Draft | None = None
    for place, cells in _rows(settings.path, settings, report, columns=4):
        if cells[3] not in _CLASSES:  # such as type material: of a specimen
            report.lose("relation", place)
            continue
        if cells[0] in _NO_TAXA:
            report.lose("placeholder", place)
            continue
        identifier = curie(cells[0], _PREFIX)
        if draft is not None and draft.curie != identifier:
            yield draft.record()
            draft = None
        draft = draft or Draft(settings=settings, report=report, place=place, curie=identifier)
        draft.name(cells[1], _CLASSES[cells[3]], place=place)
        for name, kind in _forms(cells[1]) if cells[3] in _SCIENTIFIC else ():
            if (name, settings.language) not in draft.names:
                draft.name(name, kind, place=place)
        report.used += 1
    if draft is not None:
        yield draft.record()
    if settings.hierarchy:
        yield from _nodes(settings, report)


def read_merged_taxa(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the identifiers of ``merged.dmp``, each replaced by the current one."""
    for place, cells in _rows(settings.path, settings, report, columns=2, numbers=2):
        if cells[0] == cells[1]:
            report.lose("identifier", place)
            continue
        report.used += 1
        yield ConceptRecord(
            curie=f"{_PREFIX}:{cells[0]}", obsolete=True, replaced_by=(f"{_PREFIX}:{cells[1]}",)
        )


def _nodes(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    for _, cells in _rows(settings.hierarchy, settings, report, columns=3, numbers=2):
        report.used += 1
        # the root is above itself
        parents = () if cells[0] == cells[1] else (f"{_PREFIX}:{cells[1]}",)
        yield ConceptRecord(curie=f"{_PREFIX}:{cells[0]}", rank=cells[2], parents=parents)


def _rows(
    path: str, settings: SourceSettings, report: SourceReport, *, columns: int, numbers: int = 1
) -> Iterator[tuple[Place, list[str]]]:
    """Yields the cells of rows that have so many columns, and taxa in the first of them."""
    for place, line in counted_lines(path, settings.encoding, report):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < columns:
            report.lose("columns", place)
        elif not all(curie(cell, _PREFIX) for cell in cells[:numbers]):
            report.lose("identifier", place)
        else:
            yield place, cells

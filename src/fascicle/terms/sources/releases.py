"""Releases of licensed vocabularies, in the files of their publishers: UMLS, SNOMED CT and MedDRA.

Their descriptions: the Rich Release Format in the UMLS Reference Manual (NLM), Release Format 2 in the SNOMED CT
Release File Specification, and the MedDRA Distribution File Format Document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from fascicle.errors import Place
from fascicle.settings.packs import ColumnSettings, SourceSettings, TableSettings
from fascicle.terms.sources.drafts import counted_lines
from fascicle.terms.sources.report import SourceReport
from fascicle.terms.sources.tables import Layout, read_table
from fascicle.terms.terms import ConceptRecord, NameKind

# MRCONSO.RRF: CUI LAT TS LUI STT SUI ISPREF AUI SAUI SCUI SDUI SAB TTY CODE STR SRL SUPPRESS CVF
_TERMS: Final[Mapping[str, NameKind]] = {
    **dict.fromkeys(("PN", "PT", "MH", "NM", "FN", "PEP", "SCN"), "label"),
    **dict.fromkeys(("AB", "ACR", "PSC", "SYN_AB"), "abbreviation"),
}
_LANGUAGES: Final = (
    "eng:en spa:es fre:fr ger:de por:pt ita:it dut:nl jpn:ja chi:zh rus:ru swe:sv nor:no fin:fi dan:da cze:cs pol:pl "
    "hun:hu kor:ko tur:tr ara:ar gre:el est:et lav:lv ukr:uk"
)
UMLS: Final = Layout(
    columns=ColumnSettings(id=0, name=14, kind=12, language=1),
    table=TableSettings(separator="|", kind_names=dict(_TERMS), unless={"16": ("O", "E", "Y")}),
    prefix="umls",
    languages={three: two for three, _, two in (pair.partition(":") for pair in _LANGUAGES.split(" "))},
)
_CUI: Final = re.compile(r"C\d{7}", re.ASCII)
_CUIS: Final = 10**7
_FULL, _SYNONYM, _IS_A = "900000000000003001", "900000000000013009", "116680003"
# sct2_Description_*.txt and sct2_Relationship_*.txt
SNOMED: Final = Layout(
    columns=ColumnSettings(id="conceptId", name="term", kind="typeId", language="languageCode"),
    table=TableSettings(
        separator="\t", empty=("",), kind_names={_FULL: "label", _SYNONYM: "exact"}, where={"active": ("1",)}
    ),
    prefix="snomedct",
    tag=re.compile(r"\s\([a-z][a-z /+-]*\)$"),
)
_SNOMED_ABOVE: Final = Layout(
    columns=ColumnSettings(id="sourceId", parents=("destinationId",)),
    table=TableSettings(separator="\t", where={"active": ("1",), "typeId": (_IS_A,)}),
    prefix="snomedct",
)
_DOLLARS: Final = TableSettings(separator="$", empty=("",), split="")
# mdhier.asc: codes of the preferred term and the levels above it, then their names. llt.asc: code, name, its term.
_LEVELS: Final = tuple(
    Layout(
        columns=ColumnSettings(id=level, label=(4 + level,), parents=(level + 1,) if level < 3 else ()),
        table=_DOLLARS,
        prefix="meddra",
    )
    for level in range(4)
)
_LOWEST: Final = Layout(columns=ColumnSettings(id=2, name=1), table=_DOLLARS, prefix="meddra")


def read_umls(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the concepts of ``MRCONSO.RRF``, with their semantic types from ``MRSTY.RRF`` as its hierarchy.

    ``types`` maps semantic types (names or ``T047``) to types; concepts of others are left out. A choice of
    vocabularies is ``table.where = { "11" = ["MSH", "SNOMEDCT_US"] }``.

    Raises:
        InputError: a file cannot be opened.
    """
    kinds: list[str] = [""]
    types = _semantic(settings, report, kinds) if settings.hierarchy else None
    for record in read_table(settings, report, layout=UMLS):
        if types is None:
            yield record
        elif kind := kinds[types[int(record.curie.rpartition("C")[2])]]:
            yield msgspec.structs.replace(record, type=kind)
        else:
            report.lose("type", Place(settings.path, shown=f"{settings.path}, {record.curie}"))


def _semantic(settings: SourceSettings, report: SourceReport, kinds: list[str]) -> NDArray[np.uint8]:
    """Returns the place in ``kinds`` of the type of each concept, by the number of its CUI: ``[10**7]``, 0 for none."""
    found = np.zeros(_CUIS, dtype=np.uint8)
    for place, line in counted_lines(settings.hierarchy, settings.encoding, report):
        cells = line.split("|")
        if len(cells) < 4 or not _CUI.fullmatch(cells[0]):
            report.lose("identifier" if len(cells) >= 4 else "columns", place)
            continue
        report.used += 1
        kind = settings.types.get(cells[1]) or settings.types.get(cells[3], "")
        if kind and kind not in kinds:
            kinds.append(kind)
        if kind and not found[int(cells[0][1:])]:
            found[int(cells[0][1:])] = kinds.index(kind)
    return found


def read_snomed(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the names of a Description file of RF2, without the tags of full names, such as ``(disorder)``.

    With a Relationship file as hierarchy, it gives what is above what, so that ``below`` can choose.

    Raises:
        FormatError: a file is none of RF2.
    """
    if settings.hierarchy:
        above = msgspec.structs.replace(settings, path=settings.hierarchy)
        yield from read_table(above, report, layout=_SNOMED_ABOVE)
    yield from read_table(settings, report, layout=SNOMED)


def read_meddra(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the four upper levels of ``mdhier.asc``, and the lowest terms of ``llt.asc``, its hierarchy, as names.

    Raises:
        InputError: a file cannot be opened.
    """
    for layout in _LEVELS:
        yield from read_table(settings, report, layout=layout)
    if settings.hierarchy:
        yield from read_table(msgspec.structs.replace(settings, path=settings.hierarchy), report, layout=_LOWEST)

"""Taxonomy of NCBI: ``names.dmp`` with ``nodes.dmp``, and ``merged.dmp``.

Format: ftp.ncbi.nlm.nih.gov/pub/taxonomy/taxdump_readme.txt. Fields end with ``TAB | TAB``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from fascicle.errors import Place
from fascicle.settings.packs import SourceSettings
from fascicle.terms.sources.curies import curie
from fascicle.terms.sources.drafts import Draft, counted_lines
from fascicle.terms.sources.report import SourceReport
from fascicle.terms.terms import ConceptRecord, NameKind

PREFIX: Final = "NCBITaxon"
_CLASSES: Final[Mapping[str, NameKind]] = MappingProxyType(
    {
        "scientific name": "label",
        "synonym": "exact",
        "equivalent name": "exact",
        "genbank synonym": "exact",
        "common name": "exact",
        "genbank common name": "exact",
        "anamorph": "exact",
        "genbank anamorph": "exact",
        "teleomorph": "exact",
        "acronym": "abbreviation",
        "genbank acronym": "abbreviation",
        "blast name": "broad",
        "in-part": "broad",
        "includes": "narrow",
        "authority": "related",
        "misspelling": "related",
        "misnomer": "related",
    }
)


def read_names(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the taxa of ``names.dmp``, and of ``nodes.dmp`` if it is given as the hierarchy."""
    draft: Draft | None = None
    for place, cells in _rows(settings.path, settings, report, columns=4):
        if cells[3] not in _CLASSES:  # such as type material: of a specimen
            report.lose("relation", place)
            continue
        identifier = curie(cells[0], PREFIX)
        if draft is not None and draft.curie != identifier:
            yield draft.record()
            draft = None
        draft = draft or Draft(settings=settings, report=report, place=place, curie=identifier)
        draft.name(cells[1], _CLASSES[cells[3]], place=place)
        report.used += 1
    if draft is not None:
        yield draft.record()
    if settings.hierarchy:
        yield from _nodes(settings, report)


def read_merged(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the identifiers of ``merged.dmp``, each replaced by the current one."""
    for place, cells in _rows(settings.path, settings, report, columns=2):
        if not curie(cells[1], PREFIX) or cells[0] == cells[1]:
            report.lose("identifier", place)
            continue
        report.used += 1
        yield ConceptRecord(curie=f"{PREFIX}:{cells[0]}", obsolete=True, replaced_by=(f"{PREFIX}:{cells[1]}",))


def _nodes(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    for place, cells in _rows(settings.hierarchy, settings, report, columns=3):
        if not curie(cells[1], PREFIX):
            report.lose("identifier", place)
            continue
        report.used += 1
        parents = () if cells[0] == cells[1] else (f"{PREFIX}:{cells[1]}",)  # the root is above itself
        yield ConceptRecord(curie=f"{PREFIX}:{cells[0]}", rank=cells[2], parents=parents)


def _rows(
    path: str, settings: SourceSettings, report: SourceReport, *, columns: int
) -> Iterator[tuple[Place, list[str]]]:
    for place, line in counted_lines(path, settings.encoding, report):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < columns:
            report.lose("columns", place)
        elif not curie(cells[0], PREFIX):
            report.lose("identifier", place)
        else:
            yield place, cells

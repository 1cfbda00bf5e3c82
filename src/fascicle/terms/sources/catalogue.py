"""Catalogue of the readers of vocabularies, by the name that ``sources.toml`` uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

from fascicle.core.wording import near_hint
from fascicle.errors import RecipeError
from fascicle.terms.sources import layouts
from fascicle.terms.sources.drafts import Reading
from fascicle.terms.sources.medic import read_medic
from fascicle.terms.sources.mesh import read_mesh_ascii, read_mesh_names, read_mesh_xml
from fascicle.terms.sources.obo import CELLOSAURUS, read_obo
from fascicle.terms.sources.obograph import read_obograph
from fascicle.terms.sources.open_targets import read_open_targets
from fascicle.terms.sources.rdf import read_rdf
from fascicle.terms.sources.releases import read_meddra, read_snomed, read_umls
from fascicle.terms.sources.sssom import read_sssom
from fascicle.terms.sources.tables import Layout, read_table
from fascicle.terms.sources.taxonomy import read_merged, read_names


@dataclass(frozen=True, kw_only=True)
class SourceReader:
    """Reader of one kind of source.

    Attributes:
        name: in ``sources.toml``.
        means: what it reads, for people.
        read: streams the records.
        hierarchy: whether it reads a second file with what is above what.
        table: whether it takes ``columns`` and ``table``.
    """

    name: str
    means: str
    read: Reading
    hierarchy: bool = False
    table: bool = False


def _table(name: str, means: str, layout: Layout) -> SourceReader:
    return SourceReader(name=name, means=means, read=partial(read_table, layout=layout), table=True)


def _two(name: str, means: str, read: Reading, *, table: bool) -> SourceReader:
    return SourceReader(name=name, means=means, read=read, hierarchy=True, table=table)


_ROWS: Final = (
    SourceReader(name="obo", means="OBO 1.0 to 1.4", read=read_obo),
    SourceReader(name="cellosaurus", means="Cellosaurus as OBO", read=partial(read_obo, dialect=CELLOSAURUS)),
    SourceReader(name="obograph", means="OBO-Graph JSON", read=read_obograph),
    SourceReader(name="rdf", means="OWL, SKOS or SKOS-XL as Turtle, RDF/XML, N-Triples or JSON-LD", read=read_rdf),
    SourceReader(name="open_targets", means="Open Targets as JSON Lines or Parquet", read=read_open_targets),
    SourceReader(name="sssom", means="SSSOM mappings as TSV", read=read_sssom),
    SourceReader(name="table", means="TSV or CSV with a map of columns", read=read_table, table=True),
    SourceReader(name="mesh_xml", means="MeSH descriptors or supplementary records as XML", read=read_mesh_xml),
    SourceReader(name="mesh_ascii", means="MeSH descriptors or supplementary records as ASCII", read=read_mesh_ascii),
    SourceReader(
        name="mesh_names", means="names of MeSH, one in a row", read=read_mesh_names, hierarchy=True, table=True
    ),
    SourceReader(
        name="mesh_terms",
        means="descriptors of MeSH with their preferred names",
        read=partial(read_mesh_names, layout=layouts.MESH_TERMS),
        hierarchy=True,
        table=True,
    ),
    _table("gene_info", "NCBI Gene: gene_info", layouts.GENE_INFO),
    SourceReader(
        name="ncbi_taxonomy",
        means="NCBI Taxonomy: names.dmp, with nodes.dmp as its hierarchy",
        read=read_names,
        hierarchy=True,
    ),
    SourceReader(name="ncbi_merged", means="NCBI Taxonomy: merged.dmp", read=read_merged),
    SourceReader(name="medic", means="MEDIC of 2012", read=read_medic),
    _two("umls", "UMLS: MRCONSO.RRF, with MRSTY.RRF as its hierarchy", read_umls, table=True),
    _two("snomed", "SNOMED CT: Description of RF2, with Relationship as its hierarchy", read_snomed, table=True),
    _two("meddra", "MedDRA: mdhier.asc, with llt.asc as its hierarchy", read_meddra, table=False),
    _table("ctd_diseases", "MEDIC as CTD_diseases.tsv or .csv", layouts.CTD_DISEASES),
    _table("ctd_chemicals", "CTD_chemicals.tsv or .csv", layouts.CTD_CHEMICALS),
    _table("drugbank", "DrugBank open vocabulary as CSV", layouts.DRUGBANK),
    _table("ssslm", "name indices such as those of biolexica", layouts.BIOLEXICA),
    _table("obo_table", "tables of obo-db-ingest, a concept in a row", layouts.OBO_TABLE),
    _table("pairs", "name TAB identifier, without a header, as Reach has them", layouts.REACH),
)
READERS: Final[Mapping[str, SourceReader]] = MappingProxyType({row.name: row for row in _ROWS})


def reader_named(name: str) -> SourceReader:
    """Returns the reader with a name.

    Raises:
        RecipeError: there is none of this name; the message has the nearest.
    """
    found = READERS.get(name)
    if found is None:
        raise RecipeError(
            f"the reader {name!r} is not known{near_hint(name, READERS)}; choose one of {', '.join(READERS)}",
            key="reader",
            code="unknown-name",
        )
    return found

